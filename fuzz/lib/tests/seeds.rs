//! Runs each target on its seeds, and on seeds that are cut short or have a changed byte.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// How many changed inputs are made of each seed.
const CHANGED: usize = 12;

#[test]
fn seeds_pass_their_targets() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../seeds");
    for (target, body) in fuzzed::TARGETS {
        let folder = seeds.join(target);
        let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        let mut files: Vec<_> = files.map(|f| f.expect("a file").path()).collect();
        files.sort();
        assert!(!files.is_empty(), "{target} has no seeds");
        for file in files {
            let seed = fs::read(&file).expect("a seed");
            // Of a processor: other tests run beside this one.
            let ((), spent) = common::processor::spent(|| {
                body(&seed);
                for i in 0..CHANGED {
                    // Places all over the seed, the same in every run.
                    let at = seed.len() * (2 * i + 1) / (2 * CHANGED);
                    if at < seed.len() {
                        body(&seed[..at]);
                        let mut changed = seed.clone();
                        changed[at] ^= 1 << (i % 8);
                        body(&changed);
                    }
                }
            });
            assert!(
                spent < Duration::from_secs(60),
                "{}: {spent:?}",
                file.display()
            );
        }
    }
}

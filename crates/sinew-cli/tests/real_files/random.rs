//! Real files changed at random.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::scrambling::{scrambled, survives};
use common::files::files_of;
use common::rng::Rng;

/// No file of this size may take longer, in a build without optimisation on a busy machine.
const LONGEST: Duration = Duration::from_secs(10);

/// Real files, whole and scrambled.
pub fn scrambled_files_neither_panic_nor_take_long(assets: &Path) {
    let mut files = 0;
    for path in files_of(assets, &["gltf", "glb", "vrm", "vrma"]) {
        let bytes = std::fs::read(&path).unwrap();
        if bytes.len() > 1_000_000 {
            continue;
        }
        files += 1;
        let start = Instant::now();
        assert!(
            survives(&bytes, &path, LONGEST, &|| path.display().to_string()),
            "{}",
            path.display()
        );
        let longest = start.elapsed() * 10 + LONGEST;
        for seed in 0..20 {
            let file = scrambled(&bytes, &mut Rng::new(seed));
            let what = || format!("{}: seed {seed}", path.display());
            survives(&file, &path, longest, &what);
        }
    }
    assert!(files > 20, "{files} files");
}

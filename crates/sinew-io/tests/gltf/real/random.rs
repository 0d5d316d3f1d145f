//! Real files changed at random.

use std::path::Path;
use std::time::Duration;

use crate::scrambling::{scrambled, survives};
use common::files::files_of;
use common::rng::Rng;

/// No file of this size may take more of a processor, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(30);

/// Real files, whole and scrambled.
pub fn scrambled_files_neither_panic_nor_take_long(assets: &Path) {
    let mut files = 0;
    for path in files_of(assets, &["gltf", "glb", "vrm", "vrma"]) {
        let bytes = std::fs::read(&path).unwrap();
        if bytes.len() > 1_000_000 {
            continue;
        }
        files += 1;
        let name = || path.display().to_string();
        let (is_read, took) = survives(&bytes, &path, LONGEST, &name);
        assert!(is_read, "{}", name());
        let longest = took * 10 + LONGEST;
        for seed in 0..20 {
            let file = scrambled(&bytes, &mut Rng::new(seed));
            let what = || format!("{}: seed {seed}", path.display());
            survives(&file, &path, longest, &what);
        }
    }
    assert!(files > 20, "{files} files");
}

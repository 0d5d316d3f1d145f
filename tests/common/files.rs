//! Files that tests read and compare.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::trials::Trial;

/// A test of the folder of real files, which needs `file` in it.
pub fn real(
    name: &str,
    file: &str,
    run: impl FnOnce(&Path) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let reason = missing(assets.as_deref(), file);
    let assets = assets.unwrap_or_default();
    let trial = Trial::test(name, move || run(&assets));
    trial
        .with_kind(reason.unwrap_or_default())
        .with_ignored_flag(reason.is_some())
}

/// Why a test of the real file `file` (a path below `SINEW_ASSETS`) is ignored; `None` if it runs.
///
/// Files that are made in house are not published (`tests/assets.tsv`), so they may be absent. Other
/// files must be there.
pub fn missing(assets: Option<&Path>, file: &str) -> Option<&'static str> {
    match assets {
        None => Some("needs SINEW_ASSETS"),
        Some(folder) if file.starts_with("blender/") && !folder.join(file).exists() => {
            Some("made in house, not published")
        }
        Some(_) => None,
    }
}

/// `all`, or `public` where the files that are made in house are absent: how many files (or what they
/// hold) a test must at least find.
pub fn at_least<T>(assets: &Path, all: T, public: T) -> T {
    match assets.join("blender").exists() {
        true => all,
        false => public,
    }
}

/// Every USD file in a folder and below, sorted.
pub fn usd_files(folder: &Path) -> Vec<PathBuf> {
    files_of(folder, &["usda", "usdc", "usdz"])
}

/// Every file of those endings in a folder and below, sorted.
pub fn files_of(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("SINEW_ASSETS: {}: {e}", folder.display()));
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|e| endings.iter().any(|k| e == *k))
            {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// Everything below a folder, by its path in it.
pub fn listing(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            // A file that is being written may be gone again.
            out.insert(name, std::fs::read(&path).ok());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    out
}

/// Both folders hold the same files, byte for byte.
pub fn same_files(a: &Path, b: &Path) {
    let (a, b) = (listing(a), listing(b));
    assert!(!a.is_empty());
    assert!(a.keys().eq(b.keys()), "{:?}, {:?}", a.keys(), b.keys());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{} differs", name.display());
    }
}

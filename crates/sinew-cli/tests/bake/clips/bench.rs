//! What the tests of clips share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use common::command::{sinew, stderr, stdout};

pub fn project(file: &str) -> PathBuf {
    common::repository().join(file)
}

pub fn example() -> PathBuf {
    project("examples/assets/hatchling.usda")
}

/// Runs a bake that has to succeed, on the CPU if no backend is named; what it reports.
pub fn bake(input: &Path, out: &Path, more: &[&str]) -> Value {
    ends_with(0, input, out, more)
}

/// The same for a bake with this exit code.
pub fn ends_with(code: i32, input: &Path, out: &Path, more: &[&str]) -> Value {
    let (input, out) = (input.to_str().unwrap(), out.to_str().unwrap());
    let mut args = vec!["bake", input, "-o", out, "--json"];
    args.extend(more);
    let chosen = ["--backend", "--adapter", "--stitch"];
    if !more.iter().any(|a| chosen.contains(a)) {
        args.extend(["--backend", "cpu"]);
    }
    let output = sinew(&args);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{args:?}: {}",
        stderr(&output)
    );
    serde_json::from_str(&stdout(&output)).unwrap_or_else(|e| panic!("{args:?}: {e}"))
}

/// Every file below a folder by its path in it, without unfinished ones.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !is_temporary(&path) {
                let name = path.strip_prefix(folder).unwrap().to_owned();
                out.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    out
}

pub fn is_temporary(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "tmp")
}

/// Both folders hold the same files, byte for byte.
pub fn same_files(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    assert!(!a.is_empty());
    let names = |m: &BTreeMap<PathBuf, Vec<u8>>| m.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{} differs", name.display());
    }
}

pub fn count(report: &Value, of: &str) -> u64 {
    report["clips"][of].as_u64().unwrap()
}

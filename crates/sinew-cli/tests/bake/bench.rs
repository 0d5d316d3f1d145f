//! What the tests of this binary share: a folder with the example characters, and runs of the command in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::command::{Bench, executable, stderr};
use serde_json::Value;

/// A file of the repository.
pub fn project(file: &str) -> PathBuf {
    common::repository().join(file)
}

/// A folder with copies of the example characters, in which the command runs.
pub struct Folder(pub Bench);

impl Folder {
    pub fn new() -> Self {
        let bench = Bench::new();
        for name in ["hatchling.usda", "puppet.glb", "bow.glb", "walk.bvh"] {
            let asset = project("examples/assets").join(name);
            std::fs::copy(asset, bench.path(name)).unwrap();
        }
        Self(bench)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// The command with the words of a line.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(executable());
        command.args(line.split_whitespace());
        command.current_dir(self.0.folder.path());
        command
    }

    /// Runs the words of a line, which end with this exit code.
    pub fn run(&self, code: i32, line: &str) -> Output {
        let output = self.command(line).output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {told}");
        assert!(!told.contains("panicked"), "{line}: {told}");
        output
    }

    /// The same with --json, and what it prints.
    pub fn json(&self, code: i32, line: &str) -> Value {
        let output = self.run(code, &format!("{line} --json"));
        let value = serde_json::from_slice(&output.stdout);
        value.unwrap_or_else(|e| panic!("{line}: {e}: {}", stderr(&output)))
    }

    /// Everything in it: files with what they hold, and folders.
    pub fn listing(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        listing(self.0.folder.path())
    }
}

/// Requests that the command refuses itself, and the advice that it gives for errors of the library.
pub fn nonsense_is_refused() {
    let folder = Folder::new();
    let before = folder.listing();
    let no_gpu = common::gpu::ignored();
    for row in rows(include_str!("requests.txt")) {
        let [code, line, words] = row[..] else {
            panic!("{row:?}");
        };
        // Some of them open a device first.
        if no_gpu && line.starts_with("render") {
            continue;
        }
        let told = stderr(&folder.run(code.parse().unwrap(), line));
        let is_told = words.split(", ").all(|word| told.contains(word));
        assert!(is_told, "{line}: '{told}' should say '{words}'");
        assert!(folder.listing() == before, "{line}");
    }
}

/// The lines of a table, each of columns between bars.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|l| !l.starts_with('#'));
    lines.map(|line| line.split('|').map(str::trim).collect())
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

/// Whether a file has not got its name yet.
pub fn is_temporary(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "tmp")
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

/// Numbers of clips in a report.
pub fn count(report: &Value, of: &str) -> usize {
    report["clips"][of].as_u64().unwrap() as usize
}

//! What the tests of this binary share: a folder with the example characters, and runs of the command in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::command::{Bench, executable, stderr};
pub use common::files::{listing, same_files};
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
        let is_told = words.split(", ").all(|word| match word.strip_prefix('!') {
            Some(word) => !told.contains(word),
            None => told.contains(word),
        });
        assert!(is_told, "{line}: '{told}' should say '{words}'");
        assert!(folder.listing() == before, "{line}");
    }
}

/// The lines of a table, each of columns between bars.
pub fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|l| !l.starts_with('#'));
    lines.map(|line| line.split('|').map(str::trim).collect())
}

/// Whether a file has not got its name yet.
pub fn is_temporary(file: &Path) -> bool {
    file.extension().is_some_and(|e| e == "tmp")
}

/// Numbers of clips in a report.
pub fn count(report: &Value, of: &str) -> usize {
    report["clips"][of].as_u64().unwrap() as usize
}

//! The command run in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

pub struct Bench {
    pub folder: TempDir,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, and makes the folders above it.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }
}

/// The command `sinew`, which cargo builds for the tests of sinew-cli.
pub fn executable() -> PathBuf {
    std::env::var_os("CARGO_BIN_EXE_sinew").map_or_else(
        || {
            // A test binary that is run by hand lies in `deps`, beside the command.
            let test = std::env::current_exe().unwrap();
            test.ancestors().nth(2).unwrap().join("sinew")
        },
        PathBuf::from,
    )
}

pub fn sinew(args: &[&str]) -> Output {
    Command::new(executable()).args(args).output().unwrap()
}

pub fn bake(input: &Path, output: &Path, more: &[&str]) -> Output {
    let mut args = vec![
        "bake",
        input.to_str().unwrap(),
        "-o",
        output.to_str().unwrap(),
        "--backend",
        "cpu",
    ];
    args.extend(more);
    sinew(&args)
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Names of all commands, out of the help.
pub fn commands() -> Vec<String> {
    let help = stdout(&sinew(&["--help"]));
    let listed = help.split("Commands:\n").nth(1).unwrap();
    let lines = listed.lines().take_while(|l| !l.is_empty());
    // Descriptions go on further to the right.
    let names = lines.filter(|l| l.starts_with("  ") && !l.starts_with("   "));
    let names = names.map(|l| l.split_whitespace().next().unwrap().to_owned());
    let names: Vec<String> = names.filter(|name| name != "help").collect();
    assert!(names.len() >= 10, "{names:?}");
    names
}

/// Fails with exit code 1, without a panic, naming all the words; nothing is written.
pub fn refused(output: &Output, out: &Path, words: &[&str]) {
    ends_with(1, output, out, words);
}

/// Fails with the exit code of wrong usage, and otherwise as [`refused`].
pub fn misused(output: &Output, out: &Path, words: &[&str]) {
    ends_with(2, output, out, words);
}

fn ends_with(code: i32, output: &Output, out: &Path, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    for word in words {
        assert!(text.contains(word), "'{text}' should say '{word}'");
    }
    assert!(!out.exists(), "nothing is written where nothing was baked");
}

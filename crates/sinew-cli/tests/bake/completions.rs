//! Scripts of completions, which each shell's own parser has to take.

use std::process::Command;

use common::command::{Bench, sinew, stderr, stdout};
use libtest_mimic::{Completion, Failed};

pub fn taken(shell: &str, parse: &str) -> Result<Completion, Failed> {
    let bench = Bench::new();
    let script = bench.write(shell, stdout(&sinew(&["completions", shell])));
    match Command::new(shell).arg(parse).arg(script).output() {
        Err(_) => Ok(Completion::ignored_with(format!("needs {shell}"))),
        Ok(output) if output.status.success() => Ok(Completion::Completed),
        Ok(output) => Err(format!("{shell}: {}", stderr(&output)).into()),
    }
}

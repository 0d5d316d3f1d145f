//! Scripts of completions, which each shell's own parser has to take.

use std::process::Command;

use common::command::{Bench, sinew, stderr, stdout};
use common::trials::Trial;
use libtest_mimic::{Completion, Failed};

pub fn trials() -> Vec<Trial> {
    let shells = [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")];
    let trials = shells.map(|(shell, parse)| {
        Trial::ignorable(format!("{shell}_takes_its_script"), move || {
            taken(shell, parse)
        })
    });
    trials.into()
}

fn taken(shell: &str, parse: &str) -> Result<Completion, Failed> {
    let bench = Bench::new();
    let script = bench.write(shell, stdout(&sinew(&["completions", shell])));
    match Command::new(shell).arg(parse).arg(script).output() {
        Err(_) => Ok(Completion::ignored_with(format!("needs {shell}"))),
        Ok(output) if output.status.success() => Ok(Completion::Completed),
        Ok(output) => Err(format!("{shell}: {}", stderr(&output)).into()),
    }
}

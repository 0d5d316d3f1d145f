//! The files of examples/farm do what they say, and fit the schemas of their schedulers (tests/farm). Dask has its test in
//! crates/sinew-python.

use std::process::Command;

use libtest_mimic::{Completion, Failed};

use crate::bench::project;
use common::command::{executable, stderr, stdout};
use common::python;
use common::trials::Trial;

/// A script of tests/farm, what it is asked for, and what a machine may lack for it.
const RUNS: [(&str, &str, &str); 7] = [
    ("farms.py", "gnu_parallel", "needs GNU parallel"),
    ("farms.py", "kubernetes", ""),
    ("farms.py", "opencue", ""),
    ("farms.py", "slurm", ""),
    ("farms.py", "slurm_cluster", "needs Slurm"),
    ("manifests.py", "kubernetes", "needs kubernetes-validate"),
    ("manifests.py", "opencue", "needs opencue-pyoutline"),
];

pub fn trials() -> Vec<Trial> {
    let trials = RUNS.map(|(script, farm, lacks)| {
        let name = match script {
            "farms.py" => farm.to_owned(),
            _ => format!("{farm}_schema"),
        };
        python::ignorable(&name, move |python| run(python, script, farm, lacks))
    });
    trials.into()
}

fn run(python: &str, script: &str, farm: &str, lacks: &str) -> Result<Completion, Failed> {
    let mut command = Command::new(python);
    command.arg(project("tests/farm").join(script));
    let output = command.arg(farm).arg(executable()).output()?;
    match output.status.code() {
        Some(0) => Ok(Completion::Completed),
        Some(77) if !lacks.is_empty() => Ok(Completion::ignored_with(lacks)),
        _ => Err((stdout(&output) + &stderr(&output)).into()),
    }
}

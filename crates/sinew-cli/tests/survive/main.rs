//! What USD has survives every command: layers that use everything are converted, flattened, baked, fixed and retargeted, and
//! usd-core compares what comes out with what went in, or with its own Flatten of it (survive/worker.py). docs/conformance.md
//! has the table.

use std::process::Command;
use std::sync::OnceLock;

use common::command::{Bench, executable, stderr};
use common::python;
use libtest_mimic::Failed;
use serde_json::Value;

fn main() {
    let lines = include_str!("topics.txt").lines();
    let topics = lines.filter_map(|line| line.split_once(" | "));
    let trials = topics.map(|(topic, _)| python::trial(topic, |python| survives(python, topic)));
    let table = python::trial("the_table_is_true", the_table_is_true);
    common::trials::run([("survive", trials.chain([table]).collect())])
}

/// Everything is made, written and compared once, for all trials.
fn found(python: &str) -> Result<&'static Value, Failed> {
    static FOUND: OnceLock<Result<Value, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let bench = Bench::new();
        let mut worker = Command::new(python);
        worker.arg(common::repository().join("crates/sinew-cli/tests/survive/worker.py"));
        worker.arg(bench.folder.path()).arg(executable());
        let output = worker.output().map_err(|e| format!("{python}: {e}"))?;
        serde_json::from_slice(&output.stdout).map_err(|_| stderr(&output))
    });
    found.as_ref().map_err(|e| e.as_str().into())
}

fn survives(python: &str, topic: &str) -> Result<(), Failed> {
    let found = &found(python)?["differences"][topic];
    let differences = found.as_array().ok_or("no topic")?;
    let texts: Vec<&str> = differences.iter().filter_map(Value::as_str).collect();
    match texts.is_empty() {
        true => Ok(()),
        false => {
            let first = texts[..texts.len().min(50)].join("\n");
            Err(format!("{} differences:\n{first}", texts.len()).into())
        }
    }
}

/// The table of docs/conformance.md is what is measured.
fn the_table_is_true(python: &str) -> Result<(), Failed> {
    let found = found(python)?;
    println!("specs, fields and comparisons: {}", found["counts"]);
    let table = found["table"].as_str().ok_or("no table")?;
    let docs = std::fs::read_to_string(common::repository().join("docs/conformance.md"))?;
    match docs.contains(table) {
        true => Ok(()),
        false => Err(format!("docs/conformance.md should have this table:\n{table}").into()),
    }
}

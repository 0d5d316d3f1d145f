//! What USD has survives every command: layers that use everything are converted, flattened, baked, fixed and retargeted, and
//! usd-core compares what comes out with what went in, or with its own Flatten of it. docs/conformance.md has the table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use common::command::{Bench, sinew, stderr};
use common::python;
use libtest_mimic::Failed;
use rayon::prelude::*;
use serde_json::{Value, json};

/// The topics of tests/usd/everything.py, and what each holds.
const TOPICS: [(&str, &str); 20] = [
    (
        "types",
        "values of each type: default, samples, blocks, arrays, dictionaries",
    ),
    ("durations", "durations"),
    ("large", "large arrays, compressed ones"),
    ("splines", "splines"),
    ("arrayEdits", "edits of arrays"),
    ("blocks", "blocks, animation blocks, values over values"),
    ("assets", "asset paths everywhere"),
    ("expressions", "expression variables, expressions"),
    ("names", "Unicode names, keywords as names, orders"),
    ("metadata", "metadata of layers, prims and properties"),
    ("unregistered", "metadata that no schema has"),
    ("units", "units"),
    ("listOps", "edits of lists"),
    ("properties", "attributes and relationships"),
    ("unknownTypes", "types that no schema has, wrong types"),
    ("variants", "variants, nested ones"),
    ("sublayers", "sublayers with offsets"),
    (
        "arcs",
        "references, payloads, inherits, specializes, relocates",
    ),
    ("clips", "value clips"),
    ("instances", "instances, nested ones"),
];

/// The columns of the table: a command, its name there, and its forms.
const COLUMNS: [(&str, &str, &[&str]); 6] = [
    ("convert", "convert", &["usda", "usdc"]),
    ("flatten", "--flatten", &["usda", "usdc", "usdz"]),
    ("bake", "bake", &["usda", "usdc", "usdz"]),
    ("layer", "--layer", &["usda", "usdc"]),
    ("fix", "fix", &["usda", "usdc", "usdz"]),
    ("retarget", "retarget", &["usda", "usdc", "usdz"]),
];

/// What differs: the topic, the commands, how it is told, and why. `*` is any.
const EXPECTED: [(&str, &str, &str, &str); 10] = [
    (
        "*",
        "*",
        "*Paths: nothing -> ('PathListOp', True, {'explicitItems': [[]],*",
        "An empty list of targets stays, as it hides inherited ones; usd-core's Flatten drops it.",
    ),
    (
        "unregistered",
        "*",
        "*: nothing -> ('unreadable'*",
        "Metadata that no schema has stay; usd-core's Flatten drops them.",
    ),
    (
        "expressions",
        "*",
        "/Referenced.*: *",
        "Expressions with variables of a referenced layer are evaluated; usd-core keeps them, broken.",
    ),
    (
        "splines",
        "*",
        "*.regressive spline: *",
        "Regressive tangents stay; usd-core shortens them when it reads a crate file.",
    ),
    (
        "units",
        "*",
        "*.length displayUnit: *",
        "Crate files have no units: the name is written as a token. usd-core refuses to write it.",
    ),
    (
        "unknownTypes",
        "*",
        "/D.points typeName: *",
        "A value of another type than the schema's keeps its type; usd-core's text is unreadable.",
    ),
    ("*", "retarget", "/ timeCodesPerSecond: *", CLIP),
    ("*", "retarget", "/ framesPerSecond: *", CLIP),
    ("*", "retarget", "/ startTimeCode: *", CLIP),
    ("*", "retarget", "/ endTimeCode: *", CLIP),
];

const CLIP: &str = "The stage takes the rate and the range of the clip.";

fn main() {
    let trials = TOPICS.iter().map(|(topic, _)| {
        let name = (*topic).to_owned();
        python::trial(topic, move |python| survives(python, &name))
    });
    let table = python::trial("the_table_is_true", the_table_is_true);
    common::trials::run([("survive", trials.chain([table]).collect())])
}

/// What all comparisons found, by their names.
type Found = BTreeMap<String, Value>;

/// Everything is made, written and compared once, for all trials.
fn found(python: &str) -> Result<&'static Found, Failed> {
    static FOUND: OnceLock<Result<Found, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| find(python));
    found.as_ref().map_err(|e| e.as_str().into())
}

fn find(python: &str) -> Result<Found, String> {
    let bench = Bench::new();
    let made = worker(python, "prepare", bench.folder.path())?;
    let made = made.as_array().ok_or("no topics")?;
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or("").to_owned();
    let mut jobs: Vec<Job> = Vec::new();
    for one in made {
        let (topic, form) = (text(one, "topic"), text(one, "form"));
        if !TOPICS.iter().any(|(name, _)| *name == topic) {
            return Err(format!("TOPICS lacks {topic}"));
        }
        for (command, _, extensions) in COLUMNS {
            for extension in extensions {
                jobs.extend(Job::all(&topic, &form, command, extension));
            }
        }
    }
    let clip = bench.path("beside_units.usda");
    std::fs::create_dir(bench.path("elsewhere")).map_err(|e| e.to_string())?;
    let compared: Result<Vec<Value>, String> = jobs
        .par_iter()
        .map(|job| job.run(bench.folder.path(), &clip))
        .collect();
    std::fs::write(bench.path("jobs.json"), Value::from(compared?).to_string())
        .map_err(|e| e.to_string())?;
    let answers = worker(python, "compare", bench.folder.path())?;
    let answers = answers.as_array().ok_or("no answers")?;
    Ok(answers
        .iter()
        .map(|a| (text(a, "name"), a.clone()))
        .collect())
}

/// Runs survive/worker.py, which answers with JSON.
fn worker(python: &str, command: &str, folder: &Path) -> Result<Value, String> {
    let script = common::repository().join("crates/sinew-cli/tests/survive/worker.py");
    let output = Command::new(python)
        .arg(script)
        .arg(command)
        .arg(folder)
        .output()
        .map_err(|e| format!("{python}: {e}"))?;
    let answer = serde_json::from_slice(&output.stdout);
    answer.map_err(|_| format!("worker.py {command} failed: {}", stderr(&output)))
}

/// One command with one input, and how its output is compared.
struct Job {
    topic: String,
    /// The extension of the input.
    form: String,
    command: &'static str,
    /// The extension of the output.
    extension: &'static str,
    /// `inside` or `beside`: where the character is. Without one: `here`, if the output is written to the folder of the input.
    /// It is written elsewhere otherwise.
    place: &'static str,
}

impl Job {
    fn all(topic: &str, form: &str, command: &'static str, extension: &'static str) -> Vec<Self> {
        let places: &[&str] = match command {
            "convert" => &["here", ""],
            "flatten" => &[""],
            _ => &["inside", "beside"],
        };
        let job = |place: &&'static str| Self {
            topic: topic.to_owned(),
            form: form.to_owned(),
            command,
            extension,
            place,
        };
        places.iter().map(job).collect()
    }

    fn name(&self) -> String {
        let Self {
            topic,
            form,
            command,
            extension,
            place,
        } = self;
        format!("{topic} {command} {form} {extension} {place}")
    }

    /// Runs the command. What is to be compared then.
    fn run(&self, folder: &Path, clip: &Path) -> Result<Value, String> {
        let Self {
            topic,
            form,
            command,
            extension,
            place,
        } = self;
        let input = match *place {
            "" | "here" => folder.join(format!("{topic}.{form}")),
            place => folder.join(format!("{place}_{topic}.{form}")),
        };
        let out = format!("{place}_{topic}_{form}_{command}.{extension}");
        let out = match *place {
            "here" => folder.join(out),
            _ => folder.join("elsewhere").join(out),
        };
        let [source, target, clip] = [&input, &out, clip].map(|p| p.to_str().unwrap_or(""));
        let mut args = match *command {
            "flatten" => vec!["convert", "--flatten", source],
            "layer" => vec!["bake", "--layer", "--backend", "cpu", source],
            "bake" => vec!["bake", "--backend", "cpu", source],
            "retarget" => vec!["retarget", clip, source],
            command => vec![command, source],
        };
        args.extend(["--quiet", "--output", target]);
        let output = sinew(&args);
        // The input may have errors that `fix` cannot fix: then its output has them too, and it ends with 1.
        let is_written = *command == "fix" && stderr(&output).contains(" left: `sinew check ");
        if !output.status.success() && !is_written {
            return Err(format!("{}: {}", self.name(), stderr(&output)));
        }
        let is_here = |wanted: &str, here: &str| wanted == "*" || wanted == here;
        let expected = EXPECTED.iter().filter(|(of_topic, of_command, _, _)| {
            is_here(of_topic, topic) && is_here(of_command, command)
        });
        let expected: Vec<_> = expected
            .map(|(_, _, text, why)| json!([why, text]))
            .collect();
        // Packages are flattened.
        let stays = matches!(*command, "fix" | "retarget") && *extension != "usdz";
        Ok(json!({
            "name": self.name(),
            "a": source,
            "b": target,
            "a_flattened": *command != "convert",
            "b_flattened": stays || *command == "layer",
            "in_flattened": *command != "convert",
            "same_text": *place == "here",
            "masked": match *place {
                "inside" | "beside" => vec!["/SkinnedCharacter"],
                _ => Vec::new(),
            },
            "expected": expected,
        }))
    }
}

fn survives(python: &str, topic: &str) -> Result<(), Failed> {
    let mut text = String::new();
    let prefix = format!("{topic} ");
    for (name, answer) in found(python)?
        .iter()
        .filter(|(n, _)| n.starts_with(&prefix))
    {
        let differences = answer["differences"].as_array().map_or(&[][..], |d| d);
        for difference in differences.iter().take(12) {
            let _ = writeln!(text, "{name}: {}", difference.as_str().unwrap_or(""));
        }
        if differences.len() > 12 {
            let _ = writeln!(text, "{name}: and {} more", differences.len() - 12);
        }
    }
    match text.is_empty() {
        true => Ok(()),
        false => Err(text.into()),
    }
}

/// The table of docs/conformance.md is what is measured.
fn the_table_is_true(python: &str) -> Result<(), Failed> {
    let found = found(python)?;
    let table = table(found);
    let sum = |key| found.values().filter_map(|a| a[key].as_u64()).sum::<u64>();
    let (specs, fields) = (sum("specs"), sum("fields"));
    println!(
        "{specs} specs and {fields} fields in {} comparisons",
        found.len()
    );
    let docs = std::fs::read_to_string(common::repository().join("docs/conformance.md"))?;
    match docs.contains(&table) {
        true => Ok(()),
        false => Err(format!("docs/conformance.md should have this table:\n{table}").into()),
    }
}

/// A row for each topic, a cell for each command: `=`, and the numbers of the notes that follow.
fn table(found: &Found) -> String {
    let mut notes: Vec<&str> = vec![CLIP];
    let mut out = "| what |".to_owned();
    for (command, name, _) in COLUMNS {
        let note = if command == "retarget" { " (1)" } else { "" };
        let _ = write!(out, " {name}{note} |");
    }
    out.push('\n');
    out.push_str(&"|---".repeat(COLUMNS.len() + 1));
    out.push_str("|\n");
    for (topic, what) in TOPICS {
        let _ = write!(out, "| {what} |");
        for (command, _, _) in COLUMNS {
            let prefix = format!("{topic} {command} ");
            let answers = found.iter().filter(|(n, _)| n.starts_with(&prefix));
            let answers: Vec<&Value> = answers.map(|(_, a)| a).collect();
            let list = |key| {
                answers
                    .iter()
                    .filter_map(move |a| a[key].as_array())
                    .flatten()
            };
            let mut cell = match list("differences").next() {
                Some(_) => "differs".to_owned(),
                None => "=".to_owned(),
            };
            let mut numbers = BTreeSet::new();
            let of_cell = list("expected").filter_map(Value::as_str);
            for note in of_cell.filter(|n| *n != CLIP) {
                let at = notes.iter().position(|n| *n == note);
                numbers.insert(at.unwrap_or_else(|| {
                    notes.push(note);
                    notes.len() - 1
                }));
            }
            for number in numbers {
                let _ = write!(cell, " ({})", number + 1);
            }
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    }
    out.push('\n');
    for (i, note) in notes.iter().enumerate() {
        let _ = writeln!(out, "{}. {note}", i + 1);
    }
    out
}

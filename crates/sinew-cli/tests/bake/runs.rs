//! `tests/data/runs.txt`, `motion.txt` and `render.txt`: stages, commands that run in their folder,
//! and what becomes of them. A line is
//!
//! - `$ sinew ...`: runs the command; `$ bake ...` is `sinew bake in.usda -o out.usda --backend cpu`
//!   with more arguments. Variables may come before. `ASSETS/`, `DATA/`, `GOLDENS/` and `CRATES/` are
//!   the repository's;
//! - `copy FILE NAME` copies a file of the repository, without a folder one of `tests/crates`;
//!   `edit FILE FROM -> TO` replaces the first FROM in it (`\xNN` is a byte);
//! - `? CODE`: its exit code, if that is not 0; with 1 or 2 there is no `out.usda`, except by `fix`;
//! - `! WORD, WORD`: what it says; `!! TEXT`: what it does not say; `once TEXT`: what it says once;
//!   `silent`: it says nothing;
//! - `json POINTER = VALUE`: a value of its report;
//! - `points FILE PRIM.ATTRIBUTE [@ TIME] = VECTORS`, `times FILE PRIM.ATTRIBUTE = TIMES`,
//!   `type FILE PRIM = TYPE`, `instance FILE PRIM = true`, `prototypes FILE = COUNT`: what the
//!   written stage holds; `same FILE FILE PRIM.ATTRIBUTE @ TIME`: two stages hold the same values;
//! - `has FILE TEXT`, `lacks FILE TEXT`, `count FILE NUMBER TEXT`, `gone FILE`, `files FOLDER =
//!   NAMES`, `equal FILE FILE`: what it wrote;
//! - `pixels FILE = WIDTH x HEIGHT`, `alike FILE FILE`, `differ FILE FILE`: the pictures;
//! - `distinct FILE...`: no two of them are the same.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::command::{Bench, executable, stderr, stdout};
use common::pictures::differing;
use common::stages::{Case, Table, unescaped};
use common::{tolerance, usd};
use glam::DVec3;
use image::RgbaImage;
use rayon::prelude::*;
use serde_json::Value;

pub fn motion() {
    check("motion.txt");
}

pub fn pictures() {
    check("render.txt");
}

pub fn runs() {
    check("runs.txt");
}

/// Goes through the cases of a table.
fn check(table: &str) {
    let cases = Table::read(table).cases;
    assert!(cases.len() > 10);
    let faults = |case: &Case| {
        let of_case = |fault| format!("{}: {fault}", case.name);
        faults(case).into_iter().map(of_case).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = cases.par_iter().flat_map(faults).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines of a case that do not hold.
fn faults(case: &Case) -> Vec<String> {
    let bench = Bench::new();
    case.write(bench.folder.path());
    let mut faults = Vec::new();
    let mut last = None;
    for (i, (key, text)) in case.lines.iter().enumerate() {
        let found = match key.as_str() {
            "#" | "?" => continue,
            "copy" => {
                let (from, to) = text.split_once(' ').unwrap();
                let folder = if from.contains('/') {
                    ""
                } else {
                    "tests/crates"
                };
                let from = common::repository().join(folder).join(from);
                bench.write(to, std::fs::read(from).unwrap());
                continue;
            }
            "edit" => {
                let (name, edit) = text.split_once(' ').unwrap();
                edited(&bench.path(name), edit);
                continue;
            }
            "$" => {
                let output = run(&bench, text);
                let next = case.lines.get(i + 1).filter(|(key, _)| key == "?");
                let code: i32 = next.map_or(0, |(_, code)| code.parse().unwrap());
                let said = stderr(&output) + &stdout(&output);
                let found = output.status.code();
                let is_right = found == Some(code) && !said.contains("panicked");
                // `fix` writes what it could fix.
                let is_refused = matches!(code, 1 | 2) && !text.starts_with("sinew fix");
                let is_written = is_refused && bench.path("out.usda").exists();
                let missing = missing(&bench, &output);
                last = Some(output);
                match is_right && !is_written && missing.is_empty() {
                    true => continue,
                    false => format!("{found:?}, out.usda {is_written}, {missing:?}: {said}"),
                }
            }
            _ => match holds(&bench, last.as_ref(), key, text) {
                None => continue,
                Some(found) => found,
            },
        };
        faults.push(format!("{key} {text}\n  found {found}"));
    }
    let left = std::fs::read_dir(bench.folder.path()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    faults.extend(left.filter(|name| name.ends_with(".tmp")));
    faults
}

/// The files that a report names and that are not there.
fn missing(bench: &Bench, output: &Output) -> Vec<String> {
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let files = report["files"].as_array().into_iter().flatten();
    let files = files.filter_map(Value::as_str);
    let missing = files.filter(|file| !bench.path(file).exists());
    missing.map(str::to_owned).collect()
}

/// Replaces some bytes of a file.
fn edited(file: &Path, edit: &str) {
    let (from, to) = edit.split_once(" -> ").unwrap();
    let (from, to) = (from.as_bytes(), unescaped(to));
    let bytes = std::fs::read(file).unwrap();
    let at = bytes.windows(from.len()).position(|b| b == from).unwrap();
    let bytes = [&bytes[..at], &to, &bytes[at + from.len()..]].concat();
    std::fs::write(file, bytes).unwrap();
}

fn run(bench: &Bench, line: &str) -> Output {
    let _ = std::fs::remove_file(bench.path("out.usda"));
    let repository = common::repository().canonicalize().unwrap();
    let place = |folder: &str| format!("{}/{folder}/", repository.display());
    let line = line.replace("ASSETS/", &place("examples/assets"));
    let line = line.replace("GOLDENS/", &place("tests/goldens"));
    let line = line.replace("CRATES/", &place("tests/crates"));
    let line = line.replace("DATA/", &place("crates/sinew-io/tests/data"));
    let mut words = line.split(' ').peekable();
    let mut command = Command::new(executable());
    command.current_dir(bench.folder.path());
    while let Some((name, value)) = words.peek().and_then(|w| w.split_once('=')) {
        command.env(name, value);
        words.next();
    }
    match words.next() {
        Some("bake") => command.args(["bake", "in.usda", "-o", "out.usda", "--backend", "cpu"]),
        program => {
            assert_eq!(program, Some("sinew"), "{line}");
            &mut command
        }
    };
    command.args(words).output().unwrap()
}

/// What is found in place of what a line says; `None` where it holds.
fn holds(bench: &Bench, output: Option<&Output>, key: &str, text: &str) -> Option<String> {
    let output = output.unwrap();
    let said = || stderr(output) + &stdout(output);
    let (place, value) = text.rsplit_once(" =").unwrap_or((text, ""));
    let value = value.trim_start();
    let unless = |is_so: bool, found: String| (!is_so).then_some(found);
    let equals = |found: String| unless(found == value, found);
    // FILE and what follows.
    let (name, rest) = place.split_once(' ').unwrap_or((place, ""));
    let file = |name: &str| bench.path(name);
    let read = || {
        let bytes = std::fs::read(file(text.split(' ').next().unwrap())).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let after = text.split_once(' ').map_or("", |(_, after)| after);
    match key {
        "!" => unless(text.split(", ").all(|word| said().contains(word)), said()),
        "!!" => {
            let text = String::from_utf8(unescaped(text)).unwrap();
            unless(!said().contains(&text), said())
        }
        "once" => unless(said().matches(text).count() == 1, said()),
        "silent" => unless(said().is_empty(), said()),
        "json" => {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            let found = report.pointer(place).cloned().unwrap_or_default();
            unless(
                serde_json::from_str::<Value>(value).unwrap() == found,
                found.to_string(),
            )
        }
        "points" => equals(vectors(file(name), rest)),
        "same" => {
            let (second, place) = rest.split_once(' ').unwrap();
            let (first, second) = (vectors(file(name), place), vectors(file(second), place));
            unless(
                first == second && first != "none",
                format!("{first} and {second}"),
            )
        }
        "times" => {
            let (prim, attribute) = rest.split_once('.').unwrap();
            let times = usd::times(&usd::open(&file(name)), prim, attribute);
            let times: Vec<String> = times.iter().map(f64::to_string).collect();
            equals(times.join(" "))
        }
        "type" => equals(usd::type_name(&usd::open(&file(name)), rest)),
        "instance" => equals(
            usd::prim(&usd::open(&file(name)), rest)
                .is_instance()
                .to_string(),
        ),
        "prototypes" => equals(usd::open(&file(place)).prototypes().count().to_string()),
        "has" => unless(read().contains(after), read()),
        "lacks" => unless(!read().contains(after), read()),
        "count" => {
            let (count, wanted) = after.split_once(' ').unwrap();
            let found = read().matches(wanted).count().to_string();
            unless(found == count, found)
        }
        "files" => {
            let entries = std::fs::read_dir(file(place)).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            equals(names.join(" "))
        }
        "equal" => {
            let [a, b] = [name, rest].map(|name| std::fs::read(file(name)).unwrap());
            unless(a == b, "other bytes".to_owned())
        }
        "pixels" => {
            let (width, height) = picture(&file(place)).dimensions();
            equals(format!("{width} x {height}"))
        }
        "alike" => {
            let share = differing(&picture(&file(name)), &picture(&file(rest)));
            unless(share < tolerance::SAME_PICTURE, share.to_string())
        }
        "differ" => {
            let share = differing(&picture(&file(name)), &picture(&file(rest)));
            unless(share > 0.002, share.to_string())
        }
        "distinct" => {
            let files = text
                .split(' ')
                .map(|name| std::fs::read(file(name)).unwrap());
            let distinct: HashSet<Vec<u8>> = files.collect();
            let found = format!("{} of them", distinct.len());
            unless(distinct.len() == text.split(' ').count(), found)
        }
        "gone" => unless(!file(text).exists(), "it is there".to_owned()),
        key => panic!("{key} {text}"),
    }
}

fn picture(file: &Path) -> RgbaImage {
    image::open(file).unwrap().into_rgba8()
}

/// The vectors of `PRIM.ATTRIBUTE` or `PRIM.ATTRIBUTE @ TIME`, to 6 digits.
fn vectors(file: PathBuf, place: &str) -> String {
    let (place, time) = place.split_once(" @ ").unwrap_or((place, ""));
    let (prim, attribute) = place.split_once('.').unwrap();
    let stage = usd::open(&file);
    let Some(values) = usd::vectors(&stage, prim, attribute, time.parse().ok()) else {
        return "none".to_owned();
    };
    let number = |n: f64| (n * 1e6).round() / 1e6 + 0.0;
    let vector = |v: DVec3| format!("({}, {}, {})", number(v.x), number(v.y), number(v.z));
    let values: Vec<String> = values.into_iter().map(vector).collect();
    values.join(" ")
}

//! Tables of changed files, and what reading each of them must say.
//!
//! A table is a text file. Its rows are blocks of lines, with an empty line between them:
//!
//! | line | what it does |
//! |---|---|
//! | `base FILE as NAME` | the fixture that this row and the next ones change, and the name it is read by |
//! | `/skins/0/joints = [1, 1]` | sets a value of the JSON; `/nodes/-` appends to a list |
//! | `remove /skins/0/joints` | removes a member |
//! | `accessor f32 VEC3 0 0 1` | appends an accessor with these numbers |
//! | `- old -> new` | replaces text once; `\n` is a line break |
//! | `text {}` | replaces the whole file |
//! | `! PLACE \| words \| words` | reading fails at this place, and the message has these words |
//! | `! [CODE] PLACE` | the same with the code of the error |
//! | `? CODE PLACE \| words` | reading gives this warning; warnings stand in their order |
//! | `= /nodes/0/name "Hips"` | what is read has this value there; see `shown.rs` |
//! | `count /nodes 3` | a list or a map of what is read has so many elements |
//! | `@ 0.5 Hips 0 1 0` | the place of a node 0.5 s into the first clip; 12 numbers are the columns of its matrix |
//! | `within 1e-6` | the next lines of the row allow this difference |
//! | `turn hips x 30` | turns a node about an axis of the scene, in degrees |
//! | `twist hips x 30` | turns a node about its own axis; the nodes below it stay where they are |
//! | `bind` | makes the rest pose the bind pose of all skins |
//! | `with WORDS` | words that the runner of the table understands |
//! | `> TEXT` | a line that the runner of the table understands |
//!
//! A row without `!` is read, with the warnings of its `?` lines and no others. Lines that begin with `#` are comments.

use std::path::{Path, PathBuf};

use glam::{DMat4, DQuat, DVec3};
use serde_json::Value;
use sinew_animate::asset::Asset;

use super::document::Document;
use super::{pose, shown, tolerance};

/// An error or a warning that a row expects.
pub struct Expected {
    /// Empty if the error has no code.
    pub code: String,
    /// Path within the document, such as `skins[0].joints`, or the line.
    pub place: String,
    words: Vec<String>,
}

/// One row: the changed file, and what reading it must say.
pub struct Row {
    /// Table and line, for messages.
    pub at: String,
    /// The name that the file is read by.
    pub name: PathBuf,
    /// The changed file.
    pub bytes: Vec<u8>,
    /// The changed JSON, if the base is a glTF file.
    pub json: Value,
    /// The words of the row's `with` line.
    pub with: Vec<String>,
    pub error: Option<Expected>,
    pub warnings: Vec<Expected>,
    /// The lines that begin with `>`.
    pub lines: Vec<String>,
    values: Vec<Content>,
}

/// A line about what is read.
struct Content {
    line: String,
    expects: Expects,
    within: Option<f64>,
}

/// What such a line expects.
enum Expects {
    /// A value at a JSON pointer.
    Value(String, Value),
    /// The length of the list at a JSON pointer.
    Count(String, usize),
    /// At a time, the position or the matrix of a node.
    Pose(f64, String, Vec<f64>),
}

/// What is changed. Text files stand as they are, glTF files as JSON and buffer.
#[derive(Clone)]
enum Base {
    Text(String),
    Gltf(Document),
}

/// Reads a table. Paths of fixtures are relative to its folder.
pub fn read(table: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(table).unwrap_or_else(|e| panic!("{table:?}: {e}"));
    let mut base = (Base::Text(String::new()), PathBuf::new());
    let mut rows = Vec::new();
    let mut block: Vec<(usize, &str)> = Vec::new();
    for (number, line) in text.lines().chain([""]).enumerate() {
        if let Some(rest) = line.strip_prefix("base ") {
            let (file, name) = rest.split_once(" as ").expect("base FILE as NAME");
            let file = table.with_file_name(file);
            base.0 = match file.extension().is_some_and(|e| e == "gltf") {
                true => Base::Gltf(Document::read(&file)),
                false => Base::Text(std::fs::read_to_string(&file).unwrap()),
            };
            base.1 = PathBuf::from(name);
        } else if !line.starts_with('#') && !line.trim().is_empty() {
            block.push((number + 1, line));
        } else if line.is_empty() && !block.is_empty() {
            rows.push(row(table, base.clone(), &block));
            block.clear();
        }
    }
    assert!(!rows.is_empty(), "{table:?} has no rows");
    rows
}

fn row(table: &Path, (mut base, name): (Base, PathBuf), block: &[(usize, &str)]) -> Row {
    let file = table.file_name().unwrap().display();
    let at = format!("{file}:{}", block[0].0);
    let (mut error, mut warnings, mut lines) = (None, Vec::new(), Vec::new());
    let (mut with, mut values, mut within) = (Vec::new(), Vec::new(), None);
    for (_, line) in block {
        if let Some(rest) = line.strip_prefix("! ") {
            assert!(error.is_none(), "{at}: reading ends at the first error");
            error = Some(expected_error(rest));
        } else if let Some(rest) = line.strip_prefix("? ") {
            let (code, rest) = rest.split_once(' ').expect("? CODE PLACE");
            warnings.push(expected(code, rest));
        } else if let Some(rest) = line.strip_prefix("> ") {
            lines.push(rest.to_owned());
        } else if let Some(words) = line.strip_prefix("with ") {
            with = words.split(' ').map(str::to_owned).collect();
        } else if let Some(number) = line.strip_prefix("within ") {
            within = Some(number.parse().unwrap());
        } else if let Some(expects) = expects(line) {
            let line = (*line).to_owned();
            values.push(Content {
                line,
                expects,
                within,
            });
        } else {
            change(&mut base, line, &at);
        }
    }
    let (bytes, json) = match base {
        Base::Text(text) => (text.into_bytes(), Value::Null),
        Base::Gltf(document) => (document.glb(), document.json),
    };
    Row {
        at,
        name,
        bytes,
        json,
        with,
        error,
        warnings,
        values,
        lines,
    }
}

/// What a line expects of what is read; `None` if it is another kind of line.
fn expects(line: &str) -> Option<Expects> {
    let (kind, rest) = line.split_once(' ')?;
    let (first, second) = rest.split_once(' ')?;
    Some(match kind {
        "=" => {
            let value = serde_json::from_str(second);
            let value = value.unwrap_or_else(|e| panic!("{line}: {e}"));
            Expects::Value(first.to_owned(), value)
        }
        "count" => Expects::Count(first.to_owned(), second.parse().unwrap()),
        "@" => {
            let mut words = second.split(' ');
            let node = words.next().unwrap().to_owned();
            let numbers = words.map(|n| n.parse().unwrap()).collect();
            Expects::Pose(first.parse().unwrap(), node, numbers)
        }
        _ => return None,
    })
}

fn expected_error(text: &str) -> Expected {
    match text.strip_prefix('[').and_then(|t| t.split_once("] ")) {
        Some((code, rest)) => expected(code, rest),
        None => expected("", text),
    }
}

fn expected(code: &str, rest: &str) -> Expected {
    let mut parts = rest.split(" | ").map(str::to_owned);
    Expected {
        code: code.to_owned(),
        place: parts.next().unwrap(),
        words: parts.collect(),
    }
}

fn change(base: &mut Base, line: &str, at: &str) {
    if let Some(whole) = line.strip_prefix("text") {
        *base = Base::Text(unescaped(whole.trim_start()));
        return;
    }
    match base {
        Base::Text(text) => {
            let edit = line.strip_prefix("- ").and_then(|l| l.split_once(" ->"));
            let (old, new) = edit.unwrap_or_else(|| panic!("{at}: {line}"));
            let (old, new) = (
                unescaped(old),
                unescaped(new.strip_prefix(' ').unwrap_or(new)),
            );
            assert!(text.contains(&old), "{at}: no {old:?} in the base");
            *text = text.replacen(&old, &new, 1);
        }
        Base::Gltf(document) => {
            let words: Vec<&str> = line.split(' ').collect();
            if let Some(pointer) = line.strip_prefix("remove ") {
                document.remove(pointer);
            } else if let ["turn" | "twist", node, axis, degrees] = words[..] {
                let axis = DVec3::AXES["xyz".find(axis).unwrap()];
                let angle: f64 = degrees.parse().unwrap();
                let by = DQuat::from_axis_angle(axis, angle.to_radians());
                match words[0] {
                    "turn" => document.turn(document.named(node), by),
                    _ => document.twist(document.named(node), by),
                }
            } else if line == "bind" {
                document.bind_at_rest();
            } else if let Some(accessor) = line.strip_prefix("accessor ") {
                let mut words = accessor.split(' ');
                let (component, kind) = (words.next().unwrap(), words.next().unwrap());
                let numbers: Vec<f64> = words.map(|n| n.parse().unwrap()).collect();
                document.accessor(component, kind, &numbers);
            } else {
                let edit = line.split_once(" = ");
                let (pointer, value) = edit.unwrap_or_else(|| panic!("{at}: {line}"));
                let value = serde_json::from_str(value);
                document.set(pointer, value.unwrap_or_else(|e| panic!("{at}: {e}")));
            }
        }
    }
}

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n")
}

impl Row {
    /// Whether reading said what the row expects; else what it said.
    pub fn judge(&self, result: sinew_io::Result<Asset>) -> Result<(), String> {
        match (result, &self.error) {
            (Err(sinew_io::Error::Invalid(found)), Some(expected)) => {
                let text = found.to_string();
                let name = self.name.file_name().unwrap().to_str().unwrap();
                let is_right = found.prim == expected.place
                    && found.code.unwrap_or("") == expected.code
                    && found.file.is_some()
                    && text.contains(&format!("{name}: "))
                    && text.contains(&expected.place)
                    && expected.words.iter().all(|w| text.contains(w));
                let code = found.code.unwrap_or("no code");
                is_right.then_some(()).ok_or(format!("[{code}] {text}"))
            }
            (Ok(asset), None) => {
                let found = &asset.warnings;
                let is_right = found.len() == self.warnings.len()
                    && found.iter().zip(&self.warnings).all(|(found, expected)| {
                        found.code == expected.code
                            && found.path == expected.place
                            && expected.words.iter().all(|w| found.message.contains(w))
                    });
                is_right
                    .then_some(())
                    .ok_or(format!("warnings {found:#?}"))?;
                self.judge_values(&asset)
            }
            (Err(error), Some(expected)) if expected.code.is_empty() => {
                let text = error.to_string();
                let mut words = expected.words.iter().chain([&expected.place]);
                words.all(|w| text.contains(w)).then_some(()).ok_or(text)
            }
            (Ok(asset), Some(_)) => Err(format!("it was read, with {:?}", asset.warnings)),
            (Err(error), _) => Err(error.to_string()),
        }
    }

    /// Whether what was read has the values that the row expects; else those that it has.
    fn judge_values(&self, asset: &Asset) -> Result<(), String> {
        if self.values.is_empty() {
            return Ok(());
        }
        let shown = shown::as_json(asset);
        let wrong = self.values.iter().filter_map(|content| {
            let found = content.found(asset, &shown)?;
            Some(format!("{}: found {found}", content.line))
        });
        let wrong: Vec<String> = wrong.collect();
        if wrong.is_empty() {
            return Ok(());
        }
        Err(wrong.join("\n    "))
    }
}

impl Content {
    /// What is found in place of what is expected; `None` if that is found.
    fn found(&self, asset: &Asset, shown: &Value) -> Option<String> {
        match &self.expects {
            Expects::Value(pointer, expected) => {
                let Some(found) = shown.pointer(pointer) else {
                    return Some("nothing there".to_owned());
                };
                let is_right = shown::is_near(found, expected, self.within.unwrap_or(0.0));
                (!is_right).then(|| found.to_string())
            }
            Expects::Count(pointer, expected) => {
                let found = match shown.pointer(pointer) {
                    Some(Value::Array(list)) => Some(list.len()),
                    Some(Value::Object(map)) => Some(map.len()),
                    _ => None,
                };
                (found != Some(*expected)).then(|| format!("{found:?}"))
            }
            Expects::Pose(time, node, expected) => {
                let clip = asset.clips.first().cloned().unwrap_or_default();
                let found = pose::world(asset, &clip, pose::node(asset, node), *time);
                let within = self.within.unwrap_or(tolerance::FORMULAS_IN_F64);
                let columns = |m: DMat4| [m.x_axis, m.y_axis, m.z_axis, m.w_axis];
                let numbers = columns(found).map(|c| c.truncate().to_array());
                let numbers = numbers.as_flattened();
                let numbers = &numbers[12 - expected.len()..];
                let mut apart = numbers.iter().zip(expected).map(|(a, b)| (a - b).abs());
                (!apart.all(|a| a <= within)).then(|| format!("{numbers:?}"))
            }
        }
    }
}

/// Reads every row of a table by `read`, and fails with all that say something else than they must.
pub fn check(table: &Path, mut read_row: impl FnMut(&Row) -> sinew_io::Result<Asset>) {
    let wrong: Vec<String> = read(table)
        .iter()
        .filter_map(|row| {
            let said = row.judge(read_row(row)).err()?;
            Some(format!("{}: {said}", row.at))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

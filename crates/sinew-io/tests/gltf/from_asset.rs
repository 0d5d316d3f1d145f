//! Assets as USD: the rows of `crates/sinew-io/tests/data/from_asset.txt`. What only an asset can have,
//! and no file, is in `assets.rs`.
//!
//! `converted.rs` compares where the converted points are, also for the fixtures of this table.

use std::collections::HashMap;
use std::path::Path;

use libtest_mimic::Failed;
use serde_json::Value;
use sinew_animate::asset::Asset;
use sinew_io::gltf::read_bytes;
use sinew_io::usd::{ClipChoice, OpenOptions, UsdFile};

use crate::judges::{describe, valid_usd};
use common::python;
use common::rows::{self, Row};
use common::shown::is_near;
use common::trials::Trial;

/// Seconds at which usd-core describes what changes over time.
const SECONDS: [f64; 4] = [0.0, 0.1, 0.25, 0.5];

const FORMS: [&str; 3] = ["usda", "usdc", "usdz"];

type Outcome = Result<(), Failed>;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("rows", written),
        python::trial("rows_in_usd_core", in_usd_core),
    ]
}

/// What is written of every row, as sinew reads it.
fn written() -> Outcome {
    each(|row, file, folder| {
        let scene = file.scene(Default::default())?;
        let mut lines = Lines::default();
        for form in FORMS {
            let out = out(&row.name, folder, form);
            file.save_as(&out)?;
            let opened = UsdFile::open(&out)?.scene(Default::default())?;
            assert!(opened.errors.is_empty(), "{form}: {:?}", opened.errors);
            let count = (opened.bindings.len(), opened.animations.len());
            let in_memory = (scene.bindings.len(), scene.animations.len());
            assert_eq!(count, in_memory, "{form}: bindings, animations");
            if form == "usda" {
                lines = Lines::of(&std::fs::read_to_string(&out)?);
            }
        }
        let usd = |line: &&String| !line.starts_with("clips:") && !line.starts_with("usd-core ");
        for line in row.lines.iter().filter(usd) {
            let (negated, rest) = match line.strip_prefix("not ") {
                Some(rest) => (true, rest),
                None => (false, line.as_str()),
            };
            let (place, text) = rest.split_once(": ").ok_or("PATH: LINE")?;
            if lines.have(place, text, negated) == negated {
                let found = lines.0.get(place);
                return Err(format!("{line}\nfound {found:#?}").into());
            }
        }
        Ok(())
    })
}

/// What usd-core says of every row that is converted.
fn in_usd_core(python: &str) -> Outcome {
    each(|row, file, folder| {
        for form in FORMS {
            let out = out(&row.name, folder, form);
            file.save_as(&out)?;
            valid_usd(python, &out)?;
            let mut judged = row.lines.iter();
            let mut judged = judged.by_ref().filter_map(|l| l.strip_prefix("usd-core "));
            let Some(first) = judged.next() else { continue };
            let rate = file.scene(Default::default())?.time_line;
            let codes = SECONDS.map(|s| s * rate.time_codes_per_second);
            let found = describe(python, &out, &codes)?;
            for line in std::iter::once(first).chain(judged) {
                let (error, rest) = line.split_once(' ').ok_or("an error")?;
                let (place, want) = rest.split_once(" = ").ok_or("PLACE = JSON")?;
                let found = found.pointer(place).unwrap_or(&Value::Null);
                if !is_near(found, &serde_json::from_str(want)?, error.parse()?) {
                    return Err(format!("{form}: {line}\nfound {found}").into());
                }
            }
        }
        Ok(())
    })
}

/// Converts every row. What is refused or warned of is compared; `then` sees what is converted.
fn each(then: impl Fn(&Row, &UsdFile, &Path) -> Outcome) -> Outcome {
    let mut wrong = Vec::new();
    for row in rows::read(&common::fixture("from_asset.txt")) {
        let folder = tempfile::tempdir()?;
        // A row judges the warnings of an asset.
        let warned = |warnings| Asset {
            warnings,
            ..Asset::default()
        };
        let said = match converted(&row) {
            Ok((file, warnings)) if row.error.is_none() => row
                .judge(Ok(warned(warnings)))
                .and_then(|()| then(&row, &file, folder.path()).map_err(|e| format!("{e:?}"))),
            result => row.judge(result.map(|(_, warnings)| warned(warnings))),
        };
        wrong.extend(said.err().map(|said| format!("{}: {said}", row.at)));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}

/// The file of a row, and what is warned of.
fn converted(row: &Row) -> sinew_io::Result<(UsdFile, Vec<sinew::error::Warning>)> {
    let asset = read_bytes(&row.bytes, &row.name)?;
    let chosen = row.lines.iter().find_map(|l| l.strip_prefix("clips: "));
    let clips = match chosen {
        None => ClipChoice::First,
        Some("all") => ClipChoice::All,
        Some(name) => ClipChoice::Named(name.to_owned()),
    };
    let options = OpenOptions {
        clips,
        ..OpenOptions::default()
    };
    let file = UsdFile::from_asset(&asset, &options)?;
    let warnings = file.origin().map_or(Vec::new(), |o| o.warnings.clone());
    Ok((file, warnings))
}

fn out(name: &Path, folder: &Path, form: &str) -> std::path::PathBuf {
    let stem = name.file_stem().expect("a name");
    folder.join(stem).with_extension(form)
}

/// Lines of a .usda by the path of their prim, and of the dictionaries in it.
#[derive(Default)]
struct Lines(HashMap<String, Vec<String>>);

impl Lines {
    fn of(text: &str) -> Self {
        let mut lines = Self::default();
        // Names of prims begin with /, those of dictionaries and the like with a space.
        let mut names: Vec<String> = Vec::new();
        for line in text.lines().map(str::trim) {
            let mut words = line.split(' ');
            let kind = words
                .next()
                .filter(|w| ["def", "over", "class"].contains(w));
            let quoted = line.split('"').nth(1).unwrap_or_default();
            match (kind, line) {
                (Some(kind), _) => {
                    names.push(format!("/{quoted}"));
                    let kind = format!("{kind} {}", words.next().unwrap_or_default());
                    lines.push(&names, &kind);
                }
                (None, "{") => {}
                (None, "}") => _ = names.pop(),
                (None, _) => {
                    lines.push(&names, line);
                    if let Some(name) = line.strip_suffix('{') {
                        let name = name.trim_end_matches([' ', '=']);
                        let name = name.rsplit(' ').next().unwrap_or_default();
                        names.push(format!(" {name}"));
                    }
                }
            }
        }
        lines
    }

    fn push(&mut self, names: &[String], line: &str) {
        let place = names.concat();
        let place = match place.starts_with('/') {
            true => place,
            false => format!("/{place}"),
        };
        self.0.entry(place).or_default().push(line.to_owned());
    }

    /// Whether a prim, or any for `*`, has a line, or one with these words.
    fn have(&self, place: &str, text: &str, words: bool) -> bool {
        let is_it = |line: &String| match text.strip_suffix("...") {
            _ if words => line.contains(text),
            Some(start) => line.starts_with(start),
            None => line == text,
        };
        let mut places = self.0.iter().filter(|(p, _)| place == "*" || *p == place);
        places.any(|(_, lines)| lines.iter().any(is_it))
    }
}

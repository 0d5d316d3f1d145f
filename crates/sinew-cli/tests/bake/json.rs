//! What --json prints fits docs/schema/sinew.schema.json: every command, its options that add keys, and every kind of failure.

use common::worker::Workers;
use serde_json::{Value, json};

use crate::bench::{Folder, project, rows};

/// A folder with the example characters, and the schema's validator.
struct Judge(Folder);

impl Judge {
    fn new() -> Self {
        let folder = Folder::new();
        folder.0.write("bad.usda", "no layer");
        let text = std::fs::read_to_string(folder.path("hatchling.usda")).unwrap();
        let bent = text.replacen("elementSize = 6", "elementSize = 7", 1);
        assert_ne!(text, bent);
        folder.0.write("bent.usda", bent);
        Self(folder)
    }

    fn fits(&self, value: &Value) -> Result<(), String> {
        static AJV: Workers = Workers::new("tests/node/schema.mjs");
        let schema = project("docs/schema/sinew.schema.json");
        let request = json!({ "schema": schema, "value": value });
        let answer = AJV.ask("node", self.0.0.folder.path(), &request)?;
        let errors = answer["errors"].as_array().ok_or("errors")?;
        let texts: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
        match texts.is_empty() {
            true => Ok(()),
            false => Err(texts.join("\n")),
        }
    }

    /// Runs the words with --json in the folder; what is printed fits, with this exit code.
    fn run(&self, code: i32, line: &str) -> Value {
        let value = self.0.json(code, line);
        assert_eq!(value["exit_code"], code, "{line}");
        assert_eq!(value["schema_version"], 2);
        let fits = self.fits(&value);
        fits.unwrap_or_else(|e| panic!("{line}: add what is new to docs/schema: {e}"));
        self.has_true_sizes(line, &value);
        value
    }

    /// The sizes that a report has are those of the files. Without a list they are of what follows -o.
    fn has_true_sizes(&self, line: &str, value: &Value) {
        let size = |name: &Value| self.0.path(name.as_str()?).metadata().ok();
        let sum = |names: &[Value]| names.iter().filter_map(size).map(|m| m.len()).sum::<u64>();
        if let Some(written) = value["output_bytes"].as_u64() {
            let words: Vec<Value> = line.split(' ').map(Value::from).collect();
            let out = words.iter().position(|word| word == "-o").unwrap();
            let files = value["files"].as_array();
            let files = files.map_or(&words[out + 1..out + 2], Vec::as_slice);
            assert_eq!(written, sum(files), "{line}");
            let input = value["input_bytes"].as_u64().unwrap();
            let is_of = |word: &Value| sum(std::slice::from_ref(word)) == input;
            assert!(words.iter().any(is_of), "{line}: {input} is of no input");
        }
    }
}

/// Every line of json.txt: exit code, the words of the command, and values of what it prints.
pub fn what_is_printed_fits_the_schema() {
    let judge = Judge::new();
    let puppet = std::fs::read(judge.0.path("puppet.glb")).unwrap();
    let name = b"EXT_skeleton_humanoid";
    let plain =
        puppet
            .windows(name.len())
            .enumerate()
            .fold(puppet.clone(), |mut plain, (i, bytes)| {
                if bytes == name {
                    plain[i..i + 3].copy_from_slice(b"OLD");
                }
                plain
            });
    judge.0.0.write("plain.glb", plain);
    for row in rows(include_str!("json.txt")) {
        let (code, line) = (row[0].parse().unwrap(), row[1]);
        if line.starts_with("render") && common::gpu::ignored() {
            continue;
        }
        let value = judge.run(code, line);
        for expected in &row[2..] {
            let (place, wanted) = expected.split_once(" = ").unwrap();
            let found = value.pointer(place).unwrap_or(&Value::Null).to_string();
            assert_eq!(found, wanted, "{line}: {place} of {value}");
        }
        // Of several files each has its own end.
        if code != 0 && code != 3 && value.get("files").is_none() {
            let error = &value["error"];
            assert_eq!(error["severity"], "error", "{line}: {value}");
            assert_ne!(error["message"], "", "{line}");
        }
    }
    // Numbers are written as short as they can be.
    let size = |name: &str| judge.0.path(name).metadata().unwrap().len();
    assert!(size("fixed.usda") <= size("hatchling.usda"));
}

/// The schema is strict: it notices a key that it does not describe, one that is missing, and one of another type.
pub fn what_does_not_fit_is_noticed() {
    let judge = Judge::new();
    let good = judge.run(0, "bake hatchling.usda -o out.usdc --frames 1");
    let failed = judge.run(1, "bake bad.usda -o out2.usdc");
    let changes: [(&Value, &str, Value); 8] = [
        (&good, "/more", json!(1)),
        (&good, "/prims", json!("8")),
        (&good, "/schema_version", json!(1)),
        (&good, "/warnings", json!(["a text"])),
        (&good, "/command", json!("fix")),
        (&failed, "/error/reason", json!("")),
        (&failed, "/error", json!("a text")),
        (&failed, "/error/severity", json!("fatal")),
    ];
    for (value, place, new) in changes {
        let mut value = value.clone();
        let (above, key) = place.rsplit_once('/').unwrap();
        value.pointer_mut(above).unwrap()[key] = new;
        assert!(judge.fits(&value).is_err(), "{place}");
    }
    let mut less = good;
    less.as_object_mut().unwrap().remove("warnings");
    assert!(judge.fits(&less).is_err());
}

/// `inspect` and `check` count alike.
pub fn inspect_counts_as_check_does() {
    let judge = Judge::new();
    for (file, errors) in [
        ("hatchling.usda", 0),
        ("puppet.glb", 0),
        ("walk.bvh", 0),
        ("bent.usda", 1),
    ] {
        let code = i32::from(errors > 0);
        let checked = judge.0.json(code, &format!("check {file}"))["files"][0].clone();
        let inspected = judge.run(0, &format!("inspect {file}"));
        assert_eq!(inspected["counts"], checked["counts"], "{file}");
        assert_eq!(inspected["findings"], checked["findings"]);
        assert_eq!(inspected["counts"]["errors"], errors);
    }
}

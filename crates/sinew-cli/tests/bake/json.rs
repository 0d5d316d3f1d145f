//! What --json prints fits docs/schema/sinew.schema.json: every command, its options that add keys, and every kind of failure.

use common::command::{Bench, sinew, stderr, stdout};
use common::trials::Trial;
use common::worker::Workers;
use serde_json::{Value, json};

pub fn trials() -> Vec<Trial> {
    let tests: [(_, fn()); 6] = [
        ("results_fit_the_schema", results_fit_the_schema),
        ("failures_fit_the_schema", failures_fit_the_schema),
        ("what_does_not_fit_is_noticed", what_does_not_fit_is_noticed),
        (
            "a_finding_has_the_same_keys_everywhere",
            a_finding_has_the_same_keys_everywhere,
        ),
        ("inspect_counts_as_check_does", inspect_counts_as_check_does),
        ("sizes_are_those_of_the_files", sizes_are_those_of_the_files),
    ];
    let trial = |(name, run): (&str, fn())| {
        common::node::trial(name, move || {
            run();
            Ok(())
        })
    };
    tests.map(trial).into()
}

/// A folder with the example characters, and the schema's validator.
struct Judge {
    bench: Bench,
}

impl Judge {
    fn new() -> Self {
        let bench = Bench::new();
        let assets = common::repository().join("examples/assets");
        for name in ["hatchling.usda", "puppet.glb", "bow.glb", "walk.bvh"] {
            std::fs::copy(assets.join(name), bench.path(name)).unwrap();
        }
        bench.write("bad.usda", "no layer");
        Self { bench }
    }

    fn fits(&self, value: &Value) -> Result<(), String> {
        static AJV: Workers = Workers::new("tests/node/schema.mjs");
        let schema = common::repository().join("docs/schema/sinew.schema.json");
        let request = json!({ "schema": schema, "value": value });
        let answer = AJV.ask("node", self.bench.folder.path(), &request)?;
        let errors = answer["errors"].as_array().ok_or("errors")?;
        let texts: Vec<&str> = errors.iter().filter_map(Value::as_str).collect();
        match texts.is_empty() {
            true => Ok(()),
            false => Err(texts.join("\n")),
        }
    }

    /// Runs the words with --json in the folder; what is printed fits, with this exit code.
    fn run(&self, code: i32, line: &str) -> Value {
        let words = line.split_whitespace().map(|word| match word {
            _ if word.starts_with('-') || !word.contains(['.', '/', '*']) => word.to_owned(),
            file => self.bench.path(file).to_str().unwrap().to_owned(),
        });
        let mut args: Vec<String> = words.collect();
        args.push("--json".into());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = sinew(&args);
        let text = stdout(&output);
        let value: Value = serde_json::from_str(&text)
            .unwrap_or_else(|e| panic!("{line}: {e}: {text} {}", stderr(&output)));
        assert_eq!(output.status.code(), Some(code), "{line}: {value}");
        assert_eq!(value["exit_code"], code, "{line}");
        assert_eq!(value["schema_version"], 2);
        self.fits(&value)
            .unwrap_or_else(|e| panic!("{line}: add what is new to docs/schema: {e}"));
        value
    }
}

fn results_fit_the_schema() {
    let judge = Judge::new();
    for line in [
        "bake hatchling.usda -o out.usdc --frames 1:2",
        "bake hatchling.usda -o clips.usdc --frames 1:4 --clip-frames 2",
        "bake hatchling.usda -o seq/####.obj --frames 1:2",
        "bake hatchling.usda -o fewest.usdc --frames 1:4 --max-error=0.01",
        "bake puppet.glb -o puppet.bones.exr",
        "convert puppet.glb -o puppet.usda",
        "convert hatchling.usda -o hatchling.glb --max-influences 2",
        "inspect hatchling.usda",
        "inspect puppet.glb",
        "inspect walk.bvh",
        "check hatchling.usda puppet.glb walk.bvh",
        "bake hatchling.usda puppet.glb -o baked/ --frames 1:2",
        "convert hatchling.usda puppet.glb -o converted/",
        "convert hatchling.usda puppet.glb -o converted/ --to glb",
        "fix hatchling.usda -o fixed/",
        "fix hatch*.usda --dry-run",
        "check --codes",
        "fix hatchling.usda -o fixed.usda",
        "fix hatchling.usda --dry-run --max-influences 1",
        "humanoid puppet.glb bow.glb -o bowing.usda",
        "retarget walk.bvh puppet.glb -o walking.usda --lock-feet",
        "animate walking.usda walking.usda -o twice.usda",
        "devices",
    ] {
        judge.run(0, line);
    }
    let (plain, described) = (judge.bench.path("plain.glb"), "described.glb");
    let mut bytes = std::fs::read(judge.bench.path("puppet.glb")).unwrap();
    for i in 0..bytes.len() - 3 {
        if bytes[i..].starts_with(b"EXT_skeleton_humanoid") {
            bytes[i..i + 3].copy_from_slice(b"OLD");
        }
    }
    std::fs::write(plain, bytes).unwrap();
    let written = judge.run(0, &format!("describe plain.glb -o {described}"));
    let printed = judge.run(0, "describe plain.glb");
    assert_eq!(printed["bones"], written["bones"]);
    let bones = &printed["extension"]["humanoidSkeletons"][0]["humanoidBones"];
    assert!(bones["hips"].is_u64(), "{printed}");
    assert!(written.get("extension").is_none() && printed.get("output").is_none());
    if !common::gpu::ignored() {
        judge.run(0, "render puppet.glb -o puppet.png --size 64x64");
        judge.run(
            0,
            "render puppet.glb -o puppet.gif --size 64x64 --frames 1:3",
        );
        judge.run(
            0,
            "render puppet.glb -o turn/##.png --size 64x64 --turntable 2",
        );
    }
}

fn failures_fit_the_schema() {
    let judge = Judge::new();
    for (code, line) in [
        (1, "bake missing.usda -o out.usdc"),
        (1, "bake bad.usda -o out.usdc"),
        (2, "bake hatchling.usda -o out.xyz"),
        (2, "bake hatchling.usda"),
        (2, "bake hatchling.usda -o out.usdc --frames 3:1"),
        (1, "convert bad.usda -o out.usda"),
        (2, "convert hatchling.usda -o out.xyz"),
        (2, "retarget walk.bvh puppet.glb -o out.glb"),
        (2, "fix hatchling.usda -o out.glb"),
        (2, "humanoid puppet.glb bow.glb -o out.xyz"),
        (2, "describe puppet.glb -o out.usda"),
        (2, "animate hatchling.usda hatchling.usda -o out.xyz"),
        (2, "bake hatchling.usda -o out.usdc --threads 0"),
        (2, "convert hatchling.usda -o out.glb --flatten"),
        (2, "convert hatchling.usda -o out.usda --max-influences 4"),
        (2, "convert hatchling.usda -o out.usda --to glb"),
        (2, "bake hatchling.usda bad.usda -o none/ --to xyz"),
        (1, "inspect missing.glb"),
        (2, "check *.abc"),
        (2, "check hatchling.usda --search-path ./missing"),
        (2, "check hatchling.usda missing.glb"),
        (3, "bake hatchling.usda bad.usda -o some/ --frames 1"),
        (1, "bake missing.usda bad.usda -o none/"),
        (3, "convert puppet.glb bad.usda -o some/"),
        (3, "fix hatchling.usda bad.usda -o some/"),
        (1, "fix puppet.glb -o out.usda"),
        (2, "fix hatchling.usda -o out.usda --only no-such-code"),
        (1, "humanoid missing.glb bow.glb -o out.usda"),
        (1, "describe missing.glb"),
        (1, "retarget missing.bvh puppet.glb -o out.usda"),
        (1, "animate missing.usda walk.bvh -o out.usda"),
        (1, "render missing.usda -o out.png"),
        (2, "render hatchling.usda -o out.jpg"),
        (2, "devices --verify --check nothing-has-this-name"),
        (2, "frobnicate"),
        (2, "--frobnicate"),
    ] {
        let value = judge.run(code, line);
        // Of several files each has its own end.
        if value.get("files").is_none() {
            let error = &value["error"];
            assert_eq!(error["severity"], "error", "{line}: {value}");
            assert!(!error["message"].as_str().unwrap().is_empty());
        }
    }
    let unknown = judge.run(2, "--threads 2 --quiet bake hatchling.usda --frobnicate");
    assert_eq!(unknown["command"], "bake");
    let message = unknown["error"]["message"].as_str().unwrap();
    assert_eq!(message, "unexpected argument '--frobnicate' found");
    let bad = judge.run(1, "bake bad.usda -o out.usdc");
    assert!(
        bad["error"]["message"]
            .as_str()
            .unwrap()
            .contains("bad.usda")
    );
}

/// The schema is strict: it notices a key that it does not describe, one that is missing, and one of another type.
fn what_does_not_fit_is_noticed() {
    let judge = Judge::new();
    let good = judge.run(0, "bake hatchling.usda -o out.usdc --frames 1");
    let failed = judge.run(1, "bake bad.usda -o out2.usdc");
    let changed = |value: &Value, change: fn(&mut Value)| {
        let mut value = value.clone();
        change(&mut value);
        judge.fits(&value).is_err()
    };
    assert!(changed(&good, |v| v["more"] = json!(1)));
    assert!(changed(&good, |v| v["prims"] = json!("8")));
    assert!(changed(&good, |v| v["schema_version"] = json!(1)));
    assert!(changed(&good, |v| {
        v.as_object_mut().unwrap().remove("warnings");
    }));
    assert!(changed(&good, |v| v["warnings"] = json!(["a text"])));
    assert!(changed(&good, |v| v["command"] = json!("fix")));
    assert!(changed(&failed, |v| v["error"]["reason"] = json!("")));
    assert!(changed(&failed, |v| v["error"] = json!("a text")));
    assert!(changed(&failed, |v| v["error"]["severity"] = json!("fatal")));
}

/// One finding object everywhere: the same keys in `failed`, `warnings`, `findings` and `error`.
fn a_finding_has_the_same_keys_everywhere() {
    let judge = Judge::new();
    let keys = |value: &Value| {
        let object = value.as_object().unwrap_or_else(|| panic!("{value}"));
        object.keys().cloned().collect::<Vec<_>>()
    };
    let same = ["code", "file", "message", "path", "property", "severity"];
    let warned = judge.run(0, "convert hatchling.usda -o hatchling.glb");
    let warning = &warned["warnings"][0];
    assert_eq!(keys(warning), same);
    // The severity is that of `check`: glTF has no in-betweens, and they are written otherwise.
    assert_eq!(warning["severity"], "info", "{warning}");
    assert!(
        warning["file"]
            .as_str()
            .unwrap()
            .ends_with("hatchling.usda")
    );
    let failed = judge.run(1, "bake bad.usda -o out.usdc");
    assert_eq!(keys(&failed["error"]), same);
    let checked = judge.run(0, "check walk.bvh");
    let finding = keys(&checked["files"][0]["findings"][0]);
    assert!(same.iter().all(|key| finding.iter().any(|k| k == key)));
    // A broken prim beside good ones.
    let text = std::fs::read_to_string(judge.bench.path("hatchling.usda")).unwrap();
    let bent = text.replacen("elementSize = 6", "elementSize = 7", 1);
    assert_ne!(text, bent);
    judge.bench.write("bent.usda", bent);
    let partial = judge.run(3, "bake bent.usda -o bent.usdc --frames 1");
    assert_eq!(keys(&partial["failed"][0]), same);
    assert_eq!(partial["failed"][0]["severity"], "error");
}

/// `inspect` and `check` count alike.
fn inspect_counts_as_check_does() {
    let judge = Judge::new();
    let text = std::fs::read_to_string(judge.bench.path("hatchling.usda")).unwrap();
    let bent = text.replacen("elementSize = 6", "elementSize = 7", 1);
    judge.bench.write("bent.usda", bent);
    let mut errors = 0;
    for file in ["hatchling.usda", "puppet.glb", "walk.bvh", "bent.usda"] {
        let checked = sinew(&["check", judge.bench.path(file).to_str().unwrap(), "--json"]);
        let checked: Value = serde_json::from_str(&stdout(&checked)).unwrap();
        let inspected = judge.run(0, &format!("inspect {file}"));
        assert_eq!(inspected["counts"], checked["files"][0]["counts"], "{file}");
        assert_eq!(inspected["findings"], checked["files"][0]["findings"]);
        errors += inspected["counts"]["errors"].as_u64().unwrap();
    }
    assert!(errors > 0);
}

/// The sizes are those of the files.
fn sizes_are_those_of_the_files() {
    let judge = Judge::new();
    let size = |name: &str| judge.bench.path(name).metadata().unwrap().len();
    let baked = judge.run(0, "bake hatchling.usda -o out.usdc --frames 1:2");
    let converted = judge.run(0, "convert hatchling.usda -o out.glb");
    let fixed = judge.run(0, "fix hatchling.usda -o fixed.usda");
    for (value, out) in [
        (&baked, "out.usdc"),
        (&converted, "out.glb"),
        (&fixed, "fixed.usda"),
    ] {
        assert_eq!(value["input_bytes"], size("hatchling.usda"), "{out}");
        assert_eq!(value["output_bytes"], size(out), "{out}");
    }
    // The data of a .gltf are beside it.
    let two = judge.run(0, "convert hatchling.usda -o out.gltf");
    assert_eq!(two["output_bytes"], size("out.gltf") + size("out.bin"));
    assert!(baked["estimated_bytes"].as_u64() > Some(0));
    // Numbers are written as short as they can be: nothing to fix, and OUT is not larger.
    assert!(size("fixed.usda") <= size("hatchling.usda"));
}

//! What a farm relies on: exit codes, the list of failed prims, JSON of failures.

use common::command::{Bench, bake, sinew, stderr, stdout};
use common::sketch::{INDICES, JOINTS, SHAPE, TRIANGLE, WEIGHTS, character, influences};
use common::usd;
use serde_json::Value;

/// Bakes a stage with `--json`, with this exit code: the report, and what is on stderr.
fn baked(bench: &Bench, text: &str, code: i32, more: &[&str]) -> (Value, String) {
    let input = bench.write("in.usda", format!("#usda 1.0\n{text}"));
    let output = bake(
        &input,
        &bench.path("out.usda"),
        &[&["--json"], more].concat(),
    );
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["exit_code"], code);
    (report, told)
}

/// Paths and codes of the failed prims.
fn failed(report: &Value) -> Vec<(&str, &str)> {
    let text = |prim: &'_ Value, key: &str| -> &'static str {
        String::leak(prim[key].as_str().unwrap_or_default().to_owned())
    };
    let all = report["failed"].as_array().unwrap().iter();
    all.map(|prim| (text(prim, "path"), text(prim, "code")))
        .collect()
}

#[test]
fn everything_baked_is_0() {
    let bench = Bench::new();
    let body = influences();
    let text = character("R", JOINTS, "[0, 1]", &[("M", &body), ("S", SHAPE)]);
    let (report, told) = baked(&bench, &text, 0, &[]);
    assert!(failed(&report).is_empty() && told.is_empty(), "{told}");
    assert_eq!(report["schema_version"], 2);
    assert_eq!(report["command"], "bake");
}

#[test]
fn a_broken_skeleton_lists_all_its_prims() {
    let bench = Bench::new();
    let body = influences();
    let prims = [("M", body.as_str()), ("N", body.as_str())];
    let text = character("Bad", r#"["A/B", "A"]"#, "[0, 1]", &prims)
        + &character("Good", JOINTS, "[0, 1]", &prims[..1]);
    let (report, told) = baked(&bench, &text, 3, &[]);
    let expected = [("/Bad/M", "joint-order"), ("/Bad/N", "joint-order")];
    assert_eq!(failed(&report), expected);
    for path in ["/Bad/M", "/Bad/N"] {
        let line = format!("failed: {path}: ");
        let line = told.lines().find(|l| l.starts_with(&line)).unwrap();
        assert!(
            line.contains("/Bad/Skel.joints") && line.contains("[joint-order]"),
            "{line}"
        );
    }
    let out = usd::open(&bench.path("out.usda"));
    assert!(usd::vectors(&out, "/Good/M", "extent", None).is_some());
    // Who takes what there is says so, and who asks for the good one only gets it.
    let (report, _) = baked(&bench, &text, 0, &["--allow-partial"]);
    assert_eq!(failed(&report), expected);
    let (report, told) = baked(&bench, &text, 0, &["--prim", "/Good/M"]);
    assert!(failed(&report).is_empty(), "{told}");
    let input = bench.path("in.usda");
    let alone = bake(&input, &bench.path("alone.usda"), &["--prim", "/Bad/M"]);
    assert_eq!(alone.status.code(), Some(1));
    assert!(
        stderr(&alone).contains("[joint-order]"),
        "{}",
        stderr(&alone)
    );
    // The same in a sequence and in clips.
    for (out, more) in [
        ("f/a.####.obj", &[][..]),
        ("c.usdc", &["--clip-frames", "1"]),
    ] {
        let input = bench.path("in.usda");
        let output = bake(&input, &bench.path(out), more);
        let told = stderr(&output);
        // The meshes have no faces, which an .obj needs.
        let code = if more.is_empty() { 1 } else { 3 };
        assert_eq!(output.status.code(), Some(code), "{told}");
    }
}

#[test]
fn half_of_the_influences_is_told() {
    let bench = Bench::new();
    let good = influences();
    for (half, missing) in [(INDICES, "jointWeights"), (WEIGHTS, "jointIndices")] {
        let text = character("R", JOINTS, "[0, 1]", &[("M", half), ("N", &good)]);
        let (report, told) = baked(&bench, &text, 3, &[]);
        assert_eq!(failed(&report), [("/R/M", "influences-incomplete")]);
        assert!(told.contains(&format!("no {missing}")), "{told}");
        // A prim that blends still blends.
        let both = format!("{half}\n        {SHAPE}");
        let text = character("R", JOINTS, "[0, 1]", &[("M", &both)]);
        let (report, _) = baked(&bench, &text, 3, &[]);
        assert_eq!(failed(&report), [("/R/M", "influences-incomplete")]);
        let out = usd::open(&bench.path("out.usda"));
        let points = usd::vectors(&out, "/R/M", "points", None).unwrap();
        assert_eq!(points[0][2], 1.0);
    }
}

#[test]
fn joints_that_the_skeleton_lacks_are_told() {
    let bench = Bench::new();
    let joints = |list: &str| {
        format!(
            "{}\n        uniform token[] skel:joints = {list}",
            influences()
        )
    };
    for (list, code) in [(r#"["A", "A/X"]"#, 3), (r#"["A", "A/B", "A/X"]"#, 0)] {
        let text = character("R", JOINTS, "[0, 1]", &[("M", &joints(list))]);
        let (report, told) = baked(&bench, &text, code, &[]);
        let warned = report["warnings"].as_array().unwrap();
        assert!(
            warned.iter().any(|w| w["code"] == "joints-unknown"),
            "{told}"
        );
        assert!(told.contains("/R/M: ") && told.contains("A/X"), "{told}");
        // Only a joint that moves something is a fault.
        let expected: &[_] = if code == 3 {
            &[("/R/M", "joints-unknown")]
        } else {
            &[]
        };
        assert_eq!(failed(&report), expected);
    }
}

#[test]
fn numbers_of_channel_weights_are_told() {
    let bench = Bench::new();
    for (weights, code, z) in [("[0.5]", 3, 0.0), ("[0, 1, 7]", 0, 1.0)] {
        let text = character("R", JOINTS, weights, &[("S", SHAPE)]);
        let (report, told) = baked(&bench, &text, code, &[]);
        assert!(told.contains("[channel-weights-count]"), "{told}");
        let expected: &[_] = match code {
            3 => &[("/R/S", "channel-weights-count")],
            _ => &[],
        };
        assert_eq!(failed(&report), expected);
        let out = usd::open(&bench.path("out.usda"));
        let points = usd::vectors(&out, "/R/S", "points", None).unwrap();
        assert_eq!(points[0][2], z, "missing weights are 0, as in Pixar's code");
    }
}

/// usd-core's BlendShapeQuery gives z = 0, 0.5 and 3.5 at the weights 0.5, 0.8 and 2 if the offsets of an in-between
/// at 0.6 have no value, are blocked or empty.
#[test]
fn an_inbetween_without_offsets_counts_at_its_weight() {
    let bench = Bench::new();
    for value in ["", " = None", " = []"] {
        for (weight, z) in [
            ("0.5", 0.0),
            ("0.8", 0.5),
            ("2", 3.5),
            ("0.6", 0.0),
            ("1", 1.0),
        ] {
            let shape = SHAPE.replace(
                "{ uniform",
                &format!("{{ uniform vector3f[] inbetweens:i{value} (weight = 0.6)\n uniform"),
            );
            let text = character("R", JOINTS, &format!("[0, {weight}]"), &[("S", &shape)]);
            baked(&bench, &text, 0, &[]);
            let out = usd::open(&bench.path("out.usda"));
            let points = usd::vectors(&out, "/R/S", "points", None);
            let found = points.map_or(0.0, |p| p[0][2]);
            assert!(
                (found - z).abs() < 1e-6,
                "'{value}' at {weight}: {found}, not {z}"
            );
        }
    }
}

#[test]
fn fix_convert_and_render_have_3_too() {
    let bench = Bench::new();
    let body = influences();
    let bad = character("Bad", r#"["A/B", "A"]"#, "[0, 1]", &[("M", &body)]);
    let input = bench.write("in.usda", format!("#usda 1.0\n{bad}"));
    let (input, out) = (input.to_str().unwrap(), bench.path("c.usda"));
    let out = out.to_str().unwrap();
    for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
        let args = [&["convert", input, "-o", out, "--json"], more].concat();
        let output = sinew(&args);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(failed(&report), [("/Bad/M", "joint-order")]);
        assert!(stderr(&output).contains("failed: /Bad/M: "));
    }
    if std::env::var_os("SINEW_NO_GPU").is_none() {
        let png = bench.path("p.png");
        let png = png.to_str().unwrap();
        let square = format!("def Mesh \"Drawn\" {{\n{TRIANGLE}\n}}\n");
        let bad = std::fs::read_to_string(input).unwrap() + &square;
        let drawn = bench.write(
            "drawn.usda",
            bad.replace(
                "[(0, 0, 0), (1, 0, 0)]\n",
                &format!(
                    "[(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n{}\n",
                    TRIANGLE.split("point3f").next().unwrap()
                ),
            ),
        );
        let drawn = drawn.to_str().unwrap();
        for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
            let args = ["render", drawn, "-o", png, "--size", "32x32", "--json"];
            let output = sinew(&[&args[..], more].concat());
            assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(failed(&report), [("/Bad/M", "joint-order")]);
            assert_eq!(stderr(&output).matches("joint-order").count(), 1);
        }
    }
    // Weights that sum to less than 0 cannot be normalised without a guess.
    let body = body.replace("[1, 1]", "[2, -3]");
    let text = character("R", JOINTS, "[0, 1]", &[("M", &body)]);
    let input = bench.write("fix.usda", format!("#usda 1.0\n{text}"));
    let input = input.to_str().unwrap();
    for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
        let output = sinew(&[&["fix", input, "-o", out], more].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        assert!(stderr(&output).contains("not fixed: /R/M.primvars:skel:jointWeights"));
        assert!(stdout(&output).contains("0 findings fixed, 3 not fixed"));
    }
}

#[test]
fn failures_are_json_too() {
    let bench = Bench::new();
    let gone = bench.path("gone.usda");
    let gone = gone.to_str().unwrap();
    let out = bench.path("o.usda");
    let out = out.to_str().unwrap();
    let png = bench.path("o.png");
    let png = png.to_str().unwrap();
    for (args, code) in [
        (&["bake", gone, "-o", out][..], 1),
        (&["bake", gone, "-o", "o.abc"], 2),
        (&["convert", gone, "-o", out], 1),
        (&["fix", gone, "-o", out], 1),
        (&["inspect", gone], 1),
        (&["retarget", gone, gone, "-o", out], 1),
        (&["humanoid", gone, gone, "-o", out], 1),
        (&["render", gone, "-o", png], 1),
        (&["render", gone, "-o", "o.jpg"], 2),
        (&["bake", gone], 2),
    ] {
        let output = sinew(&[args, &["--json"]].concat());
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            stderr(&output)
        );
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{args:?}: {e}: {}", stdout(&output)));
        assert_eq!(report["schema_version"], 2);
        assert_eq!(report["command"], args[0]);
        assert_eq!(report["exit_code"], code);
        assert!(report["error"]["message"].is_string(), "{report}");
        assert!(!stderr(&output).is_empty());
    }
    let json = sinew(&["check", gone, "--json"]);
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(
        report["files"][0]["error"]["message"].is_string(),
        "{report}"
    );
}

#[test]
fn threads_and_quiet_are_everywhere() {
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    let input = input.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    for args in [
        &[
            "bake",
            input,
            "-o",
            &path("b.usda"),
            "--frames",
            "1",
            "--backend",
            "cpu",
        ][..],
        &["convert", input, "-o", &path("c.usda")],
        &["fix", input, "-o", &path("f.usda")],
        &["inspect", input],
        &["check", input],
        &["devices"],
    ] {
        let output = sinew(&[args, &["--quiet", "--threads", "1"]].concat());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            output.stdout.is_empty() && output.stderr.is_empty(),
            "{args:?}"
        );
    }
    for args in [
        &["bake", input, "-o", &path("v.usda"), "--frames", "1"][..],
        &["check", input],
        &["devices"],
    ] {
        let verbose = sinew(&[args, &["--verbose"]].concat());
        assert_eq!(verbose.status.code(), Some(0), "{args:?}");
        let both = sinew(&[args, &["--verbose", "--quiet"]].concat());
        assert_eq!(both.status.code(), Some(2), "{args:?}");
    }
    let report = sinew(&[
        "bake",
        input,
        "-o",
        &path("b.usda"),
        "--frames",
        "1",
        "--backend",
        "cpu",
        "--json",
        "--threads",
        "1",
    ]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["backend"], "cpu (1 thread)");
    assert_eq!(
        sinew(&["check", input, "--threads", "0"]).status.code(),
        Some(2)
    );
}

//! What takes more than a row of tests/data/runs.txt: kills, broken bytes, many prims, many files.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use common::command::{Bench, bake, refused, sinew, stderr, stdout};
use common::sketch::{TRIANGLE, character, influences};
use common::stages::Table;
use common::usd;
use glam::DVec3;
use serde_json::Value;
use sinew_layer::{Layer, usdc};

fn example() -> PathBuf {
    common::repository().join("examples/assets/hatchling.usda")
}

/// Killed at any moment, the bake leaves the file that was there.
#[test]
fn a_kill_leaves_the_old_file() {
    let bench = Bench::new();
    let out = bench.write("out.usda", "the old file");
    // Milliseconds of a processor.
    for wait in [10, 50, 150, 400] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args([
                "bake",
                example().to_str().unwrap(),
                "-o",
                out.to_str().unwrap(),
                "--backend",
                "cpu",
            ])
            // Far more samples than it can write before it is killed.
            .args(["--frames", "1:96:0.02"])
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        common::processor::wait_until_spent(&mut child, Duration::from_millis(wait));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success(), "it was killed, not done: {status}");
        assert_eq!(
            std::fs::read_to_string(&out).unwrap(),
            "the old file",
            "after {wait} ms"
        );
    }
}

/// A picture that a model is read from is not overwritten by another that would have its name.
#[test]
fn textures_beside_a_conversion_leave_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let [first, second] = [b'1', b'2'].map(|n| [&b"\x89PNG\r\n\x1a\n"[..], &[n]].concat());
    std::fs::create_dir(at("model_textures")).unwrap();
    std::fs::write(at("t.png"), &first).unwrap();
    std::fs::write(at("model_textures/t.png"), &second).unwrap();
    let mut model = serde_json::json!({
        "asset": {"version": "2.0"},
        "buffers": [{
            "byteLength": 36,
            "uri": format!("data:application/octet-stream;base64,{}", "AAAA".repeat(12)),
        }],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
            "min": [0, 0, 0], "max": [0, 0, 0]}],
        "images": [{"uri": "t.png"}, {"uri": "model_textures/t.png"}],
        "textures": [{"source": 0}, {"source": 1}],
        "materials": [{
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}},
            "emissiveFactor": [1, 1, 1],
            "emissiveTexture": {"index": 1},
        }],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    });
    let uvs =
        serde_json::json!({"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC2"});
    model["accessors"].as_array_mut().unwrap().push(uvs);
    std::fs::write(at("model.gltf"), model.to_string()).unwrap();
    let convert = |out: &str| {
        let (input, out) = (at("model.gltf"), at(out));
        let output = sinew(&[
            "convert",
            input.to_str().unwrap(),
            "-o",
            out.to_str().unwrap(),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = std::fs::read_to_string(out).unwrap();
        let named: Vec<Vec<u8>> = text
            .split('@')
            .filter(|part| part.ends_with(".png"))
            .map(|path| std::fs::read(at(path)).unwrap())
            .collect();
        named
    };
    // The second time what is there is what would be written.
    for _ in 0..2 {
        assert_eq!(convert("model.usda"), [first.clone(), second.clone()]);
        assert_eq!(std::fs::read(at("model_textures/t.png")).unwrap(), second);
        assert_eq!(std::fs::read_dir(at("model_textures")).unwrap().count(), 3);
    }
    assert_eq!(convert("other.usda"), [first.clone(), second.clone()]);
    assert_eq!(std::fs::read_dir(at("other_textures")).unwrap().count(), 2);
    // Every command names the textures among what it wrote, and counts their bytes.
    for (command, out) in [("convert", "named.usda"), ("convert", "named.gltf")] {
        let (input, out) = (at("model.gltf"), at(out));
        let args = [input.to_str().unwrap(), "-o", out.to_str().unwrap()];
        let output = sinew(&[&[command][..], &args, &["--json"]].concat());
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let files = report["files"].as_array().unwrap();
        let files: Vec<&str> = files.iter().map(|f| f.as_str().unwrap()).collect();
        assert_eq!(files[0], out.to_str().unwrap());
        let pictures = files.iter().filter(|f| f.ends_with(".png"));
        assert_eq!(pictures.count(), 2, "{files:?}");
        let bytes = files.iter().map(|f| std::fs::metadata(f).unwrap().len());
        assert_eq!(report["output_bytes"], bytes.sum::<u64>());
    }
    // What is no USD has nothing to mend in place.
    let (input, out) = (at("model.gltf"), at("fixed.usda"));
    let output = sinew(&["fix", input.to_str().unwrap(), "-o", out.to_str().unwrap()]);
    refused(&output, &out, &["model.gltf", "sinew convert"]);
}

/// A crate file of a rig, cut anywhere, is refused or read.
#[test]
fn truncated_usdc_at_every_tenth() {
    let bench = Bench::new();
    let input = bench.write("in.usda", Table::read("runs.txt").base("one mesh"));
    let rig = bench.path("rig.usdc");
    let layer = Layer::open(&input).unwrap();
    usdc::write_layer(&layer, std::fs::File::create(&rig).unwrap()).unwrap();
    let bytes = std::fs::read(&rig).unwrap();
    for tenth in 0..10 {
        let cut = bench.write("cut.usdc", &bytes[..bytes.len() * tenth / 10]);
        let out = bench.path("out.usdc");
        refused(&bake(&cut, &out, &[]), &out, &["cut.usdc"]);
    }
}

/// 900,000 frames of 2,000 points; asked for a frame, it bakes.
#[test]
fn frames_that_need_too_much_are_refused() {
    let bench = Bench::new();
    let table = Table::read("stages.txt");
    let text = table
        .case("frames without end")
        .text()
        .replace("1e15", "900000");
    let many = |value: &str| format!("= [{}]", vec![value; 2000].join(", "));
    let text = text.replace("= [(0, 0, 0), (1, 0, 0)]", &many("(0, 0, 0)"));
    let text = text.replace("= [0, 1] (", &format!("{} (", many("0")));
    let input = bench.write(
        "in.usda",
        text.replace("= [1, 1] (", &format!("{} (", many("1"))),
    );
    let out = bench.path("out.usda");
    let words = ["in.usda", "GB of points", "--frames"];
    refused(&bake(&input, &out, &[]), &out, &words);
    assert!(bake(&input, &out, &["--frames", "0:1"]).status.success());
}

#[test]
fn a_crowd_of_instances_stays_small() {
    let bench = Bench::new();
    bench.write("hero.usda", Table::read("runs.txt").base("group"));
    let mut sizes = Vec::new();
    for count in [2, 300] {
        let mut text = "#usda 1.0\n".to_owned();
        for i in 0..count {
            text += &format!(
                "def Xform \"I{i}\" (instanceable = true; prepend references = @./hero.usda@</G>) {{\n\
                 double3 xformOp:translate = ({i}, 0, 0)\n\
                 uniform token[] xformOpOrder = [\"xformOp:translate\"]\n}}\n"
            );
        }
        let input = bench.write("crowd.usda", text);
        let out = bench.path("out.usda");
        let output = bake(&input, &out, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(
            stdout(&output).contains(&format!("{count} prims")),
            "{}",
            stdout(&output)
        );
        let shared = match count {
            2 => "1 prim deformed together",
            _ => "299 prims deformed together",
        };
        assert!(stdout(&output).contains(shared), "{}", stdout(&output));
        for i in [0, count - 1] {
            let points = usd::vectors(
                &usd::open(&out),
                &format!("/I{i}/Hero/Body"),
                "points",
                None,
            );
            assert_eq!(points.unwrap(), [DVec3::X]);
        }
        let text = std::fs::read_to_string(&out).unwrap();
        assert_eq!(text.matches("point3f[] points").count(), 1);
        sizes.push(std::fs::metadata(&out).unwrap().len());
    }
    // What is left of each is its name, its transform and its reference.
    assert!(sizes[1] - sizes[0] < 298 * 400, "{sizes:?}");
}

/// As bake and convert, which rows of tests/data/runs.txt test.
#[test]
fn render_has_3_too() {
    if std::env::var_os("SINEW_NO_GPU").is_some() {
        return;
    }
    let bench = Bench::new();
    let png = bench.path("p.png");
    let faces = TRIANGLE.split("point3f").next().unwrap();
    let points = "[(0, 0, 0), (1, 0, 0)]\n";
    let bad = character("Bad", r#"["A/B", "A"]"#, "[0, 1]", &[("M", &influences())]);
    let bad = bad.replace(
        points,
        &format!("[(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n{faces}\n"),
    );
    let square = format!("def Mesh \"Drawn\" {{\n{TRIANGLE}\n}}\n");
    let drawn = bench.write("drawn.usda", format!("#usda 1.0\n{bad}{square}"));
    let (drawn, png) = (drawn.to_str().unwrap(), png.to_str().unwrap());
    for (more, code) in [(&[][..], 3), (&["--allow-partial"], 0)] {
        let args = ["render", drawn, "-o", png, "--size", "32x32", "--json"];
        let output = sinew(&[&args[..], more].concat());
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["failed"][0]["path"], "/Bad/M");
        assert_eq!(report["failed"][0]["code"], "joint-order");
        assert_eq!(report["failed"].as_array().unwrap().len(), 1);
        assert_eq!(stderr(&output).matches("joint-order").count(), 1);
    }
}

/// Of folders that were made for an OUT none stays; those that were there do.
#[test]
fn what_fails_leaves_no_folders() {
    let bench = Bench::new();
    bench.write("in/broken.usda", "no layer");
    bench.write("in/other.usda", "no layer");
    bench.write("mine/notes.txt", "text");
    let place = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    for (out, first, more) in [
        ("a/b/c/", "a", &["--to", "xyz"][..]),
        ("mine/b/c/", "mine/b", &["--to", "xyz"]),
        ("out/", "out", &[]),
    ] {
        let args = ["bake", &place("in/"), "-o", &place(out)];
        let output = sinew(&[&args[..], more].concat());
        assert!(
            matches!(output.status.code(), Some(1 | 2)),
            "{}",
            stderr(&output)
        );
        assert!(stdout(&output).lines().count() < 2, "{}", stdout(&output));
        assert!(!bench.path(first).exists(), "{out}");
    }
    assert!(bench.path("mine").exists());
}

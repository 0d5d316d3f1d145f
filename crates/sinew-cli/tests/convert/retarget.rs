//! `sinew retarget`: its exit codes, its advice and its reports. What is written is tested in
//! sinew-io (tests/motion).

use std::path::PathBuf;
use std::process::Output;

use common::command::{Bench, misused, refused, sinew, stderr, stdout};
use common::repository;
use common::rigs::{mixamo, vroid};
use common::trials::Trial;
use libtest_mimic::Failed;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("requests_are_refused", requests_are_refused),
        Trial::test("reports_are_short_or_whole", reports_are_short_or_whole),
        Trial::test("every_option_counts", every_option_counts),
        Trial::test("an_unknown_leg_is_a_partial_result", partial_result),
    ]
}

fn asset(name: &str) -> PathBuf {
    repository().join("examples/assets").join(name)
}

/// The joints of the example walk under other names.
fn renamed(name: impl Fn(&str) -> String) -> Result<String, Failed> {
    let text = std::fs::read_to_string(asset("walk.bvh"))?;
    let lines = text.lines().map(|line| {
        let at = line.find("JOINT ").or_else(|| line.find("ROOT "));
        match at.and_then(|_| line.rsplit_once(' ')) {
            Some((before, joint)) => format!("{before} {}", name(joint)),
            None => line.to_owned(),
        }
    });
    Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// VRoid's name of a joint of the example walk, or its own name if VRoid has none.
fn as_vroid(joint: &str) -> String {
    const SIDED: [&str; 8] = [
        "Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes",
    ];
    let sided = SIDED
        .iter()
        .flat_map(|bone| ["L", "R"].map(|side| format!("{side}{bone}")));
    let trunk = ["hips", "spine", "neck", "head"].map(str::to_owned);
    let mut keys = sided.chain(trunk);
    let key = keys.find(|key| mixamo(key).strip_prefix("mixamorig:") == Some(joint));
    key.map_or_else(|| joint.to_owned(), |key| vroid(&key))
}

/// Retargets the example walk onto a file of the bench, or onto the puppet.
fn walk(bench: &Bench, target: &str, out: &str, more: &[&str]) -> Output {
    let target = match target {
        "puppet.glb" => asset(target),
        name => bench.path(name),
    };
    let files = [asset("walk.bvh"), target, bench.path(out)];
    let [clip, target, out] = files.each_ref().map(|p| p.to_str().expect("UTF-8"));
    sinew(&[&["retarget", clip, target, "-o", out][..], more].concat())
}

/// Each option of the motion makes another file; a skeleton that is not there is named.
fn every_option_counts() -> Result<(), Failed> {
    let bench = Bench::new();
    let mut files = Vec::new();
    for options in [
        &[][..],
        &["--no-scale"],
        &["--in-place"],
        &["--lock-feet"],
        &["--root-bone", "Spine"],
        &["--arm-space", "20"],
        &["--pose", "bind"],
        &["--animation-only"],
    ] {
        let output = walk(&bench, "puppet.glb", "out.usda", options);
        assert!(output.status.success(), "{options:?}: {}", stderr(&output));
        let file = std::fs::read_to_string(bench.path("out.usda"))?;
        assert!(!files.contains(&file), "{options:?} count for nothing");
        files.push(file);
    }
    for (option, file) in [
        ("--source-skeleton", "walk.bvh"),
        ("--target-skeleton", "puppet.glb"),
    ] {
        let output = walk(&bench, "puppet.glb", "none.usda", &[option, "/no/such"]);
        refused(&output, &bench.path("none.usda"), &[file, "/no/such"]);
    }
    let output = walk(&bench, "puppet.glb", "none.usda", &["--clip", "no such"]);
    refused(&output, &bench.path("none.usda"), &["no such"]);
    Ok(())
}

fn requests_are_refused() -> Result<(), Failed> {
    let bench = Bench::new();
    let swapped = |joint: &str| match joint.strip_prefix("Left") {
        Some(rest) => as_vroid(&format!("Right{rest}")),
        None => as_vroid(&joint.replace("Right", "Left")),
    };
    let letters = |joint: &str| joint.bytes().map(|b| format!("x{b}")).collect();
    bench.write("swapped.bvh", renamed(swapped)?);
    bench.write("letters.bvh", renamed(letters)?);
    let unit = "[((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1))]";
    let skeleton = format!(
        "def Skeleton \"S\" {{ uniform token[] joints = [\"a\"]\nuniform matrix4d[] bindTransforms = {unit}\nuniform matrix4d[] restTransforms = {unit}\n}}"
    );
    let two = ["A", "B"].map(|name| format!("def SkelRoot \"{name}\" {{\n{skeleton}\n}}\n"));
    bench.write("two.usda", format!("#usda 1.0\n{}", two.concat()));
    let puppet = "puppet.glb";
    for (out, more, words) in [
        ("out.glb", &[][..], &["out.glb", ".usdz", "found .glb"][..]),
        ("out.mp4", &[], &["found .mp4"]),
        (
            "out.usda",
            &["--lock-feet", "--in-place"],
            &["--lock-feet", "--in-place"],
        ),
        ("out.usda", &["--pose", "T"], &["--pose", "align"]),
    ] {
        misused(&walk(&bench, puppet, out, more), &bench.path(out), words);
    }
    let map = bench.path("map.json");
    let map = map.to_str().ok_or("UTF-8")?;
    let out = bench.path("out.usda");
    for (target, more, words) in [
        (
            puppet,
            &["--map", "/no/map.json"][..],
            &["/no/map.json"][..],
        ),
        ("two.usda", &[], &["several", "--target-skeleton", "/B/S"]),
        ("swapped.bvh", &[], &["--map", "[retarget-anatomy]"]),
        ("letters.bvh", &[], &["no human body", "--map guess takes"]),
        (
            "letters.bvh",
            &["--write-map", map],
            &["no human body", "The best guess is in"],
        ),
    ] {
        refused(&walk(&bench, target, "out.usda", more), &out, words);
    }
    // The map that was written, and the guess.
    for taken in [map, "guess"] {
        let output = walk(&bench, "letters.bvh", "out.usda", &["--map", taken]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stderr(&output).contains("[retarget-guess]"), taken != map);
    }
    // An output that is an input.
    let before = std::fs::read(&out)?;
    let output = walk(&bench, "out.usda", "out.usda", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("read from"), "{}", stderr(&output));
    assert_eq!(std::fs::read(&out)?, before);
    assert_eq!(sinew(&["retarget", "a.usda"]).status.code(), Some(2));
    Ok(())
}

fn reports_are_short_or_whole() -> Result<(), Failed> {
    let bench = Bench::new();
    let text = |more: &[&str]| {
        let output = walk(&bench, "puppet.glb", "out.usda", more);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output)
    };
    let short = text(&[]);
    assert_eq!(short.lines().count(), 3, "{short}");
    assert!(short.contains("(--verbose lists them)"), "{short}");
    assert_eq!(text(&["--quiet"]), "");
    let whole = text(&["--verbose", "--lock-feet"]);
    for part in [
        "source recognised as the names of HumanIK",
        "target recognised as the file's own humanoid map",
        "root motion scaled by",
        "feet locked in",
    ] {
        assert!(whole.contains(part), "'{part}' is not in\n{whole}");
    }
    let report: Value = serde_json::from_str(&text(&["--lock-feet", "--json"]))?;
    assert!(report["feet"]["contacts"].as_u64() > Some(0), "{report}");
    for row in report["bones"].as_array().ok_or("rows")? {
        let (Some(source), Some(target)) = (row["source"].as_str(), row["target"].as_str()) else {
            continue;
        };
        let mut lines = whole.lines();
        let line = lines.find(|l| l.split_whitespace().nth(1) == Some(source));
        let line = line.ok_or(format!("{source} is not in\n{whole}"))?;
        assert_eq!(line.split_whitespace().nth(2), Some(target), "{line}");
        assert_eq!(report["map"][source], target);
    }
    // The printed map is a map to give.
    let map = bench.write("map.json", report["map"].to_string());
    text(&["--map", map.to_str().ok_or("UTF-8")?]);
    text(&["--animation-only"]);
    let alone = std::fs::read_to_string(bench.path("out.usda"))?;
    assert!(alone.contains("defaultPrim = \"Animation\""), "{alone}");
    Ok(())
}

/// A target of other names, whose right leg has names that say nothing.
fn partial_result() -> Result<(), Failed> {
    let bench = Bench::new();
    let odd = |joint: &str| match joint {
        "RightUpLeg" => "b12".to_owned(),
        "RightLeg" => "b13".to_owned(),
        "RightFoot" => "b14".to_owned(),
        "RightToeBase" => "b15".to_owned(),
        joint => as_vroid(joint),
    };
    bench.write("leg.bvh", renamed(odd)?);
    let map = bench.path("map.json");
    let map = map.to_str().ok_or("UTF-8")?;
    let run = |more: &[&str]| walk(&bench, "leg.bvh", "out.usda", more);
    let output = run(&["--write-map", map, "--verbose"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(bench.path("out.usda").exists());
    let text = stdout(&output);
    for part in [
        "incomplete: no partner for RightUpLeg (rightUpperLeg)",
        "may be b12",
        "\"RightLeg\": \"b13\"",
    ] {
        assert!(text.contains(part), "'{part}' is not in\n{text}");
    }
    let told = stderr(&output);
    assert!(told.contains("[retarget-incomplete]"), "{told}");
    assert!(told.contains("write a map with --write-map"), "{told}");
    let output = run(&["--allow-partial", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output))?;
    assert_eq!(report["incomplete"][0]["candidates"][0], "b12");
    assert_eq!(report["map_to_edit"]["RightFoot"], "b14");
    assert_eq!(report["map"]["RightFoot"], Value::Null);
    // The map that was written is complete.
    let output = run(&["--map", map, "--verbose"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).contains("incomplete"));
    Ok(())
}

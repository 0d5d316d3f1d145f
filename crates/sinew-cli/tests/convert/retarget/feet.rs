//! `sinew retarget --lock-feet`, from files to files.

use common::command::{Bench, misused, refused, sinew, stderr, stdout};
use common::trials::Trial;
use common::{repository, tolerance};
use libtest_mimic::Failed;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("feet::report", what_was_locked_is_reported),
        Trial::test("feet::refused", what_cannot_be_locked_is_refused),
    ]
}

/// The example walk onto the example puppet, with more arguments.
fn walk(bench: &Bench, more: &[&str]) -> std::process::Output {
    let asset = |name: &str| {
        let path = repository().join("examples/assets").join(name);
        path.to_str().expect("UTF-8").to_owned()
    };
    let (clip, target, out) = (
        asset("walk.bvh"),
        asset("puppet.glb"),
        bench.path("out.usda"),
    );
    let out = out.to_str().expect("UTF-8");
    let args = ["retarget", &clip, &target, "-o", out, "--lock-feet"];
    sinew(&[&args[..], more].concat())
}

fn what_was_locked_is_reported() -> Result<(), Failed> {
    let bench = Bench::new();
    let output = walk(&bench, &["--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output))?;
    let feet = &report["feet"];
    assert!(feet["contacts"].as_u64().ok_or("contacts")? > 0, "{feet}");
    let slid = |when: &str| feet[when]["worst"].as_f64().ok_or("a length");
    assert!(slid("before")? > tolerance::LOCKED_FOOT, "{feet}");
    assert!(slid("after")? < tolerance::LOCKED_FOOT, "{feet}");
    let text = stdout(&walk(&bench, &["--verbose"]));
    assert!(text.contains("feet locked in"), "{text}");
    Ok(())
}

fn what_cannot_be_locked_is_refused() -> Result<(), Failed> {
    let bench = Bench::new();
    let out = bench.path("out.usda");
    let output = walk(&bench, &["--in-place"]);
    misused(&output, &out, &["--lock-feet", "--in-place"]);
    let map = bench.write("map.json", r#"{"Hips": "hips", "Spine": "spine"}"#);
    let output = walk(&bench, &["--map", map.to_str().ok_or("UTF-8")?]);
    refused(&output, &out, &["puppet.glb", "feet cannot be locked"]);
    Ok(())
}

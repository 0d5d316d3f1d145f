//! `sinew humanoid` and `sinew describe`: what they print, and requests that they refuse. What they write is tested
//! where it is made, in `crates/sinew-io/tests/formats/humanoid_clips`.

use std::path::Path;

use common::command::{Bench, misused, refused, sinew, stderr, stdout};
use common::document::Document;
use serde_json::Value;

const PUPPET: &str = "../../examples/assets/puppet.glb";
const BOW: &str = "../../examples/assets/bow.glb";

/// The fixture with a clip of bones and without the chest, and without human bones; and a clip for the chest.
fn files(bench: &Bench) -> [String; 3] {
    let mut model = Document::fixture("humanoid.gltf");
    let skeleton = "/extensions/EXT_skeleton_humanoid/humanoidSkeletons/0";
    let mut clip = model.clone();
    clip.remove("/extensions");
    let bone = "extensions/EXT_skeleton_humanoid/humanoidBoneName";
    let target = format!("/animations/0/channels/0/target/{bone}");
    clip.set(&target, Value::from("chest"));
    model.remove(&format!("{skeleton}/humanoidBones/chest"));
    model.remove("/animations");
    let mut plain = clip.clone();
    plain.remove("/animations").remove("/extensionsUsed");
    let files = [("model", model), ("plain", plain), ("clip", clip)];
    files.map(|(name, file)| {
        let path = bench.write(&format!("{name}.glb"), file.glb());
        path.to_str().unwrap().to_owned()
    })
}

#[test]
fn what_is_done_and_what_is_missing_is_printed() {
    let bench = Bench::new();
    let [model, plain, clip] = files(&bench);
    let out = bench.path("out.glb");
    let out = out.to_str().unwrap();
    for (more, said, printed) in [
        (
            &[][..],
            "chest: the model lacks this bone",
            "clip \"nod\": 1 bone",
        ),
        (
            &["--mode", "collapse"],
            "its rotation is multiplied into upperChest",
            "1 bone missing in the model, 1 of them folded",
        ),
    ] {
        let args = [&["humanoid", &model, &clip, "-o", out], more].concat();
        let output = sinew(&args);
        let (told, found) = (stderr(&output), stdout(&output));
        assert!(output.status.success() && told.contains(said), "{told}");
        assert!(found.contains(printed), "{found}");
    }
    let map = bench.write("map.json", r#"{"hips": "hips", "head": 6}"#);
    let map = map.to_str().unwrap();
    let output = sinew(&["describe", &plain, "--map", map, "-o", out]);
    let found = stdout(&output);
    assert!(found.contains("2 bones, by the map"), "{found}");
    // Without OUT it is printed.
    let output = sinew(&["describe", &plain]);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let bones = &printed["humanoidSkeletons"][0]["humanoidBones"];
    assert_eq!(bones["head"], 6, "{printed}");
}

#[test]
fn wrong_requests_write_nothing() {
    let bench = Bench::new();
    let [model, plain, clip] = files(&bench);
    let other = |name: &str, text: &str| bench.write(name, text).display().to_string();
    let bvh = other("walk.bvh", "HIERARCHY");
    let usd = other("hero.usda", "#usda 1.0");
    let map = other("map.json", r#"{"hips": "hips", "tail": "head"}"#);
    let nowhere = "none.glb".to_owned();
    let elsewhere = ["takes .gltf", "sinew retarget"];
    let out = bench.path("out.glb");
    for (args, words) in [
        (
            &["humanoid", &model, &clip, "--clip", "run"][..],
            ["no clip is named 'run'", "nod"],
        ),
        (
            &["humanoid", &model, &clip, "--skeleton", "1"],
            ["number 1", "model.glb"],
        ),
        (
            &["humanoid", &plain, &clip],
            ["no humanoid skeleton", "sinew describe"],
        ),
        (
            &["humanoid", &model, &plain],
            ["no clips in this file", "plain.glb"],
        ),
        (&["humanoid", &model, &nowhere], ["none.glb", "cannot open"]),
        // Other formats are sent where they are taken.
        (&["humanoid", &model, &bvh], elsewhere),
        (&["humanoid", &usd, &clip], elsewhere),
        (&["describe", &usd], elsewhere),
        (&["describe", &plain, "--map", &map], ["map.json", "tail"]),
        (
            &["describe", &model],
            ["already has EXT_skeleton_humanoid", "model.glb"],
        ),
    ] {
        let args = [args, &["-o", out.to_str().unwrap()]].concat();
        refused(&sinew(&args), &out, &words);
    }
    let obj = bench.path("out.obj");
    let args = ["humanoid", PUPPET, BOW, "-o", obj.to_str().unwrap()];
    misused(&sinew(&args), &obj, &["out.obj"]);
    misused(&sinew(&["humanoid", &model]), &out, &[]);
    for input in [&model, &clip] {
        let before = std::fs::read(input).unwrap();
        let output = sinew(&["humanoid", &model, &clip, "-o", input]);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("it is one of the input files"), "{said}");
        assert_eq!(std::fs::read(input).unwrap(), before);
    }
    assert!(!Path::new(&out).exists());
}

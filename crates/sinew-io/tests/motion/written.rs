//! What is written of a retargeted clip, and what usd-core makes of it.

use std::path::Path;
use std::process::Command;

use common::rigs::bones;
use common::trials::Trial;
use common::{python, tolerance, usd};
use glam::{DQuat, DVec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_io::usd::UsdFile;
use sinew_layer::Value as Usd;
use sinew_stage::Stage as UsdStage;

use crate::pair::{SKEL, pair, warns};

pub fn trials() -> Vec<Trial> {
    let mut trials = common::trials![what_is_written_is_complete];
    for extension in ["usda", "usdc", "usdz"] {
        let name = format!("usd_core_sees_the_same_directions::{extension}");
        trials.push(python::trial(&name, move |python| {
            usd_core_sees_the_same_directions(extension, python)
        }));
    }
    trials.push(python::trial(
        "usd_core_reads_the_animation_alone",
        usd_core_reads_the_animation_alone,
    ));
    trials
}

fn value(stage: &UsdStage, prim: &str, name: &str, time: f64) -> Usd {
    let value = usd::value(stage, prim, name, Some(time));
    value.unwrap_or_else(|| panic!("{prim}.{name} at {time}"))
}

fn what_is_written_is_complete() -> Result<(), Failed> {
    let pair = pair(2);
    let out = pair.bench.path("out.usda");
    let moved = pair.job().write(&out)?;
    // A channel without a shape is told.
    assert!(warns(&moved, "retarget-channels"));
    let told = format!("{:?}", moved.warnings);
    assert!(told.contains("Wink") && !told.contains("Smile"), "{told}");
    let stage = usd::open(&out);
    let anim = "/Char/Skel/Animation";
    let joints = pair.target.rig.joints();
    assert_eq!(usd::tokens(&stage, anim, "joints"), joints);
    let times: Vec<f64> = (1..=9).map(f64::from).collect();
    let mut last: Vec<DQuat> = Vec::new();
    for name in ["translations", "rotations", "scales"] {
        assert_eq!(usd::times(&stage, anim, name), times, "{name}");
    }
    for time in &times {
        let Usd::Vec3fArray(t) = value(&stage, anim, "translations", *time) else {
            return Err("translations are float3".into());
        };
        let Usd::QuatfArray(r) = value(&stage, anim, "rotations", *time) else {
            return Err("rotations are quatf".into());
        };
        let Usd::Vec3hArray(s) = value(&stage, anim, "scales", *time) else {
            return Err("scales are half3".into());
        };
        assert_eq!([t.len(), r.len(), s.len()], [joints.len(); 3]);
        let r: Vec<DQuat> = r
            .iter()
            .map(|q| DQuat::from_array(q.0.map(f64::from)))
            .collect();
        for (j, q) in r.iter().enumerate() {
            assert!((q.length() - 1.0).abs() < tolerance::FEW_ROUNDINGS);
            if let Some(last) = last.get(j) {
                assert!(last.dot(*q) >= 0.0, "{} flips at {time}", joints[j]);
            }
        }
        last = r;
        // What nothing follows is at rest, to the precision of the file.
        for (j, name) in pair.target.rig.names().iter().enumerate() {
            let rest = &pair.target.rig.rest()[j];
            if name.starts_with("J_Sec") || name == "Root" {
                assert_eq!(t[j], rest.translation.as_vec3().to_array());
                assert!(last[j].dot(rest.rotation).abs() > 1.0 - tolerance::TURN_STORED_IN_F32);
            }
            assert_eq!(s[j][0].to_f64(), 1.0);
        }
    }
    // It is bound: sinew poses with it, and finds nothing wrong.
    let scene = UsdFile::open(&out)?.scene(Default::default())?;
    assert_eq!(scene.warnings, []);
    let animation = scene.instances[0]
        .instance
        .animation()
        .map(|a| a.path.clone());
    assert_eq!(animation.as_deref(), Some(anim));
    Ok(())
}

fn readback(python: &str, file: &Path) -> Result<Value, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/motion/retarget_readback.py");
    let output = Command::new(python)
        .arg(script)
        .arg(file)
        .arg(SKEL)
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || told.contains("Warning") {
        return Err(format!("usd-core: {told}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn usd_core_sees_the_same_directions(extension: &str, python: &str) -> Result<(), Failed> {
    let pair = pair(10);
    let out = pair.write(&format!("out.{extension}"))?;
    let theirs = readback(python, &out)?;
    assert_eq!(theirs["complaints"], json!([]));
    assert_eq!(theirs["rate"], json!([30.0, 30.0, 1.0, 9.0]));
    assert_eq!(theirs["units"], json!([1.0, "Y"]));
    let types = json!({
        "joints": "token[]", "translations": "float3[]", "rotations": "quatf[]", "scales": "half3[]",
        "blendShapes": "token[]", "blendShapeWeights": "float[]",
    });
    assert_eq!(theirs["types"], types);
    assert_eq!(theirs["weights"]["3.0"], json!([0.125 * 3.0 + 0.5]));
    for (time, pose) in &pair.poses {
        let posed = &theirs["world"][format!("{time:?}")];
        let at = |key: &str| {
            let row = &posed[pair.target.at[key]];
            DVec3::from_array([0, 1, 2].map(|i| row[i].as_f64().expect("a number")))
        };
        let world = pair.source.world(pose);
        for (a, b) in bones() {
            let want = pair.source.direction(&world, &a, &b);
            let off = (at(&b) - at(&a)).normalize().distance(want);
            assert!(
                off < tolerance::DIRECTION_IN_F32,
                "{a} to {b} at {time}: {off:.2e}"
            );
        }
    }
    Ok(())
}

fn usd_core_reads_the_animation_alone(python: &str) -> Result<(), Failed> {
    let pair = pair(11);
    let out = pair.write("out.usda")?;
    let clip = pair.bench.path("clip.usda");
    pair.job().write_alone(&clip)?;
    let stage = usd::open(&clip);
    let default_prim = stage.metadata("defaultPrim")?;
    assert_eq!(default_prim, Some(Usd::token("Animation")));
    assert!(stage.prim(&usd::path("/Char")).is_none());
    for (key, want) in [
        ("metersPerUnit", 1.0),
        ("timeCodesPerSecond", 30.0),
        ("endTimeCode", 9.0),
    ] {
        assert_eq!(stage.metadata(key)?, Some(Usd::Double(want)), "{key}");
    }
    // The blog's case: the character's stage references the clip.
    let text = format!(
        "#usda 1.0\n(\n    subLayers = [@./hero.usda@]\n    upAxis = \"Y\"\n    metersPerUnit = 1\n    timeCodesPerSecond = 30\n    framesPerSecond = 30\n    startTimeCode = 1\n    endTimeCode = 9\n)\nover \"Char\" {{\n    over \"Skel\" {{\n        rel skel:animationSource = <{SKEL}/Clip>\n        def \"Clip\" (references = @./clip.usda@) {{ }}\n    }}\n}}\n"
    );
    let shot = pair.bench.write("shot.usda", text);
    let (whole, alone) = (readback(python, &out)?, readback(python, &shot)?);
    for key in ["world", "weights", "types", "rate", "units"] {
        assert_eq!(alone[key], whole[key], "{key}");
    }
    Ok(())
}

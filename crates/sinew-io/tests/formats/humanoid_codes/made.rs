//! Files with humanoid skeletons, and what is expected of them.

use std::path::Path;

use glam::DQuat;
use serde_json::Value;
use sinew_animate::asset::Asset;
use sinew_io::gltf::extensions::{FindingSeverity, HumanoidFinding, humanoid};

use common::gltf_maker::GltfMaker;
use common::mannequin::Mannequin;

pub const EXTENSION: &str = "EXT_skeleton_humanoid";
pub const SKELETON: &str = "extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]";

pub fn validate(gltf: &GltfMaker) -> Vec<HumanoidFinding> {
    humanoid::validate(&gltf.json)
}

pub fn read(gltf: &GltfMaker) -> sinew_io::Result<Asset> {
    sinew_io::gltf::read_bytes(&gltf.glb(), Path::new("made.glb"))
}

/// Codes and locations of an asset's warnings.
pub fn warnings(asset: &Asset) -> Vec<(&'static str, &str)> {
    let warnings = asset.warnings.iter();
    warnings.map(|w| (w.code, w.path.as_str())).collect()
}

/// A good file with a clip of two bones.
pub fn good() -> Mannequin {
    let mut made = Mannequin::new().with_humanoid();
    add_clip(&mut made.gltf);
    made
}

pub fn add_clip(gltf: &mut GltfMaker) {
    let clip = gltf.animation("nod");
    let turn = [DQuat::IDENTITY, DQuat::from_rotation_x(0.5)];
    gltf.bone_channel(clip, "neck", &[0.0, 1.0], &turn);
    gltf.bone_channel(clip, "leftUpperArm", &[0.0, 1.0], &turn);
}

/// One error of that code at that place, both from the validator and from the reader.
#[track_caller]
pub fn expect_error(gltf: &GltfMaker, code: &str, location: &str) {
    let findings = validate(gltf);
    let errors: Vec<_> = findings
        .iter()
        .filter(|f| f.severity == FindingSeverity::Error)
        .map(|f| (f.code, f.location.as_str()))
        .collect();
    assert_eq!(errors, [(code, location)]);
    assert_eq!(in_table(code), sinew_check::Severity::Error);
    match read(gltf) {
        Err(sinew_io::Error::Invalid(invalid)) => {
            assert_eq!(invalid.code, Some(errors[0].0));
            assert_eq!(invalid.prim, location);
            let file = invalid.file.as_ref().expect("the file");
            assert_eq!(file.as_path(), Path::new("made.glb"));
            assert!(invalid.to_string().contains(location), "{invalid}");
        }
        other => panic!("{code}: {:?}", other.map(|a| a.warnings)),
    }
}

#[track_caller]
pub fn expect_warnings(gltf: &GltfMaker, expected: &[(&str, &str)]) -> Asset {
    let asset = read(gltf).expect("an asset");
    assert_eq!(warnings(&asset), expected);
    for (code, _) in expected {
        assert_eq!(in_table(code), sinew_check::Severity::Warning, "{code}");
    }
    asset
}

/// What `sinew check` makes of a code.
pub fn in_table(code: &str) -> sinew_check::Severity {
    sinew_check::code(code).expect("a row").severity
}

/// The JSON of bone `name` in the first skeleton.
pub fn bone<'a>(made: &'a mut Mannequin, name: &str) -> &'a mut Value {
    &mut made.gltf.json["extensions"][EXTENSION]["humanoidSkeletons"][0]["humanoidBones"][name]
}

pub fn skeleton(made: &mut Mannequin) -> &mut serde_json::Map<String, Value> {
    made.gltf.json["extensions"][EXTENSION]["humanoidSkeletons"][0]
        .as_object_mut()
        .expect("a skeleton")
}

pub fn channel(made: &mut Mannequin, index: usize) -> &mut Value {
    &mut made.gltf.json["animations"][0]["channels"][index]
}

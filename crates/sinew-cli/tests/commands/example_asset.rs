//! The example assets have what the README promises of them.

use common::tolerance;
use sinew::sampled::Time;
use sinew::skel::InfluenceInterpolation;
use sinew_animate::humanoid::{ApplyOptions, apply};
use sinew_animate::retarget::{Bone, Humanoid, Rig, RigPlacement};
use sinew_check::{CheckOptions, Severity, check_file};
use sinew_io::read_asset;
use sinew_io::usd::UsdFile;

const ASSET: &str = "../../examples/assets/hatchling.usda";

#[test]
fn has_what_a_demonstration_needs() {
    let file = UsdFile::open(ASSET).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    assert!(
        scene.errors.is_empty() && scene.warnings.is_empty(),
        "{:?}",
        scene.warnings
    );
    let skeleton = scene.instances[0].instance.skeleton();
    let animation = scene.instances[0]
        .instance
        .animation()
        .expect("an animation");
    assert!(skeleton.joints().len() >= 20);
    assert!(
        animation.joints.len() < skeleton.joints().len(),
        "a sparse animation"
    );
    let (mut most, mut rigid, mut between, mut sparse) = (0, 0, 0, 0);
    for bound in scene.bound_skins() {
        let skin = bound.skin(Time::At(1.0)).unwrap();
        let influences = skin.influences().expect("influences");
        for p in 0..skin.points().len() {
            let used = influences.of_point(p).filter(|(_, w)| *w != 0.0);
            let sum: f32 = influences.of_point(p).map(|(_, w)| w).sum();
            assert!(
                (sum - 1.0).abs() < tolerance::WEIGHTS_OF_THE_EXAMPLE,
                "weights sum to {sum}"
            );
            most = most.max(used.count());
        }
        rigid += usize::from(influences.interpolation() == InfluenceInterpolation::Constant);
        for shape in skin.shapes().iter().flatten() {
            between += usize::from(shape.sub_shapes().len() > 1);
            sparse += usize::from(shape.point_indices().is_some());
        }
    }
    assert!(
        most > 4 && rigid > 0 && between > 0 && sparse > 0,
        "{most} {rigid} {between} {sparse}"
    );
}

#[test]
fn the_puppet_and_its_clips_go_together() {
    let puppet = "../../examples/assets/puppet.glb";
    for file in [
        puppet,
        "../../examples/assets/bow.glb",
        "../../examples/assets/walk.bvh",
    ] {
        let mut report = check_file(file, &CheckOptions::default()).unwrap();
        report.keep(Severity::Warning);
        assert!(report.findings.is_empty(), "{file}: {:?}", report.findings);
    }
    let model = read_asset(puppet).unwrap().expect("glTF");
    assert_eq!(model.humanoids[0].bones.len(), 21);
    let bow = read_asset("../../examples/assets/bow.glb")
        .unwrap()
        .expect("glTF");
    let applied = apply(&model, &bow, &bow.clips[0], &ApplyOptions::default()).unwrap();
    assert_eq!(applied.clip.tracks.len(), bow.clips[0].tracks.len());

    let walk = sinew_io::open("../../examples/assets/walk.bvh").unwrap();
    let scene = walk.scene(Default::default()).unwrap();
    let skeleton = scene.unbound_skeletons[0].instance.skeleton();
    let rig = Rig::new("walk", skeleton, RigPlacement::default()).unwrap();
    let humanoid = Humanoid::recognise(&rig).unwrap();
    assert!(humanoid.joints().len() >= 20);
}

/// It is a bird, with wings and a tail, but its body is a human one.
#[test]
fn the_hatchling_has_a_body() {
    let scene = UsdFile::open(ASSET).unwrap().scene(Default::default());
    let scene = scene.unwrap();
    let skeleton = scene.instances[0].instance.skeleton();
    let rig = Rig::new("hatchling", skeleton, RigPlacement::default()).unwrap();
    let humanoid = Humanoid::recognise(&rig).unwrap();
    for (bone, name) in [
        (Bone::Hips, "hips"),
        (Bone::Chest, "chest"),
        (Bone::LeftLowerArm, "foreL"),
        (Bone::RightHand, "handR"),
        (Bone::LeftLowerLeg, "shinL"),
        (Bone::RightFoot, "footR"),
        (Bone::LeftEye, "eyeL"),
    ] {
        assert_eq!(rig.names()[humanoid.joints()[&bone]], name);
    }
    assert!(Bone::MAIN.iter().all(|b| humanoid.joints().contains_key(b)));
    assert!(humanoid.conflicts(&rig).is_empty());
}

//! VRM files that other tools wrote.

use std::path::Path;

use sinew_animate::asset::{Asset, AssetFormat, TrackTarget};
use sinew_animate::retarget::Bone;

fn codes(asset: &Asset) -> Vec<&'static str> {
    asset.warnings.iter().map(|w| w.code).collect()
}

fn real(assets: &Path, name: &str) -> Asset {
    sinew_io::gltf::read(&assets.join("vrm").join(name)).unwrap_or_else(|e| panic!("{e}"))
}

pub fn real_characters(folder: &Path) {
    for (name, bones, expressions, binds) in [
        ("Example.vrm", 53, 18, 0),
        ("modifier_shapekey_vrm1.vrm", 17, 18, 1),
        ("skinned_mesh_parent_vrm1.vrm", 17, 18, 0),
        ("mtoon_default.vrm", 19, 0, 0),
        ("smoke_spring.vrm", 19, 0, 0),
    ] {
        let asset = real(folder, name);
        assert_eq!(asset.format, AssetFormat::Vrm1, "{name}");
        let count = asset
            .expressions
            .iter()
            .map(|e| e.binds.len())
            .sum::<usize>();
        let found = (
            asset.humanoids[0].bones.len(),
            asset.expressions.len(),
            count,
        );
        assert_eq!(found, (bones, expressions, binds), "{name}");
        let errors = ["vrm-bone-required", "vrm-hierarchy", "vrm-bone-unknown"];
        assert!(
            !codes(&asset).iter().any(|c| errors.contains(c)),
            "{name}: {:?}",
            asset.warnings
        );
    }
    let asset = real(folder, "smoke_spring.vrm");
    assert!(codes(&asset).contains(&"spring-bones-ignored"));
    assert!(codes(&asset).contains(&"mtoon-simplified"));
}

pub fn real_animations(folder: &Path) {
    let asset = real(folder, "three-vrm-test.vrma");
    assert_eq!(
        (asset.format, asset.humanoids[0].bones.len()),
        (AssetFormat::Vrma, 51)
    );
    assert_eq!(codes(&asset), ["look-at-ignored"]);
    let targets: Vec<_> = asset.clips[0].tracks.iter().map(|t| &t.target).collect();
    let arm = asset.humanoids[0].bones[&Bone::RightUpperArm];
    assert_eq!(targets.len(), 2, "the gaze is read past");
    assert_eq!(targets[0], &TrackTarget::Node(arm));
    assert!(
        matches!(targets[1], TrackTarget::Expression(_)),
        "{targets:?}"
    );

    let asset = real(folder, "hips_spine_twisting.vrma");
    assert_eq!(
        (asset.format, asset.humanoids[0].bones.len()),
        (AssetFormat::Vrma, 17)
    );
    assert_eq!(
        (asset.clips[0].tracks.len(), codes(&asset)),
        (6, Vec::new())
    );
}

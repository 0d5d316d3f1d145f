//! VRM files that other tools wrote.

use std::path::Path;

use sinew_animate::asset::{Asset, AssetFormat, TrackTarget};
use sinew_animate::retarget::Bone;

/// A file of this format and so many bones, and the codes of what is warned of.
fn real(
    folder: &Path,
    name: &str,
    format: AssetFormat,
    bones: usize,
) -> (Asset, Vec<&'static str>) {
    let asset = sinew_io::gltf::read(&folder.join("vrm").join(name));
    let asset = asset.unwrap_or_else(|e| panic!("{e}"));
    let found = (asset.format, asset.humanoids[0].bones.len());
    assert_eq!(found, (format, bones), "{name}");
    let codes = asset.warnings.iter().map(|w| w.code).collect();
    (asset, codes)
}

pub fn real_characters(folder: &Path) {
    for (name, bones, expressions, binds) in [
        ("Example.vrm", 53, 18, 0),
        ("modifier_shapekey_vrm1.vrm", 17, 18, 1),
        ("skinned_mesh_parent_vrm1.vrm", 17, 18, 0),
        ("mtoon_default.vrm", 19, 0, 0),
        ("smoke_spring.vrm", 19, 0, 0),
    ] {
        let (asset, codes) = real(folder, name, AssetFormat::Vrm1, bones);
        let count = asset.expressions.iter().map(|e| e.binds.len()).sum();
        let found: (usize, usize) = (asset.expressions.len(), count);
        assert_eq!(found, (expressions, binds), "{name}");
        let errors = ["vrm-bone-required", "vrm-hierarchy", "vrm-bone-unknown"];
        assert!(
            !codes.iter().any(|c| errors.contains(c)),
            "{name}: {codes:?}"
        );
        if name == "smoke_spring.vrm" {
            assert!(codes.contains(&"spring-bones-ignored"));
            assert!(codes.contains(&"mtoon-simplified"));
        }
    }
}

pub fn real_animations(folder: &Path) {
    let (asset, codes) = real(folder, "three-vrm-test.vrma", AssetFormat::Vrma, 51);
    assert_eq!(codes, ["look-at-ignored"]);
    let targets = asset.clips[0].tracks.iter().map(|t| &t.target);
    let targets: Vec<_> = targets.collect();
    let arm = asset.humanoids[0].bones[&Bone::RightUpperArm];
    // The gaze is read past.
    let [TrackTarget::Node(node), TrackTarget::Expression(_)] = targets[..] else {
        panic!("{targets:?}")
    };
    assert_eq!(*node, arm);
    let (asset, codes) = real(folder, "hips_spine_twisting.vrma", AssetFormat::Vrma, 17);
    assert_eq!((asset.clips[0].tracks.len(), codes.len()), (6, 0));
}

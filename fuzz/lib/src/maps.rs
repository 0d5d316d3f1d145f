//! Maps of bones.

use std::sync::LazyLock;

use sinew_animate::asset::Asset;
use sinew_animate::humanoid::{bones_from_json, describe, reference_asset};
use sinew_animate::retarget::{Bone, BoneMap};

/// The model whose nodes a map of `sinew humanoid` names.
static MODEL: LazyLock<Asset> = LazyLock::new(reference_asset);

/// Reads a map of `sinew humanoid --map`, and describes the model with it. Reads a map of `sinew retarget --map`, writes it
/// and reads it again.
pub fn maps(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Ok(bones) = bones_from_json(&text, "input.json", &MODEL) {
        assert!(bones.values().all(|node| *node < MODEL.nodes.len()));
        if let Ok((skeleton, left)) = describe(&MODEL, &bones) {
            assert_eq!(skeleton.bones.len() + left.len(), bones.len());
        }
    }
    for word in text.split('"').take(200) {
        let _ = word.parse::<Bone>();
    }
    if let Ok(map) = BoneMap::from_json(&text, "input.json") {
        let written = serde_json::to_string(&map).expect("a map can be written");
        let again =
            BoneMap::from_json(&written, "written.json").expect("what was written can be read");
        let pairs = |map: &BoneMap| {
            let pairs = map.pairs.iter();
            let mut pairs: Vec<_> = pairs
                .map(|p| (p.source.clone(), p.target.clone()))
                .collect();
            pairs.sort();
            pairs
        };
        assert_eq!(pairs(&map), pairs(&again));
    }
}

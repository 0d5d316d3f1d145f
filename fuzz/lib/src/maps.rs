//! Bone maps.

use sinew_animate::retarget::{Bone, BoneMap};

/// Reads a map of `--map`, writes it and reads it again.
pub fn maps(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
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

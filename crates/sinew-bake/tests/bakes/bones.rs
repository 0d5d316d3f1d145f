//! Bone textures: their clips and their layout. Random stages of sinew-io's tests have the points of theirs compared.

use std::path::Path;

use common::bones::{Bones, number};
use serde_json::Value;

use crate::bench::*;

fn bake(input: &Path, out: &Path, words: &str) -> Bones {
    run(input, out, words);
    Bones::read(out)
}

pub fn clips_share_a_texture() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*TWO_CLIPS);
    let out = bench.path("two.bones.exr");
    let report = run(&input, &out, "");
    let left_out = warnings(&report, "left-out");
    assert!(left_out.iter().any(|w| w.path == "/Ground"));
    for words in ["", "clip Walk clip Wave"] {
        let bones = bake(&input, &out, words);
        let clips = bones.json["clips"].as_array().unwrap();
        let of_clip = |c: &Value| {
            let name = c["name"].as_str().unwrap().to_owned();
            (name, number(c, "firstFrame"), number(c, "frames"))
        };
        let named: Vec<_> = clips.iter().map(of_clip).collect();
        assert_eq!(
            named,
            [("Walk".into(), 0.0, 5.0), ("Wave".into(), 5.0, 3.0)]
        );
    }
}

pub fn many_frames_go_on_to_the_right() {
    let bench = Bench::new();
    let input = bench.write("in.usda", &*TWO_CLIPS);
    let out = bench.path("w.bones.exr");
    let bones = bake(&input, &out, "clip Walk frames 1:5:0.0002");
    assert_eq!(number(&bones.json, "frames"), 20_001.0);
    assert_eq!(bones.whole("columnWidth") * 2, bones.width);
    // The last frame is in the second column.
    let last = bones.fetch(20_000, 1, 0);
    let few = bake(&input, &out, "clip Walk frames 1:5:4");
    assert_eq!(last, few.fetch(1, 1, 0));
    assert_ne!(last, few.fetch(0, 1, 0));
}

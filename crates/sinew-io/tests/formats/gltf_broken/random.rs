//! Files changed at random: whatever comes of it, no panic, and in time.

use std::path::Path;

use serde_json::json;
use sinew_io::gltf::extensions::humanoid;

use super::memory::read;
use super::scrambling::{scrambled, survives};
use super::{LONGEST, refused};
use common::document::{Document, glb};
use common::rng::Rng;

/// Of plain files, and of files for characters, whose extensions point to nodes and meshes.
#[test]
fn random_json() {
    let files = [
        ("tiny.gltf", "random.glb"),
        ("scenery.gltf", "random.glb"),
        ("vrm1.gltf", "random.vrm"),
        ("vrm0.gltf", "random.vrm"),
        ("vrma.gltf", "random.vrma"),
        ("humanoid.gltf", "random.glb"),
    ];
    let bases = files.map(|(fixture, name)| (Document::fixture(fixture), Path::new(name)));
    let (mut read, seeds) = (0, common::seeds(6000));
    for seed in seeds.clone() {
        let (base, name) = &bases[seed as usize % bases.len()];
        let mut file = base.clone();
        file.change_at_random(&mut Rng::new(seed));
        let what = || format!("seed {seed}: {}", file.json);
        let _ = humanoid::validate(&file.json);
        let (good, _) = survives(&file.glb(), name, LONGEST, &what);
        read += u64::from(good);
    }
    // Most changes matter, some do not: else the loop would test nothing.
    let all = seeds.end;
    assert!(
        (all / 40..all * 5 / 6).contains(&read),
        "{read} of {all} were read"
    );
}

#[test]
fn random_bytes() {
    let character = Document::fixture("tiny.gltf");
    let (whole, text) = (
        character.glb(),
        serde_json::to_vec(&character.json).unwrap(),
    );
    for seed in common::seeds(3000) {
        let mut rng = Rng::new(seed);
        let file = match seed % 3 {
            0 => scrambled(&whole, &mut rng),
            1 => glb(&scrambled(&text, &mut rng), &character.bin),
            _ => glb(&text, &scrambled(&character.bin, &mut rng)),
        };
        let what = || format!("seed {seed}");
        survives(&file, Path::new("random.glb"), LONGEST, &what);
    }
}

/// Compressed data of every kind with bytes changed: decoders are where such files do harm.
#[test]
fn random_compressed_bytes() {
    use meshoptimizer_rs::{Workspace, codec};
    let points: Vec<u8> = (0..300u32)
        .flat_map(|i| (i as f32).sin().to_le_bytes())
        .collect();
    let encoding = codec::VertexEncoding::new(0, 0).unwrap();
    let mut workspace = Workspace::default();
    let data = codec::encode_vertex_buffer(&points, 100, 12, encoding, &mut workspace).unwrap();
    for seed in common::seeds(1000) {
        let mut rng = Rng::new(seed);
        let mut file = Document::fixture("tiny_meshopt.gltf");
        let filter = ["NONE", "EXPONENTIAL"][rng.below(2)];
        let packed = scrambled(&data, &mut rng);
        let view = file.view(&packed);
        let offset = file.json["bufferViews"][view]["byteOffset"].clone();
        let extension = json!({
            "buffer": 0, "byteOffset": offset, "byteLength": packed.len(),
            "byteStride": 12, "count": 100, "mode": "ATTRIBUTES", "filter": filter,
        });
        file.set("/bufferViews/0/byteLength", json!(1200));
        file.set(
            "/bufferViews/0/extensions/EXT_meshopt_compression",
            extension,
        );
        let what = || format!("seed {seed}");
        survives(&file.glb(), Path::new("random.glb"), LONGEST, &what);
    }
}

/// What takes the most memory for its bytes.
#[test]
fn long_lists_of_nothing() {
    let list = |name: &str, one: &str| {
        let elements = vec![one; 300_000].join(",");
        format!("{{\"asset\":{{\"version\":\"2.0\"}},\"{name}\":[{elements}]}}")
    };
    let file = Path::new("a.gltf");
    for name in ["extras", "animations", "scenes"] {
        read(list(name, "{}").as_bytes(), file).unwrap();
    }
    read(list("extras", "[]").as_bytes(), file).unwrap();
    for name in ["nodes", "materials"] {
        assert_eq!(refused(list(name, "{}").as_bytes()).prim, name);
    }
    for name in ["skins", "meshes", "images", "buffers"] {
        refused(list(name, "{}").as_bytes());
    }
}

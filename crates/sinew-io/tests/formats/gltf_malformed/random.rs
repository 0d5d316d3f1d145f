//! Files changed at random: whatever comes of it, no panic, and in time.

use std::path::Path;

use serde_json::json;

use super::compressed::compressed;
use super::memory::read;
use super::scrambling::{scrambled, survives};
use super::{LONGEST, refused};
use common::rng::Rng;
use common::scenery::scenery;
use common::tiny_gltf::{self, TinyGltf, glb};

#[test]
fn random_json() {
    let mut read = 0;
    for seed in 0..4000 {
        let mut rng = Rng::new(seed);
        let mut file = match seed % 2 {
            0 => TinyGltf::character(),
            _ => scenery(),
        };
        file.change_at_random(&mut rng);
        let what = || format!("seed {seed}: {}", file.json);
        let (good, _) = survives(&file.glb(), Path::new("random.glb"), LONGEST, &what);
        read += usize::from(good);
    }
    // Most changes matter, some do not: else the loop would test nothing.
    assert!((150..3000).contains(&read), "{read} of 4000 were read");
}

#[test]
fn random_bytes() {
    let character = TinyGltf::character();
    let whole = character.glb();
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let what = || format!("seed {seed}");
        let file = match seed % 3 {
            0 => scrambled(&whole, &mut rng),
            1 => {
                let text = serde_json::to_vec(&character.json).unwrap();
                glb(&scrambled(&text, &mut rng), &character.bin)
            }
            _ => {
                let text = serde_json::to_vec(&character.json).unwrap();
                glb(&text, &scrambled(&character.bin, &mut rng))
            }
        };
        survives(&file, Path::new("random.glb"), LONGEST, &what);
    }
}

/// Compressed data of every kind with bytes changed: decoders are where such files do harm.
#[test]
fn random_compressed_bytes() {
    let points: Vec<u8> = (0..300u32)
        .flat_map(|i| (i as f32).sin().to_le_bytes())
        .collect();
    let data = tiny_gltf::compress(&points, 12);
    for seed in 0..1000 {
        let mut rng = Rng::new(seed);
        let mut file = TinyGltf::character();
        let filter = ["NONE", "EXPONENTIAL"][rng.below(2)];
        compressed(&mut file, &scrambled(&data, &mut rng), |e| {
            e["count"] = json!(100);
            e["filter"] = json!(filter);
        });
        file.set("/bufferViews/0/byteLength", json!(1200));
        survives(&file.glb(), Path::new("random.glb"), LONGEST, &|| {
            format!("seed {seed}")
        });
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

//! Files changed at random: whatever comes of it, no panic, and in time.

use std::path::Path;

use serde_json::{Value, json};

use super::compressed::compressed;
use super::memory::read;
use super::scrambling::{scrambled, survives};
use super::{LONGEST, refused};
use common::rng::Rng;
use common::tiny_gltf::{self, TinyGltf, glb};

/// Pointers to every value below, itself first.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    out.push(at.clone());
    match value {
        Value::Array(a) => {
            for (i, v) in a.iter().enumerate() {
                pointers(v, format!("{at}/{i}"), out);
            }
        }
        Value::Object(o) => {
            for (k, v) in o {
                pointers(v, format!("{at}/{k}"), out);
            }
        }
        _ => {}
    }
}

fn odd_value(rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(5),
        json!(255),
        json!(5121),
        json!(5126),
        json!(u32::MAX),
        json!(u64::MAX),
        json!(1e308),
        json!(-0.5),
        json!(true),
        json!(""),
        json!("VEC4"),
        json!("../x"),
        json!([]),
        json!([0, 1]),
        json!({}),
        json!([[[]]]),
    ];
    values[rng.below(values.len())].clone()
}

#[test]
fn random_json() {
    let mut read = 0;
    for seed in 0..4000 {
        let mut rng = Rng::new(seed);
        let mut file = TinyGltf::character();
        for _ in 0..1 + rng.below(3) {
            let mut all = Vec::new();
            pointers(&file.json, String::new(), &mut all);
            let place = all[1 + rng.below(all.len() - 1)].clone();
            let other = all[rng.below(all.len())].clone();
            let copy = file.json.pointer(&other).unwrap().clone();
            let (parent, key) = place.rsplit_once('/').unwrap();
            match (rng.below(4), file.json.pointer_mut(parent).unwrap()) {
                (0, Value::Object(parent)) => _ = parent.remove(key),
                (0, Value::Array(parent)) => _ = parent.remove(key.parse().unwrap()),
                (1, _) => *file.json.pointer_mut(&place).unwrap() = copy,
                _ => *file.json.pointer_mut(&place).unwrap() = odd_value(&mut rng),
            }
        }
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

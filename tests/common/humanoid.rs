//! Running `sinew humanoid`, and what its glTF files must have kept.

use std::path::Path;

use serde_json::Value;
use sinew_animate::asset::{AssetClip, Keys};
use sinew_io::gltf::GltfEdit;

use crate::command::sinew;
use crate::tolerance::STORED_IN_F32;

/// `sinew humanoid`.
pub fn run(args: &[&Path], more: &[&str]) -> std::process::Output {
    command("humanoid", args, more)
}

/// `sinew describe`.
pub fn describe(model: &Path, more: &[&str]) -> std::process::Output {
    command("describe", &[model], more)
}

fn command(name: &str, args: &[&Path], more: &[&str]) -> std::process::Output {
    let mut all = vec![name];
    all.extend(args.iter().map(|p| p.to_str().unwrap()));
    all.extend(more);
    sinew(&all)
}

pub fn put(model: &Path, clip: &Path, out: &Path, more: &[&str]) -> std::process::Output {
    let mut all = vec!["-o", out.to_str().unwrap()];
    all.extend(more);
    run(&[model, clip], &all)
}

pub fn json_of(file: &Path) -> Value {
    GltfEdit::open(file).unwrap().json().clone()
}

/// Everything that was there is there as it was, but for buffers and what is behind the old ends of lists.
pub fn keeps(before: &Value, after: &Value) {
    for (key, value) in before.as_object().unwrap() {
        match (key.as_str(), value) {
            ("buffers" | "images", _) => {}
            (_, Value::Array(list)) => {
                let found = after[key].as_array().unwrap();
                assert_eq!(found[..list.len()], list[..], "{key}");
            }
            _ => assert_eq!(&after[key], value, "{key}"),
        }
    }
}

/// f32 of the same numbers.
pub fn same_clip(found: &AssetClip, expected: &AssetClip) {
    assert_eq!(found.name, expected.name);
    assert_eq!(found.tracks.len(), expected.tracks.len());
    for (a, b) in found.tracks.iter().zip(&expected.tracks) {
        assert_eq!(a.target, b.target);
        assert_eq!(a.curve.interpolation, b.curve.interpolation);
        let close = |a: f64, b: f64| (a - b).abs() <= STORED_IN_F32 * b.abs().max(1.0);
        let times = a.curve.times.iter().zip(&b.curve.times);
        assert!(times.clone().all(|(a, b)| close(*a, *b)));
        assert_eq!(a.curve.times.len(), b.curve.times.len());
        let numbers = |k: &Keys| -> Vec<f64> {
            match k {
                Keys::Translation(v) | Keys::Scale(v) => {
                    v.iter().flat_map(|v| v.to_array()).collect()
                }
                Keys::Rotation(v) => v.iter().flat_map(|q| q.to_array()).collect(),
                Keys::Weights { values, .. } => values.clone(),
            }
        };
        let (a, b) = (numbers(&a.curve.keys), numbers(&b.curve.keys));
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(&b).all(|(a, b)| close(*a, *b)), "{a:?} {b:?}");
    }
}

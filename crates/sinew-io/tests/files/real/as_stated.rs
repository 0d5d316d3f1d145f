//! Counts, names and bounds that glTF files state of themselves.

use std::path::Path;

use glam::Vec3;
use serde_json::Value;
use sinew_animate::asset::Primitive;
use sinew_io::gltf;

use common::files::{at_least, files_of};
use common::tolerance;

/// The JSON of a .gltf or .glb file.
fn json_of(bytes: &[u8]) -> Value {
    let text = match bytes.strip_prefix(b"glTF") {
        Some(_) => {
            let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap());
            &bytes[20..20 + length as usize]
        }
        None => bytes,
    };
    serde_json::from_slice(text).unwrap()
}

fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json[key].as_array().map_or(&[], Vec::as_slice)
}

fn number(json: &Value) -> usize {
    json.as_u64().unwrap() as usize
}

/// Every real file: counts, and the bounds that its accessors state.
pub fn what_is_read_is_what_the_file_states(assets: &Path) {
    let files = files_of(assets, &["gltf", "glb", "vrm", "vrma"]);
    let least = at_least(assets, 30, 26);
    assert!(files.len() >= least, "{} files", files.len());
    for path in files {
        let name = path.display().to_string();
        let asset = gltf::read(&path).unwrap();
        let json = json_of(&std::fs::read(&path).unwrap());
        // Two files come without their pictures, and one was made from more than four influences.
        let said = match name.rsplit('/').next().unwrap() {
            "interpolation_test.gltf" | "MorphPrimitivesTest.gltf" => Some("gltf-image-unreadable"),
            "CesiumMan.glb" => Some("gltf-weights-sum"),
            // Its node `secondary` is in no scene.
            "Example.vrm" => Some("gltf-node-unshown"),
            _ => None,
        };
        let of_reader = |c: &&str| c.starts_with("gltf-");
        let found: Vec<_> = asset
            .warnings
            .iter()
            .map(|w| w.code)
            .filter(of_reader)
            .collect();
        assert_eq!(found, Vec::from_iter(said), "{name}: {:?}", asset.warnings);

        assert_eq!(asset.nodes.len(), list(&json, "nodes").len(), "{name}");
        let named = |n: &Value| n["name"].as_str().unwrap_or("").to_owned();
        let names: Vec<_> = list(&json, "nodes").iter().map(named).collect();
        let read: Vec<_> = asset.nodes.iter().map(|n| n.name.clone()).collect();
        assert_eq!(read, names, "{name}");
        let joints = |s: &Value| list(s, "joints").iter().map(number).collect::<Vec<_>>();
        let joints: Vec<_> = list(&json, "skins").iter().map(joints).collect();
        let read: Vec<_> = asset.skins.iter().map(|s| s.joints.clone()).collect();
        assert_eq!(read, joints, "{name}");
        assert_eq!(
            asset.materials.len(),
            list(&json, "materials").len(),
            "{name}"
        );
        assert_eq!(asset.images.len(), list(&json, "images").len(), "{name}");

        let accessors = list(&json, "accessors");
        assert_eq!(asset.meshes.len(), list(&json, "meshes").len(), "{name}");
        for (mesh, json) in asset.meshes.iter().zip(list(&json, "meshes")) {
            assert_eq!(
                mesh.primitives.len(),
                list(json, "primitives").len(),
                "{name}"
            );
            for (p, json) in mesh.primitives.iter().zip(list(json, "primitives")) {
                primitive_is_as_stated(p, json, accessors, &name);
            }
        }
        assert_eq!(asset.clips.len(), list(&json, "animations").len(), "{name}");
        for (clip, json) in asset.clips.iter().zip(list(&json, "animations")) {
            assert_eq!(clip.name, named(json), "{name}");
            // Channels of VRM Animation are bones and expressions, not one track each.
            if name.ends_with(".vrma") {
                continue;
            }
            assert_eq!(clip.tracks.len(), list(json, "channels").len(), "{name}");
            for (track, channel) in clip.tracks.iter().zip(list(json, "channels")) {
                let input = &json["samplers"][number(&channel["sampler"])]["input"];
                let stated = &accessors[number(input)];
                assert_eq!(track.curve.times.len(), number(&stated["count"]), "{name}");
                for (time, stated) in [
                    (track.curve.times.first(), &stated["min"][0]),
                    (track.curve.times.last(), &stated["max"][0]),
                ] {
                    let (time, stated) = (*time.unwrap() as f32, stated.as_f64().unwrap() as f32);
                    assert!(
                        (time - stated).abs() <= tolerance::STATED_BOUNDS,
                        "{name}: {time} {stated}"
                    );
                }
            }
        }
    }
}

fn primitive_is_as_stated(p: &Primitive, json: &Value, accessors: &[Value], name: &str) {
    let attributes = json["attributes"].as_object().unwrap();
    let position = &accessors[number(&attributes["POSITION"])];
    assert_eq!(p.points.len(), number(&position["count"]), "{name}");
    let corners = match json.get("indices") {
        Some(indices) => number(&accessors[number(indices)]["count"]),
        None => p.points.len(),
    };
    assert_eq!(p.faces.indices.len(), corners, "{name}");
    let sets = attributes.keys().filter(|k| k.starts_with("JOINTS_"));
    assert_eq!(p.influences, 4 * sets.count(), "{name}");
    assert_eq!(
        !p.normals.is_empty(),
        attributes.contains_key("NORMAL"),
        "{name}"
    );
    assert_eq!(p.targets.len(), list(json, "targets").len(), "{name}");
    let bounds = |points: &[Vec3], stated: &Value| {
        // A sparse target leaves the rest at zero, which is within the bounds too.
        let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
        for axis in 0..3 {
            for (found, stated) in [(low, &stated["min"][axis]), (high, &stated["max"][axis])] {
                let stated = stated.as_f64().unwrap() as f32;
                let apart = (found[axis] - stated).abs();
                assert!(
                    apart <= tolerance::STATED_BOUNDS * stated.abs().max(1.0),
                    "{name}: {found} {stated}"
                );
            }
        }
    };
    bounds(&p.points, position);
    for (target, json) in p.targets.iter().zip(list(json, "targets")) {
        if let (None, Some(index)) = (&target.point_indices, json.get("POSITION")) {
            bounds(&target.offsets, &accessors[number(index)]);
        }
    }
}

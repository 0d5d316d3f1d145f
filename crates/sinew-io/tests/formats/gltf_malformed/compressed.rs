//! EXT_meshopt_compression.

use std::path::Path;

use serde_json::{Value, json};
use sinew_io::gltf;

use super::broken;
use common::tiny_gltf::{self, TinyGltf, floats};

/// EXT_meshopt_compression on the view of the positions, with `data`.
pub fn compressed(t: &mut TinyGltf, data: &[u8], change: impl FnOnce(&mut Value)) {
    let packed = t.view(data);
    let offset = t.json["bufferViews"][packed]["byteOffset"].clone();
    let mut extension = json!({
        "buffer": 0, "byteOffset": offset, "byteLength": data.len(),
        "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"
    });
    change(&mut extension);
    let view = json!({
        "buffer": 0, "byteLength": 36, "extensions": { "EXT_meshopt_compression": extension }
    });
    t.set("/bufferViews/0", view);
}

#[test]
fn compressed_views() {
    let points = floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    let data = tiny_gltf::compress(&points, 12);
    let mut good = TinyGltf::character();
    compressed(&mut good, &data, |_| {});
    gltf::read_bytes(&good.glb(), Path::new("a.glb")).expect("the unbroken one");

    let at = "bufferViews[0].extensions.EXT_meshopt_compression";
    for (member, value, location) in [
        ("buffer", json!(1), format!("{at}.buffer")),
        ("byteLength", json!(1e9), format!("{at}.byteLength")),
        ("byteStride", json!(10), at.to_owned()),
        (
            "byteStride",
            json!(16),
            "bufferViews[0].byteLength".to_owned(),
        ),
        ("count", json!(0), at.to_owned()),
        ("count", json!(u64::MAX), at.to_owned()),
        ("count", json!(4), "bufferViews[0].byteLength".to_owned()),
        ("mode", json!("LINES"), format!("{at}.mode")),
        ("filter", json!("BLUR"), format!("{at}.filter")),
        ("filter", json!("QUATERNION"), at.to_owned()),
        ("byteLength", json!(data.len() - 1), at.to_owned()),
    ] {
        broken(
            |t| compressed(t, &data, |e| e[member] = value),
            &location,
            "",
        );
    }
    for member in ["buffer", "byteLength", "byteStride", "count", "mode"] {
        broken(
            |t| compressed(t, &data, |e| _ = e.as_object_mut().unwrap().remove(member)),
            &format!("{at}.{member}"),
            "nothing",
        );
    }
    // A gigabyte out of nothing.
    broken(
        |t| {
            compressed(t, &data, |e| e["count"] = json!(100_000_000));
            t.set("/bufferViews/0/byteLength", json!(1_200_000_000));
        },
        at,
        "unpacks to at most",
    );
    // A buffer that only stands for one.
    broken(
        |t| {
            let fallback = json!({ "EXT_meshopt_compression": { "fallback": true } });
            let buffer = t.push(
                "buffers",
                json!({ "byteLength": 36, "extensions": fallback }),
            );
            t.set(
                "/bufferViews/0",
                json!({ "buffer": buffer, "byteLength": 36 }),
            );
        },
        "bufferViews[0].buffer",
        "placeholder",
    );
}

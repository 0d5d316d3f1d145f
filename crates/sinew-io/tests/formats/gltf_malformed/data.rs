//! Buffers, buffer views and accessors.

use serde_json::{Value, json};

use super::{broken, removed, replaced};
use common::tiny_gltf::accessor;

/// `/accessors/N/...` and `accessors[N]...`.
fn places(accessor: usize, member: &str) -> (String, String) {
    (
        format!("/accessors/{accessor}/{member}"),
        format!("accessors[{accessor}].{}", member.replace('/', ".")),
    )
}

#[track_caller]
fn accessor_replaced(accessor: usize, member: &str, value: Value, word: &str) {
    let (pointer, location) = places(accessor, member);
    replaced(&pointer, value, &location, word);
}

#[test]
fn buffers_and_views() {
    removed("/buffers/0/byteLength", "buffers[0].byteLength");
    replaced(
        "/buffers/0/byteLength",
        json!(1u64 << 40),
        "buffers[0].byteLength",
        "at most",
    );
    replaced(
        "/buffers/0/byteLength",
        json!(-4),
        "buffers[0].byteLength",
        "whole",
    );
    replaced(
        "/buffers/0/byteLength",
        json!(8),
        "bufferViews[11].byteLength",
        "at most 0 bytes",
    );
    for uri in [
        "missing.bin",
        "http://example.org/a.bin",
        "/etc/passwd",
        "file:///etc/passwd",
        "data:application/octet-stream;base64,####",
        "data:nothing",
        "..",
        "",
    ] {
        replaced("/buffers/0/uri", json!(uri), "buffers[0].uri", "found");
    }
    replaced("/buffers/0/uri", json!(3), "buffers[0].uri", "a string");
    replaced(
        "/buffers/0/uri",
        json!("data:,abc"),
        "buffers[0].byteLength",
        "at most the 3",
    );
    broken(
        |t| _ = t.push("buffers", json!({ "byteLength": 4 })),
        "buffers[1].uri",
        "neither",
    );

    removed("/bufferViews/0/buffer", "bufferViews[0].buffer");
    removed("/bufferViews/0/byteLength", "bufferViews[0].byteLength");
    replaced(
        "/bufferViews/0/buffer",
        json!(1),
        "bufferViews[0].buffer",
        "below 1",
    );
    replaced(
        "/bufferViews/0/byteOffset",
        json!(u64::MAX),
        "bufferViews[0].byteLength",
        "",
    );
    replaced(
        "/bufferViews/0/byteLength",
        json!(1e15),
        "bufferViews[0].byteLength",
        "at most",
    );
    replaced(
        "/bufferViews/0/byteLength",
        json!(u64::MAX),
        "bufferViews[0].byteLength",
        "at most",
    );
    replaced(
        "/bufferViews/0/byteStride",
        json!(0),
        "bufferViews[0].byteStride",
        "4 to 252",
    );
    replaced(
        "/bufferViews/0/byteStride",
        json!(8),
        "bufferViews[0].byteStride",
        "at least the 12",
    );
}

#[test]
fn accessors() {
    use accessor::*;
    accessor_replaced(POSITION, "bufferView", json!(99), "below");
    accessor_replaced(POSITION, "componentType", json!(5124), "5126");
    accessor_replaced(POSITION, "type", json!("VEC5"), "'VEC5'");
    accessor_replaced(POSITION, "count", json!(0), "at least 1");
    accessor_replaced(POSITION, "count", json!(4), "at most the 3 elements");
    accessor_replaced(POSITION, "count", json!(4e9), "at most the 3 elements");
    accessor_replaced(POSITION, "count", json!(u64::MAX), "at most the 3 elements");
    accessor_replaced(POSITION, "count", json!(2.5), "whole number");
    accessor_replaced(POSITION, "normalized", json!(1), "true or false");
    replaced(
        "/accessors/0/byteOffset",
        json!(u64::MAX),
        "accessors[0].count",
        "0 elements",
    );
    replaced(
        "/accessors/0/byteOffset",
        json!(4),
        "accessors[0].count",
        "2 elements",
    );
    removed("/accessors/0/componentType", "accessors[0].componentType");
    removed("/accessors/0/type", "accessors[0].type");
    removed("/accessors/0/count", "accessors[0].count");
    // Zeros that are nowhere in the file.
    broken(
        |t| {
            t.remove("/accessors/0/bufferView");
            t.set("/accessors/0/count", json!(4_000_000_000u32));
        },
        "accessors[0]",
        "unpacks to at most",
    );
    // The same bytes over and over.
    broken(
        |t| {
            t.accessor(5121, "VEC3", 20_000, &vec![0; 60_000]);
            let primitive = json!({ "attributes": { "POSITION": MORPH_WEIGHTS + 1 } });
            for _ in 0..1000 {
                t.push("meshes", json!({ "primitives": [primitive] }));
            }
        },
        "accessors[15]",
        "unpacks to at most",
    );
    for (bits, name) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        broken(
            |t| t.bin[4..8].copy_from_slice(&bits.to_le_bytes()),
            "accessors[0]",
            name,
        );
    }
}

#[test]
fn sparse_accessors() {
    let at = "accessors[9].sparse";
    let pointer = "/accessors/9/sparse";
    for (member, value, location) in [
        ("count", json!(0), "count"),
        ("count", json!(4), "count"),
        ("count", json!(3), "count"),
        ("indices/bufferView", json!(99), "indices.bufferView"),
        (
            "indices/componentType",
            json!(5126),
            "indices.componentType",
        ),
        ("indices/byteOffset", json!(1), "count"),
        ("values/bufferView", json!(99), "values.bufferView"),
        ("values/byteOffset", json!(1), "count"),
    ] {
        let location = format!("{at}.{location}");
        replaced(&format!("{pointer}/{member}"), value, &location, "");
    }
    removed("/accessors/9/sparse/indices", "accessors[9].sparse.indices");
    removed("/accessors/9/sparse/values", "accessors[9].sparse.values");
    for bytes in [[2, 1], [1, 1], [1, 3]] {
        broken(
            |t| {
                let view = t.view(&bytes);
                t.set("/accessors/9/sparse/indices/bufferView", json!(view));
            },
            "accessors[9].sparse.indices",
            "increase and are below 3",
        );
    }
    broken(
        |t| _ = t.set("/accessors/9/count", json!(u32::MAX)),
        "meshes[0].primitives[0].targets[1].POSITION",
        "3 elements",
    );
}

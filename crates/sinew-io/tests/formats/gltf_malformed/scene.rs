//! Nodes, skins, meshes, animations and materials.

use serde_json::{Value, json};

use super::{broken, removed, replaced};
use common::tiny_gltf::{accessor, shorts};

const ATTRIBUTES: &str = "/meshes/0/primitives/0/attributes";

fn attribute(name: &str) -> String {
    format!("meshes[0].primitives[0].attributes.{name}")
}

#[test]
fn nodes_and_scenes() {
    replaced("/scene", json!(1), "scene", "below 1");
    replaced(
        "/scenes/0/nodes",
        json!([9]),
        "scenes[0].nodes[0]",
        "below 4",
    );
    replaced(
        "/scenes/0/nodes",
        json!([0, 0]),
        "scenes[0].nodes[1]",
        "twice",
    );
    replaced(
        "/scenes/0/nodes",
        json!([3]),
        "scenes[0].nodes[0]",
        "without a parent",
    );
    replaced(
        "/nodes/0/children",
        json!([1, 4]),
        "nodes[0].children[1]",
        "below 4",
    );
    replaced(
        "/nodes/0/children",
        json!(["1"]),
        "nodes[0].children[0]",
        "'1'",
    );
    replaced(
        "/nodes/0/children",
        json!([1, 2, 3]),
        "nodes[1].children[0]",
        "one parent",
    );
    replaced(
        "/nodes/0/children",
        json!([1, 1]),
        "nodes[0].children[1]",
        "one parent",
    );
    replaced(
        "/nodes/3/children",
        json!([0]),
        "nodes[0].children",
        "below itself",
    );
    replaced(
        "/nodes/3/children",
        json!([3]),
        "nodes[3].children[0]",
        "one parent",
    );
    replaced(
        "/nodes/0/children",
        json!([0, 1, 2]),
        "nodes[0].children",
        "below itself",
    );
    replaced("/nodes/2/mesh", json!(1), "nodes[2].mesh", "below 1");
    replaced("/nodes/2/skin", json!(7), "nodes[2].skin", "below 1");
    replaced(
        "/nodes/2/weights",
        json!([1]),
        "nodes[2].weights",
        "2 weights",
    );
    replaced(
        "/nodes/1/rotation",
        json!([0, 0, 0, 0]),
        "nodes[1].rotation",
        "length 0",
    );
    replaced(
        "/nodes/1/rotation",
        json!([0, 0, 1]),
        "nodes[1].rotation",
        "4 numbers",
    );
    replaced(
        "/nodes/1/translation",
        json!([0, 0, 1e300]),
        "nodes[1].translation",
        "f32",
    );
    replaced(
        "/nodes/1/scale",
        json!([1, "1", 1]),
        "nodes[1].scale[1]",
        "number",
    );
    replaced("/nodes/1/name", json!(7), "nodes[1].name", "string");
    replaced(
        "/nodes/0/matrix",
        json!(vec![0; 16]),
        "nodes[0].matrix",
        "last row",
    );
    let identity = json!([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    replaced("/nodes/1/matrix", identity, "nodes[1].rotation", "both");
    // A long chain whose end leads back to its start: no recursion.
    broken(
        |t| {
            for i in 4..100_000 {
                t.push("nodes", json!({ "children": [i + 1] }));
            }
            t.push("nodes", json!({ "children": [4] }));
        },
        "nodes[4].children",
        "below itself",
    );
}

#[test]
fn skins() {
    use accessor::*;
    replaced(
        "/skins/0/joints",
        json!([]),
        "skins[0].joints",
        "at least one",
    );
    replaced(
        "/skins/0/joints",
        json!([1, 9]),
        "skins[0].joints[1]",
        "below 4",
    );
    replaced(
        "/skins/0/joints",
        json!([1, 1]),
        "skins[0].joints[1]",
        "twice",
    );
    removed("/skins/0/joints", "skins[0].joints");
    replaced(
        "/skins/0/joints",
        json!([1]),
        &attribute("JOINTS_0"),
        "joint indices below 1",
    );
    replaced(
        "/skins/0/joints",
        json!([0, 1, 3]),
        "skins[0].inverseBindMatrices",
        "3 joints",
    );
    replaced(
        "/skins/0/skeleton",
        json!(4),
        "skins[0].skeleton",
        "below 4",
    );
    replaced(
        "/skins/0/inverseBindMatrices",
        json!(99),
        "skins[0].inverseBindMatrices",
        "",
    );
    replaced(
        "/skins/0/inverseBindMatrices",
        json!(POSITION),
        "skins[0].inverseBindMatrices",
        "MAT4",
    );
    broken(
        |t| {
            let zeros = t.float_accessor("MAT4", &[0.0; 32]);
            t.set("/skins/0/inverseBindMatrices", json!(zeros));
        },
        "skins[0].inverseBindMatrices",
        "last row",
    );
}

#[test]
fn meshes() {
    use accessor::*;
    let at = |name: &str| format!("meshes[0].primitives[0].{name}");
    replaced(
        "/meshes/0/primitives",
        json!([]),
        "meshes[0].primitives",
        "at least one",
    );
    removed("/meshes/0/primitives", "meshes[0].primitives");
    removed(ATTRIBUTES, &at("attributes"));
    replaced(
        "/meshes/0/primitives/0/mode",
        json!(7),
        &at("mode"),
        "0 to 6",
    );
    replaced(
        "/meshes/0/primitives/0/material",
        json!(1),
        &at("material"),
        "below 1",
    );
    replaced(
        "/meshes/0/primitives/0/indices",
        json!(99),
        &at("indices"),
        "below 15",
    );
    replaced(
        "/meshes/0/primitives/0/indices",
        json!(WEIGHTS),
        &at("indices"),
        "SCALAR",
    );
    replaced(
        "/meshes/0/weights",
        json!([1]),
        "meshes[0].weights",
        "2 weights",
    );
    replaced(
        "/meshes/0/weights",
        json!([1, null]),
        "meshes[0].weights[1]",
        "number",
    );
    broken(
        |t| {
            let high = t.accessor(5123, "SCALAR", 3, &shorts(&[0, 1, 3]));
            t.set("/meshes/0/primitives/0/indices", json!(high));
        },
        &at("indices"),
        "points below 3",
    );
    for (name, wrong) in [
        ("POSITION", TEXCOORD),
        ("NORMAL", TANGENT),
        ("TANGENT", NORMAL),
        ("TEXCOORD_0", POSITION),
        ("COLOR_0", TEXCOORD),
        ("JOINTS_0", WEIGHTS),
        ("WEIGHTS_0", JOINTS),
        ("POSITION", 99),
    ] {
        let pointer = format!("{ATTRIBUTES}/{name}");
        replaced(&pointer, json!(wrong), &attribute(name), "");
    }
    // Too few elements for the points.
    for name in [
        "NORMAL",
        "TANGENT",
        "TEXCOORD_0",
        "COLOR_0",
        "JOINTS_0",
        "WEIGHTS_0",
    ] {
        broken(
            |t| {
                let number = t.json.pointer(&format!("{ATTRIBUTES}/{name}")).unwrap();
                let pointer = format!("/accessors/{number}/count");
                t.set(&pointer, json!(2));
            },
            &attribute(name),
            "3 elements, one per point",
        );
    }
    removed(&format!("{ATTRIBUTES}/JOINTS_0"), &attribute("JOINTS_0"));
    removed(&format!("{ATTRIBUTES}/WEIGHTS_0"), &attribute("WEIGHTS_0"));
    // Integers that are not marked as normalised.
    broken(
        |t| {
            let bytes = t.accessor(5121, "VEC4", 3, &[255; 12]);
            t.set(&format!("{ATTRIBUTES}/WEIGHTS_0"), json!(bytes));
        },
        &attribute("WEIGHTS_0"),
        "normalized",
    );
    broken(
        |t| {
            let words = t.accessor(5125, "VEC3", 3, &[0; 36]);
            t.set(&format!("{ATTRIBUTES}/POSITION"), json!(words));
        },
        &attribute("POSITION"),
        "UNSIGNED_INT",
    );
    replaced(
        "/meshes/0/primitives/0/targets",
        json!([{ "POSITION": TEXCOORD }, {}]),
        &at("targets[0].POSITION"),
        "VEC3",
    );
    broken(
        |t| {
            let mut second = t.json["meshes"][0]["primitives"][0].clone();
            second["targets"] = json!([]);
            let primitives = t.json["meshes"][0]["primitives"].as_array_mut().unwrap();
            primitives.push(second);
        },
        "meshes[0].primitives[1].targets",
        "2 morph targets",
    );
}

#[test]
fn animations() {
    use accessor::*;
    let channel = "animations[0].channels[0]";
    let pointer = "/animations/0/channels/0";
    let with = |member: &str| {
        (
            format!("{pointer}/{member}"),
            format!("{channel}.{}", member.replace('/', ".")),
        )
    };
    for (member, value, word) in [
        ("sampler", json!(3), "below 3"),
        ("target/node", json!(4), "below 4"),
        ("target/path", json!("shear"), "'shear'"),
        ("target/path", json!(1), "string"),
    ] {
        let (pointer, location) = with(member);
        replaced(&pointer, value, &location, word);
    }
    removed(
        "/animations/0/channels/0/sampler",
        "animations[0].channels[0].sampler",
    );
    removed(
        "/animations/0/channels/0/target",
        "animations[0].channels[0].target",
    );
    removed(
        "/animations/0/channels/0/target/path",
        "animations[0].channels[0].target.path",
    );
    replaced(
        "/animations/0/channels/1/target",
        json!({ "node": 3, "path": "translation" }),
        "animations[0].channels[1].target",
        "each target once",
    );
    let sampler = "animations[0].samplers[0]";
    for (member, value, word) in [
        ("input", json!(99), "below 15"),
        ("input", json!(TRANSLATION), "SCALAR"),
        ("output", json!(ROTATION), "VEC3"),
        ("output", json!(POSITION), "2 elements"),
        ("interpolation", json!("CUBIC"), "'CUBIC'"),
        ("interpolation", json!("CUBICSPLINE"), "6 elements"),
    ] {
        let location = match member {
            "interpolation" if value == "CUBICSPLINE" => format!("{sampler}.output"),
            member => format!("{sampler}.{member}"),
        };
        replaced(
            &format!("/animations/0/samplers/0/{member}"),
            value,
            &location,
            word,
        );
    }
    replaced(
        "/animations/0/samplers/2/output",
        json!(TIMES),
        "animations[0].samplers[2].output",
        "4 elements",
    );
    for times in [[1.0, 0.5], [0.5, 0.5]] {
        broken(
            |t| {
                let times = t.float_accessor("SCALAR", &times);
                t.set("/animations/0/samplers/0/input", json!(times));
            },
            "animations[0].samplers[0].input",
            "increase",
        );
    }
    broken(
        |t| {
            let times = t.float_accessor("SCALAR", &[0.0, f32::NAN]);
            t.set("/animations/0/samplers/0/input", json!(times));
        },
        "accessors[15]",
        "NaN",
    );
    broken(
        |t| {
            let zeros = t.float_accessor("VEC4", &[0.0; 8]);
            t.set("/animations/0/samplers/1/output", json!(zeros));
            t.set("/animations/0/samplers/1/interpolation", json!("STEP"));
        },
        "animations[0].samplers[1].output",
        "length 0 as element 0",
    );
    // Pointers and bones.
    let at = "animations[0].channels[0].target";
    let target = |value: Value, location: &str, word: &str| {
        let location = format!("{at}.{location}");
        broken(
            |t| {
                t.set("/animations/0/channels/0/target", value);
                t.json["extensionsUsed"] = json!(["EXT_skeleton_humanoid"]);
            },
            &location,
            word,
        );
    };
    target(
        json!({ "path": "pointer" }),
        "extensions.KHR_animation_pointer",
        "nothing",
    );
    for (text, word) in [
        ("/nodes/4/translation", "a node below 4"),
        ("/nodes/x/scale", "'/nodes/x/scale'"),
        ("/meshes/1/weights", "a mesh below 1"),
    ] {
        target(
            json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": text } } }),
            "extensions.KHR_animation_pointer.pointer",
            word,
        );
    }
    for (extension, location, word) in [
        (json!({}), ".humanoidBoneName", "nothing"),
        (
            json!({ "humanoidBoneName": "tail" }),
            ".humanoidBoneName",
            "'tail'",
        ),
    ] {
        target(
            json!({ "path": "translation", "extensions": { "EXT_skeleton_humanoid": extension } }),
            &format!("extensions.EXT_skeleton_humanoid{location}"),
            word,
        );
    }
    target(
        json!({ "path": "weights", "extensions": { "EXT_skeleton_humanoid": { "humanoidBoneName": "hips" } } }),
        "path",
        "rotation, translation or scale",
    );
}

#[test]
fn materials_and_textures() {
    let pbr = "/materials/0/pbrMetallicRoughness";
    let at = "materials[0].pbrMetallicRoughness";
    replaced(
        &format!("{pbr}/baseColorFactor"),
        json!([1, 1, 1]),
        &format!("{at}.baseColorFactor"),
        "4 numbers",
    );
    replaced(
        &format!("{pbr}/baseColorTexture"),
        json!({}),
        &format!("{at}.baseColorTexture.index"),
        "nothing",
    );
    replaced(
        &format!("{pbr}/baseColorTexture/index"),
        json!(1),
        &format!("{at}.baseColorTexture.index"),
        "below 1",
    );
    replaced(
        &format!("{pbr}/metallicFactor"),
        json!("x"),
        &format!("{at}.metallicFactor"),
        "number",
    );
    replaced(
        "/materials/0/alphaMode",
        json!("GLASS"),
        "materials[0].alphaMode",
        "'GLASS'",
    );
    replaced(
        "/textures/0/source",
        json!(1),
        "textures[0].source",
        "below 1",
    );
    replaced(
        "/textures/0/sampler",
        json!(1),
        "textures[0].sampler",
        "below 1",
    );
    replaced("/samplers/0/wrapS", json!(1), "samplers[0].wrapS", "33071");
    replaced(
        "/images/0/bufferView",
        json!(99),
        "images[0].bufferView",
        "below",
    );
    removed("/images/0/bufferView", "images[0].uri");
}

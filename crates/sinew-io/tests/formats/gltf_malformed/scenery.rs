//! Cameras, lights, scenes, instances and layered materials.

use common::scenery::scenery;
use serde_json::{Value, json};

use super::refused;

/// One value of the scenery replaced; the error is at the location and says the word.
#[track_caller]
fn replaced(pointer: &str, value: Value, location: &str, word: &str) {
    let mut file = scenery();
    file.set(pointer, value);
    let error = refused(&file.glb());
    assert_eq!(error.prim, location, "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

#[test]
fn cameras() {
    let perspective = "/cameras/0/perspective";
    let at = |key: &str| format!("{perspective}/{key}");
    let here = "cameras[0].perspective";
    replaced(
        "/cameras/0/type",
        json!("round"),
        "cameras[0].type",
        "orthographic",
    );
    replaced(perspective, Value::Null, here, "nothing");
    replaced(&at("yfov"), json!(3.2), &format!("{here}.yfov"), "below pi");
    replaced(
        &at("aspectRatio"),
        json!(0),
        &format!("{here}.aspectRatio"),
        "above 0",
    );
    replaced(&at("znear"), json!(0), &format!("{here}.znear"), "above 0");
    replaced(
        &at("zfar"),
        json!(0.05),
        &format!("{here}.zfar"),
        "above znear",
    );
    replaced(
        &at("zfar"),
        json!(1e300),
        &format!("{here}.zfar"),
        "above znear",
    );
    let here = "cameras[1].orthographic";
    replaced(
        "/cameras/1/orthographic/xmag",
        json!(0),
        &format!("{here}.xmag"),
        "other than 0",
    );
    replaced(
        "/cameras/1/orthographic/znear",
        json!(-1),
        &format!("{here}.znear"),
        "from 0 up",
    );
    replaced(
        "/cameras/1/orthographic/zfar",
        Value::Null,
        &format!("{here}.zfar"),
        "nothing",
    );
    replaced("/nodes/5/camera", json!(2), "nodes[5].camera", "below 2");
}

#[test]
fn lights() {
    let lights = "/extensions/KHR_lights_punctual/lights";
    let here = "extensions.KHR_lights_punctual.lights";
    for (key, value, word) in [
        ("0/type", json!("area"), "directional, point or spot"),
        ("0/color", json!([1, 2]), "3 numbers"),
        ("1/intensity", json!(-1), "from 0 up"),
        ("1/range", json!(0), "above 0"),
        ("2/spot", Value::Null, "nothing"),
    ] {
        let (index, member) = key.split_once('/').unwrap();
        let location = format!("{here}[{index}].{member}");
        replaced(&format!("{lights}/{key}"), value, &location, word);
    }
    replaced(
        &format!("{lights}/0/color"),
        json!([1, -1, 0]),
        &format!("{here}[0].color[1]"),
        "from 0 up",
    );
    let spot = format!("{lights}/2/spot");
    let location = format!("{here}[2].spot");
    replaced(
        &format!("{spot}/innerConeAngle"),
        json!(0.4),
        &format!("{location}.innerConeAngle"),
        "below outerConeAngle",
    );
    replaced(
        &format!("{spot}/outerConeAngle"),
        json!(2),
        &format!("{location}.outerConeAngle"),
        "pi / 2",
    );
    let node = "nodes[6].extensions.KHR_lights_punctual.light";
    replaced(
        "/nodes/6/extensions/KHR_lights_punctual/light",
        json!(3),
        node,
        "below 3",
    );
    replaced(
        "/nodes/6/extensions/KHR_lights_punctual",
        json!({}),
        node,
        "nothing",
    );
}

#[test]
fn scenes_and_instances() {
    replaced(
        "/scenes/1/nodes",
        json!([3]),
        "scenes[1].nodes[0]",
        "without a parent",
    );
    replaced(
        "/scenes/1/nodes",
        json!([12, 12]),
        "scenes[1].nodes[1]",
        "twice",
    );
    replaced("/scene", json!(2), "scene", "below 2");
    let attributes = "/nodes/10/extensions/EXT_mesh_gpu_instancing/attributes";
    let here = "nodes[10].extensions.EXT_mesh_gpu_instancing";
    replaced(
        attributes,
        Value::Null,
        &format!("{here}.attributes"),
        "nothing",
    );
    replaced(
        &format!("{attributes}/TRANSLATION"),
        json!(common::tiny_gltf::accessor::POSITION),
        &format!("{here}.attributes.TRANSLATION"),
        "one per instance",
    );
    replaced(
        "/nodes/11/extensions/KHR_node_visibility/visible",
        json!(1),
        "nodes[11].extensions.KHR_node_visibility.visible",
        "true or false",
    );
}

#[test]
fn variants() {
    let mapping = "/meshes/2/primitives/0/extensions/KHR_materials_variants/mappings/0";
    let here = "meshes[2].primitives[0].extensions.KHR_materials_variants.mappings[0]";
    let variants = format!("{mapping}/variants");
    replaced(
        &variants,
        json!([2]),
        &format!("{here}.variants[0]"),
        "below 2",
    );
    replaced(
        &variants,
        json!([1, 1]),
        &format!("{here}.variants[1]"),
        "twice",
    );
    let material = format!("{mapping}/material");
    replaced(&material, json!(3), &format!("{here}.material"), "below 3");
}

#[test]
fn materials() {
    let here = "materials[1].extensions";
    let at = "/materials/1/extensions";
    replaced(
        &format!("{at}/KHR_materials_ior/ior"),
        json!(0.5),
        &format!("{here}.KHR_materials_ior.ior"),
        "from 1 up",
    );
    replaced(
        &format!("{at}/KHR_materials_clearcoat/clearcoatFactor"),
        json!("much"),
        &format!("{here}.KHR_materials_clearcoat.clearcoatFactor"),
        "a number",
    );
    replaced(
        "/materials/2/extensions/KHR_materials_specular/specularColorFactor",
        json!([1, -1, 1]),
        "materials[2].extensions.KHR_materials_specular.specularColorFactor",
        "from 0 up",
    );
}

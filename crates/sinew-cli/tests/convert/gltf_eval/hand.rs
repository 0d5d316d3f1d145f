//! The evaluator against cases computed by hand.

use std::f64::consts::FRAC_1_SQRT_2;

use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use common::gltf_eval::{Document, clip, file};
use common::tolerance;
use common::trials::Trial;

type Outcome = Result<(), Failed>;
type Case = (&'static str, fn() -> Outcome);

pub fn trials() -> Vec<Trial> {
    let all: [Case; 15] = [
        ("base64", base64),
        ("slerp_goes_the_short_way", slerp),
        ("linear_and_its_ends", linear),
        ("step_holds", step),
        ("cubic_spline_is_hermite", cubic),
        ("cubic_spline_normalises_rotations", cubic_rotation),
        ("rotation_about_z", rotation),
        ("parents_scale_and_turn_children", hierarchy),
        ("a_skin_ignores_its_mesh_node", skin),
        ("all_joint_sets_count", joint_sets),
        ("weights_are_divided_by_their_sum", loose_weights),
        ("integers_are_normalised", normalised),
        ("sparse_and_strided_accessors", sparse),
        ("node_weights_override_mesh_weights", morph),
        ("pointer_channels", pointer),
    ];
    all.map(|(name, run)| Trial::test(format!("evaluator::{name}"), run))
        .into()
}

/// A file of JSON and one buffer of parts, each a bufferView of its own.
fn document(mut json: Value, parts: &[Vec<u8>]) -> Document {
    let folder = tempfile::tempdir().expect("a folder");
    let mut views = Vec::new();
    let mut start = 0;
    for (i, part) in parts.iter().enumerate() {
        let mut view = json!({"buffer": 0, "byteOffset": start, "byteLength": part.len()});
        if let Some(stride) = json["strides"][i.to_string()].as_u64() {
            view["byteStride"] = stride.into();
        }
        views.push(view);
        start += part.len();
    }
    json["bufferViews"] = views.into();
    json["buffers"] = json!([{"uri": "a%20buffer.bin", "byteLength": start}]);
    std::fs::write(folder.path().join("a buffer.bin"), parts.concat()).expect("written");
    let path = folder.path().join("x.gltf");
    std::fs::write(&path, json.to_string()).expect("written");
    Document::open(&path)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn accessor(view: usize, kind: &str, component: u32, count: usize) -> Value {
    json!({"bufferView": view, "type": kind, "componentType": component, "count": count})
}

/// One node whose property has keys at 1 s and 3 s; view 0 is one point at (1, 0, 0).
fn animated(path: &str, kind: &str, interpolation: &str, values: &[f32]) -> Document {
    let width = if kind == "VEC4" { 4 } else { 3 };
    document(
        json!({
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [accessor(0, "VEC3", 5126, 1), accessor(1, "SCALAR", 5126, 2),
                accessor(2, kind, 5126, values.len() / width)],
            "animations": [{
                "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}],
                "samplers": [{"input": 1, "output": 2, "interpolation": interpolation}],
            }],
        }),
        &[
            floats(&[1.0, 0.0, 0.0]),
            floats(&[1.0, 3.0]),
            floats(values),
        ],
    )
}

/// The only point at a time of the first clip.
fn point(document: &Document, time: f64) -> DVec3 {
    document.surfaces(&[&document.clips[0]], time)[0].points[0]
}

fn near(got: DVec3, want: [f64; 3]) {
    let want = DVec3::from(want);
    assert!(
        (got - want).length() < tolerance::GLTF_BY_HAND,
        "{got}, expected {want}"
    );
}

fn base64() -> Outcome {
    assert_eq!(file::base64("AQIDBA=="), [1, 2, 3, 4]);
    assert_eq!(file::base64("+/8A"), [0xfb, 0xff, 0]);
    Ok(())
}

fn slerp() -> Outcome {
    let quarter = [0.0, 0.0, FRAC_1_SQRT_2, FRAC_1_SQRT_2];
    let eighth = (std::f64::consts::PI / 8.0).sin_cos();
    for b in [quarter, quarter.map(|c| -c)] {
        let half = clip::slerp(&[0.0, 0.0, 0.0, 1.0], &b, 0.5);
        assert!(
            (half[2] - eighth.0).abs() < tolerance::STEPS_IN_F64
                && (half[3] - eighth.1).abs() < tolerance::STEPS_IN_F64,
            "{half:?}"
        );
    }
    let same = clip::slerp(&quarter, &quarter, 0.3);
    assert!((same[2] - FRAC_1_SQRT_2).abs() < tolerance::STEPS_IN_F64);
    Ok(())
}

fn linear() -> Outcome {
    let document = animated("translation", "VEC3", "LINEAR", &[0., 0., 0., 4., 8., 0.]);
    near(point(&document, -1.0), [1.0, 0.0, 0.0]);
    near(point(&document, 1.0), [1.0, 0.0, 0.0]);
    near(point(&document, 1.5), [2.0, 2.0, 0.0]);
    near(point(&document, 3.0), [5.0, 8.0, 0.0]);
    near(point(&document, 99.0), [5.0, 8.0, 0.0]);
    assert_eq!(document.clips[0].key_times(), [1.0, 3.0]);
    Ok(())
}

fn step() -> Outcome {
    let document = animated("scale", "VEC3", "STEP", &[2., 1., 1., 4., 8., 0.]);
    near(point(&document, 2.999_999), [2.0, 0.0, 0.0]);
    near(point(&document, 3.0), [4.0, 0.0, 0.0]);
    Ok(())
}

fn cubic() -> Outcome {
    // x = t^2: 1 at 1 s with a slope of 2 a second, 9 at 3 s with 6; the unused tangents are 99.
    let keys = [
        99., 0., 0., 1., 0., 0., 2., 0., 0., 6., 0., 0., 9., 0., 0., 99., 0., 0.,
    ];
    let document = animated("translation", "VEC3", "CUBICSPLINE", &keys);
    for t in [1.0, 1.25, 2.0, 2.75, 3.0] {
        near(point(&document, t), [1.0 + t * t, 0.0, 0.0]);
    }
    near(point(&document, 0.0), [2.0, 0.0, 0.0]);
    near(point(&document, 4.0), [10.0, 0.0, 0.0]);
    Ok(())
}

fn cubic_rotation() -> Outcome {
    // Without tangents, half way is the mean of no turn and half a turn about z: a quarter turn once normalised.
    let zero = [0.0f32; 4];
    let keys = [zero, [0., 0., 0., 1.], zero, zero, [0., 0., 1., 0.], zero].concat();
    let document = animated("rotation", "VEC4", "CUBICSPLINE", &keys);
    near(point(&document, 2.0), [0.0, 1.0, 0.0]);
    Ok(())
}

fn rotation() -> Outcome {
    let half = FRAC_1_SQRT_2 as f32;
    let keys = [0., 0., 0., 1., 0., 0., -half, -half];
    let document = animated("rotation", "VEC4", "LINEAR", &keys);
    near(point(&document, 3.0), [0.0, 1.0, 0.0]);
    near(point(&document, 2.0), [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0]);
    Ok(())
}

fn hierarchy() -> Outcome {
    let document = document(
        json!({
            "scene": 0,
            "scenes": [{"nodes": [2]}],
            "nodes": [
                {"mesh": 0, "translation": [1, 0, 0]},
                {"mesh": 0},
                {"children": [3], "scale": [2, 2, 2]},
                // Columns: x to y, y to -x, and 5 along z.
                {"children": [0], "matrix": [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]},
            ],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 0}}]}],
            "accessors": [accessor(0, "VEC3", 5126, 1)],
        }),
        &[floats(&[1.0, 0.0, 0.0])],
    );
    let surfaces = document.surfaces(&[], 0.0);
    assert_eq!(surfaces.len(), 1, "node 1 is in no scene");
    near(surfaces[0].points[0], [0.0, 4.0, 10.0]);
    near(surfaces[0].normals[0], [0.0, 1.0, 0.0]);
    Ok(())
}

/// Two joints, the second moved by 10 along y and, seen from the mesh, 1 lower; the mesh's node is far away.
fn skinned(attributes: Value, accessors: &[Value], parts: &[Vec<u8>]) -> Document {
    let mut inverse_bind = Vec::new();
    for lower in [0.0, 1.0] {
        inverse_bind.extend([
            1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., -lower, 0., 1.,
        ]);
    }
    let mut all_attributes = attributes;
    all_attributes["POSITION"] = 0.into();
    let mut all_accessors = vec![accessor(0, "VEC3", 5126, 1), accessor(1, "MAT4", 5126, 2)];
    all_accessors.extend_from_slice(accessors);
    let mut all_parts = vec![floats(&[1.0, 0.0, 0.0]), floats(&inverse_bind)];
    all_parts.extend_from_slice(parts);
    document(
        json!({
            "nodes": [{"mesh": 0, "skin": 0, "translation": [100, 100, 100]}, {}, {"translation": [0, 10, 0]}],
            "skins": [{"joints": [1, 2], "inverseBindMatrices": 1}],
            "meshes": [{"primitives": [{"attributes": all_attributes}]}],
            "accessors": all_accessors,
        }),
        &all_parts,
    )
}

fn skin() -> Outcome {
    let document = skinned(
        json!({"JOINTS_0": 2, "WEIGHTS_0": 3}),
        &[accessor(2, "VEC4", 5121, 1), accessor(3, "VEC4", 5126, 1)],
        &[vec![1, 0, 0, 0], floats(&[0.25, 0.75, 0.0, 0.0])],
    );
    // 0.25 * (1, 10 - 1, 0) + 0.75 * (1, 0, 0)
    near(document.surfaces(&[], 0.0)[0].points[0], [1.0, 2.25, 0.0]);
    Ok(())
}

fn joint_sets() -> Outcome {
    let document = skinned(
        json!({"JOINTS_0": 2, "WEIGHTS_0": 3, "JOINTS_1": 4, "WEIGHTS_1": 3}),
        &[
            accessor(2, "VEC4", 5121, 1),
            accessor(3, "VEC4", 5126, 1),
            accessor(4, "VEC4", 5123, 1),
        ],
        &[
            vec![0, 0, 0, 0],
            floats(&[0.5, 0.0, 0.0, 0.0]),
            vec![1, 0, 0, 0, 0, 0, 0, 0],
        ],
    );
    near(document.surfaces(&[], 0.0)[0].points[0], [1.0, 4.5, 0.0]);
    Ok(())
}

fn loose_weights() -> Outcome {
    let document = skinned(
        json!({"JOINTS_0": 2, "WEIGHTS_0": 3}),
        &[accessor(2, "VEC4", 5121, 1), accessor(3, "VEC4", 5126, 1)],
        &[vec![1, 0, 0, 0], floats(&[0.125, 0.375, 0.0, 0.0])],
    );
    near(document.surfaces(&[], 0.0)[0].points[0], [1.0, 2.25, 0.0]);
    Ok(())
}

fn normalised() -> Outcome {
    let mut weights = accessor(3, "VEC4", 5121, 1);
    weights["normalized"] = true.into();
    let document = skinned(
        json!({"JOINTS_0": 2, "WEIGHTS_0": 3}),
        &[accessor(2, "VEC4", 5121, 1), weights],
        &[vec![0, 1, 0, 0], vec![204, 51, 0, 0]],
    );
    near(
        document.surfaces(&[], 0.0)[0].points[0],
        [1.0, 0.2 * 9.0, 0.0],
    );
    Ok(())
}

fn sparse() -> Outcome {
    // Three points, of which the last two are given sparsely over nothing, and three over every other vector.
    let document = document(
        json!({
            "strides": {"2": 24},
            "nodes": [{"mesh": 0}, {"mesh": 1}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}, {"primitives": [{"attributes": {"POSITION": 1}}]}],
            "accessors": [
                {"type": "VEC3", "componentType": 5126, "count": 3, "sparse": {
                    "count": 2,
                    "indices": {"bufferView": 0, "componentType": 5121},
                    "values": {"bufferView": 1, "byteOffset": 4},
                }},
                {"bufferView": 2, "byteOffset": 12, "type": "VEC3", "componentType": 5126, "count": 2},
            ],
        }),
        &[
            vec![1, 2],
            floats(&[9., 1., 2., 3., 4., 5., 6.]),
            floats(&[9., 9., 9., 1., 2., 3., 9., 9., 9., 4., 5., 6.]),
        ],
    );
    let surfaces = document.surfaces(&[], 0.0);
    near(surfaces[0].points[0], [0.0; 3]);
    for [a, b] in [
        [surfaces[0].points[1], surfaces[0].points[2]],
        [surfaces[1].points[0], surfaces[1].points[1]],
    ] {
        near(a, [1.0, 2.0, 3.0]);
        near(b, [4.0, 5.0, 6.0]);
    }
    Ok(())
}

fn morph() -> Outcome {
    let document = document(
        json!({
            "nodes": [{"mesh": 0}, {"mesh": 0, "weights": [1, 0]}],
            "meshes": [{"weights": [0.5, 2], "primitives": [{
                "attributes": {"POSITION": 0, "NORMAL": 0},
                "targets": [{"POSITION": 1, "NORMAL": 1}, {"POSITION": 2}],
            }]}],
            "accessors": [accessor(0, "VEC3", 5126, 1), accessor(1, "VEC3", 5126, 1), accessor(2, "VEC3", 5126, 1)],
        }),
        &[
            floats(&[1., 0., 0.]),
            floats(&[0., 1., 0.]),
            floats(&[0., 0., 1.]),
        ],
    );
    let surfaces = document.surfaces(&[], 0.0);
    near(surfaces[0].points[0], [1.0, 0.5, 2.0]);
    near(
        surfaces[0].normals[0],
        [2.0 / 5f64.sqrt(), 1.0 / 5f64.sqrt(), 0.0],
    );
    near(surfaces[1].points[0], [1.0, 1.0, 0.0]);
    near(surfaces[1].normals[0], [FRAC_1_SQRT_2, FRAC_1_SQRT_2, 0.0]);
    Ok(())
}

fn pointer() -> Outcome {
    let document = document(
        json!({
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
            "accessors": [accessor(0, "VEC3", 5126, 1), accessor(1, "SCALAR", 5126, 1)],
            "animations": [{
                "channels": [
                    {"sampler": 0, "target": {"path": "pointer",
                        "extensions": {"KHR_animation_pointer": {"pointer": "/nodes/0/translation"}}}},
                    {"sampler": 0, "target": {"path": "pointer",
                        "extensions": {"KHR_animation_pointer": {"pointer": "/materials/0/alphaCutoff"}}}},
                ],
                "samplers": [{"input": 1, "output": 0}],
            }],
        }),
        &[floats(&[1.0, 0.0, 0.0]), floats(&[0.0])],
    );
    assert_eq!(document.clips[0].channels.len(), 1);
    near(point(&document, 0.0), [2.0, 0.0, 0.0]);
    Ok(())
}

//! What glTF files say is what the reader gives: accessors of every kind, and extensions.

use std::path::Path;

use common::document::Document;
use common::tolerance;
use glam::{DMat4, DQuat, DVec3, Mat3, Vec2, Vec3, Vec4};
use serde_json::{Value, json};
use sinew_animate::asset::{
    AlphaMode, Asset, CurveInterpolation, Keys, LocalTransform, Primitive, TrackTarget, Wrap,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

fn read(file: &Document) -> Asset {
    gltf::read_bytes(&file.glb(), Path::new("tiny.glb")).unwrap()
}

fn character() -> Document {
    Document::fixture("tiny.gltf")
}

fn codes(asset: &Asset) -> Vec<&'static str> {
    asset.warnings.iter().map(|w| w.code).collect()
}

/// The asset with a mesh of this primitive.
fn with_primitive(file: &mut Document, primitive: Value) -> Asset {
    let mesh = file.push("meshes", json!({ "primitives": [primitive] }));
    file.push("nodes", json!({ "mesh": mesh }));
    read(file)
}

fn primitive(file: &mut Document, primitive: Value) -> Primitive {
    let mut asset = with_primitive(file, primitive);
    // The points of some make no triangles.
    let known = codes(&asset)
        .iter()
        .all(|c| *c == "gltf-triangle-incomplete");
    assert!(known, "{:?}", asset.warnings);
    asset.meshes.remove(0).primitives.remove(0)
}

/// Points of an accessor.
fn points(file: &mut Document, accessor: usize) -> Vec<Vec3> {
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    primitive(file, json!({ "attributes": { "POSITION": accessor } })).points
}

#[test]
fn the_character() {
    let asset = read(&character());
    assert_eq!(asset.roots, [0]);
    let parents: Vec<_> = asset.nodes.iter().map(|n| n.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(1)]);
    assert_eq!(
        (asset.nodes[2].mesh, asset.nodes[2].skin),
        (Some(0), Some(0))
    );
    assert_eq!(asset.nodes[2].weights.as_deref(), Some(&[0.5, 0.0][..]));
    let two_up = DMat4::from_translation(DVec3::Y * 2.0);
    assert_eq!(asset.rest_world(3), two_up);
    assert_eq!(asset.skins[0].joints, [1, 3]);
    assert_eq!(asset.skins[0].inverse_bind[1], two_up.inverse());

    let mesh = &asset.meshes[0];
    assert_eq!(mesh.target_names, ["Up", "Side"]);
    assert_eq!(mesh.weights, [0.0, 0.25]);
    let p = &mesh.primitives[0];
    assert_eq!(p.points, [Vec3::ZERO, Vec3::X, Vec3::Y]);
    assert_eq!(p.normals, [Vec3::Z; 3]);
    assert_eq!(p.tangents[2], Vec4::new(1.0, 0.0, 0.0, -1.0));
    assert_eq!(p.uvs, [vec![Vec2::ZERO, Vec2::X, Vec2::Y]]);
    assert_eq!(p.colors[2], Vec4::new(0.0, 0.0, 0.2, 0.0));
    assert_eq!(p.influences, 4);
    // The third point's second influence weighs nothing; so does its joint.
    assert_eq!(p.joints, [0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    let weights = [0.5, 0.5, 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.];
    assert_eq!(p.weights, weights);
    assert_eq!(p.faces.indices, [0, 1, 2]);
    assert_eq!((p.material, p.double_sided), (Some(0), true));
    let [up, side] = &p.targets[..] else { panic!() };
    assert_eq!(up.point_indices, None);
    assert_eq!(up.offsets[2], Vec3::new(0.0, 0.0, 3.0));
    assert_eq!(side.point_indices.as_deref(), Some(&[1, 2][..]));
    assert_eq!(side.offsets, [Vec3::X * 5.0, Vec3::Y * 6.0]);
    assert!(side.normal_offsets.is_empty());

    let clip = asset.clip("Move").unwrap();
    let targets: Vec<_> = clip.tracks.iter().map(|t| t.target.clone()).collect();
    assert_eq!(targets, [3, 1, 2].map(TrackTarget::Node));
    assert_eq!(clip.range(), Some((0.0, 0.5)));
    let [place, turn, weights] = &clip.tracks[..] else {
        panic!()
    };
    assert_eq!(place.curve.vector(0.25), Some(DVec3::Y * 2.5));
    assert_eq!(turn.curve.interpolation, CurveInterpolation::CubicSpline);
    assert_eq!(turn.curve.rotation(0.25), Some(DQuat::IDENTITY));
    assert_eq!(weights.curve.weight(1, 0.25), Some(1.0));

    let material = &asset.materials[0];
    assert_eq!(material.base_color, Vec4::new(1.0, 0.5, 0.25, 1.0));
    assert_eq!(material.alpha_mode, AlphaMode::Mask(0.5));
    let texture = material.base_color_texture.as_ref().unwrap();
    assert_eq!(
        (texture.wrap_s, texture.wrap_t),
        (Wrap::Clamp, Wrap::Repeat)
    );
    assert_eq!(asset.images[texture.image].file_name, "skin.png");
    assert_eq!(asset.images[0].bytes.len(), 8);
}

#[test]
fn component_types() {
    for (component, normalized, numbers, read) in [
        ("i8", false, [-128.0, 127.0, 5.0], [-128.0, 127.0, 5.0]),
        ("i8", true, [-128.0, 127.0, -127.0], [-1.0, 1.0, -1.0]),
        ("u8", false, [0.0, 255.0, 7.0], [0.0, 255.0, 7.0]),
        ("u8", true, [0.0, 255.0, 51.0], [0.0, 1.0, 0.2]),
        (
            "i16",
            false,
            [-32768.0, 32767.0, 9.0],
            [-32768.0, 32767.0, 9.0],
        ),
        (
            "i16",
            true,
            [-32768.0, 32767.0, -32767.0],
            [-1.0, 1.0, -1.0],
        ),
        ("u16", false, [0.0, 65535.0, 3.0], [0.0, 65535.0, 3.0]),
        ("u16", true, [0.0, 65535.0, 13107.0], [0.0, 1.0, 0.2]),
    ] {
        let mut file = Document::empty();
        let index = file.accessor(component, "VEC3", &numbers);
        file.json["accessors"][index]["normalized"] = json!(normalized);
        let found = points(&mut file, index)[0].to_array();
        assert_eq!(found, read, "{component}, normalized {normalized}");
    }
    let mut file = Document::empty();
    let index = file.accessor("u8", "VEC3", &[1.0; 9]);
    let asset = with_primitive(&mut file, json!({ "attributes": { "POSITION": index } }));
    assert_eq!(codes(&asset), ["gltf-quantization-undeclared"]);
}

#[test]
fn strides_and_offsets() {
    let mut file = Document::empty();
    // Position and four bytes of something else, 16 bytes each, and the last one cut short.
    let numbers = [9., 1., 2., 3., 0., 4., 5., 6., 0., 7., 8., 9.];
    let index = file.accessor("f32", "VEC3", &numbers);
    file.set("/bufferViews/0/byteStride", json!(16));
    file.set("/accessors/0/byteOffset", json!(4));
    file.set("/accessors/0/count", json!(3));
    let [a, b, c] = [1., 4., 7.].map(|x| Vec3::new(x, x + 1., x + 2.));
    assert_eq!(points(&mut file, index), [a, b, c]);
}

/// A sparse accessor of four points: (1, 1, 1) at one index, (2, 2, 2) at another.
fn sparse(file: &mut Document, indices: [f64; 2], base: Option<usize>) -> usize {
    let indices = file.accessor("u16", "SCALAR", &indices);
    let values = file.accessor("f32", "VEC3", &[1., 1., 1., 2., 2., 2.]);
    // Accessors in the making have views of their own.
    let [indices, values] =
        [indices, values].map(|a| file.json["accessors"][a]["bufferView"].clone());
    let mut accessor = json!({
        "componentType": 5126, "type": "VEC3", "count": 4, "sparse": {
            "count": 2,
            "indices": { "bufferView": indices, "componentType": 5123 },
            "values": { "bufferView": values }
        }
    });
    if let Some(base) = base {
        accessor["bufferView"] = file.json["accessors"][base]["bufferView"].clone();
    }
    file.push("accessors", accessor)
}

#[test]
fn sparse_accessors() {
    let splat = |numbers: [f32; 4]| numbers.map(Vec3::splat);
    let mut file = Document::empty();
    let index = sparse(&mut file, [1.0, 3.0], None);
    assert_eq!(points(&mut file, index), splat([0.0, 1.0, 0.0, 2.0]));
    let mut file = Document::empty();
    let base = file.accessor("f32", "VEC3", &[5.0; 12]);
    let index = sparse(&mut file, [1.0, 3.0], Some(base));
    assert_eq!(points(&mut file, index), splat([5.0, 1.0, 5.0, 2.0]));

    // Morph targets: over data they are dense; sparse ones meet in one list of points; nothing at all is no point.
    let mut file = Document::empty();
    let position = file.accessor("f32", "VEC3", &[0.0; 12]);
    let base = file.accessor("f32", "VEC3", &[5.0; 12]);
    let dense = sparse(&mut file, [1.0, 3.0], Some(base));
    let one = sparse(&mut file, [1.0, 3.0], None);
    let other = sparse(&mut file, [0.0, 3.0], None);
    let nothing = json!({ "componentType": 5126, "type": "VEC3", "count": 4 });
    let nothing = file.push("accessors", nothing);
    let p = primitive(
        &mut file,
        json!({ "attributes": { "POSITION": position }, "targets": [
            { "POSITION": dense, "NORMAL": one },
            { "POSITION": one, "NORMAL": other },
            { "POSITION": nothing },
            {}
        ] }),
    );
    let [a, b, c, d] = &p.targets[..] else {
        panic!()
    };
    assert_eq!(a.point_indices, None);
    assert_eq!(a.offsets, splat([5.0, 1.0, 5.0, 2.0]));
    assert_eq!(a.normal_offsets, splat([0.0, 1.0, 0.0, 2.0]));
    assert_eq!(b.point_indices.as_deref(), Some(&[0, 1, 3][..]));
    assert_eq!(b.offsets, [0.0, 1.0, 2.0].map(Vec3::splat));
    assert_eq!(b.normal_offsets, [1.0, 0.0, 2.0].map(Vec3::splat));
    for empty in [c, d] {
        assert_eq!(empty.point_indices.as_deref(), Some(&[][..]));
        assert!(empty.offsets.is_empty() && empty.normal_offsets.is_empty());
    }
}

#[test]
fn strips_fans_and_what_is_left_out() {
    let with = |mode: u32, indices: &[f64]| {
        let mut file = Document::empty();
        let position = file.accessor("f32", "VEC3", &[0.0; 18]);
        let mut json = json!({ "attributes": { "POSITION": position }, "mode": mode });
        if !indices.is_empty() {
            json["indices"] = json!(file.accessor("u16", "SCALAR", indices));
        }
        with_primitive(&mut file, json)
    };
    for (mode, indices, faces) in [
        (4, &[][..], &[0, 1, 2, 3, 4, 5][..]),
        (5, &[], &[0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4]),
        // Two strips sewn together: 5 4 3, then 3 2 1 turned the other way, as the fourth triangle of a strip is.
        (5, &[5., 4., 3., 3., 2., 1.], &[5, 4, 3, 3, 1, 2]),
        (6, &[0., 1., 2., 3.], &[1, 2, 0, 2, 3, 0]),
        (4, &[0., 1., 2., 3.], &[0, 1, 2]),
    ] {
        let asset = with(mode, indices);
        assert_eq!(asset.meshes[0].primitives[0].faces.indices, faces);
        let is_cut = mode == 4 && indices.len() == 4;
        let said: &[&str] = if is_cut {
            &["gltf-triangle-incomplete"]
        } else {
            &[]
        };
        assert_eq!(codes(&asset), said);
    }
    for mode in 0..4 {
        let asset = with(mode, &[]);
        assert_eq!(codes(&asset), ["gltf-primitive-mode"]);
        assert!(asset.meshes[0].primitives.is_empty());
    }
}

#[test]
fn every_set_of_influences() {
    let mut file = character();
    let more = file.accessor("u16", "VEC4", &[1.0; 12]);
    let mut weights = [0.0; 12];
    weights[2] = 16384.0;
    let weights = file.accessor("u16", "VEC4", &weights);
    file.json["accessors"][weights]["normalized"] = json!(true);
    let attributes = "/meshes/0/primitives/0/attributes";
    file.set(&format!("{attributes}/JOINTS_1"), json!(more));
    file.set(&format!("{attributes}/WEIGHTS_1"), json!(weights));
    let asset = read(&file);
    let p = &asset.meshes[0].primitives[0];
    assert_eq!(p.influences, 8);
    // A joint that weighs nothing is 0, and weights are divided by their sum.
    assert_eq!(p.joints[..8], [0, 1, 0, 0, 0, 0, 1, 0]);
    let expected = [0.4, 0.4, 0.0, 0.0, 0.0, 0.0, 0.2, 0.0];
    for (weight, expected) in p.weights[..8].iter().zip(expected) {
        let apart: f32 = weight - expected;
        assert!(apart.abs() <= tolerance::SIXTEEN_BIT_WEIGHTS, "{apart}");
    }
    assert_eq!(p.weights[8..16], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(p.joints.len(), 24);
}

#[test]
fn matrices_scenes_and_skins_without_matrices() {
    let mut file = character();
    file.remove("/skins/0/inverseBindMatrices");
    file.remove("/scene");
    file.remove("/scenes");
    let matrix = json!([2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1]);
    file.push("nodes", json!({ "matrix": matrix }));
    let asset = read(&file);
    assert_eq!(asset.skins[0].inverse_bind, [DMat4::IDENTITY; 2]);
    assert_eq!(asset.roots, [0, 4]);
    assert!(matches!(asset.nodes[4].local, LocalTransform::Matrix(_)));
    // An animated matrix comes apart.
    file.set("/animations/0/channels/0/target/node", json!(4));
    let asset = read(&file);
    assert_eq!(codes(&asset), ["gltf-animated-matrix"]);
    let LocalTransform::Trs(trs) = asset.nodes[4].local else {
        panic!()
    };
    assert_eq!(trs.translation, DVec3::new(1.0, 2.0, 3.0));
    assert_eq!(trs.scale, DVec3::splat(2.0));
    file.push("scenes", json!({}));
    assert!(read(&file).roots.is_empty());
}

#[test]
fn rotations_are_made_unit() {
    let mut file = character();
    file.set("/nodes/1/rotation", json!([0, 0, 3, 4]));
    let words = [0.0, 0.0, 23170.0, 23170.0, 0.0, 0.0, 0.0, -32767.0];
    let rotations = file.accessor("i16", "VEC4", &words);
    file.json["accessors"][rotations]["normalized"] = json!(true);
    let sampler = json!({ "input": 11, "output": rotations });
    file.set("/animations/0/samplers/1", sampler);
    let asset = read(&file);
    assert_eq!(codes(&asset), ["gltf-rotation-length"]);
    let rest = asset.nodes[1].local.trs().rotation;
    assert_eq!(rest, DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8));
    let Keys::Rotation(keys) = &asset.clips[0].tracks[1].curve.keys else {
        panic!()
    };
    let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    assert!(keys[0].abs_diff_eq(quarter, tolerance::FORMULAS_IN_F64));
    assert_eq!(keys[1], DQuat::from_xyzw(0.0, 0.0, 0.0, -1.0));
}

/// What the character's clip moves if its one channel has this target, and the warnings.
fn aimed(
    file: &mut Document,
    target: Value,
    sampler: usize,
) -> (Vec<TrackTarget>, Vec<&'static str>) {
    let channel = json!({ "sampler": sampler, "target": target });
    file.set("/animations/0/channels", json!([channel]));
    file.json["extensionsUsed"] = json!(["EXT_skeleton_humanoid", "KHR_animation_pointer"]);
    let asset = read(file);
    let tracks = asset.clips[0].tracks.iter();
    (tracks.map(|t| t.target.clone()).collect(), codes(&asset))
}

#[test]
fn channels_without_node_bones_and_pointers() {
    use TrackTarget::{Bone as OfBone, Node};
    let pointer = |text: &str| {
        let pointer = json!({ "KHR_animation_pointer": { "pointer": text } });
        json!({ "path": "pointer", "extensions": pointer })
    };
    let bone = |name: &str| json!({ "EXT_skeleton_humanoid": { "humanoidBoneName": name } });
    let color = "/materials/0/pbrMetallicRoughness/baseColorFactor";
    for (target, sampler, moved, said) in [
        (json!({ "path": "translation" }), 0, None, None),
        (
            json!({ "path": "rotation", "extensions": bone("leftHand") }),
            1,
            Some(OfBone(Bone::LeftHand)),
            None,
        ),
        // Where both are named the bone goes first.
        (
            json!({ "path": "rotation", "node": 1, "extensions": bone("hips") }),
            1,
            Some(OfBone(Bone::Hips)),
            Some("NODE_AND_EXT"),
        ),
        (pointer("/nodes/3/translation"), 0, Some(Node(3)), None),
        (pointer("/nodes/2/weights"), 2, Some(Node(2)), None),
        // The only node with that mesh has weights of its own.
        (
            pointer("/meshes/0/weights"),
            2,
            None,
            Some("gltf-channel-left-out"),
        ),
        (pointer(color), 2, None, Some("gltf-pointer")),
        (
            json!({ "path": "weights", "node": 1 }),
            2,
            None,
            Some("gltf-channel-left-out"),
        ),
    ] {
        let what = target.to_string();
        let found = aimed(&mut character(), target, sampler);
        assert_eq!(
            found,
            (Vec::from_iter(moved), Vec::from_iter(said)),
            "{what}"
        );
    }
    let mut file = character();
    file.remove("/nodes/2/weights");
    file.push("nodes", json!({ "mesh": 0 }));
    let (moved, _) = aimed(&mut file, pointer("/meshes/0/weights"), 2);
    assert_eq!(moved, [2, 4].map(Node));
}

#[test]
fn what_only_shades_may_be_odd() {
    let mut file = character();
    let tangents = file.accessor("f32", "VEC4", &[f64::NAN; 12]);
    file.set("/meshes/0/primitives/0/attributes/TANGENT", json!(tangents));
    let asset = read(&file);
    assert_eq!(codes(&asset), ["gltf-not-finite"]);
    assert!(asset.meshes[0].primitives[0].tangents.is_empty());
}

#[test]
fn materials() {
    let mut file = character();
    file.json["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
    let quarter = std::f64::consts::FRAC_PI_2;
    file.json["materials"] = json!([{
        "emissiveFactor": [1, 0.5, 0],
        "alphaMode": "BLEND",
        "extensions": {
            "KHR_materials_unlit": {},
            "KHR_materials_emissive_strength": { "emissiveStrength": 2 }
        },
        "normalTexture": { "index": 0, "scale": 0.5, "texCoord": 1 },
        "occlusionTexture": { "index": 0, "strength": 0.25 },
        "pbrMetallicRoughness": {
            "metallicFactor": 0.75,
            "roughnessFactor": 0.125,
            "metallicRoughnessTexture": { "index": 1 },
            "baseColorTexture": { "index": 0, "extensions": { "KHR_texture_transform": {
                "offset": [0.5, 0.25], "rotation": quarter, "scale": [2, 3], "texCoord": 2
            } } }
        }
    }]);
    let basis = json!({ "extensions": { "KHR_texture_basisu": { "source": 0 } } });
    file.push("textures", basis);
    let asset = read(&file);
    let m = &asset.materials[0];
    assert_eq!(codes(&asset), ["gltf-texture-format"]);
    assert_eq!(m.emissive, Vec3::new(2.0, 1.0, 0.0));
    assert_eq!((m.alpha_mode, m.unlit), (AlphaMode::Blend, true));
    assert_eq!((m.metallic, m.roughness), (0.75, 0.125));
    assert_eq!((m.normal_scale, m.occlusion_strength), (0.5, 0.25));
    assert_eq!(m.normal_texture.as_ref().unwrap().uv_set, 1);
    assert!(m.metallic_roughness_texture.is_none());
    let color = m.base_color_texture.as_ref().unwrap();
    assert_eq!(color.uv_set, 2);
    // u runs right and v down, so that a quarter turn counter-clockwise takes u to -v and v to u.
    let expected = Mat3::from_cols(Vec3::Y * -2.0, Vec3::X * 3.0, Vec3::new(0.5, 0.25, 1.0));
    let found = color.transform.unwrap();
    let within = tolerance::FEW_ROUNDINGS_F32;
    assert!(found.abs_diff_eq(expected, within), "{found}");
}

#[test]
fn images_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let jpeg = [0xFF, 0xD8, 0xFF, 0xE0];
    std::fs::create_dir_all(folder.path().join("in")).unwrap();
    std::fs::write(folder.path().join("my skin.jpg"), jpeg).unwrap();
    let mut file = Document::empty();
    file.json["images"] = json!([
        { "uri": "../my%20skin.jpg" },
        { "uri": "../my%20skin.jpg", "name": "My skin.png" },
        { "uri": "data:image/png;base64,/9j/4A==" },
        { "uri": "gone.jpg" },
        { "uri": "https://example.org/a.png" },
        { "uri": "data:text/plain,hello", "name": "../../etc/passwd" },
    ]);
    let path = folder.path().join("in/a.gltf");
    file.json["buffers"] = json!([]);
    std::fs::write(&path, serde_json::to_vec(&file.json).unwrap()).unwrap();
    let asset = gltf::read(&path).unwrap();
    let images = asset.images.iter();
    let names: Vec<_> = images.map(|i| (&*i.file_name, i.bytes.len())).collect();
    let expected = [
        ("my_20skin.jpg", 4),
        ("My_skin.jpg", 4),
        ("image2.jpg", 4),
        ("gone.jpg", 0),
        ("a.png", 0),
        ("passwd.png", 0),
    ];
    assert_eq!(names, expected);
    let unreadable = "gltf-image-unreadable";
    assert_eq!(codes(&asset), [unreadable, unreadable, "gltf-image-format"]);
    assert!(asset.warnings[0].message.contains("gone.jpg"));
}

#[test]
fn buffers_outside_and_inside() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = character();
    let inside = read(&file);
    std::fs::write(folder.path().join("a b.bin"), &file.bin).unwrap();
    file.set("/buffers/0/uri", json!("a%20b.bin"));
    let path = folder.path().join("a.gltf");
    let mut text = b"\xEF\xBB\xBF".to_vec();
    text.extend(serde_json::to_vec_pretty(&file.json).unwrap());
    std::fs::write(&path, text).unwrap();
    let outside = gltf::read(&path).unwrap();
    assert_eq!(outside.meshes, inside.meshes);
    assert_eq!(outside.clips, inside.clips);
    let missing = gltf::read(&folder.path().join("none.gltf")).unwrap_err();
    let missing = missing.to_string();
    assert!(missing.contains("none.gltf: cannot open"), "{missing}");
}

#[test]
fn compressed_views() {
    // The character with its positions and indices compressed.
    let plain = read(&character());
    for name in ["meshopt_EXT_0", "meshopt_KHR_0", "meshopt_KHR_1"] {
        let asset = read(&Document::fixture(&format!("{name}.gltf")));
        assert_eq!(asset.meshes, plain.meshes, "{name}");
    }
    // The older extension has only the older codec.
    let newer = Document::fixture("meshopt_EXT_1.gltf").glb();
    assert!(gltf::read_bytes(&newer, Path::new("a.glb")).is_err());
}

/// Octahedral normals of 8 bits: +Z, half x and half y, +X.
#[test]
fn compressed_views_are_filtered() {
    let asset = read(&Document::fixture("meshopt_filtered.gltf"));
    let normals = &asset.meshes[0].primitives[0].normals;
    let expected = [Vec3::Z, Vec3::new(1.0, 1.0, 0.0).normalize(), Vec3::X];
    for (normal, expected) in normals.iter().zip(expected) {
        let is_near = normal.abs_diff_eq(expected, tolerance::NORMALS_OF_8_BITS);
        assert!(is_near, "{normal} {expected}");
    }
}

//! What glTF files say is what the reader gives: accessors of every kind, extensions, and real files.

use std::path::Path;

use common::tiny_gltf::{self, TinyGltf, accessor, floats, shorts};
use common::tolerance;
use glam::{DMat4, DQuat, DVec3, Mat3, Vec2, Vec3, Vec4};
use serde_json::{Value, json};
use sinew_animate::asset::{
    AlphaMode, Asset, CurveInterpolation, Keys, LocalTransform, Primitive, TrackTarget, Wrap,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

fn read(file: &TinyGltf) -> Asset {
    gltf::read_bytes(&file.glb(), Path::new("tiny.glb")).unwrap()
}

fn codes(asset: &Asset) -> Vec<&'static str> {
    asset.warnings.iter().map(|w| w.code).collect()
}

/// A mesh of one primitive with those attributes besides, and the file around it.
fn primitive(file: &mut TinyGltf, primitive: Value) -> Primitive {
    let mesh = file.push("meshes", json!({ "primitives": [primitive] }));
    file.push("nodes", json!({ "mesh": mesh }));
    let mut asset = read(file);
    // The points of some make no triangles.
    let known = codes(&asset)
        .iter()
        .all(|c| *c == "gltf-triangle-incomplete");
    assert!(known, "{:?}", asset.warnings);
    asset.meshes.remove(0).primitives.remove(0)
}

/// Points of an accessor.
fn points(file: &mut TinyGltf, accessor: usize) -> Vec<Vec3> {
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    primitive(file, json!({ "attributes": { "POSITION": accessor } })).points
}

#[test]
fn the_character() {
    let asset = read(&TinyGltf::character());
    assert_eq!(asset.roots, [0]);
    let parents: Vec<_> = asset.nodes.iter().map(|n| n.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), Some(1)]);
    assert_eq!(asset.nodes[2].mesh, Some(0));
    assert_eq!(asset.nodes[2].skin, Some(0));
    assert_eq!(asset.nodes[2].weights.as_deref(), Some(&[0.5, 0.0][..]));
    assert_eq!(
        asset.rest_world(3),
        DMat4::from_translation(DVec3::new(0.0, 2.0, 0.0))
    );

    let skin = &asset.skins[0];
    assert_eq!(skin.joints, [1, 3]);
    assert_eq!(
        skin.inverse_bind[1],
        DMat4::from_translation(DVec3::new(0.0, -2.0, 0.0))
    );

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
    assert_eq!(
        p.weights,
        [0.5, 0.5, 0., 0., 1., 0., 0., 0., 1., 0., 0., 0.]
    );
    assert_eq!(p.faces.indices, [0, 1, 2]);
    assert_eq!((p.material, p.double_sided), (Some(0), true));
    assert_eq!(p.targets[0].point_indices, None);
    assert_eq!(p.targets[0].offsets[2], Vec3::new(0.0, 0.0, 3.0));
    assert_eq!(p.targets[1].point_indices.as_deref(), Some(&[1, 2][..]));
    assert_eq!(
        p.targets[1].offsets,
        [Vec3::new(5.0, 0.0, 0.0), Vec3::new(0.0, 6.0, 0.0)]
    );
    assert!(p.targets[1].normal_offsets.is_empty());

    let clip = asset.clip("Move").unwrap();
    let targets: Vec<_> = clip.tracks.iter().map(|t| t.target.clone()).collect();
    assert_eq!(targets, [3, 1, 2].map(TrackTarget::Node));
    assert_eq!(clip.range(), Some((0.0, 0.5)));
    assert_eq!(
        clip.tracks[0].curve.vector(0.25),
        Some(DVec3::new(0.0, 2.5, 0.0))
    );
    assert_eq!(
        clip.tracks[1].curve.interpolation,
        CurveInterpolation::CubicSpline
    );
    assert_eq!(clip.tracks[1].curve.rotation(0.25), Some(DQuat::IDENTITY));
    assert_eq!(clip.tracks[2].curve.weight(1, 0.25), Some(1.0));

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
    let ends = |component: u32, normalized: bool, bytes: &[u8]| {
        let mut file = TinyGltf::default();
        let index = file.accessor(component, "VEC3", 1, bytes);
        file.json["accessors"][index]["normalized"] = json!(normalized);
        points(&mut file, index)[0].to_array()
    };
    let words = |w: [i16; 3]| shorts(&w.map(|w| w as u16));
    assert_eq!(ends(5120, false, &[0x80, 0x7f, 5]), [-128.0, 127.0, 5.0]);
    assert_eq!(ends(5120, true, &[0x80, 0x7f, 0x81]), [-1.0, 1.0, -1.0]);
    assert_eq!(ends(5121, false, &[0, 255, 7]), [0.0, 255.0, 7.0]);
    assert_eq!(ends(5121, true, &[0, 255, 51]), [0.0, 1.0, 0.2]);
    assert_eq!(
        ends(5122, false, &words([-32768, 32767, 9])),
        [-32768.0, 32767.0, 9.0]
    );
    assert_eq!(
        ends(5122, true, &words([-32768, 32767, -32767])),
        [-1.0, 1.0, -1.0]
    );
    assert_eq!(
        ends(5123, false, &shorts(&[0, 65535, 3])),
        [0.0, 65535.0, 3.0]
    );
    assert_eq!(
        ends(5123, true, &shorts(&[0, 65535, 13107])),
        [0.0, 1.0, 0.2]
    );
}

#[test]
fn undeclared_quantization_is_said() {
    let mut file = TinyGltf::default();
    let index = file.accessor(5121, "VEC3", 3, &[1; 9]);
    let json = json!({ "primitives": [{ "attributes": { "POSITION": index } }] });
    let mesh = file.push("meshes", json);
    file.push("nodes", json!({ "mesh": mesh }));
    assert_eq!(codes(&read(&file)), ["gltf-quantization-undeclared"]);
}

#[test]
fn strides_and_offsets() {
    let mut file = TinyGltf::default();
    // Position and one byte of something else, 16 bytes each, and the last one cut short.
    let bytes = floats(&[9., 1., 2., 3., 0., 4., 5., 6., 0., 7., 8., 9.]);
    let index = file.accessor(5126, "VEC3", 3, &bytes);
    file.json["bufferViews"][0]["byteStride"] = json!(16);
    file.json["accessors"][index]["byteOffset"] = json!(4);
    assert_eq!(
        points(&mut file, index),
        [
            Vec3::new(1., 2., 3.),
            Vec3::new(4., 5., 6.),
            Vec3::new(7., 8., 9.)
        ]
    );
}

#[test]
fn sparse_accessors() {
    let sparse = |file: &mut TinyGltf, base: Option<usize>| {
        let at = file.view(&shorts(&[1, 3]));
        let values = file.view(&floats(&[1., 1., 1., 2., 2., 2.]));
        let mut accessor = json!({
            "componentType": 5126, "type": "VEC3", "count": 4, "sparse": {
                "count": 2,
                "indices": { "bufferView": at, "componentType": 5123 },
                "values": { "bufferView": values }
            }
        });
        if let Some(view) = base {
            accessor["bufferView"] = json!(view);
        }
        file.push("accessors", accessor)
    };
    let mut file = TinyGltf::default();
    let index = sparse(&mut file, None);
    assert_eq!(
        points(&mut file, index),
        [Vec3::ZERO, Vec3::ONE, Vec3::ZERO, 2.0 * Vec3::ONE]
    );
    let mut file = TinyGltf::default();
    let base = file.view(&floats(&[5.0; 12]));
    let index = sparse(&mut file, Some(base));
    assert_eq!(
        points(&mut file, index),
        [5.0, 1.0, 5.0, 2.0].map(Vec3::splat)
    );
    // Morph targets: over data they are dense; sparse ones meet in one list of points; nothing at all is no point.
    let mut file = TinyGltf::default();
    let position = file.float_accessor("VEC3", &[0.0; 12]);
    let base = file.view(&floats(&[5.0; 12]));
    let dense = sparse(&mut file, Some(base));
    let one = sparse(&mut file, None);
    let other = sparse(&mut file, None);
    let at = file.view(&shorts(&[0, 3]));
    file.json["accessors"][other]["sparse"]["indices"]["bufferView"] = json!(at);
    let nothing = file.push(
        "accessors",
        json!({ "componentType": 5126, "type": "VEC3", "count": 4 }),
    );
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
    assert_eq!(a.offsets, [5.0, 1.0, 5.0, 2.0].map(Vec3::splat));
    assert_eq!(a.normal_offsets, [0.0, 1.0, 0.0, 2.0].map(Vec3::splat));
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
    let with = |mode: u32, indices: Option<&[u16]>| {
        let mut file = TinyGltf::default();
        let position = file.float_accessor("VEC3", &[0.0; 18]);
        let mut json = json!({ "attributes": { "POSITION": position }, "mode": mode });
        if let Some(indices) = indices {
            json["indices"] = json!(file.accessor(5123, "SCALAR", indices.len(), &shorts(indices)));
        }
        let mesh = file.push("meshes", json!({ "primitives": [json] }));
        file.push("nodes", json!({ "mesh": mesh }));
        read(&file)
    };
    let faces = |asset: Asset| asset.meshes[0].primitives[0].faces.indices.clone();
    assert_eq!(faces(with(4, None)), [0, 1, 2, 3, 4, 5]);
    assert_eq!(faces(with(5, None)), [0, 1, 2, 1, 3, 2, 2, 3, 4, 3, 5, 4]);
    // Two strips sewn together: 5 4 3, then 3 2 1 turned the other way, as the fourth triangle of a strip is.
    assert_eq!(
        faces(with(5, Some(&[5, 4, 3, 3, 2, 1]))),
        [5, 4, 3, 3, 1, 2]
    );
    assert_eq!(faces(with(6, Some(&[0, 1, 2, 3]))), [1, 2, 0, 2, 3, 0]);
    let cut = with(4, Some(&[0, 1, 2, 3]));
    assert_eq!(codes(&cut), ["gltf-triangle-incomplete"]);
    assert_eq!(faces(cut), [0, 1, 2]);
    for mode in 0..4 {
        let asset = with(mode, None);
        assert_eq!(codes(&asset), ["gltf-primitive-mode"]);
        assert!(asset.meshes[0].primitives.is_empty());
    }
}

#[test]
fn every_set_of_influences() {
    let mut file = TinyGltf::character();
    let more = file.accessor(5123, "VEC4", 3, &shorts(&[1; 12]));
    let weights = file.accessor(
        5123,
        "VEC4",
        3,
        &shorts(&[0, 0, 16384, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    );
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
        assert!(
            apart.abs() <= tolerance::SIXTEEN_BIT_WEIGHTS,
            "{:?}",
            &p.weights[..8]
        );
    }
    assert_eq!(p.weights[8..16], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(p.joints.len(), 24);
}

#[test]
fn matrices_scenes_and_skins_without_matrices() {
    let mut file = TinyGltf::character();
    file.remove("/skins/0/inverseBindMatrices");
    file.remove("/scene");
    file.remove("/scenes");
    file.push(
        "nodes",
        json!({ "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1] }),
    );
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
    assert_eq!(
        (trs.translation, trs.scale),
        (DVec3::new(1.0, 2.0, 3.0), DVec3::splat(2.0))
    );
    // The last column of a matrix may be short where rows are padded; elements of MAT4 of floats never are.
    file.push("scenes", json!({}));
    assert!(read(&file).roots.is_empty());
}

#[test]
fn rotations_are_made_unit() {
    let mut file = TinyGltf::character();
    file.set("/nodes/1/rotation", json!([0, 0, 3, 4]));
    let words = [0i16, 0, 23170, 23170, 0, 0, 0, -32767].map(|w| w as u16);
    let rotations = file.accessor(5122, "VEC4", 2, &shorts(&words));
    file.json["accessors"][rotations]["normalized"] = json!(true);
    file.set(
        "/animations/0/samplers/1",
        json!({ "input": accessor::TIMES, "output": rotations }),
    );
    let asset = read(&file);
    assert_eq!(codes(&asset), ["gltf-rotation-length"]);
    assert_eq!(
        asset.nodes[1].local.trs().rotation,
        DQuat::from_xyzw(0.0, 0.0, 0.6, 0.8)
    );
    let Keys::Rotation(keys) = &asset.clips[0].tracks[1].curve.keys else {
        panic!()
    };
    let half = std::f64::consts::FRAC_1_SQRT_2;
    assert!(keys[0].abs_diff_eq(
        DQuat::from_xyzw(0.0, 0.0, half, half),
        tolerance::FORMULAS_IN_F64
    ));
    assert_eq!(keys[1], DQuat::from_xyzw(0.0, 0.0, 0.0, -1.0));
}

/// The character with its first channel aimed elsewhere.
fn aimed(target: Value, sampler: usize) -> Asset {
    let mut file = TinyGltf::character();
    file.set(
        "/animations/0/channels",
        json!([{ "sampler": sampler, "target": target }]),
    );
    file.json["extensionsUsed"] = json!(["EXT_skeleton_humanoid", "KHR_animation_pointer"]);
    read(&file)
}

#[test]
fn channels_without_node_bones_and_pointers() {
    let targets = |asset: &Asset| -> Vec<TrackTarget> {
        asset.clips[0]
            .tracks
            .iter()
            .map(|t| t.target.clone())
            .collect()
    };
    let pointer = |text: &str, sampler| {
        aimed(
            json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": text } } }),
            sampler,
        )
    };
    let bone = |name: &str| json!({ "EXT_skeleton_humanoid": { "humanoidBoneName": name } });
    assert_eq!(targets(&aimed(json!({ "path": "translation" }), 0)), []);
    let to_bone = aimed(
        json!({ "path": "rotation", "extensions": bone("leftHand") }),
        1,
    );
    assert_eq!(targets(&to_bone), [TrackTarget::Bone(Bone::LeftHand)]);
    // Where both are named the bone goes first.
    let both = aimed(
        json!({ "path": "rotation", "node": 1, "extensions": bone("hips") }),
        1,
    );
    assert_eq!(targets(&both), [TrackTarget::Bone(Bone::Hips)]);

    assert_eq!(
        targets(&pointer("/nodes/3/translation", 0)),
        [TrackTarget::Node(3)]
    );
    assert_eq!(
        targets(&pointer("/nodes/2/weights", 2)),
        [TrackTarget::Node(2)]
    );
    // The only node with that mesh has weights of its own.
    let asset = pointer("/meshes/0/weights", 2);
    assert_eq!(
        (targets(&asset), codes(&asset)),
        (vec![], vec!["gltf-channel-left-out"])
    );
    let asset = pointer("/materials/0/pbrMetallicRoughness/baseColorFactor", 2);
    assert_eq!(
        (targets(&asset), codes(&asset)),
        (vec![], vec!["gltf-pointer"])
    );
    let asset = aimed(json!({ "path": "weights", "node": 1 }), 2);
    assert_eq!(
        (targets(&asset), codes(&asset)),
        (vec![], vec!["gltf-channel-left-out"])
    );

    let mut file = TinyGltf::character();
    file.remove("/nodes/2/weights");
    file.push("nodes", json!({ "mesh": 0 }));
    let target = json!({ "path": "pointer", "extensions": { "KHR_animation_pointer": { "pointer": "/meshes/0/weights" } } });
    file.set(
        "/animations/0/channels",
        json!([{ "sampler": 2, "target": target }]),
    );
    assert_eq!(targets(&read(&file)), [2, 4].map(TrackTarget::Node));
}

#[test]
fn what_only_shades_may_be_odd() {
    let mut file = TinyGltf::character();
    let tangents = file.float_accessor("VEC4", &[f32::NAN; 12]);
    file.set("/meshes/0/primitives/0/attributes/TANGENT", json!(tangents));
    let asset = read(&file);
    assert_eq!(codes(&asset), ["gltf-not-finite"]);
    assert!(asset.meshes[0].primitives[0].tangents.is_empty());
}

#[test]
fn materials() {
    let mut file = TinyGltf::character();
    file.json["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_materials_unlit"]);
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
                "offset": [0.5, 0.25], "rotation": std::f64::consts::FRAC_PI_2, "scale": [2, 3], "texCoord": 2
            } } }
        }
    }]);
    file.push(
        "textures",
        json!({ "extensions": { "KHR_texture_basisu": { "source": 0 } } }),
    );
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
    let expected = Mat3::from_cols(
        Vec3::new(0.0, -2.0, 0.0),
        Vec3::new(3.0, 0.0, 0.0),
        Vec3::new(0.5, 0.25, 1.0),
    );
    assert!(
        color
            .transform
            .unwrap()
            .abs_diff_eq(expected, tolerance::FEW_ROUNDINGS_F32),
        "{:?}",
        color.transform
    );
}

#[test]
fn images_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let jpeg = [0xFF, 0xD8, 0xFF, 0xE0];
    std::fs::create_dir_all(folder.path().join("in")).unwrap();
    std::fs::write(folder.path().join("my skin.jpg"), jpeg).unwrap();
    let mut file = TinyGltf::default();
    for image in [
        json!({ "uri": "../my%20skin.jpg" }),
        json!({ "uri": "../my%20skin.jpg", "name": "My skin.png" }),
        json!({ "uri": "data:image/png;base64,/9j/4A==" }),
        json!({ "uri": "gone.jpg" }),
        json!({ "uri": "https://example.org/a.png" }),
        json!({ "uri": "data:text/plain,hello", "name": "../../etc/passwd" }),
    ] {
        file.push("images", image);
    }
    let path = folder.path().join("in/a.gltf");
    file.json["buffers"] = json!([]);
    std::fs::write(&path, serde_json::to_vec(&file.json).unwrap()).unwrap();
    let asset = gltf::read(&path).unwrap();
    let names: Vec<_> = asset
        .images
        .iter()
        .map(|i| (&*i.file_name, i.bytes.len()))
        .collect();
    assert_eq!(
        names,
        [
            ("my_20skin.jpg", 4),
            ("My_skin.jpg", 4),
            ("image2.jpg", 4),
            ("gone.jpg", 0),
            ("a.png", 0),
            ("passwd.png", 0)
        ]
    );
    let said = [
        "gltf-image-unreadable",
        "gltf-image-unreadable",
        "gltf-image-format",
    ];
    assert_eq!(codes(&asset), said);
    assert!(asset.warnings[0].message.contains("gone.jpg"));
}

#[test]
fn buffers_outside_and_inside() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = TinyGltf::character();
    std::fs::write(folder.path().join("a b.bin"), &file.bin).unwrap();
    file.set("/buffers/0/uri", json!("a%20b.bin"));
    let path = folder.path().join("a.gltf");
    let mut text = b"\xEF\xBB\xBF".to_vec();
    text.extend(serde_json::to_vec_pretty(&file.json).unwrap());
    std::fs::write(&path, text).unwrap();
    let outside = gltf::read(&path).unwrap();
    let inside = read(&TinyGltf::character());
    assert_eq!(outside.meshes, inside.meshes);
    assert_eq!(outside.clips, inside.clips);
    let missing = gltf::read(&folder.path().join("none.gltf")).unwrap_err();
    assert!(
        missing.to_string().contains("none.gltf: cannot open"),
        "{missing}"
    );
}

/// The character with its positions and indices compressed.
fn compressed(name: &str, version: u8) -> TinyGltf {
    use meshoptimizer_rs::{Workspace, codec};
    let mut file = TinyGltf::character();
    let points = floats(&[0., 0., 0., 1., 0., 0., 0., 1., 0.]);
    let encoding = codec::VertexEncoding::new(version, 2).unwrap();
    let points =
        codec::encode_vertex_buffer(&points, 3, 12, encoding, &mut Workspace::default()).unwrap();
    let indices = codec::encode_index_buffer(
        &[0, 1, 2],
        codec::IndexEncoding::DEFAULT,
        &mut Workspace::default(),
    )
    .unwrap();
    let fallback = file.push(
        "buffers",
        json!({ "byteLength": 100, "extensions": { name: { "fallback": true } } }),
    );
    for (view, data, count, stride, mode) in [
        (accessor::POSITION, points, 3, 12, "ATTRIBUTES"),
        (accessor::INDICES, indices, 3, 2, "TRIANGLES"),
    ] {
        let packed = file.view(&data);
        let mut extension = file.json["bufferViews"][packed].clone();
        let more = json!({ "count": count, "byteStride": stride, "mode": mode });
        extension
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        file.set(
            &format!("/bufferViews/{view}"),
            json!({
                "buffer": fallback, "byteLength": count * stride, "extensions": { name: extension }
            }),
        );
    }
    file.json["extensionsRequired"] = json!([name]);
    file
}

#[test]
fn compressed_views() {
    let plain = read(&TinyGltf::character());
    for (name, version) in [
        ("EXT_meshopt_compression", 0),
        ("KHR_meshopt_compression", 0),
        ("KHR_meshopt_compression", 1),
    ] {
        let asset = read(&compressed(name, version));
        assert_eq!(asset.meshes, plain.meshes, "{name} {version}");
    }
    // The older extension has only the older codec.
    let newer = compressed("EXT_meshopt_compression", 1).glb();
    assert!(gltf::read_bytes(&newer, Path::new("a.glb")).is_err());
}

#[test]
fn compressed_views_are_filtered() {
    let mut file = TinyGltf::character();
    // Octahedral normals of 8 bits: x, y, one, anything.
    let half = |n: f32| (n * 127.0).round() as i8 as u8;
    let encoded = [
        [0, 0, 127, 0],
        [half(0.5), half(0.5), 127, 0],
        [half(1.0), 0, 127, 0],
    ]
    .concat();
    let data = tiny_gltf::compress(&encoded, 4);
    let packed = file.view(&data);
    let mut extension = file.json["bufferViews"][packed].clone();
    let more = json!({ "count": 3, "byteStride": 4, "mode": "ATTRIBUTES", "filter": "OCTAHEDRAL" });
    extension
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let view = accessor::NORMAL;
    file.set(&format!("/bufferViews/{view}"), json!({
        "buffer": 0, "byteLength": 12, "byteStride": 4, "extensions": { "EXT_meshopt_compression": extension }
    }));
    file.set(&format!("/accessors/{view}"), json!({
        "bufferView": view, "componentType": 5120, "normalized": true, "type": "VEC3", "count": 3
    }));
    file.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    let normals = &read(&file).meshes[0].primitives[0].normals;
    let expected = [Vec3::Z, Vec3::new(1.0, 1.0, 0.0).normalize(), Vec3::X];
    for (normal, expected) in normals.iter().zip(expected) {
        assert!(
            normal.abs_diff_eq(expected, tolerance::NORMALS_OF_8_BITS),
            "{normal} {expected}"
        );
    }
}

//! Assets made by hand.

use std::f64::consts::FRAC_PI_2;

use glam::{DMat4, DQuat, DVec3, Mat3, Vec2, Vec3, Vec4};
use sinew_animate::asset::{
    AlphaMode, Asset, AssetClip, AssetMaterial, AssetSkin, Curve, CurveInterpolation as Kind,
    Expression, Faces, HumanoidSkeleton, Image, Keys, LocalTransform, Mesh, MorphBind, MorphTarget,
    Node, Primitive, TextureRef, Track, TrackTarget, Trs, Wrap,
};
use sinew_animate::retarget::Bone;

pub fn node(name: &str, parent: Option<usize>, translation: [f64; 3]) -> Node {
    Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation: translation.into(),
            ..Trs::IDENTITY
        }),
        ..Node::default()
    }
}

fn turned(mut node: Node, rotation: DQuat, scale: f64) -> Node {
    let mut trs = node.local.trs();
    trs.rotation = rotation;
    trs.scale = DVec3::splat(scale);
    node.local = LocalTransform::Trs(trs);
    node
}

pub fn track(target: TrackTarget, times: &[f64], interpolation: Kind, keys: Keys) -> Track {
    Track {
        target,
        curve: Curve {
            times: times.to_vec(),
            interpolation,
            keys,
        },
    }
}

/// A strip of triangles along Y.
fn strip(count: u32) -> Primitive {
    let point = |i: u32| Vec3::new((i % 2) as f32 * 0.4, i as f32 * 0.3, (i % 3) as f32 * 0.1);
    let corners = (0..count - 2).flat_map(|i| [i, i + 1 + i % 2, i + 2 - i % 2]);
    Primitive {
        points: (0..count).map(point).collect(),
        normals: vec![Vec3::Z; count as usize],
        uvs: vec![(0..count).map(|i| Vec2::new(0.5, i as f32 / 8.0)).collect()],
        faces: Faces {
            counts: None,
            indices: corners.collect(),
        },
        ..Primitive::default()
    }
}

/// The strip with two influences to a point, of joints up to `joints`; unused ones name no joint at all.
fn skinned_strip(count: u32, joints: u32) -> Primitive {
    let mut out = strip(count);
    out.influences = 3;
    for i in 0..count {
        let weight = i as f32 / count as f32;
        out.joints.extend([i % joints, (i + 1) % joints, 77]);
        out.weights.extend([1.0 - weight, weight, 0.0]);
    }
    out
}

fn target(count: usize, seed: f32) -> MorphTarget {
    let offset = |i: usize| Vec3::new((i as f32 + seed).sin(), seed.cos() * i as f32 * 0.1, 0.05);
    MorphTarget {
        offsets: (0..count).map(offset).collect(),
        normal_offsets: vec![Vec3::X * 0.1; count],
        ..MorphTarget::default()
    }
}

/// Every node of a shallow asset without a parent is a root.
pub fn finished(mut asset: Asset) -> Asset {
    let roots = (0..asset.nodes.len()).filter(|i| asset.nodes[*i].parent.is_none());
    asset.roots = roots.collect();
    asset.meters_per_unit = 1.0;
    asset.validate().expect("a valid asset");
    asset
}

/// World transforms at rest bring points of the mesh to their joints by `mesh`.
fn skin(asset: &Asset, joints: &[usize], world_from_mesh: DMat4) -> AssetSkin {
    AssetSkin {
        name: String::new(),
        joints: joints.to_vec(),
        inverse_bind: joints
            .iter()
            .map(|j| asset.rest_world(*j).inverse() * world_from_mesh)
            .collect(),
        ..AssetSkin::default()
    }
}

fn linear_turns(node: usize, angles: [f64; 3]) -> Track {
    let keys = angles.map(|a| DQuat::from_rotation_z(a) * DQuat::from_rotation_x(0.3 * a));
    // One of them on the other hemisphere.
    let keys = Keys::Rotation(vec![keys[0], -keys[1], keys[2]]);
    track(
        TrackTarget::Node(node),
        &[0.0, 0.5, 1.25],
        Kind::Linear,
        keys,
    )
}

pub const BODY: usize = 8;
pub const HAIR: usize = 9;
pub const SWORD: usize = 6;
pub const SHIELD: usize = 11;

/// A scaled armature that moves, joints with odd names and a node between them that is none, two skins with bind
/// spaces of their own, a sword below a still node and a shield that moves by itself, morph targets.
pub fn character() -> Asset {
    let mut asset = Asset {
        file: "made/hero 1.glb".into(),
        ..Asset::default()
    };
    let quarter = DQuat::from_rotation_x(-FRAC_PI_2);
    asset.nodes = vec![
        turned(node("Armature", None, [1.0, 0.0, 2.0]), quarter, 0.01),
        node("mixamorig:Hips", Some(0), [0.0, 100.0, 0.0]),
        turned(
            node("spine.001", Some(1), [0.0, 30.0, 5.0]),
            DQuat::from_rotation_y(0.4),
            1.0,
        ),
        node("filler", Some(2), [0.0, 10.0, 0.0]),
        turned(
            node("spine:001", Some(3), [3.0, 30.0, 0.0]),
            DQuat::from_rotation_z(0.2),
            1.1,
        ),
        node("socket", Some(4), [10.0, 0.0, 0.0]),
        turned(
            node("sword", Some(5), [0.0, 5.0, 0.0]),
            DQuat::from_rotation_x(1.0),
            20.0,
        ),
        node("腕", Some(2), [20.0, 0.0, 0.0]),
        node("Body", Some(0), [55.0, 66.0, 77.0]),
        node("Hair", None, [9.0, 9.0, 9.0]),
        node("arm", Some(7), [5.0, 0.0, 0.0]),
        turned(
            node("shield", Some(10), [0.0, 3.0, 0.0]),
            DQuat::IDENTITY,
            30.0,
        ),
    ];
    let world_from_body = DMat4::from_translation(DVec3::new(1.0, 0.5, 2.0));
    let world_from_hair = DMat4::from_scale_rotation_translation(
        DVec3::splat(2.0),
        DQuat::from_rotation_y(0.7),
        DVec3::new(-3.0, 0.0, 1.0),
    );
    asset.skins = vec![
        skin(&asset, &[2, 1, 4, 7], world_from_body),
        skin(&asset, &[4, 2], world_from_hair),
    ];
    let mut body = skinned_strip(9, 4);
    body.targets = vec![target(9, 1.0), sparse_target()];
    let mut second = skinned_strip(5, 3);
    second.targets = vec![target(5, 2.0), MorphTarget::default()];
    let mut dented = strip(5);
    dented.targets = vec![target(5, 5.0)];
    let named = |name: &str, primitives| Mesh {
        name: name.into(),
        primitives,
        ..Mesh::default()
    };
    asset.meshes = vec![
        Mesh {
            target_names: vec!["smile".into(), "frown!".into()],
            weights: vec![0.0, 0.25],
            ..named("BodyMesh", vec![body, second])
        },
        named("HairMesh", vec![skinned_strip(6, 2)]),
        named("SwordMesh", vec![strip(4)]),
        Mesh {
            target_names: vec!["dent".into()],
            weights: vec![0.5],
            ..named("ShieldMesh", vec![dented])
        },
    ];
    for (at, mesh, skin) in [
        (8, 0, Some(0)),
        (9, 1, Some(1)),
        (6, 2, None),
        (11, 3, None),
    ] {
        asset.nodes[at].mesh = Some(mesh);
        asset.nodes[at].skin = skin;
    }
    asset.nodes[8].weights = Some(vec![0.1, 0.0]);
    asset.clips = vec![walk(), grow()];
    finished(asset)
}

fn sparse_target() -> MorphTarget {
    MorphTarget {
        point_indices: Some(vec![7, 2]),
        offsets: vec![Vec3::X, Vec3::Y],
        normal_offsets: vec![Vec3::Y, Vec3::Z],
        ..MorphTarget::default()
    }
}

/// Straight and stepped.
fn walk() -> AssetClip {
    let places = |v: &[[f64; 3]]| Keys::Translation(v.iter().map(|v| (*v).into()).collect());
    AssetClip {
        name: "walk".into(),
        tracks: vec![
            track(
                TrackTarget::Node(0),
                &[0.0, 1.0],
                Kind::Linear,
                places(&[[1.0, 0.0, 2.0], [2.0, 0.5, 2.0]]),
            ),
            linear_turns(1, [0.0, 1.2, -0.4]),
            linear_turns(4, [0.3, 2.9, 0.1]),
            linear_turns(3, [0.0, 0.2, 0.4]),
            linear_turns(11, [0.0, 1.0, 3.0]),
            track(
                TrackTarget::Node(7),
                &[0.25, 0.75],
                Kind::Step,
                places(&[[20.0, 0.0, 0.0], [20.0, 10.0, 0.0]]),
            ),
            track(
                TrackTarget::Node(8),
                &[0.0, 0.5],
                Kind::Linear,
                Keys::Weights {
                    count: 2,
                    values: vec![0.0, 1.0, 1.5, -0.5],
                },
            ),
        ],
        ..AssetClip::default()
    }
}

/// Scales and splines.
fn grow() -> AssetClip {
    let spline = vec![
        [0.0, 0.0, 0.0],
        [0.0, 100.0, 0.0],
        [40.0, 0.0, 90.0],
        [0.0, 80.0, 0.0],
        [0.0, 120.0, 30.0],
        [0.0; 3],
    ];
    let turn = |angle: f64| DQuat::from_rotation_y(angle);
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    AssetClip {
        name: "grow".into(),
        tracks: vec![
            track(
                TrackTarget::Node(1),
                &[0.1, 0.9],
                Kind::CubicSpline,
                Keys::Translation(spline.into_iter().map(Into::into).collect()),
            ),
            track(
                TrackTarget::Node(2),
                &[0.1, 0.7],
                Kind::CubicSpline,
                Keys::Rotation(vec![
                    zero,
                    turn(0.4),
                    DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
                    zero,
                    turn(1.4),
                    zero,
                ]),
            ),
            track(
                TrackTarget::Node(4),
                &[0.2, 0.6],
                Kind::Linear,
                Keys::Scale(vec![DVec3::new(1.0, 2.0, 0.3), DVec3::splat(1.7)]),
            ),
        ],
        ..AssetClip::default()
    }
}

/// Two skins of the same joints whose bind matrices differ from joint to joint; one joint is sheared.
pub fn at_odds() -> Asset {
    let mut asset = Asset {
        file: "odds.glb".into(),
        ..Asset::default()
    };
    asset.nodes = vec![
        node("root", None, [0.0; 3]),
        node("a", Some(0), [0.0, 1.0, 0.0]),
        node("b", Some(1), [0.0, 1.0, 0.0]),
        node("First", None, [0.0; 3]),
        node("Second", None, [0.0; 3]),
    ];
    let mut sheared = DMat4::from_translation(DVec3::Y);
    sheared.x_axis += sheared.y_axis * 0.4;
    asset.nodes[2].local = LocalTransform::Matrix(sheared);
    let first = skin(&asset, &[1, 2], DMat4::IDENTITY);
    let mut second = first.clone();
    second.inverse_bind[1] = DMat4::from_rotation_x(0.5) * second.inverse_bind[1];
    asset.skins = vec![first, second];
    for i in 0..2 {
        asset.meshes.push(Mesh {
            primitives: vec![skinned_strip(6, 2)],
            ..Mesh::default()
        });
        asset.nodes[3 + i].mesh = Some(i);
        asset.nodes[3 + i].skin = Some(i);
    }
    let mut turn = linear_turns(1, [0.0, 1.0, 2.0]);
    turn.curve.times = vec![0.0, 1.0, 2.0];
    asset.clips = vec![AssetClip {
        name: "turn".into(),
        tracks: vec![turn],
        ..AssetClip::default()
    }];
    finished(asset)
}

/// No skin: a box that moves, one that is sheared, and one mesh with morph targets in two places.
pub fn free() -> Asset {
    let mut asset = Asset {
        file: "free.glb".into(),
        ..Asset::default()
    };
    let mut shear = DMat4::from_rotation_z(0.3);
    shear.y_axis += shear.x_axis * 0.5;
    asset.nodes = vec![
        node("舞台", None, [0.0, 1.0, 0.0]),
        turned(
            node("Box", Some(0), [1.0, 0.0, 0.0]),
            DQuat::from_rotation_y(0.5),
            0.5,
        ),
        Node {
            local: LocalTransform::Matrix(shear),
            ..node("Sheared", Some(1), [0.0; 3])
        },
        node("Face", Some(0), [0.0, 3.0, 0.0]),
        node("Face", Some(0), [0.0, -3.0, 0.0]),
    ];
    let mut face = strip(7);
    face.targets = vec![target(7, 3.0), target(7, 4.0)];
    asset.meshes = vec![
        Mesh {
            name: "Box".into(),
            primitives: vec![strip(5)],
            ..Mesh::default()
        },
        Mesh {
            name: "Face".into(),
            primitives: vec![face],
            target_names: vec!["open".into(), "close".into()],
            weights: vec![0.5, 0.0],
            ..Mesh::default()
        },
    ];
    for (at, mesh) in [(1, 0), (2, 0), (3, 1), (4, 1)] {
        asset.nodes[at].mesh = Some(mesh);
    }
    asset.nodes[4].weights = Some(vec![0.0, 1.0]);
    let weights = |node: usize, values: [f64; 4]| {
        let keys = Keys::Weights {
            count: 2,
            values: values.to_vec(),
        };
        track(TrackTarget::Node(node), &[0.0, 0.8], Kind::Linear, keys)
    };
    let scale = Keys::Scale(vec![DVec3::splat(0.5), DVec3::new(0.01, 0.7, 3.0)]);
    asset.clips = vec![AssetClip {
        name: "play".into(),
        tracks: vec![
            linear_turns(1, [0.0, 1.0, 2.0]),
            track(TrackTarget::Node(1), &[0.0, 1.25], Kind::Linear, scale),
            weights(3, [0.0, 0.2, 1.0, 0.4]),
            weights(4, [1.0, 0.0, 0.0, 0.0]),
        ],
        ..AssetClip::default()
    }];
    finished(asset)
}

/// A mesh a hundred times larger than the skeleton that its bind matrices bring it to, and a spline.
pub fn centimetres() -> Asset {
    let mut asset = Asset {
        file: "centimetres.glb".into(),
        ..Asset::default()
    };
    asset.nodes = vec![
        node("root", None, [0.0; 3]),
        node("arm", Some(0), [0.0, 0.5, 0.0]),
        node("Skin", None, [0.0; 3]),
    ];
    let world_from_mesh = DMat4::from_scale(DVec3::splat(0.01));
    asset.skins = vec![skin(&asset, &[0, 1], world_from_mesh)];
    let mut mesh = skinned_strip(9, 2);
    for p in &mut mesh.points {
        *p *= 100.0;
    }
    asset.meshes = vec![Mesh {
        primitives: vec![mesh],
        ..Mesh::default()
    }];
    (asset.nodes[2].mesh, asset.nodes[2].skin) = (Some(0), Some(0));
    let v = DVec3::new;
    let keys = vec![
        DVec3::ZERO,
        v(0.0, 0.5, 0.0),
        v(3.0, 0.0, -9.0),
        v(-2.0, 5.0, 1.0),
        v(0.2, 0.6, 0.0),
        DVec3::ZERO,
    ];
    let keys = Keys::Translation(keys);
    asset.clips = vec![AssetClip {
        name: "swing".into(),
        tracks: vec![track(
            TrackTarget::Node(1),
            &[0.0, 1.0],
            Kind::CubicSpline,
            keys,
        )],
        ..AssetClip::default()
    }];
    finished(asset)
}

/// A humanoid whose meshes hang on its bones, without a skin.
pub fn puppet() -> Asset {
    let mut asset = Asset {
        file: "puppet.vrm".into(),
        ..Asset::default()
    };
    asset.nodes = vec![
        node("root", None, [0.0; 3]),
        node("hips", Some(0), [0.0, 1.0, 0.0]),
        node("head", Some(1), [0.0, 0.6, 0.0]),
        turned(
            node("hat", Some(2), [0.0, 0.1, 0.0]),
            DQuat::from_rotation_z(0.4),
            2.0,
        ),
        node("stand", Some(0), [0.0, 0.0, 0.0]),
    ];
    asset.meshes = vec![Mesh {
        primitives: vec![strip(5)],
        ..Mesh::default()
    }];
    for at in [3, 4] {
        asset.nodes[at].mesh = Some(0);
    }
    asset.humanoids = vec![HumanoidSkeleton {
        location: "VRMC_vrm".into(),
        root: None,
        bones: [(Bone::Hips, 1), (Bone::Head, 2)].into(),
    }];
    asset.clips = vec![AssetClip {
        name: "nod".into(),
        tracks: vec![linear_turns(2, [0.0, 0.5, 1.0])],
        ..AssetClip::default()
    }];
    finished(asset)
}

/// The character with expressions of its targets, one of them on or off.
pub fn expressive() -> Asset {
    let mut asset = character();
    let bind = |target, weight| MorphBind {
        mesh: 0,
        target,
        weight,
    };
    let expression = |name: &str, is_binary, binds| Expression {
        name: name.into(),
        is_binary,
        binds,
    };
    asset.expressions = vec![
        expression("smile", false, vec![bind(0, 0.5), bind(1, 0.25)]),
        expression("blink", true, vec![bind(1, 1.0)]),
    ];
    let slider = |name: &str, values: [f64; 3]| {
        let keys = Keys::Weights {
            count: 1,
            values: values.to_vec(),
        };
        let target = TrackTarget::Expression(name.into());
        track(target, &[0.0, 0.5, 1.0], Kind::Linear, keys)
    };
    asset.clips = vec![AssetClip {
        name: "emote".into(),
        tracks: vec![
            slider("smile", [0.0, 1.0, 0.2]),
            slider("blink", [0.0, 0.9, 0.0]),
            linear_turns(4, [0.0, 0.5, 1.0]),
        ],
        ..AssetClip::default()
    }];
    finished(asset)
}

/// A picture of one pixel.
#[rustfmt::skip]
const PIXEL: [u8; 67] = [
    0x89, b'P', b'N', b'G', 13, 10, 26, 10, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0,
    0x3a, 0x7e, 0x9b, 0x55, 0, 0, 0, 10, b'I', b'D', b'A', b'T', 0x78, 0x9c, 0x63, 0x60, 0, 0, 0, 2, 0, 1, 0x48, 0xaf,
    0xa4, 0x71, 0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
];

/// A mesh for each material: plain, with every texture, without light.
pub fn painted() -> Asset {
    let mut asset = Asset {
        file: "painted.glb".into(),
        ..Asset::default()
    };
    let image = |file_name: &str| Image {
        file_name: file_name.into(),
        bytes: PIXEL.to_vec(),
    };
    asset.images = vec![image("skin.png"), image("bumps.png"), image("odd.webp")];
    let texture = |image| {
        Some(TextureRef {
            image,
            uv_set: 0,
            wrap_s: Wrap::Mirror,
            wrap_t: Wrap::Clamp,
            transform: None,
        })
    };
    let transform = Mat3::from_scale_angle_translation(Vec2::new(2.0, 3.0), 0.5, Vec2::X);
    asset.materials = vec![
        AssetMaterial {
            base_color: Vec4::new(0.2, 0.4, 0.6, 0.5),
            alpha_mode: AlphaMode::Blend,
            ..AssetMaterial::default()
        },
        AssetMaterial {
            name: "Everything".into(),
            base_color_texture: texture(0).map(|t| TextureRef {
                transform: Some(transform),
                uv_set: 1,
                ..t
            }),
            metallic_roughness_texture: texture(0),
            roughness: 0.5,
            normal_texture: texture(1),
            normal_scale: 0.5,
            occlusion_texture: texture(0),
            occlusion_strength: 0.25,
            emissive: Vec3::ONE,
            emissive_texture: texture(2),
            alpha_mode: AlphaMode::Mask(0.4),
            double_sided: true,
            ..AssetMaterial::default()
        },
        AssetMaterial {
            name: "Everything".into(),
            base_color_texture: texture(0),
            unlit: true,
            ..AssetMaterial::default()
        },
    ];
    for material in 0..3 {
        let mut part = strip(6);
        part.uvs.push(part.uvs[0].clone());
        part.material = Some(material);
        part.colors = vec![Vec4::new(1.0, 0.5, 0.25, 0.75); 6];
        part.tangents = vec![Vec4::new(1.0, 0.0, 0.0, -1.0); 6];
        asset.meshes.push(Mesh {
            name: "Part".into(),
            primitives: vec![part],
            ..Mesh::default()
        });
        asset.nodes.push(Node {
            mesh: Some(material),
            ..node("Part", None, [material as f64, 0.0, 0.0])
        });
    }
    finished(asset)
}

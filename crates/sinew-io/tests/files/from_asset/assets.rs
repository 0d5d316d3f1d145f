//! The assets that tests convert: fixtures, with what glTF cannot say.

use std::path::Path;

use common::document::Document;
use glam::{DMat4, DQuat, DVec3, Vec3};
use sinew_animate::asset::{
    Asset, AssetClip, Curve, CurveInterpolation as Kind, Expression, HumanoidSkeleton, Keys,
    LocalTransform, MorphBind, MorphTarget, Node, Track, TrackTarget, Trs,
};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

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

/// A track that moves a node straight from X to Y in a second.
pub fn straight(node: usize) -> Track {
    let places = Keys::Translation(vec![DVec3::X, DVec3::Y]);
    track(TrackTarget::Node(node), &[0.0, 1.0], Kind::Linear, places)
}

/// Every node of a shallow asset without a parent is a root.
pub fn finished(mut asset: Asset) -> Asset {
    let roots = (0..asset.nodes.len()).filter(|i| asset.nodes[*i].parent.is_none());
    asset.roots = roots.collect();
    asset.meters_per_unit = 1.0;
    asset.validate().expect("a valid asset");
    asset
}

/// A fixture, as if it were read from `file`. Influences that weigh nothing name no joint at all.
fn fixture(name: &str, file: &str) -> Asset {
    let document = Document::fixture(&format!("assets/{name}.gltf"));
    let mut asset = gltf::read_bytes(&document.glb(), Path::new(file)).unwrap();
    asset.scenes.clear();
    asset.default_scene = None;
    let primitives = asset.meshes.iter_mut().flat_map(|m| &mut m.primitives);
    for primitive in primitives {
        for (joint, weight) in primitive.joints.iter_mut().zip(&primitive.weights) {
            if *weight == 0.0 {
                *joint = 77;
            }
        }
    }
    asset
}

/// Binds a skin in f64: its joints, as they rest, are bound to a mesh that stands there.
fn bind(asset: &mut Asset, skin: usize, world_from_mesh: DMat4) {
    let joints = asset.skins[skin].joints.iter();
    let inverse_bind = joints.map(|j| asset.rest_world(*j).inverse() * world_from_mesh);
    asset.skins[skin].inverse_bind = inverse_bind.collect();
}

/// Where the character's body and hair are bound.
pub fn world_from_body() -> DMat4 {
    DMat4::from_translation(DVec3::new(1.0, 0.5, 2.0))
}

pub fn world_from_hair() -> DMat4 {
    DMat4::from_scale_rotation_translation(
        DVec3::splat(2.0),
        DQuat::from_rotation_y(0.7),
        DVec3::new(-3.0, 0.0, 1.0),
    )
}

pub const BODY: usize = 8;
pub const HAIR: usize = 9;
pub const SWORD: usize = 6;
pub const SHIELD: usize = 11;

/// A scaled armature that moves, joints with odd names and a node between them that is none, two skins with bind
/// spaces of their own, a sword below a still node and a shield that moves by itself, morph targets. The clip `walk` is
/// straight and stepped, `grow` has scales and splines.
pub fn character() -> Asset {
    let mut asset = fixture("character", "made/hero 1.glb");
    asset.meshes[0].primitives[0].targets[1] = MorphTarget {
        point_indices: Some(vec![7, 2]),
        offsets: vec![Vec3::X, Vec3::Y],
        normal_offsets: vec![Vec3::Y, Vec3::Z],
        ..MorphTarget::default()
    };
    bind(&mut asset, 0, world_from_body());
    bind(&mut asset, 1, world_from_hair());
    finished(asset)
}

/// Two skins of the same joints whose bind matrices differ from joint to joint; one joint is sheared.
pub fn at_odds() -> Asset {
    fixture("at_odds", "odds.glb")
}

/// No skin: a box that moves, one that is sheared, and one mesh with morph targets in two places.
pub fn free() -> Asset {
    fixture("free", "free.glb")
}

/// A mesh a hundred times larger than the skeleton that its bind matrices bring it to, and a spline.
pub fn centimetres() -> Asset {
    fixture("centimetres", "centimetres.glb")
}

/// A humanoid whose meshes hang on its bones, without a skin.
pub fn puppet() -> Asset {
    let mut asset = fixture("puppet", "puppet.glb");
    asset.humanoids = vec![HumanoidSkeleton {
        location: "VRMC_vrm".into(),
        root: None,
        bones: [(Bone::Hips, 1), (Bone::Head, 2)].into(),
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
    let turn = asset.clips[0].tracks[2].clone();
    assert_eq!(turn.target, TrackTarget::Node(4));
    asset.clips = vec![AssetClip {
        name: "emote".into(),
        tracks: vec![
            slider("smile", [0.0, 1.0, 0.2]),
            slider("blink", [0.0, 0.9, 0.0]),
            turn,
        ],
        ..AssetClip::default()
    }];
    finished(asset)
}

/// A mesh for each material: plain, with every texture, without light. One picture says that it is a .webp.
pub fn painted() -> Asset {
    let mut asset = fixture("painted", "painted.glb");
    asset.images[2].file_name = "odd.webp".into();
    finished(asset)
}

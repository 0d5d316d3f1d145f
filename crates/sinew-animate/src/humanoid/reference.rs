//! The reference pose of EXT_skeleton_humanoid: a T-pose with defined bone axes.

use glam::{DMat3, DMat4, DQuat, DVec3};

use crate::asset::{Asset, AssetSkin, HumanoidSkeleton, LocalTransform, Node, Trs};
use crate::retarget::Bone;

/// Half the square root of two: 45 degrees.
const D: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// A bone in the world of the reference pose, of an adult of 1.7 m.
#[derive(Clone, Copy, Default)]
struct Posed {
    /// The +X axis.
    x: DVec3,
    /// The +Y axis.
    y: DVec3,
    /// In metres.
    position: DVec3,
}

/// A left or middle bone in the reference pose (EXT_skeleton_humanoid, "Reference pose"). +Y points
/// to the child. A positive rotation about +X bends the joint as its muscle does: the back, knees
/// and elbows bend, the hips lift the leg forward, arms and fingers move down towards the palm,
/// shoulders up, toes up, thumbs towards the fingers, the jaw shuts.
fn left(bone: Bone) -> Option<Posed> {
    use Bone::*;
    /// The height of arms and hands.
    const ARM: f64 = 1.38;
    /// Knuckles and the next two joints of a finger, along x.
    const FINGER: [f64; 3] = [0.77, 0.81, 0.835];
    // +X and +Y of the bones of each part.
    let trunk = (DVec3::X, DVec3::Y);
    let palm = (DVec3::NEG_Z, DVec3::X);
    let thumb = (DVec3::Y, DVec3::new(D, 0.0, D));
    let thigh = (DVec3::NEG_X, DVec3::NEG_Y);
    let foot = (DVec3::NEG_X, DVec3::Z);
    let finger = |joint: usize, z: f64| (palm, (FINGER[joint], ARM, z));
    // From the wrist halfway between x and z.
    let on_thumb = |along: f64| (thumb, (0.70 + along * D, ARM, 0.02 + along * D));
    let ((x, y), (right, up, front)) = match bone {
        Hips => (trunk, (0.0, 0.92, 0.0)),
        Spine => (trunk, (0.0, 1.00, 0.0)),
        Chest => (trunk, (0.0, 1.12, 0.0)),
        UpperChest => (trunk, (0.0, 1.24, 0.0)),
        Neck => (trunk, (0.0, 1.44, 0.0)),
        Head => (trunk, (0.0, 1.53, 0.0)),
        LeftEye => ((DVec3::X, DVec3::Z), (0.032, 1.60, 0.08)),
        Jaw => ((DVec3::NEG_X, DVec3::Z), (0.0, 1.55, 0.02)),
        LeftShoulder => ((DVec3::Z, DVec3::X), (0.04, ARM, 0.0)),
        LeftUpperArm => (palm, (0.17, ARM, 0.0)),
        LeftLowerArm => ((DVec3::NEG_Y, DVec3::X), (0.44, ARM, 0.0)),
        LeftHand => (palm, (0.69, ARM, 0.0)),
        LeftThumbMetacarpal => on_thumb(0.0),
        LeftThumbProximal => on_thumb(0.045),
        LeftThumbDistal => on_thumb(0.08),
        LeftIndexProximal => finger(0, 0.03),
        LeftIndexIntermediate => finger(1, 0.03),
        LeftIndexDistal => finger(2, 0.03),
        LeftMiddleProximal => finger(0, 0.01),
        LeftMiddleIntermediate => finger(1, 0.01),
        LeftMiddleDistal => finger(2, 0.01),
        LeftRingProximal => finger(0, -0.01),
        LeftRingIntermediate => finger(1, -0.01),
        LeftRingDistal => finger(2, -0.01),
        LeftLittleProximal => finger(0, -0.03),
        LeftLittleIntermediate => finger(1, -0.03),
        LeftLittleDistal => finger(2, -0.03),
        LeftUpperLeg => (thigh, (0.09, 0.88, 0.0)),
        LeftLowerLeg => ((DVec3::X, DVec3::NEG_Y), (0.09, 0.48, 0.0)),
        LeftFoot => (foot, (0.09, 0.08, 0.0)),
        LeftToes => (foot, (0.09, 0.08, 0.14)),
        _ => return None,
    };
    let position = DVec3::new(right, up, front);
    Some(Posed { x, y, position })
}

/// A bone in the reference pose. Right bones mirror left bones: their +Y and position are mirrored,
/// and turning about their +X is the mirrored turn.
fn posed(bone: Bone) -> Posed {
    let mirror = DVec3::new(-1.0, 1.0, 1.0);
    let mirrored = || {
        let posed = bone.mirrored().and_then(left)?;
        Some(Posed {
            // The sum makes a positive 0 of a negative one.
            x: DVec3::ZERO - mirror * posed.x,
            y: DVec3::ZERO + mirror * posed.y,
            position: mirror * posed.position,
        })
    };
    // There is no third kind of bones.
    left(bone).or_else(mirrored).unwrap_or_default()
}

/// W_ref, the rotation world_from_bone of a bone in the reference pose.
#[must_use]
pub fn reference_rotation(bone: Bone) -> DQuat {
    let Posed { x, y, .. } = posed(bone);
    DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize()
}

/// The position of a bone in metres.
fn position(bone: Bone) -> DVec3 {
    posed(bone).position
}

/// Whether a bone bends about one axis only, so that its +X is unique. Shoulders, upper arms,
/// thumbs, feet, eyes and the jaw bend about several axes, and models differ there.
pub(super) fn bends_one_way(bone: Bone) -> bool {
    let several = [
        "Shoulder", "UpperArm", "Thumb", "Foot", "Toes", "Eye", "jaw",
    ];
    !several.iter().any(|word| bone.name().contains(word))
}

/// A model with 55 joints and no meshes, in the reference pose. Its bind pose is its rest pose, its
/// units are metres, +Y is up, and it faces +Z. [`super::apply`] can apply an EXT_skeleton_humanoid
/// clip to it if the clip's file has no model.
#[must_use]
pub fn reference_asset() -> Asset {
    let world =
        |bone: Bone| DMat4::from_rotation_translation(reference_rotation(bone), position(bone));
    let index = |bone: Bone| bone as usize;
    let nodes = Bone::ALL.iter().map(|&bone| {
        let parent = bone.parent();
        let to_parent = parent.map_or(DMat4::IDENTITY, |p| world(p).inverse());
        let turned = parent.map_or(DQuat::IDENTITY, |p| reference_rotation(p).inverse());
        Node {
            name: bone.name().to_owned(),
            parent: parent.map(index),
            local: LocalTransform::Trs(Trs {
                translation: to_parent.transform_point3(position(bone)),
                rotation: (turned * reference_rotation(bone)).normalize(),
                scale: DVec3::ONE,
            }),
            ..Node::default()
        }
    });
    Asset {
        meters_per_unit: 1.0,
        nodes: nodes.collect(),
        roots: vec![index(Bone::Hips)],
        skins: vec![AssetSkin {
            name: "reference".to_owned(),
            joints: Bone::ALL.iter().map(|&b| index(b)).collect(),
            inverse_bind: Bone::ALL.iter().map(|&b| world(b).inverse()).collect(),
            ..AssetSkin::default()
        }],
        humanoids: vec![HumanoidSkeleton {
            location: "reference pose".to_owned(),
            root: Some(index(Bone::Hips)),
            bones: Bone::ALL.iter().map(|&b| (b, index(b))).collect(),
        }],
        ..Asset::default()
    }
}

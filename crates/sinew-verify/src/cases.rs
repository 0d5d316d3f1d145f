//! Random skins and poses from seeds.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3, EulerRot, Vec3};
use sinew::skel::InfluenceInterpolation::{Constant, Vertex};
use sinew::skel::{
    BlendShape, Inbetween, JointInfluences, Pose, RestNormals, Skin, SkinningMethod,
};

use super::rng::Rng;

#[derive(Clone, Copy, Debug)]
pub enum Influences {
    None,
    Constant(usize),
    Vertex(usize),
}

/// How joints move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Rotations below a quarter turn, scales near 1; of every third seed none.
    Mild,
    /// Any rotation, no scale at all.
    Rigid,
    /// Any rotation, scale and shear.
    Sheared,
    /// The same with some joints mirrored and some singular.
    Degenerate,
}

/// A struct whose fields have defaults, and a method for each field, which sets it.
macro_rules! options {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $kind:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[$of])* pub $field: $kind,)*
        }

        impl $name {
            $(pub const fn $field(self, $field: $kind) -> Self {
                Self { $field, ..self }
            })*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}
pub(crate) use options;

options! {
    Spec {
        seed: u64 = 1,
        points: usize = 1000,
        joints: usize = 20,
        influences: Influences = Influences::Vertex(4),
        /// The prim has its own skel:joints, some of which the skeleton lacks.
        own_joints: bool = false,
        normals: bool = true,
        /// Normals are one per face corner.
        face_varying: bool = false,
        shapes: usize = 0,
        method: SkinningMethod = SkinningMethod::ClassicLinear,
        motion: Motion = Motion::Mild,
    }
}

pub fn skin(spec: &Spec) -> Skin {
    let rng = &mut Rng::new(spec.seed);
    let points: Vec<Vec3> = (0..spec.points).map(|_| rng.vector(2.0)).collect();
    let mut normals: Vec<Vec3> = (0..spec.points)
        .map(|_| rng.vector(1.0).normalize_or_zero())
        .collect();
    if spec.points > 10 {
        // Zero stays zero, and a normal need not be of unit length.
        normals[7] = Vec3::ZERO;
        normals[8] *= 3.0;
    }
    let joint_map = spec.own_joints.then(|| {
        (0..spec.joints + 3)
            .map(|i| (i % 4 != 1).then(|| rng.below(spec.joints) as u32))
            .collect::<Vec<_>>()
    });
    let own = joint_map.as_ref().map_or(spec.joints, Vec::len);
    let mut influences = |interpolation, count: usize| {
        let rows = if interpolation == Vertex {
            spec.points
        } else {
            1
        };
        let mut joints: Vec<i32> = (0..rows * count).map(|_| rng.below(own) as i32).collect();
        // They do not sum to 1, and some are negative or zero (rule 21). Degenerate joints make normals
        // thousands of times as long, and such must not cancel each other: no f32 holds what is left.
        let may_cancel = spec.motion != Motion::Degenerate;
        let mut weights: Vec<f32> = (0..rows * count)
            .map(|_| match rng.below(12) {
                0 if may_cancel => -rng.range(0.0, 0.15),
                1 => 0.0,
                _ => rng.range(0.2, 1.4) / count as f32,
            })
            .collect();
        if spec.method == SkinningMethod::DualQuaternion && interpolation == Vertex {
            // Sums of nothing: no weights, and a joint that cancels itself (without rounding, which a
            // normal would make the most of).
            for row in (0..rows).step_by(37) {
                weights[row * count..(row + 1) * count].fill(0.0);
                if count > 1 && row % 2 == 1 {
                    joints[row * count + 1] = joints[row * count];
                    weights[row * count] = 0.25;
                    weights[row * count + 1] = -0.25;
                }
            }
        }
        JointInfluences::new(
            "/Case",
            interpolation,
            count,
            &joints,
            weights,
            spec.points,
            own,
        )
        .expect("valid")
    };
    let influences = match spec.influences {
        Influences::None => None,
        Influences::Constant(k) => Some(influences(Constant, k)),
        Influences::Vertex(k) => Some(influences(Vertex, k)),
    };
    let shapes = (0..spec.shapes)
        .map(|i| shape(rng, spec.points, i))
        .collect();
    let normals = spec.normals.then(|| match spec.face_varying {
        true => corners(rng, spec.points),
        false => RestNormals::per_point(Arc::new(normals)),
    });
    Skin::new(
        "/Case",
        Arc::new(points),
        normals,
        influences,
        joint_map,
        spec.joints,
        shapes,
    )
    .expect("valid")
    .with_method(spec.method)
}

/// Neighbouring corners share points, some refer to far ones and some to none (rule 24).
fn corners(rng: &mut Rng, points: usize) -> RestNormals {
    let count = if points == 0 { 0 } else { points * 3 + 5 };
    let indices: Vec<i32> = (0..count)
        .map(|i| match rng.below(20) {
            0 => -1,
            1 => points as i32 + rng.below(3) as i32,
            2 => rng.below(points) as i32,
            _ => ((i / 3 + rng.below(9)) % points) as i32,
        })
        .collect();
    let values = (0..count).map(|_| rng.vector(1.0).normalize_or_zero());
    RestNormals::face_varying("/Case", Arc::new(values.collect()), &indices, points).expect("valid")
}

/// Every fourth channel is empty, dense shapes alternate with sparse ones (with indices that repeat),
/// and some have in-betweens on both sides of [0, 1].
fn shape(rng: &mut Rng, points: usize, number: usize) -> Option<Arc<BlendShape>> {
    if number % 4 == 3 {
        return None;
    }
    let indices: Option<Vec<i64>> = (number % 2 == 1 && points > 0).then(|| {
        let mut picked: Vec<i64> = (0..points.div_ceil(4))
            .map(|_| rng.below(points) as i64)
            .collect();
        picked.push(picked[0]);
        picked
    });
    let count = indices.as_ref().map_or(points, Vec::len);
    let mut offsets = |size: f32| {
        (0..count)
            .map(|_| {
                if rng.chance(0.1) {
                    Vec3::ZERO
                } else {
                    rng.vector(size)
                }
            })
            .collect::<Vec<_>>()
    };
    let (own, own_normals) = (offsets(0.3), offsets(0.1));
    let weights: &[f32] = [&[][..], &[0.25, 0.6], &[-0.7, 0.5, 1.5]][number % 3];
    let inbetweens = weights
        .iter()
        .enumerate()
        .map(|(i, w)| Inbetween {
            name: format!("between{i}"),
            weight: Some(*w),
            offsets: offsets(0.2),
            normal_offsets: (i != 1).then(|| offsets(0.05)),
        })
        .collect();
    let normal_offsets = (number % 5 != 4).then_some(own_normals);
    let mut warnings = Vec::new();
    let shape = BlendShape::new(
        "/Case/Shape",
        indices.as_deref(),
        own,
        normal_offsets,
        inbetweens,
        points,
        &mut warnings,
    );
    assert!(warnings.is_empty(), "{warnings:?}");
    Some(Arc::new(shape))
}

fn rotation(rng: &mut Rng, most: f32) -> DQuat {
    let angle = |rng: &mut Rng| f64::from(rng.range(-most, most));
    DQuat::from_euler(EulerRot::XYZ, angle(rng), angle(rng), angle(rng))
}

fn scale(rng: &mut Rng) -> DVec3 {
    DVec3::new(
        rng.range(0.6, 1.7).into(),
        rng.range(0.6, 1.7).into(),
        rng.range(0.6, 1.7).into(),
    )
}

fn transform(rng: &mut Rng, size: f32) -> DMat4 {
    let rotation = rotation(rng, 0.7);
    let scale = scale(rng);
    DMat4::from_scale_rotation_translation(scale, rotation, rng.vector(size).as_dvec3())
}

fn joint(rng: &mut Rng, motion: Motion) -> DMat4 {
    if motion == Motion::Mild {
        return transform(rng, 3.0);
    }
    let rotated = DMat4::from_quat(rotation(rng, 3.1));
    let moved = DMat4::from_translation(rng.vector(3.0).as_dvec3()) * rotated;
    if motion == Motion::Rigid {
        return moved;
    }
    let mut size = scale(rng);
    if motion == Motion::Degenerate {
        match rng.below(8) {
            0 => size = DVec3::ZERO,
            // A determinant of 6e-11 is singular.
            1 => size = DVec3::splat(4e-4),
            2 => size.x = -size.x,
            3 => size = -size,
            _ => {}
        }
    }
    moved * DMat4::from_scale(size) * DMat4::from_quat(rotation(rng, 1.0))
}

/// The same `seed` gives the same skeleton pose whatever the skin.
pub fn pose(skin: &Skin, seed: u64) -> Pose {
    pose_in(skin, Motion::Mild, seed)
}

/// The same with joints that move in some way.
pub fn pose_in(skin: &Skin, motion: Motion, seed: u64) -> Pose {
    let rng = &mut Rng::new(seed ^ 0x5eed);
    // Where nothing scales, points and normals have the same matrices.
    let turns_only = motion == Motion::Mild && seed.is_multiple_of(3);
    let made = |m: DMat4| {
        let (_, rotation, translation) = m.to_scale_rotation_translation();
        match turns_only {
            true => DMat4::from_rotation_translation(rotation, translation),
            false => m,
        }
    };
    let skinning = (0..skin.joint_count())
        .map(|_| made(joint(rng, motion)))
        .collect();
    let weight = |rng: &mut Rng| match rng.below(5) {
        0 => 0.0,
        1 => rng.range(-1.5, 0.0),
        2 => rng.range(1.0, 2.5),
        _ => rng.range(0.0, 1.0),
    };
    Pose {
        skinning: skin.influences().map(|_| Arc::new(skinning)),
        geom_bind: made(transform(rng, 1.0)),
        channel_weights: skin.shapes().iter().map(|_| weight(rng)).collect(),
        out_from_skel: transform(rng, 5.0),
    }
}

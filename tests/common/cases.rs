//! Random skins and poses from seeds.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3, EulerRot, Vec3};
use sinew::skel::InfluenceInterpolation::{Constant, Vertex};
use sinew::skel::{BlendShape, Inbetween, JointInfluences, Pose, RestNormals, Skin};

use super::rng::Rng;

#[derive(Clone, Copy, Debug)]
pub enum Influences {
    None,
    Constant(usize),
    Vertex(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub seed: u64,
    pub points: usize,
    pub joints: usize,
    pub influences: Influences,
    /// The prim has its own skel:joints, some of which the skeleton lacks.
    pub own_joints: bool,
    pub normals: bool,
    pub shapes: usize,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            seed: 1,
            points: 1000,
            joints: 20,
            influences: Influences::Vertex(4),
            own_joints: false,
            normals: true,
            shapes: 0,
        }
    }
}

fn vector(rng: &mut Rng, size: f32) -> Vec3 {
    Vec3::new(
        rng.range(-size, size),
        rng.range(-size, size),
        rng.range(-size, size),
    )
}

pub fn skin(spec: &Spec) -> Skin {
    let rng = &mut Rng::new(spec.seed);
    let points: Vec<Vec3> = (0..spec.points).map(|_| vector(rng, 2.0)).collect();
    let mut normals: Vec<Vec3> = (0..spec.points)
        .map(|_| vector(rng, 1.0).normalize_or_zero())
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
        let joints: Vec<i32> = (0..rows * count).map(|_| rng.below(own) as i32).collect();
        // They do not sum to 1, and some are negative or zero (rule 21).
        let weights = (0..rows * count)
            .map(|_| match rng.below(12) {
                0 => -rng.range(0.0, 0.15),
                1 => 0.0,
                _ => rng.range(0.2, 1.4) / count as f32,
            })
            .collect();
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
    let normals = spec
        .normals
        .then(|| RestNormals::per_point(Arc::new(normals)));
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
}

/// Every fourth slot is empty, dense shapes alternate with sparse ones (with indices that repeat),
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
                    vector(rng, size)
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
    Some(Arc::new(shape.expect("valid")))
}

fn transform(rng: &mut Rng, size: f32) -> DMat4 {
    let angle = |rng: &mut Rng| f64::from(rng.range(-0.7, 0.7));
    let rotation = DQuat::from_euler(EulerRot::XYZ, angle(rng), angle(rng), angle(rng));
    let scale = DVec3::new(
        rng.range(0.6, 1.7).into(),
        rng.range(0.6, 1.7).into(),
        rng.range(0.6, 1.7).into(),
    );
    DMat4::from_scale_rotation_translation(scale, rotation, vector(rng, size).as_dvec3())
}

/// The same `seed` gives the same skeleton pose whatever the skin.
pub fn pose(skin: &Skin, seed: u64) -> Pose {
    let rng = &mut Rng::new(seed ^ 0x5eed);
    let skinning = (0..skin.joint_count())
        .map(|_| transform(rng, 3.0))
        .collect();
    let weight = |rng: &mut Rng| match rng.below(5) {
        0 => 0.0,
        1 => rng.range(-1.5, 0.0),
        2 => rng.range(1.0, 2.5),
        _ => rng.range(0.0, 1.0),
    };
    Pose {
        skinning: skin.influences().map(|_| Arc::new(skinning)),
        geom_bind: transform(rng, 1.0),
        channel_weights: skin.shapes().iter().map(|_| weight(rng)).collect(),
        out_from_skel: transform(rng, 5.0),
    }
}

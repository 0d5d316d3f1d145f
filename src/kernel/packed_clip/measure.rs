//! The error of a packed clip: how far points near joints are from where the source has them, after
//! the whole hierarchy, in f64.

use glam::{DAffine3, DMat3, DVec3};

use super::ClipSource;
use crate::kernel::JointTransform;
use crate::math::Trs;
use crate::skel::Topology;

/// The largest error that the encoder measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClipError {
    /// The largest distance between the points of the packed clip and of the source, in metres.
    pub metres: f64,
    /// The joint.
    pub joint: usize,
    /// Time in seconds from the beginning of the clip.
    pub seconds: f64,
}

/// The matrix of a local transform. The rotation is used as it is.
pub(super) fn matrix(local: &Trs) -> DAffine3 {
    DAffine3::from_mat4(crate::math::make_transform(
        local.translation,
        local.rotation,
        local.scale,
    ))
}

pub(super) fn matrix_of(joint: &JointTransform) -> DAffine3 {
    DAffine3::from_mat4(joint.matrix())
}

/// Multiplies the local matrices down the hierarchy.
pub(super) fn to_skeleton(topology: &Topology, locals: &mut [DAffine3]) {
    for joint in 0..locals.len() {
        if let Some(parent) = topology.parent(joint) {
            locals[joint] = locals[parent] * locals[joint];
        }
    }
}

/// The largest distance between the images of one point by two matrices, for any point at most
/// `distance` from the origin; never too small, and at most 1.5 times too large.
pub(super) fn error(a: &DAffine3, b: &DAffine3, distance: f64) -> f64 {
    let shift = (a.translation - b.translation).length();
    shift + distance * stretch(a.matrix3 - b.matrix3)
}

/// An upper bound of the largest singular value.
fn stretch(m: DMat3) -> f64 {
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis];
    let frobenius = x.length_squared() + y.length_squared() + z.length_squared();
    let columns = [x, y, z].map(|c| c.abs().element_sum());
    let columns = columns[0].max(columns[1]).max(columns[2]);
    let rows = (x.abs() + y.abs() + z.abs()).max_element();
    frobenius.min(columns * rows).sqrt()
}

/// For each joint, how far a point that moves with it or with a joint below can be from it: the
/// lever of an error of its rotation. In units of the skeleton; `distance` is that of the points.
pub(super) fn reaches(source: &ClipSource, times: &[f64], distance: f64) -> Vec<f64> {
    /// Poses that reaches are measured in; between them little changes.
    const POSES: usize = 24;
    let topology = &source.topology;
    let mut reaches = vec![distance; topology.len()];
    let every = times.len().div_ceil(POSES).max(1);
    for time in times.iter().step_by(every) {
        let mut joints: Vec<DAffine3> = (0..topology.len())
            .map(|joint| matrix(&source.joint(joint, *time)))
            .collect();
        to_skeleton(topology, &mut joints);
        for joint in 0..joints.len() {
            let at = joints[joint].translation;
            let stretch = stretch(joints[joint].matrix3).max(1e-9);
            let around = distance * stretch;
            let mut above = Some(joint);
            while let Some(ancestor) = above {
                let far = (at - joints[ancestor].translation).length() + around;
                reaches[ancestor] = reaches[ancestor].max(far);
                above = topology.parent(ancestor);
            }
        }
    }
    reaches
}

/// The largest error of one component of one joint that its own curve may have: a translation, a
/// rotation (as the length of the difference of quaternions) and a scale that each move points by
/// `bound`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    pub rotation: f64,
    pub translation: f64,
    pub scale: f64,
}

impl Allowed {
    /// `bound` and `reach` are in units of the skeleton.
    pub fn new(bound: f64, reach: f64) -> Self {
        Self {
            // A difference of quaternions is half of the angle.
            rotation: bound / (2.0 * reach.max(1e-12)),
            translation: bound,
            scale: bound / reach.max(1e-12),
        }
    }

    /// How far apart two local transforms are, as a share of what is allowed.
    pub fn share(&self, a: &Trs, b: &Trs) -> f64 {
        self.shares(a, b).into_iter().fold(0.0, f64::max)
    }

    /// The same of their rotations, translations and scales.
    pub fn shares(&self, a: &Trs, b: &Trs) -> [f64; 3] {
        let near = match a.rotation.dot(b.rotation) < 0.0 {
            true => -b.rotation,
            false => b.rotation,
        };
        let largest = |v: DVec3| v.abs().max_element();
        [
            (a.rotation - near).length() / self.rotation,
            largest(a.translation - b.translation) / self.translation,
            largest(a.scale - b.scale) / self.scale,
        ]
    }
}

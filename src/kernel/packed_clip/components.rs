//! Which components of joints, and which channels, are defaults, constants or tracks, and the values
//! of a component that put a joint where the source has it.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use rayon::prelude::*;

use super::ClipSource;
use super::measure::Allowed;
use super::samples::Samples;
use crate::kernel::JointTransform;
use crate::kernel::registry::{CLIP_ANIMATED, CLIP_CONSTANT};
use crate::math::Trs;

/// A component that can be animated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    Rotation,
    Translation,
    Scale,
}

/// An animated track.
#[derive(Clone, Copy, Debug)]
pub(super) enum TrackOf {
    Joint {
        joint: usize,
        component: Component,
        step_keys: bool,
    },
    Channel {
        channel: usize,
        step_keys: bool,
    },
}

impl Component {
    /// Its value that puts a joint where the source has it, at `wanted` in skeleton space, below a
    /// parent at `above`; `None` if it has to be the source's. `distance` is that of points from
    /// joints.
    pub fn aimed(
        self,
        source: &Trs,
        wanted: &DAffine3,
        above: &DAffine3,
        distance: f64,
    ) -> Option<[f64; 4]> {
        match self {
            Self::Rotation => rotation(source, wanted, above).map(|q| q.to_array()),
            Self::Translation => {
                translation(source, wanted, above, distance).map(|t| t.extend(0.0).to_array())
            }
            Self::Scale => None,
        }
    }
}

/// The tables of joints and channels.
#[derive(Default)]
pub(super) struct Tables {
    /// Their words, and the constants after them.
    pub words: Vec<u32>,
    /// Number of words of a joint.
    pub joint_words: u32,
    /// Number of components of joints that take the default, a constant, or a track.
    pub kinds: [usize; 3],
}

/// Which components are constant.
#[derive(Default)]
pub(super) struct Components {
    pub tables: Tables,
    pub tracks: Vec<TrackOf>,
    /// The constants of joints as they are decoded.
    pub decoded: Vec<JointTransform>,
}

impl Components {
    /// Finds them. `same` says how far a component may be from a constant.
    pub fn find(
        source: &ClipSource,
        samples: &Samples,
        same: &[Allowed],
        same_weight: f64,
    ) -> Self {
        let parts = samples.measured(samples.intervals());
        let joints: Vec<(Trs, [bool; 3], [bool; 3])> = (0..source.topology.len())
            .into_par_iter()
            .map(|joint| {
                let first = source.joint(joint, samples.time(0));
                let (mut constant, mut default) = ([true; 3], [true; 3]);
                let still = !source.joints[joint].is_animated();
                for part in 0..if still { 1 } else { parts } {
                    let now = source.joint(joint, samples.time(part));
                    let from_first = same[joint].shares(&now, &first);
                    let from_default = same[joint].shares(&now, &Trs::IDENTITY);
                    for i in 0..3 {
                        constant[i] &= from_first[i] <= 1.0;
                        default[i] &= from_default[i] <= 1.0;
                    }
                }
                (first, constant, default)
            })
            .collect();
        let mut out = Self::default();
        let (mut constants, mut entries) = (Vec::new(), Vec::new());
        for (joint, (first, constant, default)) in joints.into_iter().enumerate() {
            let place = constants.len() as u32;
            let mut word = (out.tracks.len() as u32) << 6;
            let step_keys = source.joints[joint].step_keys();
            let exact = JointTransform::from(first);
            let mut decoded = JointTransform::IDENTITY;
            let components = [
                Component::Rotation,
                Component::Translation,
                Component::Scale,
            ];
            for (i, component) in components.into_iter().enumerate() {
                let kind = match (default[i], constant[i]) {
                    (true, _) => 0,
                    (false, true) => CLIP_CONSTANT,
                    (false, false) => CLIP_ANIMATED,
                };
                out.tables.kinds[kind as usize] += 1;
                word |= kind << (2 * i);
                match (kind, component) {
                    (CLIP_ANIMATED, _) => out.tracks.push(TrackOf::Joint {
                        joint,
                        component,
                        step_keys: step_keys[i],
                    }),
                    (CLIP_CONSTANT, Component::Rotation) => {
                        decoded.rotation = exact.rotation;
                        constants.extend(exact.rotation.map(f32::to_bits));
                    }
                    (CLIP_CONSTANT, Component::Translation) => {
                        decoded.translation = exact.translation;
                        constants.extend(exact.translation.map(f32::to_bits));
                    }
                    (CLIP_CONSTANT, Component::Scale) => {
                        decoded.scale = exact.scale;
                        constants.extend(exact.scale.map(f32::to_bits));
                    }
                    _ => {}
                }
            }
            entries.push((word, place));
            out.decoded.push(decoded);
        }
        // Whether one word holds the kinds, a track and a constant.
        let fits = |(word, place): &(u32, u32)| word >> 6 <= 0x1fff && *place <= 0x1fff;
        let (joint_words, mut words): (_, Vec<u32>) = match entries.iter().all(fits) {
            true => (1, entries.iter().map(|(a, b)| a | b << 19).collect()),
            false => (2, entries.iter().flat_map(|(a, b)| [*a, *b]).collect()),
        };
        for (channel, curve) in source.weights.iter().enumerate() {
            let mut weights = (0..parts).map(|part| source.weight(channel, samples.time(part)));
            let first = source.weight(channel, samples.time(0));
            let is_constant = weights.all(|w| (w - first).abs() <= same_weight);
            let word = match (is_constant, first.abs() <= same_weight) {
                (true, true) => 0,
                (true, false) => {
                    constants.push((first as f32).to_bits());
                    CLIP_CONSTANT | (constants.len() as u32 - 1) << 2
                }
                (false, _) => {
                    let step_keys = curve.is_held();
                    out.tracks.push(TrackOf::Channel { channel, step_keys });
                    CLIP_ANIMATED | (out.tracks.len() as u32 - 1) << 2
                }
            };
            words.push(word);
        }
        words.extend(constants);
        (out.tables.joint_words, out.tables.words) = (joint_words, words);
        out
    }
}

/// The local rotation of a joint that turns it to `wanted` in skeleton space, below a parent at
/// `above`. `None` if that is not near to the rotation of the source: if joints shear or hardly have
/// a size, or the quaternion of the source has no unit length.
fn rotation(source: &Trs, wanted: &DAffine3, above: &DAffine3) -> Option<DQuat> {
    /// Largest deviation of the length of an axis from 1, and of a cosine from 0.
    const SHEAR: f64 = 1e-3;
    /// Least cosine of half of the angle to the rotation of the source.
    const NEAR: f64 = 1.0 - 1e-4;
    let is_unit = (source.rotation.length_squared() - 1.0).abs() < 1e-6;
    let local = above.matrix3.inverse() * wanted.matrix3;
    let [x, y, z] = [
        local.x_axis / source.scale.x,
        local.y_axis / source.scale.y,
        local.z_axis / source.scale.z,
    ];
    let has_length = |v: DVec3| (v.length_squared() - 1.0).abs() < SHEAR;
    let is_across = |a: DVec3, b: DVec3| a.dot(b).abs() < SHEAR;
    let is_rotation = [x, y, z].into_iter().all(has_length)
        && is_across(x, y)
        && is_across(y, z)
        && is_across(z, x)
        && x.cross(y).dot(z) > 0.0;
    if !is_unit || !is_rotation {
        return None;
    }
    let q = DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize();
    let cosine = q.dot(source.rotation);
    // The same sign as that of the source, so that neighbouring keys have it.
    let q = if cosine < 0.0 { -q } else { q };
    (cosine.abs() > NEAR).then_some(q)
}

/// The local translation of a joint that puts it at `wanted` in skeleton space, below a parent at
/// `above`. `None` if that is far from the translation of the source, compared with its length and
/// `distance`.
fn translation(source: &Trs, wanted: &DAffine3, above: &DAffine3, distance: f64) -> Option<DVec3> {
    const NEAR: f64 = 0.05;
    let at = above.inverse().transform_point3(wanted.translation);
    let far = at.distance(source.translation);
    (far <= NEAR * (source.translation.length() + distance)).then_some(at)
}

//! Which components of joints, and which channels, are defaults, constants or tracks, and the values
//! of a component that put a joint where the source has it.

use glam::{DAffine3, DMat3, DQuat, DVec3, Quat};
use rayon::prelude::*;

use super::ClipSource;
use super::format;
use super::measure::Allowed;
use super::samples::Samples;
use crate::kernel::JointTransform;
use crate::kernel::registry::{CLIP_ANIMATED, CLIP_CONSTANT, CLIP_RAW_CONSTANT};
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

/// What a joint has in the table of joints.
pub(super) struct Entry {
    /// Kinds of its rotation, translation and scale.
    pub kinds: [u32; 3],
    /// Its first track.
    pub track: usize,
    /// Its first constant.
    pub constant: usize,
}

/// Which components are constant.
pub(super) struct Components {
    pub entries: Vec<Entry>,
    /// The word of each channel.
    pub channels: Vec<u32>,
    pub constants: Vec<u32>,
    pub tracks: Vec<TrackOf>,
    /// The constants of joints as they are decoded.
    pub decoded: Vec<JointTransform>,
}

impl Components {
    /// Finds them. `same` and `packed` say how far a component may be from a constant: as it is in
    /// f32, and as a rotation of 62 bits.
    pub fn find(
        source: &ClipSource,
        samples: &Samples,
        same: &[Allowed],
        packed: &[Allowed],
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
                    for i in 0..3 {
                        constant[i] &= near(&same[joint], i, &now, &first);
                        default[i] &= near(&same[joint], i, &now, &Trs::IDENTITY);
                    }
                }
                (first, constant, default)
            })
            .collect();
        let mut out = Self {
            entries: Vec::new(),
            channels: Vec::new(),
            constants: Vec::new(),
            tracks: Vec::new(),
            decoded: Vec::new(),
        };
        for (joint, (first, constant, default)) in joints.into_iter().enumerate() {
            out.joint(source, joint, &first, constant, default, &packed[joint]);
        }
        for (channel, curve) in source.weights.iter().enumerate() {
            let mut weights = (0..parts).map(|part| source.weight(channel, samples.time(part)));
            let first = source.weight(channel, samples.time(0));
            let word = if weights.all(|w| (w - first).abs() <= same_weight) {
                match first.abs() <= same_weight {
                    true => 0,
                    false => {
                        out.constants.push((first as f32).to_bits());
                        CLIP_CONSTANT | (out.constants.len() as u32 - 1) << 2
                    }
                }
            } else {
                let step_keys = curve.is_held();
                out.tracks.push(TrackOf::Channel { channel, step_keys });
                CLIP_ANIMATED | (out.tracks.len() as u32 - 1) << 2
            };
            out.channels.push(word);
        }
        out
    }

    fn joint(
        &mut self,
        source: &ClipSource,
        joint: usize,
        first: &Trs,
        constant: [bool; 3],
        default: [bool; 3],
        packed: &Allowed,
    ) {
        let (track, at) = (self.tracks.len(), self.constants.len());
        let mut decoded = JointTransform::IDENTITY;
        let mut kinds = [0; 3];
        let step_keys = source.joints[joint].step_keys();
        let components = [
            Component::Rotation,
            Component::Translation,
            Component::Scale,
        ];
        for (i, component) in components.into_iter().enumerate() {
            if default[i] {
                continue;
            }
            if !constant[i] {
                kinds[i] = CLIP_ANIMATED;
                self.tracks.push(TrackOf::Joint {
                    joint,
                    component,
                    step_keys: step_keys[i],
                });
                continue;
            }
            kinds[i] = CLIP_CONSTANT;
            let exact = JointTransform::from(*first);
            match component {
                Component::Rotation => {
                    let unit = first.rotation.normalize().as_quat();
                    let words = format::constant_rotation_words(unit);
                    let found = format::constant_rotation(&words, 0);
                    let whole = Trs {
                        rotation: Quat::from_vec4(found).as_dquat(),
                        ..*first
                    };
                    if near(packed, 0, &whole, first) {
                        decoded.rotation = found.to_array();
                        self.constants.extend(words);
                    } else {
                        kinds[i] = CLIP_RAW_CONSTANT;
                        decoded.rotation = exact.rotation;
                        self.constants.extend(exact.rotation.map(f32::to_bits));
                    }
                }
                Component::Translation => {
                    decoded.translation = exact.translation;
                    self.constants.extend(exact.translation.map(f32::to_bits));
                }
                Component::Scale => {
                    decoded.scale = exact.scale;
                    self.constants.extend(exact.scale.map(f32::to_bits));
                }
            }
        }
        self.entries.push(Entry {
            kinds,
            track,
            constant: at,
        });
        self.decoded.push(decoded);
    }
}

/// Whether one component of two transforms is the same but for what is allowed.
fn near(allowed: &Allowed, part: usize, a: &Trs, b: &Trs) -> bool {
    let only = |t: &Trs| Trs {
        rotation: if part == 0 {
            t.rotation
        } else {
            DQuat::IDENTITY
        },
        translation: if part == 1 {
            t.translation
        } else {
            Trs::IDENTITY.translation
        },
        scale: if part == 2 {
            t.scale
        } else {
            Trs::IDENTITY.scale
        },
    };
    allowed.share(&only(a), &only(b)) <= 1.0
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

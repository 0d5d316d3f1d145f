//! Joints that are the same on both sides.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::Rig;
use super::bone_map::JointPair;
use sinew::math::{self, Trs};

/// Translations are the same if they differ by less than this share of their length.
const SAME_LENGTH: f64 = 1e-3;

/// Rotations are the same if the cosine of half the angle between them is at least this. The angle
/// is 1e-3 rad.
const SAME_TURN: f64 = 1.0 - 1.25e-7;

/// A translation counts as not animated if it differs from rest by less than this share of the
/// rig's size, which is more than f32 rounding.
const AT_REST: f64 = 1e-6;

/// How a joint follows a source joint with the same position, axes and parent.
#[derive(Clone, Debug)]
pub(super) struct Same {
    source_rest: Trs,
    /// Target units to a source unit.
    units: f64,
    at_rest: f64,
}

impl Same {
    /// Adds the translation and scale of the source joint relative to its rest.
    pub fn follow(&self, source: &Trs, target: &mut Trs) {
        let moved = source.translation - self.source_rest.translation;
        if moved.length() > self.at_rest {
            target.translation += moved * self.units;
        }
        let scaled = source.scale / self.source_rest.scale;
        if scaled.is_finite() && !scaled.abs_diff_eq(DVec3::ONE, AT_REST) {
            target.scale *= scaled;
        }
    }
}

/// The metres to a unit of a rig's skeleton space.
fn metres(rig: &Rig) -> f64 {
    let placement = rig.placement();
    let volume = DMat3::from_mat4(placement.world_from_skel).determinant();
    placement.meters_per_unit * volume.abs().cbrt()
}

/// How far from the origin the joints of a rig are in its rest pose, in its units.
fn size(rig: &Rig) -> f64 {
    let at = rig.rest_skel().iter().map(|m| m.w_axis.truncate());
    at.map(|at| at.abs().max_element()).fold(0.0, f64::max)
}

/// Whether the rest translations of a pair are equal except for units. `size` is the target's.
fn is_as_long(source: &Rig, target: &Rig, size: f64, pair: &JointPair) -> bool {
    let units = metres(source) / metres(target);
    let (s, t) = (&source.rest()[pair.source], &target.rest()[pair.target]);
    let off = (s.translation * units).distance(t.translation);
    off <= SAME_LENGTH * t.translation.length() + AT_REST * size
}

/// The pair of the parents of a pair's joints, if they have one.
fn parents(source: &Rig, target: &Rig, pairs: &[JointPair], pair: &JointPair) -> Option<usize> {
    let (from, to) = (
        source.parents()[pair.source]?,
        target.parents()[pair.target]?,
    );
    let at = pairs.binary_search_by_key(&to, |p| p.target).ok()?;
    (pairs[at].source == from).then_some(at)
}

/// Whether two rigs are the same in all joints of the pairs: bone lengths and the rotations between
/// joints, in the bind pose or in the rest pose. Then the frames of their joints are the same.
pub(super) fn is_same_rig(source: &Rig, target: &Rig, pairs: &[JointPair]) -> bool {
    let turn = |m: DMat4| math::nearest_rotation(DMat3::from_mat4(m));
    let between = |pose: &[DMat4], above: usize, joint: usize| {
        Some(turn(pose[above])?.inverse() * turn(pose[joint])?)
    };
    let mut count = 0;
    let size = size(target);
    let all = pairs.iter().all(|pair| {
        let Some(above) = parents(source, target, pairs, pair).map(|p| &pairs[p]) else {
            // Joints that hang from others, or from none.
            let roots = (source.parents()[pair.source], target.parents()[pair.target]);
            return matches!(roots, (None, None));
        };
        count += 1;
        let poses = [
            (source.bind(), target.bind()),
            (source.rest_skel(), target.rest_skel()),
        ];
        let is_turned_alike = poses.into_iter().any(|(from, to)| {
            let (a, b) = (
                between(from, above.source, pair.source),
                between(to, above.target, pair.target),
            );
            a.zip(b).is_some_and(|(a, b)| a.dot(b).abs() >= SAME_TURN)
        });
        is_turned_alike && is_as_long(source, target, size, pair)
    });
    all && count > 2
}

/// For each pair, whether it is the same joint on both sides: the frames of both joints and of their
/// parents are the same in the body, the parents are paired, and the rest translations are equal
/// except for units. `after` are the rotations between the frames of each pair.
pub(super) fn same_joints(
    source: &Rig,
    target: &Rig,
    pairs: &[JointPair],
    after: &[DQuat],
) -> Vec<Option<Same>> {
    let [from_size, to_size] = [source, target].map(size);
    let is_alike = |i: usize| after[i].w.abs() >= SAME_TURN;
    let same = |(i, pair): (usize, &JointPair)| {
        let on_the_same = match (source.parents()[pair.source], target.parents()[pair.target]) {
            (None, None) => true,
            _ => parents(source, target, pairs, pair).is_some_and(is_alike),
        };
        let is_same = on_the_same && is_alike(i) && is_as_long(source, target, to_size, pair);
        is_same.then(|| Same {
            source_rest: source.rest()[pair.source],
            units: metres(source) / metres(target),
            at_rest: AT_REST * from_size,
        })
    };
    pairs.iter().enumerate().map(same).collect()
}

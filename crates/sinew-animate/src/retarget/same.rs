//! Joints that are the same on both sides.

use glam::DVec3;

use super::Rig;
use super::bone_map::JointPair;
use super::reference::{Reference, pair_above};
use sinew::math::Trs;

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

/// For each pair, whether it is the same joint on both sides: the reference rotations of both
/// joints and of their parents are equal, the parents are paired, and the rest translations are
/// equal except for units.
pub(super) fn same_joints(
    (source, from): (&Rig, &Reference),
    (target, to): (&Rig, &Reference),
    pairs: &[JointPair],
) -> Vec<Option<Same>> {
    let volume = |r: &Reference| glam::DMat3::from_mat4(r.placed).determinant().abs().cbrt();
    let units = volume(from) / volume(to);
    let size = |rig: &Rig| {
        let at = rig
            .rest_skel()
            .iter()
            .map(|m| m.w_axis.truncate().abs().max_element());
        at.fold(0.0, f64::max)
    };
    let at_rest = AT_REST * size(source);
    let turned =
        |p: &JointPair| from.turn_of(p.source).dot(to.turn_of(p.target)).abs() >= SAME_TURN;
    let is_same = |pair: &JointPair| {
        let (s, t) = (&source.rest()[pair.source], &target.rest()[pair.target]);
        let off = (s.translation * units).distance(t.translation);
        let is_close = off <= SAME_LENGTH * t.translation.length() + AT_REST * size(target);
        let on_the_same = match (source.parents()[pair.source], target.parents()[pair.target]) {
            (None, None) => true,
            (Some(a), Some(b)) => pair_above(target, pairs, pair)
                .map(|above| &pairs[above])
                .is_some_and(|above| above.source == a && above.target == b && turned(above)),
            _ => false,
        };
        is_close && on_the_same && turned(pair)
    };
    let same = |pair: &JointPair| {
        is_same(pair).then(|| Same {
            source_rest: from.rest[pair.source],
            units,
            at_rest,
        })
    };
    pairs.iter().map(same).collect()
}

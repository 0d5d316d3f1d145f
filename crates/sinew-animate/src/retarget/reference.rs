//! The reference poses that rotations are measured from, in the common space of the two rigs.
//!
//! The common space is in metres, with Y up. The heading of a character in its stage is removed,
//! because it has nothing to do with that of the other character.

use glam::{DMat3, DMat4, DQuat, DVec3};

use super::Rig;
use super::bone_map::JointPair;
use super::stance::Stance;
use sinew::math::{self, Trs};

/// A rig in the common space, in its reference pose.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub common_from_world: DMat4,
    /// common_from_skel.
    pub placed: DMat4,
    /// Joint-local rest transforms. Those of root joints are in skeleton space.
    pub rest: Vec<Trs>,
    /// common_from_joint of the reference pose. Paired joints have the rotations of the stance, all
    /// else is as at rest.
    joints: Vec<DMat4>,
    /// The rotations of `joints`.
    turns: Vec<DQuat>,
    /// common_from_joint of the rest pose.
    at_rest: Vec<DMat4>,
    hips: Option<usize>,
}

/// Joints whose heights tell where a character stands.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub hips: Option<usize>,
    /// Feet and toes.
    pub feet: Vec<usize>,
}

impl Reference {
    /// The stance of a rig. `paired` tells for each joint whether it has a partner.
    pub fn new(rig: &Rig, stance: &Stance, paired: &[bool], standing: &Standing) -> Self {
        let placement = rig.placement();
        let upright = turn_to_y(placement.up);
        let world = math::nearest_rotation(DMat3::from_mat4(placement.world_from_skel));
        // The placement as if both of its spaces had Y up. Its heading is the rest of the rotation
        // after the skeleton was set upright. Transforms to which the rotation does not apply have
        // no heading from it.
        let turned = upright * world.unwrap_or_default() * upright.inverse();
        let skel_up = turned.inverse() * DVec3::Y;
        let heading = match stance.skel_from_rest {
            Some(_) => DQuat::IDENTITY,
            None => turned * turn_to_y(skel_up).inverse(),
        };
        let common_from_world = DMat4::from_scale(DVec3::splat(placement.meters_per_unit))
            * DMat4::from_quat((heading.inverse() * upright).normalize());
        let placed = common_from_world * placement.world_from_skel;
        let moved = stance.skel_from_rest.unwrap_or(DMat4::IDENTITY);
        let mut rest = rig.rest().to_vec();
        if stance.skel_from_rest.is_some() {
            for (local, parent) in rest.iter_mut().zip(rig.parents()) {
                if parent.is_none() {
                    *local = Trs::from_matrix(&(moved * local.matrix()));
                }
            }
        }
        let mut out = Self {
            common_from_world,
            placed,
            rest,
            joints: Vec::with_capacity(rig.len()),
            turns: Vec::with_capacity(rig.len()),
            at_rest: rig
                .rest_skel()
                .iter()
                .map(|m| placed * moved * *m)
                .collect(),
            hips: standing.hips,
        };
        let turn = math::nearest_rotation(DMat3::from_mat4(placed)).unwrap_or_default();
        for (j, parent) in rig.parents().iter().enumerate() {
            let (above, above_turn) = match parent {
                Some(p) => (out.joints[*p], out.turns[*p]),
                None => (placed, turn),
            };
            let mut local = out.rest[j];
            if paired[j]
                && let Some(wanted) =
                    math::nearest_rotation(DMat3::from_mat4(placed) * stance.linear[j])
            {
                local.rotation = (above_turn.inverse() * wanted).normalize();
            }
            let joint = above * local.matrix();
            out.turns.push(match rig.is_uniform() {
                true => above_turn * local.rotation,
                false => math::nearest_rotation(DMat3::from_mat4(joint))
                    .unwrap_or(above_turn * local.rotation),
            });
            out.joints.push(joint);
        }
        out.stand(stance, standing);
        out
    }

    /// Moves the reference pose up or down to where the character stands. Its legs may be bent at
    /// rest, so that the hips of the rest pose are lower.
    fn stand(&mut self, stance: &Stance, standing: &Standing) {
        let Some(hips) = standing.hips else { return };
        let y = |m: &DMat4| m.w_axis.y;
        let lowest = |joints: &[DMat4]| {
            let feet = standing.feet.iter().map(|f| y(&joints[*f]));
            feet.min_by(f64::total_cmp)
        };
        let (Some(foot), Some(rest_foot)) = (lowest(&self.joints), lowest(&self.at_rest)) else {
            self.raise(y(&self.at_rest[hips]) - y(&self.joints[hips]));
            return;
        };
        // The legs are as at rest if the feet are.
        let leg = |joints: &[DMat4], foot: usize| (joints[foot] - joints[hips]).w_axis;
        let is_rest = standing.feet.iter().all(|f| {
            let (own, rest) = (leg(&self.joints, *f), leg(&self.at_rest, *f));
            (own - rest).length() <= 1e-3 * rest.length()
        });
        if is_rest {
            self.raise(y(&self.at_rest[hips]) - y(&self.joints[hips]));
            return;
        }
        let bound = stance.positions.as_ref().map(|at| {
            let y = |joint: usize| self.placed.transform_point3(at[joint]).y;
            let feet = standing.feet.iter().map(|f| y(*f));
            (y(hips), feet.fold(f64::INFINITY, f64::min))
        });
        match bound {
            Some((hips_at, foot)) if stands_on_origin(hips_at, foot) => {
                self.raise(hips_at - y(&self.joints[hips]));
            }
            _ => self.raise(rest_foot - foot),
        }
    }

    fn raise(&mut self, by: f64) {
        if by.is_finite() {
            self.joints.iter_mut().for_each(|m| m.w_axis.y += by);
        }
    }

    /// Turns the rig about the vertical axis by an angle in radians.
    pub fn turn(&mut self, angle: f64) {
        let turn = DQuat::from_rotation_y(angle);
        let matrix = DMat4::from_quat(turn);
        self.common_from_world = matrix * self.common_from_world;
        self.placed = matrix * self.placed;
        for m in self.joints.iter_mut().chain(&mut self.at_rest) {
            *m = matrix * *m;
        }
        self.turns.iter_mut().for_each(|t| *t = turn * *t);
    }

    /// common_from_joint of all joints in the reference pose.
    pub fn joints(&self) -> &[DMat4] {
        &self.joints
    }

    /// The position of a joint in the reference pose, in the common space.
    pub fn position(&self, joint: usize) -> DVec3 {
        self.joints[joint].w_axis.truncate()
    }

    /// Where the motion of a root joint starts: its position at rest. The hips are as high as in
    /// the reference pose.
    pub fn root_position(&self, joint: usize) -> DVec3 {
        let rest = self.at_rest[joint].w_axis.truncate();
        match self.hips == Some(joint) {
            true => rest.with_y(self.position(joint).y),
            false => rest,
        }
    }

    /// The rotation of a joint in the reference pose, in the common space.
    pub fn turn_of(&self, joint: usize) -> DQuat {
        self.turns[joint]
    }
}

/// Whether the origin of the world is on the ground, for the heights of hips and feet. Ankles and
/// heels are a little above the ground; a character on a table is further above the origin.
pub(super) fn stands_on_origin(hips: f64, foot: f64) -> bool {
    foot.abs() <= 0.35 * (hips - foot)
}

/// The shortest rotation from an up direction to Y; exactly the identity if it already is Y.
fn turn_to_y(up: DVec3) -> DQuat {
    match up.abs_diff_eq(DVec3::Y, 1e-12) {
        true => DQuat::IDENTITY,
        false => DQuat::from_rotation_arc(up.normalize_or(DVec3::Y), DVec3::Y),
    }
}

/// The angle about the vertical axis, in radians, after which the source faces the same way as the
/// target. It is the rotation for which the paired joints, seen from above, fit each other best. It
/// is 0 if they are ambiguous, as in a straight chain.
pub(super) fn facing(source: &Reference, target: &Reference, pairs: &[JointPair]) -> f64 {
    let count = pairs.len().max(1) as f64;
    let centre = |at: &dyn Fn(&JointPair) -> DVec3| pairs.iter().map(at).sum::<DVec3>() / count;
    let of_source = |p: &JointPair| source.position(p.source);
    let of_target = |p: &JointPair| target.position(p.target);
    let (from, to) = (centre(&of_source), centre(&of_target));
    let (mut dot, mut cross, mut sizes) = (0.0, 0.0, [0.0; 2]);
    let mut heights = [0.0; 2];
    for pair in pairs {
        let (a, b) = (of_source(pair) - from, of_target(pair) - to);
        dot += a.x * b.x + a.z * b.z;
        cross += a.z * b.x - a.x * b.z;
        for (i, v) in [a, b].into_iter().enumerate() {
            sizes[i] += v.x * v.x + v.z * v.z;
            heights[i] += v.y * v.y;
        }
    }
    let flat = |i: usize| sizes[i] <= 1e-4 * heights[i];
    let agreement = f64::hypot(dot, cross) / f64::sqrt(sizes[0] * sizes[1]);
    if flat(0) || flat(1) || agreement.is_nan() || agreement < 0.5 {
        return 0.0;
    }
    cross.atan2(dot)
}

/// The nearest paired joint above a pair's target; pairs are in the order of the target's joints.
pub(super) fn pair_above(rig: &Rig, pairs: &[JointPair], pair: &JointPair) -> Option<usize> {
    rig.chain(pair.target)
        .skip(1)
        .find_map(|joint| pairs.binary_search_by_key(&joint, |p| p.target).ok())
}

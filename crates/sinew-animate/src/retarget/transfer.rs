//! How the joints of a pair are turned against each other.

use glam::{DMat4, DQuat, DVec3};

use super::bone_map::JointPair;
use super::characterise::{Body, Landmarks, Pose};
use super::same::is_same_rig;
use super::{Bone, RetargetPose, Rig};
use sinew::error::Warning;

/// Two rigs with their bodies, and what the joints of each pair have in common.
pub(super) struct Transfer {
    pub source: Body,
    pub target: Body,
    /// For each pair, the rotation that is applied after that of the source joint: the world rotation
    /// of the target joint is `S * after`.
    pub after: Vec<DQuat>,
    /// Whether all of the pairs are the same joints on both sides.
    pub is_same_rig: bool,
    /// Bones of limbs that hardly bend where they are measured.
    pub unsure: [Vec<Bone>; 2],
}

impl Transfer {
    pub fn new(
        (source_rig, source): (&Rig, Body),
        (target_rig, target): (&Rig, Body),
        pairs: &[JointPair],
    ) -> Self {
        let is_clip = |body: &Body| body.reference == RetargetPose::Clip;
        let (from, unsure_from) = source.landmarks(source_rig, is_clip(&target));
        let (to, unsure_to) = target.landmarks(target_rig, is_clip(&source));
        let is_same_rig = is_same_rig(source_rig, target_rig, pairs);
        let mut after: Vec<Option<DQuat>> = (0..pairs.len())
            .map(|i| match is_same_rig {
                true => Some(DQuat::IDENTITY),
                false => by_landmarks(&pairs[i], &from, &to),
            })
            .collect();
        let hips = pairs.iter().position(|p| p.bone == Some(Bone::Hips));
        for (i, pair) in pairs.iter().enumerate() {
            if after[i].is_some() {
                continue;
            }
            let carrier = carrier(source_rig, target_rig, pairs, pair).or(hips);
            let carrier = carrier.and_then(|c| Some((pairs[c], after[c]?)));
            let mut own = carried((&source.pose, &target.pose), pair, carrier);
            let landmarks = pair.bone.and_then(|b| from.get(&b).zip(to.get(&b)));
            if let Some((a, b)) = landmarks {
                own = (DQuat::from_rotation_arc(own * b.first, a.first) * own).normalize();
            }
            after[i] = Some(own);
        }
        Self {
            after: after.into_iter().map(Option::unwrap_or_default).collect(),
            is_same_rig,
            unsure: [unsure_from, unsure_to],
            source,
            target,
        }
    }

    /// Warnings about sides that are measured over a clip.
    pub fn warnings<'a>(&'a self, rigs: [&'a Rig; 2]) -> impl Iterator<Item = Warning> + 'a {
        let bodies = [&self.source, &self.target].into_iter().zip(rigs);
        let solved = bodies.filter(|(body, _)| {
            body.reference == RetargetPose::Clip && body.is_never_standing && !self.is_same_rig
        });
        solved.map(|(body, rig)| {
            let message = match body.samples.is_empty() {
                true => {
                    "neither its bind pose nor its rest pose stands: turns are measured from its bind pose all the same"
                }
                false => {
                    "it stands neither in its bind pose nor in its rest pose with its bones as they are in the clip: its body is measured over the poses of its clip"
                }
            };
            Warning::new("retarget-reference", rig.label(), message)
        })
    }

    /// The pose of the source in which it stands as the target's reference does, upright and facing
    /// +Z: its own reference, if it has one.
    pub fn source_standing(&self, rig: &Rig, pairs: &[JointPair]) -> Pose {
        if self.source.reference != RetargetPose::Clip {
            return self.source.pose.clone();
        }
        let mut world: Vec<DMat4> = Vec::with_capacity(rig.len());
        let scale = rig.placement().meters_per_unit;
        let mut pair_of = vec![None; rig.len()];
        for (i, pair) in pairs.iter().enumerate() {
            pair_of[pair.source].get_or_insert(i);
        }
        // Joints without a pair are as in the clip: at rest some of them may be of another body.
        let samples = rig.local_samples();
        let local = samples.first().map_or(rig.rest(), |(_, local)| local);
        for (j, local) in local.iter().enumerate() {
            let above =
                rig.parents()[j].map_or(DMat4::from_scale(DVec3::splat(scale)), |p| world[p]);
            let mut m = above * local.matrix();
            if let Some(i) = pair_of[j] {
                let turn = self.target.pose.turn[pairs[i].target] * self.after[i].inverse();
                m = DMat4::from_scale_rotation_translation(
                    DVec3::splat(m.determinant().abs().cbrt()),
                    turn.normalize(),
                    m.w_axis.truncate(),
                );
            }
            world.push(m);
        }
        Pose::new(rig, &world)
    }
}

/// The rotation between the frames of a bone's landmarks.
fn by_landmarks(pair: &JointPair, from: &Landmarks, to: &Landmarks) -> Option<DQuat> {
    let bone = pair.bone?;
    let (a, b) = (from.get(&bone)?.frame()?, to.get(&bone)?.frame()?);
    Some((a * b.inverse()).normalize())
}

/// The nearest pair above a pair, on both sides.
fn carrier(source: &Rig, target: &Rig, pairs: &[JointPair], pair: &JointPair) -> Option<usize> {
    let mut above = target.chain(pair.target).skip(1);
    above.find_map(|joint| {
        let at = pairs.binary_search_by_key(&joint, |p| p.target).ok()?;
        let mut chain = source.chain(pair.source).skip(1);
        chain.any(|j| j == pairs[at].source).then_some(at)
    })
}

/// The rotation with which a joint rides on another one as in the reference poses.
fn carried(
    (source, target): (&Pose, &Pose),
    pair: &JointPair,
    carrier: Option<(JointPair, DQuat)>,
) -> DQuat {
    let (own, other) = (source.turn[pair.source], target.turn[pair.target]);
    let after = match carrier {
        Some((on, after)) => {
            let (above, other_above) = (source.turn[on.source], target.turn[on.target]);
            own.inverse() * above * after * other_above.inverse() * other
        }
        None => own.inverse() * other,
    };
    after.normalize()
}

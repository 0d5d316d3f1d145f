//! Chooses the reference poses of two rigs.
//!
//! The two reference poses should be the same pose of two bodies, because rotations are measured
//! from them. So the stances of both rigs are tried in every combination, and the one with the
//! least deviation is chosen: between the bones of the two rigs, between each stance and the rest
//! pose, and between the legs and the vertical.

use glam::{DMat3, DQuat, DVec3};

use super::bone_map::JointPair;
use super::reference::{Reference, Standing, facing, pair_above, quarter_turns};
use super::stance::{self, Joints, Pose, Space, Stance};
use super::{Bone, RetargetPose, Rig};
use sinew::error::Warning;
use sinew::math;

/// The cost of a degree by which a stance is further from the rest pose than others of its rig.
const OFF_REST: f64 = 0.25;

/// The cost of a degree by which the legs are not vertical.
const NOT_UPRIGHT: f64 = 0.35;

/// The cost of a turn about the vertical axis. It decides between equal stances.
const TURNED: f64 = 5.0;

/// A rotation is fitted if the bones of the best stances differ by more than this, in degrees.
const POOR_FIT: f64 = 20.0;

/// What is chosen.
pub(super) struct Choice {
    pub from: Reference,
    pub to: Reference,
    /// Quarter turns about the vertical axis that the source was rotated by.
    pub quarters: i32,
    /// The stances of source and target.
    stances: [Stance; 2],
    /// Mean angle between the bones of the two rigs in degrees; of the chosen stances, and of the
    /// bind poses in skeleton space.
    deviations: [f64; 2],
}

/// One side of the retargeting.
struct Side<'a> {
    rig: &'a Rig,
    joints: Vec<usize>,
    paired: Vec<bool>,
    standing: Standing,
}

impl<'a> Side<'a> {
    fn new(rig: &'a Rig, pairs: &[JointPair], joint: impl Fn(&JointPair) -> usize) -> Self {
        let find = |bone| pairs.iter().find(|p| p.bone == Some(bone)).map(&joint);
        use Bone::{Hips, LeftFoot, LeftToes, RightFoot, RightToes};
        let feet = [LeftFoot, RightFoot, LeftToes, RightToes];
        let joints: Vec<usize> = pairs.iter().map(&joint).collect();
        let mut paired = vec![false; rig.len()];
        joints.iter().for_each(|j| paired[*j] = true);
        Self {
            rig,
            standing: Standing {
                hips: find(Hips).or(joints.first().copied()),
                feet: feet.into_iter().filter_map(find).collect(),
            },
            joints,
            paired,
        }
    }

    fn joints(&self) -> Joints<'_> {
        Joints {
            paired: &self.joints,
            hips: self.standing.hips,
        }
    }

    fn candidate(&self, stance: Stance) -> Candidate {
        let reference = Reference::new(self.rig, &stance, &self.paired, &self.standing);
        let standing = self.standing.feet.iter().map(|f| reference.position(*f));
        let feet = standing.sum::<DVec3>() / self.standing.feet.len() as f64;
        let hips = self.standing.hips.map(|h| reference.position(h) - feet);
        let legs = hips.filter(|_| !self.standing.feet.is_empty());
        Candidate {
            tilt: legs.map_or(0.0, |l| l.angle_between(DVec3::Y).to_degrees()),
            reference,
            stance,
        }
    }
}

/// A stance, in the common space.
struct Candidate {
    stance: Stance,
    reference: Reference,
    /// Angle between the legs and the vertical in degrees.
    tilt: f64,
}

impl Candidate {
    /// The cost without a look at the other rig. `nearest` is the smallest deviation from the rest
    /// pose of all stances of this pose.
    fn cost(&self, nearest: f64) -> f64 {
        let prior = match (self.stance.pose, self.stance.space) {
            (Pose::Bind, Space::Skeleton) => 0.0,
            (Pose::Bind, Space::World | Space::Turned) => 0.5,
            (Pose::Bind, Space::Fitted) => 8.0,
            (Pose::Rest, _) => 3.0,
        };
        let moved = match self.stance.skel_from_rest {
            Some(_) => 15.0,
            None => 0.0,
        };
        prior + moved + OFF_REST * (self.stance.off_rest - nearest) + NOT_UPRIGHT * self.tilt
    }
}

/// The smallest deviation from the rest pose of the stances with the same pose.
fn nearest(all: &[Candidate], pose: Pose) -> f64 {
    let same = all.iter().filter(|c| c.stance.pose == pose);
    same.map(|c| c.stance.off_rest).fold(f64::MAX, f64::min)
}

/// A bone between two pairs, by their indices.
struct Link {
    above: usize,
    below: usize,
    weight: f64,
}

/// The bones that both rigs have.
fn links(source: &Rig, target: &Rig, pairs: &[JointPair]) -> Vec<Link> {
    let link = |(below, pair): (usize, &JointPair)| {
        let above = pair_above(target, pairs, pair)?;
        let mut chain = source.chain(pair.source).skip(1);
        chain.find(|j| *j == pairs[above].source)?;
        let weight = match pair.bone {
            Some(Bone::LeftEye | Bone::RightEye | Bone::Jaw) => return None,
            Some(bone) if bone.is_finger() => 0.2,
            // Where shoulders begin differs from body to body.
            Some(Bone::LeftShoulder | Bone::RightShoulder) => 0.5,
            _ => 1.0,
        };
        Some(Link {
            above,
            below,
            weight,
        })
    };
    pairs.iter().enumerate().filter_map(link).collect()
}

/// The bones of both rigs as unit vectors, with the source turned, and their weights.
fn directions<'a>(
    (from, to): (&'a Reference, &'a Reference),
    pairs: &'a [JointPair],
    links: &'a [Link],
    turn: DQuat,
) -> impl Iterator<Item = (DVec3, DVec3, f64)> + 'a {
    links.iter().filter_map(move |link| {
        let (a, b) = (&pairs[link.above], &pairs[link.below]);
        let source = (from.position(b.source) - from.position(a.source)).try_normalize()?;
        let target = (to.position(b.target) - to.position(a.target)).try_normalize()?;
        Some((turn * source, target, link.weight))
    })
}

/// Mean angle between the bones of both rigs in degrees.
fn deviation(both: (&Reference, &Reference), pairs: &[JointPair], links: &[Link], q: i32) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (a, b, weight) in directions(both, pairs, links, quarter_turns(q)) {
        sum += weight * a.angle_between(b).to_degrees();
        weights += weight;
    }
    match weights > 0.0 {
        true => sum / weights,
        false => 0.0,
    }
}

/// The rotation of the source's bones that makes most of them point as the target's. A bone that
/// points elsewhere counts less with every round, so that arms in another pose do not matter.
fn fit(both: (&Reference, &Reference), pairs: &[JointPair], links: &[Link]) -> Option<DQuat> {
    let mut best = DQuat::IDENTITY;
    for round in 0..60 {
        let mut sum = DMat3::ZERO;
        for (a, b, weight) in directions(both, pairs, links, DQuat::IDENTITY) {
            let off = (best * a).angle_between(b);
            let weight = match round {
                0 => weight,
                _ => weight / off.max(1e-9),
            };
            sum += DMat3::from_cols(b * a.x, b * a.y, b * a.z) * weight;
        }
        if sum.determinant() <= 0.0 {
            return None;
        }
        best = math::nearest_rotation(sum)?;
    }
    Some(best)
}

/// Chooses the reference poses of two rigs.
pub(super) fn choose(
    source: &Rig,
    target: &Rig,
    pairs: &[JointPair],
    pose: RetargetPose,
) -> Choice {
    let poses: &[Pose] = match pose {
        RetargetPose::Auto => &[Pose::Bind, Pose::Rest],
        RetargetPose::Bind | RetargetPose::Align => &[Pose::Bind],
        RetargetPose::Rest => &[Pose::Rest],
    };
    let sides = [
        Side::new(source, pairs, |p| p.source),
        Side::new(target, pairs, |p| p.target),
    ];
    let links = links(source, target, pairs);
    let mut all: [Vec<Candidate>; 2] = [0, 1].map(|i| {
        let side: &Side<'_> = &sides[i];
        let stances = stance::stances(side.rig, &side.joints(), poses);
        stances.into_iter().map(|s| side.candidate(s)).collect()
    });
    let mut best = best_of(&all, pairs, &links);
    let plain = best_of_two(&all[0][0], &all[1][0], pairs, &links).0;
    if best.deviation > POOR_FIT && pose != RetargetPose::Rest {
        // The space of a rig whose bind pose and rest pose have nothing in common may be any.
        for (i, side) in sides.iter().enumerate() {
            let chosen = &all[i][[best.source, best.target][i]].stance;
            if chosen.pose == Pose::Rest || chosen.agreeing > 0.5 {
                continue;
            }
            let (s, t) = (&all[0][best.source], &all[1][best.target]);
            let Some(turn) = fit((&s.reference, &t.reference), pairs, &links) else {
                continue;
            };
            let turn = if i == 0 { turn } else { turn.inverse() };
            // From the common space to skeleton space.
            let placed = DMat3::from_mat4([s, t][i].reference.placed);
            let placed = math::nearest_rotation(placed).unwrap_or_default();
            let turn = placed.inverse() * turn * placed;
            let fitted = chosen.fitted(side.rig, &side.joints(), turn);
            let fitted = side.candidate(fitted);
            all[i].push(fitted);
        }
        best = best_of(&all, pairs, &links);
    }
    let [mut sources, mut targets] = all;
    let (from, to) = (
        sources.swap_remove(best.source),
        targets.swap_remove(best.target),
    );
    let mut turned = from.reference;
    turned.turn(best.quarters);
    Choice {
        from: turned,
        to: to.reference,
        quarters: best.quarters,
        stances: [from.stance, to.stance],
        deviations: [best.deviation, plain],
    }
}

/// A combination of stances.
struct Best {
    source: usize,
    target: usize,
    quarters: i32,
    deviation: f64,
}

fn best_of(all: &[Vec<Candidate>; 2], pairs: &[JointPair], links: &[Link]) -> Best {
    let mut best = (f64::INFINITY, None);
    for (i, from) in all[0].iter().enumerate() {
        for (j, to) in all[1].iter().enumerate() {
            let (off, quarters) = best_of_two(from, to, pairs, links);
            let turned = if quarters == 0 { 0.0 } else { TURNED };
            let own = |side: usize, c: &Candidate| c.cost(nearest(&all[side], c.stance.pose));
            let cost = off + turned + own(0, from) + own(1, to);
            if cost < best.0 || best.1.is_none() {
                let found = Best {
                    source: i,
                    target: j,
                    quarters,
                    deviation: off,
                };
                best = (cost, Some(found));
            }
        }
    }
    // Every rig has a stance.
    best.1.unwrap_or(Best {
        source: 0,
        target: 0,
        quarters: 0,
        deviation: 0.0,
    })
}

/// The deviation between two stances, and the quarter turns with which it is measured.
fn best_of_two(
    from: &Candidate,
    to: &Candidate,
    pairs: &[JointPair],
    links: &[Link],
) -> (f64, i32) {
    let both = (&from.reference, &to.reference);
    let quarters = facing(both.0, both.1, pairs);
    (deviation(both, pairs, links, quarters), quarters)
}

impl Choice {
    /// The poses that were chosen for source and target.
    pub fn poses(&self) -> [RetargetPose; 2] {
        [0, 1].map(|i| match self.stances[i].pose {
            Pose::Bind => RetargetPose::Bind,
            Pose::Rest => RetargetPose::Rest,
        })
    }

    /// Warnings about what was chosen although the evidence is not clear.
    pub fn warnings(&self, rigs: [&Rig; 2]) -> Vec<Warning> {
        let mut out = Vec::new();
        for (i, rig) in rigs.into_iter().enumerate() {
            let (stance, other) = (&self.stances[i], rigs[1 - i]);
            let degrees = rig_turn(rig).to_degrees();
            let space = match stance.space {
                _ if stance.skel_from_rest.is_some() => format!(
                    "its rest and bind transforms are in world space, while its Skeleton is rotated by {degrees:.0} degrees: the \
                     rotation is not applied to them; the reference pose rest applies it"
                ),
                // Many joints agree with the rest pose, so the space is not in doubt.
                Space::Skeleton => String::new(),
                Space::World | Space::Turned if stance.agreeing > 0.5 => String::new(),
                Space::World => format!(
                    "its bind transforms are taken to be in world space, which leaves {:.0} degrees on average between its bind \
                     pose and its rest pose; the reference pose rest does not use them",
                    stance.off_rest
                ),
                Space::Turned => format!(
                    "its bind transforms are in a rotated space, which was found by the topmost joints and leaves {:.0} degrees on \
                     average between its bind pose and its rest pose; the reference pose rest does not use them",
                    stance.off_rest
                ),
                Space::Fitted => format!(
                    "its bind transforms are in an unknown space, which was found by the bones of {}; the reference pose rest does \
                     not use them",
                    other.label()
                ),
            };
            let pose = match stance.pose {
                Pose::Bind => String::new(),
                Pose::Rest => format!(
                    "rotations are measured from its rest pose, because its bones are {:.0} degrees from those of {} on average, and \
                     {:.0} degrees if the bind poses are used; the reference pose bind uses the bind pose",
                    self.deviations[0],
                    other.label(),
                    self.deviations[1]
                ),
            };
            for message in [space, pose].into_iter().filter(|m| !m.is_empty()) {
                out.push(Warning::new("retarget-reference", rig.label(), message));
            }
        }
        out
    }
}

/// The angle by which the placement rotates a rig.
fn rig_turn(rig: &Rig) -> f64 {
    let turn = math::nearest_rotation(DMat3::from_mat4(rig.placement().world_from_skel));
    turn.map_or(0.0, |t| t.angle_between(DQuat::IDENTITY))
}

//! Chooses the reference poses of two rigs.
//!
//! The two reference poses should be the same pose of two bodies, because rotations are measured
//! from them. So the stances of both rigs are tried in every combination, and the one with the
//! least deviation is chosen: between the bones of the two rigs, between each stance and the rest
//! pose, and between the legs and the vertical.

use std::f64::consts::{FRAC_PI_2, TAU};

use glam::{DMat3, DQuat, DVec3};

use super::bone_map::JointPair;
use super::reference::{Reference, Standing, facing, pair_above};
use super::stance::{self, Joints, Pose, Space, Stance};
use super::{Bone, RetargetPose, Rig};
use sinew::error::Warning;
use sinew::math;

/// The cost of a degree by which a stance is further from the rest pose than others of its rig.
const OFF_REST: f64 = 0.25;

/// The cost of a degree by which the legs are not vertical.
const NOT_UPRIGHT: f64 = 0.35;

/// The cost of quarter turns about the vertical axis. It decides between equal stances.
const TURNED: f64 = 1.0;

/// The cost of another turn about the vertical axis.
const TURNED_ODDLY: f64 = 10.0;

/// A character that faces by less than this off an axis, in radians, counts as facing along it.
const ODD_ANGLE: f64 = 0.05;

/// Bones point exactly the same way if they differ by less than this, in degrees.
const SAME: f64 = 0.01;

/// The cost of stances whose bones do not point exactly the same way for the most part. If some do,
/// that is no chance.
const NOT_SAME: f64 = 10.0;

/// Bones that differ by less than this, in degrees, point the same way.
const SAME_DIRECTION: f64 = 1.0;

/// What is chosen.
pub(super) struct Choice {
    pub from: Reference,
    pub to: Reference,
    /// Angle about the vertical axis that the source was rotated by, in radians.
    pub turned: f64,
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
    weights: Vec<f64>,
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
            weights: stance::weights(rig, &joints),
            joints,
            paired,
        }
    }

    fn joints(&self) -> Joints<'_> {
        Joints {
            paired: &self.joints,
            weights: &self.weights,
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
            (Pose::Bind, Space::Fitted) => 1.0,
            (Pose::Rest, _) => 3.0,
        };
        let moved = match self.stance.skel_from_rest {
            Some(_) => 8.0,
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
fn deviation(
    both: (&Reference, &Reference),
    pairs: &[JointPair],
    links: &[Link],
    angle: f64,
) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (a, b, weight) in directions(both, pairs, links, DQuat::from_rotation_y(angle)) {
        sum += weight * a.angle_between(b).to_degrees();
        weights += weight;
    }
    match weights > 0.0 {
        true => sum / weights,
        false => 0.0,
    }
}

/// Whether many bones of both rigs point exactly the same way.
fn is_same(
    both: (&Reference, &Reference),
    pairs: &[JointPair],
    links: &[Link],
    turned: f64,
) -> bool {
    let bones = directions(both, pairs, links, DQuat::from_rotation_y(turned));
    let (with, total) = bones.filter(|bone| bone.2 >= 0.5).fold(
        (0.0, 0.0),
        |(with, total), (a, b, weight)| match a.dot(b) > SAME.to_radians().cos() {
            true => (with + weight, total + weight),
            false => (with, total + weight),
        },
    );
    with > 0.4 * total
}

/// The rotation of the source's bones that makes most of them point as the target's, if there is
/// one. Arms in another pose do not matter: the rotations that two bones tell are tried, and the one
/// with the most bones counts. Fingers are left out, because many of them turn with one hand.
fn fit(both: (&Reference, &Reference), pairs: &[JointPair], links: &[Link]) -> Option<DQuat> {
    let all = directions(both, pairs, links, DQuat::IDENTITY);
    let all = all.filter(|bone| bone.2 >= 0.5);
    // All pairs of bones are tried; a body has fewer.
    let all: Vec<(DVec3, DVec3, f64)> = all.take(64).collect();
    let total: f64 = all.iter().map(|bone| bone.2).sum();
    let frame = |a: DVec3, b: DVec3| {
        let across = a.cross(b).try_normalize()?;
        Some(DMat3::from_cols(a, across, a.cross(across)))
    };
    // Some bones point exactly the same way on bodies that were made alike, and most bones nearly
    // so on others.
    for (degrees, share) in [(SAME, 0.4), (SAME_DIRECTION, 0.5)] {
        let least = degrees.to_radians().cos();
        let near = |turn: &DMat3, bone: &&(DVec3, DVec3, f64)| (*turn * bone.0).dot(bone.1) > least;
        let mut best = (0.0, DMat3::IDENTITY);
        for (i, first) in all.iter().enumerate() {
            for second in &all[i + 1..] {
                // So many bones do not fit by chance.
                if best.0 > 0.6 * total {
                    break;
                }
                // Bones that are nearly in line tell no rotation.
                if first.0.dot(second.0).abs() > 0.9 {
                    continue;
                }
                let frames = frame(first.0, second.0).zip(frame(first.1, second.1));
                let Some((from, to)) = frames else { continue };
                let turn = to * from.transpose();
                // Two bones with another angle between them tell no rotation either.
                if !near(&turn, &second) {
                    continue;
                }
                let with: f64 = all.iter().filter(|b| near(&turn, b)).map(|b| b.2).sum();
                if with > best.0 {
                    best = (with, turn);
                }
            }
        }
        if best.0 <= share * total {
            continue;
        }
        let with = all.iter().filter(|bone| near(&best.1, bone));
        let sum = with.fold(DMat3::ZERO, |sum, (a, b, weight)| {
            sum + DMat3::from_cols(*b * a.x, *b * a.y, *b * a.z) * *weight
        });
        return Some(sum)
            .filter(|s| s.determinant() > 0.0)
            .and_then(math::nearest_rotation);
    }
    None
}

/// The bind pose of a side, in the spaces in which it fits the other side best: these differ by
/// quarter turns, because the other side may face another way, and by the tilt of the placement.
/// Empty if the rest pose already tells the space.
fn fitted(
    all: &[Vec<Candidate>; 2],
    side: usize,
    of: &Side<'_>,
    best: &Best,
    pairs: &[JointPair],
    links: &[Link],
) -> Vec<Candidate> {
    let is_bind = |c: &&Candidate| c.stance.pose == Pose::Bind;
    let mut binds = all[side].iter().filter(is_bind);
    if binds.clone().any(|c| c.stance.agreeing > 0.5) {
        return Vec::new();
    }
    let plain = binds.clone().find(|c| c.stance.skel_from_rest.is_none());
    let laid = binds.find(|c| c.stance.skel_from_rest.is_some());
    // The other side's pose may be its bind pose or its rest pose. It stands as it does best by
    // itself, because a fit follows it.
    let theirs = &all[1 - side];
    let by_itself = |pose: Pose| {
        let same = theirs.iter().filter(move |c| c.stance.pose == pose);
        let cost = |c: &Candidate| c.cost(nearest(theirs, pose));
        same.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    };
    let chosen = &theirs[[best.target, best.source][side]];
    let others = [by_itself(Pose::Bind), by_itself(Pose::Rest), Some(chosen)];
    let mut out = Vec::new();
    for own in plain.into_iter().chain(laid) {
        let turn = others.into_iter().flatten().find_map(|other| {
            let (s, t) = match side {
                0 => (own, other),
                _ => (other, own),
            };
            let turn = fit((&s.reference, &t.reference), pairs, links)?;
            Some(if side == 0 { turn } else { turn.inverse() })
        });
        let Some(turn) = turn else { continue };
        // From the common space to skeleton space.
        let placed = DMat3::from_mat4(own.reference.placed);
        let placed = math::nearest_rotation(placed).unwrap_or_default();
        for quarters in 0..4 {
            let turn = DQuat::from_rotation_y(f64::from(quarters) * FRAC_PI_2) * turn;
            let turn = placed.inverse() * turn * placed;
            out.push(of.candidate(own.stance.fitted(of.rig, &of.joints(), turn)));
        }
    }
    out
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
        let may_be_laid = pose != RetargetPose::Rest;
        let stances = stance::stances(side.rig, &side.joints(), poses, may_be_laid);
        stances.into_iter().map(|s| side.candidate(s)).collect()
    });
    let plain = best_of_two(&all[0][0], &all[1][0], pairs, &links).0;
    let mut best = best_of(&all, pairs, &links);
    let fits = {
        let (s, t) = (&all[0][best.source], &all[1][best.target]);
        is_same((&s.reference, &t.reference), pairs, &links, best.turned)
    };
    if !fits && pose != RetargetPose::Rest {
        for (i, side) in sides.iter().enumerate() {
            let fitted = fitted(&all, i, side, &best, pairs, &links);
            all[i].extend(fitted);
        }
        best = best_of(&all, pairs, &links);
    }
    let [mut sources, mut targets] = all;
    let (from, to) = (
        sources.swap_remove(best.source),
        targets.swap_remove(best.target),
    );
    let mut turned = from.reference;
    turned.turn(best.turned);
    Choice {
        from: turned,
        to: to.reference,
        turned: best.turned,
        stances: [from.stance, to.stance],
        deviations: [best.deviation, plain],
    }
}

/// A combination of stances.
struct Best {
    source: usize,
    target: usize,
    turned: f64,
    deviation: f64,
}

fn best_of(all: &[Vec<Candidate>; 2], pairs: &[JointPair], links: &[Link]) -> Best {
    let own = all.each_ref().map(|side| {
        let cost = |c: &Candidate| c.cost(nearest(side, c.stance.pose));
        side.iter().map(cost).collect::<Vec<f64>>()
    });
    let mut best = (f64::INFINITY, None);
    for (i, from) in all[0].iter().enumerate() {
        for (j, to) in all[1].iter().enumerate() {
            let alone = own[0][i] + own[1][j];
            if alone >= best.0 {
                continue;
            }
            let (off, angle) = best_of_two(from, to, pairs, links);
            let turned = match angle {
                0.0 => 0.0,
                _ if angle % FRAC_PI_2 == 0.0 => TURNED,
                _ => TURNED_ODDLY,
            };
            let both = (&from.reference, &to.reference);
            let chance = match is_same(both, pairs, links, angle) {
                true => 0.0,
                false => NOT_SAME,
            };
            let cost = alone + off + turned + chance;
            if cost < best.0 || best.1.is_none() {
                let found = Best {
                    source: i,
                    target: j,
                    turned: angle,
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
        turned: 0.0,
        deviation: 0.0,
    })
}

/// The deviation between two stances, and the angle about the vertical axis with which it is
/// measured.
///
/// Characters usually face along an axis, and bodies are not quite symmetric, so it is a number of
/// quarter turns. Only if another angle fits far better, as below odd placements, it is that.
fn best_of_two(
    from: &Candidate,
    to: &Candidate,
    pairs: &[JointPair],
    links: &[Link],
) -> (f64, f64) {
    let both = (&from.reference, &to.reference);
    let angle = facing(both.0, both.1, pairs);
    let quarters = (angle / FRAC_PI_2).round().rem_euclid(4.0);
    // From -90 to 180 degrees.
    let snapped = if quarters == 3.0 { -1.0 } else { quarters } * FRAC_PI_2;
    let off = deviation(both, pairs, links, snapped);
    if (angle - snapped)
        .rem_euclid(TAU)
        .min((snapped - angle).rem_euclid(TAU))
        > ODD_ANGLE
    {
        let exact = deviation(both, pairs, links, angle);
        if exact < 0.5 * off {
            return (exact, angle);
        }
    }
    (off, snapped)
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
            let laid = stance.skel_from_rest.map(|_| {
                format!(
                    "the transforms of its Skeleton tilt it by {:.0} degrees, which does not fit its bind and rest transforms: these \
                     are used without the tilt; the reference pose rest uses them with it",
                    tilt(rig).to_degrees()
                )
            });
            let space = match stance.space {
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
            let laid = laid.unwrap_or_default();
            for message in [laid, space, pose].into_iter().filter(|m| !m.is_empty()) {
                out.push(Warning::new("retarget-reference", rig.label(), message));
            }
        }
        out
    }
}

/// The angle by which the placement tilts the up axis, in radians.
fn tilt(rig: &Rig) -> f64 {
    let up = rig.placement().up;
    let turn = math::nearest_rotation(DMat3::from_mat4(rig.placement().world_from_skel));
    turn.map_or(0.0, |t| (t * up).angle_between(up))
}

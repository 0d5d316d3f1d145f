//! Keeps feet in place while they stand.
//!
//! Retargeting keeps directions, so the feet of a character with other proportions slide. The
//! contacts with the ground are found on the source: a heel or a ball that is low and still. During
//! a contact the target's foot rolls about that point, which stays in one place. Before and after
//! it the correction fades. The hips are lowered where a leg would be stretched, and the knees
//! follow.

mod contacts;
mod leg;

use glam::{DMat4, DQuat, DVec3, Quat, Vec3};
use serde::Serialize;

use super::{Bone, BoneMap, ClipSource, Rig, RigPlacement};
use crate::error::{Error, Result};
use contacts::{Contact, contacts, travel};
use leg::{Leg, Pose, at, turn};
use sinew::math::Trs;
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::skel::SkelAnimation;

/// Seconds in which a correction fades, if the next contact is far.
const FADE: f64 = 0.4;
/// Seconds of a swing that is bridged from one contact to the next.
const LONGEST_SWING: f64 = 1.2;
/// Seconds around a moment over which the lowering of the hips is smoothed, before and after.
const SMOOTH: f64 = 0.2;
/// How far a leg may be stretched, as a share of its length, if the clip does not stretch it more.
const STRETCHED: f64 = 0.985;
/// How far a leg is stretched at most.
const MOST_STRETCHED: f64 = 0.9995;
/// How far a foot is moved at most, as a share of the leg's length. If more is needed, the two rigs
/// are too different.
const FARTHEST: f64 = 0.25;
/// The fastest change of a correction that a swing begins with, in leg lengths per second.
const STEEPEST: f64 = 0.4;

/// How far feet slide while they stand, in metres: for each contact of a heel or a ball of the foot
/// with the ground, the largest horizontal distance from where the contact began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sliding {
    /// Mean over the contacts.
    pub mean: f64,
    /// That of the worst contact.
    pub worst: f64,
}

/// What [`lock_feet`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LockedFeet {
    /// Number of contacts of heels and balls of the feet with the ground.
    pub contacts: usize,
    /// Number of times that a foot stands, but is not locked: it would have to be moved too far.
    pub skipped: usize,
    /// Of the clip before.
    pub before: Sliding,
    /// Of the clip now.
    pub after: Sliding,
    /// Speed of the ground in metres per second, if the clip walks on the spot; otherwise 0.
    pub belt: f64,
    /// The largest distance by which the hips were lowered, in metres.
    pub lowered: f64,
    /// The largest distance by which an ankle is too far for its leg, in metres. Its foot slides.
    pub out_of_reach: f64,
}

/// Keeps the feet of a retargeted clip in place while the source's feet stand.
///
/// `animation` is what [`Retargeter::retarget_clip`](super::Retargeter::retarget_clip) made from
/// `source` for `target`, with the same `map`. Rotations of the legs change, and the translation of
/// the hips. Nothing changes if no foot of the source stands. The root must not be in place.
///
/// # Errors
/// - [`Error::NoLegs`] if the map does not pair upper leg, lower leg and foot of a side.
/// - [`Error::Invalid`] if the source needs rest transforms but has none, or if `animation` does
///   not have a translation and a rotation for each joint of `target`.
pub fn lock_feet(
    animation: &mut SkelAnimation,
    source: &ClipSource<'_>,
    (source_rig, target): (&Rig, &Rig),
    map: &BoneMap,
    time_codes_per_second: f64,
) -> Result<LockedFeet> {
    let legs = paired_legs(source_rig, target, map)?;
    let times: Vec<f64> = animation.rotations.times().collect();
    let seconds: Vec<f64> = times.iter().map(|t| t / time_codes_per_second).collect();
    let mut poses = poses(animation, source, target, &times)?;
    let (steps, on_a_belt) = source_steps(source, source_rig, &times, &seconds, &legs)?;
    let mut report = LockedFeet {
        contacts: count(&steps),
        ..LockedFeet::default()
    };
    if report.contacts == 0 {
        return Ok(report);
    }
    let feet: Vec<Foot> = legs.iter().map(|l| Foot::new(target, l.target)).collect();
    if on_a_belt {
        let belt = belt_below(&feet, &steps, &poses, &seconds);
        report.belt = belt.length();
        for (pose, second) in poses.iter_mut().zip(&seconds) {
            pose.carry(target, belt * -*second);
        }
    }
    report.before = sliding(&feet, &steps, &poses);
    let mut paths = Vec::with_capacity(feet.len());
    for (foot, steps) in feet.iter().zip(&steps) {
        let (path, skipped) = foot.locked(steps, &poses, &seconds);
        report.skipped += skipped;
        paths.push(path);
    }
    let hips = joint_of(target, map, Bone::Hips, |p| &p.target);
    let hips = hips.filter(|hips| {
        let is_below = |f: &Foot| target.chain(f.leg.upper).skip(1).any(|j| j == *hips);
        feet.iter().all(is_below)
    });
    if let Some(hips) = hips {
        let lowered = lowering(&feet, &paths, &poses, &seconds);
        for (pose, by) in poses.iter_mut().zip(&lowered) {
            if *by > 0.0 {
                pose.shift(target, hips, DVec3::NEG_Y * *by);
            }
        }
        report.lowered = lowered.into_iter().fold(0.0, f64::max);
    }
    for (foot, path) in feet.iter().zip(&paths) {
        let hinge = foot.hinge(&poses);
        for (pose, ankle) in poses.iter_mut().zip(path) {
            let [hip, _, now] = foot.leg.places(&pose.world);
            let most = hip.distance(now).max(MOST_STRETCHED * foot.length(pose));
            let reached = hip + (*ankle - hip).clamp_length_max(most);
            report.out_of_reach = report.out_of_reach.max(reached.distance(*ankle));
            foot.leg.reach(target, pose, reached, hinge);
        }
    }
    report.after = sliding(&feet, &steps, &poses);
    write(animation, &times, &poses, hips, &feet);
    Ok(report)
}

/// A leg on both sides.
struct PairedLeg {
    source: Leg,
    target: Leg,
}

fn joint_of(
    rig: &Rig,
    map: &BoneMap,
    bone: Bone,
    side: impl Fn(&super::BonePair) -> &String,
) -> Option<usize> {
    let pair = map.pairs.iter().find(|p| p.bone == Some(bone))?;
    rig.find(side(pair)).ok()
}

fn paired_legs(source: &Rig, target: &Rig, map: &BoneMap) -> Result<Vec<PairedLeg>> {
    let from = Leg::of(source, |bone| joint_of(source, map, bone, |p| &p.source));
    let to = Leg::of(target, |bone| joint_of(target, map, bone, |p| &p.target));
    let pairs = from.into_iter().zip(to);
    let legs: Vec<PairedLeg> = pairs
        .filter_map(|(source, target)| {
            let (mut source, mut target) = (source?, target?);
            // A ball of the foot that one side lacks is no point of contact.
            if source.toes.is_none() || target.toes.is_none() {
                (source.toes, target.toes) = (None, None);
            }
            Some(PairedLeg { source, target })
        })
        .collect();
    if legs.is_empty() {
        return Err(Error::NoLegs {
            rig: target.label().to_owned(),
        });
    }
    Ok(legs)
}

/// The transform from skeleton space to metres with Y up.
fn metres_from_skel(placement: &RigPlacement, world_from_skel: DMat4) -> DMat4 {
    let upright = DQuat::from_rotation_arc(placement.up.normalize_or(DVec3::Y), DVec3::Y);
    DMat4::from_scale(DVec3::splat(placement.meters_per_unit))
        * DMat4::from_quat(upright)
        * world_from_skel
}

/// The animation as poses of the target.
fn poses(
    animation: &SkelAnimation,
    source: &ClipSource<'_>,
    target: &Rig,
    times: &[f64],
) -> Result<Vec<Pose>> {
    let pose = |time: &f64| {
        let at = Time::At(*time);
        let moves = animation.translations.at(at)?;
        let (turns, scales) = (animation.rotations.at(at)?, animation.scales.at(at)?);
        if [moves.len(), turns.len(), scales.len()] != [target.len(); 3] {
            return None;
        }
        let local = (0..target.len()).map(|j| Trs {
            translation: moves[j].as_dvec3(),
            rotation: turns[j].as_dquat().normalize(),
            scale: DVec3::from(scales[j].map(f64::from)),
        });
        let world = match source.world_from_target {
            Some(world) => world(at),
            None => target.placement().world_from_skel,
        };
        let metres = metres_from_skel(target.placement(), world);
        Some(Pose::new(target, local.collect(), metres))
    };
    let poses: Option<Vec<Pose>> = times.iter().map(pose).collect();
    poses.ok_or_else(|| {
        let expected = format!("a transform for each of {} joints", target.len());
        let found = "another number of them";
        sinew::error::Invalid::new(&animation.path, "", expected, found).into()
    })
}

/// For each leg: the contacts of its heel, and of its ball if there are toes.
type Steps = Vec<[Vec<Contact>; 2]>;

fn count(steps: &Steps) -> usize {
    steps.iter().flatten().map(Vec::len).sum()
}

/// The contacts of the source, and whether they are contacts with ground that moves evenly, as that
/// of a clip that walks on the spot.
fn source_steps(
    source: &ClipSource<'_>,
    rig: &Rig,
    times: &[f64],
    seconds: &[f64],
    legs: &[PairedLeg],
) -> Result<(Steps, bool)> {
    let mut poses = Vec::with_capacity(times.len());
    for time in times {
        let time = Time::At(*time);
        let local = source.instance.joint_local_transforms(time)?;
        let world = match source.world_from_skel {
            Some(world) => world(time),
            None => rig.placement().world_from_skel,
        };
        let metres = metres_from_skel(rig.placement(), world);
        poses.push(Pose::from_matrices(rig, &local, metres));
    }
    let feet: Vec<Foot> = legs.iter().map(|l| Foot::new(rig, l.source)).collect();
    let height = feet.iter().map(|f| f.hip_height).fold(0.0, f64::max);
    let mut points: Vec<[Vec<DVec3>; 2]> = feet
        .iter()
        .map(|foot| [Point::Heel, Point::Ball].map(|p| foot.points(p, &poses)))
        .collect();
    let floor = |point: usize| {
        let all = points.iter().flat_map(|p| &p[point]);
        all.map(|p| p.y).fold(f64::INFINITY, f64::min)
    };
    let floors = [floor(0), floor(1)];
    let steps = |points: &[[Vec<DVec3>; 2]]| -> Steps {
        let of = |points: &[Vec<DVec3>; 2]| {
            [0, 1].map(|p| contacts(&points[p], seconds, floors[p], height))
        };
        points.iter().map(of).collect()
    };
    let still = steps(&points);
    if count(&still) > 0 {
        return Ok((still, false));
    }
    let all = points.iter().flat_map(|points| points.iter().zip(floors));
    let low = all.map(|(points, floor)| (&points[..], floor));
    let Some(belt) = contacts::belt(low, seconds, height) else {
        return Ok((still, false));
    };
    for point in points.iter_mut().flatten() {
        for (point, second) in point.iter_mut().zip(seconds) {
            *point -= belt * *second;
        }
    }
    // Both feet walk on it, or it is none.
    let carried = steps(&points);
    let is_walked_on = carried.iter().all(|s| s.iter().any(|c| !c.is_empty()));
    Ok(if is_walked_on {
        (carried, true)
    } else {
        (still, false)
    })
}

/// The velocity of the ground that the standing feet of the target are on, on average.
fn belt_below(feet: &[Foot], steps: &Steps, poses: &[Pose], seconds: &[f64]) -> DVec3 {
    let (mut moved, mut time) = (DVec3::ZERO, 0.0);
    for (foot, steps) in feet.iter().zip(steps) {
        for (point, contacts) in [Point::Heel, Point::Ball].into_iter().zip(steps) {
            let points = foot.points(point, poses);
            for contact in contacts {
                moved += points[contact.last] - points[contact.first];
                time += seconds[contact.last] - seconds[contact.first];
            }
        }
    }
    DVec3::new(moved.x, 0.0, moved.z) / time
}

/// The points of a foot that stand on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// Below the ankle, on the ground in the bind pose.
    Heel,
    /// Where the toes begin.
    Ball,
}

/// A leg with what the bind pose says of it, in metres.
struct Foot {
    leg: Leg,
    /// Height of the hip joint above the ground.
    hip_height: f64,
    /// From the ankle to the heel, in the axes of the foot.
    heel: DVec3,
    /// The knee's axis in the axes of the thigh, for a leg that never bends.
    hinge: DVec3,
}

impl Foot {
    fn new(rig: &Rig, leg: Leg) -> Self {
        let metres = metres_from_skel(rig.placement(), rig.placement().world_from_skel);
        let bound = |joint: usize| metres * rig.bind_skel()[joint];
        let (foot, toes) = (bound(leg.foot), leg.toes.map(bound));
        // The ground is the origin of the world, or else at the toes.
        let [hip, ankle] = [bound(leg.upper), foot].map(|m| at(&m).y);
        let lowest = toes.map_or(ankle, |m| at(&m).y.min(ankle));
        let is_standing = lowest.abs() <= 0.35 * (hip - lowest);
        let ground = if is_standing {
            0.0_f64.min(lowest)
        } else {
            lowest
        };
        let forward = toes.map_or(DVec3::Z, |m| at(&m) - at(&foot));
        let thigh = at(&bound(leg.lower)) - at(&bound(leg.upper));
        let hinge = turn(&bound(leg.upper)).inverse() * -thigh.cross(forward);
        Self {
            leg,
            hip_height: hip - ground,
            heel: turn(&foot).inverse() * DVec3::new(0.0, ground - ankle, 0.0),
            hinge: hinge.normalize_or_zero(),
        }
    }

    /// The length of the stretched leg.
    fn length(&self, pose: &Pose) -> f64 {
        self.leg.lengths(&pose.world).into_iter().sum()
    }

    /// From the ankle to a point of the foot, in the world.
    fn offset(&self, point: Point, pose: &Pose) -> DVec3 {
        let foot = &pose.world[self.leg.foot];
        match (point, self.leg.toes) {
            (Point::Ball, Some(toes)) => at(&pose.world[toes]) - at(foot),
            _ => turn(foot) * self.heel,
        }
    }

    /// A point of the foot in every pose; empty for the ball of a foot without toes.
    fn points(&self, point: Point, poses: &[Pose]) -> Vec<DVec3> {
        if point == Point::Ball && self.leg.toes.is_none() {
            return Vec::new();
        }
        let place = |pose: &Pose| at(&pose.world[self.leg.foot]) + self.offset(point, pose);
        poses.iter().map(place).collect()
    }

    /// The axis of the knee in the axes of the thigh: the mean of the clip.
    fn hinge(&self, poses: &[Pose]) -> DVec3 {
        let own =
            |pose: &Pose| turn(&pose.world[self.leg.upper]).inverse() * self.leg.bend(&pose.world);
        let sum: DVec3 = poses.iter().map(own).sum();
        match sum.length() > 1e-3 * poses.len() as f64 {
            true => sum.normalize(),
            false => self.hinge,
        }
    }

    /// The ankle in every pose, so that the points of contact stay in place; and how often the foot
    /// stands where it cannot be kept in place.
    fn locked(
        &self,
        steps: &[Vec<Contact>; 2],
        poses: &[Pose],
        seconds: &[f64],
    ) -> (Vec<DVec3>, usize) {
        let length = self.length(&poses[0]);
        let mut skipped = 0;
        let ankles: Vec<DVec3> = poses.iter().map(|p| at(&p.world[self.leg.foot])).collect();
        let mut corrections = Corrections {
            seconds,
            steepest: STEEPEST * length,
            of: vec![DVec3::ZERO; poses.len()],
            stances: Vec::new(),
        };
        for stance in stances(steps, seconds) {
            let rolled = self.rolled(&stance, poses);
            let (first, last) = (stance[0].1.first, stance[0].1.first + rolled.len() - 1);
            // The foot stands where it was on average.
            let own = &ankles[first..=last];
            let differences = rolled.iter().zip(own).map(|(r, a)| *r - *a);
            let mean = differences.clone().sum::<DVec3>() / own.len() as f64;
            // The height stays: a foot that rises and falls does not slide.
            let by: Vec<DVec3> = differences
                .map(|d| (d - mean) * DVec3::new(1.0, 0.0, 1.0))
                .collect();
            if by.iter().any(|d| d.length() > FARTHEST * length) {
                skipped += 1;
                continue;
            }
            corrections.of[first..=last].copy_from_slice(&by);
            corrections.stances.push((first, last));
        }
        corrections.fade();
        let corrected = ankles.iter().zip(&corrections.of);
        let path = corrected.map(|(ankle, by)| *ankle + *by).collect();
        (path, skipped)
    }

    /// The ankle during a stance, up to a constant: the foot rolls about one point after the other.
    fn rolled(&self, stance: &[(Point, Contact)], poses: &[Pose]) -> Vec<DVec3> {
        let first = stance[0].1.first;
        let last = stance.iter().map(|(_, c)| c.last).fold(first, usize::max);
        let mut out: Vec<DVec3> = Vec::with_capacity(last + 1 - first);
        let mut ankle = at(&poses[first].world[self.leg.foot]);
        let mut from = first;
        for (i, (point, contact)) in stance.iter().enumerate() {
            let to = match stance.get(i + 1) {
                // In the middle of the time when both stand.
                Some((_, next)) => contact.last.midpoint(next.first).max(from),
                None => last,
            };
            let anchor = ankle + self.offset(*point, &poses[from]);
            for pose in &poses[from..=to] {
                ankle = anchor - self.offset(*point, pose);
                out.push(ankle);
            }
            if to < last {
                // The next point is where it is now, and moves on from there.
                out.pop();
            }
            from = to;
        }
        out
    }
}

/// Contacts that follow one another without a pause, in order of time.
fn stances(steps: &[Vec<Contact>; 2], seconds: &[f64]) -> Vec<Vec<(Point, Contact)>> {
    let of = |point: Point, contacts: &[Contact]| -> Vec<(Point, Contact)> {
        contacts.iter().map(|c| (point, *c)).collect()
    };
    let mut all = of(Point::Heel, &steps[0]);
    all.extend(of(Point::Ball, &steps[1]));
    all.sort_by_key(|(_, c)| (c.first, c.last));
    let mut out: Vec<Vec<(Point, Contact)>> = Vec::new();
    for (point, contact) in all {
        let stance = out.last_mut().filter(|stance| {
            let last = stance.iter().map(|(_, c)| c.last).fold(0, usize::max);
            contact.first <= last || seconds[contact.first] - seconds[last] < SMOOTH / 2.0
        });
        match stance {
            None => out.push(vec![(point, contact)]),
            Some(stance) => {
                let last = stance.iter().map(|(_, c)| c.last).fold(0, usize::max);
                // A point that stands only while another one does adds nothing.
                if contact.last > last {
                    stance.push((point, contact));
                }
            }
        }
    }
    out
}

/// What is added to the place of an ankle, in metres.
struct Corrections<'a> {
    seconds: &'a [f64],
    /// Metres per second.
    steepest: f64,
    /// By sample.
    of: Vec<DVec3>,
    /// First and last samples, in order.
    stances: Vec<(usize, usize)>,
}

impl Corrections<'_> {
    /// Fills in the swings between the stances, without a jump of place or speed.
    fn fade(&mut self) {
        let (Some((start, _)), Some((_, end))) =
            (self.stances.first().copied(), self.stances.last().copied())
        else {
            return;
        };
        let pairs: Vec<(usize, usize)> =
            self.stances.windows(2).map(|w| (w[0].1, w[1].0)).collect();
        let slopes: Vec<(DVec3, DVec3)> = pairs
            .iter()
            .map(|(a, b)| (self.slope(*a, false), self.slope(*b, true)))
            .collect();
        let (first, last) = (self.slope(start, true), self.slope(end, false));
        for ((a, b), (slope_a, slope_b)) in pairs.into_iter().zip(slopes) {
            let (from, to) = (self.seconds[a], self.seconds[b]);
            let ends = [(self.of[a], slope_a), (self.of[b], slope_b)];
            for i in a + 1..b {
                let time = self.seconds[i];
                self.of[i] = if to - from <= LONGEST_SWING {
                    hermite((from, to), ends, time)
                } else if time - from < FADE {
                    hermite((from, from + FADE), [ends[0], NONE], time)
                } else if to - time < FADE {
                    hermite((to - FADE, to), [NONE, ends[1]], time)
                } else {
                    DVec3::ZERO
                };
            }
        }
        // At the ends of the clip there may be no time to fade.
        let seconds = self.seconds;
        let is_short = |a: f64, b: f64| b - a < FADE / 2.0;
        for i in 0..start {
            let (from, to) = (seconds[0].max(seconds[start] - FADE), seconds[start]);
            let end = (self.of[start], first);
            self.of[i] = match is_short(seconds[0], to) {
                true => end.0,
                false if seconds[i] < from => DVec3::ZERO,
                false => hermite((from, to), [NONE, end], seconds[i]),
            };
        }
        let final_second = seconds[seconds.len() - 1];
        for i in end + 1..self.of.len() {
            let (from, to) = (seconds[end], final_second.min(seconds[end] + FADE));
            let begin = (self.of[end], last);
            self.of[i] = match is_short(from, final_second) {
                true => begin.0,
                false if seconds[i] > to => DVec3::ZERO,
                false => hermite((from, to), [begin, NONE], seconds[i]),
            };
        }
    }

    /// The speed of the correction at an end of a stance, inside of it.
    fn slope(&self, at: usize, is_start: bool) -> DVec3 {
        let is_of = |s: &&(usize, usize)| if is_start { s.0 == at } else { s.1 == at };
        let Some((first, last)) = self.stances.iter().find(is_of) else {
            return DVec3::ZERO;
        };
        let other = if is_start {
            (at + 2).min(*last)
        } else {
            at.saturating_sub(2).max(*first)
        };
        let time = self.seconds[other] - self.seconds[at];
        if time.abs() < 1e-3 {
            return DVec3::ZERO;
        }
        ((self.of[other] - self.of[at]) / time).clamp_length_max(self.steepest)
    }
}

/// No correction, and no change of it.
const NONE: (DVec3, DVec3) = (DVec3::ZERO, DVec3::ZERO);

/// The cubic curve between two values with their slopes.
fn hermite((from, to): (f64, f64), ends: [(DVec3, DVec3); 2], time: f64) -> DVec3 {
    let length = to - from;
    let t = ((time - from) / length).clamp(0.0, 1.0);
    let (t2, t3) = (t * t, t * t * t);
    let [(a, slope_a), (b, slope_b)] = ends;
    a * (2.0 * t3 - 3.0 * t2 + 1.0)
        + slope_a * (length * (t3 - 2.0 * t2 + t))
        + b * (3.0 * t2 - 2.0 * t3)
        + slope_b * (length * (t3 - t2))
}

/// How far the hips go down in every pose, so that the legs reach the ankles and the knees are not
/// stretched more than they were.
fn lowering(feet: &[Foot], paths: &[Vec<DVec3>], poses: &[Pose], seconds: &[f64]) -> Vec<f64> {
    let needed: Vec<f64> = poses
        .iter()
        .enumerate()
        .map(|(i, pose)| {
            let of = feet.iter().zip(paths).map(|(foot, path)| {
                let [hip, _, ankle] = foot.leg.places(&pose.world);
                let reach = hip.distance(ankle).max(STRETCHED * foot.length(pose));
                needed(hip - path[i], reach)
            });
            of.fold(0.0, f64::max)
        })
        .collect();
    // The largest of a window first, so that the mean of a window is never less than is needed.
    let window = |i: usize| {
        let near = |s: &f64| seconds[i] - SMOOTH < *s && *s < seconds[i] + SMOOTH;
        let first = seconds.partition_point(|s| *s <= seconds[i] - SMOOTH);
        let count = seconds[first..].iter().take_while(|s| near(s)).count();
        first..first + count
    };
    let largest: Vec<f64> = (0..needed.len())
        .map(|i| needed[window(i)].iter().copied().fold(0.0, f64::max))
        .collect();
    (0..needed.len())
        .map(|i| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for j in window(i) {
                let off = (seconds[j] - seconds[i]) / SMOOTH;
                let weight = 1.0 + (off * std::f64::consts::PI).cos();
                sum += weight * largest[j];
                weights += weight;
            }
            if weights > 0.0 {
                sum / weights
            } else {
                largest[i]
            }
        })
        .collect()
}

/// How far the hip has to go down to be within `reach` of the ankle; `up` leads from the ankle to
/// the hip. As far as it helps, if nothing does.
fn needed(up: DVec3, reach: f64) -> f64 {
    let across = up.x.hypot(up.z);
    let height = (reach * reach - across * across).max(0.0).sqrt();
    (up.y - height).max(0.0)
}

fn sliding(feet: &[Foot], steps: &Steps, poses: &[Pose]) -> Sliding {
    let mut slid = Vec::new();
    for (foot, steps) in feet.iter().zip(steps) {
        for (point, contacts) in [Point::Heel, Point::Ball].into_iter().zip(steps) {
            let points = foot.points(point, poses);
            slid.extend(contacts.iter().map(|c| travel(&points[c.first..=c.last])));
        }
    }
    Sliding {
        mean: slid.iter().sum::<f64>() / slid.len().max(1) as f64,
        worst: slid.into_iter().fold(0.0, f64::max),
    }
}

/// Puts the translation of the hips and the rotations of the legs into the animation.
fn write(
    animation: &mut SkelAnimation,
    times: &[f64],
    poses: &[Pose],
    hips: Option<usize>,
    feet: &[Foot],
) {
    let turned = feet
        .iter()
        .flat_map(|f| [f.leg.upper, f.leg.lower, f.leg.foot]);
    let turned: Vec<usize> = turned.collect();
    let mut rotations: Vec<(f64, Option<Vec<Quat>>)> = Vec::with_capacity(times.len());
    let mut translations: Vec<(f64, Option<Vec<Vec3>>)> = Vec::with_capacity(times.len());
    for (time, pose) in times.iter().zip(poses) {
        let at = Time::At(*time);
        let mut moves = animation.translations.at(at).map(|t| t.to_vec());
        if let (Some(moves), Some(hips)) = (&mut moves, hips) {
            moves[hips] = pose.local[hips].translation.as_vec3();
        }
        let mut turns = animation.rotations.at(at).map(|r| r.to_vec());
        let before = rotations.last().and_then(|(_, r)| r.as_ref());
        for joint in &turned {
            let (Some(turns), joint) = (&mut turns, *joint) else {
                continue;
            };
            let q = pose.local[joint].rotation.as_quat().normalize();
            // In the hemisphere of the sample before.
            let near = before.map_or(Quat::IDENTITY, |before| before[joint]);
            turns[joint] = if near.dot(q) < 0.0 { -q } else { q };
        }
        translations.push((*time, moves));
        rotations.push((*time, turns));
    }
    animation.translations = Sampled::new(None, translations, Interpolation::Linear);
    animation.rotations = Sampled::new(None, rotations, Interpolation::Linear);
}

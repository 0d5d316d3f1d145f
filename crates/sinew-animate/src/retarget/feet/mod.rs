//! Keeps feet in place while they stand.
//!
//! Retargeting keeps directions, so the feet of a character with other proportions slide and sink.
//! The contacts with the ground are found on the source: a heel or a ball that is low and still.
//! During a contact the target's foot rolls about that point, which stays in one place and as high
//! above the ground as the source's, in proportion. Before and after it the correction fades. The
//! hips are raised or lowered as a whole so that feet stand on the ground on average, and lowered
//! where a leg would be stretched; the knees follow.

mod contacts;
mod leg;
mod stances;
mod tracks;

use glam::{DVec3, Quat, Vec3};
use serde::Serialize;

use super::{Bone, BoneMap, ClipSource, Retargeter, Rig};
use crate::error::{Error, Result};
use contacts::belt;
use leg::{Leg, Pose};
use sinew::error::Invalid;
use sinew::math::Trs;
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::skel::SkelAnimation;
use stances::{Ground, locked};
use tracks::{Steps, Tracks, metres_from_skel};

/// Seconds around a moment over which the lowering of the hips is smoothed, before and after.
const SMOOTH: f64 = 0.2;
/// Seconds by which times may be rounded, so that all cycles of a loop have the same windows.
const ROUNDED: f64 = 1e-6;
/// How far a leg is stretched at most, as a share of its length.
const MOST_STRETCHED: f64 = 0.9995;

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

/// Keeps the feet of a retargeted clip in place, and on the ground, while the source's feet stand.
///
/// `animation` is what `retargeter` made in [`Retargeter::retarget_clip`] from `source` for
/// `target`, with the same `map`. Rotations of the legs change, and the translation of the hips.
/// Nothing changes if no foot of the source stands. The root must not be in place.
///
/// # Errors
/// - [`Error::NoLegs`] if the map does not pair upper leg, lower leg and foot of a side.
/// - [`Error::Invalid`] if the source needs rest transforms but has none, or if `animation` does
///   not have a translation and a rotation for each joint of `target`.
pub fn lock_feet(
    animation: &mut SkelAnimation,
    retargeter: &Retargeter,
    source: &ClipSource<'_>,
    (source_rig, target): (&Rig, &Rig),
    map: &BoneMap,
    time_codes_per_second: f64,
) -> Result<LockedFeet> {
    let legs = paired_legs(source_rig, target, map);
    if legs.is_empty() {
        return Err(Error::NoLegs {
            rig: target.label().to_owned(),
        });
    }
    let codes: Vec<f64> = animation.rotations.times().collect();
    let seconds: Vec<f64> = codes.iter().map(|t| t / time_codes_per_second).collect();
    let times: Vec<Time> = codes.iter().map(|t| Time::At(*t)).collect();
    let clip = Clip {
        animation,
        source,
        target,
    };
    let samples = (&times[..], &seconds[..]);
    let (mut from, mut tracks) = clip.tracks(retargeter, source_rig, &legs, samples)?;
    if from.is_loop() && tracks.is_loop() {
        (from, tracks) = (from.repeated(), tracks.repeated());
    }
    let (steps, is_on_a_belt) = steps(&mut from);
    let mut report = steps.report(&tracks);
    if steps.is_empty() {
        return Ok(report);
    }
    let belt = match is_on_a_belt {
        true => steps.belt(&tracks),
        false => DVec3::ZERO,
    };
    tracks.carry(-belt);
    report.belt = belt.length();
    report.before = steps.sliding(&tracks);
    let hips = joint_of(target, map, Bone::Hips, |p| &p.target);
    let hips = hips.filter(|hips| {
        let is_below = |l: &PairedLeg| target.chain(l.target.upper).skip(1).any(|j| j == *hips);
        legs.iter().all(is_below)
    });
    let ground = Ground::new(&from, retargeter.root_scale(), &steps);
    let raised = match hips {
        Some(_) => ground.too_low_in_contacts(&tracks, &steps),
        None => 0.0,
    };
    tracks.raise(raised);
    let mut ways = Vec::with_capacity(legs.len());
    for leg in 0..legs.len() {
        let (way, skipped) = locked(&tracks, &ground, &steps, leg);
        report.skipped += skipped;
        ways.push(way);
    }
    let lowered = match hips {
        Some(_) => lowering(&tracks, &ways),
        None => vec![0.0; tracks.seconds.len()],
    };

    let mut changed = Changed::default();
    let [_, standing] = retargeter.standing();
    let mut after = Tracks::new(legs.iter().map(|l| l.target), standing, &seconds);
    for (i, time) in times.iter().enumerate() {
        let sample = tracks.clip.0 + i;
        let mut pose = clip.pose(*time)?;
        if let Some(hips) = hips {
            let up = raised - lowered[sample];
            pose.shift(target, hips, DVec3::Y * up);
            report.lowered = report.lowered.max(-up);
        }
        for (leg, way) in ways.iter().enumerate() {
            let track = &tracks.legs[leg];
            let ankle = way[sample] + belt * tracks.seconds[sample];
            let [hip, _, now] = track.foot.leg.places(&pose.world);
            let most = hip
                .distance(now)
                .max(MOST_STRETCHED * track.places[sample].length());
            let reached = hip + (ankle - hip).clamp_length_max(most);
            report.out_of_reach = report.out_of_reach.max(reached.distance(ankle));
            let hinge = tracks.hinge(leg);
            track.foot.leg.reach(target, &mut pose, reached, hinge);
        }
        after.push(&pose);
        changed.push(animation, codes[i], &pose, hips, &legs);
    }
    if tracks.clip.0 > 0 {
        after = after.repeated();
    }
    after.carry(-belt);
    report.after = steps.sliding(&after);
    changed.write(animation);
    Ok(report)
}

/// How much deeper below the ground feet get than the source's do, in proportion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SunkFeet {
    /// In metres, of the deepest heel or ball of a foot: how much lower than while the character
    /// stands.
    pub depth: f64,
    /// The height of the hip joints above the ground, in metres.
    pub hip_height: f64,
}

/// How much deeper below the ground feet get in a retargeted clip than the source's do, in
/// proportion. Zeros if the map pairs no legs. The arguments are those of [`lock_feet`], whose clip
/// this may be too.
///
/// # Errors
/// [`Error::Invalid`] as in [`lock_feet`].
pub fn sunk_feet(
    animation: &SkelAnimation,
    retargeter: &Retargeter,
    source: &ClipSource<'_>,
    (source_rig, target): (&Rig, &Rig),
    map: &BoneMap,
) -> Result<SunkFeet> {
    let mut sunk = SunkFeet::default();
    let legs = paired_legs(source_rig, target, map);
    if legs.is_empty() {
        return Ok(sunk);
    }
    let mut times: Vec<Time> = animation.rotations.times().map(Time::At).collect();
    if times.is_empty() {
        times.push(Time::Default);
    }
    let clip = Clip {
        animation,
        source,
        target,
    };
    let (from, to) = clip.tracks(retargeter, source_rig, &legs, (&times[..], &[]))?;
    let scale = retargeter.root_scale();
    for (leg, track) in to.legs.iter().enumerate() {
        sunk.hip_height = sunk.hip_height.max(track.foot.hip_height);
        for point in track.foot.leg.points() {
            for sample in 0..times.len() {
                let own = scale * from.above(leg, point, sample).min(0.0);
                sunk.depth = sunk.depth.max(own - to.above(leg, point, sample));
            }
        }
    }
    Ok(sunk)
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

fn paired_legs(source: &Rig, target: &Rig, map: &BoneMap) -> Vec<PairedLeg> {
    let from = Leg::of(source, |bone| joint_of(source, map, bone, |p| &p.source));
    let to = Leg::of(target, |bone| joint_of(target, map, bone, |p| &p.target));
    let pairs = from.into_iter().zip(to);
    pairs
        .filter_map(|(source, target)| {
            let (mut source, mut target) = (source?, target?);
            // A ball of the foot that one side lacks is no point of contact.
            if source.toes.is_none() || target.toes.is_none() {
                (source.toes, target.toes) = (None, None);
            }
            Some(PairedLeg { source, target })
        })
        .collect()
}

/// A retargeted clip.
struct Clip<'a> {
    animation: &'a SkelAnimation,
    source: &'a ClipSource<'a>,
    target: &'a Rig,
}

impl Clip<'_> {
    /// The pose of the target at a time.
    fn pose(&self, at: Time) -> Result<Pose> {
        let count = self.target.len();
        let animation = self.animation;
        let wrong = || {
            let expected = format!("a translation, rotation and scale for each of {count} joints");
            Invalid::new(&animation.path, "", expected, "another number of them")
        };
        let moves = animation.translations.at(at).ok_or_else(wrong)?;
        let turns = animation.rotations.at(at).ok_or_else(wrong)?;
        let scales = animation.scales.at(at).ok_or_else(wrong)?;
        if [moves.len(), turns.len(), scales.len()] != [count; 3] {
            return Err(wrong().into());
        }
        let local = (0..count).map(|j| Trs {
            translation: moves[j].as_dvec3(),
            rotation: turns[j].as_dquat().normalize(),
            scale: DVec3::from(scales[j].map(f64::from)),
        });
        let world = match self.source.world_from_target {
            Some(world) => world(at),
            None => self.target.placement().world_from_skel,
        };
        let metres = metres_from_skel(self.target.placement(), world);
        Ok(Pose::new(self.target, local.collect(), metres))
    }

    /// The pose of the source at a time.
    fn source_pose(&self, rig: &Rig, at: Time) -> Result<Pose> {
        let local = self.source.instance.joint_local_transforms(at)?;
        let world = match self.source.world_from_skel {
            Some(world) => world(at),
            None => rig.placement().world_from_skel,
        };
        let metres = metres_from_skel(rig.placement(), world);
        Ok(Pose::from_matrices(rig, &local, metres))
    }

    /// The legs of source and target at these times, which are also given in seconds. Where only
    /// heights count, the seconds may be left out.
    fn tracks(
        &self,
        retargeter: &Retargeter,
        source_rig: &Rig,
        legs: &[PairedLeg],
        (times, seconds): (&[Time], &[f64]),
    ) -> Result<(Tracks, Tracks)> {
        let [source_stands, target_stands] = retargeter.standing();
        let mut from = Tracks::new(legs.iter().map(|l| l.source), source_stands, seconds);
        let mut to = Tracks::new(legs.iter().map(|l| l.target), target_stands, seconds);
        for time in times {
            from.push(&self.source_pose(source_rig, *time)?);
            to.push(&self.pose(*time)?);
        }
        Ok((from, to))
    }
}

/// The contacts of the source, and whether they are contacts with ground that moves evenly, as that
/// of a clip that walks on the spot. `tracks` are then carried against that ground.
fn steps(tracks: &mut Tracks) -> (Steps, bool) {
    let still = Steps::find(tracks);
    let belt = match still.is_empty() {
        true => belt(tracks),
        false => None,
    };
    let Some(belt) = belt else {
        return (still, false);
    };
    tracks.carry(-belt);
    // All feet walk on it, or it is none.
    let carried = Steps::find(tracks);
    match carried.are_of_all_legs() {
        true => (carried, true),
        false => (still, false),
    }
}

/// How far the hips go down at every sample, so that the legs reach the ankles and the knees are
/// not stretched more than they were.
fn lowering(tracks: &Tracks, ways: &[Vec<DVec3>]) -> Vec<f64> {
    let seconds = &tracks.seconds;
    let needed: Vec<f64> = (0..seconds.len())
        .map(|i| {
            let of = tracks.legs.iter().zip(ways).map(|(leg, way)| {
                let places = &leg.places[i];
                needed(places.hip - way[i], places.reach())
            });
            of.fold(0.0, f64::max)
        })
        .collect();
    // The largest of a window first, so that the mean of a window is never less than is needed.
    let window = |i: usize| {
        let first = seconds.partition_point(|s| *s <= seconds[i] - SMOOTH + ROUNDED);
        let end = seconds.partition_point(|s| *s < seconds[i] + SMOOTH - ROUNDED);
        first..end
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
            sum / weights
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

/// The samples of the components that change.
#[derive(Default)]
struct Changed {
    rotations: Vec<(f64, Option<Vec<Quat>>)>,
    translations: Vec<(f64, Option<Vec<Vec3>>)>,
}

impl Changed {
    /// Adds the next sample: that of `animation`, with the hips' translation and the legs'
    /// rotations of `pose`.
    fn push(
        &mut self,
        animation: &SkelAnimation,
        time: f64,
        pose: &Pose,
        hips: Option<usize>,
        legs: &[PairedLeg],
    ) {
        let at = Time::At(time);
        let mut moves = animation.translations.at(at).map(|t| t.to_vec());
        if let (Some(moves), Some(hips)) = (&mut moves, hips) {
            moves[hips] = pose.local[hips].translation.as_vec3();
        }
        let mut turns = animation.rotations.at(at).map(|r| r.to_vec());
        let before = self.rotations.last().and_then(|(_, r)| r.as_ref());
        for leg in legs {
            for joint in [leg.target.upper, leg.target.lower, leg.target.foot] {
                let q = pose.local[joint].rotation.as_quat().normalize();
                // In the hemisphere of the sample before.
                let near = before.map_or(Quat::IDENTITY, |before| before[joint]);
                if let Some(turns) = &mut turns {
                    turns[joint] = if near.dot(q) < 0.0 { -q } else { q };
                }
            }
        }
        self.translations.push((time, moves));
        self.rotations.push((time, turns));
    }

    fn write(self, animation: &mut SkelAnimation) {
        let linear = Interpolation::Linear;
        animation.translations = Sampled::new(None, self.translations, linear);
        animation.rotations = Sampled::new(None, self.rotations, linear);
    }
}

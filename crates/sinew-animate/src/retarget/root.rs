//! The joints that have the root's motion, and the scale of that motion.

use glam::{DQuat, DVec3};

use super::bone_map::{JointPair, MOST_NAMES};
use super::characterise::Body;
use super::transfer::Transfer;
use super::{Bone, Rig};
use crate::error::{Error, Result};
use sinew::error::{Warning, first_few};

/// Adds a pair for the root bone that was asked for, if it is above the hips of the source and in no
/// pair: with the target's joint of the same name above its hips, or else with the topmost joint
/// there. Rigs of different naming conventions have such joints in no pair, because a root is no
/// human bone.
pub(super) fn with_root_bone(
    mut pairs: Vec<JointPair>,
    source: &Rig,
    target: &Rig,
    asked: Option<&str>,
) -> Vec<JointPair> {
    let hips = pairs.iter().find(|p| p.bone == Some(Bone::Hips)).copied();
    let (Some(name), Some(hips)) = (asked, hips) else {
        return pairs;
    };
    let is_above = |joint: &usize| source.chain(hips.source).skip(1).any(|j| j == *joint);
    let is_free = |joint: &usize| pairs.iter().all(|p| p.source != *joint);
    let root = source.find(name).ok().filter(is_above).filter(is_free);
    let above = target.chain(hips.target).skip(1);
    let above: Vec<usize> = above
        .filter(|j| pairs.iter().all(|p| p.target != *j))
        .collect();
    let same = above.iter().find(|j| target.find(name) == Ok(**j));
    if let (Some(source), Some(target)) = (root, same.or(above.last())) {
        let pair = JointPair {
            source,
            target: *target,
            bone: None,
        };
        let at = pairs.partition_point(|p| p.target < pair.target);
        pairs.insert(at, pair);
    }
    pairs
}

/// The pairs whose translation is transferred: the one that was asked for, or else the hips and the
/// pairs above them, or the topmost pair if there are no hips.
pub(super) fn root_pairs(
    source: &Rig,
    target: &Rig,
    pairs: &[JointPair],
    asked: Option<&str>,
) -> Result<Vec<usize>> {
    let hips = pairs.iter().position(|p| p.bone == Some(Bone::Hips));
    let above =
        |pair: usize| std::iter::successors(Some(pair), |p| pair_above(target, pairs, &pairs[*p]));
    if let Some(name) = asked {
        let named = |p: &JointPair| source.find(name) == Ok(p.source);
        let pair = pairs.iter().position(named).ok_or_else(|| {
            let names: Vec<String> = pairs
                .iter()
                .map(|p| source.unique_name(p.source).to_owned())
                .collect();
            Error::NoRootBone(format!(
                "root bone {name}: expected a joint of {} that a joint of {} follows; these are {}",
                source.label(),
                target.label(),
                first_few(&names, MOST_NAMES)
            ))
        })?;
        // The hips below it keep their own motion.
        let hips = hips.filter(|h| *h != pair && above(*h).any(|p| p == pair));
        return Ok(std::iter::once(pair).chain(hips).collect());
    }
    Ok(match hips {
        Some(hips) => above(hips).collect(),
        // Pairs are in the order of the target's joints, so the first one of a tree is its root.
        None => (0..pairs.len())
            .filter(|p| pair_above(target, pairs, &pairs[*p]).is_none())
            .take(1)
            .collect(),
    })
}

/// The nearest paired joint above a pair's target; pairs are in the order of the target's joints.
pub(super) fn pair_above(rig: &Rig, pairs: &[JointPair], pair: &JointPair) -> Option<usize> {
    rig.chain(pair.target)
        .skip(1)
        .find_map(|joint| pairs.binary_search_by_key(&joint, |p| p.target).ok())
}

/// How the positions of the source's root become those of the target's, in metres:
/// `to + scale * (p - from)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    pub from: DVec3,
    pub to: DVec3,
    pub scale: f64,
}

impl Path {
    pub fn at(&self, p: DVec3) -> DVec3 {
        self.to + (p - self.from) * self.scale
    }
}

/// The clip's ground.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    /// The height of the ground, in metres.
    pub height: f64,
    /// The height of the lowest foot joint of a body that stands in the clip.
    pub foot: f64,
    /// Frames in which the feet are lower stand.
    pub low: f64,
    /// Set if the clip jumps or sits all the time: the feet of a standing body are known otherwise.
    pub is_in_air: bool,
}

impl Ground {
    /// The ground of a clip; `None` without samples or legs.
    pub fn of(source: &Body) -> Option<Self> {
        let leg = source.leg?;
        let (low, _) = source.heights()?;
        let spot = &source.spot;
        let stands = spot.foot.filter(|_| spot.in_clip && spot.is_on_origin);
        let at = |height: f64, foot: f64, is_in_air: bool| Self {
            height,
            foot,
            low: low + 0.12 * leg,
            is_in_air,
        };
        Some(match stands {
            // A clip that is in the air, or sits, keeps its heights.
            Some(foot) if low > foot - 0.35 * leg => {
                let is_in_air = (low - foot).abs() > 0.15 * leg;
                at(0.0, if is_in_air { foot } else { low }, is_in_air)
            }
            Some(foot) => at(low - foot, low, false),
            None if (-0.15 * leg..0.35 * leg).contains(&low) => at(0.0, low, false),
            None => at(low, low, false),
        })
    }

    /// The warning about a ground that is far from the origin.
    pub fn warning(&self, source: &Rig, body: &Body) -> Option<Warning> {
        let is_far = self.height.abs() > 0.35 * body.leg?;
        is_far.then(|| {
            let message = format!(
                "its ground is taken to be at a height of {:.2} m, where its feet stand",
                self.height
            );
            Warning::new("retarget-ground", source.label(), message)
        })
    }
}

/// The ratio of the lengths of the legs, or else of all bones that both sides have.
pub(super) fn size_ratio(transfer: &Transfer, pairs: &[JointPair], target: &Rig) -> f64 {
    let is_usable = |ratio: &f64| ratio.is_finite() && (1e-6..1e6).contains(ratio);
    let legs = transfer.source.leg.zip(transfer.target.leg);
    let lengths = |body: &Body, joint: fn(&JointPair) -> usize| -> f64 {
        let at = |pair: &JointPair| body.pose.at[joint(pair)];
        let links = pairs.iter().filter_map(|pair| {
            let above = &pairs[pair_above(target, pairs, pair)?];
            Some(at(pair).distance(at(above)))
        });
        links.sum()
    };
    let all = || {
        let (from, to) = (&transfer.source, &transfer.target);
        lengths(to, |p| p.target) / lengths(from, |p| p.source)
    };
    let by_legs = legs.map(|(source, target)| target / source);
    let ratio = by_legs
        .filter(is_usable)
        .or_else(|| Some(all()).filter(is_usable));
    ratio.unwrap_or(1.0)
}

/// The path of the root before its height is settled by the clip. `turn` brings the source's heading
/// to that of the target, `origins` are those of the two skeletons, and `rest` is where a root joint
/// rests on both sides; all in the common space.
pub(super) fn path(
    transfer: &Transfer,
    scale: f64,
    turn: DQuat,
    origins: [DVec3; 2],
    rest: [DVec3; 2],
) -> Path {
    let (source, target) = (&transfer.source, &transfer.target);
    let [mut from, mut to] = rest;
    let is_own = transfer.is_same_rig && (scale - 1.0).abs() < 1e-3;
    if is_own || !source.is_body || !target.is_body {
        return Path { from, to, scale };
    }
    // The hips stay over the place where they stand, if the clip is near the origin of its space.
    let [origin, other_origin] = origins;
    let near = |hips: DVec3, origin: DVec3, leg: Option<f64>| {
        leg.is_some_and(|leg| (hips - origin).with_y(0.0).length() < leg)
    };
    let hips = |body: &Body| body.spot.hips.filter(|_| body.spot.stands);
    let stood = hips(source).map(|p| turn * p).zip(hips(target));
    let in_clip = source.spot.in_clip && target.spot.in_clip;
    let over = stood.filter(|(a, b)| {
        in_clip && near(*a, origin, source.leg) && near(*b, other_origin, target.leg)
    });
    let (a, b) = over.unwrap_or((origin, other_origin));
    from = DVec3::new(a.x, from.y, a.z);
    to = DVec3::new(b.x, to.y, b.z);
    // Until a clip tells more, the target stands as high as it does where the source stands.
    if let Some((a, b)) = stood {
        (from.y, to.y) = (a.y, b.y);
    } else if let (Some(foot), Some(other)) = (source.spot.foot, target.spot.foot) {
        (from.y, to.y) = (foot, other);
    }
    Path { from, to, scale }
}

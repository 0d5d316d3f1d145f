//! The joints that have the root's motion, and the scale of that motion.

use glam::{DMat4, DVec3};

use super::bone_map::{JointPair, MOST_NAMES};
use super::reference::{Reference, pair_above, stands_on_origin};
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

/// Heights of joints in the reference pose, in metres.
struct Heights {
    hips: f64,
    /// The lowest of the paired feet and toes, if they are known. Toes matter because ankles may be
    /// high above the ground: at a third of the hips' height in characters with short legs.
    foot: Option<f64>,
    lowest: f64,
    highest: f64,
}

impl Heights {
    /// Whether the origin of the world is on the ground.
    fn stand_on_origin(&self) -> bool {
        match self.foot {
            Some(foot) => stands_on_origin(self.hips, foot),
            None => self.hips > 0.05 * (self.highest - self.lowest),
        }
    }
}

/// The ratio of the heights of the target's and the source's hips above the ground. The ground is
/// the origin of the world if both rigs stand on it, otherwise the feet and toes, or the lowest
/// joint if feet are not known. If the ratio is not usable, as for a root on the ground, it is the
/// ratio of the sizes of the paired joints.
pub(super) fn height_ratio(
    (source, from): (&Rig, &Reference),
    (target, to): (&Rig, &Reference),
    pairs: &[JointPair],
    roots: &[usize],
    warnings: &mut Vec<Warning>,
) -> f64 {
    let find = |bone| pairs.iter().position(|p| p.bone == Some(bone));
    let Some(hips) = find(Bone::Hips).or(roots.last().copied()) else {
        return 1.0;
    };
    use Bone::{LeftFoot, LeftToes, RightFoot, RightToes};
    let feet: Vec<usize> = [LeftFoot, RightFoot, LeftToes, RightToes]
        .into_iter()
        .filter_map(find)
        .collect();
    let heights = |reference: &Reference, joint: &dyn Fn(&JointPair) -> usize| {
        let y = |m: &DMat4| m.w_axis.y;
        let of = |pair: usize| y(&reference.joints()[joint(&pairs[pair])]);
        let all = reference.joints().iter().map(y);
        Heights {
            hips: of(hips),
            foot: feet.iter().map(|f| of(*f)).min_by(f64::total_cmp),
            lowest: all.clone().fold(f64::INFINITY, f64::min),
            highest: all.fold(f64::NEG_INFINITY, f64::max),
        }
    };
    let s = heights(from, &|p| p.source);
    let t = heights(to, &|p| p.target);
    let ratio = if s.stand_on_origin() && t.stand_on_origin() {
        t.hips / s.hips
    } else {
        let ground = |h: &Heights| h.foot.unwrap_or(h.lowest);
        (t.hips - ground(&t)) / (s.hips - ground(&s))
    };
    let is_usable = |ratio: f64| ratio.is_finite() && (1e-6..1e6).contains(&ratio);
    if is_usable(ratio) {
        return ratio;
    }
    let spreads = (
        spread(from, pairs.iter().map(|p| p.source)),
        spread(to, pairs.iter().map(|p| p.target)),
    );
    let by_size = Some(spreads.1 / spreads.0)
        .filter(|r| is_usable(*r))
        .unwrap_or(1.0);
    // No warning if both rigs have the same size.
    if (by_size - 1.0).abs() > 1e-3 {
        let message = format!(
            "the root is {:.4} m above the ground, and that of {} {:.4} m, which gives no usable ratio: its motion is scaled by {by_size:.4}, the ratio of the rigs' sizes",
            s.hips,
            target.label(),
            t.hips,
        );
        warnings.push(Warning::new("retarget-no-height", source.label(), message));
    }
    by_size
}

/// The root of the sum of the squared distances of paired joints from their centre.
fn spread(reference: &Reference, joints: impl Iterator<Item = usize>) -> f64 {
    let at: Vec<DVec3> = joints.map(|j| reference.position(j)).collect();
    let middle = at.iter().sum::<DVec3>() / at.len().max(1) as f64;
    let squares: f64 = at.iter().map(|p| p.distance_squared(middle)).sum();
    squares.sqrt()
}

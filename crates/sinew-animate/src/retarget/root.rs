//! Which joints carry the root's motion, and how it is scaled.

use glam::{DMat4, DVec3};

use super::bone_map::{JointPair, MOST_NAMES};
use super::reference::{Reference, pair_above};
use super::{Bone, Rig};
use crate::error::{Error, Result};
use sinew::error::{Warning, first_few};

/// The pairs whose translation goes over: the hips (or the topmost pair), what is above them, and the one asked
/// for.
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
                "root bone {name}: no joint of {} that a joint of {} follows has this name; those that do are {}",
                source.label(),
                target.label(),
                first_few(&names, MOST_NAMES)
            ))
        })?;
        // The hips below it bob and sway as before.
        let hips = hips.filter(|h| *h != pair && above(*h).any(|p| p == pair));
        return Ok(std::iter::once(pair).chain(hips).collect());
    }
    Ok(match hips {
        Some(hips) => above(hips).collect(),
        // Pairs are in the order of the target's joints: of a tree of them, the first is the root.
        None => (0..pairs.len())
            .filter(|p| pair_above(target, pairs, &pairs[*p]).is_none())
            .take(1)
            .collect(),
    })
}

/// How high the hips are at rest, in metres.
struct Heights {
    hips: f64,
    /// The lowest of the paired feet and toes, where they are known. Ankles alone may be high above the ground: at a
    /// third of the hips' height in characters with short legs.
    foot: Option<f64>,
    lowest: f64,
    highest: f64,
}

impl Heights {
    /// Whether the world's origin is the ground: ankles and heels are a little off it, a table to stand on is more.
    fn stand_on_origin(&self) -> bool {
        match self.foot {
            Some(foot) => foot.abs() <= 0.35 * (self.hips - foot),
            None => self.hips > 0.05 * (self.highest - self.lowest),
        }
    }
}

/// How much higher the target's hips are than the source's, above the ground: the world's origin, or where one of the rigs
/// does not stand there, feet and toes, and the lowest joints where feet are not known. Where that says nothing, as for a root on
/// the ground, how much larger the paired joints lie.
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
    let heights = |rig: &Rig, reference: &Reference, joint: &dyn Fn(&JointPair) -> usize| {
        let y = |m: &DMat4| (reference.placed * *m).w_axis.y;
        let of = |pair: usize| y(&rig.rest_skel()[joint(&pairs[pair])]);
        let all = rig.rest_skel().iter().map(y);
        Heights {
            hips: of(hips),
            foot: feet.iter().map(|f| of(*f)).min_by(f64::total_cmp),
            lowest: all.clone().fold(f64::INFINITY, f64::min),
            highest: all.fold(f64::NEG_INFINITY, f64::max),
        }
    };
    let s = heights(source, from, &|p| p.source);
    let t = heights(target, to, &|p| p.target);
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
    // Rigs of one size need no telling.
    if (by_size - 1.0).abs() > 1e-3 {
        let message = format!(
            "the root is {:.4} m high, and in {} {:.4} m: its motion is scaled by the rigs' sizes instead, times {by_size:.4}",
            s.hips,
            target.label(),
            t.hips,
        );
        warnings.push(Warning::new("retarget-no-height", source.label(), message));
    }
    by_size
}

/// How far paired joints lie from their middle.
fn spread(reference: &Reference, joints: impl Iterator<Item = usize>) -> f64 {
    let at: Vec<DVec3> = joints.map(|j| reference.position(j)).collect();
    let middle = at.iter().sum::<DVec3>() / at.len().max(1) as f64;
    let squares: f64 = at.iter().map(|p| p.distance_squared(middle)).sum();
    squares.sqrt()
}

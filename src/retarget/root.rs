//! Which joints carry the root's motion, and how it is scaled.

use glam::DMat4;

use super::bone_map::{JointPair, some_of};
use super::reference::{Reference, pair_above};
use super::{Bone, Rig};
use crate::error::{Error, Result, Warning};

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
            Error::Request(format!(
                "root bone {name}: no joint of {} that a joint of {} follows has this name; those that do are {}",
                source.label(),
                target.label(),
                some_of(&names)
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

/// How much higher the target's hips are than the source's, above the ground: the world's origin, or the rig's lowest
/// joint where one of them does not stand on the origin.
pub(super) fn height_ratio(
    (source, from): (&Rig, &Reference),
    (target, to): (&Rig, &Reference),
    pairs: &[JointPair],
    roots: &[usize],
    warnings: &mut Vec<Warning>,
) -> f64 {
    let hips = pairs.iter().position(|p| p.bone == Some(Bone::Hips));
    let Some(hips) = hips.or(roots.last().copied()) else {
        return 1.0;
    };
    let heights = |rig: &Rig, reference: &Reference, joint: usize| {
        let y = |m: &DMat4| (reference.placed * *m).w_axis.y;
        let hips = y(&rig.rest_skel()[joint]);
        let lowest = rig.rest_skel().iter().map(y).fold(f64::INFINITY, f64::min);
        (hips, lowest)
    };
    let (source_hips, source_low) = heights(source, from, pairs[hips].source);
    let (target_hips, target_low) = heights(target, to, pairs[hips].target);
    // Ankles and heels are a little off the ground; a table to stand on is more.
    let stands = |hips: f64, low: f64| hips > 0.0 && low.abs() <= 0.25 * hips.max(hips - low);
    // Without legs there is nothing else to go by than the origin.
    let legless = |hips: f64, low: f64| hips - low <= 1e-6 * hips.abs() && hips > 0.0;
    let on_origin = |hips: f64, low: f64| stands(hips, low) || legless(hips, low);
    let ratio = if on_origin(source_hips, source_low) && on_origin(target_hips, target_low) {
        target_hips / source_hips
    } else {
        (target_hips - target_low) / (source_hips - source_low)
    };
    if ratio.is_finite() && ratio > 1e-6 && ratio < 1e6 {
        return ratio;
    }
    let message = format!(
        "the heights of the hips ({source_hips:.4} m, in {} {target_hips:.4} m) give no scale for the root's motion: it is not scaled",
        target.label()
    );
    warnings.push(Warning::new("retarget-no-height", source.label(), message));
    1.0
}

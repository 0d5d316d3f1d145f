//! The up axis of a clip whose format declares none.

use glam::DVec3;

use super::view::{Bones, Pose, View, foot_joints, percentile};
use crate::retarget::{Bone, Rig};

/// Finds the up axis of a clip by its poses, and by how much it is more likely than the next one.
/// `None` if the rig has no samples, or no legs.
pub(in super::super) fn found_up(rig: &Rig, bones: &Bones) -> Option<(DVec3, f64)> {
    let poses: Vec<Pose> = rig.samples().map(|world| Pose::new(rig, &world)).collect();
    let views: Vec<View<'_>> = poses.iter().map(|pose| View { bones, pose }).collect();
    let bind = Pose::new(rig, rig.bind_skel());
    let bind = View { bones, pose: &bind };
    let legs: Vec<f64> = views.iter().filter_map(View::leg).collect();
    if legs.is_empty() {
        return None;
    }
    let leg = percentile(&legs, 0.5);
    let feet = foot_joints(rig, bones);
    let vote = |axis: &DVec3| vote(*axis, &views, &bind, &feet, leg);
    let mut votes: Vec<(Vote, DVec3)> = AXES.iter().map(|a| (vote(a), *a)).collect();
    votes.sort_by(|a, b| b.0.sum.total_cmp(&a.0.sum));
    let (best, up) = votes[0];
    // A body may lie all the time: it is less sure if the feet are at the origin by another axis alone.
    let margins = votes[1..].iter().map(|(other, _)| {
        let nearer = other.on_origin - best.on_origin;
        best.sum - other.sum - LYING * nearer.max(0.0)
    });
    Some((up, margins.fold(f64::INFINITY, f64::min).max(0.0)))
}

/// The six axes, +Y first.
const AXES: [DVec3; 6] = [
    DVec3::Y,
    DVec3::Z,
    DVec3::X,
    DVec3::NEG_Y,
    DVec3::NEG_Z,
    DVec3::NEG_X,
];

/// What a foot at the origin takes off the margin of an axis by which there is none.
const LYING: f64 = 0.5;

/// How likely an axis is up.
#[derive(Clone, Copy)]
struct Vote {
    sum: f64,
    /// How near the feet are to the origin, up to 1.
    on_origin: f64,
}

/// How likely an axis is up: trunk and legs are along it, the feet are near the origin and near one
/// level, and the bind pose stands along it.
fn vote(axis: DVec3, views: &[View<'_>], bind: &View<'_>, feet: &[usize], leg: f64) -> Vote {
    let posture = |v: &View<'_>| {
        let feet = (v.at(Bone::LeftFoot)? + v.at(Bone::RightFoot)?) / 2.0;
        let legs = (v.middle()? - feet).try_normalize()?;
        Some((v.trunk()?.dot(axis) + legs.dot(axis)) / 2.0)
    };
    let postures: Vec<f64> = views.iter().filter_map(posture).collect();
    let posture = postures.iter().sum::<f64>() / postures.len().max(1) as f64;
    let lowest = |v: &View<'_>| {
        let heights = feet.iter().map(|j| v.pose.at[*j].dot(axis));
        heights.fold(f64::INFINITY, f64::min)
    };
    let low: Vec<f64> = views.iter().map(lowest).collect();
    let height = percentile(&low, 0.05) / leg;
    let on_origin = (-(height / 0.25).powi(2)).exp();
    let level = percentile(&low, 0.1);
    let level = low.iter().filter(|y| (*y - level).abs() < 0.12 * leg);
    let on_level = level.count() as f64 / low.len().max(1) as f64;
    let bound = match bind.stands() {
        true => bind.trunk().map_or(0.0, |t| t.dot(axis).max(0.0)),
        false => 0.0,
    };
    let usual = if axis == DVec3::Y { 0.25 } else { 0.0 };
    Vote {
        sum: posture + 0.75 * (on_origin + bound) + 0.5 * on_level + usual,
        on_origin,
    }
}

//! Sizes of meshes and Skeletons, and how closely samples follow curves by them.

use glam::{DMat4, DVec3};

use super::placement::{MeshUse, Place};
use super::skeletons::SkeletonPlan;
use crate::vertices::bounds;
use sinew_animate::asset::Asset;

/// How far samples may stray from cubic curves: joints below each other add up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    /// Units in the Skeleton's space.
    pub way: f64,
    /// Radians, factors of scale, and weights.
    pub part: f64,
}

/// Of the smallest mesh on a Skeleton, how far samples of cubic curves may stray, per joint.
const STRAY: f64 = 3e-4;

/// A mesh this much smaller than its Skeleton is no longer followed more closely.
const SMALLEST: f64 = 0.05;

/// How closely the clips of a Skeleton with these meshes are to be followed.
pub(super) fn tolerance(asset: &Asset, uses: &[&MeshUse], plan: &SkeletonPlan) -> Tolerance {
    let sizes = || {
        let sizes = uses.iter().flat_map(|u| sizes(asset, u, plan));
        sizes.filter(|s| *s > 0.0)
    };
    let whole = positive(sizes().fold(extent(plan), f64::max));
    let smallest = sizes().fold(whole, f64::min).max(SMALLEST * whole);
    Tolerance {
        way: STRAY * smallest,
        part: STRAY * smallest / whole,
    }
}

/// The size of the largest thing, or 1.
pub(super) fn size_of_everything(asset: &Asset, uses: &[MeshUse], plans: &[SkeletonPlan]) -> f64 {
    let meshes = uses.iter().flat_map(|u| diagonals(asset, u));
    positive(meshes.chain(plans.iter().map(extent)).fold(0.0, f64::max))
}

fn positive(size: f64) -> f64 {
    if size > 0.0 && size.is_finite() {
        size
    } else {
        1.0
    }
}

/// Diagonals of the primitives of a mesh, in its own space.
fn diagonals<'a>(asset: &'a Asset, at: &'a MeshUse) -> impl Iterator<Item = f64> + 'a {
    let primitives = at.primitives.iter();
    let primitives = primitives.map(|i| &asset.meshes[at.mesh].primitives[*i]);
    primitives.filter_map(|p| {
        let [low, high] = bounds(p.points.iter().copied())?;
        Some(f64::from(low.distance(high)))
    })
}

/// The same in the Skeleton's space at rest.
fn sizes<'a>(
    asset: &'a Asset,
    at: &'a MeshUse,
    plan: &SkeletonPlan,
) -> impl Iterator<Item = f64> + 'a {
    let factor = match at.place {
        Place::Skinned { geom_bind, .. } | Place::Carried { geom_bind, .. } => {
            let first = plan.joints.first();
            // A joint's rest and bind transforms differ by that of the mesh at rest.
            first.map_or(1.0, |j| {
                stretch(geom_bind) * stretch(j.rest) / stretch(j.bind)
            })
        }
        Place::Free => 1.0,
    };
    diagonals(asset, at).map(move |d| d * positive(factor))
}

fn stretch(m: DMat4) -> f64 {
    (0..3)
        .map(|i| m.col(i).truncate().length())
        .fold(0.0, f64::max)
}

/// Diagonal of the box around a Skeleton's joints at rest.
fn extent(plan: &SkeletonPlan) -> f64 {
    let mut rest: Vec<DMat4> = Vec::with_capacity(plan.joints.len());
    for joint in &plan.joints {
        let above = joint.parent.map_or(DMat4::IDENTITY, |p| rest[p]);
        rest.push(above * joint.rest);
    }
    let places = || rest.iter().map(|m| m.w_axis.truncate());
    let low = places().reduce(DVec3::min);
    let high = places().reduce(DVec3::max);
    low.zip(high).map_or(0.0, |(low, high)| low.distance(high))
}

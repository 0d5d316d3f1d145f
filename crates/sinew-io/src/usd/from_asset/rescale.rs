//! Scales at rest that half precision does not have.
//!
//! SkelAnimation stores scales in half, which is off by up to 5e-4: a joint scaled by 1.1 or 0.01 throughout would
//! misplace all below it. Instead such a joint's own frame is made a little larger or smaller, by one factor, so that its
//! scale becomes a number that half has: its bind and rest transforms, and the places of joints below, take the
//! factor up, and skinned points stay where they are.

use glam::{DMat4, DVec3};
use half::f16;

use super::clips::{CodedClip, moves};
use super::hierarchy::components;
use super::skeletons::SkeletonPlan;
use sinew_animate::asset::Asset;

/// Relative difference at which a half counts as the number itself.
const EXACT: f64 = 1e-6;

/// Whether half precision has all three factors.
pub(super) fn is_exact(scale: DVec3) -> bool {
    let exact = |x: f64| (f16::from_f64(x).to_f64() - x).abs() <= EXACT * x.abs();
    scale.to_array().into_iter().all(exact)
}

/// Chooses the frames of a Skeleton's joints.
pub(super) fn rescale(asset: &Asset, plan: &mut SkeletonPlan, clips: &[CodedClip]) {
    for i in 0..plan.joints.len() {
        let above = plan.joints[i].parent.map_or(1.0, |p| plan.joints[p].frame);
        let frame = match plan.joints[i].node {
            Some(node) => above * factor(asset, node, clips),
            None => above,
        };
        let joint = &mut plan.joints[i];
        joint.frame = frame;
        if frame != 1.0 || above != 1.0 {
            let own = DMat4::from_scale(DVec3::splat(frame));
            joint.bind *= own;
            joint.rest = DMat4::from_scale(DVec3::splat(above.recip())) * joint.rest * own;
        }
    }
}

/// What brings a node's scale to a number that half has; 1 where it is one already, differs between axes or is moved.
fn factor(asset: &Asset, node: usize, clips: &[CodedClip]) -> f64 {
    let source = &asset.nodes[node];
    let moved = |c: &CodedClip| c.scales.get(&node).is_some_and(|c| moves(source, c));
    let Some(scale) = components(&source.local).map(|t| t.scale) else {
        return 1.0;
    };
    let is_uniform = (scale - scale.x).abs().max_element() <= EXACT * scale.x.abs();
    if is_exact(scale) || !is_uniform || clips.iter().any(moved) {
        return 1.0;
    }
    let nearest = f16::from_f64(scale.x);
    match nearest.is_normal() {
        true => nearest.to_f64() / scale.x,
        // Too small or too large for half.
        false => scale.x.abs().recip(),
    }
}

//! What the steps share that put the layer's prims together.

use super::channels::{Channels, ExpressionBinds};
use super::clips::CodedClip;
use super::joints::Hierarchy;
use super::layer::{LayerBuilder, PrimId};
use super::placement::MeshUse;
use super::skeletons::SkeletonPlan;
use sinew::error::Warning;
use sinew_animate::asset::Asset;

/// Everything that goes into the layer, and the layer.
pub(super) struct Builder<'a> {
    pub asset: &'a Asset,
    pub clips: &'a [CodedClip],
    /// The bound one.
    pub bound: Option<usize>,
    pub hierarchy: Hierarchy,
    pub plans: Vec<SkeletonPlan>,
    pub uses: Vec<MeshUse>,
    pub channels: Vec<Channels>,
    pub expressions: ExpressionBinds,
    /// Values of the clips written so far.
    pub values: usize,
    pub layer: &'a mut LayerBuilder,
    /// The prim above everything of the scene.
    pub root: PrimId,
    /// The scope of SkelAnimations, once there are any.
    pub animations: Option<PrimId>,
    pub warnings: Vec<Warning>,
}

//! What the bounds of prims with an extentsHint are made of (UsdGeomBBoxCache).

use crate::sampled::Sampled;
use crate::skel::SkeletonInstance;
use glam::Vec3;

/// purpose, in the order in which an extentsHint lists its ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    #[default]
    Default,
    Render,
    Proxy,
    Guide,
}

impl Purpose {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// The purpose of a token; `None` for one that no extentsHint holds.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        Some(match token {
            "default" => Self::Default,
            "render" => Self::Render,
            "proxy" => Self::Proxy,
            "guide" => Self::Guide,
            _ => return None,
        })
    }
}

/// Corners of a prim's bounding box in its own space, over time.
#[derive(Clone, Debug)]
pub enum Extent {
    /// `[low, high]`; other lengths are no extent.
    Corners(Sampled<Vec<Vec3>>),
    /// The joint pivots of a Skeleton (rule 34).
    Joints(SkeletonInstance),
    /// None that can be told, as of volumes and point instancers without an authored one.
    Unknown,
}

/// A prim at or below one with an authored extentsHint.
#[derive(Clone, Debug)]
pub struct BoundsNode {
    /// Index into [`super::Scene::prims`].
    pub prim: usize,
    /// Parent's index into [`BoundsTree::nodes`], below this node's own.
    pub parent: Option<usize>,
    /// One past the last node below this one: nodes lie in depth-first order.
    pub end: usize,
    /// Kind component or subcomponent: bounds of what lies below are united in this prim's space.
    pub component: bool,
    /// As UsdGeomImageable::ComputePurpose has it; `None` for an unknown one.
    pub purpose: Option<Purpose>,
    /// The prim's own visibility, not its parents'.
    pub invisible: Sampled<bool>,
    /// The prim's own extent as the file has it, before any bake; it stands for all that lies below.
    /// `None` for prims that are not Boundable, and SkelRoots without an authored extent.
    pub extent: Option<Extent>,
}

/// A prim with an authored extentsHint that has a bound prim at or below it.
#[derive(Clone, Debug)]
pub struct HintedPrim {
    /// Index into [`BoundsTree::nodes`].
    pub node: usize,
    /// The prim in whose space the bounds are united, an index into [`super::Scene::prims`]. Of a group
    /// or assembly, as at Pixar's, the nearest component or subcomponent above, or the world where
    /// there is none; of any other the prim itself.
    pub space: Option<usize>,
}

/// Every prim that an extentsHint has to enclose. Empty where none is authored.
#[derive(Clone, Debug, Default)]
pub struct BoundsTree {
    pub nodes: Vec<BoundsNode>,
    pub hints: Vec<HintedPrim>,
}

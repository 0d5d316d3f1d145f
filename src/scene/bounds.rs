//! The data from which bounds of prims with an extentsHint are computed (UsdGeomBBoxCache).

use crate::sampled::Sampled;
use crate::skel::SkeletonInstance;
use glam::Vec3;

/// The purpose of a prim, in the order in which an extentsHint lists its ranges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    #[default]
    Default,
    Render,
    Proxy,
    Guide,
}

impl Purpose {
    /// Number of purposes.
    pub const COUNT: usize = 4;

    /// The purpose that a token names; `None` for a token that no extentsHint lists.
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

/// The bounding box of a prim in prim space, over time.
#[derive(Clone, Debug)]
pub enum Extent {
    /// The authored extent: `[low, high]`. An array of another length is no extent.
    Corners(Sampled<Vec<Vec3>>),
    /// The box around the joint pivots of a Skeleton (rule 34).
    Joints {
        /// The Skeleton and its animation.
        skeleton: SkeletonInstance,
        /// Path of the prim whose skel:animationSource binds the animation; `None` without one.
        bound_at: Option<String>,
    },
    /// An unknown extent, such as that of a volume or a point instancer without an authored one.
    Unknown,
}

/// A prim with an authored extentsHint, or a prim below one.
#[derive(Clone, Debug)]
pub struct BoundsNode {
    /// Index into [`super::Scene::prims`].
    pub prim: usize,
    /// Index of the parent into [`BoundsTree::nodes`]; it is less than that of this node.
    pub parent: Option<usize>,
    /// One past the last node below this one. Nodes are in depth-first order.
    pub end: usize,
    /// Whether the kind is component or subcomponent: then the bounds of all prims below are united
    /// in the space of this prim.
    pub component: bool,
    /// The purpose, as computed by UsdGeomImageable::ComputePurpose. `None` for an unknown token.
    pub purpose: Option<Purpose>,
    /// Visibility of the prim itself, not of its ancestors.
    pub invisible: Sampled<bool>,
    /// The extent in the file, before any bake. It encloses everything below. `None` for prims that
    /// are not Boundable, and for SkelRoots without an authored extent.
    pub extent: Option<Extent>,
}

/// A prim with an authored extentsHint that has a bound prim at or below it.
#[derive(Clone, Debug)]
pub struct HintedPrim {
    /// Index into [`BoundsTree::nodes`].
    pub node: usize,
    /// The prim in whose space the bounds are united, as an index into [`super::Scene::prims`]. For
    /// a group or assembly it is the nearest component or subcomponent above, or `None` for the
    /// world, as in Pixar's code. For any other prim it is the prim itself.
    pub space: Option<usize>,
}

/// All prims that an extentsHint has to enclose. Empty if no extentsHint is authored.
#[derive(Clone, Debug, Default)]
pub struct BoundsTree {
    pub nodes: Vec<BoundsNode>,
    pub hints: Vec<HintedPrim>,
}

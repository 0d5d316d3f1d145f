//! The data of a stage that binding resolution needs: for each prim its kind, its relationships,
//! and which attributes are authored.

/// Index of a prim in a [`PrimTree`].
pub type PrimIndex = usize;

/// The kind of a prim, as far as skinning needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimKind {
    SkelRoot,
    Skeleton,
    /// A SkelAnimation, which is not Imageable.
    SkelAnimation,
    /// Any Boundable that is neither SkelRoot nor Skeleton (rule 1); `has_points` for PointBased.
    Skinnable {
        has_points: bool,
    },
    /// An Imageable prim that is not skinnable. Bindings are inherited through it.
    Imageable,
    /// A prim that is not Imageable. Traversal leaves it out with everything below.
    Other,
}

/// The first forwarded target of an authored relationship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A prim of the tree, of any kind.
    Prim(PrimIndex),
    /// An authored path without a prim.
    Missing(String),
    /// An authored path whose prim is switched off: it, or one above it, is inactive.
    Inactive(String),
    /// An authored, empty list, which blocks inheritance (rule 3).
    Empty,
}

/// Which of the binding API's attributes have an authored value on a prim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthoredBinding {
    pub joint_indices: bool,
    pub joint_weights: bool,
    /// Whether the value of one of the two is `None` here.
    pub influences_blocked: bool,
    pub joints: bool,
    pub geom_bind_transform: bool,
    pub skinning_method: bool,
    pub blend_shapes: bool,
    pub blend_shape_targets: bool,
}

/// One prim of the tree.
#[derive(Clone, Debug)]
pub struct TreePrim {
    pub path: String,
    /// Index of the parent. Parents come before their children, in depth-first order.
    pub parent: Option<PrimIndex>,
    pub kind: PrimKind,
    /// Whether it has a type, of whatever name.
    pub has_type: bool,
    /// Whether SkelBindingAPI is applied (rule 2).
    pub has_api: bool,
    pub skeleton: Option<Target>,
    pub animation_source: Option<Target>,
    pub authored: AuthoredBinding,
}

/// Prims in depth-first order.
pub type PrimTree = Vec<TreePrim>;

//! What binding resolution needs to know of a stage: for each prim its kind, its relationships, and
//! which attributes are authored.

/// Index of a prim in a [`PrimTree`].
pub type PrimIndex = usize;

/// The kind of a prim, as far as skinning is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrimKind {
    SkelRoot,
    Skeleton,
    /// Not imageable either.
    SkelAnimation,
    /// Any Boundable that is neither SkelRoot nor Skeleton (rule 1); `has_points` for PointBased.
    Skinnable {
        has_points: bool,
    },
    /// Imageable, so that bindings are inherited through it.
    Imageable,
    /// Not imageable: traversal prunes it and all below.
    Other,
}

/// The first forwarded target of an authored relationship.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A prim of the tree, of whatever kind.
    Prim(PrimIndex),
    /// An authored path where no active prim is.
    Missing(String),
    /// An authored, empty list, which blocks inheritance (rule 3).
    Empty,
}

/// Which of the binding API's attributes have an authored value on a prim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuthoredBinding {
    pub joint_indices: bool,
    pub joint_weights: bool,
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
    /// Parent's index; parents come before their children, depth first.
    pub parent: Option<PrimIndex>,
    pub kind: PrimKind,
    /// SkelBindingAPI is applied (rule 2).
    pub has_api: bool,
    pub skeleton: Option<Target>,
    pub animation_source: Option<Target>,
    pub authored: AuthoredBinding,
}

/// Prims in depth-first order.
pub type PrimTree = Vec<TreePrim>;

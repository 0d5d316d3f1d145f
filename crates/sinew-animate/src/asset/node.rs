//! Nodes and their transforms.

use glam::DMat4;

pub use sinew::math::Trs;

/// A node of the file's hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// As in the file; may be empty, and need not be unique.
    pub name: String,
    pub parent: Option<usize>,
    /// parent_from_node at rest.
    pub local: LocalTransform,
    pub mesh: Option<usize>,
    /// Of the node's mesh. A skinned mesh is not moved by its node (glTF 2.0, 3.7.3.3).
    pub skin: Option<usize>,
    /// Morph target weights in place of the mesh's own.
    pub weights: Option<Vec<f32>>,
}

/// A node's transform. Only one in components can be animated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LocalTransform {
    Trs(Trs),
    /// Perhaps with shear.
    Matrix(DMat4),
}

impl Default for LocalTransform {
    fn default() -> Self {
        Self::Trs(Trs::IDENTITY)
    }
}

impl LocalTransform {
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        match self {
            Self::Trs(trs) => trs.matrix(),
            Self::Matrix(m) => *m,
        }
    }

    /// The components; of a matrix as they decompose, shear left out.
    #[must_use]
    pub fn trs(&self) -> Trs {
        match self {
            Self::Trs(trs) => *trs,
            Self::Matrix(m) => Trs::from_matrix(m),
        }
    }
}

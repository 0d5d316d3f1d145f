//! Nodes and their transforms.

use glam::DMat4;
use serde_json::Value;

pub use sinew::math::Trs;

/// A node of the file's hierarchy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Name in the file. It may be empty, and several nodes may have the same name.
    pub name: String,
    /// Index of the parent node; `None` for a root.
    pub parent: Option<usize>,
    /// parent_from_node at rest.
    pub local: LocalTransform,
    /// Index of the mesh that the node shows.
    pub mesh: Option<usize>,
    /// Index of the skin of the mesh. The transform of the node does not move a skinned mesh (glTF 2.0, 3.7.3.3).
    pub skin: Option<usize>,
    /// node_from_instance of each copy of the mesh that the node shows (EXT_mesh_gpu_instancing);
    /// empty if it shows the mesh once, without a further transform.
    pub instances: Vec<Trs>,
    /// Morph target weights that replace those of the mesh.
    pub weights: Option<Vec<f32>>,
    /// Index of the camera that stands at the node.
    pub camera: Option<usize>,
    /// Index of the punctual light that stands at the node.
    pub light: Option<usize>,
    /// Whether the node and all nodes below it are hidden (KHR_node_visibility).
    pub hidden: bool,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
}

/// The transform of a node relative to its parent. Only [`LocalTransform::Trs`] can be animated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LocalTransform {
    /// Translation, rotation and scale.
    Trs(Trs),
    /// A matrix, which may have shear.
    Matrix(DMat4),
}

impl Default for LocalTransform {
    fn default() -> Self {
        Self::Trs(Trs::IDENTITY)
    }
}

impl LocalTransform {
    /// parent_from_node.
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        match self {
            Self::Trs(trs) => trs.matrix(),
            Self::Matrix(m) => *m,
        }
    }

    /// Translation, rotation and scale. A matrix is decomposed, and its shear is dropped.
    #[must_use]
    pub fn trs(&self) -> Trs {
        match self {
            Self::Trs(trs) => *trs,
            Self::Matrix(m) => Trs::from_matrix(m),
        }
    }
}

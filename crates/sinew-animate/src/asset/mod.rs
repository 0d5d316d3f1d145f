//! [`Asset`] holds a glTF, VRM, FBX or BVH file in memory, before it is converted to UsdSkel.
//!
//! It has nodes with transforms, meshes with morph targets, skins, cameras, lights, clips, materials,
//! scenes and humanoid maps. It is plain data. [`Asset::validate`] checks its rules once, so that
//! later code needs no checks. Spaces and units are those of the file; a node's transform is
//! parent_from_node for column vectors; times are in seconds.
//!
//! `extras` are data of the application that wrote the file, as JSON of any kind; `None` if there
//! are none.

mod camera;
mod clip;
mod clip_names;
mod clip_pairs;
mod material;
mod mesh;
mod node;
mod validate;

use std::collections::BTreeMap;
use std::path::PathBuf;

use glam::DMat4;
use serde_json::Value;

use crate::retarget::Bone;
use sinew::error::{Invalid, Warning};

pub use camera::{AssetCamera, AssetLight, CameraProjection, LightKind};
pub use clip::{AssetClip, Curve, CurveInterpolation, Keys, Track, TrackTarget};
pub use clip_names::{FoundName, find_clip_name, unique_clip_name};
pub use clip_pairs::{ClipKind, ClipMoves, clip_pairs};
pub use material::{AlphaMode, AssetMaterial, Image, TextureRef, Wrap};
pub use mesh::{Faces, Mesh, MorphTarget, Primitive};
pub use node::{LocalTransform, Node, Trs};

/// The characters and clips of one file.
#[derive(Clone, Debug, Default)]
pub struct Asset {
    /// The file that it was read from.
    pub file: PathBuf,
    /// Other files that it was read from: buffers and images beside it.
    pub sources: Vec<PathBuf>,
    /// The format of the file.
    pub format: AssetFormat,
    /// The up axis of the file.
    pub up_axis: Axis,
    /// Length of one unit of the file, in metres.
    pub meters_per_unit: f64,
    /// Frame rate of the file. BVH and FBX files have one; `None` for glTF.
    pub frames_per_second: Option<f64>,
    /// Nodes in the file's order. Parents may come after their children. No node is its own
    /// ancestor.
    pub nodes: Vec<Node>,
    /// Indices of the shown scene's nodes that have no parent. Only they and the nodes below them
    /// are shown.
    pub roots: Vec<usize>,
    /// All scenes, in the file's order; empty if the format has none.
    pub scenes: Vec<AssetScene>,
    /// Index of the scene that is shown. Its roots are [`Asset::roots`]. `None` if there are no
    /// scenes.
    pub default_scene: Option<usize>,
    /// Meshes, which nodes show.
    pub meshes: Vec<Mesh>,
    /// Skins, which nodes bind their meshes with.
    pub skins: Vec<AssetSkin>,
    /// Cameras, which nodes show.
    pub cameras: Vec<AssetCamera>,
    /// Punctual lights, which nodes show.
    pub lights: Vec<AssetLight>,
    /// Animations.
    pub clips: Vec<AssetClip>,
    /// Materials, which primitives use.
    pub materials: Vec<AssetMaterial>,
    /// Names of the looks that a viewer can choose between (KHR_materials_variants); empty if there
    /// is only one.
    pub material_variants: Vec<String>,
    /// Images, which textures use.
    pub images: Vec<Image>,
    /// Humanoid maps: any number with EXT_skeleton_humanoid, at most one with VRM.
    pub humanoids: Vec<HumanoidSkeleton>,
    /// VRM expressions.
    pub expressions: Vec<Expression>,
    /// Who made the file, and with what.
    pub info: AssetInfo,
    /// Data of the application that wrote the file, about the file as a whole.
    pub extras: Option<Value>,
    /// What the reader could not read as authored.
    pub warnings: Vec<Warning>,
    /// Meshes of the file that are not in here, as they cannot be drawn, each with the reason.
    pub left_out: Vec<Invalid>,
}

/// Who made a file, and with what. All members are empty if the file does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssetInfo {
    /// Who holds the copyright, for people to read.
    pub copyright: String,
    /// The application that wrote the file.
    pub generator: String,
    /// Data of the application about this information (`asset.extras` in glTF).
    pub extras: Option<Value>,
    /// Further metadata by its name in the file, such as the licence in `VRMC_vrm.meta` or the
    /// packets of `KHR_xmp_json_ld`.
    pub metadata: BTreeMap<String, Value>,
}

/// Some of the nodes, to be shown together (glTF 2.0, 3.5.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssetScene {
    /// Name in the file. It may be empty, and several scenes may have the same name.
    pub name: String,
    /// Indices of its nodes that have no parent, each once. The nodes below them belong to the scene
    /// too. A node may belong to several scenes.
    pub roots: Vec<usize>,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
}

/// The file format of an [`Asset`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssetFormat {
    /// glTF 2.0 without VRM.
    #[default]
    Gltf,
    /// VRM 0.x: characters face -Z.
    Vrm0,
    /// VRM 1.0: characters face +Z.
    Vrm1,
    /// VRM Animation.
    Vrma,
    /// FBX.
    Fbx,
    /// Biovision motion capture.
    Bvh,
}

impl AssetFormat {
    /// The name of the format for messages, such as `glTF 2.0`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gltf => "glTF 2.0",
            Self::Vrm0 => "VRM 0.x",
            Self::Vrm1 => "VRM 1.0",
            Self::Vrma => "VRM Animation",
            Self::Fbx => "FBX",
            Self::Bvh => "BVH",
        }
    }
}

/// The up axis of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// +Y is up.
    #[default]
    Y,
    /// +Z is up.
    Z,
}

/// The joints of a skinned mesh and their inverse bind matrices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssetSkin {
    /// Name in the file; may be empty.
    pub name: String,
    /// Indices of the nodes, each at most once. [`Primitive::joints`] has indices into this list.
    pub joints: Vec<usize>,
    /// joint_from_mesh at bind time, one per joint.
    pub inverse_bind: Vec<DMat4>,
    /// Data of the application that wrote the file.
    pub extras: Option<Value>,
}

/// A map from human bones to nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HumanoidSkeleton {
    /// Location in the file, such as `extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]`.
    pub location: String,
    /// Index of the root node; `None` if the format has none (VRM).
    pub root: Option<usize>,
    /// Index of the node of each bone.
    pub bones: BTreeMap<Bone, usize>,
}

/// A VRM expression: one weight that drives several morph targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    /// Name of the expression, such as `happy`.
    pub name: String,
    /// Whether weights are rounded: to 0 up to 0.5, to 1 above.
    pub is_binary: bool,
    /// The morph targets that it drives.
    pub binds: Vec<MorphBind>,
}

/// The weight that an expression adds to one morph target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MorphBind {
    /// Index of the mesh.
    pub mesh: usize,
    /// Index of the morph target in the mesh.
    pub target: usize,
    /// The weight that is added if the expression has weight 1.
    pub weight: f32,
}

impl Asset {
    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, at: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Warning::new(code, at, message));
    }

    /// The first clip with this name.
    #[must_use]
    pub fn clip(&self, name: &str) -> Option<&AssetClip> {
        self.clips.iter().find(|c| c.name == name)
    }

    /// The children of every node, in the file's order.
    #[must_use]
    pub fn children(&self) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[parent].push(i);
            }
        }
        children
    }

    /// Node indices, parents before their children, siblings in the file's order.
    #[must_use]
    pub fn parents_first(&self) -> Vec<usize> {
        let children = self.children();
        let mut order: Vec<usize> = (0..self.nodes.len())
            .filter(|i| self.nodes[*i].parent.is_none())
            .collect();
        let mut next = 0;
        while next < order.len() {
            let node = order[next];
            order.extend(&children[node]);
            next += 1;
        }
        order
    }

    /// A node and its ancestors, nearest first.
    pub fn chain(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |n| self.nodes[*n].parent)
    }

    /// world_from_node at rest.
    #[must_use]
    pub fn rest_world(&self, node: usize) -> DMat4 {
        self.chain(node)
            .fold(DMat4::IDENTITY, |m, n| self.nodes[n].local.matrix() * m)
    }
}

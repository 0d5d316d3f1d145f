//! An [`Asset`]: what glTF, VRM, FBX and BVH files have in common, before it becomes UsdSkel.
//!
//! Nodes with transforms, meshes with morph targets, skins, clips of tracks on nodes, simple materials, humanoid maps. Plain
//! data, held to its own rules once ([`Asset::validate`]), so that what follows needs no checks. Spaces are the
//! file's own: a node's transform is parent_from_node, column vectors; times are seconds.

mod clip;
mod material;
mod mesh;
mod node;
mod validate;

use std::collections::BTreeMap;
use std::path::PathBuf;

use glam::DMat4;

use crate::retarget::Bone;
use sinew::error::Warning;

pub use clip::{AssetClip, Curve, CurveInterpolation, Keys, Track, TrackTarget};
pub use material::{AlphaMode, AssetMaterial, Image, TextureRef, Wrap};
pub use mesh::{Faces, Mesh, MorphTarget, Primitive};
pub use node::{LocalTransform, Node, Trs};

/// Everything that a file of any of these formats says about characters and their clips.
#[derive(Clone, Debug, Default)]
pub struct Asset {
    /// File it was read from.
    pub file: PathBuf,
    pub format: AssetFormat,
    /// The file's up axis: `Y` or `Z`.
    pub up_axis: Axis,
    pub meters_per_unit: f64,
    /// The rate that the file was made at, where it says (BVH, FBX); glTF does not.
    pub frames_per_second: Option<f64>,
    /// In the file's order; parents may come after their children. No circles.
    pub nodes: Vec<Node>,
    /// The nodes of the scene to show that have no parent. Nodes below none of them are not shown.
    pub roots: Vec<usize>,
    pub meshes: Vec<Mesh>,
    pub skins: Vec<AssetSkin>,
    pub clips: Vec<AssetClip>,
    pub materials: Vec<AssetMaterial>,
    pub images: Vec<Image>,
    /// Humanoid maps: of EXT_skeleton_humanoid any number, of VRM one.
    pub humanoids: Vec<HumanoidSkeleton>,
    /// VRM expressions.
    pub expressions: Vec<Expression>,
    pub warnings: Vec<Warning>,
}

/// Where an [`Asset`] comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AssetFormat {
    /// glTF 2.0 without VRM.
    #[default]
    Gltf,
    /// VRM 0.x: faces -Z.
    Vrm0,
    /// VRM 1.0: faces +Z.
    Vrm1,
    /// VRM Animation.
    Vrma,
    Fbx,
    Bvh,
}

impl AssetFormat {
    /// Its name, for people.
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

/// An up axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    #[default]
    Y,
    Z,
}

/// Joints, and the matrices that bring points of the mesh to them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssetSkin {
    pub name: String,
    /// Node indices, each once; primitives' joint indices point into this list.
    pub joints: Vec<usize>,
    /// joint_from_mesh at bind time, one per joint.
    pub inverse_bind: Vec<DMat4>,
}

/// A map from human bones to nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HumanoidSkeleton {
    /// Where in the file it stands, such as `extensions.EXT_skeleton_humanoid.humanoidSkeletons[0]`.
    pub location: String,
    /// The skeleton's root node, where the format names one (EXT_skeleton_humanoid).
    pub root: Option<usize>,
    /// Node indices.
    pub bones: BTreeMap<Bone, usize>,
}

/// A VRM expression: one slider that moves several morph targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    pub name: String,
    /// Weights count as 0 up to 0.5 and as 1 above.
    pub is_binary: bool,
    pub binds: Vec<MorphBind>,
}

/// What an expression at weight 1 adds to one morph target's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MorphBind {
    /// Mesh and morph target, by index.
    pub mesh: usize,
    pub target: usize,
    pub weight: f32,
}

impl Asset {
    /// The clip of that name.
    #[must_use]
    pub fn clip(&self, name: &str) -> Option<&AssetClip> {
        self.clips.iter().find(|c| c.name == name)
    }

    /// A node's children, in the file's order, for every node.
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

    /// A node and those above it, nearest first.
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

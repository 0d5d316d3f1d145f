//! Meshes and the nodes that have them.

use std::collections::HashMap;
use std::rc::Rc;

use glam::{DMat4, Vec3};

use super::budget::Budget;
use super::convert::matrix;
use super::nodes::Nodes;
use super::primitive::Source;
use super::shapes::channels;
use super::skins::MeshSkin;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Mesh, Skin};

/// Meshes and skins of the whole file.
#[derive(Default)]
pub struct Meshes {
    pub meshes: Vec<Mesh>,
    pub skins: Vec<Skin>,
    /// Blend channels of each mesh, in the order of its targets.
    pub channels: Vec<Vec<MeshChannel>>,
    pub warnings: Vec<Warning>,
}

/// A blend channel as clips see it.
pub struct MeshChannel {
    pub element_id: u32,
    /// Weight that counts as 1.
    pub full: f64,
    /// At rest.
    pub weight: f64,
}

/// A mesh that some node has already.
#[derive(Clone, Copy)]
struct Known {
    mesh: usize,
    /// Some points have no influences and go with the node, so that each node has a skin of its own.
    has_rigid_points: bool,
    /// The skin that nodes share otherwise.
    skin: Option<usize>,
}

struct Reader<'a> {
    out: Meshes,
    /// By ufbx's mesh.
    skins: HashMap<u32, Option<Rc<MeshSkin<'a>>>>,
    /// By ufbx's mesh and the materials that a node gives it.
    known: HashMap<(u32, Vec<u32>), Known>,
}

/// Reads the meshes of all nodes, and hands them to those.
pub fn read(
    scene: &ufbx::Scene,
    nodes: &mut Nodes,
    budget: &mut Budget,
) -> Result<Meshes, Invalid> {
    let mut reader = Reader {
        out: Meshes::default(),
        skins: HashMap::new(),
        known: HashMap::new(),
    };
    for node in &scene.nodes {
        if let (Some(mesh), Some(index)) = (&node.mesh, nodes.index(node)) {
            reader.read_node(node, mesh, index, nodes, budget)?;
        }
    }
    Ok(reader.out)
}

impl<'a> Reader<'a> {
    fn read_node(
        &mut self,
        node: &ufbx::Node,
        mesh: &'a ufbx::Mesh,
        index: usize,
        nodes: &mut Nodes,
        budget: &mut Budget,
    ) -> Result<(), Invalid> {
        // Instances of a mesh may have materials of their own.
        let owner = match &node.parent {
            Some(parent) if node.is_geometry_transform_helper => parent,
            _ => node,
        };
        let materials = if owner.materials.is_empty() {
            &mesh.materials
        } else {
            &owner.materials
        };
        let materials = materials.into_iter().map(|m| m.element.typed_id).collect();
        let key = (mesh.element.typed_id, materials);
        let skin = self.skin(mesh, nodes);
        let mut known = match self.known.get(&key) {
            Some(known) => *known,
            None => self.read_mesh(mesh, skin.as_deref(), &key.1, budget)?,
        };
        nodes.nodes[index].mesh = Some(known.mesh);
        if let Some(skin) = skin {
            if known.has_rigid_points || known.skin.is_none() {
                let joints = skin.rigid_joint() as usize + 1;
                budget.spend::<(usize, DMat4)>(joints, &node.element.name)?;
                let place = matrix(&node.geometry_to_node);
                let rigid = known.has_rigid_points.then_some((index, place));
                known.skin = Some(self.out.skins.len());
                self.out.skins.push(skin.with_rigid(rigid));
            }
            nodes.nodes[index].skin = known.skin;
        }
        self.known.insert(key, known);
        Ok(())
    }

    fn skin(&mut self, mesh: &'a ufbx::Mesh, nodes: &mut Nodes) -> Option<Rc<MeshSkin<'a>>> {
        let warnings = &mut self.out.warnings;
        let read = || {
            let name = &*mesh.element.name;
            let mut warn = |code, message: &str| warnings.push(Warning::new(code, name, message));
            if mesh.skin_deformers.len() > 1 {
                warn(
                    "fbx-several-skins",
                    "more than one skin: the first one counts",
                );
            }
            if !mesh.cache_deformers.is_empty() {
                warn("fbx-geometry-cache", "a geometry cache, which is not read");
            }
            let deformer = mesh.skin_deformers.into_iter().next()?;
            if matches!(
                deformer.skinning_method,
                ufbx::SkinningMethod::DualQuaternion | ufbx::SkinningMethod::BlendedDqLinear
            ) {
                let message = "dual quaternion skinning becomes linear";
                warn("fbx-dual-quaternion", message);
            }
            let skin = MeshSkin::new(deformer, nodes);
            if skin.is_none() {
                warn("fbx-skin-ignored", "a skin without joints: not skinned");
            }
            skin.map(Rc::new)
        };
        let skin = self.skins.entry(mesh.element.typed_id);
        skin.or_insert_with(read).clone()
    }

    fn read_mesh(
        &mut self,
        mesh: &'a ufbx::Mesh,
        skin: Option<&MeshSkin>,
        materials: &[u32],
        budget: &mut Budget,
    ) -> Result<Known, Invalid> {
        let name = &*mesh.element.name;
        let channels = channels(mesh);
        budget.spend::<u32>(mesh.vertices.len(), name)?;
        let mut source = Source {
            mesh,
            skin,
            channels: &channels,
            local: vec![u32::MAX; mesh.vertices.len()],
        };
        let mut primitives = Vec::new();
        for part in &mesh.material_parts {
            budget.spend::<[Vec3; 3]>(part.num_faces, name)?;
            if let Some(mut primitive) = source.primitive(part, budget)? {
                let material = materials.get(part.index as usize);
                primitive.material = material.map(|m| *m as usize);
                primitives.push(primitive);
            }
        }
        let rigid = skin.map(MeshSkin::rigid_joint);
        let known = Known {
            mesh: self.out.meshes.len(),
            has_rigid_points: primitives
                .iter()
                .any(|p| p.joints.iter().any(|j| Some(*j) == rigid)),
            skin: None,
        };
        self.out.meshes.push(Mesh {
            name: name.to_owned(),
            primitives,
            target_names: channels.iter().map(|c| c.name.clone()).collect(),
            weights: channels.iter().map(|c| c.weight as f32).collect(),
        });
        let of_clips = channels.iter().map(|c| MeshChannel {
            element_id: c.element_id,
            full: c.full,
            weight: c.weight,
        });
        self.out.channels.push(of_clips.collect());
        Ok(known)
    }
}

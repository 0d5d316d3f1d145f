//! Skin deformers: joints, bind matrices, influences.

use std::collections::HashMap;

use glam::DMat4;

use super::convert::matrix;
use super::nodes::Nodes;
use sinew_animate::asset::{Node, Skin};

/// A mesh's skin, before its node is known.
pub struct MeshSkin<'a> {
    deformer: &'a ufbx::SkinDeformer,
    /// By cluster.
    joint_of_cluster: Vec<u32>,
    joints: Vec<usize>,
    inverse_bind: Vec<DMat4>,
}

impl<'a> MeshSkin<'a> {
    /// `None` where no cluster has a bone.
    pub fn new(deformer: &'a ufbx::SkinDeformer, nodes: &mut Nodes) -> Option<Self> {
        let mut skin = Self {
            deformer,
            joint_of_cluster: Vec::new(),
            joints: Vec::new(),
            inverse_bind: Vec::new(),
        };
        // Joints that stand for a bone: more than one where its clusters disagree about its bind pose.
        let mut of_bone: HashMap<usize, Vec<u32>> = HashMap::new();
        for cluster in &deformer.clusters {
            let bone = cluster.bone_node.as_ref().and_then(|b| nodes.index(b))?;
            let bind = matrix(&cluster.geometry_to_bone);
            let known = of_bone.entry(bone).or_default();
            let same = known
                .iter()
                .find(|j| skin.inverse_bind[**j as usize] == bind);
            let joint = match same {
                Some(joint) => *joint,
                None => {
                    let node = if known.is_empty() {
                        bone
                    } else {
                        twin(bone, nodes)
                    };
                    let joint = skin.joints.len() as u32;
                    known.push(joint);
                    skin.joints.push(node);
                    skin.inverse_bind.push(bind);
                    joint
                }
            };
            skin.joint_of_cluster.push(joint);
        }
        (!skin.joints.is_empty()).then_some(skin)
    }

    /// The joint that moves points without influences: the mesh's node, after the others.
    pub fn rigid_joint(&self) -> u32 {
        self.joints.len() as u32
    }

    /// Joints and weights of a point, which sum to 1; none where the file has none that count.
    pub fn influences(&self, vertex: u32) -> Vec<(u32, f32)> {
        let Some(row) = self.deformer.vertices.get(vertex as usize) else {
            return Vec::new();
        };
        let range = row.weight_begin as usize..row.weight_begin as usize + row.num_weights as usize;
        let weights = self.deformer.weights.get(range).unwrap_or(&[]);
        let weights = weights.iter().filter_map(|w| {
            let joint = *self.joint_of_cluster.get(w.cluster_index as usize)?;
            (w.weight.is_finite() && w.weight != 0.0).then_some((joint, w.weight))
        });
        let weights: Vec<(u32, f64)> = weights.collect();
        let sum: f64 = weights.iter().map(|(_, w)| w).sum();
        if sum.is_nan() || sum <= 0.0 {
            return Vec::new();
        }
        let normalised = weights.into_iter().map(|(j, w)| (j, (w / sum) as f32));
        normalised.collect()
    }

    /// The skin; `rigid` is the node that has the mesh and the mesh's place in it, where some points have no influences.
    pub fn with_rigid(&self, rigid: Option<(usize, DMat4)>) -> Skin {
        let mut skin = Skin {
            name: self.deformer.element.name.to_string(),
            joints: self.joints.clone(),
            inverse_bind: self.inverse_bind.clone(),
        };
        if let Some((node, node_from_mesh)) = rigid {
            skin.joints.push(node);
            skin.inverse_bind.push(node_from_mesh);
        }
        skin
    }
}

/// A node that always stands where `bone` does.
fn twin(bone: usize, nodes: &mut Nodes) -> usize {
    let name = format!("{}_bind", nodes.nodes[bone].name);
    nodes.nodes.push(Node {
        name,
        parent: Some(bone),
        ..Node::default()
    });
    nodes.nodes.len() - 1
}

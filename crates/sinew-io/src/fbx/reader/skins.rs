//! Deformers: skins (joints, bind matrices, influences) and blend shapes (channels as morph
//! targets).

use std::collections::{BTreeMap, HashMap};

use glam::{DMat4, DVec3, Vec3};

use super::load::Budget;
use super::nodes::{Nodes, dvec3, matrix};
use sinew::error::Invalid;
use sinew::skel::InbetweenDef;
use sinew_animate::asset::{AssetSkin, MorphTarget, Node};

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
        // Joints that stand for a bone: more than one where its clusters disagree about its bind
        // pose.
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

    /// The skin; `rigid` is the node that has the mesh and the mesh's place in it, where some
    /// points have no influences.
    pub fn with_rigid(&self, rigid: Option<(usize, DMat4)>) -> AssetSkin {
        let mut skin = AssetSkin {
            name: self.deformer.element.name.to_string(),
            joints: self.joints.clone(),
            inverse_bind: self.inverse_bind.clone(),
            ..AssetSkin::default()
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

/// An element's number, and the name of one of its properties.
pub type Property = (u32, String);

/// The property that animates a blend channel.
const WEIGHT: &str = "DeformPercent";

/// A blend channel with at least one shape.
pub struct Channel<'a> {
    /// The properties that animate it, in percent: its own, and those connected to that one.
    pub percents: Vec<Property>,
    pub name: String,
    /// Weight of the channel at which the last shape holds; FBX's weights count in it.
    pub full: f64,
    /// At rest, 1 at `full`.
    pub weight: f64,
    shape: &'a ufbx::BlendShape,
    /// With their weights, 1 at `full`.
    inbetweens: Vec<(f64, &'a ufbx::BlendShape)>,
}

/// The channels of a mesh, deformer after deformer.
pub fn channels(mesh: &ufbx::Mesh) -> Vec<Channel<'_>> {
    let deformers = mesh.blend_deformers.into_iter();
    deformers
        .flat_map(|d| &d.channels)
        .filter_map(channel)
        .collect()
}

fn channel(channel: &ufbx::BlendChannel) -> Option<Channel<'_>> {
    // A shape at weight 0 would be there at rest.
    let keys = channel
        .keyframes
        .iter()
        .filter(|k| k.target_weight.is_finite() && k.target_weight != 0.0);
    let last = keys.clone().max_by(|a, b| {
        // The largest, the one furthest from 0 where all are negative.
        let rank = |w: f64| (w > 0.0, w.abs());
        rank(a.target_weight)
            .partial_cmp(&rank(b.target_weight))
            .unwrap_or(std::cmp::Ordering::Equal)
    })?;
    let full = last.target_weight;
    let mut inbetweens: Vec<(f64, &ufbx::BlendShape)> = Vec::new();
    for key in keys {
        let weight = key.target_weight / full;
        // In-betweens of one weight contradict each other; f32, as UsdSkel has them.
        let is_free = |w: f64| w as f32 != weight as f32;
        if is_free(1.0) && is_free(0.0) && inbetweens.iter().all(|(w, _)| is_free(*w)) {
            inbetweens.push((weight, key.shape.as_ref()));
        }
    }
    let name = channel.element.name.to_string();
    Some(Channel {
        percents: percents(&channel.element),
        name: if name.is_empty() {
            last.shape.element.name.to_string()
        } else {
            name
        },
        full,
        weight: channel.weight / full,
        shape: last.shape.as_ref(),
        inbetweens,
    })
}

/// The properties that animate a channel. Before FBX 7.2, they are properties of the model.
fn percents(channel: &ufbx::Element) -> Vec<Property> {
    let connected = channel.connections_dst.iter();
    let connected = connected.filter(|c| &*c.dst_prop == WEIGHT && !c.src_prop.is_empty());
    let own = (channel.element_id, WEIGHT.to_owned());
    let others = connected.map(|c| (c.src.element_id, c.src_prop.to_string()));
    std::iter::once(own).chain(others).collect()
}

impl Channel<'_> {
    /// What the channel does to the points that `local` leads to; `u32::MAX` leads to none.
    pub fn target(&self, local: &[u32], budget: &mut Budget) -> Result<MorphTarget, Invalid> {
        let shapes = || self.inbetweens.iter().map(|(_, s)| *s).chain([self.shape]);
        // All its shapes have offsets for the same points.
        let mut touched: BTreeMap<u32, usize> = BTreeMap::new();
        for shape in shapes() {
            for vertex in &shape.offset_vertices {
                match local.get(*vertex as usize) {
                    Some(point) if *point != u32::MAX => touched.insert(*point, 0),
                    _ => continue,
                };
            }
        }
        for (index, value) in touched.values_mut().enumerate() {
            *value = index;
        }
        budget.spend::<[Vec3; 2]>(touched.len() * (self.inbetweens.len() + 1), &self.name)?;
        let offsets = |shape: &ufbx::BlendShape, values: &[ufbx::Vec3]| {
            let mut sums = vec![DVec3::ZERO; touched.len()];
            for (vertex, value) in shape.offset_vertices.iter().zip(values) {
                let point = local.get(*vertex as usize).unwrap_or(&u32::MAX);
                if let Some(index) = touched.get(point) {
                    sums[*index] += dvec3(*value);
                }
            }
            sums.into_iter().map(DVec3::as_vec3).collect::<Vec<Vec3>>()
        };
        let normals = |shape: &ufbx::BlendShape| {
            let has_normals = !shape.normal_offsets.is_empty();
            has_normals.then(|| offsets(shape, &shape.normal_offsets))
        };
        let inbetweens = self.inbetweens.iter().enumerate();
        let inbetweens = inbetweens.map(|(i, (weight, shape))| InbetweenDef {
            name: format!("inbetween_{}", i + 1),
            weight: *weight as f32,
            offsets: offsets(shape, &shape.position_offsets),
            normal_offsets: normals(shape),
        });
        Ok(MorphTarget {
            inbetweens: inbetweens.collect(),
            offsets: offsets(self.shape, &self.shape.position_offsets),
            normal_offsets: normals(self.shape).unwrap_or_default(),
            tangent_offsets: Vec::new(),
            point_indices: Some(touched.into_keys().collect()),
        })
    }
}

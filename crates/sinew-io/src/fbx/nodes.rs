//! The hierarchy.

use super::convert::trs;
use sinew_animate::asset::{LocalTransform, Node};

/// Nodes of the file, and which they are among ufbx's.
pub struct Nodes {
    pub nodes: Vec<Node>,
    /// By ufbx's number; none for its root, which no file has.
    of_typed_id: Vec<Option<usize>>,
}

impl Nodes {
    pub fn new(scene: &ufbx::Scene) -> Self {
        let mut of_typed_id = vec![None; scene.nodes.len()];
        let mut kept = Vec::with_capacity(scene.nodes.len());
        for node in &scene.nodes {
            if !node.is_root {
                of_typed_id[node.element.typed_id as usize] = Some(kept.len());
                kept.push(node);
            }
        }
        let mut nodes = Self {
            nodes: Vec::with_capacity(kept.len()),
            of_typed_id,
        };
        for node in kept {
            let parent = node.parent.as_ref().and_then(|p| nodes.index(p));
            nodes.nodes.push(Node {
                name: name(node),
                parent,
                local: LocalTransform::Trs(trs(&node.local_transform)),
                ..Node::default()
            });
        }
        nodes
    }

    /// The asset's index of a node; `None` for ufbx's root.
    pub fn index(&self, node: &ufbx::Node) -> Option<usize> {
        self.of_typed_id(node.element.typed_id)
    }

    pub fn of_typed_id(&self, id: u32) -> Option<usize> {
        self.of_typed_id.get(id as usize).copied().flatten()
    }
}

/// Nodes that ufbx adds are named after the ones they belong to.
fn name(node: &ufbx::Node) -> String {
    let ending = if node.is_geometry_transform_helper {
        "_mesh"
    } else if node.is_scale_helper {
        "_scale"
    } else {
        return node.element.name.to_string();
    };
    let parent = node.parent.as_ref().map_or("", |p| &*p.element.name);
    format!("{parent}{ending}")
}

//! The node hierarchy, and ufbx's vectors as glam's.

use glam::{DMat4, DQuat, DVec3, DVec4, Vec2, Vec3, Vec4};

use sinew_animate::asset::{LocalTransform, Node, Trs};

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
    let suffix = if node.is_geometry_transform_helper {
        "_mesh"
    } else if node.is_scale_helper {
        "_scale"
    } else {
        return node.element.name.to_string();
    };
    let parent = node.parent.as_ref().map_or("", |p| &*p.element.name);
    format!("{parent}{suffix}")
}

pub fn dvec3(v: ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub fn vec3(v: ufbx::Vec3) -> Vec3 {
    dvec3(v).as_vec3()
}

pub fn vec4(v: ufbx::Vec4) -> Vec4 {
    DVec4::new(v.x, v.y, v.z, v.w).as_vec4()
}

/// FBX has its origin at the lower left.
pub fn uv(v: ufbx::Vec2) -> Vec2 {
    Vec2::new(v.x as f32, (1.0 - v.y) as f32)
}

/// Of unit length; no rotation where there is none to be made of it.
pub fn rotation(q: ufbx::Quat) -> DQuat {
    let q = DQuat::from_xyzw(q.x, q.y, q.z, q.w).normalize();
    if q.is_finite() { q } else { DQuat::IDENTITY }
}

pub fn trs(t: &ufbx::Transform) -> Trs {
    Trs {
        translation: dvec3(t.translation),
        rotation: rotation(t.rotation),
        scale: dvec3(t.scale),
    }
}

pub fn matrix(m: &ufbx::Matrix) -> DMat4 {
    DMat4::from_cols(
        DVec4::new(m.m00, m.m10, m.m20, 0.0),
        DVec4::new(m.m01, m.m11, m.m21, 0.0),
        DVec4::new(m.m02, m.m12, m.m22, 0.0),
        DVec4::new(m.m03, m.m13, m.m23, 1.0),
    )
}

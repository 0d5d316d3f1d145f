//! A character in the T-pose that EXT_skeleton_humanoid and VRM ask for, in glTF.

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DQuat, DVec3};
use serde_json::{Value, json};
use sinew_animate::retarget::Bone;

use super::gltf_maker::{GltfMaker, Shape, trs_node};

/// How the bones' own axes lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// +Y to the child, +X bends like a muscle (EXT_skeleton_humanoid).
    #[default]
    Bone,
    /// Along the world's, as VRM tools write them.
    World,
}

/// What kind of mannequin.
#[derive(Clone, Debug)]
pub struct Build {
    pub bones: Vec<Bone>,
    pub axes: Axes,
    /// Transform of the root node, above the hips.
    pub root: DMat4,
}

impl Default for Build {
    fn default() -> Self {
        Self {
            bones: Bone::ALL.to_vec(),
            axes: Axes::Bone,
            root: DMat4::IDENTITY,
        }
    }
}

/// The document, and where things are in it.
#[derive(Clone)]
pub struct Mannequin {
    pub gltf: GltfMaker,
    pub root: usize,
    pub nodes: BTreeMap<Bone, usize>,
}

impl Build {
    /// Adds the character to a document.
    pub fn add_to(&self, gltf: GltfMaker) -> Mannequin {
        let mut gltf = gltf;
        let (scale, rotation, translation) = self.root.to_scale_rotation_translation();
        let root = gltf.node(None, trs_node("root", translation, rotation, scale));
        let mut nodes = BTreeMap::new();
        // Of the character in its own space, without the root.
        let mut world: BTreeMap<usize, DMat4> = BTreeMap::from([(root, DMat4::IDENTITY)]);
        for bone in Bone::ALL.iter().filter(|b| self.bones.contains(b)) {
            let parent = bone
                .ancestors()
                .find_map(|b| nodes.get(&b).copied())
                .unwrap_or(root);
            let wanted = DMat4::from_rotation_translation(self.orientation(*bone), position(*bone));
            let local = world[&parent].inverse() * wanted;
            let (_, rotation, translation) = local.to_scale_rotation_translation();
            let node = trs_node(bone.name(), translation, rotation.normalize(), DVec3::ONE);
            let node = gltf.node(Some(parent), node);
            world.insert(node, wanted);
            nodes.insert(*bone, node);
        }
        let joints: Vec<usize> = nodes.values().copied().collect();
        let skin = gltf.skin_at_rest(&joints);
        let mesh = self.body(&mut gltf, &joints);
        gltf.node(None, json!({ "name": "body0", "mesh": mesh, "skin": skin }));
        Mannequin { gltf, root, nodes }
    }

    /// A document with this character only.
    pub fn make(&self) -> Mannequin {
        self.add_to(GltfMaker::new())
    }

    /// A triangle per bone, fixed to it, with two morph targets.
    fn body(&self, gltf: &mut GltfMaker, joints: &[usize]) -> usize {
        let mut shape = Shape::default();
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Z];
        for (joint, node) in joints.iter().enumerate() {
            let bind_from_joint = gltf.rest_world(*node);
            for corner in corners {
                let point = bind_from_joint.transform_point3(corner * 0.02);
                shape.triangles.push(shape.points.len() as u16);
                shape.points.push(point.as_vec3().to_array());
                shape.joints.push([joint as u16, 0, 0, 0]);
                shape.weights.push([1.0, 0.0, 0.0, 0.0]);
            }
        }
        for (i, name) in ["wide", "tall"].into_iter().enumerate() {
            let mut offset = [0.0; 3];
            offset[i] = 0.05;
            let offsets = vec![offset; shape.points.len()];
            shape.targets.push((name.to_owned(), offsets));
        }
        gltf.mesh("body", &[shape])
    }

    fn orientation(&self, bone: Bone) -> DQuat {
        if self.axes == Axes::World {
            return DQuat::IDENTITY;
        }
        let y = match main_child(bone).filter(|c| self.bones.contains(c)) {
            Some(child) => (position(child) - position(bone)).normalize(),
            None => tip_direction(bone),
        };
        let x = y.cross(bend_direction(bone)).normalize();
        DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)))
    }
}

impl Default for Mannequin {
    fn default() -> Self {
        Self::new()
    }
}

impl Mannequin {
    /// Every bone of the default build.
    pub fn new() -> Self {
        Build::default().make()
    }

    /// Turns a joint, and what is below it, about the joint in the axes of the scene: at rest only.
    pub fn repose(&mut self, bone: Bone, by: DQuat) {
        self.gltf.turn(self.nodes[&bone], by);
    }

    /// The document, bound as it stands.
    pub fn rebound(&self) -> GltfMaker {
        let mut gltf = self.gltf.clone();
        gltf.bind_at_rest();
        gltf
    }

    /// `{ bone: node }`.
    pub fn bone_map(&self) -> Value {
        self.nodes
            .iter()
            .map(|(bone, node)| (bone.name().to_owned(), json!(node)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// One item of `humanoidSkeletons`.
    pub fn humanoid_skeleton(&self) -> Value {
        json!({ "rootNode": self.root, "humanoidBones": self.bone_map() })
    }

    /// The document with EXT_skeleton_humanoid.
    pub fn with_humanoid(mut self) -> Self {
        let skeleton = self.humanoid_skeleton();
        let value = json!({ "humanoidSkeletons": [skeleton] });
        self.gltf.extension("EXT_skeleton_humanoid", value);
        self
    }

    /// `{ bone: { "node": node } }`, as VRM 1.0 has it.
    pub fn vrm_bones(&self) -> Value {
        self.nodes
            .iter()
            .map(|(bone, node)| (bone.name().to_owned(), json!({ "node": node })))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

/// The child that a bone's +Y points to.
fn main_child(bone: Bone) -> Option<Bone> {
    let children = Bone::ALL.iter().filter(|b| b.parent() == Some(bone));
    match bone {
        Bone::Head => None,
        Bone::UpperChest => Some(Bone::Neck),
        Bone::LeftHand => Some(Bone::LeftMiddleProximal),
        Bone::RightHand => Some(Bone::RightMiddleProximal),
        _ => children.copied().next(),
    }
}

/// Where a bone without a child points to.
fn tip_direction(bone: Bone) -> DVec3 {
    let name = bone.name();
    let side = if name.starts_with("right") { -1.0 } else { 1.0 };
    match bone {
        Bone::LeftEye | Bone::RightEye | Bone::Jaw => DVec3::Z,
        Bone::LeftToes | Bone::RightToes => DVec3::Z,
        Bone::LeftUpperLeg | Bone::RightUpperLeg => DVec3::NEG_Y,
        Bone::LeftLowerLeg | Bone::RightLowerLeg => DVec3::NEG_Y,
        Bone::LeftFoot | Bone::RightFoot => DVec3::Z,
        _ if name.contains("Thumb") => DVec3::new(side, 0.0, 1.0).normalize(),
        _ if side < 0.0 => DVec3::NEG_X,
        _ if name.starts_with("left") => DVec3::X,
        _ => DVec3::Y,
    }
}

/// Where a positive turn about +X takes a bone's tip.
fn bend_direction(bone: Bone) -> DVec3 {
    let name = bone.name();
    let finger = ["Index", "Middle", "Ring", "Little", "Thumb", "Hand"];
    match bone {
        Bone::LeftLowerLeg | Bone::RightLowerLeg => DVec3::NEG_Z,
        Bone::LeftFoot | Bone::RightFoot | Bone::LeftToes | Bone::RightToes => DVec3::Y,
        Bone::LeftEye | Bone::RightEye | Bone::Jaw => DVec3::NEG_Y,
        _ if finger.iter().any(|f| name.contains(f)) => DVec3::NEG_Y,
        _ => DVec3::Z,
    }
}

/// Where a bone stands, in metres: left is +X, forward +Z.
pub fn position(bone: Bone) -> DVec3 {
    let name = bone.name();
    if let Some(rest) = name.strip_prefix("right")
        && let Ok(left) = format!("left{rest}").parse::<Bone>()
    {
        return position(left) * DVec3::new(-1.0, 1.0, 1.0);
    }
    let finger = |z: f64, length: f64| {
        let joint = ["Proximal", "Intermediate", "Distal"]
            .iter()
            .position(|j| name.ends_with(j));
        let x = 0.80 + length * joint.unwrap_or(0) as f64;
        DVec3::new(x, 1.40, z)
    };
    match bone {
        Bone::Hips => DVec3::new(0.0, 0.95, 0.0),
        Bone::Spine => DVec3::new(0.0, 1.05, 0.0),
        Bone::Chest => DVec3::new(0.0, 1.18, 0.0),
        Bone::UpperChest => DVec3::new(0.0, 1.30, 0.0),
        Bone::Neck => DVec3::new(0.0, 1.45, 0.0),
        Bone::Head => DVec3::new(0.0, 1.55, 0.0),
        Bone::LeftEye => DVec3::new(0.03, 1.62, 0.08),
        Bone::Jaw => DVec3::new(0.0, 1.56, 0.04),
        Bone::LeftShoulder => DVec3::new(0.04, 1.40, 0.0),
        Bone::LeftUpperArm => DVec3::new(0.17, 1.40, 0.0),
        Bone::LeftLowerArm => DVec3::new(0.45, 1.40, 0.0),
        Bone::LeftHand => DVec3::new(0.71, 1.40, 0.0),
        Bone::LeftThumbMetacarpal => DVec3::new(0.73, 1.40, 0.02),
        Bone::LeftThumbProximal => DVec3::new(0.76, 1.40, 0.05),
        Bone::LeftThumbDistal => DVec3::new(0.78, 1.40, 0.07),
        Bone::LeftUpperLeg => DVec3::new(0.09, 0.90, 0.0),
        Bone::LeftLowerLeg => DVec3::new(0.09, 0.49, 0.0),
        Bone::LeftFoot => DVec3::new(0.09, 0.08, 0.0),
        Bone::LeftToes => DVec3::new(0.09, 0.02, 0.13),
        _ if name.contains("Index") => finger(0.03, 0.03),
        _ if name.contains("Middle") => finger(0.0, 0.035),
        _ if name.contains("Ring") => finger(-0.02, 0.03),
        _ => finger(-0.04, 0.02),
    }
}

//! Rigs from seeds: the same body with any names, joint orients, roll, proportions and extra joints.

use std::collections::BTreeMap;

use glam::{DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew::skel::Skeleton;
use sinew_animate::retarget::{Rig, RigPlacement};

use crate::rng::Rng;

/// A joint of a body: what it is, what it hangs from, where it is (metres, Y up, facing +Z, T-pose).
pub struct Part {
    pub key: &'static str,
    pub parent: &'static str,
    pub at: [f64; 3],
}

const fn part(key: &'static str, parent: &'static str, at: [f64; 3]) -> Part {
    Part { key, parent, at }
}

/// Trunk, left arm with four fingers, left leg; the right side is mirrored.
const HALF: &[Part] = &[
    part("hips", "", [0.0, 0.95, 0.0]),
    part("spine", "hips", [0.0, 1.05, 0.01]),
    part("chest", "spine", [0.0, 1.2, 0.015]),
    part("upperChest", "chest", [0.0, 1.33, 0.01]),
    part("neck", "upperChest", [0.0, 1.47, -0.01]),
    part("head", "neck", [0.0, 1.55, 0.01]),
    part("LShoulder", "upperChest", [0.05, 1.42, 0.0]),
    part("LUpperArm", "LShoulder", [0.17, 1.42, -0.01]),
    part("LLowerArm", "LUpperArm", [0.43, 1.42, -0.02]),
    part("LHand", "LLowerArm", [0.67, 1.42, -0.01]),
    part("LThumb1", "LHand", [0.7, 1.41, 0.03]),
    part("LThumb2", "LThumb1", [0.73, 1.4, 0.05]),
    part("LThumb3", "LThumb2", [0.755, 1.395, 0.065]),
    part("LMiddle1", "LHand", [0.76, 1.425, -0.01]),
    part("LMiddle2", "LMiddle1", [0.8, 1.425, -0.01]),
    part("LMiddle3", "LMiddle2", [0.83, 1.425, -0.01]),
    part("LIndex1", "LHand", [0.76, 1.42, 0.02]),
    part("LLittle1", "LHand", [0.75, 1.42, -0.04]),
    part("LUpperLeg", "hips", [0.09, 0.9, 0.0]),
    part("LLowerLeg", "LUpperLeg", [0.1, 0.5, 0.01]),
    part("LFoot", "LLowerLeg", [0.1, 0.09, -0.02]),
    part("LToes", "LFoot", [0.11, 0.02, 0.11]),
];

/// Every joint of the body: keys begin with L or R on the sides.
pub fn body() -> Vec<(String, String, DVec3)> {
    let mut out = Vec::new();
    for side in ["L", "R"] {
        for part in HALF {
            let is_sided = part.key.starts_with('L');
            if side == "R" && !is_sided {
                continue;
            }
            let own = |key: &str| match key.strip_prefix('L') {
                Some(rest) => format!("{side}{rest}"),
                None => key.to_owned(),
            };
            let mut at = DVec3::from(part.at);
            if side == "R" {
                at.x = -at.x;
            }
            out.push((own(part.key), own(part.parent), at));
        }
    }
    out
}

/// What Mixamo calls them.
pub fn mixamo(key: &str) -> String {
    let trunk = [
        ("hips", "Hips"),
        ("spine", "Spine"),
        ("chest", "Spine1"),
        ("upperChest", "Spine2"),
        ("neck", "Neck"),
        ("head", "Head"),
    ];
    let sided = [
        ("Shoulder", "Shoulder"),
        ("UpperArm", "Arm"),
        ("LowerArm", "ForeArm"),
        ("Hand", "Hand"),
        ("Thumb1", "HandThumb1"),
        ("Thumb2", "HandThumb2"),
        ("Thumb3", "HandThumb3"),
        ("Middle1", "HandMiddle1"),
        ("Middle2", "HandMiddle2"),
        ("Middle3", "HandMiddle3"),
        ("Index1", "HandIndex1"),
        ("Little1", "HandPinky1"),
        ("UpperLeg", "UpLeg"),
        ("LowerLeg", "Leg"),
        ("Foot", "Foot"),
        ("Toes", "ToeBase"),
    ];
    let name = match trunk.iter().find(|(k, _)| *k == key) {
        Some((_, name)) => (*name).to_owned(),
        None => {
            let side = if key.starts_with('L') {
                "Left"
            } else {
                "Right"
            };
            let (_, name) = sided.iter().find(|(k, _)| *k == &key[1..]).unwrap();
            format!("{side}{name}")
        }
    };
    format!("mixamorig:{name}")
}

/// What VRoid Studio calls them.
pub fn vroid(key: &str) -> String {
    match key {
        "hips" => "J_Bip_C_Hips".into(),
        "spine" => "J_Bip_C_Spine".into(),
        "chest" => "J_Bip_C_Chest".into(),
        "upperChest" => "J_Bip_C_UpperChest".into(),
        "neck" => "J_Bip_C_Neck".into(),
        "head" => "J_Bip_C_Head".into(),
        _ => {
            let (side, part) = key.split_at(1);
            let part = if part == "Toes" { "ToeBase" } else { part };
            format!("J_Bip_{side}_{part}")
        }
    }
}

/// What to build.
pub struct Build<'a> {
    pub name: &'a dyn Fn(&str) -> String,
    /// Turns each joint's own axes.
    pub orient: Box<dyn FnMut(&str) -> DQuat + 'a>,
    /// Moves joints (metres).
    pub reshape: &'a dyn Fn(&str, DVec3) -> DVec3,
    /// Joints that the rig has.
    pub has: &'a dyn Fn(&str) -> bool,
    /// Extra joints: what they hang from and a name; the children of the joint hang from the extra one if `true`.
    pub extra: Vec<(&'static str, &'static str, bool)>,
    pub placement: RigPlacement,
    /// skel_from_metres: turns and scales the body into the skeleton's own space.
    pub skel_from_body: DMat4,
    /// Joint above the hips.
    pub root: Option<&'static str>,
}

impl Default for Build<'_> {
    fn default() -> Self {
        Self {
            name: &mixamo,
            orient: Box::new(|_| DQuat::IDENTITY),
            reshape: &|_, at| at,
            has: &|_| true,
            extra: Vec::new(),
            placement: RigPlacement::default(),
            skel_from_body: DMat4::IDENTITY,
            root: None,
        }
    }
}

/// A rig and where to find its joints.
pub struct Made {
    pub rig: Rig,
    /// Index of each body part.
    pub at: BTreeMap<String, usize>,
    pub skeleton: Skeleton,
}

pub fn random_turn(rng: &mut Rng) -> DQuat {
    let mut part = || f64::from(rng.range(-1.0, 1.0));
    let q = DQuat::from_xyzw(part(), part(), part(), part());
    if q.length() < 0.1 {
        DQuat::IDENTITY
    } else {
        q.normalize()
    }
}

impl Build<'_> {
    pub fn make(mut self) -> Made {
        let mut paths: Vec<String> = Vec::new();
        let mut names = Vec::new();
        let mut bind: Vec<DMat4> = Vec::new();
        let mut local = Vec::new();
        // Path and index of what a body part's children hang from.
        let mut holder: BTreeMap<String, usize> = BTreeMap::new();
        let mut at = BTreeMap::new();
        let mut add = |name: String, parent: Option<usize>, world: DMat4| {
            let leaf: String = name
                .chars()
                .map(|c| if c.is_alphanumeric() { c } else { '_' })
                .collect();
            paths.push(match parent {
                Some(p) => format!("{}/{leaf}", paths[p]),
                None => leaf,
            });
            let above = parent.map_or(DMat4::IDENTITY, |p| bind[p]);
            local.push(above.inverse() * world);
            bind.push(world);
            names.push(name);
            bind.len() - 1
        };
        if let Some(root) = self.root {
            let turn = (self.orient)(root);
            let joint = add(
                root.into(),
                None,
                self.skel_from_body * DMat4::from_quat(turn),
            );
            holder.insert(String::new(), joint);
        }
        // The skeleton's own scale belongs to positions, not to the joints.
        let (_, turned, _) = self.skel_from_body.to_scale_rotation_translation();
        for (key, parent, position) in body() {
            let mut above = parent.clone();
            // What is missing passes its children on.
            while !above.is_empty() && !(self.has)(&above) {
                above = body().iter().find(|p| p.0 == above).unwrap().1.clone();
            }
            if !(self.has)(&key) {
                continue;
            }
            let position = (self.reshape)(&key, position);
            let world = |turn: DQuat, p: DVec3| {
                DMat4::from_rotation_translation(
                    turned * turn,
                    self.skel_from_body.transform_point3(p),
                )
            };
            let turn = (self.orient)(&key);
            let joint = add(
                (self.name)(&key),
                holder.get(&above).copied(),
                world(turn, position),
            );
            at.insert(key.clone(), joint);
            holder.insert(key.clone(), joint);
            for (of, name, takes_children) in &self.extra {
                if *of == key {
                    let turn = (self.orient)(name);
                    let beside = position + DVec3::new(0.03, -0.02, 0.01);
                    let extra = add((*name).into(), Some(joint), world(turn, beside));
                    if *takes_children {
                        holder.insert(key.clone(), extra);
                    }
                }
            }
        }
        let skeleton = Skeleton::new("/Skel", paths, Some(bind), Some(local)).unwrap();
        let skeleton = skeleton.with_joint_names(Some(names));
        let rig = Rig::new("a rig", &skeleton, self.placement).unwrap();
        Made { rig, at, skeleton }
    }
}

impl Made {
    /// The rig with other transforms.
    #[must_use]
    pub fn bound(&self, bind: Vec<DMat4>, rest: Vec<DMat4>) -> Self {
        let joints = self.skeleton.joints().to_vec();
        let skeleton = Skeleton::new("/Skel", joints, Some(bind), Some(rest)).unwrap();
        let skeleton = skeleton.with_joint_names(Some(self.rig.names().to_vec()));
        let rig = Rig::new("a rig", &skeleton, *self.rig.placement()).unwrap();
        Self {
            rig,
            at: self.at.clone(),
            skeleton,
        }
    }

    /// World positions of all joints in a pose, in metres with Y up; by plain matrices.
    pub fn world(&self, pose: &[Trs]) -> Vec<DMat4> {
        let placement = self.rig.placement();
        let upright = match placement.up == DVec3::Z {
            true => DMat4::from_rotation_x(-std::f64::consts::FRAC_PI_2),
            false => DMat4::IDENTITY,
        };
        let meters = DMat4::from_scale(DVec3::splat(placement.meters_per_unit));
        let root = meters * upright * placement.world_from_skel;
        let mut out: Vec<DMat4> = Vec::new();
        for (parent, local) in self.rig.parents().iter().zip(pose) {
            let m = DMat4::from_translation(local.translation)
                * DMat4::from_quat(local.rotation)
                * DMat4::from_scale(local.scale);
            out.push(parent.map_or(root, |p| out[p]) * m);
        }
        out
    }

    pub fn position(&self, world: &[DMat4], key: &str) -> DVec3 {
        world[self.at[key]].w_axis.truncate()
    }

    /// From a joint to the next one, of unit length.
    pub fn direction(&self, world: &[DMat4], from: &str, to: &str) -> DVec3 {
        (self.position(world, to) - self.position(world, from)).normalize()
    }

    /// Every joint turned at random from its rest, and the hips moved.
    pub fn random_pose(&self, rng: &mut Rng, turn: f32) -> Vec<Trs> {
        let mut pose = self.rig.rest().to_vec();
        for local in &mut pose {
            let axis = random_turn(rng).to_axis_angle().0;
            let angle = f64::from(rng.range(-turn, turn));
            local.rotation = (local.rotation * DQuat::from_axis_angle(axis, angle)).normalize();
        }
        let moved = DVec3::new(
            rng.range(-1.0, 1.0).into(),
            rng.range(-0.5, 0.5).into(),
            rng.range(-1.0, 1.0).into(),
        );
        let hips = &mut pose[self.at["hips"]];
        hips.translation += moved * hips.translation.length();
        pose
    }
}

/// Body parts and what they point to.
pub fn bones() -> Vec<(String, String)> {
    let sided = [
        ("UpperArm", "LowerArm"),
        ("LowerArm", "Hand"),
        ("Hand", "Middle1"),
        ("Middle1", "Middle2"),
        ("Middle2", "Middle3"),
        ("Thumb1", "Thumb2"),
        ("UpperLeg", "LowerLeg"),
        ("LowerLeg", "Foot"),
        ("Foot", "Toes"),
        ("Shoulder", "UpperArm"),
    ];
    let trunk = [
        ("hips", "spine"),
        ("spine", "chest"),
        ("chest", "upperChest"),
        ("upperChest", "neck"),
        ("neck", "head"),
        ("upperChest", "LShoulder"),
        ("hips", "RUpperLeg"),
    ];
    let mut out: Vec<(String, String)> = trunk
        .iter()
        .map(|(a, b)| ((*a).into(), (*b).into()))
        .collect();
    for side in ["L", "R"] {
        out.extend(
            sided
                .iter()
                .map(|(a, b)| (format!("{side}{a}"), format!("{side}{b}"))),
        );
    }
    out
}

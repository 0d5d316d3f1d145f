//! The joints of many tools' rigs, as the tools name them, and rigs that are built from them.
//!
//! The tables are the text files beside this one. `== RIG | NAMES | LEFT | RIGHT` begins one: a short name
//! of the rig, what the report calls the names (`-` where it knows none), and what `#` is on either side.
//!
//! A line is a joint, indented below its parent. `#` in a name makes two joints, one for each side;
//! what is indented below is made twice too. After `=` stands the human bone that the joint has to
//! be found as, without its side; joints without one have to stay unmatched.

use std::sync::LazyLock;

use common::rigs::random_turn;
use common::rng::Rng;
use glam::{DMat4, DQuat, DVec3};
use sinew::skel::Skeleton;
use sinew_animate::retarget::{Bone, Rig, RigPlacement};

/// The rig of a tool.
pub struct Table {
    /// What the report calls the names.
    pub name: Option<&'static str>,
    /// A short name of the rig.
    pub rig: &'static str,
    pub sides: [&'static str; 2],
    pub joints: &'static str,
}

impl Table {
    fn parse(text: &'static str) -> Self {
        let (head, joints) = text.split_once('\n').expect("joints");
        let [rig, name, left, right] = head.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{head}: expected four columns");
        };
        Self {
            name: (name != "-").then_some(name),
            rig,
            sides: [left, right],
            joints,
        }
    }
}

/// All of them, Mixamo's first.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
        let files = [
            include_str!("engines.txt"),
            include_str!("tools.txt"),
            include_str!("figures.txt"),
            include_str!("capture.txt"),
        ];
        let tables = files.iter().flat_map(|file| file.split("\n== ").skip(1));
        tables.map(Table::parse).collect()
    });
    TABLES.iter()
}

/// Where the bones of the trunk and of the left side are: metres, Y up, facing +Z.
const PLACES: &[(&str, [f64; 3])] = &[
    ("hips", [0.0, 0.95, 0.0]),
    ("spine", [0.0, 1.05, 0.01]),
    ("chest", [0.0, 1.2, 0.015]),
    ("upperChest", [0.0, 1.33, 0.01]),
    ("neck", [0.0, 1.47, -0.01]),
    ("head", [0.0, 1.55, 0.01]),
    ("jaw", [0.0, 1.57, 0.05]),
    ("Eye", [0.03, 1.62, 0.08]),
    ("Shoulder", [0.05, 1.42, 0.0]),
    ("UpperArm", [0.17, 1.42, -0.01]),
    ("LowerArm", [0.43, 1.42, -0.02]),
    ("Hand", [0.67, 1.42, -0.01]),
    ("ThumbMetacarpal", [0.7, 1.41, 0.03]),
    ("ThumbProximal", [0.73, 1.4, 0.05]),
    ("ThumbDistal", [0.755, 1.395, 0.065]),
    ("IndexProximal", [0.76, 1.425, 0.02]),
    ("IndexIntermediate", [0.8, 1.425, 0.02]),
    ("IndexDistal", [0.83, 1.425, 0.02]),
    ("MiddleProximal", [0.765, 1.425, 0.0]),
    ("MiddleIntermediate", [0.805, 1.425, 0.0]),
    ("MiddleDistal", [0.835, 1.425, 0.0]),
    ("RingProximal", [0.76, 1.425, -0.02]),
    ("RingIntermediate", [0.795, 1.425, -0.02]),
    ("RingDistal", [0.825, 1.425, -0.02]),
    ("LittleProximal", [0.75, 1.42, -0.04]),
    ("LittleIntermediate", [0.78, 1.42, -0.04]),
    ("LittleDistal", [0.8, 1.42, -0.04]),
    ("UpperLeg", [0.09, 0.9, 0.0]),
    ("LowerLeg", [0.1, 0.5, 0.01]),
    ("Foot", [0.1, 0.09, -0.02]),
    ("Toes", [0.11, 0.02, 0.11]),
];

/// A joint of a table: its name, parent, the bone that it has to be, and its position.
#[derive(Clone, Debug)]
pub struct Joint {
    pub name: String,
    pub parent: Option<usize>,
    pub bone: Option<Bone>,
    pub at: DVec3,
}

/// The joints of a table, both sides, parents first.
pub fn joints(table: &Table) -> Vec<Joint> {
    let mut out: Vec<Joint> = Vec::new();
    let mut side_of: Vec<Option<usize>> = Vec::new();
    // The joints of the lines above that are less indented: one, or one of each side.
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    for line in table.joints.lines().filter(|l| !l.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        stack.retain(|(i, _)| *i < indent);
        let (name, bone) = match line.split_once(" =") {
            Some((name, bone)) => (name.trim(), Some(bone)),
            None => (line.trim(), None),
        };
        let above = stack.last().map(|(_, joints)| joints.clone());
        let is_sided = name.contains('#');
        let mut made = Vec::new();
        for side in 0..if is_sided { 2 } else { 1 } {
            let full = |bone: &str| match bone.parse::<Bone>() {
                Ok(bone) => bone,
                Err(_) => format!("{}{bone}", ["left", "right"][side])
                    .parse()
                    .expect(bone),
            };
            made.push(out.len());
            side_of.push(is_sided.then_some(side));
            out.push(Joint {
                name: name.replace('#', table.sides[side]),
                parent: above.as_ref().map(|a| a[side.min(a.len() - 1)]),
                bone: bone.map(full),
                at: DVec3::NAN,
            });
        }
        stack.push((indent, made));
    }
    place(&mut out);
    out
}

/// Puts bones where they belong, joints above bones halfway to these, and others beside their
/// parent.
fn place(joints: &mut [Joint]) {
    for joint in joints.iter_mut() {
        if let Some(bone) = joint.bone {
            let is_right = bone.name().starts_with("right");
            let key = bone
                .name()
                .trim_start_matches("left")
                .trim_start_matches("right");
            let (_, at) = PLACES.iter().find(|(k, _)| *k == key).expect(key);
            joint.at = DVec3::from(*at) * DVec3::new(if is_right { -1.0 } else { 1.0 }, 1.0, 1.0);
        }
    }
    for j in 0..joints.len() {
        if !joints[j].at.is_nan() {
            continue;
        }
        let Some(above) = joints[j].parent else {
            joints[j].at = DVec3::ZERO;
            continue;
        };
        let is_below = |mut k: usize| {
            while let Some(parent) = joints[k].parent {
                if parent == j {
                    return true;
                }
                k = parent;
            }
            false
        };
        let from = joints[above].at;
        let below: Vec<DVec3> = (j..joints.len())
            .filter(|k| joints[*k].bone.is_some() && is_below(*k))
            .map(|k| joints[k].at)
            .collect();
        let ends = [
            below.iter().copied().reduce(DVec3::min),
            below.iter().copied().reduce(DVec3::max),
        ];
        joints[j].at = match ends {
            [Some(a), Some(b)] => from * 0.5 + (a + b) * 0.25,
            _ => match joints[above].parent {
                Some(over) => from + (from - joints[over].at).normalize_or(DVec3::Y) * 0.03,
                None => from + DVec3::Y * 0.03,
            },
        };
    }
}

/// How a rig is built.
pub struct Made<'a> {
    pub rename: &'a dyn Fn(&str) -> String,
    /// Turns and moves the body in its skeleton.
    pub skel_from_body: DMat4,
    /// Turns the joints' own axes at random.
    pub orient: bool,
    pub placement: RigPlacement,
}

impl Default for Made<'_> {
    fn default() -> Self {
        Self {
            rename: &|name| name.to_owned(),
            skel_from_body: DMat4::IDENTITY,
            orient: false,
            placement: RigPlacement::default(),
        }
    }
}

impl Made<'_> {
    pub fn rig(&self, joints: &[Joint]) -> Rig {
        let mut rng = Rng::new(7);
        let mut paths: Vec<String> = Vec::new();
        let mut bind: Vec<DMat4> = Vec::new();
        let mut rest = Vec::new();
        for (i, joint) in joints.iter().enumerate() {
            let leaf = format!("j{i}");
            paths.push(match joint.parent {
                Some(p) => format!("{}/{leaf}", paths[p]),
                None => leaf,
            });
            let turn = match self.orient {
                true => random_turn(&mut rng),
                false => DQuat::IDENTITY,
            };
            let at = self.skel_from_body.transform_point3(joint.at);
            bind.push(DMat4::from_rotation_translation(turn, at));
            let above = joint.parent.map_or(DMat4::IDENTITY, |p| bind[p]);
            rest.push(above.inverse() * bind[i]);
        }
        let names = joints.iter().map(|j| (self.rename)(&j.name)).collect();
        let skeleton = Skeleton::new("/Skel", paths, Some(bind), Some(rest)).unwrap();
        let skeleton = skeleton.with_joint_names(Some(names));
        Rig::new("the rig", &skeleton, self.placement).unwrap()
    }
}

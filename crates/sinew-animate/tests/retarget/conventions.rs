//! The rigs of many tools, built from tables of their joints' names, are recognised bone by bone.

use std::collections::BTreeMap;

use common::rigs::random_turn;
use common::rng::Rng;
use glam::{DMat4, DQuat, DVec3};
use sinew::skel::Skeleton;
use sinew_animate::retarget::{Bone, Humanoid, Rig, RigPlacement};

use crate::tables::{Table, tables};

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

/// What is found otherwise than expected, as text.
fn wrong(rig: &Rig, joints: &[Joint], found: &Humanoid) -> Vec<String> {
    let want: BTreeMap<Bone, usize> = joints
        .iter()
        .enumerate()
        .filter_map(|(i, j)| Some((j.bone?, i)))
        .collect();
    let name = |j: Option<&usize>| j.map_or("nothing", |j| rig.names()[*j].as_str());
    let mut out: Vec<String> = Bone::ALL
        .iter()
        .filter(|b| want.get(b) != found.joints().get(b))
        .map(|b| {
            format!(
                "{b}: {} instead of {}",
                name(found.joints().get(b)),
                name(want.get(b))
            )
        })
        .collect();
    out.extend(
        found
            .misplaced()
            .iter()
            .map(|(b, j)| format!("{b}: {} misplaced", name(Some(j)))),
    );
    out.extend(found.conflicts(rig).iter().map(|c| format!("{c:?}")));
    out
}

#[test]
fn the_rigs_of_all_tools_are_recognised() {
    let mut faults = Vec::new();
    println!(
        "{:30} {:28} {:>8} {:>6} {:>6}",
        "rig", "names", "expected", "found", "wrong"
    );
    for table in tables() {
        let joints = joints(table);
        let rig = Made::default().rig(&joints);
        let expected = joints.iter().filter(|j| j.bone.is_some()).count();
        let (found, bad, name) = match Humanoid::recognise(&rig) {
            Ok(found) => {
                let bad = wrong(&rig, &joints, &found);
                (
                    found.joints().len(),
                    bad,
                    found.convention().map(|c| c.name()),
                )
            }
            Err(error) => (0, vec![error.to_string()], None),
        };
        println!(
            "{:30} {:28} {expected:>8} {found:>6} {:>6}",
            table.rig,
            name.unwrap_or("-"),
            bad.len()
        );
        if name != table.name {
            faults.push(format!("{}: named {name:?}", table.rig));
        }
        faults.extend(bad.iter().map(|b| format!("{}: {b}", table.rig)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn neither_prefix_nor_case_nor_pose_matters() {
    let mut faults = Vec::new();
    let quarter = std::f64::consts::FRAC_PI_2;
    let sanitised = |n: &str| {
        n.chars()
            .map(|c| if c.is_alphanumeric() { c } else { '_' })
            .collect()
    };
    let lying = DMat4::from_rotation_x(-quarter) * DMat4::from_rotation_y(1.1);
    let ways: [(&str, Made); 7] = [
        (
            "namespace",
            Made {
                rename: &|n| format!("hero:body:{n}"),
                ..Made::default()
            },
        ),
        (
            "prefix",
            Made {
                rename: &|n| format!("BigHero2_{n}"),
                ..Made::default()
            },
        ),
        (
            "the words of USD",
            Made {
                rename: &sanitised,
                ..Made::default()
            },
        ),
        (
            "upper case",
            Made {
                rename: &|n| n.to_uppercase(),
                ..Made::default()
            },
        ),
        (
            "lying",
            Made {
                skel_from_body: lying,
                orient: true,
                ..Made::default()
            },
        ),
        (
            "Z up, in centimetres, facing X",
            Made {
                skel_from_body: DMat4::from_scale(DVec3::splat(100.0))
                    * DMat4::from_rotation_x(quarter)
                    * DMat4::from_rotation_y(quarter),
                orient: true,
                placement: RigPlacement {
                    up: DVec3::Z,
                    meters_per_unit: 0.01,
                    ..RigPlacement::default()
                },
                ..Made::default()
            },
        ),
        (
            "mirrored by its prim",
            Made {
                placement: RigPlacement {
                    world_from_skel: DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0)),
                    ..RigPlacement::default()
                },
                ..Made::default()
            },
        ),
    ];
    for table in tables() {
        let joints = joints(table);
        for (way, made) in &ways {
            // In upper case the words of these names run together.
            let is_lost = |name: &str| {
                let mut pairs = name.chars().zip(name.chars().skip(1));
                pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
            };
            if *way == "upper case" && joints.iter().any(|j| is_lost(&j.name)) {
                continue;
            }
            let rig = made.rig(&joints);
            let bad = match Humanoid::recognise(&rig) {
                Ok(found) => wrong(&rig, &joints, &found),
                Err(error) => vec![error.to_string()],
            };
            faults.extend(bad.iter().map(|b| format!("{}, {way}: {b}", table.rig)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Long chains and many joints of equal names are no bodies, and do not overflow the stack.
#[test]
fn large_rigs_are_no_bodies() {
    for name in [
        "LeftHand",
        "neck",
        "finger1",
        "Hips",
        "spine",
        "DEF-spine",
        "x",
    ] {
        for (count, is_chain) in [(500, true), (5_000, false)] {
            let joint = |i: usize| Joint {
                name: name.into(),
                parent: i.checked_sub(1).map(|p| if is_chain { p } else { 0 }),
                bone: None,
                at: DVec3::Y * i as f64,
            };
            let joints: Vec<Joint> = (0..count).map(joint).collect();
            let rig = Made::default().rig(&joints);
            assert!(Humanoid::recognise(&rig).is_err(), "{name}");
        }
    }
}

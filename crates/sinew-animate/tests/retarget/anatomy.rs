//! Matches that contradict a body, bones that are not sure, and bodies that are not human.

use glam::DVec3;
use sinew_animate::retarget::{Bone, Humanoid, Rig};

use crate::tables::{Joint, Made, joints, tables};

fn mixamo() -> Vec<Joint> {
    joints(tables().next().unwrap())
}

fn build(joints: &[Joint]) -> Rig {
    Made::default().rig(joints)
}

fn at(joints: &[Joint], name: &str) -> usize {
    joints
        .iter()
        .position(|j| j.name == format!("mixamorig:{name}"))
        .expect(name)
}

/// The bones of each conflict.
fn conflicts(joints: &[Joint]) -> Vec<Vec<&'static str>> {
    let rig = build(joints);
    let found = Humanoid::recognise(&rig).unwrap();
    let conflicts = found.conflicts(&rig);
    for conflict in &conflicts {
        for (bone, joint) in &conflict.joints {
            assert_eq!(found.joints()[bone], *joint);
        }
        assert!(!conflict.reason.is_empty());
    }
    let bones = |c: &sinew_animate::retarget::Conflict| {
        c.joints.iter().map(|(b, _)| b.name()).collect::<Vec<_>>()
    };
    conflicts.iter().map(bones).collect()
}

fn swap(joints: &mut [Joint], which: impl Fn(&str) -> bool) {
    for joint in joints.iter_mut().filter(|j| which(&j.name)) {
        joint.name = match joint.name.contains("Left") {
            true => joint.name.replace("Left", "Right"),
            false => joint.name.replace("Right", "Left"),
        };
    }
}

#[test]
fn left_and_right_are_not_swapped() {
    let mut all = mixamo();
    swap(&mut all, |_| true);
    assert_eq!(conflicts(&all).len(), 4, "both arms and both legs");
    let mut legs = mixamo();
    swap(&mut legs, |n| {
        ["UpLeg", "Leg", "Foot", "Toe"]
            .iter()
            .any(|l| n.contains(l))
    });
    assert_eq!(
        conflicts(&legs),
        [
            ["leftUpperLeg", "rightUpperLeg"],
            ["leftLowerLeg", "rightLowerLeg"]
        ]
    );
    // Without feet nothing says where the front is, but arms and legs still differ.
    legs.retain(|j| !j.name.contains("Toe") && !j.name.contains("Foot"));
    assert!(!conflicts(&legs).is_empty());
    all.retain(|j| !j.name.contains("Toe") && !j.name.contains("Foot"));
    assert_eq!(conflicts(&all), Vec::<Vec<&str>>::new());
}

/// A zero pose along the bones is folded anyhow, and says nothing.
#[test]
fn a_folded_pose_contradicts_nothing() {
    let mut joints = mixamo();
    let hips = joints[at(&joints, "Hips")].at;
    for joint in &mut joints {
        if joint.at.y > hips.y {
            joint.at.y = 2.0 * hips.y - joint.at.y;
        }
    }
    swap(&mut joints, |_| true);
    assert_eq!(conflicts(&joints), Vec::<Vec<&str>>::new());
}

#[test]
fn a_knee_is_between_hip_and_foot() {
    let mut joints = mixamo();
    let (hip, knee, foot) = (
        at(&joints, "LeftUpLeg"),
        at(&joints, "LeftLeg"),
        at(&joints, "LeftFoot"),
    );
    joints[foot].parent = Some(hip);
    // At the root of the skeleton it may be anything, so it is taken at its word.
    joints[knee].parent = None;
    joints[knee].name = "LeftKnee".into();
    assert_eq!(
        conflicts(&joints),
        [["leftLowerLeg", "leftUpperLeg", "leftFoot"]]
    );
    // Below the other leg it cannot be this knee.
    let other = at(&joints, "RightUpLeg");
    joints[knee].parent = Some(other);
    let rig = build(&sorted(&joints));
    let found = Humanoid::recognise(&rig).unwrap();
    assert_eq!(found.joints().get(&Bone::LeftLowerLeg), None);
    assert_eq!(found.misplaced().len(), 1);
    let unsure = found.unsure(&rig);
    assert_eq!(unsure.len(), 1);
    assert_eq!(unsure[0].bone, Bone::LeftLowerLeg);
    // What a file says itself is held against the anatomy too.
    let mut given = found.joints().clone();
    given.insert(Bone::LeftLowerLeg, found.misplaced()[0].1);
    assert_eq!(Humanoid::given(&rig, given).conflicts(&rig).len(), 1);
}

/// Parents before children.
fn sorted(joints: &[Joint]) -> Vec<Joint> {
    let mut out: Vec<Joint> = Vec::new();
    let mut place = vec![None; joints.len()];
    while out.len() < joints.len() {
        for j in 0..joints.len() {
            let above = joints[j].parent;
            if place[j].is_none() && above.is_none_or(|p| place[p].is_some()) {
                place[j] = Some(out.len());
                let mut joint = joints[j].clone();
                joint.parent = above.and_then(|p| place[p]);
                out.push(joint);
            }
        }
    }
    out
}

#[test]
fn a_leg_of_unknown_names_is_not_sure() {
    let mut joints = mixamo();
    for (name, other) in [
        ("RightUpLeg", "b12"),
        ("RightLeg", "b13"),
        ("RightFoot", "b14"),
        ("RightToeBase", "b15"),
    ] {
        let joint = at(&joints, name);
        joints[joint].name = other.into();
    }
    let rig = build(&joints);
    let found = Humanoid::recognise(&rig).unwrap();
    let unsure = found.unsure(&rig);
    let bones: Vec<Bone> = unsure.iter().map(|u| u.bone).collect();
    assert_eq!(
        bones,
        [Bone::RightUpperLeg, Bone::RightLowerLeg, Bone::RightFoot]
    );
    for (unsure, name) in unsure.iter().zip(["b12", "b13", "b14"]) {
        assert_eq!(
            rig.names()[unsure.suggestion.expect("a mirrored joint")],
            name
        );
    }
    // A rig without that leg has no such bones.
    let legless: Vec<Joint> = mixamo()
        .into_iter()
        .filter(|j| {
            !["RightUpLeg", "RightLeg", "RightFoot", "RightToe"]
                .iter()
                .any(|n| j.name.contains(n))
        })
        .collect();
    let rig = build(&reparented(&mixamo(), &legless));
    let found = Humanoid::recognise(&rig).unwrap();
    assert!(found.unsure(&rig).is_empty(), "{:?}", found.unsure(&rig));
}

/// Some joints of `all`, with their parents by name.
fn reparented(all: &[Joint], some: &[Joint]) -> Vec<Joint> {
    let index = |name: &str| some.iter().position(|j| j.name == name);
    let own = |joint: &Joint| {
        let mut joint = joint.clone();
        joint.parent = joint.parent.and_then(|p| index(&all[p].name));
        joint
    };
    some.iter().map(own).collect()
}

#[test]
fn four_legs_are_no_human_body() {
    let mut joints = mixamo();
    // The trunk lies along +Z, and all limbs hang down.
    for joint in &mut joints {
        let at = joint.at;
        let is_arm = ["Arm", "Hand", "Shoulder"]
            .iter()
            .any(|n| joint.name.contains(n));
        joint.at = match (is_arm, at.y > 0.95) {
            (true, _) => DVec3::new(at.x.signum() * 0.1, 1.0 - (at.x.abs() - 0.1).max(0.0), 0.5),
            (false, true) => DVec3::new(at.x, 0.95, at.y - 0.95),
            (false, false) => at,
        };
    }
    let rig = build(&joints);
    let unknown = Humanoid::recognise(&rig).unwrap_err();
    assert!(unknown.is_on_all_fours && unknown.main == 15, "{unknown}");
    assert!(unknown.to_string().contains("four legs"));
}

//! The rigs of many tools, built from tables of their joints' names, are recognised bone by bone.

use std::cell::Cell;
use std::collections::BTreeMap;

use glam::{DMat4, DVec3};
use sinew_animate::retarget::{Bone, Humanoid, Rig, RigPlacement};

use crate::tables::{Joint, Made, joints, tables};

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
    let count = Cell::new(0);
    let counted = |n: &str| {
        count.set(count.get() + 1);
        format!("{n}_0{}", count.get())
    };
    let ways: [(&str, Made); 8] = [
        (
            "the numbers of Sketchfab",
            Made {
                rename: &counted,
                ..Made::default()
            },
        ),
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

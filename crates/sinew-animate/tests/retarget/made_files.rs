//! The rigs of the tables as files of three formats: their names, hierarchy and positions reach
//! recognition through every reader.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use common::command::Bench;
use common::document::Document;
use glam::DVec3;
use serde_json::json;
use sinew_animate::humanoid::bones_by_name;
use sinew_animate::retarget::{Bone, Humanoid};
use sinew_io::{open, rig, skeletons};

use crate::tables::{Joint, joints, tables};

/// The offset of a joint from its parent.
fn offset(all: &[Joint], joint: usize) -> DVec3 {
    all[joint].at - all[joint].parent.map_or(DVec3::ZERO, |p| all[p].at)
}

/// The joints below another one, or those without a parent.
fn below(all: &[Joint], parent: Option<usize>) -> impl Iterator<Item = usize> + '_ {
    (0..all.len()).filter(move |j| all[*j].parent == parent)
}

/// A BVH file. Names have no spaces there. `None` if the rig has several roots.
fn bvh(all: &[Joint], file: PathBuf) -> Option<PathBuf> {
    fn write_joint(out: &mut String, all: &[Joint], joint: usize) {
        let kind = all[joint].parent.map_or("ROOT", |_| "JOINT");
        let name = all[joint].name.replace(' ', "_");
        let DVec3 { x, y, z } = offset(all, joint) * 100.0;
        let channels = "3 Zrotation Xrotation Yrotation";
        *out += &format!("{kind} {name}\n{{\nOFFSET {x:?} {y:?} {z:?}\nCHANNELS {channels}\n");
        for child in below(all, Some(joint)) {
            write_joint(out, all, child);
        }
        *out += "}\n";
    }
    let mut roots = below(all, None);
    let (root, None) = (roots.next()?, roots.next()) else {
        return None;
    };
    let mut text = "HIERARCHY\n".to_owned();
    write_joint(&mut text, all, root);
    let frame = "0 ".repeat(all.len() * 3);
    text += &format!("MOTION\nFrames: 2\nFrame Time: 0.04\n{frame}\n{frame}\n");
    std::fs::write(&file, text).unwrap();
    Some(file)
}

/// A GLB with a skin.
fn glb(all: &[Joint], file: PathBuf) -> PathBuf {
    let mut glb = Document::empty();
    for (j, joint) in all.iter().enumerate() {
        let at = offset(all, j).to_array();
        let mut node = json!({ "name": joint.name, "translation": at });
        let children: Vec<usize> = below(all, Some(j)).collect();
        if !children.is_empty() {
            node["children"] = json!(children);
        }
        glb.push("nodes", node);
    }
    let roots: Vec<usize> = below(all, None).collect();
    glb.json["scenes"] = json!([{ "nodes": roots }]);
    glb.json["scene"] = json!(0);
    let joints: Vec<usize> = (0..all.len()).collect();
    glb.push("skins", json!({ "joints": joints }));
    glb.bind_at_rest();
    std::fs::write(&file, glb.glb()).unwrap();
    file
}

/// A .usda without jointNames: what of the names is valid in a path.
fn usda(all: &[Joint], file: PathBuf) -> PathBuf {
    let valid = |name: &str| name.replace(|c: char| !c.is_alphanumeric(), "_");
    let mut paths: Vec<String> = Vec::new();
    let (mut bind, mut rest) = (String::new(), String::new());
    for (j, joint) in all.iter().enumerate() {
        let name = valid(&joint.name);
        paths.push(match joint.parent {
            Some(p) => format!("{}/{name}", paths[p]),
            None => name,
        });
        for (text, at) in [(&mut bind, joint.at), (&mut rest, offset(all, j))] {
            let DVec3 { x, y, z } = at;
            write!(
                text,
                "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), ({x:?}, {y:?}, {z:?}, 1)), "
            )
            .unwrap();
        }
    }
    let text = format!(
        "#usda 1.0\n(\n    upAxis = \"Y\"\n    metersPerUnit = 1\n)\ndef SkelRoot \"Char\"\n{{\n    def Skeleton \"Skel\"\n    {{\n        uniform token[] joints = {paths:?}\n        uniform matrix4d[] bindTransforms = [{}]\n        uniform matrix4d[] restTransforms = [{}]\n    }}\n}}\n",
        bind.trim_end_matches(", "),
        rest.trim_end_matches(", ")
    );
    std::fs::write(&file, text).unwrap();
    file
}

/// The position of the joint of each bone, rounded to millimetres, read from a file.
fn found(file: &Path, unit: f64) -> BTreeMap<Bone, [i64; 3]> {
    let opened = open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let scene = opened.scene(Default::default()).unwrap();
    let rig = rig(&scene, skeletons(&scene)[0]).unwrap();
    let humanoid = Humanoid::recognise(&rig).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert_eq!(humanoid.conflicts(&rig), [], "{}", file.display());
    let joints = humanoid.joints().iter();
    joints
        .map(|(bone, joint)| {
            (
                *bone,
                millimetres(rig.rest_skel()[*joint].w_axis.truncate() * unit),
            )
        })
        .collect()
}

/// Whether the joints of all bones above a bone are above its joint, in the order of the bones.
fn hangs_in_order(all: &[Joint], joint: usize) -> bool {
    let Some(bone) = all[joint].bone else {
        return false;
    };
    let of = |bone: Bone| all.iter().position(|j| j.bone == Some(bone));
    let Some(nearest) = bone.ancestors().find_map(of) else {
        return true;
    };
    let is_above = |j: &usize| {
        all[*j]
            .bone
            .is_some_and(|b| bone.ancestors().any(|a| a == b))
    };
    let mut above = std::iter::successors(all[joint].parent, |j| all[*j].parent);
    above.find(is_above) == Some(nearest) && hangs_in_order(all, nearest)
}

/// The map that `describe` writes holds a bone's nearest bone above as its parent. It has all bones
/// that hang so among the joints, but for a neck that arms hang from.
fn is_described_in_order(file: &Path, all: &[Joint]) {
    let asset = sinew_io::read_asset(file).unwrap().expect("glTF");
    let (bones, _) = bones_by_name(&asset).unwrap();
    let least = (0..all.len()).filter(|j| hangs_in_order(all, *j)).count();
    assert!(bones.len() + 1 >= least, "{}", file.display());
    let at = |node: usize| bones.iter().find(|(_, n)| **n == node).map(|(b, _)| *b);
    for (bone, node) in &bones {
        let above = asset.chain(*node).skip(1).find_map(at);
        let nearest = bone.ancestors().find(|b| bones.contains_key(b));
        assert_eq!(above, nearest, "{}: {bone}", file.display());
    }
}

fn millimetres(at: DVec3) -> [i64; 3] {
    (at * 1000.0).round().to_array().map(|v| v as i64)
}

#[test]
fn files_of_three_formats_give_the_same_bones() {
    let bench = Bench::new();
    let mut bvhs = 0;
    for table in tables() {
        let joints = joints(table);
        let want: BTreeMap<Bone, [i64; 3]> = joints
            .iter()
            .filter_map(|j| Some((j.bone?, millimetres(j.at))))
            .collect();
        let name = table.rig;
        let glb = glb(&joints, bench.path(&format!("{name}.glb")));
        assert_eq!(found(&glb, 1.0), want, "{name}.glb");
        is_described_in_order(&glb, &joints);
        let usda = usda(&joints, bench.path(&format!("{name}.usda")));
        assert_eq!(found(&usda, 1.0), want, "{name}.usda");
        if let Some(bvh) = bvh(&joints, bench.path(&format!("{name}.bvh"))) {
            bvhs += 1;
            assert_eq!(found(&bvh, 0.01), want, "{name}.bvh");
        }
    }
    assert!(bvhs + 2 >= tables().count(), "{bvhs}");
}

//! Makes humanoid maps for models that have none.

use std::collections::{BTreeMap, HashMap, HashSet};

use glam::DMat4;

use crate::asset::{Asset, HumanoidSkeleton};
use crate::error::{Error, Result};
use crate::retarget::{Bone, Humanoid, Rig, RigPlacement};
use sinew::skel::Skeleton;

/// Makes an EXT_skeleton_humanoid skeleton from `bones`, which are node indices. Its bones are
/// those whose nodes are joints of a skin, and its root is their lowest common ancestor. Returns
/// the skeleton and the bones that are not joints.
///
/// # Errors
/// [`Error::NotDescribable`] if no bone's node is a joint, or two bones have no ancestor in common.
pub fn describe(
    asset: &Asset,
    bones: &BTreeMap<Bone, usize>,
) -> Result<(HumanoidSkeleton, Vec<Bone>)> {
    let joints = joints(asset);
    let (kept, left): (BTreeMap<Bone, usize>, BTreeMap<Bone, usize>) = bones
        .iter()
        .map(|(b, n)| (*b, *n))
        .partition(|(_, n)| joints.contains(n));
    let refuse = |reason: String| Error::NotDescribable {
        file: asset.file.clone(),
        reason,
    };
    let mut nodes = kept.values();
    let Some(&first) = nodes.next() else {
        return Err(refuse("none of the bones is a joint of a skin".to_owned()));
    };
    // Ancestors of the first bone, nearest first. Each other bone removes those that are not its
    // ancestors.
    let mut common: Vec<usize> = asset.chain(first).collect();
    for &node in nodes {
        let above: HashSet<usize> = asset.chain(node).collect();
        common.retain(|n| above.contains(n));
    }
    let Some(&root) = common.first() else {
        return Err(refuse("the bones have no ancestor in common".to_owned()));
    };
    let skeleton = HumanoidSkeleton {
        location: String::new(),
        root: Some(root),
        bones: kept,
    };
    Ok((skeleton, left.into_keys().collect()))
}

/// Finds the human bones of a model by the names and the hierarchy of its joints. Returns the node
/// index of each bone, and a text such as `the names of Mixamo`.
///
/// # Errors
/// - [`Error::UnknownNames`], with the best guess, if the joints show no human body.
/// - [`Error::NotDescribable`] if the model has no joints, or if its joints are nested too deeply.
pub fn bones_by_name(asset: &Asset) -> Result<(BTreeMap<Bone, usize>, String)> {
    let (rig, nodes) = rig_of_joints(asset)?;
    let found = Humanoid::recognise(&rig).map_err(|unknown| {
        // Nodes by name, or by index if the name is empty or not unique.
        let node = |joint: usize| {
            let node = *nodes.get(joint)?;
            let name = &asset.nodes[node].name;
            let same = asset.nodes.iter().filter(|n| n.name == *name).count();
            let is_plain = !name.is_empty() && same == 1;
            Some(if is_plain {
                format!("\"{name}\"")
            } else {
                node.to_string()
            })
        };
        let guess: Vec<String> = unknown
            .guess
            .iter()
            .filter_map(|(bone, joint)| Some(format!("\"{bone}\": {}", node(*joint)?)))
            .collect();
        Error::UnknownNames {
            file: asset.file.clone(),
            reason: unknown.to_string(),
            guess: guess.join(", "),
        }
    })?;
    let bones = found
        .joints()
        .iter()
        .filter_map(|(b, j)| Some((*b, *nodes.get(*j)?)));
    Ok((bones.collect(), found.origin()))
}

/// The largest total length of all joint paths in bytes. Paths do not contain names, so it allows
/// chains of some thousand joints.
const LONGEST: usize = 1 << 26;

/// The joints of all skins.
fn joints(asset: &Asset) -> HashSet<usize> {
    let joints = asset.skins.iter().flat_map(|s| &s.joints);
    joints.copied().collect()
}

/// One rig of all joints of all skins, and the node of each joint.
fn rig_of_joints(asset: &Asset) -> Result<(Rig, Vec<usize>)> {
    let refuse = |reason: &str| Error::NotDescribable {
        file: asset.file.clone(),
        reason: reason.to_owned(),
    };
    let joints = joints(asset);
    let order = asset.parents_first();
    let nodes: Vec<usize> = order
        .iter()
        .copied()
        .filter(|n| joints.contains(n))
        .collect();
    if nodes.is_empty() {
        return Err(refuse(
            "the model has no skin, so it has no joints to recognise",
        ));
    }
    // Path and rest in the world of the nearest joint at or above each node.
    let mut above: Vec<Option<usize>> = vec![None; asset.nodes.len()];
    let mut paths: HashMap<usize, String> = HashMap::new();
    let mut length = 0;
    let mut rest = vec![DMat4::IDENTITY; asset.nodes.len()];
    for &node in &order {
        let parent = asset.nodes[node].parent;
        let local = asset.nodes[node].local.matrix();
        let from = parent.and_then(|p| above[p]);
        // Relative to the nearest joint above.
        let between = parent
            .filter(|p| above[*p] != Some(*p))
            .map_or(DMat4::IDENTITY, |p| rest[p]);
        rest[node] = between * local;
        above[node] = if joints.contains(&node) {
            Some(node)
        } else {
            from
        };
        if joints.contains(&node) {
            let path = match from.and_then(|f| paths.get(&f)) {
                Some(start) => format!("{start}/j{node}"),
                None => format!("j{node}"),
            };
            length += path.len();
            if length > LONGEST {
                return Err(refuse("the joints are nested too deeply to be recognised"));
            }
            paths.insert(node, path);
        }
    }
    let joint_paths = nodes.iter().filter_map(|n| paths.get(n).cloned()).collect();
    let rests = nodes.iter().map(|n| rest[*n]).collect();
    let names = nodes.iter().map(|n| asset.nodes[*n].name.clone()).collect();
    let skeleton =
        Skeleton::new("joints", joint_paths, None, Some(rests))?.with_joint_names(Some(names));
    let label = asset.file.display().to_string();
    let rig = Rig::new(label, &skeleton, RigPlacement::default())?;
    Ok((rig, nodes))
}

//! The skeletons of the extension's root object.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::super::super::json::Json;
use super::super::lookup;
use super::super::lookup::found;
use super::channels::unknown_bone;
use super::{EXTENSION, Findings};
use crate::gltf::extensions::lookup::Tree;
use sinew_animate::asset::HumanoidSkeleton;
use sinew_animate::retarget::Bone;

/// The skeletons and their locations, in the text's layout or in the schema's.
fn located(root: &Value) -> Vec<(String, &Value)> {
    let at = format!("extensions.{EXTENSION}");
    if is_single(root) {
        return vec![(at, root)];
    }
    lookup::list(root, "humanoidSkeletons")
        .iter()
        .enumerate()
        .map(|(i, skeleton)| (format!("{at}.humanoidSkeletons[{i}]"), skeleton))
        .collect()
}

/// The published schema's layout: the root object is the skeleton.
fn is_single(root: &Value) -> bool {
    let has = |name| root.get(name).is_some();
    !has("humanoidSkeletons") && (has("rootNode") || has("humanoidBones"))
}

pub(super) fn validate(document: &Value, root: &Value, tree: &Tree, findings: &mut Findings) {
    let skeletons = located(root);
    let list = format!("extensions.{EXTENSION}.humanoidSkeletons");
    if is_single(root) {
        findings.warning(
            "ONE_SKELETON_LAYOUT",
            &list,
            "a list of skeletons",
            "one skeleton, as in the extension's JSON schema; it is read as a list of one",
        );
    } else if skeletons.is_empty() {
        let found = match root.get("humanoidSkeletons") {
            Some(Value::Array(_)) => "an empty list".to_owned(),
            other => found(other),
        };
        findings.error(
            "SKELETONS_EMPTY",
            &list,
            "a list of at least one skeleton",
            found,
        );
    }
    let joints: HashSet<usize> = lookup::list(document, "skins")
        .iter()
        .flat_map(|skin| lookup::list(skin, "joints"))
        .filter_map(lookup::index)
        .collect();
    let count = lookup::list(document, "nodes").len();
    for (at, skeleton) in &skeletons {
        validate_one(at, skeleton, count, &joints, tree, findings);
    }
}

fn validate_one(
    at: &str,
    skeleton: &Value,
    count: usize,
    joints: &HashSet<usize>,
    tree: &Tree,
    findings: &mut Findings,
) {
    let root = root_node(at, skeleton, count, findings);
    let Some(map) = skeleton.get("humanoidBones").and_then(Value::as_object) else {
        findings.error(
            "BONES_MISSING",
            format!("{at}.humanoidBones"),
            "an object of bone names and node indices",
            found(skeleton.get("humanoidBones")),
        );
        return;
    };
    let at_bones = format!("{at}.humanoidBones");
    let located = Json::located(skeleton, &at_bones);
    for name in map.keys().filter(|name| name.parse::<Bone>().is_err()) {
        unknown_bone(located.at_member(name), name, findings);
    }
    let mut bones: BTreeMap<Bone, usize> = BTreeMap::new();
    for bone in Bone::ALL {
        let Some(given) = map.get(bone.name()) else {
            continue;
        };
        let at = format!("{at_bones}.{bone}");
        let Some(node) = lookup::index(given).filter(|n| *n < count) else {
            let expected = format!("the index of a node, below {count}");
            findings.error("NODE_RANGE", at, expected, found(Some(given)));
            continue;
        };
        if let Some((other, _)) = bones.iter().find(|(_, n)| **n == node) {
            findings.error(
                "NODE_REUSED",
                at,
                "a node for each bone",
                format!("node {node}, which is already the node of {other}"),
            );
            continue;
        }
        if !joints.contains(&node) {
            findings.error(
                "NOT_A_JOINT",
                at,
                "a node that is a joint of a skin",
                format!("node {node}, which is not"),
            );
        }
        bones.insert(*bone, node);
    }
    if let Some(root) = root {
        root_above(at, root, &bones, tree, findings);
    }
    hierarchy(&at_bones, &bones, tree, findings);
}

fn root_node(at: &str, skeleton: &Value, count: usize, findings: &mut Findings) -> Option<usize> {
    let at = format!("{at}.rootNode");
    let Some(given) = skeleton.get("rootNode").filter(|r| !r.is_null()) else {
        let expected = "the index of the skeleton's root node";
        findings.error("ROOT_MISSING", at, expected, "nothing");
        return None;
    };
    let root = lookup::index(given).filter(|n| *n < count);
    if root.is_none() {
        let expected = format!("the index of a node, below {count}");
        findings.error("ROOT_RANGE", at, expected, found(Some(given)));
    }
    root
}

fn root_above(
    at: &str,
    root: usize,
    bones: &BTreeMap<Bone, usize>,
    tree: &Tree,
    findings: &mut Findings,
) {
    let outside: Vec<&str> = bones
        .iter()
        .filter(|(_, node)| !tree.is_at_or_above(root, **node))
        .map(|(bone, _)| bone.name())
        .collect();
    if !outside.is_empty() {
        findings.error(
            "ROOT_NOT_ANCESTOR",
            format!("{at}.rootNode"),
            "a node at or above every bone",
            format!("node {root}, which is not above {}", outside.join(", ")),
        );
    }
}

fn hierarchy(at: &str, bones: &BTreeMap<Bone, usize>, tree: &Tree, findings: &mut Findings) {
    for (bone, expected, is) in misplaced(bones, tree) {
        findings.error(
            "HIERARCHY",
            format!("{at}.{bone}"),
            match expected {
                Some(parent) => format!("{parent} as the nearest bone above {bone}"),
                None => format!("no bone above {bone}"),
            },
            is.map_or("none", Bone::name),
        );
    }
}

/// Bones whose nearest bone above is not the one that the hierarchy asks for: the bone, that one,
/// the one that is.
pub fn misplaced(
    bones: &BTreeMap<Bone, usize>,
    tree: &Tree,
) -> impl Iterator<Item = (Bone, Option<Bone>, Option<Bone>)> {
    let nearest = |node: usize| {
        let above = tree.nearest_above(node, bones.values().copied())?;
        bones.iter().find(|(_, n)| **n == above).map(|(b, _)| *b)
    };
    bones.iter().filter_map(move |(bone, node)| {
        let expected = bone.ancestors().find(|b| bones.contains_key(b));
        let is = nearest(*node);
        (expected != is).then_some((*bone, expected, is))
    })
}

/// What can be read of the skeletons.
pub fn read(root: &Value) -> Vec<HumanoidSkeleton> {
    located(root)
        .into_iter()
        .map(|(location, skeleton)| {
            let map = skeleton.get("humanoidBones").and_then(Value::as_object);
            let bones = map
                .into_iter()
                .flatten()
                .filter_map(|(name, node)| Some((name.parse().ok()?, lookup::index(node)?)))
                .collect();
            HumanoidSkeleton {
                location,
                root: skeleton.get("rootNode").and_then(lookup::index),
                bones,
            }
        })
        .collect()
}

//! A humanoid map for a model that has none.

use std::collections::BTreeMap;

use crate::asset::{Asset, HumanoidSkeleton};
use crate::error::{Error, Result};
use crate::retarget::Bone;

/// An EXT_skeleton_humanoid skeleton of these bones: those whose nodes are joints of a skin, and their lowest common
/// ancestor as the root node. The bones left out come second.
///
/// # Errors
/// [`Error::Request`] where no bone's node is a joint, or two bones have no ancestor in common.
pub fn describe(
    asset: &Asset,
    bones: &BTreeMap<Bone, usize>,
) -> Result<(HumanoidSkeleton, Vec<Bone>)> {
    let joints: std::collections::HashSet<usize> = asset
        .skins
        .iter()
        .flat_map(|s| &s.joints)
        .copied()
        .collect();
    let (kept, left): (BTreeMap<Bone, usize>, BTreeMap<Bone, usize>) = bones
        .iter()
        .map(|(b, n)| (*b, *n))
        .partition(|(_, n)| joints.contains(n));
    let refuse = |why: String| Error::Request(format!("{}: {why}", asset.file.display()));
    let mut nodes = kept.values();
    let Some(&first) = nodes.next() else {
        return Err(refuse("none of the bones is a joint of a skin".to_owned()));
    };
    // Nodes above the first bone, nearest first; each further bone cuts off those that are not above it.
    let mut common: Vec<usize> = asset.chain(first).collect();
    for &node in nodes {
        let above: std::collections::HashSet<usize> = asset.chain(node).collect();
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

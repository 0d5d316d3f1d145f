//! Joints as they were bound, in the scene's space.

use std::collections::{HashMap, HashSet};

use glam::DMat4;

use sinew_animate::asset::{Asset, AssetSkin};

/// How far two matrices may differ, as a share of the larger one's largest element.
const AGREEMENT: f64 = 1e-3;

/// How many joints are asked for the transform of the whole skin.
const ASKED: usize = 64;

/// world_from_joint at bind time of the joints among `nodes`. A joint of several skins counts where it comes first.
pub fn world_from_bound_joints(
    asset: &Asset,
    nodes: impl Iterator<Item = usize>,
) -> HashMap<usize, DMat4> {
    let wanted: HashSet<usize> = nodes.collect();
    let mut rest = vec![DMat4::IDENTITY; asset.nodes.len()];
    for i in asset.parents_first() {
        let node = &asset.nodes[i];
        let parent = node.parent.map_or(DMat4::IDENTITY, |p| rest[p]);
        rest[i] = parent * node.local.matrix();
    }
    let mut out = HashMap::new();
    for skin in &asset.skins {
        if !skin
            .joints
            .iter()
            .any(|j| wanted.contains(j) && !out.contains_key(j))
        {
            continue;
        }
        let world_from_bind = world_from_bind(skin, &rest);
        for (joint, inverse_bind) in skin.joints.iter().zip(&skin.inverse_bind) {
            let bound = world_from_bind * inverse_bind.inverse();
            if wanted.contains(joint) && bound.is_finite() {
                out.entry(*joint).or_insert(bound);
            }
        }
    }
    out
}

/// The transform from bind space to the scene's that most joints agree on, as the rest pose need not be the bind
/// pose for all of them. With several of the same number the first in the skin's order counts.
fn world_from_bind(skin: &AssetSkin, rest: &[DMat4]) -> DMat4 {
    let votes: Vec<DMat4> = skin
        .joints
        .iter()
        .zip(&skin.inverse_bind)
        .map(|(joint, inverse_bind)| rest[*joint] * *inverse_bind)
        .collect();
    let mut best = (0, DMat4::IDENTITY);
    for candidate in votes.iter().step_by(votes.len().div_ceil(ASKED).max(1)) {
        let count = votes.iter().filter(|v| agree(v, candidate)).count();
        if count > best.0 {
            best = (count, *candidate);
        }
    }
    best.1
}

fn agree(a: &DMat4, b: &DMat4) -> bool {
    let largest = |m: &DMat4| {
        m.to_cols_array()
            .iter()
            .fold(0.0_f64, |l, v| l.max(v.abs()))
    };
    a.abs_diff_eq(*b, AGREEMENT * largest(a).max(largest(b)))
}

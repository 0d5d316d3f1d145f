//! Poses of assets as matrices: plain evaluation of the nodes' rest transforms and of a clip's tracks.

use glam::DMat4;
use sinew_animate::asset::{Asset, AssetClip, Keys, TrackTarget, Trs};

/// The index of the node of this name.
pub fn node(asset: &Asset, name: &str) -> usize {
    let found = asset.nodes.iter().position(|n| n.name == name);
    found.unwrap_or_else(|| panic!("no node {name}"))
}

/// parent_from_node at a time of a clip with node tracks.
pub fn local(asset: &Asset, clip: &AssetClip, node: usize, time: f64) -> Trs {
    let mut local = asset.nodes[node].local.trs();
    let is_own = |target: &TrackTarget| *target == TrackTarget::Node(node);
    for track in clip.tracks.iter().filter(|t| is_own(&t.target)) {
        let curve = &track.curve;
        match curve.keys {
            Keys::Translation(_) => local.translation = curve.vector(time).unwrap(),
            Keys::Rotation(_) => local.rotation = curve.rotation(time).unwrap(),
            Keys::Scale(_) => local.scale = curve.vector(time).unwrap(),
            Keys::Weights { .. } => {}
        }
    }
    local
}

/// world_from_node at a time of a clip.
pub fn world(asset: &Asset, clip: &AssetClip, node: usize, time: f64) -> DMat4 {
    let chain = asset.chain(node);
    let own = |n: usize| local(asset, clip, n, time).matrix();
    chain.fold(DMat4::IDENTITY, |below, n| own(n) * below)
}

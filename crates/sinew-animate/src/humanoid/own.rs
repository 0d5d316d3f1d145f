//! Applies clips of human bones to the file that they come from.

use super::reference::reference_asset;
use super::{ApplyOptions, apply_to_all};
use crate::asset::{Asset, AssetClip, Track, TrackTarget};

/// Converts every [`TrackTarget::Bone`] track to node tracks of all humanoid skeletons of the asset,
/// in [`Mode::Literal`](super::Mode::Literal), as EXT_skeleton_humanoid asks. An asset
/// without meshes and humanoid skeletons becomes [`reference_asset`] with these clips: a rig that
/// can be shown and retargeted from. Tracks that are dropped are in the asset's warnings.
#[must_use]
pub fn on_own_skeleton(asset: Asset) -> Asset {
    let has_bones = |c: &AssetClip| c.tracks.iter().any(is_bone);
    if !asset.clips.iter().any(has_bones) {
        return asset;
    }
    let mut model = asset.clone();
    if asset.humanoids.is_empty() {
        if !asset.meshes.is_empty() {
            return asset;
        }
        // Tracks of nodes are dropped, because these nodes are replaced.
        model = Asset {
            file: asset.file.clone(),
            format: asset.format,
            frames_per_second: asset.frames_per_second,
            warnings: asset.warnings.clone(),
            ..reference_asset()
        };
    }
    let keeps_nodes = !asset.humanoids.is_empty();
    let mut clips = Vec::with_capacity(asset.clips.len());
    for clip in &asset.clips {
        if !has_bones(clip) {
            clips.extend(keeps_nodes.then(|| clip.clone()));
            continue;
        }
        let (bones, others): (Vec<Track>, Vec<Track>) =
            clip.tracks.iter().cloned().partition(is_bone);
        let bones = clip.with_tracks(bones);
        let mut tracks = Vec::new();
        match apply_to_all(&model, &asset, &bones, &ApplyOptions::default(), None) {
            Ok(applied) => {
                let applied = applied.into_applied();
                tracks = applied.clip.tracks.clone();
                model = applied.into_asset(model);
            }
            Err(e) => model.warnings.push(sinew::error::Warning::new(
                "bone-missing",
                clip.name.clone(),
                e.to_string(),
            )),
        }
        if keeps_nodes {
            // If both move one component, the track of the extension is kept.
            let kind = |t: &Track| std::mem::discriminant(&t.curve.keys);
            let is_free = |t: &Track| {
                let same = |u: &Track| u.target == t.target && kind(u) == kind(t);
                !tracks.iter().any(same)
            };
            let free: Vec<Track> = others.into_iter().filter(is_free).collect();
            tracks.extend(free);
        }
        clips.push(clip.with_tracks(tracks));
    }
    model.clips = clips;
    model
}

fn is_bone(track: &Track) -> bool {
    matches!(track.target, TrackTarget::Bone(_))
}

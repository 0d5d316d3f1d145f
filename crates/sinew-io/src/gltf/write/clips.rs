//! Which clips of an asset are written.

use crate::error::{Error, Result};
use crate::usd::ClipChoice;
use sinew_animate::asset::{Asset, AssetClip};

/// The asset with some of its clips only. Names joined by `+` are clips that become one; if both
/// move the same, the earlier one counts.
///
/// # Errors
/// [`Error::NoSuchClip`] if the asset lacks a clip.
pub fn choose_clips(mut asset: Asset, choice: &ClipChoice) -> Result<Asset> {
    match choice {
        ClipChoice::All => {}
        ClipChoice::First => asset.clips.truncate(1),
        ClipChoice::Named(name) => {
            let find = |name: &str| asset.clip(name).cloned();
            let parts = match find(name) {
                Some(whole) => Some(vec![whole]),
                None => name.split('+').map(find).collect(),
            };
            let Some(parts) = parts else {
                return Err(Error::NoSuchClip {
                    file: asset.file.clone(),
                    asked: name.clone(),
                    known: asset.clips.iter().map(|c| c.name.clone()).collect(),
                });
            };
            asset.clips = vec![joined(name, parts)];
        }
    }
    Ok(asset)
}

fn joined(name: &str, parts: Vec<AssetClip>) -> AssetClip {
    let mut out = AssetClip {
        name: name.to_owned(),
        ..AssetClip::default()
    };
    let mut taken = std::collections::HashSet::new();
    for part in parts {
        for track in part.tracks {
            let kind = std::mem::discriminant(&track.curve.keys);
            if taken.insert((track.target.clone(), kind)) {
                out.tracks.push(track);
            }
        }
        out.extras = out.extras.or(part.extras);
    }
    out
}

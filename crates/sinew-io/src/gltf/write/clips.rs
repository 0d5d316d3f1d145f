//! Which clips of an asset are written.

use crate::error::{Error, Result};
use crate::usd::ClipChoice;
use sinew_animate::asset::{Asset, AssetClip, FoundName, find_clip_name};

/// The asset with some of its clips only. A name is found as [`find_clip_name`] finds it. Names
/// joined by `+` are clips that become one; if both move the same, the earlier one counts.
///
/// # Errors
/// [`Error::NoSuchClip`] if the asset lacks a clip.
pub fn choose_clips(mut asset: Asset, choice: &ClipChoice) -> Result<Asset> {
    match choice {
        ClipChoice::All => {}
        ClipChoice::First => asset.clips.truncate(1),
        ClipChoice::Named(name) => {
            let names: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
            let find = |name: &str| match find_clip_name(&names, name) {
                FoundName::One(clip) => Some(asset.clips[clip].clone()),
                _ => None,
            };
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
            asset.clips = vec![match <[AssetClip; 1]>::try_from(parts) {
                Ok([clip]) => clip,
                Err(parts) => joined(name, parts),
            }];
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

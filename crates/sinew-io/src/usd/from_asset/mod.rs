//! An [`Asset`] as a UsdSkel layer.
//!
//! The default prim is a SkelRoot over everything, where there is a Skeleton, and an Xform else: a skinned mesh and what it
//! stands on share it whatever tree they come from, and SkelRoots never nest. Below it stand the nodes that are no
//! joints, as Xforms; each Skeleton hangs below the lowest of them above its joints, with the meshes that it skins
//! beside it, which so have its space for their own. Further scenes are root prims of their own, which are inactive.

mod animations;
mod binds;
mod budget;
mod builder;
mod cameras;
mod channels;
mod clips;
pub(crate) mod convert;
mod extras;
mod instances;
mod joints;
mod layer;
pub(in crate::usd) mod materials;
mod meshes;
mod names;
mod nodes;
mod placement;
mod sampling;
mod sizes;
mod skeletons;
mod stage;
mod time;
mod variants;

use std::collections::HashSet;

use convert::{ConvertedHumanoid, ConvertedSkeleton};
use glam::Vec3;
use sinew_layer::Layer;

use crate::error::{Error, Result};
use crate::usd::clips::one_named;
use crate::usd::file::ClipChoice;
use sinew::error::Warning;
use sinew::sampled::Sampled;
use sinew_animate::asset::{Asset, AssetClip, Keys, Track, TrackTarget};

/// What an asset, or one of its scenes, became beside its layer.
pub(crate) struct Converted {
    /// Asset paths in the layer, and the images that belong there.
    pub images: Vec<(String, usize)>,
    /// Exact scales of SkelAnimations, by path, where the layer's half3 are not.
    pub float_scales: Vec<(String, Sampled<Vec<Vec3>>)>,
    pub skeletons: Vec<ConvertedSkeleton>,
    /// One for each of the asset's.
    pub humanoids: Vec<ConvertedHumanoid>,
    pub warnings: Vec<Warning>,
}

/// Turns an asset into a layer, which is complete in itself but for pictures.
///
/// # Errors
/// A clip name that the asset lacks; what no UsdSkel can hold: singular bind matrices in use, hierarchies of
/// hundreds of levels.
pub(crate) fn author(asset: &Asset, clips: &ClipChoice) -> Result<(Layer, Converted)> {
    let chosen = chosen(asset, clips)?;
    let (layer, mut converted) = stage::author(asset, &chosen)?;
    if let (ClipChoice::First | ClipChoice::All, Some(taken)) = (clips, first_clip(asset))
        && taken > 0
    {
        let [empty, taken] = [0, taken].map(|clip| &asset.clips[clip].name);
        let message = format!("it moves nothing: \"{taken}\" is the first clip in its place");
        converted
            .warnings
            .push(Warning::new("clip-empty", empty, message));
    }
    Ok((layer, converted))
}

/// A clip to be written, of one or more of the asset's.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChosenClip {
    name: String,
    sources: Vec<usize>,
}

/// The clips to convert, the bound one first.
fn chosen(asset: &Asset, choice: &ClipChoice) -> Result<Vec<ChosenClip>> {
    let single = |source: usize| ChosenClip {
        name: asset.clips[source].name.clone(),
        sources: vec![source],
    };
    let first = first_clip(asset).into_iter();
    let all = first
        .clone()
        .chain((0..asset.clips.len()).filter(|i| first.clone().all(|f| f != *i)));
    match choice {
        ClipChoice::First => Ok(first.map(single).collect()),
        ClipChoice::All => Ok(all.map(single).collect()),
        ClipChoice::Named(name) => {
            let sources = named(asset, name)?;
            let name = joined_name(asset, &sources);
            Ok(vec![ChosenClip { name, sources }])
        }
    }
}

/// The first clip that moves something, or else the first one.
pub(crate) fn first_clip(asset: &Asset) -> Option<usize> {
    let moving = asset.clips.iter().position(|c| moves(asset, c));
    moving.or((!asset.clips.is_empty()).then_some(0))
}

/// Whether a clip has a key that is not the rest of its node.
fn moves(asset: &Asset, clip: &AssetClip) -> bool {
    const SAME: f64 = 1e-5;
    clip.tracks.iter().any(|track| {
        let node = match track.target {
            TrackTarget::Node(node) => asset.nodes.get(node),
            _ => None,
        };
        let Some(rest) = node.map(|n| n.local.trs()) else {
            return true;
        };
        match &track.curve.keys {
            Keys::Translation(keys) => keys.iter().any(|k| !k.abs_diff_eq(rest.translation, SAME)),
            Keys::Rotation(keys) => keys.iter().any(|k| k.dot(rest.rotation).abs() < 1.0 - SAME),
            Keys::Scale(keys) => keys.iter().any(|k| !k.abs_diff_eq(rest.scale, SAME)),
            Keys::Weights { .. } => true,
        }
    })
}

/// The clip that a text names, or the clips that play together if it joins names by `+`.
fn named(asset: &Asset, asked: &str) -> Result<Vec<usize>> {
    match find(asset, asked) {
        Err(Error::NoSuchClip { .. }) if asked.contains('+') => {
            asked.split('+').map(|part| find(asset, part)).collect()
        }
        whole => Ok(vec![whole?]),
    }
}

fn joined_name(asset: &Asset, clips: &[usize]) -> String {
    let names = clips.iter().map(|c| asset.clips[*c].name.as_str());
    names.collect::<Vec<_>>().join("+")
}

/// Finds the clip of an asset that a text names, as [`ClipChoice::Named`] does. Clips that play
/// together are one with the tracks of all; if two move the same, the earlier one counts.
///
/// # Errors
/// [`Error::NoSuchClip`] and [`Error::AmbiguousClip`].
pub fn find_asset_clip(asset: &Asset, asked: &str) -> Result<AssetClip> {
    let clips = named(asset, asked)?;
    let all = || clips.iter().map(|c| &asset.clips[*c]);
    let mut moved = HashSet::new();
    let mut is_first = |track: &&Track| {
        let kind = std::mem::discriminant(&track.curve.keys);
        clips.len() == 1 || moved.insert((track.target.clone(), kind))
    };
    let tracks = all().flat_map(|c| &c.tracks);
    Ok(AssetClip {
        name: joined_name(asset, &clips),
        tracks: tracks.filter(|t| is_first(t)).cloned().collect(),
        extras: all().find_map(|c| c.extras.clone()),
    })
}

fn find(asset: &Asset, asked: &str) -> Result<usize> {
    let names: Vec<&str> = asset.clips.iter().map(|c| c.name.as_str()).collect();
    one_named(&asset.file, &names, asked)
}

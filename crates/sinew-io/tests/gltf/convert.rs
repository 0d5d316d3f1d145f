//! Conversion by the library, in the way of `sinew convert`.

use std::path::{Path, PathBuf};

use sinew::error::{Invalid, Warning};
use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::gltf::{GltfOptions, InfluenceCut, choose_clips, write_asset};
use sinew_io::usd::AssetOptions;
use sinew_io::{ClipChoice, Error, OpenOptions, open_with, read_asset};

/// A glTF file that was written, and what was said.
pub struct Written {
    pub file: PathBuf,
    pub warnings: Vec<Warning>,
    /// Prims that cannot be skinned, and are written at rest.
    pub unskinned: Vec<String>,
    /// Prims that cannot be drawn, and are left out.
    pub left_out: Vec<Invalid>,
    pub influences: Option<InfluenceCut>,
    /// Mesh nodes with a skin.
    pub skinned: usize,
    /// Names of the clips.
    pub clips: Vec<String>,
    /// For each skin, how many joints it has.
    pub joints: Vec<usize>,
}

/// How glTF is written.
#[derive(Default)]
pub struct How<'a> {
    pub bake: bool,
    pub max_influences: Option<u16>,
    pub clip: Option<&'a str>,
}

/// Any file with all of its clips.
fn all_clips() -> OpenOptions {
    OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    }
}

/// Converts to glTF.
pub fn to_gltf(input: &Path, output: PathBuf, how: &How<'_>) -> Result<Written, Error> {
    let (mut warnings, mut unskinned) = (Vec::new(), Vec::new());
    let asset = match read_asset(input)? {
        Some(asset) => on_own_skeleton(asset),
        None => {
            let file = open_with(input, &all_clips())?;
            let scene = file.scene(Default::default())?;
            warnings.extend(scene.warnings.iter().cloned());
            unskinned.extend(scene.unskinned.iter().map(|p| p.path.clone()));
            file.to_asset(&scene, &AssetOptions { bake: how.bake })?
        }
    };
    let choice = how
        .clip
        .map_or(ClipChoice::All, |name| ClipChoice::Named(name.to_owned()));
    let asset = choose_clips(asset, &choice)?;
    let skinned = asset
        .nodes
        .iter()
        .filter(|n| n.mesh.is_some() && n.skin.is_some());
    let mut out = Written {
        skinned: skinned.count(),
        clips: asset.clips.iter().map(|c| c.name.clone()).collect(),
        joints: asset.skins.iter().map(|s| s.joints.len()).collect(),
        left_out: asset.left_out.clone(),
        unskinned,
        file: output,
        warnings,
        influences: None,
    };
    let max_influences = how.max_influences;
    let written = write_asset(asset, &out.file, &GltfOptions { max_influences })?;
    out.warnings.extend(written.warnings);
    out.influences = written.influences;
    Ok(out)
}

/// Converts to USD, with all clips.
pub fn to_usd(input: &Path, output: &Path) -> Result<(), Error> {
    open_with(input, &all_clips())?.save_as(output)?;
    Ok(())
}

impl Written {
    /// Codes of the warnings.
    pub fn codes(&self) -> Vec<&'static str> {
        self.warnings.iter().map(|w| w.code).collect()
    }

    /// How far off the points of a prim may be by its warnings, relative to its size; `None` if none states an error.
    pub fn stated(&self, prim: &str) -> Option<f64> {
        let of = self.warnings.iter().filter(|w| w.path == prim);
        of.filter_map(stated_error).reduce(f64::max)
    }

    /// The same in stage units.
    pub fn stated_distance(&self, prim: &str) -> Option<f64> {
        let of = self.warnings.iter().filter(|w| w.path == prim);
        of.filter_map(stated_distance).reduce(f64::max)
    }

    pub fn states_an_error(&self) -> bool {
        self.warnings.iter().any(|w| stated_error(w).is_some())
    }
}

/// The number of a message that says `off by up to 1.234e-1, `.
fn stated_distance(warning: &Warning) -> Option<f64> {
    let (_, after) = warning.message.split_once("off by up to ")?;
    after.split(',').next()?.parse().ok()
}

/// The number of a message that says `31.5 % of the mesh's size`.
fn stated_error(warning: &Warning) -> Option<f64> {
    let (before, _) = warning.message.split_once(" % of the mesh's size")?;
    let percent: f64 = before.rsplit(' ').next()?.parse().ok()?;
    Some(percent / 100.0)
}

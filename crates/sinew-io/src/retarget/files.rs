//! Opens the file with the clip and the file with the character, of any format.

use std::path::{Path, PathBuf};

use sinew::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew::skel::SkelAnimation;
use sinew_animate::asset::{Asset, AssetClip, Track, TrackTarget};
use sinew_animate::humanoid::{ApplyOptions, apply_to_all, reference_asset};

use super::{Error, Result, SourceRequest};
use crate::usd::{UsdFile, find_asset_clip, first_clip};
use crate::{OpenOptions, open_with, read_asset_from, skeletons};

/// The file with the clip.
#[derive(Debug)]
pub struct Source {
    /// The file. One of another format than USD was converted with only the clip that was asked
    /// for.
    pub file: UsdFile,
    /// The file with the skeleton that the clip was made for, if it is another one.
    pub model: Option<UsdFile>,
    /// What was asked for.
    pub(super) request: SourceRequest,
    /// The names of the clips of a file of another format that were not taken, if none was asked for.
    pub(super) other_clips: Vec<String>,
    /// Tracks of VRM expressions. The expressions of the same names of the target follow them.
    expressions: AssetClip,
}

impl Source {
    /// Opens the file with the clip, and the one with its skeleton.
    ///
    /// # Errors
    /// A file cannot be read, or has no clip of the name that was asked for.
    pub fn open(request: &SourceRequest) -> Result<Self> {
        let plain = request.open_options();
        let model = request.model.as_ref();
        let model = model.map(|file| open_with(file, &plain)).transpose()?;
        let Some(mut asset) = read_asset_from(&request.files, &request.file)? else {
            return Ok(Self {
                file: UsdFile::open_with(&request.file, &plain)?,
                model,
                request: request.clone(),
                other_clips: Vec::new(),
                expressions: AssetClip::default(),
            });
        };
        let mut other_clips = Vec::new();
        let mut clip = match (&request.clip, first_clip(&asset)) {
            (Some(name), _) => find_asset_clip(&asset, name)?,
            (None, Some(first)) => {
                let clip = asset.clips.remove(first);
                other_clips.extend(asset.clips.iter().map(|c| c.name.clone()));
                clip
            }
            (None, None) => {
                let file = request.file.clone();
                return Err(Error::NoClip { file });
            }
        };
        let is_expression = |t: &Track| matches!(t.target, TrackTarget::Expression(_));
        let expressions = AssetClip {
            name: clip.name.clone(),
            tracks: clip
                .tracks
                .iter()
                .filter(|t| is_expression(t))
                .cloned()
                .collect(),
            ..AssetClip::default()
        };
        if asset.meshes.is_empty() {
            clip.tracks.retain(|t| !is_expression(t));
        }
        let on_bones = clip
            .tracks
            .iter()
            .any(|t| matches!(t.target, TrackTarget::Bone(_)));
        asset.clips = vec![clip];
        if on_bones {
            asset = applied(asset, request.skeleton.is_some())?;
        }
        Ok(Self {
            file: UsdFile::from_asset(&asset, &plain)?,
            model,
            request: request.clone(),
            other_clips,
            expressions,
        })
    }

    /// Takes another skeleton than the one that was asked for when the file was opened; `path` is
    /// its path.
    pub fn choose_skeleton(&mut self, path: &str) {
        self.request.skeleton = Some(path.to_owned());
    }

    /// Whether the file has a clip that could be taken.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn has_clip(&self) -> Result<bool> {
        Ok(!self.file.animations()?.is_empty())
    }

    /// The file with the skeleton that the clip was made for.
    #[must_use]
    pub fn skeletons(&self) -> &UsdFile {
        self.model.as_ref().unwrap_or(&self.file)
    }
}

/// The file with the character, without its own clips.
#[derive(Debug)]
pub struct Target {
    /// The file.
    pub file: UsdFile,
    /// Its name, as opened.
    pub(super) path: PathBuf,
    /// Path of the skeleton that was asked for.
    pub(super) skeleton: Option<String>,
    /// Whether the file had clips of its own that were left out when it was opened.
    pub(super) had_clips: bool,
    /// What the clip's expressions lost.
    pub(super) warnings: Vec<Warning>,
    /// For the Skeleton at a path: the blend shape channels that the clip's expressions move, and
    /// the time codes per second of their samples.
    expressions: Vec<(String, SkelAnimation, f64)>,
}

impl Target {
    /// Takes another skeleton than the one that was asked for when the file was opened; `path` is
    /// its path, or `None` for the only one of the file.
    pub fn choose_skeleton(&mut self, path: Option<&str>) {
        self.skeleton = path.map(str::to_owned);
    }

    /// Opens the file with the character, whose expressions follow those of the source's clip.
    /// `skeleton` is the path of its skeleton, if there are several.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn open(file: impl AsRef<Path>, skeleton: Option<&str>, source: &Source) -> Result<Self> {
        Self::open_with(file, skeleton, source, &source.request.open_options())
    }

    /// Like [`Target::open`], with options for a USD file.
    ///
    /// # Errors
    /// As [`Target::open`].
    pub fn open_with(
        file: impl AsRef<Path>,
        skeleton: Option<&str>,
        source: &Source,
        options: &OpenOptions,
    ) -> Result<Self> {
        let path = file.as_ref().to_owned();
        let skeleton = skeleton.map(str::to_owned);
        let mut warnings = Vec::new();
        let plain = source.request.open_options();
        let Some(mut asset) = read_asset_from(&plain.files, &path)? else {
            return Ok(Self {
                file: UsdFile::open_with(&path, options)?,
                path,
                skeleton,
                had_clips: false,
                warnings,
                expressions: Vec::new(),
            });
        };
        let had_clips = !asset.clips.is_empty();
        let (known, missing): (Vec<Track>, Vec<Track>) =
            source.expressions.tracks.iter().cloned().partition(|t| {
                let TrackTarget::Expression(name) = &t.target else {
                    return false;
                };
                asset.expressions.iter().any(|e| e.name == *name)
            });
        if !missing.is_empty() {
            let names = missing.iter().map(|t| match &t.target {
                TrackTarget::Expression(name) => name.as_str(),
                _ => "",
            });
            let names: Vec<&str> = names.collect();
            let message = format!("has no expressions named {}: left out", names.join(", "));
            let file = path.display().to_string();
            warnings.push(Warning::new("retarget-expressions", file, message));
        }
        let mut expressions = Vec::new();
        if !known.is_empty() {
            asset.clips = vec![AssetClip {
                name: source.expressions.name.clone(),
                tracks: known,
                ..AssetClip::default()
            }];
            // Only the channels of this conversion are used.
            let converted = UsdFile::from_asset(&asset, &plain)?;
            let scene = converted.scene(Default::default())?;
            for placed in skeletons(&scene) {
                if let Some(clip) = placed.instance.animation() {
                    let rate = scene.time_line.time_codes_per_second;
                    expressions.push((placed.path.clone(), SkelAnimation::clone(clip), rate));
                }
            }
        }
        asset.clips.clear();
        Ok(Self {
            file: UsdFile::from_asset(&asset, &plain)?,
            path,
            skeleton,
            had_clips,
            warnings,
            expressions,
        })
    }

    /// Adds the channels that expressions move to a clip that has no channels. `rate` is the clip's
    /// time codes per second.
    pub(super) fn add_expressions(&self, skeleton: &str, clip: &mut SkelAnimation, rate: f64) {
        let mut all = self.expressions.iter();
        let Some((_, moved, own_rate)) = all.find(|(path, ..)| path == skeleton) else {
            return;
        };
        if !clip.blend_shapes.is_empty() {
            return;
        }
        let samples = moved.blend_shape_weights.authored();
        let samples =
            samples.filter_map(|(time, v)| Some((time.code()? * rate / own_rate, v.cloned())));
        clip.blend_shapes.clone_from(&moved.blend_shapes);
        clip.blend_shape_weights = Sampled::new(None, samples.collect(), Interpolation::Linear);
    }
}

/// Applies a clip for any humanoid to the file's own model, or else to a model in the reference
/// pose. Of several humanoid skeletons the first one moves, or `all`, of which one is chosen later.
fn applied(asset: Asset, all: bool) -> Result<Asset> {
    let model = match asset.humanoids.iter().any(|h| !h.bones.is_empty()) {
        true => asset.clone(),
        false => Asset {
            file: asset.file.clone(),
            ..reference_asset()
        },
    };
    let only = (!all).then_some(0);
    let options = ApplyOptions::default();
    let applied = apply_to_all(&model, &asset, &asset.clips[0], &options, only)?;
    Ok(applied.into_applied().into_asset(model))
}

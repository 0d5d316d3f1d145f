//! Applies a clip to every humanoid skeleton of a model.

use std::collections::HashSet;
use std::mem::discriminant;

use super::{Applied, ApplyOptions, HumanoidReport, apply};
use crate::asset::{Asset, AssetClip, TrackTarget};
use crate::error::{Error, Result};
use sinew::error::Warning;

/// The result of [`apply_to_all`]: one clip that moves several humanoid skeletons of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AppliedToAll {
    /// The tracks of all humanoid skeletons. Each expression has one track.
    pub clip: AssetClip,
    /// Index of each humanoid skeleton that moves, in [`Asset::humanoids`], with its own report.
    pub moved: Vec<(usize, HumanoidReport)>,
    /// Indices of the humanoid skeletons of which the clip moves no bone.
    pub unmoved: Vec<usize>,
    /// Expressions that the clip moves and the model has.
    pub expressions: Vec<String>,
    /// The warnings of all reports, and one for each humanoid skeleton that does not move.
    pub warnings: Vec<Warning>,
}

impl AppliedToAll {
    /// The same as [`Applied`], whose report has the bones of all humanoid skeletons, each once.
    #[must_use]
    pub fn into_applied(self) -> Applied {
        let mut report = HumanoidReport {
            expressions: self.expressions,
            warnings: self.warnings,
            ..HumanoidReport::default()
        };
        for (_, own) in self.moved {
            for bone in own.bones {
                if !report.bones.contains(&bone) {
                    report.bones.push(bone);
                }
            }
            report.missing.extend(own.missing);
            report.hips_scale = report.hips_scale.or(own.hips_scale);
        }
        Applied {
            clip: self.clip,
            report,
        }
    }
}

/// Applies a clip to every humanoid skeleton of a model, or only to the one that `only` gives by its
/// index, as [`apply`] does to one ([`ApplyOptions::skeleton`] does not count). If several of them
/// share a node, it moves as the first of them says.
///
/// # Errors
/// [`Error::NoHumanoid`] if the model has no humanoid skeleton, or none of this index.
/// [`Error::NothingMoves`] if no track of the clip moves a bone or an expression of the model.
pub fn apply_to_all(
    model: &Asset,
    clip_file: &Asset,
    clip: &AssetClip,
    options: &ApplyOptions,
    only: Option<usize>,
) -> Result<AppliedToAll> {
    let mut bones_only = clip.clone();
    let is_expression = |target: &TrackTarget| matches!(target, TrackTarget::Expression(_));
    bones_only.tracks.retain(|t| !is_expression(&t.target));
    let mut out = AppliedToAll {
        clip: clip.with_tracks(Vec::new()),
        moved: Vec::new(),
        unmoved: Vec::new(),
        expressions: Vec::new(),
        warnings: Vec::new(),
    };
    let skeletons = match only {
        Some(one) => one..one + 1,
        // Of a model without humanoids the first one is not there, which is the error.
        None => 0..model.humanoids.len().max(1),
    };
    let several = skeletons.len() > 1;
    let mut taken = HashSet::new();
    let mut nothing = None;
    for (i, skeleton) in skeletons.enumerate() {
        let mut options = options.clone();
        options.skeleton = skeleton;
        // Expressions are the model's, not a skeleton's.
        let clip = if i == 0 { clip } else { &bones_only };
        let applied = match apply(model, clip_file, clip, &options) {
            Ok(applied) => Some(applied),
            Err(error @ Error::NothingMoves { .. }) => {
                nothing.get_or_insert(error);
                None
            }
            Err(error) => return Err(error),
        };
        let location = || model.humanoids[skeleton].location.clone();
        let mut is_moved = false;
        if let Some(Applied { clip, mut report }) = applied {
            out.expressions.append(&mut report.expressions);
            is_moved = !report.bones.is_empty();
            let mut shared = 0;
            for track in clip.tracks {
                let key = match track.target {
                    TrackTarget::Node(node) => (node, discriminant(&track.curve.keys)),
                    _ => {
                        out.clip.tracks.push(track);
                        continue;
                    }
                };
                match taken.insert(key) {
                    true => out.clip.tracks.push(track),
                    false => shared += 1,
                }
            }
            for mut warning in report.warnings.iter().cloned() {
                if several {
                    warning.message += &format!(" (humanoid skeleton {skeleton})");
                }
                out.warnings.push(warning);
            }
            if shared > 0 {
                let message = format!(
                    "{shared} tracks of humanoid skeleton {skeleton} move nodes that another one moves already: left out"
                );
                out.warnings
                    .push(Warning::new("humanoid-shared", location(), message));
            }
            if is_moved {
                out.moved.push((skeleton, report));
            }
        }
        if !is_moved {
            out.unmoved.push(skeleton);
            if several {
                let message = format!(
                    "humanoid skeleton {skeleton} does not move, because it has none of the bones that the clip moves"
                );
                out.warnings
                    .push(Warning::new("humanoid-unmoved", location(), message));
            }
        }
    }
    match nothing {
        Some(error) if out.clip.tracks.is_empty() => Err(error),
        _ => Ok(out),
    }
}

//! Which SkelAnimation of a clip moves which skeleton of the character.

use sinew::error::Warning;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::SkelAnimation;

use super::request::ClipRequest;
use crate::clip_joints::renamed;
use crate::error::Result;
use crate::usd::StageClip;
use crate::usd::fits::{Fits, Moved, Mover};

/// The SkelAnimation for a skeleton.
pub(super) struct Found {
    /// The index of the skeleton.
    pub skeleton: usize,
    /// The clip's name.
    pub name: String,
    /// What it moves, by the joint paths of the skeleton.
    pub animation: SkelAnimation,
    /// Whether its joints were found by their names, under other paths.
    pub is_renamed: bool,
}

/// The SkelAnimation of a clip for each skeleton that it fits. `scene` has the skeletons.
///
/// # Errors
/// None fits, or several fit one skeleton equally well.
pub(super) fn matched(
    request: &ClipRequest,
    clips: &[(StageClip, SkelAnimation)],
    (scene, skeletons): (&Scene, &[&PlacedSkeleton]),
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Found>> {
    let mut fits = Fits::new(
        clips.iter().map(|(clip, a)| Mover::new(clip, a)).collect(),
        skeletons.iter().map(|s| Moved::new(scene, s)).collect(),
        true,
    );
    let mut out = Vec::new();
    for (skeleton, placed) in skeletons.iter().enumerate() {
        let (clip, fit) = match fits.best(skeleton) {
            Ok(None) => continue,
            Ok(Some(best)) => best,
            Err(several) => {
                let path = |clip: &usize| clips[*clip].0.path.as_str();
                let paths: Vec<&str> = several.iter().map(path).collect();
                return request.refuse(format!(
                    "several clips fit the skeleton {}; choose one by its path, as in {}#{}: {}",
                    placed.path,
                    request.file.display(),
                    paths[0],
                    paths.join(", ")
                ));
            }
        };
        let (stage_clip, animation) = &clips[clip];
        let other = match fit.by_path {
            true => None,
            false => renamed(animation, placed.instance.skeleton()),
        };
        let is_renamed = other.is_some();
        let animation = match other {
            Some((animation, warning)) => {
                warnings.push(warning);
                animation
            }
            None => {
                warnings.extend(fits.warning(clip, skeleton));
                animation.clone()
            }
        };
        // What `retarget --animation-only` names so is known by its file.
        let stem = request.file.file_stem().unwrap_or_default();
        out.push(Found {
            skeleton,
            name: match stage_clip.name.as_str() {
                "Animation" => stem.to_string_lossy().into_owned(),
                name => name.to_owned(),
            },
            animation,
            is_renamed,
        });
    }
    if !out.is_empty() {
        return Ok(out);
    }
    let (moved, lacking) = fits.lacking().unwrap_or_default();
    request.refuse(format!(
        "this clip moves {moved}, which the skeletons of the character lack: {lacking}; `sinew retarget --animation-only` makes a clip for them"
    ))
}

//! Chooses the skeletons and the clip.

use std::path::Path;
use std::sync::Arc;

use sinew::Warning;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::{AnimMapper, SkelAnimation};

use super::{Error, Result, Side, Source, SourceRequest, Target};
use crate::clip_joints::renamed;
use crate::skeletons;

/// The skeleton that the clip was made for, and the clip. `scene` is of the file with the skeleton.
///
/// # Errors
/// The file has no skeleton or no clip as asked, or several that fit.
pub fn source<'a>(
    files: &Source,
    scene: &'a Scene,
    warnings: &mut Vec<Warning>,
) -> Result<(&'a PlacedSkeleton, Arc<SkelAnimation>)> {
    let all = skeletons(scene);
    let request = &files.request;
    let model = request.model.as_ref().unwrap_or(&request.file);
    if all.is_empty() {
        return Err(Error::NoSkeleton {
            file: model.clone(),
            needs_model: request.model.is_none(),
        });
    }
    let mut clips = files.file.animations()?;
    // A file of another format was converted with only the clip that was asked for.
    if let Some(name) = request
        .clip
        .as_ref()
        .filter(|_| files.file.origin().is_none())
    {
        let asked = files.file.find_clip(name)?;
        clips.retain(|clip| asked.iter().any(|a| a.path == clip.path));
    }
    let is_asked = request.clip.is_some() || files.model.is_some();
    let moves = |clip: &SkelAnimation, skeleton: &PlacedSkeleton| {
        let joints = skeleton.instance.skeleton().joints();
        let joints_of =
            |clip: &SkelAnimation| !AnimMapper::new(&clip.joints, joints).reaches_nothing();
        match renamed(clip, skeleton.instance.skeleton()).filter(|_| files.model.is_some()) {
            Some((renamed, _)) => joints_of(&renamed),
            None => joints_of(clip),
        }
    };
    let candidates: Vec<&PlacedSkeleton> = match &request.skeleton {
        Some(path) => vec![by_path(model, &all, path)?],
        None if is_asked => {
            let moved = |s: &&PlacedSkeleton| clips.iter().any(|clip| moves(clip, s));
            all.iter().copied().filter(moved).collect()
        }
        None => {
            let moved = |s: &&PlacedSkeleton| s.instance.animation().is_some_and(|a| moves(a, s));
            let moved: Vec<_> = all.iter().copied().filter(moved).collect();
            match moved.is_empty() {
                true => all.clone(),
                false => moved,
            }
        }
    };
    let skeleton = match candidates[..] {
        [one] => one,
        [] => {
            let file = model.clone();
            return Err(Error::FitsNoSkeleton { file });
        }
        _ => return Err(several(model, &candidates, Side::Source)),
    };
    if let Some(clip) = skeleton.instance.animation()
        && !is_asked
    {
        return Ok((skeleton, checked(request, clip.clone())?));
    }
    let fitting: Vec<&SkelAnimation> = clips.iter().filter(|c| moves(c, skeleton)).collect();
    let clip = match fitting[..] {
        [one] => one,
        _ => {
            let paths = |clips: &[&SkelAnimation]| clips.iter().map(|c| c.path.clone()).collect();
            return Err(Error::NoBoundClip {
                file: request.file.clone(),
                skeleton: skeleton.path.clone(),
                was_asked: request.clip.is_some(),
                clips: match fitting.is_empty() {
                    true => clips.iter().map(|c| c.path.clone()).collect(),
                    false => paths(&fitting),
                },
            });
        }
    };
    let by_name = renamed(clip, skeleton.instance.skeleton()).filter(|_| files.model.is_some());
    let clip = match by_name {
        Some((clip, warning)) => {
            warnings.push(warning);
            clip
        }
        None => clip.clone(),
    };
    Ok((skeleton, checked(request, Arc::new(clip))?))
}

/// Refuses a clip without a full pose of its joints, which USD ignores.
fn checked(request: &SourceRequest, clip: Arc<SkelAnimation>) -> Result<Arc<SkelAnimation>> {
    let time = clip
        .joint_times()
        .min_by(f64::total_cmp)
        .map_or(Time::Default, Time::At);
    if clip.joint_local_transforms(time).is_none() {
        return Err(Error::NoEffect {
            file: request.file.clone(),
            clip: clip.path.clone(),
        });
    }
    Ok(clip)
}

/// The skeleton of the character.
///
/// # Errors
/// The file has no skeleton as asked, or several.
pub fn target<'a>(target: &Target, scene: &'a Scene) -> Result<&'a PlacedSkeleton> {
    let all = skeletons(scene);
    match (&target.skeleton, &all[..]) {
        (Some(path), _) => by_path(&target.path, &all, path),
        (None, [one]) => Ok(*one),
        (None, []) => Err(Error::NoSkeleton {
            file: target.path.clone(),
            needs_model: false,
        }),
        (None, _) => Err(several(&target.path, &all, Side::Target)),
    }
}

fn by_path<'a>(file: &Path, all: &[&'a PlacedSkeleton], path: &str) -> Result<&'a PlacedSkeleton> {
    let found = all.iter().find(|s| s.path == path);
    found.copied().ok_or_else(|| Error::NoSuchSkeleton {
        file: file.to_owned(),
        path: path.to_owned(),
        known: paths(all),
    })
}

fn several(file: &Path, all: &[&PlacedSkeleton], side: Side) -> Error {
    Error::SeveralSkeletons {
        file: file.to_owned(),
        side,
        paths: paths(all),
    }
}

fn paths(all: &[&PlacedSkeleton]) -> Vec<String> {
    all.iter().map(|s| s.path.clone()).collect()
}

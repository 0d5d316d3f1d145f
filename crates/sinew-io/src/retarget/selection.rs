//! Chooses the skeletons and the clip.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use sinew::Warning;
use sinew::error::first_few;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::SkelAnimation;

use super::{Error, Result, Side, Source, SourceRequest, Target};
use crate::clip_joints::renamed;
use crate::skeletons;
use crate::usd::{Fits, Moved, Mover, UsdFile};

/// How many clips that are not taken are named.
const MOST_CLIPS: usize = 20;

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
    let mut clips = files.file.animations()?;
    if all.is_empty() {
        return Err(Error::NoSkeleton {
            file: model.clone(),
            needs_model: request.model.is_none() && !clips.is_empty(),
        });
    }
    let mut named = files.file.stage_clips()?;
    // A file of another format was converted with only the clip that was asked for.
    if let Some(name) = request.clip.as_ref().filter(|_| !files.file.is_made()) {
        named = files.file.find_clip(name)?;
        clips.retain(|clip| named.iter().any(|a| a.path == clip.path));
    }
    let is_asked = request.clip.is_some() || files.model.is_some();
    // Blend shapes alone move no joints of a target.
    let movers = named.iter().zip(&clips).map(|(clip, animation)| Mover {
        shapes: Vec::new(),
        ..Mover::new(clip, animation)
    });
    let moved = all.iter().map(|s| Moved::new(scene, s));
    let by_last_parts = files.model.is_some();
    let mut fits = Fits::new(movers.collect(), moved.collect(), by_last_parts);
    let of_path = |path: &str| clips.iter().position(|clip| clip.path == path);
    let mut moves = |s: usize| match is_asked {
        true => (0..clips.len()).any(|clip| fits.of(clip, s).is_some()),
        false => {
            let own = all[s].instance.animation();
            let own = own.and_then(|a| of_path(&a.path));
            own.is_some_and(|clip| fits.taken(clip, s).is_some())
        }
    };
    let candidates: Vec<usize> = match &request.skeleton {
        Some(path) => vec![by_path(model, &all, path)?],
        None => {
            let moved: Vec<usize> = (0..all.len()).filter(|s| moves(*s)).collect();
            let all_of = match moved.is_empty() && !is_asked {
                true => (0..all.len()).collect(),
                false => moved,
            };
            // A single joint beside a body is no second body.
            let joints = |s: &usize| all[*s].instance.skeleton().joints().len();
            let bodies = all_of.iter().copied().filter(|s| joints(s) > 1);
            match bodies.clone().count() {
                1 => bodies.collect(),
                _ => all_of,
            }
        }
    };
    let candidates = bodies(candidates, |s| all[*s]);
    let chosen = match candidates[..] {
        [one] => one,
        [] => {
            let file = model.clone();
            return Err(Error::FitsNoSkeleton { file });
        }
        _ => {
            let candidates: Vec<&PlacedSkeleton> = candidates.iter().map(|s| all[*s]).collect();
            return Err(several(model, &candidates, Side::Source));
        }
    };
    let skeleton = all[chosen];
    if let Some(clip) = skeleton.instance.animation()
        && !is_asked
    {
        let own = named.iter().find(|n| n.path == clip.path);
        let own = own.map(|n| n.name.as_str()).unwrap_or_default();
        let in_stage = named.iter().map(|n| &n.name).filter(|n| *n != own);
        let mut others: Vec<&String> = in_stage.chain(&files.other_clips).collect();
        others.dedup();
        if !others.is_empty() {
            let others = first_few(&others, MOST_CLIPS);
            let message = format!("this clip is taken; the file also has {others}");
            warnings.push(Warning::new("clip-taken", own, message));
        }
        let clip = by_name(clip, skeleton, warnings);
        return Ok((skeleton, checked(request, clip)?));
    }
    let mut fitting = |clip: &usize| fits.taken(*clip, chosen).is_some();
    let fitting: Vec<usize> = (0..clips.len()).filter(|c| fitting(c)).collect();
    let [clip] = fitting[..] else {
        let listed = match fitting.is_empty() {
            true => (0..clips.len()).collect(),
            false => fitting,
        };
        return Err(Error::NoBoundClip {
            file: request.file.clone(),
            skeleton: skeleton.path.clone(),
            was_asked: request.clip.is_some(),
            clips: listed.iter().map(|c| clips[*c].path.clone()).collect(),
        });
    };
    let clip = by_name(&Arc::new(clips[clip].clone()), skeleton, warnings);
    Ok((skeleton, checked(request, clip)?))
}

/// The clip, or if it drives nothing by the paths of its joints, the clip by their names.
fn by_name(
    clip: &Arc<SkelAnimation>,
    skeleton: &PlacedSkeleton,
    warnings: &mut Vec<Warning>,
) -> Arc<SkelAnimation> {
    let Some((renamed, warning)) = renamed(clip, skeleton.instance.skeleton()) else {
        return clip.clone();
    };
    warnings.push(warning);
    Arc::new(renamed)
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

/// Whether a character can take a clip without a choice: it has one skeleton alone, which has joints, each at a path of
/// its own, and which the file's layer can change.
pub fn is_target(file: &UsdFile, scene: &Scene) -> bool {
    let [one] = bodies(skeletons(scene), |s| s)[..] else {
        return false;
    };
    let joints = one.instance.skeleton().joints();
    let paths: HashSet<&String> = joints.iter().collect();
    !joints.is_empty()
        && paths.len() == joints.len()
        && file.prim_to_edit(&one.path, "Skeleton").is_ok()
}

/// The skeleton of the character.
///
/// # Errors
/// The file has no skeleton as asked, or several.
pub fn target<'a>(target: &Target, scene: &'a Scene) -> Result<&'a PlacedSkeleton> {
    let all = skeletons(scene);
    if let Some(path) = &target.skeleton {
        return Ok(all[by_path(&target.path, &all, path)?]);
    }
    match bodies(all, |s| s)[..] {
        [one] => Ok(one),
        [] => Err(Error::NoSkeleton {
            file: target.path.clone(),
            needs_model: false,
        }),
        ref all => Err(several(&target.path, all, Side::Target)),
    }
}

/// Of several skeletons those with more than one joint, if there are any: a camera or a prop beside
/// a body is none.
fn bodies<'a, T>(mut all: Vec<T>, skeleton: impl Fn(&T) -> &'a PlacedSkeleton) -> Vec<T> {
    let is_body = |s: &T| skeleton(s).instance.skeleton().joints().len() > 1;
    if all.iter().any(is_body) {
        all.retain(is_body);
    }
    all
}

/// The index of the skeleton at a path.
fn by_path(file: &Path, all: &[&PlacedSkeleton], path: &str) -> Result<usize> {
    let found = all.iter().position(|s| s.path == path);
    found.ok_or_else(|| Error::NoSuchSkeleton {
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

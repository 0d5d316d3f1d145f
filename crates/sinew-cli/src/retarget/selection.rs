//! Chooses the skeletons and the clip.

use std::sync::Arc;

use crate::error::Result;
use sinew::Warning;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::{AnimMapper, SkelAnimation};
use sinew_io::skeletons;

use super::files::Source;
use super::{Args, refuse};
use crate::clip_joints::renamed;

/// The skeleton that the clip was made for, and the clip. `scene` is of the file with the skeleton.
///
/// # Errors
/// The file has no skeleton or no clip as asked, or several that fit.
pub fn source<'a>(
    args: &Args,
    files: &Source,
    scene: &'a Scene,
    warnings: &mut Vec<Warning>,
) -> Result<(&'a PlacedSkeleton, Arc<SkelAnimation>)> {
    let all = skeletons(scene);
    let model = args.source_model.as_ref().unwrap_or(&args.source);
    if all.is_empty() {
        let advice = match args.source_model {
            Some(_) => "",
            None => "; name a file that has it with --source-model FILE",
        };
        let reason = format!(
            "no skeleton in this file; a clip needs the skeleton that it was made for, because rotations are measured from its bind pose{advice}"
        );
        return refuse(model, &reason);
    }
    let mut clips = files.file.animations()?;
    // A file of another format was converted with only the clip that was asked for.
    if let Some(name) = args.clip.as_ref().filter(|_| files.file.origin().is_none()) {
        let asked = files.file.find_clip(name)?;
        clips.retain(|clip| asked.iter().any(|a| a.path == clip.path));
    }
    let is_asked = args.clip.is_some() || files.model.is_some();
    let moves = |clip: &SkelAnimation, skeleton: &PlacedSkeleton| {
        let joints = skeleton.instance.skeleton().joints();
        let joints_of =
            |clip: &SkelAnimation| !AnimMapper::new(&clip.joints, joints).reaches_nothing();
        match renamed(clip, skeleton.instance.skeleton()).filter(|_| files.model.is_some()) {
            Some((renamed, _)) => joints_of(&renamed),
            None => joints_of(clip),
        }
    };
    let candidates: Vec<&PlacedSkeleton> = match &args.source_skeleton {
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
            return refuse(
                model,
                "no skeleton in this file has the joints that the clip moves",
            );
        }
        _ => return several(model, &candidates, "--source-skeleton"),
    };
    if let Some(clip) = skeleton.instance.animation()
        && !is_asked
    {
        return Ok((skeleton, checked(args, clip.clone())?));
    }
    let fitting: Vec<&SkelAnimation> = clips.iter().filter(|c| moves(c, skeleton)).collect();
    let clip = match fitting[..] {
        [one] => one,
        _ => {
            let names: Vec<&str> = match fitting.is_empty() {
                true => clips.iter().map(|c| c.path.as_str()).collect(),
                false => fitting.iter().map(|c| c.path.as_str()).collect(),
            };
            let has = match names.is_empty() {
                true => "the file has none".to_owned(),
                false => format!("the file has {}", names.join(", ")),
            };
            let path = &skeleton.path;
            let reason = match args.clip.is_some() {
                true => format!("not one clip alone moves {path}; choose it by its path; {has}"),
                false => format!("no clip is bound to {path}; choose one with --clip; {has}"),
            };
            return refuse(&args.source, &reason);
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
    Ok((skeleton, checked(args, Arc::new(clip))?))
}

/// Refuses a clip without a full pose of its joints, which USD ignores.
fn checked(args: &Args, clip: Arc<SkelAnimation>) -> Result<Arc<SkelAnimation>> {
    let time = clip
        .joint_times()
        .min_by(f64::total_cmp)
        .map_or(Time::Default, Time::At);
    if clip.joint_local_transforms(time).is_none() {
        let path = &clip.path;
        let reason = format!(
            "{path} has no effect in USD: expected translations, rotations and scales that are finite, one for each of its joints"
        );
        return refuse(&args.source, &reason);
    }
    Ok(clip)
}

/// The skeleton of the character.
///
/// # Errors
/// The file has no skeleton as asked, or several.
pub fn target<'a>(args: &Args, scene: &'a Scene) -> Result<&'a PlacedSkeleton> {
    let all = skeletons(scene);
    match (&args.target_skeleton, &all[..]) {
        (Some(path), _) => by_path(&args.target, &all, path),
        (None, [one]) => Ok(*one),
        (None, []) => refuse(&args.target, "no skeleton in this file"),
        (None, _) => several(&args.target, &all, "--target-skeleton"),
    }
}

fn by_path<'a>(
    file: &std::path::Path,
    all: &[&'a PlacedSkeleton],
    path: &str,
) -> Result<&'a PlacedSkeleton> {
    match all.iter().find(|s| s.path == path) {
        Some(skeleton) => Ok(*skeleton),
        None => refuse(
            file,
            &format!("no skeleton at {path}; the file has {}", paths(all)),
        ),
    }
}

fn several<T>(file: &std::path::Path, all: &[&PlacedSkeleton], option: &str) -> Result<T> {
    let reason = format!(
        "the file has several skeletons; choose one with {option}: {}",
        paths(all)
    );
    refuse(file, &reason)
}

fn paths(all: &[&PlacedSkeleton]) -> String {
    let paths: Vec<&str> = all.iter().map(|s| s.path.as_str()).collect();
    paths.join(", ")
}

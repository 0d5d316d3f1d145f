//! Chooses the skeletons and the clip.

use std::sync::Arc;

use crate::error::Result;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::{AnimMapper, SkelAnimation};
use sinew_io::skeletons;
use sinew_io::usd::UsdFile;

use super::{Args, refuse};

/// The skeleton that the clip was made for, and the clip.
///
/// # Errors
/// The file has no skeleton or no clip as asked, or several that fit.
pub fn source<'a>(
    args: &Args,
    file: &UsdFile,
    scene: &'a Scene,
) -> Result<(&'a PlacedSkeleton, Arc<SkelAnimation>)> {
    let all = skeletons(scene);
    if all.is_empty() {
        return refuse(
            &args.source,
            "no skeleton in this file; a clip needs the skeleton that it was made for, because rotations are measured from its bind pose",
        );
    }
    let clips = file.animations()?;
    let names = || {
        let names: Vec<&str> = clips.iter().map(|c| c.path.as_str()).collect();
        match names.is_empty() {
            true => "the file has none".to_owned(),
            false => format!("the file has {}", names.join(", ")),
        }
    };
    let moves = |clip: &SkelAnimation, skeleton: &PlacedSkeleton| {
        let joints = skeleton.instance.skeleton().joints();
        !AnimMapper::new(&clip.joints, joints).reaches_nothing()
    };
    // A file of another format was converted with only the clip that was asked for.
    let asked = args.clip.as_ref().filter(|_| file.origin().is_none());
    let named = match asked {
        Some(name) => match clips.iter().find(|c| is_named(&c.path, name)) {
            Some(clip) => Some(clip),
            None => {
                return refuse(
                    &args.source,
                    &format!("no clip is named '{name}'; {}", names()),
                );
            }
        },
        None => None,
    };
    let candidates: Vec<&PlacedSkeleton> = match (&args.source_skeleton, named) {
        (Some(path), _) => vec![by_path(&args.source, &all, path)?],
        (None, Some(clip)) => all.iter().copied().filter(|s| moves(clip, s)).collect(),
        (None, None) => {
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
                &args.source,
                "no skeleton in this file has the joints that the clip moves",
            );
        }
        _ => return several(&args.source, &candidates, "--source-skeleton"),
    };
    if let Some(clip) = named {
        return Ok((skeleton, checked(args, Arc::new(clip.clone()))?));
    }
    if let Some(clip) = skeleton.instance.animation() {
        return Ok((skeleton, checked(args, clip.clone())?));
    }
    let fitting: Vec<&SkelAnimation> = clips.iter().filter(|c| moves(c, skeleton)).collect();
    match fitting[..] {
        [one] => Ok((skeleton, checked(args, Arc::new(one.clone()))?)),
        _ => {
            let path = &skeleton.path;
            let reason = format!(
                "no clip is bound to {path}; choose one with --clip; {}",
                names()
            );
            refuse(&args.source, &reason)
        }
    }
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

/// Whether `name` means the prim at `path`: it is the path, the prim's name, or becomes the prim's
/// name if each character that no prim name may have is replaced by `_`.
fn is_named(path: &str, name: &str) -> bool {
    let own = path.rsplit('/').next().unwrap_or(path);
    let as_prim: String = name
        .chars()
        .map(|c| {
            if c == '_' || c.is_alphanumeric() {
                c
            } else {
                '_'
            }
        })
        .collect();
    path == name || own == name || own == as_prim
}

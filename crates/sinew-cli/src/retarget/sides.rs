//! Which skeleton and which clip.

use std::sync::Arc;

use sinew::Result;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew::skel::{AnimMapper, SkelAnimation};
use sinew_io::skeletons;
use sinew_io::usd::UsdFile;

use super::{Args, refuse};

/// The skeleton that the clip was made for, and the clip.
pub fn source<'a>(
    args: &Args,
    file: &UsdFile,
    scene: &'a Scene,
) -> Result<(&'a PlacedSkeleton, Arc<SkelAnimation>)> {
    let all = skeletons(scene);
    if all.is_empty() {
        return refuse(
            &args.source,
            "holds no skeleton, and what a clip's turns mean depends on the bind pose of the one that it was made for",
        );
    }
    let clips = file.animations()?;
    let names = || {
        let names: Vec<&str> = clips.iter().map(|c| c.path.as_str()).collect();
        match names.is_empty() {
            true => "it holds none".to_owned(),
            false => format!("it holds {}", names.join(", ")),
        }
    };
    let moves = |clip: &SkelAnimation, skeleton: &PlacedSkeleton| {
        let joints = skeleton.instance.skeleton().joints();
        !AnimMapper::new(&clip.joints, joints).reaches_nothing()
    };
    // Of a file of another format only the clip that is asked for was converted.
    let asked = args.clip.as_ref().filter(|_| file.origin().is_none());
    let named = match asked {
        Some(name) => match clips.iter().find(|c| is_named(&c.path, name)) {
            Some(clip) => Some(clip),
            None => {
                return refuse(
                    &args.source,
                    &format!("no clip is named {name}: {}", names()),
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
                "no skeleton has the joints that the clip moves",
            );
        }
        _ => return several(&args.source, &candidates, "--source-skeleton"),
    };
    if let Some(clip) = named {
        return Ok((skeleton, whole(args, Arc::new(clip.clone()))?));
    }
    if let Some(clip) = skeleton.instance.animation() {
        return Ok((skeleton, whole(args, clip.clone())?));
    }
    let fitting: Vec<&SkelAnimation> = clips.iter().filter(|c| moves(c, skeleton)).collect();
    match fitting[..] {
        [one] => Ok((skeleton, whole(args, Arc::new(one.clone()))?)),
        _ => {
            let path = &skeleton.path;
            let reason = format!(
                "no clip is bound to {path}; choose one with --clip: {}",
                names()
            );
            refuse(&args.source, &reason)
        }
    }
}

/// Refuses a clip that USD's tools ignore.
fn whole(args: &Args, clip: Arc<SkelAnimation>) -> Result<Arc<SkelAnimation>> {
    let time = clip
        .joint_times()
        .min_by(f64::total_cmp)
        .map_or(Time::Default, Time::At);
    if clip.joint_local_transforms(time).is_none() {
        let path = &clip.path;
        let reason = format!(
            "{path} counts for nothing: it needs translations, rotations and scales, finite and one for each of its joints"
        );
        return refuse(&args.source, &reason);
    }
    Ok(clip)
}

/// The skeleton that is to move.
pub fn target<'a>(args: &Args, scene: &'a Scene) -> Result<&'a PlacedSkeleton> {
    let all = skeletons(scene);
    match (&args.target_skeleton, &all[..]) {
        (Some(path), _) => by_path(&args.target, &all, path),
        (None, [one]) => Ok(*one),
        (None, []) => refuse(&args.target, "holds no skeleton"),
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
            &format!("no skeleton at {path}: it has {}", paths(all)),
        ),
    }
}

fn several<T>(file: &std::path::Path, all: &[&PlacedSkeleton], option: &str) -> Result<T> {
    let reason = format!(
        "has several skeletons; choose one with {option}: {}",
        paths(all)
    );
    refuse(file, &reason)
}

fn paths(all: &[&PlacedSkeleton]) -> String {
    let paths: Vec<&str> = all.iter().map(|s| s.path.as_str()).collect();
    paths.join(", ")
}

/// A prim's path, its name, or a name that the prim's stands for, what no prim name may hold being `_` there.
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

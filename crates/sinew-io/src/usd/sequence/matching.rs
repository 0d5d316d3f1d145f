//! Which SkelAnimation of a clip moves which skeleton of the character.

use std::collections::HashSet;

use sinew::error::{Warning, first_few};
use sinew::scene::PlacedSkeleton;
use sinew::skel::SkelAnimation;

use super::request::ClipRequest;
use crate::clip_joints::renamed;
use crate::error::Result;
use crate::usd::StageClip;

/// The largest number of joints or prims in a message.
const MOST_NAMES: usize = 8;

/// A skeleton to move, and the blend shapes of the prims that are bound to it.
pub(super) struct Target<'a> {
    pub placed: &'a PlacedSkeleton,
    pub shapes: Vec<String>,
}

impl Target<'_> {
    fn joints(&self) -> &[String] {
        self.placed.instance.skeleton().joints()
    }
}

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

/// How a SkelAnimation fits a skeleton; the largest is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_made_for: bool,
    /// Paths of joints are the skeleton's, not only names.
    by_path: bool,
    is_whole: bool,
    known: usize,
}

/// A SkelAnimation on a skeleton, by their indices.
struct Fit {
    clip: usize,
    skeleton: usize,
    rank: Rank,
    /// What it moves by the skeleton's paths, if its own are others.
    by_name: Option<(SkelAnimation, Warning)>,
}

impl Fit {
    fn new(
        (c, clip, animation): (usize, &StageClip, &SkelAnimation),
        (t, target): (usize, &Target<'_>),
    ) -> Option<Self> {
        let count = |own: &[String], theirs: &[String]| {
            own.iter().filter(|token| theirs.contains(token)).count()
        };
        let joints = target.joints();
        let (own, mut by_name) = (&animation.joints, None);
        let (known, of) = match own.is_empty() {
            true => {
                let shapes = &animation.blend_shapes;
                (count(shapes, &target.shapes), shapes.len())
            }
            false => {
                by_name = renamed(animation, target.placed.instance.skeleton());
                let known = by_name.as_ref().map_or(own, |(renamed, _)| &renamed.joints);
                (count(known, joints), own.len())
            }
        };
        let rank = Rank {
            is_made_for: clip.made_for.contains(&target.placed.path),
            by_path: by_name.is_none(),
            is_whole: known == of,
            known,
        };
        (known > 0).then_some(Self {
            clip: c,
            skeleton: t,
            rank,
            by_name,
        })
    }

    fn takes_all(&self) -> bool {
        self.rank.is_whole && self.rank.by_path
    }
}

/// The SkelAnimation of a clip for each skeleton that it fits.
///
/// # Errors
/// None fits, or several fit one skeleton equally well.
pub(super) fn matched(
    request: &ClipRequest,
    clips: &[(StageClip, SkelAnimation)],
    targets: &[Target<'_>],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<Found>> {
    let mut fits = Vec::new();
    for (c, (clip, animation)) in clips.iter().enumerate() {
        let is_for = |target: &Target<'_>| clip.made_for.contains(&target.placed.path);
        let made_for_one = targets.iter().any(is_for);
        let meant = targets.iter().enumerate();
        let meant = meant.filter(|(_, target)| !made_for_one || is_for(target));
        fits.extend(meant.filter_map(|target| Fit::new((c, clip, animation), target)));
    }
    // A skeleton that takes a part is not meant if another one takes the whole.
    let whole = fits.iter().filter(|f| f.takes_all()).map(|f| f.clip);
    let whole: HashSet<usize> = whole.collect();
    fits.retain(|f| f.takes_all() || !whole.contains(&f.clip));
    let mut out = Vec::new();
    for (t, target) in targets.iter().enumerate() {
        let own = fits.iter().filter(|f| f.skeleton == t);
        let best = own.clone().map(|f| f.rank).max();
        let best: Vec<&Fit> = own.filter(|f| Some(f.rank) == best).collect();
        match best[..] {
            [] => {}
            [fit] => out.push(found(request, fit, &clips[fit.clip], target, warnings)),
            [first, ..] => {
                let path = |fit: &Fit| clips[fit.clip].0.path.as_str();
                let paths: Vec<&str> = best.iter().map(|fit| path(fit)).collect();
                return request.refuse(format!(
                    "several clips fit the skeleton {}; choose one by its path, as in {}#{}: {}",
                    target.placed.path,
                    request.file.display(),
                    path(first),
                    paths.join(", ")
                ));
            }
        }
    }
    if out.is_empty() {
        let moved = clips
            .iter()
            .flat_map(|(_, a)| a.joints.iter().chain(&a.blend_shapes));
        let moved: Vec<&String> = moved.collect();
        let targets: Vec<&str> = targets.iter().map(|t| t.placed.path.as_str()).collect();
        return request.refuse(format!(
            "this clip moves {}, which the skeletons of the character lack: {}; `sinew retarget --animation-only` makes a clip for them",
            first_few(&moved, MOST_NAMES),
            first_few(&targets, MOST_NAMES)
        ));
    }
    Ok(out)
}

/// A SkelAnimation on the skeleton that it fits best, with a warning of what is not as it was made.
fn found(
    request: &ClipRequest,
    fit: &Fit,
    (clip, animation): &(StageClip, SkelAnimation),
    target: &Target<'_>,
    warnings: &mut Vec<Warning>,
) -> Found {
    let joints = target.joints();
    let missing = animation.joints.iter().filter(|j| !joints.contains(j));
    let missing: Vec<&String> = missing.collect();
    if let Some((_, warning)) = &fit.by_name {
        warnings.push(warning.clone());
    } else if !missing.is_empty() {
        let message = format!(
            "{} does not have {} of the {} joints that this clip moves: {}",
            target.placed.path,
            missing.len(),
            animation.joints.len(),
            first_few(&missing, MOST_NAMES)
        );
        warnings.push(Warning::new("clip-joints", &clip.path, message));
    }
    let by_name = fit.by_name.as_ref().map(|(renamed, _)| renamed);
    // What `retarget --animation-only` names so is known by its file.
    let stem = request.file.file_stem().unwrap_or_default();
    Found {
        skeleton: fit.skeleton,
        name: match clip.name.as_str() {
            "Animation" => stem.to_string_lossy().into_owned(),
            name => name.to_owned(),
        },
        animation: by_name.unwrap_or(animation).clone(),
        is_renamed: by_name.is_some(),
    }
}

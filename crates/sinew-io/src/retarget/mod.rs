//! Moves the clip of one file to the character of another one.
//!
//! What a program does with the result is its own: `sinew retarget` writes it, a viewer plays it.
//!
//! ```
//! use sinew_io::retarget::{Request, Source, SourceRequest, Target, retarget};
//!
//! let walk = SourceRequest::new("../../examples/assets/walk.bvh");
//! let source = Source::open(&walk)?;
//! let mut target = Target::open("../../examples/assets/puppet.glb", None, &source)?;
//! let moved = retarget(&source, &target, &Request::default())?;
//! assert!(moved.matching.map.pairs.len() > 10);
//! let (skeleton, clip, times) = (&moved.skeleton, &moved.animation, &moved.time_line);
//! target.file.set_animation(skeleton, "Animation", clip, times)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod files;
mod selection;

use std::path::PathBuf;

use glam::{DMat4, DVec3};
use sinew::Warning;
use sinew::sampled::Time;
use sinew::scene::{Scene, TimeLine};
use sinew::skel::{SkelAnimation, SkeletonInstance};
use sinew_animate::asset::AssetFormat;
use sinew_animate::retarget::{
    ClipSource, LockedFeet, MatchChoice, Matching, RetargetOptions, Retargeter, Rig, SunkFeet,
    lock_feet, sample_times, sunk_feet,
};

use crate::rigs::{add_samples, bare_rig};
use crate::usd::{ReadOptions, UsdFile};
use crate::{Files, OpenOptions, humanoid, placement, rig, shape_names};
pub use error::{Error, Result, Side};
pub use files::{Source, Target};
pub use selection::is_target;

/// Which clip to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRequest {
    /// The file with the clip.
    pub file: PathBuf,
    /// The clip by its name ([`crate::ClipChoice::Named`]); `None` for the first clip that moves
    /// anything, or in a USD file the one that moves the skeleton.
    pub clip: Option<String>,
    /// The file with the skeleton that the clip was made for, if it is another one.
    pub model: Option<PathBuf>,
    /// Path of the skeleton, if there are several.
    pub skeleton: Option<String>,
    /// Where these files and that of the character are: on disk, if nothing else is said.
    pub files: Files,
}

impl SourceRequest {
    /// The first clip of a file.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            ..Self::default()
        }
    }

    /// How these files are opened.
    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            files: self.files.clone(),
            ..OpenOptions::default()
        }
    }
}

/// How to retarget.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// How joints are matched.
    pub matches: MatchChoice,
    /// Options of the retargeter.
    pub options: RetargetOptions,
    /// The up axis of the clip's world. `None` for the one that its file declares, or for BVH, whose
    /// files declare none, the most likely one.
    pub up: Option<DVec3>,
    /// Whether feet stay in place while those of the source stand.
    pub lock_feet: bool,
    /// How the scenes are read.
    pub read: ReadOptions,
}

/// A clip that was moved to a character, and how.
#[derive(Debug)]
#[non_exhaustive]
pub struct Retargeted {
    /// The clip for the target's skeleton. It animates all joints.
    pub animation: SkelAnimation,
    /// Time codes of the clip.
    pub time_line: TimeLine,
    /// Path of the clip in the source's stage.
    pub clip: String,
    /// Path of the target's skeleton.
    pub skeleton: String,
    /// Number of samples; 1 if the clip does not move.
    pub samples: usize,
    /// Which joint follows which.
    pub matching: Matching,
    /// The rig of the source.
    pub source: Rig,
    /// The rig of the target.
    pub target: Rig,
    /// How poses were moved.
    pub retargeter: Retargeter,
    /// What locking the feet did.
    pub feet: Option<LockedFeet>,
    /// What was dropped, guessed or changed.
    pub warnings: Vec<Warning>,
    /// The warning that all other animation in the target's layer changes its speed if the clip is
    /// written into it.
    pub rate_change: Option<Warning>,
}

/// Moves the clip of `source` to the character of `target`.
///
/// # Errors
/// An [`enum@Error`]: no skeleton or no clip is what was asked for, or several are; the joints
/// cannot be matched; values cannot be decoded.
pub fn retarget(source: &Source, target: &Target, request: &Request) -> Result<Retargeted> {
    let mut warnings = target.warnings.clone();
    let options = &request.options;
    let (source_file, target_file) = (&source.file, &target.file);
    let source_scene = source.skeletons().scene(request.read)?;
    let time_line = match &source.model {
        Some(_) => source_file.time_line(),
        None => source_scene.time_line,
    };
    let target_scene = target_file.scene(request.read)?;
    let (placed, clip) = selection::source(source, &source_scene, &mut warnings)?;
    let to = selection::target(target, &target_scene)?;
    let mut source_rig = bare_rig(&source_scene, placed)?;
    let target_rig = rig(&target_scene, to)?;
    let given = [
        humanoid(source.skeletons(), placed, &source_rig),
        humanoid(target_file, to, &target_rig),
    ];
    let matching = Matching::find(&source_rig, &target_rig, given, &request.matches)?;
    let instance = SkeletonInstance::new(placed.instance.skeleton().clone(), Some(clip.clone()));
    // The transforms of another file are not the clip's.
    let moves = match &source.model {
        Some(_) => Vec::new(),
        None => scene_times(&source_scene, placed.prim),
    };
    let target_moves = scene_times(&target_scene, to.prim);
    let keys: Vec<f64> = clip.joint_times().chain(moves.iter().copied()).collect();
    let range = bounds(&keys);
    let within = |t: &f64| range.is_some_and(|(first, last)| (first..=last).contains(t));
    let inside = target_moves.iter().copied().filter(within);
    let keys = keys.iter().copied().chain(inside);
    let step = time_line.time_codes_per_second / time_line.frames_per_second;
    let times = sample_times(keys, step);
    let world = |time: Time| placement(&source_scene, placed, time).world_from_skel;
    let target_world = |time: Time| placement(&target_scene, to, time).world_from_skel;
    let placed_still = source_rig.placement().world_from_skel;
    let sampled_world = |time: Time| match moves.is_empty() {
        true => placed_still,
        false => world(time),
    };
    add_samples(&mut source_rig, &instance, &times, &sampled_world);
    let origin = source.skeletons().origin();
    let is_bvh = origin.is_some_and(|o| o.format == AssetFormat::Bvh);
    match (request.up, &matching.source) {
        (Some(up), _) => source_rig.set_up(up),
        // Of these formats BVH alone declares no up axis.
        (None, Some(bones)) if is_bvh => source_rig.find_up(bones),
        (None, _) => {}
    }
    let mut retargeter = Retargeter::new(&source_rig, &target_rig, &matching.map, options)?;
    let from = ClipSource {
        instance: &instance,
        world_from_skel: (!moves.is_empty()).then_some(&world as _),
        world_from_target: (!target_moves.is_empty()).then_some(&target_world as _),
    };
    let channels = shape_names(&target_scene, to);
    let mut animation = retargeter
        .retarget_clip(&from, &target_rig, &times, &channels)
        .map_err(|e| e.in_file(&source.request.file))?;
    let feet = match request.lock_feet {
        true => Some(lock_feet(
            &mut animation,
            &retargeter,
            &from,
            (&source_rig, &target_rig),
            &matching.map,
            time_line.time_codes_per_second,
        )?),
        false => None,
    };
    let rigs = (&source_rig, &target_rig);
    let sunk = sunk_feet(&animation, &retargeter, &from, rigs, &matching.map)?;

    target.add_expressions(&to.path, &mut animation, time_line.time_codes_per_second);
    let weight_times = animation.blend_shape_weights.times();
    let all: Vec<f64> = times.iter().copied().chain(weight_times).collect();
    let time_line = TimeLine {
        range: bounds(&all),
        ..time_line
    };
    let origins = [source_file, target_file].map(|f| f.origin());
    let converted = origins.iter().flatten().flat_map(|o| &o.warnings);
    warnings.extend(converted.cloned());
    if moves.is_empty() && is_still(&instance, &times) {
        let message = "no joint moves in this clip: it keeps the target in one pose";
        warnings.push(Warning::new("retarget-still", &clip.path, message));
    }
    warnings.extend(swapped((source_file, target), &target_scene, request)?);
    let moved = moved_joints(&instance, &times);
    warnings.extend(matching.warnings(&source_rig, &target_rig, |joint| moved[joint]));
    warnings.extend(retargeter.warnings().iter().cloned());
    let unlocked = feet.as_ref();
    warnings.extend(unlocked.and_then(|feet| unlocked_feet(feet, &source_rig, &target_rig)));
    warnings.extend(sunk_below_ground(sunk, &target_rig, request));
    warnings.extend(missing_channels(&clip, &animation, &target_rig));
    Ok(Retargeted {
        rate_change: rate_change(&target_scene, &to.path, &time_line),
        animation,
        time_line,
        clip: clip.path.clone(),
        skeleton: to.path.clone(),
        samples: times.len().max(1),
        matching,
        source: source_rig,
        target: target_rig,
        retargeter,
        feet,
        warnings,
    })
}

/// The first and the last time.
fn bounds(times: &[f64]) -> Option<(f64, f64)> {
    let first = times.iter().copied().min_by(f64::total_cmp)?;
    Some((first, times.iter().copied().max_by(f64::total_cmp)?))
}

/// Times at which the world transform of a prim changes; empty if it never does.
fn scene_times(scene: &Scene, prim: usize) -> Vec<f64> {
    let times = scene.transform_times(prim);
    let mut distinct = times.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    match distinct.len() {
        0 | 1 => Vec::new(),
        _ => distinct,
    }
}

/// The warning that the two files may be swapped: the target has a clip and nothing to skin, and the source has a mesh.
fn swapped(
    (source, target): (&UsdFile, &Target),
    scene: &Scene,
    request: &Request,
) -> Result<Option<Warning>> {
    let has_clip = target.had_clips || !target.file.animations()?.is_empty();
    let may_be = scene.bindings.is_empty() && has_clip;
    if !may_be || source.scene(request.read)?.bindings.is_empty() {
        return Ok(None);
    }
    let message = format!(
        "has a clip and no skinned mesh, and {} has one: the two files may be swapped",
        source.file().display()
    );
    let file = target.path.display().to_string();
    Ok(Some(Warning::new("retarget-swapped", file, message)))
}

/// Whether all joints of the source have the same pose at all times: their rest pose, if there is only one time.
fn is_still(source: &SkeletonInstance, times: &[f64]) -> bool {
    let pose = |time: &f64| source.joint_local_transforms(Time::At(*time)).ok();
    let mut poses = times.iter().filter_map(pose);
    let first = match (times.len(), source.skeleton().rest()) {
        (0 | 1, None) => return false,
        (0 | 1, Some(rest)) => Some(rest.to_vec()),
        _ => poses.next(),
    };
    let is_first = |pose: Vec<DMat4>| {
        let mut pairs = first.iter().flatten().zip(&pose);
        pairs.all(|(first, now)| is_near(now, first))
    };
    poses.all(is_first)
}

/// Whether two transforms of a joint cannot be told apart.
fn is_near(a: &DMat4, b: &DMat4) -> bool {
    const STILL: f64 = 1e-5;
    a.abs_diff_eq(*b, STILL * b.w_axis.truncate().length().max(1.0))
}

/// For each joint of the source, whether it leaves its rest transform at one of the times.
fn moved_joints(source: &SkeletonInstance, times: &[f64]) -> Vec<bool> {
    let mut moved = vec![false; source.skeleton().joints().len()];
    let Some(rest) = source.skeleton().rest() else {
        // Without a rest pose either the clip animates all joints, or the skeleton has no pose.
        return vec![true; moved.len()];
    };
    for time in times {
        let Ok(pose) = source.joint_local_transforms(Time::At(*time)) else {
            continue;
        };
        for ((moved, pose), rest) in moved.iter_mut().zip(&pose).zip(rest) {
            *moved |= !is_near(pose, rest);
        }
    }
    moved
}

/// The warning that there was nothing to lock, or that a leg is too short for it.
fn unlocked_feet(feet: &LockedFeet, source: &Rig, target: &Rig) -> Option<Warning> {
    /// Metres.
    const SHORT: f64 = 0.01;
    if feet.contacts == 0 {
        let message = "no foot stands still on the ground in this clip: no foot is locked";
        return Some(Warning::new(
            "retarget-no-contacts",
            source.label(),
            message,
        ));
    }
    if feet.skipped > 0 {
        let message = format!(
            "the feet stand {} where they would have to be moved by more than a quarter of the leg: they are not locked there",
            times(feet.skipped)
        );
        return Some(Warning::new(
            "retarget-feet-skipped",
            target.label(),
            message,
        ));
    }
    (feet.out_of_reach > SHORT).then(|| {
        let message = format!(
            "a leg is up to {:.1} cm too short to keep its foot in place: the foot slides there",
            feet.out_of_reach * 100.0
        );
        Warning::new("retarget-feet-reach", target.label(), message)
    })
}

/// The warning that feet get below the ground.
fn sunk_below_ground(sunk: SunkFeet, target: &Rig, request: &Request) -> Option<Warning> {
    /// A share of the hips' height: 2 cm for a grown-up.
    const DEEP: f64 = 0.02;
    /// Metres.
    const SEEN: f64 = 0.001;
    (sunk.depth > SEEN.max(DEEP * sunk.hip_height)).then(|| {
        let advice = match request.lock_feet || request.options.in_place {
            true => "",
            false => ": lock the feet to keep them on it",
        };
        let message = format!(
            "the feet get up to {:.1} cm below the ground, and those of the clip do not{advice}",
            sunk.depth * 100.0,
        );
        Warning::new("retarget-feet-sink", target.label(), message)
    })
}

/// The warning about channels of the clip that the target has no blend shapes for.
fn missing_channels(
    clip: &SkelAnimation,
    retargeted: &SkelAnimation,
    target: &Rig,
) -> Option<Warning> {
    let kept = &retargeted.blend_shapes;
    let lost: Vec<&str> = clip
        .blend_shapes
        .iter()
        .filter(|c| !kept.contains(c))
        .map(String::as_str)
        .collect();
    (!lost.is_empty()).then(|| {
        let message = format!(
            "left out the channels {}, because {} has no blend shapes of these names",
            lost.join(", "),
            target.label()
        );
        Warning::new("retarget-channels", &clip.path, message)
    })
}

/// The warning that other animation in the target's layer changes its speed, because the layer gets
/// the clip's time codes per second.
fn rate_change(scene: &Scene, skeleton: &str, time_line: &TimeLine) -> Option<Warning> {
    let was = scene.time_line.time_codes_per_second;
    let is = time_line.time_codes_per_second;
    if was == is {
        return None;
    }
    let others = scene.instances.iter().filter(|i| i.path != skeleton);
    let others = others.filter_map(|i| i.instance.animation());
    let animated = others.flat_map(|a| a.joint_times()).next().is_some()
        || scene.prims.iter().any(|p| p.xform.times().len() > 1);
    animated.then(|| {
        let message = format!(
            "time codes per second change from {was} to the clip's {is}, so all other animation in this layer changes its speed"
        );
        Warning::new("retarget-rate", scene.file.display().to_string(), message)
    })
}

fn times(count: usize) -> String {
    match count {
        1 => "1 time".to_owned(),
        n => format!("{n} times"),
    }
}

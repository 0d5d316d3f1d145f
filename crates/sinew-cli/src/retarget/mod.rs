//! `sinew retarget`.

mod files;
mod matching;
mod report;
mod selection;

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::exit::{Exit, PartialArgs};
use crate::extents;
use crate::host::{self, Step};
use clap::ValueEnum;
use sinew::Warning;
use sinew::sampled::Time;
use sinew::scene::{Scene, TimeLine};
use sinew::skel::{SkelAnimation, SkeletonInstance};
use sinew_animate::retarget::{
    ClipSource, LockedFeet, RetargetOptions, RetargetPose, Retargeter, lock_feet, sample_times,
};
use sinew_io::{humanoid, placement, rig, shape_names};

use crate::open::{AnimArgs, USD, check_extension};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, count, print_findings, print_result};
use matching::Matching;
use report::Report;

/// Move a clip from one character to another.
///
/// The other character may have other joints, names, axes, proportions and units.
///
/// Bones are recognised by the names of the joints and by their hierarchy, whichever tool made the
/// rig: case, separators and prefixes do not matter. VRM and EXT_skeleton_humanoid files name their
/// human bones themselves. Two rigs with the same joint names match without this knowledge.
/// --verbose lists which joint follows which, bone by bone, and which follow none. If a main bone of
/// one side, such as a leg, may be there on the other side under an unknown name, the rest is
/// retargeted, a map to edit is printed, and the exit code is 3.
///
/// Rotations are measured from poses in which both characters stand alike (--pose), joints without a
/// partner stay at rest, and the hips move in proportion to their height above the ground.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File with the clip and the skeleton that it was made for: USD, glTF, VRM, VRM Animation, BVH
    /// or FBX. A clip for any humanoid (EXT_skeleton_humanoid) needs no skeleton.
    #[arg(value_name = "CLIP")]
    source: PathBuf,
    /// File with the character to move, of any of these formats.
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    /// File to write: TARGET with the clip bound to its Skeleton. Its extension chooses the format.
    #[arg(short, long, value_name = "OUT.{usda,usdc,usdz}")]
    output: PathBuf,
    /// Pairs of joints as JSON: {"source joint": "target joint", ...}. A joint is named by the last
    /// part of its path, or by its whole path if the last part is not unique. Only these pairs
    /// follow. The word guess takes the best guess at rigs that are not recognised.
    #[arg(long, value_name = "MAP.json|guess")]
    map: Option<PathBuf>,
    /// Write the pairs of joints to FILE as a MAP.json. Pairs that are not sure are at its end.
    #[arg(long, value_name = "FILE")]
    write_map: Option<PathBuf>,
    /// Clip to take: its name, or the last words of its name or a glob, if only one clip fits; in a
    /// USD file also the path of a SkelAnimation. Without this: the first clip, or in a USD file the
    /// one that moves the skeleton.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// File with the skeleton that the clip was made for, if CLIP has none, or one without its bind
    /// pose. Its joints are found by their paths, or else by their last names.
    #[arg(long, value_name = "FILE")]
    source_model: Option<PathBuf>,
    /// Remove the horizontal motion of the root.
    #[arg(long)]
    in_place: bool,
    /// Move the root as far as in CLIP, in metres, instead of in proportion to the hips' heights.
    #[arg(long)]
    no_scale: bool,
    /// Joint of CLIP whose translation moves the target. Without this: the hips, and the joints
    /// above them that have a partner. If NAME is above the hips, the hips move too, and the target
    /// may call its root otherwise.
    #[arg(long, value_name = "NAME")]
    root_bone: Option<String>,
    /// Pose from which rotations are measured.
    #[arg(long, value_enum, default_value_t = PoseArg::Auto)]
    pose: PoseArg,
    /// Open the arms by this angle in degrees; a negative one closes them.
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    arm_space: f64,
    /// Keep feet in place while those of CLIP stand: the legs are bent and the hips lowered so that
    /// the feet of a character with other proportions do not slide.
    #[arg(long, conflicts_with = "in_place")]
    lock_feet: bool,
    /// Write only the SkelAnimation, so that TARGET's Skeleton can reference it.
    #[arg(long)]
    animation_only: bool,
    /// Skeleton of CLIP, or of --source-model, if there are several.
    #[arg(long, value_name = "PATH")]
    source_skeleton: Option<String>,
    /// Skeleton of TARGET, if there are several.
    #[arg(long, value_name = "PATH")]
    target_skeleton: Option<String>,
    #[command(flatten)]
    partial: PartialArgs,
    #[command(flatten)]
    anim: AnimArgs,
    /// Print one JSON object; its `map` is a MAP.json.
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Examples:
  sinew retarget walk.usdc hero.usda -o hero_walk.usda
  sinew retarget walk.usdc hero.usda -o walk_for_hero.usda --animation-only --in-place
  sinew retarget dances.glb avatar.vrm -o avatar_dance.usdz --clip Waltz
  sinew retarget walk_only.usda hero.usda -o hero_walk.usda --source-model walker.usda
  sinew retarget walk.bvh dwarf.vrm -o dwarf_walk.usda --lock-feet
  sinew retarget walk.bvh hero.usda -o hero_walk.usda --write-map map.json --verbose
  sinew retarget walk.usdc dragon.usda -o flight.usda --map map.json --pose align";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PoseArg {
    /// The bind pose or the rest pose of each side, whichever fits better; then the target's limbs
    /// are turned to point as the source's do, so that an A-pose and a T-pose meet.
    Auto,
    /// The bind poses.
    Bind,
    /// The rest poses.
    Rest,
    /// The bind poses, with all limbs turned, also those of figures that are not human.
    Align,
}

impl From<PoseArg> for RetargetPose {
    fn from(arg: PoseArg) -> Self {
        match arg {
            PoseArg::Auto => Self::Auto,
            PoseArg::Bind => Self::Bind,
            PoseArg::Rest => Self::Rest,
            PoseArg::Align => Self::Align,
        }
    }
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    check_extension(&args.output, &USD)?;
    let mut options = RetargetOptions::default();
    options.pose = args.pose.into();
    options.in_place = args.in_place;
    options.no_scale = args.no_scale;
    options.root_bone = args.root_bone.clone();
    options.arm_space = args.arm_space;
    let mut warnings = Vec::new();
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", args.source.display()));
    let clip_file = files::source(args)?;
    host::go_on(Step::Part)?;
    progress.doing(&format!("reading {}", args.target.display()));
    let mut character = files::target(args, &clip_file, &mut warnings)?;
    host::go_on(Step::Part)?;
    let (source_file, target_file) = (&clip_file.file, &character.file);
    target_file.check_output(&args.output)?;
    source_file.check_output(&args.output)?;
    let skeleton_file = clip_file.skeletons();
    skeleton_file.check_output(&args.output)?;
    let source_scene = skeleton_file.scene(args.anim.read())?;
    let time_line = match &clip_file.model {
        Some(_) => source_file.time_line(),
        None => source_scene.time_line,
    };
    let target_scene = target_file.scene(args.anim.read())?;
    let (placed, clip) = selection::source(args, &clip_file, &source_scene, &mut warnings)?;
    let target = selection::target(args, &target_scene)?;
    let source_rig = rig(&source_scene, placed)?;
    let target_rig = rig(&target_scene, target)?;
    let given = [
        humanoid(skeleton_file, placed, &source_rig),
        humanoid(target_file, target, &target_rig),
    ];
    // A clip on human bones without a body, such as a VRM Animation, is relative to the reference
    // pose of its format, whatever the bones look like.
    let has_body = source_scene
        .bindings
        .iter()
        .any(|b| source_scene.instances[b.instance].path == placed.path);
    if args.pose == PoseArg::Auto && !has_body && given.iter().all(Option::is_some) {
        options.pose = RetargetPose::Bind;
    }
    let maps = (args.map.as_deref(), args.write_map.as_deref());
    let matching = Matching::find(&source_rig, &target_rig, given, maps.0, maps.1)?;
    let mut retargeter = Retargeter::new(&source_rig, &target_rig, &matching.map, &options)?;

    let instance = SkeletonInstance::new(placed.instance.skeleton().clone(), Some(clip.clone()));
    // The transforms of another file are not the clip's.
    let moves = match &clip_file.model {
        Some(_) => Vec::new(),
        None => scene_times(&source_scene, placed.prim),
    };
    let target_moves = scene_times(&target_scene, target.prim);
    let keys: Vec<f64> = clip.joint_times().chain(moves.iter().copied()).collect();
    let bounds = bounds(&keys);
    let within = |t: &f64| bounds.is_some_and(|(first, last)| (first..=last).contains(t));
    let inside = target_moves.iter().copied().filter(within);
    let keys = keys.iter().copied().chain(inside);
    let rate = &time_line;
    let step = rate.time_codes_per_second / rate.frames_per_second;
    let times = sample_times(keys, step);
    let world = |time: Time| placement(&source_scene, placed, time).world_from_skel;
    let target_world = |time: Time| placement(&target_scene, target, time).world_from_skel;
    let source = ClipSource {
        instance: &instance,
        world_from_skel: (!moves.is_empty()).then_some(&world as _),
        world_from_target: (!target_moves.is_empty()).then_some(&target_world as _),
    };
    host::go_on(Step::Part)?;
    progress.doing("retargeting");
    let channels = shape_names(&target_scene, target);
    let mut retargeted = retargeter
        .retarget_clip(&source, &target_rig, &times, &channels)
        .map_err(|e| e.in_file(&args.source))?;
    let feet = match args.lock_feet {
        true => Some(lock_feet(
            &mut retargeted,
            &source,
            (&source_rig, &target_rig),
            &matching.map,
            rate.time_codes_per_second,
        )?),
        false => None,
    };

    character.add_expressions(&target.path, &mut retargeted, rate.time_codes_per_second);
    let weight_times = retargeted.blend_shape_weights.times();
    let all: Vec<f64> = times.iter().copied().chain(weight_times).collect();
    let time_line = TimeLine {
        range: self::bounds(&all),
        ..*rate
    };
    let origins = [source_file, target_file].map(|f| f.origin());
    let converted = origins.iter().flatten().flat_map(|o| &o.warnings);
    warnings.extend(converted.cloned());
    let moved = moved_joints(&instance, &times);
    warnings.extend(matching.warnings(&source_rig, &target_rig, |joint| moved[joint]));
    warnings.extend(retargeter.warnings().iter().cloned());
    warnings.extend(feet.and_then(|feet| unlocked_feet(&feet, &source_rig, &target_rig)));
    warnings.extend(missing_channels(&clip, &retargeted, &target_rig));
    warnings.extend(rate_change(
        &target_scene,
        target.path.as_str(),
        &time_line,
        args,
    ));
    let report = Report::new(
        &matching,
        (&source_rig, &target_rig),
        &clip,
        &time_line,
        &times,
        &retargeter,
        feet,
    );
    let target_path = target.path.clone();
    drop(target_scene);
    host::go_on(Step::Part)?;
    progress.doing(&format!("writing {}", args.output.display()));
    let target_file = &mut character.file;
    if args.animation_only {
        let written =
            target_file.write_animation(&args.output, "Animation", &retargeted, &time_line)?;
        warnings.extend(written);
    } else {
        target_file.set_animation(&target_path, "Animation", &retargeted, &time_line)?;
        let moved = target_file.scene(args.anim.read())?;
        extents::author(target_file, &moved, Some(&target_path))?;
        host::go_on(Step::Part)?;
        warnings.extend(target_file.write(&args.output)?);
    }
    if let Some(file) = &args.write_map {
        matching::write(&matching.map_to_edit(), file)?;
    }
    let exit = args.partial.exit(!matching.unsure.is_empty());
    drop(progress);
    print_findings(&[], &warnings, verbosity);
    let sizes = Sizes::of(&args.target, &[&args.output]);
    match (args.json, verbosity) {
        (true, _) => print_result(&report.json(&args.output, exit, &warnings, sizes)?)?,
        (false, Verbosity::Quiet) => {}
        (false, _) => print_result(&report.text(&args.output, &sizes, verbosity))?,
    }
    Ok(exit)
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

/// For each joint of the source, whether it leaves its rest transform at one of the times.
fn moved_joints(source: &SkeletonInstance, times: &[f64]) -> Vec<bool> {
    const STILL: f64 = 1e-5;
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
            let size = rest.w_axis.truncate().length().max(1.0);
            *moved |= !pose.abs_diff_eq(*rest, STILL * size);
        }
    }
    moved
}

/// The warning that there was nothing to lock, or that a leg is too short for it.
fn unlocked_feet(
    feet: &LockedFeet,
    source: &sinew_animate::retarget::Rig,
    target: &sinew_animate::retarget::Rig,
) -> Option<Warning> {
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
            count(feet.skipped, "time")
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

/// The warning about channels of the clip that the target has no blend shapes for.
fn missing_channels(
    clip: &SkelAnimation,
    retargeted: &SkelAnimation,
    target: &sinew_animate::retarget::Rig,
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
fn rate_change(
    scene: &Scene,
    skeleton: &str,
    time_line: &TimeLine,
    args: &Args,
) -> Option<Warning> {
    let was = scene.time_line.time_codes_per_second;
    let is = time_line.time_codes_per_second;
    if was == is || args.animation_only {
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

/// An error about a request that a file does not allow.
fn refuse<T>(file: &std::path::Path, reason: &str) -> Result<T> {
    Err(Error::Message(format!("{}: {reason}", file.display())))
}

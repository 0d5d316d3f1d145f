//! `sinew retarget`.

mod report;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::exit::{Exit, PartialArgs};
use crate::finding::{self, Finding};
use crate::host::{self, Step};
use clap::ValueEnum;
use glam::DVec3;
use sinew::Warning;
use sinew_animate::Error as AnimateError;
use sinew_animate::retarget::{
    BoneMap, GroundChoice, MatchChoice, NoMatch, RetargetOptions, RetargetPose, ScaleChoice,
};
use sinew_io::gltf::{GltfOptions, choose_clips, write_asset};
use sinew_io::output;
use sinew_io::retarget::{
    Error as RetargetError, Request, Retargeted, Side, Source, SourceRequest, Target, retarget,
};

use sinew_io::ClipChoice;
use sinew_io::usd::AssetOptions;

use crate::open::{AnimArgs, USD, check_extension};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, print_failed, print_findings, print_result, result_json};

/// Move a clip from one character to another.
///
/// The other character may have other joints, names, axes, proportions and units.
///
/// Human bones are recognised by the names of the joints and by their hierarchy, whichever tool
/// made the skeleton. Upper and lower case, separators and prefixes do not matter. VRM and
/// EXT_skeleton_humanoid files name their human bones themselves. Two skeletons that have the same
/// joint names, human or not, are matched by these names. --verbose lists which joint of TARGET
/// follows which joint of CLIP.
///
/// If a main bone, such as a leg, is recognised in only one of CLIP and TARGET, and the other has
/// joints of unknown names in its place, then the rest is retargeted, a map to edit is printed, and
/// the exit code is 3 (0 with --allow-partial).
///
/// Both bodies are measured from joint to joint, on a pose in which they stand or on poses of the
/// clip (--pose). Joints of TARGET that follow no joint keep their rest transforms. The hips move
/// in proportion to the lengths of the legs, and the feet of TARGET stand where those of CLIP
/// stand.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File with the clip and the skeleton of the clip: USD, glTF, VRM, BVH or FBX. A clip on human
    /// bones (VRM Animation, EXT_skeleton_humanoid) needs no skeleton.
    #[arg(value_name = "CLIP")]
    source: PathBuf,
    /// File with the character that gets the clip: USD, glTF, VRM, BVH or FBX.
    #[arg(value_name = "TARGET")]
    target: PathBuf,
    /// File to write: TARGET, with the new clip bound to its Skeleton. The extension of OUT chooses
    /// the format. If OUT is a glTF file, it has no other clip.
    #[arg(short, long, value_name = "OUT.{usda,usdc,usdz,glb,gltf}")]
    output: PathBuf,
    /// Pairs of joints as JSON: {"joint of CLIP": "joint of TARGET", ...}. A joint is named by the
    /// last part of its path, or by its whole path if the last part is not unique. Only these pairs
    /// are retargeted. The word guess takes the best guess for unknown skeletons.
    #[arg(long, value_name = "MAP.json|guess")]
    map: Option<PathBuf>,
    /// Write the pairs of joints to FILE, in the form of MAP.json. Pairs that are only likely are
    /// at its end.
    #[arg(long, value_name = "FILE")]
    write_map: Option<PathBuf>,
    /// Clip to take: its name, or if only one clip matches, the last words of its name (Wave for
    /// Armature|Wave) or a glob; in a USD file also the prim path of a SkelAnimation. Without this:
    /// the first clip that moves anything, or in a USD file the one that is bound.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// File with the skeleton that the clip was made for, if CLIP has no skeleton, or one without
    /// its bind pose. The joints of the clip are found in it by their paths, or else by the last
    /// parts of their paths.
    #[arg(long, value_name = "FILE")]
    source_model: Option<PathBuf>,
    /// Remove the horizontal motion of the hips.
    #[arg(long)]
    in_place: bool,
    /// Factor for the motion of the hips: auto is the ratio of the legs' lengths, TARGET's to CLIP's;
    /// none moves the hips as far as in CLIP, in metres; a number is the factor itself.
    #[arg(long, value_name = "auto|none|FACTOR", default_value = "auto", value_parser = scale)]
    scale: ScaleChoice,
    /// Height of the ground in CLIP. keep is the origin. auto is the origin if CLIP has a bind or
    /// rest pose that stands on it and the feet do not go far below it, or if CLIP has no such pose
    /// and its lowest feet are near it; otherwise auto is where the feet stand. With --lock-feet the
    /// planted feet decide.
    #[arg(long, value_enum, default_value_t = GroundArg::Auto)]
    ground: GroundArg,
    /// Up axis of CLIP. auto is the axis that the file declares. A BVH file declares none, so auto
    /// takes the most likely axis.
    #[arg(
        long,
        value_name = "auto|X|Y|Z|-X|-Y|-Z",
        default_value = "auto",
        allow_hyphen_values = true,
        value_parser = up
    )]
    up: Up,
    /// Joint of CLIP whose translation moves TARGET. Without this: the hips, and the joints above
    /// the hips that have a partner. If NAME is above the hips and has no partner, its partner is
    /// TARGET's joint of the same name above the hips, or else the root joint above TARGET's hips.
    #[arg(long, value_name = "NAME")]
    root_bone: Option<String>,
    /// Poses on which the bodies are measured.
    #[arg(long, value_enum, default_value_t = PoseArg::Auto)]
    pose: PoseArg,
    /// Open the arms by this angle in degrees. A negative angle closes them.
    #[arg(
        long,
        value_name = "DEGREES",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    arm_space: f64,
    /// Keep each foot in place and on the ground while CLIP's foot is planted: knees bend, and the
    /// hips go up or down, as far as needed. Not with --in-place.
    #[arg(long, conflicts_with = "in_place")]
    lock_feet: bool,
    /// Write only the SkelAnimation, to be bound to TARGET's Skeleton by another file. USD only.
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
    /// Print one JSON object. Its value `map` has the form of MAP.json.
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "Examples:
  sinew retarget walk.usdc hero.usda -o hero_walk.usda
  sinew retarget walk.usdc hero.usda -o walk_for_hero.usda --animation-only --in-place
  sinew retarget dances.glb avatar.vrm -o avatar_dance.usdz --clip Waltz
  sinew retarget walk.bvh dwarf.vrm -o dwarf_walk.usda --lock-feet
  sinew retarget walk.usdc dragon.usda -o flight.usda --map map.json
  sinew retarget walk.usdc dragon.usda -o flight.usda --map map.json --pose bind
  sinew retarget walk.bvh hero.usda -o hero_walk.usda --write-map map.json --verbose
  sinew retarget walk_only.usda hero.usda -o hero_walk.usda --source-model walker.usda";

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PoseArg {
    /// For CLIP and for TARGET: the bind pose if the body stands in it, or else the rest pose if
    /// the body stands in it, or else up to 240 poses of the clip.
    Auto,
    /// The bind poses.
    Bind,
    /// The rest poses.
    Rest,
    /// For CLIP: up to 240 poses of the clip. For TARGET: as auto.
    Clip,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GroundArg {
    /// The origin, or where the feet stand.
    Auto,
    /// The origin.
    Keep,
}

/// An up axis that was asked for.
#[derive(Clone, Copy)]
struct Up(Option<DVec3>);

fn up(text: &str) -> std::result::Result<Up, String> {
    Ok(Up(Some(match text {
        "auto" => return Ok(Up(None)),
        "X" => DVec3::X,
        "Y" => DVec3::Y,
        "Z" => DVec3::Z,
        "-X" => DVec3::NEG_X,
        "-Y" => DVec3::NEG_Y,
        "-Z" => DVec3::NEG_Z,
        _ => return Err("expected auto, X, Y, Z, -X, -Y or -Z".to_owned()),
    })))
}

fn scale(text: &str) -> std::result::Result<ScaleChoice, String> {
    match (text, text.parse::<f64>()) {
        ("auto", _) => Ok(ScaleChoice::Auto),
        ("none", _) => Ok(ScaleChoice::Factor(1.0)),
        (_, Ok(factor)) if factor.is_finite() && factor > 0.0 => Ok(ScaleChoice::Factor(factor)),
        _ => Err("expected auto, none or a number above 0".to_owned()),
    }
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let is_gltf = GLTF.contains(&sinew_io::extension(&args.output).as_str());
    match args.animation_only {
        true => check_extension(&args.output, &USD)?,
        false => check_extension(&args.output, &[&USD[..], &GLTF].concat())?,
    }
    let mut options = RetargetOptions::default();
    options.pose = match args.pose {
        PoseArg::Auto => RetargetPose::Auto,
        PoseArg::Bind => RetargetPose::Bind,
        PoseArg::Rest => RetargetPose::Rest,
        PoseArg::Clip => RetargetPose::Clip,
    };
    options.ground = match args.ground {
        GroundArg::Auto => GroundChoice::Auto,
        GroundArg::Keep => GroundChoice::Keep,
    };
    options.scale = args.scale;
    options.in_place = args.in_place;
    options.root_bone = args.root_bone.clone();
    options.arm_space = args.arm_space;
    let matches = match &args.map {
        None => MatchChoice::Auto,
        Some(map) if map == Path::new(GUESS) => MatchChoice::Guess,
        Some(file) => {
            let text = sinew_io::read_text(file)?;
            MatchChoice::Map(BoneMap::from_json(&text, &file.display().to_string())?)
        }
    };
    let request = Request {
        matches,
        options,
        up: args.up.0,
        lock_feet: args.lock_feet,
        read: args.anim.read(),
    };
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", args.source.display()));
    let explained = |error: RetargetError| explained(error, args);
    let source = Source::open(&SourceRequest {
        file: args.source.clone(),
        clip: args.clip.clone(),
        model: args.source_model.clone(),
        skeleton: args.source_skeleton.clone(),
        ..SourceRequest::default()
    });
    let source = source.map_err(explained)?;
    host::go_on(Step::Part)?;
    progress.doing(&format!("reading {}", args.target.display()));
    let skeleton = args.target_skeleton.as_deref();
    let mut target = Target::open(&args.target, skeleton, &source).map_err(explained)?;
    host::go_on(Step::Part)?;
    check_outputs(args, &target, &source)?;
    progress.doing("retargeting");
    let moved = retarget(&source, &target, &request).map_err(explained)?;
    let mut warnings: Vec<Warning> = moved.warnings.iter().cloned().map(advised).collect();
    let in_layer = moved.rate_change.clone().filter(|_| !args.animation_only);
    warnings.extend(in_layer);
    host::go_on(Step::Part)?;
    progress.doing(&format!("writing {}", args.output.display()));
    let (animation, time_line) = (&moved.animation, &moved.time_line);
    let file = &mut target.file;
    let mut files = vec![args.output.clone()];
    let mut failed = source_left_out(args, &source, &moved)?;
    if args.animation_only {
        warnings.extend(file.write_animation(&args.output, "Animation", animation, time_line)?);
    } else {
        file.set_animation(&moved.skeleton, "Animation", animation, time_line)?;
        let scene = file.scene(args.anim.read())?;
        let left_out = sinew_check::left_out(Some(file), &scene, true)?;
        failed.extend(finding::of_left_out(
            &scene.unskinned,
            &left_out,
            Some(&args.target),
        ));
        host::go_on(Step::Part)?;
        if is_gltf {
            let asset = file.to_asset(&scene, &AssetOptions::default())?;
            let mut asset = choose_clips(asset, &ClipChoice::First)?;
            let name = moved.clip.rsplit('/').next().unwrap_or_default();
            asset
                .clips
                .iter_mut()
                .for_each(|clip| clip.name = name.to_owned());
            let written = write_asset(asset, &args.output, &GltfOptions::default())?;
            files = written.files;
            warnings.extend(written.warnings);
        } else {
            file.author_extents(&scene, Some(std::slice::from_ref(&moved.skeleton)))?;
            let written = file.write(&args.output)?;
            files = written.files;
            warnings.extend(written.warnings);
        }
    }
    if let Some(file) = &args.write_map {
        write_map(&moved.matching.map_to_edit(), file)?;
    }
    let is_partial = !moved.matching.unsure.is_empty() || !failed.is_empty();
    let exit = args.partial.exit(is_partial);
    drop(progress);
    print_findings(&[], &warnings, verbosity);
    print_failed(&failed);
    let sizes = Sizes::of("TARGET", &args.target, &files);
    match (args.json, verbosity) {
        (true, _) => {
            let report = report::json(&moved, &args.output, (&failed, &warnings), &sizes);
            print_result(&result_json("retarget", exit, &report)?)?;
        }
        (false, Verbosity::Quiet) => {}
        (false, _) => print_result(&report::text(&moved, &args.output, &sizes, verbosity))?,
    }
    Ok(exit)
}

/// What the clip lacks, because something of it or above it is left out.
fn source_left_out(args: &Args, source: &Source, moved: &Retargeted) -> Result<Vec<Finding>> {
    let scene = source.file.scene(args.anim.read())?;
    let mut left_out = sinew_check::left_out(Some(&source.file), &scene, false)?;
    let file = scene.file.display().to_string();
    let is_above = |path: &str| moved.clip == path || moved.clip.starts_with(&format!("{path}/"));
    left_out.retain(|f| f.path == file || is_above(&f.path));
    // By the names of its joints it moves a Skeleton that their paths do not reach.
    if moved.warnings.iter().any(|w| w.code == "joints-by-name") {
        left_out.retain(|f| f.code != "animation-joints-foreign");
    }
    Ok(finding::of_left_out(&[], &left_out, Some(&args.source)))
}

/// The extensions of glTF files that are written.
const GLTF: [&str; 2] = ["glb", "gltf"];

/// The value of `--map` that asks for the best guess at rigs that are not recognised.
const GUESS: &str = "guess";

/// Refuses outputs that are inputs, or one another.
fn check_outputs(args: &Args, target: &Target, source: &Source) -> Result<()> {
    let outputs = || args.write_map.iter().chain([&args.output]);
    for file in [&target.file, &source.file, source.skeletons()] {
        file.check_outputs(outputs())?;
    }
    output::check(outputs(), || &args.map)?;
    match &args.write_map {
        Some(map) if sinew_io::is_same_file(map, &args.output) => Err(Error::Usage(format!(
            "--write-map {}: OUT has this name too",
            map.display()
        ))),
        _ => Ok(()),
    }
}

/// Writes a map to a file.
fn write_map(map: &BoneMap, file: &Path) -> Result<()> {
    Ok(output::replace_text(file, &map.to_json())?)
}

/// A warning with the options that help.
fn advised(mut warning: Warning) -> Warning {
    warning.message += match warning.code {
        "retarget-incomplete" => {
            "; write a map with --write-map FILE, edit it and give it with --map"
        }
        "retarget-guess" => " (--verbose lists them)",
        "clip-taken" => ": choose with --clip",
        "retarget-swapped" => " (CLIP comes first, then TARGET)",
        _ => "",
    };
    warning
}

/// An error with the options that help.
fn explained(error: RetargetError, args: &Args) -> Error {
    let text = error.to_string();
    let advice = match error {
        RetargetError::NoClip { .. } if has_clip(&args.target) => {
            let (clip, target) = (args.target.display(), args.source.display());
            return Error::Message(format!(
                "{text}, but {clip} has one; the file with the clip comes first: sinew retarget {clip} {target}"
            ));
        }
        RetargetError::NoSkeleton { needs_model, .. } => match needs_model {
            true => "; name a file that has it with --source-model FILE",
            false => "",
        },
        RetargetError::SeveralSkeletons { file, side, paths } => {
            let option = match side {
                Side::Source => "--source-skeleton",
                Side::Target => "--target-skeleton",
            };
            let (file, paths) = (file.display(), paths.join(", "));
            return Error::Message(format!(
                "{file}: the file has several skeletons; choose one with {option}: {paths}"
            ));
        }
        RetargetError::NoBoundClip { clips, .. } if clips.is_empty() => "",
        RetargetError::NoBoundClip { was_asked, .. } => match was_asked {
            true => "; choose it by its path with --clip",
            false => "; choose one with --clip",
        },
        RetargetError::Io(error) => return (*error).into(),
        RetargetError::Invalid(error) => return (*error).into(),
        RetargetError::Animate(error) => return unmoved(*error, args),
        _ => "",
    };
    Error::Message(text + advice)
}

/// Whether a file opens, and has a clip.
fn has_clip(file: &Path) -> bool {
    let source = Source::open(&SourceRequest::new(file));
    source.is_ok_and(|source| source.has_clip().unwrap_or(false))
}

/// The error of rigs that cannot be matched, or of a clip that cannot be moved.
fn unmoved(error: AnimateError, args: &Args) -> Error {
    match error {
        AnimateError::NoMatch(no_match) => {
            Error::Message(unmatched(&no_match, args.write_map.as_deref()))
        }
        AnimateError::Invalid(mut invalid)
            if matches!(
                invalid.code,
                Some("retarget-anatomy" | "retarget-not-human")
            ) =>
        {
            invalid.expected +=
                " (if they are right as they are, name the pairs with --map MAP.json)";
            invalid.into()
        }
        error => error.into(),
    }
}

/// The text of rigs that cannot be matched. The best guess is in it, or is written to a file.
fn unmatched(no_match: &NoMatch, file: Option<&Path>) -> String {
    let NoMatch { reasons, guess, .. } = no_match;
    let how = "Write the pairs of joints to a file and give it with --map: {\"source joint\": \"target joint\", ...}.";
    let guess = match (guess.pairs.is_empty(), file) {
        (true, _) => "Neither the names nor the shapes of the rigs suggest a pair.".to_owned(),
        (false, None) => format!(
            "The best guess, to start from (--map guess takes it):\n{}",
            guess.to_json()
        ),
        (false, Some(file)) => match write_map(guess, file) {
            Ok(()) => format!("The best guess is in {}.", file.display()),
            Err(error) => error.to_string(),
        },
    };
    format!("{reasons}{how} {guess}")
}

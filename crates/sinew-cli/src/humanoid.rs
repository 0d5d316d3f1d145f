//! `sinew humanoid`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::finding;
use clap::ValueEnum;
use serde_json::json;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, AssetClip, unique_clip_name};
use sinew_animate::humanoid::{
    Applied, ApplyOptions, HumanoidReport, Mode, apply_to_all, expressions_to_weights,
};
use sinew_io::OpenOptions;
use sinew_io::gltf::{self, GltfEdit};
use sinew_io::usd::{UsdFile, find_asset_clip};

use crate::open::{USD, check_extension};
use crate::progress::Progress;
use crate::report::{
    Sizes, Verbosity, count, print_findings, print_message, print_result, result_json,
};

/// Apply a clip on human bones (EXT_skeleton_humanoid, .vrma) to a glTF or VRM model.
///
/// The model names its human bones by EXT_skeleton_humanoid, VRM 1.0 or VRM 0.x. Every clip can be
/// applied to every model. If the clip moves a bone that the model lacks, a warning says so.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// Model file: .gltf, .glb or .vrm.
    #[arg(value_name = "MODEL")]
    model: PathBuf,
    /// File with the clip: .gltf, .glb or .vrma. It may be MODEL itself.
    #[arg(value_name = "CLIP")]
    clip_file: PathBuf,
    /// File to write; its extension chooses the format. A glTF or VRM file is MODEL's own file with
    /// one more animation, which moves nodes. The data of this animation are in the BIN chunk of a
    /// .glb, or in a data URI of a .gltf. OUT cannot be MODEL or CLIP.
    #[arg(short, long, value_name = "OUT.{usda,usdc,usdz,gltf,glb,vrm}")]
    output: PathBuf,
    /// How the motion of an EXT_skeleton_humanoid clip, which is relative to the bind pose, is
    /// applied to bones that differ (see Modes).
    #[arg(long, value_enum, default_value_t = ModeArg::Literal)]
    mode: ModeArg,
    /// Scale the translations of an EXT_skeleton_humanoid clip by the ratio of the hips' heights.
    /// The hips of .vrma clips are always scaled.
    #[arg(long)]
    scale_translation: bool,
    /// Humanoid skeletons of MODEL to move: one by its number, from 0, or all that have a bone that
    /// the clip moves. A warning names the skeletons that `all` does not move.
    #[arg(long, value_name = "N|all", default_value = "all", value_parser = skeleton)]
    skeleton: Only,
    /// Clip to take: its name, or if only one clip matches, the last words of its name (Wave for
    /// Armature|Wave) or a glob. Without this: the first clip.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Modes:
  literal    drops the motion of a missing bone
  collapse   multiplies the rotation of a missing bone into the bones below it
  conjugate  compensates for bone axes that differ from those of the extension's reference pose
A .vrma clip is relative to the rest pose, and its missing bones always collapse. So every mode
gives the same result.

Examples:
  sinew humanoid hero.glb wave.glb -o hero_wave.usdc
  sinew humanoid avatar.vrm dance.vrma -o avatar_dance.glb
  sinew humanoid crowd.glb wave.gltf -o crowd_wave.usda --mode conjugate --scale-translation
  sinew humanoid crowd.glb wave.gltf -o one_waves.usda --skeleton 1
  sinew humanoid hero.glb wave.glb -o hero_wave.usdc --json | jq '.missing[].bone'";

/// The extensions of files that can have human bones.
pub const GLTF: [&str; 3] = ["gltf", "glb", "vrm"];

/// The number of the humanoid skeleton that moves; `None` if all do.
#[derive(Clone, Copy)]
struct Only(Option<usize>);

fn skeleton(text: &str) -> std::result::Result<Only, &'static str> {
    match (text, text.parse()) {
        ("all", _) => Ok(Only(None)),
        (_, Ok(number)) => Ok(Only(Some(number))),
        _ => Err("expected `all` or a number from 0"),
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeArg {
    Literal,
    Collapse,
    Conjugate,
}

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let (clip_file, output) = (args.clip_file.as_path(), args.output.as_path());
    let quiet = verbosity.is_quiet();
    check_extension(output, &[&USD[..], &GLTF].concat())?;
    let is_gltf = GLTF.contains(&sinew_io::extension(output).as_str());
    let mut progress = Progress::new(quiet);
    progress.doing(&format!("reading {}", args.model.display()));
    let mut model = read_gltf(&args.model, "humanoid")?;
    let mut source = read_gltf(clip_file, "humanoid")?;
    check_output(output, &[&model, &source], None)?;
    model.make_clip_names_unique();
    source.make_clip_names_unique();
    let clip = progress.aside(|| choose(&source, &model, args.clip.as_deref(), quiet))?;
    let mut options = ApplyOptions::default();
    options.mode = match args.mode {
        ModeArg::Literal => Mode::Literal,
        ModeArg::Collapse => Mode::Collapse,
        ModeArg::Conjugate => Mode::Conjugate,
    };
    options.scale_translation = args.scale_translation;
    let Only(only) = args.skeleton;
    let all = apply_to_all(&model, &source, &clip, &options, only).map_err(with_advice)?;
    let moved = all.moved.clone();
    let unmoved = all.unmoved.clone();
    let mut applied = all.into_applied();
    if is_gltf {
        let taken = model.clips.iter().map(|c| c.name.clone()).collect();
        applied.clip.name = unique_clip_name(&applied.clip.name, &taken);
    }
    let done = applied.report.clone();
    let name = applied.clip.name.clone();
    progress.doing(&format!("writing {}", output.display()));
    let (errors, warnings) = if is_gltf {
        as_gltf(&args.model, &model, &source, &applied, output)?
    } else {
        as_usd(applied, model, &source, output)?
    };
    drop(progress);
    print_findings(&errors, &warnings, verbosity);
    let sizes = Sizes::of("MODEL", &args.model, &[output]);
    let missing = moved.iter().flat_map(|(skeleton, report)| {
        let missing = report.missing.iter();
        missing.map(
            move |m| json!({ "skeleton": skeleton, "bone": m.bone, "folded_into": m.folded_into }),
        )
    });
    let skeletons = moved.iter().map(|(skeleton, report)| {
        json!({ "skeleton": skeleton, "bones": report.bones, "hips_scale": report.hips_scale })
    });
    let report = json!({
        "output": output.display().to_string(),
        "clip": name,
        "bones": done.bones,
        "missing": missing.collect::<Vec<_>>(),
        "skeletons": skeletons.collect::<Vec<_>>(),
        "unmoved": unmoved,
        "expressions": done.expressions,
        "hips_scale": done.hips_scale,
        "errors": finding::of_invalid(&errors, Some(&args.model)),
        "warnings": finding::of_warnings(&warnings, None),
        "input_bytes": sizes.input_bytes,
        "output_bytes": sizes.output_bytes,
    });
    match (args.json, quiet) {
        (true, _) => print_result(&result_json("humanoid", Exit::Done, &report)?)?,
        (false, true) => {}
        (false, false) => {
            let mut text = format!("{}\n  clip ", output.display());
            text += &match name.as_str() {
                "" => "(unnamed)".to_owned(),
                name => format!("\"{name}\""),
            };
            text += &summary(&done, &moved, &unmoved);
            print_result(&format!("{text}  {sizes}\n"))?;
        }
    }
    Ok(Exit::Done)
}

/// Errors and warnings about the files.
type Findings = (Vec<Invalid>, Vec<Warning>);

/// Writes the model's file with one more animation.
fn as_gltf(
    file: &Path,
    model: &Asset,
    source: &Asset,
    applied: &Applied,
    output: &Path,
) -> Result<Findings> {
    let mut edit = GltfEdit::open(file)?;
    edit.add_clip(model, &expressions_to_weights(model, &applied.clip))?;
    let unwritten = edit.save(output)?;
    let warnings = [
        &source.warnings,
        &model.warnings,
        &applied.report.warnings,
        &unwritten,
    ];
    Ok((
        Vec::new(),
        warnings.into_iter().flatten().cloned().collect(),
    ))
}

/// Writes the model with this clip as its only clip, in the way of `sinew convert`.
fn as_usd(applied: Applied, model: Asset, source: &Asset, output: &Path) -> Result<Findings> {
    let mut asset = applied.into_asset(model);
    let warnings = source.warnings.iter().chain(&asset.warnings);
    asset.warnings = warnings.cloned().collect();
    let mut file = UsdFile::from_asset(&asset, &OpenOptions::default())?;
    let scene = file.scene(Default::default())?;
    file.author_extents(&scene, None)?;
    file.save_as(output)?;
    Ok((scene.errors, scene.warnings))
}

/// The clip that a text names, or else the first.
fn choose(source: &Asset, model: &Asset, name: Option<&str>, quiet: bool) -> Result<AssetClip> {
    let file = source.file.display();
    if let Some(name) = name {
        return Ok(find_asset_clip(source, name)?);
    }
    let Some(first) = source.clips.first() else {
        let model_file = model.file.display();
        let advice = match model.clips.is_empty() {
            true => String::new(),
            false => format!(
                ", but {model_file} has one; the model comes first: sinew humanoid {file} {model_file}"
            ),
        };
        return Err(Error::Message(format!(
            "{file}: no clip in this file{advice}"
        )));
    };
    if source.clips.len() > 1 && !quiet {
        let names: Vec<String> = source
            .clips
            .iter()
            .map(|c| format!("\"{}\"", c.name))
            .collect();
        let names = names.join(", ");
        print_message(
            "note",
            format!("{file} has the clips {names}; taking the first (choose with --clip)"),
        );
    }
    Ok(first.clone())
}

/// What moves and what does not, as text behind the clip's name. Writing to a String cannot fail, so
/// its results are dropped.
fn summary(done: &HumanoidReport, moved: &[(usize, HumanoidReport)], unmoved: &[usize]) -> String {
    let mut out = format!(
        ": {}, {}\n",
        count(done.bones.len(), "bone"),
        count(done.expressions.len(), "expression")
    );
    let missing: Vec<_> = moved
        .iter()
        .flat_map(|(_, report)| &report.missing)
        .collect();
    if !missing.is_empty() {
        let folded = missing.iter().filter(|m| !m.folded_into.is_empty());
        let _ = writeln!(
            out,
            "  {} missing in the model, {} of them folded into others",
            count(missing.len(), "bone"),
            folded.count()
        );
    }
    let several = moved.len() + unmoved.len() > 1;
    for (number, report) in moved {
        if several {
            let bones = count(report.bones.len(), "bone");
            let _ = writeln!(out, "  humanoid skeleton {number}: {bones}");
        }
        if let Some(scale) = report.hips_scale {
            let _ = writeln!(out, "  translations scaled by {scale:.4}");
        }
    }
    for number in unmoved {
        let _ = writeln!(out, "  humanoid skeleton {number}: does not move");
    }
    out
}

/// The library's error, with advice about the options of this command, which the library does not
/// know.
pub fn with_advice(error: sinew_animate::Error) -> Error {
    use sinew_animate::Error as Animate;
    let advice = match &error {
        Animate::NoHumanoid { count: 0, .. } => "; add one with `sinew describe`",
        Animate::UnknownNames { .. } => "; give a map with --map MAP.json",
        Animate::NothingMoves {
            has_humanoid: false,
            ..
        } => "; `sinew retarget` may move it by joint names",
        _ => return error.into(),
    };
    Error::Message(format!("{error}{advice}"))
}

/// Reads a glTF file for a command; only glTF files have human bones and clips for them. The
/// extension may be any except those of other formats.
pub fn read_gltf(path: &Path, command: &str) -> Result<Asset> {
    match sinew_io::extension(path).as_str() {
        other @ ("usd" | "usda" | "usdc" | "usdz" | "bvh" | "fbx") => {
            let file = path.display();
            let advice = match command {
                "humanoid" => format!("; for a .{other} file use `sinew retarget`"),
                _ => format!("; make one of the .{other} file with `sinew convert`"),
            };
            Err(Error::Message(format!(
                "{file}: `sinew {command}` takes .gltf, .glb, .vrm and .vrma files{advice}"
            )))
        }
        _ => Ok(gltf::read(path)?),
    }
}

/// Refuses an output that is one of the files that these models are read from, or `map`.
pub fn check_output(output: &Path, models: &[&Asset], map: Option<&PathBuf>) -> Result<()> {
    let files = models
        .iter()
        .flat_map(|m| m.sources.iter().chain([&m.file]));
    Ok(sinew_io::output::check([output], || files.chain(map))?)
}

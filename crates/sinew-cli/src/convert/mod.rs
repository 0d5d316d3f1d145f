//! `sinew convert`.

mod gltf;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew_io::ClipChoice;
use sinew_io::usd::BakeEdits;

use crate::batch::{Batch, CHARACTERS, Done};
use crate::error::{Error, Result};
use crate::exit::{Exit, PartialArgs};
use crate::finding;
use crate::host::{self, Step};
use crate::open::{AnimArgs, ComposeArgs, USD, check_extension};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, count, listed, or_unnamed, print_failed, print_findings};

/// Convert glTF, VRM, BVH and FBX files to USD, any file to glTF, and USD files to another USD
/// form.
///
/// If OUT is USD, a character becomes Skeletons, one SkelAnimation per clip, meshes with blend
/// shapes, and materials as UsdPreviewSurface with their textures. If OUT is glTF, it has skins,
/// every clip, morph targets, materials, cameras and lights.
///
/// If IN and OUT are both USD, the layer of IN is written in the form of OUT (such as .usdc), and
/// keeps its references, sublayers and variants. --flatten writes the composed stage instead, as
/// one layer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File to convert: .gltf, .glb, .vrm, .vrma, .bvh, .fbx or USD. Several files, a folder or a
    /// glob are converted one after another into the folder OUT. If one fails, the others are still
    /// converted.
    #[arg(value_name = "IN", required = true)]
    inputs: Vec<PathBuf>,
    /// File to write; its extension chooses the format. A .usdz contains the textures; for other
    /// formats they are written to the folder OUT_textures. A .glb contains everything; a .gltf has
    /// OUT.bin and OUT_textures beside it.
    #[arg(short, long, value_name = "OUT.{usda,usdc,usdz,glb,gltf}|OUT/")]
    output: PathBuf,
    /// Extension of the files in the folder OUT. Without this: usdc.
    #[arg(long, value_name = "EXT")]
    to: Option<String>,
    /// Clip to convert: its name, or if only one clip matches, the last words of its name (Wave for
    /// Armature|Wave) or a glob. A+B are two clips that play together. Without this every clip is
    /// written, and the skeletons are bound to the first that moves anything. From a USD file all
    /// clips are written in any case, and this chooses the one that is bound.
    #[arg(long, value_name = "NAME")]
    clip: Option<String>,
    /// Write the composed stage as one layer, without references, sublayers and variants.
    #[arg(long)]
    flatten: bool,
    /// glTF: keep the N largest influences of a vertex, normalised. The report says by how much
    /// points then differ at the keys of all clips. Without this every influence is written.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    max_influences: Option<u16>,
    /// glTF: write meshes whose deformation glTF cannot hold as morph targets, one per frame.
    /// Without this they are skinned as closely as glTF can, with a warning that says how large the
    /// error is.
    #[arg(long)]
    bake: bool,
    #[command(flatten)]
    compose: ComposeArgs,
    #[command(flatten)]
    anim: AnimArgs,
    #[command(flatten)]
    partial: PartialArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "Examples:
  sinew convert hero.glb -o hero.usdz
  sinew convert avatar.vrm -o avatar.usda --clip Wave
  sinew convert walk.bvh -o walk.usda
  sinew convert mocap/*.bvh -o clips/
  sinew convert characters -o out/ --to glb
  sinew convert shot.usda -o shot.usdz
  sinew convert shot.usda -o flat.usdc --flatten
  sinew convert hero.usda -o hero.glb
  sinew convert hero.usda -o hero.gltf --max-influences 4
  sinew convert walk.fbx -o walk.glb --clip Walk
  sinew convert hero.glb -o hero.usdc --json | jq -r '.clips[].animation'";

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    let batch = Batch {
        command: "convert",
        inputs: &args.inputs,
        extensions: &CHARACTERS,
        output: Some(&args.output),
        to: args.to.as_deref(),
        open: args.compose.options(ClipChoice::First)?,
        json: args.json,
        partial: args.partial,
        verbosity,
    };
    batch.run(
        |_| args.to.clone().unwrap_or_else(|| "usdc".to_owned()),
        |input, output| convert_one(args, input, output.unwrap_or(&args.output), verbosity),
    )
}

fn convert_one(
    args: &Args,
    input: &Path,
    output: &Path,
    verbosity: Verbosity,
) -> Result<Done<Value>> {
    let choice = match &args.clip {
        Some(name) => ClipChoice::Named(name.clone()),
        None => ClipChoice::All,
    };
    check_extension(output, &[&USD[..], &["glb", "gltf"]].concat())?;
    if matches!(sinew_io::extension(output).as_str(), "glb" | "gltf") {
        if args.flatten {
            return Err(Error::Usage(
                "--flatten is for USD files: a glTF file has no layers".into(),
            ));
        }
        return gltf::convert(args, (input, output), &choice, verbosity);
    }
    if args.bake || args.max_influences.is_some() {
        let message = "--bake and --max-influences are for glTF: write to a .glb or .gltf";
        return Err(Error::Usage(message.into()));
    }
    let options = args.compose.options(choice)?;
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", input.display()));
    let mut file = sinew_io::open_with(input, &options).map_err(with_advice)?;
    host::go_on(Step::Part)?;
    let scene = file.scene(args.anim.read())?;
    let mut warnings = scene.warnings.clone();
    file.check_output(output)?;
    host::go_on(Step::Part)?;
    progress.doing(&format!("writing {}", output.display()));
    if file.is_made() {
        file.author_extents(&scene, None)?;
        host::go_on(Step::Part)?;
    }
    let written = match args.flatten && !file.is_made() {
        true => file.write_flattened(output, BakeEdits::default())?,
        false => file.save_as(output)?,
    };
    warnings.extend(written.warnings);
    drop(progress);
    let of = Some(input);
    let left_out = sinew_check::left_out(Some(&file), &scene, true)?;
    let failed = finding::of_left_out(&scene.unskinned, &left_out, of);
    let others = finding::other_warnings(&warnings, &failed);
    print_findings(&scene.errors, &others, verbosity);
    print_failed(&failed);
    let sizes = Sizes::of("IN", input, &written.files);
    let skeletons = scene.instances.iter().chain(&scene.unbound_skeletons);
    let skeletons = skeletons.map(|s| (&s.path, s.instance.skeleton().joints().len()));
    let skeletons: Vec<(&String, usize)> = skeletons.collect();
    let skinned: Vec<&String> = scene.bindings.iter().map(|b| &b.path).collect();
    // A USD file, whose animation is copied unchanged, has none.
    let made = file.origin().into_iter().flat_map(|o| &o.skeletons);
    let clips = made.flat_map(|s| {
        s.animations
            .iter()
            .map(|(name, clip)| (name, &s.path, clip))
    });
    let clips: Vec<(&String, &String, &String)> = clips.collect();
    let mut text = listed(&written.files);
    for (path, joints) in &skeletons {
        let _ = writeln!(text, "  {path}: {}", count(*joints, "joint"));
    }
    let _ = writeln!(text, "  {}", count(skinned.len(), "skinned prim"));
    for (name, _, clip) in &clips {
        let _ = writeln!(text, "  clip {}: {clip}", or_unnamed(name));
    }
    let _ = writeln!(text, "  {sizes}");
    let brief = format!(
        "{}, {}, {}",
        count(skeletons.len(), "skeleton"),
        count(skinned.len(), "skinned prim"),
        sizes.written()
    );
    let skeleton = |(prim, joints): &(&String, usize)| json!({ "prim": prim, "joints": joints });
    let clip = |(name, skeleton, animation): &(&String, &String, &String)| json!({ "name": name, "skeleton": skeleton, "animation": animation });
    let report = json!({
        "output": output.display().to_string(),
        "files": names(&written.files),
        "skeletons": skeletons.iter().map(skeleton).collect::<Vec<_>>(),
        "skinned": skinned,
        "clips": clips.iter().map(clip).collect::<Vec<_>>(),
        "failed": failed,
        "errors": finding::of_invalid(&scene.errors, of),
        "warnings": finding::of_warnings(&warnings, of),
        "input_bytes": sizes.input_bytes,
        "output_bytes": sizes.output_bytes,
    });
    Ok(Done {
        exit: args.partial.exit(!failed.is_empty()),
        report,
        text,
        brief,
    })
}

/// The names of the files that were written, OUT first.
fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|f| f.display().to_string()).collect()
}

/// The library's error, with advice about the options of this command, which the library does not
/// know.
fn with_advice(error: sinew_io::Error) -> Error {
    match &error {
        sinew_io::Error::NoSuchClip { asked, .. } if asked == "all" => {
            Error::Message(format!("{error}; without --clip every clip is converted"))
        }
        _ => error.into(),
    }
}

//! `sinew convert`.

use std::fmt::Write;
use std::path::PathBuf;

use sinew::io::usd::BakeEdits;
use sinew::io::{ClipChoice, OpenOptions};

use crate::report::{count, print_findings, print_result};

/// Writes a character of any format as UsdSkel: Skeletons, one SkelAnimation per clip, meshes with blend shapes,
/// materials as UsdPreviewSurface with their textures.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// File to convert: .gltf, .glb, .vrm, .vrma, .bvh, .fbx, or USD into another form of USD.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// File to write; its ending chooses the format. A .usdz packs the textures, beside others they go to OUT_textures/.
    #[arg(short, long, value_name = "OUT.{usda,usdc,usdz}")]
    output: PathBuf,
    /// Clip to convert, or clips that play at once (A+B); all writes every one, even where one has that name, with the
    /// skeletons bound to the first.
    #[arg(long, value_name = "NAME|all", default_value = "all")]
    clip: String,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

const EXAMPLES: &str = "Examples:
  sinew convert hero.glb -o hero.usdz
  sinew convert avatar.vrm -o avatar.usda --clip Wave
  sinew convert walk.bvh -o walk.usda";

pub fn run(args: &Args) -> sinew::Result<()> {
    let choice = match args.clip.as_str() {
        "all" => ClipChoice::All,
        name => ClipChoice::Named(name.to_owned()),
    };
    let options = OpenOptions {
        clips: choice,
        ..OpenOptions::default()
    };
    let file = sinew::io::open_with(&args.input, &options)?;
    let scene = file.scene(Default::default())?;
    let mut warnings = scene.warnings.clone();
    file.check_output(&args.output)?;
    if file.origin().is_some() {
        file.save_as(&args.output)?;
    } else {
        warnings.extend(file.write_flattened(&args.output, BakeEdits::default())?);
    }
    print_findings(&scene.errors, if args.quiet { &[] } else { &warnings });
    if args.quiet {
        return Ok(());
    }
    let mut out = format!("{}\n", args.output.display());
    let joints = |s: &sinew::scene::PlacedSkeleton| s.instance.skeleton().joints().len();
    let skeletons = scene.instances.iter().chain(&scene.unbound_skeletons);
    // Writing to a String cannot fail.
    for s in skeletons {
        let _ = writeln!(out, "  {}: {}", s.path, count(joints(s), "joint"));
    }
    let _ = writeln!(out, "  {}", count(scene.bindings.len(), "skinned prim"));
    for skeleton in file.origin().iter().flat_map(|o| &o.skeletons) {
        for (clip, animation) in &skeleton.animations {
            let clip = if clip.is_empty() {
                "without a name"
            } else {
                clip
            };
            let _ = writeln!(out, "  clip {clip}: {animation}");
        }
    }
    print_result(&out)
}

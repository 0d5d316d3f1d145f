//! `sinew convert IN -o OUT.glb` and `.gltf`.

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::gltf::{GltfOptions, choose_clips, write_asset};
use sinew_io::usd::AssetOptions;
use sinew_io::{ClipChoice, open_with};

use super::Args;
use crate::batch::Done;
use crate::error::Result;
use crate::finding::{self, Finding};
use crate::host::{self, Step};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, count, listed, or_unnamed, print_failed, print_findings};

/// Converts to glTF.
pub(super) fn convert(
    args: &Args,
    (input, output): (&Path, &Path),
    choice: &ClipChoice,
    verbosity: Verbosity,
) -> Result<Done<Value>> {
    let of = Some(input);
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", input.display()));
    let options = args.compose.options(ClipChoice::All)?;
    let (mut errors, mut failed, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let asset = match sinew_io::read_asset(input)? {
        Some(asset) if options.variants.is_empty() => on_own_skeleton(asset),
        // Opening it says that such a file has no variants.
        _ => {
            let file = open_with(input, &options)?;
            host::go_on(Step::Part)?;
            let scene = file.scene(args.anim.read())?;
            file.check_output(output)?;
            warnings.extend(scene.warnings.iter().cloned());
            errors = finding::of_invalid(&scene.errors, of);
            let left_out = sinew_check::left_out(Some(&file), &scene, true)?;
            failed = finding::of_left_out(&scene.unskinned, &left_out, of);
            for error in &scene.errors {
                crate::report::print_message("error", crate::error::with_code(error));
            }
            file.to_asset(&scene, &AssetOptions { bake: args.bake })?
        }
    };
    let asset = choose_clips(asset, choice).map_err(super::with_advice)?;
    host::go_on(Step::Part)?;
    progress.doing(&format!("writing {}", output.display()));
    failed.extend(asset.left_out.iter().map(|error| {
        let reason = format!("it is left out: {}", error.brief());
        Finding::failed(&error.prim, error.code, reason, of)
    }));
    let skinned = asset.nodes.iter();
    let skinned = skinned.filter(|n| n.mesh.is_some() && n.skin.is_some());
    let skinned = skinned.count();
    let described = describe(&asset, skinned);
    let made = format!(
        "{}, {skinned} skinned, {}",
        count(asset.meshes.len(), "mesh"),
        count(asset.clips.len(), "clip")
    );
    let skins = asset.skins.iter();
    let skins = skins.map(|s| json!({ "name": s.name, "joints": s.joints.len() }));
    let clips = asset.clips.iter();
    let clips =
        clips.map(|c| json!({ "name": c.name, "range": c.range(), "tracks": c.tracks.len() }));
    let mut report = json!({
        "output": output.display().to_string(),
        "nodes": asset.nodes.len(),
        "meshes": asset.meshes.len(),
        "skinned": skinned,
        "skins": skins.collect::<Vec<_>>(),
        "clips": clips.collect::<Vec<_>>(),
        "materials": asset.materials.len(),
        "cameras": asset.cameras.len(),
        "lights": asset.lights.len(),
        "failed": failed,
        "errors": errors,
    });
    let max_influences = args.max_influences;
    let written = write_asset(asset, output, &GltfOptions { max_influences })?;
    warnings.extend(written.warnings);
    drop(progress);
    let others = finding::other_warnings(&warnings, &failed);
    print_findings(&[], &others, verbosity);
    print_failed(&failed);
    let sizes = Sizes::of("IN", input, &written.files);
    report["files"] = json!(super::names(&written.files));
    report["influences"] = json!(written.influences);
    report["warnings"] = json!(finding::of_warnings(&warnings, of));
    report["input_bytes"] = json!(sizes.input_bytes);
    report["output_bytes"] = json!(sizes.output_bytes);
    let mut text = listed(&written.files) + &described;
    if let Some(cut) = &written.influences {
        let _ = writeln!(
            text,
            "  {} of more than {} influences cut: points move by up to {:.3e} ({:.3e} of the mesh's size) in {}",
            count(cut.vertices, "vertex"),
            cut.most,
            cut.worst_distance,
            cut.worst_relative,
            cut.worst_mesh,
        );
    }
    let _ = writeln!(text, "  {sizes}");
    Ok(Done {
        exit: args.partial.exit(!failed.is_empty()),
        report,
        text,
        brief: format!("{made}, {}", sizes.written()),
    })
}

/// What is in the file, as text. Writing to a String cannot fail, so its results are dropped.
fn describe(asset: &Asset, skinned: usize) -> String {
    let mut out = format!(
        "  {}, {} ({skinned} skinned), {}\n",
        count(asset.nodes.len(), "node"),
        count(asset.meshes.len(), "mesh"),
        count(asset.materials.len(), "material"),
    );
    for skin in &asset.skins {
        let joints = count(skin.joints.len(), "joint");
        let _ = writeln!(out, "  skin {}: {joints}", or_unnamed(&skin.name));
    }
    if asset.cameras.len() + asset.lights.len() > 0 {
        let cameras = count(asset.cameras.len(), "camera");
        let _ = writeln!(out, "  {cameras}, {}", count(asset.lights.len(), "light"));
    }
    for clip in &asset.clips {
        let seconds = clip.range().map_or(0.0, |(first, last)| last - first);
        let tracks = count(clip.tracks.len(), "track");
        let _ = writeln!(
            out,
            "  clip {}: {seconds:.3} s, {tracks}",
            or_unnamed(&clip.name)
        );
    }
    out
}

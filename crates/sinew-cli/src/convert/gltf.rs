//! `sinew convert IN -o OUT.glb` and `.gltf`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sinew_animate::asset::Asset;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::gltf::{GltfOptions, InfluenceCut, choose_clips, write_asset};
use sinew_io::usd::AssetOptions;
use sinew_io::{ClipChoice, open_with};

use super::{AnyReport, Args};
use crate::batch::Done;
use crate::error::Result;
use crate::finding::{self, Finding};
use crate::host::{self, Step};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, count, listed, or_unnamed, print_failed, print_findings};

/// The report of --json.
#[derive(Serialize)]
pub(super) struct Report {
    output: String,
    /// All files that were written, OUT first.
    files: Vec<PathBuf>,
    nodes: usize,
    /// Triangle meshes, and how many of them are skinned.
    meshes: usize,
    skinned: usize,
    skins: Vec<SkinReport>,
    clips: Vec<ClipReport>,
    materials: usize,
    cameras: usize,
    lights: usize,
    /// What --max-influences has cut; null if nothing was.
    influences: Option<InfluenceCut>,
    /// Prims that are written at rest, as they cannot be skinned, or left out, as they cannot be
    /// drawn.
    failed: Vec<Finding>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    #[serde(flatten)]
    sizes: Sizes,
}

#[derive(Serialize)]
struct SkinReport {
    name: String,
    joints: usize,
}

#[derive(Serialize)]
struct ClipReport {
    /// Name of the clip; empty if it has none.
    name: String,
    /// Seconds of its first and last key; null if it has no keys.
    range: Option<(f64, f64)>,
    tracks: usize,
}

/// Converts to glTF.
pub(super) fn convert(
    args: &Args,
    (input, output): (&Path, &Path),
    choice: &ClipChoice,
    verbosity: Verbosity,
) -> Result<Done<AnyReport>> {
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
            failed = finding::of_unskinned(&scene.unskinned, of);
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
    let mut report = report(output, &asset, failed, errors);
    let written = write_asset(
        asset,
        output,
        &GltfOptions {
            max_influences: args.max_influences,
        },
    )?;
    warnings.extend(written.warnings);
    report.influences = written.influences;
    report.warnings = finding::of_warnings(&warnings, of);
    report.sizes = Sizes::of("IN", input, &written.files);
    report.files = written.files;
    drop(progress);
    print_findings(&[], &warnings, verbosity);
    print_failed(&report.failed);
    Ok(Done {
        exit: args.partial.exit(!report.failed.is_empty()),
        text: describe(&report),
        brief: format!(
            "{}, {} skinned, {}, {}",
            count(report.meshes, "mesh"),
            report.skinned,
            count(report.clips.len(), "clip"),
            report.sizes.written()
        ),
        report: AnyReport::Gltf(report),
    })
}

fn report(output: &Path, asset: &Asset, failed: Vec<Finding>, errors: Vec<Finding>) -> Report {
    Report {
        output: output.display().to_string(),
        files: Vec::new(),
        nodes: asset.nodes.len(),
        meshes: asset.meshes.len(),
        skinned: asset
            .nodes
            .iter()
            .filter(|n| n.mesh.is_some() && n.skin.is_some())
            .count(),
        skins: asset
            .skins
            .iter()
            .map(|s| SkinReport {
                name: s.name.clone(),
                joints: s.joints.len(),
            })
            .collect(),
        clips: asset
            .clips
            .iter()
            .map(|c| ClipReport {
                name: c.name.clone(),
                range: c.range(),
                tracks: c.tracks.len(),
            })
            .collect(),
        materials: asset.materials.len(),
        cameras: asset.cameras.len(),
        lights: asset.lights.len(),
        influences: None,
        failed,
        errors,
        warnings: Vec::new(),
        sizes: Sizes::default(),
    }
}

/// The report as text. Writing to a String cannot fail, so its results are dropped.
fn describe(report: &Report) -> String {
    let mut out = listed(&report.files);
    let _ = writeln!(
        out,
        "  {}, {} ({} skinned), {}",
        count(report.nodes, "node"),
        count(report.meshes, "mesh"),
        report.skinned,
        count(report.materials, "material"),
    );
    for skin in &report.skins {
        let name = or_unnamed(&skin.name);
        let _ = writeln!(out, "  skin {name}: {}", count(skin.joints, "joint"));
    }
    if report.cameras + report.lights > 0 {
        let cameras = count(report.cameras, "camera");
        let _ = writeln!(out, "  {cameras}, {}", count(report.lights, "light"));
    }
    for clip in &report.clips {
        let name = or_unnamed(&clip.name);
        let seconds = clip.range.map_or(0.0, |(first, last)| last - first);
        let tracks = count(clip.tracks, "track");
        let _ = writeln!(out, "  clip {name}: {seconds:.3} s, {tracks}");
    }
    if let Some(cut) = &report.influences {
        let _ = writeln!(
            out,
            "  {} of more than {} influences cut: points move by up to {:.3e} ({:.3e} of the mesh's size) in {}",
            count(cut.vertices, "vertex"),
            cut.most,
            cut.worst_distance,
            cut.worst_relative,
            cut.worst_mesh,
        );
    }
    let _ = writeln!(out, "  {}", report.sizes);
    out
}

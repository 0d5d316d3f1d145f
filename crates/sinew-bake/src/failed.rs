//! Prims that the output does not have as they were asked for, by the table of `sinew-check`.

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::report::{BakeReport, FailedPrim, is_error};
use sinew::error::Warning;
use sinew::scene::{Scene, SkinBinding};
use sinew_check::Effect;
use sinew_io::usd::UsdFile;

/// Begins a report with what the scene tells, and with what the stage leaves out whatever is baked
/// of it, as `sinew check` finds it. Without a file that is what the scene alone tells.
///
/// # Errors
/// Values that cannot be decoded.
pub(super) fn begin(file: Option<&UsdFile>, scene: &Scene, report: &mut BakeReport) -> Result<()> {
    report.errors.clone_from(&scene.errors);
    let told = scene.warnings.iter().filter(|w| !leaves_out(w.code));
    report.warnings.extend(told.cloned());
    let found = sinew_check::left_out(file, scene, false)?;
    let found = found.into_iter();
    let found = found.map(|f| Warning::new(f.code, f.path, f.message).on(f.property));
    report.warnings.extend(found);
    Ok(())
}

/// Whether the stage switches off everything that could be skinned, so that its bake is the stage
/// as it is.
pub(super) fn is_switched_off(scene: &Scene, report: &BakeReport) -> bool {
    sinew_check::is_switched_off(scene, report.warnings.iter().map(|w| w.code))
}

/// Whether a prim, or a part of it, is left out where a warning with this code is told.
fn leaves_out(code: &str) -> bool {
    sinew_check::code(code).is_some_and(|row| row.effect == Effect::LeftOut)
}

/// Adds to the report every prim that the output does not have as it was asked for, after the bake
/// has added those that failed while they were deformed.
///
/// `prims` are the paths that were asked for, all if empty. `chosen` are indices into
/// [`Scene::bindings`].
pub(super) fn complete(scene: &Scene, prims: &[String], chosen: &[usize], report: &mut BakeReport) {
    let is_asked = |path: &str| is_asked(prims, path);
    let mut failed = std::mem::take(&mut report.failed);
    let unskinned = scene.unskinned.iter().filter(|p| is_asked(&p.path));
    failed.extend(unskinned.map(|p| FailedPrim::by_error(&p.path, &p.error)));
    let bound = || chosen.iter().map(|b| &scene.bindings[*b]);
    let own: HashSet<&str> = bound().map(|b| b.path.as_str()).collect();
    let (errors, warnings) = (&report.errors, &mut report.warnings);
    warnings.retain(|w| !is_error(errors, w));
    let errors = errors.iter().filter(|e| own.contains(e.prim.as_str()));
    failed.extend(errors.map(|e| FailedPrim::by_error(&e.prim, e)));
    let file = scene.file.display().to_string();
    for warning in warnings {
        let path = warning.path.as_str();
        // Formats without faces or points leave prims out; that is a fault only where such a prim
        // was asked for by its name.
        let is_named = warning.code == "left-out" && prims.iter().any(|p| p == path);
        if !is_named && !leaves_out(warning.code) {
            continue;
        }
        let mut concerned = bound()
            .filter(|b| is_moved_by(scene, b, warning))
            .peekable();
        let is_above_asked = || prims.iter().any(|p| is_below(p, path));
        if concerned.peek().is_none() && (path == file || is_asked(path) || is_above_asked()) {
            failed.push(FailedPrim::by_warning(path, warning));
        }
        failed.extend(concerned.map(|b| FailedPrim::by_warning(&b.path, warning)));
    }
    let mut seen = HashSet::new();
    // A code is told once of each prim.
    failed.retain(|f| seen.insert((f.path.clone(), f.code)));
    failed.sort_by(|a, b| a.path.cmp(&b.path));
    report.failed = failed;
}

/// Whether a warning is about the Skeleton, the animation or a shape that moves a prim.
fn is_moved_by(scene: &Scene, binding: &SkinBinding, warning: &Warning) -> bool {
    let path = warning.path.as_str();
    let placed = &scene.instances[binding.instance];
    let animation = placed.instance.animation();
    if warning.code == "animation-ignored" {
        // The path is that of the prim with the skel:animationSource.
        let is_at = is_below(&placed.path, path) || is_below(&binding.path, path);
        return animation.is_none() && is_at;
    }
    // Channels move shapes alone.
    let is_moved = warning.property != "blendShapeWeights" || !binding.shapes.is_empty();
    placed.path == path
        || animation.is_some_and(|a| a.path == path && is_moved)
        || binding.shapes.iter().any(|s| s.target == path)
}

/// Adds prims that failed while they were deformed, with the prims that share their results.
pub(super) fn add(
    scene: &Scene,
    failed: impl IntoIterator<Item = (usize, FailedPrim)>,
    copies: &BTreeMap<usize, Vec<usize>>,
    report: &mut BakeReport,
) {
    for (binding, failed) in failed {
        let others = copies.get(&binding).into_iter().flatten();
        for other in others {
            report.failed.push(FailedPrim {
                path: scene.bindings[*other].path.clone(),
                ..failed.clone()
            });
        }
        report.failed.push(failed);
    }
}

/// Whether a prim is another one or below it.
pub(super) fn is_below(path: &str, top: &str) -> bool {
    let rest = path.strip_prefix(top.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path is one of `tops` or below one of them.
pub(super) fn is_below_any(path: &str, tops: &HashSet<&str>) -> bool {
    let ends = path.match_indices('/').map(|(i, _)| i).skip(1);
    let mut above = ends.map(|i| &path[..i]).chain([path]);
    above.any(|p| tops.contains(p))
}

/// Whether a prim is among those that were asked for: `prims` and what is below them, all if empty.
pub(super) fn is_asked(prims: &[String], path: &str) -> bool {
    prims.is_empty() || prims.iter().any(|p| is_below(path, p))
}

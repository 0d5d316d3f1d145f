//! Prims that the output does not have as they were asked for, and warnings about input that skins
//! prims otherwise than its author meant.

use std::collections::{BTreeMap, HashSet};

use crate::report::{BakeReport, FailedPrim};
use sinew::error::{Warning, first_few};
use sinew::scene::{Scene, SkinBinding};
use sinew::skel::binding::SWITCHED_OFF;

/// Codes of warnings about a prim that is not skinned, or not as the input asks.
const OF_PRIMS: [&str; 10] = [
    "binding-api-missing",
    "blend-shape-missing",
    "blend-shapes-dropped",
    "blend-shapes-ignored",
    "influences-ignored",
    "influences-incomplete",
    "no-skeleton-bound",
    "not-baked",
    "skeleton-unbound",
    "times-not-baked",
];

/// Codes of warnings about an animation that moves nothing, at some times or at all.
const OF_ANIMATIONS: [&str; 2] = ["animation-component", "animation-not-finite"];

/// Whether the stage switches off everything that could be skinned, so that its bake is the stage
/// as it is.
pub(super) fn is_switched_off(scene: &Scene) -> bool {
    let nothing = scene.bindings.is_empty() && scene.unskinned.is_empty();
    let has = |code: &dyn Fn(&str) -> bool| scene.warnings.iter().any(|w| code(w.code));
    nothing && has(&|code| code == SWITCHED_OFF) && !has(&|code| OF_PRIMS.contains(&code))
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
    let errors = report.errors.iter();
    let errors = errors.filter(|e| own.contains(e.prim.as_str()));
    failed.extend(errors.map(|e| FailedPrim::by_error(&e.prim, e)));
    for warning in &report.warnings {
        let path = warning.path.as_str();
        // Formats without faces or points leave prims out; that is a fault only where such a prim
        // was asked for by its name.
        let is_named = warning.code == "left-out" && prims.iter().any(|p| p == path);
        if is_named || (OF_PRIMS.contains(&warning.code) && is_asked(path)) {
            failed.push(FailedPrim::by_warning(path, warning));
        }
        let concerned = bound().filter(|binding| match warning.code {
            code if OF_ANIMATIONS.contains(&code) => {
                let animation = scene.instances[binding.instance].instance.animation();
                animation.is_some_and(|a| a.path == path)
            }
            // The path is that of the prim with the skel:animationSource.
            "animation-ignored" => {
                let placed = &scene.instances[binding.instance];
                let is_at = is_below(&placed.path, path) || is_below(&binding.path, path);
                placed.instance.animation().is_none() && is_at
            }
            _ => false,
        });
        failed.extend(concerned.map(|b| FailedPrim::by_warning(&b.path, warning)));
    }
    let mut seen = HashSet::new();
    // A code is told once of each prim.
    failed.retain(|f| seen.insert((f.path.clone(), f.code)));
    failed.sort_by(|a, b| a.path.cmp(&b.path));
    report.failed = failed;
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

/// Warns about input that Pixar's bake passes over in silence: skel:joints that the Skeleton does
/// not have, and numbers of blendShapeWeights that are not those of the channels. Prims on which
/// this has an effect count as failed.
pub(super) fn check_input(scene: &Scene, chosen: &[usize], report: &mut BakeReport) {
    let mut animations = HashSet::new();
    for &b in chosen {
        let binding = &scene.bindings[b];
        let placed = &scene.instances[binding.instance];
        if let Some((warning, has_effect)) = unknown_joints(scene, binding) {
            if has_effect {
                let failed = FailedPrim::by_warning(&binding.path, &warning);
                report.failed.push(failed);
            }
            report.warnings.push(warning);
        }
        let Some(animation) = placed.instance.animation() else {
            continue;
        };
        let channels = animation.blend_shapes.len();
        let weights = &animation.blend_shape_weights;
        let lengths = || weights.values().map(|w| w.len());
        let (Some(least), Some(most)) = (lengths().min(), lengths().max()) else {
            continue;
        };
        if least == channels && most == channels {
            continue;
        }
        let (found, effect) = match least < channels {
            true => (least, "missing weights are 0"),
            false => (most, "surplus weights are ignored"),
        };
        let message = format!(
            "blendShapeWeights: expected {channels} values, one per channel, found {found}: {effect}"
        );
        let warning = Warning::new("channel-weights-count", &animation.path, message);
        let warning = warning.on("blendShapeWeights");
        let mapper = binding.channel_mapper.as_ref();
        let lacks = |m: &sinew::skel::AnimMapper| m.targets().skip(least).any(|t| t.is_some());
        if mapper.is_some_and(lacks) {
            let failed = FailedPrim::by_warning(&binding.path, &warning);
            report.failed.push(failed);
        }
        if animations.insert(animation.path.as_str()) {
            report.warnings.push(warning);
        }
    }
}

/// The warning about the joints of a prim's own order that its Skeleton lacks, and whether an
/// influence with a weight names one of them.
fn unknown_joints(scene: &Scene, binding: &SkinBinding) -> Option<(Warning, bool)> {
    let placed = &scene.instances[binding.instance];
    let joints = binding.joints.as_ref()?;
    let source = binding.influences.as_ref()?;
    let map = binding.joint_map(&placed.instance)?;
    let unknown: Vec<&String> = map
        .iter()
        .zip(joints)
        .filter(|(to, _)| to.is_none())
        .map(|(_, joint)| joint)
        .collect();
    if unknown.is_empty() {
        return None;
    }
    let moves = |(joint, weight): (&i32, &f32)| {
        let joint = usize::try_from(*joint).ok().and_then(|j| map.get(j));
        *weight != 0.0 && joint.is_some_and(Option::is_none)
    };
    let has_effect = source.indices.values().any(|joints| {
        let mut weights = source.weights.values();
        weights.any(|weights| joints.iter().zip(weights.iter()).any(moves))
    });
    let message = format!(
        "{} does not have the joints {}: what they influence does not move with them",
        placed.path,
        first_few(&unknown, 4)
    );
    let warning = Warning::new("joints-unknown", &binding.path, message);
    Some((warning.on("skel:joints"), has_effect))
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

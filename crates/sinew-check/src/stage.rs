//! Stage metadata, SkelRoots, schemas, relationships, and binding properties without effect.

use super::context::{
    ANIMATION, Context, GEOM_BIND, INDICES, METHOD, SHAPES, SKELETON, TARGETS, WEIGHTS,
};
use super::{Findings, some_of};
use sinew::sampled::Time;
use sinew::scene::{Scene, SkinBinding};
use sinew::skel::binding::PrimKind;
use sinew_io::usd::AuthoredPrim;

pub(super) fn check(context: &Context<'_>, scene: &Scene, findings: &mut Findings) {
    metadata(context, scene, findings);
    for (i, prim) in context.prims() {
        schemas(context, scene, i, prim, findings);
        targets(prim, findings);
        types(prim, findings);
    }
    without_effect(context, findings);
    for candidate in &context.candidates {
        let prim = &context.stage.prims[candidate.prim];
        if prim.in_instance
            && let Some(instance) = context.stage.ancestors(prim).find(|p| p.is_instance)
        {
            let message = format!("{} is in a native instance", prim.path);
            findings.add("native-instance", &instance.path, "", message);
        }
    }
}

fn metadata(context: &Context<'_>, scene: &Scene, findings: &mut Findings) {
    let file = scene.file.display().to_string();
    let stage = context.stage;
    if let (Some(start), Some(end)) = (stage.start, stage.end)
        && start > end
    {
        let message = format!("startTimeCode {start} is after endTimeCode {end}");
        findings.add("time-range-reversed", &file, "", message);
    }
    for (name, rate) in [
        ("framesPerSecond", stage.frames_per_second),
        ("timeCodesPerSecond", stage.time_codes_per_second),
    ] {
        if !(rate > 0.0 && rate.is_finite()) {
            let message = format!("{name} is {rate}");
            findings.add("frame-rate-invalid", &file, name, message);
        }
    }
}

/// Whether a prim has properties that bind it. An animation source alone does not.
fn binds(prim: &AuthoredPrim) -> bool {
    [INDICES, WEIGHTS, SHAPES]
        .iter()
        .any(|n| prim.attributes.contains_key(*n))
        || [SKELETON, TARGETS]
            .iter()
            .any(|n| prim.relationships.contains_key(*n))
}

fn schemas(
    context: &Context<'_>,
    scene: &Scene,
    index: usize,
    prim: &AuthoredPrim,
    findings: &mut Findings,
) {
    let path = &prim.path;
    let properties: Vec<&str> = prim.binding_properties().collect();
    let is_outside = context.skel_root[index].is_none();
    if !prim.has_api && !properties.is_empty() && (binds(prim) || !is_outside) {
        let message = format!(
            "SkelBindingAPI is not applied, so these properties are ignored: {}",
            some_of(&properties)
        );
        findings.add("binding-api-missing", path, "", message);
    }
    if prim.kind == PrimKind::SkelRoot && context.skel_root[index] != Some(index) {
        let outer = context.skel_root[index].map_or("", |r| &context.stage.prims[r].path);
        findings.add(
            "skel-root-nested",
            path,
            "",
            format!("the SkelRoot is inside the SkelRoot {outer}"),
        );
    }
    if is_outside {
        if binds(prim) {
            let ancestors = context.stage.ancestors(prim);
            let typeless = ancestors.filter(|p| p.type_name.is_empty()).last();
            let remedy = typeless.map(|p| format!("; {} has no type, and could be one", p.path));
            let message = format!(
                "the prim is bound, but neither it nor an ancestor is a SkelRoot: it is not skinned{}",
                remedy.unwrap_or_default()
            );
            findings.add("skel-root-missing", path, "", message);
        } else if prim.has_api {
            let message =
                "the prim has SkelBindingAPI, but neither it nor an ancestor is a SkelRoot";
            findings.add("binding-outside-skel-root", path, "", message);
        } else if !properties.is_empty() {
            let message = format!("{} of no skinned prim", some_of(&properties));
            findings.add("binding-no-effect", path, "", message);
        }
        return;
    }
    let stopped_by = context
        .stage
        .ancestors(prim)
        .find(|p| matches!(p.kind, PrimKind::Skinnable { .. } | PrimKind::Other));
    // Prototypes of a PointInstancer are bound wherever they are.
    let is_bound = || {
        let below = |b: &SkinBinding| Some(b.path.strip_prefix(path.as_str())?.starts_with('/'));
        let is_at = |b: &SkinBinding| b.path == *path || below(b) == Some(true);
        scene.bindings.iter().any(is_at)
    };
    let is_missed = !context.visited[index] && binds(prim);
    if let Some(by) = stopped_by.filter(|_| is_missed && !is_bound()) {
        let message = format!(
            "the prim is below {} ({}), where skinning stops",
            by.path, by.type_name
        );
        findings.add("binding-not-visited", path, "", message);
        return;
    }
    if !prim.has_api || !context.visited[index] {
        return;
    }
    let (shapes, targets) = (prim.attributes.get(SHAPES), prim.relationships.get(TARGETS));
    if shapes.is_some() || targets.is_some() {
        if prim.kind != (PrimKind::Skinnable { has_points: true }) {
            let message = format!(
                "the prim is a {}; blend shapes are not inherited",
                prim.type_name
            );
            findings.add("blend-shapes-not-inherited", path, "", message);
        }
        let (tokens, targets) = (
            shapes.map_or(0, |s| s.tokens().len()),
            targets.map_or(0, Vec::len),
        );
        // The reader tells of lists that are switched off.
        let is_off = prim.blocked.contains(SHAPES)
            || prim.relationships.get(TARGETS).is_some_and(Vec::is_empty);
        if tokens != targets && !is_off {
            let message = format!(
                "skel:blendShapes has {tokens} tokens, but skel:blendShapeTargets has {targets} targets: all blend shapes are ignored"
            );
            findings.add("blend-shapes-ignored", path, "", message);
        }
    }
}

fn targets(prim: &AuthoredPrim, findings: &mut Findings) {
    for name in [SKELETON, ANIMATION] {
        if let Some(targets) = prim.relationships.get(name)
            && targets.len() > 1
        {
            let message = format!(
                "the targets are {}; only the first one is used",
                some_of(targets)
            );
            findings.add("several-targets", &prim.path, name, message);
        }
    }
}

/// The types that UsdSkel reads an attribute in; `None` for other attributes.
pub(super) fn expected_type(prim: &AuthoredPrim, name: &str) -> Option<&'static [&'static str]> {
    const VECTORS: &[&str] = &["float3[]"];
    const TOKENS: &[&str] = &["token[]"];
    Some(match (prim.kind, name) {
        (_, INDICES) => &["int[]"],
        (_, WEIGHTS) => &["float[]"],
        (_, GEOM_BIND) => &["matrix4d"],
        (_, METHOD) => &["token"],
        (_, "skel:joints" | SHAPES) => TOKENS,
        (PrimKind::Skeleton | PrimKind::SkelAnimation, "joints" | "blendShapes") => TOKENS,
        (PrimKind::Skeleton, "bindTransforms" | "restTransforms") => &["matrix4d[]"],
        (PrimKind::SkelAnimation, "translations") => VECTORS,
        (PrimKind::SkelAnimation, "rotations") => &["quatf[]"],
        (PrimKind::SkelAnimation, "scales") => &["half3[]"],
        (PrimKind::SkelAnimation, "blendShapeWeights") => &["float[]"],
        // uint[] of older files is read (rule 18) and has a code of its own.
        (PrimKind::Other, "pointIndices") => &["int[]", "uint[]"],
        (PrimKind::Other, "offsets" | "normalOffsets") => VECTORS,
        (PrimKind::Other, name) if name.starts_with("inbetweens:") => VECTORS,
        (_, "points") => VECTORS,
        _ => return None,
    })
}

fn types(prim: &AuthoredPrim, findings: &mut Findings) {
    for (name, attribute) in prim.attributes.iter() {
        let Some(expected) = expected_type(prim, name) else {
            continue;
        };
        let found = attribute.type_name.as_str();
        if !found.is_empty() && !expected.contains(&found) {
            let message = format!(
                "expected type {}, found {found}: the attribute is treated as missing",
                expected[0]
            );
            findings.add("attribute-type", &prim.path, name, message);
        }
        let mut times = attribute.values.iter().map(|(time, _)| *time);
        let has_default = attribute
            .values
            .first()
            .is_some_and(|(t, _)| *t == Time::Default);
        if is_uniform(name) && times.any(|time| time != Time::Default) {
            let used = match has_default {
                true => "its default value is used",
                false => "the first one is used, which Pixar's tools do not read",
            };
            let message = format!("it has time samples, but cannot change over time: {used}");
            findings.add("samples-ignored", &prim.path, name, message);
        }
    }
}

/// Whether the value of one of the attributes of [`expected_type`] cannot change over time.
fn is_uniform(name: &str) -> bool {
    match name {
        "joints" | "skel:joints" | "blendShapes" | SHAPES => true,
        "bindTransforms" | "restTransforms" => true,
        "pointIndices" | "offsets" | "normalOffsets" => true,
        _ => name.starts_with("inbetweens:"),
    }
}

fn without_effect(context: &Context<'_>, findings: &mut Findings) {
    const NAMES: [&str; 6] = [SKELETON, "skel:joints", GEOM_BIND, METHOD, INDICES, WEIGHTS];
    let mut used = std::collections::HashSet::new();
    for candidate in &context.candidates {
        for name in NAMES {
            // Prims that only blend use no other property than skel:skeleton.
            if candidate.influenced || name == SKELETON {
                used.extend(context.nearest(candidate.prim, name).map(|at| (at, name)));
            }
        }
    }
    for (index, prim) in context.prims() {
        if !prim.has_api || !context.visited[index] {
            continue;
        }
        let gprim = matches!(prim.kind, PrimKind::Skinnable { .. });
        for name in NAMES {
            let authored = match prim.relationships.get(name) {
                // An empty list is a deliberate way to unbind.
                Some(targets) => !targets.is_empty(),
                None => prim.attributes.contains_key(name),
            };
            // A gprim with only one of the two has the finding influences-incomplete.
            let reported = gprim && matches!(name, INDICES | WEIGHTS);
            if authored && !reported && !used.contains(&(index, name)) {
                let message = format!("no prim with influences uses {name} of this prim");
                findings.add("binding-no-effect", &prim.path, name, message);
            }
        }
    }
}

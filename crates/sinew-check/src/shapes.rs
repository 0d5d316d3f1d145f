//! BlendShape prims, and the channels that drive them.

use std::collections::{BTreeMap, HashSet};

use super::context::{Context, SHAPES, TARGETS};
use super::{Findings, duplicates, some_of};
use sinew::scene::Scene;
use sinew_io::usd::{AuthoredPrim, AuthoredValue};

pub(super) fn check(context: &Context<'_>, scene: &Scene, findings: &mut Findings) {
    let targeted: HashSet<&str> = context
        .prims()
        .filter_map(|(_, p)| p.relationships.get(TARGETS))
        .flatten()
        .map(String::as_str)
        .collect();
    for (_, prim) in context.prims() {
        let twice = duplicates(prim.tokens(SHAPES));
        if !twice.is_empty() {
            let message = format!("listed more than once: {}", some_of(&twice));
            findings.add("shape-duplicate", &prim.path, SHAPES, message);
        }
        if prim.type_name != "BlendShape" {
            continue;
        }
        if !targeted.contains(prim.path.as_str()) {
            findings.add("blend-shape-unbound", &prim.path, "", "no prim targets it");
        }
        blend_shape(prim, findings);
    }
    channels(scene, findings);
}

fn blend_shape(prim: &AuthoredPrim, findings: &mut Findings) {
    let path = &prim.path;
    let value = |name: &str| prim.attributes.get(name).and_then(|a| a.first());
    if let Some(AuthoredValue::Ints(list)) = value("pointIndices") {
        let mut seen = HashSet::with_capacity(list.len());
        let twice: Vec<String> = list
            .iter()
            .filter(|i| !seen.insert(**i))
            .map(ToString::to_string)
            .collect();
        if !twice.is_empty() {
            let message = format!("listed more than once: {}", some_of(&twice));
            findings.add("point-index-duplicate", path, "", message);
        }
        if prim.attributes["pointIndices"].type_name == "uint[]" {
            findings.add(
                "point-indices-uint",
                path,
                "",
                "expected int[], found uint[]",
            );
        }
    }
    // A shape may move normals only. Attributes of a wrong type have a finding of their own.
    let moves = prim.attributes.iter().any(|(name, attribute)| {
        let empty = |v: &AuthoredValue| v.is_empty() && *v != AuthoredValue::Other;
        name != "pointIndices" && !attribute.first().is_none_or(empty)
    });
    if !moves {
        findings.add("offsets-missing", path, "", "the BlendShape has no offsets");
    }
}

fn channels(scene: &Scene, findings: &mut Findings) {
    let mut used: BTreeMap<&str, HashSet<&str>> = BTreeMap::new();
    for bound in scene.bound_skins() {
        let Some(animation) = bound.skeleton().instance.animation() else {
            continue;
        };
        let channels: HashSet<&str> = animation.blend_shapes.iter().map(String::as_str).collect();
        let shapes = bound.binding().shapes.iter().map(|s| s.token.as_str());
        let undriven: Vec<&str> = shapes.clone().filter(|s| !channels.contains(s)).collect();
        if !undriven.is_empty() {
            let message = format!(
                "{} has no channel for the shapes {}",
                animation.path,
                some_of(&undriven)
            );
            findings.add("shape-undriven", &bound.binding().path, "", message);
        }
        used.entry(&animation.path).or_default().extend(shapes);
    }
    for animation in &scene.animations {
        let used = used.get(animation.path.as_str());
        let unused: Vec<&String> = animation
            .blend_shapes
            .iter()
            .filter(|c| !used.is_some_and(|u| u.contains(c.as_str())))
            .collect();
        if !unused.is_empty() {
            let message = format!(
                "no bound prim has a shape for the channels {}",
                some_of(&unused)
            );
            findings.add("channel-unused", &animation.path, "", message);
        }
    }
}

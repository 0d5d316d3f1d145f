//! BlendShape prims, and the channels that drive them.

use std::collections::{BTreeMap, HashSet};

use super::context::{Context, SHAPES, TARGETS};
use super::{Findings, duplicates, some_of};
use glam::Vec3;
use sinew::scene::Scene;
use sinew::skel::WEIGHT_EPSILON;
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

const INBETWEENS: &str = "inbetweens:";

/// Names, weights and offsets of the in-betweens of a BlendShape.
fn inbetweens(prim: &AuthoredPrim) -> impl Iterator<Item = (&str, Option<f32>, &[Vec3])> {
    let all = prim.attributes.iter();
    all.filter_map(|(name, attribute)| {
        // inbetweens:NAME:normalOffsets is another attribute.
        let is_inbetween = name
            .strip_prefix(INBETWEENS)
            .is_some_and(|n| !n.contains(':'));
        match attribute.first() {
            Some(AuthoredValue::Vectors(list)) if is_inbetween => {
                Some((name.as_str(), attribute.weight, list.as_slice()))
            }
            _ => None,
        }
    })
}

/// Whether an in-between has the weight of the null shape or of the primary one, or none.
fn is_skipped(weight: Option<f32>) -> bool {
    weight.map(f64::from).is_none_or(|w| {
        !w.is_finite() || w.abs() < WEIGHT_EPSILON || (w - 1.0).abs() < WEIGHT_EPSILON
    })
}

/// In-betweens that are skipped, also those of shapes that no prim uses: readers tell of the others.
pub(super) fn skipped(context: &Context<'_>, findings: &mut Findings) {
    let shapes = context.prims().filter(|(_, p)| p.type_name == "BlendShape");
    for (_, prim) in shapes {
        for (name, weight, offsets) in inbetweens(prim) {
            if is_skipped(weight) && !offsets.is_empty() {
                let message = match weight {
                    Some(weight) => format!("an in-between cannot have the weight {weight}"),
                    None => "the in-between has no weight".to_owned(),
                };
                findings.add("inbetween-skipped", &prim.path, name, message);
            }
        }
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

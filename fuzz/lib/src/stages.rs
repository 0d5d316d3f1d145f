//! Composition: several layers of one input.

use std::sync::Arc;

use sinew_layer::{Files, Layer, Path, usda};
use sinew_stage::compose::Limits;
use sinew_stage::flatten::{Instancing, flatten};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Predicate, Prim, Stage, StageOptions};

/// What separates layers: a line `== name`. The layer before the first such line is `root.usda`.
const SEPARATOR: &[u8] = b"\n== ";

/// How many prims are read of a stage. Others are only composed.
const MAX_PRIMS: usize = 500;

/// Composes the layers of the input, reads everything that the stage has, and flattens it.
pub fn stage(input: &[u8]) {
    let mut resolver = FileResolver::default();
    let mut broken = Vec::new();
    for (name, bytes) in split(input) {
        // Layers that are broken stay broken files.
        match Layer::from_bytes(&name, bytes.to_vec()) {
            Ok(layer) => resolver.add_layer(name, Arc::new(layer)),
            Err(_) => broken.push((name, bytes)),
        }
    }
    resolver.files = Files::in_memory(broken);
    let mut options = StageOptions::new(Arc::new(resolver), "root.usda");
    options.limits = Limits {
        nodes: 20_000,
        nodes_per_prim: 2_000,
        prims: 20_000,
        ..Limits::default()
    };
    let Ok(stage) = Stage::open(options) else {
        return;
    };
    let _ = (stage.diagnostics().count(), stage.default_prim().is_some());
    for name in stage.authored_metadata_names() {
        let _ = stage.metadata(&name);
    }
    for prim in stage.traverse(Predicate::ALL_PROXIES).take(MAX_PRIMS) {
        read(prim);
    }
    for prototype in stage.prototypes().take(MAX_PRIMS) {
        let _ = prototype.instances().count();
        prototype
            .descendants(Predicate::ALL)
            .take(MAX_PRIMS)
            .for_each(read);
    }
    let expanded = Instancing {
        homes: Vec::new(),
        home_of: &|_| None,
    };
    if let Ok(flattened) = flatten(&stage, &expanded) {
        let mut text = Vec::new();
        if usda::write(&flattened.layer, &mut text).is_ok() {
            usda::parse("flattened.usda", &text).unwrap_or_else(|error| {
                panic!("{error}\n{}", String::from_utf8_lossy(&text));
            });
        }
    }
}

/// The layers of an input with their names.
pub(crate) fn split(input: &[u8]) -> Vec<(String, &[u8])> {
    let mut layers = Vec::new();
    let mut name = "root.usda".to_owned();
    let mut rest = input;
    while let Some(at) = rest.windows(SEPARATOR.len()).position(|w| w == SEPARATOR) {
        layers.push((name, &rest[..at]));
        rest = &rest[at + SEPARATOR.len()..];
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        name = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    layers.push((name, rest));
    layers
}

/// Reads all metadata, values, targets and arcs of a prim.
fn read(prim: Prim<'_>) {
    for name in prim.authored_metadata_names() {
        let _ = prim.metadata(&name);
    }
    let _ = (prim.opinions().count(), prim.variant_sets(), prim.path());
    let _ = (prim.prim_in_prototype(), prim.prototype());
    for name in prim.property_names() {
        if prim.property_is_attribute(&name) == Some(false) {
            let relationship = prim.relationship(&name);
            let _ = (relationship.targets(), relationship.forwarded_targets());
            for name in relationship.authored_metadata_names() {
                let _ = relationship.metadata(&name);
            }
            continue;
        }
        let attribute = prim.attribute(&name);
        for name in attribute.authored_metadata_names() {
            let _ = attribute.metadata(&name);
        }
        let times = attribute.times().unwrap_or_default();
        let some = times.iter().take(8).copied();
        for time in some.chain([-1e9, 0.0, 0.5, 7.25, 1e9]) {
            let _ = attribute.get(Some(time));
        }
        let _ = (attribute.get(None), attribute.samples(), attribute.spline());
        let _ = (attribute.source(None), attribute.source(Some(1.0)));
        let _ = (attribute.connections(), attribute.has_value());
        let _ = (attribute.asset(None), attribute.might_be_time_varying());
    }
    let _ = prim.stage().prim(&Path::root());
}

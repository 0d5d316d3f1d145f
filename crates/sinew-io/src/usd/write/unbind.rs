//! Takes bindings away below SkelRoots that become Xforms, where nothing is skinned any more.
//!
//! Outside of SkelRoots the API is not allowed, and validators report it. A layer over the input
//! keeps its bindings: it can remove the API but not the properties, which validators then report.

use std::collections::HashSet;
use std::sync::Arc;

use sinew_layer::layer::{Fields, field};
use sinew_layer::{Layer, ListOp, Path, Value};

use crate::usd::write::edits::BakeEdits;

const API: &str = "SkelBindingAPI";

fn is_binding(property: &str) -> bool {
    property.starts_with("skel:") || property.starts_with("primvars:skel:")
}

fn is_below(path: &str, roots: &HashSet<String>) -> bool {
    let ends = path.match_indices('/').map(|(i, _)| i).skip(1);
    let mut above = ends.map(|i| &path[..i]).chain([path]);
    above.any(|p| roots.contains(p))
}

/// Prims of a flattened layer that lose their bindings: baked ones, and all at or below the roots.
pub(crate) struct Unbound {
    roots: HashSet<String>,
    baked: HashSet<String>,
}

impl Unbound {
    /// `edits` are placed where they belong in the layer.
    pub fn new(edits: &BakeEdits) -> Self {
        let baked = edits.prims.iter().filter(|_| !edits.unbind.is_empty());
        Self {
            roots: edits.unbind.iter().cloned().collect(),
            baked: baked.map(|p| p.path.clone()).collect(),
        }
    }

    /// Removes the API and its properties from a layer that has all opinions itself.
    pub fn remove(&self, layer: &mut Layer) {
        if self.roots.is_empty() {
            return;
        }
        let mut prims = Vec::new();
        let mut properties = Vec::new();
        layer.walk(&Path::root(), &mut |path, _| match path.split_property() {
            Some((prim, name)) if is_binding(name) && self.has(prim.as_str()) => {
                properties.push(path.clone());
            }
            None if self.has(path.as_str()) => prims.push(path.clone()),
            _ => {}
        });
        for path in properties {
            layer.remove(&path);
        }
        for prim in prims {
            if let Some(spec) = layer.spec_mut(&prim) {
                without_api(&mut spec.fields);
            }
        }
    }

    fn has(&self, prim: &str) -> bool {
        self.baked.contains(prim) || is_below(prim, &self.roots)
    }
}

/// Removes the API from the list that a prim's spec has.
fn without_api(fields: &mut Fields) {
    let Some(Value::TokenListOp(schemas)) = fields.get(field::API_SCHEMAS) else {
        return;
    };
    let mut left = schemas.filter_map(|schema| (schema != API).then(|| schema.clone()));
    // What is taken away stays away.
    left.deleted.clone_from(&schemas.deleted);
    match left == ListOp::default() {
        true => drop(fields.remove(field::API_SCHEMAS)),
        false => fields.set(field::API_SCHEMAS, Value::TokenListOp(Arc::new(left))),
    }
}

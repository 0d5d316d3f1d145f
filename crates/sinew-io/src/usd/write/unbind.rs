//! Takes bindings away below SkelRoots that become Xforms, where nothing is skinned any more.
//!
//! Outside of SkelRoots the API is not allowed, and validators report it. A layer over the input
//! keeps its bindings: it can remove the API but not the properties, which validators then report.

use std::collections::HashSet;

use openusd::sdf;

use super::flatten::Authoring;
use crate::usd::write::edits::BakeEdits;

const API: &str = "SkelBindingAPI";
const API_SCHEMAS: &str = "apiSchemas";

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
    pub fn remove(&self, edit: &mut sdf::LayerEdit<'_>) -> Authoring {
        if self.roots.is_empty() {
            return Ok(());
        }
        for path in edit.data_mut().spec_paths() {
            let prim = path.prim_path();
            let text = prim.as_str();
            if !self.baked.contains(text) && !is_below(text, &self.roots) {
                continue;
            }
            match path.as_str()[text.len()..].strip_prefix('.') {
                Some(property) if is_binding(property) => {
                    edit.remove_spec(&path)?;
                }
                Some(_) => {}
                None => without_api(edit.data_mut(), &path),
            }
        }
        Ok(())
    }
}

/// Removes the API from the list that a prim's spec has.
fn without_api(data: &mut dyn sdf::AbstractData, prim: &sdf::Path) {
    let Ok(Some(value)) = data.try_field(prim, API_SCHEMAS) else {
        return;
    };
    let sdf::Value::TokenListOp(mut list) = value.into_owned() else {
        return;
    };
    for items in [
        &mut list.explicit_items,
        &mut list.added_items,
        &mut list.prepended_items,
        &mut list.appended_items,
        &mut list.ordered_items,
    ] {
        items.retain(|item| item.as_str() != API);
    }
    match list == sdf::TokenListOp::default() {
        true => data.erase_field(prim, API_SCHEMAS),
        false => data.set_field(prim, API_SCHEMAS, sdf::Value::TokenListOp(list)),
    }
}

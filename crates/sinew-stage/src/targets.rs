//! Targets and connections: edits of lists over several layers, in paths of the stage.

use sinew_layer::layer::field;
use sinew_layer::{ListOp, Path, SpecKind, Value};

use crate::prim::Prim;

/// The targets (`targetPaths`) or connections (`connectionPaths`) of a property. None if no opinion has any. Paths that
/// the arcs do not map are left out.
pub(crate) fn compose(prim: Prim<'_>, property: &str, name: &str) -> Option<Vec<Path>> {
    let wanted = match name == field::CONNECTION_PATHS {
        true => SpecKind::Attribute,
        false => SpecKind::Relationship,
    };
    let mut edits: Vec<ListOp<Path>> = Vec::new();
    for opinion in prim.property_opinions(property) {
        if opinion.spec.kind != wanted {
            // A property of the other kind, and what is weaker, has no say.
            break;
        }
        let Some(Ok(Value::PathListOp(edit))) = opinion.spec.get(name).map(Value::load) else {
            continue;
        };
        let anchor = opinion.path.prim_path();
        let edit = edit.filter_map(|path| {
            let path = path.absolute(&anchor).strip_variants();
            prim.data().index.map_to_stage(opinion.node, &path)
        });
        let explicit = edit.explicit;
        edits.push(edit);
        if explicit {
            break;
        }
    }
    if edits.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for edit in edits.iter().rev() {
        edit.apply(&mut out);
    }
    Some(
        out.into_iter()
            .map(|path| prim.source_to_stage(path))
            .collect(),
    )
}

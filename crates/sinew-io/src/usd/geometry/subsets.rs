//! Faces of meshes with materials of their own.

use std::collections::HashSet;
use std::sync::Arc;

use openusd::{sdf, usd};

use crate::usd::read::values::{Token, read_uniform};
use sinew::error::Warning;

/// A subset as every instance of its mesh has it.
pub(super) struct SubsetFaces {
    /// Of the first instance's.
    pub path: sdf::Path,
    pub faces: Arc<Vec<u32>>,
}

/// The subsets of a mesh that materials are bound to, with their faces, ascending: each is in the first that has it. Whether the
/// mesh has such faces is for the caller to see.
pub(super) fn read(
    mesh: &usd::Prim,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<SubsetFaces>, openusd::Error> {
    let mut out = Vec::new();
    let mut taken: HashSet<u32> = HashSet::new();
    for prim in mesh.children()? {
        if !prim.is_a("GeomSubset")? || !prim.is_active()? || !prim.is_defined()? {
            continue;
        }
        let token = |name: &str| -> Result<Option<String>, openusd::Error> {
            Ok(read_uniform::<Token>(&prim.attribute(name))?.map(|t| t.0))
        };
        let of_faces = token("elementType")?.is_none_or(|t| t == "face");
        if !of_faces || token("familyName")?.as_deref() != Some("materialBind") {
            continue;
        }
        let indices: Vec<i32> = read_uniform(&prim.attribute("indices"))?.unwrap_or_default();
        let named = indices.len();
        let faces = indices.into_iter().filter_map(|i| u32::try_from(i).ok());
        let mut list: Vec<u32> = faces.filter(|f| taken.insert(*f)).collect();
        if list.len() < named {
            let message = format!(
                "{} of its faces are below 0 or in a subset already: left out",
                named - list.len()
            );
            let path = prim.path().as_str();
            warnings.push(Warning::new("subset-faces", path, message).on("indices"));
        }
        list.sort_unstable();
        out.push(SubsetFaces {
            path: prim.path().clone(),
            faces: Arc::new(list),
        });
    }
    Ok(out)
}

//! Extents of SkelRoots, written with an open file.

use sinew_layer::{Layer, Path};

use super::edits::author;
use crate::error::Result;
use crate::usd::file::UsdFile;
use crate::usd::read::values::vectors;
use sinew::sampled::Time;
use sinew::scene::Scene;

impl UsdFile {
    /// Has the file written with an `extent` of SkelRoots, for the animation that is bound in
    /// `scene`: one value each, which replaces samples. Of `prims`, if there are some, only the
    /// SkelRoots at or above them get one, and otherwise all do. The open stage stays as it is.
    ///
    /// # Errors
    /// A pose that cannot be computed.
    pub fn author_extents(&mut self, scene: &Scene, prims: Option<&[String]>) -> Result<()> {
        for root in &scene.skel_roots {
            let path = root.path.as_str();
            let is_above = |prim: &String| {
                let below = prim.strip_prefix(path);
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if prims.is_none_or(|prims| prims.iter().any(is_above))
                && let Some(extent) = scene.skel_root_extent_of_clip(path)?
            {
                self.extents.push((path.to_owned(), extent));
            }
        }
        Ok(())
    }

    /// Authors the extents in a layer that is to be written: the root layer, or a flattened one, which
    /// has no prims in instances.
    pub(super) fn write_extents(&self, layer: &mut Layer, is_flattened: bool) {
        for (path, corners) in &self.extents {
            let has_prim = |path: Path| layer.spec(&path).is_some();
            if !is_flattened || Path::parse(path).is_ok_and(has_prim) {
                let value = vec![(Time::Default, vectors(corners))];
                author(layer, path, "extent", "float3[]", value);
            }
        }
    }
}

//! Extents of SkelRoots, written into an open file.

use super::edits::author;
use crate::error::{Error, Result};
use crate::usd::file::UsdFile;
use crate::usd::read::values::vectors;
use sinew::sampled::Time;
use sinew::scene::Scene;

impl UsdFile {
    /// Authors the `extent` of SkelRoots in the root layer, for the animation that is bound in
    /// `scene`: one value each, which replaces samples. Of `prims`, if there are some, only the
    /// SkelRoots at or above them get one, and otherwise all do.
    ///
    /// # Errors
    /// A pose that cannot be computed; a stage that cannot be composed again.
    pub fn author_extents(&mut self, scene: &Scene, prims: Option<&[String]>) -> Result<()> {
        let mut extents = Vec::new();
        for root in &scene.skel_roots {
            let path = root.path.as_str();
            let is_above = |prim: &String| {
                let below = prim.strip_prefix(path);
                below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if prims.is_none_or(|prims| prims.iter().any(is_above))
                && let Some(extent) = scene.skel_root_extent_of_clip(path)?
            {
                extents.push((path, extent));
            }
        }
        let edited = self.edit_root(|layer| {
            for (path, corners) in &extents {
                let value = vec![(Time::Default, vectors(corners))];
                author(layer, path, "extent", "float3[]", value);
            }
        });
        edited.map_err(|e| Error::open(self.file(), e))
    }
}

//! Extents of SkelRoots, written into an open file.

use glam::Vec3;

use super::edits::author;
use crate::error::{Error, Result};
use crate::usd::file::UsdFile;
use crate::usd::read::values::vectors;
use sinew::sampled::Time;

impl UsdFile {
    /// Authors the `extent` of SkelRoots in the root layer: one value each, which replaces samples.
    ///
    /// # Errors
    /// A stage that cannot be composed again.
    pub fn set_extents(&mut self, extents: &[(String, [Vec3; 2])]) -> Result<()> {
        let edited = self.edit_root(|layer| {
            for (path, corners) in extents {
                let value = vec![(Time::Default, vectors(corners))];
                author(layer, path, "extent", "float3[]", value);
            }
        });
        edited.map_err(|e| Error::open(self.file(), e))
    }
}

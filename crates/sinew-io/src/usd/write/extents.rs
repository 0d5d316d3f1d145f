//! Extents of SkelRoots, written into an open file.

use glam::Vec3;
use openusd::sdf;

use super::edits::author;
use crate::error::{Error, Result};
use crate::usd::file::UsdFile;
use sinew::sampled::Time;

impl UsdFile {
    /// Authors the `extent` of SkelRoots in the root layer: one value each, which replaces samples.
    ///
    /// # Errors
    /// A path that is no prim path; a root layer that cannot be edited.
    pub fn set_extents(&mut self, extents: &[(String, [Vec3; 2])]) -> Result<()> {
        let file = self.file().to_owned();
        let root = self.stage.root_layer().identifier().to_owned();
        let Some(mut layer) = self.stage.layer_mut(&root) else {
            return Err(Error::Edit {
                file,
                reason: "its root layer cannot be edited".into(),
            });
        };
        let edited = layer.edit(|edit| {
            for (path, [low, high]) in extents {
                let data = edit.data_mut();
                // The prim may be defined in another layer.
                sdf::PrimSpec::over(data, path.as_str())?;
                let corners = [*low, *high].map(|v| v.to_array().into());
                let value = sdf::Value::Vec3fVec(corners.to_vec());
                author(
                    data,
                    path,
                    "extent",
                    "float3[]",
                    vec![(Time::Default, value)],
                )?;
            }
            Ok(())
        });
        edited.map(|_| ()).map_err(|e| Error::write(&file, e))
    }
}

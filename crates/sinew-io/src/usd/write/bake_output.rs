//! A bake's file while it is made.

use std::fs::File;
use std::path::{Path, PathBuf};

use glam::Vec3;
use sinew_layer::Layer;
use sinew_layer::usdc::CrateWriter;

use super::save;
use super::save::{Outputs, Written};
use crate::error::{Error, Result, Source};
use crate::usd::file::UsdFile;
use crate::usd::write::edits::{BakeEdits, BakedArray};
use crate::usd::write::flatten::has_extension;
use sinew::sampled::Time;

/// A bake that is being written: it takes arrays one by one, as they are deformed, and at the end
/// the prims that they belong to.
///
/// Samples of a `.usdc` (or `.usd`) go to disk at once, so that memory does not grow with their number. Those of a
/// `.usda` or `.usdz` are held until the end.
pub struct BakeOutput<'a> {
    file: &'a UsdFile,
    output: PathBuf,
    layer: bool,
    /// Where the format can have arrays ahead of the layer.
    arrays: Option<CrateWriter<File>>,
    outputs: Outputs,
}

impl UsdFile {
    /// Begins the file of a bake of this stage: the flattened stage ([`UsdFile::write_flattened`]),
    /// or with `layer` a layer of overs ([`UsdFile::write_layer`]). The file appears under its name
    /// with [`BakeOutput::finish`].
    ///
    /// # Errors
    /// An output that is one of the files that are read; a layer over a file that is not USD; a
    /// folder that cannot be written to.
    pub fn begin_bake(&self, output: &Path, layer: bool) -> Result<BakeOutput<'_>> {
        self.check_output(output)?;
        if layer {
            self.check_layer(output)?;
        }
        self.begin_file(output, layer)
    }

    /// Begins the file of a value clip, which holds samples alone.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn begin_clip(&self, output: &Path) -> Result<BakeOutput<'_>> {
        self.begin_file(output, true)
    }

    fn begin_file(&self, output: &Path, layer: bool) -> Result<BakeOutput<'_>> {
        let mut out = BakeOutput {
            file: self,
            output: output.to_owned(),
            layer,
            arrays: None,
            outputs: Outputs::default(),
        };
        if has_extension(output, "usdc") || has_extension(output, "usd") {
            let file = out.outputs.create(output)?;
            out.arrays = Some(CrateWriter::new(file).map_err(|e| out.failed(e))?);
        }
        Ok(out)
    }
}

impl BakeOutput<'_> {
    /// Takes the values of one property at one time. Properties may come in any order. If the
    /// values went to disk, their vector comes back beside the array, so that its memory can be
    /// used again.
    ///
    /// # Errors
    /// A full disk.
    pub fn keep(
        &mut self,
        time: Time,
        values: Vec<Vec3>,
    ) -> Result<(BakedArray, Option<Vec<Vec3>>)> {
        let Some(arrays) = self.arrays.as_mut().filter(|_| time != Time::Default) else {
            return Ok((values.into(), None));
        };
        let placed = arrays.place_slice::<[f32; 3]>(bytemuck::cast_slice(&values));
        let placed = placed.map_err(|e| self.failed(e))?;
        Ok((BakedArray(placed), Some(values)))
    }

    /// Writes the prims that the arrays belong to, and renames the file to its final name.
    ///
    /// # Errors
    /// A stage that cannot be flattened, a file that cannot be written.
    pub fn finish(self, edits: BakeEdits) -> Result<Written> {
        let (layer, warnings) = match self.layer {
            true => self.file.overs(&self.output, edits)?,
            false => self.file.flattened(&self.output, edits, &[], |_| ())?,
        };
        Ok(self.finish_layer(layer)?.after(warnings))
    }

    /// As [`BakeOutput::finish`], of a layer that is made already.
    pub(crate) fn finish_layer(mut self, mut layer: Layer) -> Result<Written> {
        let Some(mut arrays) = self.arrays.take() else {
            return match self.layer {
                true => save::export(&layer, &self.output)
                    .map(|()| Written::file(&self.output, Vec::new())),
                false => self.file.write_whole(layer, &self.output),
            };
        };
        // What the layer names comes first.
        let mut outputs = Outputs::default();
        if !self.layer {
            let file = self.file;
            file.write_pictures(&mut layer, &self.output, &mut outputs)?;
        }
        let written = arrays.layer(&layer).and_then(|()| arrays.finish());
        written.map_err(|e| self.failed(e))?;
        outputs.append_all(self.outputs);
        Written::finish(outputs, &self.output)
    }

    pub(crate) fn failed(&self, source: impl Into<Source>) -> Error {
        Error::write(&self.output, source)
    }
}

//! Layers as files.

use std::path::Path;

use openusd::sdf;

use crate::openusd_compat::crate_file;
use crate::usd::explain::explain;
use sinew::error::{Error, Result};

pub(crate) use crate::output::{Outputs, replace};

/// Writes a layer beside `output` in the format of its extension, and renames it there.
///
/// # Errors
/// A folder that cannot be written to, a full disk, a value that the format cannot hold.
pub(crate) fn export(layer: &sdf::Layer, output: &Path) -> Result<()> {
    let mut outputs = Outputs::default();
    export_with(layer, output, &mut outputs)?;
    outputs.finish()
}

/// As [`export`], appearing with what else is in `outputs`.
pub(crate) fn export_with(layer: &sdf::Layer, output: &Path, outputs: &mut Outputs) -> Result<()> {
    let fail = |reason: String| Error::Write {
        file: output.to_owned(),
        reason,
    };
    let extension = output
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let format = sdf::LayerRegistry::find_by_extension(extension)
        .ok_or_else(|| fail(format!("no USD format is named .{extension}")))?;
    outputs.file(output, |file| {
        crate_file::write(format, layer.data(), file).map_err(|e| explain(&e))
    })
}

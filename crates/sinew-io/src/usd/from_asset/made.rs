//! Stages in memory, made from files of other formats.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Write;
use std::path::Path;

use glam::Vec3;
use openusd::{sdf, usd_utils};

use crate::output::Outputs;
use crate::usd::explain::explain;
use crate::usd::from_asset::origin::Origin;
use crate::usd::resolver::MemoryFiles;
use sinew::error::{Error, Result};
use sinew::sampled::Sampled;

/// What a stage made from another format has besides its layer.
pub(crate) struct MadeStage {
    /// Pictures by the asset path that the layer has for them.
    pub pictures: MemoryFiles,
    /// Exact scales by the path of their SkelAnimation, beside the layer's half3.
    pub float_scales: HashMap<String, Sampled<Vec<Vec3>>>,
    pub origin: Origin,
    /// Of the layer: the buffers of a glTF file may lie beside it.
    pub fingerprint: u64,
}

impl MadeStage {
    pub fn float_scales(&self, animation: &str) -> Option<Sampled<Vec<Vec3>>> {
        self.float_scales.get(animation).cloned()
    }
}

/// Writes the pictures that a layer names into a folder beside `out`, and has the layer name them there. A file that is
/// there already and holds something else stays: it may be one that the pictures were read from. They appear with what
/// else is in `outputs`.
///
/// # Errors
/// A folder or a file that cannot be written.
pub(crate) fn write_pictures(
    layer: &mut sdf::Layer,
    pictures: &MemoryFiles,
    out: &Path,
    outputs: &mut Outputs,
) -> Result<()> {
    let fail = |reason: String| Error::Write {
        file: out.to_owned(),
        reason,
    };
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let folder_name = format!("{stem}_textures");
    let folder = out.with_file_name(&folder_name);
    let names = file_names(pictures, &folder);
    let mut named = Vec::new();
    usd_utils::modify_asset_paths(
        layer,
        |path| match names.get_key_value(path) {
            Some((known, file_name)) => {
                named.push(*known);
                format!("./{folder_name}/{file_name}")
            }
            None => path.to_owned(),
        },
        true,
    )
    .map_err(|e| fail(explain(&e)))?;
    named.sort_unstable();
    named.dedup();
    if !named.is_empty() {
        outputs.folder(&folder)?;
    }
    for path in named {
        outputs.file(&folder.join(&names[path]), |sink| {
            sink.write_all(&pictures[path]).map_err(|e| e.to_string())
        })?;
    }
    Ok(())
}

/// A file name in the folder for each picture, by its asset path: its own, or with a number behind it where another file,
/// or another picture, has that.
fn file_names<'a>(pictures: &'a MemoryFiles, folder: &Path) -> HashMap<&'a str, String> {
    let mut paths: Vec<&str> = pictures.keys().map(|k| &**k).collect();
    paths.sort_unstable();
    let mut names: HashMap<&str, String> = HashMap::new();
    let mut taken = HashSet::new();
    for path in paths {
        let own = path.rsplit('/').next().unwrap_or(path);
        let (stem, ending) = own.rsplit_once('.').unwrap_or((own, ""));
        let is_free = |name: &String| {
            !taken.contains(name)
                && fs::read(folder.join(name)).map_or(true, |there| there[..] == pictures[path][..])
        };
        let numbered = (2..).map(|n: u64| format!("{stem}_{n}.{ending}"));
        let mut candidates = std::iter::once(own.to_owned()).chain(numbered);
        let name = candidates.find(is_free).unwrap_or_else(|| own.to_owned());
        taken.insert(name.clone());
        names.insert(path, name);
    }
    names
}

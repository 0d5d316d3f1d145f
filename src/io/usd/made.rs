//! Stages in memory, made from files of other formats.

use std::collections::HashMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use glam::Vec3;
use openusd::{sdf, usd_utils};

use super::explain::explain;
use super::from_asset::{self, ConvertOptions};
use super::output;
use super::read::{OpenOptions, UsdFile};
use super::resolver::{IN_MEMORY, MemoryFiles};
use crate::asset::Asset;
use crate::error::{Error, Result, Warning};
use crate::sampled::Sampled;

/// Name of the root layer of a stage in memory.
pub(super) const ROOT: &str = "sinew:root.usdc";

/// What a stage made from another format has besides its layer.
pub(super) struct MadeStage {
    /// Pictures by the asset path that the layer has for them.
    pictures: MemoryFiles,
    /// Exact scales by the path of their SkelAnimation, beside the layer's half3.
    float_scales: HashMap<String, Sampled<Vec<Vec3>>>,
    /// What the reader and the conversion have to say.
    warnings: Vec<Warning>,
}

impl UsdFile {
    /// The UsdSkel stage that an asset becomes, in memory. Of the options the clips and the search paths count.
    ///
    /// # Errors
    /// A clip that the asset does not have; what no UsdSkel can hold: singular bind matrices in use, hundreds of
    /// levels of nodes.
    pub fn from_asset(asset: &Asset, options: &OpenOptions) -> Result<Self> {
        let fail = |reason: String| Error::Open {
            file: asset.file.clone(),
            reason,
        };
        let clips = options.clips.clone();
        let converted = from_asset::author(asset, &ConvertOptions { clips })?;
        let mut root = Cursor::new(Vec::new());
        sdf::LayerRegistry::find_by_extension("usdc")
            .ok_or_else(|| fail("no crate format".into()))?
            .write(&converted.layer, &mut root)
            .map_err(|e| fail(explain(&e)))?;
        drop(converted.layer);
        let images = converted.images.into_iter();
        let pictures: MemoryFiles = images
            .map(|(path, image)| (path, asset.images[image].bytes.as_slice().into()))
            .collect();
        let mut memory = pictures.clone();
        memory.insert(ROOT.to_owned(), root.into_inner().into());
        let mut file = Self::compose(&asset.file, ROOT, options, memory)?;
        let mut warnings = asset.warnings.clone();
        warnings.extend(converted.warnings);
        file.made = Some(MadeStage {
            pictures,
            float_scales: converted.float_scales.into_iter().collect(),
            warnings,
        });
        Ok(file)
    }
}

impl MadeStage {
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    pub fn pictures(&self) -> &MemoryFiles {
        &self.pictures
    }

    pub fn float_scales(&self, animation: &str) -> Option<Sampled<Vec<Vec3>>> {
        self.float_scales.get(animation).cloned()
    }
}

/// The asset path of a picture in memory.
pub(super) fn picture_path(file_name: &str) -> String {
    format!("{IN_MEMORY}textures/{file_name}")
}

/// Writes the pictures that a layer names into a folder beside `out`, and has the layer name them there.
///
/// # Errors
/// A folder or a file that cannot be written.
pub(super) fn write_pictures(
    layer: &mut sdf::Layer,
    pictures: &MemoryFiles,
    out: &Path,
) -> Result<()> {
    let fail = |reason: String| Error::Write {
        file: out.to_owned(),
        reason,
    };
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let folder_name = format!("{stem}_textures");
    let folder = out.with_file_name(&folder_name);
    let mut named = Vec::new();
    usd_utils::modify_asset_paths(
        layer,
        |path| match pictures.get_key_value(path) {
            Some((known, _)) => {
                named.push(known);
                let file_name = path.rsplit('/').next().unwrap_or(path);
                format!("./{folder_name}/{file_name}")
            }
            None => path.to_owned(),
        },
        true,
    )
    .map_err(|e| fail(explain(&e)))?;
    named.sort();
    named.dedup();
    if !named.is_empty() {
        fs::create_dir_all(&folder).map_err(|e| fail(format!("{}: {e}", folder.display())))?;
    }
    for path in named {
        let file = folder.join(path.rsplit('/').next().unwrap_or(path));
        output::replace(&file, |sink| {
            std::io::Write::write_all(sink, &pictures[path]).map_err(|e| e.to_string())
        })?;
    }
    Ok(())
}

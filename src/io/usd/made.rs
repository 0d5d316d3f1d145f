//! Stages in memory, made from files of other formats.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::sync::Arc;

use glam::Vec3;
use openusd::{sdf, usd_utils};

use super::explain::explain;
use super::first_token;
use super::from_asset;
use super::read::{OpenOptions, UsdFile};
use super::resolver::{IN_MEMORY, MemoryFiles};
use crate::asset::{Asset, Format};
use crate::error::{Error, Result, Warning};
use crate::io::output;
use crate::retarget::Bone;
use crate::sampled::Sampled;

/// Name of the root layer of a stage in memory.
const ROOT: &str = "sinew:root.usdc";

/// What the prims of a stage stand for that was made from a file of another format.
#[derive(Clone, Debug)]
pub struct Origin {
    pub format: Format,
    /// Names of all clips in the file, with the seconds of their first and last keys.
    pub clips: Vec<(String, Option<(f64, f64)>)>,
    pub skeletons: Vec<ConvertedSkeleton>,
    /// One for each humanoid map of the file, in its order.
    pub humanoids: Vec<ConvertedHumanoid>,
    /// What was left out or looked doubtful.
    pub warnings: Vec<Warning>,
}

/// A Skeleton made from the nodes of another format.
#[derive(Clone, Debug)]
pub struct ConvertedSkeleton {
    /// Prim path.
    pub path: String,
    /// Name of each clip that moves it, and the path of its SkelAnimation; the bound one first.
    pub animations: Vec<(String, String)>,
    /// Joint of each of the file's nodes.
    pub joint_of_node: Vec<Option<usize>>,
    /// Joint paths.
    pub joints: Vec<String>,
}

/// A humanoid map on a stage's Skeletons.
#[derive(Clone, Debug, Default)]
pub struct ConvertedHumanoid {
    /// Indices of the Skeleton, in [`Origin::skeletons`], and of its joint, for each bone that is one.
    pub bones: BTreeMap<Bone, (usize, usize)>,
}

/// What a stage made from another format has besides its layer.
pub(super) struct MadeStage {
    /// Pictures by the asset path that the layer has for them.
    pictures: MemoryFiles,
    /// Exact scales by the path of their SkelAnimation, beside the layer's half3.
    float_scales: HashMap<String, Sampled<Vec<Vec3>>>,
    origin: Origin,
}

impl UsdFile {
    /// Converts an asset to a stage in memory: what `sinew convert` writes. [`UsdFile::save_as`] writes it.
    ///
    /// # Errors
    /// A clip that the asset does not have; what no UsdSkel can hold.
    pub fn from_asset(asset: &Asset, options: &OpenOptions) -> Result<Self> {
        let fail = |reason: String| Error::Open {
            file: asset.file.clone(),
            reason,
        };
        let converted = from_asset::author(asset, &options.clips)?;
        let mut root = Cursor::new(Vec::new());
        let format = sdf::LayerRegistry::find_by_extension("usdc")
            .ok_or_else(|| fail("no crate format".into()))?;
        first_token::write(format, &converted.layer, &mut root).map_err(|e| fail(explain(&e)))?;
        let picture = |(path, image): &(String, usize)| {
            (
                path.clone(),
                Arc::from(asset.images[*image].bytes.as_slice()),
            )
        };
        let pictures: MemoryFiles = converted.images.iter().map(picture).collect();
        let mut memory = pictures.clone();
        memory.insert(ROOT.to_owned(), root.into_inner().into());
        let mut file = Self::compose(&asset.file, ROOT, options, memory)?;
        file.made = Some(MadeStage {
            pictures,
            float_scales: converted.float_scales.into_iter().collect(),
            origin: Origin {
                format: asset.format,
                clips: asset
                    .clips
                    .iter()
                    .map(|c| (c.name.clone(), c.range()))
                    .collect(),
                skeletons: converted.skeletons,
                humanoids: converted.humanoids,
                warnings: asset
                    .warnings
                    .iter()
                    .cloned()
                    .chain(converted.warnings)
                    .collect(),
            },
        });
        Ok(file)
    }

    /// What the prims stand for where the stage was made from a file of another format.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.made.as_ref().map(|m| &m.origin)
    }
}

impl MadeStage {
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
            sink.write_all(&pictures[path]).map_err(|e| e.to_string())
        })?;
    }
    Ok(())
}

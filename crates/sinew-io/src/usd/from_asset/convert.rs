//! Stages in memory, made from assets of other formats, and what their prims stand for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::Vec3;
use sinew_layer::{Layer, assets};

use crate::error::{Error, Result, Source};
use crate::output::{Outputs, free_name};
use crate::usd::file::{OpenOptions, UsdFile};
use crate::usd::from_asset;
use sinew::error::Warning;
use sinew::sampled::Sampled;
use sinew_animate::asset::{Asset, AssetFormat};
use sinew_animate::retarget::Bone;

/// What the names of layers and pictures in memory begin with; no file on a disk is named so by a layer.
const IN_MEMORY: &str = "sinew:";

/// Name of the root layer of a stage in memory.
pub(super) const ROOT: &str = "sinew:root.usdc";

/// Bytes of pictures by their asset path.
pub(crate) type Pictures = HashMap<String, Arc<[u8]>>;

/// The asset path of a picture in memory.
pub(super) fn picture_path(file_name: &str) -> String {
    format!("{IN_MEMORY}textures/{file_name}")
}

impl UsdFile {
    /// Converts an asset to the stage that `sinew convert` writes, in memory. [`UsdFile::save_as`]
    /// writes it.
    ///
    /// # Errors
    /// [`Error::NoSuchClip`] if the asset lacks a clip; [`Error::Invalid`] or [`Error::TooLarge`]
    /// if UsdSkel cannot hold the asset.
    pub fn from_asset(asset: &Asset, options: &OpenOptions) -> Result<Self> {
        let (layer, converted) = from_asset::author(asset, &options.clips)?;
        let picture = |(path, image): &(String, usize)| {
            (
                path.clone(),
                Arc::from(asset.images[*image].bytes.as_slice()),
            )
        };
        let pictures: Pictures = converted.images.iter().map(picture).collect();
        let layer = Arc::new(layer);
        let in_memory = [(ROOT.to_owned(), Arc::clone(&layer))];
        let mut file = Self::compose(&asset.file, ROOT, options, in_memory)?;
        file.made = Some(MadeStage {
            pictures,
            layer,
            sources: asset.sources.clone(),
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

    /// Returns what the prims stand for, if the stage was made from a file of another format.
    #[must_use]
    pub fn origin(&self) -> Option<&Origin> {
        self.made.as_ref().map(|m| &m.origin)
    }
}

/// What a stage made from another format has besides its layer.
pub(crate) struct MadeStage {
    /// Pictures by the asset path that the layer has for them.
    pub pictures: Pictures,
    /// Exact scales by the path of their SkelAnimation, beside the layer's half3.
    pub float_scales: HashMap<String, Sampled<Vec<Vec3>>>,
    /// Files that the asset was read from, beside its own.
    pub sources: Vec<PathBuf>,
    pub origin: Origin,
    /// The root layer as it was made.
    pub layer: Arc<Layer>,
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
    layer: &mut Layer,
    pictures: &Pictures,
    out: &Path,
    outputs: &mut Outputs,
) -> Result<()> {
    let fail = |source: Source| Error::Write {
        file: out.to_owned(),
        source,
    };
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let folder_name = format!("{stem}_textures");
    let folder = out.with_file_name(&folder_name);
    let names = file_names(pictures, &folder);
    let mut named = Vec::new();
    assets::map(layer, |path| {
        let (known, file_name) = names.get_key_value(path)?;
        named.push(*known);
        Some(format!("./{folder_name}/{file_name}").into())
    })
    .map_err(|e| fail(e.into()))?;
    named.sort_unstable();
    named.dedup();
    for path in named {
        outputs.file(&folder.join(&names[path]), |sink| {
            sink.write_all(&pictures[path]).map_err(|e| e.to_string())
        })?;
    }
    Ok(())
}

/// A file name in the folder for each picture, by its asset path: its own, or with a number behind it where another file,
/// or another picture, has that.
fn file_names<'a>(pictures: &'a Pictures, folder: &Path) -> HashMap<&'a str, String> {
    let mut paths: Vec<&str> = pictures.keys().map(|k| &**k).collect();
    paths.sort_unstable();
    let mut taken = HashSet::new();
    let mut name = |path: &&'a str| {
        let own = path.rsplit('/').next().unwrap_or(path);
        free_name(folder, own, &pictures[*path], &mut taken)
    };
    paths.iter().map(|path| (*path, name(path))).collect()
}

/// What the prims of a stage stand for, if it was made from a file of another format.
#[derive(Clone, Debug)]
pub struct Origin {
    pub format: AssetFormat,
    /// Names of all clips in the file, with the seconds of their first and last keys.
    pub clips: Vec<(String, Option<(f64, f64)>)>,
    pub skeletons: Vec<ConvertedSkeleton>,
    /// One for each humanoid map of the file, in its order.
    pub humanoids: Vec<ConvertedHumanoid>,
    /// What was left out or looked doubtful.
    pub warnings: Vec<Warning>,
}

impl Origin {
    /// Whether characters face -Z, as those of VRM 0.x do. All others face +Z.
    #[must_use]
    pub fn faces_back(&self) -> bool {
        self.format == AssetFormat::Vrm0
    }
}

/// A Skeleton made from the nodes of another format.
#[derive(Clone, Debug)]
pub struct ConvertedSkeleton {
    /// Prim path.
    pub path: String,
    /// Name of each clip that moves it, and the path of its SkelAnimation; the bound one first.
    pub animations: Vec<(String, String)>,
    /// For each node of the file that became a joint, the joint's index.
    pub joint_of_node: HashMap<usize, usize>,
    /// Joint paths.
    pub joints: Vec<String>,
}

/// A humanoid map of the file, on the stage's Skeletons.
#[derive(Clone, Debug, Default)]
pub struct ConvertedHumanoid {
    /// For each bone that is a joint: the index of its Skeleton in [`Origin::skeletons`], and of
    /// the joint.
    pub bones: BTreeMap<Bone, (usize, usize)>,
}

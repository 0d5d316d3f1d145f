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
}

/// Finds files as USD's default resolver does.
#[derive(Debug, Default)]
pub struct FileResolver {
    /// Folders where assets without `./` are looked for after the anchor's folder.
    pub search_paths: Vec<PathBuf>,
}

//! How paths and times of a node become paths and times of the stage.

use std::sync::Arc;

use sinew_layer::Path;
use sinew_layer::value::LayerOffset;

/// Maps paths and times from one namespace to another. The identity owns no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map(Option<Arc<Pairs>>);

/// The content of a map that is not the identity.
#[derive(Debug, PartialEq)]
struct Pairs {
    /// Source and target. The longest source that is a prefix of a path maps it.
    pairs: Vec<(Path, Path)>,
    offset: LayerOffset,
}

impl Map {
    /// A map that changes nothing.
    pub const IDENTITY: Self = Self(None);

    /// Whether this map changes nothing.
    #[must_use]
    pub fn is_identity(&self) -> bool {
        self.0.is_none()
    }

    /// Source time to target time.
    #[must_use]
    pub fn offset(&self) -> LayerOffset {
        self.0.as_ref().map_or(LayerOffset::IDENTITY, |p| p.offset)
    }

    /// A source path's target. None if the map does not reach it.
    #[must_use]
    pub fn to_target(&self, path: &Path) -> Option<Path> {
        match &self.0 {
            None => Some(path.clone()),
            Some(p) => p.pairs.iter().find_map(|(s, t)| path.replace_prefix(s, t)),
        }
    }
}

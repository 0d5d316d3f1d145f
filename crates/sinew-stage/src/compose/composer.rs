//! Opens layers and composes prims.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_layer::value::LayerOffset;
use sinew_layer::{Layer, Path, Token};

use super::index::{ArcKind, Node, PrimIndex};
use super::limits::Limits;
use super::map::Map;
use super::stack::{LayerStack, StackLayer};
use crate::error::Result;
use crate::resolver::Resolver;

/// What to compose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether payloads are composed. Default: true.
    pub load_payloads: bool,
    /// Variants that are selected when no opinion does, by set: the first that exists.
    pub variant_fallbacks: BTreeMap<Token, Vec<Token>>,
    pub limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            load_payloads: true,
            variant_fallbacks: BTreeMap::new(),
            limits: Limits::default(),
        }
    }
}

/// Something wrong in the layers that composition passes over, as usd-core does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable name of the kind of error, such as `missing-asset`.
    pub code: &'static str,
    /// The prim of the stage where it was found; `/` for errors of a layer as a whole.
    pub prim: Path,
    pub message: String,
}

/// Opens the layers of a stage and composes its prims. Prims can be composed in parallel.
pub struct Composer {
    stack: Arc<LayerStack>,
    options: Options,
}

impl Composer {
    /// Opens the root layer with its sublayers. `session` is a layer that is stronger than the root layer.
    ///
    /// # Errors
    /// The root layer cannot be read, or a limit is exceeded.
    pub fn new(
        resolver: Arc<dyn Resolver>,
        root_identifier: &str,
        session: Option<Arc<Layer>>,
        options: Options,
    ) -> Result<Self> {
        let root = StackLayer {
            identifier: root_identifier.to_owned(),
            layer: resolver.open(root_identifier)?,
            offset: LayerOffset::IDENTITY,
        };
        let session = session.map(|layer| StackLayer {
            identifier: layer.name().to_owned(),
            layer,
            offset: LayerOffset::IDENTITY,
        });
        let layers = session.into_iter().chain([root]).collect();
        let stack = Arc::new(LayerStack { layers });
        Ok(Self { stack, options })
    }

    /// What was asked for.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The root layer with its sublayers and the session layer.
    #[must_use]
    pub fn layer_stack(&self) -> &Arc<LayerStack> {
        &self.stack
    }

    /// The index of the stage's root, `/`.
    #[must_use]
    pub fn root(&self) -> PrimIndex {
        self.index(Path::root())
    }

    /// The index of a child prim.
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if a limit is exceeded. Whatever else is wrong is a diagnostic.
    pub fn child(&self, parent: &PrimIndex, name: &str) -> Result<PrimIndex> {
        Ok(self.index(parent.path.child(name)))
    }

    /// All layers that were opened so far, by identifier.
    #[must_use]
    pub fn layers(&self) -> Vec<(String, Arc<Layer>)> {
        let all = self.stack.layers.iter();
        all.map(|l| (l.identifier.clone(), l.layer.clone()))
            .collect()
    }

    /// What was wrong so far, ordered by prim.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        Vec::new()
    }

    fn index(&self, path: Path) -> PrimIndex {
        let node = Node {
            stack: self.stack.clone(),
            path: path.clone(),
            kind: ArcKind::Root,
            parent: None,
            origin: None,
            map: Map::IDENTITY,
            has_specs: true,
        };
        PrimIndex {
            path,
            nodes: Box::new([node]),
        }
    }
}

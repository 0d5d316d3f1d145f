//! Opens layers and composes prims.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_layer::{Layer, Path, Token};

use super::graph::Graph;
use super::index::{Node, PrimIndex};
use super::indexer;
use super::library::Library;
use super::limits::Limits;
use super::stack::{self, LayerStack};
use super::work::Work;
use crate::error::{Error, Result};
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

pub(crate) const CLIP_SET_INVALID: &str = "clip-set-invalid";

/// The codes of all diagnostics.
pub const DIAGNOSTIC_CODES: &[&str] = &[
    "missing-asset",
    "unreadable-layer",
    "missing-prim",
    "missing-default-prim",
    "arc-cycle",
    "sublayer-cycle",
    "bad-path",
    "bad-offset",
    "bad-expression",
    "bad-relocate",
    "arc-to-moved-prim",
    "opinion-at-moved-prim",
    CLIP_SET_INVALID,
];

/// Something wrong in the layers that composition passes over, as usd-core does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable name of the kind of error, one of [`DIAGNOSTIC_CODES`].
    pub code: &'static str,
    /// The prim of the stage where it was found; `/` for errors of a layer as a whole.
    pub prim: Path,
    pub message: String,
}

/// Opens the layers of a stage and composes its prims. Prims can be composed in parallel.
pub struct Composer {
    library: Library,
    stack: Arc<LayerStack>,
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
        let library = Library::new(resolver, options);
        let layer = library.open_root(root_identifier)?;
        if let Some(session) = &session {
            library.add_bytes(session);
        }
        let root = Path::root();
        let work = Work::new(&library, &root);
        let stack = stack::build(&library, &work, root_identifier, layer, session, None)?;
        work.finish();
        let stack = Arc::new(stack);
        Ok(Self { library, stack })
    }

    /// What was asked for.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.library.options
    }

    /// The root layer with its sublayers and the session layer.
    #[must_use]
    pub fn layer_stack(&self) -> &Arc<LayerStack> {
        &self.stack
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.library.options.limits
    }

    /// An error if `count` is more than a limit with one for each byte of the layers that were read so far.
    pub(crate) fn limit(&self, count: usize, limit: usize, prim: &Path, of: &str) -> Result<()> {
        let most = limit.saturating_add(self.library.bytes());
        match count <= most {
            true => Ok(()),
            false => Err(Error::TooLarge {
                prim: prim.to_string(),
                reason: format!("more than {most} {of}, the limit for the files it was read from"),
            }),
        }
    }

    /// The index of the stage's root, `/`.
    #[must_use]
    pub fn root(&self) -> PrimIndex {
        Graph::new(Node::site(self.stack.clone(), Path::root())).finish()
    }

    /// The index of a child prim. `name` is one of the parent's [`child_names`](PrimIndex::child_names).
    ///
    /// # Errors
    /// [`Error::TooLarge`](crate::Error::TooLarge) if a limit is exceeded. Whatever else is wrong is a diagnostic.
    pub fn child(&self, parent: &PrimIndex, name: &str) -> Result<PrimIndex> {
        let path = parent.path().child(name);
        let work = Work::new(&self.library, &path);
        let graph = self
            .library
            .add_prim(&work)
            .and_then(|()| indexer::child(&work, None, parent.to_graph(), name, true));
        work.finish();
        let index = graph?.finish();
        self.library.add_memory(&index)?;
        Ok(index)
    }

    /// All layers that were opened so far, by identifier.
    #[must_use]
    pub fn layers(&self) -> Vec<(String, Arc<Layer>)> {
        self.library.layers()
    }

    /// What was wrong so far, ordered by prim.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.library.diagnostics()
    }
}

//! A stage: all prims of a root layer and of what it brings in, composed once.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_layer::{Layer, Path, Token, Value};

use crate::compose::{LayerStack, Limits};
use crate::error::Result;
use crate::prim::{Predicate, Prim, Traversal};
use crate::resolver::Resolver;

/// What to open, and how.
#[derive(Clone)]
pub struct StageOptions {
    /// Finds and opens layers.
    pub resolver: Arc<dyn Resolver>,
    /// The root layer: an asset path, or an identifier of the resolver.
    pub root: String,
    /// A layer that is stronger than the root layer.
    pub session: Option<Arc<Layer>>,
    /// Whether payloads are composed.
    pub load_payloads: bool,
    /// Variants that are selected when no opinion does, by set: the first that exists.
    pub variant_fallbacks: BTreeMap<Token, Vec<Token>>,
    /// How large the stage may grow.
    pub limits: Limits,
}

impl StageOptions {
    /// A root layer with all payloads, without a session layer and with the usual limits.
    #[must_use]
    pub fn new(resolver: Arc<dyn Resolver>, root: impl Into<String>) -> Self {
        Self {
            resolver,
            root: root.into(),
            session: None,
            load_payloads: true,
            variant_fallbacks: BTreeMap::new(),
            limits: Limits::default(),
        }
    }
}

/// All prims of a root layer and of what it brings in. Everything is composed when the stage is opened; values are
/// read when they are asked for.
pub struct Stage {
    pub(crate) options: StageOptions,
}

impl Stage {
    /// Opens the root layer, and composes all prims.
    ///
    /// # Errors
    /// The root layer is not there or broken, or the stage exceeds the limits. Layers that only arcs name are no
    /// errors: see [`Stage::diagnostics`].
    pub fn open(options: StageOptions) -> Result<Self> {
        Ok(Self { options })
    }

    /// The root layer.
    #[must_use]
    pub fn root_layer(&self) -> &Arc<Layer> {
        todo!()
    }

    /// The root layer's identifier.
    #[must_use]
    pub fn root_identifier(&self) -> &str {
        &self.options.root
    }

    /// The session layer, if there is one.
    #[must_use]
    pub fn session_layer(&self) -> Option<&Arc<Layer>> {
        self.options.session.as_ref()
    }

    /// Every layer that contributes to the stage, with its identifier; the root layer's stack first. Layers of value
    /// clips are not among them.
    pub fn layers(&self) -> impl Iterator<Item = (&str, &Arc<Layer>)> {
        std::iter::empty()
    }

    /// The root layer with its sublayers, below the session layer with its own.
    #[must_use]
    pub fn layer_stack(&self) -> &LayerStack {
        todo!()
    }

    /// Changes a layer in memory, and composes the stage anew. Nothing is written to a file.
    ///
    /// # Errors
    /// As [`Stage::open`]; the stage is then as it was. No layer of the stage has this identifier.
    pub fn edit(&mut self, identifier: &str, change: impl FnOnce(&mut Layer)) -> Result<()> {
        let _ = (identifier, change);
        Ok(())
    }

    /// What could not be composed: missing layers, references to prims that are not there, arcs in circles.
    pub fn diagnostics(&self) -> impl Iterator<Item = String> {
        std::iter::empty()
    }

    /// A field of the stage's metadata: the session layer's value, else the root layer's, else the fallback.
    ///
    /// # Errors
    /// The value lies in a file that is broken there.
    pub fn metadata(&self, name: &str) -> Result<Option<Value>> {
        let _ = name;
        Ok(None)
    }

    /// Time codes a second: as authored, else the frames a second, else 24.
    #[must_use]
    pub fn time_codes_per_second(&self) -> f64 {
        24.0
    }

    /// Frames a second: as authored, else 24.
    #[must_use]
    pub fn frames_per_second(&self) -> f64 {
        24.0
    }

    /// The first time code, if one is authored.
    #[must_use]
    pub fn start_time_code(&self) -> Option<f64> {
        None
    }

    /// The last time code, if one is authored.
    #[must_use]
    pub fn end_time_code(&self) -> Option<f64> {
        None
    }

    /// The prim at an absolute path: an instance proxy if it lies below an instance.
    #[must_use]
    pub fn prim(&self, path: &Path) -> Option<Prim<'_>> {
        let _ = path;
        None
    }

    /// The prim above all others, `/`.
    #[must_use]
    pub fn pseudo_root(&self) -> Prim<'_> {
        Prim {
            stage: self,
            id: 0,
            chain: 0,
        }
    }

    /// The prototypes that instances share, `/__Prototype_1` and so on.
    pub fn prototypes(&self) -> impl Iterator<Item = Prim<'_>> {
        std::iter::empty()
    }

    /// All prims that `predicate` lets through, parents before their children, in namespace order. Prims below one that is not
    /// let through are left out too. The pseudo root is not among them.
    #[must_use]
    pub fn traverse(&self, predicate: Predicate) -> Traversal<'_> {
        self.pseudo_root().descendants(predicate)
    }
}

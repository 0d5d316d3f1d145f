//! Value clips: samples of attributes in layers of their own, which are opened when a value is asked for.

pub(crate) mod definition;
mod set;
mod timing;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use sinew_layer::{Layer, Path};

use crate::compose::Diagnostic;
use crate::resolver::Resolver;

pub(crate) use set::ClipSet;

/// The layers of clips, each opened once, when it is first needed.
pub(crate) struct ClipLayers {
    pub resolver: Arc<dyn Resolver>,
    /// How many clips the templates of the stage have named so far.
    named: AtomicUsize,
    opened: Mutex<HashMap<String, Option<Arc<Layer>>>>,
    /// What is wrong with clips that cannot be opened, each once.
    failed: Mutex<Vec<Diagnostic>>,
}

impl ClipLayers {
    pub fn new(resolver: Arc<dyn Resolver>) -> Self {
        Self {
            resolver,
            named: AtomicUsize::new(0),
            opened: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// Counts clips that a template names; false if all templates together name more than `most`.
    fn count(&self, clips: usize, most: usize) -> bool {
        self.named.fetch_add(clips, Relaxed).saturating_add(clips) <= most
    }

    /// What is wrong with the clips that were asked for and cannot be opened.
    pub fn failed(&self) -> Vec<Diagnostic> {
        let failed = self.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, code: &'static str, message: String) {
        log::warn!("{message}");
        let message = Diagnostic {
            code,
            prim: Path::root(),
            message,
        };
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if !failed.contains(&message) {
            failed.push(message);
        }
    }

    /// The layer that `asset` names in the layer `anchor`. One that cannot be opened has no samples, as in usd-core.
    fn open(&self, asset: &str, anchor: &str) -> Option<Arc<Layer>> {
        let identifier = self.resolver.resolve(asset, Some(anchor));
        let Some(identifier) = identifier else {
            let text = format!("{anchor}: the clip @{asset}@ is not there");
            self.fail("missing-asset", text);
            return None;
        };
        let lock = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&identifier) {
            return known.clone();
        }
        let layer = self.resolver.open(&identifier);
        let layer = layer
            .inspect_err(|e| {
                self.fail(
                    "unreadable-layer",
                    format!("{anchor}: the clip @{asset}@: {e}"),
                )
            })
            .ok();
        lock().entry(identifier).or_insert(layer).clone()
    }
}

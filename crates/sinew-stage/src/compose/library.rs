//! The layers and layer stacks of a stage, opened once each.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use sinew_layer::{Layer, Path};

use super::composer::{Diagnostic, Options};
use super::index::PrimIndex;
use super::stack::{self, LayerStack, Variables};
use super::work::Work;
use crate::error::{Error, Result};
use crate::resolver::Resolver;

/// How many diagnostics are kept.
const MAX_DIAGNOSTICS: usize = 10_000;

/// A layer, or why it cannot be read.
type Opened = Result<Arc<Layer>, String>;

/// The root layer's identifier and the address of the variables: stacks with other variables are other stacks.
type StackKey = (String, usize);

/// Opens layers, keeps them, and counts what the stage costs.
pub(super) struct Library {
    resolver: Arc<dyn Resolver>,
    pub options: Options,
    layers: Mutex<HashMap<String, Arc<OnceLock<Opened>>>>,
    stacks: Mutex<HashMap<StackKey, Arc<LayerStack>>>,
    /// Identifiers by anchor and asset.
    resolved: RwLock<HashMap<String, HashMap<String, Option<String>>>>,
    bytes: AtomicUsize,
    nodes: AtomicUsize,
    /// Bytes of memory that the composed prims take.
    memory: AtomicUsize,
    prims: AtomicUsize,
    diagnostics: Mutex<BTreeMap<(Path, &'static str, String), ()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Library {
    pub fn new(resolver: Arc<dyn Resolver>, options: Options) -> Self {
        Self {
            resolver,
            options,
            layers: Mutex::default(),
            stacks: Mutex::default(),
            resolved: RwLock::default(),
            bytes: AtomicUsize::new(0),
            nodes: AtomicUsize::new(0),
            memory: AtomicUsize::new(0),
            prims: AtomicUsize::new(0),
            diagnostics: Mutex::default(),
        }
    }

    /// The identifier of an asset that a layer names.
    pub fn resolve(&self, asset: &str, anchor: &str) -> Option<String> {
        let known = self.resolved.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(anchor).and_then(|assets| assets.get(asset)) {
            return found.clone();
        }
        drop(known);
        let found = self.resolver.resolve(asset, Some(anchor));
        let mut known = self
            .resolved
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let assets = known.entry(anchor.to_owned()).or_default();
        assets.insert(asset.to_owned(), found.clone());
        found
    }

    /// A layer, which is read at its first use. The inner error says why it cannot be read.
    pub fn open(&self, identifier: &str, work: &Work<'_>) -> Result<Opened> {
        let slot = {
            let mut layers = lock(&self.layers);
            match layers.get(identifier) {
                Some(slot) => slot.clone(),
                None => {
                    let limit = self.options.limits.layers;
                    if layers.len() >= limit {
                        return Err(work.too_large(format!("more than {limit} layers")));
                    }
                    layers.entry(identifier.to_owned()).or_default().clone()
                }
            }
        };
        let open = || match self.resolver.open(identifier) {
            Ok(layer) => {
                self.add_bytes(&layer);
                Ok(layer)
            }
            Err(e) => Err(e.to_string()),
        };
        Ok(slot.get_or_init(open).clone())
    }

    /// Opens the root layer of the stage, whose errors are errors.
    pub fn open_root(&self, identifier: &str) -> Result<Arc<Layer>> {
        let layer = self.resolver.open(identifier)?;
        self.add_bytes(&layer);
        let slot = Arc::new(OnceLock::from(Ok(layer.clone())));
        lock(&self.layers).insert(identifier.to_owned(), slot);
        Ok(layer)
    }

    /// Counts a layer's bytes: larger files may make larger stages.
    pub fn add_bytes(&self, layer: &Layer) {
        let size = self.resolver.size(layer);
        self.bytes.fetch_add(size, Relaxed);
    }

    /// The stack of a layer that a stack with these variables references.
    pub fn stack(
        &self,
        identifier: &str,
        variables: &Arc<Variables>,
        work: &Work<'_>,
    ) -> Result<Result<Arc<LayerStack>, String>> {
        let key = (identifier.to_owned(), Arc::as_ptr(variables) as usize);
        if let Some(stack) = lock(&self.stacks).get(&key) {
            return Ok(Ok(stack.clone()));
        }
        let layer = match self.open(identifier, work)? {
            Ok(layer) => layer,
            Err(e) => return Ok(Err(e)),
        };
        let stack = stack::build(self, work, identifier, layer, None, Some(variables))?;
        // Another thread may have been faster: there is one stack for a key.
        let mut stacks = lock(&self.stacks);
        Ok(Ok(stacks
            .entry(key)
            .or_insert_with(|| Arc::new(stack))
            .clone()))
    }

    /// All layers that could be read.
    pub fn layers(&self) -> Vec<(String, Arc<Layer>)> {
        let layers = lock(&self.layers);
        let mut out: Vec<_> = layers
            .iter()
            .filter_map(|(name, slot)| Some((name.clone(), slot.get()?.as_ref().ok()?.clone())))
            .collect();
        out.sort_by(|a, b| a.0.cmp(&b.0));
        out
    }

    /// How many nodes the stage may have.
    pub fn nodes_limit(&self) -> usize {
        let limits = &self.options.limits;
        let by_size = self.bytes().saturating_mul(limits.nodes_per_byte);
        limits.nodes.saturating_add(by_size)
    }

    /// How many bytes the layers have that were read so far.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// How many nodes may still be made.
    pub fn nodes_left(&self) -> usize {
        self.nodes_limit().saturating_sub(self.nodes.load(Relaxed))
    }

    pub fn add_nodes(&self, count: usize) {
        self.nodes.fetch_add(count, Relaxed);
    }

    /// Counts the memory of a composed prim.
    pub fn add_memory(&self, prim: &PrimIndex) -> Result<()> {
        let limits = &self.options.limits;
        let bytes = self.bytes();
        let by_size = bytes.saturating_mul(limits.memory_per_byte);
        let most = limits.memory.saturating_add(by_size);
        let size = prim.memory();
        match self.memory.fetch_add(size, Relaxed).saturating_add(size) <= most {
            true => Ok(()),
            false => Err(Error::TooLarge {
                prim: prim.path().to_string(),
                reason: format!(
                    "the composed prims take more than {most} bytes of memory, the limit for layers of {bytes} bytes"
                ),
            }),
        }
    }

    /// Counts a prim.
    pub fn add_prim(&self, work: &Work<'_>) -> Result<()> {
        let limit = self.options.limits.prims;
        match self.prims.fetch_add(1, Relaxed) < limit {
            true => Ok(()),
            false => Err(work.too_large(format!("more than {limit} prims"))),
        }
    }

    pub fn add_diagnostics(&self, new: Vec<Diagnostic>) {
        if new.is_empty() {
            return;
        }
        let mut all = lock(&self.diagnostics);
        for d in new {
            if all.len() < MAX_DIAGNOSTICS {
                all.insert((d.prim, d.code, d.message), ());
            }
        }
    }

    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let all = lock(&self.diagnostics);
        let all = all.keys().cloned();
        all.map(|(prim, code, message)| Diagnostic {
            code,
            prim,
            message,
        })
        .collect()
    }
}

//! A stage: all prims of a root layer and of what it brings in, composed once.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use sinew_layer::layer::field;
use sinew_layer::{Layer, Path, Token, Value};

use crate::clips::ClipLayers;
use crate::compose::{Composer, Diagnostic, LayerStack, Limits, Options};
use crate::error::{Error, Result};
use crate::metadata;
use crate::population::{NONE, Population, PrimData, fallback_types};
use crate::prim::{Predicate, Prim, Traversal};
use crate::resolver::Resolver;
use crate::schema;

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
    options: StageOptions,
    /// Layers that were changed in memory, by identifier.
    edited: HashMap<String, Arc<Layer>>,
    content: Content,
}

/// What is composed anew after an edit.
struct Content {
    composer: Composer,
    root_identifier: String,
    root_layer: Arc<Layer>,
    /// The resolver that also knows edited layers.
    resolver: Arc<dyn Resolver>,
    layers: Vec<(String, Arc<Layer>)>,
    diagnostics: Vec<Diagnostic>,
    clip_layers: Arc<ClipLayers>,
    population: Population,
    by_path: HashMap<Path, u32, foldhash::fast::RandomState>,
    chains: RwLock<Chains>,
}

/// The instances through which instance proxies are seen. A chain is an instance and the chain through which it is itself
/// seen; 0 is none.
#[derive(Default)]
struct Chains {
    all: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u32, foldhash::fast::RandomState>,
}

/// Gives edited layers in place of those of another resolver.
struct Edited {
    resolver: Arc<dyn Resolver>,
    edited: HashMap<String, Arc<Layer>>,
}

impl Resolver for Edited {
    fn resolve(&self, asset: &str, anchor: Option<&str>) -> Option<String> {
        self.resolver.resolve(asset, anchor)
    }

    fn anchored(&self, asset: &str, anchor: &str) -> Option<String> {
        self.resolver.anchored(asset, anchor)
    }

    fn open(&self, identifier: &str) -> sinew_layer::Result<Arc<Layer>> {
        match self.edited.get(identifier) {
            Some(layer) => Ok(Arc::clone(layer)),
            None => self.resolver.open(identifier),
        }
    }

    fn size(&self, layer: &Layer) -> usize {
        self.resolver.size(layer)
    }
}

impl Content {
    fn compose(options: &StageOptions, edited: &HashMap<String, Arc<Layer>>) -> Result<Self> {
        let resolver: Arc<dyn Resolver> = match edited.is_empty() {
            true => Arc::clone(&options.resolver),
            false => Arc::new(Edited {
                resolver: Arc::clone(&options.resolver),
                edited: edited.clone(),
            }),
        };
        let found = resolver.resolve(&options.root, None);
        let root_identifier = found.unwrap_or_else(|| options.root.clone());
        let composer = Composer::new(
            Arc::clone(&resolver),
            &root_identifier,
            options.session.clone(),
            Options {
                load_payloads: options.load_payloads,
                variant_fallbacks: options.variant_fallbacks.clone(),
                limits: options.limits,
            },
        )?;
        let stack = composer.layer_stack();
        let root = stack
            .layers
            .iter()
            .find(|l| l.identifier == root_identifier);
        let root_layer = match root {
            Some(root) => Arc::clone(&root.layer),
            None => resolver.open(&root_identifier)?,
        };
        let fallback = root_layer
            .get(&Path::root(), "fallbackPrimTypes")
            .unwrap_or(None);
        let clip_layers = Arc::new(ClipLayers::new(Arc::clone(&resolver)));
        let population = Population::compose(&composer, &clip_layers, &fallback_types(fallback))?;
        let mut by_path = HashMap::default();
        by_path.reserve(population.prims.len());
        for (id, prim) in population.prims.iter().enumerate() {
            by_path.insert(prim.path.clone(), id as u32);
        }
        Ok(Self {
            layers: composer.layers(),
            diagnostics: composer.diagnostics(),
            composer,
            root_identifier,
            root_layer,
            resolver,
            clip_layers,
            population,
            by_path,
            chains: RwLock::default(),
        })
    }
}

impl Stage {
    /// Opens the root layer, and composes all prims.
    ///
    /// # Errors
    /// The root layer is not there or broken, or the stage exceeds the limits. Layers that only arcs name are no
    /// errors: see [`Stage::diagnostics`].
    pub fn open(options: StageOptions) -> Result<Self> {
        let edited = HashMap::new();
        Ok(Self {
            content: Content::compose(&options, &edited)?,
            options,
            edited,
        })
    }

    /// The root layer.
    #[must_use]
    pub fn root_layer(&self) -> &Arc<Layer> {
        &self.content.root_layer
    }

    /// The root layer's identifier.
    #[must_use]
    pub fn root_identifier(&self) -> &str {
        &self.content.root_identifier
    }

    /// The session layer, if there is one.
    #[must_use]
    pub fn session_layer(&self) -> Option<&Arc<Layer>> {
        self.options.session.as_ref()
    }

    /// The resolver that opened the stage.
    #[must_use]
    pub fn resolver(&self) -> &Arc<dyn Resolver> {
        &self.content.resolver
    }

    /// Every layer that contributes to the stage, with its identifier; the root layer's stack first. Layers of value
    /// clips are not among them.
    pub fn layers(&self) -> impl Iterator<Item = (&str, &Arc<Layer>)> {
        self.content.layers.iter().map(|(i, l)| (i.as_str(), l))
    }

    /// The root layer with its sublayers, below the session layer with its own.
    #[must_use]
    pub fn layer_stack(&self) -> &LayerStack {
        self.content.composer.layer_stack()
    }

    /// Changes a layer in memory, and composes the stage anew. Nothing is written to a file.
    ///
    /// # Errors
    /// As [`Stage::open`]; the stage is then as it was. No layer of the stage has this identifier.
    pub fn edit(&mut self, identifier: &str, change: impl FnOnce(&mut Layer)) -> Result<()> {
        let is_session = |l: &&Arc<Layer>| l.name() == identifier;
        if let Some(session) = self.options.session.as_ref().filter(is_session) {
            let mut layer = Layer::clone(session);
            change(&mut layer);
            let mut options = self.options.clone();
            options.session = Some(Arc::new(layer));
            self.content = Content::compose(&options, &self.edited)?;
            self.options = options;
            return Ok(());
        }
        let known = self
            .layers()
            .find(|(i, _)| *i == identifier)
            .map(|(_, l)| l);
        let Some(layer) = known else {
            return Err(Error::NoSuchLayer(identifier.to_owned()));
        };
        let mut layer = Layer::clone(layer);
        change(&mut layer);
        let mut edited = self.edited.clone();
        edited.insert(identifier.to_owned(), Arc::new(layer));
        self.content = Content::compose(&self.options, &edited)?;
        self.edited = edited;
        Ok(())
    }

    /// What could not be composed: missing layers, references to prims that are not there, arcs in circles, clips that
    /// are not used; clips that cannot be opened, once a value of theirs was asked for.
    pub fn diagnostics(&self) -> impl Iterator<Item = Diagnostic> {
        let composed = self.content.diagnostics.iter();
        let messages = self.content.population.messages.iter();
        let known = composed.chain(messages).cloned();
        known.chain(self.content.clip_layers.failed())
    }

    /// A field of the stage's metadata: the session layer's value, else the root layer's, else the fallback. Dictionaries of
    /// both are merged.
    ///
    /// # Errors
    /// The value lies in a file that is broken there.
    pub fn metadata(&self, name: &str) -> Result<Option<Value>> {
        Ok(match self.authored_metadata(name)? {
            Some(value) => Some(value),
            None => schema::layer_fallback(name),
        })
    }

    /// A field of the stage's metadata that the session layer or the root layer has.
    ///
    /// # Errors
    /// The value lies in a file that is broken there.
    pub fn authored_metadata(&self, name: &str) -> Result<Option<Value>> {
        let layers = self.session_layer().into_iter().chain([self.root_layer()]);
        let mut found: Option<Value> = None;
        for layer in layers {
            match (&mut found, layer.get(&Path::root(), name)?) {
                (None, value) => found = value,
                (Some(Value::Dictionary(strong)), Some(Value::Dictionary(weak))) => {
                    metadata::merge(strong, &weak)
                }
                _ => {}
            }
        }
        Ok(found)
    }

    /// The names of the stage's metadata that have an opinion, sorted.
    #[must_use]
    pub fn authored_metadata_names(&self) -> Vec<Token> {
        let layers = self.session_layer().into_iter().chain([self.root_layer()]);
        let fields = layers.flat_map(|l| l.root().fields.iter());
        let names = fields.map(|(name, _)| name.clone());
        let mut names: Vec<Token> = names.filter(|n| !metadata::is_private(n)).collect();
        crate::names::sort(&mut names);
        names
    }

    fn number(&self, name: &str) -> Option<f64> {
        match self.authored_metadata(name) {
            Ok(Some(Value::Double(number))) => Some(number),
            Ok(Some(Value::Float(number))) => Some(number.into()),
            _ => None,
        }
    }

    /// Time codes a second: as authored, else the frames a second, else 24.
    #[must_use]
    pub fn time_codes_per_second(&self) -> f64 {
        // The session layer counts first, with either field.
        for layer in self.session_layer().into_iter().chain([self.root_layer()]) {
            for name in ["timeCodesPerSecond", "framesPerSecond"] {
                if let Ok(Some(Value::Double(rate))) = layer.get(&Path::root(), name) {
                    return rate;
                }
            }
        }
        24.0
    }

    /// Frames a second: as authored, else 24.
    #[must_use]
    pub fn frames_per_second(&self) -> f64 {
        self.number("framesPerSecond").unwrap_or(24.0)
    }

    /// The first time code, if one is authored.
    #[must_use]
    pub fn start_time_code(&self) -> Option<f64> {
        self.number("startTimeCode")
    }

    /// The last time code, if one is authored.
    #[must_use]
    pub fn end_time_code(&self) -> Option<f64> {
        self.number("endTimeCode")
    }

    /// The prim that references to this stage mean if they name none.
    #[must_use]
    pub fn default_prim(&self) -> Option<Prim<'_>> {
        let name = match self.root_layer().get(&Path::root(), field::DEFAULT_PRIM) {
            Ok(Some(Value::Token(name))) if !name.is_empty() => name,
            _ => return None,
        };
        let path = match name.starts_with('/') {
            true => Path::parse(&name).ok()?,
            false => Path::parse(&format!("/{name}")).ok()?,
        };
        self.prim(&path)
    }

    /// The prim at an absolute path: an instance proxy if it lies below an instance.
    #[must_use]
    pub fn prim(&self, path: &Path) -> Option<Prim<'_>> {
        if !path.is_prim() && !path.is_root() || path.has_variants() {
            return None;
        }
        if let Some(id) = self.content.by_path.get(path) {
            return Some(self.handle(*id, 0));
        }
        // Up to what is there, then down again through instances.
        let mut names = Vec::new();
        let mut at = path.clone();
        let mut prim = loop {
            let parent = at.parent()?;
            names.push(Token::new(at.name()));
            at = parent;
            if let Some(id) = self.content.by_path.get(&at) {
                break self.handle(*id, 0);
            }
        };
        while let Some(name) = names.pop() {
            prim = prim.child(&name)?;
        }
        Some(prim)
    }

    /// The prim above all others, `/`.
    #[must_use]
    pub fn pseudo_root(&self) -> Prim<'_> {
        self.handle(0, 0)
    }

    /// The prototypes that instances share, `/__Prototype_1` and so on.
    pub fn prototypes(&self) -> impl Iterator<Item = Prim<'_>> {
        self.population()
            .prototypes
            .iter()
            .map(|id| self.handle(*id, 0))
    }

    /// All prims that `predicate` lets through, parents before their children, in namespace order. Prims below one that is not
    /// let through are left out too. The pseudo root is not among them.
    #[must_use]
    pub fn traverse(&self, predicate: Predicate) -> Traversal<'_> {
        self.pseudo_root().descendants(predicate)
    }

    pub(crate) fn handle(&self, id: u32, chain: u32) -> Prim<'_> {
        Prim {
            stage: self,
            id,
            chain,
        }
    }

    /// An error if a flattened stage would have too many specs.
    pub(crate) fn check_flattened(&self, specs: usize, at: &Path) -> Result<()> {
        let composer = &self.content.composer;
        let limit = composer.limits().flattened;
        composer.limit(specs, limit, at, "prims and properties in one layer")
    }

    pub(crate) fn population(&self) -> &Population {
        &self.content.population
    }

    pub(crate) fn data(&self, id: u32) -> &PrimData {
        debug_assert_ne!(id, NONE);
        &self.content.population.prims[id as usize]
    }

    pub(crate) fn id_at(&self, path: &Path) -> Option<u32> {
        self.content.by_path.get(path).copied()
    }

    /// The chain through an instance, which is itself seen through `chain`.
    pub(crate) fn chain(&self, chain: u32, instance: u32) -> u32 {
        let chains = &self.content.chains;
        let read = chains.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = read.numbers.get(&(chain, instance)) {
            return *number;
        }
        drop(read);
        let mut chains = chains.write().unwrap_or_else(PoisonError::into_inner);
        let next = chains.all.len() as u32 + 1;
        let number = *chains.numbers.entry((chain, instance)).or_insert(next);
        if number == next {
            chains.all.push((chain, instance));
        }
        number
    }

    /// The instance through which a chain's prims are seen.
    pub(crate) fn instance(&self, chain: u32) -> Option<Prim<'_>> {
        let chains = self
            .content
            .chains
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let (outer, instance) = *chains.all.get(chain.checked_sub(1)? as usize)?;
        drop(chains);
        Some(self.handle(instance, outer))
    }
}

#[cfg(test)]
mod tests {
    use sinew_layer::Files;

    use super::*;
    use crate::resolver::FileResolver;

    fn open(text: &str) -> Stage {
        let layer = sinew_layer::usda::parse("root.usda", text.as_bytes()).unwrap();
        let mut resolver = FileResolver::default();
        resolver.add_layer("root.usda", Arc::new(layer));
        Stage::open(StageOptions::new(Arc::new(resolver), "root.usda")).unwrap()
    }

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    const INSTANCES: &str = include_str!("instances.usda");

    #[test]
    fn instances_share_a_prototype_and_are_seen_through_proxies() {
        let stage = open(INSTANCES);
        assert_eq!(stage.prototypes().count(), 1);
        let proxy = stage.prim(&path("/I2/C")).unwrap();
        assert!(proxy.is_instance_proxy() && proxy.is_a("PointBased"));
        assert_eq!(proxy.path(), path("/I2/C"));
        assert_eq!(proxy.parent(), stage.prim(&path("/I2")));
        assert_eq!(proxy.relationship("to").targets(), [path("/I2")]);
        let inside = proxy.prim_in_prototype().unwrap();
        assert_eq!(inside.path(), path("/__Prototype_1/C"));
        assert_eq!(
            inside.relationship("to").targets(),
            [path("/__Prototype_1")]
        );
        let names = |predicate| {
            stage
                .traverse(predicate)
                .map(|p| p.path().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(Predicate::ALL), ["/R", "/R/C", "/I1", "/I2"]);
        assert_eq!(names(Predicate::DEFAULT_PROXIES).len(), 6);
        assert!(stage.prim(&path("/I2/Nothing")).is_none());
    }

    #[test]
    fn instances_with_other_clips_have_other_prototypes() {
        let clips = |prim: &str| {
            format!(
                "clips = {{ dictionary default = {{
                    asset[] assetPaths = [@clip@]\n string primPath = \"{prim}\"
                    double2[] active = [(0, 0)]\n double2[] times = [(0, 0)]\n asset manifestAssetPath = @clip@
                }} }}"
            )
        };
        let instance = |name: &str, clips: String| {
            format!("def \"{name}\" (references = </R>\n instanceable = true\n {clips}) {{}}\n")
        };
        let count = |second: String| {
            let first = instance("I1", clips("/C"));
            let text = format!(
                "#usda 1.0\ndef \"R\" {{}}\n{first}{}",
                instance("I2", second)
            );
            let clip = b"#usda 1.0\ndef \"C\" {}\n".to_vec();
            let files = Files::in_memory([("root.usda", text.into_bytes()), ("clip", clip)]);
            let resolver = FileResolver::of(files);
            let stage = Stage::open(StageOptions::new(Arc::new(resolver), "root.usda")).unwrap();
            stage.prototypes().count()
        };
        // The clips belong to the prims that have them, so even equal ones are other clips.
        assert_eq!(count(clips("/D")), 2);
        assert_eq!(count(String::new()), 2);
    }

    #[test]
    fn edits_compose_the_stage_anew() {
        let mut stage = open(INSTANCES);
        assert_eq!(stage.time_codes_per_second(), 30.0);
        let edit = |layer: &mut Layer| {
            let over = layer.spec_mut(&path("/R")).unwrap();
            over.fields.set(field::ACTIVE, Value::Bool(false));
            layer
                .root_mut()
                .fields
                .set("timeCodesPerSecond", Value::Double(60.0));
        };
        stage.edit("root.usda", edit).unwrap();
        assert!(!stage.prim(&path("/R")).unwrap().is_active());
        assert!(stage.prim(&path("/R/C")).is_none());
        assert_eq!(stage.time_codes_per_second(), 60.0);
        assert!(matches!(
            stage.edit("other.usda", |_| {}),
            Err(Error::NoSuchLayer(_))
        ));
    }

    #[test]
    fn a_stage_can_be_shared_between_threads() {
        fn is_shared<T: Send + Sync>() {}
        is_shared::<Stage>();
        is_shared::<Prim<'_>>();
    }
}

//! Flattening: the composed stage as one layer.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{AssetPath, Reference, Specifier, Variability};
use sinew_layer::{Fields, Layer, ListOp, Path, SpecKind, TimeSamples, Token, Value, usda};

use crate::attribute::{Attribute, Source};
use crate::error::Result;
use crate::metadata::{self, SpecOpinion, depends_on_layer, is_private};
use crate::prim::{Predicate, Prim};
use crate::stage::Stage;

/// Which instances stay instances in the flattened layer, and of which prims.
pub struct Instancing<'a> {
    /// The prims that instances share there.
    pub homes: Vec<Home>,
    /// The home of an instance, which is given by its path in the stage. An instance without one is expanded.
    pub home_of: &'a dyn Fn(&Path) -> Option<Path>,
}

/// A prim that instances share in the flattened layer.
#[derive(Clone, Debug)]
pub struct Home {
    /// A root prim that the stage does not have.
    pub path: Path,
    /// The instance whose contents it gets.
    pub instance: Path,
}

/// A flattened stage.
#[derive(Debug)]
pub struct Flattened {
    pub layer: Layer,
    /// What the layer does not say as the stage does.
    pub warnings: Vec<FlattenWarning>,
}

/// Something that was left out.
#[derive(Clone, Debug)]
pub struct FlattenWarning {
    /// A stable code.
    pub code: &'static str,
    /// The prim or the property.
    pub path: Path,
    pub message: String,
}

/// The stage as one layer that needs no other, as `UsdStage::Flatten` makes it. Asset paths are anchored: those that are relative to
/// their layer become absolute. Inactive prims are left out.
///
/// Specs that are equal share their fields, so a stage of many references to one asset takes little more memory than the paths
/// of its prims.
///
/// # Errors
/// A value that cannot be read, or more prims and properties than [`Limits::flattened`](crate::compose::Limits::flattened).
pub fn flatten(stage: &Stage, instancing: &Instancing<'_>) -> Result<Flattened> {
    let mut out = Flattener {
        stage,
        instancing,
        layer: Layer::new("flattened"),
        warnings: Vec::new(),
        prims: HashMap::default(),
        properties: HashMap::default(),
        anchors: RefCell::default(),
    };
    for home in &instancing.homes {
        let Some(instance) = stage.prim(&home.instance) else {
            continue;
        };
        // A type, values and a name are each instance's own.
        let over = Value::Specifier(Specifier::Over);
        let spec = out.layer.create(&home.path, SpecKind::Prim);
        spec.fields.set(field::SPECIFIER, over);
        let moved = Moved {
            from: &home.instance,
            to: &home.path,
        };
        out.below(instance, &home.path, Some(moved))?;
    }
    out.root()?;
    out.below(stage.pseudo_root(), &Path::root(), None)?;
    Ok(Flattened {
        layer: out.layer,
        warnings: out.warnings,
    })
}

/// A part of the stage that goes elsewhere.
#[derive(Clone, Copy)]
struct Moved<'a> {
    from: &'a Path,
    to: &'a Path,
}

/// Where the fields of opinions lie: specs of which this is the same have equal fields in the flattened layer.
type Key = Vec<u64>;

struct Flattener<'a> {
    stage: &'a Stage,
    instancing: &'a Instancing<'a>,
    layer: Layer,
    warnings: Vec<FlattenWarning>,
    /// Fields of prims without those that differ from place to place.
    prims: HashMap<Key, Fields, foldhash::fast::RandomState>,
    properties: HashMap<Key, Fields, foldhash::fast::RandomState>,
    /// Anchored asset paths, by the path and the layer that names it. None stays as it is.
    anchors: RefCell<HashMap<(Token, Token), Option<Token>>>,
}

impl<'a> Flattener<'a> {
    /// Everything below a prim; `path` is its place in the layer.
    fn below(&mut self, prim: Prim<'a>, path: &Path, moved: Option<Moved<'_>>) -> Result<()> {
        let children = |prim: Prim<'a>, path: &Path, stack: &mut Vec<(Prim<'a>, Path)>| {
            let start = stack.len();
            let below = prim.children(Predicate::ALL_PROXIES);
            stack.extend(below.map(|c| (c, path.child(c.name()))));
            stack[start..].reverse();
        };
        // A stack of its own: how deep a stage nests is up to its files.
        let mut stack = Vec::new();
        children(prim, path, &mut stack);
        while let Some((prim, path)) = stack.pop() {
            if !prim.is_active() {
                continue;
            }
            let home = match prim.is_instance() {
                true => (self.instancing.home_of)(&prim.path()),
                false => None,
            };
            self.prim(prim, &path, home.as_ref())?;
            self.properties(prim, &path, moved)?;
            self.stage.check_flattened(self.layer.len(), &path)?;
            if home.is_none() {
                children(prim, &path, &mut stack);
            }
        }
        Ok(())
    }

    /// The layer's metadata, which the stage's root layer and session layer have.
    fn root(&mut self) -> Result<()> {
        let stage = self.stage;
        let layers = stage.session_layer().map(|l| ("", l)).into_iter();
        let layers = layers.chain([(stage.root_identifier(), stage.root_layer())]);
        let layers: Vec<_> = layers.collect();
        for name in stage.authored_metadata_names() {
            let mut found: Option<Value> = None;
            for (identifier, layer) in &layers {
                let Some(mut value) = layer.get(&Path::root(), &name)? else {
                    continue;
                };
                anchor_assets(&mut value, &|asset| {
                    self.anchored(asset, &self.evaluated(asset), identifier)
                });
                match (&mut found, value) {
                    (None, value) => found = Some(value),
                    (Some(Value::Dictionary(strong)), Value::Dictionary(weak)) => {
                        metadata::merge(strong, &weak);
                    }
                    _ => {}
                }
            }
            if let Some(value) = found {
                self.layer.root_mut().fields.set(name, value);
            }
        }
        Ok(())
    }

    /// The spec of a prim, without what is below it.
    fn prim(&mut self, prim: Prim<'a>, path: &Path, home: Option<&Path>) -> Result<()> {
        let opinions: Vec<SpecOpinion<'a>> = prim.spec_opinions().collect();
        let kind = 2 * prim.specifier() as usize + usize::from(prim.is_instance());
        let key = key(&opinions, kind);
        let known = key.as_ref().and_then(|k| self.prims.get(k));
        let mut fields = match known {
            Some(known) => known.clone(),
            None => {
                let fields = self.prim_fields(prim, &opinions)?;
                if let Some(key) = key {
                    self.prims.insert(key, fields.clone());
                }
                fields
            }
        };
        if let Some(home) = home {
            let reference = Reference {
                prim: home.clone(),
                ..Reference::default()
            };
            // As usd-core has it.
            let references = ListOp {
                appended: vec![reference],
                ..ListOp::default()
            };
            let references = Value::ReferenceListOp(Arc::new(references));
            fields.set(field::REFERENCES, references);
            fields.set(field::INSTANCEABLE, Value::Bool(true));
        }
        self.layer.create(path, SpecKind::Prim).fields = fields;
        Ok(())
    }

    fn prim_fields(&self, prim: Prim<'a>, opinions: &[SpecOpinion<'a>]) -> Result<Fields> {
        let mut fields = vec![(
            Token::new_static(field::SPECIFIER),
            Value::Specifier(prim.specifier()),
        )];
        if !prim.type_name().is_empty() {
            let type_name = Value::token(prim.type_name());
            fields.push((Token::new_static(field::TYPE_NAME), type_name));
        }
        for name in names(opinions) {
            // An instance that is expanded is none.
            let is_own = [field::SPECIFIER, field::TYPE_NAME, field::INSTANCEABLE];
            let skips = is_own.contains(&name.as_str())
                && (name != field::INSTANCEABLE || prim.is_instance());
            if skips || is_private(name) {
                continue;
            }
            let opinions = opinions.iter().cloned();
            let anchor = self.anchor();
            if let Some(value) = metadata::compose(prim, opinions, name, None, Some(&anchor))? {
                fields.push((name.clone(), value));
            }
        }
        Ok(fields.into_iter().collect())
    }

    fn properties(&mut self, prim: Prim<'a>, path: &Path, moved: Option<Moved<'_>>) -> Result<()> {
        for name in property_names(prim) {
            let attribute = prim.attribute(&name);
            // The specs of the other kind have no say.
            let (kind, opinions): (_, Vec<SpecOpinion<'a>>) =
                match prim.property_is_attribute(&name) {
                    Some(true) => (SpecKind::Attribute, attribute.opinions().collect()),
                    Some(false) => {
                        let opinions = prim.relationship(&name).opinions();
                        (SpecKind::Relationship, opinions.collect())
                    }
                    None => continue,
                };
            let at = path.property(&name);
            let key = match has_clips(prim) {
                // Their values belong to names.
                true => None,
                false => {
                    // What schemas say comes first.
                    let schema = prim.kind().property(&name);
                    key(
                        &opinions,
                        schema.map_or(0, |s| std::ptr::from_ref(s) as usize),
                    )
                }
            };
            let known = key.as_ref().and_then(|k| self.properties.get(k));
            let fields = match known {
                Some(known) => known.clone(),
                None => {
                    let fields = match kind {
                        SpecKind::Attribute => self.attribute(attribute, &opinions, moved)?,
                        _ => self.relationship(prim, &name, &opinions, moved)?,
                    };
                    if let Some(key) = key {
                        self.properties.insert(key, fields.clone());
                    }
                    fields
                }
            };
            if kind == SpecKind::Attribute && fields.get(field::TYPE_NAME).is_none() {
                self.warnings.push(FlattenWarning {
                    code: "attribute-without-type",
                    path: at,
                    message: "no layer says its type, so it is left out".to_owned(),
                });
                continue;
            }
            self.layer.create(&at, kind).fields = fields;
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        attribute: Attribute<'a, '_>,
        opinions: &[SpecOpinion<'a>],
        moved: Option<Moved<'_>>,
    ) -> Result<Fields> {
        let prim = attribute.prim();
        let mut fields: Vec<(Token, Value)> = Vec::new();
        let mut set = |name: &'static str, value| fields.push((Token::new_static(name), value));
        let type_name = written_type(attribute, opinions)?;
        if !type_name.is_empty() {
            set(field::TYPE_NAME, Value::Token(type_name));
        }
        if attribute.is_custom() {
            set(field::CUSTOM, Value::Bool(true));
        }
        if attribute.variability() == Variability::Uniform {
            set(field::VARIABILITY, Value::Variability(Variability::Uniform));
        }
        self.metadata(prim, opinions, &mut fields)?;
        let mut set = |name: &'static str, value| fields.push((Token::new_static(name), value));
        if opinions
            .iter()
            .any(|o| o.spec.get(field::DEFAULT).is_some())
        {
            let value = self.default(attribute, opinions)?;
            set(field::DEFAULT, value);
        }
        let samples = self.samples(attribute, opinions)?;
        if !samples.is_empty() {
            set(field::TIME_SAMPLES, Value::TimeSamples(samples));
        } else if let Some(spline) = attribute.spline() {
            set(field::SPLINE, Value::Spline(spline));
        }
        if attribute.has_authored_connections() {
            let connections = moved_targets(attribute.connections(), moved);
            set(
                field::CONNECTION_PATHS,
                Value::PathListOp(Arc::new(ListOp::explicit(connections))),
            );
        }
        Ok(fields.into_iter().collect())
    }

    fn relationship(
        &mut self,
        prim: Prim<'a>,
        name: &str,
        opinions: &[SpecOpinion<'a>],
        moved: Option<Moved<'_>>,
    ) -> Result<Fields> {
        let relationship = prim.relationship(name);
        let mut fields: Vec<(Token, Value)> = Vec::new();
        if relationship.is_custom() {
            fields.push((Token::new_static(field::CUSTOM), Value::Bool(true)));
        }
        self.metadata(prim, opinions, &mut fields)?;
        // No target at all is an opinion too: it hides what would be inherited.
        if relationship.has_authored_targets() {
            let targets = moved_targets(relationship.targets(), moved);
            let targets = Value::PathListOp(Arc::new(ListOp::explicit(targets)));
            fields.push((Token::new_static(field::TARGET_PATHS), targets));
        }
        Ok(fields.into_iter().collect())
    }

    /// What is said of a property besides its type and values.
    fn metadata(
        &self,
        prim: Prim<'a>,
        opinions: &[SpecOpinion<'a>],
        fields: &mut Vec<(Token, Value)>,
    ) -> Result<()> {
        let set = fields.len();
        for name in names(opinions) {
            if is_private(name) || fields[..set].iter().any(|(n, _)| n == name) {
                continue;
            }
            let opinions = opinions.iter().cloned();
            let anchor = self.anchor();
            if let Some(value) = metadata::compose(prim, opinions, name, None, Some(&anchor))? {
                fields.push((name.clone(), value));
            }
        }
        Ok(())
    }

    /// The value at the default time.
    fn default(&self, attribute: Attribute<'a, '_>, opinions: &[SpecOpinion<'a>]) -> Result<Value> {
        let strongest = opinions
            .iter()
            .find_map(|o| Some((o, o.spec.get(field::DEFAULT)?)));
        let anchor = self.anchor();
        if let Some((opinion, value)) = strongest
            && is_its_own(value)
        {
            if is_plain(value) {
                return Ok(value.clone());
            }
            let mut value = value.load()?;
            metadata::resolve(attribute.prim(), opinion, &mut value, Some(&anchor));
            return Ok(value);
        }
        let value = attribute.get_with_assets(None, Some(&anchor))?;
        Ok(value.unwrap_or(Value::Block))
    }

    /// The samples of an attribute: of layers, of value clips, or of either with a stronger edit of an array.
    fn samples(
        &self,
        attribute: Attribute<'a, '_>,
        opinions: &[SpecOpinion<'a>],
    ) -> Result<TimeSamples> {
        let all = opinions.iter().map(|o| o.spec.get(field::TIME_SAMPLES));
        let mut own = true;
        for value in all.flatten() {
            if let Value::TimeSamples(samples) = value.load()? {
                own &= samples.values().iter().all(is_its_own);
            }
        }
        let anchor = self.anchor();
        if own && let Some(samples) = attribute.plain_samples(Some(&anchor))? {
            return Ok(samples);
        }
        let mut samples = Vec::new();
        for time in attribute.times()? {
            let mut value = attribute.at_sample(time, Some(&anchor))?;
            if attribute.source(Some(time)) == Source::Clips
                && let Some(value) = &mut value
                && let Some(clip) = attribute.layer(Some(time))
            {
                anchor_assets(value, &|asset| self.anchored(asset, asset, &clip));
            }
            samples.push((time, value.unwrap_or(Value::Block)));
        }
        Ok(TimeSamples::new(samples))
    }

    /// What becomes of the asset paths of a layer.
    fn anchor(&self) -> impl Fn(&AssetPath, &AssetPath, &str) -> AssetPath {
        |authored, evaluated, layer| self.anchored(authored, evaluated, layer)
    }

    /// An asset path as the flattened layer has it: absolute if it is relative to its layer. An expression that stays a path
    /// to be searched stays an expression, if it means the same there.
    fn anchored(&self, authored: &AssetPath, evaluated: &AssetPath, layer: &str) -> AssetPath {
        let key = (evaluated.0.clone(), Token::new(layer));
        let known = self.anchors.borrow().get(&key).cloned();
        let anchored = known.unwrap_or_else(|| {
            let anchored = self.stage.resolver().anchored(&evaluated.0, layer);
            let anchored = anchored.map(Token::from);
            self.anchors.borrow_mut().insert(key, anchored.clone());
            anchored
        });
        match anchored {
            Some(anchored) => AssetPath(anchored),
            None if authored != evaluated && self.evaluated(authored) == *evaluated => {
                authored.clone()
            }
            None => evaluated.clone(),
        }
    }

    /// An asset path with the variables of the flattened layer put in. A broken expression stays.
    fn evaluated(&self, asset: &AssetPath) -> AssetPath {
        let text = self.stage.evaluated(&asset.0);
        text.map_or_else(|| asset.clone(), |text| AssetPath(text.into()))
    }
}

impl Stage {
    /// An asset path of the root layer with the expression variables put in. None if its expression is broken.
    #[must_use]
    pub fn evaluated(&self, asset: &str) -> Option<String> {
        let root = &self.pseudo_root().data().index.nodes()[0];
        root.stack.evaluate(asset)
    }
}

/// Replaces the asset paths of the stage's metadata.
fn anchor_assets(value: &mut Value, anchor: &dyn Fn(&AssetPath) -> AssetPath) {
    match value {
        Value::AssetPath(path) => *path = anchor(path),
        Value::AssetPathArray(paths) => *paths = paths.iter().map(anchor).collect(),
        Value::Dictionary(entries) => {
            for value in Arc::make_mut(entries).values_mut() {
                if let Ok(loaded) = value.load() {
                    *value = loaded;
                }
                anchor_assets(value, anchor);
            }
        }
        _ => {}
    }
}

/// The names of all fields, in the order in which the strongest opinions have them.
fn names<'o>(opinions: &'o [SpecOpinion<'_>]) -> Vec<&'o Token> {
    let fields = opinions.iter().flat_map(|o| o.spec.fields.iter());
    let mut known: HashSet<&Token> = HashSet::new();
    let names = fields.map(|(name, _)| name);
    names.filter(|name| known.insert(name)).collect()
}

fn has_clips(prim: Prim<'_>) -> bool {
    !prim.stage().population().clips[prim.data().clips as usize].is_empty()
}

/// The names of the properties that have a spec, or values in clips.
fn property_names(prim: Prim<'_>) -> Vec<Token> {
    let mut names = prim.authored_property_names();
    if has_clips(prim) {
        let known: HashSet<Token> = names.iter().cloned().collect();
        let more = prim.property_names().into_iter();
        names.extend(more.filter(|n| !known.contains(n) && prim.attribute(n).has_authored_value()));
    }
    names
}

/// The type of an attribute. If its values cannot be of the type that the schemas have, it is the type that they are authored
/// with: no text could hold them otherwise.
fn written_type(attribute: Attribute<'_, '_>, opinions: &[SpecOpinion<'_>]) -> Result<Token> {
    let type_name = attribute.type_name();
    for opinion in opinions {
        let Some(Value::Token(authored)) = opinion.spec.get(field::TYPE_NAME) else {
            continue;
        };
        if *authored == type_name {
            continue;
        }
        let mut values = Vec::new();
        values.extend(opinion.spec.get(field::DEFAULT).cloned());
        if let Some(samples) = opinion.spec.get(field::TIME_SAMPLES)
            && let Value::TimeSamples(samples) = samples.load()?
        {
            values.extend(samples.values().iter().cloned());
        }
        for value in values {
            let value = value.load()?;
            if !usda::is_readable_as(&value, &type_name) && usda::is_readable_as(&value, authored) {
                return Ok(authored.clone());
            }
        }
    }
    Ok(type_name)
}

/// Where the fields of all opinions lie. None if a field holds a path, which each place of the prim in the stage maps in its
/// own way.
fn key(opinions: &[SpecOpinion<'_>], extra: usize) -> Option<Key> {
    let mut key = Vec::with_capacity(4 * opinions.len() + 1);
    key.push(extra as u64);
    for opinion in opinions {
        let fields = &opinion.spec.fields;
        let is_mapped = |name: &str, value: &Value| {
            name == field::TARGET_PATHS || name == field::CONNECTION_PATHS || holds_paths(value)
        };
        if fields.iter().any(|(name, value)| is_mapped(name, value)) {
            return None;
        }
        key.push(fields.address() as u64);
        // Asset paths are relative to the layer, with the variables of its stack.
        key.push(std::ptr::from_ref(opinion.layer) as u64);
        key.extend([opinion.offset.offset, opinion.offset.scale].map(f64::to_bits));
    }
    Some(key)
}

fn holds_paths(value: &Value) -> bool {
    match value {
        Value::PathExpression(_) | Value::PathExpressionArray(_) => true,
        Value::Stored(stored) => stored.type_name().starts_with("pathExpression"),
        Value::TimeSamples(samples) => samples.values().iter().any(holds_paths),
        Value::Dictionary(entries) => entries.values().any(holds_paths),
        _ => false,
    }
}

/// Whether a value means the same in the stage as in its layer.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Stored(stored) => {
            let name = stored.type_name();
            let mapped = ["asset", "duration", "pathExpression", "timecode"];
            !mapped.iter().any(|n| name.starts_with(n))
        }
        value => !depends_on_layer(value),
    }
}

/// Whether weaker opinions have no part in a value.
fn is_its_own(value: &Value) -> bool {
    !holds_paths(value)
        && !matches!(
            value,
            Value::ArrayEdit(_) | Value::AnimationBlock | Value::Dictionary(_)
        )
}

fn moved_targets(targets: Vec<Path>, moved: Option<Moved<'_>>) -> Vec<Path> {
    let Some(moved) = moved else {
        return targets;
    };
    let replaced = |t: Path| t.replace_prefix(moved.from, moved.to).unwrap_or(t);
    targets.into_iter().map(replaced).collect()
}

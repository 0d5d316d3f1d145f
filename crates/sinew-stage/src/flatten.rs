//! Flattening: the composed stage as one layer.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{AssetPath, Reference, Specifier, Variability};
use sinew_layer::{Fields, Layer, ListOp, Path, SpecKind, TimeSamples, Token, Value};

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
/// A value that cannot be read.
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
type Key = Vec<usize>;

struct Flattener<'a> {
    stage: &'a Stage,
    instancing: &'a Instancing<'a>,
    layer: Layer,
    warnings: Vec<FlattenWarning>,
    /// Fields of prims without those that differ from place to place.
    prims: HashMap<Key, Fields, foldhash::fast::RandomState>,
    properties: HashMap<Key, Fields, foldhash::fast::RandomState>,
    /// Anchored asset paths, by the path and the layer that names it.
    anchors: RefCell<HashMap<(Token, Token), Token>>,
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
                anchor_assets(&mut value, &|asset| self.anchored(asset, identifier));
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
        let key = key(
            &opinions,
            2 * prim.specifier() as usize + usize::from(prim.is_instance()),
        );
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
            let references = ListOp::prepended(vec![reference]);
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
            let anchor = |asset: &AssetPath, layer: &str| self.anchored(asset, layer);
            let opinions = opinions.iter().cloned();
            if let Some(value) = metadata::compose(prim, opinions, name, None, Some(&anchor))? {
                fields.push((name.clone(), value));
            }
        }
        Ok(fields.into_iter().collect())
    }

    fn properties(&mut self, prim: Prim<'a>, path: &Path, moved: Option<Moved<'_>>) -> Result<()> {
        for name in prim.authored_property_names() {
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
            let key = key(&opinions, 0).filter(|_| is_the_same_everywhere(&opinions));
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
        let type_name = attribute.type_name();
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
        match attribute.source(Some(0.0)) {
            Source::TimeSamples => {
                if let Some(samples) = self.samples(attribute, opinions)? {
                    set(field::TIME_SAMPLES, Value::TimeSamples(samples));
                }
            }
            Source::Clips => {
                let mut samples = Vec::new();
                for time in attribute.times()? {
                    let value = attribute.get(Some(time))?;
                    samples.push((time, value.unwrap_or(Value::Block)));
                }
                set(
                    field::TIME_SAMPLES,
                    Value::TimeSamples(TimeSamples::new(samples)),
                );
            }
            Source::Spline => {
                if let Some(spline) = attribute.spline() {
                    set(field::SPLINE, Value::Spline(spline));
                }
            }
            Source::None | Source::Fallback | Source::Default => {}
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
        for name in names(opinions) {
            if is_private(name) || fields.iter().any(|(n, _)| n == name) {
                continue;
            }
            let anchor = |asset: &AssetPath, layer: &str| self.anchored(asset, layer);
            let opinions = opinions.iter().cloned();
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
        if let Some((opinion, value)) = strongest
            && is_its_own(value)
        {
            let mut value = value.clone();
            let anchor = |asset: &AssetPath, layer: &str| self.anchored(asset, layer);
            if depends_on_layer(&value) && !matches!(value, Value::Stored(_)) {
                metadata::resolve(attribute.prim(), opinion, &mut value, Some(&anchor));
            } else if holds_assets(&value) {
                value = value.load()?;
                metadata::resolve(attribute.prim(), opinion, &mut value, Some(&anchor));
            }
            return Ok(value);
        }
        Ok(attribute.default()?.unwrap_or(Value::Block))
    }

    fn samples(
        &self,
        attribute: Attribute<'a, '_>,
        opinions: &[SpecOpinion<'a>],
    ) -> Result<Option<TimeSamples>> {
        let strongest = opinions
            .iter()
            .find_map(|o| Some((o, o.spec.get(field::TIME_SAMPLES)?)));
        if let Some((opinion, Value::TimeSamples(samples))) = strongest
            && samples.values().iter().all(is_its_own)
        {
            if !samples
                .values()
                .iter()
                .any(|v| depends_on_layer(v) && !is_plain_array(v))
            {
                return Ok(Some(samples.offset(&opinion.offset)));
            }
            let anchor = |asset: &AssetPath, layer: &str| self.anchored(asset, layer);
            let mut value = Value::TimeSamples(samples.clone());
            metadata::resolve(attribute.prim(), opinion, &mut value, Some(&anchor));
            if let Value::TimeSamples(samples) = value {
                return Ok(Some(samples));
            }
        }
        attribute.samples()
    }

    /// An asset path as the flattened layer has it: absolute if it is relative to its layer.
    fn anchored(&self, asset: &AssetPath, layer: &str) -> AssetPath {
        let key = (asset.0.clone(), Token::new(layer));
        if let Some(known) = self.anchors.borrow().get(&key) {
            return AssetPath(known.clone());
        }
        let anchored = self.stage.resolver().anchored(&asset.0, layer);
        let anchored = anchored.map_or_else(|| asset.0.clone(), Token::from);
        self.anchors.borrow_mut().insert(key, anchored.clone());
        AssetPath(anchored)
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
    let mut out: Vec<&Token> = Vec::new();
    for opinion in opinions {
        for (name, _) in opinion.spec.fields.iter() {
            if !out.contains(&name) {
                out.push(name);
            }
        }
    }
    out
}

/// Where the fields of all opinions lie. None if an offset makes more of them than they say.
fn key(opinions: &[SpecOpinion<'_>], extra: usize) -> Option<Key> {
    let mut key = Vec::with_capacity(opinions.len() + 1);
    key.push(extra);
    for opinion in opinions {
        if !opinion.offset.is_identity() {
            return None;
        }
        key.push(opinion.spec.fields.address());
        // Asset paths are relative to the layer.
        key.push(Arc::as_ptr(&opinion.layer.layer) as usize);
    }
    Some(key)
}

/// Whether no field holds a path, which each place of the prim in the stage maps in its own way.
fn is_the_same_everywhere(opinions: &[SpecOpinion<'_>]) -> bool {
    opinions.iter().all(|o| {
        o.spec.fields.iter().all(|(name, value)| {
            name != field::TARGET_PATHS && name != field::CONNECTION_PATHS && !holds_paths(value)
        })
    })
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

fn holds_assets(value: &Value) -> bool {
    match value {
        Value::AssetPath(_) | Value::AssetPathArray(_) => true,
        Value::Stored(stored) => stored.type_name().starts_with("asset"),
        _ => false,
    }
}

/// Whether a stored value is numbers or strings, which mean the same everywhere.
fn is_plain_array(value: &Value) -> bool {
    match value {
        Value::Stored(stored) => {
            let name = stored.type_name();
            !["asset", "duration", "pathExpression", "timecode"]
                .iter()
                .any(|n| name.starts_with(n))
        }
        _ => false,
    }
}

/// Whether weaker opinions have no part in a value.
fn is_its_own(value: &Value) -> bool {
    !holds_paths(value) && !matches!(value, Value::ArrayEdit(_) | Value::AnimationBlock)
}

fn moved_targets(targets: Vec<Path>, moved: Option<Moved<'_>>) -> Vec<Path> {
    let Some(moved) = moved else {
        return targets;
    };
    let replaced = |t: Path| t.replace_prefix(moved.from, moved.to).unwrap_or(t);
    targets.into_iter().map(replaced).collect()
}

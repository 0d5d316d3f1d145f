//! Layers with their sublayers.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use sinew_layer::layer::field;
use sinew_layer::value::{Dictionary, LayerOffset, Value};
use sinew_layer::{Layer, Path};

use super::library::Library;
use super::map::Map;
use super::relocates;
use super::work::Work;
use super::{expression, site};
use crate::error::{Error, Result};

/// A layer with its sublayers.
#[derive(Debug)]
pub struct LayerStack {
    /// Strongest first. The offset maps times of the layer to times of the stack's root layer.
    pub layers: Vec<StackLayer>,
    /// The root layer's index in `layers`; those before it are of the session layer.
    pub(super) root: usize,
    /// Units of time for one second.
    pub(super) time_codes_per_second: f64,
    pub(super) variables: Arc<Variables>,
    /// Each prim that is moved, and where to; the empty path if it is removed.
    pub(super) moved_to: BTreeMap<Path, Path>,
    /// Each place that a prim was moved to, and where from.
    pub(super) moved_from: BTreeMap<Path, Path>,
    /// As `moved_to`, with the sources before any other move.
    pub(super) origin_to: BTreeMap<Path, Path>,
    /// Maps of arcs that have relocates below their target ([`LayerStack::arc_map`]).
    arc_maps: Mutex<HashMap<ArcKey, Map>>,
}

/// Source, target, and the bits of the offset and its scale.
type ArcKey = (Path, Path, [u64; 2]);

/// One layer of a stack.
#[derive(Debug)]
pub struct StackLayer {
    /// The layer's resolved name ([`Resolver`](crate::resolver::Resolver)).
    pub identifier: String,
    pub layer: Arc<Layer>,
    /// Times of the layer to times of the stack's root layer.
    pub offset: LayerOffset,
}

/// The variables of a stack's expressions. Stacks share those that are equal to the referencing stack's.
#[derive(Debug, Default)]
pub(super) struct Variables {
    pub values: Dictionary,
}

impl LayerStack {
    /// An asset path with its variables put in; as it is if it is no expression. None if the expression is broken.
    pub(crate) fn evaluate(&self, asset: &str) -> Option<String> {
        match expression::is_expression(asset) {
            true => expression::text(asset, &self.variables.values).ok(),
            false => Some(asset.to_owned()),
        }
    }

    /// Whether prims are moved.
    pub(super) fn has_relocates(&self) -> bool {
        !self.moved_to.is_empty()
    }

    /// The layer that a reference names.
    pub(super) fn root_layer(&self) -> &StackLayer {
        &self.layers[self.root]
    }

    /// The map of an arc from `source` to a prim of this stack, with the stack's relocates. Each prim that is moved asks
    /// for the map of the same arc above it, which has a pair for each of them: it is made once.
    pub(super) fn arc_map(&self, source: &Path, target: Path, offset: LayerOffset) -> Map {
        let pair = vec![(source.clone(), target.clone())];
        if !self.has_relocates() {
            return Map::new(pair, false, offset);
        }
        let bits = [offset.offset, offset.scale].map(f64::to_bits);
        let key = (source.clone(), target, bits);
        let lock = || self.arc_maps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let map = Map::new(pair, false, offset);
        let Some(relocates) = self.relocates_below(&key.1) else {
            return map;
        };
        let map = relocates.after(&map);
        lock().insert(key, map.clone());
        map
    }

    /// Maps paths from before the relocates at and below a path to those after them. None if there are none.
    fn relocates_below(&self, path: &Path) -> Option<Map> {
        if !self.has_relocates() {
            return None;
        }
        let mut targets = HashSet::new();
        let mut pairs = Vec::new();
        for moves in [&self.origin_to, &self.moved_to] {
            for (from, to) in relocates::below(moves, path) {
                if !to.is_empty() && targets.insert(to) {
                    pairs.push((from.clone(), to.clone()));
                }
            }
        }
        (!pairs.is_empty()).then(|| Map::new(pairs, true, LayerOffset::IDENTITY))
    }
}

/// Units of time for one second, of one layer.
pub(super) fn time_codes_per_second(layer: &Layer) -> f64 {
    let own = site::number(layer, "timeCodesPerSecond");
    own.or_else(|| site::number(layer, "framesPerSecond"))
        .unwrap_or(24.0)
}

/// Whether times can be mapped there and back.
pub(super) fn is_valid(offset: &LayerOffset) -> bool {
    let back = offset.inverse();
    [offset.offset, offset.scale, back.offset, back.scale]
        .iter()
        .all(|n| n.is_finite())
}

/// `offset`, with its scale multiplied.
pub(super) fn scaled(offset: LayerOffset, from: f64, to: f64) -> LayerOffset {
    let scale = match from == to {
        true => offset.scale,
        false => offset.scale * from / to,
    };
    LayerOffset { scale, ..offset }
}

/// A step of the walk over sublayers.
enum Step {
    Enter(String, Arc<Layer>, LayerOffset),
    Leave(String),
}

/// Opens the sublayers of a layer, and those of a session layer.
pub(super) fn build(
    library: &Library,
    work: &Work<'_>,
    identifier: &str,
    layer: Arc<Layer>,
    session: Option<Arc<Layer>>,
    overrides: Option<&Arc<Variables>>,
) -> Result<LayerStack> {
    let variables = variables(&layer, session.as_deref(), overrides);
    let mut stack = LayerStack {
        layers: Vec::new(),
        root: 0,
        time_codes_per_second: time_codes_per_second(&layer),
        variables,
        moved_to: BTreeMap::new(),
        moved_from: BTreeMap::new(),
        origin_to: BTreeMap::new(),
        arc_maps: Mutex::default(),
    };
    let mut offset = LayerOffset::IDENTITY;
    let mut owner = None;
    if let Some(session) = session {
        owner = text(&session, "sessionOwner");
        let rate = time_codes_per_second(&session);
        let mut session_offset = LayerOffset::IDENTITY;
        let has = |l: &Layer, name: &str| site::number(l, name).is_some();
        let is_leading = has(&session, "timeCodesPerSecond")
            || !has(&layer, "timeCodesPerSecond") && has(&session, "framesPerSecond");
        if is_leading {
            offset = scaled(offset, rate, stack.time_codes_per_second);
            stack.time_codes_per_second = rate;
        } else {
            session_offset = scaled(session_offset, stack.time_codes_per_second, rate);
        }
        let name = session.name().to_owned();
        add(
            library,
            work,
            &mut stack,
            name,
            session,
            session_offset,
            None,
        )?;
        stack.root = stack.layers.len();
    }
    let name = identifier.to_owned();
    add(
        library,
        work,
        &mut stack,
        name,
        layer,
        offset,
        owner.as_deref(),
    )?;
    relocates::compute(&mut stack, work);
    Ok(stack)
}

/// A text of a layer's metadata; none if it is empty.
fn text(layer: &Layer, name: &str) -> Option<String> {
    match &*site::get(layer.root(), name)? {
        Value::String(text) | Value::Token(text) if !text.is_empty() => Some(text.to_string()),
        _ => None,
    }
}

/// Whether a layer lets sublayers have owners.
fn has_owned_sublayers(layer: &Layer) -> bool {
    let value = site::get(layer.root(), "hasOwnedSubLayers");
    matches!(value.as_deref(), Some(Value::Bool(true)))
}

/// Adds a layer and its sublayers to a stack. The sublayers of the session's `owner` come first, where a layer has such.
fn add(
    library: &Library,
    work: &Work<'_>,
    stack: &mut LayerStack,
    identifier: String,
    layer: Arc<Layer>,
    offset: LayerOffset,
    owner: Option<&str>,
) -> Result<()> {
    // The layers above the current one. A layer may be there more than once, but not below itself.
    let mut open = HashSet::new();
    let mut steps = vec![Step::Enter(identifier, layer, offset)];
    while let Some(step) = steps.pop() {
        let (identifier, layer, offset) = match step {
            Step::Leave(identifier) => {
                open.remove(&identifier);
                continue;
            }
            Step::Enter(identifier, layer, offset) => (identifier, layer, offset),
        };
        let limit = library.options.limits.layers;
        if stack.layers.len() >= limit {
            return Err(Error::TooLarge {
                prim: work.prim.to_string(),
                reason: format!(
                    "{} has more than {limit} sublayers",
                    stack
                        .layers
                        .first()
                        .map_or(identifier.as_str(), |l| &l.identifier)
                ),
            });
        }
        open.insert(identifier.clone());
        stack.layers.push(StackLayer {
            identifier: identifier.clone(),
            layer: layer.clone(),
            offset,
        });
        steps.push(Step::Leave(identifier.clone()));
        let first = steps.len();
        let rate = time_codes_per_second(&layer);
        let names = site::get(layer.root(), field::SUBLAYERS);
        let names = match names.as_deref() {
            Some(Value::StringVector(names) | Value::TokenVector(names)) => names.clone(),
            _ => continue,
        };
        let offsets = site::get(layer.root(), field::SUBLAYER_OFFSETS);
        for (i, asset) in names.iter().enumerate() {
            let mut asset = asset.to_string();
            if expression::is_expression(&asset) {
                asset = match expression::text(&asset, &stack.variables.values) {
                    Ok(text) => text,
                    Err(e) => {
                        work.report("bad-expression", format!("sublayer of {identifier}: {e}"));
                        continue;
                    }
                };
            }
            if asset.is_empty() {
                continue;
            }
            let Some(name) = library.resolve(&asset, &identifier) else {
                let text = format!("sublayer of {identifier}: @{asset}@ is not there");
                work.report("missing-asset", text);
                continue;
            };
            if open.contains(&name) {
                work.report(
                    "sublayer-cycle",
                    format!("{identifier} has itself below it: @{asset}@"),
                );
                continue;
            }
            let sublayer = match library.open(&name, work)? {
                Ok(layer) => layer,
                Err(e) => {
                    work.report("unreadable-layer", format!("sublayer of {identifier}: {e}"));
                    continue;
                }
            };
            let mut inner = match offsets.as_deref() {
                Some(Value::LayerOffsetVector(all)) => all.get(i).copied().unwrap_or_default(),
                _ => LayerOffset::IDENTITY,
            };
            if !is_valid(&inner) {
                let text = format!(
                    "sublayer of {identifier}: the offset of @{asset}@ is not finite, or its scale is 0: it is ignored"
                );
                work.report("bad-offset", text);
                inner = LayerOffset::IDENTITY;
            }
            inner = scaled(inner, rate, time_codes_per_second(&sublayer));
            steps.push(Step::Enter(name, sublayer, offset.after(&inner)));
        }
        if owner.is_some() && has_owned_sublayers(&layer) {
            steps[first..].sort_by_key(|step| match step {
                Step::Enter(_, sublayer, _) => text(sublayer, "owner").as_deref() != owner,
                Step::Leave(_) => false,
            });
        }
        steps[first..].reverse();
    }
    Ok(())
}

/// The variables of a stack: its session layer's over its root layer's, and those of who references it over both.
fn variables(
    layer: &Layer,
    session: Option<&Layer>,
    overrides: Option<&Arc<Variables>>,
) -> Arc<Variables> {
    let mut values = Dictionary::new();
    for layer in [Some(layer), session].into_iter().flatten() {
        let own = site::get(layer.root(), field::EXPRESSION_VARIABLES);
        if let Some(Value::Dictionary(own)) = own.as_deref() {
            values.extend((**own).clone());
        }
    }
    if let Some(overrides) = overrides {
        let strong = overrides.values.iter();
        values.extend(strong.map(|(k, v)| (k.clone(), v.clone())));
        if values == overrides.values {
            return overrides.clone();
        }
    }
    Arc::new(Variables { values })
}

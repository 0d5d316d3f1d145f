//! What the layers of a stack say together about one path.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use sinew_layer::layer::field;
use sinew_layer::value::{LayerOffset, ListOp, Value};
use sinew_layer::{Layer, Path, Spec, Token};

use super::expression;
use super::stack::LayerStack;

/// Which arcs the specs of a site have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArcFields {
    pub inherits: bool,
    pub variants: bool,
    pub references: bool,
    pub payloads: bool,
    pub specializes: bool,
}

/// Finds the fields with arcs in all layers.
pub(super) fn arc_fields(stack: &LayerStack, path: &Path) -> ArcFields {
    let mut found = ArcFields::default();
    for layer in &stack.layers {
        let Some(spec) = layer.layer.spec(path) else {
            continue;
        };
        for (name, _) in spec.fields.iter() {
            match name.as_str() {
                field::INHERITS => found.inherits = true,
                field::VARIANT_SET_NAMES => found.variants = true,
                field::REFERENCES => found.references = true,
                field::PAYLOAD => found.payloads = true,
                field::SPECIALIZES => found.specializes = true,
                _ => {}
            }
        }
    }
    found
}

/// Whether any layer has a spec.
pub(super) fn has_specs(stack: &LayerStack, path: &Path) -> bool {
    stack.layers.iter().any(|l| l.layer.spec(path).is_some())
}

/// A field's value, decoded. A value that its file cannot give counts as not there.
pub(super) fn get<'a>(spec: &'a Spec, name: &str) -> Option<Cow<'a, Value>> {
    match spec.get(name)? {
        stored @ Value::Stored(_) => stored.load().ok().map(Cow::Owned),
        value => Some(Cow::Borrowed(value)),
    }
}

/// A number of a layer's metadata.
pub(super) fn number(layer: &Layer, name: &str) -> Option<f64> {
    match *get(layer.root(), name)? {
        Value::Double(n) => Some(n),
        Value::Float(n) => Some(n.into()),
        Value::Int(n) => Some(n.into()),
        _ => None,
    }
}

/// A list that all layers edit, the weakest first.
fn list<T: Clone + Eq + Hash>(
    stack: &LayerStack,
    path: &Path,
    name: &str,
    mut read: impl FnMut(usize, &Value) -> Option<ListOp<T>>,
) -> Vec<T> {
    let mut out = Vec::new();
    for (i, layer) in stack.layers.iter().enumerate().rev() {
        let Some(spec) = layer.layer.spec(path) else {
            continue;
        };
        if let Some(op) = get(spec, name).and_then(|v| read(i, &v)) {
            op.apply(&mut out);
        }
    }
    out
}

/// The classes that a site inherits or specializes.
pub(super) fn classes(stack: &LayerStack, path: &Path, name: &str) -> Vec<Path> {
    let anchor = path.strip_variants();
    list(stack, path, name, |_, value| match value {
        Value::PathListOp(op) => Some(op.filter_map(|p| Some(p.absolute(&anchor)))),
        _ => None,
    })
}

/// The names of a site's variant sets.
pub(super) fn variant_sets(stack: &LayerStack, path: &Path) -> Vec<Token> {
    list(
        stack,
        path,
        field::VARIANT_SET_NAMES,
        |_, value| match value {
            Value::StringListOp(op) | Value::TokenListOp(op) => Some((**op).clone()),
            Value::StringVector(names) | Value::TokenVector(names) => {
                Some(ListOp::explicit((**names).clone()))
            }
            _ => None,
        },
    )
}

/// The variants of a set, in the order of the strongest layers.
pub(super) fn variants(stack: &LayerStack, path: &Path, set: &str) -> Vec<Token> {
    let set = path.with_variant(set, "");
    let specs = stack.layers.iter().filter_map(|l| l.layer.spec(&set));
    let mut known: HashSet<&Token> = HashSet::new();
    let names = specs.flat_map(Spec::children);
    names.filter(|name| known.insert(name)).cloned().collect()
}

/// Whether any layer selects variants.
pub(super) fn has_selections(stack: &LayerStack, path: &Path) -> bool {
    let mut specs = stack.layers.iter().filter_map(|l| l.layer.spec(path));
    specs.any(|s| s.get(field::VARIANT_SELECTION).is_some())
}

/// The variant that a site selects in a set. The empty variant is a selection too: of none. `problem` is told what is wrong
/// with an expression; such a selection does not count.
pub(super) fn selection(
    stack: &LayerStack,
    path: &Path,
    set: &str,
    problem: &mut dyn FnMut(String),
) -> Option<Token> {
    for layer in &stack.layers {
        let Some(value) = layer
            .layer
            .spec(path)
            .and_then(|s| get(s, field::VARIANT_SELECTION))
        else {
            continue;
        };
        let Value::VariantSelections(all) = &*value else {
            continue;
        };
        let Some(selected) = all.get(set) else {
            continue;
        };
        if !expression::is_expression(selected) {
            return Some(selected.clone());
        }
        match expression::text(selected, &stack.variables.values) {
            Ok(text) => return Some(text.into()),
            Err(e) => problem(e),
        }
    }
    None
}

/// All sets for which a site selects a variant.
pub(super) fn selected_sets(stack: &LayerStack, path: &Path) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::new();
    let mut known: HashSet<Token> = HashSet::new();
    for layer in &stack.layers {
        let spec = layer.layer.spec(path);
        let value = spec.and_then(|s| get(s, field::VARIANT_SELECTION));
        if let Some(Value::VariantSelections(all)) = value.as_deref() {
            out.extend(all.keys().filter(|k| known.insert((*k).clone())).cloned());
        }
    }
    out
}

/// A reference or payload, as the lists compare them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The identifier, or the asset path if it cannot be resolved.
    asset: String,
    prim: Path,
    offset: [u64; 2],
}

/// A reference or payload of a site.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The asset path as it was written or computed; empty for an internal reference.
    pub asset: String,
    /// The layer's identifier; none if the asset cannot be resolved.
    pub identifier: Option<String>,
    pub prim: Path,
    pub offset: LayerOffset,
    /// The strongest layer that has it, as an index of the stack.
    pub layer: usize,
}

/// The references (or payloads) of a site. `resolve` gives the identifier of an asset that a layer of the stack names.
pub(super) fn targets(
    stack: &LayerStack,
    path: &Path,
    name: &str,
    resolve: &dyn Fn(&str, usize) -> Option<String>,
    problem: &mut dyn FnMut(String),
) -> Vec<Target> {
    let mut known: HashMap<Key, Target> = HashMap::new();
    let mut enter = |layer: usize, asset: &str, prim: &Path, offset: LayerOffset| {
        let asset = match expression::is_expression(asset) {
            false => asset.to_owned(),
            true => match expression::text(asset, &stack.variables.values) {
                // An expression can say that there is no reference.
                Ok(text) if text.is_empty() => return None,
                Ok(text) => text,
                Err(e) => {
                    problem(e);
                    return None;
                }
            },
        };
        let identifier = match asset.is_empty() {
            true => None,
            false => resolve(&asset, layer),
        };
        let key = Key {
            asset: identifier.clone().unwrap_or_else(|| asset.clone()),
            prim: prim.clone(),
            offset: [offset.offset, offset.scale].map(|n| (n + 0.0).to_bits()),
        };
        let target = Target {
            asset,
            identifier,
            prim: prim.clone(),
            offset,
            layer,
        };
        known.insert(key.clone(), target);
        Some(key)
    };
    let keys = list(stack, path, name, |layer, value| match value {
        Value::ReferenceListOp(op) => {
            Some(op.filter_map(|r| enter(layer, &r.asset, &r.prim, r.offset)))
        }
        Value::PayloadListOp(op) => {
            Some(op.filter_map(|p| enter(layer, &p.asset, &p.prim, p.offset)))
        }
        Value::Payload(p) => {
            let items = enter(layer, &p.asset, &p.prim, p.offset);
            Some(ListOp::explicit(items.into_iter().collect()))
        }
        _ => None,
    });
    keys.iter().filter_map(|k| known.get(k).cloned()).collect()
}

/// A layer's default prim: a name, or a path of a prim.
pub(super) fn default_prim(layer: &Layer) -> Option<Path> {
    let name = match &*get(layer.root(), field::DEFAULT_PRIM)? {
        Value::Token(name) | Value::String(name) => name.clone(),
        _ => return None,
    };
    let path = Path::parse(&name).ok()?.absolute(&Path::root());
    (path.is_prim() && !path.has_variants()).then_some(path)
}

//! Composed fields of prims and properties.

use std::hash::Hash;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{AssetPath, Dictionary, Duration, LayerOffset, TimeCode};
use sinew_layer::{ListOp, Path, Spec, Token, Value};

use crate::compose::StackLayer;
use crate::error::Result;
use crate::expression;
use crate::prim::Prim;

/// A spec of a layer that contributes to a prim or a property.
#[derive(Clone, Debug)]
pub struct SpecOpinion<'s> {
    /// Which node of the prim's index.
    pub node: usize,
    /// The layer, with its place in the node's stack.
    pub layer: &'s StackLayer,
    /// The spec's path in that layer, with variants.
    pub path: Path,
    pub spec: &'s Spec,
    /// Times of the layer to times of the stage.
    pub offset: LayerOffset,
}

/// What to put in place of an asset path: it is given as authored, with its expression evaluated, and with the identifier of the
/// layer that has it.
pub(crate) type AssetMap<'a> = dyn Fn(&AssetPath, &AssetPath, &str) -> AssetPath + 'a;

/// Composes a field: dictionaries are merged key by key, edits of lists are applied to one list, path expressions put
/// into each other; of others the strongest counts. `fallback` is the weakest opinion.
pub(crate) fn compose<'s>(
    prim: Prim<'s>,
    opinions: impl Iterator<Item = SpecOpinion<'s>>,
    name: &str,
    fallback: Option<&Value>,
    assets: Option<&AssetMap<'_>>,
) -> Result<Option<Value>> {
    let mut found: Option<Value> = None;
    // Of lists: the edits, strongest first.
    let mut edits: Vec<Value> = Vec::new();
    for opinion in opinions {
        let Some(value) = opinion.spec.get(name) else {
            continue;
        };
        let mut value = value.load()?;
        resolve(prim, &opinion, &mut value, assets);
        match (&mut found, value) {
            (None, value) => {
                let composes = matches!(value, Value::Dictionary(_) | Value::PathExpression(_));
                if is_list(&value) {
                    edits.push(value.clone());
                } else if !composes {
                    return Ok(Some(value));
                }
                found = Some(value);
            }
            (Some(Value::Dictionary(strong)), Value::Dictionary(weak)) => merge(strong, &weak),
            (Some(Value::PathExpression(_)), Value::Block) => break,
            (Some(Value::PathExpression(strong)), Value::PathExpression(weak)) => {
                expression::compose_over(strong, &weak);
            }
            (Some(strong), weak)
                if std::mem::discriminant(strong) == std::mem::discriminant(&weak) =>
            {
                edits.push(weak);
            }
            _ => {}
        }
    }
    if let Some(fallback) = fallback {
        match (&mut found, fallback) {
            (None, value) => found = Some(value.clone()),
            (Some(Value::Dictionary(strong)), Value::Dictionary(weak)) => merge(strong, weak),
            (Some(Value::PathExpression(strong)), Value::PathExpression(weak)) => {
                expression::compose_over(strong, weak);
            }
            (Some(strong), weak) if is_list(strong) && is_list(weak) => edits.push(weak.clone()),
            _ => {}
        }
    }
    if let Some(Value::PathExpression(expression)) = &mut found {
        expression::finish(expression);
    }
    Ok(match edits.is_empty() {
        true => found,
        false => apply(&edits),
    })
}

fn is_list(value: &Value) -> bool {
    matches!(
        value,
        Value::TokenListOp(_)
            | Value::StringListOp(_)
            | Value::IntListOp(_)
            | Value::UIntListOp(_)
            | Value::Int64ListOp(_)
            | Value::UInt64ListOp(_)
    )
}

/// Applies edits, the weakest first; gives one whole list.
fn apply(edits: &[Value]) -> Option<Value> {
    fn all<'v, T: Clone + Eq + Hash + 'v>(
        edits: &'v [Value],
        get: impl Fn(&'v Value) -> Option<&'v Arc<ListOp<T>>>,
    ) -> Arc<ListOp<T>> {
        let mut list = Vec::new();
        for edit in edits.iter().rev().filter_map(get) {
            edit.apply(&mut list);
        }
        Arc::new(ListOp::explicit(list))
    }
    macro_rules! each {
        ($($variant:ident),*) => {
            match edits.first()? {
                $(Value::$variant(_) => Value::$variant(all(edits, |v| match v {
                    Value::$variant(edit) => Some(edit),
                    _ => None,
                })),)*
                _ => return None,
            }
        };
    }
    Some(each!(
        TokenListOp,
        StringListOp,
        IntListOp,
        UIntListOp,
        Int64ListOp,
        UInt64ListOp
    ))
}

/// Adds to a dictionary what a weaker one has more.
pub(crate) fn merge(strong: &mut Arc<Dictionary>, weak: &Arc<Dictionary>) {
    if strong.is_empty() {
        *strong = Arc::clone(weak);
        return;
    }
    let mut todo: Vec<Token> = Vec::new();
    for (key, value) in weak.iter() {
        match (strong.get(key), value) {
            (None, _) => todo.push(key.clone()),
            (Some(Value::Dictionary(_)), Value::Dictionary(_)) => todo.push(key.clone()),
            _ => {}
        }
    }
    if todo.is_empty() {
        return;
    }
    let out = Arc::make_mut(strong);
    for key in todo {
        let value = &weak[&key];
        match (out.get_mut(&key), value) {
            (Some(Value::Dictionary(strong)), Value::Dictionary(weak)) => merge(strong, weak),
            _ => {
                out.insert(key, value.clone());
            }
        }
    }
}

/// Makes a value of a layer one of the stage: maps times and path expressions, and asset paths as `assets` says.
pub(crate) fn resolve(
    prim: Prim<'_>,
    opinion: &SpecOpinion<'_>,
    value: &mut Value,
    assets: Option<&AssetMap<'_>>,
) {
    match value {
        Value::TimeCode(time) => time.0 = opinion.offset.apply(time.0),
        Value::TimeCodeArray(times) if !opinion.offset.is_identity() => {
            let map = |t: &TimeCode| TimeCode(opinion.offset.apply(t.0));
            *times = times.iter().map(map).collect();
        }
        Value::Duration(length) => length.0 *= opinion.offset.scale,
        Value::DurationArray(lengths) if !opinion.offset.is_identity() => {
            let map = |l: &Duration| Duration(opinion.offset.scale * l.0);
            *lengths = lengths.iter().map(map).collect();
        }
        Value::PathExpression(expression) => {
            expression.0 = expression::map(&expression.0, &|path| {
                prim.map_from_node(opinion.node, path)
            });
        }
        Value::PathExpressionArray(all) => {
            let mut mapped = all.to_vec();
            for expression in &mut mapped {
                expression.0 = expression::map(&expression.0, &|path| {
                    prim.map_from_node(opinion.node, path)
                });
            }
            *all = mapped.into();
        }
        Value::AssetPath(path) => {
            if let Some(map) = assets {
                let evaluated = evaluated(prim, opinion, path);
                *path = map(path, &evaluated, &opinion.layer.identifier);
            }
        }
        Value::AssetPathArray(paths) => {
            if let Some(map) = assets {
                let map = |p| map(p, &evaluated(prim, opinion, p), &opinion.layer.identifier);
                *paths = paths.iter().map(map).collect();
            }
        }
        Value::TimeSamples(samples) => {
            let mut mapped = samples.offset(&opinion.offset);
            let values = mapped.values();
            if assets.is_some() || values.iter().any(depends_on_layer) {
                let values = values.iter().map(|v| match v.load() {
                    Ok(mut value) => {
                        resolve(prim, opinion, &mut value, assets);
                        value
                    }
                    Err(_) => v.clone(),
                });
                let values: Arc<[Value]> = values.collect();
                mapped = sinew_layer::TimeSamples::from_sorted(
                    Arc::clone(mapped.shared_times()),
                    values,
                );
            }
            *samples = mapped;
        }
        Value::ArrayEdit(edit) if depends_on_layer(&edit.literals) => {
            resolve(prim, opinion, &mut Arc::make_mut(edit).literals, assets);
        }
        Value::Dictionary(dictionary) if dictionary.values().any(depends_on_layer) => {
            for value in Arc::make_mut(dictionary).values_mut() {
                if let Ok(mut loaded) = value.load() {
                    resolve(prim, opinion, &mut loaded, assets);
                    *value = loaded;
                }
            }
        }
        _ => {}
    }
}

/// An asset path with the variables of its layer stack put in. A broken expression stays.
pub(crate) fn evaluated(prim: Prim<'_>, opinion: &SpecOpinion<'_>, path: &AssetPath) -> AssetPath {
    let stack = &prim.data().index.nodes()[opinion.node].stack;
    stack
        .evaluate(&path.0)
        .map_or_else(|| path.clone(), |text| AssetPath(text.into()))
}

/// Whether a value may mean something else in the stage than in its layer.
pub(crate) fn depends_on_layer(value: &Value) -> bool {
    matches!(
        value,
        Value::TimeCode(_)
            | Value::TimeCodeArray(_)
            | Value::Duration(_)
            | Value::DurationArray(_)
            | Value::PathExpression(_)
            | Value::PathExpressionArray(_)
            | Value::AssetPath(_)
            | Value::AssetPathArray(_)
            | Value::ArrayEdit(_)
            | Value::Dictionary(_)
            | Value::Stored(_)
    )
}

/// The names of fields of specs, without those that are no metadata.
pub(crate) fn names_of<'s>(opinions: impl Iterator<Item = SpecOpinion<'s>>) -> Vec<Token> {
    let fields = opinions.flat_map(|o| o.spec.fields.iter());
    fields
        .map(|(n, _)| n.clone())
        .filter(|n| !is_private(n))
        .collect()
}

/// Whether a property is custom: no schema has it, and an opinion says so.
pub(crate) fn is_custom(prim: Prim<'_>, name: &str) -> bool {
    let says_so = |o: SpecOpinion<'_>| o.spec.get(field::CUSTOM) == Some(&Value::Bool(true));
    prim.kind().property(name).is_none() && prim.property_opinions(name).any(says_so)
}

/// Whether a field is none of the metadata that usd-core lists: arcs, clips, values and lists of what is below.
pub(crate) fn is_private(name: &str) -> bool {
    matches!(
        name,
        field::INHERITS
            | field::LAYER_RELOCATES
            | field::RELOCATES
            | field::PAYLOAD
            | field::REFERENCES
            | field::SPECIALIZES
            | field::SUBLAYERS
            | field::SUBLAYER_OFFSETS
            | field::VARIANT_SELECTION
            | field::VARIANT_SET_NAMES
            | field::CLIPS
            | field::CLIP_SETS
            | field::DEFAULT
            | field::TIME_SAMPLES
            | field::SPLINE
            | field::TARGET_PATHS
            | field::CONNECTION_PATHS
    )
}

//! The `clips` dictionaries of a prim, composed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{Dictionary, LayerOffset};
use sinew_layer::{Path, Token, Value};

use super::ClipLayers;
use crate::compose::{CLIP_SET_INVALID, Diagnostic, LayerStack, Node, PrimIndex};
use crate::metadata::merge;

/// How many clips the templates of a stage may name, so that tiny strides do not fill the memory.
const MAX_TEMPLATE_CLIPS: usize = 1_000_000;

/// A clip set as its dictionaries have it, not checked.
pub(crate) struct Definition {
    /// The layer stack and the prim in it that the clips belong to: there they are weaker than the layer.
    pub stack: Arc<LayerStack>,
    pub prim: Path,
    /// Which layer of the stack: the one with the asset paths.
    pub layer: usize,
    /// Times of that layer to times of the stage.
    pub offset: LayerOffset,
    pub assets: Vec<Token>,
    /// The prim in the clips.
    pub clip_prim: Option<Token>,
    /// Time of the stage and index of the clip from then on.
    pub active: Option<Vec<[f64; 2]>>,
    /// Time of the stage and time in the clip.
    pub times: Vec<[f64; 2]>,
    pub manifest: Option<Token>,
    pub interpolate_missing: bool,
}

/// What is equal for equal definitions: instances that differ in their clips share no prototype.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct DefinitionKey {
    /// Address of the layer stack, prim, and layer.
    place: (usize, Path, usize),
    /// Asset paths, prim in the clips, and manifest.
    names: (Vec<Token>, Option<Token>, Option<Token>),
    /// The bits of all times, with the length of `active`; no length if it is not there.
    times: (Vec<u64>, Option<usize>),
    interpolate_missing: bool,
}

impl Definition {
    pub fn key(&self) -> DefinitionKey {
        let bits = |n: &f64| (n + 0.0).to_bits();
        let active = self.active.as_deref().unwrap_or_default();
        let offset = [self.offset.offset, self.offset.scale];
        let times = active.iter().chain(&self.times).flatten();
        DefinitionKey {
            place: (
                Arc::as_ptr(&self.stack) as usize,
                self.prim.clone(),
                self.layer,
            ),
            names: (
                self.assets.clone(),
                self.clip_prim.clone(),
                self.manifest.clone(),
            ),
            times: (
                offset.iter().chain(times).map(bits).collect(),
                self.active.as_ref().map(Vec::len),
            ),
            interpolate_missing: self.interpolate_missing,
        }
    }
}

/// Where the asset paths of a set were found.
#[derive(Clone)]
struct Anchor {
    stack: Arc<LayerStack>,
    prim: Path,
    layer: usize,
    offset: LayerOffset,
    /// The place among the sets of its stack.
    order: usize,
}

#[derive(Clone, Default)]
struct Draft {
    anchor: Option<Anchor>,
    info: Arc<Dictionary>,
}

/// The clip sets of a prim, strongest first.
pub(crate) fn of_prim(
    index: &PrimIndex,
    layers: &ClipLayers,
    messages: &mut Vec<Diagnostic>,
) -> Vec<Definition> {
    let mut composed: BTreeMap<Token, Draft> = BTreeMap::new();
    let mut stacks: Vec<Arc<LayerStack>> = Vec::new();
    for node in index.nodes().iter().filter(|n| n.has_specs) {
        for (name, draft) in of_node(node, messages) {
            let set = composed.entry(name).or_default();
            if set.anchor.is_none() {
                set.anchor = draft.anchor;
            }
            merge(&mut set.info, &draft.info);
        }
        stacks.push(Arc::clone(&node.stack));
    }
    let mut drafts: Vec<(usize, Anchor, Arc<Dictionary>)> = Vec::new();
    for draft in composed.into_values() {
        if let Some(anchor) = draft.anchor {
            let stack = stacks.iter().position(|s| Arc::ptr_eq(s, &anchor.stack));
            drafts.push((stack.unwrap_or(usize::MAX), anchor, draft.info));
        }
    }
    drafts.sort_by(|a, b| (a.0, &a.1.prim, a.1.order).cmp(&(b.0, &b.1.prim, b.1.order)));
    let mut out = Vec::with_capacity(drafts.len());
    for (_, anchor, info) in drafts {
        out.extend(definition(index, anchor, &info, layers, messages));
    }
    out
}

/// The clip sets that the layers of one node have.
fn of_node(node: &Node, messages: &mut Vec<Diagnostic>) -> BTreeMap<Token, Draft> {
    let mut sets: BTreeMap<Token, Draft> = BTreeMap::new();
    let mut names: Vec<Token> = Vec::new();
    let mut known: HashSet<Token> = HashSet::new();
    for (i, layer) in node.stack.layers.iter().enumerate().rev() {
        let Some(spec) = layer.layer.spec(&node.path) else {
            continue;
        };
        let offset = node.map.offset().after(&layer.offset);
        if let Some(Ok(Value::Dictionary(clips))) = spec.get(field::CLIPS).map(Value::load) {
            for (name, info) in clips.iter() {
                let Value::Dictionary(info) = info else {
                    messages.push(Diagnostic {
                        code: CLIP_SET_INVALID,
                        prim: node.path.clone(),
                        message: format!("clip set '{name}' is no dictionary"),
                    });
                    continue;
                };
                let mut info = Arc::clone(info);
                let set = sets.entry(name.clone()).or_default();
                let named = matches!(info.get("assetPaths"), Some(Value::AssetPathArray(_)))
                    || matches!(info.get("templateAssetPath"), Some(Value::String(_)));
                if named {
                    set.anchor = Some(Anchor {
                        stack: Arc::clone(&node.stack),
                        prim: node.path.clone(),
                        layer: i,
                        offset,
                        order: 0,
                    });
                }
                for key in ["active", "times"] {
                    if let Some(Value::Vec2dArray(pairs)) =
                        info.get(key).filter(|_| !offset.is_identity())
                    {
                        let moved = pairs.iter().map(|p| [offset.apply(p[0]), p[1]]).collect();
                        Arc::make_mut(&mut info).insert(key.into(), Value::Vec2dArray(moved));
                    }
                }
                let weaker = std::mem::replace(&mut set.info, info);
                merge(&mut set.info, &weaker);
                if known.insert(name.clone()) {
                    names.push(name.clone());
                }
            }
        }
        if let Some(Ok(Value::StringListOp(edit))) = spec.get(field::CLIP_SETS).map(Value::load) {
            edit.apply(&mut names);
            known = names.iter().cloned().collect();
        }
    }
    let places = names.iter().enumerate().map(|(at, name)| (name, at));
    let places: HashMap<&Token, usize> = places.collect();
    sets.retain(|name, set| {
        let order = places.get(name).copied();
        if let (Some(anchor), Some(order)) = (&mut set.anchor, order) {
            anchor.order = order;
        }
        order.is_some()
    });
    sets
}

fn definition(
    index: &PrimIndex,
    anchor: Anchor,
    info: &Dictionary,
    layers: &ClipLayers,
    messages: &mut Vec<Diagnostic>,
) -> Option<Definition> {
    let pairs = |key: &str| match info.get(key) {
        Some(Value::Vec2dArray(pairs)) => Some(pairs.to_vec()),
        _ => None,
    };
    let text = |key: &str| match info.get(key) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let mut out = Definition {
        assets: Vec::new(),
        clip_prim: text("primPath"),
        active: pairs("active"),
        times: pairs("times").unwrap_or_default(),
        manifest: match info.get("manifestAssetPath") {
            Some(Value::AssetPath(path)) => Some(path.0.clone()),
            _ => None,
        },
        interpolate_missing: matches!(
            info.get("interpolateMissingClipValues"),
            Some(Value::Bool(true))
        ),
        stack: Arc::clone(&anchor.stack),
        prim: anchor.prim.clone(),
        layer: anchor.layer,
        offset: anchor.offset,
    };
    if let Some(Value::AssetPathArray(assets)) = info.get("assetPaths") {
        out.assets = assets.iter().map(|a| a.0.clone()).collect();
        return Some(out);
    }
    let number = |key: &str| match info.get(key) {
        Some(Value::Double(number)) => Some(*number),
        _ => None,
    };
    let template = Template {
        asset: text("templateAssetPath")?,
        stride: number("templateStride")?,
        start: number("templateStartTime")?,
        end: number("templateEndTime")?,
        active_offset: number("templateActiveOffset"),
    };
    let identifier = &anchor.stack.layers[anchor.layer].identifier;
    let count = |clips| layers.count(clips, MAX_TEMPLATE_CLIPS);
    match template.expand(count, |asset| {
        layers.resolver.resolve(asset, Some(identifier)).is_some()
    }) {
        Ok((assets, mut active, mut times)) => {
            for pair in active.iter_mut().chain(&mut times) {
                pair[0] = anchor.offset.apply(pair[0]);
            }
            out.assets = assets;
            out.active = Some(active);
            out.times = times;
            Some(out)
        }
        Err(reason) => {
            messages.push(Diagnostic {
                code: CLIP_SET_INVALID,
                prim: index.path().clone(),
                message: format!("clip template: {reason}"),
            });
            None
        }
    }
}

/// Clips that are named by their times: `clip.###.usd`.
struct Template {
    asset: Token,
    stride: f64,
    start: f64,
    end: f64,
    active_offset: Option<f64>,
}

type Pairs = Vec<[f64; 2]>;

impl Template {
    /// The assets that are there, when each becomes active, and the times in them.
    /// `count` says whether there may be so many.
    fn expand(
        &self,
        count: impl Fn(usize) -> bool,
        exists: impl Fn(&str) -> bool,
    ) -> Result<(Vec<Token>, Pairs, Pairs), String> {
        if self.stride.is_nan() || self.stride <= 0.0 {
            return Err(format!("expected a stride above 0, found {}", self.stride));
        }
        if self.start.is_nan() || self.end.is_nan() || self.start > self.end {
            return Err(format!(
                "expected a start before the end, found {} and {}",
                self.start, self.end
            ));
        }
        // Too many saturate.
        let clips = ((self.end - self.start) / self.stride) as usize;
        if !count(clips.saturating_add(1)) {
            return Err(format!(
                "expected templates of at most {MAX_TEMPLATE_CLIPS} clips in a stage"
            ));
        }
        if let Some(offset) = self.active_offset.filter(|o| o.abs() > self.stride) {
            return Err(format!(
                "expected an active offset of at most the stride, found {offset}"
            ));
        }
        let (folder, base) = match self.asset.rfind('/') {
            Some(at) => self.asset.split_at(at + 1),
            None => ("", self.asset.as_str()),
        };
        let parts: Vec<&str> = base.split('.').filter(|p| !p.is_empty()).collect();
        let is_hashes = |part: &str| part.bytes().all(|b| b == b'#');
        let places: Vec<usize> = (0..parts.len()).filter(|i| is_hashes(parts[*i])).collect();
        let (whole, fraction) = match places[..] {
            [whole] => (whole, None),
            [whole, fraction] if fraction == whole + 1 => (whole, Some(fraction)),
            _ => {
                return Err(format!(
                    "expected 'name.###.usd' or 'name.###.###.usd', found '{}'",
                    self.asset
                ));
            }
        };
        // Whole steps of a ten-thousandth, so that a stride with a fraction adds up.
        const STEPS: f64 = 10_000.0;
        let (mut assets, mut active, mut times) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(offset) = self.active_offset {
            let time = (self.start * STEPS - offset.abs() * STEPS) / STEPS;
            times.push([time, time]);
        }
        let mut step = self.start * STEPS;
        while step <= self.end * STEPS {
            let time = step / STEPS;
            let mut names: Vec<String> = parts.iter().map(|p| (*p).to_owned()).collect();
            names[whole] = format!("{:0width$}", time as i32, width = parts[whole].len());
            if let Some(fraction) = fraction {
                let text = format!("{time:.width$}", width = parts[fraction].len());
                names[fraction] = text
                    .split_once('.')
                    .map_or(String::new(), |(_, f)| f.to_owned());
            }
            let asset = format!("{folder}{}", names.join("."));
            if exists(&asset) {
                let start = match self.active_offset {
                    Some(offset) => (step + offset * STEPS) / STEPS,
                    None => time,
                };
                active.push([start, assets.len() as f64]);
                times.push([time, time]);
                assets.push(asset.into());
            }
            let next = step + self.stride * STEPS;
            if next <= step {
                break;
            }
            step = next;
        }
        if let Some(offset) = self.active_offset {
            let time = (self.end * STEPS + offset.abs() * STEPS) / STEPS;
            times.push([time, time]);
        }
        Ok((assets, active, times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_name_the_clips_that_are_there() {
        let template = Template {
            asset: "./clips/c.##.#.usd".into(),
            stride: 0.5,
            start: 1.0,
            end: 2.0,
            active_offset: Some(-0.5),
        };
        let (assets, active, times) = template
            .expand(|_| true, |a| a != "./clips/c.01.5.usd")
            .unwrap();
        assert_eq!(assets, ["./clips/c.01.0.usd", "./clips/c.02.0.usd"]);
        assert_eq!(active, [[0.5, 0.0], [1.5, 1.0]]);
        assert_eq!(times, [[0.5, 0.5], [1.0, 1.0], [2.0, 2.0], [2.5, 2.5]]);
    }

    #[test]
    fn templates_that_never_end_are_errors() {
        let template = |stride| Template {
            asset: "c.#.usd".into(),
            stride,
            start: 0.0,
            end: 10.0,
            active_offset: None,
        };
        for stride in [0.0, -1.0, f64::NAN, 1e-12] {
            assert!(template(stride).expand(|n| n < 1000, |_| true).is_err());
        }
        let no_hashes = Template {
            asset: "c.usd".into(),
            ..template(1.0)
        };
        assert!(no_hashes.expand(|_| true, |_| true).is_err());
    }
}

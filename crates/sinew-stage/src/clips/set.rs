//! One clip set: which clip is active when, and what it has for an attribute.

use std::sync::{Arc, OnceLock};

use sinew_layer::layer::field;
use sinew_layer::value::{LayerOffset, TimeCode, Variability};
use sinew_layer::{Layer, Path, SpecKind, TimeSamples, Token, Value};

use super::ClipLayers;
use super::definition::Definition;
use super::timing::Timing;
use crate::compose::{LayerStack, Node};
use crate::error::Result;
use crate::interpolate;

/// Clips that follow one another in time, and belong to a prim and to what is below it.
pub(crate) struct ClipSet {
    stack: Arc<LayerStack>,
    /// The prim in that stack that has the clips.
    prim: Path,
    /// Which layer of the stack.
    pub layer: usize,
    clip_prim: Path,
    clips: Vec<Clip>,
    timing: Timing,
    manifest: Option<Token>,
    manifest_layer: OnceLock<Option<Arc<Layer>>>,
    interpolate_missing: bool,
    layers: Arc<ClipLayers>,
}

/// One clip, active from `start` to `end`, which is not included.
struct Clip {
    asset: Token,
    /// Where it starts as authored; the first one's `start` is long before.
    authored_start: f64,
    start: f64,
    end: f64,
    layer: OnceLock<Option<Arc<Layer>>>,
}

impl ClipSet {
    /// Checks a definition. None if it lacks what a set needs, as in usd-core.
    pub fn new(definition: Definition, layers: &Arc<ClipLayers>) -> Result<Option<Self>, String> {
        let (Some(clip_prim), Some(mut active)) = (definition.clip_prim, definition.active) else {
            return Ok(None);
        };
        let path = Path::parse(&clip_prim).map_err(|e| format!("primPath: {e}"))?;
        if !path.is_absolute() || !path.is_prim() {
            return Err(format!(
                "primPath: expected the absolute path of a prim, found '{clip_prim}'"
            ));
        }
        if definition.assets.iter().any(|a| a.is_empty()) {
            return Err("assetPaths: expected paths, found an empty one".to_owned());
        }
        for [time, clip] in &active {
            let is_clip = *clip >= 0.0 && *clip < definition.assets.len() as f64;
            if !is_clip || !time.is_finite() {
                return Err(format!("active: there is no clip {clip} for time {time}"));
            }
        }
        active.sort_by(|a, b| a[0].total_cmp(&b[0]));
        if let Some(pair) = active.windows(2).find(|p| p[0][0] == p[1][0]) {
            return Err(format!("active: two clips begin at time {}", pair[0][0]));
        }
        let mut stage_times: Vec<f64> = definition.times.iter().map(|t| t[0]).collect();
        stage_times.sort_by(f64::total_cmp);
        if let Some(three) = stage_times.windows(3).find(|t| t[0] == t[2]) {
            return Err(format!(
                "times: more than two entries for time {}",
                three[0]
            ));
        }
        let mut clips: Vec<Clip> = Vec::with_capacity(active.len());
        for (i, [time, clip]) in active.iter().enumerate() {
            clips.push(Clip {
                asset: definition.assets[*clip as usize].clone(),
                authored_start: *time,
                start: if i == 0 { f64::MIN } else { *time },
                end: active.get(i + 1).map_or(f64::MAX, |next| next[0]),
                layer: OnceLock::new(),
            });
        }
        // A set without clips blocks those of weaker layers by its name, and is none itself.
        if clips.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            stack: definition.stack,
            prim: definition.prim,
            layer: definition.layer,
            clip_prim: path,
            clips,
            timing: Timing::new(&definition.times, &definition.offset),
            manifest: definition.manifest,
            manifest_layer: OnceLock::new(),
            interpolate_missing: definition.interpolate_missing,
            layers: Arc::clone(layers),
        }))
    }

    /// Whether the clips belong to a node: to its path or one above it, in its layer stack.
    pub fn applies_to(&self, node: &Node) -> bool {
        Arc::ptr_eq(&self.stack, &node.stack) && node.path.has_prefix(&self.prim)
    }

    /// The identifier of the layer whose value counts at a time: the clip's if it has samples, else the manifest's.
    pub fn source(&self, path: &Path, time: f64) -> Option<String> {
        let clip = &self.clips[self.at(time)];
        let asset = match self.samples(clip, path).is_some() {
            true => &clip.asset,
            false => self.manifest.as_ref()?,
        };
        self.layers.resolver.resolve(asset, Some(self.anchor()))
    }

    /// Whether the set has values for the attribute with this path in the node: whether its manifest, or if there is
    /// none a clip with samples, declares it as varying.
    pub fn declares(&self, path: &Path) -> bool {
        let path = self.in_clip(path);
        let varying = |layer: &Layer| {
            let spec = layer
                .spec(&path)
                .filter(|s| s.kind == SpecKind::Attribute)?;
            let variability = spec.get(field::VARIABILITY);
            Some(variability != Some(&Value::Variability(Variability::Uniform)))
        };
        if self.manifest.is_some() {
            return self.manifest_layer().and_then(varying).unwrap_or(false);
        }
        let mut with_samples = self.clips.iter().filter_map(|clip| {
            let layer = self.clip_layer(clip)?;
            layer_samples(layer, &path).and(varying(layer))
        });
        with_samples.next().unwrap_or(false)
    }

    /// The value at a time; none if it is blocked or missing.
    pub fn value(&self, path: &Path, time: f64) -> Result<Option<Value>> {
        let (lower, upper) = self.bracket(path, time);
        if (lower - upper).abs() < 1e-6 {
            return Ok(match self.sample(path, lower)? {
                Some(Value::Block) => None,
                Some(value) => Some(value),
                None => self.manifest_default(path)?,
            });
        }
        // A block holds no value, and what is before it holds until then.
        let at = |time| match self.sample(path, time)? {
            Some(Value::Block) => Ok(None),
            Some(value) => Ok(Some(value)),
            None => self.manifest_default(path),
        };
        let Some(a) = at(lower)? else {
            return Ok(None);
        };
        if !interpolate::is_linear(&a) {
            return Ok(Some(a));
        }
        let b = at(upper)?;
        let alpha = (time - lower) / (upper - lower);
        Ok(Some(
            b.and_then(|b| interpolate::lerp(&a, &b, alpha))
                .unwrap_or(a),
        ))
    }

    /// The times of the stage at which there are samples.
    pub fn times(&self, path: &Path) -> Vec<f64> {
        let mut out = Vec::new();
        for clip in self.clips.iter().filter(|c| self.contributes(c, path)) {
            out.extend(self.clip_times(clip, path));
        }
        if out.is_empty() {
            out.push(self.clips[0].authored_start);
        }
        out.sort_by(f64::total_cmp);
        out.dedup();
        out
    }

    /// Whether there may be more than one value.
    pub fn might_vary(&self, path: &Path) -> bool {
        self.clips.len() > 1 || self.clip_times(&self.clips[0], path).len() > 1
    }

    fn clip_times(&self, clip: &Clip, path: &Path) -> Vec<f64> {
        let samples = self.samples(clip, path);
        let samples = samples.as_ref().map_or(&[][..], |s| s.times());
        let mut out = self.timing.samples(samples, clip.start, clip.end);
        out.extend(
            self.timing
                .stage_times()
                .filter(|t| clip.start <= *t && *t < clip.end),
        );
        out.push(clip.authored_start);
        out.sort_by(f64::total_cmp);
        out.dedup();
        out
    }

    /// Which clip is active.
    fn at(&self, time: f64) -> usize {
        let after = self.clips.partition_point(|c| c.start <= time);
        after.saturating_sub(1)
    }

    /// Whether a clip has a say about an attribute. Where missing values are interpolated, only clips with samples have.
    fn contributes(&self, clip: &Clip, path: &Path) -> bool {
        if !self.interpolate_missing {
            return true;
        }
        let has_samples = !self.is_blocked_in_manifest(path, clip.authored_start)
            && self.samples(clip, path).is_some();
        has_samples || self.manifest_field(path, field::DEFAULT).is_some()
    }

    /// The samples before and after a time, each in the nearest clip that has one.
    fn bracket(&self, path: &Path, time: f64) -> (f64, f64) {
        let active = self.at(time);
        let (mut lower, mut upper) = (None, None);
        let clip = &self.clips[active];
        if self.contributes(clip, path) {
            let (a, b) = self.bracket_in(clip, path, time);
            lower = Some(a);
            // After the last sample of this clip comes the first of the next.
            upper = Some(b).filter(|b| !(a == *b && time > *b));
        }
        if lower.is_none() {
            let before = self.clips[..active]
                .iter()
                .rev()
                .find(|c| self.contributes(c, path));
            lower = before.map(|c| self.bracket_in(c, path, time).1);
        }
        if upper.is_none() {
            let after = self.clips[active + 1..]
                .iter()
                .find(|c| self.contributes(c, path));
            upper = after.map(|c| c.start);
        }
        let first = self.clips[0].authored_start;
        let lower = lower.or(upper).unwrap_or(first);
        (lower, upper.unwrap_or(lower))
    }

    /// The samples of one clip beside a time. The knots of the timing and the start of a clip are samples too.
    fn bracket_in(&self, clip: &Clip, path: &Path, time: f64) -> (f64, f64) {
        let mut times: Vec<f64> = Vec::with_capacity(5);
        if let Some(samples) = self.samples(clip, path)
            && let Some((a, b)) = samples.bracket(self.timing.to_clip(time))
        {
            let (a, b) = (samples.times()[a], samples.times()[b]);
            let (a, b) = self.timing.bracket(time, a, b);
            times.extend([a, b]);
        }
        let knots: Vec<f64> = self.timing.stage_times().collect();
        times.extend(beside(&knots, time).into_iter().flat_map(|(a, b)| [a, b]));
        times.push(clip.authored_start);
        times.retain(|t| clip.start <= *t && *t < clip.end);
        times.sort_by(f64::total_cmp);
        times.dedup();
        beside(&times, time).unwrap_or((clip.authored_start, clip.authored_start))
    }

    /// What the clip that is active at a time has then: a block too. None if it has no samples.
    fn sample(&self, path: &Path, time: f64) -> Result<Option<Value>> {
        let clip = &self.clips[self.at(time)];
        let Some(samples) = self.samples(clip, path) else {
            return Ok(None);
        };
        let inner = self.timing.to_clip(time);
        let Some(mut value) = interpolate::sampled(&samples, inner, &LayerOffset::IDENTITY, true)?
        else {
            return Ok(None);
        };
        // Times in a clip move with the clip.
        match &mut value {
            Value::TimeCode(code) => code.0 += time - inner,
            Value::TimeCodeArray(codes) => {
                *codes = codes
                    .iter()
                    .map(|c| TimeCode(c.0 + (time - inner)))
                    .collect();
            }
            _ => {}
        }
        Ok(Some(value))
    }

    fn samples(&self, clip: &Clip, path: &Path) -> Option<TimeSamples> {
        layer_samples(self.clip_layer(clip)?, &self.in_clip(path))
    }

    fn in_clip(&self, path: &Path) -> Path {
        path.replace_prefix(&self.prim, &self.clip_prim)
            .unwrap_or_default()
    }

    fn anchor(&self) -> &str {
        &self.stack.layers[self.layer].identifier
    }

    fn clip_layer<'c>(&self, clip: &'c Clip) -> Option<&'c Layer> {
        let open = || self.layers.open(&clip.asset, self.anchor());
        clip.layer.get_or_init(open).as_deref()
    }

    fn manifest_layer(&self) -> Option<&Layer> {
        let open = || self.layers.open(self.manifest.as_ref()?, self.anchor());
        self.manifest_layer.get_or_init(open).as_deref()
    }

    fn manifest_field(&self, path: &Path, name: &str) -> Option<&Value> {
        self.manifest_layer()?.spec(&self.in_clip(path))?.get(name)
    }

    fn manifest_default(&self, path: &Path) -> Result<Option<Value>> {
        let value = self
            .manifest_field(path, field::DEFAULT)
            .map(Value::load)
            .transpose()?;
        Ok(value.filter(|v| !matches!(v, Value::Block | Value::AnimationBlock)))
    }

    /// Whether the manifest says that the clip that starts then has no samples.
    fn is_blocked_in_manifest(&self, path: &Path, time: f64) -> bool {
        let samples = self
            .manifest_layer()
            .and_then(|l| layer_samples(l, &self.in_clip(path)));
        let at = |s: TimeSamples| {
            s.times()
                .iter()
                .position(|t| *t == time)
                .map(|i| s.values()[i].clone())
        };
        matches!(samples.and_then(at), Some(Value::Block))
    }
}

/// The samples of an attribute, if there are any.
fn layer_samples(layer: &Layer, path: &Path) -> Option<TimeSamples> {
    match layer.spec(path)?.get(field::TIME_SAMPLES)?.load() {
        Ok(Value::TimeSamples(samples)) if !samples.is_empty() => Some(samples),
        _ => None,
    }
}

/// The times before and after a time.
fn beside(times: &[f64], time: f64) -> Option<(f64, f64)> {
    let last = times.len().checked_sub(1)?;
    let upper = times.partition_point(|t| *t < time).min(last);
    match times[upper] > time && upper > 0 {
        true => Some((times[upper - 1], times[upper])),
        false => Some((times[upper], times[upper])),
    }
}

//! Attributes: what they are, and their values at any time.

use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{ArrayEdit, AssetPath, LayerOffset, Spline, Variability};
use sinew_layer::{Path, Spec, SpecKind, TimeSamples, Token, Value};

use crate::clips::ClipSet;
use crate::error::Result;
use crate::interpolate;
use crate::metadata::{self, AssetMap, SpecOpinion};
use crate::names;
use crate::prim::Prim;
use crate::targets;

/// Where an attribute's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// There is no value.
    None,
    /// The schema's fallback.
    Fallback,
    Default,
    TimeSamples,
    Spline,
    /// Value clips.
    Clips,
}

/// An asset path with what it resolves to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedAsset {
    /// As the layer has it.
    pub authored: Token,
    /// With its expression variables put in; the authored path if it is no expression.
    pub evaluated: Token,
    /// The identifier; empty if nothing is there.
    pub resolved: String,
}

/// A handle to an attribute of a prim, whether or not it is there.
#[derive(Clone, Copy)]
pub struct Attribute<'s, 'n> {
    pub(crate) prim: Prim<'s>,
    pub(crate) name: &'n str,
}

/// The opinion that wins.
enum Winner<'s> {
    /// No value, or a block.
    Nothing,
    Default(SpecOpinion<'s>),
    Samples(SpecOpinion<'s>, TimeSamples),
    Spline(SpecOpinion<'s>, Arc<Spline>),
    /// Clips, and the attribute's path in the node that has them.
    Clips(&'s ClipSet, Path),
}

/// Whether an edit of an array is applied to weaker values. As in usd-core, those of asset paths and of path expressions are
/// not: they are values of their own, and a weaker default counts in place of one that is a default.
fn is_applied(edit: &ArrayEdit) -> bool {
    !matches!(
        edit.literals,
        Value::AssetPathArray(_) | Value::PathExpressionArray(_)
    )
}

/// Whether a value is an edit of an array that is applied to weaker values.
fn is_edit(value: &Value) -> Result<bool> {
    Ok(match value {
        Value::ArrayEdit(edit) => is_applied(edit),
        Value::Stored(stored) if !stored.is_array() => is_edit(&value.load()?)?,
        _ => false,
    })
}

impl Winner<'_> {
    /// Whether it has edits of arrays, so that weaker opinions count too.
    fn has_edits(&self) -> Result<bool> {
        match self {
            Self::Default(opinion) => opinion.spec.get(field::DEFAULT).map_or(Ok(false), is_edit),
            Self::Samples(_, samples) => {
                for value in samples.values().iter() {
                    if is_edit(value)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }
}

impl<'s, 'n> Attribute<'s, 'n> {
    #[must_use]
    pub fn prim(self) -> Prim<'s> {
        self.prim
    }

    #[must_use]
    pub fn name(self) -> &'n str {
        self.name
    }

    #[must_use]
    pub fn path(self) -> Path {
        self.prim.path().property(self.name)
    }

    /// Whether there is a spec, or the prim's schemas have it.
    #[must_use]
    pub fn is_defined(self) -> bool {
        self.prim.property_is_attribute(self.name) == Some(true)
    }

    /// Whether there is a spec.
    #[must_use]
    pub fn is_authored(self) -> bool {
        self.opinions().next().is_some()
    }

    /// The type, such as `point3f[]`: the schema's, else that of the strongest spec. Empty if there is none.
    #[must_use]
    pub fn type_name(self) -> Token {
        let schema = self.prim.kind().property_field(self.name, field::TYPE_NAME);
        let mut opinions = self.opinions();
        let authored = || opinions.find_map(|o| o.spec.get(field::TYPE_NAME));
        match schema.or_else(authored).map(Value::load) {
            Some(Ok(Value::Token(name))) => name,
            _ => Token::default(),
        }
    }

    /// Whether the value may change over time: as the schema says, else the weakest spec.
    #[must_use]
    pub fn variability(self) -> Variability {
        let schema = self
            .prim
            .kind()
            .property(self.name)
            .map(|s| s.get(field::VARIABILITY));
        let value = match schema {
            Some(value) => value,
            None => {
                let opinions = self.opinions();
                opinions
                    .filter_map(|o| o.spec.get(field::VARIABILITY))
                    .last()
            }
        };
        match value {
            Some(Value::Variability(variability)) => *variability,
            _ => Variability::Varying,
        }
    }

    #[must_use]
    pub fn is_custom(self) -> bool {
        metadata::is_custom(self.prim, self.name)
    }

    /// A field's composed value; samples are [`Attribute::samples`].
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn metadata(self, name: &str) -> Result<Option<Value>> {
        match name {
            field::TYPE_NAME => {
                Ok(Some(Value::Token(self.type_name())).filter(|_| self.is_defined()))
            }
            field::VARIABILITY => Ok(Some(Value::Variability(self.variability()))),
            field::CUSTOM => Ok(Some(Value::Bool(self.is_custom()))),
            field::TIME_SAMPLES => Ok(self.samples()?.map(Value::TimeSamples)),
            _ => {
                let fallback = self.prim.kind().property_field(self.name, name);
                metadata::compose(self.prim, self.opinions(), name, fallback, None)
            }
        }
    }

    /// The names of all fields that have an opinion, sorted, without values and connections.
    #[must_use]
    pub fn authored_metadata_names(self) -> Vec<Token> {
        let mut all = metadata::names_of(self.opinions());
        let required = [field::CUSTOM, field::TYPE_NAME, field::VARIABILITY];
        all.extend(required.map(Token::new_static));
        names::sort(&mut all);
        all
    }

    /// The specs, strongest first.
    pub fn opinions(self) -> impl Iterator<Item = SpecOpinion<'s>> {
        let all = self.prim.property_opinions(self.name);
        all.filter(|o| o.spec.kind == SpecKind::Attribute)
    }

    /// The opinion that wins at the default time, or at all others.
    fn winner(self, at_default: bool) -> Result<Winner<'s>> {
        let mut winner = Winner::Nothing;
        self.winners(at_default, &mut |found| {
            winner = found;
            Ok(false)
        })?;
        Ok(winner)
    }

    /// Calls `take` with the opinions that would win if those before were not there, until it returns false. After a block
    /// there is none.
    fn winners(
        self,
        at_default: bool,
        take: &mut dyn FnMut(Winner<'s>) -> Result<bool>,
    ) -> Result<()> {
        let data = self.prim.data();
        if data.flags.prototype || !sinew_layer::path::is_property_name(self.name) {
            return Ok(());
        }
        let clips = match at_default {
            true => &[][..],
            false => &self.prim.stage().population().clips[data.clips as usize][..],
        };
        let mut animated = !at_default;
        for (i, node) in self.prim.nodes_with(self.name, !clips.is_empty()) {
            let affected = clips.iter().any(|c| c.applies_to(node));
            if !node.has_specs && !affected {
                continue;
            }
            let path = node.path.property(self.name);
            for (layer_number, layer) in node.stack.layers.iter().enumerate() {
                let spec = layer
                    .layer
                    .spec(&path)
                    .filter(|s| node.has_specs && s.kind == SpecKind::Attribute);
                if let Some(spec) = spec {
                    let opinion = || SpecOpinion {
                        node: i,
                        layer,
                        path: path.clone(),
                        spec,
                        offset: node.map.offset().after(&layer.offset),
                    };
                    if let Some(winner) = Self::of_spec(spec, opinion, &mut animated)? {
                        let last = matches!(winner, Winner::Nothing);
                        if !take(winner)? || last {
                            return Ok(());
                        }
                    }
                }
                if !animated || !affected {
                    continue;
                }
                // Clips are weaker than the layer that has them.
                let here = clips
                    .iter()
                    .filter(|c| c.layer == layer_number && c.applies_to(node));
                for set in here.filter(|c| c.declares(&path)) {
                    if !take(Winner::Clips(set, path.clone()))? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// What one spec says: its samples, else its spline, else its default.
    fn of_spec(
        spec: &Spec,
        opinion: impl Fn() -> SpecOpinion<'s>,
        animated: &mut bool,
    ) -> Result<Option<Winner<'s>>> {
        if *animated
            && let Some(samples) = spec.get(field::TIME_SAMPLES)
            && let Value::TimeSamples(samples) = samples.load()?
            && !samples.is_empty()
        {
            return Ok(Some(Winner::Samples(opinion(), samples)));
        }
        if *animated
            && let Some(spline) = spec.get(field::SPLINE)
            && let Value::Spline(spline) = spline.load()?
        {
            return Ok(Some(Winner::Spline(opinion(), spline)));
        }
        let Some(default) = spec.get(field::DEFAULT) else {
            return Ok(None);
        };
        let small = match default {
            // An array in a file is a value, whatever is in it.
            Value::Stored(stored) if !stored.is_array() => Some(default.load()?),
            _ => None,
        };
        Ok(match small.as_ref().unwrap_or(default) {
            Value::Block => Some(Winner::Nothing),
            // No animation of a weaker layer counts.
            Value::AnimationBlock => {
                *animated = false;
                None
            }
            _ => Some(Winner::Default(opinion())),
        })
    }

    fn fallback(self) -> Option<&'static Value> {
        self.prim.kind().fallback(self.name)
    }

    /// Where the value at a time comes from; `None` is the default time.
    #[must_use]
    pub fn source(self, time: Option<f64>) -> Source {
        match self.winner(time.is_none()) {
            Ok(Winner::Default(_)) => Source::Default,
            Ok(Winner::Samples(..)) => Source::TimeSamples,
            Ok(Winner::Spline(..)) => Source::Spline,
            Ok(Winner::Clips(..)) => Source::Clips,
            Ok(Winner::Nothing) if self.fallback().is_some() => Source::Fallback,
            _ => Source::None,
        }
    }

    /// The value at the default time, the schema's fallback included.
    ///
    /// # Errors
    /// The value lies in a file that is broken there.
    pub fn default(self) -> Result<Option<Value>> {
        self.get(None)
    }

    /// The values at all [times](Attribute::times) that have a sample, of time samples or of value clips, with edits of
    /// arrays applied. Values of type `timecode` are of the stage too. None if no time has a sample.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn samples(self) -> Result<Option<TimeSamples>> {
        if let Some(samples) = self.plain_samples(None)? {
            return Ok(Some(samples));
        }
        let mut samples = Vec::new();
        for time in self.times()? {
            let value = self.at_sample(time, None)?;
            samples.push((time, value.unwrap_or(Value::Block)));
        }
        Ok((!samples.is_empty()).then(|| TimeSamples::new(samples)))
    }

    /// The time samples that win, if samples without edits of arrays do, with asset paths replaced as `assets` says.
    pub(crate) fn plain_samples(
        self,
        assets: Option<&AssetMap<'_>>,
    ) -> Result<Option<TimeSamples>> {
        let winner = self.winner(false)?;
        let edits = winner.has_edits()?;
        let (Winner::Samples(opinion, samples), false) = (winner, edits) else {
            return Ok(None);
        };
        let mut value = match self.depends_on_layer() {
            true => Value::TimeSamples(samples),
            // Nothing to map but the times: values in files stay there.
            false => return Ok(Some(samples.offset(&opinion.offset))),
        };
        metadata::resolve(self.prim, &opinion, &mut value, assets);
        match value {
            Value::TimeSamples(samples) => Ok(Some(samples)),
            _ => Ok(None),
        }
    }

    /// Whether values of the attribute's type may mean something else in the stage than in a layer.
    fn depends_on_layer(self) -> bool {
        let name = self.type_name();
        let element = name.strip_suffix("[]").unwrap_or(&name);
        matches!(
            element,
            "timecode" | "duration" | "asset" | "pathExpression" | "dictionary"
        )
    }

    /// The spline that wins, if one does: at times of the stage.
    #[must_use]
    pub fn spline(self) -> Option<Arc<Spline>> {
        match self.winner(false) {
            Ok(Winner::Spline(opinion, spline)) => Some(match opinion.offset.is_identity() {
                true => spline,
                false => Arc::new(spline.offset(&opinion.offset)),
            }),
            _ => None,
        }
    }

    /// The times of the stage that have a sample: of time samples or of value clips. A spline has none. Where a sample holds that
    /// is no edit of an array, weaker samples do not count.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn times(self) -> Result<Vec<f64>> {
        let mut out: Vec<f64> = Vec::new();
        // Stronger samples, some of which are edits.
        let mut stronger: Vec<TimeSamples> = Vec::new();
        let mut sources = 0;
        self.winners(false, &mut |winner| {
            sources += 1;
            let edits = winner.has_edits()?;
            let mut times = match &winner {
                Winner::Samples(opinion, samples) => {
                    samples.offset(&opinion.offset).times().to_vec()
                }
                Winner::Clips(set, path) => set.times(path),
                _ => Vec::new(),
            };
            for samples in &stronger {
                let mut counting = Vec::with_capacity(times.len());
                for time in times {
                    if let Some((held, _)) = samples.bracket(time)
                        && is_edit(&samples.values()[held])?
                    {
                        counting.push(time);
                    }
                }
                times = counting;
            }
            out.append(&mut times);
            if edits && let Winner::Samples(opinion, samples) = winner {
                stronger.push(samples.offset(&opinion.offset));
            }
            Ok(edits)
        })?;
        if sources > 1 {
            out.sort_by(f64::total_cmp);
            out.dedup();
        }
        Ok(out)
    }

    /// The value at a time of the stage (`None` is the default time), as usd-core resolves and interpolates it. None if
    /// there is no value or if it is blocked.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn get(self, time: Option<f64>) -> Result<Option<Value>> {
        self.get_with_assets(time, None)
    }

    /// As [`Attribute::get`], with asset paths replaced as `assets` says.
    pub(crate) fn get_with_assets(
        self,
        time: Option<f64>,
        assets: Option<&AssetMap<'_>>,
    ) -> Result<Option<Value>> {
        let (value, animated_edits) = self.composed(time, assets)?;
        let (Some(time), true) = (time, animated_edits) else {
            return Ok(value);
        };
        // Edited arrays are interpolated between the samples of all opinions.
        let times = self.times()?;
        let after = times.partition_point(|t| *t <= time);
        let (Some(from), Some(to)) = (
            after.checked_sub(1).map(|i| times[i]),
            times.get(after).copied(),
        ) else {
            return Ok(value);
        };
        let Some(a) = self.composed(Some(from), assets)?.0 else {
            return Ok(None);
        };
        let b = self.composed(Some(to), assets)?.0;
        Ok(Some(
            b.and_then(|b| interpolate::lerp(&a, &b, (time - from) / (to - from)))
                .unwrap_or(a),
        ))
    }

    /// The value at one of its [times](Attribute::times), where nothing is interpolated.
    pub(crate) fn at_sample(
        self,
        time: f64,
        assets: Option<&AssetMap<'_>>,
    ) -> Result<Option<Value>> {
        Ok(self.composed(Some(time), assets)?.0)
    }

    /// The value at a time, and whether edits of arrays and samples are in it.
    fn composed(
        self,
        time: Option<f64>,
        assets: Option<&AssetMap<'_>>,
    ) -> Result<(Option<Value>, bool)> {
        // Edits of arrays, the strongest first, until there is something to edit.
        let mut edits: Vec<Arc<ArrayEdit>> = Vec::new();
        let mut found: Option<Option<Value>> = None;
        // An edit that is not applied.
        let mut passed: Option<Value> = None;
        let (mut blocked, mut sampled) = (false, false);
        self.winners(time.is_none(), &mut |winner| {
            blocked = matches!(winner, Winner::Nothing);
            sampled |= matches!(winner, Winner::Samples(..));
            Ok(match self.value_of(winner, time, assets)? {
                Some(Value::ArrayEdit(edit)) if is_applied(&edit) => {
                    edits.push(edit);
                    true
                }
                Some(value @ Value::ArrayEdit(_)) if time.is_none() => {
                    passed.get_or_insert(value);
                    true
                }
                value => {
                    found = Some(value);
                    false
                }
            })
        })?;
        // At the default time a block hides the fallback, at others it does not: so it is in usd-core.
        if blocked && time.is_none() {
            return Ok((None, false));
        }
        let mut value = match found {
            Some(value) if !blocked => value,
            _ => self.fallback().cloned().or(passed),
        };
        for edit in edits.iter().rev() {
            value = Some(edit.apply(value.as_ref().unwrap_or(&Value::Block)));
        }
        Ok((value, sampled && !edits.is_empty()))
    }

    /// The value of one opinion at a time.
    fn value_of(
        self,
        winner: Winner<'s>,
        time: Option<f64>,
        assets: Option<&AssetMap<'_>>,
    ) -> Result<Option<Value>> {
        let (opinion, value) = match (winner, time) {
            (Winner::Default(opinion), _) => return self.composed_default(opinion, assets),
            (Winner::Samples(mut opinion, samples), Some(time)) => {
                let value = interpolate::sampled(&samples, time, &opinion.offset, false)?;
                // Times are of the stage now.
                opinion.offset = LayerOffset::IDENTITY;
                (opinion, value)
            }
            (Winner::Spline(opinion, spline), Some(time)) => {
                return Ok(Self::spline_value(&opinion, &spline, time));
            }
            (Winner::Clips(set, path), Some(time)) => return set.value(&path, time),
            _ => return Ok(None),
        };
        let Some(mut value) = value else {
            return Ok(None);
        };
        metadata::resolve(self.prim, &opinion, &mut value, assets);
        Ok(Some(value))
    }

    fn spline_value(opinion: &SpecOpinion<'_>, spline: &Spline, time: f64) -> Option<Value> {
        match opinion.offset.is_identity() {
            true => spline.value(time),
            false => spline.offset(&opinion.offset).value(time),
        }
    }

    /// The default of an opinion, and of weaker ones as far as they add to it.
    fn composed_default(
        self,
        opinion: SpecOpinion<'s>,
        assets: Option<&AssetMap<'_>>,
    ) -> Result<Option<Value>> {
        let Some(value) = opinion.spec.get(field::DEFAULT) else {
            return Ok(None);
        };
        let mut value = value.load()?;
        match value {
            Value::PathExpression(_) | Value::Dictionary(_) => {
                let fallback = self.fallback();
                metadata::compose(self.prim, self.opinions(), field::DEFAULT, fallback, assets)
            }
            _ => {
                metadata::resolve(self.prim, &opinion, &mut value, assets);
                Ok(Some(value))
            }
        }
    }

    /// Whether a layer or a clip has a value; a block is none.
    #[must_use]
    pub fn has_authored_value(self) -> bool {
        !matches!(self.winner(false), Ok(Winner::Nothing) | Err(_))
    }

    /// Whether there is a value: authored or the schema's fallback.
    #[must_use]
    pub fn has_value(self) -> bool {
        self.has_authored_value() || self.fallback().is_some()
    }

    /// Whether there may be more than one value over time.
    #[must_use]
    pub fn might_be_time_varying(self) -> bool {
        let mut varies = false;
        let found = self.winners(false, &mut |winner| {
            let edits = winner.has_edits()?;
            varies |= match winner {
                Winner::Samples(_, samples) => samples.len() > 1,
                Winner::Spline(..) => true,
                Winner::Clips(set, path) => set.might_vary(&path),
                _ => false,
            };
            Ok(edits)
        });
        found.is_ok() && varies
    }

    /// The sources of the connections, as paths of the stage.
    #[must_use]
    pub fn connections(self) -> Vec<Path> {
        targets::compose(self.prim, self.name, field::CONNECTION_PATHS).unwrap_or_default()
    }

    /// Whether connections are authored.
    #[must_use]
    pub fn has_authored_connections(self) -> bool {
        self.opinions()
            .any(|o| o.spec.get(field::CONNECTION_PATHS).is_some())
    }

    /// The identifier of the layer that has the value at a time: asset paths are relative to it. Of a clip that is the
    /// clip's layer.
    #[must_use]
    pub fn layer(self, time: Option<f64>) -> Option<String> {
        match (self.winner(time.is_none()).ok()?, time) {
            (Winner::Default(o) | Winner::Samples(o, _) | Winner::Spline(o, _), _) => {
                Some(o.layer.identifier.clone())
            }
            (Winner::Clips(set, path), Some(time)) => set.source(&path, time),
            _ => None,
        }
    }

    /// Times of the layer that has the value to times of the stage. Clips and fallbacks need none.
    #[must_use]
    pub fn offset(self) -> LayerOffset {
        match self.winner(false) {
            Ok(Winner::Default(o) | Winner::Samples(o, _) | Winner::Spline(o, _)) => o.offset,
            _ => LayerOffset::IDENTITY,
        }
    }

    /// The asset path at a time, resolved from the layer that has it. None if the value is no asset path.
    ///
    /// # Errors
    /// As [`Attribute::get`].
    pub fn asset(self, time: Option<f64>) -> Result<Option<ResolvedAsset>> {
        match self.get(time)? {
            Some(Value::AssetPath(path)) => Ok(Some(self.resolve_asset(&path, time))),
            _ => Ok(None),
        }
    }

    /// The asset paths of an array, resolved from the layer that has it. None if the value is no array of asset paths.
    ///
    /// # Errors
    /// As [`Attribute::get`].
    pub fn assets(self, time: Option<f64>) -> Result<Option<Vec<ResolvedAsset>>> {
        match self.get(time)? {
            Some(Value::AssetPathArray(paths)) => Ok(Some(
                paths.iter().map(|p| self.resolve_asset(p, time)).collect(),
            )),
            _ => Ok(None),
        }
    }

    /// An asset path of the value at a time, resolved from the layer that has it.
    #[must_use]
    pub fn resolve_asset(self, path: &AssetPath, time: Option<f64>) -> ResolvedAsset {
        let layer = self.layer(time);
        let evaluated = match self.winner(time.is_none()) {
            Ok(Winner::Default(o) | Winner::Samples(o, _)) => {
                metadata::evaluated(self.prim, &o, path)
            }
            _ => path.clone(),
        };
        let resolver = self.prim.stage().resolver();
        let resolved = match evaluated.0.is_empty() {
            true => None,
            false => resolver.resolve(&evaluated.0, layer.as_deref()),
        };
        ResolvedAsset {
            authored: path.0.clone(),
            evaluated: evaluated.0,
            resolved: resolved.unwrap_or_default(),
        }
    }
}

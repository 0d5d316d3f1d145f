//! Plans fixes. The fixes of one prim build on each other: its type is mended first, then its layout,
//! then its rows. Each finding is fixed, or left with a reason, by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Finding;
use super::animations::UNIT;
use super::context::{Context, INDICES, WEIGHTS};
use super::influences::SUM_TOLERANCE;
use super::layout;
use super::stage::expected_type;
use sinew::sampled::Time;
use sinew::skel::utils::{WEIGHT_SUM_EPSILON, normalize_weights, sort_influences};
use sinew_io::usd::{AuthoredAttribute, AuthoredPrim, AuthoredValue, Fix, PrimFix};

/// What becomes of a finding.
pub(super) enum Outcome {
    /// It is fixed in this way.
    Fixed(String),
    /// Some of it is fixed: what, and what has to be authored for the rest.
    FixedInPart(String),
    /// It is not fixed: why, and what has to be authored.
    Left(String),
}

/// The changes that fix these findings, whose codes are fixable, and what becomes of each of them.
pub(super) fn plan(
    context: &Context<'_>,
    findings: &[&Finding],
    flattened: bool,
    max_influences: Option<usize>,
) -> (Vec<PrimFix>, Vec<Outcome>) {
    let mut by_prim: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut outcomes = Vec::with_capacity(findings.len());
    for (i, finding) in findings.iter().enumerate() {
        outcomes.push(Outcome::Left(
            "the finding is not about a prim of the stage".into(),
        ));
        if let Some(prim) = context.index_of(&finding.path) {
            by_prim.entry(prim).or_default().push(i);
        }
    }
    let mut fixes = Vec::new();
    for (index, mut of_prim) in by_prim {
        of_prim.sort_by_key(|i| step(findings[*i].code));
        let before = &context.stage.prims[index];
        let mut draft = Draft {
            context,
            index,
            max_influences,
            prim: before.clone(),
            changed: BTreeSet::new(),
        };
        for i in of_prim {
            let why = context.why_not_fixable(index, findings[i].code);
            // A flattened file has no shared prototypes.
            outcomes[i] = match why.filter(|_| !(before.in_instance && flattened)) {
                Some(why) => Outcome::Left(why.to_owned()),
                None => draft.fix(findings[i]).unwrap_or_else(Outcome::Left),
            };
        }
        fixes.extend(draft.changes(before).map(|fix| PrimFix {
            path: before.path.clone(),
            fix,
        }));
    }
    (fixes, outcomes)
}

/// The order in which the findings of a prim are fixed.
fn step(code: &str) -> u8 {
    match code {
        "interpolation-missing" | "element-size-missing" | "element-size-wrong" => 1,
        "weights-unnormalised" => 2,
        "influences-too-many" => 3,
        "weights-unsorted" => 4,
        _ => 0,
    }
}

/// A prim as the fixes so far make it.
struct Draft<'a> {
    context: &'a Context<'a>,
    index: usize,
    max_influences: Option<usize>,
    prim: AuthoredPrim,
    /// Attributes whose values are not those of the file.
    changed: BTreeSet<String>,
}

impl Draft<'_> {
    fn fix(&mut self, finding: &Finding) -> Result<Outcome, String> {
        let property = finding.property.as_str();
        let done = match finding.code {
            "binding-api-missing" => {
                self.prim.has_api = true;
                "SkelBindingAPI applied".to_owned()
            }
            "inbetween-skipped" | "inbetween-offsets" => {
                Arc::make_mut(&mut self.prim.attributes).remove(property);
                "removed".to_owned()
            }
            "attribute-type" | "point-indices-uint" => self.retype(property)?,
            "rotation-not-unit" => self.unit_rotations()?,
            "weights-unnormalised" => return self.normalise(),
            "weights-unsorted" => self.sort(None)?,
            "influences-too-many" => self.sort(self.max_influences)?,
            code => self.lay_out(property, code == "interpolation-missing")?,
        };
        Ok(Outcome::Fixed(done))
    }

    /// The differences from the prim as it was.
    fn changes(self, before: &AuthoredPrim) -> impl Iterator<Item = Fix> {
        let applied = self.prim.has_api && !before.has_api;
        let author = move |(name, was): (&String, &AuthoredAttribute)| {
            let Some(now) = self.prim.attributes.get(name) else {
                return Some(Fix::RemoveInbetween { name: name.clone() });
            };
            let values = match self.changed.contains(name) {
                true => now.values.clone(),
                false => Vec::new(),
            };
            let interpolation = now.interpolation.as_deref();
            let interpolation = interpolation.map(|name| match name {
                "constant" => "constant",
                _ => "vertex",
            });
            let interpolation =
                interpolation.filter(|name| was.interpolation.as_deref() != Some(*name));
            let element_size = now.element_size.filter(|n| was.element_size != Some(*n));
            let is_same = values.is_empty() && interpolation.is_none() && element_size.is_none();
            (!is_same).then(|| Fix::Author {
                name: name.clone(),
                type_name: match name.as_str() {
                    WEIGHTS => "float[]",
                    ROTATIONS => "quatf[]",
                    _ => "int[]",
                },
                values,
                interpolation,
                element_size,
            })
        };
        let applied = applied.then_some(Fix::ApplyBinding);
        applied
            .into_iter()
            .chain(before.attributes.iter().filter_map(author))
    }

    /// An attribute whose values are about to change.
    fn change(&mut self, name: &str) -> &mut AuthoredAttribute {
        self.changed.insert(name.to_owned());
        let attribute = Arc::make_mut(&mut self.prim.attributes).get_mut(name);
        attribute.expect("an attribute that was found before")
    }

    /// Writes indices of other integers as int[].
    fn retype(&mut self, name: &str) -> Result<String, String> {
        let attribute = values_of(&self.prim, name)?;
        let found = &attribute.type_name;
        if !matches!(name, INDICES | "pointIndices") || found != "uint[]" {
            let expected = expected_type(&self.prim, name).map_or("another type", |t| t[0]);
            return Err(format!(
                "a conversion from {found} may lose something: author {expected}"
            ));
        }
        let too_large = |v: &AuthoredValue| match v {
            AuthoredValue::Ints(i) => i.iter().any(|i| i32::try_from(*i).is_err()),
            _ => false,
        };
        if attribute.values.iter().any(|(_, v)| too_large(v)) {
            return Err("some indices do not fit into int: author smaller ones".into());
        }
        self.change(name).type_name = "int[]".to_owned();
        Ok("written as int[]".to_owned())
    }

    fn unit_rotations(&mut self) -> Result<String, String> {
        values_of(&self.prim, ROTATIONS)?;
        for (_, value) in &mut self.change(ROTATIONS).values {
            let AuthoredValue::Quats(quats) = value else {
                continue;
            };
            for q in quats {
                // In f64, since squares of large f32 overflow.
                let length = q.as_dquat().length();
                let fixable = length.is_finite() && length > 0.0;
                if fixable && (length - 1.0).abs() > f64::from(UNIT) {
                    *q = (q.as_dquat() / length).as_quat();
                }
            }
        }
        Ok("normalised".to_owned())
    }

    /// Authors the interpolation or the elementSize that the values have.
    fn lay_out(&mut self, name: &str, interpolation: bool) -> Result<String, String> {
        let layout = layout::of(&self.prim)?;
        // Half of a layout would be no layout.
        for name in [INDICES, WEIGHTS] {
            let attribute = typed(&self.prim, name)?;
            let len = attribute.first().map_or(0, AuthoredValue::len);
            let mut values = attribute.values.iter().map(|(_, v)| v);
            if !values.all(|v| *v == AuthoredValue::Blocked || v.len() == len) {
                return Err(format!(
                    "the number of values of {name} changes over time: author the same number at all times"
                ));
            }
        }
        values_of(&self.prim, name)?;
        let attribute = Arc::make_mut(&mut self.prim.attributes)
            .get_mut(name)
            .expect("found above");
        if interpolation {
            attribute.interpolation = Some(layout.interpolation.to_owned());
            return Ok(format!("interpolation = {}", layout.interpolation));
        }
        attribute.element_size = i32::try_from(layout.size).ok();
        Ok(format!("elementSize = {}", layout.size))
    }

    /// Divides each row of weights that is not normalised by its sum, also where rows are indexed. All
    /// other rows stay the same.
    fn normalise(&mut self) -> Result<Outcome, String> {
        match self.prim.attributes.get(WEIGHTS) {
            Some(weights) if !weights.clips => {}
            _ => _ = values_of(&self.prim, WEIGHTS)?,
        }
        let size = layout::of(&self.prim)?.sure_size(&self.prim)?;
        let (mut normalised, mut left) = (0, Vec::new());
        let mut values = self.prim.attributes[WEIGHTS].values.clone();
        for (_, value) in &mut values {
            let AuthoredValue::Floats(weights) = value else {
                continue;
            };
            if !weights.len().is_multiple_of(size) {
                continue;
            }
            for (i, row) in weights.chunks_exact_mut(size).enumerate() {
                let sum: f64 = row.iter().map(|w| f64::from(*w)).sum();
                let zero = row.iter().all(|w| *w == 0.0);
                if !sum.is_finite() || zero || (sum - 1.0).abs() <= SUM_TOLERANCE {
                    continue;
                }
                // What a negative weight was meant to be is not known.
                if has_sum(row)
                    && row.iter().all(|w| *w >= 0.0)
                    && normalize_weights(row, size, WEIGHT_SUM_EPSILON).is_ok()
                {
                    normalised += 1;
                } else {
                    left.push(i);
                }
            }
        }
        if normalised > 0 {
            self.change(WEIGHTS).values = values;
        }
        let Some(first) = left.first() else {
            return Ok(Outcome::Fixed("normalised".to_owned()));
        };
        let rows = match left.len() {
            1 => format!("row {first} has"),
            n => format!("row {first} and {} more have", n - 1),
        };
        let why = format!(
            "{rows} weights that are negative, too large, or 0 in sum: author these weights"
        );
        Ok(match normalised {
            0 => Outcome::Left(why),
            _ => Outcome::FixedInPart(format!("{why}; the other rows are normalised")),
        })
    }

    /// Sorts the influences of each point by weight and, if there is a limit, keeps the largest ones
    /// and normalises them.
    fn sort(&mut self, limit: Option<usize>) -> Result<String, String> {
        let (indices, weights) = (typed(&self.prim, INDICES)?, typed(&self.prim, WEIGHTS)?);
        self.check_inherited_together()?;
        let size = layout::of(&self.prim)?.sure_size(&self.prim)?;
        let kept = limit.unwrap_or(size).min(size);
        let (mut all_indices, mut all_weights) = (Vec::new(), Vec::new());
        // The places in their rows that the influences of the sample before had.
        let mut before: Option<Vec<usize>> = None;
        for (time, joints, values) in paired(indices, weights)? {
            let (Some(joints), Some(mut values)) = (joints, values) else {
                all_indices.push((time, AuthoredValue::Blocked));
                all_weights.push((time, AuthoredValue::Blocked));
                before = None;
                continue;
            };
            if joints.len() != values.len() || !joints.len().is_multiple_of(size) {
                return Err(format!(
                    "there are {} jointIndices and {} jointWeights: author the same number of both, {size} per row",
                    joints.len(),
                    values.len()
                ));
            }
            let places = (0..size).cycle();
            let mut placed: Vec<(i64, usize)> = joints.into_iter().zip(places).collect();
            let rows = placed.chunks_exact_mut(size);
            for (i, (joints, values)) in rows.zip(values.chunks_exact_mut(size)).enumerate() {
                let is_finite = values.iter().all(|w| w.is_finite());
                if limit.is_some() && !is_finite {
                    return Err(format!(
                        "row {i} has weights that are not finite: author finite ones"
                    ));
                }
                if is_finite && !values.is_sorted_by(|a, b| a >= b) {
                    sort_influences(joints, values, size).map_err(|e| e.to_string())?;
                }
                if limit.is_none() || size == kept || values.iter().all(|w| *w == 0.0) {
                    continue;
                }
                if !has_sum(&values[..kept]) {
                    return Err(format!(
                        "the weights of row {i} that would be kept do not sum to more than 0: author these weights"
                    ));
                }
                normalize_weights(&mut values[..kept], kept, WEIGHT_SUM_EPSILON)
                    .map_err(|e| e.to_string())?;
            }
            let (joints, places): (Vec<i64>, Vec<usize>) = placed.into_iter().unzip();
            // Readers interpolate weights, not joints, between two samples.
            if before.is_some_and(|before| before != places) {
                return Err(format!(
                    "the order of the weights changes before time {time}, and points between samples would move: author the joints in one order for all times"
                ));
            }
            before = matches!(time, Time::At(_)).then_some(places);
            all_indices.push((time, AuthoredValue::Ints(firsts(&joints, size, kept))));
            all_weights.push((time, AuthoredValue::Floats(firsts(&values, size, kept))));
        }
        for (name, values) in [(INDICES, all_indices), (WEIGHTS, all_weights)] {
            let attribute = self.change(name);
            attribute.values = values;
            if kept < size {
                attribute.element_size = i32::try_from(kept).ok();
            }
        }
        Ok(match limit {
            None => "sorted".to_owned(),
            Some(_) => format!("kept and normalised the {kept} largest influences of each point"),
        })
    }

    /// Fails if another prim inherits only the indices or only the weights of this one: to reorder
    /// them would break the influences of that prim.
    fn check_inherited_together(&self) -> Result<(), String> {
        let Some(other) = self.context.split.get(&self.index) else {
            return Ok(());
        };
        let other = &self.context.stage.prims[*other].path;
        Err(format!(
            "{other} inherits only one of jointIndices and jointWeights from this prim: author both there"
        ))
    }
}

const ROTATIONS: &str = "rotations";

/// The first `kept` values of each row.
fn firsts<T: Copy>(values: &[T], size: usize, kept: usize) -> Vec<T> {
    let rows = values.chunks_exact(size);
    rows.flat_map(|row| &row[..kept]).copied().collect()
}

/// Whether weights can be divided by their sum.
fn has_sum(weights: &[f32]) -> bool {
    let sum: f32 = weights.iter().sum();
    sum.is_finite() && sum > WEIGHT_SUM_EPSILON
}

/// A primvar whose arrays can be replaced: it is not indexed and not from value clips.
fn values_of<'a>(prim: &'a AuthoredPrim, name: &str) -> Result<&'a AuthoredAttribute, String> {
    if prim.attributes.contains_key(&format!("{name}:indices")) {
        return Err(format!(
            "{name} is an indexed primvar: author its values for each point, without {name}:indices"
        ));
    }
    let Some(attribute) = prim.attributes.get(name) else {
        return Err(format!(
            "{name} is not authored on this prim: author it there"
        ));
    };
    match attribute.clips {
        true => Err(format!(
            "{name} comes from value clips: author it in their layers"
        )),
        false => Ok(attribute),
    }
}

/// A primvar whose arrays can be replaced and have the schema's type.
fn typed<'a>(prim: &'a AuthoredPrim, name: &str) -> Result<&'a AuthoredAttribute, String> {
    let attribute = values_of(prim, name)?;
    let found = attribute.type_name.as_str();
    match expected_type(prim, name) {
        Some([expected, ..]) if found != *expected && !found.is_empty() => {
            Err(format!("the type of {name} is {found}: author {expected}"))
        }
        _ => Ok(attribute),
    }
}

/// Indices and weights at one time; `None` if they are blocked. Indices have 64 bits, as they are
/// read.
type Pair = (Time, Option<Vec<i64>>, Option<Vec<f32>>);

/// Pairs indices and weights by time. If one of them has a single value, it is paired with each
/// value of the other.
fn paired(indices: &AuthoredAttribute, weights: &AuthoredAttribute) -> Result<Vec<Pair>, String> {
    let times = |a: &AuthoredAttribute| a.values.iter().map(|(t, _)| *t).collect::<Vec<_>>();
    let (index_times, weight_times) = (times(indices), times(weights));
    let constant = |t: &[Time]| t.len() == 1;
    if index_times != weight_times && !constant(&index_times) && !constant(&weight_times) {
        return Err("jointIndices and jointWeights have samples at different times: author both at the same times".into());
    }
    let at = |a: &AuthoredAttribute, i: usize| {
        let i = if a.values.len() == 1 { 0 } else { i };
        a.values[i].1.clone()
    };
    let longer = match index_times.len() > weight_times.len() {
        true => index_times,
        false => weight_times,
    };
    let pair = |(i, time)| {
        let joints = match at(indices, i) {
            AuthoredValue::Ints(v) => Some(v),
            AuthoredValue::Blocked => None,
            _ => {
                return Err(format!(
                    "jointIndices have another type at time {time}: author int[]"
                ));
            }
        };
        let values = match at(weights, i) {
            AuthoredValue::Floats(v) => Some(v),
            AuthoredValue::Blocked => None,
            _ => {
                return Err(format!(
                    "jointWeights have another type at time {time}: author float[]"
                ));
            }
        };
        Ok((time, joints, values))
    };
    longer.into_iter().enumerate().map(pair).collect()
}

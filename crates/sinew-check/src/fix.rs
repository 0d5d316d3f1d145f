//! Fixes findings of [`check`](super::check) that need no guess.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::animations::UNIT;
use super::context::{Context, INDICES, WEIGHTS};
use super::influences::SUM_TOLERANCE;
use super::layout;
use super::{CheckOptions, Error, Finding, Report, Result, Severity, check, table};
use sinew::sampled::Time;
use sinew::skel::utils::{
    WEIGHT_SUM_EPSILON, normalize_weights, resize_influences, sort_influences,
};
use sinew_io::usd::{AuthoredAttribute, AuthoredPrim, AuthoredValue, Fix, PrimFix, UsdFile};

/// Which findings to fix, and how to check before and after. Start from `FixOptions::default()` and
/// set fields.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FixOptions {
    /// How to check the file. With [`CheckOptions::max_influences`], `fix` also reduces each point
    /// to that many influences.
    pub check: CheckOptions,
    /// Codes to fix. If empty, all codes whose [`Code`](super::Code) is fixable.
    pub only: Vec<String>,
}

/// A finding that was fixed, or one that could not be fixed and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FixEntry {
    /// The finding's code.
    pub code: &'static str,
    /// The finding's severity.
    pub severity: Severity,
    /// Path of the input file.
    pub file: String,
    /// Path of the prim.
    pub path: String,
    /// Name of the property; empty if the finding is about the prim itself.
    pub property: String,
    /// What was done, or why it could not be done.
    pub message: String,
    /// Whether skinned results change. Otherwise the fix changes only the order or type of values.
    pub changes_results: bool,
}

/// What [`fix`] fixed and what it did not.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct FixReport {
    /// Path of the input file.
    pub file: String,
    /// Findings that were fixed.
    pub fixed: Vec<FixEntry>,
    /// Findings that could not be fixed at their prim, although their code is fixable.
    pub not_fixed: Vec<FixEntry>,
    /// Whether the composed stage was flattened into one layer, because the input or the output is
    /// a `.usdz` package.
    pub flattened: bool,
    /// Findings in the input.
    pub before: Report,
    /// Findings in the output; `None` if no output was written.
    pub after: Option<Report>,
}

impl FixReport {
    /// How many errors are left: in the output or, if none was written, in the input without those
    /// that would be fixed.
    #[must_use]
    pub fn remaining_errors(&self) -> usize {
        let fixed = self.fixed.iter().filter(|f| f.severity == Severity::Error);
        let fixed = fixed.count();
        match &self.after {
            Some(after) => after.counts.errors,
            None => self.before.counts.errors.saturating_sub(fixed),
        }
    }
}

/// Fixes all findings that need no guess and writes the result to `out`: a copy of the root layer
/// with added opinions or, if the input or the output is a `.usdz` package, the flattened stage.
/// Without `out` it only reports what it would do.
///
/// # Errors
/// - [`Error::UnknownCode`] or [`Error::NotFixable`] for a code in [`FixOptions::only`].
/// - [`Error::Io`] if the output is one of the files of the input, or if a file cannot be read or
///   written.
pub fn fix(file: &UsdFile, out: Option<&Path>, options: &FixOptions) -> Result<FixReport> {
    for name in &options.only {
        match table::code(name) {
            Some(c) if c.fixable => {}
            Some(_) => return Err(Error::NotFixable { code: name.clone() }),
            None => return Err(Error::UnknownCode { code: name.clone() }),
        }
    }
    if let Some(out) = out {
        file.check_output(out)?;
    }
    let flattened = file.fixes_are_flattened(out.unwrap_or(file.file()));
    let before = check(file, &options.check)?;
    let authored = file.authored()?;
    let context = Context::new(&authored);
    let mut plan = Plan {
        context: &context,
        flattened,
        max_influences: options.check.max_influences,
        fixes: Vec::new(),
        fixed: Vec::new(),
        not_fixed: Vec::new(),
    };
    let wanted = |f: &&Finding| {
        table::code(f.code).is_some_and(|c| c.fixable)
            && (options.only.is_empty() || options.only.iter().any(|o| o == f.code))
    };
    let mut by_prim: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for f in before.findings.iter().filter(wanted) {
        by_prim.entry(&f.path).or_default().push(f);
    }
    for (path, findings) in by_prim {
        plan.prim(path, &findings);
    }
    let Plan {
        fixes,
        fixed,
        not_fixed,
        ..
    } = plan;
    let after = match out {
        None => None,
        Some(out) => {
            file.write_fixed(out, &fixes)?;
            let written = UsdFile::open_with(out, &options.check.open)?;
            Some(check(&written, &options.check)?)
        }
    };
    Ok(FixReport {
        file: file.file().display().to_string(),
        fixed,
        not_fixed,
        flattened,
        before,
        after,
    })
}

/// Whether [`fix`] fixes a finding whose code is fixable, at its prim.
pub(super) fn is_fixable(
    context: &Context<'_>,
    f: &Finding,
    max_influences: Option<usize>,
) -> bool {
    let mut plan = Plan {
        context,
        flattened: false,
        max_influences,
        fixes: Vec::new(),
        fixed: Vec::new(),
        not_fixed: Vec::new(),
    };
    plan.prim(&f.path, &[f]);
    !plan.fixed.is_empty()
}

struct Plan<'a> {
    context: &'a Context<'a>,
    flattened: bool,
    max_influences: Option<usize>,
    fixes: Vec<PrimFix>,
    fixed: Vec<FixEntry>,
    not_fixed: Vec<FixEntry>,
}

fn entry(f: &Finding, message: impl Into<String>) -> FixEntry {
    FixEntry {
        code: f.code,
        severity: f.severity,
        file: f.file.clone(),
        path: f.path.clone(),
        property: f.property.clone(),
        message: message.into(),
        changes_results: !matches!(
            f.code,
            "weights-unsorted" | "point-indices-uint" | "inbetween-skipped"
        ),
    }
}

impl Plan<'_> {
    fn prim(&mut self, path: &str, findings: &[&Finding]) {
        let Some(index) = self.context.index_of(path) else {
            return;
        };
        let prim = &self.context.stage.prims[index];
        let mut influences = Vec::new();
        for f in findings {
            // A flattened file has no shared prototypes.
            let flat = prim.in_instance && self.flattened;
            if let Some(why) = self
                .context
                .why_not_fixable(index, f.code)
                .filter(|_| !flat)
            {
                self.not_fixed.push(entry(f, why));
                continue;
            }
            let done = match f.code {
                "binding-api-missing" => Ok((Fix::ApplyBinding, "SkelBindingAPI applied")),
                "inbetween-skipped" | "inbetween-offsets" => Ok((
                    Fix::RemoveInbetween {
                        name: f.property.clone(),
                    },
                    "removed",
                )),
                "point-indices-uint" => retyped(prim, &f.property).map(|m| (m, "written as int[]")),
                "rotation-not-unit" => unit_rotations(prim).map(|m| (m, "normalised")),
                "element-size-missing" | "element-size-wrong" => {
                    laid_out(prim, f).map(|m| (m, "elementSize as the values have it"))
                }
                "interpolation-missing" => laid_out(prim, f).map(|m| (m, "interpolation = vertex")),
                "attribute-type" => retyped(prim, &f.property).map(|m| (m, "written as int[]")),
                _ => {
                    influences.push(*f);
                    continue;
                }
            };
            match done {
                Ok((change, message)) => {
                    self.fixes.push(PrimFix {
                        path: path.to_owned(),
                        fix: change,
                    });
                    self.fixed.push(entry(f, message));
                }
                Err(why) => self.not_fixed.push(entry(f, why)),
            }
        }
        if !influences.is_empty() {
            self.influences(prim, &influences);
        }
    }

    /// Normalises, sorts and resizes influences together, because all three change the same arrays.
    fn influences(&mut self, prim: &AuthoredPrim, findings: &[&Finding]) {
        let asked: BTreeSet<&str> = findings.iter().map(|f| f.code).collect();
        let result = match asked.iter().all(|c| *c == "weights-unnormalised") {
            true => normalised(prim),
            false => self.reordered(prim, &asked),
        };
        match result {
            Ok((fixes, rows)) => {
                for change in fixes {
                    self.fixes.push(PrimFix {
                        path: prim.path.clone(),
                        fix: change,
                    });
                }
                for f in findings {
                    let message = match f.code {
                        "weights-unnormalised" => {
                            if rows.failed > 0 {
                                let why = format!(
                                    "{} rows are normalised, {} have weights that sum to 0 or less: author these weights",
                                    rows.normalised, rows.failed
                                );
                                self.not_fixed.push(entry(f, why));
                                continue;
                            }
                            "normalised".to_owned()
                        }
                        "weights-unsorted" => "sorted".to_owned(),
                        _ => format!(
                            "kept and normalised the {} largest influences of each point",
                            self.max_influences.unwrap_or_default()
                        ),
                    };
                    self.fixed.push(entry(f, message));
                }
            }
            Err(why) => self
                .not_fixed
                .extend(findings.iter().map(|f| entry(f, why.as_str()))),
        }
    }

    fn reordered(
        &self,
        prim: &AuthoredPrim,
        asked: &BTreeSet<&str>,
    ) -> Result<(Vec<Fix>, Rows), String> {
        let (indices, weights) = (replaceable(prim, INDICES)?, replaceable(prim, WEIGHTS)?);
        self.check_inherited_together(prim)?;
        let size = layout::of(prim)?.sure_size(prim)?;
        let mut new_size = None;
        let mut rows = Rows::default();
        let (mut all_indices, mut all_weights) = (Vec::new(), Vec::new());
        for (time, joints, values) in paired(indices, weights)? {
            let (Some(mut joints), Some(mut values)) = (joints, values) else {
                all_indices.push((time, AuthoredValue::Blocked));
                all_weights.push((time, AuthoredValue::Blocked));
                continue;
            };
            if joints.len() != values.len() || !joints.len().is_multiple_of(size) {
                return Err("jointIndices and jointWeights differ in number".into());
            }
            if asked.contains("weights-unnormalised") {
                rows.normalise(&mut values, size);
            }
            let resizes = asked.contains("influences-too-many");
            if asked.contains("weights-unsorted") || resizes {
                let pairs = joints
                    .chunks_exact_mut(size)
                    .zip(values.chunks_exact_mut(size));
                for (joints, values) in pairs {
                    if values.iter().any(|w| w.is_nan()) {
                        return Err("some weights are not numbers".into());
                    }
                    if !values.is_sorted_by(|a, b| a >= b) {
                        sort_influences(joints, values, size).map_err(|e| e.to_string())?;
                    }
                }
            }
            if let Some(max) = self.max_influences.filter(|max| resizes && size > *max) {
                resize_influences(&mut joints, &mut values, size, max)
                    .map_err(|e| e.to_string())?;
                new_size = i32::try_from(max).ok();
            }
            all_indices.push((time, AuthoredValue::Ints(joints)));
            all_weights.push((time, AuthoredValue::Floats(values)));
        }
        let author = |name: &str, type_name, values| Fix::Author {
            name: name.to_owned(),
            type_name,
            values,
            interpolation: None,
            element_size: new_size,
        };
        let fixes = vec![
            author(INDICES, "int[]", all_indices),
            author(WEIGHTS, "float[]", all_weights),
        ];
        Ok((fixes, rows))
    }

    /// Fails if another prim inherits only the indices or only the weights of `prim`: to reorder
    /// them would break the influences of that prim.
    fn check_inherited_together(&self, prim: &AuthoredPrim) -> Result<(), String> {
        let here = self.context.index_of(&prim.path);
        if let Some(other) = here.and_then(|here| self.context.split.get(&here)) {
            let other = &self.context.stage.prims[*other].path;
            return Err(format!(
                "{other} inherits only one of jointIndices and jointWeights from this prim"
            ));
        }
        Ok(())
    }
}

/// The weights, of which rows can be replaced, also where they are indexed.
fn rows_of(prim: &AuthoredPrim) -> Result<&AuthoredAttribute, String> {
    match prim.attributes.get(WEIGHTS) {
        Some(weights) if !weights.clips => Ok(weights),
        _ => replaceable(prim, WEIGHTS),
    }
}

/// A primvar whose arrays can be replaced: it is not indexed and not from value clips.
fn replaceable<'a>(prim: &'a AuthoredPrim, name: &str) -> Result<&'a AuthoredAttribute, String> {
    if prim.attributes.contains_key(&format!("{name}:indices")) {
        return Err(format!("{name} is an indexed primvar"));
    }
    let attribute = prim
        .attributes
        .get(name)
        .ok_or_else(|| format!("{name} is not authored on this prim"))?;
    match attribute.clips {
        true => Err(format!("{name} comes from value clips")),
        false => Ok(attribute),
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
        return Err("jointIndices and jointWeights have samples at different times".into());
    }
    let at = |a: &AuthoredAttribute, i: usize| {
        let i = if a.values.len() == 1 { 0 } else { i };
        a.values[i].1.clone()
    };
    let longer = match index_times.len() > weight_times.len() {
        true => index_times,
        false => weight_times,
    };
    longer
        .into_iter()
        .enumerate()
        .map(|(i, time)| {
            let joints = match at(indices, i) {
                AuthoredValue::Ints(v) => Some(v),
                AuthoredValue::Blocked => None,
                _ => return Err("jointIndices are not int[]".to_owned()),
            };
            let values = match at(weights, i) {
                AuthoredValue::Floats(v) => Some(v),
                AuthoredValue::Blocked => None,
                _ => return Err("jointWeights are not float[]".to_owned()),
            };
            Ok((time, joints, values))
        })
        .collect()
}

/// Counts of the rows of weights that were not normalised.
#[derive(Clone, Copy, Default)]
struct Rows {
    normalised: usize,
    /// Rows that cannot be normalised, because their sum is 0 or less.
    failed: usize,
}

impl Rows {
    /// Divides each row that is not normalised by its sum. All other rows stay the same.
    fn normalise(&mut self, weights: &mut [f32], size: usize) {
        for row in weights.chunks_exact_mut(size) {
            let sum: f64 = row.iter().map(|w| f64::from(*w)).sum();
            let zero = row.iter().all(|w| *w == 0.0);
            if !sum.is_finite() || zero || (sum - 1.0).abs() <= SUM_TOLERANCE {
                continue;
            }
            let divides = sum > f64::from(WEIGHT_SUM_EPSILON)
                && normalize_weights(row, size, WEIGHT_SUM_EPSILON).is_ok();
            match divides {
                true => self.normalised += 1,
                false => self.failed += 1,
            }
        }
    }
}

fn normalised(prim: &AuthoredPrim) -> Result<(Vec<Fix>, Rows), String> {
    let weights = rows_of(prim)?;
    let size = layout::of(prim)?.sure_size(prim)?;
    let mut values = weights.values.clone();
    let mut rows = Rows::default();
    for (_, value) in &mut values {
        if let AuthoredValue::Floats(w) = value
            && w.len().is_multiple_of(size)
        {
            rows.normalise(w, size);
        }
    }
    let change = Fix::Author {
        name: WEIGHTS.to_owned(),
        type_name: "float[]",
        values,
        interpolation: None,
        element_size: None,
    };
    let fixes = if rows.normalised > 0 {
        vec![change]
    } else {
        vec![]
    };
    Ok((fixes, rows))
}

/// Indices of other integers as int[].
fn retyped(prim: &AuthoredPrim, name: &str) -> Result<Fix, String> {
    let attribute = replaceable(prim, name)?;
    if !matches!(name, INDICES | "pointIndices") || attribute.type_name != "uint[]" {
        return Err(format!(
            "{} may lose something in another type",
            attribute.type_name
        ));
    }
    let too_large = |v: &AuthoredValue| match v {
        AuthoredValue::Ints(i) => i.iter().any(|i| i32::try_from(*i).is_err()),
        _ => false,
    };
    if attribute.values.iter().any(|(_, v)| too_large(v)) {
        return Err("some indices do not fit into int".into());
    }
    Ok(Fix::Author {
        name: name.to_owned(),
        type_name: "int[]",
        values: attribute.values.clone(),
        interpolation: None,
        element_size: None,
    })
}

fn unit_rotations(prim: &AuthoredPrim) -> Result<Fix, String> {
    const NAME: &str = "rotations";
    let attribute = replaceable(prim, NAME)?;
    let mut values = attribute.values.clone();
    for (_, value) in &mut values {
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
    Ok(Fix::Author {
        name: NAME.to_owned(),
        type_name: "quatf[]",
        values,
        interpolation: None,
        element_size: None,
    })
}

/// Authors the interpolation or the elementSize that the values have.
fn laid_out(prim: &AuthoredPrim, f: &Finding) -> Result<Fix, String> {
    // Half of a layout would be no layout.
    for (name, type_name) in [(INDICES, "int[]"), (WEIGHTS, "float[]")] {
        let found = &replaceable(prim, name)?.type_name;
        if !found.is_empty() && found != type_name && retyped(prim, name).is_err() {
            return Err(format!("the type of {name} is {found}: author {type_name}"));
        }
    }
    let attribute = replaceable(prim, &f.property)?;
    let layout = layout::of(prim)?;
    let len = attribute.first().map_or(0, AuthoredValue::len);
    let mut values = attribute.values.iter();
    if !values.all(|(_, v)| matches!(v, AuthoredValue::Blocked) || v.len() == len) {
        return Err("the number of values changes over time".into());
    }
    let names = f.code == "interpolation-missing";
    Ok(Fix::Author {
        name: f.property.clone(),
        type_name: if f.property == INDICES {
            "int[]"
        } else {
            "float[]"
        },
        values: Vec::new(),
        interpolation: names.then_some(layout.interpolation),
        element_size: i32::try_from(layout.size).ok().filter(|_| !names),
    })
}

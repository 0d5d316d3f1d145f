//! Mends that need no guess, for what [`check`](super::check) finds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::animations::UNIT;
use super::context::{Context, INDICES, WEIGHTS};
use super::influences::{SUM_TOLERANCE, row_size};
use super::{CheckOptions, Finding, Report, check, table};
use sinew::error::{Error, Result};
use sinew::sampled::Time;
use sinew::skel::utils::{
    WEIGHT_SUM_EPSILON, normalize_weights, resize_influences, sort_influences,
};
use sinew_io::usd::{AuthoredAttribute, AuthoredPrim, AuthoredValue, Fix, PrimFix, UsdFile};

/// What to fix.
#[derive(Clone, Debug, Default)]
pub struct FixOptions {
    /// What to check for; [`CheckOptions::max_influences`] is what to resize to.
    pub check: CheckOptions,
    /// Codes to fix; if empty, every code that can be fixed.
    pub only: Vec<String>,
}

/// One fix, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mended {
    /// The finding's code.
    pub code: &'static str,
    pub path: String,
    pub property: String,
    /// What was done, or why nothing was.
    pub message: String,
    /// Skinned results change; others are the same in another order or type.
    pub changes_results: bool,
}

/// What was fixed and what was not.
#[derive(Clone, Debug, Serialize)]
pub struct FixReport {
    pub file: String,
    pub mended: Vec<Mended>,
    /// Findings whose code can be fixed, but not here.
    pub left: Vec<Mended>,
    /// The whole composed stage was written as one layer, since a package is none.
    pub flattened: bool,
    /// What was wrong before.
    pub before: Report,
    /// What is found in the file that was written; `None` where none was.
    pub after: Option<Report>,
}

/// Fixes what can be fixed without guessing and writes the result to `out`: a copy of the root
/// layer with local opinions, or for .usdz a flattened package. Without `out` it tells what would be done.
///
/// # Errors
/// An unknown code in [`FixOptions::only`], an output that is (part of) the input, a file that cannot
/// be read or written.
pub fn fix(file: &UsdFile, out: Option<&Path>, options: &FixOptions) -> Result<FixReport> {
    for name in &options.only {
        match table::code(name) {
            Some(c) if c.fixable => {}
            Some(_) => {
                let text = format!("{name} cannot be mended without guessing");
                return Err(Error::Request(text));
            }
            None => return Err(Error::Request(format!("there is no code {name}"))),
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
        mended: Vec::new(),
        left: Vec::new(),
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
        mended,
        left,
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
        mended,
        left,
        flattened,
        before,
        after,
    })
}

struct Plan<'a> {
    context: &'a Context<'a>,
    flattened: bool,
    max_influences: Option<usize>,
    fixes: Vec<PrimFix>,
    mended: Vec<Mended>,
    left: Vec<Mended>,
}

fn entry(f: &Finding, message: impl Into<String>) -> Mended {
    Mended {
        code: f.code,
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
            // In a flattened file nothing is shared any more.
            let flat = prim.in_instance && self.flattened;
            if let Some(why) = self.context.why_unmendable(index, f.code).filter(|_| !flat) {
                self.left.push(entry(f, why));
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
                "point-indices-uint" => retyped(prim).map(|m| (m, "written as int[]")),
                "rotation-not-unit" => unit_rotations(prim).map(|m| (m, "normalised")),
                "interpolation-missing" => interpolated(f).map(|m| (m, "interpolation = vertex")),
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
                    self.mended.push(entry(f, message));
                }
                Err(why) => self.left.push(entry(f, why)),
            }
        }
        if !influences.is_empty() {
            self.influences(prim, &influences);
        }
    }

    /// Normalises, sorts and resizes in one go, since each changes the same arrays.
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
                            if rows.stuck > 0 {
                                let why = format!("{} rows sum to nothing, or to less", rows.stuck);
                                self.left.push(entry(f, why));
                            }
                            if rows.changed == 0 {
                                continue;
                            }
                            "normalised".to_owned()
                        }
                        "weights-unsorted" => "sorted".to_owned(),
                        _ => format!(
                            "the largest {} of each point kept and normalised",
                            self.max_influences.unwrap_or_default()
                        ),
                    };
                    self.mended.push(entry(f, message));
                }
            }
            Err(why) => self
                .left
                .extend(findings.iter().map(|f| entry(f, why.as_str()))),
        }
    }

    fn reordered(
        &self,
        prim: &AuthoredPrim,
        asked: &BTreeSet<&str>,
    ) -> Result<(Vec<Fix>, Rows), String> {
        let (indices, weights) = (plain(prim, INDICES)?, plain(prim, WEIGHTS)?);
        self.serve_each_other(prim)?;
        let size = row_size(weights).ok_or("elementSize is below 1")?;
        if row_size(indices) != Some(size) || indices.interpolation != weights.interpolation {
            return Err("jointIndices and jointWeights are laid out differently".into());
        }
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
                        return Err("some weights are no numbers".into());
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

    /// Prims that take their indices from here and their weights from elsewhere, or the other way
    /// round, would lose what belongs together.
    fn serve_each_other(&self, prim: &AuthoredPrim) -> Result<(), String> {
        let here = self.context.index_of(&prim.path);
        for candidate in &self.context.candidates {
            let from = |name| self.context.nearest(candidate.prim, name);
            let (indices, weights) = (from(INDICES), from(WEIGHTS));
            if indices != weights && (indices == here || weights == here) {
                let other = &self.context.stage.prims[candidate.prim].path;
                return Err(format!(
                    "{other} takes only one of jointIndices and jointWeights from here"
                ));
            }
        }
        Ok(())
    }
}

/// A primvar whose arrays can be written anew.
fn plain<'a>(prim: &'a AuthoredPrim, name: &str) -> Result<&'a AuthoredAttribute, String> {
    if prim.attributes.contains_key(&format!("{name}:indices")) {
        return Err(format!("{name} is an indexed primvar"));
    }
    let attribute = prim
        .attributes
        .get(name)
        .ok_or_else(|| format!("{name} is authored on another prim"))?;
    match attribute.clips {
        true => Err(format!("{name} comes from value clips")),
        false => Ok(attribute),
    }
}

/// Indices and weights of one time, in 64 bits as they were read; none where they are blocked.
type Pair = (Time, Option<Vec<i64>>, Option<Vec<f32>>);

/// Values that belong to the same times. What is the same at all times goes with each of the other's.
fn paired(indices: &AuthoredAttribute, weights: &AuthoredAttribute) -> Result<Vec<Pair>, String> {
    let times = |a: &AuthoredAttribute| a.values.iter().map(|(t, _)| *t).collect::<Vec<_>>();
    let (index_times, weight_times) = (times(indices), times(weights));
    let still = |t: &[Time]| t.len() == 1;
    if index_times != weight_times && !still(&index_times) && !still(&weight_times) {
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

/// What became of rows of weights that were not normalised.
#[derive(Clone, Copy, Default)]
struct Rows {
    changed: usize,
    /// They sum to nothing, or to less, so there is nothing to divide by.
    stuck: usize,
}

impl Rows {
    /// Divides the rows that are not normalised by their sums, all others left as they are.
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
                true => self.changed += 1,
                false => self.stuck += 1,
            }
        }
    }
}

fn normalised(prim: &AuthoredPrim) -> Result<(Vec<Fix>, Rows), String> {
    let weights = plain(prim, WEIGHTS)?;
    let size = row_size(weights).ok_or("elementSize is below 1")?;
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
    let fixes = if rows.changed > 0 {
        vec![change]
    } else {
        vec![]
    };
    Ok((fixes, rows))
}

fn retyped(prim: &AuthoredPrim) -> Result<Fix, String> {
    const NAME: &str = "pointIndices";
    let attribute = prim.attributes.get(NAME).ok_or("it is not there")?;
    let too_large = |v: &AuthoredValue| match v {
        AuthoredValue::Ints(i) => i.iter().any(|i| i32::try_from(*i).is_err()),
        _ => false,
    };
    if attribute.values.iter().any(|(_, v)| too_large(v)) {
        return Err("some indices do not fit into int".into());
    }
    Ok(Fix::Author {
        name: NAME.to_owned(),
        type_name: "int[]",
        values: attribute.values.clone(),
        interpolation: None,
        element_size: None,
    })
}

fn unit_rotations(prim: &AuthoredPrim) -> Result<Fix, String> {
    const NAME: &str = "rotations";
    let attribute = plain(prim, NAME)?;
    let mut values = attribute.values.clone();
    for (_, value) in &mut values {
        let AuthoredValue::Quats(quats) = value else {
            continue;
        };
        for q in quats {
            // In f64, since squares of large f32 overflow.
            let length = q.as_dquat().length();
            let mendable = length.is_finite() && length > 0.0;
            if mendable && (length - 1.0).abs() > f64::from(UNIT) {
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

fn interpolated(f: &Finding) -> Result<Fix, String> {
    Ok(Fix::Author {
        name: f.property.clone(),
        type_name: match f.property.as_str() {
            INDICES => "int[]",
            _ => "float[]",
        },
        values: Vec::new(),
        interpolation: Some("vertex"),
        element_size: None,
    })
}

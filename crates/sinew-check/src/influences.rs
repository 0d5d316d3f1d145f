//! Influences, joint orders, bind transforms and methods where they are authored.

use super::context::{Context, GEOM_BIND, INDICES, METHOD, WEIGHTS};
use super::skeletons::joint_names;
use super::{CheckOptions, Findings};
use sinew::math;
use sinew::sampled::Time;
use sinew::skel::SkinningMethod;
use sinew_io::usd::{AuthoredAttribute, AuthoredPrim, AuthoredValue};

/// The largest difference of a sum of weights from 1 that counts as normalised. Sums of eight f32
/// weights written with six digits stay below it. It moves a point that is 100 units from the
/// origin by 0.01 units.
pub(super) const SUM_TOLERANCE: f64 = 1e-4;

pub(super) fn check(context: &Context<'_>, options: &CheckOptions, findings: &mut Findings) {
    for (_, prim) in context.prims() {
        let path = &prim.path;
        for name in [INDICES, WEIGHTS] {
            if let Some(attribute) = prim.attributes.get(name) {
                layout(prim, name, attribute, findings);
            }
        }
        if let Some(weights) = prim.attributes.get(WEIGHTS) {
            sums(prim, weights, options, findings);
        }
        if prim.attributes.contains_key("skel:joints") {
            joint_names(path, "skel:joints", prim.tokens("skel:joints"), findings);
        }
        if let Some(matrices) = prim.attributes.get(GEOM_BIND) {
            for (time, value) in &matrices.values {
                let AuthoredValue::Matrices(m) = value else {
                    continue;
                };
                let Some(m) = m.first().filter(|m| math::is_finite(m)) else {
                    continue;
                };
                if math::try_inverse(*m).is_none() {
                    let message = format!("the matrix is singular at time {time}");
                    findings.add("geom-bind-singular", path, "", message);
                }
                if !math::is_affine(m) {
                    let message = format!("the matrix is a projection at time {time}");
                    findings.add("matrix-not-affine", path, GEOM_BIND, message);
                }
            }
        }
        for name in [METHOD, "skel:skinningMethod"] {
            let method = prim.tokens(name).first().map(String::as_str);
            if let Some(method) = method
                && SkinningMethod::from_token(method).is_none()
            {
                let message = format!("expected classicLinear or dualQuaternion, found '{method}'");
                findings.add("skinning-method-unknown", path, name, message);
            }
        }
    }
}

/// Number of influences per row; `None` if elementSize is below 1. Without an elementSize it is 1,
/// except for constant influences, whose values are one row.
pub(super) fn row_size(prim: &AuthoredPrim, attribute: &AuthoredAttribute) -> Option<usize> {
    match attribute.element_size {
        Some(size) => usize::try_from(size).ok().filter(|n| *n > 0),
        None => Some(constant_row(prim, attribute).unwrap_or(1)),
    }
}

/// Number of values of constant influences that have no elementSize but more than one value. Values
/// without an interpolation are constant too, unless there is one for each point.
fn constant_row(prim: &AuthoredPrim, attribute: &AuthoredAttribute) -> Option<usize> {
    let len = attribute.first().map(AuthoredValue::len)?;
    let constant = match attribute.interpolation.as_deref() {
        Some(interpolation) => interpolation == "constant",
        None => {
            let points = prim.attributes.get("points").and_then(|p| p.first());
            points.map(AuthoredValue::len) != Some(len)
        }
    };
    (constant && attribute.element_size.is_none() && len > 1).then_some(len)
}

fn layout(
    prim: &AuthoredPrim,
    name: &'static str,
    attribute: &AuthoredAttribute,
    findings: &mut Findings,
) {
    let (Some(value), Some(size)) = (attribute.first(), row_size(prim, attribute)) else {
        return;
    };
    let indexed = prim.attributes.get(&format!("{name}:indices"));
    if let Some(AuthoredValue::Ints(indices)) = indexed.and_then(|a| a.first()) {
        let rows = (value.len() / size) as i64;
        if let Some(i) = indices.iter().position(|i| !(0..rows).contains(i)) {
            let message = format!("expected indices below {rows}, found {} at {i}", indices[i]);
            findings.add(
                "primvar-index-range",
                &prim.path,
                &format!("{name}:indices"),
                message,
            );
        }
        return;
    }
    if let Some(len) = constant_row(prim, attribute) {
        let message = format!(
            "{len} constant values, but no elementSize, so 1 is expected: the prim is not skinned"
        );
        findings.add("element-size-missing", &prim.path, name, message);
        return;
    }
    let points = prim.attributes.get("points").and_then(|p| p.first());
    let Some(points) = points.map(AuthoredValue::len).filter(|n| *n > 1) else {
        return;
    };
    if attribute.interpolation.is_none() && points.checked_mul(size) == Some(value.len()) {
        let message = format!(
            "{} values for {points} points, but no interpolation, so they are constant",
            value.len()
        );
        findings.add("interpolation-missing", &prim.path, name, message);
    }
}

/// Counts the rows that have a defect and keeps the first of them.
#[derive(Default)]
struct Tally {
    count: usize,
    first: Option<(Time, usize, f64)>,
}

impl Tally {
    fn note(&mut self, time: Time, row: usize, value: f64) {
        self.count += 1;
        self.first.get_or_insert((time, row, value));
    }

    /// `12 rows, the first for point 3 at time 1`, and the value of that row; `None` if there is no
    /// such row.
    fn describe(&self) -> Option<(String, f64)> {
        let (time, row, value) = self.first?;
        let at = match time {
            Time::Default => String::new(),
            Time::At(t) => format!(" at time {t}"),
        };
        let rows = if self.count == 1 { "row" } else { "rows" };
        Some((
            format!("{} {rows}, the first for point {row}{at}", self.count),
            value,
        ))
    }
}

fn sums(
    prim: &AuthoredPrim,
    weights: &AuthoredAttribute,
    options: &CheckOptions,
    findings: &mut Findings,
) {
    let path = &prim.path;
    let Some(size) = row_size(prim, weights) else {
        return;
    };
    let (mut unnormalised, mut zero, mut negative, mut unsorted, mut many) = (
        Tally::default(),
        Tally::default(),
        Tally::default(),
        Tally::default(),
        Tally::default(),
    );
    for (time, value) in &weights.values {
        let AuthoredValue::Floats(weights) = value else {
            continue;
        };
        if !weights.len().is_multiple_of(size) {
            continue;
        }
        for (row, w) in weights.chunks_exact(size).enumerate() {
            let sum: f64 = w.iter().map(|w| f64::from(*w)).sum();
            if !sum.is_finite() {
                continue;
            }
            if w.iter().all(|w| *w == 0.0) {
                zero.note(*time, row, 0.0);
            } else if (sum - 1.0).abs() > SUM_TOLERANCE {
                unnormalised.note(*time, row, sum);
            }
            if let Some(w) = w.iter().find(|w| **w < 0.0) {
                negative.note(*time, row, f64::from(*w));
            }
            if !w.is_sorted_by(|a, b| a >= b) {
                unsorted.note(*time, row, 0.0);
            }
            let used = w.iter().filter(|w| **w != 0.0).count();
            if options.max_influences.is_some_and(|max| used > max) {
                many.note(*time, row, used as f64);
            }
        }
    }
    if let Some((rows, sum)) = unnormalised.describe() {
        let message = format!("{rows}: its sum is {sum}");
        findings.add("weights-unnormalised", path, "", message);
    }
    if let Some((rows, _)) = zero.describe() {
        findings.add("weights-zero", path, "", rows);
    }
    if let Some((rows, w)) = negative.describe() {
        findings.add(
            "weights-negative",
            path,
            "",
            format!("{rows}: its weight is {w}"),
        );
    }
    if let Some((rows, _)) = unsorted.describe() {
        findings.add("weights-unsorted", path, "", rows);
    }
    if let Some(max) = options.max_influences.filter(|max| size > *max) {
        let message = match many.describe() {
            Some((rows, _)) => {
                format!("elementSize is {size}, but the limit is {max}; over the limit: {rows}")
            }
            None => format!(
                "elementSize is {size}, but the limit is {max}; no point uses more than {max}"
            ),
        };
        findings.add("influences-too-many", path, INDICES, message);
    }
}

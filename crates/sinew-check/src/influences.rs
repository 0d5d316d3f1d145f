//! Influences, joint orders, bind transforms and methods where they are authored.

use std::collections::HashMap;

use super::context::{Context, GEOM_BIND, INDICES, METHOD, WEIGHTS};
use super::skeletons::joint_order;
use super::{CheckOptions, Findings, layout};
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
            joint_order(path, "skel:joints", prim.tokens("skel:joints"), findings);
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

/// Influences and weights whose metadata do not say the layout that their values have.
fn layout(
    prim: &AuthoredPrim,
    name: &'static str,
    attribute: &AuthoredAttribute,
    findings: &mut Findings,
) {
    let Some(value) = attribute.first() else {
        return;
    };
    if let Some(indices) = layout::indices(prim, name) {
        let size = usize::try_from(attribute.element_size.unwrap_or(1)).unwrap_or(1);
        let rows = (value.len() / size.max(1)) as i64;
        if let Some(i) = indices.iter().position(|i| !(0..rows).contains(i)) {
            let message = format!("expected indices below {rows}, found {} at {i}", indices[i]);
            let property = format!("{name}:indices");
            findings.add("primvar-index-range", &prim.path, &property, message);
        }
        return;
    }
    let (found, interpolation, size) = match layout::of(prim) {
        Ok(layout) if layout.is_authored(attribute) => return,
        Ok(layout) => {
            let is_other = attribute.interpolation.is_none() && layout.interpolation == "vertex";
            let size = attribute.element_size.unwrap_or(1);
            let size_is_other = usize::try_from(size) != Ok(layout.size);
            (layout.describe(value.len()), is_other, size_is_other)
        }
        // Missing metadata is reported even if the layout is unknown.
        Err(why) => {
            let several = value.len() > 1;
            let (no_name, no_size) = (
                attribute.interpolation.is_none(),
                attribute.element_size.is_none(),
            );
            (why, several && no_name && !no_size, several && no_size)
        }
    };
    let mut add = |code, what: &str| {
        let message = format!("{found}, but {what}: the prim is not skinned");
        findings.add(code, &prim.path, name, message);
    };
    if interpolation {
        add(
            "interpolation-missing",
            "no interpolation, so they are constant",
        );
    }
    match attribute.element_size {
        _ if !size => {}
        None => add("element-size-missing", "no elementSize, so it is 1"),
        Some(size) => add("element-size-wrong", &format!("elementSize is {size}")),
    }
}

/// Counts the points that have a defect and keeps the first of them.
#[derive(Default)]
struct Tally {
    count: usize,
    first: Option<(Time, usize, f64)>,
}

impl Tally {
    /// Adds the points of a row: the first of them, and how many they are.
    fn note(&mut self, time: Time, (point, count): (usize, usize), value: f64) {
        self.count += count;
        self.first.get_or_insert((time, point, value));
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
    // The sums say nothing where the rows are not known.
    let Ok(layout::Layout { size, .. }) = layout::of(prim) else {
        return;
    };
    let indices = layout::indices(prim, WEIGHTS);
    let (mut unnormalised, mut zero, mut negative, mut unsorted, mut many) = (
        Tally::default(),
        Tally::default(),
        Tally::default(),
        Tally::default(),
        Tally::default(),
    );
    let mut most = 0;
    // Of an indexed primvar, the first point that has each row, and how many have it.
    let points_of_row = indices.map(|indices| {
        let mut points: HashMap<i64, (usize, usize)> = HashMap::new();
        for (point, row) in indices.iter().enumerate() {
            points.entry(*row).or_insert((point, 0)).1 += 1;
        }
        points
    });
    for (time, value) in &weights.values {
        let AuthoredValue::Floats(weights) = value else {
            continue;
        };
        if !weights.len().is_multiple_of(size) {
            continue;
        }
        for (row, w) in weights.chunks_exact(size).enumerate() {
            let points = match &points_of_row {
                Some(points) => points.get(&(row as i64)).copied(),
                None => Some((row, 1)),
            };
            let Some(points) = points else {
                continue;
            };
            let sum: f64 = w.iter().map(|w| f64::from(*w)).sum();
            if !sum.is_finite() {
                continue;
            }
            if w.iter().all(|w| *w == 0.0) {
                zero.note(*time, points, 0.0);
            } else if (sum - 1.0).abs() > SUM_TOLERANCE {
                unnormalised.note(*time, points, sum);
            }
            if let Some(w) = w.iter().find(|w| **w < 0.0) {
                negative.note(*time, points, f64::from(*w));
            }
            if !w.is_sorted_by(|a, b| a >= b) {
                unsorted.note(*time, points, 0.0);
            }
            let used = w.iter().filter(|w| **w != 0.0).count();
            most = most.max(used);
            if options.max_influences.is_some_and(|max| used > max) {
                many.note(*time, points, used as f64);
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
    if size > 4 && most > 0 && most * 2 <= size {
        let message = format!("elementSize is {size}, but no point uses more than {most}");
        findings.add("influences-unused", path, INDICES, message);
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

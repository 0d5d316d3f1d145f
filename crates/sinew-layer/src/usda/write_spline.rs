//! Writes splines.

use super::check::Version;
use super::numbers::{double, float, half, integer};
use super::write_values::{Output, dictionary};
use crate::error::Result;
use crate::value::{
    Extrapolation, Interpolation, LoopParams, Spline, SplineType, SplineValueType, Tangent,
    TangentAlgorithm,
};

/// The version of the text format that a spline needs.
pub(super) fn version(spline: &Spline) -> Version {
    let ends = [spline.pre_extrapolation, spline.post_extrapolation];
    let mut tangents = spline
        .knots
        .iter()
        .flat_map(|k| [k.pre_tangent, k.post_tangent]);
    match () {
        () if spline.value_type == SplineValueType::Duration => Version(4),
        () if ends.iter().any(|e| e.loop_boundary().is_some()) => Version(3),
        () if tangents.any(|t| t.algorithm != TangentAlgorithm::None) => Version(1),
        () => Version(0),
    }
}

/// Why a spline cannot be written for an attribute of this type.
pub(super) fn problem(spline: &Spline, type_name: &str) -> Option<&'static str> {
    if SplineValueType::from_name(type_name) != Some(spline.value_type) {
        return Some("the spline is of another type than declared");
    }
    let finite = |knot: &crate::value::Knot| {
        let tangents = [knot.pre_tangent, knot.post_tangent];
        let numbers = tangents.into_iter().flat_map(|t| [t.width, t.slope]);
        let numbers = numbers.chain([knot.time, knot.value]).chain(knot.pre_value);
        numbers.into_iter().all(f64::is_finite) && tangents.iter().all(|t| t.width >= 0.0)
    };
    match spline.knots.iter().all(finite) {
        true => None,
        false => Some("a knot has a number that is not finite, or a width below 0"),
    }
}

/// Writes a spline in braces.
pub(super) fn spline(spline: &Spline, level: usize, out: &mut Output) -> Result<()> {
    let kind = spline.value_type;
    let curves = spline.knots.iter().any(|k| k.next == Interpolation::Curve);
    out.push("{\n");
    let begin = |out: &mut Output| out.indent(level + 1);
    if spline.spline_type == SplineType::Hermite || curves {
        begin(out);
        out.push(match spline.spline_type {
            SplineType::Bezier => "bezier,\n",
            SplineType::Hermite => "hermite,\n",
        });
    }
    for (word, end) in [
        ("pre: ", spline.pre_extrapolation),
        ("post: ", spline.post_extrapolation),
    ] {
        if end != Extrapolation::default() {
            begin(out);
            out.push(word);
            extrapolation(&end, kind, out);
            out.push(",\n");
        }
    }
    if let Some(params) = &spline.inner_loop {
        begin(out);
        inner_loop(params, out);
    }
    for knot in &spline.knots {
        begin(out);
        double(knot.time, &mut out.text);
        out.push(": ");
        if let Some(before) = knot.pre_value {
            value(before, kind, out);
            out.push(" & ");
        }
        value(knot.value, kind, out);
        if knot.pre_tangent != Tangent::default() {
            out.push("; pre ");
            tangent(&knot.pre_tangent, spline, out);
        }
        out.push("; post ");
        out.push(match knot.next {
            Interpolation::Block => "none",
            Interpolation::Held => "held",
            Interpolation::Linear => "linear",
            Interpolation::Curve => "curve",
        });
        if knot.post_tangent != Tangent::default() || knot.next == Interpolation::Curve {
            out.push(" ");
            tangent(&knot.post_tangent, spline, out);
        }
        if !knot.custom_data.is_empty() {
            out.push("; ");
            dictionary(&knot.custom_data, level + 1, out)?;
        }
        out.push(",\n");
        out.flush_full()?;
    }
    out.indent(level);
    out.push("}");
    Ok(())
}

/// A number with the digits of the spline's type.
fn value(value: f64, kind: SplineValueType, out: &mut Output) {
    match kind {
        SplineValueType::Double | SplineValueType::TimeCode | SplineValueType::Duration => {
            double(value, &mut out.text);
        }
        SplineValueType::Float => float(value as f32, &mut out.text),
        SplineValueType::Half => half(::half::f16::from_f64(value), &mut out.text),
    }
}

fn extrapolation(end: &Extrapolation, kind: SplineValueType, out: &mut Output) {
    out.push(match end {
        Extrapolation::Block => "none",
        Extrapolation::Held => "held",
        Extrapolation::Linear => "linear",
        Extrapolation::Sloped(_) => "sloped",
        Extrapolation::LoopRepeat(_) => "loop repeat",
        Extrapolation::LoopReset(_) => "loop reset",
        Extrapolation::LoopOscillate(_) => "loop oscillate",
    });
    if let Extrapolation::Sloped(slope) = end {
        out.push("(");
        value(*slope, kind, out);
        out.push(")");
    }
    if let Some(boundary) = end.loop_boundary() {
        out.push("(");
        double(boundary, &mut out.text);
        out.push(")");
    }
}

fn inner_loop(params: &LoopParams, out: &mut Output) {
    out.push("loop: (");
    double(params.start, &mut out.text);
    out.push(", ");
    double(params.end, &mut out.text);
    out.push(", ");
    integer(params.pre_loops, &mut out.text);
    out.push(", ");
    integer(params.post_loops, &mut out.text);
    out.push(", ");
    double(params.value_offset, &mut out.text);
    out.push("),\n");
}

/// Width and slope; the slope alone for Hermite.
fn tangent(tangent: &Tangent, spline: &Spline, out: &mut Output) {
    out.push("(");
    if spline.spline_type == SplineType::Bezier || tangent.width != 0.0 {
        double(tangent.width, &mut out.text);
        out.push(", ");
    }
    value(tangent.slope, spline.value_type, out);
    out.push(match tangent.algorithm {
        TangentAlgorithm::None => ")",
        TangentAlgorithm::Custom => ", custom)",
        TangentAlgorithm::AutoEase => ", autoEase)",
    });
}

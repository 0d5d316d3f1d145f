//! Curves over time, as `UsdAttribute::SetSpline` authors them.
//!
//! # Which opinion gives an attribute's value
//!
//! These are the rules of usd-core 26.11 (`UsdAttribute::Get`), found by experiment.
//!
//! * At a time, the strongest spec that has one of `timeSamples`, `spline` and `default` gives the
//!   value. In one spec the time samples come first, then the spline, then the default.
//! * At `UsdTimeCode::Default()` only defaults count. A spline or samples never hide a weaker default.
//! * Empty time samples (`{}`) are no opinion. An empty spline is one: the attribute then has no value
//!   at any time, although weaker specs have samples.
//! * Where a spline has no value ([`Extrapolation::Block`], [`Interpolation::Block`]), the attribute has
//!   no value at that time. Neither the default of the same spec nor weaker specs count.
//! * A default of `None` ([`Value::Block`](super::Value::Block)) hides samples, splines and defaults of
//!   weaker specs, but not the samples or the spline of its own spec.
//! * A default of `AnimationBlock` ([`Value::AnimationBlock`](super::Value::AnimationBlock)) hides
//!   samples and splines of weaker specs, not their defaults, and nothing of its own spec. For the
//!   attribute's default it does not exist.
//! * A value of a spline is computed in f64 and then rounded to the attribute's type.
//! * A layer offset changes a spline as [`Spline::offset`] does. usd-core refuses negative and zero
//!   scales of sublayers and references when it composes, and uses no offset instead.
//!
//! # Text
//!
//! Each item ends with a comma. A later item of a kind replaces an earlier one; knots may have any order.
//!
//! ```text
//! item          = "bezier" | "hermite" | "pre" ":" extrapolation | "post" ":" extrapolation
//!               | "loop" ":" "(" start "," end "," loops before "," loops after "," value offset ")" | knot
//! extrapolation = "none" | "held" | "linear" | "sloped" "(" slope ")"
//!               | "loop" ( "repeat" | "reset" | "oscillate" ) [ "(" time ")" ]
//! knot          = time ":" [ value before "&" ] value { ";" part }
//! part          = "pre" tangent
//!               | "post" ( "none" | "held" | "linear" | "curve" ) [ tangent ]
//!               | "{" entries of a dictionary "}"
//! tangent       = "(" [ width "," ] slope [ "," ( "custom" | "autoEase" ) ] ")"
//! ```
//!
//! Bézier tangents need their width, Hermite tangents leave it out. Widths are not negative, times and values are
//! finite. usd-core writes an extrapolation only if it is not held, `bezier` only if a segment is a curve,
//! `pre` only for the first knot and after a curve, and a tangent after `post` only before a curve: other
//! tangents are lost. When it reads a spline, it computes tangents with `autoEase` anew
//! ([`Spline::update_tangents`]). [`Spline::usda_version`] says which version of usda text a spline needs.
//!
//! usd-core shortens tangents that run backwards in time when it reads a crate file, not when it reads text.
//! Values are the same in both cases.

mod binary;
mod curve;
mod eval;

use half::f16;

use super::{Dictionary, Duration, LayerOffset, TimeCode, Value};

/// A curve over time: knots with tangents, and what happens before and after them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spline {
    /// The type of the values. Numbers are f64 here whatever it is.
    pub value_type: SplineValueType,
    /// How segments of the kind [`Interpolation::Curve`] are computed.
    pub spline_type: SplineType,
    pub pre_extrapolation: Extrapolation,
    pub post_extrapolation: Extrapolation,
    /// The part that repeats inside the spline, if any. Deprecated in USD 26.11.
    pub inner_loop: Option<LoopParams>,
    /// In rising order of their times. No two have the same time.
    pub knots: Vec<Knot>,
}

/// The type of a spline's values, slopes and heights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SplineValueType {
    #[default]
    Double,
    Float,
    Half,
    /// The values are times, which layer offsets change too.
    TimeCode,
    /// The values are lengths of time, which layer offsets scale.
    Duration,
}

impl SplineValueType {
    /// The type of an attribute, by its name in usda text; none if it cannot have splines.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "double" => Self::Double,
            "float" => Self::Float,
            "half" => Self::Half,
            "timecode" => Self::TimeCode,
            "duration" => Self::Duration,
            _ => return None,
        })
    }

    /// A number as a value of this type.
    #[must_use]
    pub fn value(self, value: f64) -> Value {
        match self {
            Self::Double => Value::Double(value),
            Self::Float => Value::Float(value as f32),
            Self::Half => Value::Half(f16::from_f32(value as f32)),
            Self::TimeCode => Value::TimeCode(TimeCode(value)),
            Self::Duration => Value::Duration(Duration(value)),
        }
    }

    /// The nearest number that this type has.
    #[must_use]
    pub fn round(self, value: f64) -> f64 {
        match self {
            Self::Double | Self::TimeCode | Self::Duration => value,
            Self::Float => f64::from(value as f32),
            // usd-core rounds twice.
            Self::Half => f16::from_f32(value as f32).to_f64(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplineType {
    #[default]
    Bezier,
    Hermite,
}

/// What a spline is before its first or after its last knot.
///
/// The loops repeat all knots, or those between that end of the spline and the knot at the given time.
/// If no knot has that time, there is no value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extrapolation {
    /// No value.
    Block,
    #[default]
    Held,
    Linear,
    Sloped(f64),
    /// Each repetition begins with the value with which the one before it ends.
    LoopRepeat(Option<f64>),
    /// Each repetition begins with the same value.
    LoopReset(Option<f64>),
    /// Every other repetition runs backwards.
    LoopOscillate(Option<f64>),
}

impl Extrapolation {
    /// The time at which a loop's range ends inside the spline, if it is given.
    #[must_use]
    pub fn loop_boundary(&self) -> Option<f64> {
        match self {
            Self::LoopRepeat(b) | Self::LoopReset(b) | Self::LoopOscillate(b) => *b,
            _ => None,
        }
    }

    /// Whether this is a loop.
    #[must_use]
    pub fn is_loop(&self) -> bool {
        matches!(
            self,
            Self::LoopRepeat(_) | Self::LoopReset(_) | Self::LoopOscillate(_)
        )
    }

    /// This extrapolation of a spline whose times are changed. `slope` says whether slopes change too.
    fn offset(self, offset: &LayerOffset, slope: bool) -> Self {
        let time = |boundary: Option<f64>| boundary.map(|t| offset.apply(t));
        match self {
            Self::Sloped(s) if slope => Self::Sloped(s / offset.scale),
            Self::LoopRepeat(b) => Self::LoopRepeat(time(b)),
            Self::LoopReset(b) => Self::LoopReset(time(b)),
            Self::LoopOscillate(b) => Self::LoopOscillate(time(b)),
            other => other,
        }
    }
}

/// Knots from `start` (included) to `end` (not included) repeat before and after that range, and hide
/// other knots there. Without a knot at `start` nothing repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoopParams {
    pub start: f64,
    pub end: f64,
    pub pre_loops: i32,
    pub post_loops: i32,
    /// What is added to the value with each repetition.
    pub value_offset: f64,
}

/// How a segment is computed that starts at a knot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// No value.
    Block,
    #[default]
    Held,
    Linear,
    Curve,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tangent {
    /// In time units; unused for Hermite.
    pub width: f64,
    pub slope: f64,
    /// What computed the tangent when it was authored.
    pub algorithm: TangentAlgorithm,
}

/// How an editing tool computes a tangent. Width and slope are stored whatever it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TangentAlgorithm {
    #[default]
    None,
    Custom,
    AutoEase,
}

/// A point of a spline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knot {
    pub time: f64,
    pub value: f64,
    /// The value just before the knot, if another.
    pub pre_value: Option<f64>,
    /// Interpolation of the segment after this knot.
    pub next: Interpolation,
    pub pre_tangent: Tangent,
    pub post_tangent: Tangent,
    pub custom_data: Dictionary,
}

impl Spline {
    /// The value at a time in the spline's type, as `UsdAttribute::Get` gives it. None where there is none.
    #[must_use]
    pub fn value(&self, time: f64) -> Option<Value> {
        Some(self.value_type.value(self.eval(time)?))
    }

    /// This spline in a layer whose times are changed by `offset`: times are scaled and moved, widths
    /// scaled, slopes divided by the scale. Values that are times change like times, and their slopes stay.
    /// A negative scale reverses the spline; inner loops then become knots.
    ///
    /// A scale of 0 gives an empty spline, as `Ts.Spline.GetTimeScaled`.
    #[must_use]
    pub fn offset(&self, offset: &LayerOffset) -> Self {
        if offset.is_identity() {
            return self.clone();
        }
        if offset.scale == 0.0 || !offset.scale.is_finite() {
            return Self {
                value_type: self.value_type,
                ..Self::default()
            };
        }
        let mut out = match offset.scale < 0.0 && self.inner_loop.is_some() {
            true => self.without_inner_loop(),
            false => self.clone(),
        };
        let times = matches!(
            self.value_type,
            SplineValueType::TimeCode | SplineValueType::Duration
        );
        // A half is divided as f32, and so by the nearest f32 of the scale.
        let slope = |slope: f64| match self.value_type {
            SplineValueType::Half => f16::from_f32(slope as f32 / offset.scale as f32).to_f64(),
            kind => kind.round(slope / offset.scale),
        };
        let value = |value| match self.value_type {
            SplineValueType::TimeCode => offset.apply(value),
            SplineValueType::Duration => offset.scale * value,
            _ => value,
        };
        out.pre_extrapolation = out.pre_extrapolation.offset(offset, !times);
        out.post_extrapolation = out.post_extrapolation.offset(offset, !times);
        if let Some(params) = &mut out.inner_loop {
            params.start = offset.apply(params.start);
            params.end = offset.apply(params.end);
        }
        for knot in &mut out.knots {
            knot.time = offset.apply(knot.time);
            knot.value = value(knot.value);
            knot.pre_value = knot.pre_value.map(value);
            for tangent in [&mut knot.pre_tangent, &mut knot.post_tangent] {
                tangent.width *= offset.scale.abs();
                if !times {
                    tangent.slope = slope(tangent.slope);
                }
            }
        }
        if offset.scale < 0.0 {
            out.reverse();
        }
        out
    }

    /// Turns the order of knots around, after their times have changed their signs.
    fn reverse(&mut self) {
        std::mem::swap(&mut self.pre_extrapolation, &mut self.post_extrapolation);
        // Each knot takes the interpolation of the segment that was before it.
        let mut next = Interpolation::Held;
        for knot in &mut self.knots {
            std::mem::swap(&mut next, &mut knot.next);
        }
        self.knots.reverse();
        for knot in &mut self.knots {
            std::mem::swap(&mut knot.pre_tangent, &mut knot.post_tangent);
            if let Some(pre) = &mut knot.pre_value {
                std::mem::swap(pre, &mut knot.value);
            }
        }
    }

    /// Computes the tangents whose algorithm is [`TangentAlgorithm::AutoEase`], as usd-core does when it
    /// reads usda text: a slope between those to the two neighbours, flat at extremes, at both ends and
    /// beside a jump or a segment without a value, and a third of the segment as width.
    pub fn update_tangents(&mut self) {
        for i in 0..self.knots.len() {
            let before = i.checked_sub(1).map(|i| &self.knots[i]);
            let (knot, after) = (&self.knots[i], self.knots.get(i + 1));
            let slope = match (before, after) {
                (Some(before), Some(after))
                    if knot.pre_value.is_none()
                        && knot.next != Interpolation::Block
                        && before.next != Interpolation::Block =>
                {
                    auto_ease(before, knot, after)
                }
                _ => 0.0,
            };
            let widths = [
                before.map(|k| (knot.time - k.time) / 3.0),
                after.map(|k| (k.time - knot.time) / 3.0),
            ];
            let (kind, knot) = (self.value_type, &mut self.knots[i]);
            for (tangent, width) in [&mut knot.pre_tangent, &mut knot.post_tangent]
                .into_iter()
                .zip(widths)
            {
                let (TangentAlgorithm::AutoEase, Some(width)) = (tangent.algorithm, width) else {
                    continue;
                };
                let mut fitting = kind.round(slope);
                tangent.width = width;
                if fitting.is_infinite() {
                    // The slope is too steep for the type: a wider tangent reaches the same height.
                    let max = match kind {
                        SplineValueType::Half => f16::MAX.to_f64(),
                        SplineValueType::Float => f64::from(f32::MAX),
                        _ => f64::MAX,
                    };
                    fitting = max.copysign(slope);
                    tangent.width = slope * width / fitting;
                }
                tangent.slope = fitting;
            }
        }
    }
}

/// The slope of a knot with neighbours on both sides: between the slopes to them, nearer to that of the
/// nearer one.
fn auto_ease(before: &Knot, knot: &Knot, after: &Knot) -> f64 {
    let to_before = (knot.value - before.value) / (knot.time - before.time);
    let next_value = after.pre_value.unwrap_or(after.value);
    let to_after = (next_value - knot.value) / (after.time - knot.time);
    // At an extreme the curve is flat.
    if to_before.is_nan() || to_after.is_nan() || to_before * to_after <= 0.0 {
        return 0.0;
    }
    let u = (knot.time - before.time) / (after.time - before.time) - 0.5;
    let g = 0.5 + u * (0.5 + 2.0 * u * u);
    let slope = (1.0 - g) * to_before + g * to_after;
    if to_after > 0.0 {
        slope.min(3.0 * to_after).min(3.0 * to_before)
    } else {
        slope.max(3.0 * to_after).max(3.0 * to_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_type_of_the_spline() {
        let mut spline = Spline {
            value_type: SplineValueType::Half,
            knots: vec![Knot {
                value: 0.1,
                ..Knot::default()
            }],
            ..Spline::default()
        };
        assert_eq!(spline.value(3.0), Some(Value::Half(f16::from_f64(0.1))));
        spline.value_type = SplineValueType::TimeCode;
        assert_eq!(spline.value(3.0), Some(Value::TimeCode(TimeCode(0.1))));
        let zero = LayerOffset {
            offset: 1.0,
            scale: 0.0,
        };
        assert!(spline.offset(&zero).knots.is_empty());
        assert_eq!(spline.offset(&zero).value(1.0), None);
    }
}

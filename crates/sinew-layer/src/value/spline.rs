//! Curves over time, as `UsdAttribute::SetSpline` authors them.

use smol_str::SmolStr;

use super::Dictionary;

/// A curve over time: knots with tangents, and what happens before and after them.
#[derive(Clone, Debug, PartialEq)]
pub struct Spline {
    /// The type of the attribute's value: `double`, `float`, `half` or `timecode`. Knots are f64 here whatever it is.
    pub value_type: SmolStr,
    /// How segments of the kind [`Interpolation::Curve`] are computed.
    pub spline_type: SplineType,
    pub pre_extrapolation: Extrapolation,
    pub post_extrapolation: Extrapolation,
    /// The part that repeats inside the spline, if any.
    pub inner_loop: Option<LoopParams>,
    /// In rising order of their times.
    pub knots: Vec<Knot>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplineType {
    #[default]
    Bezier,
    Hermite,
}

/// What a spline is before its first or after its last knot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Extrapolation {
    /// No value.
    Block,
    #[default]
    Held,
    Linear,
    Sloped(f64),
    LoopRepeat,
    LoopReset,
    LoopOscillate,
}

/// Knots from `start` (included) to `end` (not included) repeat before and after that range.
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
}

#[derive(Clone, Debug, PartialEq)]
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

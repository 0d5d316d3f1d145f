//! The unit of a human whose file has none.

/// Lengths of a unit that files of no unit have: metre, decimetre, centimetre, millimetre, inch, and
/// that of the CMU motion capture database.
const UNITS: [f64; 6] = [1.0, 0.1, 0.01, 0.001, 0.0254, 0.0564];

/// The length of thigh and shin of a grown-up, in metres.
const LEG: f64 = 0.85;

/// The unit in metres that brings legs of this length, thigh and shin in units, nearest to those of a
/// grown-up.
#[must_use]
pub fn likely_unit(leg: f64) -> f64 {
    let off = |unit: f64| (unit * leg / LEG).ln().abs();
    let nearest = |a: f64, b: f64| if off(b) < off(a) { b } else { a };
    UNITS.into_iter().fold(UNITS[0], nearest)
}

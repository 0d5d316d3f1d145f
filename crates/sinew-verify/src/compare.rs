//! Comparison that cannot be fooled by NaN, by lengths, or by a scale of nothing.

use glam::{DVec3, Vec3};

use crate::measured;

/// Compares element by element; `tolerance` is relative to the largest coordinate of `want`, at
/// least 1.
///
/// # Errors
/// Text with the worst element. A NaN or infinity on either side fails, and so does another length.
pub fn compare<A: Copy + Into<DVec3>, B: Copy + Into<DVec3>>(
    what: &str,
    got: &[A],
    want: &[B],
    tolerance: f64,
) -> Result<(), String> {
    let (expected, found) = (want.len(), got.len());
    if found != expected {
        return Err(format!("{what}: {found} elements, expected {expected}"));
    }
    let mut scale = 1.0f64;
    let mut worst: Option<(usize, f64, DVec3, DVec3)> = None;
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let (got, want): (DVec3, DVec3) = ((*got).into(), (*want).into());
        if !got.is_finite() || !want.is_finite() {
            return Err(format!("{what}: got {got} at {i}, expected {want}"));
        }
        scale = scale.max(want.abs().max_element());
        let error = (got - want).abs().max_element();
        if worst.is_none_or(|(_, most, ..)| error >= most) {
            worst = Some((i, error, got, want));
        }
    }
    let Some((i, worst, got, want)) = worst else {
        return Ok(());
    };
    let relative = worst / scale;
    measured::note(relative, tolerance);
    if worst <= tolerance * scale {
        return Ok(());
    }
    Err(format!(
        "{what}: off by {relative:.2e} of {scale:.3} (allowed {tolerance:.1e}) at {i}: {got}, expected {want}"
    ))
}

/// As [`compare`], but for elements that hang on rounding, which are left out. Lengths are compared too.
pub fn compare_but<A: Copy + Into<DVec3>, B: Copy + Into<DVec3>>(
    what: &str,
    left_out: &[bool],
    got: &[A],
    want: &[B],
    tolerance: f64,
) -> Result<(), String> {
    fn kept<V: Copy + Into<DVec3>>(values: &[V], left_out: &[bool]) -> Vec<DVec3> {
        let left_out = left_out.iter().chain(std::iter::repeat(&false));
        let values = values.iter().zip(left_out);
        let keep = |(v, out): (&V, &bool)| if *out { DVec3::ZERO } else { (*v).into() };
        values.map(keep).collect()
    }
    compare(what, &kept(got, left_out), &kept(want, left_out), tolerance)
}

/// As [`compare`], with a tolerance in the values' own unit.
pub fn compare_within(
    what: &str,
    got: &[DVec3],
    want: &[DVec3],
    allowed: f64,
) -> Result<(), String> {
    let scale = want
        .iter()
        .fold(1.0f64, |a, v| a.max(v.abs().max_element()));
    compare(what, got, want, allowed / scale)
}

pub fn to_f64(values: &[Vec3]) -> Vec<DVec3> {
    values.iter().map(|v| v.as_dvec3()).collect()
}

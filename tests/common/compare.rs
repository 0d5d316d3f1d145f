//! Comparisons of transforms, boxes and extentsHints, beside those of the checks.

use glam::{DMat4, DVec3};
pub use sinew_verify::compare::{compare, compare_within, to_f64};

/// Compares transforms; `tolerance` is relative to the larger of 1 and the translation.
///
/// # Errors
/// Both matrices where some element differs by more, or is NaN.
pub fn compare_matrices(what: &str, got: DMat4, want: DMat4, tolerance: f64) -> Result<(), String> {
    let scale = want.w_axis.truncate().length().max(1.0);
    // Written so that a NaN fails.
    if got.abs_diff_eq(want, tolerance * scale) {
        return Ok(());
    }
    Err(format!(
        "{what}: {got}, expected {want} within {tolerance:.1e} of {scale:.3}"
    ))
}

/// Compares extentsHints: pairs of corners, empty ranges to the bit, others by `tolerance` times their
/// size.
///
/// # Errors
/// As [`compare`].
pub fn compare_hints(
    what: &str,
    got: &[DVec3],
    want: &[DVec3],
    tolerance: f64,
) -> Result<(), String> {
    if got.len() != want.len() || want.len() < 2 {
        return Err(format!("{what}: {got:?}, expected {want:?}"));
    }
    for (got, want) in got.chunks(2).zip(want.chunks(2)) {
        if want[0].x <= want[1].x {
            compare_within(what, got, want, tolerance * size(want))?;
        } else if got != want {
            return Err(format!("{what}: {got:?}, expected an empty range"));
        }
    }
    Ok(())
}

/// Corners of the bounding box; zero without points.
pub fn bounds(points: &[DVec3]) -> [DVec3; 2] {
    let all = || points.iter().copied();
    let low = all().reduce(DVec3::min).unwrap_or_default();
    let high = all().reduce(DVec3::max).unwrap_or_default();
    [low, high]
}

/// Diagonal of the bounding box: what a mesh's size is called here.
pub fn size(points: &[DVec3]) -> f64 {
    let [low, high] = bounds(points);
    (high - low).length()
}

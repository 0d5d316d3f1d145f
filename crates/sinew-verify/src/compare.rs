//! Comparison that cannot be fooled by NaN, by lengths, or by a scale of nothing.

use glam::{DMat4, DVec3, Vec3};

use crate::measured;

/// A vector of either precision.
pub trait Vector: Copy {
    /// The same in f64.
    fn in_f64(self) -> DVec3;
}

impl Vector for Vec3 {
    fn in_f64(self) -> DVec3 {
        self.as_dvec3()
    }
}

impl Vector for DVec3 {
    fn in_f64(self) -> DVec3 {
        self
    }
}

/// Compares element by element; `tolerance` is relative to the largest coordinate of `want`, at
/// least 1.
///
/// # Errors
/// Text with the worst element. A NaN or infinity on either side fails, and so does another length.
pub fn compare<A: Vector, B: Vector>(
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
        let (got, want) = (got.in_f64(), want.in_f64());
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
///
/// # Errors
/// As [`compare`].
pub fn compare_but<A: Vector, B: Vector>(
    what: &str,
    left_out: &[bool],
    got: &[A],
    want: &[B],
    tolerance: f64,
) -> Result<(), String> {
    fn kept<V: Vector>(values: &[V], left_out: &[bool]) -> Vec<DVec3> {
        let left_out = left_out.iter().chain(std::iter::repeat(&false));
        let values = values.iter().zip(left_out);
        let keep = |(v, out): (&V, &bool)| if *out { DVec3::ZERO } else { v.in_f64() };
        values.map(keep).collect()
    }
    compare(what, &kept(got, left_out), &kept(want, left_out), tolerance)
}

/// As [`compare`], with a tolerance in the values' own unit.
///
/// # Errors
/// As [`compare`].
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

pub fn to_f64(values: &[Vec3]) -> Vec<DVec3> {
    values.iter().map(|v| v.as_dvec3()).collect()
}

/// The comparer's own negative tests. What they compare is no error of anything.
///
/// # Errors
/// What the comparer let pass, or refused.
pub fn self_test() -> Result<(), String> {
    measured::during(negative_and_positive).0
}

fn negative_and_positive() -> Result<(), String> {
    let one = [DVec3::ONE; 3];
    let with = |v: DVec3| [DVec3::ONE, v, DVec3::ONE];
    let must_fail = [
        (
            "a NaN on the left",
            compare("", &with(DVec3::NAN), &one, 1.0),
        ),
        (
            "a NaN on the right",
            compare("", &one, &with(DVec3::NAN), 1.0),
        ),
        (
            "NaN on both sides",
            compare("", &with(DVec3::NAN), &with(DVec3::NAN), 1.0),
        ),
        (
            "an infinity",
            compare("", &with(DVec3::INFINITY), &with(DVec3::INFINITY), 1.0),
        ),
        (
            "one NaN component",
            compare("", &with(DVec3::new(1.0, f64::NAN, 1.0)), &one, 1.0),
        ),
        ("fewer elements", compare("", &one[..2], &one, 1.0)),
        ("more elements", compare("", &one, &one[..2], 1.0)),
        (
            "nothing against something",
            compare("", &one[..0], &one, 1.0),
        ),
        (
            "a small difference",
            compare("", &with(DVec3::new(1.0, 1.0, 1.0 + 2e-6)), &one, 1e-6),
        ),
        (
            "a sentinel",
            compare("", &with(DVec3::splat(12345.0)), &one, 1e-3),
        ),
    ];
    for (what, result) in must_fail {
        if result.is_ok() {
            return Err(format!("the comparer let {what} pass"));
        }
    }
    let text = compare("here", &with(DVec3::splat(3.0)), &one, 1e-3).unwrap_err();
    if !text.contains("at 1") || !text.contains("here") {
        return Err(format!(
            "the comparer does not name the worst element: {text}"
        ));
    }
    compare("", &one, &one, 0.0)?;
    compare("", &one[..0], &one[..0], 0.0)?;
    compare("", &with(DVec3::splat(1.0 + 1e-7)), &one, 1e-6)
}

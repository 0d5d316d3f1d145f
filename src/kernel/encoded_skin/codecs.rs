//! Numbers in fewer bits: points on grids, octahedral directions, weights as fractions.
//! `shaders/multi_pose_lbs.wgsl` and `shaders/common/octahedral.wgsl` decode them.

use glam::{DVec2, DVec3, Vec3};

use crate::kernel::registry::{COMPACT_ONE, COMPACT_STEP, FINE_ONE, FINE_STEP};

/// A cubic grid of points.
///
/// The step is a power of two, so `f32(q) * step` is exact. The addition of `low` then rounds once,
/// with or without a fused multiply-add.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grid {
    /// The point at zero steps.
    pub low: Vec3,
    /// The length of a step.
    pub step: f32,
}

impl Grid {
    /// The finest grid that reaches all of these finite points with coordinates of `bits` bits.
    pub(super) fn around(points: &[Vec3], bits: u32) -> Self {
        let low = points.iter().copied().reduce(Vec3::min).unwrap_or_default();
        let high = points.iter().copied().reduce(Vec3::max).unwrap_or_default();
        let extent = (high.as_dvec3() - low.as_dvec3()).max_element();
        let steps = f64::from((1u32 << bits) - 1);
        // Far above the smallest f32, so that the step is a normal number.
        let exponent = (extent / steps).max(1e-30).log2().ceil();
        Self {
            low,
            step: exponent.exp2() as f32,
        }
    }

    /// The steps nearest to a point. The grid must have been created for that point.
    pub(super) fn steps(&self, point: Vec3) -> [u32; 3] {
        let from_low = (point.as_dvec3() - self.low.as_dvec3()) / f64::from(self.step);
        from_low.round().as_uvec3().to_array()
    }

    /// The point at these steps along each axis.
    #[must_use]
    pub fn point(&self, steps: [u32; 3]) -> Vec3 {
        self.low + Vec3::from(steps.map(|q| q as f32)) * self.step
    }
}

/// The x of an octahedral direction that stands for "no direction": one less than the smallest
/// component.
const fn nowhere(largest: i32) -> i32 {
    -largest - 1
}

/// Encodes a direction of any length as the nearest two components in `-largest..=largest`. A
/// vector that is shorter than 1e-10 has no direction.
pub(super) fn octahedral(direction: Vec3, largest: i32) -> [i32; 2] {
    let d = direction.as_dvec3();
    let size = d.abs().element_sum();
    let length = d.length();
    if length.is_nan() || length <= 1e-10 {
        return [nowhere(largest), 0];
    }
    let (d, scale) = (d / size, f64::from(largest));
    let mut at = d.truncate();
    if d.z < 0.0 {
        at = (DVec2::ONE - DVec2::new(at.y, at.x).abs())
            * at.map(|v| if v < 0.0 { -1.0 } else { 1.0 });
    }
    let unit = d.normalize();
    let corners = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
    let nearest = corners.map(|(x, y)| {
        let corner = (at * scale).floor() + DVec2::new(x, y);
        let corner = corner.clamp(DVec2::splat(-scale), DVec2::splat(scale));
        let encoded = [corner.x as i32, corner.y as i32];
        let found = direction_of(encoded, largest).as_dvec3();
        (found.distance_squared(unit), encoded)
    });
    let first = nearest[0];
    nearest
        .into_iter()
        .fold(first, |a, b| if b.0 < a.0 { b } else { a })
        .1
}

/// Decodes two components: a unit vector, or zero for "no direction".
pub(super) fn direction_of(encoded: [i32; 2], largest: i32) -> Vec3 {
    if encoded[0] < -largest {
        return Vec3::ZERO;
    }
    let [x, y] = encoded.map(|v| f64::from(v) / f64::from(largest));
    let z = 1.0 - x.abs() - y.abs();
    let folded = (-z).max(0.0);
    let back = |v: f64| if v < 0.0 { v + folded } else { v - folded };
    DVec3::new(back(x), back(y), z).normalize().as_vec3()
}

/// Rounds the weights of one point to fractions of `one`. No weight may be negative. The sum of the
/// fractions is the fraction nearest to the sum of the weights. The error of each is less than one
/// step.
pub(super) fn fractions(weights: &[f32], one: u32, out: &mut Vec<u32>) {
    let scaled = |w: f32| f64::from(w) * f64::from(one);
    let sum: f64 = weights.iter().map(|w| scaled(*w)).sum();
    out.clear();
    out.extend(weights.iter().map(|w| scaled(*w) as u32));
    let mut left = sum.round() as i64 - out.iter().map(|q| i64::from(*q)).sum::<i64>();
    // Those that lost most come first; of equals, the first weight.
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|a, b| {
        let lost = |i: usize| scaled(weights[i]) - f64::from(out[i]);
        lost(*b).total_cmp(&lost(*a))
    });
    for i in order {
        if left > 0 && out[i] < one {
            out[i] += 1;
            left -= 1;
        }
    }
}

// Kernels multiply by this step, so it must be the same number.
const _: () = assert!(FINE_STEP == (1.0 / FINE_ONE as f64) as f32);
const _: () = assert!(COMPACT_STEP == (1.0 / COMPACT_ONE as f64) as f32);

/// The weight of a fraction, as kernels compute it. The fraction `one` is exactly 1, for 1023 and
/// for 65535.
pub(super) fn fraction(q: u32, one: u32) -> f32 {
    q as f32 * (1.0 / f64::from(one)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directions() -> impl Iterator<Item = Vec3> {
        // A spiral around the sphere that passes near poles, folds and axes.
        (0..20_000).map(|i| {
            let z = 1.0 - (f64::from(i) + 0.5) / 10_000.0;
            let (sin, cos) = (f64::from(i) * 2.399_963).sin_cos();
            let r = (1.0 - z * z).sqrt();
            DVec3::new(r * cos, r * sin, z).as_vec3()
        })
    }

    #[test]
    fn octahedral_directions_come_back() {
        for (largest, allowed) in [(32_767, 5e-5), (1023, 1.5e-3)] {
            let axes = [Vec3::X, -Vec3::X, Vec3::Y, -Vec3::Y, Vec3::Z, -Vec3::Z];
            let mut worst = 0.0f32;
            for d in directions().chain(axes) {
                let encoded = octahedral(d * 3.0, largest);
                assert!(
                    encoded.iter().all(|v| v.abs() <= largest),
                    "{d} {encoded:?}"
                );
                let back = direction_of(encoded, largest);
                // Points on the edges of the square, where its sides meet, have two encodings.
                let again = direction_of(octahedral(back, largest), largest);
                assert!(again.distance(back) < 1e-6, "{d}");
                worst = worst.max(back.distance(d));
            }
            assert!(worst < allowed, "{largest}: {worst}");
            assert!(
                axes.iter()
                    .all(|d| direction_of(octahedral(*d, largest), largest) == *d)
            );
            let none = octahedral(Vec3::ZERO, largest);
            assert_eq!(direction_of(none, largest), Vec3::ZERO);
        }
    }

    #[test]
    fn points_stay_on_their_grid() {
        for (offset, size) in [
            (0.0, 1.0),
            (1e6, 1.0),
            (-3.0, 1e-4),
            (0.1, 0.0),
            (1e30, 1e30),
        ] {
            let points: Vec<Vec3> = directions()
                .map(|d| Vec3::splat(offset) + d * size)
                .collect();
            for bits in [16, 21] {
                let grid = Grid::around(&points, bits);
                for point in &points {
                    let steps = grid.steps(*point);
                    assert!(steps.iter().all(|q| *q < 1 << bits), "{point} {steps:?}");
                    let back = grid.point(steps);
                    assert_eq!(grid.point(grid.steps(back)), back);
                    let off = (back - *point).abs().max_element();
                    let rounding = back.abs().max_element() * f32::EPSILON;
                    assert!(
                        off <= grid.step / 2.0 + rounding,
                        "{point}: {off} of {}",
                        grid.step
                    );
                }
            }
        }
    }

    #[test]
    fn fractions_keep_the_sum() {
        let mut out = Vec::new();
        for weights in [
            &[1.0][..],
            &[0.3, 0.3, 0.4],
            &[1.0 / 3.0; 3],
            &[0.2; 3],
            &[0.0; 2],
            &[0.999_9, 0.000_1],
        ] {
            for one in [1023, 65_535] {
                fractions(weights, one, &mut out);
                let sum: f64 = weights.iter().map(|w| f64::from(*w)).sum();
                assert_eq!(
                    out.iter().sum::<u32>(),
                    (sum * f64::from(one)).round() as u32
                );
                for (q, w) in out.iter().zip(weights) {
                    assert!((fraction(*q, one) - w).abs() < 1.0 / one as f32);
                }
            }
        }
        assert_eq!((fraction(1023, 1023), fraction(65_535, 65_535)), (1.0, 1.0));
    }
}

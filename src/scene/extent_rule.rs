//! The rules by which the extent of a prim is computed.

use glam::Vec3;

/// How to compute the extent of a prim from its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtentRule {
    /// The bounding box of the points (UsdGeomPointBased).
    Points,
    /// The bounding box of spheres around the points, with their widths as diameters
    /// (UsdGeomPoints).
    WidthPerPoint,
    /// The bounding box of the points, grown by half the largest width (UsdGeomCurves).
    LargestWidth,
}

impl ExtentRule {
    /// The corners of the extent of a prim, from its points and widths (the extent functions of
    /// UsdGeomPointBased, UsdGeomPoints and UsdGeomCurves). `None` if a point is not finite.
    #[must_use]
    pub fn corners(self, points: &[Vec3], widths: &[f32]) -> Option<[Vec3; 2]> {
        if points.is_empty() {
            // UsdGeomPointBased returns an empty range here, which a float3[2] cannot express.
            return Some([Vec3::ZERO; 2]);
        }
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let mut all_finite = None;
        if self == Self::WidthPerPoint && widths.len() == points.len() {
            for (p, width) in points.iter().zip(widths) {
                low = low.min(*p - width * 0.5);
                high = high.max(*p + width * 0.5);
            }
        } else {
            let (bounds, finite) = bounds(points);
            [low, high] = bounds;
            all_finite = Some(finite);
            if self != Self::Points {
                let pad = widths.iter().copied().fold(0.0, f32::max) * 0.5;
                low -= pad;
                high += pad;
            }
        }
        let all_finite = all_finite.unwrap_or_else(|| points.iter().all(|p| p.is_finite()));
        all_finite.then_some([low, high])
    }
}

/// The corners of the bounding box, and whether all points are finite. If not, ignore the corners.
fn bounds(points: &[Vec3]) -> ([Vec3; 2], bool) {
    // Four points side by side are twelve numbers with an extreme each: compilers turn that into
    // vector instructions.
    const WIDTH: usize = 12;
    let (lanes, rest) = bytemuck::cast_slice::<Vec3, f32>(points).as_chunks::<WIDTH>();
    let mut low = [f32::INFINITY; WIDTH];
    let mut high = [f32::NEG_INFINITY; WIDTH];
    // Stays 0 unless a number is infinite or NaN.
    let mut nothing = [0.0_f32; WIDTH];
    for values in lanes {
        for i in 0..WIDTH {
            let value = values[i];
            low[i] = if low[i] < value { low[i] } else { value };
            high[i] = if high[i] > value { high[i] } else { value };
            nothing[i] += value * 0.0;
        }
    }
    let mut corners = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let joined = [&low[..], &high[..], rest];
    let parts = joined.map(bytemuck::cast_slice::<f32, Vec3>);
    corners[0] = parts[0]
        .iter()
        .chain(parts[2])
        .fold(corners[0], |a, p| a.min(*p));
    corners[1] = parts[1]
        .iter()
        .chain(parts[2])
        .fold(corners[1], |a, p| a.max(*p));
    let finite = nothing.iter().all(|n| *n == 0.0) && parts[2].iter().all(|p| p.is_finite());
    // Which of -0 and 0 is the lower depends on their order, so they must be visited in order.
    let zero = |c: &Vec3| c.to_array().contains(&0.0);
    if finite && corners.iter().any(zero) {
        corners = points
            .iter()
            .fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], p| {
                [low.min(*p), high.max(*p)]
            });
    }
    (corners, finite)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The extent by its definition, one point after the other.
    fn one_by_one(points: &[Vec3]) -> Option<[Vec3; 2]> {
        let start = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        let join = |[low, high]: [Vec3; 2], p: &Vec3| [low.min(*p), high.max(*p)];
        let all_finite = points.iter().all(|p| p.is_finite());
        all_finite.then(|| points.iter().fold(start, join))
    }

    #[test]
    fn many_points_at_once_are_one_by_one_to_the_bit() {
        let mut state = 1_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Many zeros of both signs.
            ((state >> 24) as f32 - 128.0) * ((state >> 16 & 3) as f32)
        };
        for count in 1..40 {
            for offset in [0.0, 1000.0] {
                let mut points: Vec<Vec3> = (0..count)
                    .map(|_| Vec3::new(number(), number(), number()) + offset)
                    .collect();
                let bits =
                    |c: Option<[Vec3; 2]>| c.map(|c| c.map(|v| v.to_array().map(f32::to_bits)));
                let corners = ExtentRule::Points.corners(&points, &[]);
                assert_eq!(bits(corners), bits(one_by_one(&points)), "{points:?}");
                for broken in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                    let at = count / 2;
                    let sound = std::mem::replace(&mut points[at].y, broken);
                    assert_eq!(ExtentRule::Points.corners(&points, &[]), None);
                    points[at].y = sound;
                }
            }
        }
    }
}

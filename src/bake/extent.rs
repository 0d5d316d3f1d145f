//! Extents of deformed prims, exact from their points.

use glam::Vec3;

use crate::sampled::Time;
use crate::scene::{ExtentRule, SkinBinding};

/// Corners of the bounding box of a prim's points, with what its widths add (the extent functions
/// of UsdGeomPointBased, UsdGeomPoints and UsdGeomCurves). `None` where a point is not finite.
pub(super) fn extent(points: &[Vec3], binding: &SkinBinding, time: Time) -> Option<[Vec3; 2]> {
    if points.is_empty() {
        // UsdGeomPointBased's own answer is an empty range, which a float3[2] cannot say.
        return Some([Vec3::ZERO; 2]);
    }
    let widths = match binding.extent_rule {
        ExtentRule::Points => None,
        _ => binding.widths.at(time),
    };
    let widths = widths.as_deref().map_or(&[][..], Vec::as_slice);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    if binding.extent_rule == ExtentRule::WidthPerPoint && widths.len() == points.len() {
        for (p, width) in points.iter().zip(widths) {
            low = low.min(*p - width * 0.5);
            high = high.max(*p + width * 0.5);
        }
    } else {
        for p in points {
            low = low.min(*p);
            high = high.max(*p);
        }
        let pad = widths.iter().copied().fold(0.0, f32::max) * 0.5;
        low -= pad;
        high += pad;
    }
    points.iter().all(|p| p.is_finite()).then_some([low, high])
}

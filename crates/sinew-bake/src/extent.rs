//! Extents of deformed prims, exact from their points.

use glam::Vec3;

use sinew::sampled::Time;
use sinew::scene::{ExtentRule, SkinBinding};

/// Corners of the bounding box of a prim's points, widths included. `None` where a point is not
/// finite.
pub(super) fn extent(points: &[Vec3], binding: &SkinBinding, time: Time) -> Option<[Vec3; 2]> {
    let rule = binding.extent_rule;
    let widths = match rule {
        ExtentRule::Points => None,
        _ => binding.widths.at(time),
    };
    rule.corners(points, widths.as_deref().map_or(&[][..], Vec::as_slice))
}

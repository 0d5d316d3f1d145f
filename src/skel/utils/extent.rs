//! Extents from joints, as Pixar's tools compute them for SkelRoots and Skeletons.

use glam::{DMat4, DVec3, Vec3};

use crate::error::Invalid;
use crate::sampled::Time;
use crate::skel::SkeletonInstance;

/// The bounding box of the pivots of joints, grown by `pad` on all sides
/// (UsdSkelComputeJointsExtent). It is in skeleton space, or transformed by `root`. `None` without
/// joints; Pixar returns an inverted box of the largest floats then.
#[must_use]
pub fn compute_joints_extent(
    skel_from_joint: &[DMat4],
    pad: f32,
    root: Option<DMat4>,
) -> Option<[Vec3; 2]> {
    let pivots = skel_from_joint.iter().map(|m| {
        // Rounded to f32 before and after the transform, as in Pixar's code.
        let pivot = m.w_axis.truncate().as_vec3();
        root.map_or(pivot, |root| {
            root.transform_point3(pivot.as_dvec3()).as_vec3()
        })
    });
    let (low, high) = pivots.fold(None, |range: Option<(Vec3, Vec3)>, p| {
        Some(range.map_or((p, p), |(low, high)| (low.min(p), high.max(p))))
    })?;
    Some([low - pad, high + pad])
}

/// How far the rest extent of a prim reaches beyond the joints at rest, on the side where it
/// reaches furthest; at least 0 (UsdSkelSkinningQuery::ComputeExtentsPadding).
///
/// - `skel_from_joint_at_rest`: rest transforms, from joint space to skeleton space.
/// - `extent`: the extent of the prim, in prim space.
/// - `geom_bind`: geomBindTransform. It transforms the box as a box.
#[must_use]
pub fn extents_padding(
    skel_from_joint_at_rest: &[DMat4],
    extent: [Vec3; 2],
    geom_bind: DMat4,
) -> f32 {
    let Some(joints) = compute_joints_extent(skel_from_joint_at_rest, 0.0, None) else {
        return 0.0;
    };
    let [low, high] = transformed_box(extent, geom_bind);
    let overhang = (joints[0] - low).max(high - joints[1]);
    overhang.max_element().max(0.0)
}

/// The bounding box of a transformed box. An inverted box is empty, and stays as it is.
fn transformed_box(extent: [Vec3; 2], m: DMat4) -> [Vec3; 2] {
    if extent[0].cmpgt(extent[1]).any() {
        return extent;
    }
    let origin = m.w_axis.truncate();
    let (mut low, mut high) = (origin, origin);
    let [from, to] = extent.map(|corner| corner.as_dvec3());
    for (axis, (from, to)) in [
        (m.x_axis, (from.x, to.x)),
        (m.y_axis, (from.y, to.y)),
        (m.z_axis, (from.z, to.z)),
    ] {
        let (a, b): (DVec3, DVec3) = (axis.truncate() * from, axis.truncate() * to);
        low += a.min(b);
        high += a.max(b);
    }
    [low.as_vec3(), high.as_vec3()]
}

/// The extent of a Skeleton prim at a time: the bounding box of the pivots of its joints, without
/// padding (rule 34; UsdGeomBoundable's ComputeExtentFromPlugins for Skeletons). It is in skeleton
/// space, or transformed by `transform`. `None` without joints.
///
/// # Errors
/// Rest transforms that are needed but missing (rule 9); Pixar returns an empty extent then.
pub fn skeleton_extent(
    instance: &SkeletonInstance,
    time: Time,
    transform: Option<DMat4>,
) -> Result<Option<[Vec3; 2]>, Invalid> {
    let posed = instance.skel_from_joint(time)?;
    Ok(compute_joints_extent(&posed, 0.0, transform))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_the_largest_overhang() {
        let joints = [DMat4::IDENTITY, DMat4::from_translation(DVec3::X)];
        let extent = [Vec3::new(-0.5, 0.0, -2.0), Vec3::new(1.0, 0.25, 0.0)];
        assert_eq!(extents_padding(&joints, extent, DMat4::IDENTITY), 2.0);
        let mirror = DMat4::from_scale(DVec3::new(1.0, 1.0, -1.5));
        assert_eq!(extents_padding(&joints, extent, mirror), 3.0);
        let inside = [Vec3::ZERO, Vec3::ZERO];
        assert_eq!(extents_padding(&joints, inside, DMat4::IDENTITY), 0.0);
    }

    #[test]
    fn no_joints_have_no_extent() {
        assert_eq!(compute_joints_extent(&[], 1.0, None), None);
    }
}

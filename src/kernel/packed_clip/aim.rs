//! The local transforms that put a joint where the source has it, from where its parent is.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use crate::math::Trs;

/// The local rotation of a joint that turns it to `wanted` in skeleton space, below a parent at
/// `above`. `None` if that is not near to the rotation of the source: if joints shear or hardly have
/// a size, or the quaternion of the source has no unit length.
pub(super) fn rotation(source: &Trs, wanted: &DAffine3, above: &DAffine3) -> Option<DQuat> {
    /// Largest deviation of the length of an axis from 1, and of a cosine from 0.
    const SHEAR: f64 = 1e-3;
    /// Least cosine of half of the angle to the rotation of the source.
    const NEAR: f64 = 1.0 - 1e-4;
    let is_unit = (source.rotation.length_squared() - 1.0).abs() < 1e-6;
    let local = above.matrix3.inverse() * wanted.matrix3;
    let [x, y, z] = [
        local.x_axis / source.scale.x,
        local.y_axis / source.scale.y,
        local.z_axis / source.scale.z,
    ];
    let has_length = |v: DVec3| (v.length_squared() - 1.0).abs() < SHEAR;
    let is_across = |a: DVec3, b: DVec3| a.dot(b).abs() < SHEAR;
    let is_rotation = [x, y, z].into_iter().all(has_length)
        && is_across(x, y)
        && is_across(y, z)
        && is_across(z, x)
        && x.cross(y).dot(z) > 0.0;
    if !is_unit || !is_rotation {
        return None;
    }
    let q = DQuat::from_mat3(&DMat3::from_cols(x, y, z)).normalize();
    let cosine = q.dot(source.rotation);
    // The same sign as that of the source, so that neighbouring keys have it.
    let q = if cosine < 0.0 { -q } else { q };
    (cosine.abs() > NEAR).then_some(q)
}

/// The local translation of a joint that puts it at `wanted` in skeleton space, below a parent at
/// `above`. `None` if that is far from the translation of the source, compared with its length and
/// `distance`.
pub(super) fn translation(
    source: &Trs,
    wanted: &DAffine3,
    above: &DAffine3,
    distance: f64,
) -> Option<DVec3> {
    const NEAR: f64 = 0.05;
    let at = above.inverse().transform_point3(wanted.translation);
    let far = at.distance(source.translation);
    (far <= NEAR * (source.translation.length() + distance)).then_some(at)
}

//! ufbx's vectors as glam's.

use glam::{DMat4, DQuat, DVec3, DVec4, Vec2, Vec3, Vec4};

use sinew_animate::asset::Trs;

pub fn dvec3(v: ufbx::Vec3) -> DVec3 {
    DVec3::new(v.x, v.y, v.z)
}

pub fn vec3(v: ufbx::Vec3) -> Vec3 {
    dvec3(v).as_vec3()
}

pub fn vec4(v: ufbx::Vec4) -> Vec4 {
    DVec4::new(v.x, v.y, v.z, v.w).as_vec4()
}

/// FBX has its origin at the lower left.
pub fn uv(v: ufbx::Vec2) -> Vec2 {
    Vec2::new(v.x as f32, (1.0 - v.y) as f32)
}

/// Of unit length; no rotation where there is none to be made of it.
pub fn rotation(q: ufbx::Quat) -> DQuat {
    let q = DQuat::from_xyzw(q.x, q.y, q.z, q.w).normalize();
    if q.is_finite() { q } else { DQuat::IDENTITY }
}

pub fn trs(t: &ufbx::Transform) -> Trs {
    Trs {
        translation: dvec3(t.translation),
        rotation: rotation(t.rotation),
        scale: dvec3(t.scale),
    }
}

pub fn matrix(m: &ufbx::Matrix) -> DMat4 {
    DMat4::from_cols(
        DVec4::new(m.m00, m.m10, m.m20, 0.0),
        DVec4::new(m.m01, m.m11, m.m21, 0.0),
        DVec4::new(m.m02, m.m12, m.m22, 0.0),
        DVec4::new(m.m03, m.m13, m.m23, 1.0),
    )
}

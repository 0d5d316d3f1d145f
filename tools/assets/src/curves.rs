//! The falloffs and the spline that the characters are drawn with.

use glam::Vec3;

/// Rises smoothly from 0 at `a` to 1 at `b`. If `b` is less than `a`, it falls from `b` to `a`.
pub fn smoothstep(a: f32, b: f32, x: f32) -> f32 {
    let t = ((x - a) / (b - a)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A Gaussian bell that is 1 at 0.
pub fn bell(x: f32) -> f32 {
    (-x.powi(2)).exp()
}

/// A Gaussian bell that is 1 at the origin.
pub fn bell3(v: Vec3) -> f32 {
    (-v.length_squared()).exp()
}

/// The Catmull-Rom spline through `knots`, `u` knots from the first one. Both ends continue
/// straight, so the spline reaches the first and the last knot.
pub fn catmull_rom(knots: &[Vec3], u: f32) -> Vec3 {
    let last = knots.len() - 1;
    let k = (u as usize).min(last - 1);
    let t = u - k as f32;
    let (a, b) = (knots[k], knots[k + 1]);
    let before = if k > 0 { knots[k - 1] } else { a * 2.0 - b };
    let after = if k + 2 <= last {
        knots[k + 2]
    } else {
        b * 2.0 - a
    };
    0.5 * (2.0 * a
        + (b - before) * t
        + (2.0 * before - 5.0 * a + 4.0 * b - after) * t * t
        + (3.0 * a - before - 3.0 * b + after) * t * t * t)
}

//! Two-bone inverse kinematics.

use glam::{Quat, Vec3};

/// Rotations of the two bones, which are `upper` and `lower` at rest, that reach from the first
/// one's joint to `goal`. The joint between them bends towards `pole`.
pub fn reach(upper: Vec3, lower: Vec3, goal: Vec3, pole: Vec3) -> (Quat, Quat) {
    let (a, b) = (upper.length(), lower.length());
    // Neither folded up nor stretched out altogether: there the bend flips.
    let d = goal.length().clamp(0.12, (a + b) * 0.998);
    let direction = goal.normalize();
    let along = (a * a - b * b + d * d) / (2.0 * d);
    let out = (pole - direction * pole.dot(direction)).normalize();
    let bend = direction * along + out * (a * a - along * along).max(0.0).sqrt();
    (
        Quat::from_rotation_arc(upper.normalize(), bend.normalize()),
        Quat::from_rotation_arc(lower.normalize(), (direction * d - bend).normalize()),
    )
}

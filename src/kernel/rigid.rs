//! The mirror of `shaders/skin.wgsl`'s second half for dual quaternions: residual scale and shear
//! are applied by then, and each point's rigid motions are blended (rules 25 to 27).

use glam::{Vec3, Vec4, Vec4Swizzles};

use super::influences::Records;
use super::skin::{Columns, normalized, slot, transform_point, transform_vector};

/// Shorter sums are no motion: dual quaternions below this length, as GfDualQuat::Normalize has it,
/// or below this share of the weights' sum, which rounding leaves of weights that cancel.
const SHORTEST: f32 = 1e-10;
const CANCELLED: f32 = 1e-6;

/// A record's slots and weights.
fn influences(record: &[u32], count: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
    let weights = &record[count.div_ceil(2)..];
    (0..count).map(move |k| (slot(record, k), f32::from_bits(weights[k])))
}

/// Slot of the first joint of the largest weight, whose hemisphere counts.
fn pivot(record: &[u32], count: usize) -> usize {
    let mut all = influences(record, count);
    let first = all.next().unwrap_or((0, 0.0));
    all.fold(
        first,
        |best, next| if best.1 < next.1 { next } else { best },
    )
    .0
}

/// Whether a sum of quaternions of this length says anything.
fn is_motion(length: f32, weights: f32) -> bool {
    length > SHORTEST.max(CANCELLED * weights)
}

/// `v` turned by a unit quaternion.
fn turned(real: Vec4, v: Vec3) -> Vec3 {
    let r = real.xyz();
    v + 2.0 * r.cross(r.cross(v) + v * real.w)
}

/// Moves the scaled points of a chunk, and on by `post`.
pub(super) fn move_points(
    records: Records<'_>,
    motions: &[[Vec4; 3]],
    post: &Columns,
    points: &mut [Vec3],
) {
    let count = records.count;
    let len = points.len();
    for (p, record) in points.iter_mut().zip(records.each(len)) {
        let of_pivot = motions[pivot(record, count)][0];
        let (mut real, mut dual, mut weights) = (Vec4::ZERO, Vec4::ZERO, 0.0);
        for (slot, weight) in influences(record, count) {
            let [r, d, _] = motions[slot];
            let signed = if r.dot(of_pivot) < 0.0 {
                -weight
            } else {
                weight
            };
            real += r * signed;
            dual += d * signed;
            weights += weight.abs();
        }
        let length = real.length();
        let moved = if is_motion(length, weights) {
            let (real, dual) = (real / length, dual / length);
            let (r, d) = (real.xyz(), dual.xyz());
            turned(real, *p) + 2.0 * (d * real.w - r * dual.w + r.cross(d))
        } else {
            *p
        };
        *p = transform_point(post, moved);
    }
}

/// Turns the scaled normals of a chunk, normalises them, and carries them on by `post`.
pub(super) fn turn_normals(
    records: Records<'_>,
    motions: &[[Vec4; 3]],
    post: &[Vec4],
    normals: &mut [Vec3],
) {
    let count = records.count;
    let len = normals.len();
    for (n, record) in normals.iter_mut().zip(records.each(len)) {
        let of_pivot = motions[pivot(record, count)][2];
        let (mut real, mut weights) = (Vec4::ZERO, 0.0);
        for (slot, weight) in influences(record, count) {
            let r = motions[slot][2];
            real += r * if r.dot(of_pivot) < 0.0 {
                -weight
            } else {
                weight
            };
            weights += weight.abs();
        }
        let length = real.length();
        let moved = if is_motion(length, weights) {
            turned(real / length, *n)
        } else {
            *n
        };
        *n = transform_vector(post, normalized(moved));
    }
}

//! Bounding boxes of deformed points: `shaders/bounds.wgsl`, `shaders/boxes.wgsl` and their mirror.
//!
//! A float is mapped to a key: an integer that compares as the float does. An atomic maximum of
//! keys then finds the largest float. The smallest float is the one with the largest negated key. 0
//! is below every key.

use glam::{UVec3, Vec3};

use super::layout::{gpu_struct, wgsl};
use super::registry::{POSITIONS_PER_INVOCATION, WORKGROUP_SIZE};
use super::{Access, Binding, Dispatch, Kernel};

gpu_struct! {
    /// Consecutive positions that one box encloses. Offsets count elements of the bound buffer.
    pub struct BoundsItem {
        /// Number of its first workgroup.
        first_workgroup: u32,
        /// Number of positions.
        count: u32,
        /// First float of its positions.
        positions: u32,
        /// Floats from one position to the next.
        stride: u32,
        /// First key of its box, of eight.
        keys: u32,
    }
}

/// Positions that one workgroup of [`BOUNDS`] reads.
pub const POSITIONS_PER_WORKGROUP: u32 = POSITIONS_PER_INVOCATION * WORKGROUP_SIZE;

/// The kernel that finds the keys of boxes from positions.
pub const BOUNDS: Kernel = Kernel {
    name: "bounds",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/actions",
        "bounds"
    ],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<BoundsItem>()),
        Binding::new(2, "positions", Access::Read, 4),
        Binding::new(3, "keys", Access::ReadWrite, 4),
        Binding::new(4, "state", Access::Read, 4),
    ],
    structs: &[Dispatch::LAYOUT, BoundsItem::LAYOUT],
    overrides: &[],
    numbers: &[],
};

/// The kernel that computes boxes from their keys.
pub const BOXES: Kernel = Kernel {
    name: "boxes",
    wgsl: wgsl!["common/dispatch", "boxes"],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "keys", Access::Read, 4),
        Binding::new(2, "boxes", Access::ReadWrite, 16),
    ],
    structs: &[Dispatch::LAYOUT],
    overrides: &[],
    numbers: &[],
};

/// The bounding box of points as its minimum and maximum corner, to the same bits as on the GPU.
/// Points with a NaN are ignored. An infinite point makes the box infinite. `None` if no point is
/// left.
#[must_use]
pub fn bounds_on_cpu(points: &[Vec3]) -> Option<[Vec3; 2]> {
    let (mut high, mut low) = (UVec3::ZERO, UVec3::ZERO);
    for point in points.iter().filter(|p| !p.is_nan()) {
        let key = point.to_array().map(key_of);
        high = high.max(UVec3::from_array(key));
        low = low.max(UVec3::from_array(key.map(|key| !key)));
    }
    let numbers = |keys: [u32; 3]| Vec3::from_array(keys.map(number_of));
    (high.x != 0).then(|| {
        [
            numbers(low.to_array().map(|key| !key)),
            numbers(high.to_array()),
        ]
    })
}

/// The key of a float.
fn key_of(number: f32) -> u32 {
    let bits = number.to_bits();
    bits ^ if bits >> 31 == 1 { u32::MAX } else { 1 << 31 }
}

fn number_of(key: u32) -> f32 {
    f32::from_bits(key ^ if key >> 31 == 1 { 1 << 31 } else { u32::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_numbers_do() {
        let numbers = [
            f32::NEG_INFINITY,
            f32::MIN,
            -1.5,
            -f32::MIN_POSITIVE,
            -1e-45,
            -0.0,
            0.0,
            1e-45,
            1.0,
            f32::MAX,
            f32::INFINITY,
        ];
        assert!(numbers.map(key_of).is_sorted_by(|a, b| a < b));
        for number in numbers {
            assert_eq!(number_of(key_of(number)).to_bits(), number.to_bits());
            assert!(key_of(number) > 0 && !key_of(number) > 0);
        }
    }

    #[test]
    fn nan_does_not_count_and_nothing_has_no_box() {
        assert_eq!(bounds_on_cpu(&[]), None);
        let nan = Vec3::new(9.0, f32::NAN, 9.0);
        assert_eq!(bounds_on_cpu(&[nan]), None);
        let points = [Vec3::new(1.0, -2.0, 3.0), nan, Vec3::new(0.5, 5.0, -0.0)];
        let want = [Vec3::new(0.5, -2.0, 0.0), Vec3::new(1.0, 5.0, 3.0)];
        assert_eq!(bounds_on_cpu(&points), Some(want));
    }
}

//! Splits the weights of blend shape channels among their sub-shapes (rules 13 to 16):
//! `shaders/weights.wgsl` and its mirror.

use super::PackedBlend;
use crate::kernel::layout::{gpu_struct, wgsl};
use crate::kernel::registry::WEIGHT_EPSILON;
use crate::kernel::{Access, Binding, Dispatch, Kernel};

gpu_struct! {
    /// The blend shape tables of one prim. All offsets count elements of the bound buffer.
    pub struct WeightsItem {
        /// Number of its first workgroup.
        first_workgroup: u32,
        /// Number of blend shapes.
        channel_count: u32,
        /// First word of the table of blend shapes: two words each, the first sub-shape and the
        /// number of sub-shapes.
        sub_shape_ranges: u32,
        /// First of the weights at which sub-shapes apply fully.
        positions: u32,
        /// First channel weight.
        channels: u32,
        /// First sub-shape weight, which the kernel writes.
        sub_weights: u32,
        /// The instance index.
        instance: u32,
    }
}

/// The kernel's WGSL and layout.
pub const WEIGHTS: Kernel = Kernel {
    name: "weights",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/actions",
        "weights"
    ],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<WeightsItem>()),
        Binding::new(2, "shapes", Access::Read, 4),
        Binding::new(3, "channels", Access::Read, 4),
        Binding::new(4, "sub_weights", Access::ReadWrite, 4),
        Binding::new(5, "state", Access::Read, 4),
    ],
    structs: &[Dispatch::LAYOUT, WeightsItem::LAYOUT],
    overrides: &[],
    numbers: &[],
};

/// The mirror of [`WEIGHTS`]: splits the weight of each channel among the sub-shapes of its blend
/// shape.
///
/// # Panics
/// If `channels` has fewer elements than there are blend shapes, or `out` fewer than there are
/// sub-shapes.
pub fn sub_shape_weights(blend: &PackedBlend, channels: &[f32], out: &mut [f32]) {
    for ([first, count], weight) in blend
        .sub_shape_ranges()
        .iter()
        .zip(&channels[..blend.sub_shape_ranges().len()])
    {
        let range = *first as usize..(*first + *count) as usize;
        split(&blend.positions()[range.clone()], *weight, &mut out[range]);
    }
}

fn kept(weight: f32) -> f32 {
    if weight.abs() > WEIGHT_EPSILON {
        weight
    } else {
        0.0
    }
}

fn split(positions: &[f32], weight: f32, out: &mut [f32]) {
    if let [only] = out {
        *only = kept(weight);
        return;
    }
    out.fill(0.0);
    if out.is_empty() {
        return;
    }
    let null_place = positions.iter().filter(|p| **p < 0.0).count();
    let sub_shape = |place: usize| place - usize::from(place > null_place);
    let position = |place: usize| {
        if place == null_place {
            0.0
        } else {
            positions[sub_shape(place)]
        }
    };
    let mut upper = 1;
    while upper < positions.len() && position(upper) < weight {
        upper += 1;
    }
    let lower = upper - 1;
    let alpha = (weight - position(lower)) / (position(upper) - position(lower));
    if lower != null_place {
        out[sub_shape(lower)] = kept(1.0 - alpha);
    }
    if upper != null_place {
        out[sub_shape(upper)] = kept(alpha);
    }
}

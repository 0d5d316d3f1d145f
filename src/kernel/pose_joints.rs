//! Local transforms of joints -> palette rows, `shaders/pose.wgsl` and its mirror.

use glam::{Vec3, Vec4};

use super::layout::{gpu_struct, wgsl};
use super::rig::STORED;
use super::skin::multiplied;
use super::{Access, Binding, Dispatch, Kernel, NONE, PackedRig, Palette};
use crate::math::Rows;

/// A joint's transform in its parent's space, a root's in skeleton space, as SkelAnimation has it: 40 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct JointTransform {
    pub translation: [f32; 3],
    /// (x, y, z, w).
    pub rotation: [f32; 4],
    pub scale: [f32; 3],
}

gpu_struct! {
    /// Four levels of palettes of one rig that lie one behind the other. Offsets and strides count elements of
    /// the bound buffer.
    pub struct PoseItem {
        /// Number of its first workgroup.
        first_workgroup: u32,
        /// Palettes.
        copies: u32,
        /// Slots of these levels.
        count: u32,
        /// Slots of a palette: joints plus one.
        slots: u32,
        /// First pair of their joints' local transforms, five pairs per joint.
        joints: u32,
        /// First word of the order in which these levels' slots are made.
        order: u32,
        /// First word of the joints' parents.
        parents: u32,
        /// First word of the slots' bind matrices, twelve words each.
        binds: u32,
        /// The same for normals, or NONE.
        normal_binds: u32,
        /// First row of the first palette, written; its normals follow it.
        palette: u32,
        /// Rows from one palette to the next.
        palette_stride: u32,
        /// First row of their stored matrices, three each.
        stored: u32,
        /// Rows of the stored matrices of one palette.
        stored_stride: u32,
    }
}

/// The kernel's WGSL and layout: local transforms to palettes, as [`super::palette_on_cpu`] makes them.
///
/// # Error
/// Everything is f32. With `u` = 2^-24, a joint that is the `n`-th of its chain has a matrix in skeleton space whose
/// rotation and scale are off by less than `18 n u` times the product of the chain's largest scales, and whose
/// translation is off by less than `18 n u` times the chain's reach: the sum of its lengths, each times the scales
/// above it. (A product of two matrices rounds by 3 u of their Frobenius norms, which is 5.2 u times the largest scale for a
/// rotation, and building one from its quaternion by 12 u.) The bind matrix multiplies that: a point `d` from
/// its joint at rest moves by `18 n u` times reach and `d`. A root that carries a character a kilometre away therefore costs what a
/// kilometre's last bit is worth; put that into `out_from_skel`. Random chains, trees and shears measure about a tenth
/// of this bound (`tests/posing`).
///
/// Normals go by the inverse transpose of the joint's matrix in f32, so their error grows with the ratio of its
/// largest to its smallest stretch. A joint that is scaled to nothing has no such inverse; its normals point as the
/// cofactors say, as they do in f64, but weigh differently against other joints'.
pub const POSE: Kernel = Kernel {
    name: "pose",
    wgsl: wgsl!["common/dispatch", "common/items", "common/vectors", "pose"],
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<PoseItem>() as u64),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "joints", Access::Read, 8),
        Binding::new(4, "palettes", Access::ReadWrite, 16),
        Binding::new(5, "stored", Access::ReadWrite, 16),
    ],
    structs: &[Dispatch::LAYOUT, PoseItem::LAYOUT],
    overrides: &[],
    slots: &[],
};

/// The mirror: the palette that the GPU makes of these local transforms, by the same steps in f32.
///
/// # Panics
/// Where there are not as many as the rig has joints.
#[must_use]
pub fn palette_on_cpu(rig: &PackedRig, joints: &[JointTransform]) -> Palette {
    assert_eq!(joints.len(), rig.joint_count(), "one per joint");
    let mut stored: Vec<Rows> = Vec::with_capacity(rig.stored);
    let mut all = vec![[Vec4::X, Vec4::Y, Vec4::Z]; rig.slots()];
    for word in &rig.order {
        let slot = (word & 0xffff) as usize;
        let Some(joint) = joints.get(slot) else {
            continue;
        };
        let mut m = parent_from_joint(joint);
        let mut above = rig.parents[slot];
        while above < STORED {
            m = multiplied(&parent_from_joint(&joints[above as usize]), &m);
            above = rig.parents[above as usize];
        }
        if above != NONE {
            m = multiplied(&stored[(above & !STORED) as usize], &m);
        }
        if word >> 16 > 0 {
            stored.push(m);
        }
        all[slot] = m;
    }
    let points = all.iter().zip(&rig.binds);
    let points = points.map(|(m, bind)| multiplied(m, bind)).collect();
    let normals = rig.normal_binds.as_ref().map(|binds| {
        let normals = all.iter().zip(binds);
        let normal = |(m, bind): (&Rows, &Rows)| multiplied(&normal_rows(m), bind);
        normals.map(normal).collect()
    });
    Palette::of_rows(points, normals)
}

/// `T * R * S`.
fn parent_from_joint(joint: &JointTransform) -> Rows {
    let [x, y, z, w] = joint.rotation;
    let [sx, sy, sz] = joint.scale;
    let [tx, ty, tz] = joint.translation;
    [
        Vec4::new(
            (1.0 - 2.0 * (y * y + z * z)) * sx,
            2.0 * (x * y - z * w) * sy,
            2.0 * (z * x + y * w) * sz,
            tx,
        ),
        Vec4::new(
            2.0 * (x * y + z * w) * sx,
            (1.0 - 2.0 * (z * z + x * x)) * sy,
            2.0 * (y * z - x * w) * sz,
            ty,
        ),
        Vec4::new(
            2.0 * (x * z - y * w) * sx,
            2.0 * (y * z + x * w) * sy,
            (1.0 - 2.0 * (y * y + x * x)) * sz,
            tz,
        ),
    ]
}

/// No element is larger, as in [`Palette::pack`].
const LARGEST: f32 = 1e15;

/// Inverse transpose of the 3x3 part, or its cofactors where it is singular.
fn normal_rows(m: &Rows) -> Rows {
    let [x, y, z] = m.map(Vec4::truncate);
    let largest = x.abs().max(y.abs()).max(z.abs()).max_element();
    // Not a NaN either.
    if !matches!(largest.partial_cmp(&0.0), Some(std::cmp::Ordering::Greater)) {
        return [Vec4::ZERO; 3];
    }
    let [x, y, z] = [x, y, z].map(|row| row / largest);
    let cofactors: [Vec3; 3] = [y.cross(z), z.cross(x), x.cross(y)];
    let determinant = x.dot(cofactors[0]);
    let mut factor = largest * largest;
    if determinant.abs() > 1e-37 {
        factor = 1.0 / determinant / largest;
    }
    let longest = cofactors.map(Vec3::abs);
    let longest = longest[0].max(longest[1]).max(longest[2]).max_element();
    let within = longest * factor.abs() <= LARGEST;
    if longest > 0.0 && !within {
        factor = factor.signum() * (LARGEST / longest);
    }
    cofactors.map(|row| (row * factor).extend(0.0))
}

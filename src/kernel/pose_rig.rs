//! Posing on the GPU: local transforms of joints -> palette rows, `shaders/pose_rig.wgsl` and its mirror.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Quat, Vec3, Vec4};

use super::layout::{gpu_struct, wgsl};
use super::palette::within_f32;
use super::registry::{CACHED, LARGEST_NORMAL_ELEMENT, SMALLEST_DETERMINANT};
use super::{Access, Binding, Dispatch, Kernel, NONE, Palette};
use crate::error::Invalid;
use crate::math::{self, Rows, Trs, multiplied};
use crate::skel::{Skeleton, Topology};

gpu_struct! {
    /// Four levels of palettes of one rig that lie one behind the other. Offsets and strides count elements of
    /// the bound buffer.
    pub struct PoseRigItem {
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
        /// First row of their cached matrices, three each.
        cached: u32,
        /// Rows of the cached matrices of one palette.
        cached_stride: u32,
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
pub const POSE_RIG: Kernel = Kernel {
    name: "pose_rig",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/vectors",
        "pose_rig"
    ],
    entry: "main",
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>() as u64),
        Binding::new(1, "items", Access::Read, size_of::<PoseRigItem>() as u64),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "joints", Access::Read, 8),
        Binding::new(4, "palettes", Access::ReadWrite, 16),
        Binding::new(5, "cached", Access::ReadWrite, 16),
    ],
    structs: &[Dispatch::LAYOUT, PoseRigItem::LAYOUT],
    overrides: &[],
    numbers: &[],
};

/// A joint's transform in its parent's space, a root's in skeleton space, as SkelAnimation has it: 40 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct JointTransform {
    pub translation: [f32; 3],
    /// (x, y, z, w).
    pub rotation: [f32; 4],
    pub scale: [f32; 3],
}

impl JointTransform {
    /// No motion.
    pub const IDENTITY: Self = Self::new(Vec3::ZERO, Quat::IDENTITY, Vec3::ONE);

    /// `scale`, then `rotation`, then `translation`. A rotation that is not of unit length goes through the same formula
    /// as one that is (rule 12).
    #[must_use]
    pub const fn new(translation: Vec3, rotation: Quat, scale: Vec3) -> Self {
        Self {
            translation: translation.to_array(),
            rotation: rotation.to_array(),
            scale: scale.to_array(),
        }
    }

    /// The components of a local transform, such as one of restTransforms; `None` where three scales do not hold it, for
    /// it has shear, or is flattened to less than a plane.
    #[must_use]
    pub fn from_matrix(parent_from_joint: &DMat4) -> Option<Self> {
        let apart = Trs::from_matrix(parent_from_joint);
        let linear = DMat3::from_mat4(*parent_from_joint);
        let largest = linear
            .to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, x| a.max(x.abs()));
        let again = DMat3::from_mat4(apart.matrix());
        // A few steps of f32, which everything is rounded to next.
        again
            .abs_diff_eq(linear, 1e-6 * largest)
            .then(|| apart.into())
    }

    /// The same as a matrix in f64.
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        let [x, y, z, w] = self.rotation.map(f64::from);
        math::make_transform(
            DVec3::from_array(self.translation.map(f64::from)),
            DQuat::from_xyzw(x, y, z, w),
            DVec3::from_array(self.scale.map(f64::from)),
        )
    }

    fn is_finite(&self) -> bool {
        let numbers: &[f32; 10] = bytemuck::cast_ref(self);
        numbers.iter().all(|x| x.is_finite())
    }
}

impl From<Trs> for JointTransform {
    fn from(apart: Trs) -> Self {
        let (translation, rotation) = (apart.translation.as_vec3(), apart.rotation.as_quat());
        Self::new(translation, rotation, apart.scale.as_vec3())
    }
}

/// A [`Skeleton`] and a geomBindTransform as [`super::POSE_RIG`] reads them: each joint's parent, and inverse bind
/// transform times geomBindTransform, multiplied in f64 and rounded once.
///
/// Prims of a skeleton with the same geomBindTransform share one. For linear blend skinning alone: dual quaternions take
/// joints apart by a polar decomposition in f64, so their poses are packed on the CPU ([`super::PackedPose`]).
#[derive(Clone, Debug, PartialEq)]
pub struct PackedRig {
    path: String,
    /// Every slot: level by level in groups, each group in the skeleton's order, and the last slot in the first group.
    /// The slot in the low half, and in the high half one more than its joint's number among the cached ones.
    order: Vec<u32>,
    /// End of each group in the order.
    ends: Vec<u32>,
    /// A joint of the same group; the number of a cached one and [`CACHED`]; or [`NONE`] for a root.
    parents: Vec<u32>,
    /// Joints that children in the next group begin at.
    cached: usize,
    /// One per slot: a joint's, or geomBindTransform alone in the last.
    binds: Vec<Rows>,
    normal_binds: Option<Vec<Rows>>,
    levels: usize,
}

/// Levels of one dispatch. Climbing a level costs a joint 40 bytes from a cache, and a dispatch costs all of them a
/// wait for the one before.
const LEVELS_OF_A_GROUP: usize = 4;

impl PackedRig {
    /// Most joints from a root to a leaf: every four levels are a dispatch.
    pub const MAX_LEVELS: usize = 1024;

    /// Most joints: influences name slots by 16 bits.
    pub const MAX_JOINTS: usize = 0xffff;

    /// - `geom_bind`: geomBindTransform.
    /// - `with_normals`: also what carries normals (rule 23).
    ///
    /// # Errors
    /// A skeleton without valid bind transforms (rule 10), one that is deeper than [`PackedRig::MAX_LEVELS`], a
    /// geomBindTransform that is not finite.
    pub fn pack(
        skeleton: &Skeleton,
        geom_bind: DMat4,
        with_normals: bool,
    ) -> Result<Self, Invalid> {
        let wrong = |property: &str, expected: String, found: String| {
            Err(Invalid::new(skeleton.path(), property, expected, found))
        };
        let inverse_bind = skeleton.inverse_bind()?;
        let levels = skeleton.topology().depth();
        let joints = skeleton.joints().len();
        if joints > Self::MAX_JOINTS {
            let expected = format!("at most {} joints", Self::MAX_JOINTS);
            return wrong("joints", expected, joints.to_string());
        }
        if levels > Self::MAX_LEVELS {
            let expected = format!("at most {} levels to pose on the GPU", Self::MAX_LEVELS);
            return wrong("joints", expected, levels.to_string());
        }
        if !math::is_finite(&geom_bind) {
            let found = geom_bind.to_string();
            return wrong("geomBindTransform", "a finite matrix".into(), found);
        }
        let bind = DAffine3::from_mat4(geom_bind);
        let slots = || inverse_bind.iter().chain(std::iter::once(&DMat4::IDENTITY));
        let point = |m: &DMat4| math::rows(DMat4::from(DAffine3::from_mat4(*m) * bind));
        let bind_normal = math::normal_matrix(geom_bind);
        let normal = |m: &DMat4| math::rows3(within_f32(math::normal_matrix(*m) * bind_normal));
        let hierarchy = Hierarchy::new(skeleton.topology());
        Ok(Self {
            path: skeleton.path().into(),
            order: hierarchy.order,
            ends: hierarchy.ends,
            parents: hierarchy.parents,
            cached: hierarchy.cached as usize,
            binds: slots().map(point).collect(),
            normal_binds: with_normals.then(|| slots().map(normal).collect()),
            levels,
        })
    }

    /// Path of the skeleton.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Joints of the skeleton.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.parents.len()
    }

    /// Palette slots: joints plus one.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.binds.len()
    }

    /// Whether it has what carries normals.
    #[must_use]
    pub fn has_normals(&self) -> bool {
        self.normal_binds.is_some()
    }

    /// Joints from a root to the deepest leaf.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Ends of the groups of levels in the order of slots; each group is a dispatch.
    #[cfg(feature = "gpu")]
    pub(crate) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Every slot, as `shaders/pose_rig.wgsl` reads it.
    #[cfg(feature = "gpu")]
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// Each joint's parent, likewise.
    #[cfg(feature = "gpu")]
    pub(crate) fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// Bind matrix of each slot.
    #[cfg(feature = "gpu")]
    pub(crate) fn binds(&self) -> &[Rows] {
        &self.binds
    }

    /// What carries normals, of each slot.
    #[cfg(feature = "gpu")]
    pub(crate) fn normal_binds(&self) -> Option<&[Rows]> {
        self.normal_binds.as_deref()
    }

    /// Matrices that later groups begin at.
    #[cfg(feature = "gpu")]
    pub(crate) fn cached(&self) -> usize {
        self.cached
    }

    /// Blocks of three vec4s of its palette.
    #[cfg(feature = "gpu")]
    pub(crate) fn blocks(&self) -> usize {
        self.slots() * if self.has_normals() { 2 } else { 1 }
    }

    /// Whether geomBindTransform mirrors.
    #[cfg(feature = "gpu")]
    pub(crate) fn mirrors(&self) -> bool {
        self.binds.last().is_some_and(math::mirrors)
    }

    /// Whether these are local transforms for it.
    ///
    /// # Errors
    /// Another number than there are joints, or one that is not finite.
    pub fn check(&self, joints: &[JointTransform]) -> Result<(), Invalid> {
        let wrong =
            |expected: String, found: String| Err(Invalid::new(&self.path, "", expected, found));
        if joints.len() != self.joint_count() {
            let expected = format!("{} local transforms, one per joint", self.joint_count());
            return wrong(expected, joints.len().to_string());
        }
        match joints.iter().position(|joint| !joint.is_finite()) {
            Some(i) => wrong(
                "finite local transforms".into(),
                format!("{:?} for joint {i}", joints[i]),
            ),
            None => Ok(()),
        }
    }
}

/// A hierarchy cut into groups of levels.
struct Hierarchy {
    order: Vec<u32>,
    ends: Vec<u32>,
    parents: Vec<u32>,
    cached: u32,
}

impl Hierarchy {
    fn new(topology: &Topology) -> Self {
        let mut groups: Vec<usize> = Vec::with_capacity(topology.len());
        let mut levels: Vec<usize> = Vec::with_capacity(topology.len());
        for parent in topology.parents() {
            let level = parent.map_or(0, |p| levels[p] + 1);
            levels.push(level);
            groups.push(level / LEVELS_OF_A_GROUP);
        }
        let mut has_later_children = vec![false; topology.len()];
        for (joint, parent) in topology.parents().enumerate() {
            if let Some(parent) = parent.filter(|p| groups[*p] != groups[joint]) {
                has_later_children[parent] = true;
            }
        }
        let count = groups.iter().max().map_or(1, |last| last + 1);
        let mut of_group: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (joint, group) in groups.iter().enumerate() {
            of_group[*group].push(joint);
        }
        of_group[0].push(topology.len());

        let mut out = Self {
            order: Vec::with_capacity(topology.len() + 1),
            ends: Vec::with_capacity(count),
            parents: vec![NONE; topology.len()],
            cached: 0,
        };
        let mut number = vec![0; topology.len()];
        for slots in of_group {
            for slot in slots {
                let mut word = slot as u32;
                if has_later_children.get(slot) == Some(&true) {
                    number[slot] = out.cached;
                    out.cached += 1;
                    word |= out.cached << 16;
                }
                out.order.push(word);
            }
            out.ends.push(out.order.len() as u32);
        }
        for (joint, parent) in topology.parents().enumerate() {
            if let Some(parent) = parent {
                out.parents[joint] = match groups[parent] == groups[joint] {
                    true => parent as u32,
                    false => number[parent] | CACHED,
                };
            }
        }
        out
    }
}

/// The mirror: the palette that the GPU makes of these local transforms, by the same steps in f32.
///
/// # Panics
/// Where there are not as many as the rig has joints.
#[must_use]
pub fn palette_on_cpu(rig: &PackedRig, joints: &[JointTransform]) -> Palette {
    assert_eq!(joints.len(), rig.joint_count(), "one per joint");
    let mut cached: Vec<Rows> = Vec::with_capacity(rig.cached);
    let mut all = vec![[Vec4::X, Vec4::Y, Vec4::Z]; rig.slots()];
    for word in &rig.order {
        let slot = (word & 0xffff) as usize;
        let Some(joint) = joints.get(slot) else {
            continue;
        };
        let mut m = parent_from_joint(joint);
        let mut above = rig.parents[slot];
        while above < CACHED {
            m = multiplied(&parent_from_joint(&joints[above as usize]), &m);
            above = rig.parents[above as usize];
        }
        if above != NONE {
            m = multiplied(&cached[(above & !CACHED) as usize], &m);
        }
        if word >> 16 > 0 {
            cached.push(m);
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
    if determinant.abs() > SMALLEST_DETERMINANT {
        factor = 1.0 / determinant / largest;
    }
    let longest = cofactors.map(Vec3::abs);
    let longest = longest[0].max(longest[1]).max(longest[2]).max_element();
    let within = longest * factor.abs() <= LARGEST_NORMAL_ELEMENT;
    if longest > 0.0 && !within {
        factor = factor.signum() * (LARGEST_NORMAL_ELEMENT / longest);
    }
    cofactors.map(|row| (row * factor).extend(0.0))
}

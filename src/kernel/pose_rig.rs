//! Posing on the GPU: computes palettes from the local transforms of joints.
//! `shaders/pose_rig.wgsl` and its mirror.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Quat, Vec3, Vec4};

use super::layout::{gpu_struct, wgsl};
use super::palette::{RigidMotions, within_f32};
use super::registry::{
    CACHED, LARGEST_NORMAL_ELEMENT, SMALLEST_DETERMINANT, SMALLEST_SCALE, pose_bits,
};
use super::rigid_motion::{linear_of, rows_of, split_joint, split_normals, within_range};
use super::{Access, Binding, Dispatch, Kernel, NONE, Palette};
use crate::error::Invalid;
use crate::math::{self, Rows, Trs, multiplied};
use crate::skel::{Skeleton, SkinningMethod, Topology};

gpu_struct! {
    /// Four levels of the hierarchy of a rig, for all consecutive palettes of that rig. Offsets and
    /// strides count elements of the bound buffer.
    pub struct PoseRigItem {
        /// Number of its first workgroup, or of its first invocation if items share workgroups.
        first_workgroup: u32,
        /// Number of palettes.
        copies: u32,
        /// Number of joints in these levels.
        count: u32,
        /// Matrices of a palette: joints plus one.
        entry_count: u32,
        /// First pair of the local transforms of the joints; five pairs per joint.
        joints: u32,
        /// First word of the order in which the joints of these levels are computed.
        order: u32,
        /// First word of the parents of the joints.
        parents: u32,
        /// First word of the bind matrices, twelve words each.
        binds: u32,
        /// First word of the bind matrices for normals, or [`NONE`].
        normal_binds: u32,
        /// First row of the first palette, which the kernel writes. Within a palette, matrices for
        /// normals follow those for points.
        palette: u32,
        /// Rows from one palette to the next.
        palette_stride: u32,
        /// First row of the cached matrices, three rows each.
        cached: u32,
        /// Rows of the cached matrices of one palette.
        cached_stride: u32,
        /// Row of a palette where its rigid motions begin, if it is for dual quaternions.
        motions: u32,
        /// First word of the place of each palette index among the attachments, or [`NONE`].
        attachments: u32,
        /// Row of a palette where the matrices of its attachments begin.
        attached: u32,
    }
}

/// The kernel that computes palettes from local transforms. [`palette_on_cpu`] is its mirror.
///
/// # Error
/// Everything is f32. Let `u` be 2^-24, and `n` the place of a joint in its chain, counted from the
/// root. Then the error of the joint's matrix in skeleton space is below
///
/// - `18 n u` times the product of the largest scales of the chain, for rotation and scale;
/// - `18 n u` times the reach of the chain, for the translation. The reach is the sum of the
///   lengths of the chain, each times the scales above it.
///
/// (A product of two matrices rounds by 3 u of their Frobenius norms, which is 5.2 u times the
/// largest scale for a rotation. Building a matrix from a quaternion rounds by 12 u.) The bind
/// matrix multiplies the error: a point at rest distance `d` from its joint moves by up to `18 n u`
/// times the sum of the reach and `d`. A root that is a kilometre away therefore costs the last
/// bits of a kilometre: put such a distance into `out_from_skel`. Random chains, trees and shears
/// measure about a tenth of this bound (`crates/sinew-verify/src/posing`).
///
/// Normals use the inverse transpose of the joint's matrix in f32, so their error grows with the
/// ratio of its largest to its smallest stretch. A joint that is scaled to nothing has no inverse.
/// Its normals then have the direction of the cofactors, as in f64, but another weight against
/// those of other joints.
pub const POSE_RIG: Kernel = Kernel {
    name: "pose_rig",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/vectors",
        "common/rigid_motion",
        "pose_rig"
    ],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<PoseRigItem>()),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "joints", Access::Read, 8),
        Binding::new(4, "palettes", Access::ReadWrite, 16),
        Binding::new(5, "cached", Access::ReadWrite, 16),
    ],
    structs: &[Dispatch::LAYOUT, PoseRigItem::LAYOUT],
    overrides: pose_bits::NAMES,
    numbers: &[],
};

/// The transform of a joint in the space of its parent (for a root, in skeleton space), in 40 bytes
/// and with the components of a SkelAnimation.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct JointTransform {
    pub translation: [f32; 3],
    /// Quaternion (x, y, z, w).
    pub rotation: [f32; 4],
    pub scale: [f32; 3],
}

impl JointTransform {
    /// The identity transform.
    pub const IDENTITY: Self = Self::new(Vec3::ZERO, Quat::IDENTITY, Vec3::ONE);

    /// Creates a transform that scales, then rotates, then translates. The same formula is used for
    /// a quaternion that does not have unit length (rule 12).
    #[must_use]
    pub const fn new(translation: Vec3, rotation: Quat, scale: Vec3) -> Self {
        Self {
            translation: translation.to_array(),
            rotation: rotation.to_array(),
            scale: scale.to_array(),
        }
    }

    /// Decomposes a local transform, such as one of restTransforms. `None` if it has shear, or if
    /// it flattens space to less than a plane: then translation, rotation and scale cannot express
    /// it.
    #[must_use]
    pub fn from_matrix(parent_from_joint: &DMat4) -> Option<Self> {
        let apart = Trs::from_matrix(parent_from_joint);
        let linear = DMat3::from_mat4(*parent_from_joint);
        let largest = linear
            .to_cols_array()
            .into_iter()
            .fold(0.0, |a: f64, x| a.max(x.abs()));
        let again = DMat3::from_mat4(apart.matrix());
        // The composed matrix may differ by a few steps of f32, to which everything is rounded
        // next.
        again
            .abs_diff_eq(linear, 1e-6 * largest)
            .then(|| apart.into())
    }

    /// The same transform as a matrix from the joint's space to its parent's, in f64.
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

/// A [`Skeleton`] and a geomBindTransform as [`POSE_RIG`] reads them: the parent of each joint, and
/// its inverse bind transform times geomBindTransform, multiplied in f64 and rounded once.
///
/// Prims of one skeleton that have the same geomBindTransform and skinning method can share a rig.
///
/// For dual quaternion skinning ([`PackedRig::pack_for`]) the kernel splits each joint into a
/// rotation and a residual scale and shear, in f32. Whether the residuals are left out is decided
/// point by point then: if no joint of the point has any. In f64 it is decided for the whole prim
/// (rule 25). That differs only for a point whose weights do not sum to 1 and whose joints have no
/// scale, while another joint of the prim has.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedRig {
    path: String,
    pub(crate) hierarchy: Hierarchy,
    /// A bind matrix per joint, and geomBindTransform alone for joints that the skeleton lacks. For
    /// dual quaternions: the inverse bind transform of each joint, the identity, and then
    /// geomBindTransform, because the kernel splits the matrix between the two.
    pub(crate) binds: Vec<Rows>,
    /// The same for normals. For dual quaternions that of geomBindTransform alone.
    pub(crate) normal_binds: Option<Vec<Rows>>,
    method: SkinningMethod,
    /// The joints whose matrices the kernel writes after each palette.
    attachments: Vec<u32>,
    levels: usize,
}

/// Number of levels in a group, which is what one dispatch computes. More levels cost each joint 40
/// bytes per level, mostly from a cache. More dispatches each cost a wait for the one before.
const LEVELS_OF_A_GROUP: usize = 4;

impl PackedRig {
    /// Largest number of joints from a root to a leaf. Every four levels need a dispatch.
    pub const MAX_LEVELS: usize = 1024;

    /// Largest number of joints. Influences have palette indices of 16 bits.
    pub const MAX_JOINTS: usize = 0xffff;

    /// Packs a skeleton for linear blend skinning.
    ///
    /// - `geom_bind`: geomBindTransform.
    /// - `with_normals`: also pack the matrices that normals need (rule 23).
    ///
    /// # Errors
    /// A skeleton without valid bind transforms (rule 10), or one that is deeper than
    /// [`PackedRig::MAX_LEVELS`] or has more joints than [`PackedRig::MAX_JOINTS`]; a
    /// geomBindTransform that is not finite.
    pub fn pack(
        skeleton: &Skeleton,
        geom_bind: DMat4,
        with_normals: bool,
    ) -> Result<Self, Invalid> {
        let method = SkinningMethod::ClassicLinear;
        Self::pack_for(method, skeleton, geom_bind, with_normals)
    }

    /// As [`PackedRig::pack`], for the skinning method of the prims that move with the rig.
    ///
    /// ```
    /// use glam::{DMat4, DVec3};
    /// use sinew::kernel::PackedRig;
    /// use sinew::skel::{Skeleton, SkinningMethod};
    ///
    /// let bind = vec![DMat4::IDENTITY, DMat4::from_translation(DVec3::Y)];
    /// let names = vec!["hips".to_owned(), "hips/hand".to_owned()];
    /// let skeleton = Skeleton::from_parents("/Skel", names, &[None, Some(0)], bind, None)?;
    /// let method = SkinningMethod::DualQuaternion;
    /// let rig = PackedRig::pack_for(method, &skeleton, DMat4::IDENTITY, false)?;
    /// // The hand holds a sword: its matrix is kept, too.
    /// let rig = rig.with_attachments(&[1])?;
    /// assert_eq!((rig.method(), rig.attachments()), (method, &[1][..]));
    /// # Ok::<(), sinew::error::Invalid>(())
    /// ```
    ///
    /// # Errors
    /// As [`PackedRig::pack`].
    pub fn pack_for(
        method: SkinningMethod,
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
        let bind_matrices = || inverse_bind.iter().chain(std::iter::once(&DMat4::IDENTITY));
        let point = |m: &DMat4| math::rows(DMat4::from(DAffine3::from_mat4(*m) * bind));
        let bind_normal = math::normal_matrix(geom_bind);
        let normal = |m: &DMat4| math::rows3(within_f32(math::normal_matrix(*m) * bind_normal));
        let (binds, normal_binds) = match method.has_rigid_motions() {
            false => (
                bind_matrices().map(point).collect(),
                with_normals.then(|| bind_matrices().map(normal).collect()),
            ),
            true => (
                bind_matrices()
                    .chain(std::iter::once(&geom_bind))
                    .map(|m| math::rows(DMat4::from(DAffine3::from_mat4(*m))))
                    .collect(),
                with_normals.then(|| vec![math::rows3(within_f32(bind_normal))]),
            ),
        };
        Ok(Self {
            path: skeleton.path().into(),
            hierarchy: Hierarchy::new(skeleton.topology()),
            binds,
            normal_binds,
            method,
            attachments: Vec::new(),
            levels,
        })
    }

    /// Also keeps the matrices of some joints on the GPU, for things that are attached to them. The
    /// matrix of a joint goes from the joint's space to skeleton space.
    ///
    /// # Errors
    /// A joint that the skeleton lacks, or the same joint twice.
    pub fn with_attachments(mut self, joints: &[usize]) -> Result<Self, Invalid> {
        let mut attachments = Vec::with_capacity(joints.len());
        for joint in joints {
            // Every index of a joint fits 16 bits.
            let index = *joint as u32;
            let found = match *joint < self.joint_count() {
                true if !attachments.contains(&index) => {
                    attachments.push(index);
                    continue;
                }
                true => format!("{joint} twice"),
                false => joint.to_string(),
            };
            let expected = format!("different joints below {}", self.joint_count());
            return Err(Invalid::new(&self.path, "attachments", expected, found));
        }
        self.attachments = attachments;
        Ok(self)
    }

    /// The joints whose matrices are kept, in the order in which they were asked for.
    #[must_use]
    pub fn attachments(&self) -> &[u32] {
        &self.attachments
    }

    /// The skinning method that it was packed for.
    #[must_use]
    pub fn method(&self) -> SkinningMethod {
        self.method
    }

    /// Path of the skeleton.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Number of joints of the skeleton.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.hierarchy.parents.len()
    }

    /// Number of matrices of its palette: joints plus one.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.joint_count() + 1
    }

    /// Whether it was packed with the matrices that normals need.
    #[must_use]
    pub fn has_normals(&self) -> bool {
        self.normal_binds.is_some()
    }

    /// Whether a joint has no parent.
    ///
    /// # Panics
    /// If there is no such joint.
    #[must_use]
    pub fn is_root(&self, joint: usize) -> bool {
        self.hierarchy.parents[joint] == NONE
    }

    /// Number of joints from a root to the deepest leaf.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }

    /// Number of blocks of three vec4s that its palette takes: matrices for points, for normals,
    /// rigid motions, attachments.
    #[cfg(feature = "gpu")]
    pub(crate) fn blocks(&self) -> usize {
        let kinds = 1 + usize::from(self.has_normals()) + usize::from(self.has_motions());
        self.entry_count() * kinds + self.attachments.len()
    }

    fn has_motions(&self) -> bool {
        self.method.has_rigid_motions()
    }

    /// Row of a palette where its rigid motions begin; `None` for linear blend skinning.
    #[cfg(feature = "gpu")]
    pub(crate) fn motion_row(&self) -> Option<u32> {
        let before = self.entry_count() * (1 + usize::from(self.has_normals()));
        self.has_motions().then_some(before as u32 * 3)
    }

    /// Row of a palette where the matrices of its attachments begin.
    #[cfg(feature = "gpu")]
    pub(crate) fn attached_row(&self) -> u32 {
        (self.blocks() - self.attachments.len()) as u32 * 3
    }

    /// The place of each palette index among the attachments, or [`NONE`]; empty without any.
    #[cfg(feature = "gpu")]
    pub(crate) fn attachment_places(&self) -> Vec<u32> {
        if self.attachments.is_empty() {
            return Vec::new();
        }
        let mut out = vec![NONE; self.entry_count()];
        for (place, joint) in (0..).zip(&self.attachments) {
            out[*joint as usize] = place;
        }
        out
    }

    /// Whether geomBindTransform mirrors the mesh.
    #[cfg(feature = "gpu")]
    pub(crate) fn mirrors(&self) -> bool {
        self.binds.last().is_some_and(math::mirrors)
    }

    /// Checks local transforms against the rig.
    ///
    /// # Errors
    /// Another number of transforms than joints, or a transform that is not finite.
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

/// The joints of a skeleton, split into groups of levels, as `shaders/pose_rig.wgsl` reads them. One
/// dispatch computes one group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hierarchy {
    /// All palette indices in the order in which they are computed: group by group, and within a
    /// group in the order of the skeleton. The index of joints that the skeleton lacks is in the
    /// first group. The low half of a word is the index. The high half is 0, or one more than the
    /// number of the joint's cached matrix.
    pub order: Vec<u32>,
    /// End of each group in the order.
    pub ends: Vec<u32>,
    /// The parent of each joint: a joint of the same group; or the number of a cached matrix with
    /// the bit [`CACHED`]; or [`NONE`] for a root.
    pub parents: Vec<u32>,
    /// Number of cached matrices: those of joints that have children in a later group.
    pub cached: u32,
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
        for joints in of_group {
            for index in joints {
                let mut word = index as u32;
                if has_later_children.get(index) == Some(&true) {
                    number[index] = out.cached;
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

/// The mirror of [`POSE_RIG`]: computes the palette of these local transforms by the same steps in
/// f32.
///
/// # Errors
/// Another number of transforms than joints.
pub fn palette_on_cpu(rig: &PackedRig, joints: &[JointTransform]) -> Result<Palette, Invalid> {
    let all = joint_rows(rig, joints)?;
    if rig.has_motions() {
        return Ok(rigid_palette(rig, &all));
    }
    let points = all.iter().zip(&rig.binds);
    let points = points.map(|(m, bind)| multiplied(m, bind)).collect();
    let normals = rig.normal_binds.as_ref().map(|binds| {
        let normals = all.iter().zip(binds);
        let normal = |(m, bind): (&Rows, &Rows)| multiplied(&normal_rows(m), bind);
        normals.map(normal).collect()
    });
    Ok(Palette {
        points,
        normals: normals.into(),
        rigid: None,
    })
}

/// The mirror of what [`POSE_RIG`] writes for attachments: the matrix of each joint of
/// [`PackedRig::attachments`], from the joint's space to skeleton space.
///
/// # Errors
/// Another number of transforms than joints.
pub fn attachments_on_cpu(
    rig: &PackedRig,
    joints: &[JointTransform],
) -> Result<Vec<Rows>, Invalid> {
    let all = joint_rows(rig, joints)?;
    let of = |joint: &u32| all[*joint as usize];
    Ok(rig.attachments.iter().map(of).collect())
}

/// The matrix of each palette index, from the joint's space to skeleton space.
fn joint_rows(rig: &PackedRig, joints: &[JointTransform]) -> Result<Vec<Rows>, Invalid> {
    let count = rig.joint_count();
    if joints.len() != count {
        let expected = format!("{count} transforms, one per joint");
        let found = joints.len().to_string();
        return Err(Invalid::new(&rig.path, "joints", expected, found));
    }
    let (hierarchy, mut cached) = (&rig.hierarchy, Vec::<Rows>::new());
    let mut all = vec![[Vec4::X, Vec4::Y, Vec4::Z]; rig.entry_count()];
    for word in &hierarchy.order {
        let index = (word & 0xffff) as usize;
        let Some(joint) = joints.get(index) else {
            continue;
        };
        let mut m = parent_from_joint(joint);
        let mut above = hierarchy.parents[index];
        while above < CACHED {
            m = multiplied(&parent_from_joint(&joints[above as usize]), &m);
            above = hierarchy.parents[above as usize];
        }
        if above != NONE {
            m = multiplied(&cached[(above & !CACHED) as usize], &m);
        }
        if word >> 16 > 0 {
            cached.push(m);
        }
        all[index] = m;
    }
    Ok(all)
}

/// The palette of these joints for dual quaternion skinning.
fn rigid_palette(rig: &PackedRig, all: &[Rows]) -> Palette {
    let entries = rig.entry_count();
    let (mut points, mut motions) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let mut normals = rig
        .normal_binds
        .as_ref()
        .map(|_| Vec::with_capacity(entries));
    for (m, bind) in all.iter().zip(&rig.binds) {
        let skinning = multiplied(m, bind);
        let linear = linear_of(&skinning);
        let translation = Vec3::from_array(skinning.map(|row| row.w));
        let joint = split_joint(linear, translation);
        points.push(multiplied(&rows_of(joint.residual), &rig.binds[entries]));
        let mut turn = Vec4::ZERO;
        if let (Some(normals), Some(binds)) = (&mut normals, &rig.normal_binds) {
            let split = split_normals(linear);
            turn = split.turn;
            normals.push(within_range(multiplied(
                &rows_of(split.residual),
                &binds[0],
            )));
        }
        motions.push([joint.real, joint.dual, turn]);
    }
    let scales = |palette: &[Rows], bind: &Rows| -> Vec<bool> {
        let [largest, _] = apart(bind, bind);
        let is_scale = |m: &Rows| apart(m, bind)[1] > SMALLEST_SCALE * largest;
        palette.iter().map(is_scale).collect()
    };
    let scales_points = scales(&points, &rig.binds[entries]);
    let binds = rig.normal_binds.as_ref();
    let scales_normals = match (&normals, binds) {
        (Some(normals), Some(binds)) => scales(normals, &binds[0]),
        _ => Vec::new(),
    };
    let scales = [scales_points, scales_normals];
    Palette {
        points,
        normals: normals.into(),
        rigid: Some(RigidMotions { motions, scales }),
    }
}

/// The largest element of a matrix, and the largest difference from another one.
fn apart(m: &Rows, other: &Rows) -> [f32; 2] {
    let largest = |rows: Rows| {
        rows.map(|row| row.abs().max_element())
            .into_iter()
            .fold(0.0, f32::max)
    };
    [largest(*other), largest([0, 1, 2].map(|i| m[i] - other[i]))]
}

/// The matrix of a local transform: `T * R * S`.
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

/// The inverse transpose of the 3x3 part, or its cofactors if it is singular.
fn normal_rows(m: &Rows) -> Rows {
    let [x, y, z] = m.map(Vec4::truncate);
    let largest = x.abs().max(y.abs()).max(z.abs()).max_element();
    // The comparison is false for NaN, too.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(joints: u32) -> Skeleton {
        let names = (0..joints).map(|i| format!("joint{i}")).collect();
        let parents: Vec<Option<u32>> = (0..joints).map(|i| i.checked_sub(1)).collect();
        let bind = vec![DMat4::IDENTITY; joints as usize];
        Skeleton::from_parents("/Rig", names, &parents, bind, None).expect("valid")
    }

    #[test]
    fn rigs_that_cannot_be_posed_are_refused() {
        let most = PackedRig::MAX_LEVELS as u32;
        assert!(PackedRig::pack(&chain(most), DMat4::IDENTITY, true).is_ok());
        for (joints, geom_bind, words) in [
            (most + 1, DMat4::IDENTITY, "at most 1024 levels"),
            (2, DMat4::IDENTITY * f64::INFINITY, "geomBindTransform"),
        ] {
            let refused = PackedRig::pack(&chain(joints), geom_bind, true);
            let error = refused.expect_err("refused").to_string();
            assert!(error.contains(words), "{error} names {words}");
        }
    }
}

//! What posing on the GPU needs to know of a skeleton, packed once, and a joint's local transform.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Quat, Vec3};

use super::palette::within_f32;
use super::{JointTransform, NONE};
use crate::error::Invalid;
use crate::math::{self, Rows, Trs};
use crate::skel::{Skeleton, Topology};

/// A [`Skeleton`] and a geomBindTransform as [`super::POSE`] reads them: each joint's parent, and inverse bind
/// transform times geomBindTransform, multiplied in f64 and rounded once.
///
/// Prims of a skeleton with the same geomBindTransform share one. For linear blend skinning alone: dual quaternions take
/// joints apart by a polar decomposition in f64, so their poses are packed on the CPU ([`super::PackedPose`]).
#[derive(Clone, Debug, PartialEq)]
pub struct PackedRig {
    path: String,
    /// Every slot: level by level in groups, each group in the skeleton's order, and the last slot in the first group.
    /// The slot in the low half, and in the high half one more than its joint's number among the stored ones.
    pub(super) order: Vec<u32>,
    /// End of each group in the order.
    ends: Vec<u32>,
    /// A joint of the same group; the number of a stored one and [`STORED`]; or [`NONE`] for a root.
    pub(super) parents: Vec<u32>,
    /// Joints that children in the next group begin at.
    pub(super) stored: usize,
    /// One per slot: a joint's, or geomBindTransform alone in the last.
    pub(super) binds: Vec<Rows>,
    pub(super) normal_binds: Option<Vec<Rows>>,
    levels: usize,
}

/// A parent whose matrix an earlier group left.
pub(super) const STORED: u32 = 1 << 31;

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
            stored: hierarchy.stored as usize,
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

    /// Every slot, as `shaders/pose.wgsl` reads it.
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
    pub(crate) fn stored(&self) -> usize {
        self.stored
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
    stored: u32,
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
            stored: 0,
        };
        let mut number = vec![0; topology.len()];
        for slots in of_group {
            for slot in slots {
                let mut word = slot as u32;
                if has_later_children.get(slot) == Some(&true) {
                    number[slot] = out.stored;
                    out.stored += 1;
                    word |= out.stored << 16;
                }
                out.order.push(word);
            }
            out.ends.push(out.order.len() as u32);
        }
        for (joint, parent) in topology.parents().enumerate() {
            if let Some(parent) = parent {
                out.parents[joint] = match groups[parent] == groups[joint] {
                    true => parent as u32,
                    false => number[parent] | STORED,
                };
            }
        }
        out
    }
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

//! Matrix palettes: the matrices that points and normals are skinned by.

use glam::{DAffine3, DMat3, DMat4, Vec4};

use super::registry::LARGEST_NORMAL_ELEMENT;
use crate::math::polar_decomposition::{is_scale, split_joint, split_normal_matrix};
use crate::math::{self, Rows};
use crate::skel::SkinningMethod;

/// The matrices of a skeleton in one pose: a 3x4 matrix per joint, and one more for joints that the
/// skeleton lacks.
///
/// For linear blend skinning, a matrix is the skinning transform times geomBindTransform,
/// multiplied in f64 and rounded once. It takes a point from prim space to skeleton space. For dual
/// quaternion skinning, the matrix is the residual scale and shear of the joint times
/// geomBindTransform, and the rigid motion of the joint stands beside it (`RigidMotions`).
///
/// A palette depends on the skeleton instance, the time, geomBindTransform and the method. Prims
/// that have these in common can share one palette. On the GPU, `Crowd::add_palette` uploads it
/// once for all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Palette {
    pub(super) points: Vec<Rows>,
    pub(super) normals: Option<Vec<Rows>>,
    pub(super) rigid: Option<RigidMotions>,
}

/// The rigid motions of joints, for dual quaternion skinning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigidMotions {
    pub(super) motions: Vec<[Vec4; 3]>,
    /// Whether the residual of each joint is more than rounding, for points and for normals.
    pub(super) scales: [Vec<bool>; 2],
}

impl RigidMotions {
    /// Three quaternions per joint, each as (x, y, z, w): the rotation of points, half their
    /// translation times that rotation, and the rotation of normals (zero in a palette without
    /// normals).
    #[must_use]
    pub fn motions(&self) -> &[[Vec4; 3]] {
        &self.motions
    }
}

impl Palette {
    /// Computes the palette of one pose.
    ///
    /// - `method`: the skinning method of the palette's prims.
    /// - `skinning`: skinning transforms in skeleton space, one per joint of the skeleton.
    /// - `geom_bind`: geomBindTransform.
    /// - `with_normals`: whether to compute the matrices that transform normals too (rule 23).
    #[must_use]
    pub fn pack(
        method: SkinningMethod,
        skinning: &[DMat4],
        geom_bind: DMat4,
        with_normals: bool,
    ) -> Self {
        let mut out = Self::default();
        out.fill(method, skinning, geom_bind, with_normals);
        out
    }

    /// As [`Palette::pack`], into the buffers of this palette.
    pub(super) fn fill(
        &mut self,
        method: SkinningMethod,
        skinning: &[DMat4],
        geom_bind: DMat4,
        with_normals: bool,
    ) {
        let Self {
            points,
            normals,
            rigid,
        } = self;
        // The last entry is for joints that the skeleton lacks: geomBindTransform alone.
        let entries = skinning.len() + 1;
        points.resize(entries, Rows::default());
        let of_normals = match with_normals {
            true => {
                let normals = normals.get_or_insert_default();
                normals.resize(entries, Rows::default());
                &mut normals[..]
            }
            false => {
                *normals = None;
                &mut []
            }
        };
        if !method.has_rigid_motions() {
            *rigid = None;
            linear(skinning, geom_bind, points, of_normals);
            return;
        }
        let bind = DAffine3::from_mat4(geom_bind);
        let bind_normal = math::normal_matrix(geom_bind);
        let rigid = rigid.get_or_insert_default();
        rigid.motions.clear();
        rigid.scales.iter_mut().for_each(Vec::clear);
        let joints = skinning.iter().chain(std::iter::once(&DMat4::IDENTITY));
        for (index, joint) in joints.enumerate() {
            let (motion, residual) = split_joint(*joint);
            points[index] = math::rows(DMat4::from(DAffine3::from_mat3(residual) * bind));
            rigid.scales[0].push(is_scale(residual));
            let mut turn = Vec4::ZERO;
            if with_normals {
                let (real, residual) = split_normal_matrix(*joint);
                of_normals[index] = math::rows3(within_f32(residual * bind_normal));
                rigid.scales[1].push(is_scale(residual));
                turn = real.as_vec4();
            }
            let (real, dual) = (motion.real.as_vec4(), motion.dual.as_vec4());
            rigid.motions.push([real, dual, turn]);
        }
    }

    /// The method that the palette was packed for.
    #[must_use]
    pub fn method(&self) -> SkinningMethod {
        match self.rigid {
            Some(_) => SkinningMethod::DualQuaternion,
            None => SkinningMethod::ClassicLinear,
        }
    }

    /// Number of matrices: joints of the skeleton plus one.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.points.len()
    }

    /// Rows of the matrices for points.
    #[must_use]
    pub fn points(&self) -> &[Rows] {
        &self.points
    }

    /// Rows of the matrices for normals. The fourth column is zero.
    #[must_use]
    pub fn normals(&self) -> Option<&[Rows]> {
        self.normals.as_deref()
    }

    /// Rigid motions, for dual quaternion skinning.
    #[must_use]
    pub fn rigid(&self) -> Option<&RigidMotions> {
        self.rigid.as_ref()
    }

    /// Number of blocks of three vec4s that it takes on the GPU.
    #[cfg(feature = "gpu")]
    pub(crate) fn blocks(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }

    /// Those blocks, one part after the other: points, normals, motions.
    #[cfg(feature = "gpu")]
    pub(crate) fn parts(&self) -> [&[Rows]; 3] {
        [
            &self.points,
            self.normals.as_deref().unwrap_or_default(),
            self.rigid.as_ref().map_or(&[], |rigid| &rigid.motions),
        ]
    }

    /// Whether joints have scale or shear, for points and for normals (rule 25). If any joint in
    /// `indices` has, the residuals of all joints are applied. If none has, the weights of the
    /// linear part are not used either.
    pub(super) fn scales(&self, indices: &OwnIndices) -> [bool; 2] {
        let Some(rigid) = &self.rigid else {
            return [true; 2];
        };
        let any = |scales: &Vec<bool>| match indices {
            OwnIndices::All => scales.iter().any(|s| *s),
            OwnIndices::Some(indices) => indices
                .iter()
                .any(|s| scales.get(*s as usize).is_some_and(|s| *s)),
        };
        rigid.scales.each_ref().map(any)
    }
}

/// The joints that a prim uses, as palette indices.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnIndices {
    /// The skeleton's order.
    All,
    Some(Vec<u32>),
}

/// Fills a palette for linear blend skinning. `normals` is empty if they are not wanted.
fn linear(skinning: &[DMat4], geom_bind: DMat4, points: &mut [Rows], normals: &mut [Rows]) {
    #[cfg(target_arch = "x86_64")]
    if super::cpu::Avx2Fma::detect().is_some() {
        // SAFETY: the machine has AVX2.
        unsafe { linear_wide(skinning, geom_bind, points, normals) };
        return;
    }
    linear_joints(skinning, geom_bind, points, normals);
}

/// The same operations, four lanes at a time. It uses no FMA, so the bits are the same as on other
/// machines.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn linear_wide(skinning: &[DMat4], geom_bind: DMat4, points: &mut [Rows], normals: &mut [Rows]) {
    linear_joints(skinning, geom_bind, points, normals);
}

#[inline(always)]
fn linear_joints(skinning: &[DMat4], geom_bind: DMat4, points: &mut [Rows], normals: &mut [Rows]) {
    // Everything is affine, as in usd-core's TransformAffine: a fourth row has no effect.
    let bind = DAffine3::from_mat4(geom_bind);
    let bind_normal = math::normal_matrix(geom_bind);
    let joints = || skinning.iter().chain(std::iter::once(&DMat4::IDENTITY));
    // The geomBindTransform of most meshes is the identity.
    let is_bound_elsewhere = geom_bind != DMat4::IDENTITY;
    for (to, joint) in points.iter_mut().zip(joints()) {
        *to = match is_bound_elsewhere {
            true => math::rows(DMat4::from(DAffine3::from_mat4(*joint) * bind)),
            false => math::rows(*joint),
        };
    }
    for (to, joint) in normals.iter_mut().zip(joints()) {
        let normal = math::normal_matrix(*joint);
        *to = math::rows3(within_f32(match is_bound_elsewhere {
            true => normal * bind_normal,
            false => normal,
        }));
    }
}

/// Scales a matrix down so that f32 can hold it.
///
/// The inverse of a joint that is scaled almost to nothing is too large for f32, and infinity times
/// a weight of zero would be NaN. At 1e15 such a joint still outweighs every ordinary one by more
/// than the digits of f32.
#[inline]
pub(super) fn within_f32(m: DMat3) -> DMat3 {
    const LARGEST: f64 = 1e15;
    const _: () = assert!(LARGEST as f32 == LARGEST_NORMAL_ELEMENT);
    let largest = m.to_cols_array().iter().fold(0.0f64, |a, x| a.max(x.abs()));
    if largest > LARGEST {
        m * (LARGEST / largest)
    } else {
        m
    }
}

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
    pub(super) normals: Normals,
    pub(super) rigid: Option<RigidMotions>,
}

/// The matrices that normals are skinned by.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Normals {
    /// The palette was packed without.
    #[default]
    None,
    /// Those of points: nothing has scale or shear, so that each is its own inverse transpose.
    OfPoints,
    Own(Vec<Rows>),
}

impl From<Option<Vec<Rows>>> for Normals {
    fn from(own: Option<Vec<Rows>>) -> Self {
        own.map_or(Self::None, Self::Own)
    }
}

/// How far the products of a rigid matrix's columns may be from those of a rotation: 16 roundings of
/// f32, of 6e-8 each. Normals turn by at most as much.
const RIGID: f64 = 1e-6;

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
        let has_motions = method.has_rigid_motions();
        if !with_normals {
            *normals = Normals::None;
        } else if !has_motions && are_rigid(skinning, geom_bind) {
            *normals = Normals::OfPoints;
        } else if !matches!(normals, Normals::Own(_)) {
            *normals = Normals::Own(Vec::new());
        }
        let of_normals = match normals {
            Normals::Own(own) => {
                own.resize(entries, Rows::default());
                &mut own[..]
            }
            _ => &mut [],
        };
        if !has_motions {
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

    /// Rows of the matrices for normals, which do not use the fourth column. They are those of
    /// points if neither the joints nor geomBindTransform have scale or shear.
    #[must_use]
    pub fn normals(&self) -> Option<&[Rows]> {
        match &self.normals {
            Normals::None => None,
            Normals::OfPoints => Some(&self.points),
            Normals::Own(own) => Some(own),
        }
    }

    /// Whether the matrices of points are those of normals too.
    pub(crate) fn turns_normals_as_points(&self) -> bool {
        self.normals == Normals::OfPoints
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

    /// Those blocks, one part after the other: points, normals that have matrices of their own,
    /// motions.
    #[cfg(feature = "gpu")]
    pub(crate) fn parts(&self) -> [&[Rows]; 3] {
        let normals = match &self.normals {
            Normals::Own(own) => &own[..],
            _ => &[],
        };
        [
            &self.points,
            normals,
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

/// Whether geomBindTransform and all joints only turn, mirror and move. Matrices that were made of
/// rotations in f32 differ from exact ones by a few roundings, so [`RIGID`] allows for these.
fn are_rigid(skinning: &[DMat4], geom_bind: DMat4) -> bool {
    let is_rigid = |m: &DMat4| {
        let DMat3 {
            x_axis: x,
            y_axis: y,
            z_axis: z,
        } = DMat3::from_mat4(*m);
        let off = |dot: f64, want: f64| (dot - want).abs() <= RIGID;
        let of_unit_length = off(x.dot(x), 1.0) && off(y.dot(y), 1.0) && off(z.dot(z), 1.0);
        of_unit_length && off(x.dot(y), 0.0) && off(y.dot(z), 0.0) && off(z.dot(x), 0.0)
    };
    is_rigid(&geom_bind) && skinning.iter().all(is_rigid)
}

/// Fills a palette for linear blend skinning. `normals` is empty if they need none of their own.
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

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::*;

    fn normals_of(joint: DMat4, bind: DMat4, method: SkinningMethod) -> Normals {
        Palette::pack(method, &[DMat4::IDENTITY, joint], bind, true).normals
    }

    /// Only what turns, mirrors and moves turns normals by the matrices of points.
    #[test]
    fn rigid_palettes_need_no_normals_of_their_own() {
        let linear = SkinningMethod::ClassicLinear;
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 1.3);
        let rigid = DMat4::from_rotation_translation(turn, DVec3::new(5.0, -7.0, 900.0));
        let mirrored = DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0)) * rigid;
        let rounded = rigid.as_mat4().as_dmat4();
        for joint in [DMat4::IDENTITY, rigid, mirrored, rounded] {
            for bind in [DMat4::IDENTITY, rigid] {
                assert_eq!(normals_of(joint, bind, linear), Normals::OfPoints);
                let palette = Palette::pack(linear, &[joint], bind, true);
                let normal = math::normal_matrix(joint) * math::normal_matrix(bind);
                let pairs = palette.normals().expect("packed with")[0].into_iter();
                for (found, want) in pairs.zip(math::rows3(normal)) {
                    assert!((found - want).truncate().abs().max_element() < 2e-6);
                }
            }
        }
        let small = DMat4::from_scale(DVec3::splat(1.0 - 1e-6));
        let shear = DMat4::from_cols_array(&[
            1.0, 0.0, 0.0, 0.0, 2e-6, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0,
        ]);
        for other in [small, shear, DMat4::ZERO] {
            for (joint, bind) in [(rigid * other, rigid), (rigid, other)] {
                assert!(matches!(normals_of(joint, bind, linear), Normals::Own(_)));
            }
        }
        let dual = normals_of(rigid, rigid, SkinningMethod::DualQuaternion);
        assert!(matches!(dual, Normals::Own(_)));
    }

    /// A palette that is filled again has the numbers of a new one.
    #[test]
    fn palettes_that_begin_to_scale_and_stop() {
        let linear = SkinningMethod::ClassicLinear;
        let mut reused = Palette::default();
        for scale in [1.0, 2.0, 3.0, 1.0, 2.0] {
            let joints = [DMat4::from_scale(DVec3::splat(scale)); 3];
            reused.fill(linear, &joints, DMat4::IDENTITY, true);
            assert!(reused == Palette::pack(linear, &joints, DMat4::IDENTITY, true));
        }
        reused.fill(linear, &[DMat4::IDENTITY], DMat4::IDENTITY, false);
        assert!(reused.normals().is_none());
    }
}

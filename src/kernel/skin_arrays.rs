//! Skins plain arrays on the CPU, as UsdSkelSkinPointsLBS and its siblings do.
//!
//! Nothing is packed ahead: each chunk of points encodes its influences, runs the loops of
//! [`skin_on_cpu`](super::skin_on_cpu) and forgets them. Results have the same bits as those of a
//! [`PackedSkin`](super::PackedSkin) of the same arrays. Pack a skin where one mesh is skinned many
//! times.

use std::sync::{Mutex, PoisonError};

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::Palette;
use super::dual_quaternion::{move_points, turn_normals};
use super::influences::{Records, record_words};
use super::linear_blend::{Columns, Joint, columns, normalize, skin_normals, skin_points};
use super::palette::OwnIndices;
use super::parallel::each;
use super::skin_on_cpu::check_length;
use crate::error::Invalid;

/// Number of values per task.
const CHUNK: usize = super::blend_shapes::BLOCK;

/// The influences of points as plain arrays.
#[derive(Clone, Copy, Debug)]
pub struct ArrayInfluences<'a> {
    /// Joint indices: `count` for each point, or `count` in all if they are constant.
    pub joints: &'a [i32],
    /// One weight per joint index, used as it is (rule 21).
    pub weights: &'a [f32],
    /// Influences per point, at least 1.
    pub count: usize,
    /// Whether one set of influences moves all points (rule 28).
    pub constant: bool,
}

const UNCHANGED: Columns = [Vec4::X, Vec4::Y, Vec4::Z, Vec4::W];

/// Skins points: from prim space to skeleton space, by the palette's method. `name` is for messages.
///
/// # Errors
/// Array sizes that do not fit; a joint index that the palette lacks, also at weight zero (rule
/// 22); an `out` that is not as long as `rest`. After an error the content of `out` is not
/// specified.
pub fn skin_points_of_arrays(
    name: &str,
    influences: ArrayInfluences<'_>,
    palette: &Palette,
    rest: &[Vec3],
    out: &mut [Vec3],
) -> Result<(), Invalid> {
    influences.check(name, rest.len())?;
    check_length(name, "output points", rest.len(), out.len())?;
    let matrices: Vec<Joint> = palette
        .points()
        .iter()
        .map(columns)
        .map(Joint::new)
        .collect();
    let bind = matrices
        .last()
        .filter(|_| !palette.scales(&OwnIndices::All)[0])
        .map(|m| &m.0);
    let skin = |records: Records<'_>, rest: &[Vec3], out: &mut [Vec3]| match palette.rigid() {
        None => skin_points(records, &matrices, Joint::ZERO, rest, out),
        Some(rigid) => {
            let scale = |out: &mut [Vec3]| skin_points(records, &matrices, Joint::ZERO, rest, out);
            let motions = rigid.motions();
            move_points(records, motions, bind, &UNCHANGED, rest, out, scale);
        }
    };
    let joints = palette.entry_count().saturating_sub(1);
    influences.each_chunk(name, joints, rest, out, skin)
}

/// Skins normals: from prim space to skeleton space, by the palette's method, with unit length.
/// `name` is for messages.
///
/// # Errors
/// As [`skin_points_of_arrays`]; a palette that was packed without normals.
pub fn skin_normals_of_arrays(
    name: &str,
    influences: ArrayInfluences<'_>,
    palette: &Palette,
    rest: &[Vec3],
    out: &mut [Vec3],
) -> Result<(), Invalid> {
    influences.check(name, rest.len())?;
    check_length(name, "output normals", rest.len(), out.len())?;
    let Some(normals) = palette.normals() else {
        let expected = "a palette with normal matrices";
        return Err(Invalid::new(name, "normals", expected, "none"));
    };
    let matrices: Vec<Joint> = normals.iter().map(columns).map(Joint::new).collect();
    let bind = matrices
        .last()
        .filter(|_| !palette.scales(&OwnIndices::All)[1])
        .map(|m| &m.0);
    let skin = |records: Records<'_>, rest: &[Vec3], out: &mut [Vec3]| match palette.rigid() {
        None => {
            skin_normals(records, &matrices, rest, out);
            normalize(out);
        }
        Some(rigid) => {
            let scale = |out: &mut [Vec3]| skin_normals(records, &matrices, rest, out);
            let motions = rigid.motions();
            turn_normals(records, motions, bind, &UNCHANGED, rest, out, scale);
        }
    };
    let joints = palette.entry_count().saturating_sub(1);
    influences.each_chunk(name, joints, rest, out, skin)
}

/// Adds the offsets of one shape, times `weight`, to points (UsdSkelApplyBlendShape). `indices` are
/// the points that the offsets belong to; `None` for all points in order. `name` is for messages.
///
/// # Errors
/// Another number of offsets than of indices, or than of points without indices; an index out of
/// range. Then no point is changed.
pub fn add_blend_shape(
    name: &str,
    weight: f32,
    offsets: &[Vec3],
    indices: Option<&[i32]>,
    points: &mut [Vec3],
) -> Result<(), Invalid> {
    let expected = indices.map_or(points.len(), <[i32]>::len);
    check_length(name, "offsets", expected, offsets.len())?;
    let Some(indices) = indices else {
        let (points, offsets) = (points.par_chunks_mut(CHUNK), offsets.par_chunks(CHUNK));
        points.zip(offsets).for_each(|(points, offsets)| {
            for (point, offset) in points.iter_mut().zip(offsets) {
                *point += *offset * weight;
            }
        });
        return Ok(());
    };
    if let Some(at) = indices.iter().position(|i| out_of_range(*i, points.len())) {
        let expected = format!("indices of points, below {}", points.len());
        let found = format!("{} at {at}", indices[at]);
        return Err(Invalid::new(name, "point_indices", expected, found));
    }
    for (index, offset) in indices.iter().zip(offsets) {
        points[*index as usize] += *offset * weight;
    }
    Ok(())
}

fn out_of_range(index: i32, count: usize) -> bool {
    usize::try_from(index).map_or(true, |index| index >= count)
}

impl ArrayInfluences<'_> {
    fn check(&self, name: &str, points: usize) -> Result<(), Invalid> {
        if self.count == 0 {
            let expected = "at least 1 influence per point";
            return Err(Invalid::new(name, "joint_indices", expected, "none"));
        }
        let records = if self.constant { 1 } else { points };
        let (expected, joints) = (records * self.count, self.joints.len());
        check_length(name, "joint_indices", expected, joints)?;
        check_length(name, "joint_weights", joints, self.weights.len())
    }

    /// Encodes the influences of `points` records from `first` on.
    fn encode(
        &self,
        name: &str,
        joints: usize,
        (first, points): (usize, usize),
        words: &mut Vec<u32>,
    ) -> Result<(), Invalid> {
        words.clear();
        let range = first * self.count..(first + points) * self.count;
        let rows = self.joints[range.clone()].chunks_exact(self.count);
        let mut bad = false;
        for (row, weights) in rows.zip(self.weights[range.clone()].chunks_exact(self.count)) {
            for joint in row {
                bad |= out_of_range(*joint, joints);
            }
            words.extend(row.chunks(2).map(|pair| {
                (pair[0] as u32 & 0xffff) | pair.get(1).map_or(0, |j| (*j as u32) << 16)
            }));
            words.extend(weights.iter().map(|w| w.to_bits()));
        }
        if !bad {
            return Ok(());
        }
        let at = range
            .into_iter()
            .find(|i| out_of_range(self.joints[*i], joints));
        let at = at.unwrap_or_default();
        let found = format!("{} at influence {at}", self.joints[at]);
        let expected = format!("joint indices from 0 to below {joints}");
        Err(Invalid::new(name, "joint_indices", expected, found))
    }

    /// Skins all values, chunk by chunk, in parallel. Of several errors it is the one of the first chunk.
    fn each_chunk(
        &self,
        name: &str,
        joints: usize,
        rest: &[Vec3],
        out: &mut [Vec3],
        skin: impl Fn(Records<'_>, &[Vec3], &mut [Vec3]) + Sync,
    ) -> Result<(), Invalid> {
        let constant = self.constant;
        let mut shared = Vec::new();
        if constant {
            self.encode(name, joints, (0, 1), &mut shared)?;
        }
        let words = record_words(self.count);
        let first_error: Mutex<Option<(usize, Invalid)>> = Mutex::new(None);
        let chunks = out.chunks_mut(CHUNK).zip(rest.chunks(CHUNK)).enumerate();
        each(chunks, |(i, (out, rest))| {
            let mut own = Vec::new();
            let encoded = match constant {
                true => Ok(()),
                false => {
                    own.reserve_exact(words * rest.len());
                    self.encode(name, joints, (i * CHUNK, rest.len()), &mut own)
                }
            };
            if let Err(error) = encoded {
                let mut first = first_error.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(chunk, _)| i < *chunk) {
                    *first = Some((i, error));
                }
                return;
            }
            let words = if constant { &shared } else { &own };
            let count = self.count;
            skin(
                Records {
                    words,
                    count,
                    constant,
                    order: &[],
                    single: &[],
                },
                rest,
                out,
            );
        });
        let first = first_error
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        first.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, DVec3};

    use super::*;
    use crate::kernel::{PackedPose, PackedSkin, skin_on_cpu};
    use crate::skel::{Pose, Skeleton, SkinBuilder, SkinningMethod};

    const POINTS: usize = 3 * CHUNK + 5;

    fn joints() -> Vec<DMat4> {
        (0..6)
            .map(|j| {
                let angle = 0.3 * f64::from(j) - 0.7;
                DMat4::from_translation(DVec3::new(angle, 1.0, -0.5))
                    * DMat4::from_rotation_y(angle)
                    * DMat4::from_scale(DVec3::splat(1.0 + 0.1 * f64::from(j)))
            })
            .collect()
    }

    fn arrays(count: usize) -> (Vec<Vec3>, Vec<i32>, Vec<f32>) {
        let value = |i: usize, k: usize| ((i * 7 + k * 13) % 101) as f32 / 101.0;
        let rest = (0..POINTS).map(|i| Vec3::new(value(i, 1), value(i, 2), value(i, 3)));
        let influences = (0..POINTS * count).map(|i| ((i * 5 + i / 7) % 6, value(i, 4)));
        let (joints, weights): (Vec<_>, Vec<_>) = influences.unzip();
        (
            rest.collect(),
            joints.iter().map(|j| *j as i32).collect(),
            weights,
        )
    }

    #[test]
    fn the_bits_are_those_of_a_packed_skin() {
        let skinning = joints();
        let bind = DMat4::from_translation(DVec3::new(0.1, 0.2, 0.3));
        let names = (0..6).map(|j| format!("j{j}")).collect();
        let parents = [None; 6];
        let still = vec![DMat4::IDENTITY; 6];
        let skeleton = Skeleton::from_parents("S", names, &parents, still, None).unwrap();
        for count in [1, 4, 5, 14] {
            let (rest, joints, weights) = arrays(count);
            for method in [
                SkinningMethod::ClassicLinear,
                SkinningMethod::DualQuaternion,
            ] {
                let unsigned: Vec<u32> = joints.iter().map(|j| *j as u32).collect();
                let skin = SkinBuilder::new("m", rest.clone())
                    .normals(rest.clone())
                    .influences(count, &unsigned, &weights)
                    .method(method)
                    .build(&skeleton)
                    .unwrap();
                let packed = PackedSkin::pack("m", &skin).unwrap();
                let pose = Pose::from_skel_space(&skeleton, &skinning).unwrap();
                let pose = PackedPose::pack(&packed, &pose.with_geom_bind(bind)).unwrap();
                let mut want = [vec![Vec3::ZERO; POINTS], vec![Vec3::ZERO; POINTS]];
                let [points, normals] = &mut want;
                skin_on_cpu(&packed, &pose, points, Some(normals)).unwrap();

                let palette = Palette::pack(method, &skinning, bind, true);
                let influences = ArrayInfluences {
                    joints: &joints,
                    weights: &weights,
                    count,
                    constant: false,
                };
                let mut out = [vec![Vec3::ZERO; POINTS], vec![Vec3::ZERO; POINTS]];
                let [points, normals] = &mut out;
                skin_points_of_arrays("m", influences, &palette, &rest, points).unwrap();
                skin_normals_of_arrays("m", influences, &palette, &rest, normals).unwrap();
                assert!(out == want, "{count} influences, {method:?}");
            }
        }
    }

    #[test]
    fn a_joint_that_is_not_there_is_an_error() {
        let (rest, mut joints, weights) = arrays(2);
        let palette = Palette::pack(
            SkinningMethod::ClassicLinear,
            &self::joints(),
            DMat4::IDENTITY,
            false,
        );
        let mut out = vec![Vec3::ZERO; POINTS];
        for bad in [6, -1, i32::MAX] {
            joints[2 * CHUNK + 9] = bad;
            let influences = ArrayInfluences {
                joints: &joints,
                weights: &weights,
                count: 2,
                constant: false,
            };
            let error = skin_points_of_arrays("m", influences, &palette, &rest, &mut out);
            let error = error.unwrap_err();
            let at = 2 * CHUNK + 9;
            assert_eq!(error.found, format!("{bad} at influence {at}"));
        }
    }

    #[test]
    fn offsets_are_added_once_each() {
        let mut points = vec![Vec3::ZERO; 3];
        let offsets = [Vec3::X, Vec3::Y];
        add_blend_shape("m", 0.5, &offsets, Some(&[2, 0]), &mut points).unwrap();
        assert_eq!(points, [Vec3::Y * 0.5, Vec3::ZERO, Vec3::X * 0.5]);
        let before = points.clone();
        assert!(add_blend_shape("m", 0.5, &offsets, Some(&[2, 3]), &mut points).is_err());
        assert!(add_blend_shape("m", 0.5, &offsets, None, &mut points).is_err());
        assert_eq!(points, before);
    }
}

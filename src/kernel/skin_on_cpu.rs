//! The CPU backend: the kernels' mirrors over chunks of points, in parallel.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::skin::{Active, Columns, blend_chunk, columns, product, skin_normals, skin_points};
use super::{PackedPose, PackedSkin};
use crate::math::Rows;

/// Points per task: small enough to stay in the first cache, large enough not to feel the task.
const CHUNK: usize = 1024;

/// One prim at one time, for [`skin_batch_on_cpu`].
#[derive(Debug)]
pub struct CpuJob<'a> {
    pub skin: &'a PackedSkin,
    pub pose: &'a PackedPose,
    /// As many as the skin's points.
    pub points: &'a mut [Vec3],
    /// As many as the skin's points, for a skin with normals; `None` leaves normals alone.
    pub normals: Option<&'a mut [Vec3]>,
}

/// Deforms one prim: blends, skins and leaves skeleton space (rules 13 to 23). Every element of the
/// outputs is written. They are in the space of the pose's `out_from_skel`, or in prim space for a
/// prim that only blends.
///
/// # Panics
/// Where an output is not as long as the skin's points, normals are asked of a skin without any,
/// or the pose was packed for another skin.
pub fn skin_on_cpu(
    skin: &PackedSkin,
    pose: &PackedPose,
    points: &mut [Vec3],
    normals: Option<&mut [Vec3]>,
) {
    assert_eq!(
        points.len(),
        skin.point_count(),
        "{}: output points",
        skin.prim()
    );
    if let Some(normals) = &normals {
        assert_eq!(
            normals.len(),
            skin.point_count(),
            "{}: output normals",
            skin.prim()
        );
        assert!(
            skin.normals().is_some(),
            "{}: normals of a skin without any",
            skin.prim()
        );
    }
    if let Err(reason) = pose.fits(skin) {
        panic!("{}: {reason}", skin.prim());
    }
    let plan = Plan::new(skin, pose, normals.is_some());
    let chunks = points.par_chunks_mut(CHUNK).enumerate();
    match normals {
        Some(normals) => chunks
            .zip(normals.par_chunks_mut(CHUNK))
            .for_each(|((i, points), normals)| plan.run(i * CHUNK, points, Some(normals))),
        None => chunks.for_each(|(i, points)| plan.run(i * CHUNK, points, None)),
    }
}

/// Deforms many prims, or one prim at many times, in parallel over all of them.
///
/// # Panics
/// As [`skin_on_cpu`].
pub fn skin_batch_on_cpu(jobs: &mut [CpuJob<'_>]) {
    jobs.par_iter_mut()
        .for_each(|job| skin_on_cpu(job.skin, job.pose, job.points, job.normals.as_deref_mut()));
}

/// What all chunks of one prim share.
struct Plan<'a> {
    skin: &'a PackedSkin,
    /// `None` where there is nothing to blend.
    active: Option<Active>,
    /// Palette with the way out of skeleton space multiplied in, but for its translation.
    points: Vec<Columns>,
    translation: Columns,
    normals: Vec<[Vec4; 3]>,
    post_normal: Option<Columns>,
}

impl<'a> Plan<'a> {
    fn new(skin: &'a PackedSkin, pose: &'a PackedPose, with_normals: bool) -> Self {
        // Where a shape has normal offsets, normals are normalised, active or not (rule 19).
        let active = skin
            .blend()
            .map(|blend| Active::new(blend, pose.channel_weights()))
            .filter(|active| with_normals || !active.is_empty());
        let post = columns(pose.post());
        // Weights need not sum to 1, so the translation out of skeleton space cannot go through
        // them: it is what each point's sum begins with.
        let outward = [post[0], post[1], post[2], Vec4::ZERO];
        let is_identity =
            |m: &Rows| columns(m) == columns(&crate::math::rows(glam::DMat4::IDENTITY));
        let stays = is_identity(pose.post());
        let palette = pose.palette();
        let points = palette.map_or(&[][..], |p| p.points()).iter().map(|m| {
            let m = columns(m);
            if stays { m } else { product(&outward, &m) }
        });
        let normals = palette
            .and_then(|p| p.normals())
            .filter(|_| with_normals)
            .unwrap_or(&[]);
        Self {
            skin,
            active,
            points: points.collect(),
            translation: [
                Vec4::ZERO,
                Vec4::ZERO,
                Vec4::ZERO,
                post[3].truncate().extend(0.0),
            ],
            normals: normals
                .iter()
                .map(columns)
                .map(|[x, y, z, _]| [x, y, z])
                .collect(),
            post_normal: (!is_identity(pose.post_normal())).then(|| columns(pose.post_normal())),
        }
    }

    /// Deforms the chunk that starts at point `first`.
    fn run(&self, first: usize, points: &mut [Vec3], mut normals: Option<&mut [Vec3]>) {
        let range = first..first + points.len();
        let rest = &self.skin.points[range.clone()];
        let rest_normals = self.skin.normals.as_ref().map_or(&[][..], |n| &n[range]);
        let influences = self.skin.influences().filter(|_| !self.points.is_empty());
        let blend = self.skin.blend().zip(self.active.as_ref());

        let Some(influences) = influences else {
            points.copy_from_slice(rest);
            if let Some(normals) = normals.as_deref_mut() {
                normals.copy_from_slice(rest_normals);
            }
            if let Some((blend, active)) = blend {
                blend_chunk(blend, active, first, points, normals);
            }
            return;
        };
        let (mut points_buffer, mut normals_buffer) = ([Vec3::ZERO; CHUNK], [Vec3::ZERO; CHUNK]);
        let (rest, rest_normals) = match blend {
            Some((blend, active)) => {
                let blended = &mut points_buffer[..points.len()];
                blended.copy_from_slice(rest);
                let blended_normals =
                    &mut normals_buffer[..normals.as_ref().map_or(0, |n| n.len())];
                blended_normals.copy_from_slice(&rest_normals[..blended_normals.len()]);
                let wanted = normals.is_some().then_some(&mut *blended_normals);
                blend_chunk(blend, active, first, blended, wanted);
                (&*blended, &*blended_normals)
            }
            None => (rest, rest_normals),
        };
        skin_points(
            influences,
            &self.points,
            self.translation,
            first,
            rest,
            points,
        );
        if let Some(normals) = normals {
            skin_normals(
                influences,
                &self.normals,
                self.post_normal.as_ref(),
                first,
                rest_normals,
                normals,
            );
        }
    }
}

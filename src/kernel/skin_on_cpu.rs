//! The CPU backend: runs the mirrors of the kernels over chunks of points, in parallel.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::blend_shapes::Active;
use super::dual_quaternion::{move_points, turn_normals};
use super::influences::{CHUNK, Records};
use super::linear_blend::{
    Columns, Joint, SHARED, SharedPoints, columns, normalize, product, skin_normals, skin_points,
    skin_points_and_normals, transform_vector,
};
use super::parallel::each;
use super::{PackedInfluences, PackedPose, PackedSkin};
use crate::error::Invalid;
use crate::math::Rows;
use crate::mesh::RenderVertices;

/// One prim to skin in one pose, and where its results go; for [`skin_batch_on_cpu`].
#[derive(Debug)]
pub struct CpuJob<'a> {
    /// The skin.
    pub skin: &'a PackedSkin,
    /// A pose of this skin.
    pub pose: &'a PackedPose,
    /// Positions. The length is [`PackedSkin::output_count`].
    pub points: &'a mut [Vec3],
    /// Normals. The length is [`PackedSkin::output_normal_count`]. `None` computes none.
    pub normals: Option<&'a mut [Vec3]>,
    /// Tangents: one per render vertex of a skin that has tangents. `None` computes none.
    pub tangents: Option<&'a mut [Vec4]>,
}

impl<'a> CpuJob<'a> {
    /// A job that computes positions only.
    pub fn new(skin: &'a PackedSkin, pose: &'a PackedPose, points: &'a mut [Vec3]) -> Self {
        Self {
            skin,
            pose,
            points,
            normals: None,
            tangents: None,
        }
    }

    /// Runs the job; see [`skin_on_cpu`].
    ///
    /// # Errors
    /// As [`skin_on_cpu`]; tangents of a skin without any, or of another number.
    pub fn run(&mut self) -> Result<(), Invalid> {
        let skin = self.skin;
        check_length(
            skin.prim(),
            "output points",
            skin.output_count(),
            self.points.len(),
        )?;
        if let Some(normals) = &self.normals {
            if !skin.has_output_normals() {
                let expected = "a skin with normals";
                return Err(Invalid::new(skin.prim(), "normals", expected, "none"));
            }
            let count = skin.output_normal_count();
            check_length(skin.prim(), "output normals", count, normals.len())?;
        }
        if let Some(tangents) = &self.tangents {
            let own = skin.tangents().map_or(0, <[_]>::len);
            check_length(skin.prim(), "output tangents", own, tangents.len())?;
        }
        self.pose.fits(skin)?;
        let with_rest_normals = self.normals.is_some() && skin.normals().is_some();
        let plan = Plan::new(skin, self.pose, with_rest_normals, self.tangents.is_some());
        match skin.vertices() {
            None => plan.deform(self.points, self.normals.as_deref_mut()),
            Some(vertices) => plan.show(vertices, self.points, self.normals.as_deref_mut()),
        }
        if let (Some(vertices), Some(tangents)) = (skin.vertices(), &mut self.tangents) {
            plan.run_tangents(vertices, tangents);
        }
        Ok(())
    }
}

/// The error for an array of another length.
pub(super) fn check_length(
    name: &str,
    what: &str,
    expected: usize,
    found: usize,
) -> Result<(), Invalid> {
    if expected == found {
        return Ok(());
    }
    let expected = format!("{expected} elements");
    Err(Invalid::new(name, what, expected, found.to_string()))
}

/// Deforms one prim: applies blend shapes, skins, and applies `out_from_skel` (rules 13 to 27).
///
/// It writes [`PackedSkin::output_count`] positions and [`PackedSkin::output_normal_count`]
/// normals, in the space of the pose (`out_from_skel`). A prim that only blends stays in prim
/// space.
///
/// # Errors
/// An output of another length; `normals` for a skin that has none; a pose that was packed for
/// another skin. After an error the outputs are unchanged.
pub fn skin_on_cpu(
    skin: &PackedSkin,
    pose: &PackedPose,
    points: &mut [Vec3],
    normals: Option<&mut [Vec3]>,
) -> Result<(), Invalid> {
    let mut job = CpuJob::new(skin, pose, points);
    job.normals = normals;
    job.run()
}

/// Runs many jobs in parallel: many prims, or one prim in many poses.
///
/// # Errors
/// As [`skin_on_cpu`]; other jobs may be done or not.
pub fn skin_batch_on_cpu(jobs: &mut [CpuJob<'_>]) -> Result<(), Invalid> {
    jobs.par_iter_mut().try_for_each(CpuJob::run)
}

/// Deforms only some points of a prim, for picking or to attach things to a surface. `indices` are
/// indices of the prim's points, not of render vertices. Positions have the same bits as those of
/// [`skin_on_cpu`] and are in the same space.
///
/// # Errors
/// `out` is not as long as `indices`; an index is not below [`PackedSkin::point_count`]; the pose
/// was packed for another skin. After an error `out` is unchanged.
pub fn points_on_cpu(
    skin: &PackedSkin,
    pose: &PackedPose,
    indices: &[u32],
    out: &mut [Vec3],
) -> Result<(), Invalid> {
    check_length(skin.prim(), "output points", indices.len(), out.len())?;
    if let Some(index) = indices.iter().find(|i| **i as usize >= skin.point_count()) {
        let expected = format!("indices below {}", skin.point_count());
        let found = index.to_string();
        return Err(Invalid::new(skin.prim(), "points", expected, found));
    }
    pose.fits(skin)?;
    let plan = Plan::new(skin, pose, false, false);
    out.par_chunks_mut(CHUNK)
        .zip(indices.par_chunks(CHUNK))
        .for_each(|(out, indices)| plan.run_chosen(indices, out));
    Ok(())
}

/// Data that all chunks of one job share.
struct Plan<'a> {
    skin: &'a PackedSkin,
    /// Active sub-shapes; `None` if there is nothing to blend.
    active: Option<Active>,
    /// The matrices of the palette. For linear blend skinning they are multiplied by
    /// `out_from_skel` without its translation.
    points: Vec<Joint>,
    /// The matrix that the sum of each point begins with: the translation of `out_from_skel`.
    start: Joint,
    /// `None` if those of points turn normals too.
    normals: Option<Vec<Joint>>,
    post_normal: Option<Columns>,
    /// `None` for linear blend skinning.
    rigid: Option<Rigid<'a>>,
    /// The rigid motions without their translations, for tangents; empty if tangents are not
    /// wanted.
    turns: Vec<[Vec4; 3]>,
    mirrors: bool,
}

/// The second part of dual quaternion skinning, after the linear part.
struct Rigid<'a> {
    motions: &'a [[Vec4; 3]],
    post: Columns,
    post_normal: Columns,
    /// Whether points and normals have a linear part of their own. If not, all use the last matrix
    /// of the palette.
    scales: [bool; 2],
}

impl<'a> Plan<'a> {
    fn new(
        skin: &'a PackedSkin,
        pose: &'a PackedPose,
        with_normals: bool,
        with_tangents: bool,
    ) -> Self {
        // If any shape has normal offsets, normals are normalised, whether that shape is active or
        // not (rule 19).
        let active = skin
            .blend()
            .map(|blend| Active::new(blend, pose.channel_weights()))
            .filter(|active| with_normals || !active.is_empty());
        let post = columns(pose.post());
        // Weights need not sum to 1, so the translation of `out_from_skel` cannot be part of the
        // matrices. Each point's sum begins with it instead.
        let outward = [post[0], post[1], post[2], Vec4::ZERO];
        let is_identity =
            |m: &Rows| columns(m) == columns(&crate::math::rows(glam::DMat4::IDENTITY));
        let palette = pose.palette();
        let rigid = palette.and_then(|p| p.rigid()).map(|rigid| Rigid {
            motions: rigid.motions(),
            post,
            post_normal: columns(pose.post_normal()),
            scales: pose.scales,
        });
        let as_it_is = rigid.is_some() || is_identity(pose.post());
        let points = palette.map_or(&[][..], |p| p.points()).iter().map(|m| {
            let m = columns(m);
            Joint::new(if as_it_is { m } else { product(&outward, &m) })
        });
        let normals = palette
            .filter(|p| !(as_it_is && p.turns_normals_as_points()))
            .map(|p| p.normals().filter(|_| with_normals).unwrap_or(&[]));
        let motions = rigid.as_ref().filter(|_| with_tangents);
        let motions = motions.map_or(&[][..], |r| r.motions);
        let translation = match &rigid {
            Some(_) => Vec4::ZERO,
            None => post[3],
        };
        let start = Joint::new([Vec4::ZERO, Vec4::ZERO, Vec4::ZERO, translation]);
        let normals = normals.map(|all| all.iter().map(columns).map(Joint::new));
        // Where every point follows one joint, matrices are the sums, and -0 adds nothing to them.
        let (points, start, normals): (Vec<_>, _, Option<Vec<_>>) =
            match skin.influences().is_some_and(PackedInfluences::is_single) {
                true => (
                    points.map(|m| m.after(start)).collect(),
                    Joint([Vec4::splat(-0.0); 4]),
                    normals.map(|all| all.map(|m| m.after(Joint::ZERO)).collect()),
                ),
                false => (points.collect(), start, normals.map(Iterator::collect)),
            };
        Self {
            skin,
            active,
            points,
            start,
            normals,
            post_normal: (!is_identity(pose.post_normal())).then(|| columns(pose.post_normal())),
            rigid,
            mirrors: pose.mirrors,
            turns: motions
                .iter()
                .map(|[real, _, turn]| [*real, Vec4::ZERO, *turn])
                .collect(),
        }
    }

    fn influences(&self) -> Option<&'a PackedInfluences> {
        self.skin.influences().filter(|_| !self.points.is_empty())
    }

    /// Deforms all points, and computes normals if the caller wants them.
    fn deform(&self, points: &mut [Vec3], normals: Option<&mut [Vec3]>) {
        let chunks = |points: &mut [Vec3]| {
            let chunks = points.chunks_mut(CHUNK).enumerate();
            each(chunks, |(i, points)| self.run(i * CHUNK, points, None));
        };
        let Some(normals) = normals else {
            return chunks(points);
        };
        if let Some(made) = self.skin.smooth_normals() {
            chunks(points);
            let chunks = normals.chunks_mut(CHUNK).enumerate();
            each(chunks, |(i, normals)| {
                made.of_points(points, i * CHUNK, normals);
                if self.mirrors {
                    normals.iter_mut().for_each(|n| *n = -*n);
                }
            });
        } else if let Some(corners) = self.skin.normal_points() {
            chunks(points);
            normals
                .par_chunks_mut(SHARED)
                .zip(corners.par_chunks(SHARED))
                .enumerate()
                .for_each_init(SharedPoints::new, |shared, (i, (normals, corners))| {
                    self.run_corners(shared, i * SHARED, corners, normals);
                });
        } else {
            let chunks = points.chunks_mut(CHUNK).zip(normals.chunks_mut(CHUNK));
            each(chunks.enumerate(), |(i, (points, normals))| {
                self.run(i * CHUNK, points, Some(normals));
            });
        }
    }

    /// Deforms the points of a chunk, and their normals if the caller wants them.
    fn run(&self, first: usize, points: &mut [Vec3], normals: Option<&mut [Vec3]>) {
        let range = first..first + points.len();
        let rest = &self.skin.points[range.clone()];
        let rest_normals = match &normals {
            Some(_) => self.skin.normals.as_ref().map_or(&[][..], |n| &n[range]),
            None => &[],
        };
        let blend = self.skin.blend().zip(self.active.as_ref());

        let Some(influences) = self.influences() else {
            match blend {
                Some((blend, active)) => blend.blend_chunk(active, first, rest, points),
                None => points.copy_from_slice(rest),
            }
            match (normals, blend) {
                (Some(normals), Some((blend, active))) => {
                    blend.blend_chunk_normals(active, first, rest_normals, normals);
                }
                (Some(normals), None) => normals.copy_from_slice(rest_normals),
                (None, _) => {}
            }
            return;
        };
        let records = influences.chunk(first / CHUNK);
        let Some((blend, active)) = blend else {
            return self.skin(records, (rest, rest_normals), points, normals);
        };
        let (mut points_buffer, mut normals_buffer) = ([Vec3::ZERO; CHUNK], [Vec3::ZERO; CHUNK]);
        let blended = &mut points_buffer[..points.len()];
        blend.blend_chunk(active, first, rest, blended);
        let blended_normals = &mut normals_buffer[..rest_normals.len()];
        blend.blend_chunk_normals(active, first, rest_normals, blended_normals);
        self.skin(records, (blended, blended_normals), points, normals);
    }

    /// Skins the points of a chunk, and normals if the caller wants them. `rest` has the values
    /// after blending.
    fn skin<'r>(
        &self,
        records: impl Iterator<Item = Records<'r>>,
        rest: (&[Vec3], &[Vec3]),
        points: &mut [Vec3],
        normals: Option<&mut [Vec3]>,
    ) {
        let Some(normals) = normals else {
            return records.for_each(|records| self.skin_points(records, rest.0, points));
        };
        if self.rigid.is_some() {
            for records in records {
                self.skin_points(records, rest.0, points);
                self.skin_normals(records, rest.1, normals);
            }
            return;
        }
        for records in records {
            let matrices = (&*self.points, self.normals.as_deref());
            let out = (&mut *points, &mut *normals);
            skin_points_and_normals(records, matrices, self.start, rest, out);
        }
        self.finish_normals(normals);
    }

    /// Normalises normals of linear blend skinning in skeleton space, and applies `out_from_skel`,
    /// which does not normalise again.
    fn finish_normals(&self, normals: &mut [Vec3]) {
        normalize(normals);
        if let Some(post) = &self.post_normal {
            for n in normals {
                *n = transform_vector(post, *n);
            }
        }
    }

    /// Deforms the points with these indices.
    fn run_chosen(&self, indices: &[u32], out: &mut [Vec3]) {
        let mut rest: Vec<Vec3> = indices
            .iter()
            .map(|i| self.skin.points[*i as usize])
            .collect();
        if let Some((blend, active)) = self.skin.blend().zip(self.active.as_ref()) {
            for (i, point) in indices.iter().zip(&mut rest) {
                *point = blend.blend_point(active, *i as usize, *point);
            }
        }
        match self.influences() {
            Some(influences) => {
                let mut buffer = Vec::new();
                let records = influences.gathered(indices, &mut buffer);
                self.skin_points(records, &rest, out);
            }
            None => out.copy_from_slice(&rest),
        }
    }

    /// Skins the faceVarying normals of a chunk, which begin at normal `first` and belong to
    /// `points`.
    fn run_corners(
        &self,
        shared: &mut SharedPoints,
        first: usize,
        points: &[u32],
        normals: &mut [Vec3],
    ) {
        let rest = self.skin.normals.as_ref().map_or(&[][..], |n| n.as_slice());
        let rest = &rest[first..first + normals.len()];
        match self.influences() {
            Some(influences) if self.rigid.is_none() => {
                shared.skin(influences, points, self.of_normals(), rest, normals);
                self.finish_normals(normals);
            }
            Some(influences) => {
                let mut buffer = Vec::new();
                let records = influences.gathered(points, &mut buffer);
                self.skin_normals(records, rest, normals);
            }
            None => normals.copy_from_slice(rest),
        }
    }

    /// The matrices that turn normals.
    fn of_normals(&self) -> &[Joint] {
        self.normals.as_deref().unwrap_or(&self.points)
    }

    fn skin_points(&self, records: Records<'_>, rest: &[Vec3], out: &mut [Vec3]) {
        let skin = |out: &mut [Vec3]| skin_points(records, &self.points, self.start, rest, out);
        let Some(Rigid {
            motions,
            post,
            scales,
            ..
        }) = &self.rigid
        else {
            return skin(out);
        };
        let bind = self.points.last().filter(|_| !scales[0]);
        move_points(records, motions, bind.map(|m| &m.0), post, rest, out, skin);
    }

    fn skin_normals(&self, records: Records<'_>, rest: &[Vec3], out: &mut [Vec3]) {
        let skin = |out: &mut [Vec3]| skin_normals(records, self.of_normals(), rest, out);
        let Some(rigid) = &self.rigid else {
            skin(out);
            return self.finish_normals(out);
        };
        let bind = self.of_normals().last().filter(|_| !rigid.scales[1]);
        let (motions, bind, post) = (rigid.motions, bind.map(|m| &m.0), &rigid.post_normal);
        turn_normals(records, motions, bind, post, rest, out, skin);
    }
}

/// Render vertices copy the results of their points and have tangents of their own.
impl Plan<'_> {
    /// Deforms each point once, and copies the results to the vertices that show it.
    fn show(&self, vertices: &RenderVertices, points: &mut [Vec3], normals: Option<&mut [Vec3]>) {
        let mut of_points = vec![Vec3::ZERO; self.skin.point_count()];
        let own_count = match self.skin.normals() {
            Some(normals) => normals.len(),
            None => self.skin.point_count(),
        };
        let mut own_normals = normals.as_ref().map(|_| vec![Vec3::ZERO; own_count]);
        self.deform(&mut of_points, own_normals.as_deref_mut());
        let spread = |from: &[Vec3], places: &[u32], to: &mut [Vec3]| {
            to.par_iter_mut()
                .zip(places)
                .for_each(|(to, place)| *to = from[*place as usize]);
        };
        spread(&of_points, vertices.points(), points);
        if let (Some(normals), Some(own)) = (normals, own_normals) {
            let places = vertices.normals().unwrap_or(vertices.points());
            spread(&own, places, normals);
        }
    }

    /// Transforms rest tangents by the linear parts of what moves the points.
    fn run_tangents(&self, vertices: &RenderVertices, tangents: &mut [Vec4]) {
        let rest = vertices.tangents().unwrap_or_default();
        tangents
            .par_chunks_mut(SHARED)
            .zip(rest.par_chunks(SHARED))
            .zip(vertices.points().par_chunks(SHARED))
            .for_each_init(SharedPoints::new, |shared, ((tangents, rest), points)| {
                let (mut values, mut out) = ([Vec3::ZERO; SHARED], [Vec3::ZERO; SHARED]);
                let (values, out) = (&mut values[..rest.len()], &mut out[..rest.len()]);
                for (value, tangent) in values.iter_mut().zip(rest) {
                    *value = tangent.truncate();
                }
                match (self.influences(), &self.rigid) {
                    (Some(influences), None) => {
                        shared.skin(influences, points, &self.points, values, out);
                    }
                    (Some(influences), Some(rigid)) => {
                        let mut buffer = Vec::new();
                        let records = influences.gathered(points, &mut buffer);
                        self.skin_tangents(rigid, records, values, out);
                    }
                    (None, _) => out.copy_from_slice(values),
                }
                normalize(out);
                for ((to, value), tangent) in tangents.iter_mut().zip(out).zip(rest) {
                    *to = value.extend(tangent.w);
                }
            });
    }

    fn skin_tangents(
        &self,
        rigid: &Rigid<'_>,
        records: Records<'_>,
        rest: &[Vec3],
        out: &mut [Vec3],
    ) {
        let without_translation = |[x, y, z, _]: Columns| [x, y, z, Vec4::ZERO];
        let bind = self.points.last().filter(|_| !rigid.scales[0]);
        let bind = bind.map(|m| without_translation(m.0));
        let post = without_translation(rigid.post);
        let skin = |out: &mut [Vec3]| skin_normals(records, &self.points, rest, out);
        move_points(records, &self.turns, bind.as_ref(), &post, rest, out, skin);
    }
}

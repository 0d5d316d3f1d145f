//! Render vertices: results of their points, and tangents of their own.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::{CHUNK, Plan};
use crate::kernel::RenderVertices;
use crate::kernel::influences::Records;
use crate::kernel::rigid::move_points;
use crate::kernel::skin::{normalize, skin_normals};

impl Plan<'_> {
    /// Deforms each point once and hands its results to the vertices that show it.
    pub fn show(
        &self,
        vertices: &RenderVertices,
        points: &mut [Vec3],
        normals: Option<&mut [Vec3]>,
    ) {
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

    /// Carries rest tangents along with the points, by the linear parts of what moves these.
    pub fn run_tangents(&self, vertices: &RenderVertices, tangents: &mut [Vec4]) {
        let matrices: Vec<[Vec4; 3]> = self
            .points
            .iter()
            .map(|[x, y, z, _]| [*x, *y, *z])
            .collect();
        let rest = vertices.tangents().unwrap_or_default();
        tangents
            .par_chunks_mut(CHUNK)
            .zip(rest.par_chunks(CHUNK))
            .zip(vertices.points().par_chunks(CHUNK))
            .for_each(|((tangents, rest), points)| {
                let (mut values, mut out) = ([Vec3::ZERO; CHUNK], [Vec3::ZERO; CHUNK]);
                let (values, out) = (&mut values[..rest.len()], &mut out[..rest.len()]);
                for (value, tangent) in values.iter_mut().zip(rest) {
                    *value = tangent.truncate();
                }
                match self.influences() {
                    Some(influences) => {
                        let mut buffer = Vec::new();
                        let records = influences.gathered(points, &mut buffer);
                        self.skin_tangents(records, &matrices, values, out);
                    }
                    None => out.copy_from_slice(values),
                }
                normalize(out);
                for ((to, value), tangent) in tangents.iter_mut().zip(out).zip(rest) {
                    *to = value.extend(tangent.w);
                }
            });
    }

    fn skin_tangents(
        &self,
        records: Records<'_>,
        matrices: &[[Vec4; 3]],
        rest: &[Vec3],
        out: &mut [Vec3],
    ) {
        let Some(rigid) = &self.rigid else {
            skin_normals(records, matrices, rest, out);
            return;
        };
        let without_translation = |[x, y, z]: [Vec4; 3]| [x, y, z, Vec4::ZERO];
        let bind = matrices.last().filter(|_| !rigid.scales_points);
        match bind {
            Some(_) => out.copy_from_slice(rest),
            None => skin_normals(records, matrices, rest, out),
        }
        let bind = bind.copied().map(without_translation);
        let [x, y, z, _] = rigid.post;
        let post = without_translation([x, y, z]);
        move_points(records, &self.turns, bind.as_ref(), &post, out);
    }
}

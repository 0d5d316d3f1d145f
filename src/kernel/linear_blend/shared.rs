//! Linear blend skinning of values of which several belong to a point: faceVarying normals, and
//! tangents of render vertices. The matrices of a point are blended once for a chunk of values.

use glam::{Vec3, Vec4};

use super::{Joint, skin_normals, transform_vector};
#[cfg(target_arch = "x86_64")]
use super::{avx2, has_avx2};
use crate::kernel::PackedInfluences;

/// Largest number of values per chunk. Faces that follow each other share their points, and the
/// blended matrices of a chunk stay in the first or second cache.
pub(in crate::kernel) const SHARED: usize = 1024;

/// Skins values that share points, chunk by chunk. It keeps its buffers.
pub(in crate::kernel) struct SharedPoints {
    /// The points of the chunk. A point may occur more than once where another took its slot.
    points: Box<[u32; SHARED]>,
    /// Where each value finds its point.
    places: Box<[u16; SHARED]>,
    /// The last point of each slot, and where it is found.
    slots: Box<[u32; SHARED]>,
    places_of_slots: Box<[u16; SHARED]>,
    /// The sum of matrices of each point.
    blended: Vec<Joint<3>>,
}

impl SharedPoints {
    pub fn new() -> Self {
        Self {
            points: Box::new([0; SHARED]),
            places: Box::new([0; SHARED]),
            slots: Box::new([0; SHARED]),
            places_of_slots: Box::new([0; SHARED]),
            blended: vec![Joint([Vec4::ZERO; 3]); SHARED],
        }
    }

    /// Skins a chunk of vectors by the linear part of what moves their points, without normalising
    /// them. The bits are those of [`skin_normals`]. `points` has the point of each value; the
    /// chunk has at most [`SHARED`] values.
    pub fn skin(
        &mut self,
        influences: &PackedInfluences,
        points: &[u32],
        matrices: &[Joint<3>],
        values: &[Vec3],
        out: &mut [Vec3],
    ) {
        if influences.is_constant() {
            let buffer = &mut Vec::new();
            return skin_normals(influences.gathered(&[], buffer), matrices, values, out);
        }
        let count = self.find(points);
        let (points, places) = (&self.points[..count], &self.places[..]);
        let blended = &mut self.blended[..count];
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the machine has AVX2 and FMA.
            unsafe {
                avx2::blend_normals(influences, points, matrices, blended);
                avx2::turn_each(blended, places, values, out);
            }
            return;
        }
        for (Joint(to), point) in blended.iter_mut().zip(points) {
            let (record, count) = influences.record(*point as usize);
            *to = super::blend_matrices(record, count, matrices, [Vec4::ZERO; 3]);
        }
        for ((to, value), place) in out.iter_mut().zip(values).zip(places) {
            *to = transform_vector(&blended[usize::from(*place)].0, *value);
        }
    }

    /// Finds the points that occur among those of a chunk. Returns their number.
    fn find(&mut self, points: &[u32]) -> usize {
        // No point has this number, since kernels count their floats.
        self.slots.fill(u32::MAX);
        let mut count = 0;
        for (place, point) in self.places.iter_mut().zip(points) {
            // Without a branch, which would be hard to predict.
            let slot = *point as usize % SHARED;
            let last = std::mem::replace(&mut self.slots[slot], *point);
            self.points[count % SHARED] = *point;
            *place = match last == *point {
                true => self.places_of_slots[slot],
                false => count as u16,
            };
            self.places_of_slots[slot] = *place;
            count += usize::from(last != *point);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_finds_its_point() {
        let collide = |i: u32| i % 3 * SHARED as u32;
        let cases: [(&dyn Fn(u32) -> u32, usize); 4] = [
            (&|i| i, SHARED),
            (&|i| i / 4, SHARED / 4),
            (&|i| i % 5, 5),
            (&collide, SHARED),
        ];
        for (point, count) in cases {
            let points: Vec<u32> = (0..SHARED as u32).map(point).collect();
            let mut shared = SharedPoints::new();
            assert_eq!(shared.find(&points), count);
            for (point, place) in points.iter().zip(&shared.places[..]) {
                assert_eq!(shared.points[usize::from(*place)], *point);
            }
        }
        assert_eq!(SharedPoints::new().find(&[]), 0);
    }
}

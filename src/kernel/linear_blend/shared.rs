//! Linear blend skinning of values of which several belong to a point: faceVarying normals, and
//! tangents of render vertices. The matrices of a point are blended once for a chunk of values.

use glam::{Vec3, Vec4};

use super::{Joint, blend_matrices, skin_normals, transform_vector};
#[cfg(target_arch = "x86_64")]
use super::{avx2, has_avx2};
use crate::kernel::PackedInfluences;
use crate::kernel::influences::record_words;

/// Largest number of values per chunk. Faces that follow each other share their points, and the
/// blended matrices of a chunk stay in the first or second cache.
pub(in crate::kernel) const SHARED: usize = 1024;

/// Numbers of influences from 0 to 12, and all above.
const LENGTHS: usize = 14;

/// Skins values that share points, chunk by chunk. It keeps its buffers.
pub(in crate::kernel) struct SharedPoints {
    /// The points of the chunk. A point may occur more than once where another took its slot.
    points: Box<[u32; SHARED]>,
    /// Where each value finds its point.
    places: Box<[u16; SHARED]>,
    /// The last point of each slot, and above it where it is found.
    slots: Box<[u64; SHARED]>,
    /// The first word of each point's record, and its number of influences.
    records: Box<[(u32, u32); SHARED]>,
    /// The points, sorted by their number of influences.
    order: Box<[u16; SHARED]>,
    /// The points as they are found.
    in_order: Box<[u16; SHARED]>,
    /// The sum of matrices of each point.
    blended: Vec<Joint>,
}

impl SharedPoints {
    pub fn new() -> Self {
        Self {
            points: Box::new([0; SHARED]),
            places: Box::new([0; SHARED]),
            slots: Box::new([0; SHARED]),
            records: Box::new([(0, 0); SHARED]),
            order: Box::new([0; SHARED]),
            in_order: Box::new(std::array::from_fn(|i| i as u16)),
            blended: vec![Joint::ZERO; SHARED],
        }
    }

    /// Skins a chunk of vectors by the linear part of what moves their points, without normalising
    /// them. The bits are those of [`skin_normals`]. `points` has the point of each value; the
    /// chunk has at most [`SHARED`] values.
    pub fn skin(
        &mut self,
        influences: &PackedInfluences,
        points: &[u32],
        matrices: &[Joint],
        values: &[Vec3],
        out: &mut [Vec3],
    ) {
        if influences.is_constant() {
            let buffer = &mut Vec::new();
            return skin_normals(influences.gathered(&[], buffer), matrices, values, out);
        }
        let found = self.find(points);
        let same_count = influences.places(&self.points[..found], &mut self.records[..found]);
        let (order, ends) = match same_count.filter(|count| *count < LENGTHS) {
            Some(count) => {
                let mut ends = [0; LENGTHS];
                ends[count] = found;
                (&self.in_order, ends)
            }
            None => {
                let ends = self.sort(found);
                (&self.order, ends)
            }
        };
        let (places, blended) = (&self.places[..], &mut self.blended[..]);
        let mut first = 0;
        for (count, end) in ends.into_iter().enumerate().filter(|(_, end)| *end > 0) {
            let same = SameLength {
                words: &influences.words,
                records: &self.records,
                order: &order[first..end],
            };
            first = end;
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                // SAFETY: the machine has AVX2 and FMA.
                unsafe { avx2::blend_normals(count, same, matrices, blended) };
                continue;
            }
            by_count!(count, blend(same, matrices, blended), {
                same.each(|place, count, record| {
                    blended[place] = blended_of(record, count, matrices);
                });
            });
        }
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            // SAFETY: the machine has AVX2 and FMA.
            unsafe { avx2::turn_each(blended, places, values, out) };
            return;
        }
        for ((to, value), place) in out.iter_mut().zip(values).zip(places) {
            *to = transform_vector(&blended[usize::from(*place)].0, *value);
        }
    }

    /// Sorts the points by their number of influences. Returns where each number ends, 0 where
    /// there is none; the last stands for all numbers that have no loop of their own.
    fn sort(&mut self, found: usize) -> [usize; LENGTHS] {
        let records = &self.records[..found];
        let length = |count: u32| (count as usize).min(LENGTHS - 1);
        let mut counts = [0; LENGTHS];
        for (_, count) in records {
            counts[length(*count)] += 1;
        }
        let (mut next, mut sum) = ([0; LENGTHS], 0);
        for (next, count) in next.iter_mut().zip(counts) {
            *next = sum;
            sum += count;
        }
        for (place, (_, count)) in records.iter().enumerate() {
            let next = &mut next[length(*count)];
            self.order[*next % SHARED] = place as u16;
            *next += 1;
        }
        std::array::from_fn(|i| if counts[i] > 0 { next[i] } else { 0 })
    }

    /// Finds the points that occur among those of a chunk, and where each value finds its own.
    /// Returns the number of points.
    fn find(&mut self, points: &[u32]) -> usize {
        // No point has the number u32::MAX, since kernels count their floats.
        self.slots.fill(u64::MAX);
        let mut count = 0;
        for (place, point) in self.places.iter_mut().zip(points) {
            // Without a branch, which would be hard to predict.
            let slot = &mut self.slots[*point as usize % SHARED];
            let is_new = *slot as u32 != *point;
            let found = if is_new { count as u64 } else { *slot >> 32 };
            *slot = found << 32 | u64::from(*point);
            *place = found as u16;
            self.points[count % SHARED] = *point;
            count += usize::from(is_new);
        }
        count
    }
}

/// Points of the same number of influences.
#[derive(Clone, Copy)]
pub(super) struct SameLength<'a> {
    words: &'a [u32],
    records: &'a [(u32, u32); SHARED],
    order: &'a [u16],
}

impl SameLength<'_> {
    /// Calls `f` with the place of each point and its record of `W` words.
    #[inline(always)]
    pub fn each_of<const W: usize>(self, mut f: impl FnMut(usize, &[u32])) {
        for place in self.order {
            let first = self.records[usize::from(*place) % SHARED].0 as usize;
            f((*place).into(), &self.words[first..first + W]);
        }
    }

    /// Calls `f` with the place of each point, its number of influences and its record.
    #[inline(always)]
    pub fn each(self, mut f: impl FnMut(usize, usize, &[u32])) {
        for place in self.order {
            let (first, count) = self.records[usize::from(*place) % SHARED];
            let (first, count) = (first as usize, count as usize);
            f(
                (*place).into(),
                count,
                &self.words[first..first + record_words(count)],
            );
        }
    }
}

/// The sums of the matrices of some points, for `K` influences in records of `W` words.
fn blend<const K: usize, const W: usize>(
    points: SameLength<'_>,
    matrices: &[Joint],
    out: &mut [Joint],
) {
    points.each_of::<W>(|place, record| {
        out[place] = blended_of(record, K, matrices);
    });
}

#[inline(always)]
fn blended_of(record: &[u32], count: usize, matrices: &[Joint]) -> Joint {
    let [x, y, z] = blend_matrices(record, count, matrices, Joint::ZERO.sum());
    Joint([x, y, z, Vec4::ZERO])
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

    #[test]
    fn points_are_sorted_by_length() {
        let mut shared = SharedPoints::new();
        let counts = [3, 40, 1, 12, 3, 13, 1, 3];
        for (record, count) in shared.records.iter_mut().zip(counts) {
            record.1 = count;
        }
        let mut ends = [0; LENGTHS];
        (ends[1], ends[3], ends[12], ends[13]) = (2, 5, 6, 8);
        assert_eq!(shared.sort(counts.len()), ends);
        assert_eq!(shared.order[..8], [2, 6, 0, 4, 7, 3, 1, 5]);
        assert_eq!(shared.sort(0), [0; LENGTHS]);
    }
}

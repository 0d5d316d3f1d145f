//! Influences as the kernels read them.

use crate::error::Invalid;
use crate::skel::{InfluenceInterpolation, Skin, SkinningMethod};

/// Number of points per chunk: few enough to stay in the first cache, and enough to make starting a
/// task cheap. Blending uses blocks of the same size.
pub(super) const CHUNK: usize = super::blend_shapes::BLOCK;

/// Bits of a word within a chunk whose records have at most [`LONGEST_SORTED`] influences.
const WORD_BITS: u32 = 24;
const LONGEST_SORTED: usize = 255;
const _: () = assert!(CHUNK * record_words(LONGEST_SORTED) <= 1 << WORD_BITS);

/// Sorting the points of a chunk costs as much time as so many influences of each point.
const SORTING: usize = 2;

/// The joint influences of a prim: a record of u32 words per point, or one record for all points if
/// they are constant.
///
/// A record is `ceil(n / 2)` words of palette indices, two u16 to a word (the first in the low
/// half), then `n` words of f32 weights. Weights are as authored (rule 21). Influences of weight 0
/// at the end of a point are not stored, since elementSize is one number for all points and most of
/// them use less.
///
/// The records of 2,048 points that follow each other (a chunk) have the same length, or they are
/// sorted by length where that saves more than it costs. Sorted records take 6 bytes a point more. If
/// every point follows one joint with weight 1, loops read a list of palette indices in place of the
/// records, which takes 2 bytes a point more.
///
/// A palette index is the number of a joint of the *skeleton*, also if the prim has a skel:joints
/// order of its own. A joint that the skeleton lacks has the index after the last joint; its matrix
/// is the geomBindTransform alone (rule 11).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedInfluences {
    /// Of all records.
    pub(super) words: Vec<u32>,
    /// By chunk, then by length. A loop goes through each without any branch.
    groups: Vec<Group>,
    /// First group of each chunk, and one more for the end.
    chunks: Vec<u32>,
    /// The record of each point: its first word counted from the first of the chunk, and above
    /// [`WORD_BITS`] its number of influences. Empty if no chunk is sorted.
    places: Vec<u32>,
    /// The point of each record, counted from the first of the chunk.
    order: Vec<u16>,
    /// The palette index of each point, if every point has one influence of weight 1; else empty.
    single: Vec<u16>,
    /// Influences per point as authored, with those of weight 0.
    count: u32,
    constant: bool,
}

/// Records of the same length that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    first_word: u32,
    records: u32,
    /// Influences per record.
    count: u32,
}

/// Records of one length, as the CPU's loops read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records<'a> {
    pub words: &'a [u32],
    pub count: usize,
    /// Whether one record serves all values.
    pub constant: bool,
    /// The value of each record. Empty if records have the order of values.
    pub order: &'a [u16],
    /// The palette index of each value, if every one has one influence of weight 1; else empty.
    /// Loops read it in place of records, and take its matrix as it is, without `start`.
    pub single: &'a [u16],
}

/// Words of one record.
pub(super) const fn record_words(count: usize) -> usize {
    count.div_ceil(2) + count
}

impl PackedInfluences {
    pub(super) fn pack(prim: &str, skin: &Skin) -> Result<Option<Self>, Invalid> {
        let Some(influences) = skin.influences() else {
            return Ok(None);
        };
        let count = influences.count();
        let constant = influences.interpolation() == InfluenceInterpolation::Constant;
        let missing = skin.joint_count() as u32;
        let words = influences.joints().len() as u64 / count as u64 * record_words(count) as u64;
        Invalid::unless_u32_counts(
            prim,
            "primvars:skel:jointIndices",
            "words of influences",
            words,
        )?;

        // `Skin` checked the joints, and packing the skin checked that every palette index fits
        // 16 bits.
        let palette_index = |joint: &u32| skin.skeleton_joint(*joint).unwrap_or(missing) as u16;
        let indices: Vec<u16> = influences.joints().iter().map(palette_index).collect();
        let weights = influences.weights();
        Ok(Some(match constant {
            true => Self::constant(&indices, weights, skin.method()),
            false => Self::of_lists(count, &indices, weights, skin.method()),
        }))
    }

    /// One record for all points.
    fn constant(indices: &[u16], weights: &[f32], method: SkinningMethod) -> Self {
        Self {
            constant: true,
            single: Vec::new(),
            ..Self::of_lists(weights.len(), indices, weights, method)
        }
    }

    /// Packs `count` palette indices and weights of each point.
    pub(super) fn of_lists(
        count: usize,
        indices: &[u16],
        weights: &[f32],
        method: SkinningMethod,
    ) -> Self {
        let mut out = Self {
            count: count as u32,
            ..Self::default()
        };
        let chunks = indices
            .chunks(CHUNK * count)
            .zip(weights.chunks(CHUNK * count));
        for (indices, weights) in chunks {
            out.chunks.push(out.groups.len() as u32);
            out.put_chunk(indices, weights, method);
        }
        out.chunks.push(out.groups.len() as u32);
        out.words.shrink_to_fit();
        if out.groups.len() + 1 == out.chunks.len() {
            (out.places, out.order) = (Vec::new(), Vec::new());
        }
        let (records, _) = out.words.as_chunks::<2>();
        let is_one = |[_, weight]: &[u32; 2]| *weight == 1f32.to_bits();
        let may_be_single = !method.has_rigid_motions() && out.same_count() == Some(1);
        if may_be_single && records.iter().all(is_one) {
            out.single = records.iter().map(|[index, _]| *index as u16).collect();
        }
        out
    }

    fn put_chunk(&mut self, indices: &[u16], weights: &[f32], method: SkinningMethod) {
        let all = self.count as usize;
        let counts: Vec<usize> = weights
            .chunks_exact(all)
            .map(|weights| used(weights, method))
            .collect();
        let longest = counts.iter().copied().max().unwrap_or(all);
        let saved: usize = counts.iter().map(|count| longest - count).sum();
        // The loops for dual quaternions take several values at once, which must lie together.
        let is_sorted = saved > SORTING * counts.len()
            && longest <= LONGEST_SORTED
            && !method.has_rigid_motions();
        let lengths = match is_sorted {
            true => 1..=longest,
            false => longest..=longest,
        };
        let first_place = self.places.len();
        self.places.resize(first_place + counts.len(), 0);
        let first_of_chunk = self.words.len();
        for length in lengths {
            let first_word = self.words.len() as u32;
            let first_record = self.order.len();
            for (point, count) in counts.iter().enumerate() {
                if *count != length && is_sorted {
                    continue;
                }
                let word = self.words.len() - first_of_chunk;
                self.places[first_place + point] = word as u32 | (length as u32) << WORD_BITS;
                self.order.push(point as u16);
                let (indices, weights) = (&indices[point * all..], &weights[point * all..]);
                let pair = |p: &[u16]| {
                    u32::from(p[0]) | p.get(1).map_or(0, |second| u32::from(*second) << 16)
                };
                self.words.extend(indices[..length].chunks(2).map(pair));
                self.words
                    .extend(weights[..length].iter().map(|w| w.to_bits()));
            }
            if self.order.len() > first_record {
                self.groups.push(Group {
                    first_word,
                    records: (self.order.len() - first_record) as u32,
                    count: length as u32,
                });
            }
        }
    }

    /// The records of the points from `chunk * CHUNK` on, sorted by length. Constant influences
    /// have one record for all of them.
    pub(super) fn chunk(&self, chunk: usize) -> impl Iterator<Item = Records<'_>> {
        let chunk = if self.constant { 0 } else { chunk };
        let groups = self.groups_of(chunk);
        let mut order = match groups {
            [_] => &[][..],
            _ => &self.order[chunk * CHUNK..],
        };
        let single = self.single.get(chunk * CHUNK..).unwrap_or_default();
        groups.iter().map(move |group| {
            let (own, others) = order.split_at(order.len().min(group.records as usize));
            order = others;
            Records {
                order: own,
                single,
                ..self.records(group)
            }
        })
    }

    /// The number of influences of every point, if it is the same.
    fn same_count(&self) -> Option<usize> {
        let (first, others) = self.groups.split_first()?;
        let is_same = others.iter().all(|g| g.count == first.count);
        is_same.then_some(first.count as usize)
    }

    fn groups_of(&self, chunk: usize) -> &[Group] {
        &self.groups[self.chunks[chunk] as usize..self.chunks[chunk + 1] as usize]
    }

    fn records(&self, group: &Group) -> Records<'_> {
        let words = group.records as usize * record_words(group.count as usize);
        Records {
            words: &self.words[group.first_word as usize..][..words],
            count: group.count as usize,
            constant: self.constant,
            order: &[],
            single: &[],
        }
    }

    /// The record of a point and its number of influences.
    fn record(&self, point: usize) -> (&[u32], usize) {
        let (first, count) = self.place(point);
        (&self.words[first..first + record_words(count)], count)
    }

    /// The first word of a point's record and its number of influences.
    #[inline]
    fn place(&self, point: usize) -> (usize, usize) {
        let (chunk, record) = match self.constant {
            true => (0, 0),
            false => (point / CHUNK, point % CHUNK),
        };
        let groups = self.groups_of(chunk);
        let first = groups[0].first_word as usize;
        if groups.len() == 1 {
            let count = groups[0].count as usize;
            return (first + record * record_words(count), count);
        }
        let place = self.places[point];
        let word = place & ((1 << WORD_BITS) - 1);
        (first + word as usize, (place >> WORD_BITS) as usize)
    }

    /// Writes the first word of each point's record and its number of influences. Returns that
    /// number if it is the same for all points of the prim.
    pub(super) fn places(&self, points: &[u32], places: &mut [(u32, u32)]) -> Option<usize> {
        let places = places.iter_mut().zip(points);
        let same = self.same_count();
        match same {
            Some(count) => {
                let words = record_words(count) as u32;
                places.for_each(|(to, point)| *to = (point * words, count as u32));
            }
            None => places.for_each(|(to, point)| {
                let (first, count) = self.place(*point as usize);
                *to = (first as u32, count as u32);
            }),
        }
        same
    }

    /// Whether every point has one influence of weight 1.
    pub(super) fn is_single(&self) -> bool {
        !self.single.is_empty()
    }

    /// Records of these points one after the other, copied to `buffer`. They are as long as the
    /// longest of them; the others end with influences of weight 0.
    pub(super) fn gathered<'a>(&'a self, points: &[u32], buffer: &'a mut Vec<u32>) -> Records<'a> {
        if self.constant {
            return self.records(&self.groups[0]);
        }
        let of = |point: &u32| self.record(*point as usize);
        let count = points.iter().map(|p| of(p).1).max().unwrap_or(1);
        buffer.clear();
        buffer.resize(points.len() * record_words(count), 0);
        let records = buffer.chunks_exact_mut(record_words(count));
        for (to, (record, own)) in records.zip(points.iter().map(of)) {
            let (indices, weights) = record.split_at(own.div_ceil(2));
            to[..indices.len()].copy_from_slice(indices);
            to[count.div_ceil(2)..][..own].copy_from_slice(weights);
            // Any finite matrix times 0 adds nothing. The first one counts anyway.
            for place in own..count {
                let first = indices[0] & 0xffff;
                to[place / 2] |= first << (place % 2 * 16);
            }
        }
        Records {
            words: buffer,
            count,
            constant: false,
            order: &[],
            single: &[],
        }
    }

    /// Palette index and weight of each influence of a point, in the authored order. Constant
    /// influences are the same for every point. After the last weight that is not 0, palette
    /// indices are that of the first influence.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn of_point(&self, point: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + '_ {
        let (record, own) = self.record(point);
        let (indices, weights) = record.split_at(own.div_ceil(2));
        let palette_index = move |i: usize| (indices[i / 2] >> (i % 2 * 16) & 0xffff) as u16;
        (0..self.count as usize).map(move |i| match weights.get(i) {
            Some(weight) => (palette_index(i), f32::from_bits(*weight)),
            None => (palette_index(0), 0.0),
        })
    }

    /// Influences per point as authored, with those of weight 0.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether one record serves every point.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.constant
    }
}

/// The number of a point's influences up to the last weight that is not 0; at least one.
///
/// Dual quaternions take the hemisphere of the largest weight, which is one of 0 if all others are
/// negative; such points keep all influences. Their loops are unrolled for 1 to 4 and 8 influences.
fn used(weights: &[f32], method: SkinningMethod) -> usize {
    let count = weights.iter().rposition(|w| *w != 0.0).map_or(1, |i| i + 1);
    match method.has_rigid_motions() {
        true if !weights.iter().any(|w| *w > 0.0) => weights.len(),
        true if (5..8).contains(&count) => weights.len().min(8),
        _ => count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINEAR: SkinningMethod = SkinningMethod::ClassicLinear;

    /// Influences of `points` points: weights fall off, and the rest is 0.
    fn lists(count: usize, used: impl Fn(usize) -> usize, points: usize) -> (Vec<u16>, Vec<f32>) {
        let (mut indices, mut weights) = (Vec::new(), Vec::new());
        for point in 0..points {
            for k in 0..count {
                indices.push((point * 7 + k * 3) as u16);
                let own = k < used(point);
                weights.push(if own { 0.5 / (k + 1) as f32 } else { 0.0 });
            }
        }
        (indices, weights)
    }

    /// All records are found again, by chunks and one by one, whether sorted or not.
    #[test]
    fn records_of_all_lengths_are_found() {
        let mixed = |p: usize| 1 + p * 31 % 12;
        let late = |p: usize| if p < CHUNK { 4 } else { 1 + p * 31 % 12 };
        type Used<'a> = &'a dyn Fn(usize) -> usize;
        let cases: [(Used, &[usize]); 4] = [
            (&mixed, &[12, 12, 12]),
            (&late, &[1, 12, 12]),
            (&|_| 12, &[1, 1, 1]),
            (&|p| 3 + p % 2, &[1, 1, 1]),
        ];
        let points = 2 * CHUNK + 77;
        for (used, groups) in cases {
            let (indices, weights) = lists(12, used, points);
            let packed = PackedInfluences::of_lists(12, &indices, &weights, LINEAR);
            for (chunk, groups) in groups.iter().enumerate() {
                let records: Vec<Records> = packed.chunk(chunk).collect();
                assert_eq!(records.len(), *groups);
                let mut seen = vec![false; CHUNK.min(points - chunk * CHUNK)];
                for of in records {
                    let all = of.words.chunks_exact(record_words(of.count));
                    for (i, record) in all.enumerate() {
                        let point = of.order.get(i).map_or(i, |p| usize::from(*p));
                        assert!(!std::mem::replace(&mut seen[point], true));
                        assert_eq!(packed.record(chunk * CHUNK + point), (record, of.count));
                    }
                }
                assert!(seen.iter().all(|s| *s));
            }
            for point in 0..points {
                let own: Vec<_> = packed.of_point(point).collect();
                let (indices, weights) = (&indices[point * 12..], &weights[point * 12..]);
                assert_eq!(own.len(), 12);
                for (k, (index, weight)) in own.into_iter().enumerate() {
                    assert_eq!(weight, weights[k]);
                    assert!(index == indices[k] || weight == 0.0 && index == indices[0]);
                }
            }
        }
    }

    #[test]
    fn single_influences_are_of_weight_one() {
        let single = |weights: &[f32]| {
            let indices: Vec<u16> = (0..weights.len() as u16).collect();
            PackedInfluences::of_lists(2, &indices, weights, LINEAR).single
        };
        assert_eq!(single(&[1.0, 0.0, 1.0, 0.0]), [0, 2]);
        assert!(single(&[1.0, 0.0, 0.5, 0.0]).is_empty());
        assert!(single(&[1.0, 0.0, 0.5, 0.5]).is_empty());
        assert!(single(&[0.0, 1.0, 1.0, 0.0]).is_empty());
        let constant = PackedInfluences::constant(&[7], &[1.0], LINEAR);
        assert!(constant.single.is_empty());
    }

    #[test]
    fn gathered_records_end_with_weights_of_zero() {
        let (indices, weights) = lists(12, |p| 1 + p * 31 % 12, 900);
        let packed = PackedInfluences::of_lists(12, &indices, &weights, LINEAR);
        let points = [700, 3, 3, 12];
        let longest = points.iter().map(|p| 1 + p * 31 % 12).max().unwrap();
        let mut buffer = vec![u32::MAX; 5];
        let points: Vec<u32> = points.iter().map(|p| *p as u32).collect();
        let records = packed.gathered(&points, &mut buffer);
        assert_eq!(records.count, longest);
        let found = records.words.chunks_exact(record_words(longest));
        for (record, point) in found.zip(&points) {
            let (halves, found) = record.split_at(longest.div_ceil(2));
            let want = packed.of_point(*point as usize).take(longest);
            for (k, (index, weight)) in want.enumerate() {
                assert_eq!(halves[k / 2] >> (k % 2 * 16) & 0xffff, u32::from(index));
                assert_eq!(found[k], weight.to_bits());
            }
        }
    }

    /// The hemisphere of dual quaternions depends on weights of 0 where all others are negative.
    #[test]
    fn dual_quaternions_keep_what_decides_their_hemisphere() {
        let method = SkinningMethod::DualQuaternion;
        let used = |weights: &[f32]| used(weights, method);
        assert_eq!(used(&[-0.5, -0.5, 0.0, 0.0]), 4);
        assert_eq!(used(&[0.5, -0.5, 0.0, 0.0]), 2);
        assert_eq!(used(&[0.5, 0.1, 0.1, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0]), 8);
        assert_eq!(used(&[0.0; 3]), 3);
        assert_eq!(super::used(&[0.0; 3], LINEAR), 1);
    }
}

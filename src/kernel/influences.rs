//! Influences as the kernels read them.

use crate::error::Invalid;
use crate::skel::{InfluenceInterpolation, Skin};

/// The joint influences of a prim: a record of u32 words per point, or one record for all points if
/// they are constant.
///
/// A record is `ceil(count / 2)` words of palette indices, two u16 to a word (the first in the low
/// half), then `count` words of f32 weights. Weights are as authored (rule 21).
///
/// A palette index is the number of a joint of the *skeleton*, also if the prim has a skel:joints
/// order of its own. A joint that the skeleton lacks has the index after the last joint; its matrix
/// is the geomBindTransform alone (rule 11).
#[derive(Clone, Debug, PartialEq)]
pub struct PackedInfluences {
    pub(super) words: Vec<u32>,
    pub(super) count: u32,
    pub(super) constant: bool,
}

/// The largest influences of a point, from [`PackedInfluences::largest`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargestInfluences<const N: usize> {
    /// Palette indices, the one with the largest weight first.
    pub palette_indices: [u16; N],
    /// Weights, in the same order.
    pub weights: [f32; N],
    /// The share of the weights that was dropped, from 0 (none) to 1. If no weight is negative, it
    /// bounds the error of a linearly skinned point: the error is at most this share, times the sum
    /// of the weights, times the largest distance between the places where single joints of the
    /// point would move it.
    pub dropped: f32,
}

/// Records of a run of points or normals, as the CPU's loops read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Records<'a> {
    pub words: &'a [u32],
    pub count: usize,
    /// Whether one record serves all values.
    pub constant: bool,
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

        let mut out = Vec::with_capacity(words as usize);
        let rows = influences
            .joints()
            .chunks_exact(count)
            .zip(influences.weights().chunks_exact(count));
        for (joints, weights) in rows {
            // `Skin` checked the joints, and packing the skin checked that every palette index fits
            // 16 bits.
            let palette_index = |joint: u32| skin.skeleton_joint(joint).unwrap_or(missing);
            out.extend(joints.chunks(2).map(|pair| {
                palette_index(pair[0]) | pair.get(1).map_or(0, |j| palette_index(*j) << 16)
            }));
            out.extend(weights.iter().map(|w| w.to_bits()));
        }
        Ok(Some(Self {
            words: out,
            count: count as u32,
            constant,
        }))
    }

    /// Records of the points `first..first + len`.
    pub(super) fn of_points(&self, first: usize, len: usize) -> Records<'_> {
        let words = record_words(self.count as usize);
        Records {
            words: match self.constant {
                true => &self.words,
                false => &self.words[first * words..(first + len) * words],
            },
            count: self.count as usize,
            constant: self.constant,
        }
    }

    /// Records of these points one after the other, copied to `buffer`.
    pub(super) fn gathered<'a>(&'a self, points: &[u32], buffer: &'a mut Vec<u32>) -> Records<'a> {
        if self.constant {
            return self.of_points(0, 0);
        }
        buffer.clear();
        for point in points {
            buffer.extend_from_slice(self.of_points(*point as usize, 1).words);
        }
        Records {
            words: buffer,
            count: self.count as usize,
            constant: false,
        }
    }

    /// Palette index and weight of each influence of a point, in the authored order. Constant
    /// influences are the same for every point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn of_point(&self, point: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + '_ {
        let record = self.of_points(point, 1).words;
        let (indices, weights) = record.split_at(self.count.div_ceil(2) as usize);
        let palette_index = move |i: usize| (indices[i / 2] >> (i % 2 * 16) & 0xffff) as u16;
        let weights = weights.iter().map(|w| f32::from_bits(*w));
        weights
            .enumerate()
            .map(move |(i, weight)| (palette_index(i), weight))
    }

    /// The `N` influences of a point with the largest absolute weights, for vertex attributes of a
    /// fixed number. If the point has fewer, the rest have index 0 and weight 0. If some are
    /// dropped, the others are scaled so that the sum of the weights stays the same (it need not be
    /// 1, rule 21).
    ///
    /// # Panics
    /// If there is no such point.
    #[must_use]
    pub fn largest<const N: usize>(&self, point: usize) -> LargestInfluences<N> {
        let mut all: Vec<(u16, f32)> = self.of_point(point).collect();
        // The sort is stable: of equal weights, the first authored stays first.
        all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let sum = |part: &[(u16, f32)]| part.iter().map(|(_, w)| f64::from(*w)).sum::<f64>();
        let size = |part: &[(u16, f32)]| part.iter().map(|(_, w)| f64::from(w.abs())).sum::<f64>();
        let kept = all.len().min(N);
        let (of_all, of_kept) = (sum(&all), sum(&all[..kept]));
        let lost = size(&all[kept..]);
        let scale = match lost > 0.0 && of_kept != 0.0 {
            true => of_all / of_kept,
            false => 1.0,
        };
        let mut out = LargestInfluences {
            palette_indices: [0; N],
            weights: [0.0; N],
            dropped: if lost > 0.0 {
                (lost / size(&all)) as f32
            } else {
                0.0
            },
        };
        for (i, (palette_index, weight)) in all[..kept].iter().enumerate() {
            out.palette_indices[i] = *palette_index;
            out.weights[i] = (f64::from(*weight) * scale) as f32;
        }
        out
    }

    /// The records.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Influences per record.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether one record serves every point.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    /// Words from one point's record to the next; 0 if influences are constant.
    #[must_use]
    pub fn stride(&self) -> u32 {
        if self.constant {
            0
        } else {
            record_words(self.count as usize) as u32
        }
    }

    /// Words of one record.
    #[must_use]
    pub fn record_words(&self) -> u32 {
        record_words(self.count as usize) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(count: u32, points: &[(&[u16], &[f32])]) -> PackedInfluences {
        let mut words = Vec::new();
        for (palette_indices, weights) in points {
            let pair = |p: &[u16]| u32::from(p[0]) | p.get(1).map_or(0, |s| u32::from(*s) << 16);
            words.extend(palette_indices.chunks(2).map(pair));
            words.extend(weights.iter().map(|w| w.to_bits()));
        }
        PackedInfluences {
            words,
            count,
            constant: false,
        }
    }

    #[test]
    fn the_largest_influences_keep_the_sum() {
        let five: &[u16] = &[7, 1, 40_000, 3, 9];
        let influences = packed(
            5,
            &[
                (five, &[0.1, 0.4, 0.3, 0.0, -0.2]),
                (five, &[0.5, 0.5, 0.0, 0.0, 0.0]),
                (five, &[0.0; 5]),
            ],
        );
        let all: Vec<_> = influences.of_point(0).collect();
        assert_eq!(
            all,
            [(7, 0.1), (1, 0.4), (40_000, 0.3), (3, 0.0), (9, -0.2)]
        );
        let most = influences.largest::<2>(0);
        assert_eq!(most.palette_indices, [1, 40_000]);
        // 0.6 in all, 0.7 of them kept.
        let want = [0.4 * 6.0 / 7.0, 0.3 * 6.0 / 7.0];
        assert!(
            most.weights
                .iter()
                .zip(want)
                .all(|(w, x)| (w - x).abs() < 1e-6)
        );
        assert!((most.dropped - 0.3).abs() < 1e-6);
        let whole = influences.largest::<2>(1);
        assert_eq!(
            (whole.palette_indices, whole.weights, whole.dropped),
            ([7, 1], [0.5; 2], 0.0)
        );
        let more = influences.largest::<8>(0);
        assert_eq!(more.palette_indices, [1, 40_000, 9, 7, 3, 0, 0, 0]);
        assert_eq!(more.weights, [0.4, 0.3, -0.2, 0.1, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(more.dropped, 0.0);
        assert_eq!(influences.largest::<4>(2).weights, [0.0; 4]);
    }
}

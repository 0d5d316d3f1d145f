//! The words of a rest point, a rest normal and an influence record.

use super::Packing;
use super::codecs::{direction_of, octahedral};
use crate::kernel::registry::{COMPACT_NORMAL, COMPACT_ONE, FINE_NORMAL, FINE_ONE};
use crate::kernel::{PackedInfluences, PackedSkin};

/// Number of words of each kind of value of a skin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLayout {
    /// How many bits values take.
    pub packing: Packing,
    /// Whether palette indices have 8 bits, four to a word; otherwise they have 16, two to a word.
    pub narrow: bool,
    /// Words of a rest point; 0 if the influence record holds it.
    pub point_words: u32,
    /// Words of a rest normal; 0 if the influence record holds it.
    pub normal_words: u32,
    /// Words of an influence record.
    pub record_words: u32,
}

impl PackedSkin {
    /// Number of words that each kind of its values takes when it is encoded.
    #[must_use]
    pub fn value_layout(&self) -> ValueLayout {
        let narrow = self.palette_entry_count() <= 256;
        let count = self.influences().map_or(0, PackedInfluences::count);
        let indices = count.div_ceil(if narrow { 4 } else { 2 });
        let (point_words, normal_words, record_words) = match self.packing() {
            Packing::Exact => (3, 3, indices + count),
            Packing::Fine => (2, 1, indices + count.div_ceil(2)),
            Packing::Compact => (0, 0, 4),
        };
        ValueLayout {
            packing: self.packing(),
            narrow,
            point_words,
            normal_words,
            record_words,
        }
    }
}

impl PackedSkin {
    /// Appends the words of a rest point.
    pub(super) fn encode_point(&self, point: usize, words: &mut Vec<u32>) {
        match self.packing {
            Packing::Exact => words.extend(self.points[point].to_array().map(f32::to_bits)),
            Packing::Fine => {
                let [x, y, z] = self.grid.steps(self.points[point]);
                // 21 bits each: x and the low part of y, then the rest of y and z.
                words.extend([x | y << 21, y >> 11 | z << 10]);
            }
            Packing::Compact => {}
        }
    }

    /// Appends the words of a rest normal.
    pub(super) fn encode_normal(&self, normal: usize, words: &mut Vec<u32>) {
        let Some(value) = self.normals.as_ref().map(|n| n[normal]) else {
            return;
        };
        match self.packing {
            Packing::Exact => words.extend(value.to_array().map(f32::to_bits)),
            Packing::Fine => {
                let [x, y] = octahedral(value, FINE_NORMAL);
                words.push(x as u32 & 0xffff | (y as u32) << 16);
            }
            Packing::Compact => {}
        }
    }

    /// Appends a point's influence record, with everything else that the packing keeps in it.
    pub(super) fn encode_record(&self, point: usize, words: &mut Vec<u32>) {
        let Some(influences) = &self.influences else {
            return;
        };
        let all = || influences.of_point(point);
        if self.packing == Packing::Compact {
            words.extend(self.compact_record(point, influences));
            return;
        }
        let (indices, bits) = if self.value_layout().narrow {
            (4, 8)
        } else {
            (2, 16)
        };
        put_parts(
            words,
            all().map(|(index, _)| u32::from(index)),
            indices,
            bits,
        );
        match self.packing {
            Packing::Fine => {
                let whole = |w: f32| (f64::from(w) * f64::from(FINE_ONE)).round() as u32;
                put_parts(words, all().map(|(_, w)| whole(w)), 2, 16);
            }
            _ => words.extend(all().map(|(_, w)| w.to_bits())),
        }
    }

    /// The four words of a compact record: x and y of the point; z, and the lower and upper parts
    /// of two weights; four palette indices; the normal and the last weight.
    ///
    /// The largest weight is 1023 minus the others, so the second is at most 511, the third 341 and
    /// the last 255.
    fn compact_record(&self, point: usize, influences: &PackedInfluences) -> [u32; 4] {
        let [x, y, z] = self.grid.steps(self.points[point]);
        let normal = self.normals.as_ref().map_or(glam::Vec3::ZERO, |n| n[point]);
        let [u, v] = octahedral(normal, COMPACT_NORMAL).map(|c| c as u32 & 0x7ff);
        let mut weights = [0; 4];
        let mut indices = 0;
        for (i, (index, w)) in influences.of_point(point).enumerate() {
            weights[i] = (f64::from(w) * f64::from(COMPACT_ONE)).round() as u32;
            indices |= u32::from(index) << (8 * i);
        }
        let [_, second, third, last] = weights;
        [
            x | y << 16,
            z | second << 16 | (third & 0x7f) << 25,
            indices,
            u | v << 11 | (third >> 7) << 22 | last << 24,
        ]
    }
}

/// Decodes a normal that the GPU wrote as an octahedral direction.
///
/// The word holds two signed 16-bit numbers, x in the low half. 32767 means 1 and -32767 means -1;
/// if x is -32768, there is no direction and the result is zero. Otherwise let `z = 1 - |x| - |y|`.
/// If z is negative, x and y each move by -z towards 0, and past it if they are smaller. (x, y, z)
/// is then normalised.
#[must_use]
pub fn unpack_normal(word: u32) -> glam::Vec3 {
    direction_of(
        [word as i16, (word >> 16) as i16].map(i32::from),
        FINE_NORMAL,
    )
}

/// Appends numbers of `bits` bits, `per_word` per word. The first number takes the lowest bits.
fn put_parts(words: &mut Vec<u32>, values: impl Iterator<Item = u32>, per_word: usize, bits: u32) {
    let first = words.len();
    for (i, value) in values.enumerate() {
        if i % per_word == 0 {
            words.push(0);
        }
        words[first + i / per_word] |= value << (bits * (i % per_word) as u32);
    }
}

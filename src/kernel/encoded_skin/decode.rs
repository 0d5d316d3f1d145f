//! Decodes a slice by the steps of `shaders/skin.wgsl` and `shaders/multi_pose_lbs.wgsl`.

use glam::{Vec3, Vec4};

use super::codecs::{direction_of, fraction};
use super::{EncodedSlice, Packing};
use crate::kernel::registry::{COMPACT_NORMAL, COMPACT_ONE, FINE_NORMAL, FINE_ONE};
use crate::kernel::{NONE, SkinItem};

/// The values of a slice, as a kernel reads them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DecodedSlice {
    /// The point of each result, as an index within the slice.
    pub sources: Vec<u32>,
    /// One per point; none for faceVarying normals.
    pub points: Vec<Vec3>,
    /// One per result, if there are any.
    pub normals: Vec<Vec3>,
    /// One per result, if there are any.
    pub tangents: Vec<Vec4>,
    /// Palette indices and weights of the point of each result.
    pub influences: Vec<Vec<(u16, f32)>>,
    /// Per result, the entries of its point in the order of the sum: sub-shape, offset, normal
    /// offset.
    pub blend: Vec<Vec<(u32, Vec3, Option<Vec3>)>>,
    /// Per result, the pairs of neighbours of its point, as indices of the skin's results.
    pub neighbors: Vec<Vec<[u32; 2]>>,
}

impl EncodedSlice {
    /// Decodes the words, which begin at word `at` of `buffer`.
    pub(super) fn decode(&self, buffer: &[u32], at: u32) -> DecodedSlice {
        let offsets = self.offsets.moved_by(at);
        let read = Reader {
            words: buffer,
            slice: self,
        };
        let results = 0..offsets.count;
        let sources: Vec<u32> = match offsets.sources {
            NONE => results.clone().collect(),
            first => results
                .clone()
                .map(|i| buffer[(first + i) as usize])
                .collect(),
        };
        let point_count = sources.iter().max().map_or(0, |last| last + 1);
        let of_each = |first: u32| results.clone().filter(move |_| first != NONE);
        let of_source = |first: u32| sources.iter().copied().filter(move |_| first != NONE);
        DecodedSlice {
            points: (0..point_count)
                .filter(|_| offsets.points != NONE)
                .map(|point| read.point(offsets.points, offsets.influences, point))
                .collect(),
            normals: of_each(offsets.normals)
                .map(|i| read.normal(offsets.normals, offsets.influences, i))
                .collect(),
            tangents: of_each(offsets.tangents)
                .map(|i| {
                    let at = offsets.tangents + i * 4;
                    read.vector(at).extend(read.float(at + 3))
                })
                .collect(),
            influences: of_source(offsets.influences)
                .map(|point| {
                    let record = offsets.influences + point * offsets.influence_stride;
                    read.record(record, offsets.influence_count)
                })
                .collect(),
            blend: of_source(offsets.blend_list)
                .map(|point| read.blend(&offsets, point))
                .collect(),
            neighbors: of_source(offsets.neighbor_rows)
                .map(|point| {
                    let row = offsets.neighbor_rows + point;
                    let corners = read.word(row)..read.word(row + 1);
                    let pair = |corner| {
                        let at = offsets.neighbors + corner * 2;
                        [read.word(at), read.word(at + 1)]
                    };
                    corners.map(pair).collect()
                })
                .collect(),
            sources,
        }
    }
}

struct Reader<'a> {
    words: &'a [u32],
    slice: &'a EncodedSlice,
}

impl Reader<'_> {
    fn word(&self, at: u32) -> u32 {
        self.words[at as usize]
    }

    fn float(&self, at: u32) -> f32 {
        f32::from_bits(self.word(at))
    }

    fn vector(&self, at: u32) -> Vec3 {
        Vec3::new(self.float(at), self.float(at + 1), self.float(at + 2))
    }

    fn packing(&self) -> Packing {
        let of = self.slice.multi_pose;
        of.map_or(Packing::Exact, |values| values.layout.packing)
    }

    fn on_grid(&self, steps: [u32; 3]) -> Vec3 {
        self.slice.multi_pose.expect("packed").grid.point(steps)
    }

    fn point(&self, points: u32, records: u32, point: u32) -> Vec3 {
        match self.packing() {
            Packing::Exact => self.vector(points + point * 3),
            Packing::Fine => {
                let at = points + point * 2;
                let (low, high) = (self.word(at), self.word(at + 1));
                let y = low >> 21 | (high & 0x3ff) << 11;
                self.on_grid([low & 0x1f_ffff, y, high >> 10 & 0x1f_ffff])
            }
            Packing::Compact => {
                let at = records + point * 4;
                let (xy, z) = (self.word(at), self.word(at + 1));
                self.on_grid([xy & 0xffff, xy >> 16, z & 0xffff])
            }
        }
    }

    fn normal(&self, normals: u32, records: u32, result: u32) -> Vec3 {
        // `bits` bits of a word with `left` bits above them. The highest is the sign.
        let signed = |word: u32, left: u32, bits: u32| (word << left) as i32 >> (32 - bits);
        match self.packing() {
            Packing::Exact => self.vector(normals + result * 3),
            Packing::Fine => {
                let word = self.word(normals + result);
                direction_of([signed(word, 16, 16), signed(word, 0, 16)], FINE_NORMAL)
            }
            Packing::Compact => {
                let word = self.word(records + result * 4 + 3);
                direction_of([signed(word, 21, 11), signed(word, 10, 11)], COMPACT_NORMAL)
            }
        }
    }

    fn record(&self, record: u32, count: u32) -> Vec<(u16, f32)> {
        if self.packing() == Packing::Compact {
            return self.compact_record(record);
        }
        let is_narrow = self.slice.flags & SkinItem::NARROW_JOINTS != 0;
        let (per_word, bits) = if is_narrow { (4, 8) } else { (2, 16) };
        let weights = record + count.div_ceil(per_word);
        let index = |i: u32| self.word(record + i / per_word) >> (i % per_word * bits);
        let weight = |i: u32| match self.packing() {
            Packing::Fine => {
                let whole = self.word(weights + i / 2) >> (i % 2 * 16) & 0xffff;
                fraction(whole, FINE_ONE)
            }
            _ => self.float(weights + i),
        };
        let of = |i| ((index(i) & ((1 << bits) - 1)) as u16, weight(i));
        (0..count).map(of).collect()
    }

    fn compact_record(&self, record: u32) -> Vec<(u16, f32)> {
        let [_, b, indices, d] = [0, 1, 2, 3].map(|i| self.word(record + i));
        let second = b >> 16 & 0x1ff;
        let third = b >> 25 | (d >> 22 & 3) << 7;
        let last = d >> 24;
        let first = COMPACT_ONE - second - third - last;
        let weights = [first, second, third, last].map(|q| fraction(q, COMPACT_ONE));
        let indices = indices.to_le_bytes().map(u16::from);
        indices.into_iter().zip(weights).collect()
    }

    fn blend(&self, of: &super::SliceOffsets, point: u32) -> Vec<(u32, Vec3, Option<Vec3>)> {
        let entry_bits = of.blend_bits & 0xff;
        let first = self.word(of.blend_offsets + (point >> (of.blend_bits >> 8)));
        let row = of.blend_list + point;
        let entries = self.word(row)..self.word(row + 1);
        let entry = |at: u32| {
            let entry = self.word(of.blend_list + at);
            let offset = first + (entry & ((1 << entry_bits) - 1)) * 3;
            let normals = Some(of.blend_normal_offsets).filter(|first| *first != NONE);
            (
                entry >> entry_bits,
                self.vector(of.blend_offsets + offset),
                normals.map(|first| self.vector(first + offset)),
            )
        };
        entries.map(entry).collect()
    }
}

//! Decodes a slice by the steps of `shaders/skin.wgsl`, and compares it with the input of the
//! CPU mirror. Only tests and fuzzers need this.

use glam::{Vec3, Vec4};

use super::slices::{Results, Run, Sizes};
use super::{EncodedSlice, TooLarge, encode};
use crate::kernel::registry::NARROW_JOINTS;
use crate::kernel::{NONE, PackedSkin};

/// Sub-shape, offset and normal offset.
type BlendEntry = (u32, Vec3, Option<Vec3>);

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
    pub blend: Vec<Vec<BlendEntry>>,
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
                .map(|point| read.vector(offsets.points + point * 3))
                .collect(),
            normals: of_each(offsets.normals)
                .map(|i| read.vector(offsets.normals + i * 3))
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

    fn record(&self, record: u32, count: u32) -> Vec<(u16, f32)> {
        let is_narrow = self.slice.flags & NARROW_JOINTS != 0;
        let (per_word, bits) = if is_narrow { (4, 8) } else { (2, 16) };
        let weights = record + count.div_ceil(per_word);
        let index = |i: u32| self.word(record + i / per_word) >> (i % per_word * bits);
        let of = |i| {
            (
                (index(i) & ((1 << bits) - 1)) as u16,
                self.float(weights + i),
            )
        };
        (0..count).map(of).collect()
    }

    fn blend(&self, of: &super::SliceOffsets, point: u32) -> Vec<BlendEntry> {
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

fn bits(values: &[Vec3]) -> Vec<[u32; 3]> {
    values
        .iter()
        .map(|v| v.to_array().map(f32::to_bits))
        .collect()
}

/// The values that the CPU mirror has for the point and the normal of a result.
struct Mirror<'a> {
    skin: &'a PackedSkin,
    /// Blend entries of each point, in the order of the sum.
    blend: Vec<Vec<BlendEntry>>,
}

impl<'a> Mirror<'a> {
    fn new(skin: &'a PackedSkin) -> Self {
        let mut blend = vec![Vec::new(); skin.point_count()];
        if let Some(of) = skin.blend() {
            for sub_shape in 0..of.positions().len() as u32 {
                // The sub-shape alone, and what it adds to zero.
                for (point, entry) in of.index().entries_of(sub_shape) {
                    let normal = of.normal_offsets().map(|n| n[entry]);
                    blend[point].push((sub_shape, of.offsets()[entry], normal));
                }
            }
        }
        Self { skin, blend }
    }

    /// Compares a slice with the values of the mirror.
    fn check(&self, what: &str, slice: &EncodedSlice, found: &DecodedSlice) {
        let skin = self.skin;
        let is_corners = slice.offsets.points == NONE;
        let results = slice.first..slice.first + slice.offsets.count as usize;
        let point_of = |result: usize| match (skin.vertices(), skin.normal_points()) {
            (Some(vertices), _) => vertices.points()[result] as usize,
            (None, Some(corners)) if is_corners => corners[result] as usize,
            _ => result,
        };
        // Points of a slice are indexed from the slice's first point.
        let own: Vec<usize> = results.clone().map(point_of).collect();
        let value = |values: &[Vec3], i: usize| values[found.sources[i] as usize];
        if !is_corners {
            let got: Vec<Vec3> = (0..own.len()).map(|i| value(&found.points, i)).collect();
            let want: Vec<Vec3> = own.iter().map(|p| skin.points()[*p]).collect();
            assert_eq!(bits(&got), bits(&want), "{what}: points");
        }
        if !found.normals.is_empty() {
            let numbers = skin.vertices().map(|v| v.normals().unwrap_or(v.points()));
            let rest = skin.normals().expect("has some");
            let normal = |r: usize| rest[numbers.map_or(r, |n| n[r] as usize)];
            let want: Vec<Vec3> = results.clone().map(normal).collect();
            assert_eq!(bits(&found.normals), bits(&want), "{what}: normals");
        }
        let of_points = !is_corners || skin.normal_points().is_none();
        let has_normals = is_corners || skin.has_point_normals() || skin.vertices().is_some();
        assert_eq!(
            !found.normals.is_empty(),
            has_normals && skin.normals().is_some(),
            "{what}"
        );
        if let (Some(tangents), true) = (skin.tangents(), of_points) {
            let bits = |t: &[Vec4]| -> Vec<[u32; 4]> {
                t.iter().map(|t| t.to_array().map(f32::to_bits)).collect()
            };
            assert_eq!(
                bits(&found.tangents),
                bits(&tangents[results.clone()]),
                "{what}"
            );
        }
        let records = skin.influences().map_or(Vec::new(), |influences| {
            own.iter()
                .map(|p| influences.of_point(*p).collect::<Vec<_>>())
                .collect()
        });
        assert_eq!(found.influences.len(), records.len(), "{what}: influences");
        for (got, want) in found.influences.iter().zip(&records) {
            let bits = |of: &[(u16, f32)]| -> Vec<(u16, u32)> {
                of.iter().map(|(index, w)| (*index, w.to_bits())).collect()
            };
            assert_eq!(bits(got), bits(want), "{what}: influences");
        }
        if skin.blend().is_some() && !is_corners {
            assert_eq!(found.blend.len(), own.len(), "{what}: blend entries");
            for (got, point) in found.blend.iter().zip(&own) {
                let bits = |of: &[BlendEntry]| -> Vec<_> {
                    let vector = |v: Vec3| v.to_array().map(f32::to_bits);
                    let entry = |(s, o, n): &BlendEntry| (*s, vector(*o), n.map(vector));
                    of.iter().map(entry).collect()
                };
                assert_eq!(
                    bits(got),
                    bits(&self.blend[*point]),
                    "{what}: blend entries"
                );
            }
        }
        if let (Some(normals), false) = (skin.smooth_normals(), is_corners) {
            for (i, point) in own.iter().enumerate() {
                let corners = normals.rows()[*point] as usize..normals.rows()[*point + 1] as usize;
                // Neighbours are indices of results, so each is mapped back to its point.
                let shown = found.neighbors[i]
                    .iter()
                    .map(|pair| pair.map(|r| point_of(r as usize)));
                let want = &normals.neighbors()[corners];
                let want = want.iter().map(|pair| pair.map(|p| p as usize));
                assert!(shown.eq(want), "{what}: neighbours of point {point}");
            }
        }
    }
}

/// Encodes a skin, decodes it, and compares the values with those that the CPU mirror has, to the
/// bit. Returns the number of slices. `what` is said when something differs.
///
/// # Errors
/// A result does not fit a binding of this size.
///
/// # Panics
/// If a value, the size of a slice or the order of slices is wrong.
pub fn check_decoded(what: &str, skin: &PackedSkin, binding_bytes: u64) -> Result<usize, TooLarge> {
    let mirror = Mirror::new(skin);
    let (mut next, mut count, mut is_at_corners) = (0, 0, false);
    for slice in encode(skin, binding_bytes) {
        let slice = slice?;
        if slice.offsets.points == NONE && !is_at_corners {
            // faceVarying normals have indices of their own, after all points.
            assert_eq!(next, skin.output_count(), "{what}: points");
            (next, is_at_corners) = (0, true);
        }
        count += 1;
        let bytes = slice.words.len() as u64 * 4;
        assert!(bytes <= binding_bytes, "{what}: {bytes} bytes");
        let results = match skin.vertices() {
            Some(vertices) => Results::Vertices(vertices.points()),
            None => match skin.normal_points() {
                Some(points) if slice.offsets.points == NONE => Results::Corners(points),
                _ => Results::Points,
            },
        };
        let sizes = Sizes::new(skin, results);
        let planned = Run::longest(skin, results, &sizes, slice.first, binding_bytes);
        assert_eq!(slice.words.len() as u64, planned.words, "{what}: sizes");
        // Any place in a buffer.
        let mut buffer = vec![0xdead_beef; 77];
        buffer.extend(&slice.words);
        mirror.check(what, &slice, &slice.decode(&buffer, 77));
        assert_eq!(slice.first, next, "{what}");
        next += slice.offsets.count as usize;
    }
    let want = match (skin.vertices(), skin.normal_points()) {
        (None, Some(corners)) if is_at_corners || !corners.is_empty() => corners.len(),
        _ => skin.output_count(),
    };
    assert_eq!(next, want, "{what}: results");
    Ok(count)
}

//! The words of a rest point, a rest normal and an influence record, and how many bytes skinning
//! moves for a point.

use glam::{DVec3, Vec3, Vec4};

use super::slices::{Results, Sizes};
use crate::kernel::{PackedInfluences, PackedSkin};

/// How the influence records of a skin are encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueLayout {
    /// Whether palette indices have 8 bits, four to a word; otherwise they have 16, two to a word.
    pub narrow: bool,
    /// Words of an influence record.
    pub record_words: u32,
}

impl PackedSkin {
    /// How its influence records are encoded.
    pub(super) fn value_layout(&self) -> ValueLayout {
        let narrow = self.palette_entry_count() <= 256;
        let count = self.influences().map_or(0, PackedInfluences::count);
        ValueLayout {
            narrow,
            record_words: count.div_ceil(if narrow { 4 } else { 2 }) + count,
        }
    }

    /// Appends the words of a rest point.
    pub(super) fn encode_point(&self, point: usize, words: &mut Vec<u32>) {
        words.extend(self.points[point].to_array().map(f32::to_bits));
    }

    /// Appends the words of a rest normal.
    pub(super) fn encode_normal(&self, normal: usize, words: &mut Vec<u32>) {
        if let Some(normals) = &self.normals {
            words.extend(normals[normal].to_array().map(f32::to_bits));
        }
    }

    /// Appends a point's influence record: palette indices, then weights.
    pub(super) fn encode_record(&self, point: usize, words: &mut Vec<u32>) {
        let Some(influences) = &self.influences else {
            return;
        };
        let (per_word, bits) = match self.value_layout().narrow {
            true => (4, 8),
            false => (2, 16),
        };
        let first = words.len();
        for (i, (index, _)) in influences.of_point(point).enumerate() {
            if i % per_word == 0 {
                words.push(0);
            }
            words[first + i / per_word] |= u32::from(index) << (bits * (i % per_word));
        }
        words.extend(influences.of_point(point).map(|(_, w)| w.to_bits()));
    }
}

/// Number of bytes that the kernels move per point of a skin, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PointBytes {
    /// Bytes of static data that are read: rest points, rest normals, influences and indices.
    pub read: f64,
    /// Bytes of results that are written: 12 per position, 12 per normal and 16 per tangent.
    pub written: f64,
}

impl PackedSkin {
    /// Number of bytes that skinning moves per point, on average over the skin. Face corners and
    /// render vertices count for their points. It leaves out palettes (96 bytes per joint and
    /// instance) and blend entries, which depend on the active shapes.
    ///
    /// An instance writes 12 bytes less if its target leaves normals out, and 8 bytes less if it
    /// asks for octahedral ones.
    #[must_use]
    pub fn bytes_per_point(&self) -> PointBytes {
        let points = self.point_count();
        if points == 0 {
            return PointBytes::default();
        }
        let results = match &self.vertices {
            Some(vertices) => Results::Vertices(vertices.points()),
            None => Results::Points,
        };
        let sizes = Sizes::new(self, results);
        let neighbors = self
            .smooth_normals
            .as_ref()
            .map_or(0, |n| n.neighbors().len() * 2);
        let mut words = sizes.once() - sizes.blend_row
            + (sizes.per_point() - sizes.blend_row) * points as u64
            + sizes.per_result() * self.output_count() as u64
            + neighbors as u64;
        if let (None, Some(corners)) = (&self.vertices, &self.normal_points) {
            let sizes = Sizes::new(self, Results::Corners(corners));
            words += sizes.per_result() * corners.len() as u64;
        }
        let tangents = self.tangents().map_or(0, <[_]>::len) * size_of::<Vec4>();
        let vectors = (self.output_count() + self.output_normal_count()) * size_of::<Vec3>();
        PointBytes {
            read: words as f64 * 4.0 / points as f64,
            written: (vectors + tangents) as f64 / points as f64,
        }
    }
}

/// Decodes a normal that the GPU wrote as an octahedral direction.
///
/// The word holds two signed 16-bit numbers, x in the low half. 32767 means 1 and -32767 means -1;
/// if x is -32768, there is no direction and the result is zero. Otherwise let `z = 1 - |x| - |y|`.
/// If z is negative, x and y each move by -z towards 0, and past it if they are smaller. (x, y, z)
/// is then normalised.
#[must_use]
pub fn unpack_normal(word: u32) -> Vec3 {
    let halves = [word as i16, (word >> 16) as i16];
    if halves[0] == i16::MIN {
        return Vec3::ZERO;
    }
    let [x, y] = halves.map(|v| f64::from(v) / f64::from(i16::MAX));
    let z = 1.0 - x.abs() - y.abs();
    let folded = (-z).max(0.0);
    let back = |v: f64| if v < 0.0 { v + folded } else { v - folded };
    DVec3::new(back(x), back(y), z).normalize().as_vec3()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octahedral_normals_are_unpacked() {
        let word = |x: i16, y: i16| u32::from(x as u16) | u32::from(y as u16) << 16;
        let half = std::f32::consts::FRAC_1_SQRT_2;
        for (x, y, normal) in [
            (0, 0, Vec3::Z),
            (32767, 0, Vec3::X),
            (0, -32767, -Vec3::Y),
            // The corners of the square are one direction.
            (32767, 32767, -Vec3::Z),
            (-32767, 32767, -Vec3::Z),
            // The middle of an edge between two axes, and between x and -z.
            (16384, 16384, Vec3::new(half, half, 0.0)),
            (32767, 16384, Vec3::new(half, 0.0, -half)),
            (i16::MIN, 0, Vec3::ZERO),
        ] {
            let found = unpack_normal(word(x, y));
            assert!(found.distance(normal) < 1e-4, "{x} {y}: {found}");
        }
    }
}

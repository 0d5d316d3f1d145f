//! Plain data as crate files have it: how arrays are compressed, and which scalars fit into a field.

use half::f16;

use super::ints::{pack32, pack64};
use super::tables::Map;
use crate::value::{Duration, Quat, TimeCode};

/// Shorter arrays are not compressed.
const MIN_COMPRESSED: usize = 16;

/// The longest table of values of a compressed array.
const MAX_TABLE: usize = 1024;

/// Plain data that a crate file has as it lies in memory.
pub trait Element: bytemuck::NoUninit + sealed::Sealed {}

impl<T: bytemuck::NoUninit + sealed::Sealed> Element for T {}

pub(super) mod sealed {
    pub trait Sealed: Copy {
        /// The number of the type.
        const KIND: u8;
        /// Bytes of one component, which big-endian machines have to turn round.
        const WIDTH: usize;
        /// What follows the number of elements if the array is compressed; none if it is not.
        fn compress(_: &[Self]) -> Option<Vec<u8>> {
            None
        }
    }
}
use sealed::Sealed;

macro_rules! plain {
    ($($type:ty, $kind:literal, $width:literal $(, $compress:expr)?;)*) => {
        $(impl Sealed for $type {
            const KIND: u8 = $kind;
            const WIDTH: usize = $width;
            $(fn compress(array: &[Self]) -> Option<Vec<u8>> {
                (array.len() >= MIN_COMPRESSED).then(|| $compress(array)).flatten()
            })?
        })*
    };
}

plain! {
    bool, 1, 1;
    u8, 2, 1;
    i32, 3, 4, pack32;
    u32, 4, 4, |a| pack32(bytemuck::cast_slice(a));
    i64, 5, 8, pack64;
    u64, 6, 8, |a| pack64(bytemuck::cast_slice(a));
    f16, 7, 2, |a| compress_floats(a, |v: f16| (u64::from(v.to_bits()), f64::from(v)));
    f32, 8, 4, |a| compress_floats(a, |v: f32| (u64::from(v.to_bits()), f64::from(v)));
    f64, 9, 8, |a| compress_floats(a, |v: f64| (v.to_bits(), v));
    [f64; 4], 27, 8;
    [f64; 9], 14, 8;
    [f64; 16], 15, 8;
    Quat<f64>, 16, 8;
    Quat<f32>, 17, 4;
    Quat<f16>, 18, 2;
    [f64; 2], 19, 8;
    [f32; 2], 20, 4;
    [f16; 2], 21, 2;
    [i32; 2], 22, 4;
    [f64; 3], 23, 8;
    [f32; 3], 24, 4;
    [f16; 3], 25, 2;
    [i32; 3], 26, 4;
    [f32; 4], 28, 4;
    [f16; 4], 29, 2;
    [i32; 4], 30, 4;
    TimeCode, 56, 8;
    Duration, 61, 8;
}

/// The bytes of plain data, little-endian.
pub(super) fn bytes_of<T: Element>(data: &[T]) -> std::borrow::Cow<'_, [u8]> {
    let bytes: &[u8] = bytemuck::cast_slice(data);
    if cfg!(target_endian = "little") || T::WIDTH == 1 {
        return bytes.into();
    }
    let turned = bytes.chunks_exact(T::WIDTH);
    turned.flat_map(|c| c.iter().rev().copied()).collect()
}

/// Floats as integers (`i`) if all are, or as a table of values with an index for each float (`t`) if there are few
/// different ones. A float is told from others by its bits, so -0 and NaN stay what they are.
fn compress_floats<T: Element>(
    array: &[T],
    bits_and_value: impl Fn(T) -> (u64, f64),
) -> Option<Vec<u8>> {
    let ints: Option<Vec<i32>> = array
        .iter()
        .map(|v| as_int::<i32>(bits_and_value(*v).1))
        .collect();
    if let Some(ints) = ints {
        return Some([&b"i"[..], &pack32(&ints)?].concat());
    }
    let most = (array.len() / 4).min(MAX_TABLE);
    let mut table: Vec<T> = Vec::new();
    let mut index: Map<u64, i32> = Map::default();
    let mut indices = Vec::new();
    for value in array {
        let next = table.len();
        let i = *index.entry(bits_and_value(*value).0).or_insert(next as i32);
        if i as usize == next {
            if next == most {
                return None;
            }
            table.push(*value);
        }
        indices.push(i);
    }
    let length = (table.len() as u32).to_le_bytes();
    Some([&b"t"[..], &length, &bytes_of(&table), &pack32(&indices)?].concat())
}

/// A number as an integer, if it is exactly one (and not -0).
pub(super) fn as_int<I: TryFrom<i64> + Into<i64> + Copy>(value: f64) -> Option<I> {
    let int = value as i64;
    let same = (int as f64).to_bits() == value.to_bits();
    same.then(|| I::try_from(int).ok()).flatten()
}

/// A vector whose components all are integers of 8 bits, as it stands in a field.
pub(super) fn inline_vector<T: Copy>(vector: &[T], value: impl Fn(T) -> f64) -> Option<u32> {
    let mut bytes = [0; 4];
    for (byte, component) in bytes.iter_mut().zip(vector) {
        *byte = as_int::<i8>(value(*component))? as u8;
    }
    Some(u32::from_le_bytes(bytes))
}

/// A matrix of `n` rows that is zero beside its diagonal, which has integers of 8 bits, as it stands in a field.
pub(super) fn inline_matrix(matrix: &[f64], n: usize) -> Option<u32> {
    let mut diagonal = [0.0; 4];
    for (i, value) in matrix.iter().enumerate() {
        if i / n == i % n {
            diagonal[i / n] = *value;
        } else if value.to_bits() != 0 {
            return None;
        }
    }
    inline_vector(&diagonal[..n], |v| v)
}

/// A double that is exactly a float, as it stands in a field.
pub(super) fn inline_double(value: f64) -> Option<u32> {
    let float = value as f32;
    (float.is_finite() && f64::from(float).to_bits() == value.to_bits()).then(|| float.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usdc::read::ints::{Int, decompress};

    #[test]
    fn small_values_stand_in_their_field() {
        assert_eq!(inline_double(0.5), Some(0.5f32.to_bits()));
        assert_eq!(inline_double(-0.0), Some(0x8000_0000));
        for value in [0.1, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!(inline_double(value), None);
        }
        assert_eq!(inline_vector(&[1.0, -2.0, 127.0], |v| v), Some(0x007f_fe01));
        assert_eq!(
            inline_vector(&[-128, 0, 3, 4], f64::from),
            Some(0x0403_0080)
        );
        for value in [128.0, 0.5, -0.0, f64::NAN] {
            assert_eq!(inline_vector(&[0.0, value], |v| v), None);
        }
        let mut matrix = [0.0; 9];
        (matrix[0], matrix[4], matrix[8]) = (1.0, 2.0, -1.0);
        assert_eq!(inline_matrix(&matrix, 3), Some(0x00ff_0201));
        matrix[1] = -0.0;
        assert_eq!(inline_matrix(&matrix, 3), None);
    }

    /// The integers of `pack32`.
    fn unpack(bytes: &[u8], count: usize) -> Vec<i32> {
        let (length, rest) = bytes.split_first_chunk::<8>().unwrap();
        assert_eq!(u64::from_le_bytes(*length) as usize, rest.len());
        let most = i32::coded_len(count).unwrap();
        i32::decode(&decompress(rest, most, 0).unwrap(), count).unwrap()
    }

    #[test]
    fn arrays_are_compressed_if_it_helps() {
        assert_eq!(i32::compress(&[1; 15]), None);
        let ints: Vec<u32> = (0..16).map(|i| u32::MAX - i).collect();
        let packed = u32::compress(&ints).unwrap();
        assert_eq!(unpack(&packed, 16)[..2], [-1, -2]);

        let floats: Vec<f32> = (0..16).map(|i| i as f32 - 3.0).collect();
        let packed = f32::compress(&floats).unwrap();
        assert_eq!(packed[0], b'i');
        assert_eq!(unpack(&packed[1..], 16)[..2], [-3, -2]);

        let floats: Vec<f64> = (0..16).map(|i| [0.5, -0.0, f64::NAN][i % 3]).collect();
        let packed = f64::compress(&floats).unwrap();
        assert_eq!(packed[..5], [b't', 3, 0, 0, 0]);
        let table: Vec<u64> = packed[5..29]
            .chunks(8)
            .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
            .collect();
        assert_eq!(table, [0.5, -0.0, f64::NAN].map(f64::to_bits));
        assert_eq!(unpack(&packed[29..], 16)[..4], [0, 1, 2, 0]);

        let floats: Vec<f16> = (0..16).map(|i| f16::from_f32(i as f32 + 0.5)).collect();
        assert_eq!(f16::compress(&floats), None);
        // Of 16 floats at most 4 may differ.
        for (different, packed) in [(4, true), (5, false)] {
            let floats: Vec<f32> = (0..16).map(|i| 0.5 + (i % different) as f32).collect();
            assert_eq!(f32::compress(&floats).is_some(), packed);
        }
        assert_eq!(<[f32; 3]>::compress(&[[0.0; 3]; 99]), None);
    }
}

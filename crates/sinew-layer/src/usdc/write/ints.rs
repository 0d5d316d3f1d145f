//! The compression of crate files: integers as deltas, and bytes with LZ4 in chunks.
//!
//! Source: pxr/usd/sdf/integerCoding.cpp and pxr/base/tf/fastCompression.cpp of OpenUSD.

use std::collections::HashMap;

/// The largest input of one LZ4 block (`LZ4_MAX_INPUT_SIZE`).
const MAX_CHUNK: usize = 0x7E00_0000;

/// The number of chunks is a signed byte.
const MAX_CHUNKS: usize = 127;

/// How many different deltas are counted to find the most frequent one.
const MAX_COUNTED: usize = 1 << 16;

/// Compresses bytes. None if there are more than the format can hold (about 268 GB).
pub(in crate::usdc) fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    compress_chunks(bytes, MAX_CHUNK)
}

fn compress_chunks(bytes: &[u8], chunk: usize) -> Option<Vec<u8>> {
    let bound = lz4_flex::block::get_maximum_output_size;
    let chunks = bytes.len().div_ceil(chunk);
    if chunks > MAX_CHUNKS {
        return None;
    }
    // A single chunk has no length of its own.
    let single = chunks <= 1;
    let mut out = vec![if single { 0 } else { chunks as u8 }];
    // No chunk at all is still one block, of no bytes.
    for part in bytes
        .chunks(chunk)
        .chain(bytes.is_empty().then_some(&[][..]))
    {
        let length = out.len();
        if !single {
            out.extend([0; 4]);
        }
        let start = out.len();
        out.resize(start + bound(part.len()), 0);
        let used = lz4_flex::block::compress_into(part, &mut out[start..]).ok()?;
        out.truncate(start + used);
        if !single {
            out[length..start].copy_from_slice(&(used as u32).to_le_bytes());
        }
    }
    Some(out)
}

/// The most frequent delta; of several the largest, which saves most.
fn most_frequent(deltas: impl Iterator<Item = i64>) -> i64 {
    let mut counts: HashMap<i64, usize, foldhash::fast::RandomState> = HashMap::default();
    for delta in deltas {
        if let Some(count) = counts.get_mut(&delta) {
            *count += 1;
        } else if counts.len() < MAX_COUNTED {
            counts.insert(delta, 1);
        }
    }
    let most = counts
        .into_iter()
        .max_by_key(|(delta, count)| (*count, *delta));
    most.map_or(0, |(delta, _)| delta)
}

/// Makes the encoder for one width of integers: its name, the type, and the types of small and medium deltas.
macro_rules! encoder {
    ($name:ident, $int:ty, $small:ty, $medium:ty) => {
        /// Integers as deltas: the most frequent delta, then two bits for each delta that say whether it is the most
        /// frequent one (0) or how many bytes it has (1 to 3), then the bytes of the others.
        pub(in crate::usdc) fn $name(ints: &[$int]) -> Vec<u8> {
            if ints.is_empty() {
                return Vec::new();
            }
            let deltas = || {
                let mut previous: $int = 0;
                ints.iter().map(move |v| {
                    let delta = v.wrapping_sub(previous);
                    previous = *v;
                    delta
                })
            };
            let common = most_frequent(deltas().map(i64::from)) as $int;
            let codes = size_of::<$int>();
            let mut out = Vec::with_capacity(codes + ints.len() / 4 + ints.len() + 16);
            out.extend(common.to_le_bytes());
            out.resize(codes + ints.len().div_ceil(4), 0);
            for (i, delta) in deltas().enumerate() {
                let code = if delta == common {
                    0
                } else if let Ok(small) = <$small>::try_from(delta) {
                    out.extend(small.to_le_bytes());
                    1
                } else if let Ok(medium) = <$medium>::try_from(delta) {
                    out.extend(medium.to_le_bytes());
                    2
                } else {
                    out.extend(delta.to_le_bytes());
                    3
                };
                out[codes + i / 4] |= code << (i % 4 * 2);
            }
            out
        }
    };
}

encoder!(encode32, i32, i8, i16);
encoder!(encode64, i64, i16, i32);

/// Integers of 32 bits as a file has them: the number of compressed bytes, then these.
pub(in crate::usdc) fn pack32(ints: &[i32]) -> Option<Vec<u8>> {
    Some(prefixed(&compress(&encode32(ints))?))
}

/// Integers of 64 bits as a file has them.
pub(in crate::usdc) fn pack64(ints: &[i64]) -> Option<Vec<u8>> {
    Some(prefixed(&compress(&encode64(ints))?))
}

/// The number of bytes, then these.
pub(in crate::usdc) fn prefixed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usdc::read::ints::{Int, decompress};

    #[test]
    fn integers_survive() {
        let mut noise = 1u64;
        let noise: Vec<i64> = (0..1001)
            .map(|i| {
                noise = noise
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                noise as i64 >> (i % 60)
            })
            .collect();
        let extremes = [i64::MIN, i64::MAX, 0, -1, i64::MAX, i64::MIN, 1];
        let narrow = [i32::MIN, i32::MAX, 0, -1, i32::MAX, i32::MIN].map(i64::from);
        for ints in [
            &[7][..],
            &[-1],
            &[5; 33],
            &[123, 124, 125, 100_125, 100_125, 100_126, 100_126],
            &extremes,
            &narrow,
            &noise,
        ] {
            let read = i64::decode(&encode64(ints), ints.len());
            assert_eq!(read.unwrap(), ints);
            let ints: Vec<i32> = ints.iter().map(|v| *v as i32).collect();
            assert_eq!(i32::decode(&encode32(&ints), ints.len()).unwrap(), ints);
        }
        assert!(encode32(&[]).is_empty() && encode64(&[]).is_empty());
    }

    #[test]
    fn the_encoding_is_usds() {
        // The example of integerCoding.cpp: 1 is the most frequent delta.
        let ints = [123, 124, 125, 100_125, 100_125, 100_126, 100_127];
        let bytes = encode32(&ints);
        let expected = [
            &[1, 0, 0, 0][..],
            &[0b1100_0001, 0b0000_0001],
            &[123],
            &100_000i32.to_le_bytes(),
            &[0],
        ];
        assert_eq!(bytes, expected.concat());
        // Of two deltas that are equally frequent the larger one.
        assert_eq!(encode32(&[3, 8])[..4], [5, 0, 0, 0]);
    }

    #[test]
    fn bytes_survive_in_chunks() {
        let bytes: Vec<u8> = (0..1000u32).map(|i| ((i * i) >> 3) as u8).collect();
        for size in [0, 1, 9, 10, 11, 1000] {
            let bytes = &bytes[..size];
            let read = |compressed: &[u8]| decompress(compressed, size, 0).unwrap();
            assert_eq!(read(&compress(bytes).unwrap()), bytes);
            assert_eq!(compress(bytes).unwrap()[0], 0);
            let chunked = compress_chunks(bytes, 10).unwrap();
            assert_eq!(read(&chunked), bytes);
        }
        assert_eq!(compress(&[]).unwrap(), [0, 0]);
        assert!(compress_chunks(&bytes, 7).is_none());
    }
}

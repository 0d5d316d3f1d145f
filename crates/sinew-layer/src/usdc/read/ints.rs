//! Compressed bytes and compressed integers.
//!
//! Source: pxr/base/tf/fastCompression.cpp and pxr/usd/sdf/integerCoding.cpp of OpenUSD. Bytes are LZ4 blocks.
//! Integers are coded as differences first: the most frequent difference, then two bits for each integer, which say
//! whether it is that one or how many bytes it has, then these bytes.

use super::bytes::{Bad, Checked, Cursor};

/// What LZ4 decompresses to is at most this much longer than what it decompresses.
const LZ4_RATIO: usize = 255;

/// No block is longer: the largest that LZ4 compresses at once (`LZ4_MAX_INPUT_SIZE`).
const LZ4_BLOCK: usize = 0x7E00_0000;

/// Decompresses to at most `max` bytes. The first byte is the number of blocks, each with its length before it;
/// 0 stands for a single block without a length.
pub(crate) fn decompress(bytes: &[u8], max: usize, at: usize) -> Checked<Vec<u8>> {
    let mut cursor = Cursor::new(bytes, 0);
    let broken = |reason: String| Bad::new(at, reason);
    let blocks: u8 = cursor.plain().map_err(|_| broken("no bytes".into()))?;
    let mut out = Vec::new();
    for _ in 0..blocks.max(1) {
        let block = match blocks {
            0 => &bytes[1..],
            _ => {
                let len = cursor.u32().and_then(|len| cursor.take(len as usize));
                len.map_err(|_| broken("a block of compressed bytes is cut off".into()))?
            }
        };
        let done = out.len();
        // With some room: LZ4 needs a few bytes for an empty block.
        let room = (block.len().saturating_mul(LZ4_RATIO) + 16)
            .min(LZ4_BLOCK)
            .min(max - done);
        out.resize(done + room, 0);
        let len = lz4_flex::block::decompress_into(block, &mut out[done..])
            .map_err(|e| broken(format!("the compressed bytes are broken: {e}")))?;
        out.truncate(done + len);
    }
    Ok(out)
}

/// An integer of a compressed array.
pub(crate) trait Int: Copy {
    /// The most bytes that `count` integers have before LZ4.
    fn coded_len(count: usize) -> Option<usize>;

    /// Decodes `count` integers; none if there are not enough bytes.
    fn decode(bytes: &[u8], count: usize) -> Option<Vec<Self>>;
}

macro_rules! int {
    ($int:ty, $small:ty, $medium:ty) => {
        impl Int for $int {
            fn coded_len(count: usize) -> Option<usize> {
                let each = count.checked_mul(size_of::<$int>())?;
                each.checked_add(count.div_ceil(4) + size_of::<$int>())
            }

            fn decode(bytes: &[u8], count: usize) -> Option<Vec<Self>> {
                let (common, rest) = bytes.split_first_chunk()?;
                let common = <$int>::from_le_bytes(*common);
                let (codes, mut rest) = rest.split_at_checked(count.div_ceil(4))?;
                let mut out = Vec::with_capacity(count);
                let mut last: $int = 0;
                for (i, byte) in codes.iter().enumerate() {
                    for code in 0..(count - 4 * i).min(4) {
                        let step = match byte >> (2 * code) & 3 {
                            0 => common,
                            1 => {
                                let (step, after) = rest.split_first_chunk()?;
                                rest = after;
                                <$small>::from_le_bytes(*step) as $int
                            }
                            2 => {
                                let (step, after) = rest.split_first_chunk()?;
                                rest = after;
                                <$medium>::from_le_bytes(*step) as $int
                            }
                            _ => {
                                let (step, after) = rest.split_first_chunk()?;
                                rest = after;
                                <$int>::from_le_bytes(*step)
                            }
                        };
                        last = last.wrapping_add(step);
                        out.push(last);
                    }
                }
                Some(out)
            }
        }
    };
}

int!(i32, i8, i16);
int!(i64, i16, i32);

/// Reads the compressed length, then `count` integers. Of no integers nothing is stored but the length.
pub(crate) fn read<I: Int>(cursor: &mut Cursor<'_>, count: usize) -> Checked<Vec<I>> {
    let at = cursor.at;
    let len = cursor.count(1)?;
    let bytes = cursor.take(len)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let short = || Bad::new(at, format!("{count} integers do not fit into {len} bytes"));
    // Each integer needs at least two bits.
    if count / 4 > len.saturating_mul(LZ4_RATIO) {
        return Err(short());
    }
    let coded = decompress(bytes, I::coded_len(count).ok_or_else(short)?, at)?;
    I::decode(&coded, count).ok_or_else(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_four_lengths() {
        // 1, 2, -1, 999, 70000: the most frequent difference is 1.
        let mut bytes = 1i32.to_le_bytes().to_vec();
        bytes.extend([0b10_01_00_00, 0b11]);
        bytes.extend([-3i8 as u8]);
        bytes.extend(1000i16.to_le_bytes());
        bytes.extend(69001i32.to_le_bytes());
        assert_eq!(i32::decode(&bytes, 5).unwrap(), [1, 2, -1, 999, 70000]);
        assert_eq!(i32::decode(&bytes[..bytes.len() - 1], 5), None);
        assert_eq!(i32::decode(&bytes[..5], 5), None);

        let mut bytes = (-7i64).to_le_bytes().to_vec();
        bytes.extend([0b11_10_01_00]);
        bytes.extend((-300i16).to_le_bytes());
        bytes.extend(70000i32.to_le_bytes());
        bytes.extend(i64::MAX.to_le_bytes());
        let expected = [-7, -307, 69693, 69693i64.wrapping_add(i64::MAX)];
        assert_eq!(i64::decode(&bytes, 4).unwrap(), expected);
    }

    #[test]
    fn blocks_are_decompressed_and_bounded() {
        let text = b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcdefghijkl".repeat(9);
        let block = lz4_flex::block::compress(&text);
        let single = [&[0], &block[..]].concat();
        assert_eq!(decompress(&single, text.len(), 0).unwrap(), text);
        assert!(decompress(&single, text.len() - 1, 0).is_err());
        assert!(decompress(&single[..9], text.len(), 0).is_err());
        assert!(decompress(&[], 9, 0).is_err());
        let len = (block.len() as u32).to_le_bytes();
        let double = [&[2], &len[..], &block, &len[..], &block].concat();
        assert_eq!(
            decompress(&double, 2 * text.len(), 0).unwrap(),
            text.repeat(2)
        );
        assert!(decompress(&double[..double.len() - 1], 2 * text.len(), 0).is_err());
    }

    #[test]
    fn a_count_has_to_be_plausible() {
        let mut file = 3u64.to_le_bytes().to_vec();
        file.extend([0, 0, 0]);
        let read = |count| read::<i32>(&mut Cursor::new(&file, 0), count);
        assert!(read(usize::MAX).is_err());
        assert!(read(4000).is_err());
        assert!(read(0).unwrap().is_empty());
    }
}

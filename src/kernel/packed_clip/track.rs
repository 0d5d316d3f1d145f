//! The keys of one track in one segment, as they are packed.

use glam::{Vec3, Vec4};

use super::format::{
    self, BitWriter, FIRST_EXPONENT, Header, LARGEST_STEPS, LAST_CODE, WIDTHS_BITS,
};
use crate::kernel::registry::{CLIP_RAW, CLIP_SMALLEST_THREE};

/// The keys of a track in a segment.
#[derive(Clone, Debug)]
pub(super) struct Coded {
    /// Its header; the place of the block is not known yet.
    pub header: Header,
    keys: Keys,
    /// The keys as they are decoded.
    decoded: Vec<Vec4>,
    /// Bits of its block.
    pub bits: usize,
}

#[derive(Clone, Debug)]
enum Keys {
    Raw(usize),
    Grid {
        widths: [u32; 3],
        low: [i64; 3],
        low_bits: u32,
        /// The missing component and the steps of each key.
        keys: Vec<(u32, [i64; 3])>,
    },
}

/// Number of bits that hold every integer from 0 to `largest`.
fn width(largest: i64) -> u32 {
    i64::BITS - largest.leading_zeros()
}

/// Number of bits of two's complement that hold an integer.
fn signed_width(value: i64) -> u32 {
    match value {
        0 => 0,
        n if n < 0 => width(-n - 1) + 1,
        n => width(n) + 1,
    }
}

impl Coded {
    /// Puts keys on a grid. `None` if they need integers that f32 does not hold.
    pub fn grid(values: &[[f64; 4]], of: TrackKind, header: Header, count: u32) -> Option<Self> {
        let step = f64::from(header.step());
        let mut keys = Vec::new();
        let (mut low, mut high) = ([i64::MAX; 3], [i64::MIN; 3]);
        for key in 0..header.keys(count) {
            let value = values[header.key_interval(key, count) as usize];
            let (missing, v) = match (of, header.mode) {
                (TrackKind::Rotation, CLIP_SMALLEST_THREE) => format::without_largest(value),
                (TrackKind::Rotation, mode) => (mode, format::without(value, mode as usize)),
                _ => (0, [value[0], value[1], value[2]]),
            };
            let steps = v.map(|x| (x / step).round());
            if steps.iter().any(|s| s.abs() > LARGEST_STEPS as f64) {
                return None;
            }
            let steps = steps.map(|s| s as i64);
            for i in 0..3 {
                low[i] = low[i].min(steps[i]);
                high[i] = high[i].max(steps[i]);
            }
            keys.push((missing, steps));
        }
        let widths: [u32; 3] = std::array::from_fn(|i| width(high[i] - low[i]));
        let low_bits = low.into_iter().map(signed_width).max().unwrap_or_default();
        let decoded = keys.iter().map(|(missing, steps)| {
            let v = Vec3::from_array(steps.map(|s| s as f32)) * header.step();
            match of {
                TrackKind::Rotation => format::whole_rotation(v, *missing),
                _ => v.extend(0.0),
            }
        });
        let key_bits = header.says() + widths.iter().sum::<u32>();
        let bits = (WIDTHS_BITS + 3 * low_bits) as usize + keys.len() * key_bits as usize;
        Some(Self {
            decoded: decoded.collect(),
            header,
            keys: Keys::Grid {
                widths,
                low,
                low_bits,
                keys,
            },
            bits,
        })
    }

    /// Keeps keys in f32.
    pub fn raw(values: &[[f64; 4]], of: TrackKind, mut header: Header, count: u32) -> Self {
        header.mode = CLIP_RAW;
        let keys = header.keys(count);
        let value = |key| values[header.key_interval(key, count) as usize].map(|x| x as f32);
        let numbers = if of == TrackKind::Rotation { 4 } else { 3 };
        Self {
            header,
            keys: Keys::Raw(numbers),
            decoded: (0..keys).map(|key| Vec4::from_array(value(key))).collect(),
            bits: keys as usize * numbers * 32,
        }
    }

    /// The value at a position, as the decoder computes it.
    pub fn at(&self, of: TrackKind, position: f32, count: u32) -> Vec4 {
        let (lower, upper, alpha) = self.header.between(position, count);
        let [a, b] = [lower, upper].map(|key| self.decoded[key as usize]);
        match (of, self.keys_are_raw()) {
            (TrackKind::Rotation, false) => format::mixed_rotation(a, b, alpha),
            (TrackKind::Rotation, true) => format::mixed_raw_rotation(a, b, alpha),
            _ => format::mixed_vector(a.truncate(), b.truncate(), alpha).extend(0.0),
        }
    }

    pub fn keys_are_raw(&self) -> bool {
        matches!(self.keys, Keys::Raw(_))
    }

    /// Number of keys, and bits of each.
    pub fn keys_and_bits(&self) -> (usize, u32) {
        let bits = match &self.keys {
            Keys::Raw(numbers) => 32 * *numbers as u32,
            Keys::Grid { widths, .. } => self.header.says() + widths.iter().sum::<u32>(),
        };
        (self.decoded.len(), bits)
    }

    /// The header of a grid that is one step finer; of keys in f32 after the finest.
    pub fn finer(&self) -> Header {
        let header = self.header;
        match (header.mode, header.code) {
            (CLIP_RAW, _) => header,
            (_, 0) => Header {
                mode: CLIP_RAW,
                ..header
            },
            (_, code) => Header {
                code: code - 1,
                ..header
            },
        }
    }

    /// Writes the block.
    pub fn write(&self, out: &mut BitWriter) {
        match &self.keys {
            Keys::Raw(numbers) => {
                for key in &self.decoded {
                    for number in &key.to_array()[..*numbers] {
                        out.put(number.to_bits(), 32);
                    }
                }
            }
            Keys::Grid {
                widths,
                low,
                low_bits,
                keys,
            } => {
                for width in widths {
                    out.put(*width, 5);
                }
                out.put(*low_bits, 5);
                for low in low {
                    out.put(*low as u32, *low_bits);
                }
                for (missing, steps) in keys {
                    out.put(*missing, self.header.says());
                    for i in 0..3 {
                        out.put((steps[i] - low[i]) as u32, widths[i]);
                    }
                }
            }
        }
    }
}

/// Whether a track has rotations or other numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrackKind {
    Rotation,
    Vector,
}

/// The code of the largest step that is not larger than `step`.
pub(super) fn code_of(step: f64) -> u32 {
    let exponent = step.max(f64::MIN_POSITIVE).log2().floor() as i32;
    (exponent - FIRST_EXPONENT).clamp(0, LAST_CODE as i32) as u32
}

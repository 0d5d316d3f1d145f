//! The words of a packed clip, and the steps by which the shader and its mirror read them.

use glam::{Vec3, Vec4};

use crate::kernel::registry::{CLIP_RAW, CLIP_SMALLEST_THREE, CLIP_STEP_KEYS, CLIP_STEP_UNTIL};

/// The exponent of the step of code 0.
pub(super) const FIRST_EXPONENT: i32 = -40;
/// Largest code of a step.
pub(super) const LAST_CODE: u32 = 63;
/// Bits of the widths at the beginning of a block of integers.
pub(super) const WIDTHS_BITS: u32 = 20;
/// Largest magnitude of an integer on a grid, so that it is exact in f32.
pub(super) const LARGEST_STEPS: i64 = 1 << 24;
/// Bits of a header that hold the place of a block.
pub(super) const PLACE_BITS: u32 = 19;
/// Largest number of intervals from key to key, as a power of two.
pub(super) const LAST_STRIDE: u32 = 7;

/// The header of a track in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// Code of the step of the grid.
    pub code: u32,
    /// The component that rotations lack, or a mode.
    pub mode: u32,
    /// Intervals from key to key, as a power of two.
    pub stride: u32,
    /// Whether a key holds until the next one.
    pub step_keys: bool,
    /// Place of the block, in units from the end of the headers.
    pub place: u32,
}

impl Header {
    pub fn word(self) -> u32 {
        let step_keys = if self.step_keys { CLIP_STEP_KEYS } else { 0 };
        self.code | self.mode << 6 | self.stride << 9 | step_keys | self.place << 13
    }

    pub fn of(word: u32) -> Self {
        Self {
            code: word & 63,
            mode: word >> 6 & 7,
            stride: word >> 9 & 7,
            step_keys: word & CLIP_STEP_KEYS != 0,
            place: word >> 13,
        }
    }

    /// The length of a step of the grid: a power of two.
    pub fn step(self) -> f32 {
        f32::from_bits((self.code + (127 + FIRST_EXPONENT) as u32) << 23)
    }

    /// Number of keys in a segment with `count` intervals.
    pub fn keys(self, count: u32) -> u32 {
        match count {
            0 => 1,
            n => ((n - 1) >> self.stride) + 2,
        }
    }

    /// The interval at which a key stands.
    pub fn key_interval(self, key: u32, count: u32) -> u32 {
        (key << self.stride).min(count)
    }

    /// The two keys around a position in a segment with `count` intervals, and the way between
    /// them.
    pub fn between(self, position: f32, count: u32) -> (u32, u32, f32) {
        if count == 0 {
            return (0, 0, 0.0);
        }
        let lower = (position as u32).min(count - 1) >> self.stride;
        let from = lower << self.stride;
        let to = ((lower + 1) << self.stride).min(count);
        let mut alpha = (position - from as f32) / (to - from) as f32;
        if self.step_keys {
            alpha = if alpha >= CLIP_STEP_UNTIL { 1.0 } else { 0.0 };
        }
        (lower, lower + 1, alpha)
    }

    /// Bits in front of a key that say which component it lacks.
    pub fn says(self) -> u32 {
        match self.mode {
            CLIP_SMALLEST_THREE => 2,
            _ => 0,
        }
    }
}

/// Up to 32 bits from a bit of the words on.
pub(super) fn bits(words: &[u32], bit: usize, count: u32) -> u32 {
    if count == 0 {
        return 0;
    }
    let (word, shift) = (bit / 32, (bit % 32) as u32);
    let mut out = words[word] >> shift;
    if shift + count > 32 {
        out |= words[word + 1] << (32 - shift);
    }
    out & (u32::MAX >> (32 - count))
}

/// The same as a number of two's complement.
pub(super) fn signed_bits(words: &[u32], bit: usize, count: u32) -> i32 {
    match count {
        0 => 0,
        n => ((bits(words, bit, n) << (32 - n)) as i32) >> (32 - n),
    }
}

/// Appends bits to words.
#[derive(Clone, Debug, Default)]
pub(super) struct BitWriter {
    pub words: Vec<u32>,
    /// Number of bits written.
    pub len: usize,
}

impl BitWriter {
    pub fn put(&mut self, value: u32, count: u32) {
        if count == 0 {
            return;
        }
        let shift = (self.len % 32) as u32;
        let value = value & (u32::MAX >> (32 - count));
        if shift == 0 {
            self.words.push(value);
        } else {
            *self.words.last_mut().expect("bits before") |= value << shift;
            if shift + count > 32 {
                self.words.push(value >> (32 - shift));
            }
        }
        self.len += count as usize;
    }

    /// Fills with zeros up to a multiple of so many bits.
    pub fn align(&mut self, to: usize) {
        while !self.len.is_multiple_of(to) {
            let missing = to - self.len % to;
            self.put(0, missing.min(32) as u32);
        }
    }
}

/// The integers of a block: how many bits each component has, and what is added to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grid {
    pub first_key: usize,
    pub bits: [u32; 3],
    pub low: [i32; 3],
    pub step: f32,
}

impl Grid {
    pub fn read(words: &[u32], block: usize, header: Header) -> Self {
        let widths = bits(words, block, WIDTHS_BITS);
        let low = widths >> 15;
        let at = |i: usize| block + WIDTHS_BITS as usize + i * low as usize;
        Self {
            first_key: at(3),
            bits: [widths & 31, widths >> 5 & 31, widths >> 10 & 31],
            low: std::array::from_fn(|i| signed_bits(words, at(i), low)),
            step: header.step(),
        }
    }

    /// Bits of a key without those that say which component it lacks.
    pub fn key_bits(&self) -> usize {
        self.bits.iter().map(|b| *b as usize).sum()
    }

    pub fn value(&self, words: &[u32], bit: usize) -> Vec3 {
        let [x, y, _] = self.bits.map(|b| b as usize);
        let steps = [bit, bit + x, bit + x + y];
        let value = |i: usize| {
            let steps = bits(words, steps[i], self.bits[i]) as i32;
            self.low[i].wrapping_add(steps) as f32 * self.step
        };
        Vec3::new(value(0), value(1), value(2))
    }
}

/// A unit quaternion from all components but one, which is not negative.
pub(super) fn whole_rotation(v: Vec3, missing: u32) -> Vec4 {
    let rest = (1.0 - (v.x * v.x + v.y * v.y + v.z * v.z)).max(0.0).sqrt();
    match missing {
        0 => Vec4::new(rest, v.x, v.y, v.z),
        1 => Vec4::new(v.x, rest, v.y, v.z),
        2 => Vec4::new(v.x, v.y, rest, v.z),
        _ => Vec4::new(v.x, v.y, v.z, rest),
    }
}

fn dot(a: Vec4, b: Vec4) -> f32 {
    a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w
}

/// The rotation between two unit quaternions along the shorter arc.
///
/// It is a normalized linear interpolation whose parameter is bent by a polynomial, so that the
/// rotation has constant speed. It differs from slerp by less than 1e-5 radians if the rotations
/// are at most 60 degrees apart, and by less than 7e-4 otherwise.
pub(super) fn mixed_rotation(a: Vec4, b: Vec4, alpha: f32) -> Vec4 {
    let cosine = dot(a, b);
    let near = if cosine < 0.0 { -b } else { b };
    let e = (1.0 - cosine.abs()).max(0.0);
    let h = alpha - 0.5;
    let bend = e
        * ((0.021_506_21 + e * (0.262_512_62 + e * 0.791_137_5)) * (h * h)
            + (0.671_645_3 + e * (0.090_986_1 + e * 0.086_423_35)));
    let t = alpha + alpha * h * (alpha - 1.0) * bend;
    let q = a + (near - a) * t;
    q * (1.0 / dot(q, q).sqrt())
}

/// The same for rotations of any length.
pub(super) fn mixed_raw_rotation(a: Vec4, b: Vec4, alpha: f32) -> Vec4 {
    let [from, to] = [a, b].map(|q| dot(q, q).sqrt());
    mixed_rotation(a / from, b / to, alpha) * (from + (to - from) * alpha)
}

pub(super) fn mixed_vector(a: Vec3, b: Vec3, alpha: f32) -> Vec3 {
    a + (b - a) * alpha
}

/// The index of the largest component, and the others with the sign that makes it positive.
pub(super) fn without_largest(q: [f64; 4]) -> (u32, [f64; 3]) {
    let mut missing = 3;
    for i in [2, 1, 0] {
        if q[i].abs() > q[missing].abs() {
            missing = i;
        }
    }
    (missing as u32, without(q, missing))
}

/// All components but one, with the sign that makes that one positive.
pub(super) fn without(q: [f64; 4], missing: usize) -> [f64; 3] {
    let sign = if q[missing] < 0.0 { -1.0 } else { 1.0 };
    let mut rest = (0..4).filter(|i| *i != missing).map(|i| q[i] * sign);
    std::array::from_fn(|_| rest.next().unwrap_or_default())
}

/// Reads a raw f32.
pub(super) fn raw(words: &[u32], bit: usize) -> f32 {
    f32::from_bits(bits(words, bit, 32))
}

pub(super) fn raw_vec3(words: &[u32], bit: usize) -> Vec3 {
    Vec3::new(raw(words, bit), raw(words, bit + 32), raw(words, bit + 64))
}

/// Reads a key of rotations.
pub(super) fn rotation_key(words: &[u32], grid: &Grid, header: Header, key: u32) -> Vec4 {
    let says = header.says();
    let bit = grid.first_key + key as usize * (says as usize + grid.key_bits());
    let missing = match says {
        0 => header.mode,
        n => bits(words, bit, n),
    };
    whole_rotation(grid.value(words, bit + says as usize), missing)
}

/// Whether keys of a track are f32.
pub(super) fn is_raw(header: Header) -> bool {
    header.mode == CLIP_RAW
}

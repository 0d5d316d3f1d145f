//! Clips as the GPU plays them: joint tracks and blend shape weights, compressed into words of one
//! storage buffer. `shaders/common/packed_clip.wgsl` reads them; [`PackedClip::joint`] and
//! [`PackedClip::weight`] are its mirror.
//!
//! # Words
//!
//! Places count words from the beginning of the clip. `CLIP_...` are constants of the registry.
//!
//! ```text
//! header     CLIP_JOINTS .. CLIP_JOINT_WORDS, 11 words
//! joints     one word per joint, or two: three kinds (rotation, translation, scale: default,
//!            constant or animated), its first track, its first constant
//! channels   one word per channel: its kind, and its track or constant
//! constants  in f32
//! times      one f32 per sample, if samples are not at equal distances
//! segments   one word per segment: the place of its headers
//! segment    one header per track: the step of its grid, its mode, the distance of its keys, the
//!            place of its block; then the blocks
//! block      three widths, the lowest integers, then the keys as integers above them
//! ```
//!
//! All tracks have samples at the same times. A segment is a power of two of intervals between
//! samples, and each has the sample at its end, too. Finding a key takes the same few steps at any
//! time. If samples are not at equal distances, a binary search finds the interval first.
//!
//! The keys of a track in a segment are integers on a grid whose step is a power of two. Each
//! component has as many bits as its range in the segment needs, so a component that rests takes
//! none. Integers times the step are exact in f32, so the shader and the mirror have the same bits
//! up to the square root that gives the last component of a rotation.

mod components;
mod encode;
mod format;
mod measure;
mod samples;
mod segment;
mod source;
mod track;

use glam::{Vec3, Vec4};

use super::JointTransform;
use super::layout::wgsl;
use super::registry::{
    CLIP_ANIMATED, CLIP_CHANNELS, CLIP_CONSTANT, CLIP_DURATION, CLIP_HEADER, CLIP_INTERVALS,
    CLIP_JOINT_WORDS, CLIP_JOINTS, CLIP_RATE, CLIP_SEGMENT_SHIFT, CLIP_SEGMENTS, CLIP_TIMES,
    CLIP_TRACKS, CLIP_UNIT, NONE,
};
use format::{Grid, Header};

pub use encode::{ClipOptions, ClipReport};
pub use measure::ClipError;
pub use source::{ClipSource, JointCurves};

/// The WGSL that reads packed clips, with the shared constants. A kernel of a host that includes it
/// declares `clips: array<u32>` as a storage binding.
pub const PACKED_CLIP_WGSL: &str = wgsl!["common/packed_clip"];

/// An animation clip, packed for the joints of one skeleton.
///
/// Times are in seconds from the beginning of the clip, in f32. At ten minutes the rounding of a
/// time is 0.03 ms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedClip {
    words: Vec<u32>,
}

/// A time in a segment.
struct Place {
    /// The word of the segment's first header.
    headers: usize,
    /// The first bit after the headers.
    blocks: usize,
    position: f32,
    count: u32,
}

impl PackedClip {
    /// The clip as words, for a storage buffer.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Length in seconds.
    #[must_use]
    pub fn duration(&self) -> f32 {
        self.float(CLIP_DURATION as usize)
    }

    /// Number of joints, which is that of the skeleton.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.head(CLIP_JOINTS)
    }

    /// Number of blend shape channels.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.head(CLIP_CHANNELS)
    }

    /// The local transform of a joint at a time, by the steps of the shader in f32. A time outside
    /// of the clip is clamped to its ends.
    ///
    /// # Panics
    /// If there is no such joint.
    #[must_use]
    pub fn joint(&self, joint: usize, seconds: f32) -> JointTransform {
        self.joint_at(joint, self.position(seconds))
    }

    /// The weight of a channel at a time.
    ///
    /// # Panics
    /// If there is no such channel.
    #[must_use]
    pub fn weight(&self, channel: usize, seconds: f32) -> f32 {
        self.weight_at(channel, self.position(seconds))
    }

    /// The local transform of a joint at a position in intervals.
    fn joint_at(&self, joint: usize, position: f32) -> JointTransform {
        assert!(joint < self.joint_count(), "joint {joint}");
        let place = self.place(position);
        let width = self.head(CLIP_JOINT_WORDS);
        let entry = CLIP_HEADER as usize + width * joint;
        let kinds = self.words[entry];
        let (mut track, mut constant) = match width {
            1 => (kinds >> 6 & 0x1fff, (kinds >> 19) as usize),
            _ => (kinds >> 6, self.words[entry + 1] as usize),
        };
        constant += self.constants();
        let rotation = match kinds & 3 {
            CLIP_ANIMATED => {
                track += 1;
                self.track_rotation(&place, track - 1)
            }
            CLIP_CONSTANT => {
                constant += 4;
                self.vec3(constant - 4).extend(self.float(constant - 1))
            }
            _ => Vec4::W,
        };
        let mut vector = |kind: u32, default: Vec3| match kind & 3 {
            CLIP_ANIMATED => {
                track += 1;
                self.track_vector(&place, track - 1)
            }
            0 => default,
            _ => {
                constant += 3;
                self.vec3(constant - 3)
            }
        };
        let translation = vector(kinds >> 2, Vec3::ZERO);
        let scale = vector(kinds >> 4, Vec3::ONE);
        JointTransform {
            translation: translation.to_array(),
            rotation: rotation.to_array(),
            scale: scale.to_array(),
        }
    }

    fn weight_at(&self, channel: usize, position: f32) -> f32 {
        assert!(channel < self.channel_count(), "channel {channel}");
        let word = self.words[self.constants() - self.channel_count() + channel];
        match word & 3 {
            CLIP_ANIMATED => self.track_vector(&self.place(position), word >> 2).x,
            CLIP_CONSTANT => self.float(self.constants() + (word >> 2) as usize),
            _ => 0.0,
        }
    }

    fn head(&self, word: u32) -> usize {
        self.words[word as usize] as usize
    }

    /// Place of the first constant.
    fn constants(&self) -> usize {
        let joints = self.head(CLIP_JOINT_WORDS) * self.joint_count();
        CLIP_HEADER as usize + joints + self.channel_count()
    }

    fn float(&self, word: usize) -> f32 {
        f32::from_bits(self.words[word])
    }

    fn vec3(&self, at: usize) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|i| self.float(at + i)))
    }

    /// A time as a number of intervals between samples, with a fraction.
    fn position(&self, seconds: f32) -> f32 {
        let intervals = self.head(CLIP_INTERVALS);
        let time = if seconds > 0.0 { seconds } else { 0.0 };
        let times = self.head(CLIP_TIMES);
        if times == NONE as usize {
            let rate = self.float(CLIP_RATE as usize);
            return (time * rate).min(intervals as f32);
        }
        let (mut low, mut high) = (0, intervals);
        while low + 1 < high {
            let middle = (low + high) / 2;
            if self.float(times + middle) <= time {
                low = middle;
            } else {
                high = middle;
            }
        }
        let (from, to) = (self.float(times + low), self.float(times + high));
        low as f32 + ((time - from) / (to - from)).min(1.0)
    }

    fn place(&self, position: f32) -> Place {
        let intervals = self.words[CLIP_INTERVALS as usize];
        let shift = self.words[CLIP_SEGMENT_SHIFT as usize];
        let last = (intervals.max(1) - 1) >> shift;
        let segment = (position as u32 >> shift).min(last);
        let first = segment << shift;
        let headers = self.words[self.head(CLIP_SEGMENTS) + segment as usize] as usize;
        Place {
            headers,
            blocks: (headers + self.head(CLIP_TRACKS)) * 32,
            position: position - first as f32,
            count: (1 << shift).min(intervals - first),
        }
    }

    fn block(&self, place: &Place, header: Header) -> usize {
        place.blocks + ((header.place as usize * 8) << self.words[CLIP_UNIT as usize])
    }

    fn track_rotation(&self, place: &Place, track: u32) -> Vec4 {
        let header = Header::of(self.words[place.headers + track as usize]);
        let (lower, upper, alpha) = header.between(place.position, place.count);
        let block = self.block(place, header);
        let words = &self.words[..];
        if format::is_raw(header) {
            let [a, b] = [lower, upper].map(|key| {
                let at = block + key as usize * 128;
                format::raw_vec3(words, at).extend(format::raw(words, at + 96))
            });
            return format::mixed_raw_rotation(a, b, alpha);
        }
        let grid = Grid::read(words, block, header);
        let [a, b] = [lower, upper].map(|key| format::rotation_key(words, &grid, header, key));
        format::mixed_rotation(a, b, alpha)
    }

    fn track_vector(&self, place: &Place, track: u32) -> Vec3 {
        let header = Header::of(self.words[place.headers + track as usize]);
        let (lower, upper, alpha) = header.between(place.position, place.count);
        let block = self.block(place, header);
        let words = &self.words[..];
        let [a, b] = if format::is_raw(header) {
            [lower, upper].map(|key| format::raw_vec3(words, block + key as usize * 96))
        } else {
            let grid = Grid::read(words, block, header);
            let at = |key: u32| grid.first_key + key as usize * grid.key_bits();
            [lower, upper].map(|key| grid.value(words, at(key)))
        };
        format::mixed_vector(a, b, alpha)
    }
}

#[cfg(test)]
mod tests;

//! Clips as the GPU plays them: joint tracks and blend shape weights in words that one storage
//! buffer holds. `shaders/common/packed_clip.wgsl` reads them; [`PackedClip::joint`] and
//! [`PackedClip::weight`] are its mirror.

mod encode;
mod source;

use glam::{Quat, Vec3, Vec4};

use super::JointTransform;
use super::layout::wgsl;
use super::registry::{
    CLIP_CHANNELS, CLIP_DURATION, CLIP_INTERVALS, CLIP_JOINTS, CLIP_RATE, CLIP_TRACKS, CLIP_WEIGHTS,
};
use crate::error::Invalid;

pub use encode::{ClipError, ClipOptions, ClipReport};
pub use source::{ClipSource, JointCurves};

/// The WGSL that reads packed clips, with the shared constants. A kernel of a host that includes it
/// declares `clips: array<u32>` as a storage binding.
pub const PACKED_CLIP_WGSL: &str = wgsl!["common/packed_clip"];

/// First word of every clip: the format and its version.
const MAGIC: u32 = 0x5343_0001;
/// Words in front of the tables.
const HEADER_WORDS: usize = 16;

/// An animation clip, packed for the joints of one skeleton.
///
/// Times are in seconds from the beginning of the clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedClip {
    words: Vec<u32>,
}

impl PackedClip {
    /// Takes the words of a clip that [`PackedClip::words`] gave, such as from a file.
    ///
    /// # Errors
    /// Words that are no clip, or whose tables do not fit: reading any joint or channel at any time
    /// then stays inside of the words.
    pub fn from_words(words: Vec<u32>) -> Result<Self, Invalid> {
        let wrong = |what: &str, found: String| {
            Err(Invalid::new("packed clip", "words", what, found).coded("packed-clip"))
        };
        if words.len() < HEADER_WORDS || words[0] != MAGIC || words[1] as usize != words.len() {
            return wrong("a packed clip", format!("{} other words", words.len()));
        }
        let word = |index: u32| u64::from(words[index as usize]);
        let samples = word(CLIP_INTERVALS) + 1;
        let joints_end = word(CLIP_JOINTS)
            .checked_mul(10)
            .and_then(|n| n.checked_mul(samples))
            .and_then(|n| n.checked_add(word(CLIP_TRACKS)));
        let weights_end = word(CLIP_CHANNELS)
            .checked_mul(samples)
            .and_then(|n| n.checked_add(word(CLIP_WEIGHTS)));
        let within = |end: Option<u64>| end.is_some_and(|end| end <= words.len() as u64);
        if !within(joints_end) || !within(weights_end) {
            return wrong(
                "tracks inside of the clip",
                format!("{} words", words.len()),
            );
        }
        let clip = Self { words };
        let (duration, rate) = (clip.duration(), clip.float(CLIP_RATE));
        if !(duration.is_finite() && duration >= 0.0 && rate.is_finite() && rate >= 0.0) {
            return wrong("a duration and a rate", format!("{duration} and {rate}"));
        }
        Ok(clip)
    }

    /// The clip as words, for a storage buffer or a file.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Length in seconds.
    #[must_use]
    pub fn duration(&self) -> f32 {
        self.float(CLIP_DURATION)
    }

    /// Number of joints, which is that of the skeleton.
    #[must_use]
    pub fn joint_count(&self) -> usize {
        self.words[CLIP_JOINTS as usize] as usize
    }

    /// Number of blend shape channels.
    #[must_use]
    pub fn channel_count(&self) -> usize {
        self.words[CLIP_CHANNELS as usize] as usize
    }

    /// The local transform of a joint at a time, by the steps of the shader in f32. A time outside
    /// of the clip is clamped to its ends.
    ///
    /// # Panics
    /// If there is no such joint.
    #[must_use]
    pub fn joint(&self, joint: usize, seconds: f32) -> JointTransform {
        assert!(joint < self.joint_count(), "joint {joint}");
        let (lower, alpha) = self.place(seconds);
        let stride = self.joint_count() * 10;
        let a = self.words[CLIP_TRACKS as usize] as usize + lower * stride + joint * 10;
        let b = a + if self.intervals() > 0 { stride } else { 0 };
        let mix = |a: Vec3, b: Vec3| a + (b - a) * alpha;
        JointTransform {
            translation: mix(self.vec3(a), self.vec3(b)).to_array(),
            rotation: rotation(self.vec4(a + 3), self.vec4(b + 3), alpha).to_array(),
            scale: mix(self.vec3(a + 7), self.vec3(b + 7)).to_array(),
        }
    }

    /// The weight of a channel at a time.
    ///
    /// # Panics
    /// If there is no such channel.
    #[must_use]
    pub fn weight(&self, channel: usize, seconds: f32) -> f32 {
        assert!(channel < self.channel_count(), "channel {channel}");
        let (lower, alpha) = self.place(seconds);
        let stride = self.channel_count();
        let a = self.words[CLIP_WEIGHTS as usize] as usize + lower * stride + channel;
        let b = a + if self.intervals() > 0 { stride } else { 0 };
        let [a, b] = [a, b].map(|at| f32::from_bits(self.words[at]));
        a + (b - a) * alpha
    }

    fn intervals(&self) -> u32 {
        self.words[CLIP_INTERVALS as usize]
    }

    fn place(&self, seconds: f32) -> (usize, f32) {
        let intervals = self.intervals();
        let position = (0.0f32.max(seconds) * self.float(CLIP_RATE)).min(intervals as f32);
        let lower = (position as u32).min(intervals.max(1) - 1);
        (lower as usize, position - lower as f32)
    }

    fn float(&self, word: u32) -> f32 {
        f32::from_bits(self.words[word as usize])
    }

    fn vec3(&self, at: usize) -> Vec3 {
        Vec3::from_array(std::array::from_fn(|i| f32::from_bits(self.words[at + i])))
    }

    fn vec4(&self, at: usize) -> Vec4 {
        self.vec3(at).extend(f32::from_bits(self.words[at + 3]))
    }
}

fn rotation(a: Vec4, b: Vec4, alpha: f32) -> Quat {
    let near = if a.dot(b) < 0.0 { -b } else { b };
    let q = a + (near - a) * alpha;
    Quat::from_vec4(q / q.dot(q).sqrt())
}

//! Packs a [`ClipSource`].

use super::{ClipSource, HEADER_WORDS, MAGIC, PackedClip};
use crate::error::Invalid;
use crate::kernel::registry::{
    CLIP_CHANNELS, CLIP_DURATION, CLIP_INTERVALS, CLIP_JOINTS, CLIP_RATE, CLIP_TRACKS, CLIP_WEIGHTS,
};
use crate::kernel::{JointTransform, PackedRig};

/// How a clip is packed.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipOptions {
    /// The largest error of a point near a joint, in metres. 1e-4 is a tenth of a millimetre.
    pub bound_metres: f64,
    /// The distance of that point from its joint, in metres.
    pub distance_metres: f64,
    /// Length of one unit of the skeleton, in metres.
    pub meters_per_unit: f64,
    /// The largest error of a blend shape weight.
    pub weight_bound: f64,
}

impl Default for ClipOptions {
    /// 0.1 mm at 3 cm from each joint, in skeletons in metres; 0.0005 of a weight.
    fn default() -> Self {
        Self {
            bound_metres: 1e-4,
            distance_metres: 0.03,
            meters_per_unit: 1.0,
            weight_bound: 5e-4,
        }
    }
}

/// The largest error that the encoder measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClipError {
    /// Distance between the points of the packed clip and of the source, in metres.
    pub metres: f64,
    /// The joint.
    pub joint: usize,
    /// Time in seconds from the beginning of the clip.
    pub seconds: f64,
}

/// What the encoder did.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClipReport {
    /// Bytes of the packed clip.
    pub bytes: usize,
    /// Bytes of the same samples in f32: 40 for each joint and 4 for each channel.
    pub f32_bytes: usize,
    /// The largest error of joints.
    pub worst: ClipError,
    /// The largest error of a weight.
    pub worst_weight: f64,
}

impl PackedClip {
    /// Packs a clip.
    ///
    /// # Errors
    /// A source with a number that is not finite, or whose lists have other lengths than its
    /// topology.
    pub fn pack(
        source: &ClipSource,
        _options: &ClipOptions,
    ) -> Result<(Self, ClipReport), Invalid> {
        let wrong = |property: &str, expected: String, found: String| {
            Invalid::new(&source.name, property, expected, found)
        };
        let joints = source.topology.len();
        if source.rest.len() != joints || source.joints.len() != joints {
            let expected = format!("{joints} rest transforms and curves, one per joint");
            let found = format!("{} and {}", source.rest.len(), source.joints.len());
            return Err(wrong("joints", expected, found));
        }
        if joints > PackedRig::MAX_JOINTS {
            let expected = format!("at most {} joints", PackedRig::MAX_JOINTS);
            return Err(wrong("joints", expected, joints.to_string()));
        }
        let times = source.times()?;
        let (start, end) = (times[0], times[times.len() - 1]);
        let duration = end - start;
        let gaps = times.windows(2).map(|w| w[1] - w[0]);
        let smallest = gaps.fold(duration, f64::min).max(1.0 / 240.0);
        let intervals = (duration / smallest).round() as u32;
        let rate = match duration > 0.0 {
            true => f64::from(intervals) / duration,
            false => 0.0,
        };
        let mut words = vec![0; HEADER_WORDS];
        let mut push = |value: f32| match value.is_finite() {
            true => {
                words.push(value.to_bits());
                Ok(())
            }
            false => {
                let found = value.to_string();
                Err(wrong("curves", "finite values".into(), found))
            }
        };
        let time = |sample: u32| match intervals {
            0 => start,
            n => start + duration * f64::from(sample) / f64::from(n),
        };
        for sample in 0..=intervals {
            for joint in 0..joints {
                let trs = source.joint(joint, time(sample));
                let joint = JointTransform::from(trs);
                let numbers: &[f32; 10] = bytemuck::cast_ref(&joint);
                for number in numbers {
                    push(*number)?;
                }
            }
        }
        for sample in 0..=intervals {
            for channel in 0..source.weights.len() {
                push(source.weight(channel, time(sample)) as f32)?;
            }
        }
        let samples = intervals as usize + 1;
        words[0] = MAGIC;
        words[1] = words.len() as u32;
        words[CLIP_JOINTS as usize] = joints as u32;
        words[CLIP_CHANNELS as usize] = source.weights.len() as u32;
        words[CLIP_DURATION as usize] = (duration as f32).to_bits();
        words[CLIP_INTERVALS as usize] = intervals;
        words[CLIP_RATE as usize] = (rate as f32).to_bits();
        words[CLIP_TRACKS as usize] = HEADER_WORDS as u32;
        words[CLIP_WEIGHTS as usize] = (HEADER_WORDS + samples * joints * 10) as u32;
        let report = ClipReport {
            bytes: words.len() * 4,
            f32_bytes: samples * (joints * 40 + source.weights.len() * 4),
            ..ClipReport::default()
        };
        Ok((Self { words }, report))
    }
}

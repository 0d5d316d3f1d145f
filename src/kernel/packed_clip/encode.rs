//! Packs a [`ClipSource`].

use std::sync::atomic::{AtomicBool, Ordering};

use glam::{DAffine3, DQuat, Quat};
use rayon::prelude::*;

use super::format::{self, BitWriter, HEADER_WORDS, MAGIC, PLACE_BITS};
use super::measure::{self, Allowed, ClipError};
use super::samples::Samples;
use super::segment::{self, Coded, Component, Plan, TrackOf};
use super::{ClipSource, PackedClip};
use crate::error::Invalid;
use crate::kernel::registry::{
    CLIP_ANIMATED, CLIP_CHANNEL_TABLE, CLIP_CHANNELS, CLIP_CONSTANT, CLIP_CONSTANTS, CLIP_DURATION,
    CLIP_INTERVALS, CLIP_JOINT_TABLE, CLIP_JOINTS, CLIP_RATE, CLIP_RAW_CONSTANT,
    CLIP_SEGMENT_SHIFT, CLIP_SEGMENTS, CLIP_TIMES, CLIP_TRACKS, CLIP_UNIT, CLIP_WIDE,
};
use crate::kernel::{JointTransform, NONE, PackedRig};
use crate::math::Trs;

/// How a clip is packed.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipOptions {
    /// The largest error of a point near a joint, in metres. 1e-4 is a tenth of a millimetre.
    pub bound_metres: f64,
    /// The largest distance of such a point from its joint, in metres.
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

/// What the encoder did, and the errors that it measured: at each sample, which all keys of the
/// source are, and in the middle between two; at quarters, too, if the source does not go straight
/// from sample to sample.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClipReport {
    /// Bytes of the packed clip.
    pub bytes: usize,
    /// Bytes of the source as f32: 40 for each joint and 4 for each channel, at each key time.
    pub f32_bytes: usize,
    /// The largest error of points near joints.
    pub worst: ClipError,
    /// The largest error of a weight.
    pub worst_weight: f64,
    /// Number of samples.
    pub samples: usize,
    /// Samples per second, if samples have equal distances.
    pub samples_per_second: Option<f64>,
    /// Number of components of joints that take the default, a constant, or a track.
    pub components: [usize; 3],
    /// Number of pieces of tracks, one per segment, whose keys are f32 since integers would not
    /// keep the bound.
    pub raw_tracks: usize,
}

impl ClipReport {
    /// How many times smaller the clip is than its source in f32.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.f32_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// Shares of the bound: for samples that are left out between keys, and for components that are
/// taken for constants.
const STRAIGHT_SHARE: f64 = 0.5;
const CONSTANT_SHARE: f64 = 0.01;
/// For a constant rotation of 62 bits.
const PACKED_CONSTANT_SHARE: f64 = 0.05;
/// Intervals on which lengths of segments are compared.
const TRIED_INTERVALS: usize = 256;
/// Lengths of segments that are compared, as powers of two.
const SEGMENT_SHIFTS: std::ops::RangeInclusive<u32> = 4..=7;

impl PackedClip {
    /// Packs a clip. Threads of rayon share the work; the words do not depend on their number.
    ///
    /// # Errors
    /// - a number of the source or the options that is not finite, a rotation of length zero, or
    ///   lists whose length is not the number of joints;
    /// - a bound that f32 does not reach, with the largest error, its joint and time: coordinates
    ///   are too large for it, or a curve jumps between two keys.
    pub fn pack(source: &ClipSource, options: &ClipOptions) -> Result<(Self, ClipReport), Invalid> {
        check(source, options)?;
        let keys = source.times()?;
        let distance = options.distance_metres / options.meters_per_unit;
        let bound = options.bound_metres / options.meters_per_unit;
        check_values(source, &keys)?;
        let reaches = measure::reaches(source, &keys, distance);
        let allowed = |share: f64| -> Vec<Allowed> {
            let reaches = reaches.iter();
            reaches.map(|r| Allowed::new(bound * share, *r)).collect()
        };
        let weight = options.weight_bound * STRAIGHT_SHARE;
        let samples = Samples::choose(source, &keys, &allowed(STRAIGHT_SHARE), weight)?;
        let components = Components::find(
            source,
            &samples,
            &allowed(CONSTANT_SHARE),
            &allowed(PACKED_CONSTANT_SHARE),
            options.weight_bound * CONSTANT_SHARE,
        );
        let Components {
            entries,
            channels,
            constants,
            tracks,
            decoded,
        } = components;
        let plan = Plan::new(source, samples, tracks, decoded, reaches, options);
        let (shift, segments) = segments(&plan).map_err(|worst| {
            let worst = ClipError {
                metres: worst.metres * options.meters_per_unit,
                seconds: worst.seconds - plan.samples.times[0],
                ..worst
            };
            unreached(source, options, worst)
        })?;
        let words = assemble(&plan, &entries, &channels, &constants, shift, &segments)?;
        let clip = Self { words };
        let (worst, worst_weight) = measured(&clip, &plan, options);
        if worst.metres.is_nan() || worst.metres > options.bound_metres * (1.0 + 1e-9) {
            return Err(unreached(source, options, worst));
        }
        if worst_weight.is_nan() || worst_weight > options.weight_bound * (1.0 + 1e-9) {
            let expected = format!("an error of at most {}", options.weight_bound);
            let found = format!("{worst_weight} with weights in f32");
            return Err(Invalid::new(&source.name, "weights", expected, found));
        }
        let of_kind = |kinds: &dyn Fn(u32) -> bool| {
            let all = entries.iter().flat_map(|e| e.kinds);
            all.filter(|kind| kinds(*kind)).count()
        };
        let report = ClipReport {
            bytes: clip.words.len() * 4,
            f32_bytes: keys.len() * (source.topology.len() * 40 + source.weights.len() * 4),
            worst,
            worst_weight,
            samples: plan.samples.times.len(),
            samples_per_second: plan.samples.rate,
            components: [
                of_kind(&|k| k == 0),
                of_kind(&|k| k == CLIP_CONSTANT || k == CLIP_RAW_CONSTANT),
                of_kind(&|k| k == CLIP_ANIMATED),
            ],
            raw_tracks: segments
                .iter()
                .flatten()
                .filter(|coded| coded.keys_are_raw())
                .count(),
        };
        Ok((clip, report))
    }
}

fn check(source: &ClipSource, options: &ClipOptions) -> Result<(), Invalid> {
    let wrong = |property: &str, expected: String, found: String| {
        Err(Invalid::new(&source.name, property, expected, found))
    };
    let joints = source.topology.len();
    if source.rest.len() != joints || source.joints.len() != joints {
        let expected = format!("{joints} rest transforms and curves, one per joint");
        let found = format!("{} and {}", source.rest.len(), source.joints.len());
        return wrong("joints", expected, found);
    }
    if joints > PackedRig::MAX_JOINTS {
        let expected = format!("at most {} joints", PackedRig::MAX_JOINTS);
        return wrong("joints", expected, joints.to_string());
    }
    let parents = 0..joints;
    if let Some(joint) = parents
        .clone()
        .find(|j| source.topology.parent(*j).is_some_and(|p| p >= *j))
    {
        return wrong(
            "joints",
            "parents before their children".into(),
            format!("joint {joint}"),
        );
    }
    let positive = |x: f64| x.is_finite() && x > 0.0;
    for (name, value) in [
        ("bound_metres", options.bound_metres),
        ("meters_per_unit", options.meters_per_unit),
        ("weight_bound", options.weight_bound),
    ] {
        if !positive(value) {
            return wrong(name, "a positive number".into(), value.to_string());
        }
    }
    if !(options.distance_metres.is_finite() && options.distance_metres >= 0.0) {
        let found = options.distance_metres.to_string();
        return wrong("distance_metres", "a distance".into(), found);
    }
    Ok(())
}

/// Refuses numbers that are not finite and rotations without direction.
fn check_values(source: &ClipSource, keys: &[f64]) -> Result<(), Invalid> {
    let wrong = |property: &str, what: String, time: f64, found: String| {
        let found = format!("{found} at {time} s");
        Err(Invalid::new(&source.name, property, what, found))
    };
    for time in keys {
        for joint in 0..source.topology.len() {
            let Trs {
                translation,
                rotation,
                scale,
            } = source.joint(joint, *time);
            let largest = f64::from(f32::MAX);
            let small = |v: f64| v.abs() <= largest;
            let all = translation.to_array().into_iter().chain(scale.to_array());
            if !all.chain(rotation.to_array()).all(small) {
                let expected = format!("finite f32 values of joint {joint}");
                let found = format!("{translation}, {rotation}, {scale}");
                return wrong("curves", expected, *time, found);
            }
            if rotation.length_squared() < 1e-12 {
                let expected = format!("a rotation of joint {joint}");
                return wrong("rotations", expected, *time, rotation.to_string());
            }
        }
        for channel in 0..source.weights.len() {
            let weight = source.weight(channel, *time);
            if weight.is_nan() || weight.abs() > f64::from(f32::MAX) {
                let expected = format!("a finite weight of channel {channel}");
                return wrong("weights", expected, *time, weight.to_string());
            }
        }
    }
    Ok(())
}

fn unreached(source: &ClipSource, options: &ClipOptions, worst: ClipError) -> Invalid {
    let expected = format!(
        "an error of at most {:.3e} m at {} m from each joint",
        options.bound_metres, options.distance_metres
    );
    let found = format!(
        "{:.3e} m with keys in f32, for joint {} at {} s",
        worst.metres, worst.joint, worst.seconds
    );
    Invalid::new(&source.name, "curves", expected, found)
}

/// What a joint has in the table of joints.
struct Entry {
    kinds: [u32; 3],
    track: usize,
    constant: usize,
}

/// Which components are constant.
struct Components {
    entries: Vec<Entry>,
    /// The word of each channel.
    channels: Vec<u32>,
    constants: Vec<u32>,
    tracks: Vec<TrackOf>,
    /// The constants of joints as they are decoded.
    decoded: Vec<JointTransform>,
}

impl Components {
    fn find(
        source: &ClipSource,
        samples: &Samples,
        same: &[Allowed],
        packed: &[Allowed],
        same_weight: f64,
    ) -> Self {
        let parts = samples.measured(samples.intervals());
        let joints: Vec<(Trs, [bool; 3], [bool; 3])> = (0..source.topology.len())
            .into_par_iter()
            .map(|joint| {
                let first = source.joint(joint, samples.time(0));
                let (mut constant, mut default) = ([true; 3], [true; 3]);
                let still = !source.joints[joint].is_animated();
                for part in 0..if still { 1 } else { parts } {
                    let now = source.joint(joint, samples.time(part));
                    for i in 0..3 {
                        constant[i] &= near(&same[joint], i, &now, &first);
                        default[i] &= near(&same[joint], i, &now, &Trs::IDENTITY);
                    }
                }
                (first, constant, default)
            })
            .collect();
        let mut out = Self {
            entries: Vec::new(),
            channels: Vec::new(),
            constants: Vec::new(),
            tracks: Vec::new(),
            decoded: Vec::new(),
        };
        for (joint, (first, constant, default)) in joints.into_iter().enumerate() {
            out.joint(source, joint, &first, constant, default, &packed[joint]);
        }
        for (channel, curve) in source.weights.iter().enumerate() {
            let mut weights = (0..parts).map(|part| source.weight(channel, samples.time(part)));
            let first = source.weight(channel, samples.time(0));
            let word = if weights.all(|w| (w - first).abs() <= same_weight) {
                match first.abs() <= same_weight {
                    true => 0,
                    false => {
                        out.constants.push((first as f32).to_bits());
                        CLIP_CONSTANT | (out.constants.len() as u32 - 1) << 2
                    }
                }
            } else {
                let held = curve.is_held();
                out.tracks.push(TrackOf::Channel { channel, held });
                CLIP_ANIMATED | (out.tracks.len() as u32 - 1) << 2
            };
            out.channels.push(word);
        }
        out
    }

    fn joint(
        &mut self,
        source: &ClipSource,
        joint: usize,
        first: &Trs,
        constant: [bool; 3],
        default: [bool; 3],
        packed: &Allowed,
    ) {
        let (track, at) = (self.tracks.len(), self.constants.len());
        let mut decoded = JointTransform::IDENTITY;
        let mut kinds = [0; 3];
        let held = source.joints[joint].held();
        let components = [
            Component::Rotation,
            Component::Translation,
            Component::Scale,
        ];
        for (i, component) in components.into_iter().enumerate() {
            if default[i] {
                continue;
            }
            if !constant[i] {
                kinds[i] = CLIP_ANIMATED;
                self.tracks.push(TrackOf::Joint {
                    joint,
                    component,
                    held: held[i],
                });
                continue;
            }
            kinds[i] = CLIP_CONSTANT;
            let exact = JointTransform::from(*first);
            match component {
                Component::Rotation => {
                    let unit = first.rotation.normalize().as_quat();
                    let words = format::constant_rotation_words(unit);
                    let found = format::constant_rotation(&words, 0);
                    let whole = Trs {
                        rotation: Quat::from_vec4(found).as_dquat(),
                        ..*first
                    };
                    if near(packed, 0, &whole, first) {
                        decoded.rotation = found.to_array();
                        self.constants.extend(words);
                    } else {
                        kinds[i] = CLIP_RAW_CONSTANT;
                        decoded.rotation = exact.rotation;
                        self.constants.extend(exact.rotation.map(f32::to_bits));
                    }
                }
                Component::Translation => {
                    decoded.translation = exact.translation;
                    self.constants.extend(exact.translation.map(f32::to_bits));
                }
                Component::Scale => {
                    decoded.scale = exact.scale;
                    self.constants.extend(exact.scale.map(f32::to_bits));
                }
            }
        }
        self.entries.push(Entry {
            kinds,
            track,
            constant: at,
        });
        self.decoded.push(decoded);
    }
}

/// Whether one component of two transforms is the same but for what is allowed.
fn near(allowed: &Allowed, part: usize, a: &Trs, b: &Trs) -> bool {
    let only = |t: &Trs| Trs {
        rotation: if part == 0 {
            t.rotation
        } else {
            DQuat::IDENTITY
        },
        translation: if part == 1 {
            t.translation
        } else {
            Trs::IDENTITY.translation
        },
        scale: if part == 2 {
            t.scale
        } else {
            Trs::IDENTITY.scale
        },
    };
    allowed.share(&only(a), &only(b)) <= 1.0
}

type Segments = Vec<Vec<Coded>>;

/// Encodes all segments, of the length that takes the fewest bytes.
fn segments(plan: &Plan<'_>) -> Result<(u32, Segments), ClipError> {
    let intervals = plan.samples.intervals();
    let tried = intervals.min(TRIED_INTERVALS);
    let encoded = |shift: u32, intervals: usize| -> Result<Segments, ClipError> {
        let length = 1usize << shift;
        let failed = AtomicBool::new(false);
        let starts: Vec<usize> = (0..intervals.max(1)).step_by(length).collect();
        let all: Vec<_> = starts
            .into_par_iter()
            .map(|first| {
                if failed.load(Ordering::Relaxed) {
                    return None;
                }
                let count = length.min(intervals - first);
                let segment = segment::encode(plan, first, count);
                failed.fetch_or(segment.is_err(), Ordering::Relaxed);
                Some(segment)
            })
            .collect();
        all.into_iter().flatten().collect()
    };
    let mut best: Option<(usize, u32, Segments)> = None;
    for shift in SEGMENT_SHIFTS {
        let segments = encoded(shift, tried)?;
        let bits = |segment: &Vec<Coded>| -> usize {
            let blocks = segment.iter().map(|c| c.bits.next_multiple_of(8) + 32);
            blocks.sum::<usize>() + 32
        };
        let bits = segments.iter().map(bits).sum();
        if best.as_ref().is_none_or(|(least, ..)| bits < *least) {
            best = Some((bits, shift, segments));
        }
        if 1 << shift >= tried {
            break;
        }
    }
    let (_, shift, segments) = best.unwrap_or_default();
    match tried == intervals {
        true => Ok((shift, segments)),
        false => Ok((shift, encoded(shift, intervals)?)),
    }
}

fn assemble(
    plan: &Plan<'_>,
    entries: &[Entry],
    channels: &[u32],
    constants: &[u32],
    shift: u32,
    segments: &[Vec<Coded>],
) -> Result<Vec<u32>, Invalid> {
    let (samples, source) = (&plan.samples, plan.source);
    let mut words = vec![0u32; HEADER_WORDS];
    let mut head = |word: u32, value: u32| words[word as usize] = value;
    head(CLIP_JOINTS, entries.len() as u32);
    head(CLIP_CHANNELS, channels.len() as u32);
    head(CLIP_DURATION, (samples.duration() as f32).to_bits());
    head(CLIP_INTERVALS, samples.intervals() as u32);
    head(CLIP_TIMES, NONE);
    head(CLIP_SEGMENT_SHIFT, shift);
    head(CLIP_TRACKS, plan.tracks.len() as u32);
    match samples.rate {
        Some(rate) => head(CLIP_RATE, (rate as f32).to_bits()),
        None if samples.intervals() > 0 => {
            head(CLIP_TIMES, HEADER_WORDS as u32);
            let mut last = f32::NEG_INFINITY;
            for time in &samples.times {
                // Times that f32 cannot tell apart are one step of f32 apart.
                let time = ((time - samples.times[0]) as f32).max(last.next_up());
                words.push(time.to_bits());
                last = time;
            }
        }
        None => {}
    }
    words[CLIP_JOINT_TABLE as usize] = words.len() as u32;
    let is_wide = plan.tracks.len() > 0x1fff || constants.len() > 0x1fff;
    words[CLIP_WIDE as usize] = u32::from(is_wide);
    for entry in entries {
        let [rotation, translation, scale] = entry.kinds;
        let kinds = rotation | translation << 2 | scale << 4;
        let word = kinds | (entry.track as u32) << 6;
        if is_wide {
            words.extend([word, entry.constant as u32]);
        } else {
            words.push(word | (entry.constant as u32) << 19);
        }
    }
    words[CLIP_CHANNEL_TABLE as usize] = words.len() as u32;
    words.extend(channels);
    words[CLIP_CONSTANTS as usize] = words.len() as u32;
    words.extend(constants);
    words[CLIP_SEGMENTS as usize] = words.len() as u32;
    let table = words.len();
    words.resize(table + segments.len(), 0);
    // The unit of places is as small as the longest segment allows.
    let longest = segments
        .iter()
        .map(|s| s.iter().map(|c| c.bits / 8 + 1).sum::<usize>());
    let longest = longest.max().unwrap_or_default();
    let unit = (0..=8).find(|unit| {
        let padding = plan.tracks.len() << unit;
        (longest + padding) >> unit < 1 << PLACE_BITS
    });
    let Some(unit) = unit else {
        let expected = "segments of at most 128 MiB";
        return Err(Invalid::new(
            &source.name,
            "",
            expected,
            format!("{longest} bytes"),
        ));
    };
    words[CLIP_UNIT as usize] = unit;
    for (number, segment) in segments.iter().enumerate() {
        words[table + number] = words.len() as u32;
        let mut blocks = BitWriter::default();
        for coded in segment {
            let place = (blocks.len / 8) >> unit;
            let header = format::Header {
                place: place as u32,
                ..coded.header
            };
            words.push(header.word());
            coded.write(&mut blocks);
            blocks.align(8 << unit);
        }
        words.extend(blocks.words);
    }
    Invalid::unless_u32_counts(&source.name, "", "words", words.len() as u64 * 32)?;
    words[0] = MAGIC;
    words[1] = words.len() as u32;
    Ok(words)
}

/// The largest errors of a packed clip at samples and between them.
fn measured(clip: &PackedClip, plan: &Plan<'_>, options: &ClipOptions) -> (ClipError, f64) {
    let source = plan.source;
    let joints = source.topology.len();
    let at_part = |part: usize| -> (ClipError, f64) {
        let (time, position) = (plan.samples.time(part), plan.samples.position(part));
        let mut wanted: Vec<DAffine3> = (0..joints)
            .map(|joint| measure::matrix(&source.joint(joint, time)))
            .collect();
        let mut found: Vec<DAffine3> = (0..joints)
            .map(|joint| measure::matrix_of(&clip.joint_at(joint, position)))
            .collect();
        measure::to_skeleton(&source.topology, &mut wanted);
        measure::to_skeleton(&source.topology, &mut found);
        let mut worst = ClipError::default();
        for joint in 0..joints {
            let error = measure::error(&wanted[joint], &found[joint], plan.distance);
            let metres = error * options.meters_per_unit;
            if metres.is_nan() || metres > worst.metres {
                worst = ClipError {
                    metres,
                    joint,
                    seconds: time - plan.samples.times[0],
                };
            }
        }
        let weight = |channel: usize| {
            let found = f64::from(clip.weight_at(channel, position));
            (found - source.weight(channel, time)).abs()
        };
        let weights = (0..source.weights.len()).map(weight);
        (worst, weights.fold(0.0, f64::max))
    };
    let all: Vec<_> = (0..plan.samples.measured(plan.samples.intervals()))
        .into_par_iter()
        .map(at_part)
        .collect();
    let first = (ClipError::default(), 0.0);
    all.into_iter().fold(first, |worst, here| {
        let joints = if here.0.metres <= worst.0.metres {
            worst.0
        } else {
            here.0
        };
        (joints, worst.1.max(here.1))
    })
}

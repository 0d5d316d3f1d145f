//! Packs a [`ClipSource`].

use glam::DAffine3;
use rayon::prelude::*;

use super::components::{Components, Tables};
use super::format::{self, BitWriter, LAST_STRIDE, PLACE_BITS};
use super::measure::{self, Allowed, ClipError};
use super::samples::Samples;
use super::segment::{self, Plan};
use super::track::Coded;
use super::{ClipSource, PackedClip};
use crate::error::Invalid;
use crate::kernel::registry::{
    CLIP_CHANNELS, CLIP_DURATION, CLIP_HEADER, CLIP_INTERVALS, CLIP_JOINT_WORDS, CLIP_JOINTS,
    CLIP_RATE, CLIP_SEGMENT_SHIFT, CLIP_SEGMENTS, CLIP_TIMES, CLIP_TRACKS, CLIP_UNIT,
};
use crate::kernel::{NONE, PackedRig};
use crate::math::Trs;

/// How a clip is packed.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipOptions {
    /// The largest error of a point near a joint, in metres. 1e-4 is a tenth of a millimetre. If
    /// keys in f32 do not reach it, what f32 rounds may come on top: a 2^24th of the skeleton's size
    /// at each level of the hierarchy, and at most half of the bound.
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

/// What the encoder did, and the errors that it measured: in f64, with the packed words, at each
/// sample and at 7 times between two samples; at 15 if the source does not go straight from sample
/// to sample. All keys of the source are samples.
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
    /// Bits of the largest rotation key. 128 if one is in f32; 0 if no rotation is animated.
    pub most_rotation_bits: u32,
    /// Mean bits of rotation keys.
    pub mean_rotation_bits: f64,
}

impl ClipReport {
    /// How many times smaller the clip is than its source in f32.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.f32_bytes as f64 / self.bytes.max(1) as f64
    }
}

/// Shares of the bound by which one joint may stray between two samples. A smaller one is tried,
/// with more samples, if joints together stray too far.
const STRAIGHT_SHARES: [f64; 3] = [0.5, 0.1, 0.02];
/// Shares of the bound for components that are taken for constants.
const CONSTANT_SHARE: f64 = 0.01;
/// The share of the bound that the search for small tracks uses, at the few times at which it
/// measures errors.
const SEARCHED_SHARE: f64 = 0.98;
/// The share that is kept at all times at which errors are measured. Between two of those, an error
/// grows by less than what is left.
const MEASURED_SHARE: f64 = 0.99;
/// How often a segment is searched, each time with a smaller share. More do not help: then the
/// source bends between samples.
const MOST_SEARCHES: usize = 5;
/// Intervals on which lengths of segments are compared.
const TRIED_INTERVALS: usize = 256;
/// Lengths of segments that are compared, as powers of two.
const SEGMENT_SHIFTS: std::ops::RangeInclusive<u32> = 4..=LAST_STRIDE;

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
        check_values(source, &keys)?;
        let distance = options.distance_metres / options.meters_per_unit;
        let reaches = measure::reaches(source, &keys, distance);
        // The error with the fewest samples, and their number.
        let mut failed: Option<(Invalid, usize)> = None;
        for share in STRAIGHT_SHARES {
            let samples = match (choose(source, options, &keys, &reaches, share), &failed) {
                // The same samples give the same error.
                (Ok(samples), Some((_, count))) if samples.times.len() == *count => continue,
                (Ok(samples), Some(_)) if samples.strays > 1.0 => break,
                (Ok(samples), _) => samples,
                (Err(error), None) => return Err(error),
                (Err(_), Some(_)) => break,
            };
            let count = samples.times.len();
            match pack_at(source, options, keys.len(), &reaches, samples) {
                Ok(done) => return Ok(done),
                Err(error) => failed = failed.or(Some((error, count))),
            }
        }
        match failed {
            Some((error, _)) => Err(error),
            None => unreachable!("one share is always tried"),
        }
    }
}

/// What each joint may be off by, if that moves points by a share of the bound.
fn allowed(options: &ClipOptions, reaches: &[f64], share: f64) -> Vec<Allowed> {
    let bound = options.bound_metres / options.meters_per_unit;
    let reaches = reaches.iter();
    reaches.map(|r| Allowed::new(bound * share, *r)).collect()
}

fn choose(
    source: &ClipSource,
    options: &ClipOptions,
    keys: &[f64],
    reaches: &[f64],
    share: f64,
) -> Result<Samples, Invalid> {
    let allowed = allowed(options, reaches, share);
    Samples::choose(source, keys, &allowed, options.weight_bound * share)
}

/// Packs a clip whose samples are chosen. `keys` is the number of key times of the source.
fn pack_at(
    source: &ClipSource,
    options: &ClipOptions,
    keys: usize,
    reaches: &[f64],
    samples: Samples,
) -> Result<(PackedClip, ClipReport), Invalid> {
    let same = allowed(options, reaches, CONSTANT_SHARE);
    let same_weight = options.weight_bound * CONSTANT_SHARE;
    let Components {
        tables,
        tracks,
        decoded,
    } = Components::find(source, &samples, &same, same_weight);
    let plan = Plan::new(source, samples, tracks, decoded, reaches, options);
    let failed = |worst: ClipError| {
        let worst = ClipError {
            metres: worst.metres * options.meters_per_unit,
            seconds: worst.seconds - plan.samples.times[0],
            ..worst
        };
        unreached(source, options, worst)
    };
    let (shift, mut segments) = segments(&plan).map_err(failed)?;
    let intervals = plan.samples.intervals();
    // The first interval of a segment, and their number.
    let range = |segment: usize| {
        let first = segment << shift;
        (first, (1 << shift).min(intervals - first))
    };
    let mut shares = vec![SEARCHED_SHARE; segments.len()];
    let mut errors: Vec<Option<Errors>> = vec![None; segments.len()];
    let rounding = plan.rounding * options.meters_per_unit;
    for search in 1.. {
        let words = assemble(&plan, &tables, shift, &segments)?;
        let clip = PackedClip { words };
        let unknown = errors.par_iter_mut().enumerate();
        unknown
            .filter(|(_, errors)| errors.is_none())
            .for_each(|(segment, errors)| {
                let (first, count) = range(segment);
                *errors = Some(Errors::of(&clip, &plan, options, first, count));
            });
        let errors_now: Vec<Errors> = errors.iter().flatten().copied().collect();
        // Segments that exceed the bound between the times of the search are searched again, with
        // a smaller one.
        for (segment, found) in errors_now.iter().enumerate() {
            let is_raw = segments[segment].iter().any(Coded::keys_are_raw);
            let share = found.share(options, if is_raw { rounding } else { 0.0 });
            if share <= MEASURED_SHARE {
                continue;
            }
            shares[segment] *= 0.98 * MEASURED_SHARE / share;
            if share.is_nan() || search == MOST_SEARCHES {
                return Err(found.unreached(source, options));
            }
            errors[segment] = None;
        }
        let again = segments.par_iter_mut().enumerate();
        let again = again.filter(|(segment, _)| errors[*segment].is_none());
        let again = again.map(|(segment, coded)| {
            let (first, count) = range(segment);
            *coded = segment::encode(&plan, first, count, shares[segment])?;
            Ok(())
        });
        // The error of the first segment, whatever the threads do.
        let again: Vec<Result<(), ClipError>> = again.collect();
        again
            .into_iter()
            .collect::<Result<(), _>>()
            .map_err(failed)?;
        if errors.iter().all(Option::is_some) {
            let worst = errors_now.iter().fold(Errors::default(), Errors::worse);
            let report = report(&clip, &plan, tables.kinds, &segments, keys, worst);
            return Ok((clip, report));
        }
    }
    unreachable!("the last search ends with a result")
}

fn report(
    clip: &PackedClip,
    plan: &Plan<'_>,
    components: [usize; 3],
    segments: &Segments,
    keys: usize,
    worst: Errors,
) -> ClipReport {
    let source = plan.source;
    let coded = || segments.iter().flatten();
    let rotations = segments.iter().flat_map(|segment| {
        let tracks = plan.tracks.iter().zip(segment);
        let tracks = tracks.filter(|(track, _)| track.is_rotation());
        tracks.map(|(_, coded)| coded.keys_and_bits())
    });
    let (mut rotation_keys, mut bits, mut most) = (0, 0, 0);
    for (count, of_key) in rotations {
        rotation_keys += count;
        bits += count * of_key as usize;
        most = most.max(of_key);
    }
    ClipReport {
        bytes: clip.words.len() * 4,
        f32_bytes: keys * (source.topology.len() * 40 + source.weights.len() * 4),
        worst: worst.point,
        worst_weight: worst.weight,
        samples: plan.samples.times.len(),
        samples_per_second: plan.samples.rate,
        components,
        raw_tracks: coded().filter(|coded| coded.keys_are_raw()).count(),
        most_rotation_bits: most,
        mean_rotation_bits: bits as f64 / rotation_keys.max(1) as f64,
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
    let levels = source.topology.depth();
    if levels > PackedRig::MAX_LEVELS {
        let expected = format!("at most {} levels", PackedRig::MAX_LEVELS);
        return wrong("joints", expected, levels.to_string());
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

type Segments = Vec<Vec<Coded>>;

/// Encodes all segments, of the length that takes the fewest bytes.
fn segments(plan: &Plan<'_>) -> Result<(u32, Segments), ClipError> {
    let encoded = |shift: u32, intervals: usize| -> Result<Segments, ClipError> {
        let firsts = (0..intervals.max(1)).into_par_iter().step_by(1 << shift);
        let encode = |first| {
            let count = (1 << shift).min(intervals - first);
            segment::encode(plan, first, count, SEARCHED_SHARE)
        };
        firsts.map(encode).collect()
    };
    let intervals = plan.samples.intervals();
    let tried = intervals.min(TRIED_INTERVALS);
    let mut best: Option<(usize, u32, Segments)> = None;
    for shift in SEGMENT_SHIFTS {
        let segments = encoded(shift, tried)?;
        let of_block = |coded: &Coded| coded.bits.next_multiple_of(8) + 32;
        let blocks = segments.iter().flatten().map(of_block);
        let bits = blocks.sum::<usize>() + 32 * segments.len();
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

/// Puts a clip's words together.
fn assemble(
    plan: &Plan<'_>,
    tables: &Tables,
    shift: u32,
    segments: &Segments,
) -> Result<Vec<u32>, Invalid> {
    let (samples, source) = (&plan.samples, plan.source);
    let mut words = vec![0u32; CLIP_HEADER as usize];
    words.extend(&tables.words);
    let times = words.len() as u32;
    if samples.rate.is_none() && samples.intervals() > 0 {
        let mut last = f32::NEG_INFINITY;
        for time in &samples.times {
            // Times that f32 cannot tell apart are one step of f32 apart.
            let time = ((time - samples.times[0]) as f32).max(last.next_up());
            words.push(time.to_bits());
            last = time;
        }
    }
    let has_times = words.len() as u32 > times;
    let table = words.len();
    let mut head = |word: u32, value: u32| words[word as usize] = value;
    head(CLIP_JOINTS, source.topology.len() as u32);
    head(CLIP_CHANNELS, source.weights.len() as u32);
    head(CLIP_DURATION, (samples.duration() as f32).to_bits());
    head(CLIP_INTERVALS, samples.intervals() as u32);
    head(
        CLIP_RATE,
        (samples.rate.unwrap_or_default() as f32).to_bits(),
    );
    head(CLIP_TIMES, if has_times { times } else { NONE });
    head(CLIP_SEGMENTS, table as u32);
    head(CLIP_SEGMENT_SHIFT, shift);
    head(CLIP_TRACKS, plan.tracks.len() as u32);
    head(CLIP_JOINT_WORDS, tables.joint_words);
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
    Ok(words)
}

/// The largest errors of a part of a packed clip.
#[derive(Clone, Copy, Debug, Default)]
struct Errors {
    point: ClipError,
    weight: f64,
}

impl Errors {
    /// Measures some intervals: at their samples, and at more times between them than the search
    /// does.
    fn of(
        clip: &PackedClip,
        plan: &Plan<'_>,
        options: &ClipOptions,
        first: usize,
        count: usize,
    ) -> Self {
        let fine = plan.samples.finer();
        // The last sample of a segment belongs to the next one, if there is one.
        let is_last = usize::from(first + count == plan.samples.intervals());
        let parts = first * fine.parts..(first + count) * fine.parts + is_last;
        let each = parts.into_par_iter().map(|part| {
            let (time, position) = (fine.time(part), fine.position(part));
            Self::at(clip, plan, options, time, position)
        });
        let each: Vec<Self> = each.collect();
        each.iter().fold(Self::default(), Self::worse)
    }

    fn at(
        clip: &PackedClip,
        plan: &Plan<'_>,
        options: &ClipOptions,
        time: f64,
        position: f32,
    ) -> Self {
        let source = plan.source;
        let joints = source.topology.len();
        let mut wanted: Vec<DAffine3> = (0..joints)
            .map(|joint| measure::matrix(&source.joint(joint, time)))
            .collect();
        let mut found: Vec<DAffine3> = (0..joints)
            .map(|joint| measure::matrix_of(&clip.joint_at(joint, position)))
            .collect();
        measure::to_skeleton(&source.topology, &mut wanted);
        measure::to_skeleton(&source.topology, &mut found);
        let mut point = ClipError::default();
        for joint in 0..joints {
            let error = measure::error(&wanted[joint], &found[joint], plan.distance);
            let metres = error * options.meters_per_unit;
            if metres.is_nan() || metres > point.metres {
                point = ClipError {
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
        Self {
            point,
            weight: weights.fold(0.0, f64::max),
        }
    }

    /// The larger ones of two. NaN is the largest.
    fn worse(self, other: &Self) -> Self {
        Self {
            point: match other.point.metres <= self.point.metres || self.point.metres.is_nan() {
                true => self.point,
                false => other.point,
            },
            weight: self.weight.max(other.weight),
        }
    }

    /// The larger one of both as a share of what is allowed. `rounding` is allowed besides, in
    /// metres.
    fn share(&self, options: &ClipOptions, rounding: f64) -> f64 {
        let point = (self.point.metres - rounding) / options.bound_metres;
        let weight = self.weight / options.weight_bound;
        if point.is_nan() || point > weight {
            point
        } else {
            weight
        }
    }

    fn unreached(&self, source: &ClipSource, options: &ClipOptions) -> Invalid {
        let weight = self.weight / options.weight_bound;
        if self.point.metres / options.bound_metres >= weight || self.point.metres.is_nan() {
            return unreached(source, options, self.point);
        }
        let expected = format!("an error of at most {}", options.weight_bound);
        let found = format!("{} with weights in f32", self.weight);
        Invalid::new(&source.name, "weights", expected, found)
    }
}

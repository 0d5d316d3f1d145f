//! The MOTION part: frames of channel values, turned into curves, and the frame rate that a rounded frame time stands for.

use glam::{DQuat, DVec3};

use super::hierarchy::{Channel, Joint};
use super::lines::Lines;
use sinew::error::Invalid;
use sinew_animate::asset::{Curve, CurveInterpolation, Keys, Track, TrackTarget};

const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];
/// Seconds between frames: faster or slower is not motion.
const FRAME_TIMES: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// Positions of at most this share of the OFFSET are round-off of 0.
const ZERO: f64 = 2e-3;

pub struct Motion {
    /// None where there is no frame, or no channel.
    pub tracks: Vec<Track>,
    /// `None` where the file does not say: `Frame Time: 0`, which single poses have.
    pub frames_per_second: Option<f64>,
    /// Frames beyond the number that the file gives.
    pub surplus: u64,
    /// Joints that stay at their OFFSET, because all of their positions are 0, but for round-off.
    pub unplaced: Vec<usize>,
}

/// Keys of one joint, as far as they are read.
#[derive(Default)]
struct JointKeys {
    translations: Vec<DVec3>,
    rotations: Vec<DQuat>,
}

/// Reads from MOTION to the end of the file.
pub fn read(lines: &mut Lines, joints: &[Joint]) -> Result<Motion, Invalid> {
    lines.keyword("MOTION")?;
    let count = frame_count(lines)?;
    let frames_per_second = frame_time(lines, count)?;

    let channels: usize = joints.iter().map(|j| j.channels.len()).sum();
    // Grown frame by frame: the count may claim anything.
    let mut keys: Vec<JointKeys> = joints.iter().map(|_| JointKeys::default()).collect();
    let mut frames = 0;
    while let Some(words) = lines.words_of_line() {
        frames += 1;
        let is_frame = || words.clone().count() == channels && words.clone().all(is_number);
        if channels == 0 || (frames > count && !is_frame()) {
            let expected =
                format!("{count} frames of {channels} values, and then the end of the file");
            let found = words.clone().next();
            return Err(lines.error("MOTION", expected, found));
        }
        read_frame(lines, words, joints, channels, &mut keys)?;
    }
    if frames < count && channels > 0 {
        let (expected, found) = (format!("{count} frames"), frames.to_string());
        return Err(lines.broken("MOTION", expected, found));
    }
    let mut unplaced = Vec::new();
    for (i, (joint, keys)) in joints.iter().zip(&mut keys).enumerate() {
        let is_zero = |at: &DVec3| at.length() <= ZERO * joint.offset.length();
        let is_there = joint.offset != DVec3::ZERO && !keys.translations.is_empty();
        if is_there && keys.translations.iter().all(is_zero) {
            keys.translations.clear();
            unplaced.push(i);
        }
    }
    let times: Vec<f64> = (0..frames)
        .map(|i| i as f64 / frames_per_second.unwrap_or(1.0))
        .collect();
    let tracks = keys.into_iter().enumerate();
    Ok(Motion {
        tracks: tracks.flat_map(|(i, k)| tracks_of(i, k, &times)).collect(),
        frames_per_second,
        surplus: frames.saturating_sub(count),
        unplaced,
    })
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// `Frames: 30`
fn frame_count(lines: &mut Lines) -> Result<u64, Invalid> {
    let value = labelled(lines, &["Frames"], "Frames")?;
    let count = value.and_then(|w| w.parse::<u64>().ok());
    count.ok_or_else(|| lines.error("Frames", "a whole number", value))
}

/// `Frame Time: 0.0333333`, as a rate.
fn frame_time(lines: &mut Lines, frames: u64) -> Result<Option<f64>, Invalid> {
    let word = labelled(lines, &["Frame", "Time"], "Frame Time")?;
    let seconds = lines.parse("Frame Time", word)?;
    if seconds == 0.0 && frames <= 1 {
        return Ok(None);
    }
    if !FRAME_TIMES.contains(&seconds) {
        return Err(lines.error("Frame Time", "seconds from 1e-6 to 1e6", word));
    }
    Ok(word.map(|w| frame_rate(w, seconds)))
}

/// The word after a label that ends in a colon, which may stand against either, by itself, or not at all.
fn labelled<'a>(
    lines: &mut Lines<'a>,
    label: &[&str],
    statement: &str,
) -> Result<Option<&'a str>, Invalid> {
    let mut value = "";
    for (i, part) in label.iter().enumerate() {
        let word = lines.word();
        let (found, after) = match word.and_then(|w| w.split_once(':')) {
            Some((found, after)) if i + 1 == label.len() => (Some(found), after),
            _ => (word, ""),
        };
        if !found.is_some_and(|f| f.eq_ignore_ascii_case(part)) {
            return Err(lines.error("MOTION", format!("{statement}:"), word));
        }
        value = after;
    }
    if !value.is_empty() {
        return Ok(Some(value));
    }
    let next = lines.word();
    Ok(match next.map(|w| w.trim_start_matches(':')) {
        Some("") => lines.word(),
        next => next,
    })
}

fn read_frame(
    lines: &Lines,
    mut words: std::str::SplitWhitespace,
    joints: &[Joint],
    channels: usize,
    keys: &mut [JointKeys],
) -> Result<(), Invalid> {
    let found = words.clone().count();
    if found != channels {
        let expected = format!("{channels} values, one for each channel");
        // A word that is no number says more than the count.
        let odd = words.find(|w| !is_number(w));
        return Err(match odd {
            Some(odd) => lines.error("MOTION", expected, Some(odd)),
            None => lines.broken("MOTION", expected, found.to_string()),
        });
    }
    for (joint, keys) in joints.iter().zip(keys) {
        let mut translation = None;
        let mut rotation: Option<DQuat> = None;
        for channel in &joint.channels {
            let value = lines.parse(&joint.name, words.next())?;
            match *channel {
                Channel::Position(axis) => translation.get_or_insert(joint.offset)[axis] = value,
                Channel::Rotation(axis) => {
                    let turn = DQuat::from_axis_angle(AXES[axis], value.to_radians());
                    rotation = Some(rotation.map_or(turn, |before| before * turn));
                }
            }
        }
        keys.translations.extend(translation);
        if let Some(rotation) = rotation {
            let rotation = rotation.normalize();
            // One hemisphere from key to key, so that no reader goes the long way.
            let turned = keys.rotations.last().is_some_and(|l| l.dot(rotation) < 0.0);
            keys.rotations
                .push(if turned { -rotation } else { rotation });
        }
    }
    Ok(())
}

fn tracks_of(node: usize, keys: JointKeys, times: &[f64]) -> impl Iterator<Item = Track> {
    let track = move |keys| Track {
        target: TrackTarget::Node(node),
        curve: Curve {
            times: times.to_vec(),
            interpolation: CurveInterpolation::Linear,
            keys,
        },
    };
    let translation =
        (!keys.translations.is_empty()).then_some(Keys::Translation(keys.translations));
    let rotation = (!keys.rotations.is_empty()).then_some(Keys::Rotation(keys.rotations));
    [translation, rotation].into_iter().flatten().map(track)
}

/// A rate further off than this share is another rate, however few digits there are.
const FURTHEST: f64 = 0.0102;
/// What f64 itself rounds, for times with all their digits.
const ROUNDING: f64 = 1e-15;

/// Frames per second of a frame time as written. Where a usual rate is what the digits may be rounded or cut off
/// from, it is that rate; `seconds` is the same text as a number.
pub fn frame_rate(text: &str, seconds: f64) -> f64 {
    let written = seconds.recip();
    let within = last_digit(text).min(FURTHEST * seconds) + ROUNDING * seconds;
    let nearest = |rates: &[f64]| {
        let meant = rates
            .iter()
            .filter(|r| **r > 0.0 && (r.recip() - seconds).abs() <= within);
        meant
            .min_by(|a, b| (*a - written).abs().total_cmp(&(*b - written).abs()))
            .copied()
    };
    // Film's rates and multiples of 5 first: 0.0083 is 120, not 121.
    let five = (written / 5.0).round() * 5.0;
    let ntsc = [24.0, 30.0, 60.0, 120.0].map(|rate| rate * 1000.0 / 1001.0);
    nearest(&[24.0, 48.0, 72.0, 96.0, 144.0, five])
        .or_else(|| nearest(&ntsc))
        .or_else(|| nearest(&[written.round()]))
        .unwrap_or(written)
}

/// What one step of a number's last written digit is worth.
fn last_digit(text: &str) -> f64 {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, d)| d.len());
    let exponent: f64 = exponent.parse().unwrap_or(0.0);
    10f64.powf(exponent - decimals as f64)
}

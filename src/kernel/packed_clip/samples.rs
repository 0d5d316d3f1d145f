//! The times at which all tracks have samples.

use super::ClipSource;
use super::format;
use super::measure::Allowed;
use crate::error::Invalid;
use crate::math::Trs;

/// Part of an interval that a key may be off a sample.
const OFF_SAMPLE: f64 = 1e-3;
/// Halvings of the time between two keys.
const HALVINGS: u32 = 7;
/// Largest number of intervals.
const MOST_INTERVALS: usize = 1 << 20;

/// The times of samples, in seconds of the source.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    /// In ascending order; at least one.
    pub times: Vec<f64>,
    /// Intervals per second, if all intervals have the same length.
    pub rate: Option<f64>,
    /// Number of times per interval at which errors are measured: its beginning and its middle, or
    /// its quarters if interpolation strays from the source between them.
    pub parts: usize,
    /// The largest share of what was allowed by which interpolation strays from the source. Above
    /// 1, more samples would not help: the source jumps, or f32 is too coarse.
    pub strays: f64,
}

impl Samples {
    /// Chooses times so that joints, interpolated between them, are near enough to the source.
    /// They include all key times.
    pub fn choose(
        source: &ClipSource,
        keys: &[f64],
        allowed: &[Allowed],
        weight: f64,
    ) -> Result<Self, Invalid> {
        /// The largest share of what is allowed that interpolation may stray by, if errors are not
        /// measured at quarters.
        const UNSEEN: f64 = 0.1;
        let (times, strays) = refined(source, keys, allowed, weight)?;
        let parts = if strays > UNSEEN { 4 } else { 2 };
        let count = times.len() - 1;
        let (start, end) = (times[0], times[count]);
        let mut out = Self {
            times,
            rate: None,
            parts,
            strays,
        };
        if count == 0 {
            return Ok(out);
        }
        let gaps = out.times.windows(2).map(|w| w[1] - w[0]);
        let smallest = gaps.fold(f64::INFINITY, f64::min);
        // A regular grid costs no table. It may have more samples than the keys need.
        for finer in 1..=4u32 {
            let intervals = ((end - start) / smallest * f64::from(finer)).round();
            if intervals < 1.0 || intervals > 1.5 * count as f64 + 2.0 {
                break;
            }
            let step = (end - start) / intervals;
            let mut grid: Vec<f64> = (0..=intervals as usize)
                .map(|i| start + step * i as f64)
                .collect();
            let fits = out.times.iter().all(|time| {
                let nearest = ((time - start) / step).round() as usize;
                let fits = (grid[nearest] - time).abs() <= OFF_SAMPLE * step;
                // The sample takes the key's own time.
                grid[nearest] = *time;
                fits
            });
            if fits {
                (out.times, out.rate) = (grid, Some(intervals / (end - start)));
                break;
            }
        }
        Ok(out)
    }

    /// The same samples, with more times between them at which errors are measured.
    pub fn finer(&self) -> Self {
        /// How many times as many.
        const FINER: usize = 4;
        Self {
            parts: self.parts * FINER,
            ..self.clone()
        }
    }

    /// Number of intervals.
    pub fn intervals(&self) -> usize {
        self.times.len() - 1
    }

    /// A time at which errors are measured. There are [`Samples::parts`] of them per interval, and
    /// one more at the end.
    pub fn time(&self, part: usize) -> f64 {
        let (interval, part) = (part / self.parts, part % self.parts);
        let at = self.times[interval];
        match part {
            0 => at,
            _ => at + (self.times[interval + 1] - at) * (part as f64 / self.parts as f64),
        }
    }

    /// The same time in intervals from the beginning of the clip, or of a segment.
    pub fn position(&self, part: usize) -> f32 {
        part as f32 / self.parts as f32
    }

    /// Number of times at which errors are measured in so many intervals.
    pub fn measured(&self, intervals: usize) -> usize {
        intervals * self.parts + 1
    }

    /// Seconds from the first sample.
    pub fn duration(&self) -> f64 {
        self.times[self.intervals()] - self.times[0]
    }
}

/// Adds times between keys where the source does not go straight: splines, and rotations that turn
/// far. Also gives the largest share of what is allowed that remains.
fn refined(
    source: &ClipSource,
    keys: &[f64],
    allowed: &[Allowed],
    weight: f64,
) -> Result<(Vec<f64>, f64), Invalid> {
    let mut out = Vec::with_capacity(keys.len());
    let mut worst = 0.0f64;
    for pair in keys.windows(2) {
        let mut open = vec![(pair[0], pair[1], 0)];
        while let Some((a, b, halvings)) = open.pop() {
            let middle = 0.5 * (a + b);
            let strays = strays(source, a, b, allowed, weight);
            if halvings == HALVINGS || strays <= 1.0 {
                worst = worst.max(strays);
                out.push(a);
                continue;
            }
            open.push((middle, b, halvings + 1));
            open.push((a, middle, halvings + 1));
        }
        if out.len() > MOST_INTERVALS {
            let expected = format!("a clip of at most {MOST_INTERVALS} samples");
            return Err(Invalid::new(&source.name, "", expected, "more"));
        }
    }
    out.push(keys[keys.len() - 1]);
    Ok((out, worst))
}

/// How far interpolation between two times strays from the source, as a share of what is allowed.
fn strays(source: &ClipSource, a: f64, b: f64, allowed: &[Allowed], weight: f64) -> f64 {
    let alphas = [0.25, 0.5, 0.75];
    let time = |alpha: f64| a + (b - a) * alpha;
    let mut worst = 0.0f64;
    for (joint, allowed) in allowed.iter().enumerate() {
        let curves = &source.joints[joint];
        if !curves.is_animated() {
            continue;
        }
        let (from, to) = (source.joint(joint, a), source.joint(joint, b));
        let step_keys = curves.step_keys();
        for alpha in alphas {
            let found = mixed(&from, &to, step_keys, alpha);
            worst = worst.max(allowed.share(&source.joint(joint, time(alpha)), &found));
        }
    }
    for (channel, curve) in source.weights.iter().enumerate() {
        if !curve.is_animated() || curve.is_held() {
            continue;
        }
        let at = |time| source.weight(channel, time);
        let (from, to) = (at(a), at(b));
        for alpha in alphas {
            let off = at(time(alpha)) - from - (to - from) * alpha;
            worst = worst.max(off.abs() / weight);
        }
    }
    worst
}

/// What a decoder interpolates of two samples. Components with step keys keep the first.
fn mixed(a: &Trs, b: &Trs, step_keys: [bool; 3], alpha: f64) -> Trs {
    let part = |step_keys: bool| if step_keys { 0.0 } else { alpha };
    let rotation = format::mixed_raw_rotation(
        a.rotation.as_quat().into(),
        b.rotation.as_quat().into(),
        part(step_keys[0]) as f32,
    );
    Trs {
        rotation: glam::Quat::from_vec4(rotation).as_dquat(),
        translation: a.translation.lerp(b.translation, part(step_keys[1])),
        scale: a.scale.lerp(b.scale, part(step_keys[2])),
    }
}

//! Clips that no file has: the hatchling's walk and its wave, as functions of time.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use sinew::kernel::packed_clip::ClipSource;
use sinew::sampled::{Interpolation, Lerp, Sampled};
use sinew::skel::SkeletonInstance;

use host::Result;

/// How far the hatchling walks in a second of its clip, in units of its skeleton.
pub const HATCHLING_PACE: f32 = 1.15;

/// Keys of a clip per second.
const KEYS_PER_SECOND: f64 = 30.0;

/// A clip that is made. Its curves are functions of a phase, which goes from 0 to 1 over the clip.
struct Motion<'a> {
    clip: ClipSource,
    skeleton: &'a SkeletonInstance,
    channels: &'a [String],
    seconds: f64,
}

impl Motion<'_> {
    fn curve<T: Lerp>(&self, of: impl Fn(f64) -> T) -> Sampled<T> {
        let count = (self.seconds * KEYS_PER_SECOND).round();
        let key = |i: u32| {
            let phase = f64::from(i) / count;
            (phase * self.seconds, Some(of(phase)))
        };
        let keys = (0..=count as u32).map(key).collect();
        Sampled::new(None, keys, Interpolation::Linear)
    }

    /// Index of a joint, by the last part of its path.
    fn joint(&self, name: &str) -> Result<usize> {
        let joints = self.skeleton.skeleton().joints();
        let found = joints
            .iter()
            .position(|j| j.rsplit('/').next() == Some(name));
        Ok(found.ok_or_else(|| format!("no joint {name}"))?)
    }

    /// Turns a joint about the x, y and z axis, in radians, out of its rest.
    fn turn(&mut self, name: &str, angles: impl Fn(f64) -> [f64; 3]) -> Result<()> {
        let joint = self.joint(name)?;
        let rest = DQuat::from_array(self.clip.rest[joint].rotation.map(f64::from));
        self.clip.joints[joint].rotation = self.curve(|phase| {
            let [x, y, z] = angles(phase);
            rest * DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x)
        });
        Ok(())
    }

    /// Turns a joint and its mirror image. `angles` says of the left one, and `lag` how far behind the right one is.
    fn turn_both(&mut self, name: &str, lag: f64, angles: impl Fn(f64) -> [f64; 3]) -> Result<()> {
        self.turn(&format!("{name}L"), &angles)?;
        self.turn(&format!("{name}R"), |phase| {
            let [x, y, z] = angles(phase - lag);
            [x, -y, -z]
        })
    }

    /// Moves a joint away from its rest.
    fn shift(&mut self, name: &str, by: impl Fn(f64) -> [f64; 3]) -> Result<()> {
        let joint = self.joint(name)?;
        let rest = DVec3::from_array(self.clip.rest[joint].translation.map(f64::from));
        self.clip.joints[joint].translation =
            self.curve(|phase| rest + DVec3::from_array(by(phase)));
        Ok(())
    }

    fn weigh(&mut self, channel: &str, weight: impl Fn(f64) -> f64) -> Result<()> {
        let found = self.channels.iter().position(|c| c == channel);
        let channel = found.ok_or_else(|| format!("no blend shape {channel}"))?;
        self.clip.weights[channel] = self.curve(weight);
        Ok(())
    }

    fn done(mut self) -> ClipSource {
        self.clip.range = (0.0, self.seconds);
        self.clip
    }
}

/// 0 before `from`, 1 after `to`, smooth between.
fn ramp(x: f64, from: f64, to: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Up within the first fifth of a clip, and down within the last.
fn held(phase: f64) -> f64 {
    ramp(phase, 0.0, 0.2) * (1.0 - ramp(phase, 0.8, 1.0))
}

/// Eyes close for a moment.
fn blink(phase: f64, at: f64) -> f64 {
    ramp(phase, at - 0.04, at) * (1.0 - ramp(phase, at, at + 0.04))
}

fn motion<'a>(
    still: &ClipSource,
    skeleton: &'a SkeletonInstance,
    channels: &'a [String],
    seconds: f64,
) -> Motion<'a> {
    Motion {
        clip: still.clone(),
        skeleton,
        channels,
        seconds,
    }
}

/// Two steps. `still` is its skeleton at rest.
pub fn hatchling_walk(
    still: &ClipSource,
    skeleton: &SkeletonInstance,
    channels: &[String],
) -> Result<ClipSource> {
    let mut walk = motion(still, skeleton, channels, 0.8);
    let sin = |turns: f64| (TAU * turns).sin();
    // A leg swings forward while its angle falls, and bends meanwhile.
    let thigh = |p: f64| 0.55 * sin(p);
    let knee = |p: f64| 0.1 + 0.8 * (-sin(p + 0.25)).max(0.0);
    walk.turn_both("thigh", 0.5, |p| [thigh(p), 0.0, 0.0])?;
    walk.turn_both("shin", 0.5, |p| [knee(p), 0.0, 0.0])?;
    walk.turn_both("foot", 0.5, |p| [-0.6 * (thigh(p) + knee(p)), 0.0, 0.0])?;
    walk.shift("hips", |p| [0.03 * sin(p), 0.02 * sin(2.0 * p + 0.25), 0.0])?;
    walk.turn("hips", |p| [0.08, 0.14 * sin(p), 0.09 * sin(p)])?;
    walk.turn("chest", |p| [0.0, -0.2 * sin(p), -0.08 * sin(p)])?;
    walk.turn("head", |p| {
        [0.07 * sin(2.0 * p), 0.06 * sin(p), 0.1 * sin(p + 0.4)]
    })?;
    walk.turn_both("arm", 0.5, |p| [-0.5 * sin(p), 0.0, -0.5])?;
    walk.turn_both("fore", 0.5, |p| [-0.4 - 0.2 * sin(p), 0.0, 0.0])?;
    walk.turn_both("ear", 0.0, |p| [0.2 * sin(2.0 * p - 0.2), 0.0, 0.1])?;
    walk.turn_both("wing", 0.0, |p| [0.0, 0.1, 0.25 * sin(2.0 * p)])?;
    walk.turn_both("wingMid", 0.0, |p| [0.0, 0.0, 0.3 * sin(2.0 * p - 0.2)])?;
    for joint in 1..=6 {
        let lag = 0.09 * f64::from(joint);
        walk.turn(&format!("tail{joint}"), |p| [0.0, 0.16 * sin(p - lag), 0.0])?;
    }
    Ok(walk.done())
}

/// Its left arm, with a smile.
pub fn hatchling_wave(
    still: &ClipSource,
    skeleton: &SkeletonInstance,
    channels: &[String],
) -> Result<ClipSource> {
    let mut wave = motion(still, skeleton, channels, 2.4);
    let sin = |turns: f64| (TAU * turns).sin();
    wave.turn("armL", |p| [0.0, 0.0, 1.5 * held(p) - 0.4])?;
    wave.turn("foreL", |p| {
        [-0.2, 0.0, (0.3 + 0.6 * sin(4.0 * p)) * held(p)]
    })?;
    wave.turn("handL", |p| [0.0, 0.0, 0.4 * sin(4.0 * p - 0.15) * held(p)])?;
    wave.turn("armR", |p| [0.1 * sin(p), 0.0, 0.5])?;
    wave.turn("foreR", |_| [-0.5, 0.0, 0.0])?;
    wave.shift("hips", |p| {
        [0.03 * sin(p), -0.01 + 0.015 * sin(4.0 * p), 0.0]
    })?;
    wave.turn("chest", |p| [0.0, 0.0, -0.12 * held(p)])?;
    wave.turn("head", |p| [-0.1 * held(p), 0.15 * sin(p), 0.2 * held(p)])?;
    wave.turn("jaw", |p| [0.3 * held(p), 0.0, 0.0])?;
    wave.turn_both("wing", 0.0, |p| [0.0, 0.0, 0.35 * sin(4.0 * p) * held(p)])?;
    wave.turn_both("wingMid", 0.0, |p| {
        [0.0, 0.0, 0.3 * sin(4.0 * p - 0.2) * held(p)]
    })?;
    wave.turn_both("ear", 0.0, |p| [0.0, 0.0, 0.25 * held(p)])?;
    for joint in 1..=6 {
        let lag = 0.06 * f64::from(joint);
        wave.turn(&format!("tail{joint}"), |p| {
            [0.0, 0.2 * sin(2.0 * p - lag), 0.0]
        })?;
    }
    wave.weigh("smile", |p| 0.2 + 0.8 * held(p))?;
    wave.weigh("blink", |p| blink(p, 0.3) + blink(p, 0.9))?;
    Ok(wave.done())
}

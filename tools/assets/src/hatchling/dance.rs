//! The animation: a loop of eight beats with a leap in its middle.

use std::f32::consts::{PI, TAU};

use glam::{Mat4, Quat, Vec3};

use super::dancer::Dancer;
use super::rig::Rig;
use crate::curves::smoothstep;

/// Number of frames in the loop; the first frame is 1.
pub const FRAMES: u16 = 96;

/// The blend shapes that are animated, in the order of `Sample::weights`.
pub const SHAPES: [&str; 3] = ["smile", "puff", "blink"];

pub struct Dance {
    /// Indices of the joints that are animated.
    pub moving: Vec<usize>,
    pub samples: Vec<Sample>,
}

pub struct Sample {
    pub frame: u16,
    /// Local transforms of all joints.
    pub poses: Vec<Pose>,
    /// Weights of `SHAPES`.
    pub weights: [f32; 3],
}

impl Dance {
    pub fn new(rig: &Rig) -> Self {
        // Joints that never move take their rest transforms.
        let still = ["root", "handL", "handR"].map(|name| rig.find(name));
        // Every second frame, and the first one again after the last, so that the loop closes.
        let frames = (1..=FRAMES + 1).step_by(2);
        Self {
            moving: (0..rig.joints.len())
                .filter(|i| !still.contains(i))
                .collect(),
            samples: frames.map(|frame| Sample::new(rig, frame)).collect(),
        }
    }
}

impl Sample {
    fn new(rig: &Rig, frame: u16) -> Self {
        let now = Moment::new(f32::from(frame - 1) / f32::from(FRAMES));
        Self {
            frame,
            poses: Dancer::new(rig, now).dance(),
            weights: weights(now),
        }
    }
}

/// The weights of `SHAPES`. `puff` goes above 1, since weights may.
fn weights(now: Moment) -> [f32; 3] {
    let Moment { up, crouch, .. } = now;
    let smile = 0.35 + 0.25 * now.wave(2.0, 0.0) + 0.8 * now.bump(0.58, 0.16);
    let puff = 0.3 - 0.3 * now.beat(0.0) * (1.0 - up) + 0.7 * crouch;
    let blink = now.bump(0.12, 0.035)
        + now.bump(0.2, 0.03)
        + now.bump(0.465, 0.04)
        + 0.9 * now.bump(0.86, 0.035);
    [smile.clamp(0.0, 1.0), puff.clamp(0.0, 1.2), blink.min(1.0)]
}

#[derive(Clone, Copy)]
/// The local transform of a joint.
pub struct Pose {
    pub translation: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

pub fn rest(rig: &Rig) -> Vec<Pose> {
    (0..rig.joints.len())
        .map(|i| Pose {
            translation: rig.local(i),
            rotation: Quat::IDENTITY,
            scale: Vec3::ONE,
        })
        .collect()
}

/// Transforms from joint space to skeleton space.
pub fn world(rig: &Rig, poses: &[Pose]) -> Vec<Mat4> {
    let mut out: Vec<Mat4> = Vec::with_capacity(poses.len());
    for (joint, p) in rig.joints.iter().zip(poses) {
        let local = Mat4::from_scale_rotation_translation(p.scale, p.rotation, p.translation);
        out.push(joint.parent.map_or(local, |parent| out[parent] * local));
    }
    out
}

/// Skinning transforms: from the bind pose to this pose.
pub fn skinning(rig: &Rig, poses: &[Pose]) -> Vec<Mat4> {
    world(rig, poses)
        .iter()
        .zip(&rig.joints)
        .map(|(world, joint)| *world * Mat4::from_translation(-joint.at))
        .collect()
}

/// A time in the loop.
///
/// A part that hangs on another part moves as that part does, a little later, so that the motion
/// looks soft. That is why these functions take `late`, the delay as a fraction of the loop.
#[derive(Clone, Copy)]
pub struct Moment {
    /// Fraction of the loop, from 0 to before 1.
    t: f32,
    /// Height in the leap, up to 1.
    pub up: f32,
    /// Depth of the crouch before the leap and after landing.
    pub crouch: f32,
    /// 1 away from the leap, 0 in it: the factor of steps that are danced on the ground.
    pub calm: f32,
    /// Rises to 1 in the leap.
    pub cheer: f32,
}

impl Moment {
    pub fn new(t: f32) -> Self {
        let t = t.rem_euclid(1.0);
        let (up, crouch) = leap(t);
        Self {
            t,
            up,
            crouch,
            calm: 1.0 - bump(t, 0.57, 0.13),
            cheer: smoothstep(0.0, 1.0, 1.6 * bump(t, 0.6, 0.2)),
        }
    }

    /// A sine with `n` periods per loop.
    pub fn wave(self, n: f32, late: f32) -> f32 {
        (TAU * n * (self.t - late)).sin()
    }

    /// 1 on each of the eight beats.
    pub fn beat(self, late: f32) -> f32 {
        (TAU * 8.0 * (self.t - late)).cos()
    }

    /// `up` and `crouch`, `late` after the moment.
    pub fn leap(self, late: f32) -> (f32, f32) {
        leap((self.t - late).rem_euclid(1.0))
    }

    /// A bump that is 1 at `at` and 0 beyond a distance of `wide`.
    pub fn bump(self, at: f32, wide: f32) -> f32 {
        bump(self.t, at, wide)
    }
}

/// Height and crouch of the leap: the flight starts at half time.
fn leap(t: f32) -> (f32, f32) {
    let x = (t - 0.5) / 0.14;
    let up = if (0.0..1.0).contains(&x) {
        4.0 * x * (1.0 - x)
    } else {
        0.0
    };
    (up, bump(t, 0.465, 0.055) + 0.8 * bump(t, 0.675, 0.05))
}

/// `Moment::bump`. The loop is closed: a bump at its end continues at its start.
fn bump(t: f32, at: f32, wide: f32) -> f32 {
    let d = (t - at + 0.5).rem_euclid(1.0) - 0.5;
    if d.abs() < wide {
        0.5 + 0.5 * (PI * d / wide).cos()
    } else {
        0.0
    }
}

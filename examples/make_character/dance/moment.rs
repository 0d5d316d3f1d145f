//! What the music is at: beats, sways and the leap.

use std::f32::consts::{PI, TAU};

use crate::curves::smoothstep;

/// A time in the loop.
///
/// Everything that hangs on something else moves as that does, a little later: that is what makes
/// it soft. So all of these take how `late` they are.
#[derive(Clone, Copy)]
pub struct Moment {
    /// From 0 to before 1.
    t: f32,
    /// Height in the leap, up to 1.
    pub up: f32,
    /// How deep it crouches, before the leap and on landing.
    pub crouch: f32,
    /// 1 away from the leap, 0 in it: what is only danced on the ground.
    pub calm: f32,
    /// 1 in the leap, and rising to it.
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

    /// A sine `n` times per loop.
    pub fn wave(self, n: f32, late: f32) -> f32 {
        (TAU * n * (self.t - late)).sin()
    }

    /// 1 on each of the eight beats.
    pub fn beat(self, late: f32) -> f32 {
        (TAU * 8.0 * (self.t - late)).cos()
    }

    /// `up` and `crouch`.
    pub fn leap(self, late: f32) -> (f32, f32) {
        leap((self.t - late).rem_euclid(1.0))
    }

    /// 1 at `at`, over before and after `wide`.
    pub fn bump(self, at: f32, wide: f32) -> f32 {
        bump(self.t, at, wide)
    }
}

/// Crouch, flight from half time on, landing.
fn leap(t: f32) -> (f32, f32) {
    let x = (t - 0.5) / 0.14;
    let up = if (0.0..1.0).contains(&x) {
        4.0 * x * (1.0 - x)
    } else {
        0.0
    };
    (up, bump(t, 0.465, 0.055) + 0.8 * bump(t, 0.675, 0.05))
}

/// The loop's ends meet: a bump at one goes on at the other.
fn bump(t: f32, at: f32, wide: f32) -> f32 {
    let d = (t - at + 0.5).rem_euclid(1.0) - 0.5;
    if d.abs() < wide {
        0.5 + 0.5 * (PI * d / wide).cos()
    } else {
        0.0
    }
}

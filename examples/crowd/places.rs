//! Where everyone is: rings around the middle of a square, some of which walk while the others stand and look on.
//!
//! A walker goes round its ring at constant speed, so the clock alone says where it is: cull.wgsl computes that, and
//! nothing is uploaded for it.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

/// Metres between rings, and between neighbours in a ring.
const SPACING: f32 = 1.5;
/// Radius of the first ring.
const FIRST_RADIUS: f32 = 4.0;

/// A character as the shaders read it (`struct Character` in scene.wgsl).
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Placed {
    /// Metres from the middle.
    radius: f32,
    /// Where in its ring it is when the clock is 0, in radians, and how fast it goes around.
    angle: f32,
    turn: f32,
    /// Where it faces in its ring: 0 is along the ring.
    heading: f32,
    /// Two colours, which parts of its body have.
    first: Vec3,
    /// Metres from its feet to its head.
    height: f32,
    second: Vec3,
    unused: f32,
}

/// Somebody in the crowd.
#[derive(Clone, Copy, Debug)]
pub struct Person {
    pub placed: Placed,
    /// Index of its model.
    pub model: usize,
    /// Metres that it walks in a second; 0 for those who stand.
    pub pace: f32,
    pub height: f32,
    /// A number that is its own.
    pub seed: usize,
}

/// A number from 0 to 1 that looks like chance and is the same in every run.
pub fn chance(seed: usize, which: u32) -> f32 {
    let mut x = (seed as u32).wrapping_mul(0x9e37_79b9) ^ which.wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
    x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
    (x ^ (x >> 16)) as f32 / u32::MAX as f32
}

/// A bright colour, or a muted one.
fn color(seed: usize, which: u32, saturation: f32, value: f32) -> Vec3 {
    let hue = chance(seed, which) * 6.0;
    let channel = |offset: f32| {
        let k = (hue + offset).rem_euclid(6.0);
        1.0 - k.min(4.0 - k).clamp(0.0, 1.0)
    };
    let pure = Vec3::new(channel(5.0), channel(3.0), channel(1.0));
    (Vec3::ONE.lerp(pure, saturation) * value).powf(2.2)
}

/// What a ring does. Every second ring or two walk, one way or the other.
fn pace_of(ring: usize) -> f32 {
    let pace = 1.0 + 0.3 * chance(ring, 40);
    match ring % 5 {
        1 => pace,
        3 => -pace,
        _ => 0.0,
    }
}

/// So many people, from the middle outwards. Returns them with the radius of the outermost ring.
pub fn people(count: usize) -> (Vec<Person>, f32) {
    let mut out = Vec::with_capacity(count);
    let mut radius = FIRST_RADIUS;
    for ring in 0.. {
        if out.len() >= count {
            break;
        }
        radius = FIRST_RADIUS + SPACING * ring as f32;
        let places = (TAU * radius / SPACING).floor();
        for place in 0..places as usize {
            let seed = ring * 100_000 + place;
            // Here and there a place is free.
            if out.len() < count && chance(seed, 1) > 0.15 {
                out.push(person(seed, ring, radius, TAU * place as f32 / places));
            }
        }
    }
    (out, radius)
}

fn person(seed: usize, ring: usize, radius: f32, angle: f32) -> Person {
    let model = usize::from(chance(seed, 2) < 0.7);
    let height = match model {
        0 => 0.9 + 0.4 * chance(seed, 3),
        _ => 1.5 + 0.35 * chance(seed, 3),
    };
    let pace = pace_of(ring);
    let out_of_line = |which, most: f32| (chance(seed, which) - 0.5) * most;
    let radius = radius + out_of_line(4, 0.4 * SPACING);
    let heading = match pace {
        p if p > 0.0 => 0.0,
        p if p < 0.0 => PI,
        // To the middle, more or less.
        _ => -PI / 2.0 + out_of_line(5, 1.4),
    };
    let (saturation, value) = match model {
        0 => (0.55, 1.0),
        _ => (0.4 + 0.5 * chance(seed, 7), 0.45 + 0.5 * chance(seed, 8)),
    };
    Person {
        placed: Placed {
            radius,
            angle: angle + out_of_line(9, 0.4 * SPACING) / radius,
            turn: pace / radius,
            heading,
            first: color(seed, 6, saturation, value),
            height,
            second: color(seed, 10, 0.2, 0.15 + 0.4 * chance(seed, 11)),
            unused: 0.0,
        },
        model,
        pace: pace.abs(),
        height,
        seed,
    }
}

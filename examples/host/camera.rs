//! A camera that goes around what it looks at.

use glam::camera::rh;
use glam::{Mat4, Vec3};

/// What is to be seen, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub low: Vec3,
    pub high: Vec3,
    pub z_up: bool,
    /// How far from above it is seen at first, in radians.
    pub lift: f32,
    /// How fast the camera goes around it by itself, in radians per second.
    pub spin: f32,
}

impl Framing {
    /// Around all points; a unit box without any.
    pub fn of(points: impl IntoIterator<Item = Vec3>, z_up: bool) -> Self {
        let all = points.into_iter().map(|p| (p, p));
        let corners = all.reduce(|(low, high), (p, _)| (low.min(p), high.max(p)));
        let (low, high) = corners.unwrap_or((Vec3::NEG_ONE, Vec3::ONE));
        Self {
            low,
            high,
            z_up,
            lift: 0.25,
            spin: 0.0,
        }
    }
}

/// Half the angle of view from bottom to top, in radians.
const HALF_HEIGHT: f32 = 0.35;

/// Angles in radians around the middle of what is framed.
pub struct Orbit {
    pub turn: f32,
    pub lift: f32,
    pub distance: f32,
}

impl Orbit {
    /// Where all of it can be seen.
    pub fn new(framing: &Framing, [width, height]: [u32; 2]) -> Self {
        let mut orbit = Self {
            turn: 0.5,
            lift: framing.lift,
            distance: 0.0,
        };
        let (toward, up) = orbit.directions(framing);
        let right = up.cross(toward).normalize();
        let above = toward.cross(right);
        let aspect = width as f32 / height.max(1) as f32;
        let half = (framing.high - framing.low) * 0.5;
        for signs in 0..8 {
            let sign = |bit: u32| if signs >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let corner = half * Vec3::new(sign(0), sign(1), sign(2));
            let across = (corner.dot(right).abs() / aspect).max(corner.dot(above).abs());
            let distance = corner.dot(toward) + 1.08 * across / HALF_HEIGHT.tan();
            orbit.distance = orbit.distance.max(distance);
        }
        orbit.distance = orbit.distance.max(1e-6);
        orbit
    }

    pub fn drag(&mut self, dx: f32, dy: f32) {
        self.turn -= dx * 0.01;
        self.lift = (self.lift + dy * 0.01).clamp(-1.5, 1.5);
    }

    pub fn zoom(&mut self, steps: f32) {
        self.distance *= 0.9f32.powf(steps.clamp(-10.0, 10.0));
    }

    /// From the middle to the camera, and what is up.
    fn directions(&self, framing: &Framing) -> (Vec3, Vec3) {
        let (turn, lift) = (self.turn.sin_cos(), self.lift.sin_cos());
        let level = Vec3::new(turn.0, 0.0, turn.1) * lift.1 + Vec3::Y * lift.0;
        // In a Z-up world the front is -Y.
        match framing.z_up {
            true => (Vec3::new(level.x, -level.z, level.y), Vec3::Z),
            false => (level, Vec3::Y),
        }
    }

    /// Column vectors, depth from 0 to 1.
    pub fn clip_from_world(&self, framing: &Framing, [width, height]: [u32; 2]) -> Mat4 {
        let aspect = width as f32 / height.max(1) as f32;
        let middle = (framing.low + framing.high) * 0.5;
        let (toward, up) = self.directions(framing);
        let view = rh::view::look_at_mat4(middle + toward * self.distance, middle, up);
        let size = (framing.high - framing.low).length();
        let (near, far) = (self.distance * 0.01, self.distance + size * 10.0);
        rh::proj::directx::perspective(2.0 * HALF_HEIGHT, aspect, near, far) * view
    }
}

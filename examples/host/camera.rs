//! A camera that goes around what it looks at.

use glam::camera::rh;
use glam::{Mat4, Vec3};

/// What is to be seen, in world space.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    pub low: Vec3,
    pub high: Vec3,
    pub z_up: bool,
}

impl Framing {
    /// Around all points; a unit box without any.
    pub fn of(points: impl IntoIterator<Item = Vec3>, z_up: bool) -> Self {
        let all = points.into_iter().map(|p| (p, p));
        let corners = all.reduce(|(low, high), (p, _)| (low.min(p), high.max(p)));
        let (low, high) = corners.unwrap_or((Vec3::NEG_ONE, Vec3::ONE));
        Self { low, high, z_up }
    }
}

/// Angles in radians around the middle of what is framed.
pub struct Orbit {
    pub turn: f32,
    pub lift: f32,
    /// 1 where everything just fits.
    pub distance: f32,
}

impl Default for Orbit {
    fn default() -> Self {
        Self {
            turn: 0.5,
            lift: 0.25,
            distance: 1.0,
        }
    }
}

impl Orbit {
    pub fn drag(&mut self, dx: f32, dy: f32) {
        self.turn -= dx * 0.01;
        self.lift = (self.lift + dy * 0.01).clamp(-1.5, 1.5);
    }

    pub fn zoom(&mut self, steps: f32) {
        self.distance = (self.distance * 0.9f32.powf(steps)).clamp(0.1, 10.0);
    }

    /// Column vectors, depth from 0 to 1.
    pub fn clip_from_world(&self, framing: &Framing, [width, height]: [u32; 2]) -> Mat4 {
        const HALF_HEIGHT: f32 = 0.35;
        let aspect = width as f32 / height.max(1) as f32;
        let middle = (framing.low + framing.high) * 0.5;
        let radius = (framing.high - framing.low).length().max(1e-6) * 0.5;
        let (turn, lift) = (self.turn.sin_cos(), self.lift.sin_cos());
        let level = Vec3::new(turn.0, 0.0, turn.1) * lift.1 + Vec3::Y * lift.0;
        // In a Z-up world the front is -Y.
        let (toward, up) = match framing.z_up {
            true => (Vec3::new(level.x, -level.z, level.y), Vec3::Z),
            false => (level, Vec3::Y),
        };
        let distance = self.distance * radius / (HALF_HEIGHT * aspect.min(1.0)).sin();
        let view = rh::view::look_at_mat4(middle + toward * distance, middle, up);
        let (near, far) = (distance * 0.01, distance + radius * 20.0);
        rh::proj::directx::perspective(2.0 * HALF_HEIGHT, aspect, near, far) * view
    }
}

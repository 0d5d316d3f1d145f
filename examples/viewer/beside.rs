//! A second character at the right, such as the source of a clip that was retargeted.

use glam::DVec3;
use sinew_render::{Bounds, Camera, View};

use super::clock::Clock;
use super::follow::Follow;
use super::model::Model;

pub struct Beside {
    pub model: Model,
    /// Around all of it, at the first time.
    pub bounds: Bounds,
    pub clock: Clock,
    /// It is shown at the seconds of the main character, not at its own.
    pub together: bool,
    pub follow: Follow,
    /// World positions of each skeleton's joints, at the time shown.
    pub joints: Vec<Vec<DVec3>>,
}

impl Beside {
    pub fn new(model: Model, bounds: Bounds, together: bool) -> Self {
        let mut clock = Clock::default();
        clock.set_range(model.times, false);
        Self {
            follow: Follow::new(model.walk, model.origin),
            model,
            bounds,
            clock,
            together,
            joints: Vec::new(),
        }
    }

    /// Moves its clock on by real seconds, with the main character's clock.
    pub fn tick(&mut self, main: &Clock, seconds: f64) {
        if self.together {
            let clock = &mut self.clock;
            let time = clock.start + main.seconds() * clock.codes_per_second;
            clock.time = time.clamp(clock.start, clock.end);
            return;
        }
        self.clock.playing = main.playing && self.clock.moves();
        (self.clock.speed, self.clock.looping) = (main.speed, true);
        self.clock.advance(seconds);
    }
}

/// A character as both pictures' cameras see it: where it stands, how large its units are.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub bounds: Bounds,
    pub walked: DVec3,
    pub meters_per_unit: f64,
    /// Looks at its face.
    pub camera: Camera,
}

/// Of sizes that differ by more, one is in wrong units.
const LIKELY: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// From the space of the character at the right to that of the main one: both stand on the same
/// spot, and a metre is as long in both pictures. If the units of one are wrong, both are as high.
#[derive(Clone, Copy, Debug)]
pub struct Between {
    scale: f64,
    /// Right, up and front, of both.
    axes: [[DVec3; 3]; 2],
    base: [DVec3; 2],
}

impl Between {
    pub fn new(main: Standing, other: Standing) -> Self {
        let axes = [main, other].map(|s| s.camera.axes());
        let base = |s: &Standing, [_, up, _]: [DVec3; 3]| {
            let center = s.bounds.center() + s.walked;
            center - up * (s.bounds.size().dot(up).abs() * 0.5)
        };
        let high = |s: &Standing, [_, up, _]: [DVec3; 3]| s.bounds.size().dot(up).abs();
        let metres = other.meters_per_unit / main.meters_per_unit;
        let (a, b) = (high(&main, axes[0]), high(&other, axes[1]));
        let scale = match b * metres / a {
            ratio if LIKELY.contains(&ratio) => metres,
            _ if a > 0.0 && b > 0.0 => a / b,
            _ => 1.0,
        };
        Self {
            scale,
            base: [base(&main, axes[0]), base(&other, axes[1])],
            axes,
        }
    }

    /// A point of the other character's space in that of the main one.
    fn point(&self, p: DVec3) -> DVec3 {
        let [to, from] = self.axes;
        let v = p - self.base[1];
        let turned = to[0] * v.dot(from[0]) + to[1] * v.dot(from[1]) + to[2] * v.dot(from[2]);
        self.base[0] + turned * self.scale
    }

    /// The box around the corners of one of the other character, in the main one's space.
    pub fn bounds(&self, of: &Bounds) -> Bounds {
        match of.is_empty() {
            true => Bounds::EMPTY,
            false => Bounds::of(of.corners().map(|c| self.point(c))),
        }
    }

    /// The camera that sees the other character as `main` sees the main one; `around` is the main
    /// one's box, and `other` looks at the other's face.
    pub fn camera(&self, main: &Camera, other: Camera, around: &Bounds) -> Camera {
        let mut main = *main;
        let orbit = *main.orbit_mut(around);
        let [from, to] = self.axes;
        let v = (orbit.target - self.base[0]) / self.scale;
        let turned = to[0] * v.dot(from[0]) + to[1] * v.dot(from[1]) + to[2] * v.dot(from[2]);
        let mut out = other;
        let mut orbit = orbit;
        orbit.target = self.base[1] + turned;
        orbit.distance /= self.scale;
        out.view = View::Orbit(orbit);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(bounds: &Bounds, up_axis: char, meters_per_unit: f64) -> Standing {
        Standing {
            bounds: *bounds,
            walked: DVec3::ZERO,
            meters_per_unit,
            camera: Camera::new(up_axis),
        }
    }

    #[test]
    fn both_pictures_show_feet_and_head_of_the_same_person_alike() {
        // 1.8 m high in both files, which differ in up axis, unit and place.
        let metres = Bounds::of([DVec3::new(4.5, 0.0, -0.2), DVec3::new(5.5, 1.8, 0.2)]);
        let centimetres = Bounds::of([
            DVec3::new(-50.0, -20.0, 10.0),
            DVec3::new(50.0, 20.0, 190.0),
        ]);
        let (a, b) = (
            standing(&metres, 'Y', 1.0),
            standing(&centimetres, 'Z', 0.01),
        );
        let between = Between::new(a, b);
        let mut camera = Camera::new('Y');
        camera.frame(&metres, 1.0);
        let other = between.camera(&camera, Camera::new('Z'), &metres);
        let size = [400, 400];
        for (p, q) in [
            (DVec3::new(5.0, 0.0, 0.0), DVec3::new(0.0, 0.0, 10.0)),
            (DVec3::new(5.0, 1.8, 0.0), DVec3::new(0.0, 0.0, 190.0)),
            // The front is -Y where Z is up.
            (DVec3::new(5.3, 1.0, 0.2), DVec3::new(30.0, -20.0, 110.0)),
        ] {
            let (p, q) = (camera.project(p, size), other.project(q, size));
            let (p, q) = (p.unwrap().0, q.unwrap().0);
            assert!(p.distance(q) < 1e-6, "{p} {q}");
        }
        let mapped = between.bounds(&centimetres);
        assert!(mapped.low.distance(metres.low) < 1e-9, "{mapped:?}");
        // A child is smaller, and a file in wrong units is not.
        let child = Bounds::of([DVec3::ZERO, DVec3::new(0.5, 1.0, 0.3)]);
        let mapped = Between::new(a, standing(&child, 'Y', 1.0)).bounds(&child);
        assert!((mapped.size().y - 1.0).abs() < 1e-9);
        let mapped = Between::new(a, standing(&child, 'Y', 0.01)).bounds(&child);
        assert!((mapped.size().y - 1.8).abs() < 1e-9);
    }
}

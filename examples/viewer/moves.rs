//! From the mouse to movements of the camera.

use sinew_render::{Bounds, Camera, Orbit, View};

/// What the pointer did over the picture since the last frame; lengths in points of egui, y down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer {
    pub drag: [f32; 2],
    /// The left button drags without Shift; else the picture is moved.
    pub orbits: bool,
    /// The right button drags with Alt, as in usdview: right and down come nearer.
    pub zooms: bool,
    pub scroll: f32,
    /// Of a pinch on a trackpad, 1 for none.
    pub pinch: f32,
}

/// Half a turn for a drag over the picture's height.
const TURN: f64 = std::f64::consts::PI;
/// Points of scrolling that change the distance by a factor of e.
const SCROLL: f64 = 420.0;
/// A drag over the picture's height changes the distance by a factor of e to this power.
const DRAG: f64 = 2.0;

impl Pointer {
    /// Whether it did nothing.
    pub fn rests(&self) -> bool {
        self.drag == [0.0; 2] && self.scroll == 0.0 && self.pinch == 1.0
    }

    /// Moves the camera over a picture of `height` points: the character, which is in the box
    /// `around`, follows the cursor.
    pub fn apply(&self, camera: &mut Camera, around: &Bounds, height: f32) {
        let [x, y] = self.drag.map(|d| f64::from(d / height.max(1.0)));
        match self.orbits {
            _ if self.drag == [0.0; 2] => {}
            _ if self.zooms => camera.zoom((-(x + y) * DRAG).exp(), around),
            true => camera.orbit(-x * TURN, y * TURN, around),
            false => camera.pan(x, -y, around),
        }
        let pinch = f64::from(self.pinch);
        let pinch = if pinch > 0.0 { pinch } else { 1.0 };
        let factor = (-f64::from(self.scroll) / SCROLL).exp() / pinch;
        if factor != 1.0 {
            camera.zoom(factor, around);
        }
    }
}

/// Turns the camera to this yaw and pitch.
pub fn turn(camera: &mut Camera, around: &Bounds, yaw: f64, pitch: f64) {
    // An orbit first, where the camera was a fixed one.
    camera.orbit(0.0, 0.0, around);
    if let View::Orbit(orbit) = &mut camera.view {
        *orbit = Orbit {
            yaw,
            pitch,
            ..*orbit
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn spreading_fingers_and_drags_come_nearer() {
        let cube = Bounds::of([DVec3::splat(-1.0), DVec3::splat(1.0)]);
        let distance = |pinch: f32, drag: [f32; 2]| {
            let pointer = Pointer {
                drag,
                orbits: false,
                zooms: true,
                scroll: 0.0,
                pinch,
            };
            let mut camera = Camera::new('Y');
            camera.frame(&cube, 1.0);
            pointer.apply(&mut camera, &cube, 400.0);
            camera.orbit_mut(&cube).distance
        };
        let still = [0.0; 2];
        let at_first = distance(1.0, still);
        assert!(distance(1.2, still) < at_first && at_first < distance(0.8, still));
        assert_eq!(distance(0.0, still), at_first);
        // A drag too.
        assert!(distance(1.0, [40.0, 0.0]) < at_first && at_first < distance(1.0, [0.0, -40.0]));
    }
}

//! From mouse and keys to movements of the camera.

use sinew_render::{Bounds, Camera, Orbit, View};

/// One movement of the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// Radians around the up axis and towards the pole.
    Orbit(f64, f64),
    /// Parts of the picture's height that the target moves to the right and up.
    Pan(f64, f64),
    /// Factor of the distance.
    Zoom(f64),
    /// To this yaw and pitch.
    Turn(f64, f64),
}

/// What the pointer did over the picture since the last frame; lengths in points of egui, y down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer {
    pub drag: [f32; 2],
    /// The left button drags, else another one does.
    pub left: bool,
    pub shift: bool,
    pub scroll: f32,
    /// Of a pinch on a trackpad, 1 for none.
    pub pinch: f32,
}

/// Half a turn for a drag over the picture's height.
const TURN: f64 = std::f64::consts::PI;
/// Parts by which a key press moves.
const KEY_TURN: f64 = std::f64::consts::PI / 24.0;
const KEY_PAN: f64 = 0.05;
const KEY_ZOOM: f64 = 0.87;
/// Points of scrolling that change the distance by a factor of e.
const SCROLL: f64 = 420.0;

/// What a pointer's movement over a picture of `height` points means: the character follows the cursor.
pub fn of_pointer(pointer: Pointer, height: f32) -> Vec<Move> {
    let mut moves = Vec::new();
    let height = f64::from(height.max(1.0));
    let [x, y] = pointer.drag.map(|d| f64::from(d) / height);
    if [x, y] != [0.0, 0.0] {
        moves.push(if pointer.left && !pointer.shift {
            Move::Orbit(-x * TURN, y * TURN)
        } else {
            Move::Pan(x, -y)
        });
    }
    let pinch = f64::from(pointer.pinch);
    let factor =
        (-f64::from(pointer.scroll) / SCROLL).exp() / if pinch > 0.0 { pinch } else { 1.0 };
    if factor != 1.0 {
        moves.push(Move::Zoom(factor));
    }
    moves
}

/// What a key's action means for the camera.
pub fn of_action(action: super::keys::Action) -> Option<Move> {
    use super::keys::Action as A;
    let quarter = std::f64::consts::FRAC_PI_2;
    Some(match action {
        A::OrbitLeft => Move::Orbit(-KEY_TURN, 0.0),
        A::OrbitRight => Move::Orbit(KEY_TURN, 0.0),
        A::OrbitUp => Move::Orbit(0.0, KEY_TURN),
        A::OrbitDown => Move::Orbit(0.0, -KEY_TURN),
        A::PanLeft => Move::Pan(-KEY_PAN, 0.0),
        A::PanRight => Move::Pan(KEY_PAN, 0.0),
        A::PanUp => Move::Pan(0.0, KEY_PAN),
        A::PanDown => Move::Pan(0.0, -KEY_PAN),
        A::ZoomIn => Move::Zoom(KEY_ZOOM),
        A::ZoomOut => Move::Zoom(1.0 / KEY_ZOOM),
        A::ViewFront => Move::Turn(0.0, 0.0),
        A::ViewSide => Move::Turn(quarter, 0.0),
        A::ViewTop => Move::Turn(0.0, quarter - 1e-3),
        _ => return None,
    })
}

/// Moves the camera; `around` is what is looked at.
pub fn apply(camera: &mut Camera, step: Move, around: &Bounds) {
    match step {
        Move::Orbit(yaw, pitch) => camera.orbit(yaw, pitch, around),
        Move::Pan(right, up) => camera.pan(right, up, around),
        Move::Zoom(factor) => camera.zoom(factor, around),
        Move::Turn(yaw, pitch) => {
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::Action;
    use super::*;
    use glam::DVec3;

    fn box_of_two() -> Bounds {
        Bounds::of([DVec3::splat(-1.0), DVec3::splat(1.0)])
    }

    fn pixel(camera: &Camera, point: DVec3) -> [f64; 2] {
        let (pixel, _) = camera.project(point, [400, 400]).unwrap();
        pixel.to_array()
    }

    #[test]
    fn what_is_under_the_cursor_follows_it() {
        for up_axis in ['Y', 'Z'] {
            let mut camera = Camera::new(up_axis);
            camera.frame(&box_of_two(), 1.0);
            let near = camera.world_from_camera().z_axis.truncate();
            // Dragged to the right by the left button, the near side goes to the right; down, it goes down.
            let drag = |drag, left, shift| Pointer {
                drag,
                left,
                shift,
                pinch: 1.0,
                ..Pointer::default()
            };
            for (by, axis) in [([20.0, 0.0], 0), ([0.0, 20.0], 1)] {
                let mut turned = camera;
                for step in of_pointer(drag(by, true, false), 400.0) {
                    apply(&mut turned, step, &box_of_two());
                }
                assert!(pixel(&turned, near)[axis] > pixel(&camera, near)[axis] + 5.0);
                assert_eq!(pixel(&turned, DVec3::ZERO).map(f64::round), [200.0; 2]);
                // Any other button, or Shift, moves the middle with the cursor.
                for (left, shift) in [(false, false), (true, true)] {
                    let mut moved = camera;
                    for step in of_pointer(drag(by, left, shift), 400.0) {
                        apply(&mut moved, step, &box_of_two());
                    }
                    let expected = by.map(|d| 200.0 + f64::from(d));
                    assert_eq!(pixel(&moved, DVec3::ZERO).map(f64::round), expected);
                }
            }
        }
    }

    #[test]
    fn scrolling_up_and_spreading_fingers_come_nearer() {
        let still = Pointer {
            pinch: 1.0,
            ..Pointer::default()
        };
        assert_eq!(of_pointer(still, 100.0), []);
        for pointer in [
            Pointer {
                scroll: 50.0,
                ..still
            },
            Pointer {
                pinch: 1.2,
                ..still
            },
        ] {
            let moves = of_pointer(pointer, 100.0);
            assert!(matches!(moves[..], [Move::Zoom(f)] if f < 1.0), "{moves:?}");
        }
    }

    #[test]
    fn a_view_from_the_front_sees_the_face() {
        for (up_axis, front) in [('Y', DVec3::Z), ('Z', DVec3::NEG_Y)] {
            let mut camera = Camera::new(up_axis);
            let step = of_action(Action::ViewFront).unwrap();
            apply(&mut camera, step, &box_of_two());
            let back = camera.world_from_camera().z_axis.truncate();
            assert!(back.distance(front) < 1e-12);
        }
        assert_eq!(of_action(Action::Help), None);
    }
}

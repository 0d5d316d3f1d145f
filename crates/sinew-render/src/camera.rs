//! Cameras: orbiting ones, and the cameras of files.

use glam::{DMat4, DVec2, DVec3, DVec4};

use super::{Bounds, Fixed, Lens};

/// Vertical field of view of an orbiting camera in degrees: a long lens, so that faces look
/// natural.
const FIELD_OF_VIEW: f64 = 28.0;

/// Margin that [`Camera::frame`] leaves on each side, as a part of the picture.
const MARGIN: f64 = 0.06;

/// A camera that orbits around a target. Angles are in radians, lengths in the stage's units, and
/// positions in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Point that the camera looks at.
    pub target: DVec3,
    /// Distance from the target to the eye.
    pub distance: f64,
    /// Angle around the up axis. 0 looks at a character's face: from +Z if Y is up, from -Y if Z is
    /// up, and from -Z for VRM 0.x.
    pub yaw: f64,
    /// Angle of the eye above the horizon, between -π/2 and π/2.
    pub pitch: f64,
    /// Vertical field of view of the whole picture.
    pub field_of_view: f64,
}

/// Place and lens of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum View {
    /// A camera that the user moves around a target.
    Orbit(Orbit),
    /// A camera of a file.
    Fixed(Fixed),
}

/// A camera: its view, and the axes of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Place and lens.
    pub view: View,
    /// Directions to the right, up and to the front of a character, in world space.
    axes: [DVec3; 3],
}

/// A camera's matrices, in f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraMatrices {
    /// From world space to view space, where the camera looks along -Z with Y up.
    pub view_from_world: DMat4,
    /// From view space to clip space. Depth is reversed: 1 at the near plane, 0 at infinity, or at
    /// the far plane of an orthographic camera.
    pub clip_from_view: DMat4,
    /// The eye, in world space.
    pub eye: DVec3,
    /// Whether the projection is perspective, not orthographic.
    pub perspective: bool,
}

impl Default for Camera {
    fn default() -> Self {
        Self::new('Y')
    }
}

impl Camera {
    /// An orbiting camera a little to the side of a character's face, at the world's origin: call
    /// [`Camera::frame`] next. `up_axis` is `Y` or `Z` ([`sinew::scene::Scene::up_axis`]).
    #[must_use]
    pub fn new(up_axis: char) -> Self {
        let axes = match up_axis {
            'Z' => [DVec3::X, DVec3::Z, DVec3::NEG_Y],
            _ => [DVec3::X, DVec3::Y, DVec3::Z],
        };
        let orbit = Orbit {
            target: DVec3::ZERO,
            distance: 5.0,
            yaw: 0.5,
            pitch: 0.22,
            field_of_view: FIELD_OF_VIEW.to_radians(),
        };
        Self {
            view: View::Orbit(orbit),
            axes,
        }
    }

    /// The same camera for a character that faces the other way.
    #[must_use]
    pub fn from_behind(mut self) -> Self {
        let [right, up, front] = self.axes;
        self.axes = [-right, up, -front];
        self
    }

    /// A camera of a file. `up_axis` is `Y` or `Z`.
    #[must_use]
    pub fn fixed(up_axis: char, fixed: Fixed) -> Self {
        Self {
            view: View::Fixed(fixed),
            ..Self::new(up_axis)
        }
    }

    /// Directions to the right, up and to the front of a character, in world space.
    #[must_use]
    pub fn axes(&self) -> [DVec3; 3] {
        self.axes
    }

    /// The orbit, to read and to change. A fixed camera is first replaced by an orbiting one with
    /// nearly the same view, whose target lies before it at the distance of the middle of `around`.
    pub fn orbit_mut(&mut self, around: &Bounds) -> &mut Orbit {
        if let View::Fixed(fixed) = &self.view {
            self.view = View::Orbit(self.orbit_of(fixed, around));
        }
        match &mut self.view {
            View::Orbit(orbit) => orbit,
            View::Fixed(_) => unreachable!("turned into an orbit above"),
        }
    }

    fn orbit_of(&self, fixed: &Fixed, around: &Bounds) -> Orbit {
        let m = fixed.world_from_camera;
        let (eye, back) = (
            m.w_axis.truncate(),
            m.z_axis.truncate().normalize_or(self.axes[2]),
        );
        let ahead = (eye - around.center()).dot(back);
        let distance = match ahead > 0.0 {
            true => ahead,
            false => around.diagonal().max(1.0),
        };
        let [right, up, front] = self.axes;
        Orbit {
            target: eye - back * distance,
            distance,
            yaw: back.dot(right).atan2(back.dot(front)),
            pitch: back.dot(up).clamp(-1.0, 1.0).asin(),
            field_of_view: match fixed.lens {
                Lens::Perspective { low, high } => 2.0 * ((high.y - low.y) * 0.5).atan(),
                Lens::Orthographic { .. } => FIELD_OF_VIEW.to_radians(),
            },
        }
    }

    /// Turns around the target by angles in radians. `around` is as in [`Camera::orbit_mut`].
    pub fn orbit(&mut self, yaw: f64, pitch: f64, around: &Bounds) {
        // Not up to the pole, where the direction to the right is not defined.
        let most = std::f64::consts::FRAC_PI_2 - 1e-3;
        let orbit = self.orbit_mut(around);
        orbit.yaw = (orbit.yaw + yaw).rem_euclid(std::f64::consts::TAU);
        orbit.pitch = (orbit.pitch + pitch).clamp(-most, most);
    }

    /// Moves the camera sideways, so that everything at the target's depth moves in the picture by
    /// `right` and `up`, in parts of the picture's height. `around` is as in [`Camera::orbit_mut`].
    pub fn pan(&mut self, right: f64, up: f64, around: &Bounds) {
        self.orbit_mut(around);
        let camera = self.world_from_camera();
        let View::Orbit(orbit) = &mut self.view else {
            return;
        };
        let height = 2.0 * orbit.distance * (orbit.field_of_view * 0.5).tan();
        let moved = camera.x_axis.truncate() * right + camera.y_axis.truncate() * up;
        orbit.target -= moved * height;
    }

    /// Multiplies the distance to the target by a factor; below 1 the camera comes nearer. `around`
    /// is as in [`Camera::orbit_mut`], and its size limits the distance.
    pub fn zoom(&mut self, factor: f64, around: &Bounds) {
        let (least, most) = match around.diagonal() {
            d if d > 0.0 => (d * 1e-4, d * 1e4),
            _ => (1e-6, 1e6),
        };
        let orbit = self.orbit_mut(around);
        orbit.distance = (orbit.distance * factor).clamp(least, most);
    }

    /// Moves without turning, so that a box in world space fits into a picture of `aspect` (width
    /// over height), with a margin. The middle of the box is then the target.
    pub fn frame(&mut self, bounds: &Bounds, aspect: f64) {
        self.orbit_mut(bounds).target = bounds.center();
        let distance = self.distance_to_fit(&bounds.corners(), aspect);
        self.orbit_mut(bounds).distance = distance;
    }

    /// The smallest distance from the target at which all points are in the picture, with a margin.
    /// Points are in world space; those that are not finite are ignored.
    #[must_use]
    pub fn distance_to_fit(&self, points: &[DVec3], aspect: f64) -> f64 {
        let [horizontal, vertical] = self.slopes(aspect);
        let view = ViewAxes::of(self);
        let target = match &self.view {
            View::Orbit(orbit) => orbit.target,
            View::Fixed(_) => DVec3::ZERO,
        };
        let distances = points.iter().filter(|p| p.is_finite()).map(|p| {
            let [x, y, back] = view.of_vector(*p - target);
            back + (x.abs() / horizontal).max(y.abs() / vertical)
        });
        usable(distances.fold(0.0, f64::max))
    }

    /// Moves without turning, as near as possible with all points in the picture, with a margin.
    /// Points are in world space; those that are not finite are ignored. The target is then at the
    /// depth of the middle of their bounding box.
    pub fn frame_points(&mut self, points: &[DVec3], aspect: f64) {
        let bounds = Bounds::of(points.iter().copied());
        self.orbit_mut(&bounds).target = bounds.center();
        let slopes = self.slopes(aspect);
        let view = ViewAxes::of(self);
        // For each side of the picture, each point gives a plane that the eye must not cross.
        let mut most = [[0.0f64; 2]; 2];
        for point in points.iter().filter(|p| p.is_finite()) {
            let [x, y, back] = view.of_vector(*point - bounds.center());
            for (axis, across) in [x, y].into_iter().enumerate() {
                most[axis][0] = most[axis][0].max(slopes[axis] * back + across);
                most[axis][1] = most[axis][1].max(slopes[axis] * back - across);
            }
        }
        let distance = |axis: usize| (most[axis][0] + most[axis][1]) * 0.5 / slopes[axis];
        let sideways = |axis: usize| (most[axis][0] - most[axis][1]) * 0.5;
        let orbit = self.orbit_mut(&bounds);
        orbit.distance = usable(distance(0).max(distance(1)));
        orbit.target += view.right * sideways(0) + view.up * sideways(1);
    }

    /// Half the width and half the height of the picture at distance 1, without the margins.
    fn slopes(&self, aspect: f64) -> [f64; 2] {
        let field_of_view = match &self.view {
            View::Orbit(orbit) => orbit.field_of_view,
            View::Fixed(_) => FIELD_OF_VIEW.to_radians(),
        };
        let vertical = (field_of_view * 0.5).tan() * (1.0 - 2.0 * MARGIN);
        [vertical * aspect.max(1e-3), vertical]
    }

    /// The camera's place: from camera space, where it looks along -Z with Y up, to world space.
    #[must_use]
    pub fn world_from_camera(&self) -> DMat4 {
        let orbit = match &self.view {
            View::Fixed(fixed) => return fixed.world_from_camera,
            View::Orbit(orbit) => orbit,
        };
        let [right, up, front] = self.axes;
        let (sin_yaw, cos_yaw) = orbit.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = orbit.pitch.sin_cos();
        let outward = right * sin_yaw + front * cos_yaw;
        let x = right * cos_yaw - front * sin_yaw;
        let z = outward * cos_pitch + up * sin_pitch;
        let eye = orbit.target + z * orbit.distance;
        DMat4::from_cols(
            x.extend(0.0),
            z.cross(x).extend(0.0),
            z.extend(0.0),
            eye.extend(1.0),
        )
    }

    /// The matrices for a picture of `aspect` (width over height). A fixed camera shows its whole
    /// window, and more on two sides if the picture has another aspect.
    #[must_use]
    pub fn matrices(&self, aspect: f64) -> CameraMatrices {
        let world_from_camera = self.world_from_camera();
        let (lens, near) = match &self.view {
            View::Orbit(orbit) => {
                let half = (orbit.field_of_view * 0.5).tan();
                let high = DVec2::new(half * aspect, half);
                (
                    Lens::Perspective { low: -high, high },
                    orbit.distance * 1e-3,
                )
            }
            View::Fixed(fixed) => (fixed.lens.with_aspect(aspect), fixed.near),
        };
        CameraMatrices {
            view_from_world: world_from_camera.inverse(),
            clip_from_view: lens.clip_from_view(near.max(1e-12)),
            eye: world_from_camera.w_axis.truncate(),
            perspective: matches!(lens, Lens::Perspective { .. }),
        }
    }

    /// The pixel of a position in world space, and its distance along the view direction. Pixels
    /// are counted from the left and the top of a picture of `size` pixels. `None` if the position
    /// is behind the camera.
    #[must_use]
    pub fn project(&self, world: DVec3, size: [u32; 2]) -> Option<(DVec2, f64)> {
        let [width, height] = size.map(f64::from);
        let m = self.matrices(width / height);
        let view = m.view_from_world * world.extend(1.0);
        let clip = m.clip_from_view * view;
        if clip.w <= 0.0 || (m.perspective && view.z >= 0.0) {
            return None;
        }
        let ndc = clip.truncate() / clip.w;
        let pixel = DVec2::new((ndc.x + 1.0) * 0.5 * width, (1.0 - ndc.y) * 0.5 * height);
        Some((pixel, -view.z))
    }
}

/// The axes of a camera in world space.
struct ViewAxes {
    right: DVec3,
    up: DVec3,
    back: DVec3,
}

impl ViewAxes {
    fn of(camera: &Camera) -> Self {
        let m = camera.world_from_camera();
        let [right, up, back] = [m.x_axis, m.y_axis, m.z_axis].map(DVec4::truncate);
        Self { right, up, back }
    }

    /// A vector of world space along these axes.
    fn of_vector(&self, v: DVec3) -> [f64; 3] {
        [v.dot(self.right), v.dot(self.up), v.dot(self.back)]
    }
}

/// The distance if it is finite and above 0, or else a default.
fn usable(distance: f64) -> f64 {
    match distance.is_finite() && distance > 0.0 {
        true => distance,
        false => 5.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: [u32; 2] = [200, 100];

    #[test]
    fn a_framed_box_fills_the_picture_with_either_axis_up() {
        for up_axis in ['Y', 'Z'] {
            let bounds = Bounds::of([DVec3::new(3.0, 1.0, -2.0), DVec3::new(4.0, 3.5, 1.0)]);
            let mut camera = Camera::new(up_axis);
            camera.frame(&bounds, 2.0);
            let pixels = bounds.corners().map(|c| camera.project(c, SIZE).unwrap().0);
            let low = pixels.iter().fold(DVec2::INFINITY, |a, p| a.min(*p));
            let high = pixels.iter().fold(DVec2::NEG_INFINITY, |a, p| a.max(*p));
            assert!(low.cmpge(DVec2::ZERO).all() && high.x <= 200.0 && high.y <= 100.0);
            assert!(
                high.y - low.y > 70.0 || high.x - low.x > 140.0,
                "{low} {high}"
            );
            // Without margins some point touches each of two sides, as near as that.
            camera.frame_points(&bounds.corners(), 2.0);
            let pixels = bounds.corners().map(|c| camera.project(c, SIZE).unwrap().0);
            let low = pixels.iter().fold(DVec2::INFINITY, |a, p| a.min(*p));
            let high = pixels.iter().fold(DVec2::NEG_INFINITY, |a, p| a.max(*p));
            let free = [low.x, 200.0 - high.x, low.y, 100.0 - high.y];
            let [a, b] = if free[0] < free[2] {
                [free[0], free[1]]
            } else {
                [free[2], free[3]]
            };
            assert!((a - b).abs() < 1e-6 && a > 0.0 && a < 15.0, "{free:?}");
            // A higher point is higher in the picture.
            let up = camera.axes()[1];
            let at = |p: DVec3| camera.project(p, SIZE).unwrap().0.y;
            assert!(at(bounds.center() + up * 0.1) < at(bounds.center()));
        }
    }

    #[test]
    fn a_fixed_camera_turned_into_an_orbit_sees_the_same() {
        let mut orbit = Camera::new('Y');
        orbit.orbit(1.1, -0.4, &Bounds::EMPTY);
        let half = DVec2::new(0.5, 0.25);
        let fixed = Fixed {
            world_from_camera: orbit.world_from_camera(),
            lens: Lens::Perspective {
                low: -half,
                high: half,
            },
            near: 0.01,
        };
        let mut camera = Camera::fixed('Y', fixed);
        let points = [DVec3::ZERO, DVec3::new(0.2, 0.1, -0.3)];
        let before = points.map(|p| camera.project(p, SIZE).unwrap());
        camera.orbit(0.0, 0.0, &Bounds::of(points));
        assert!(matches!(camera.view, View::Orbit(_)));
        for (p, (pixel, depth)) in points.into_iter().zip(before) {
            let (now, now_depth) = camera.project(p, SIZE).unwrap();
            assert!(now.distance(pixel) < 1e-9 && (now_depth - depth).abs() < 1e-9);
        }
    }

    #[test]
    fn pan_moves_by_parts_of_the_height_and_offsets_shift_the_window() {
        let mut camera = Camera::new('Y');
        let (before, _) = camera.project(DVec3::ZERO, SIZE).unwrap();
        camera.pan(0.1, 0.2, &Bounds::EMPTY);
        let (after, _) = camera.project(DVec3::ZERO, SIZE).unwrap();
        assert!(
            (after - before - DVec2::new(10.0, -20.0)).length() < 1e-6,
            "{after}"
        );
        // A window shifted to the right shows the axis on its left.
        let fixed = Fixed {
            world_from_camera: DMat4::from_translation(DVec3::Z),
            lens: Lens::Perspective {
                low: DVec2::new(0.0, -0.5),
                high: DVec2::new(2.0, 0.5),
            },
            near: 0.1,
        };
        let (pixel, _) = Camera::fixed('Y', fixed)
            .project(DVec3::ZERO, SIZE)
            .unwrap();
        assert!((pixel - DVec2::new(0.0, 50.0)).length() < 1e-9, "{pixel}");
    }
}

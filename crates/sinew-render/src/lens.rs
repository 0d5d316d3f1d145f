//! Lenses, and the cameras of files.

use glam::{DMat3, DMat4, DVec2, DVec4};

use sinew::math;
use sinew::sampled::Time;
use sinew::scene::StageCamera;

/// A camera of a file (UsdGeomCamera) at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// From camera space, where the camera looks along -Z with Y up, to world space; without scale.
    pub world_from_camera: DMat4,
    /// Projection and window.
    pub lens: Lens,
    /// Distance of the near plane, in the stage's units.
    pub near: f64,
}

/// Projection and window of a fixed camera. `low` is the lower left and `high` the upper right
/// corner of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lens {
    /// Perspective. The corners are in the plane at distance 1: the aperture with its offsets,
    /// divided by the focal length.
    Perspective { low: DVec2, high: DVec2 },
    /// Orthographic. The corners are in the stage's units.
    Orthographic { low: DVec2, high: DVec2 },
}

impl Fixed {
    /// The camera of a stage at a time. Scales in its transform are ignored.
    #[must_use]
    pub fn of_stage(camera: &StageCamera, time: Time) -> Self {
        let frustum = camera.frustum(time);
        let [low, high] = frustum.window;
        let place = camera.world_from_camera(time);
        // If the transform is singular, the camera keeps its position and looks along the world's
        // -Z.
        let rotation = math::nearest_rotation(DMat3::from_mat4(place)).unwrap_or_default();
        Self {
            world_from_camera: DMat4::from_rotation_translation(rotation, place.w_axis.truncate()),
            lens: match frustum.perspective {
                true => Lens::Perspective { low, high },
                false => Lens::Orthographic { low, high },
            },
            near: frustum.near_far.x,
        }
    }
}

impl Lens {
    /// The same window, made wider or higher around its middle, so that it has an aspect (width
    /// over height).
    pub(super) fn with_aspect(self, aspect: f64) -> Self {
        let fit = |low: DVec2, high: DVec2| {
            let (center, mut half) = ((low + high) * 0.5, (high - low) * 0.5);
            if half.x < half.y * aspect {
                half.x = half.y * aspect;
            } else {
                half.y = half.x / aspect;
            }
            (center - half, center + half)
        };
        match self {
            Self::Perspective { low, high } => {
                let (low, high) = fit(low, high);
                Self::Perspective { low, high }
            }
            Self::Orthographic { low, high } => {
                let (low, high) = fit(low, high);
                Self::Orthographic { low, high }
            }
        }
    }

    /// The projection, from right-handed view space to clip space. Depth is reversed: 1 at `near`,
    /// 0 far away.
    pub(super) fn clip_from_view(self, near: f64) -> DMat4 {
        match self {
            Self::Perspective { low, high } => {
                let (size, sum) = (high - low, high + low);
                DMat4::from_cols(
                    DVec4::new(2.0 / size.x, 0.0, 0.0, 0.0),
                    DVec4::new(0.0, 2.0 / size.y, 0.0, 0.0),
                    DVec4::new(sum.x / size.x, sum.y / size.y, 0.0, -1.0),
                    DVec4::new(0.0, 0.0, near, 0.0),
                )
            }
            Self::Orthographic { low, high } => {
                let (size, sum) = (high - low, high + low);
                // The far plane is a thousand times the window's size beyond the near plane.
                let deep = near + 1e3 * size.max_element();
                DMat4::from_cols(
                    DVec4::new(2.0 / size.x, 0.0, 0.0, 0.0),
                    DVec4::new(0.0, 2.0 / size.y, 0.0, 0.0),
                    DVec4::new(0.0, 0.0, 1.0 / (deep - near), 0.0),
                    DVec4::new(-sum.x / size.x, -sum.y / size.y, deep / (deep - near), 1.0),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: DVec2 = DVec2::new(-1.0, -0.5);
    const HIGH: DVec2 = DVec2::new(3.0, 1.5);

    #[test]
    fn near_points_have_larger_depth_and_corners_meet_corners() {
        let (low, high) = (LOW, HIGH);
        for (lens, shrinks) in [
            (Lens::Perspective { low, high }, true),
            (Lens::Orthographic { low, high }, false),
        ] {
            let clip = lens.clip_from_view(0.25);
            // A perspective window is one unit away.
            let at = |corner: DVec2, away: f64| {
                let across = if shrinks { corner * away } else { corner };
                clip.project_point3(across.extend(-away))
            };
            for away in [0.25, 1.0, 7.0] {
                assert!((at(low, away).truncate() + 1.0).length() < 1e-12);
                assert!((at(high, away).truncate() - 1.0).length() < 1e-12);
            }
            let depth = [0.25, 1.0, 7.0, 1e3].map(|away| at(low, away).z);
            assert!((depth[0] - 1.0).abs() < 1e-12, "{depth:?}");
            assert!(
                depth.is_sorted_by(|a, b| a > b) && depth[3] > 0.0,
                "{depth:?}"
            );
        }
    }

    #[test]
    fn windows_grow_to_an_aspect_about_their_middle() {
        for (aspect, half) in [(1.0, DVec2::new(2.0, 2.0)), (4.0, DVec2::new(4.0, 1.0))] {
            let lens = Lens::Orthographic {
                low: LOW,
                high: HIGH,
            };
            let Lens::Orthographic { low, high } = lens.with_aspect(aspect) else {
                panic!("another lens");
            };
            assert_eq!((low + high) * 0.5, DVec2::new(1.0, 0.5));
            assert_eq!((high - low) * 0.5, half, "aspect {aspect}");
        }
    }
}

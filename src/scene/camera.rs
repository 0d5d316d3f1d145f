//! Cameras of a stage (UsdGeomCamera).

use glam::{DMat4, DVec2, Vec2};

use super::Placement;
use crate::sampled::{Sampled, Time};

/// The unit of focal lengths and apertures: a tenth of a stage unit (GfCamera::FOCAL_LENGTH_UNIT
/// and APERTURE_UNIT).
const LENS_UNIT: f64 = 0.1;

/// A camera. It looks along its own -z, with y upward.
#[derive(Clone, Debug)]
pub struct StageCamera {
    /// Prim path.
    pub path: String,
    /// Its transform and visibility, over time.
    pub place: Placement,
    /// Whether it is perspective; otherwise it is orthographic.
    pub perspective: bool,
    /// Focal length, in tenths of stage units.
    pub focal_length: Sampled<f32>,
    /// Width of the film back, in tenths of stage units.
    pub horizontal_aperture: Sampled<f32>,
    /// Height of the film back, in tenths of stage units.
    pub vertical_aperture: Sampled<f32>,
    /// How far the film back is shifted to the right, in tenths of stage units.
    pub horizontal_offset: Sampled<f32>,
    /// How far the film back is shifted up, in tenths of stage units.
    pub vertical_offset: Sampled<f32>,
    /// Near and far distance in stage units.
    pub clipping_range: Sampled<Vec2>,
}

/// The view of a camera (GfFrustum).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    pub perspective: bool,
    /// Lower left and upper right corner of the window: for a perspective camera in the plane at
    /// distance 1, for an orthographic camera in stage units.
    pub window: [DVec2; 2],
    /// Near and far distance in stage units.
    pub near_far: DVec2,
}

impl StageCamera {
    /// The transform from camera space to the world at a time. It may contain scale.
    #[must_use]
    pub fn world_from_camera(&self, time: Time) -> DMat4 {
        self.place.world_from_prim(time)
    }

    /// The view at a time (GfCamera::GetFrustum). An attribute without a value has the fallback of
    /// the schema.
    #[must_use]
    pub fn frustum(&self, time: Time) -> Frustum {
        let number =
            |s: &Sampled<f32>, fallback: f32| f64::from(s.at(time).map_or(fallback, |v| *v));
        let aperture = DVec2::new(
            number(&self.horizontal_aperture, 20.955),
            number(&self.vertical_aperture, 15.2908),
        );
        let offset = DVec2::new(
            number(&self.horizontal_offset, 0.0),
            number(&self.vertical_offset, 0.0),
        );
        let focal_length = number(&self.focal_length, 50.0);
        // With a focal length of 0, GfCamera does not scale the window.
        let scale = match self.perspective && focal_length != 0.0 {
            true => LENS_UNIT / (focal_length * LENS_UNIT),
            false => LENS_UNIT,
        };
        let near_far = self.clipping_range.at(time);
        Frustum {
            perspective: self.perspective,
            window: [-0.5, 0.5].map(|side| (offset + aperture * side) * scale),
            near_far: near_far.map_or(DVec2::new(1.0, 1e6), |v| v.as_dvec2()),
        }
    }

    /// Every authored time, unsorted.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        let numbers = [
            &self.focal_length,
            &self.horizontal_aperture,
            &self.vertical_aperture,
            &self.horizontal_offset,
            &self.vertical_offset,
        ];
        let mut times = self.place.times();
        times.extend(numbers.into_iter().flat_map(Sampled::times));
        times.extend(self.clipping_range.times());
        times
    }
}

//! Cameras of a stage (UsdGeomCamera).

use glam::{DMat4, DVec2, Vec2};

use super::Placement;
use crate::sampled::{Sampled, Time};

/// Millimetre-like units of lenses: a tenth of the stage's (GfCamera::FOCAL_LENGTH_UNIT and APERTURE_UNIT).
const LENS_UNIT: f64 = 0.1;

/// A camera. It looks along its own -z, with y upward.
#[derive(Clone, Debug)]
pub struct StageCamera {
    /// Prim path.
    pub path: String,
    /// Where it stands, looking along its own -Z with Y up.
    pub place: Placement,
    /// False where it is orthographic.
    pub perspective: bool,
    /// In tenths of stage units, as are apertures and their offsets.
    pub focal_length: Sampled<f32>,
    /// Width of the film back, in tenths of stage units.
    pub horizontal_aperture: Sampled<f32>,
    /// Height of the film back, in tenths of stage units.
    pub vertical_aperture: Sampled<f32>,
    /// How far the film back is moved to the right, in tenths of stage units.
    pub horizontal_offset: Sampled<f32>,
    /// How far the film back is moved up, in tenths of stage units.
    pub vertical_offset: Sampled<f32>,
    /// Near and far distance in stage units.
    pub clipping_range: Sampled<Vec2>,
}

/// What a camera sees (GfFrustum).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    pub perspective: bool,
    /// Lower left and upper right of the window. Of a perspective camera in the plane at distance 1; of an orthographic one
    /// in stage units.
    pub window: [DVec2; 2],
    /// Near and far distance in stage units.
    pub near_far: DVec2,
}

impl StageCamera {
    /// world_from_camera at a time, as the stage has it: scales are in it too.
    #[must_use]
    pub fn world_from_camera(&self, time: Time) -> DMat4 {
        self.place.world_from_prim(time)
    }

    /// What it sees at a time (GfCamera::GetFrustum). Where an attribute has no value its schema's fallback counts.
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
        // A lens without a length is no lens: GfCamera leaves the window as it is.
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

//! What goes from stage to stage of a bake: what is wanted at which time, what is deformed for it, and what came out.

use std::sync::Arc;

use glam::{DMat4, Vec3};

use sinew::kernel::{PackedPose, PackedSkin};
use sinew::sampled::Time;
use sinew::scene::SkinPart;

/// Bindings to deform at each time, times ascending and the default time first.
pub(super) type Schedule = Vec<Scheduled>;

/// A time, and the bindings to deform at it.
pub(super) type Scheduled = (Time, Vec<usize>);

/// Everything that came out at one time, in the order of the schedule.
pub(super) struct Frame {
    pub time: Time,
    /// Transforms that replace the prims' own, by binding.
    pub transforms: Vec<(usize, DMat4)>,
    pub deformed: Vec<Deformed>,
}

/// One part of one prim's deformation at one time.
pub(super) struct Deformed {
    pub binding: usize,
    pub part: SkinPart,
    /// In the space of the plan.
    pub points: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
    /// Corners of the points' bounding box, widths included.
    pub extent: [Vec3; 2],
}

/// One prim at one time.
pub(super) struct Job {
    pub skin: Arc<PackedSkin>,
    pub pose: PackedPose,
}

/// What came of a [`Job`].
pub(super) struct Done {
    pub points: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
}

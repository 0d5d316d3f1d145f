//! One prim at one frame.

use glam::Vec3;

/// Points and normals in the space of the output.
pub(super) struct PrimFrame {
    pub points: Vec<Vec3>,
    /// Of unit length, or zero; one per point or per face corner. `None` where none were wanted.
    pub normals: Option<Vec<Vec3>>,
}

//! Crowds, apart from the kernels' arithmetic (kernels.rs): instances that come and go, limits, bounds,
//! palettes, reading, lost devices.

mod blend_lists;
mod boxes;
mod instances;
mod loss;
pub mod made;
mod posing;
mod reading;
mod retained;
mod visibility;

use crate::Subject;
use crate::check::Checks;

/// A host keeps them where its threads reach them.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<sinew::gpu::Crowd>();
    shared::<sinew::gpu::Skinner>();
};

pub const CHECKS: &[(Subject, Checks)] = &[
    (Subject::Growth, instances::CHECKS),
    (Subject::Posing, posing::CHECKS),
    (Subject::BlendShapes, blend_lists::CHECKS),
    (Subject::Bounds, boxes::CHECKS),
    (Subject::Crowds, reading::CHECKS),
    (Subject::Growth, retained::CHECKS),
    (Subject::Crowds, visibility::CHECKS),
    (Subject::Loss, loss::CHECKS),
];

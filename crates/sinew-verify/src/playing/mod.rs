//! Rigs that play clips on the GPU, against the mirror and against f64, above all at the seams: ends
//! of clips, loops, fades, clips of other skeletons, frames that are planned anew, devices that go
//! away.

mod edits;
mod fades;
pub mod figure;
mod frames;
mod palettes;
mod show;
pub mod stage;

use crate::Subject;
use crate::check::Checks;

pub const CHECKS: &[(Subject, Checks)] = &[
    (Subject::Clips, edits::CHECKS),
    (Subject::Clips, fades::CHECKS),
    (Subject::Clips, frames::CHECKS),
    (Subject::Clips, palettes::CHECKS),
];

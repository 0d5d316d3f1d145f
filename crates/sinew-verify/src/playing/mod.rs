//! Rigs that play clips on the GPU, against the mirror and against f64, above all at the seams: ends
//! of clips, loops, fades, clips of other skeletons, frames that are planned anew, devices that go
//! away.

mod edits;
mod fades;
pub mod figure;
mod frames;
mod palettes;
mod sharing;
mod show;
pub mod stage;

use crate::host::Gpu;
use crate::{Check, Failure, Subject};

type Run = fn(&Gpu) -> Result<(), Failure>;

pub fn checks() -> Vec<Check> {
    let lists = [
        edits::CHECKS,
        fades::CHECKS,
        frames::CHECKS,
        palettes::CHECKS,
        sharing::CHECKS,
    ];
    let each = |(name, run): &(&'static str, Run)| {
        Check::with_both_limits(Subject::Clips, "playing", name, *run)
    };
    lists.into_iter().flatten().flat_map(each).collect()
}

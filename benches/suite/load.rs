//! What every row of the suite is measured on, and what a peer gives back.

use std::sync::Arc;

use sinew::skel::{Pose, Skin};

use crate::peers::rig::Worst;

/// A work load at one frame.
#[derive(Clone, Copy)]
pub struct Load<'a> {
    /// Its letter, such as `A`.
    pub name: &'a str,
    pub skins: &'a [Arc<Skin>],
    /// Number of the skin, and the pose, of each instance.
    pub instances: &'a [(usize, Pose)],
}

impl Load<'_> {
    /// Points of all instances.
    pub fn points(&self) -> usize {
        let counts = self
            .instances
            .iter()
            .map(|(s, _)| self.skins[*s].points().len());
        counts.sum()
    }
}

/// What one peer's kernel took for a load.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Whose layout and way of dispatching it is.
    pub name: &'static str,
    /// Where these are published: repository, commit and licence.
    pub upstream: &'static str,
    /// Seconds of each run, none left out but the first, which warm up.
    pub seconds: Vec<f64>,
    /// Points that a run deforms: fewer than the load has, where not all fit.
    pub points: usize,
    pub dispatches: usize,
    /// Stated by its layout: what a point reads and writes, palettes apart.
    pub bytes_per_point: f64,
    /// What those bytes are made of.
    pub bytes_note: &'static str,
    /// How far its results are from the CPU mirror's on the same load.
    pub worst: Worst,
}

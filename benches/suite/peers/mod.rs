//! Kernels of the field, written anew from their published layouts: baselines beside sinew's rows.
//!
//! Each names the commit that it follows, states what a point costs it in bytes, is dispatched and bound as its renderer does
//! it, and is held to the CPU mirror's results. Rest data is shared by the instances of a skin. What the CPU records for so
//! many dispatches is not in their times.

pub mod bevy;
pub mod csr;
pub mod godot;
pub mod gpu;
pub mod hydra;
pub mod ozz;
pub mod rig;
pub mod three;

use std::error::Error;
use std::sync::Arc;

use sinew::gpu::GpuDevice;
use sinew::skel::{Pose, Skin};

use crate::measure::{Runs, Times};
use rig::Worst;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

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
        let instances = self.instances.iter();
        instances.map(|(s, _)| self.skins[*s].points().len()).sum()
    }
}

/// What a peer says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Whose layout and way of dispatching it is.
    pub name: &'static str,
    /// Where these are published: repository, commit and licence.
    pub upstream: &'static str,
    /// What its bytes per point are made of.
    pub bytes: &'static str,
}

/// What one peer's kernel took for a load.
#[derive(Clone, Debug)]
pub struct Peer {
    pub about: About,
    pub times: Times,
    /// Points that a run deforms: fewer than the load has, where not all fit.
    pub points: usize,
    pub dispatches: usize,
    /// Stated by its layout: what a point reads and writes, palettes apart.
    pub bytes_per_point: f64,
    /// How far its results are from the CPU mirror's on the same load.
    pub worst: Worst,
}

/// Measures one peer on a load.
pub type Run = fn(&GpuDevice, &Load<'_>, Runs) -> Result<Peer>;

/// All of them, and the work loads that each is measured on. A texture for each of F's 100,000 skeletons is more than devices
/// have room for.
pub const ALL: [(Run, &[&str]); 5] = [
    (hydra::run, &["A", "B", "C", "D", "D-scattered", "F"]),
    (godot::run, &["A", "B", "C", "D", "D-scattered", "F"]),
    (bevy::run, &["A", "B", "C", "D", "D-scattered", "F"]),
    (three::run, &["A", "B", "C", "D", "D-scattered"]),
    (csr::run, &["D", "D-scattered"]),
];

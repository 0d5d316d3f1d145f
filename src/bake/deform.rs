//! What carries out the deformation of a bake: the CPU mirror or a GPU.

use std::sync::Arc;

use glam::Vec3;

use super::gpu_batch::GpuBatch;
use crate::error::Result;
use crate::gpu::AdapterChoice;
use crate::kernel::{CpuJob, PackedPose, PackedSkin, cpu_instructions, skin_batch_on_cpu};

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
        let zeros = |count| vec![Vec3::ZERO; count];
        let normals = skin.has_output_normals();
        let normals = normals.then(|| zeros(skin.output_normal_count()));
        Self {
            points: zeros(skin.output_count()),
            skin,
            pose,
            normals,
        }
    }
}

/// A chosen, ready backend.
pub(super) enum Deformer {
    Cpu,
    Gpu(Box<GpuBatch>),
}

impl Deformer {
    /// Takes the backend asked for.
    ///
    /// # Errors
    /// A GPU that was asked for by name or kind and is not there.
    pub fn new(backend: &Backend) -> Result<Self> {
        let gpu = |choice: &AdapterChoice| GpuBatch::new(choice).map(|g| Self::Gpu(Box::new(g)));
        match backend {
            Backend::Cpu => Ok(Self::Cpu),
            Backend::Gpu => Ok(gpu(&AdapterChoice::Any)?),
            Backend::Adapter(name) => Ok(gpu(&AdapterChoice::Named(name.clone()))?),
            Backend::Auto => match gpu(&AdapterChoice::Hardware) {
                Ok(gpu) => Ok(gpu),
                Err(e) => {
                    log::info!("no hardware GPU, taking the CPU: {e}");
                    Ok(Self::Cpu)
                }
            },
        }
    }

    /// `cpu (2 threads)`, or `gpu` with the adapter's name.
    pub fn describe(&self) -> String {
        match self {
            Self::Cpu => format!("cpu ({} threads)", rayon::current_num_threads()),
            Self::Gpu(gpu) => format!("gpu ({})", gpu.adapter_name()),
        }
    }

    /// What decides about the last bits of results, the same on every machine that has the same of it.
    pub fn identity(&self) -> String {
        match self {
            Self::Cpu => format!("cpu ({})", cpu_instructions()),
            Self::Gpu(_) => self.describe(),
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
                        tangents: None,
                    })
                    .collect();
                skin_batch_on_cpu(&mut cpu);
            }
            Self::Gpu(gpu) => {
                let asked: Vec<_> = jobs.iter().map(|j| (j.skin.clone(), &j.pose)).collect();
                let results = gpu.deform(&asked)?;
                for (job, result) in jobs.iter_mut().zip(results) {
                    job.points = result.points;
                    job.normals = result.normals;
                }
            }
        }
        Ok(())
    }
}

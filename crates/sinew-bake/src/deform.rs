//! What carries out the deformation of a bake: the CPU mirror or a GPU.

use rayon::prelude::*;

use super::buffers::Buffers;
use super::frames::{Done, Job};
use super::gpu_batch::{GpuBatch, GpuReading};
use sinew::error::Result;
use sinew::gpu::AdapterChoice;
use sinew::kernel::{cpu_instructions, skin_on_cpu};

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

/// A chosen, ready backend.
pub(super) enum Deformer {
    Cpu,
    Gpu(Box<GpuBatch>),
}

/// Jobs that were begun.
pub(super) enum UnderWay {
    Cpu(Vec<Job>),
    Gpu(GpuReading),
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

    /// About how many points to begin at once: enough to fill the backend, few enough that results are handed on while
    /// they are in its caches.
    pub fn batch_points(&self) -> usize {
        match self {
            Self::Cpu => (rayon::current_num_threads() << 17).clamp(1 << 18, 4 << 20),
            Self::Gpu(_) => 2 << 20,
        }
    }

    /// Begins jobs. A GPU is at work from here on, the CPU at [`Deformer::finish`].
    ///
    /// # Errors
    /// A GPU that fails.
    pub fn begin(&mut self, jobs: Vec<Job>) -> Result<UnderWay> {
        match self {
            Self::Cpu => Ok(UnderWay::Cpu(jobs)),
            Self::Gpu(gpu) => Ok(UnderWay::Gpu(gpu.begin(&jobs)?)),
        }
    }

    /// Finishes jobs, in the order in which they were begun; `then` gets each result with its job's number, from several
    /// threads, while it is fresh in their caches.
    ///
    /// # Errors
    /// A GPU that fails.
    pub fn finish<T: Send>(
        &mut self,
        jobs: UnderWay,
        buffers: &Buffers,
        then: impl Fn(usize, Done) -> T + Sync,
    ) -> Result<Vec<T>> {
        match (jobs, self) {
            (UnderWay::Cpu(jobs), _) => {
                let jobs = jobs.into_par_iter().enumerate();
                Ok(jobs
                    .map(|(i, job)| then(i, on_cpu(&job, buffers)))
                    .collect())
            }
            (UnderWay::Gpu(reading), Self::Gpu(gpu)) => {
                let results = gpu.finish(reading)?.into_par_iter().enumerate();
                let done = results.map(|(i, r)| {
                    let (points, normals) = (r.points, r.normals);
                    then(i, Done { points, normals })
                });
                Ok(done.collect())
            }
            // What a GPU began is finished by the same one.
            (UnderWay::Gpu(_), Self::Cpu) => Ok(Vec::new()),
        }
    }
}

fn on_cpu(job: &Job, buffers: &Buffers) -> Done {
    let skin = &job.skin;
    let mut points = buffers.take(skin.output_count());
    let mut normals = skin
        .has_output_normals()
        .then(|| buffers.take(skin.output_normal_count()));
    skin_on_cpu(skin, &job.pose, &mut points, normals.as_deref_mut());
    Done { points, normals }
}

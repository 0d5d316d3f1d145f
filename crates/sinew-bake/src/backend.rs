//! The backends that deform prims: the CPU mirror, or batches of jobs on a GPU.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use glam::Vec3;
use rayon::prelude::*;

use crate::error::Result;
use sinew::gpu::{
    AdapterChoice, Crowd, Deformed, GpuDevice, GpuError, InstanceId, InstancePose, PaletteId,
    ReadTicket, SkinId, Skinner, SkinnerOptions,
};
use sinew::kernel::{PackedPose, PackedSkin, cpu_instructions, skin_on_cpu};
use sinew::wgpu;

/// The backend that a bake runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// A hardware GPU if there is one, otherwise the CPU. Software adapters are never used: in a
    /// measurement on two cores, lavapipe was slower than the CPU mirror.
    #[default]
    Auto,
    /// A hardware GPU if there is one, otherwise a software adapter.
    Gpu,
    /// The CPU, by the Rust mirrors of the kernels.
    Cpu,
    /// The adapter whose name contains this text; it may be a software adapter.
    Adapter(String),
}

/// One prim at one time.
pub(super) struct Job {
    pub skin: Arc<PackedSkin>,
    pub pose: PackedPose,
}

/// The result of a [`Job`].
pub(super) struct Done {
    pub points: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
}

/// An open backend.
pub(super) enum Deformer {
    Cpu,
    Gpu(Box<GpuBatch>),
}

/// Jobs that are running.
pub(super) enum UnderWay {
    Cpu(Vec<Job>),
    Gpu(GpuReading),
}

impl Deformer {
    /// Opens a backend.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the GPU that was asked for is not available.
    pub fn new(backend: &Backend) -> Result<Self> {
        let gpu = |choice: &AdapterChoice| GpuBatch::open(choice).map(|g| Self::Gpu(Box::new(g)));
        match backend {
            Backend::Cpu => Ok(Self::Cpu),
            Backend::Gpu => Ok(gpu(&AdapterChoice::Any)?),
            Backend::Adapter(name) => Ok(gpu(&AdapterChoice::Named(name.clone()))?),
            Backend::Auto => match gpu(&AdapterChoice::Hardware) {
                Ok(gpu) => Ok(gpu),
                Err(e) => {
                    log::info!("no hardware GPU, using the CPU: {e}");
                    Ok(Self::Cpu)
                }
            },
        }
    }

    /// Uses an existing device.
    ///
    /// # Errors
    /// [`Error::Gpu`] if a limit of the device is too low, or the device is lost.
    pub fn on_device(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self> {
        let batch = GpuBatch::new(device, queue, None)?;
        Ok(Self::Gpu(Box::new(batch)))
    }

    /// Drops the state of earlier bakes: uploaded skins, and results of unfinished jobs.
    pub fn reset(&mut self) {
        if let Self::Gpu(gpu) = self {
            gpu.reset();
        }
    }

    /// The name of the backend, such as `cpu (2 threads)` or `gpu` with the name of the adapter in
    /// brackets.
    pub fn describe(&self) -> String {
        match self {
            Self::Cpu => match rayon::current_num_threads() {
                1 => "cpu (1 thread)".to_owned(),
                n => format!("cpu ({n} threads)"),
            },
            Self::Gpu(gpu) => format!("gpu ({})", gpu.adapter_name),
        }
    }

    /// Identifies the hardware on which results are equal to the last bit.
    pub fn identity(&self) -> String {
        match self {
            Self::Cpu => format!("cpu ({})", cpu_instructions()),
            Self::Gpu(_) => self.describe(),
        }
    }

    /// The approximate number of points to begin at once: enough to fill the backend, and few
    /// enough that results are still in its caches when they are passed on.
    pub fn batch_points(&self) -> usize {
        match self {
            Self::Cpu => (rayon::current_num_threads() << 17).clamp(1 << 18, 4 << 20),
            Self::Gpu(_) => 2 << 20,
        }
    }

    /// Begins jobs. A GPU starts to work now, the CPU in [`Deformer::finish`].
    ///
    /// # Errors
    /// [`Error::Gpu`] if the GPU fails.
    pub fn begin(&mut self, jobs: Vec<Job>) -> Result<UnderWay> {
        match self {
            Self::Cpu => Ok(UnderWay::Cpu(jobs)),
            Self::Gpu(gpu) => Ok(UnderWay::Gpu(gpu.begin(&jobs)?)),
        }
    }

    /// Finishes jobs, in the order in which they were begun. `then` is called on several threads
    /// with each result and the number of its job, while the result is in their caches.
    ///
    /// # Errors
    /// [`Error::Gpu`] if the GPU fails.
    pub fn finish<T: Send>(
        &mut self,
        jobs: UnderWay,
        buffers: &Buffers,
        then: impl Fn(usize, Done) -> T + Sync,
    ) -> Result<Vec<T>> {
        match (jobs, self) {
            (UnderWay::Cpu(jobs), _) => {
                let jobs = jobs.into_par_iter().enumerate();
                jobs.map(|(i, job)| Ok(then(i, on_cpu(&job, buffers)?)))
                    .collect()
            }
            (UnderWay::Gpu(reading), Self::Gpu(gpu)) => {
                let results = gpu.finish(reading)?.into_par_iter().enumerate();
                let done = results.map(|(i, r)| {
                    let (points, normals) = (r.points, r.normals);
                    then(i, Done { points, normals })
                });
                Ok(done.collect())
            }
            // The GPU that began jobs also finishes them.
            (UnderWay::Gpu(_), Self::Cpu) => Ok(Vec::new()),
        }
    }
}

fn on_cpu(job: &Job, buffers: &Buffers) -> Result<Done> {
    let skin = &job.skin;
    let mut points = buffers.take(skin.output_count());
    let mut normals = skin
        .has_output_normals()
        .then(|| buffers.take(skin.output_normal_count()));
    skin_on_cpu(skin, &job.pose, &mut points, normals.as_deref_mut())?;
    Ok(Done { points, normals })
}

/// The largest number of skins that stay uploaded between batches. Beyond it a new crowd is made.
/// Prims whose rest points are animated have a new skin at every time.
const MAX_SKINS: usize = 256;

/// A crowd that keeps rest data from batch to batch.
pub(super) struct GpuBatch {
    /// The device that this backend opened. It also reports failures that no call returns.
    own: Option<GpuDevice>,
    adapter_name: String,
    skinner: Skinner,
    crowd: Crowd,
    /// Number of crowds that were made so far.
    number: usize,
    /// The previous crowd. Its last results may not have been read yet.
    before: Option<Crowd>,
    /// Uploaded skins by address; the crowd keeps each one's `Arc`, so none is reused.
    skins: HashMap<usize, SkinId>,
    /// Palettes of the last batch that several poses may share, by address; the crowd keeps each
    /// one\'s `Arc`.
    palettes: HashMap<usize, PaletteId>,
}

/// Jobs that were submitted.
pub(super) struct GpuReading {
    /// Number of their crowd.
    crowd: usize,
    results: Results,
}

enum Results {
    OnTheirWay(ReadTicket),
    Here(Vec<Deformed>),
}

impl GpuBatch {
    /// Opens a device.
    fn open(choice: &AdapterChoice) -> Result<Self, GpuError> {
        let gpu = GpuDevice::new(choice)?;
        let (device, queue) = (gpu.device().clone(), gpu.queue().clone());
        Self::new(&device, &queue, Some(gpu))
    }

    fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        own: Option<GpuDevice>,
    ) -> Result<Self, GpuError> {
        let skinner = Skinner::new(device, queue, &SkinnerOptions::default())?;
        let crowd = skinner.crowd();
        Ok(Self {
            adapter_name: match &own {
                Some(own) => own.report().name.clone(),
                None => device.adapter_info().name,
            },
            own,
            skinner,
            crowd,
            number: 0,
            before: None,
            skins: HashMap::new(),
            palettes: HashMap::new(),
        })
    }

    fn reset(&mut self) {
        self.crowd = self.skinner.crowd();
        self.before = None;
        self.number += 1;
        self.skins.clear();
        self.palettes.clear();
    }

    /// Submits all jobs as one frame, and the reading of their results. More jobs may be begun
    /// before these are finished.
    pub fn begin(&mut self, jobs: &[Job]) -> Result<GpuReading, GpuError> {
        if self.skins.len() > MAX_SKINS {
            self.before = Some(std::mem::replace(&mut self.crowd, self.skinner.crowd()));
            self.number += 1;
            self.skins.clear();
            self.palettes.clear();
        }
        self.crowd.clear_instances();
        for (_, palette) in self.palettes.drain() {
            self.crowd.remove_palette(palette)?;
        }
        for job in jobs {
            let address = Arc::as_ptr(&job.skin) as usize;
            let id = match self.skins.get(&address) {
                Some(id) => *id,
                None => {
                    let id = self.crowd.add_skin(job.skin.clone())?;
                    self.skins.insert(address, id);
                    id
                }
            };
            let instance = self.crowd.add_instance(id)?;
            self.pose(instance, &job.pose)?;
        }
        let instances = self.crowd.instances();
        let results = match self.crowd.submit_and_read(&instances) {
            Ok(ticket) => Results::OnTheirWay(ticket),
            // More than one buffer can hold.
            Err(GpuError::Limit { .. }) => Results::Here(self.crowd.read(&instances)?),
            Err(e) => return Err(e),
        };
        Ok(GpuReading {
            crowd: self.number,
            results,
        })
    }

    /// Poses an instance. Poses over one `Arc` share a palette.
    fn pose(&mut self, instance: InstanceId, pose: &PackedPose) -> Result<(), GpuError> {
        let Some(palette) = pose.palette().filter(|p| Arc::strong_count(p) > 1) else {
            return self.crowd.set_pose(instance, pose);
        };
        let address = Arc::as_ptr(palette) as usize;
        let add = || self.crowd.add_palette(Arc::clone(palette));
        let palette = *self.palettes.entry(address).or_insert_with(add);
        self.crowd
            .set_pose(instance, InstancePose::Shared { palette, pose })
    }

    /// Waits for jobs and returns their results in order.
    pub fn finish(&mut self, reading: GpuReading) -> Result<Vec<Deformed>, GpuError> {
        let results = match reading.results {
            Results::Here(results) => results,
            Results::OnTheirWay(ticket) => match &mut self.before {
                Some(before) if reading.crowd != self.number => before.wait(&ticket)?,
                _ => self.crowd.wait(&ticket)?,
            },
        };
        if let Some(own) = &self.own {
            own.check()?;
        }
        Ok(results)
    }
}

/// The largest number of values in unused arrays; arrays beyond it are freed.
const MOST: usize = 16 << 20;

/// Unused arrays, by their length. New memory costs more than the deformation that fills it,
/// because the system clears and maps every page at the first write.
#[derive(Default)]
pub(super) struct Buffers(Mutex<Free>);

#[derive(Default)]
struct Free {
    by_length: HashMap<usize, Vec<Vec<Vec3>>>,
    /// Number of values in all arrays.
    sum: usize,
}

impl Buffers {
    /// An array with `length` unspecified values.
    pub fn take(&self, length: usize) -> Vec<Vec3> {
        let mut free = self.free();
        match free.by_length.get_mut(&length).and_then(Vec::pop) {
            Some(array) => {
                free.sum -= length;
                array
            }
            None => {
                drop(free);
                vec![Vec3::ZERO; length]
            }
        }
    }

    /// Adds an unused array.
    pub fn give(&self, array: Vec<Vec3>) {
        if array.is_empty() {
            return;
        }
        let mut free = self.free();
        if free.sum + array.len() <= MOST {
            free.sum += array.len();
            free.by_length.entry(array.len()).or_default().push(array);
        }
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        // The data is valid even if another thread panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_taken_again() {
        let buffers = Buffers::default();
        let first = buffers.take(3);
        let place = first.as_ptr();
        buffers.give(first);
        assert_eq!(buffers.take(2).len(), 2);
        let again = buffers.take(3);
        assert_eq!(again.as_ptr(), place);
        buffers.give(vec![Vec3::ZERO; MOST]);
        buffers.give(vec![Vec3::ONE; 1]);
        assert_eq!(buffers.take(1), [Vec3::ZERO]);
    }
}

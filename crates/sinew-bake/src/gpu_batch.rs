//! Batches of jobs on a headless GPU.

use std::collections::HashMap;
use std::sync::Arc;

use super::frames::Job;
use sinew::gpu::{
    AdapterChoice, Crowd, Deformed, GpuDevice, GpuError, ReadTicket, SkinId, Skinner,
    SkinnerOptions,
};

/// Skins kept uploaded between batches. Prims whose rest points are animated bring a new skin at
/// every time; beyond this many the crowd starts anew.
const MAX_SKINS: usize = 256;

/// A device of its own, and a crowd that keeps rest data from batch to batch.
pub(super) struct GpuBatch {
    gpu: GpuDevice,
    skinner: Skinner,
    crowd: Crowd,
    /// Counts crowds.
    number: usize,
    /// The crowd before this one: its last results may be on their way yet.
    before: Option<Crowd>,
    /// Uploaded skins by address; the crowd keeps each one's `Arc`, so none is reused.
    skins: HashMap<usize, SkinId>,
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
    pub fn new(choice: &AdapterChoice) -> Result<Self, GpuError> {
        let gpu = GpuDevice::new(choice)?;
        let skinner = Skinner::new(gpu.device(), gpu.queue(), &SkinnerOptions::default())?;
        let crowd = skinner.crowd();
        Ok(Self {
            gpu,
            skinner,
            crowd,
            number: 0,
            before: None,
            skins: HashMap::new(),
        })
    }

    pub fn adapter_name(&self) -> &str {
        &self.gpu.report().name
    }

    /// Submits every job in one frame, and the reading of its results. Others may be begun before these are finished.
    pub fn begin(&mut self, jobs: &[Job]) -> Result<GpuReading, GpuError> {
        if self.skins.len() > MAX_SKINS {
            self.before = Some(std::mem::replace(&mut self.crowd, self.skinner.crowd()));
            self.number += 1;
            self.skins.clear();
        }
        self.crowd.clear_instances();
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
            self.crowd.set_pose(instance, &job.pose)?;
        }
        let instances = self.crowd.instances();
        let results = match self.crowd.submit_and_read(&instances) {
            Ok(ticket) => Results::OnTheirWay(ticket),
            // More than one buffer holds.
            Err(GpuError::Limit { .. }) => Results::Here(self.crowd.read(&instances)?),
            Err(e) => return Err(e),
        };
        Ok(GpuReading {
            crowd: self.number,
            results,
        })
    }

    /// Waits for what was begun: its results, in order.
    pub fn finish(&mut self, reading: GpuReading) -> Result<Vec<Deformed>, GpuError> {
        let results = match reading.results {
            Results::Here(results) => results,
            Results::OnTheirWay(ticket) => match &mut self.before {
                Some(before) if reading.crowd != self.number => before.wait(&ticket)?,
                _ => self.crowd.wait(&ticket)?,
            },
        };
        self.gpu.check()?;
        Ok(results)
    }
}

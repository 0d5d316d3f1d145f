//! Batches of jobs on a headless GPU.

use std::collections::HashMap;
use std::sync::Arc;

use crate::gpu::{
    AdapterChoice, Crowd, Deformed, GpuDevice, GpuError, SkinId, Skinner, SkinnerOptions,
};
use crate::kernel::{PackedPose, PackedSkin};

/// Skins kept uploaded between batches. Prims whose rest points are animated bring a new skin at
/// every time; beyond this many the crowd starts anew.
const MAX_SKINS: usize = 256;

/// A device of its own, and a crowd that keeps rest data from batch to batch.
pub(super) struct GpuBatch {
    gpu: GpuDevice,
    skinner: Skinner,
    crowd: Crowd,
    /// Uploaded skins by address; the crowd keeps each one's `Arc`, so none is reused.
    skins: HashMap<usize, SkinId>,
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
            skins: HashMap::new(),
        })
    }

    pub fn adapter_name(&self) -> &str {
        &self.gpu.report().name
    }

    /// Deforms every job in one frame and reads the results, in order.
    pub fn deform(
        &mut self,
        jobs: &[(Arc<PackedSkin>, &PackedPose)],
    ) -> Result<Vec<Deformed>, GpuError> {
        if self.skins.len() > MAX_SKINS {
            self.crowd = self.skinner.crowd();
            self.skins.clear();
        }
        self.crowd.clear_instances();
        for (skin, pose) in jobs {
            let address = Arc::as_ptr(skin) as usize;
            let id = match self.skins.get(&address) {
                Some(id) => *id,
                None => {
                    let id = self.crowd.add_skin(skin.clone())?;
                    self.skins.insert(address, id);
                    id
                }
            };
            let instance = self.crowd.add_instance(id)?;
            self.crowd.set_pose(instance, pose)?;
        }
        let results = self.crowd.run()?;
        self.gpu.check()?;
        Ok(results)
    }
}

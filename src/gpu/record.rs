//! Recording a crowd's frame: its uploads, its passes.

use super::error::{alive, guarded};
use super::frame::{self, Frame};
use super::outputs::OutPage;
use super::retained::{Retained, Stamp};
use super::staging::Upload;
use super::{Crowd, GpuError};

impl Crowd {
    /// Records one frame of all instances that are not hidden: uploads, sub-shape weights, skinning. Submits nothing
    /// and waits for nothing; a later `encode` into the same submit sees its own poses.
    ///
    /// The plan of a frame is kept: until instances are added, removed, hidden, shown or sent elsewhere, bounds are switched,
    /// or poses share their palettes otherwise than before, a frame uploads what has changed since the last one
    /// ([`Crowd::last_upload_bytes`]) and allocates nothing of its own. So submit frames in the order in which they
    /// were encoded. An encoder that is dropped instead is noticed by the next `encode`, which uploads everything.
    ///
    /// # Errors
    /// An instance without a pose, poses beyond a limit, no memory, or a lost device.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        alive(&self.skinner.device)?;
        let result = self.encode_frame(encoder);
        if result.is_err() {
            // Nobody knows how much of it was recorded.
            self.retained = None;
        }
        result
    }

    /// Bytes that the last encoded frame uploads: changed palettes and ways out of skeleton space, changed channel
    /// weights, and item tables where these changed. 0 where nothing did. Small gaps between what changed are
    /// uploaded with it.
    #[must_use]
    pub fn last_upload_bytes(&self) -> u64 {
        self.uploaded
    }

    fn encode_frame(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let not_submitted = self.staging.take_dropped();
        if !self.is_current() {
            // Its room serves the next plan.
            self.retained = None;
            let frame = self.plan()?;
            self.retained = Some(self.prepare(frame)?);
            self.stale = false;
        } else if let Some(retained) = self.retained.as_mut().filter(|_| not_submitted) {
            retained.mark_all();
        }
        self.update_flags();
        self.upload(encoder)?;
        for page in &self.out_pages {
            page.bring(&self.skinner, encoder)?;
        }

        let skinner = &self.skinner;
        let launches = self.retained.iter().flat_map(|retained| &retained.launches);
        let labels = [
            "sinew.weights",
            "sinew.skin",
            "sinew.made_normals",
            "sinew.bounds",
        ];
        for (kernel, label) in labels.into_iter().enumerate() {
            let mut mine = launches.clone().filter(|l| l.kernel == kernel).peekable();
            let has_work = mine.peek().is_some();
            if let Some(timing) = &mut self.timing {
                timing.wrote[kernel] = has_work;
            }
            if !has_work {
                continue;
            }
            if let Some(bounds) = self.bounds.as_ref().filter(|_| kernel == 3) {
                bounds.clear_keys(skinner, encoder)?;
            }
            guarded(&skinner.device, || {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(label),
                    timestamp_writes: self.timing.as_ref().map(|t| t.around(kernel as u32)),
                });
                for launch in mine {
                    pass.set_pipeline(&launch.pipeline);
                    pass.set_bind_group(0, &launch.binds, &[]);
                    pass.dispatch_workgroups(launch.size.0, launch.size.1, 1);
                }
            })?;
        }
        if let Some(timing) = &self.timing {
            guarded(&skinner.device, || timing.resolve(encoder))?;
        }
        self.frames += 1;
        if let Some(bounds) = &mut self.bounds {
            bounds.read_back(skinner, encoder, self.slots, self.frames)?;
        }
        self.set_written();
        self.out_pages.iter_mut().for_each(OutPage::set_encoded);
        Ok(())
    }

    pub(super) fn plan(&self) -> Result<Frame, GpuError> {
        let limits = &self.skinner.limits;
        let with_bounds = self.bounds.is_some();
        frame::plan(
            limits,
            &self.skins,
            with_bounds,
            self.in_order(),
            self.slots,
        )
    }

    /// What bind groups depend on that others replace.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp {
            outputs: self.outputs_generation(),
            skins: self.skin_pages.iter().map(|page| page.replaced()).sum(),
        }
    }

    /// The plan that was kept, where the next frame may go by it.
    pub(super) fn current(&self) -> Option<&Retained> {
        let retained = self.retained.as_ref().filter(|_| !self.stale)?;
        (retained.stamp == self.stamp() && retained.frame.poses.is_whole()).then_some(retained)
    }

    fn is_current(&self) -> bool {
        self.current().is_some()
    }

    /// Tells items whether a frame before left positions.
    fn update_flags(&mut self) {
        if let Some(retained) = self.retained.as_mut().filter(|_| self.unsettled > 0) {
            let instances = &self.instances;
            retained.set_fresh(|id| instances.get(id).is_some_and(|instance| instance.fresh));
        }
    }

    /// Notes what the frame left.
    fn set_written(&mut self) {
        if self.unsettled > 0 {
            self.unsettled -= 1;
            for (_, instance) in &mut self.instances {
                instance.written |= !instance.hidden;
                // A hidden one's positions are of a frame longer ago.
                instance.fresh = instance.hidden;
            }
        }
    }

    fn upload(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let (Some(tables), Some(retained)) = (&self.tables, &mut self.retained) else {
            return Ok(());
        };
        retained.join();
        let to_tables = retained.table_changes().map(|(offset, bytes)| Upload {
            to: &tables.buffer,
            offset,
            bytes,
        });
        let pages = self.pose_pages.iter().zip(&retained.frame.poses.pages);
        let to_pages = pages.flat_map(|(buffers, page)| {
            let upload = |to| move |(offset, bytes)| Upload { to, offset, bytes };
            let palettes = page.changes().map(upload(&buffers.palettes.buffer));
            let channels = page.channel_changes();
            palettes.chain(channels.map(upload(&buffers.channels.buffer)))
        });
        let uploads = to_tables.chain(to_pages);
        self.uploaded = self.staging.record(&self.skinner, encoder, uploads)?;
        retained.set_uploaded();
        Ok(())
    }
}

//! Recording a crowd's frame: its uploads, its passes.

use super::error::{alive, guarded};
use super::frame::{self, Frame};
use super::outputs::OutPage;
use super::retained::{Retained, Stamp};
use super::staging::Upload;
use super::timing::POSE_PASS;
use super::{Crowd, GpuError};

impl Crowd {
    /// Records one frame of all instances that are not hidden: uploads, sub-shape weights, skinning. Submits nothing
    /// and waits for nothing; a later `encode` into the same submit sees its own poses.
    ///
    /// The plan of a frame is kept: until instances are added, removed, hidden, shown or sent elsewhere, bounds are switched,
    /// or poses share their palettes otherwise than before, a frame uploads what has changed since the last one
    /// ([`Crowd::last_upload_bytes`]) and allocates nothing of its own. So submit frames in the order in which they
    /// were encoded. An encoder that is dropped instead is noticed by the next `encode`, which uploads everything
    /// and takes previous positions for the same as the new ones.
    ///
    /// Instances with blend shapes walk lists of those entries alone whose channels have a weight. A list is made and uploaded (a word per
    /// point and per entry) when another channel gets a weight, shared by instances of the skin, and kept while its
    /// channels' weights move. Poses that give a weight to more than about half of all entries, and lists that find no room beside their
    /// skin in a binding, walk all entries; results are the same to the bit. A frame makes lists of about a million words at most, or one, and leaves others
    /// to the next.
    ///
    /// # Errors
    /// An instance without a pose, poses beyond a limit, no memory, or a lost device.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        alive(&self.skinner.device)?;
        let result = self.encode_frame(encoder);
        if result.is_err() {
            // Nobody knows how much of it was recorded.
            self.retained = None;
            self.lists.lose();
        }
        result
    }

    /// Bytes that the last encoded frame uploads: changed palettes and ways out of skeleton space, changed channel
    /// weights, local transforms of rigs, lists of blend entries where other channels have a weight, and item tables where these
    /// changed. 0 where nothing did. Small gaps between what changed are uploaded with it.
    #[must_use]
    pub fn last_upload_bytes(&self) -> u64 {
        self.uploaded
    }

    fn encode_frame(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let not_submitted = self.staging.take_dropped();
        if not_submitted {
            self.lists.lose();
            self.forget_previous();
        }
        if !self.is_current() {
            self.plan_anew()?;
        } else if let Some(retained) = self.retained.as_mut().filter(|_| not_submitted) {
            retained.mark_all();
        }
        self.choose_lists();
        if !self.is_current() {
            // A list made its page grow.
            self.plan_anew()?;
        }
        self.update_flags();
        self.update_lists();
        self.upload(encoder)?;
        for page in &self.out_pages {
            page.bring(&self.skinner, encoder)?;
        }

        let skinner = &self.skinner;
        let launches = self.retained.iter().flat_map(|retained| &retained.launches);
        let passes = [
            (POSE_PASS, "sinew.pose"),
            (0, "sinew.weights"),
            (1, "sinew.skin"),
            (2, "sinew.made_normals"),
            (3, "sinew.bounds"),
        ];
        for (kernel, label) in passes {
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
            &self.poses,
            &self.rigs,
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

    fn plan_anew(&mut self) -> Result<(), GpuError> {
        // Its room serves the next plan.
        self.retained = None;
        let frame = self.plan()?;
        self.retained = Some(self.prepare(frame)?);
        self.stale = false;
        Ok(())
    }

    fn choose_lists(&mut self) {
        let wanted = self.skinner.limits.active_lists;
        let Some(retained) = self.retained.as_ref().filter(|_| wanted) else {
            return;
        };
        let (pages, skins) = (&mut self.skin_pages, &mut self.skins);
        let instances = &mut self.instances;
        let frame = &retained.frame;
        self.lists
            .choose(&self.skinner, pages, skins, instances, frame, &self.poses);
        self.lists.fill(pages, skins, frame);
    }

    /// Tells items which lists they walk.
    fn update_lists(&mut self) {
        let Some(retained) = &mut self.retained else {
            return;
        };
        let (instances, skins) = (&self.instances, &self.skins);
        retained.set_lists(|blended| {
            let instance = instances.get(blended.id)?;
            let gpu = &skins.get(instance.skin)?.gpu;
            let own = gpu.lists.first_word(instance.list, blended.slice);
            own.or_else(|| Some(gpu.slices.get(blended.slice)?.item.blend_list))
        });
    }

    /// Tells items whether a frame before left positions.
    fn update_flags(&mut self) {
        if let Some(retained) = self.retained.as_mut().filter(|_| self.unsettled > 0) {
            let instances = &self.instances;
            retained.set_fresh(|id| instances.get(id).is_some_and(|instance| instance.fresh));
        }
    }

    /// Takes all positions for ones that no frame left, since it may be the frame that left them that was dropped.
    fn forget_previous(&mut self) {
        self.unsettled = 2;
        for (_, instance) in &mut self.instances {
            instance.fresh = true;
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
            let joints = page.rigs.changes().map(upload(&buffers.joints.buffer));
            palettes
                .chain(channels.map(upload(&buffers.channels.buffer)))
                .chain(joints)
        });
        let to_lists = self.lists.uploads(&self.skin_pages);
        let uploads = to_tables.chain(to_pages).chain(to_lists);
        self.uploaded = self.staging.record(&self.skinner, encoder, uploads)?;
        retained.set_uploaded();
        self.lists.set_uploaded();
        Ok(())
    }
}

//! Many instances of many skins, in as few dispatches as the device allows.

use std::sync::Arc;

use slotmap::{Key, SlotMap};

use super::arena::Arena;
use super::blend_lists::BlendLists;
use super::bounds::Bounds;
use super::error::guarded;
use super::frame::{HeldSkin, Instance};
use super::groups::cut;
use super::growing::Growing;
use super::out_sets::OutSets;
use super::outputs::OutPage;
use super::posing::{Posed, Scratch};
use super::readback::Reads;
use super::retained::Retained;
use super::rigs::{RigId, Rigs};
use super::skinner::Skinner;
use super::staging::Staging;
use super::timing::Timing;
use super::{Deformed, GpuError, GpuTimes, OutputTarget};
use crate::kernel::{PackedPose, WORKGROUP_SIZE};

slotmap::new_key_type! {
    /// A skin of a [`Crowd`]. Not an id any more once the skin is removed, whatever is added later. Ids do
    /// not know their crowd: most that are foreign to another are refused there, and some are taken for one of its own.
    pub struct SkinId;

    /// An instance of a [`Crowd`], as [`SkinId`].
    pub struct InstanceId;
}

impl InstanceId {
    /// A small number, which no two instances that are there at a time share: below
    /// [`Crowd::slot_count`], and used again after a removal. For tables of a host's own.
    #[must_use]
    pub fn slot(self) -> u32 {
        // slotmap has the slot in the low half and counts from 1.
        (self.data().as_ffi() as u32).saturating_sub(1)
    }
}

#[derive(Debug)]
pub(super) struct PoseBuffers {
    pub palettes: Growing,
    pub channels: Growing,
    pub sub_weights: Growing,
    /// Local transforms of rigs.
    pub joints: Growing,
    /// What one dispatch of the pose kernel leaves to the next.
    pub stored: Growing,
}

/// Skins, instances and outputs on one device. A lone mesh is a crowd of one.
///
/// Instances come and go one by one: nothing of the others is rebuilt, their ids stay and so do their
/// places and results. Where a buffer has to grow it is replaced by a larger one with the same
/// contents (see [`Crowd::outputs_generation`]).
///
/// For a bake, make as many instances of a skin as there are times in flight, and pose each at its
/// own time: one submit skins them all.
#[derive(Debug)]
pub struct Crowd {
    pub(super) skinner: Skinner,
    pub(super) skins: SlotMap<SkinId, HeldSkin>,
    pub(super) instances: SlotMap<InstanceId, Instance>,
    /// Instances as they were added; some may be removed since.
    pub(super) order: Vec<InstanceId>,
    /// See [`Crowd::slot_count`].
    pub(super) slots: u32,
    pub(super) rigs: Rigs,
    /// Poses by slot.
    pub(super) poses: Vec<Posed>,
    pub(super) scratch: Vec<Scratch>,
    pub(super) skin_pages: Vec<Arena>,
    pub(super) pose_pages: Vec<PoseBuffers>,
    pub(super) out_pages: Vec<OutPage>,
    pub(super) out_sets: OutSets,
    /// Where results go unless told otherwise.
    pub(super) own_target: Arc<OutputTarget>,
    /// Bytes of outputs that instances have.
    pub(super) output_bytes: u64,
    /// What the output pages that are gone had counted.
    pub(super) retired: u64,
    /// Item tables and dispatch records.
    pub(super) tables: Option<Growing>,
    pub(super) staging: Staging,
    pub(super) reads: Reads,
    pub(super) timing: Option<Timing>,
    pub(super) bounds: Option<Bounds>,
    /// Frames that were encoded.
    pub(super) frames: u64,
    pub(super) lists: BlendLists,
    /// The frame that was encoded last.
    pub(super) retained: Option<Retained>,
    /// What is retained does not serve the next frame.
    pub(super) stale: bool,
    /// Frames to come that change what instances and items know of the frame before.
    pub(super) unsettled: u8,
    /// Bytes that the last frame uploads.
    pub(super) uploaded: u64,
}

impl Crowd {
    pub(super) fn new(skinner: &Skinner) -> Self {
        Self {
            skinner: skinner.clone(),
            skins: SlotMap::with_key(),
            instances: SlotMap::with_key(),
            order: Vec::new(),
            slots: 0,
            rigs: Rigs::default(),
            poses: Vec::new(),
            scratch: Vec::new(),
            skin_pages: Vec::new(),
            pose_pages: Vec::new(),
            out_pages: Vec::new(),
            out_sets: OutSets::default(),
            own_target: Arc::default(),
            output_bytes: 0,
            retired: 0,
            tables: None,
            staging: Staging::new(),
            reads: Reads::new(&skinner.device),
            timing: skinner.timestamps.then(|| Timing::new(&skinner.device)),
            bounds: None,
            frames: 0,
            lists: BlendLists::default(),
            retained: None,
            stale: true,
            unsettled: 0,
            uploaded: 0,
        }
    }

    /// Every instance, in the order they were added.
    #[must_use]
    pub fn instances(&self) -> Vec<InstanceId> {
        self.in_order().map(|(id, _)| id).collect()
    }

    /// Number of instances, hidden ones included.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.instances.len()
    }

    /// One more than the largest [`InstanceId::slot`] that there has been.
    #[must_use]
    pub fn slot_count(&self) -> u32 {
        self.slots
    }

    pub(super) fn in_order(&self) -> impl Iterator<Item = (InstanceId, &Instance)> + Clone + '_ {
        let found = |id: &InstanceId| self.instances.get(*id).map(|instance| (*id, instance));
        self.order.iter().filter_map(found)
    }

    /// Hides an instance, or shows it again. A hidden one keeps its place, its pose and the results
    /// of the last frame that it was part of, and takes no work; it needs no pose.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn set_hidden(&mut self, instance: InstanceId, hidden: bool) -> Result<(), GpuError> {
        let instance = self.instances.get_mut(instance).ok_or_else(foreign)?;
        self.stale |= instance.hidden != hidden;
        instance.hidden = hidden;
        Ok(())
    }

    /// Whether an instance is hidden.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn is_hidden(&self, instance: InstanceId) -> Result<bool, GpuError> {
        Ok(self.instances.get(instance).ok_or_else(foreign)?.hidden)
    }

    /// A number that grows whenever adding instances replaced an output buffer. While it stays the same,
    /// the buffers and offsets of every instance are the same too, and bind groups over them stay
    /// right.
    #[must_use]
    pub fn outputs_generation(&self) -> u64 {
        self.retired + self.out_pages.iter().map(OutPage::replaced).sum::<u64>()
    }

    /// Bytes of all buffers that this crowd holds on the device, used or not; staging is not among them.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        let skins = self.skin_pages.iter().map(|page| page.buffer().size());
        let outputs = self.out_pages.iter().map(OutPage::buffer_bytes);
        let poses = self.pose_pages.iter().map(|page| {
            page.palettes.buffer.size()
                + page.channels.buffer.size()
                + page.sub_weights.buffer.size()
                + page.joints.buffer.size()
                + page.stored.buffer.size()
        });
        let bounds = self.bounds.iter().flat_map(|b| [&b.keys, &b.boxes]);
        let others = self
            .tables
            .iter()
            .chain(bounds)
            .map(|held| held.buffer.size());
        skins.chain(outputs).chain(poses).chain(others).sum()
    }

    /// Sets an instance's pose for the frames to come. Poses that share a palette's `Arc` share its
    /// upload, as found when a frame is planned ([`Crowd::encode`]): while instances that share one go on to share others,
    /// the plan stays.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or a pose that does not fit the skin: other numbers of joints or
    /// channels, another method.
    pub fn set_pose(&mut self, instance: InstanceId, pose: &PackedPose) -> Result<(), GpuError> {
        let skin = self.instances.get(instance).ok_or_else(foreign)?.skin;
        let skin = &self.skins.get(skin).ok_or_else(foreign_skin)?.packed;
        pose.fits(skin)
            .map_err(|reason| GpuError::Mismatch(format!("{}: {reason}", skin.prim())))?;
        self.set_packed(instance, pose, None)
    }

    /// Sets a pose that fits.
    pub(super) fn set_packed(
        &mut self,
        instance: InstanceId,
        pose: &PackedPose,
        rig: Option<RigId>,
    ) -> Result<(), GpuError> {
        self.instances.get(instance).ok_or_else(foreign)?;
        self.stale |= self.rigs.bind(instance.slot(), rig);
        let posed = &mut self.poses[instance.slot() as usize];
        posed.set(pose);
        posed.lay(&mut self.retained, &mut self.stale);
        Ok(())
    }

    /// Encodes a frame and submits it, without waiting.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn submit(&mut self) -> Result<(), GpuError> {
        let device = self.skinner.device.clone();
        let mut encoder = guarded(&device, || {
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("sinew"),
            })
        })?;
        self.encode(&mut encoder)?;
        guarded(&device, || self.skinner.queue.submit([encoder.finish()])).map(|_| ())
    }

    /// Encodes and submits a frame, waits and reads every instance that is not hidden, in the order
    /// they were added.
    ///
    /// # Errors
    /// As [`Crowd::encode`] and [`Crowd::read`].
    pub fn run(&mut self) -> Result<Vec<Deformed>, GpuError> {
        self.submit()?;
        let shown = self.in_order().filter(|(_, instance)| !instance.hidden);
        let shown: Vec<InstanceId> = shown.map(|(id, _)| id).collect();
        self.read(&shown)
    }

    /// GPU times of the last frame, once it is submitted; waits for it. `None` without timestamps
    /// (see [`super::SkinnerOptions`]) or before the first frame.
    ///
    /// # Errors
    /// A lost device.
    pub fn last_gpu_time(&self) -> Result<Option<GpuTimes>, GpuError> {
        match &self.timing {
            Some(timing) if timing.wrote.contains(&true) => timing.read(&self.skinner).map(Some),
            _ => Ok(None),
        }
    }

    /// Dispatches that the next frame will take; tells whether a crowd is batched as hoped.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn dispatch_count(&self) -> Result<usize, GpuError> {
        if let Some(retained) = self.current() {
            return Ok(retained.launches.len());
        }
        let frame = self.plan()?;
        let most = self.skinner.limits.workgroups;
        let count = |groups: Vec<u32>| -> usize {
            let dispatches = groups
                .into_iter()
                .map(|workgroups| cut(workgroups, 0, most).len());
            dispatches.sum()
        };
        let boxes = self
            .bounds
            .as_ref()
            .map(|_| self.slots.div_ceil(WORKGROUP_SIZE));
        Ok(count(frame.pose.workgroups())
            + count(frame.weights.workgroups())
            + count(frame.skin.workgroups())
            + count(frame.plain.workgroups())
            + count(frame.made_normals.workgroups())
            + count(frame.bounds.workgroups())
            + count(boxes.into_iter().collect()))
    }
}

pub(super) fn foreign() -> GpuError {
    GpuError::Mismatch("an instance of another crowd, or one that was removed".into())
}

pub(super) fn foreign_skin() -> GpuError {
    GpuError::Mismatch("a skin of another crowd, or one that was removed".into())
}

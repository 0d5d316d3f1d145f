//! Many instances of many skins, in as few dispatches as the device allows.

use std::sync::Arc;

use slotmap::{Key, SlotMap};

use super::arena::Arena;
use super::bounds::Bounds;
use super::error::{alive, guarded};
use super::frame::{HeldSkin, Instance};
use super::groups::cut;
use super::growing::Growing;
use super::out_sets::OutSets;
use super::outputs::{self, OutBytes, OutPage, OutPlace};
use super::readback::Reads;
use super::skinner::Skinner;
use super::slices;
use super::staging::Staging;
use super::timing::Timing;
use super::{Deformed, GpuError, GpuTimes, OutputTarget};
use crate::kernel::{PackedPose, PackedSkin, WORKGROUP_SIZE};

slotmap::new_key_type! {
    /// A skin of a [`Crowd`]. Not an id any more once the skin is removed, whatever is added later. Ids of
    /// one crowd mean nothing to another.
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

/// Most instances of a crowd: item tables and slots stay far below what u32 addresses.
const MAX_INSTANCES: u64 = 1 << 24;

#[derive(Debug)]
pub(super) struct PoseBuffers {
    pub palettes: Growing,
    pub channels: Growing,
    pub sub_weights: Growing,
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
    pub(super) skin_pages: Vec<Arena>,
    pub(super) pose_pages: Vec<PoseBuffers>,
    pub(super) out_pages: Vec<OutPage>,
    pub(super) out_sets: OutSets,
    /// Where results go unless told otherwise.
    pub(super) own_target: Arc<OutputTarget>,
    /// Bytes of outputs that instances have.
    pub(super) output_bytes: u64,
    /// What the output pages that are gone had counted.
    retired: u64,
    /// Item tables and dispatch records.
    pub(super) tables: Option<Growing>,
    pub(super) staging: Staging,
    pub(super) reads: Reads,
    pub(super) timing: Option<Timing>,
    pub(super) bounds: Option<Bounds>,
    /// Frames that were encoded.
    pub(super) frames: u64,
}

impl Crowd {
    pub(super) fn new(skinner: &Skinner) -> Self {
        Self {
            skinner: skinner.clone(),
            skins: SlotMap::with_key(),
            instances: SlotMap::with_key(),
            order: Vec::new(),
            slots: 0,
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
        }
    }

    /// Uploads a skin's rest data, once for all its instances.
    ///
    /// # Errors
    /// [`GpuError::Limit`] where one point's data is larger than a binding; out of memory.
    pub fn add_skin(&mut self, skin: Arc<PackedSkin>) -> Result<SkinId, GpuError> {
        alive(&self.skinner.device)?;
        let gpu = slices::upload(&self.skinner, &mut self.skin_pages, &skin)?;
        Ok(self.skins.insert(HeldSkin {
            packed: skin,
            gpu,
            users: 0,
        }))
    }

    /// Removes a skin and makes room for others. Frames that are encoded and not yet submitted may find
    /// another skin's data in its place, so submit them first.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or while instances use the skin.
    pub fn remove_skin(&mut self, skin: SkinId) -> Result<(), GpuError> {
        let held = self.skins.get(skin).ok_or_else(foreign_skin)?;
        if held.users > 0 {
            let (prim, users) = (held.packed.prim(), held.users);
            let text = format!("{prim}: {users} instances use the skin that is to be removed");
            return Err(GpuError::Mismatch(text));
        }
        if let Some(held) = self.skins.remove(skin) {
            held.gpu.held.give_back(&mut self.skin_pages);
        }
        Ok(())
    }

    /// Adds an instance and makes room for its results. It needs a pose before the next frame.
    ///
    /// Where its output buffer has to grow, results of submitted frames are copied by a submit of its own;
    /// those of frames that are encoded and not yet submitted stay behind in the old buffer.
    ///
    /// # Errors
    /// A skin of another crowd; more outputs than [`super::SkinnerOptions::max_output_bytes`]; no memory
    /// for the results. The crowd is as it was then.
    pub fn add_instance(&mut self, skin: SkinId) -> Result<InstanceId, GpuError> {
        self.add_instance_to(skin, OutputTarget::default())
    }

    /// Adds an instance whose results go where the caller wants them; see [`Crowd::add_instance`].
    ///
    /// # Errors
    /// As [`Crowd::add_instance`]; [`GpuError::Mismatch`] for a buffer without usage `STORAGE`, one that is too
    /// small, offsets or strides that are no multiples of 4, strides that are less than an element, kinds of results
    /// that would lie upon each other, and normals or tangents in a buffer that the skin has none for;
    /// [`GpuError::Limit`] for results that spread over more of a buffer than a binding holds.
    pub fn add_instance_to(
        &mut self,
        skin: SkinId,
        target: OutputTarget,
    ) -> Result<InstanceId, GpuError> {
        let held = self.skins.get(skin).ok_or_else(foreign_skin)?;
        target.check(&held.packed)?;
        self.check_room(skin, 1, &target)?;
        let target = match target == *self.own_target {
            true => Arc::clone(&self.own_target),
            false => Arc::new(target),
        };
        self.insert(skin, target)
    }

    /// Has an instance's results go somewhere else from the next frame on, which has no frame before it.
    ///
    /// # Errors
    /// As [`Crowd::add_instance_to`]; the instance is as it was then.
    pub fn set_target(
        &mut self,
        instance: InstanceId,
        target: OutputTarget,
    ) -> Result<(), GpuError> {
        let skin = self.instances.get(instance).ok_or_else(foreign)?.skin;
        let held = self.skins.get(skin).ok_or_else(foreign_skin)?;
        target.check(&held.packed)?;
        self.check_room(skin, 1, &target)?;
        let out = self.place(skin, &target)?;
        let bytes = self.out_bytes(skin, &target)?.total();
        let now = self.instances.get_mut(instance).ok_or_else(foreign)?;
        let old = std::mem::replace(&mut now.out, out);
        let old_target = std::mem::replace(&mut now.target, Arc::new(target));
        (now.fresh, now.written) = (true, false);
        self.output_bytes += bytes;
        self.free(skin, &old_target, &old);
        Ok(())
    }

    /// Has the next frame take its positions for those of the frame before, as after a cut or a teleport.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn reset_previous(&mut self, instance: InstanceId) -> Result<(), GpuError> {
        self.instances.get_mut(instance).ok_or_else(foreign)?.fresh = true;
        Ok(())
    }

    /// Adds many instances of a skin, or none where not all are to be had; see
    /// [`Crowd::add_instance`]. Sizes are checked before anything is allocated.
    ///
    /// # Errors
    /// As [`Crowd::add_instance`]; [`GpuError::Limit`] for more instances than 16,777,216.
    pub fn add_instances(
        &mut self,
        skin: SkinId,
        count: usize,
    ) -> Result<Vec<InstanceId>, GpuError> {
        self.reserve_instances(skin, count)?;
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            match self.insert(skin, Arc::clone(&self.own_target)) {
                Ok(id) => out.push(id),
                Err(error) => {
                    for id in out {
                        self.remove_instance(id)?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(out)
    }

    /// Makes room for so many more instances of a skin, so that adding them replaces buffers once and
    /// not time and again.
    ///
    /// # Errors
    /// As [`Crowd::add_instances`]; the crowd is as it was then.
    pub fn reserve_instances(&mut self, skin: SkinId, count: usize) -> Result<(), GpuError> {
        let each = self.check_room(skin, count as u64, &self.own_target)?;
        let all = each.0.map(|bytes| (count as u64).saturating_mul(bytes));
        if let Some(page) = self.out_pages.last_mut() {
            page.reserve(&self.skinner, all)?;
        } else if count > 0 {
            let mut page = OutPage::new(&self.skinner)?;
            page.reserve(&self.skinner, all)?;
            self.out_pages.push(page);
        }
        self.order.reserve(count);
        self.instances.reserve(count);
        Ok(())
    }

    /// Whether so many more instances of a skin are within the limits; bytes of one.
    pub(super) fn check_room(
        &self,
        skin: SkinId,
        count: u64,
        target: &OutputTarget,
    ) -> Result<OutBytes, GpuError> {
        let held = self.skins.get(skin).ok_or_else(foreign_skin)?;
        let within = |what: &str, asked: Option<u64>, limit: u64| match asked {
            Some(asked) if asked <= limit => Ok(()),
            asked => Err(GpuError::Limit {
                what: format!("{}: {what}", held.packed.prim()),
                asked: asked.unwrap_or(u64::MAX),
                limit,
            }),
        };
        let instances = (self.instances.len() as u64).checked_add(count);
        within("instances of the crowd", instances, MAX_INSTANCES)?;
        let each = self.out_bytes(skin, target)?;
        let bytes = each.total().checked_mul(count);
        let bytes = bytes.and_then(|bytes| bytes.checked_add(self.output_bytes));
        let limit = self.skinner.limits.output_bytes;
        within("bytes of the crowd's outputs", bytes, limit)?;
        Ok(each)
    }

    /// Bytes of the crowd's own buffers that an instance takes.
    pub(super) fn out_bytes(
        &self,
        skin: SkinId,
        target: &OutputTarget,
    ) -> Result<OutBytes, GpuError> {
        let held = self.skins.get(skin).ok_or_else(foreign_skin)?;
        Ok(held.gpu.out_bytes(&target.kinds(&held.packed)))
    }

    /// Finds room for an instance's results.
    pub(super) fn place(
        &mut self,
        skin: SkinId,
        target: &OutputTarget,
    ) -> Result<Vec<OutPlace>, GpuError> {
        let held = self.skins.get(skin).ok_or_else(foreign_skin)?;
        outputs::place(
            &self.skinner,
            &mut self.out_pages,
            &mut self.out_sets,
            &held.gpu,
            held.packed.prim(),
            &target.kinds(&held.packed),
        )
    }

    /// Makes the room of an instance's results free again.
    fn free(&mut self, skin: SkinId, target: &OutputTarget, out: &[OutPlace]) {
        let Some(held) = self.skins.get(skin) else {
            return;
        };
        let wanted = target.kinds(&held.packed);
        self.output_bytes -= held.gpu.out_bytes(&wanted).total();
        let (pages, sets) = (&mut self.out_pages, &mut self.out_sets);
        outputs::give_back(pages, sets, &held.gpu, &wanted, out);
    }

    fn insert(&mut self, skin: SkinId, target: Arc<OutputTarget>) -> Result<InstanceId, GpuError> {
        let out = self.place(skin, &target)?;
        self.output_bytes += self.out_bytes(skin, &target)?.total();
        let held = self.skins.get_mut(skin).ok_or_else(foreign_skin)?;
        held.users += 1;
        let id = self.instances.insert(Instance {
            skin,
            pose: None,
            target,
            out,
            hidden: false,
            fresh: true,
            written: false,
            since: self.frames + 1,
        });
        self.order.push(id);
        self.slots = self.slots.max(id.slot() + 1);
        Ok(id)
    }

    /// Removes an instance; its place in the outputs serves others that are added later.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or one that was removed.
    pub fn remove_instance(&mut self, instance: InstanceId) -> Result<(), GpuError> {
        let gone = self.instances.remove(instance).ok_or_else(foreign)?;
        self.free(gone.skin, &gone.target, &gone.out);
        if let Some(held) = self.skins.get_mut(gone.skin) {
            held.users -= 1;
        }
        // Holes cost a look each, so they go once they are half of all.
        if self.order.len() > 2 * self.instances.len() {
            let instances = &self.instances;
            self.order.retain(|id| instances.contains_key(*id));
        }
        Ok(())
    }

    /// Removes all instances and keeps the skins.
    pub fn clear_instances(&mut self) {
        self.instances.clear();
        self.order.clear();
        self.output_bytes = 0;
        for (_, held) in &mut self.skins {
            held.users = 0;
        }
        // The first page is the fullest, so keep it and let the others go.
        self.retired = self.outputs_generation() + 1;
        self.out_pages.iter_mut().for_each(OutPage::clear);
        self.out_sets.clear();
        self.out_pages.truncate(1);
        self.retired -= self.out_pages.iter().map(OutPage::replaced).sum::<u64>();
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
        self.instances.get_mut(instance).ok_or_else(foreign)?.hidden = hidden;
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
    /// upload.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for an id of another crowd or a pose of another skin.
    pub fn set_pose(&mut self, instance: InstanceId, pose: &PackedPose) -> Result<(), GpuError> {
        let target = self.instances.get_mut(instance).ok_or_else(foreign)?;
        let skin = &self.skins.get(target.skin).ok_or_else(foreign_skin)?.packed;
        pose.fits(skin)
            .map_err(|reason| GpuError::Mismatch(format!("{}: {reason}", skin.prim())))?;
        target.pose = Some(pose.clone());
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
        Ok(count(frame.weights.workgroups())
            + count(frame.skin.workgroups())
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

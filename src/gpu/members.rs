//! Skins and instances of a crowd: added, placed and removed.

use std::sync::Arc;

use super::crowd::{foreign, foreign_skin};
use super::error::alive;
use super::frame::{HeldSkin, Instance};
use super::outputs::{self, OutBytes, OutPage, OutPlace};
use super::posing::Posed;
use super::slices;
use super::{Crowd, GpuError, InstanceId, OutputTarget, SkinId};
use crate::kernel::PackedSkin;

/// Most instances of a crowd: item tables and slots stay far below what u32 addresses.
const MAX_INSTANCES: u64 = 1 << 24;

impl Crowd {
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
    /// those of frames that are encoded and not yet submitted follow in the next [`Crowd::encode`].
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
        self.stale = true;
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
        self.unsettled = 2;
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
            target,
            out,
            hidden: false,
            fresh: true,
            written: false,
            since: self.frames + 1,
            list: None,
        });
        self.stale = true;
        self.order.push(id);
        self.slots = self.slots.max(id.slot() + 1);
        let slots = self.poses.len().max(id.slot() as usize + 1);
        self.poses.resize_with(slots, Posed::default);
        self.poses[id.slot() as usize] = Posed::new(id);
        Ok(id)
    }

    /// Removes an instance; its place in the outputs serves others that are added later.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or one that was removed.
    pub fn remove_instance(&mut self, instance: InstanceId) -> Result<(), GpuError> {
        let gone = self.instances.remove(instance).ok_or_else(foreign)?;
        self.poses[instance.slot() as usize] = Posed::default();
        self.stale = true;
        self.rigs.bind(instance.slot(), None);
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
        (self.retained, self.stale) = (None, true);
        self.rigs.unbind_all();
        self.instances.clear();
        self.poses.clear();
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
}

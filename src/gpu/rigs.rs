//! Skeletons that are posed on the GPU: their tables, and local transforms.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DMat4;
use slotmap::{Key, SlotMap};

use super::arena::Arena;
use super::crowd::{foreign, foreign_skin};
use super::error::alive;
use super::posing::Posed;
use super::skinner::Skinner;
use super::slices::{self, Held};
use super::{Crowd, GpuError, InstanceId};
use crate::kernel::{JointTransform, NONE, PackedPose, PackedRig};

slotmap::new_key_type! {
    /// A posed skeleton of a [`Crowd`], as [`InstanceId`] is an instance of one.
    pub struct RigId;
}

impl RigId {
    /// As [`InstanceId::slot`].
    pub(super) fn slot(self) -> u32 {
        (self.data().as_ffi() as u32).saturating_sub(1)
    }
}

/// Where the tables of a [`PackedRig`] lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct RigTables {
    pub page: usize,
    /// First words, as `PoseRigItem` has them.
    pub order: u32,
    pub parents: u32,
    pub binds: u32,
    pub normal_binds: u32,
}

/// Tables, and how many rigs go by them.
#[derive(Debug)]
struct SharedTables {
    tables: RigTables,
    held: Held,
    users: usize,
}

/// A posed skeleton.
#[derive(Clone, Debug)]
pub(super) struct HeldRig {
    pub packed: Arc<PackedRig>,
    pub tables: RigTables,
    pub joints: Vec<JointTransform>,
    /// Local transforms were set.
    pub is_posed: bool,
    /// Instances that it moves.
    pub users: usize,
}

/// The rigs of a crowd.
#[derive(Debug, Default)]
pub(super) struct Rigs {
    pub all: SlotMap<RigId, HeldRig>,
    /// By address of what they are tables of, which a rig holds.
    tables: HashMap<usize, SharedTables>,
    /// The rig of each instance, by slot.
    of_slot: Vec<Option<RigId>>,
    scratch: PackedPose,
}

impl Rigs {
    /// The rig that moves the instance in a slot.
    pub fn of(&self, slot: u32) -> Option<(RigId, &HeldRig)> {
        let id = (*self.of_slot.get(slot as usize)?)?;
        Some((id, self.all.get(id)?))
    }

    /// Has a rig move the instance in a slot, or none; whether that is new.
    pub fn bind(&mut self, slot: u32, rig: Option<RigId>) -> bool {
        if self.of_slot.get(slot as usize).copied().flatten() == rig {
            return false;
        }
        let slots = self.of_slot.len().max(slot as usize + 1);
        self.of_slot.resize(slots, None);
        let old = std::mem::replace(&mut self.of_slot[slot as usize], rig);
        if let Some(old) = old.and_then(|old| self.all.get_mut(old)) {
            old.users -= 1;
        }
        if let Some(new) = rig.and_then(|new| self.all.get_mut(new)) {
            new.users += 1;
        }
        true
    }

    /// No rig moves the instance in a slot any more, where it has a pose of its own by now; whether that is new.
    pub fn release(&mut self, posed: &Posed) -> bool {
        let is_own = posed.pose.as_ref().is_some_and(|p| !p.is_posed_on_gpu());
        is_own && self.bind(posed.id.slot(), None)
    }

    /// No instance is left.
    pub fn unbind_all(&mut self) {
        self.of_slot.clear();
        self.all.values_mut().for_each(|rig| rig.users = 0);
    }

    fn tables(
        &mut self,
        skinner: &Skinner,
        pages: &mut Vec<Arena>,
        packed: &Arc<PackedRig>,
    ) -> Result<RigTables, GpuError> {
        let address = Arc::as_ptr(packed) as usize;
        if let Some(shared) = self.tables.get_mut(&address) {
            shared.users += 1;
            return Ok(shared.tables);
        }
        let (tables, held) = upload(skinner, pages, packed)?;
        let shared = SharedTables {
            tables,
            held,
            users: 1,
        };
        self.tables.insert(address, shared);
        Ok(tables)
    }

    /// Everything again in other pages.
    pub fn rebuild(&self, skinner: &Skinner, pages: &mut Vec<Arena>) -> Result<Self, GpuError> {
        let mut out = Self {
            all: self.all.clone(),
            of_slot: self.of_slot.clone(),
            ..Self::default()
        };
        let mut all = std::mem::take(&mut out.all);
        for rig in all.values_mut() {
            rig.tables = out.tables(skinner, pages, &rig.packed)?;
        }
        out.all = all;
        Ok(out)
    }
}

/// Appends the tables to a page.
fn upload(
    skinner: &Skinner,
    pages: &mut Vec<Arena>,
    rig: &PackedRig,
) -> Result<(RigTables, Held), GpuError> {
    let binds = bytemuck::cast_slice::<_, u32>(rig.binds());
    let normal_binds = rig.normal_binds().map(bytemuck::cast_slice::<_, u32>);
    let parts = [
        rig.order(),
        rig.parents(),
        binds,
        normal_binds.unwrap_or_default(),
    ];
    let words = parts.iter().map(|part| part.len() as u64).sum::<u64>();
    if words * 4 > skinner.limits.binding_bytes {
        return Err(GpuError::Limit {
            what: format!("{}: bytes of a rig's tables", rig.path()),
            asked: words * 4,
            limit: skinner.limits.binding_bytes,
        });
    }
    let (page, first, held) = slices::append_words(skinner, pages, &parts)?;
    let mut at = first;
    let firsts = parts.map(|part| {
        at += part.len() as u32;
        at - part.len() as u32
    });
    let tables = RigTables {
        page,
        order: firsts[0],
        parents: firsts[1],
        binds: firsts[2],
        normal_binds: normal_binds.map_or(NONE, |_| firsts[3]),
    };
    Ok((tables, held))
}

impl Crowd {
    /// Adds a skeleton that the GPU poses: [`Crowd::set_joints`] gives it local transforms, and [`Crowd::set_rig_pose`] has
    /// instances move with it. Rigs of the same `Arc` share their tables.
    ///
    /// All rigs of a crowd are posed by one dispatch for every four levels of the deepest hierarchy, or a few where pages are full. What
    /// f32 costs is said at [`crate::kernel::POSE_RIG`]: about a step of f32 per level.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use sinew::kernel::{JointTransform, PackedRig};
    /// # fn frame(crowd: &mut sinew::gpu::Crowd, body: sinew::gpu::InstanceId, skeleton: &sinew::skel::Skeleton)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// # let geom_bind = glam::DMat4::IDENTITY;
    /// # let world_from_skel = glam::DMat4::IDENTITY;
    /// let rig = crowd.add_rig(Arc::new(PackedRig::pack(skeleton, geom_bind, true)?))?;
    /// // Every frame:
    /// let joints = vec![JointTransform::IDENTITY; skeleton.joints().len()];
    /// crowd.set_joints(rig, &joints)?;
    /// crowd.set_rig_pose(body, rig, &world_from_skel, &[])?;
    /// crowd.submit()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Limit`] for tables that no binding holds; out of memory.
    pub fn add_rig(&mut self, rig: Arc<PackedRig>) -> Result<RigId, GpuError> {
        alive(&self.skinner.device)?;
        let tables = self
            .rigs
            .tables(&self.skinner, &mut self.skin_pages, &rig)?;
        let held = HeldRig {
            joints: vec![JointTransform::IDENTITY; rig.joint_count()],
            packed: rig,
            tables,
            is_posed: false,
            users: 0,
        };
        Ok(self.rigs.all.insert(held))
    }

    /// Removes a rig; as [`Crowd::remove_skin`].
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or while it moves instances.
    pub fn remove_rig(&mut self, rig: RigId) -> Result<(), GpuError> {
        let held = self.rigs.all.get(rig).ok_or_else(foreign_rig)?;
        if held.users > 0 {
            let (path, users) = (held.packed.path(), held.users);
            let text = format!("{path}: {users} instances move with the rig that is to be removed");
            return Err(GpuError::Mismatch(text));
        }
        let address = Arc::as_ptr(&held.packed) as usize;
        self.rigs.all.remove(rig);
        if let Some(shared) = self.rigs.tables.get_mut(&address) {
            shared.users -= 1;
            if shared.users == 0
                && let Some(shared) = self.rigs.tables.remove(&address)
            {
                shared.held.give_back(&mut self.skin_pages);
            }
        }
        Ok(())
    }

    /// Poses a rig for the frames to come: each joint's transform in its parent's space, in the order of the skeleton. They
    /// are copied into buffers that are there, and uploaded as they are, 40 bytes a joint.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, another number than the rig has joints, or transforms that are not finite.
    pub fn set_joints(&mut self, rig: RigId, joints: &[JointTransform]) -> Result<(), GpuError> {
        let held = self.rigs.all.get_mut(rig).ok_or_else(foreign_rig)?;
        let checked = held.packed.check(joints);
        checked.map_err(|wrong| GpuError::Mismatch(wrong.to_string()))?;
        held.joints.copy_from_slice(joints);
        held.is_posed = true;
        if let Some(retained) = self.retained.as_mut().filter(|_| !self.stale) {
            retained.frame.poses.update_joints(rig.slot(), joints);
        }
        Ok(())
    }

    /// Has an instance move with a rig from the next frame on, until [`Crowd::set_pose`], [`Crowd::update_pose`] or
    /// [`Crowd::update_poses`] gives it a pose of its own.
    /// Instances of several skins may move with one rig, such as a character's body and its clothes.
    ///
    /// - `out_from_skel`: from skeleton space to where the result is wanted.
    /// - `channel_weights`: one for each of the skin's blend shape slots.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id; a skin that is not skinned, by dual quaternions, or for other numbers of
    /// joints or channels; normals where the rig was packed without; numbers that are not finite.
    pub fn set_rig_pose(
        &mut self,
        instance: InstanceId,
        rig: RigId,
        out_from_skel: &DMat4,
        channel_weights: &[f32],
    ) -> Result<(), GpuError> {
        let skin = self.instances.get(instance).ok_or_else(foreign)?.skin;
        let skin = &self.skins.get(skin).ok_or_else(foreign_skin)?.packed;
        let Rigs { all, scratch, .. } = &mut self.rigs;
        let packed = &all.get(rig).ok_or_else(foreign_rig)?.packed;
        scratch
            .set_posed_on_gpu(skin, packed, out_from_skel, channel_weights)
            .map_err(|wrong| GpuError::Mismatch(wrong.to_string()))?;
        let pose = std::mem::take(scratch);
        let result = self.set_packed(instance, &pose, Some(rig));
        self.rigs.scratch = pose;
        result
    }
}

fn foreign_rig() -> GpuError {
    GpuError::Mismatch("a rig of another crowd, or one that was removed".into())
}

//! Poses of a crowd, packed where they are kept: nothing is allocated from frame to frame.

use std::fmt::Display;
use std::sync::Arc;

use glam::DMat4;
use rayon::prelude::*;
use slotmap::SlotMap;

use super::crowd::{foreign, foreign_skin};
use super::frame::{HeldSkin, Instance};
use super::retained::Retained;
use super::{Crowd, GpuError, InstanceId, SkinId};
use crate::kernel::{PackedPose, PackedSkin, Palette};
use crate::skel::Pose;

/// The pose of the instance in a slot.
#[derive(Clone, Debug, Default)]
pub(super) struct Posed {
    /// Null where there is no instance.
    pub id: InstanceId,
    pub pose: Option<PackedPose>,
    /// What it had before, where it was packed anew and is not laid into its page yet.
    packed: Option<Before>,
}

/// What a pose was before it changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Address of its palette.
    pub palette: Option<usize>,
    /// It is at that address still, with other values.
    pub is_rewritten: bool,
}

/// What tells palettes apart while something holds them.
pub(super) fn address(palette: &Arc<Palette>) -> usize {
    Arc::as_ptr(palette) as usize
}

impl Posed {
    pub fn new(id: InstanceId) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }

    /// Address of the palette.
    fn palette(&self) -> Option<usize> {
        self.pose.as_ref()?.palette().map(address)
    }

    /// Packs a pose into the buffers of the one that is there.
    fn pack(&mut self, skin: &PackedSkin, pose: &Pose) -> Result<(), GpuError> {
        let palette = self.palette();
        let packed = match &mut self.pose {
            Some(there) => there.update(skin, pose),
            none => PackedPose::try_pack(skin, pose).map(|pose| *none = Some(pose)),
        };
        packed.map_err(|error| GpuError::Mismatch(error.to_string()))?;
        let is_rewritten = palette.is_some() && palette == self.palette();
        self.packed = Some(Before {
            palette,
            is_rewritten,
        });
        Ok(())
    }

    /// Writes the pose into its page, where it changed; `stale` is set where that needs another plan.
    pub fn lay(&mut self, retained: &mut Option<Retained>, stale: &mut bool) {
        let (Some(before), Some(pose)) = (self.packed.take(), &self.pose) else {
            return;
        };
        if let Some(retained) = retained.as_mut().filter(|_| !*stale) {
            *stale = !retained.frame.poses.update(self.id.slot(), before, pose);
        }
    }

    /// Takes a pose that is packed.
    pub fn set(&mut self, pose: &PackedPose) {
        let palette = self.palette();
        match &mut self.pose {
            Some(there) => there.clone_from(pose),
            none => *none = Some(pose.clone()),
        }
        self.packed = Some(Before {
            palette,
            is_rewritten: false,
        });
    }
}

/// Poses of one thread that are packed before all are laid into the pages: few enough for its cache.
const BLOCK: usize = 256;

/// Poses that are not worth waking threads for.
const FEW: usize = 32;

/// What one thread poses with.
#[derive(Debug)]
pub(super) struct Scratch {
    pose: Pose,
    /// Slot, and what was wrong with it.
    error: Option<(InstanceId, String)>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            pose: Pose::of_shapes(Vec::new()),
            error: None,
        }
    }
}

impl Scratch {
    /// Asks for a pose and packs it.
    fn pose_one<E: Display>(
        &mut self,
        instances: &SlotMap<InstanceId, Instance>,
        skins: &SlotMap<SkinId, HeldSkin>,
        posed: &mut Posed,
        pose: &impl Fn(InstanceId, &mut Pose) -> Result<bool, E>,
    ) {
        let instance = instances.get(posed.id).filter(|instance| !instance.hidden);
        let Some(held) = instance.and_then(|instance| skins.get(instance.skin)) else {
            return;
        };
        self.clear();
        let packed = match pose(posed.id, &mut self.pose) {
            Ok(true) => self.pack(&held.packed, posed).map_err(|e| e.to_string()),
            Ok(false) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(text) = packed {
            self.error.get_or_insert((posed.id, text));
        }
    }

    /// Packs the pose, of which joints that nobody gave are no part: the buffer for them is one of an instance before.
    fn pack(&mut self, skin: &PackedSkin, posed: &mut Posed) -> Result<(), GpuError> {
        let skinning = &mut self.pose.skinning;
        let is_given = skinning.as_ref().is_some_and(|s| !s.is_empty());
        // A skeleton may have no joints at all.
        let unused = match is_given || skin.palette_slots() == 1 {
            true => None,
            false => skinning.take(),
        };
        let packed = posed.pack(skin, &self.pose);
        if unused.is_some() {
            self.pose.skinning = unused;
        }
        packed
    }

    fn clear(&mut self) {
        let pose = &mut self.pose;
        (pose.geom_bind, pose.out_from_skel) = (DMat4::IDENTITY, DMat4::IDENTITY);
        pose.channel_weights.clear();
        // The buffer stays, unless a host has put one of its own there.
        match pose.skinning.as_mut().and_then(Arc::get_mut) {
            Some(skinning) if skinning.capacity() > 0 => skinning.clear(),
            _ => pose.skinning = None,
        }
    }
}

impl Crowd {
    /// Packs a pose for an instance and sets it for the frames to come, as [`PackedPose::try_pack`] and
    /// [`Crowd::set_pose`], into the buffers of the pose that it had.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, a pose for another skin, and matrices or weights that are not finite; the instance
    /// has the pose that it had.
    pub fn update_pose(&mut self, instance: InstanceId, pose: &Pose) -> Result<(), GpuError> {
        let skin = self.instances.get(instance).ok_or_else(foreign)?.skin;
        let skin = &self.skins.get(skin).ok_or_else(foreign_skin)?.packed;
        let posed = &mut self.poses[instance.slot() as usize];
        posed.pack(skin, pose)?;
        self.stale |= self.rigs.release(posed);
        posed.lay(&mut self.retained, &mut self.stale);
        Ok(())
    }

    /// Poses all instances that are not hidden, in parallel (rayon). `pose` is called for each of them with a pose to fill: it has no
    /// joints and no channel weights yet, its matrices are identity, and its buffers are used for one instance after the
    /// other. Where `pose` returns false the instance keeps the pose that it had.
    ///
    /// After the first frames nothing is allocated, as long as `pose` allocates nothing:
    /// [`Pose::set_local`] does not, and weights can be pushed to [`Pose::channel_weights`]. On a thread that is not
    /// rayon's, its queue allocates a block now and then.
    ///
    /// ```no_run
    /// # fn frame(crowd: &mut sinew::gpu::Crowd, skeleton: &sinew::skel::Skeleton, characters: &[(Vec<glam::DMat4>, glam::DMat4)])
    /// # -> Result<(), sinew::gpu::GpuError> {
    /// crowd.update_poses(|id, pose| {
    ///     let (parent_from_joint, world_from_skel) = &characters[id.slot() as usize];
    ///     pose.out_from_skel = *world_from_skel;
    ///     pose.set_local(skeleton, parent_from_joint).map(|()| true)
    /// })
    /// # }
    /// ```
    ///
    /// Each instance has a palette of its own by this. Where several meshes share a skeleton instance and geomBindTransform, one
    /// [`crate::kernel::Palette`] for all of them by [`Crowd::set_pose`] is cheaper.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] with the first error of `pose`, by slot, or as [`Crowd::update_pose`]; that instance has the pose that it
    /// had, and others have theirs.
    pub fn update_poses<E: Display>(
        &mut self,
        pose: impl Fn(InstanceId, &mut Pose) -> Result<bool, E> + Sync,
    ) -> Result<(), GpuError> {
        let threads = match self.instances.len() {
            0..=FEW => 1,
            _ => rayon::current_num_threads(),
        };
        let shares = match threads {
            1 => 1,
            threads => 2 * threads,
        };
        let missing = shares.saturating_sub(self.scratch.len());
        self.scratch
            .extend((0..missing).map(|_| Scratch::default()));
        let (instances, skins) = (&self.instances, &self.skins);
        for block in self.poses.chunks_mut(threads * BLOCK) {
            let run = |(share, scratch): (&mut [Posed], &mut Scratch)| {
                for posed in share {
                    scratch.pose_one(instances, skins, posed, &pose);
                }
            };
            match threads {
                1 => run((&mut *block, &mut self.scratch[0])),
                _ => {
                    let each = block.len().div_ceil(shares);
                    let shares = block.par_chunks_mut(each).zip(&mut self.scratch);
                    shares.for_each(run);
                }
            }
            for posed in block {
                self.stale |= self.rigs.release(posed);
                posed.lay(&mut self.retained, &mut self.stale);
            }
        }
        let errors = self.scratch.iter_mut().filter_map(|s| s.error.take());
        match errors.min_by_key(|(id, _)| id.slot()) {
            Some((id, text)) => Err(GpuError::Mismatch(format!("slot {}: {text}", id.slot()))),
            None => Ok(()),
        }
    }
}

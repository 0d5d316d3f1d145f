//! The packed poses of a crowd's instances. Their buffers are kept, so nothing is allocated from
//! frame to frame.

use std::fmt::Display;
use std::sync::Arc;

use glam::DMat4;
use rayon::prelude::*;

use super::instances::{InstanceId, InstanceStore};
use super::palettes::{PaletteId, PaletteStore};
use super::rigs::{RigId, RigStore};
use super::skins::SkinStore;
use crate::gpu::device::error::GpuError;
use crate::kernel::{PackedPose, PackedSkin, Palette};
use crate::skel::Pose;

/// A pose for [`crate::gpu::Crowd::set_pose`], or a reference to a palette or rig.
#[derive(Clone, Copy, Debug)]
pub enum InstancePose<'a> {
    /// A packed pose. No other instance shares its palette.
    Packed(&'a PackedPose),
    /// A pose, which is packed into the buffers of the instance's last pose. No other instance
    /// shares its palette.
    Pose(&'a Pose),
    /// A packed pose over a palette that instances share. The palette of the pose itself is not
    /// used.
    Shared {
        /// From [`crate::gpu::Crowd::add_palette`].
        palette: PaletteId,
        /// The pose, for its `out_from_skel` and its channel weights.
        pose: &'a PackedPose,
    },
    /// A rig, whose palette the GPU computes from local transforms. Other instances may move with
    /// the same rig.
    Rig {
        /// From [`crate::gpu::Crowd::add_rig`].
        rig: RigId,
        /// The matrix from skeleton space to the space of the results.
        out_from_skel: &'a DMat4,
        /// One weight for each of the skin's blend shape channels.
        channel_weights: &'a [f32],
    },
}

impl<'a> From<&'a PackedPose> for InstancePose<'a> {
    fn from(pose: &'a PackedPose) -> Self {
        Self::Packed(pose)
    }
}

impl<'a> From<&'a Pose> for InstancePose<'a> {
    fn from(pose: &'a Pose) -> Self {
        Self::Pose(pose)
    }
}

/// Where the palette of an instance comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// Its own pose.
    #[default]
    Own,
    Palette(PaletteId),
    Rig(RigId),
}

/// The pose of the instance at one index.
#[derive(Clone, Debug, Default)]
pub struct Posed {
    /// Null if no instance has this index.
    id: InstanceId,
    pose: Option<PackedPose>,
    source: Source,
    /// Whether the parallel posing that is under way has packed this pose.
    is_packed: bool,
}

impl Posed {
    /// Packs a pose into the buffers of the last one.
    fn pack(&mut self, skin: &PackedSkin, pose: &Pose) -> Result<(), GpuError> {
        match &mut self.pose {
            Some(there) => there.update(skin, pose)?,
            none => *none = Some(PackedPose::pack(skin, pose)?),
        }
        Ok(())
    }

    /// Copies a packed pose.
    fn copy(&mut self, pose: &PackedPose) {
        match &mut self.pose {
            Some(there) => there.clone_from(pose),
            none => *none = Some(pose.clone()),
        }
    }
}

/// Number of poses that threads pack before all are copied to their pages: few enough for a core's
/// cache.
const BLOCK: usize = 256;

/// For up to this many poses, waking other threads does not pay.
const FEW: usize = 32;

/// Buffers that one thread packs poses with.
#[derive(Debug)]
struct Scratch {
    pose: Pose,
    /// The first error, and its instance.
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
    /// Asks the caller for a pose and packs it.
    fn pose_one<E: Display>(
        &mut self,
        instances: &InstanceStore,
        skins: &SkinStore,
        posed: &mut Posed,
        pose: &impl Fn(InstanceId, &mut Pose) -> Result<bool, E>,
    ) {
        let instance = instances.find(posed.id).filter(|i| !i.hidden);
        let Some(skin) = instance.and_then(|instance| skins.get(instance.skin).ok()) else {
            return;
        };
        self.clear();
        let packed = match pose(posed.id, &mut self.pose) {
            Ok(true) => self.pack(&skin.packed, posed).map_err(|e| e.to_string()),
            Ok(false) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(text) = packed {
            self.error.get_or_insert((posed.id, text));
        }
    }

    /// Packs the pose. If the caller set no joints, the pose has none; the empty buffer of joints is
    /// kept for the next instance.
    fn pack(&mut self, skin: &PackedSkin, posed: &mut Posed) -> Result<(), GpuError> {
        let skinning = &mut self.pose.skinning;
        let is_given = skinning.as_ref().is_some_and(|s| !s.is_empty());
        // A skeleton may have no joints.
        let unused = match is_given || skin.palette_entry_count() == 1 {
            true => None,
            false => skinning.take(),
        };
        let packed = posed.pack(skin, &self.pose);
        if unused.is_some() {
            self.pose.skinning = unused;
        }
        posed.is_packed = packed.is_ok();
        packed
    }

    fn clear(&mut self) {
        let pose = &mut self.pose;
        (pose.geom_bind, pose.out_from_skel) = (DMat4::IDENTITY, DMat4::IDENTITY);
        pose.channel_weights.clear();
        // Keeps the buffer, unless the caller replaced it with one of its own.
        match pose.skinning.as_mut().and_then(Arc::get_mut) {
            Some(skinning) if skinning.capacity() > 0 => skinning.clear(),
            _ => pose.skinning = None,
        }
    }
}

/// The poses of all instances, by instance index. They are not part of the instances, so that
/// threads can share them.
#[derive(Debug, Default)]
pub struct PoseStore {
    poses: Vec<Posed>,
    scratch: Vec<Scratch>,
}

impl PoseStore {
    /// Makes room for the pose of a new instance.
    pub fn add(&mut self, id: InstanceId) {
        let count = self.poses.len().max(id.index() as usize + 1);
        self.poses.resize_with(count, Posed::default);
        self.poses[id.index() as usize] = Posed {
            id,
            ..Posed::default()
        };
    }

    /// Removes the pose of a removed instance.
    pub fn remove(&mut self, id: InstanceId, palettes: &mut PaletteStore, rigs: &mut RigStore) {
        self.bind(id.index(), Source::Own, palettes, rigs);
        self.poses[id.index() as usize] = Posed::default();
    }

    /// Removes all poses.
    pub fn clear(&mut self, palettes: &mut PaletteStore, rigs: &mut RigStore) {
        palettes.remove_users();
        rigs.slots.remove_users();
        self.poses.clear();
    }

    /// Number of instance indices.
    pub fn len(&self) -> usize {
        self.poses.len()
    }

    /// The pose of the instance at an index, if it has one, and where its palette comes from.
    pub fn get(&self, index: u32) -> Option<(&PackedPose, Source)> {
        let posed = self.poses.get(index as usize)?;
        Some((posed.pose.as_ref()?, posed.source))
    }

    /// Sets a packed pose, after checking that it fits the skin.
    pub fn set_packed(
        &mut self,
        id: InstanceId,
        skin: &PackedSkin,
        pose: &PackedPose,
    ) -> Result<(), GpuError> {
        pose.fits(skin)?;
        self.poses[id.index() as usize].copy(pose);
        Ok(())
    }

    /// Packs a pose.
    pub fn pack(&mut self, id: InstanceId, skin: &PackedSkin, pose: &Pose) -> Result<(), GpuError> {
        self.poses[id.index() as usize].pack(skin, pose)
    }

    /// Sets a packed pose over a shared palette, after checking that they fit the skin.
    pub fn set_shared(
        &mut self,
        id: InstanceId,
        skin: &PackedSkin,
        pose: &PackedPose,
        palette: &Arc<Palette>,
    ) -> Result<(), GpuError> {
        pose.fits_with(skin, palette)?;
        let posed = &mut self.poses[id.index() as usize];
        posed.copy(pose);
        if let Some(pose) = &mut posed.pose {
            pose.replace_palette(skin, palette);
        }
        Ok(())
    }

    /// Updates the pose of an instance after its shared palette changed.
    pub fn replace_palette(&mut self, index: u32, skin: &PackedSkin, palette: &Arc<Palette>) {
        if let Some(pose) = &mut self.poses[index as usize].pose {
            pose.replace_palette(skin, palette);
        }
    }

    /// Sets a pose over the palette that the GPU computes for a rig.
    pub fn set_by_rig(
        &mut self,
        id: InstanceId,
        skin: &PackedSkin,
        rig: &crate::kernel::PackedRig,
        out_from_skel: &DMat4,
        channel_weights: &[f32],
    ) -> Result<(), GpuError> {
        let posed = &mut self.poses[id.index() as usize];
        // If the new pose is refused, the instance keeps its last pose, or none if it had none.
        let mut pose = posed.pose.take();
        let had_one = pose.is_some();
        let there = pose.get_or_insert_default();
        let set = there.set_posed_on_gpu(skin, rig, out_from_skel, channel_weights);
        posed.pose = pose.filter(|_| had_one || set.is_ok());
        Ok(set?)
    }

    /// The instance at an index.
    pub fn id(&self, index: u32) -> Option<InstanceId> {
        self.poses.get(index as usize).map(|posed| posed.id)
    }

    /// Records where the palette of an instance comes from. Returns whether that is elsewhere than
    /// before.
    pub fn bind(
        &mut self,
        index: u32,
        source: Source,
        palettes: &mut PaletteStore,
        rigs: &mut RigStore,
    ) -> bool {
        let before = &mut self.poses[index as usize].source;
        if *before == source {
            return false;
        }
        match *before {
            Source::Own => {}
            Source::Palette(id) => palettes.remove_user(id, index),
            Source::Rig(id) => rigs.slots.remove_user(id),
        }
        match source {
            Source::Own => {}
            Source::Palette(id) => palettes.add_user(id, index),
            Source::Rig(id) => rigs.slots.add_user(id),
        }
        *before = source;
        true
    }

    /// Poses all instances that are not hidden, in parallel and block by block. After each block it
    /// calls `each` for the instances with a new pose. Those have palettes of their own then, which
    /// `each` has to record with [`PoseStore::bind`].
    pub fn update<E: Display>(
        &mut self,
        instances: &InstanceStore,
        skins: &SkinStore,
        pose: impl Fn(InstanceId, &mut Pose) -> Result<bool, E> + Sync,
        mut each: impl FnMut(&mut Self, u32),
    ) -> Result<(), GpuError> {
        let threads = match instances.len() {
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
        let mut first = 0;
        while first < self.poses.len() {
            let end = (first + threads * BLOCK).min(self.poses.len());
            let block = &mut self.poses[first..end];
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
            for index in first..end {
                if std::mem::take(&mut self.poses[index].is_packed) {
                    each(self, index as u32);
                }
            }
            first = end;
        }
        let errors = self.scratch.iter_mut().filter_map(|s| s.error.take());
        match errors.min_by_key(|(id, _)| id.index()) {
            Some((id, text)) => {
                let instance = id.index();
                Err(GpuError::Posing { instance, text })
            }
            None => Ok(()),
        }
    }

    /// Copies the poses.
    pub fn again(&self) -> Self {
        Self {
            poses: self.poses.clone(),
            ..Self::default()
        }
    }
}

//! Poses of a crowd: of instances, of shared palettes and of rigs.

use std::fmt::Display;
use std::sync::Arc;

use super::Crowd;
use crate::gpu::device::error::{GpuError, alive};
use crate::gpu::pass::frame::PlannedFrame;
use crate::gpu::store::Stores;
use crate::gpu::store::instances::InstanceId;
use crate::gpu::store::palettes::PaletteId;
use crate::gpu::store::poses::{InstancePose, PoseStore, Source};
use crate::gpu::store::rigs::RigId;
use crate::kernel::{JointTransform, PackedRig, Palette, Player};
use crate::skel::Pose;

/// Brings the pose of an instance in a plan up to date. False if the instance needs other items.
fn update(frame: &mut Option<PlannedFrame>, poses: &PoseStore, id: InstanceId) -> bool {
    match (frame, poses.get(id.index())) {
        (Some(frame), Some((pose, _))) => frame.poses.update(id, pose),
        _ => true,
    }
}

impl Crowd {
    /// Sets the pose of an instance for all coming frames, until another call changes it. The pose
    /// is a [`crate::kernel::PackedPose`] or a [`Pose`], or it refers to a palette that instances
    /// share or to a rig: see [`InstancePose`].
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] if the pose does not fit
    /// the skin: another number of joints or channels, another method, or numbers that are not finite. For a rig also
    /// if the skin has no influences, or if the skin has normals and the rig was packed without.
    /// After an error the instance keeps its last pose.
    pub fn set_pose<'a>(
        &mut self,
        instance: InstanceId,
        pose: impl Into<InstancePose<'a>>,
    ) -> Result<(), GpuError> {
        let Stores {
            skins,
            instances,
            poses,
            palettes,
            rigs,
            ..
        } = &mut self.stores;
        let skin = &skins.get(instances.get(instance)?.skin)?.packed;
        let source = match pose.into() {
            InstancePose::Packed(pose) => {
                poses.set_packed(instance, skin, pose)?;
                Source::Own
            }
            InstancePose::Pose(pose) => {
                poses.pack(instance, skin, pose)?;
                Source::Own
            }
            InstancePose::Shared { palette, pose } => {
                poses.set_shared(instance, skin, pose, palettes.get(palette)?)?;
                Source::Palette(palette)
            }
            InstancePose::Rig {
                rig,
                out_from_skel,
                channel_weights,
            } => {
                let packed = &rigs.get(rig)?.packed;
                poses.set_by_rig(instance, skin, packed, out_from_skel, channel_weights)?;
                Source::Rig(rig)
            }
        };
        let is_bound_elsewhere = poses.bind(instance.index(), source, palettes, rigs);
        if !update(&mut self.frame, poses, instance) || is_bound_elsewhere {
            instances.edit(instance);
        }
        Ok(())
    }

    /// Poses all instances that are not hidden, in parallel (rayon). `pose` is called once for each
    /// of them and fills in a pose. That pose starts without joints and without channel weights,
    /// its matrices are identity, and its buffers are reused from instance to instance. If `pose`
    /// returns false, the instance keeps its last pose.
    ///
    /// After the first frames nothing is allocated, as long as `pose` allocates nothing:
    /// [`Pose::set_local`] does not, and weights can be pushed to [`Pose::channel_weights`]. If the
    /// caller's thread is not one of rayon's, rayon's queue allocates a block now and then.
    ///
    /// ```no_run
    /// # fn frame(crowd: &mut sinew::gpu::Crowd, skeleton: &sinew::skel::Skeleton, characters: &[(Vec<glam::DMat4>, glam::DMat4)])
    /// # -> Result<(), sinew::gpu::GpuError> {
    /// crowd.update_poses(|id, pose| {
    ///     let (parent_from_joint, world_from_skel) = &characters[id.index() as usize];
    ///     pose.out_from_skel = *world_from_skel;
    ///     pose.set_local(skeleton, parent_from_joint).map(|()| true)
    /// })
    /// # }
    /// ```
    ///
    /// Afterwards each of these instances has its own palette. If several meshes share a skeleton
    /// instance and geomBindTransform, one palette for all of them ([`Crowd::add_palette`]) is
    /// cheaper.
    ///
    /// # Errors
    /// [`GpuError::Posing`] with the error of the instance that has the lowest index: the error of
    /// `pose`, or as [`Crowd::set_pose`]. That instance keeps its last pose; other instances may
    /// have their new one.
    pub fn update_poses<E: Display>(
        &mut self,
        pose: impl Fn(InstanceId, &mut Pose) -> Result<bool, E> + Sync,
    ) -> Result<(), GpuError> {
        let frame = &mut self.frame;
        let mut poses = std::mem::take(&mut self.stores.poses);
        let stores = &mut self.stores;
        let (palettes, rigs) = (&mut stores.palettes, &mut stores.rigs);
        let mut edited = Vec::new();
        let updated = poses.update(&stores.instances, &stores.skins, pose, |poses, index| {
            let is_bound_elsewhere = poses.bind(index, Source::Own, palettes, rigs);
            let id = poses.id(index);
            edited.extend(id.filter(|id| !update(frame, poses, *id) || is_bound_elsewhere));
        });
        stores.poses = poses;
        let instances = &mut stores.instances;
        edited.into_iter().for_each(|id| instances.edit(id));
        updated
    }

    /// Adds a palette that instances share, such as the meshes of a character's body and its
    /// clothes. It is uploaded once for all of them. [`Crowd::set_palette`] moves its joints, and
    /// instances refer to it by [`InstancePose::Shared`].
    pub fn add_palette(&mut self, palette: Arc<Palette>) -> PaletteId {
        self.stores.palettes.add(palette)
    }

    /// Moves the joints of a palette, for all coming frames and all instances that refer to it.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] if the number of joints,
    /// the method or the presence of normals differs from the palette that was added.
    pub fn set_palette(&mut self, id: PaletteId, palette: &Arc<Palette>) -> Result<(), GpuError> {
        let Stores {
            skins,
            instances,
            poses,
            palettes,
            ..
        } = &mut self.stores;
        palettes.set(id, palette)?;
        if let Some(frame) = &mut self.frame {
            frame.poses.update_palette(id, palette);
        }
        for index in palettes.users(id) {
            let Some(instance) = poses.id(index) else {
                continue;
            };
            let skin = &skins.get(instances.get(instance)?.skin)?.packed;
            poses.replace_palette(index, skin, palette);
            if !update(&mut self.frame, poses, instance) {
                instances.edit(instance);
            }
        }
        Ok(())
    }

    /// Removes a palette.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::InUse`] while instances refer to the
    /// palette.
    pub fn remove_palette(&mut self, id: PaletteId) -> Result<(), GpuError> {
        self.stores.palettes.remove(id)
    }

    /// Adds a skeleton that the GPU poses. [`Crowd::set_joints`] sets its local transforms, and
    /// instances move with it by [`InstancePose::Rig`]. Rigs of the same `Arc` share their tables.
    ///
    /// One dispatch per four levels of the deepest hierarchy poses all rigs of a crowd, or a few
    /// dispatches if pages are full. The kernel computes in f32: the error grows by about one
    /// rounding per level (see [`crate::kernel::POSE_RIG`]).
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use sinew::gpu::InstancePose;
    /// # use sinew::kernel::{JointTransform, PackedRig};
    /// # fn frame(crowd: &mut sinew::gpu::Crowd, body: sinew::gpu::InstanceId, skeleton: &sinew::skel::Skeleton)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// # let geom_bind = glam::DMat4::IDENTITY;
    /// # let world_from_skel = glam::DMat4::IDENTITY;
    /// let rig = crowd.add_rig(Arc::new(PackedRig::pack(skeleton, geom_bind, true)?))?;
    /// // Every frame:
    /// let joints = vec![JointTransform::IDENTITY; skeleton.joints().len()];
    /// crowd.set_joints(rig, &joints)?;
    /// let (out_from_skel, channel_weights) = (&world_from_skel, &[]);
    /// crowd.set_pose(body, InstancePose::Rig { rig, out_from_skel, channel_weights })?;
    /// crowd.submit()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Limit`] if the rig's tables do not fit one binding; out of memory.
    pub fn add_rig(&mut self, rig: Arc<PackedRig>) -> Result<RigId, GpuError> {
        alive(&self.skinner.device)?;
        let pages = &mut self.stores.skin_pages;
        self.stores.rigs.add(&self.skinner, pages, rig)
    }

    /// Removes a rig, and with it what it plays. First submit the frames that are already encoded,
    /// as for [`Crowd::remove_skin`].
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::InUse`] while instances move with the
    /// rig.
    pub fn remove_rig(&mut self, rig: RigId) -> Result<(), GpuError> {
        let stores = &mut self.stores;
        stores.rigs.remove(&mut stores.skin_pages, rig)?;
        if stores.players.stop(rig, &mut stores.clips) {
            // Other rigs share its tables, so the plan goes on posing it.
            self.update_players(&[(rig, Player::idle())]);
        }
        Ok(())
    }

    /// Sets the local transforms of a rig for all coming frames: for each joint the transform from
    /// the joint's space to its parent's space, in the order of the skeleton. They are copied and
    /// uploaded as they are, 40 bytes per joint; nothing is allocated from the second call on. A
    /// rig that plays clips stops playing.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] for another number of
    /// transforms than the rig has joints, or transforms that are not finite.
    pub fn set_joints(&mut self, rig: RigId, joints: &[JointTransform]) -> Result<(), GpuError> {
        let stores = &mut self.stores;
        stores.rigs.set_joints(rig, joints)?;
        let played = stores.players.stop(rig, &mut stores.clips);
        if let Some(frame) = &mut self.frame {
            frame.poses.update_joints(rig, joints, played);
            if played {
                frame.poses.update_player(rig, &Player::idle());
            }
        }
        Ok(())
    }
}

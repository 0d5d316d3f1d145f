//! Many instances of many skins, in as few dispatches as the device allows.

use std::fmt::Display;
use std::sync::Arc;

use glam::Vec3;

use super::device::error::{GpuError, alive, guarded};
use super::device::skinner::Skinner;
use super::device::timing::{GpuTimes, Timing};
use super::memory::growable_buffer::GrowableBuffer;
use super::memory::upload::Staging;
use super::pass::frame::PlannedFrame;
use super::pass::kernels;
use super::store::Stores;
use super::store::bounds::{BoundsStore, BoundsUse, not_read_back};
use super::store::instances::InstanceId;
use super::store::outputs::OutputSlice;
use super::store::palettes::PaletteId;
use super::store::poses::{InstancePose, Source};
use super::store::readings::{Deformed, MOST_READS, ReadTicket, Readings};
use super::store::rigs::RigId;
use super::store::skins::SkinId;
use super::store::target::{NORMALS, OutputTarget, POINTS, PREVIOUS, TANGENTS};
use crate::kernel::{JointTransform, PackedRig, PackedSkin, Palette};
use crate::skel::Pose;

/// Holds skins, instances and their results on one device, and skins them. A single mesh is a crowd
/// of one instance.
///
/// Instances can be added and removed one by one. That rebuilds nothing of the other instances:
/// their ids, their places in the output buffers and their results stay. If a buffer has to grow,
/// it is replaced by a larger one with the same contents (see [`Crowd::outputs_generation`]).
///
/// For a bake, add as many instances of a skin as there are times in flight, and pose each at its
/// own time: one submit skins them all.
///
/// An id is *foreign* if it belongs to another crowd, or if the skin, instance, palette or rig that
/// it identifies was removed.
#[derive(Debug)]
pub struct Crowd {
    skinner: Skinner,
    stores: Stores,
    /// The plan of the last frame. The next frame uses it again if nothing has changed that the
    /// plan depends on.
    frame: Option<PlannedFrame>,
    /// The item tables of the last frame.
    tables: Option<GrowableBuffer>,
    staging: Staging,
    readings: Readings,
    timing: Option<Timing>,
    /// Number of bytes that the last frame uploads.
    uploaded: u64,
}

impl Skinner {
    /// Creates an empty crowd on this skinner's device.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        Crowd::new(self, Stores::default())
    }
}

impl Crowd {
    /// The largest number of readings that may be under way at a time.
    pub const MOST_READS: usize = MOST_READS;

    fn new(skinner: &Skinner, stores: Stores) -> Self {
        let names = || kernels().iter().map(|kernel| kernel.name).collect();
        let timing = || Timing::new(&skinner.device, names());
        Self {
            stores,
            frame: None,
            tables: None,
            staging: Staging::new(),
            readings: Readings::new(&skinner.device),
            timing: skinner.timestamps.then(timing),
            uploaded: 0,
            skinner: skinner.clone(),
        }
    }

    /// Creates the same crowd on another skinner's device: after this crowd's device was lost, or
    /// to move the crowd. Skins, instances and poses keep their ids, hidden instances stay hidden,
    /// and bounds stay enabled. The next frame computes the results again, and all instances are
    /// then new to it: they have no previous frame. Readings that are under way stay with the old
    /// crowd.
    ///
    /// The caller's output buffers belong to the old device. Their results go to the crowd's own
    /// buffers until [`Crowd::set_target`] says otherwise.
    ///
    /// # Errors
    /// A limit of the new device; out of memory.
    pub fn rebuild(&self, skinner: &Skinner) -> Result<Self, GpuError> {
        let stores = self.stores.rebuild(skinner)?;
        Ok(Self::new(skinner, stores))
    }
}

/// Skins and instances.
impl Crowd {
    /// Uploads a skin's rest data, once for all its instances.
    ///
    /// # Errors
    /// [`GpuError::Limit`] if one point's data is larger than a binding; out of memory.
    pub fn add_skin(&mut self, skin: Arc<PackedSkin>) -> Result<SkinId, GpuError> {
        alive(&self.skinner.device)?;
        let Stores {
            skins,
            skin_pages,
            blend_lists,
            ..
        } = &mut self.stores;
        let id = skins.add(&self.skinner, skin_pages, Arc::clone(&skin))?;
        if let Some(blend) = skin.blend() {
            blend_lists.add_skin(id, blend);
        }
        Ok(id)
    }

    /// Removes a skin. Other skins may reuse its room, so first submit the frames that are already
    /// encoded: they might otherwise read another skin's data.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or while instances use the skin.
    pub fn remove_skin(&mut self, skin: SkinId) -> Result<(), GpuError> {
        let pages = &mut self.stores.skin_pages;
        self.stores.skins.remove(pages, skin)?;
        self.stores.blend_lists.remove_skin(skin, pages);
        Ok(())
    }

    /// Adds an instance and makes room for its results. It needs a pose before the next frame.
    ///
    /// If an output buffer has to grow, a separate submit copies the results of submitted frames.
    /// The next [`Crowd::encode`] copies the results of frames that are encoded but not yet
    /// submitted.
    ///
    /// # Errors
    /// A foreign skin; more outputs than [`crate::gpu::SkinnerOptions::max_output_bytes`]; no
    /// memory for the results. After an error the crowd is unchanged.
    pub fn add_instance(&mut self, skin: SkinId) -> Result<InstanceId, GpuError> {
        self.add_instance_to(skin, OutputTarget::default())
    }

    /// Adds an instance whose results go to `target`; otherwise the same as
    /// [`Crowd::add_instance`].
    ///
    /// # Errors
    /// The errors of [`Crowd::add_instance`], and:
    ///
    /// - [`GpuError::Mismatch`] if a buffer lacks usage `STORAGE` or is too small, if an offset or
    ///   a stride is no multiple of 4, if a stride is less than an element, if two kinds of results
    ///   would overlap, or if the target asks for normals or tangents in a buffer and the skin has
    ///   none;
    /// - [`GpuError::Limit`] if the results spread over more of a buffer than one binding holds.
    pub fn add_instance_to(
        &mut self,
        skin: SkinId,
        target: OutputTarget,
    ) -> Result<InstanceId, GpuError> {
        let Stores {
            skins,
            instances,
            outputs,
            ..
        } = &mut self.stores;
        let held = skins.get(skin)?;
        target.check(held.packed())?;
        instances.check_room(held.packed().prim(), 1)?;
        outputs.check_room(&self.skinner, held, 1, &target)?;
        let target = instances.shared(target);
        self.insert(skin, target)
    }

    /// Adds many instances of a skin, or none if there is no room for all; otherwise the same as
    /// [`Crowd::add_instance`]. Sizes are checked before anything is allocated.
    ///
    /// # Errors
    /// As [`Crowd::add_instance`]; [`GpuError::Limit`] for more than 16,777,216 instances in all.
    pub fn add_instances(
        &mut self,
        skin: SkinId,
        count: usize,
    ) -> Result<Vec<InstanceId>, GpuError> {
        self.reserve_instances(skin, count)?;
        let target = self.stores.instances.shared(OutputTarget::default());
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            match self.insert(skin, Arc::clone(&target)) {
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

    /// Makes room for `count` more instances of a skin, so that buffers grow once and not for each
    /// instance that is added.
    ///
    /// # Errors
    /// As [`Crowd::add_instances`]. After an error the crowd is unchanged.
    pub fn reserve_instances(&mut self, skin: SkinId, count: usize) -> Result<(), GpuError> {
        let Stores {
            skins,
            instances,
            outputs,
            ..
        } = &mut self.stores;
        let (held, target) = (skins.get(skin)?, OutputTarget::default());
        instances.check_room(held.packed().prim(), count as u64)?;
        let each = outputs.check_room(&self.skinner, held, count as u64, &target)?;
        outputs.reserve(&self.skinner, each, count as u64)?;
        instances.reserve(count);
        Ok(())
    }

    fn insert(&mut self, skin: SkinId, target: Arc<OutputTarget>) -> Result<InstanceId, GpuError> {
        let stores = &mut self.stores;
        let held = stores.skins.get(skin)?;
        let out = stores.outputs.place(&self.skinner, held, &target)?;
        stores.skins.add_user(skin);
        let id = stores.instances.insert(skin, target, out);
        stores.poses.add(id);
        Ok(id)
    }

    /// Removes an instance. Instances that are added later may reuse its room in the output
    /// buffers.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn remove_instance(&mut self, instance: InstanceId) -> Result<(), GpuError> {
        let Stores {
            skins,
            instances,
            outputs,
            poses,
            palettes,
            rigs,
            ..
        } = &mut self.stores;
        let gone = instances.remove(instance)?;
        poses.remove(instance, palettes, rigs);
        if let Ok(held) = skins.get(gone.skin) {
            outputs.free(held, &gone.target, &gone.out);
        }
        skins.remove_user(gone.skin);
        Ok(())
    }

    /// Removes all instances and keeps the skins.
    pub fn clear_instances(&mut self) {
        let Stores {
            skins,
            instances,
            outputs,
            poses,
            palettes,
            rigs,
            ..
        } = &mut self.stores;
        poses.clear(palettes, rigs);
        instances.clear();
        skins.remove_users();
        outputs.clear();
        self.frame = None;
    }

    /// Sends an instance's results to another target from the next frame on. In that frame the
    /// previous positions equal the new ones.
    ///
    /// # Errors
    /// As [`Crowd::add_instance_to`]. After an error the instance is unchanged.
    pub fn set_target(
        &mut self,
        instance: InstanceId,
        target: OutputTarget,
    ) -> Result<(), GpuError> {
        let Stores {
            skins,
            instances,
            outputs,
            ..
        } = &mut self.stores;
        let skin = skins.get(instances.get(instance)?.skin)?;
        target.check(skin.packed())?;
        outputs.check_room(&self.skinner, skin, 1, &target)?;
        let out = outputs.place(&self.skinner, skin, &target)?;
        let (old_target, old) = instances.send(instance, Arc::new(target), out)?;
        outputs.free(skin, &old_target, &old);
        Ok(())
    }

    /// Hides an instance, or shows it again. A hidden instance keeps its room, its pose and its
    /// last results. Frames skip it, and it needs no pose.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn set_hidden(&mut self, instance: InstanceId, hidden: bool) -> Result<(), GpuError> {
        self.stores.instances.set_hidden(instance, hidden)
    }

    /// Whether an instance is hidden.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn is_hidden(&self, instance: InstanceId) -> Result<bool, GpuError> {
        Ok(self.stores.instances.get(instance)?.hidden)
    }

    /// Tells the next frame that the instance jumped, as after a cut or a teleport: the frame
    /// writes the new positions as the previous positions too.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn reset_previous(&mut self, instance: InstanceId) -> Result<(), GpuError> {
        self.stores.instances.reset_previous(instance)
    }

    /// All instances, in the order in which they were added.
    #[must_use]
    pub fn instances(&self) -> Vec<InstanceId> {
        self.stores.instances.ids()
    }

    /// Number of instances, hidden ones included.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.stores.instances.len()
    }

    /// One more than the largest [`InstanceId::index`] that the crowd has ever used.
    #[must_use]
    pub fn index_count(&self) -> u32 {
        self.stores.instances.index_count()
    }

    /// A number that grows whenever adding instances replaced an output buffer. While it stays the
    /// same, the buffers and offsets of every instance stay the same, and bind groups over them
    /// stay valid.
    #[must_use]
    pub fn outputs_generation(&self) -> u64 {
        self.stores.outputs.generation()
    }

    /// Size in bytes of all buffers that this crowd holds on the device, used or not. Staging
    /// buffers are not counted.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        let tables = self.tables.as_ref().map_or(0, GrowableBuffer::size);
        self.stores.buffer_bytes() + tables
    }
}

/// Poses.
impl Crowd {
    /// Sets the pose of an instance for all coming frames, until another call changes it. The pose
    /// is a [`crate::kernel::PackedPose`] or a [`Pose`], or it refers to a palette that instances
    /// share or to a rig: see [`InstancePose`].
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or if the pose does not fit the skin: another
    /// number of joints or channels, another method, or numbers that are not finite. For a rig also
    /// if the skin has no influences or uses dual quaternions, or if the skin has normals and the
    /// rig was packed without. After an error the instance keeps its last pose.
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
        let skin = skins.get(instances.get(instance)?.skin)?.packed();
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
        let index = instance.index();
        poses.bind(index, source, palettes, rigs);
        if let Some(frame) = current(&mut self.frame, &self.stores)
            && let Some((pose, _)) = self.stores.poses.get(index)
        {
            frame.poses_mut().update(index, pose);
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
    /// [`GpuError::Mismatch`] with the error of the instance that has the lowest index: the error
    /// of `pose`, or as [`Crowd::set_pose`]. That instance keeps its last pose; other instances may
    /// have their new one.
    pub fn update_poses<E: Display>(
        &mut self,
        pose: impl Fn(InstanceId, &mut Pose) -> Result<bool, E> + Sync,
    ) -> Result<(), GpuError> {
        let mut frame = current(&mut self.frame, &self.stores);
        let mut poses = std::mem::take(&mut self.stores.poses);
        let Stores {
            skins,
            instances,
            palettes,
            rigs,
            ..
        } = &mut self.stores;
        let updated = poses.update(instances, skins, pose, |poses, index| {
            poses.bind(index, Source::Own, palettes, rigs);
            if let (Some(frame), Some((pose, _))) = (&mut frame, poses.get(index)) {
                frame.poses_mut().update(index, pose);
            }
        });
        self.stores.poses = poses;
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
    /// [`GpuError::Mismatch`] for a foreign id, or if the number of joints, the method or the
    /// presence of normals differs from the palette that was added.
    pub fn set_palette(&mut self, id: PaletteId, palette: &Arc<Palette>) -> Result<(), GpuError> {
        let Stores {
            skins,
            instances,
            poses,
            palettes,
            ..
        } = &mut self.stores;
        palettes.set(id, palette)?;
        for index in palettes.users(id) {
            let Some(instance) = poses.id(index) else {
                continue;
            };
            let skin = skins.get(instances.get(instance)?.skin)?.packed();
            poses.replace_palette(index, skin, palette);
        }
        if let Some(frame) = current(&mut self.frame, &self.stores) {
            let pages = frame.poses_mut();
            pages.update_palette(id, palette);
            for index in self.stores.palettes.users(id) {
                if let Some((pose, _)) = self.stores.poses.get(index) {
                    pages.update(index, pose);
                }
            }
        }
        Ok(())
    }

    /// Removes a palette.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or while instances refer to the palette.
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

    /// Removes a rig. First submit the frames that are already encoded, as for
    /// [`Crowd::remove_skin`].
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or while instances move with the rig.
    pub fn remove_rig(&mut self, rig: RigId) -> Result<(), GpuError> {
        let pages = &mut self.stores.skin_pages;
        self.stores.rigs.remove(pages, rig)
    }

    /// Sets the local transforms of a rig for all coming frames: for each joint the transform from
    /// the joint's space to its parent's space, in the order of the skeleton. They are copied and
    /// uploaded as they are, 40 bytes per joint; nothing is allocated.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, another number of transforms than the rig has
    /// joints, or transforms that are not finite.
    pub fn set_joints(&mut self, rig: RigId, joints: &[JointTransform]) -> Result<(), GpuError> {
        self.stores.rigs.set_joints(rig, joints)?;
        if let Some(frame) = current(&mut self.frame, &self.stores) {
            frame.poses_mut().update_joints(rig, joints);
        }
        Ok(())
    }
}

/// The plan of the last frame, if the next frame may use it.
fn current<'a>(
    frame: &'a mut Option<PlannedFrame>,
    stores: &Stores,
) -> Option<&'a mut PlannedFrame> {
    frame.as_mut().filter(|frame| frame.is_current(stores))
}

/// Frames.
impl Crowd {
    /// Records one frame of all instances that are not hidden: the uploads, then every pass that
    /// has work. It submits nothing and waits for nothing. A later `encode` into the same submit
    /// uses its own poses.
    ///
    /// The plan of a frame is kept. It stays valid until an instance is added, removed, hidden or
    /// shown, gets another target, or refers to another palette or rig, or until bounds are enabled
    /// or disabled. With a valid plan, a frame uploads only what has changed since the last one
    /// ([`Crowd::last_upload_bytes`]) and allocates nothing of its own.
    ///
    /// Submit frames in the order in which they were encoded. If an encoder is dropped instead, the
    /// next `encode` notices it, uploads everything, and writes the new positions as the previous
    /// positions too.
    ///
    /// An instance with blend shapes walks a list of only those blend entries whose channels have a
    /// weight. Such a list is built and uploaded (a word per point and per entry) when another
    /// channel gets a weight. Instances of the skin share it, and it stays valid while the weights
    /// of its channels change. An instance walks all entries of its skin instead if its pose gives
    /// a weight to more than about half of them, or if the list has no room in the binding of its
    /// skin. Results are the same to the bit. One frame builds lists of about a million words at
    /// most, or a single longer list; other lists wait for the next frame.
    ///
    /// # Errors
    /// An instance without a pose; poses beyond a limit; out of memory; a lost device.
    pub fn encode(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let result = self.encode_frame(encoder);
        if result.is_err() {
            // It is unknown how much of the frame was recorded.
            self.frame = None;
            self.stores.blend_lists.lose();
            // If the device is lost, that explains any other failure.
            alive(&self.skinner.device)?;
        }
        result
    }

    fn encode_frame(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        let is_lost = self.staging.take_dropped();
        if is_lost {
            self.stores.blend_lists.lose();
            self.stores.instances.forget_previous();
        }
        match current(&mut self.frame, &self.stores) {
            None => self.plan()?,
            Some(frame) if is_lost => frame.mark_all(),
            Some(_) => {}
        }
        self.choose_lists();
        if current(&mut self.frame, &self.stores).is_none() {
            // A new list made its page grow.
            self.plan()?;
        }
        let skinner = &self.skinner;
        if let (Some(frame), Some(tables)) = (&mut self.frame, &self.tables) {
            frame.update(&self.stores);
            let lists = self.stores.blend_lists.uploads(&self.stores.skin_pages);
            let uploads = frame.uploads(&self.stores, tables.buffer()).chain(lists);
            self.uploaded = self.staging.record(skinner, encoder, uploads)?;
            frame.set_uploaded();
            self.stores.blend_lists.set_uploaded();
            self.stores.outputs.carry_over(encoder);
            frame.encode(&self.stores, self.timing.as_mut(), encoder);
        }
        let Stores {
            instances,
            outputs,
            bounds,
            ..
        } = &mut self.stores;
        instances.set_encoded();
        if let Some(bounds) = bounds {
            bounds.read_back(
                skinner,
                encoder,
                instances.index_count(),
                instances.frames(),
            )?;
        }
        outputs.set_encoded();
        Ok(())
    }

    fn plan(&mut self) -> Result<(), GpuError> {
        // Frees the memory of the old plan, so that the new plan can reuse it.
        self.frame = None;
        let mut frame = PlannedFrame::plan(&self.skinner, &self.stores)?;
        frame.bind(&self.skinner, &mut self.stores, &mut self.tables)?;
        self.stores.instances.unsettle();
        self.frame = Some(frame);
        Ok(())
    }

    /// Chooses a list of blend entries for each instance to walk.
    fn choose_lists(&mut self) {
        let is_wanted = self.skinner.limits.active_lists;
        let Some(frame) = self.frame.as_ref().filter(|_| is_wanted) else {
            return;
        };
        let Stores {
            skin_pages,
            skins,
            instances,
            poses,
            blend_lists,
            ..
        } = &mut self.stores;
        let blended = frame.blended();
        blend_lists.choose(&self.skinner, skin_pages, skins, instances, poses, blended);
    }

    /// Number of bytes that the last encoded frame uploads: changed palettes, `out_from_skel`
    /// matrices, channel weights and local transforms of rigs; lists of blend entries if other
    /// channels have a weight; item tables if they changed. 0 if nothing changed. Small gaps
    /// between changed ranges are uploaded with them and counted.
    #[must_use]
    pub fn last_upload_bytes(&self) -> u64 {
        self.uploaded
    }

    /// Encodes a frame and submits it, without waiting.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn submit(&mut self) -> Result<(), GpuError> {
        let mut encoder = self.encoder()?;
        self.encode(&mut encoder)?;
        self.submit_encoder(encoder).map(|_| ())
    }

    fn encoder(&self) -> Result<wgpu::CommandEncoder, GpuError> {
        let device = &self.skinner.device;
        guarded(device, || {
            let label = Some("sinew");
            device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
        })
    }

    fn submit_encoder(
        &self,
        encoder: wgpu::CommandEncoder,
    ) -> Result<wgpu::SubmissionIndex, GpuError> {
        guarded(&self.skinner.device, || {
            self.skinner.queue.submit([encoder.finish()])
        })
    }

    /// Encodes and submits a frame, waits for it, and reads the results of every instance that is
    /// not hidden, in the order in which they were added.
    ///
    /// # Errors
    /// As [`Crowd::encode`] and [`Crowd::read`].
    pub fn run(&mut self) -> Result<Vec<Deformed>, GpuError> {
        self.submit()?;
        let shown = self.stores.instances.shown();
        let shown: Vec<InstanceId> = shown.map(|(id, _)| id).collect();
        self.read(&shown)
    }

    /// GPU times of the last frame. Submit that frame first; this call waits until it is done.
    /// `None` without timestamps (see [`crate::gpu::SkinnerOptions`]) or before the first frame.
    ///
    /// # Errors
    /// A lost device.
    pub fn last_gpu_time(&self) -> Result<Option<GpuTimes>, GpuError> {
        match &self.timing {
            Some(timing) if timing.has_any() => timing.read(&self.skinner).map(Some),
            _ => Ok(None),
        }
    }

    /// Number of dispatches of the next frame: one per pass, pipeline and set of buffers, or more
    /// if limits split them.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn dispatch_count(&self) -> Result<usize, GpuError> {
        let current = self.frame.as_ref();
        match current.filter(|frame| frame.is_current(&self.stores)) {
            Some(frame) => Ok(frame.dispatch_count()),
            None => Ok(PlannedFrame::plan(&self.skinner, &self.stores)?.dispatch_count()),
        }
    }
}

/// Results.
impl Crowd {
    /// The buffer and byte range of an instance's positions on the GPU. Usually this is one run.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn points_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, POINTS)
    }

    /// The buffer and byte range of an instance's normals on the GPU; empty if it has none.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn normals_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, NORMALS)
    }

    /// The buffer and byte range of an instance's tangents on the GPU; empty if it has none.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn tangents_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, TANGENTS)
    }

    /// The buffer and byte range of an instance's previous positions on the GPU: those of the frame
    /// before the last encoded one. Empty if its target leaves them out.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id.
    pub fn previous_on_gpu(&self, instance: InstanceId) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        self.on_gpu(instance, PREVIOUS)
    }

    fn on_gpu(&self, id: InstanceId, kind: usize) -> Result<Vec<OutputSlice<'_>>, GpuError> {
        let instance = self.stores.instances.get(id)?;
        let skin = self.stores.skins.get(instance.skin)?;
        Ok(self.stores.outputs.slices(instance, skin, kind))
    }

    /// Waits for the last submitted frame and reads the results of some instances. For use without
    /// a frame loop; [`Crowd::request_read`] does not wait.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, if no frame was encoded yet, or if results are in a
    /// caller's buffer without usage `COPY_SRC`; a lost device.
    pub fn read(&mut self, instances: &[InstanceId]) -> Result<Vec<Deformed>, GpuError> {
        self.readings.read(&self.skinner, &self.stores, instances)
    }

    /// Reads the points of one instance, in the space of its pose.
    ///
    /// # Errors
    /// As [`Crowd::read`].
    pub fn read_points(&mut self, instance: InstanceId) -> Result<Vec<Vec3>, GpuError> {
        Ok(self.read(&[instance])?.remove(0).points)
    }

    /// Reads the normals of one instance, in the space of its pose; `None` if it has none.
    ///
    /// # Errors
    /// As [`Crowd::read`].
    pub fn read_normals(&mut self, instance: InstanceId) -> Result<Option<Vec<Vec3>>, GpuError> {
        Ok(self.read(&[instance])?.remove(0).normals)
    }

    /// Records copies of the results of some instances into the caller's encoder, to a staging
    /// buffer. The results are those of the last encoded frame. Once the encoder is submitted and
    /// done, the buffer is mapped. Nothing waits: call [`Crowd::poll`] now and then, and
    /// [`Crowd::take`] until it returns the results.
    ///
    /// A staging buffer is reused after its results were taken. At most [`Crowd::MOST_READS`] are
    /// in use.
    ///
    /// # Errors
    /// [`GpuError::Busy`] if [`Crowd::MOST_READS`] readings are under way; [`GpuError::Mismatch`]
    /// for a foreign id, for an instance without an encoded frame, or if results are in a caller's
    /// buffer without usage `COPY_SRC`; [`GpuError::Limit`] for more bytes than a buffer holds; out
    /// of memory.
    pub fn request_read(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        instances: &[InstanceId],
    ) -> Result<ReadTicket, GpuError> {
        self.readings
            .request(&self.skinner, &self.stores, encoder, instances)
    }

    /// Encodes a frame and a reading of some instances' results after it, and submits both without
    /// waiting. [`Crowd::wait`] or [`Crowd::take`] returns the results. More frames may be
    /// submitted before that: they do not overwrite results that are still to be read. So the
    /// device works on one batch while the host prepares the next one and uses the last one.
    ///
    /// # Errors
    /// As [`Crowd::encode`] and [`Crowd::request_read`]. If only the latter fails, the frame is
    /// submitted, and [`Crowd::read`] can read it.
    pub fn submit_and_read(&mut self, instances: &[InstanceId]) -> Result<ReadTicket, GpuError> {
        let mut encoder = self.encoder()?;
        self.encode(&mut encoder)?;
        let ticket = self.request_read(&mut encoder, instances);
        let submission = self.submit_encoder(encoder)?;
        ticket.map(|mut ticket| {
            ticket.set_submission(submission);
            ticket
        })
    }

    /// Waits for a reading whose commands are submitted, and returns its results in the order of
    /// the instances that were asked for.
    ///
    /// # Errors
    /// As [`Crowd::take`].
    pub fn wait(&mut self, ticket: &ReadTicket) -> Result<Vec<Deformed>, GpuError> {
        self.readings.wait(&self.skinner, ticket)
    }

    /// Lets the device call back for finished work, without waiting. A host that polls its device
    /// itself need not call it.
    ///
    /// # Errors
    /// A lost device.
    pub fn poll(&mut self) -> Result<(), GpuError> {
        self.readings.poll(&self.skinner)
    }

    /// Returns the results of a reading, in the order of the instances that were asked for; `None`
    /// while they are under way. They can be taken once: later calls fail.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a ticket of another crowd, a ticket whose results were taken, or
    /// one whose encoder was dropped; a lost device.
    pub fn take(&mut self, ticket: &ReadTicket) -> Option<Result<Vec<Deformed>, GpuError>> {
        self.readings.take(&self.skinner, ticket)
    }

    /// Fills every output buffer with one value, so that tests can see which elements a frame
    /// writes.
    #[doc(hidden)]
    pub fn fill_outputs(&mut self, value: f32) -> Result<(), GpuError> {
        self.stores.outputs.fill(&self.skinner, value)
    }

    /// Reads the values behind the last output of every output buffer, for tests.
    #[doc(hidden)]
    pub fn read_behind_outputs(&mut self) -> Result<Vec<f32>, GpuError> {
        self.readings.read_behind(&self.skinner, &self.stores)
    }
}

/// Bounding boxes.
impl Crowd {
    /// Computes the bounding box of each instance's positions from the next frame on, in the space
    /// of its pose (`out_from_skel`). That takes two more passes: one dispatch per output buffer,
    /// and one in all.
    ///
    /// # Errors
    /// Out of memory.
    pub fn enable_bounds(&mut self, wanted: BoundsUse) -> Result<(), GpuError> {
        match &mut self.stores.bounds {
            Some(bounds) => bounds.set_wanted(wanted),
            none => *none = Some(BoundsStore::new(&self.skinner, wanted)?),
        }
        Ok(())
    }

    /// Stops computing bounding boxes.
    pub fn disable_bounds(&mut self) {
        self.stores.bounds = None;
    }

    /// The boxes that the last encoded frame computes, for binding as `array<vec4<f32>>` (storage).
    /// The minimum corner of an instance is at `2 * id.index()`, the maximum after it, both with
    /// `w` 0. Positions with a NaN are ignored; infinite positions make infinite boxes. The box is
    /// empty for a hidden instance, for one without points and for an index that is free: minimum
    /// 3.4e38, maximum -3.4e38, in every coordinate.
    ///
    /// [`Crowd::encode`] replaces the buffer if there are more indices than it holds
    /// ([`Crowd::bounds_generation`]). `None` if bounds are not enabled.
    #[must_use]
    pub fn bounds_on_gpu(&self) -> Option<&wgpu::Buffer> {
        Some(self.stores.bounds.as_ref()?.boxes().buffer())
    }

    /// A number that grows whenever the buffer of [`Crowd::bounds_on_gpu`] was replaced.
    #[must_use]
    pub fn bounds_generation(&self) -> u64 {
        let bounds = self.stores.bounds.as_ref();
        bounds.map_or(0, |bounds| bounds.boxes().replaced())
    }

    /// The newest box of an instance that was read back: minimum and maximum corner, in the space
    /// of its pose a few frames ago. `None` if none has arrived yet, and if the box is empty. It
    /// does not wait; call [`Crowd::poll`] so that boxes arrive.
    ///
    /// # Errors
    /// [`GpuError::Mismatch`] for a foreign id, or without [`BoundsUse::ReadBack`]; a lost device.
    pub fn latest_bounds(&mut self, instance: InstanceId) -> Result<Option<[Vec3; 2]>, GpuError> {
        let since = self.stores.instances.get(instance)?.since;
        match &mut self.stores.bounds {
            Some(bounds) => bounds.latest(&self.skinner, instance, since),
            None => Err(not_read_back()),
        }
    }
}

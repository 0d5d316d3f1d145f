//! Many instances of many skins, in as few dispatches as the device allows.
//!
//! `poses` has what sets poses, palettes and rigs; `playing` has clips and what rigs play;
//! `results` has the outputs, readings and boxes; `visibility` has masks and update rates.

mod playing;
mod poses;
mod results;
mod visibility;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::device::error::{GpuError, alive, guarded};
use super::device::skinner::Skinner;
use super::device::timing::{GpuTimes, Timing};
use super::device::waiting::{Mailbox, wait_for};
use super::memory::growable_buffer::GrowableBuffer;
use super::memory::upload::Staging;
use super::pass::frame::PlannedFrame;
use super::pass::{Prewarm, kernels, pipeline_variants};
use super::store::Stores;
use super::store::instances::InstanceId;
use super::store::poses::Source;
use super::store::readings::{Deformed, MOST_READS, Readings};
use super::store::skins::SkinId;
use super::store::target::OutputTarget;
use crate::kernel::PackedSkin;

/// Holds skins, instances and their results on one device, and skins them. A single mesh is a crowd
/// of one instance.
///
/// ```
/// use glam::{DMat4, DVec3};
/// use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
/// use sinew::kernel::PackedSkin;
/// use sinew::sampled::Time;
/// use sinew::scene::OutSpace;
///
/// let Ok(gpu) = GpuDevice::new(&AdapterChoice::Any) else { return Ok(()) };
/// let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default())?;
/// let scene = sinew_io::open("examples/assets/hatchling.usda")?.scene(Default::default())?;
/// let body = scene.resolve("/Hatchling/Geo/Body")?;
/// let packed = PackedSkin::pack("Body", &*body.skin(Time::Default)?)?;
///
/// // Two of a kind, a metre apart, at two times of their dance: one dispatch skins both.
/// let mut crowd = skinner.crowd();
/// let skin = crowd.add_skin(packed.into())?;
/// let instances = crowd.add_instances(skin, 2)?;
/// for (i, instance) in instances.iter().enumerate() {
///     let mut pose = scene.at(Time::At(1.0 + 9.0 * i as f64), OutSpace::World).pose(body)?;
///     pose.out_from_skel = DMat4::from_translation(DVec3::X * i as f64) * pose.out_from_skel;
///     crowd.set_pose(*instance, &pose)?;
/// }
/// let mut encoder = gpu.device().create_command_encoder(&Default::default());
/// crowd.encode(&mut encoder)?; // never submits, never waits
/// let places = crowd.points_on_gpu(instances[1])?; // buffer, offset and stride, to draw from
/// gpu.queue().submit([encoder.finish()]);
/// # assert_eq!(places[0].count, body.skin(Time::Default)?.points().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Instances can be added and removed one by one. That rebuilds nothing of the other instances:
/// their ids, their places in the output buffers and their results stay. If a buffer has to grow,
/// it is replaced by a larger one with the same contents (see [`Crowd::outputs_generation`]).
///
/// For a bake, add as many instances of a skin as there are times in flight, and pose each at its
/// own time: one submit skins them all.
///
/// An id is *foreign* if it belongs to another crowd, or if the skin, instance, palette or rig that
/// it identifies was removed. Ids of the crowd that [`Crowd::rebuild`] started from stay valid.
#[derive(Debug)]
pub struct Crowd {
    number: u64,
    skinner: Skinner,
    stores: Stores,
    /// The plan of the last frame. The next frame uses it again, with the edits of instances since,
    /// if nothing else has changed that it depends on.
    frame: Option<PlannedFrame>,
    /// The item tables of the last frame.
    tables: Option<GrowableBuffer>,
    staging: Staging,
    readings: Readings,
    timing: Option<Timing>,
    /// Number of bytes that the last frame uploads.
    uploaded: u64,
    /// Number of plans that were made.
    plans: u64,
    /// Whether a frame was encoded since the clock was set last.
    awaits_advance: bool,
    /// What is to be done when the clock advances next. It comes from destructors, which have no
    /// access to the crowd and must not wait for a lock.
    deferred: Mailbox<Work>,
}

/// Something to be done with a crowd.
type Work = Box<dyn FnOnce(&mut Crowd) + Send>;

impl Skinner {
    /// Creates an empty crowd on this skinner's device.
    #[must_use]
    pub fn crowd(&self) -> Crowd {
        Crowd::new(self, Stores::default())
    }

    /// Compiles the pipelines that frames with instances of a skin need, for any pose, so that no
    /// frame has to wait for them. A pipeline that is compiled already costs nothing.
    ///
    /// If a skin does not fit one binding, frames split it, and a piece of less than a workgroup may
    /// need another pipeline, which this does not compile.
    ///
    /// ```no_run
    /// # fn load(skinner: &sinew::gpu::Skinner, skin: &sinew::kernel::PackedSkin) -> Result<(), sinew::gpu::GpuError> {
    /// use sinew::gpu::{OutputTarget, Prewarm};
    ///
    /// skinner.prewarm(skin, &OutputTarget::default(), Prewarm::default())
    /// # }
    /// ```
    ///
    /// # Errors
    /// A pipeline that the driver refuses; out of memory.
    pub fn prewarm(
        &self,
        skin: &PackedSkin,
        target: &OutputTarget,
        uses: Prewarm,
    ) -> Result<(), GpuError> {
        for wanted in pipeline_variants(skin, target, uses) {
            let pipelines = self.pipelines(wanted.kernel);
            pipelines.get(&self.device, wanted.variant)?;
        }
        Ok(())
    }
}

impl Crowd {
    /// The largest number of readings that may be under way at a time.
    pub const MOST_READS: usize = MOST_READS;

    fn new(skinner: &Skinner, stores: Stores) -> Self {
        let names = || kernels().iter().map(|kernel| kernel.name).collect();
        let timing = || Timing::new(&skinner.device, names());
        static CROWDS: AtomicU64 = AtomicU64::new(0);
        Self {
            number: CROWDS.fetch_add(1, Ordering::Relaxed),
            stores,
            frame: None,
            tables: None,
            staging: Staging::default(),
            readings: Readings::new(&skinner.device),
            timing: skinner.timestamps.then(timing),
            uploaded: 0,
            plans: 0,
            awaits_advance: false,
            deferred: Mailbox::default(),
            skinner: skinner.clone(),
        }
    }

    /// A number that no other crowd of this process has, also not one that [`Crowd::rebuild`]
    /// made of this. The rebuilt crowd takes the ids of the old one; this tells the two apart.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Creates the same crowd on another skinner's device: after this crowd's device was lost, or
    /// to move the crowd. Skins, instances and poses keep their ids, hidden instances stay hidden,
    /// and bounds stay enabled. The next frame computes the results again, and all instances are
    /// then new to it: they have no previous frame. Readings that are under way stay with the old
    /// crowd.
    ///
    /// The caller's output buffers belong to the old device. Their results go to the crowd's own
    /// buffers until [`Crowd::set_target`] says otherwise. Its visibility mask does too, so the new
    /// crowd has none; update rates stay.
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
        let stores = &mut self.stores;
        let pages = &mut stores.skin_pages;
        let id = stores.skins.add(&self.skinner, pages, Arc::clone(&skin))?;
        if let Some(blend) = skin.blend() {
            stores.blend_lists.add_skin(id, blend);
        }
        Ok(id)
    }

    /// Removes a skin. Other skins may reuse its room, so first submit the frames that are already
    /// encoded: they might otherwise read another skin's data.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::InUse`] while instances use the skin.
    pub fn remove_skin(&mut self, skin: SkinId) -> Result<(), GpuError> {
        let pages = &mut self.stores.skin_pages;
        self.stores.skins.free(pages, skin)?;
        self.stores.clips.remove_channels(pages, skin);
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
    /// - [`GpuError::Invalid`] if a buffer lacks usage `STORAGE` or is too small, if an offset or
    ///   a stride is no multiple of 4, if a stride is less than an element, if two kinds of results
    ///   would overlap, or if the target asks for normals or tangents in a buffer and the skin has
    ///   none;
    /// - [`GpuError::Limit`] if the results spread over more of a buffer than one binding holds.
    pub fn add_instance_to(
        &mut self,
        skin: SkinId,
        target: OutputTarget,
    ) -> Result<InstanceId, GpuError> {
        let stores = &self.stores;
        let resident = stores.skins.get(skin)?;
        target.check(&resident.packed)?;
        stores.instances.check_room(resident.packed.prim(), 1)?;
        stores
            .outputs
            .check_room(&self.skinner, resident, 1, &target)?;
        let target = stores.instances.shared(target);
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
        let stores = &mut self.stores;
        let (resident, target) = (stores.skins.get(skin)?, OutputTarget::default());
        let (prim, more, outputs) = (resident.packed.prim(), count as u64, &mut stores.outputs);
        stores.instances.check_room(prim, more)?;
        let each = outputs.check_room(&self.skinner, resident, more, &target)?;
        outputs.reserve(&self.skinner, each, more)?;
        stores.instances.reserve(count);
        Ok(())
    }

    fn insert(&mut self, skin: SkinId, target: Arc<OutputTarget>) -> Result<InstanceId, GpuError> {
        let stores = &mut self.stores;
        let resident = stores.skins.get(skin)?;
        let out = stores.outputs.place(&self.skinner, resident, &target)?;
        stores.skins.add_user(skin);
        let id = stores.instances.insert(skin, target, out);
        stores.poses.add(id);
        Ok(id)
    }

    /// Removes an instance. Instances that are added later may reuse its room in the output
    /// buffers.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn remove_instance(&mut self, instance: InstanceId) -> Result<(), GpuError> {
        let stores = &mut self.stores;
        let gone = stores.instances.remove(instance)?;
        let (palettes, rigs) = (&mut stores.palettes, &mut stores.rigs);
        stores.poses.remove(instance, palettes, rigs);
        let resident = stores.skins.get(gone.skin)?;
        stores.outputs.free(resident, &gone.target, &gone.out);
        stores.skins.remove_user(gone.skin);
        Ok(())
    }

    /// Removes all instances and keeps the skins.
    pub fn clear_instances(&mut self) {
        let stores = &mut self.stores;
        stores.poses.clear(&mut stores.palettes, &mut stores.rigs);
        stores.instances.clear();
        stores.skins.remove_users();
        stores.outputs.clear();
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
        let stores = &mut self.stores;
        let (instances, outputs) = (&mut stores.instances, &mut stores.outputs);
        let skin = stores.skins.get(instances.get(instance)?.skin)?;
        target.check(&skin.packed)?;
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
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn set_hidden(&mut self, instance: InstanceId, hidden: bool) -> Result<(), GpuError> {
        self.stores.instances.set_hidden(instance, hidden)
    }

    /// Whether an instance is hidden.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn is_hidden(&self, instance: InstanceId) -> Result<bool, GpuError> {
        Ok(self.stores.instances.get(instance)?.hidden)
    }

    /// Tells the next frame that the instance jumped, as after a cut or a teleport: the frame
    /// writes the new positions as the previous positions too.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
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
        self.stores.instances.index_count
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

/// Frames.
impl Crowd {
    /// Records one frame of all instances that are not hidden: the uploads, then every pass that
    /// has work. It submits nothing and waits for nothing. A later `encode` into the same submit
    /// uses its own poses.
    ///
    /// The plan of a frame is kept, and a frame uploads only what has changed since the last one
    /// ([`Crowd::last_upload_bytes`]). If an instance is added, removed, hidden or shown, gets
    /// another target, or refers to another palette or rig, the plan is edited: that costs what the
    /// instance does, however many others there are. Everything is planned again if such edits need
    /// more room than the plan has, which is that of twice as many instances, and a quarter more of
    /// palettes and weights; once they left more room unused than is used, and more than that of 64
    /// instances; in a crowd with a mask or update rates; for an instance whose weights clips
    /// drive; for more or fewer rigs; and if bounds are enabled or disabled or another mask is set.
    /// A frame without an edit allocates nothing of its own.
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
        self.awaits_advance |= result.is_ok();
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
        self.prepare_players(encoder, is_lost)?;
        let is_new = is_lost || !self.edit()? || !self.update_items();
        if is_new {
            self.plan(encoder)?;
            self.update_items();
        }
        let skinner = &self.skinner;
        if let (Some(frame), Some(tables)) = (&mut self.frame, &self.tables)
            && frame.is_bound_elsewhere(&self.stores, tables)
        {
            // Outputs or tables grew, or the page of a new list.
            frame.reserve(skinner, &mut self.stores, &mut self.tables, encoder)?;
        }
        let frame = self.frame.as_ref();
        let overwrites = frame.is_some_and(|frame| frame.poses.overwrites_players);
        self.stores.players.begin_frame(is_new || overwrites);
        if let (Some(frame), Some(tables)) = (&mut self.frame, &self.tables) {
            frame.bind(skinner, &self.stores, &tables.buffer)?;
            let lists = self.stores.blend_lists.uploads(&self.stores.skin_pages);
            let uploads = frame.uploads(&self.stores, &tables.buffer).chain(lists);
            let uploads = uploads.chain(self.stores.players.uploads());
            self.uploaded = self.staging.record(skinner, encoder, uploads)?;
            frame.set_uploaded();
            self.stores.players.set_uploaded();
            self.stores.blend_lists.set_uploaded();
            self.stores.outputs.carry_over(encoder);
            frame.encode(&self.stores, self.timing.as_mut(), encoder);
        }
        let instances = &mut self.stores.instances;
        instances.set_encoded();
        if let Some(bounds) = &mut self.stores.bounds {
            let (count, frame) = (instances.index_count, instances.frames);
            bounds.read_back(skinner, encoder, count, frame)?;
        }
        self.stores.outputs.set_encoded();
        Ok(())
    }

    fn plan(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<(), GpuError> {
        // Frees the memory of the old plan, so that the new plan can reuse it.
        self.frame = None;
        let mut frame = PlannedFrame::plan(&self.skinner, &self.stores)?;
        frame.reserve(&self.skinner, &mut self.stores, &mut self.tables, encoder)?;
        self.plans += 1;
        self.frame = Some(frame);
        let (instances, lists) = (&self.stores.instances, &mut self.stores.blend_lists);
        lists.forget_walkers();
        if self.skinner.limits.active_lists {
            let shown = instances.shown();
            shown.for_each(|(id, _)| lists.follow(id, instances));
        }
        Ok(())
    }

    /// Edits the plan of the last frame. False if there is none, or if the next frame needs another.
    fn edit(&mut self) -> Result<bool, GpuError> {
        let frame = self.frame.as_mut();
        let Some(frame) = frame.filter(|frame| frame.is_current(&self.stores)) else {
            return Ok(false);
        };
        let is_edited = frame.edit(&self.skinner, &self.stores)?;
        let (instances, lists) = (&self.stores.instances, &mut self.stores.blend_lists);
        if self.skinner.limits.active_lists {
            let edited = instances.edited.iter();
            edited.for_each(|id| lists.follow(*id, instances));
        }
        Ok(is_edited)
    }

    /// Brings the items of the frame up to date. False if an edit needs more room than it has.
    fn update_items(&mut self) -> bool {
        self.choose_lists();
        let frame = self.frame.as_mut();
        frame.is_some_and(|frame| frame.update(&self.skinner, &self.stores))
    }

    /// Chooses a list of blend entries for each instance to walk.
    fn choose_lists(&mut self) {
        let is_wanted = self.skinner.limits.active_lists;
        let Some(frame) = self.frame.as_ref().filter(|_| is_wanted) else {
            return;
        };
        let stores = &mut self.stores;
        let (poses, clips, players) = (&stores.poses, &stores.clips, &stores.players);
        let is_driven = |id: InstanceId, skin| match poses.get(id.index()) {
            Some((_, Source::Rig(rig))) => clips.channels(skin).is_some() && players.plays(rig),
            _ => false,
        };
        stores.blend_lists.choose(
            &frame.poses.reweighted,
            clips.version() + players.changes,
            is_driven,
            &self.skinner,
            &mut stores.skin_pages,
            &stores.skins,
            poses,
        );
    }

    /// Number of bytes that the last encoded frame uploads: changed palettes, `out_from_skel`
    /// matrices, channel weights and local transforms of rigs; lists of blend entries if other
    /// channels have a weight; item tables if they changed; states of rigs that are asked to play
    /// something else, 64 bytes each, and the clock, 16 bytes, if there are clips. 0 if there are
    /// none and nothing changed. Small gaps between changed ranges are uploaded with them and
    /// counted.
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

    /// GPU times of the last frame. Submit that frame first; this call waits until it is done. The
    /// blocking form of [`Crowd::gpu_time`].
    ///
    /// # Errors
    /// As [`Crowd::gpu_time`] and [`crate::gpu::wait_for`].
    pub fn last_gpu_time(&self) -> Result<Option<GpuTimes>, GpuError> {
        match &self.timing {
            Some(timing) if timing.has_any() => {
                wait_for(&self.skinner.device, timing.read(&self.skinner))?
            }
            _ => Ok(None),
        }
    }

    /// GPU times of the last frame. Submit that frame first. On native targets somebody must poll
    /// the device until the frame is done.
    ///
    /// `None` without timestamps (see [`crate::gpu::SkinnerOptions`]), before the first frame, and
    /// if the timestamps cannot be true: a pass ends before it begins, or the frame took longer
    /// than the time since it was encoded. Always `None` on software adapters, whose timestamps
    /// do not measure compute passes (Mesa's lavapipe writes them when it next draws). Measure there
    /// from submission until the device is done.
    ///
    /// # Errors
    /// A lost device.
    pub async fn gpu_time(&self) -> Result<Option<GpuTimes>, GpuError> {
        match &self.timing {
            Some(timing) if timing.has_any() => timing.read(&self.skinner).await,
            _ => Ok(None),
        }
    }

    /// Number of dispatches of the next frame: one per pass, pipeline and set of buffers, or more
    /// if limits split them. If something was edited since the last frame, this plans a frame of its
    /// own to count them, which costs as much as the first one; a frame that edits its plan instead
    /// may have a few more.
    ///
    /// # Errors
    /// As [`Crowd::encode`].
    pub fn dispatch_count(&self) -> Result<usize, GpuError> {
        let current = self.frame.as_ref();
        let is_next = |frame: &&PlannedFrame| {
            frame.is_current(&self.stores) && self.stores.instances.edited.is_empty()
        };
        match current.filter(is_next) {
            Some(frame) => Ok(frame.dispatch_count()),
            None => Ok(PlannedFrame::plan(&self.skinner, &self.stores)?.dispatch_count()),
        }
    }
}

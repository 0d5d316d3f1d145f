//! Rigs of a crowd that play clips, and the palettes of rigs.

use std::sync::Arc;

use super::{Crowd, Work};
use crate::gpu::device::error::{GpuError, alive};
use crate::gpu::store::Stores;
use crate::gpu::store::clips::ClipId;
use crate::gpu::store::playing::Playing;
use crate::gpu::store::pose_buffers::{JOINTS, PALETTES};
use crate::gpu::store::rigs::{RigId, RigPalette};
use crate::gpu::store::skins::SkinId;
use crate::kernel::{JointTransform, NONE, PackedClip, Player};

/// Clips, and rigs that play them.
impl Crowd {
    /// Uploads a clip, once for all rigs that play it. The clip has to be packed for the joints of
    /// those rigs, in their order.
    ///
    /// ```no_run
    /// # use std::sync::Arc;
    /// # use sinew::gpu::{Crowd, GpuError, Playing, RigId};
    /// # use sinew::kernel::PackedClip;
    /// # fn f(crowd: &mut Crowd, rigs: &[RigId], walk: Arc<PackedClip>) -> Result<(), GpuError> {
    /// let walk = crowd.add_clip(walk)?;
    /// for rig in rigs {
    ///     crowd.set_playing(*rig, &Playing::new(walk))?;
    /// }
    /// // Every frame, however many rigs play:
    /// crowd.set_clock(0.5);
    /// crowd.submit()
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Limit`] if all clips together are larger than a binding; out of memory.
    pub fn add_clip(&mut self, clip: Arc<PackedClip>) -> Result<ClipId, GpuError> {
        alive(&self.skinner.device)?;
        self.stores.players.prepare(&self.skinner)?;
        self.stores.clips.add(&self.skinner, clip)
    }

    /// Removes a clip. First submit the frames that are already encoded, as for
    /// [`Crowd::remove_skin`].
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::InUse`] while rigs play the clip. A
    /// clip that has faded out counts as played until the clock has passed the end of the fade.
    pub fn remove_clip(&mut self, clip: ClipId) -> Result<(), GpuError> {
        let stores = &mut self.stores;
        if stores.clips.remove(clip).is_ok() {
            return Ok(());
        }
        let ended = stores.players.release_ended(&mut stores.clips);
        self.update_players(&ended);
        self.stores.clips.remove(clip)
    }

    /// Lets clips drive blend shapes of a skin: for each of the skin's channels, in order, the
    /// channel of clips that gives its weight. `None`, and a skin without this call, keeps the
    /// weights of [`Crowd::set_pose`].
    ///
    /// It concerns instances of the skin whose rigs play. A clip that lacks the channel gives it a
    /// weight of 0.
    ///
    /// ```no_run
    /// # use sinew::gpu::{Crowd, GpuError, SkinId};
    /// # fn f(crowd: &mut Crowd, face: SkinId) -> Result<(), GpuError> {
    /// // The skin has three channels. Clips have the first two the other way round.
    /// crowd.set_clip_channels(face, &[Some(1), Some(0), None])
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] for another number of
    /// channels than the skin has; out of memory.
    pub fn set_clip_channels(
        &mut self,
        skin: SkinId,
        channels: &[Option<u32>],
    ) -> Result<(), GpuError> {
        let stores = &mut self.stores;
        let packed = &stores.skins.get(skin)?.packed;
        if channels.len() != packed.channel_count() {
            let (prim, count) = (packed.prim(), packed.channel_count());
            let (expected, found) = (format!("{count} channels"), channels.len().to_string());
            return Err(GpuError::invalid(prim, expected, found));
        }
        if let Some(channel) = channels.iter().flatten().find(|c| **c == NONE) {
            let (expected, found) = (
                format!("channels of clips below {NONE}"),
                channel.to_string(),
            );
            return Err(GpuError::invalid(packed.prim(), expected, found));
        }
        let pages = &mut stores.skin_pages;
        stores
            .clips
            .set_channels(&self.skinner, pages, skin, channels)
    }

    /// Sets the clock of all clips and fades for the coming frames, in seconds. It may begin
    /// anywhere and may also stand still or go back. It is kept in steps of 1/65,536 s.
    ///
    /// Set it before [`Crowd::set_playing`]: a clip or a fade begins at this time.
    pub fn set_clock(&mut self, seconds: f64) {
        self.awaits_advance = false;
        self.stores.players.set_clock(seconds);
    }

    /// Moves the clock on by some seconds: once per frame, for all that the crowd plays. First it
    /// takes out whatever was dropped since the last call, such as a character of `sinew-character`.
    ///
    /// # Errors
    /// [`GpuError::Invalid`] if the seconds are negative or not finite. The clock then stays.
    pub fn advance(&mut self, seconds: f64) -> Result<(), GpuError> {
        while let Some(run) = self.deferred.take() {
            run(self);
        }
        if !(seconds.is_finite() && seconds >= 0.0) {
            let (what, expected) = ("time to advance a crowd by", "seconds, 0 or more");
            return Err(GpuError::invalid(what, expected, seconds.to_string()));
        }
        self.set_clock(self.clock() + seconds);
        Ok(())
    }

    /// Whether a frame was encoded since [`Crowd::advance`] or [`Crowd::set_clock`] was called last.
    /// Another frame would show the same moment.
    #[must_use]
    pub fn awaits_advance(&self) -> bool {
        self.awaits_advance
    }

    /// Sends work to the next [`Crowd::advance`], from whoever has no access to the crowd.
    #[doc(hidden)]
    #[must_use]
    pub fn deferred(&self) -> std::sync::mpsc::Sender<Work> {
        self.deferred.sender.clone()
    }

    /// The time of the clock, in seconds; 0 at first.
    #[must_use]
    pub fn clock(&self) -> f64 {
        self.stores.players.seconds
    }

    /// Sets what a rig plays, until another call changes it. From then on the GPU computes its
    /// pose from the clock: a frame uploads nothing for it. Only this call uploads its new state,
    /// 64 bytes with the next frame. If that equals the old one, nothing is uploaded.
    ///
    /// Local transforms of [`Crowd::set_joints`] have no effect any more; a fade begins at them.
    /// See [`Playing`] for what happens to a fade that is interrupted.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id, [`GpuError::Invalid`] for a clip with another number
    /// of joints than the rig, or numbers out of range; [`GpuError::Limit`] if more rigs fade from
    /// snapshots than one binding holds. After an error the rig plays what it played.
    pub fn set_playing(&mut self, rig: RigId, playing: &Playing) -> Result<(), GpuError> {
        playing.check(&self.stores.clips, &self.stores.rigs.get(rig)?.packed)?;
        self.play(rig, playing)
    }

    /// Sets what many rigs play; otherwise the same as [`Crowd::set_playing`]. All are checked
    /// before any is changed.
    ///
    /// # Errors
    /// As [`Crowd::set_playing`]. After [`GpuError::Limit`] the rigs before have their new state.
    pub fn set_playing_all(&mut self, all: &[(RigId, Playing)]) -> Result<(), GpuError> {
        for (rig, playing) in all {
            playing.check(&self.stores.clips, &self.stores.rigs.get(*rig)?.packed)?;
        }
        all.iter()
            .try_for_each(|(rig, playing)| self.play(*rig, playing))
    }

    fn play(&mut self, rig: RigId, playing: &Playing) -> Result<(), GpuError> {
        let stores = &mut self.stores;
        let (rigs, clips) = (&mut stores.rigs, &mut stores.clips);
        if let Some(player) = stores.players.set(rig, rigs, clips, playing)? {
            rigs.forget_joints(rig);
            self.update_players(&[(rig, player)]);
        }
        Ok(())
    }

    pub(super) fn update_players(&mut self, changed: &[(RigId, Player)]) {
        if let Some(frame) = &mut self.frame {
            for (rig, player) in changed {
                frame.poses.update_player(*rig, player);
            }
        }
    }

    /// Whether a rig plays clips.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn is_playing(&self, rig: RigId) -> Result<bool, GpuError> {
        self.stores.rigs.get(rig)?;
        Ok(self.stores.players.plays(rig))
    }

    /// The local transforms of a rig that plays, at the time of the clock: computed on the CPU by
    /// the steps of the GPU, for hosts that need a few of them. `None` if the rig does not play, or
    /// while it fades from a snapshot, which only the GPU knows.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn played_joints(&self, rig: RigId) -> Result<Option<Vec<JointTransform>>, GpuError> {
        let Stores { rigs, clips, .. } = &self.stores;
        rigs.get(rig)?;
        Ok(self.stores.players.joints_now(rig, rigs, clips))
    }

    /// The state of a rig as the kernel reads it, for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn player(&self, rig: RigId) -> Player {
        self.stores.players.player(rig)
    }

    /// Prepares the players of a frame: keeps poses that rigs fade from, as the last frame left
    /// them, and the starts of clips near the clock.
    pub(super) fn prepare_players(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        is_lost: bool,
    ) -> Result<(), GpuError> {
        if !self.stores.clips.is_used() {
            return Ok(());
        }
        let moved = self.stores.players.move_starts();
        self.update_players(&moved);
        if is_lost {
            let lost = self.stores.players.lose_snapshots();
            self.update_players(&lost);
        }
        // The places of the last frame, also if the coming one needs another plan.
        let places = self.frame.as_ref().filter(|_| !is_lost);
        let buffers = &self.stores.pose_buffers;
        let find = |rig| {
            let (page, first) = places?.poses.find_joints(rig)?;
            Some((buffers.buffer(page, JOINTS), first))
        };
        let players = &mut self.stores.players;
        let lost = players.capture(&self.skinner, encoder, find)?;
        self.update_players(&lost);
        Ok(())
    }
}

/// Palettes of rigs.
impl Crowd {
    /// Sets whether each frame computes the palette of a rig although no instance may move with
    /// it: for hosts that skin in their own shader ([`Crowd::palette_on_gpu`]).
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn keep_palette(&mut self, rig: RigId, keeps: bool) -> Result<(), GpuError> {
        self.stores.rigs.set_keeps_palette(rig, keeps)
    }

    /// Where the last encoded frame writes the palette of a rig. `None` if it computes none: no
    /// instance that is shown moved with the rig when the frame was planned, and
    /// [`Crowd::keep_palette`] did not ask for it. After the last instance of a rig is removed,
    /// frames compute its palette until they are planned anew.
    ///
    /// ```no_run
    /// # use sinew::gpu::{Crowd, GpuError, RigId};
    /// # fn draw(crowd: &mut Crowd, rig: RigId, encoder: &mut sinew::wgpu::CommandEncoder) -> Result<(), GpuError> {
    /// crowd.keep_palette(rig, true)?;
    /// crowd.encode(encoder)?;
    /// if let Some(palette) = crowd.palette_on_gpu(rig)? {
    ///     // Bind `palette.buffer`, and give `palette.points` to the instance that is drawn.
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The place stays the same as long as [`Crowd::palettes_generation`] does.
    ///
    /// # Errors
    /// [`GpuError::Foreign`] for a foreign id.
    pub fn palette_on_gpu(&self, rig: RigId) -> Result<Option<RigPalette<'_>>, GpuError> {
        let packed = &self.stores.rigs.get(rig)?.packed;
        let place = self
            .frame
            .as_ref()
            .and_then(|frame| frame.poses.find_palette(rig));
        Ok(place.map(|(page, points)| {
            let entries = packed.entry_count() as u32 * 3;
            let has_attachments = !packed.attachments().is_empty();
            RigPalette {
                buffer: self.stores.pose_buffers.buffer(page, PALETTES),
                points,
                normals: packed.has_normals().then_some(points + entries),
                motions: packed.motion_row().map(|row| points + row),
                attachments: has_attachments.then_some(points + packed.attached_row()),
            }
        }))
    }

    /// A number that grows whenever a frame may have moved the palettes of rigs, because it was
    /// planned anew.
    #[must_use]
    pub fn palettes_generation(&self) -> u64 {
        self.plans
    }
}

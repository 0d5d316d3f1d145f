//! The rigs of a crowd that play clips, the clock that they play by, and the poses that they fade
//! from.

use std::ops::Range;

use range_alloc::RangeAllocator;

use super::clips::{ClipId, ClipStore};
use super::playing::{PlayState, Playing, tick_of};
use super::rigs::{RigId, RigStore};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::skinner::Skinner;
use crate::gpu::memory::growable_buffer::GrowableBuffer;
use crate::gpu::memory::upload::Upload;
use crate::kernel::{
    Clock, JointTransform, NONE, PlayedClips, Player, play_joints_on_cpu, play_weight_on_cpu,
};

/// Floats of the pose of a joint.
const FLOATS: u32 = (size_of::<JointTransform>() / 4) as u32;

/// Bytes of held poses that there is room for at first.
const LEAST_HELD: u64 = 1 << 20;

/// Number of players that one frame looks at, to keep their starts near the clock.
const LOOKED_AT: usize = 64;

/// A rig that plays.
#[derive(Clone, Debug)]
struct Entry {
    id: RigId,
    state: PlayState,
    player: Player,
    held: Option<HeldPose>,
}

/// A pose that a rig fades from.
#[derive(Clone, Debug)]
struct HeldPose {
    /// Its floats in the buffer: the joints, the number of weights, the weights.
    floats: Range<u32>,
    /// Weights of the channels of clips.
    weights: Vec<f32>,
}

/// The poses that rigs fade from, on the device.
#[derive(Debug)]
struct HeldPoses {
    buffer: GrowableBuffer,
    free: RangeAllocator<u32>,
    /// One more than the last float that was ever used.
    end: u32,
    /// Floats of the buffer that hold something by now.
    kept: u32,
    /// Number of weights and weights that the next frame uploads, each with their first float.
    weights: Vec<(u32, Vec<f32>)>,
}

/// A pose that the next frame has to keep.
#[derive(Clone, Debug)]
struct Capture {
    rig: RigId,
    first: u32,
    joints: u32,
}

/// What players need of the device.
#[derive(Debug)]
struct OnDevice {
    held: HeldPoses,
    clock: GrowableBuffer,
}

/// The rigs that play.
#[derive(Debug, Default)]
pub struct PlayerStore {
    /// By rig index.
    entries: Vec<Option<Entry>>,
    /// The host's clock, in seconds.
    seconds: f64,
    clock: Clock,
    /// The tick of the last frame that was encoded.
    encoded: u32,
    /// Number of turns that were given to rigs of lower rates.
    turns: u32,
    captures: Vec<Capture>,
    /// The entry that the next frame looks at first.
    cursor: usize,
    /// `None` before the first clip.
    device: Option<OnDevice>,
    /// Counts the rigs that began or ended playing.
    changes: u64,
}

/// A copy of joints to the pose that a rig fades from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointCopy {
    pub page: usize,
    /// Byte offsets.
    pub from: u64,
    pub to: u64,
    pub bytes: u64,
}

impl PlayerStore {
    /// Creates the buffers, if there are none.
    pub fn prepare(&mut self, skinner: &Skinner) -> Result<(), GpuError> {
        if self.device.is_none() {
            self.device = Some(OnDevice::new(skinner)?);
        }
        Ok(())
    }

    /// Sets the clock, in seconds.
    pub fn set_clock(&mut self, seconds: f64) {
        self.seconds = seconds;
        self.clock.ticks = tick_of(seconds);
    }

    /// The clock, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    fn entry(&self, rig: RigId) -> Option<&Entry> {
        let entry = self.entries.get(rig.index() as usize)?.as_ref();
        entry.filter(|entry| entry.id == rig)
    }

    /// Whether a rig plays.
    pub fn plays(&self, rig: RigId) -> bool {
        self.entry(rig).is_some()
    }

    /// The state of a rig as the kernel reads it.
    pub fn player(&self, rig: RigId) -> Player {
        self.entry(rig).map_or(Player::IDLE, |entry| entry.player)
    }

    /// Counts the rigs that began or ended playing.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Sets what a rig plays, which was checked before. Returns its new state if that differs.
    pub fn set(
        &mut self,
        rig: RigId,
        rigs: &RigStore,
        clips: &mut ClipStore,
        playing: &Playing,
    ) -> Result<Option<Player>, GpuError> {
        let held_rig = rigs.get(rig)?;
        let index = rig.index() as usize;
        let ticks = self.clock.ticks;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, None);
        }
        if playing.has_turns() {
            self.turns = self.turns.wrapping_add(1);
        }
        let turn = self.turns;
        let before = self.entry(rig);
        let is_posed = before.is_some() || held_rig.is_posed;
        let fades_from_held = before.is_some_and(|entry| entry.player.needs_held(ticks));
        let state = before.map(|entry| (&entry.state, fades_from_held));
        let next = PlayState::next(state, is_posed, playing, clips, self.seconds, turn);
        let mut weights = Vec::new();
        let mut held = None;
        if next.holds {
            weights = self.last_weights(before, clips);
            let joints = held_rig.packed.joint_count() as u32;
            let count = joints * FLOATS + 1 + weights.len() as u32;
            held = Some((joints, self.hold(count)?));
        } else if let Some(entry) = before.filter(|_| fades_from_held)
            && playing_goes_on(&next.state, &entry.state)
        {
            // The running fade goes on from the same pose.
            held = entry.held.as_ref().map(|held| (0, held.floats.clone()));
            weights = entry
                .held
                .as_ref()
                .map_or(Vec::new(), |h| h.weights.clone());
        }
        let first = held.as_ref().map_or(NONE, |(_, floats)| floats.start);
        let player = next.state.player(first, self.clock.frame.wrapping_add(1));
        let old = self.entries[index].take().filter(|old| old.id == rig);
        if let Some(old) = &old {
            let updated = player.updated;
            if (Player {
                updated,
                ..old.player
            }) == player
            {
                self.entries[index] = Some(old.clone());
                return Ok(None);
            }
        }
        clips.add_users(&next.state.clips());
        match old {
            Some(old) => {
                clips.remove_users(&old.state.clips());
                let is_kept = held.as_ref().is_some_and(|(_, new)| {
                    old.held.as_ref().is_some_and(|old| old.floats == *new)
                });
                if !is_kept {
                    self.free(old.held);
                }
            }
            None => self.changes += 1,
        }
        if let (Some((joints, floats)), true) = (&held, next.holds) {
            let (joints, first) = (*joints, floats.start);
            self.captures.push(Capture { rig, first, joints });
        }
        self.entries[index] = Some(Entry {
            id: rig,
            state: next.state,
            player,
            held: held.map(|(_, floats)| HeldPose { floats, weights }),
        });
        Ok(Some(player))
    }

    /// Stops playing, as when a rig is posed by the host or removed. Returns whether it played.
    pub fn stop(&mut self, rig: RigId, clips: &mut ClipStore) -> bool {
        if self.entry(rig).is_none() {
            return false;
        }
        if let Some(entry) = self.entries[rig.index() as usize].take() {
            clips.remove_users(&entry.state.clips());
            self.free(entry.held);
        }
        self.changes += 1;
        true
    }

    /// Lets go of clips that have no weight any more, so that they can be removed. Returns the rigs
    /// whose state changed.
    pub fn release_ended(&mut self, clips: &mut ClipStore) -> Vec<(RigId, Player)> {
        let (ticks, frame) = (self.clock.ticks, self.clock.frame);
        let mut out = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            let state = entry.state.without_ended(ticks);
            if state.clips() == entry.state.clips() {
                continue;
            }
            clips.add_users(&state.clips());
            clips.remove_users(&entry.state.clips());
            let held = match entry.player.needs_held(ticks) {
                true => entry.player.held,
                false => NONE,
            };
            entry.player = state.player(held, frame.wrapping_add(1));
            entry.state = state;
            out.push((entry.id, entry.player));
        }
        out
    }

    /// The weights of all channels of clips that the last frame gave a rig.
    fn last_weights(&self, entry: Option<&Entry>, clips: &ClipStore) -> Vec<f32> {
        let Some(entry) = entry else {
            return Vec::new();
        };
        let played = played_clips(&entry.state, clips);
        let held = entry.held.as_ref().map_or(&[][..], |held| &held.weights);
        let counts = played.iter().flatten().map(|clip| clip.channel_count());
        let count = counts.max().unwrap_or(0).max(held.len());
        let before = |channel: usize| held.get(channel).copied().unwrap_or(0.0);
        // Those that the last frame had, as its joints.
        let ticks = self.encoded;
        (0..count)
            .map(|c| play_weight_on_cpu(&entry.player, ticks, &played, c, before(c)))
            .collect()
    }

    /// The local transforms of a rig now, by the mirror. `None` if it does not play, or fades from a
    /// held pose, which only the GPU knows.
    pub fn joints_now(
        &self,
        rig: RigId,
        rigs: &RigStore,
        clips: &ClipStore,
    ) -> Option<Vec<JointTransform>> {
        let entry = self.entry(rig)?;
        let ticks = self.clock.ticks;
        if entry.player.needs_held(ticks) {
            return None;
        }
        let packed = &rigs.get(rig).ok()?.packed;
        let played = played_clips(&entry.state, clips);
        // Clips were checked against the rig when it was asked to play them.
        play_joints_on_cpu(packed, &entry.player, ticks, &played, None).ok()
    }

    fn hold(&mut self, count: u32) -> Result<Range<u32>, GpuError> {
        let Some(device) = &mut self.device else {
            return Err(GpuError::invalid("a fade", "clips", "none"));
        };
        if let Ok(range) = device.held.take(count) {
            return Ok(range);
        }
        // Fades that have ended need their poses no more.
        let ticks = self.clock.ticks;
        let mut ended = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            if entry.held.is_some() && !entry.player.needs_held(ticks) {
                ended.extend(entry.held.take());
            }
        }
        for held in ended {
            device.held.free.free_range(held.floats);
        }
        device.held.take(count)
    }

    fn free(&mut self, held: Option<HeldPose>) {
        if let (Some(held), Some(device)) = (held, &mut self.device) {
            device.held.free.free_range(held.floats);
        }
    }

    /// Makes room for held poses, and records copies of those that are new. `places` finds the
    /// joints of a rig as the last frame left them: page, byte and buffer.
    ///
    /// Returns the rigs whose pose cannot be held, because no frame has posed them; they begin their
    /// new clips at once.
    pub fn capture(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        mut find: impl FnMut(RigId) -> Option<(usize, u64)>,
        buffer: impl Fn(usize) -> wgpu::Buffer,
    ) -> Result<Vec<(RigId, Player)>, GpuError> {
        let Some(device) = &mut self.device else {
            return Ok(Vec::new());
        };
        let held = &mut device.held;
        let (bytes, kept) = (u64::from(held.end) * 4, u64::from(held.kept) * 4);
        held.buffer.reserve_in(skinner, bytes, kept, encoder)?;
        held.kept = held.end;
        if self.captures.is_empty() {
            return Ok(Vec::new());
        }
        let mut lost = Vec::new();
        let mut copies: Vec<JointCopy> = Vec::new();
        for capture in self.captures.drain(..) {
            let index = capture.rig.index() as usize;
            let entry = self.entries.get_mut(index).and_then(Option::as_mut);
            // The rig may have been asked for something else since.
            let is_its = |entry: &&mut Entry| {
                let first = entry.held.as_ref().map(|held| held.floats.start);
                entry.id == capture.rig && first == Some(capture.first)
            };
            let Some(entry) = entry.filter(is_its) else {
                continue;
            };
            let Some((page, from)) = find(capture.rig) else {
                entry.player.held = NONE;
                lost.push((capture.rig, entry.player));
                continue;
            };
            let copy = JointCopy {
                page,
                from,
                to: u64::from(capture.first) * 4,
                bytes: u64::from(capture.joints * FLOATS) * 4,
            };
            if copy.bytes > 0 {
                copies.push(copy);
            }
            let weights = entry.held.as_ref().map_or(&[][..], |held| &held.weights);
            let mut words = vec![weights.len() as f32];
            words.extend_from_slice(weights);
            let first = capture.first + capture.joints * FLOATS;
            device.held.weights.push((first, words));
        }
        for copy in &copies {
            let from = buffer(copy.page);
            let to = device.held.buffer.buffer();
            encoder.copy_buffer_to_buffer(&from, copy.from, to, copy.to, copy.bytes);
        }
        Ok(lost)
    }

    /// Ends all fades from held poses at once: a dropped encoder may have been the one that kept
    /// them. Returns the rigs whose state changed.
    pub fn lose_held(&mut self) -> Vec<(RigId, Player)> {
        let mut lost = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            if let Some(held) = entry.held.take() {
                if let Some(device) = &mut self.device {
                    device.held.free.free_range(held.floats);
                }
                entry.player.held = NONE;
                lost.push((entry.id, entry.player));
            }
        }
        lost
    }

    /// Keeps the starts of some clips near the clock. Returns the rigs whose state changed.
    pub fn move_starts(&mut self) -> Vec<(RigId, Player)> {
        let ticks = self.clock.ticks;
        let mut out = Vec::new();
        for _ in 0..LOOKED_AT.min(self.entries.len()) {
            self.cursor = (self.cursor + 1) % self.entries.len();
            let Some(entry) = &mut self.entries[self.cursor] else {
                continue;
            };
            if entry.state.move_starts(ticks) {
                let held = match entry.player.needs_held(ticks) {
                    true => entry.player.held,
                    false => NONE,
                };
                let updated = entry.player.updated;
                entry.player = entry.state.player(held, updated);
                out.push((entry.id, entry.player));
            }
        }
        out
    }

    /// Advances to the frame that is being encoded. `all`: no results of earlier frames are there.
    pub fn begin_frame(&mut self, all: bool) {
        self.clock.frame = self.clock.frame.wrapping_add(1);
        self.clock.all = u32::from(all);
        self.encoded = self.clock.ticks;
    }

    /// What a frame uploads whatever plays, and the weights of new held poses.
    pub fn uploads(&self) -> impl Iterator<Item = Upload<'_>> + Clone {
        self.device.iter().flat_map(|device| {
            let clock = Upload {
                to: device.clock.buffer(),
                offset: 0,
                bytes: bytemuck::bytes_of(&self.clock),
            };
            let weights = device.held.weights.iter().map(|(first, words)| Upload {
                to: device.held.buffer.buffer(),
                offset: u64::from(*first) * 4,
                bytes: bytemuck::cast_slice(words),
            });
            std::iter::once(clock).chain(weights)
        })
    }

    /// Records that everything was uploaded.
    pub fn set_uploaded(&mut self) {
        if let Some(device) = &mut self.device {
            device.held.weights.clear();
        }
    }

    /// Counts what bind groups depend on.
    pub fn version(&self) -> u64 {
        let device = self.device.as_ref();
        device.map_or(0, |device| device.held.buffer.replaced() + 1)
    }

    /// Binds the poses that rigs fade from.
    pub fn held(&self) -> Option<wgpu::BindingResource<'_>> {
        Some(self.device.as_ref()?.held.buffer.whole())
    }

    /// Binds the clock.
    pub fn clock(&self) -> Option<wgpu::BindingResource<'_>> {
        Some(self.device.as_ref()?.clock.whole())
    }

    pub fn buffer_bytes(&self) -> u64 {
        let device = self.device.as_ref();
        device.map_or(0, |d| d.held.buffer.size() + d.clock.size())
    }

    /// The same players on another device. Fades from held poses end at once, because those poses
    /// are lost with the old device.
    pub fn rebuild(&self, skinner: &Skinner, clips: &ClipStore) -> Result<Self, GpuError> {
        let mut out = Self {
            entries: self.entries.clone(),
            seconds: self.seconds,
            clock: self.clock,
            ..Self::default()
        };
        for entry in out.entries.iter_mut().flatten() {
            entry.state.find_clips(clips);
            entry.held = None;
            let updated = entry.player.updated;
            entry.player = entry.state.player(NONE, updated);
        }
        if self.device.is_some() {
            out.prepare(skinner)?;
        }
        Ok(out)
    }
}

/// Whether a state is the one that a rig had, apart from its rate.
fn playing_goes_on(next: &PlayState, before: &PlayState) -> bool {
    next.fade_start() == before.fade_start() && next.clips() == before.clips()
}

fn played_clips<'a>(state: &PlayState, clips: &'a ClipStore) -> PlayedClips<'a> {
    let found = |id: Option<ClipId>| clips.find(id).map(|clip| &*clip.packed);
    state.clips().map(found)
}

impl OnDevice {
    fn new(skinner: &Skinner) -> Result<Self, GpuError> {
        let (storage, limit) = (wgpu::BufferUsages::STORAGE, skinner.limits.binding_bytes);
        let uniform = wgpu::BufferUsages::UNIFORM;
        let most = (limit / 4).min(u64::from(u32::MAX)) as u32;
        let mut buffer = GrowableBuffer::new(skinner, "play.held", storage, limit)?;
        // Growing needs another plan, so the first fades should not need it.
        buffer.reserve(skinner, LEAST_HELD.min(limit), None)?;
        Ok(Self {
            held: HeldPoses {
                buffer,
                free: RangeAllocator::new(0..most),
                end: 0,
                kept: 0,
                weights: Vec::new(),
            },
            clock: GrowableBuffer::new(skinner, "play.clock", uniform, limit)?,
        })
    }
}

impl HeldPoses {
    fn take(&mut self, count: u32) -> Result<Range<u32>, GpuError> {
        let range = self.free.allocate_range(count);
        let range = range.map_err(|_| {
            let asked = (u64::from(self.end) + u64::from(count)) * 4;
            self.buffer.beyond_limit(asked)
        })?;
        self.end = self.end.max(range.end);
        Ok(range)
    }
}

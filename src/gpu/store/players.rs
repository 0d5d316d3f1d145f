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
use crate::gpu::memory::upload::{Content, Upload};
use crate::kernel::{
    Clock, JointTransform, NONE, PlayedClips, Player, play_joints_on_cpu, play_weight_on_cpu,
};

/// Floats of the pose of a joint.
const FLOATS: u32 = (size_of::<JointTransform>() / 4) as u32;

/// Bytes of snapshots that there is room for at first.
const LEAST_BYTES: u64 = 1 << 20;

/// Number of players that one frame looks at, to keep their starts near the clock.
const LOOKED_AT: usize = 64;

/// A rig that plays.
#[derive(Clone, Debug)]
struct Entry {
    id: RigId,
    state: PlayState,
    player: Player,
    snapshot: Option<Snapshot>,
    /// Number of frames that were encoded before this state was set.
    set_after: u32,
    /// The state that the last frame showed, if this one was set after it. The room of its snapshot
    /// may be another's by now.
    last: Option<Box<Entry>>,
}

impl Entry {
    /// First float of the pose that it fades from at a tick, or [`NONE`].
    fn needed_snapshot(&self, ticks: u32) -> u32 {
        match self.player.needs_snapshot(ticks) {
            true => self.player.snapshot,
            false => NONE,
        }
    }
}

/// A pose that a rig fades from.
#[derive(Clone, Debug)]
struct Snapshot {
    /// Its floats in the buffer: the joints, the number of weights, the weights.
    floats: Range<u32>,
    /// Weights of the channels of clips.
    weights: Vec<f32>,
}

/// What players need of the device.
#[derive(Debug)]
struct OnDevice {
    clock: GrowableBuffer,
    /// The poses that rigs fade from.
    snapshots: GrowableBuffer,
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

/// The rigs that play.
#[derive(Debug, Default)]
pub struct PlayerStore {
    /// By rig index.
    entries: Vec<Option<Entry>>,
    /// The host's clock, in seconds.
    pub seconds: f64,
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
    pub changes: u64,
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
        self.entry(rig)
            .map_or_else(Player::idle, |entry| entry.player)
    }

    /// Sets what a rig plays, which was checked before. Returns its new state if that differs.
    pub fn set(
        &mut self,
        rig: RigId,
        rigs: &RigStore,
        clips: &mut ClipStore,
        playing: &Playing,
    ) -> Result<Option<Player>, GpuError> {
        let resident = rigs.get(rig)?;
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
        let is_posed = before.is_some() || resident.is_posed;
        let fades_from_snapshot = before.is_some_and(|entry| entry.player.needs_snapshot(ticks));
        let state = before.map(|entry| (&entry.state, fades_from_snapshot));
        let (state, takes_snapshot) =
            PlayState::next(state, is_posed, playing, clips, self.seconds, turn);
        let joints = resident.packed.joint_count() as u32;
        let snapshot = if takes_snapshot {
            let weights = self.last_weights(before, clips);
            let count = joints * FLOATS + 1 + weights.len() as u32;
            let floats = self.snapshot_room(count)?;
            Some(Snapshot { floats, weights })
        } else {
            // The running fade goes on from the same pose.
            let goes_on =
                |entry: &&Entry| fades_from_snapshot && playing_goes_on(&state, &entry.state);
            before
                .filter(goes_on)
                .and_then(|entry| entry.snapshot.clone())
        };
        let first = snapshot
            .as_ref()
            .map_or(NONE, |snapshot| snapshot.floats.start);
        let player = state.player(first, self.clock.frame.wrapping_add(1));
        let old = self.entries[index].take().filter(|old| old.id == rig);
        if let Some(old) = &old {
            let mut same = old.player;
            same.updated = player.updated;
            if same == player {
                self.entries[index] = Some(old.clone());
                return Ok(None);
            }
        }
        clips.add_users(&state.clips());
        let mut last = None;
        match old {
            Some(mut old) => {
                clips.remove_users(&old.state.clips());
                let floats = |of: &Option<Snapshot>| of.as_ref().map(|s| s.floats.clone());
                if floats(&old.snapshot) != floats(&snapshot) {
                    self.free(old.snapshot.clone());
                }
                let before = old.last.take();
                let is_shown = old.set_after != self.clock.frame;
                last = if is_shown {
                    Some(Box::new(old))
                } else {
                    before
                };
            }
            None => self.changes += 1,
        }
        if takes_snapshot {
            self.captures.push(Capture { rig, first, joints });
        }
        self.entries[index] = Some(Entry {
            id: rig,
            state,
            player,
            snapshot,
            set_after: self.clock.frame,
            last,
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
            self.free(entry.snapshot);
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
            entry.player = state.player(entry.needed_snapshot(ticks), frame.wrapping_add(1));
            entry.state = state;
            out.push((entry.id, entry.player));
        }
        out
    }

    /// The weights of all channels of clips that the last frame gave a rig.
    fn last_weights(&self, entry: Option<&Entry>, clips: &ClipStore) -> Vec<f32> {
        // What was set since the last frame was never shown.
        let Some(entry) = entry.and_then(|entry| match entry.set_after == self.clock.frame {
            true => entry.last.as_deref(),
            false => Some(entry),
        }) else {
            return Vec::new();
        };
        let played = played_clips(&entry.state, clips);
        let snapshot = entry
            .snapshot
            .as_ref()
            .map_or(&[][..], |snapshot| &snapshot.weights);
        let counts = played.iter().flatten().map(|clip| clip.channel_count());
        let count = counts.max().unwrap_or(0).max(snapshot.len());
        let before = |channel: usize| snapshot.get(channel).copied().unwrap_or(0.0);
        // Those that the last frame had, as its joints.
        let ticks = self.encoded;
        (0..count)
            .map(|c| play_weight_on_cpu(&entry.player, ticks, &played, c, before(c)))
            .collect()
    }

    /// The local transforms of a rig now, by the mirror. `None` if it does not play, or fades from a
    /// snapshot, which only the GPU knows.
    pub fn joints_now(
        &self,
        rig: RigId,
        rigs: &RigStore,
        clips: &ClipStore,
    ) -> Option<Vec<JointTransform>> {
        let entry = self.entry(rig)?;
        let ticks = self.clock.ticks;
        if entry.player.needs_snapshot(ticks) {
            return None;
        }
        let packed = &rigs.get(rig).ok()?.packed;
        let played = played_clips(&entry.state, clips);
        // Clips were checked against the rig when it was asked to play them.
        play_joints_on_cpu(packed, &entry.player, ticks, &played, None).ok()
    }

    fn snapshot_room(&mut self, count: u32) -> Result<Range<u32>, GpuError> {
        let Some(device) = &mut self.device else {
            return Err(GpuError::invalid("a fade", "clips", "none"));
        };
        if let Ok(range) = device.take(count) {
            return Ok(range);
        }
        // Fades that have ended need their poses no more.
        let ticks = self.clock.ticks;
        let entries = self.entries.iter_mut().flatten();
        let ended = entries.filter(|entry| !entry.player.needs_snapshot(ticks));
        for snapshot in ended.filter_map(|entry| entry.snapshot.take()) {
            device.free.free_range(snapshot.floats);
        }
        device.take(count)
    }

    fn free(&mut self, snapshot: Option<Snapshot>) {
        if let (Some(snapshot), Some(device)) = (snapshot, &mut self.device) {
            device.free.free_range(snapshot.floats);
        }
    }

    /// Makes room for snapshots, and records copies of those that are new. `find` finds the joints of
    /// a rig as the last frame left them: their buffer and first byte.
    ///
    /// Returns the rigs that have no snapshot, because no frame has posed them; they begin their new
    /// clips at once.
    pub fn capture<'a>(
        &mut self,
        skinner: &Skinner,
        encoder: &mut wgpu::CommandEncoder,
        find: impl Fn(RigId) -> Option<(&'a wgpu::Buffer, u64)>,
    ) -> Result<Vec<(RigId, Player)>, GpuError> {
        let Some(device) = &mut self.device else {
            return Ok(Vec::new());
        };
        let (bytes, kept) = (u64::from(device.end) * 4, u64::from(device.kept) * 4);
        let snapshots = &mut device.snapshots;
        snapshots.reserve_in(skinner, bytes, kept, encoder)?;
        device.kept = device.end;
        let mut lost = Vec::new();
        for Capture { rig, first, joints } in self.captures.drain(..) {
            let entry = self.entries.get_mut(rig.index() as usize);
            let entry = entry.and_then(Option::as_mut).filter(|e| e.id == rig);
            let Some(entry) = entry else {
                continue;
            };
            // The rig may have been asked for something else since.
            let snapshot = entry.snapshot.as_ref().filter(|s| s.floats.start == first);
            let Some(snapshot) = snapshot else {
                continue;
            };
            let Some((from, at)) = find(rig) else {
                entry.player.snapshot = NONE;
                lost.push((rig, entry.player));
                continue;
            };
            let bytes = u64::from(joints * FLOATS) * 4;
            if bytes > 0 {
                let to = &device.snapshots.buffer;
                encoder.copy_buffer_to_buffer(from, at, to, u64::from(first) * 4, bytes);
            }
            let mut words = vec![snapshot.weights.len() as f32];
            words.extend_from_slice(&snapshot.weights);
            device.weights.push((first + joints * FLOATS, words));
        }
        Ok(lost)
    }

    /// Ends all fades from snapshots at once: a dropped encoder may have been the one that kept
    /// them. Returns the rigs whose state changed.
    pub fn lose_snapshots(&mut self) -> Vec<(RigId, Player)> {
        let mut lost = Vec::new();
        for entry in self.entries.iter_mut().flatten() {
            if let Some(snapshot) = entry.snapshot.take() {
                if let Some(device) = &mut self.device {
                    device.free.free_range(snapshot.floats);
                }
                entry.player.snapshot = NONE;
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
                let (snapshot, updated) = (entry.needed_snapshot(ticks), entry.player.updated);
                entry.player = entry.state.player(snapshot, updated);
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

    /// What a frame uploads whatever plays, and the weights of new snapshots.
    pub fn uploads(&self) -> impl Iterator<Item = Upload<'_>> + Clone {
        self.device.iter().flat_map(|device| {
            let clock = Upload {
                to: &device.clock.buffer,
                offset: 0,
                content: Content::Bytes(bytemuck::bytes_of(&self.clock)),
            };
            let weights = device.weights.iter().map(|(first, words)| Upload {
                to: &device.snapshots.buffer,
                offset: u64::from(*first) * 4,
                content: Content::Bytes(bytemuck::cast_slice(words)),
            });
            std::iter::once(clock).chain(weights)
        })
    }

    /// Records that everything was uploaded.
    pub fn set_uploaded(&mut self) {
        if let Some(device) = &mut self.device {
            device.weights.clear();
        }
    }

    /// Counts what bind groups depend on.
    pub fn version(&self) -> u64 {
        let device = self.device.as_ref();
        device.map_or(0, |device| device.snapshots.replaced + 1)
    }

    /// Binds the poses that rigs fade from.
    pub fn snapshots(&self) -> Option<wgpu::BindingResource<'_>> {
        Some(self.device.as_ref()?.snapshots.whole())
    }

    /// Binds the clock.
    pub fn clock(&self) -> Option<wgpu::BindingResource<'_>> {
        Some(self.device.as_ref()?.clock.whole())
    }

    pub fn buffer_bytes(&self) -> u64 {
        let device = self.device.as_ref();
        device.map_or(0, |d| d.snapshots.size() + d.clock.size())
    }

    /// The same players on another device. Fades from snapshots end at once, because those poses
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
            entry.snapshot = None;
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
    next.fade_start == before.fade_start && next.clips() == before.clips()
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
        let mut snapshots = GrowableBuffer::new(skinner, "play.snapshots", storage, limit)?;
        // Growing needs another plan, so the first fades should not need it.
        snapshots.reserve(skinner, LEAST_BYTES.min(limit), None)?;
        Ok(Self {
            clock: GrowableBuffer::new(skinner, "play.clock", uniform, limit)?,
            snapshots,
            free: RangeAllocator::new(0..most),
            end: 0,
            kept: 0,
            weights: Vec::new(),
        })
    }

    fn take(&mut self, count: u32) -> Result<Range<u32>, GpuError> {
        let range = self.free.allocate_range(count);
        let range = range.map_err(|_| {
            let asked = (u64::from(self.end) + u64::from(count)) * 4;
            self.snapshots.beyond_limit(asked)
        })?;
        self.end = self.end.max(range.end);
        Ok(range)
    }
}

//! What a rig is asked to play, and how it gets there from what it plays.

use glam::BVec3;

use super::clips::{ClipId, ClipStore};
use crate::gpu::device::error::GpuError;
use crate::gpu::device::pipelines::bit_if;
use crate::kernel::registry::{
    PLAYER_ADDITIVE_LOOPS, PLAYER_LOOPS, PLAYER_PLAYS, PLAYER_ROOT_X, PLAYER_ROOT_Y, PLAYER_ROOT_Z,
    PLAYER_SECOND_LOOPS,
};
use crate::kernel::{Player, fractions, time_in};

/// A clip as a rig plays it: from which time on, how fast, and whether it loops.
///
/// ```no_run
/// # fn f(walk: sinew::gpu::ClipId) {
/// use sinew::gpu::PlayedClip;
///
/// // Walks at double speed, from 0.4 s of the clip on.
/// let walk = PlayedClip::new(walk).at(0.4).speed(2.0);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct PlayedClip {
    clip: ClipId,
    at: f32,
    since: Option<f64>,
    speed: f32,
    loops: bool,
    keeps_time: bool,
}

impl PlayedClip {
    /// A clip that begins now, at its own speed, and loops.
    pub fn new(clip: ClipId) -> Self {
        Self {
            clip,
            at: 0.0,
            since: None,
            speed: 1.0,
            loops: true,
            keeps_time: false,
        }
    }

    /// Starts at this time of the clip, in seconds.
    pub fn at(self, seconds: f32) -> Self {
        Self {
            at: seconds,
            ..self
        }
    }

    /// Starts at this time of the crowd's clock, in seconds, instead of the time of the call. It
    /// may lie before or after.
    pub fn since(self, clock: f64) -> Self {
        let since = Some(clock);
        Self { since, ..self }
    }

    /// Plays this many times as fast. A negative speed plays backwards, and 0 rests. So does a
    /// speed so low that the clip would have begun more than 16,384 seconds ago.
    pub fn speed(self, speed: f32) -> Self {
        Self { speed, ..self }
    }

    /// Stays at its last pose at the end (its first one, if it plays backwards), instead of looping.
    pub fn clamp(self) -> Self {
        let loops = false;
        Self { loops, ..self }
    }

    /// If the rig already plays this clip, goes on from the time where it is, also at another
    /// speed. Otherwise changes nothing.
    pub fn keep_time(self) -> Self {
        let keeps_time = true;
        Self { keeps_time, ..self }
    }
}

impl From<ClipId> for PlayedClip {
    fn from(clip: ClipId) -> Self {
        Self::new(clip)
    }
}

/// What a rig plays: a clip or a blend of two, and how it gets there.
///
/// ```no_run
/// # use sinew::gpu::{ClipId, Crowd, GpuError, RigId};
/// # fn frame(crowd: &mut Crowd, rig: RigId, [walk, run, breathe]: [ClipId; 3], seconds: f64)
/// # -> Result<(), GpuError> {
/// use sinew::gpu::{PlayedClip, Playing};
///
/// // Between walking and running, while breathing. It gets there within a quarter of a second.
/// let playing = Playing::new(walk).blend(run, 0.3).add(breathe, 0.8).fade(0.25);
/// crowd.set_playing(rig, &playing)?;
/// // Every frame:
/// crowd.set_clock(seconds);
/// crowd.submit()
/// # }
/// ```
///
/// # Fades
/// [`Playing::fade`] leads from what the rig plays to what it is asked to play, at constant speed.
/// No fade jumps:
///
/// - If the rig plays one clip and is asked for another one, both go on while one fades into the
///   other.
/// - If it plays or fades between two clips, and is asked for one of them or for another weight of
///   the two, the weight goes on from where it is. The clips have to go on in time
///   ([`PlayedClip::keep_time`]).
/// - In all other cases, the rig fades from a snapshot of its pose in the last encoded frame. This
///   includes a fade that is interrupted by a third clip. Blend shape weights that clips drive are
///   part of the snapshot. If no frame has posed the rig yet, or its instances were hidden, there
///   is none, and the new clips begin at once.
///
/// An additive clip comes and goes with the same fade.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Playing {
    first: PlayedClip,
    second: Option<(PlayedClip, f32)>,
    additive: Option<(PlayedClip, f32)>,
    fade: f32,
    root_motion: BVec3,
    every: u32,
}

/// Largest number of frames from one update of a rig to the next.
const MOST_FRAMES: u32 = 255;

impl Playing {
    /// One clip, without a fade, with the root motion of the clip, updated in every frame.
    pub fn new(clip: impl Into<PlayedClip>) -> Self {
        Self {
            first: clip.into(),
            second: None,
            additive: None,
            fade: 0.0,
            root_motion: BVec3::TRUE,
            every: 1,
        }
    }

    /// Blends a second clip over the first one. A weight of 0 is the first clip alone, and 1 the
    /// second.
    pub fn blend(self, clip: impl Into<PlayedClip>, weight: f32) -> Self {
        let second = Some((clip.into(), weight));
        Self { second, ..self }
    }

    /// Adds what another clip changes since its beginning, times a weight from 0 to 1.
    pub fn add(self, clip: impl Into<PlayedClip>, weight: f32) -> Self {
        let additive = Some((clip.into(), weight));
        Self { additive, ..self }
    }

    /// Gets there within this many seconds of the clock.
    pub fn fade(self, seconds: f32) -> Self {
        let fade = seconds;
        Self { fade, ..self }
    }

    /// The axes along which clips move the roots of the rig. Along the others, a root stays where
    /// it is at the beginning of each clip, for hosts that move the character themselves.
    pub fn root_motion(self, axes: BVec3) -> Self {
        let root_motion = axes;
        Self {
            root_motion,
            ..self
        }
    }

    /// Updates the rig in one of this many frames, from 1 to 255. In the others it holds its pose.
    /// Rigs take turns.
    pub fn every(self, frames: u32) -> Self {
        let every = frames;
        Self { every, ..self }
    }

    /// Whether the rig is updated in some frames only.
    pub(in crate::gpu) fn has_turns(&self) -> bool {
        self.every > 1
    }

    /// Checks all numbers and clips.
    pub(in crate::gpu) fn check(
        &self,
        clips: &ClipStore,
        rig: &crate::kernel::PackedRig,
    ) -> Result<(), GpuError> {
        let wrong = |what: &str, expected: String, found: String| {
            let what = format!("{}: {what}", rig.path());
            Err(GpuError::invalid(what, expected, found))
        };
        let all = [
            ("clip", Some((self.first, 0.0))),
            ("blend", self.second),
            ("add", self.additive),
        ];
        for (what, layer) in all {
            let Some((played, weight)) = layer else {
                continue;
            };
            let clip = clips.get(played.clip)?;
            let (joints, found) = (rig.joint_count(), clip.packed.joint_count());
            if joints != found {
                let expected = format!("a clip of {joints} joints");
                return wrong(what, expected, found.to_string());
            }
            if !(0.0..=1.0).contains(&weight) {
                return wrong(what, "a weight from 0 to 1".into(), weight.to_string());
            }
            if !(played.speed.is_finite() && played.at.is_finite()) {
                let found = format!("{} at {} s", played.speed, played.at);
                return wrong(what, "a finite speed and time".into(), found);
            }
            if let Some(since) = played.since.filter(|since| !since.is_finite()) {
                return wrong(what, "a finite time of the clock".into(), since.to_string());
            }
        }
        if !(self.fade.is_finite() && self.fade >= 0.0) {
            return wrong("fade", "seconds".into(), self.fade.to_string());
        }
        if !(1..=MOST_FRAMES).contains(&self.every) {
            let expected = format!("1 to {MOST_FRAMES} frames");
            return wrong("every", expected, self.every.to_string());
        }
        Ok(())
    }
}

/// The tick of a time of the clock. Ticks wrap around.
pub fn tick_of(seconds: f64) -> u32 {
    (seconds * 65536.0).round() as i64 as u32
}

/// A clip that a player plays.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    pub id: ClipId,
    first: u32,
    duration: f32,
    start: u32,
    speed: f32,
    loops: bool,
}

impl Layer {
    fn new(
        played: &PlayedClip,
        clips: &ClipStore,
        clock: f64,
        now: &[Option<Layer>],
    ) -> Option<Self> {
        let clip = clips.find(Some(played.clip))?;
        let (mut at, mut since) = (played.at, played.since.unwrap_or(clock));
        let same = now.iter().flatten().find(|layer| layer.id == played.clip);
        if let Some(same) = same.filter(|_| played.keeps_time) {
            (at, since) = (same.time(tick_of(clock)), clock);
        }
        let duration = clip.packed.duration();
        if played.loops && duration > 0.0 {
            at = at.rem_euclid(duration);
        }
        let begun = f64::from(at) / f64::from(played.speed);
        let rests = played.speed == 0.0 || begun.abs() > MOST_SECONDS;
        let (start, speed) = match rests {
            true => (at.to_bits(), 0.0),
            false => (tick_of(since - begun), played.speed),
        };
        Some(Self {
            id: played.clip,
            first: clip.first,
            duration,
            start,
            speed,
            loops: played.loops,
        })
    }

    fn time(&self, ticks: u32) -> f32 {
        time_in(ticks, self.duration, self.start, self.speed, self.loops)
    }

    /// Whether another layer of the same clip is at the same time of it.
    fn goes_on_in(&self, next: &Self, ticks: u32) -> bool {
        let apart = (self.time(ticks) - next.time(ticks)).abs();
        let apart = match self.loops {
            true => apart.min((self.duration - apart).abs()),
            false => apart,
        };
        self.id == next.id && self.loops == next.loops && apart < 1e-3
    }

    /// Keeps its start near the clock, so that the time since then stays exact in f32. Returns
    /// whether it changed.
    fn move_start(&mut self, ticks: u32) -> bool {
        let elapsed = f64::from(ticks.wrapping_sub(self.start).cast_signed());
        if self.speed == 0.0 || elapsed.abs() < f64::from(FAR_TICKS) {
            return false;
        }
        let period = f64::from(self.duration) / f64::from(self.speed.abs()) * 65536.0;
        if self.loops && period > 0.0 {
            let loops = (elapsed / period).trunc();
            let shift = (loops * period).round() as i64 as u32;
            self.start = self.start.wrapping_add(shift);
            return loops != 0.0;
        }
        let time = f64::from(self.time(ticks));
        let is_at_end = match elapsed * f64::from(self.speed) > 0.0 {
            true => time >= f64::from(self.duration),
            false => time <= 0.0,
        };
        // A clip that waits for its start must not lose it.
        if is_at_end && elapsed > 0.0 {
            (self.start, self.speed) = ((time as f32).to_bits(), 0.0);
        }
        is_at_end && elapsed > 0.0
    }
}

/// A clip that would have begun longer ago rests, so that the ticks since then, of which there are
/// 2^32, do not wrap around. The clock may go on by as much before the start is moved.
const MOST_SECONDS: f64 = 16384.0;

/// Starts further than this from the clock are moved: 17 minutes, where f32 still has steps of 61
/// microseconds.
const FAR_TICKS: u32 = 1 << 26;

/// The clips of a player and their weights, as the host knows them.
#[derive(Clone, Debug)]
pub struct PlayState {
    /// First, second, additive.
    pub layers: [Option<Layer>; 3],
    /// Weight of the second clip at the beginning and the end of the fade.
    weights: [f32; 2],
    additive_weights: [f32; 2],
    pub fade_start: u32,
    fade: f32,
    root_motion: BVec3,
    every: u32,
    /// Its turn among rigs of the same rate, below `every`.
    turn: u32,
}

impl PlayState {
    /// The state that a rig is asked to have, and whether it fades there from the pose of the last
    /// frame.
    ///
    /// - `before`: its last state, if it plays; and whether it is fading from a snapshot.
    /// - `is_posed`: whether it has any pose to fade from.
    /// - `turn`: a number that differs from rig to rig.
    pub fn next(
        before: Option<(&Self, bool)>,
        is_posed: bool,
        playing: &Playing,
        clips: &ClipStore,
        clock: f64,
        turn: u32,
    ) -> (Self, bool) {
        let ticks = tick_of(clock);
        let now = before.map_or([None; 3], |(state, _)| state.layers);
        let layer = |played: &PlayedClip| Layer::new(played, clips, clock, &now);
        let first = layer(&playing.first);
        let (second, weight) = match &playing.second {
            Some((played, weight)) => (layer(played), *weight),
            None => (None, 0.0),
        };
        let (additive, additive_weight) = match &playing.additive {
            Some((played, weight)) => (layer(played), *weight),
            None => (None, 0.0),
        };
        // A single clip stands first.
        let (first, second, weight) = match weight {
            1.0 => (second, None, 0.0),
            0.0 => (first, None, 0.0),
            weight => (first, second, weight),
        };
        let same_rate = before.filter(|(state, _)| state.every == playing.every);
        let wanted = Self {
            layers: [first, second, additive],
            weights: [weight; 2],
            additive_weights: [additive_weight; 2],
            fade_start: if playing.fade > 0.0 { ticks } else { 0 },
            fade: playing.fade,
            root_motion: playing.root_motion,
            every: playing.every,
            turn: same_rate.map_or(turn % playing.every, |(state, _)| state.turn),
        };
        if playing.fade <= 0.0 || !is_posed {
            let (fade, fade_start) = (0.0, 0);
            let state = Self {
                fade,
                fade_start,
                ..wanted
            };
            return (state, false);
        }
        let Some((state, fades_from_snapshot)) = before else {
            return (wanted, true);
        };
        if state.leads_to(&wanted, ticks) {
            // It is on its way there.
            let state = Self {
                every: wanted.every,
                turn: wanted.turn,
                ..state.clone()
            };
            return (state, false);
        }
        let going_on = match fades_from_snapshot {
            true => None,
            false => state.go_on_to(&wanted, ticks),
        };
        let takes_snapshot = going_on.is_none();
        (going_on.unwrap_or(wanted), takes_snapshot)
    }

    /// How far its fade has come, from 0 to 1.
    fn share(&self, ticks: u32) -> f32 {
        let (fade_start, fade_seconds) = (self.fade_start, self.fade);
        let fade = Player {
            fade_start,
            fade_seconds,
            ..Player::default()
        };
        fade.faded(ticks)
    }

    fn at(&self, weights: [f32; 2], ticks: u32) -> f32 {
        weights[0] + (weights[1] - weights[0]) * self.share(ticks)
    }

    /// Whether the end of this state's fade is another state.
    fn leads_to(&self, wanted: &Self, ticks: u32) -> bool {
        let goes_on = |a: &Option<Layer>, b: &Option<Layer>| match (a, b) {
            (Some(a), Some(b)) => a.goes_on_in(b, ticks) && a.speed == b.speed,
            (a, b) => a.is_none() && b.is_none(),
        };
        let same = |a: [f32; 2], b: [f32; 2]| fractions(0.0, a[1]) == fractions(0.0, b[1]);
        let end = self.settled();
        let pairs = end.layers.iter().zip(&wanted.layers);
        let layers = pairs.fold(true, |all, (a, b)| all && goes_on(a, b));
        layers
            && same(end.weights, wanted.weights)
            && same(end.additive_weights, wanted.additive_weights)
            && self.root_motion == wanted.root_motion
    }

    /// The state at the end of its fade, without the clips that have no weight then.
    fn settled(&self) -> Self {
        let mut out = self.clone();
        if out.weights[1] >= 1.0 && out.layers[1].is_some() {
            out.layers[0] = out.layers[1].take();
            out.weights[1] = 0.0;
        }
        if out.weights[1] <= 0.0 {
            out.layers[1] = None;
        }
        if out.additive_weights[1] <= 0.0 {
            out.layers[2] = None;
        }
        out.weights[0] = out.weights[1];
        out.additive_weights[0] = out.additive_weights[1];
        (out.fade, out.fade_start) = (0.0, 0);
        out
    }

    /// The state without clips that have no weight any more, if its fade has ended.
    pub fn without_ended(&self, ticks: u32) -> Self {
        match self.share(ticks) >= 1.0 {
            true => self.settled(),
            false => self.clone(),
        }
    }

    /// A state that fades to `wanted` without a snapshot, if there is one.
    fn go_on_to(&self, wanted: &Self, ticks: u32) -> Option<Self> {
        if self.root_motion != wanted.root_motion {
            return None;
        }
        let now = self.without_ended(ticks);
        let goes_on = |a: Option<Layer>, b: Option<Layer>| match (a, b) {
            (Some(a), Some(b)) => a.goes_on_in(&b, ticks),
            _ => false,
        };
        let from = now.at(now.additive_weights, ticks);
        let to = wanted.additive_weights[1];
        let (additive, additive_weights) = match (now.layers[2], wanted.layers[2]) {
            (None, next) => (next, [0.0, to]),
            (last, None) => (last, [from, 0.0]),
            (last, next) if goes_on(last, next) => (next, [from, to]),
            _ => return None,
        };
        let weight = now.at(now.weights, ticks);
        let [a, b, _] = now.layers;
        let [first, second, _] = wanted.layers;
        let end = wanted.weights[1];
        let (first, second, weights) = match (b.is_some(), second.is_some()) {
            (false, false) if goes_on(a, first) => (first, None, [0.0; 2]),
            (false, false) => (a, first, [0.0, 1.0]),
            (true, false) if goes_on(b, first) => (a, first, [weight, 1.0]),
            (true, false) if goes_on(a, first) => (first, b, [weight, 0.0]),
            (true, true) if goes_on(a, first) && goes_on(b, second) => {
                (first, second, [weight, end])
            }
            (false, true) if goes_on(a, first) => (first, second, [0.0, end]),
            (false, true) if goes_on(a, second) => (first, second, [1.0, end]),
            _ => return None,
        };
        Some(Self {
            layers: [first, second, additive],
            weights,
            additive_weights,
            ..wanted.clone()
        })
    }

    /// Keeps the starts of clips near the clock, so that times stay exact in f32. Returns whether
    /// something changed.
    pub fn move_starts(&mut self, ticks: u32) -> bool {
        let mut changed = false;
        for layer in self.layers.iter_mut().flatten() {
            changed |= layer.move_start(ticks);
        }
        let elapsed = ticks.wrapping_sub(self.fade_start).cast_signed();
        if self.fade > 0.0 && elapsed > 1 << 26 && self.share(ticks) >= 1.0 {
            *self = self.settled();
            changed = true;
        }
        changed
    }

    /// The clips of its layers.
    pub fn clips(&self) -> [Option<ClipId>; 3] {
        self.layers.map(|layer| layer.map(|layer| layer.id))
    }

    /// The state as the kernel reads it.
    ///
    /// - `snapshot`: first float of the pose that it fades from, or [`NONE`].
    /// - `frame`: the frame that has to update the rig.
    pub fn player(&self, snapshot: u32, frame: u32) -> Player {
        let mut out = Player::idle();
        let bits = [PLAYER_LOOPS, PLAYER_SECOND_LOOPS, PLAYER_ADDITIVE_LOOPS];
        let axes = [PLAYER_ROOT_X, PLAYER_ROOT_Y, PLAYER_ROOT_Z];
        out.flags = PLAYER_PLAYS | self.every << 8 | self.turn << 16;
        for (layer, bit) in self.layers.iter().zip(bits) {
            out.flags |= bit_if(layer.is_some_and(|layer| layer.loops), bit);
        }
        for (moves, bit) in <[bool; 3]>::from(self.root_motion).into_iter().zip(axes) {
            out.flags |= bit_if(moves, bit);
        }
        if let Some(layer) = self.layers[0] {
            (out.clip, out.start, out.speed) = (layer.first, layer.start, layer.speed);
        }
        if let Some(layer) = self.layers[1] {
            (out.second, out.second_start) = (layer.first, layer.start);
            out.second_speed = layer.speed;
        }
        if let Some(layer) = self.layers[2] {
            (out.additive, out.additive_start) = (layer.first, layer.start);
            out.additive_speed = layer.speed;
        }
        out.weights = fractions(self.weights[0], self.weights[1]);
        out.additive_weights = fractions(self.additive_weights[0], self.additive_weights[1]);
        (out.fade_start, out.fade_seconds) = (self.fade_start, self.fade);
        (out.snapshot, out.updated) = (snapshot, frame);
        out
    }

    /// Takes over where clips lie, after they were uploaded to another device.
    pub fn find_clips(&mut self, clips: &ClipStore) {
        for layer in self.layers.iter_mut().flatten() {
            if let Some(clip) = clips.find(Some(layer.id)) {
                layer.first = clip.first;
            }
        }
    }
}

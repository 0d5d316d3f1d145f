//! Playing clips on the GPU: computes the local transforms of joints, and weights of blend shape
//! channels, from packed clips and one clock. `shaders/play.wgsl` and its mirror.

use glam::{Quat, Vec3, Vec4, Vec4Swizzles};

use super::layout::{gpu_struct, wgsl};
use super::registry::{
    FRACTION_STEP, PLAYER_ADDITIVE_LOOPS, PLAYER_ALL_AXES, PLAYER_LOOPS, PLAYER_PLAYS,
    PLAYER_SECOND_LOOPS, SECONDS_PER_TICK, SMALLEST_AREA,
};
use super::{Access, Binding, Dispatch, JointTransform, Kernel, NONE, PackedClip, PackedRig};
use crate::error::Invalid;

gpu_struct! {
    /// The rigs of a batch that lie one after the other, or the blend shape channels of one
    /// instance. Offsets count elements of the bound buffer.
    pub struct PlayItem {
        /// Number of its first workgroup.
        first_workgroup: u32,
        /// Number of rigs.
        copies: u32,
        /// Number of joints of a rig, or of channels.
        count: u32,
        /// The player of the first rig.
        players: u32,
        /// First pair of the joints of the first rig. For channels: the floats of a snapshot in
        /// front of its weights.
        joints: u32,
        /// First word of the parents of the joints. For channels: of the channel of clips that
        /// drives each, or [`NONE`].
        table: u32,
        /// First weight of the channels; [`NONE`] for joints.
        channels: u32,
    }
}

gpu_struct! {
    /// The state of a rig that plays clips.
    ///
    /// A clip is given by its first word in the bound buffer ([`NONE`]: no clip), the tick at which
    /// its time is 0, and its speed. If the speed is 0, the bits of its time stand in place of that
    /// tick.
    pub struct Player {
        /// The first clip.
        clip: u32,
        start: u32,
        speed: f32,
        /// The second clip, which is blended over the first one.
        second: u32,
        second_start: u32,
        second_speed: f32,
        /// The clip whose changes are added.
        additive: u32,
        additive_start: u32,
        additive_speed: f32,
        /// The weight of the second clip at the beginning of the fade (low half) and at its end, in
        /// steps of 1/65,535.
        weights: u32,
        /// The same for the additive clip.
        additive_weights: u32,
        /// The tick at which the fade begins.
        fade_start: u32,
        /// Length of the fade; 0 if it has ended.
        fade_seconds: f32,
        /// First float of the pose that the rig fades from, or [`NONE`].
        snapshot: u32,
        /// Bits of [`super::registry`] named `PLAYER_`; in bits 8 to 15 the number of frames from
        /// one update to the next, in bits 16 to 23 the phase among them.
        flags: u32,
        /// The frame in which this state was set, which updates the rig whatever its rate.
        updated: u32,
    }
}

const _: () = assert!(size_of::<Player>() <= 64, "a player takes at most 64 bytes");

gpu_struct! {
    /// All that a frame uploads for rigs that only play.
    pub struct Clock {
        /// The time in ticks of 1/65,536 s. It wraps around.
        ticks: u32,
        /// Number of the frame.
        frame: u32,
        /// Not 0 if every rig is updated, because the buffers hold no earlier results.
        all: u32,
        unused: u32,
    }
}

/// The kernel that plays clips. [`play_joints_on_cpu`] and [`play_weight_on_cpu`] are its mirror.
///
/// Rotations are blended by normalised linear interpolation along the shorter arc. Against a
/// spherical one, a rotation between two that are a right angle apart is off by less than a degree.
pub const PLAY: Kernel = Kernel {
    name: "play",
    wgsl: wgsl![
        "common/dispatch",
        "common/items",
        "common/packed_clip",
        "play"
    ],
    bindings: &[
        Binding::new(0, "dispatch", Access::Uniform, size_of::<Dispatch>()),
        Binding::new(1, "items", Access::Read, size_of::<PlayItem>()),
        Binding::new(2, "skins", Access::Read, 4),
        Binding::new(3, "clips", Access::Read, 4),
        Binding::new(4, "players", Access::Read, size_of::<Player>()),
        Binding::new(5, "snapshots", Access::Read, 4),
        Binding::new(6, "joints", Access::ReadWrite, 8),
        Binding::new(7, "channels", Access::ReadWrite, 4),
        Binding::new(8, "clock", Access::Uniform, size_of::<Clock>()),
    ],
    structs: &[
        Dispatch::LAYOUT,
        PlayItem::LAYOUT,
        Player::LAYOUT,
        Clock::LAYOUT,
    ],
    overrides: &[],
    numbers: &[],
};

impl Player {
    /// A rig that plays nothing.
    #[must_use]
    pub fn idle() -> Self {
        Self {
            clip: NONE,
            second: NONE,
            additive: NONE,
            snapshot: NONE,
            ..Self::default()
        }
    }

    /// Whether it plays.
    #[must_use]
    pub fn plays(&self) -> bool {
        self.flags & PLAYER_PLAYS != 0
    }

    /// How far its fade has come at a tick, from 0 to 1.
    #[must_use]
    pub fn faded(&self, ticks: u32) -> f32 {
        let is_fading = self.fade_seconds > 0.0;
        if !is_fading {
            return 1.0;
        }
        (seconds_since(ticks, self.fade_start) / self.fade_seconds).clamp(0.0, 1.0)
    }

    /// The weight of the second clip at a tick.
    #[must_use]
    pub fn weight(&self, ticks: u32) -> f32 {
        mixed_fractions(self.weights, self.faded(ticks))
    }

    /// The weight of the additive clip at a tick.
    #[must_use]
    pub fn additive_weight(&self, ticks: u32) -> f32 {
        mixed_fractions(self.additive_weights, self.faded(ticks))
    }

    /// Whether it needs the pose that it fades from at a tick.
    #[must_use]
    pub fn needs_snapshot(&self, ticks: u32) -> bool {
        self.snapshot != NONE && self.faded(ticks) < 1.0
    }
}

/// Two weights from 0 to 1 as fractions of 16 bits, as a [`Player`] holds them.
#[must_use]
pub fn fractions(first: f32, last: f32) -> u32 {
    let fraction = |weight: f32| (weight.clamp(0.0, 1.0) / FRACTION_STEP).round() as u32;
    fraction(first) | fraction(last) << 16
}

/// Seconds since a tick, negative before it.
fn seconds_since(now: u32, tick: u32) -> f32 {
    now.wrapping_sub(tick).cast_signed() as f32 * SECONDS_PER_TICK
}

fn mixed_fractions(fractions: u32, share: f32) -> f32 {
    let first = (fractions & 0xffff) as f32 * FRACTION_STEP;
    let last = (fractions >> 16) as f32 * FRACTION_STEP;
    first + (last - first) * share
}

/// The time in a clip of this length.
pub(crate) fn time_in(now: u32, duration: f32, start: u32, speed: f32, loops: bool) -> f32 {
    if speed == 0.0 {
        return f32::from_bits(start);
    }
    let time = seconds_since(now, start) * speed;
    let has_length = duration > 0.0;
    if !loops || !has_length {
        return time.max(0.0).min(duration);
    }
    let mut within = time - (time / duration).floor() * duration;
    if within >= duration {
        within -= duration;
    }
    within.max(0.0)
}

fn blended_rotation(a: Vec4, b: Vec4, share: f32) -> Vec4 {
    let near = if a.dot(b) < 0.0 { -b } else { b };
    let q = a + (near - a) * share;
    let square = q.dot(q);
    // False for NaN, too.
    let is_long = square > SMALLEST_AREA;
    if is_long { q / square.sqrt() } else { b }
}

/// A joint as the steps below compute with it.
#[derive(Clone, Copy)]
struct Joint {
    translation: Vec3,
    rotation: Vec4,
    scale: Vec3,
}

impl From<JointTransform> for Joint {
    fn from(joint: JointTransform) -> Self {
        Self {
            translation: joint.translation.into(),
            rotation: joint.rotation.into(),
            scale: joint.scale.into(),
        }
    }
}

impl From<Joint> for JointTransform {
    fn from(joint: Joint) -> Self {
        Self::new(
            joint.translation,
            Quat::from_vec4(joint.rotation),
            joint.scale,
        )
    }
}

fn blended(a: Joint, b: Joint, share: f32) -> Joint {
    if share <= 0.0 {
        return a;
    }
    if share >= 1.0 {
        return b;
    }
    Joint {
        translation: a.translation + (b.translation - a.translation) * share,
        rotation: blended_rotation(a.rotation, b.rotation, share),
        scale: a.scale + (b.scale - a.scale) * share,
    }
}

fn quaternion_product(a: Vec4, b: Vec4) -> Vec4 {
    let xyz = a.w * b.xyz() + b.w * a.xyz() + a.xyz().cross(b.xyz());
    xyz.extend(a.w * b.w - a.xyz().dot(b.xyz()))
}

fn played(clip: &PackedClip, time: f32, joint: usize, is_root: bool, flags: u32) -> Joint {
    let mut out = Joint::from(clip.joint(joint, time));
    if is_root && flags & PLAYER_ALL_AXES != PLAYER_ALL_AXES {
        let begin = Joint::from(clip.joint(joint, 0.0)).translation;
        for axis in 0..3 {
            if flags >> (PLAYER_ALL_AXES.trailing_zeros() + axis) & 1 == 0 {
                out.translation[axis as usize] = begin[axis as usize];
            }
        }
    }
    out
}

fn added(to: Joint, begin: Joint, end: Joint, weight: f32) -> Joint {
    let inverse = (-begin.rotation.xyz()).extend(begin.rotation.w);
    let turn = quaternion_product(inverse, end.rotation);
    let share = blended_rotation(Vec4::W, turn, weight);
    Joint {
        translation: to.translation + (end.translation - begin.translation) * weight,
        rotation: quaternion_product(to.rotation, share),
        scale: to.scale + (end.scale - begin.scale) * weight,
    }
}

/// Blends a joint over another one as the kernel does.
pub(crate) fn blended_joint(a: JointTransform, b: JointTransform, share: f32) -> JointTransform {
    blended(a.into(), b.into(), share).into()
}

/// Adds the change of a joint from `begin` to `end`, times a weight, as the kernel does.
pub(crate) fn added_joint(
    to: JointTransform,
    [begin, end]: [JointTransform; 2],
    weight: f32,
) -> JointTransform {
    added(to.into(), begin.into(), end.into(), weight).into()
}

/// The clips of a [`Player`]: first, second, additive.
pub type PlayedClips<'a> = [Option<&'a PackedClip>; 3];

/// The weights of the clips of a player at a tick, and the time in each.
struct Moment {
    share: f32,
    weight: f32,
    additive_weight: f32,
    times: [f32; 3],
}

impl Moment {
    fn new(player: &Player, ticks: u32, clips: &PlayedClips<'_>) -> Self {
        let of = |index: usize, start: u32, speed: f32, bit: u32| {
            let duration = clips[index].map_or(0.0, PackedClip::duration);
            time_in(ticks, duration, start, speed, player.flags & bit != 0)
        };
        Self {
            share: player.faded(ticks),
            weight: player.weight(ticks),
            additive_weight: player.additive_weight(ticks),
            times: [
                of(0, player.start, player.speed, PLAYER_LOOPS),
                of(
                    1,
                    player.second_start,
                    player.second_speed,
                    PLAYER_SECOND_LOOPS,
                ),
                of(
                    2,
                    player.additive_start,
                    player.additive_speed,
                    PLAYER_ADDITIVE_LOOPS,
                ),
            ],
        }
    }
}

/// The mirror of `PLAY` for joints: computes the local transforms of a rig at a tick of the clock
/// by the same steps in f32. `snapshot` is the pose that the player fades from, if it does.
///
/// # Errors
/// No first clip; a clip or a snapshot with another number of joints than the rig.
pub fn play_joints_on_cpu(
    rig: &PackedRig,
    player: &Player,
    ticks: u32,
    clips: &PlayedClips<'_>,
    snapshot: Option<&[JointTransform]>,
) -> Result<Vec<JointTransform>, Invalid> {
    let count = rig.joint_count();
    let Some(first) = clips[0] else {
        return Err(Invalid::new(rig.path(), "clips", "a first clip", "none"));
    };
    let counts = clips.iter().flatten().map(|clip| clip.joint_count());
    if let Some(other) = counts.chain(snapshot.map(<[_]>::len)).find(|n| *n != count) {
        let expected = format!("clips and poses of {count} joints");
        return Err(Invalid::new(
            rig.path(),
            "joints",
            expected,
            other.to_string(),
        ));
    }
    let now = Moment::new(player, ticks, clips);
    let flags = player.flags;
    let one = |joint: usize| {
        let is_root = rig.is_root(joint);
        let of = |clip: &PackedClip, time: f32| played(clip, time, joint, is_root, flags);
        let of_first = || of(first, now.times[0]);
        let mut out = match clips[1] {
            None => of_first(),
            Some(_) if now.weight <= 0.0 => of_first(),
            Some(second) if now.weight >= 1.0 => of(second, now.times[1]),
            Some(second) => blended(of_first(), of(second, now.times[1]), now.weight),
        };
        if let Some(clip) = clips[2].filter(|_| now.additive_weight > 0.0) {
            let [begin, end] = [0.0, now.times[2]].map(|time| clip.joint(joint, time).into());
            out = added(out, begin, end, now.additive_weight);
        }
        if let Some(snapshot) = snapshot.filter(|_| player.needs_snapshot(ticks)) {
            out = blended(snapshot[joint].into(), out, now.share);
        }
        out.into()
    };
    Ok((0..count).map(one).collect())
}

/// The mirror of `PLAY` for blend shape channels: the weight of a channel of the clips at a tick
/// of the clock. `snapshot` is its weight in the pose that the player fades from.
#[must_use]
pub fn play_weight_on_cpu(
    player: &Player,
    ticks: u32,
    clips: &PlayedClips<'_>,
    channel: usize,
    snapshot: f32,
) -> f32 {
    let now = Moment::new(player, ticks, clips);
    let weight_in = |index: usize, time: f32| match clips[index] {
        Some(clip) if channel < clip.channel_count() => clip.weight(channel, time),
        _ => 0.0,
    };
    let mut out = 0.0;
    if clips[1].is_none() || now.weight < 1.0 {
        out = weight_in(0, now.times[0]);
    }
    if clips[1].is_some() && now.weight > 0.0 {
        let second = weight_in(1, now.times[1]);
        if now.weight >= 1.0 {
            out = second;
        } else {
            out += (second - out) * now.weight;
        }
    }
    if clips[2].is_some() && now.additive_weight > 0.0 {
        out += (weight_in(2, now.times[2]) - weight_in(2, 0.0)) * now.additive_weight;
    }
    if player.needs_snapshot(ticks) {
        out = snapshot + (out - snapshot) * now.share;
    }
    out
}

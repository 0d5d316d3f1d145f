//! What a rig is asked to play, and what it then shows in f64, by the rules of
//! [`sinew::gpu::Playing`].

use std::sync::Arc;

use glam::{BVec3, DQuat, DVec3};
use sinew::gpu::{ClipId, PlayedClip, Playing};
use sinew::kernel::{JointTransform, PackedClip};
use sinew::math::Trs;

use super::figure::CHANNELS;
use crate::cases::options;

options! {
    /// A clip that a rig is asked to play.
    Clip {
        number: usize = 0,
        at: f64 = 0.0,
        since: Option<f64> = None,
        speed: f64 = 1.0,
        clamps: bool = false,
        keeps: bool = false,
    }
}

/// A clip by its number.
pub fn clip(number: usize) -> Clip {
    Clip::default().number(number)
}

impl Clip {
    fn played(&self, ids: &[ClipId]) -> PlayedClip {
        let mut out = PlayedClip::new(ids[self.number]).at(self.at as f32);
        out = out.speed(self.speed as f32);
        if let Some(since) = self.since {
            out = out.since(since);
        }
        if self.clamps {
            out = out.clamp();
        }
        if self.keeps { out.keep_time() } else { out }
    }

    /// The time in the clip.
    fn time(&self, clips: &[Arc<PackedClip>], clock: f64) -> f64 {
        let length = f64::from(clips[self.number].duration());
        let time = self.at + (clock - self.since.unwrap_or(clock)) * self.speed;
        match self.clamps {
            true => time.clamp(0.0, length),
            false => time.rem_euclid(length),
        }
    }
}

options! {
    /// What a rig is asked to play.
    Ask {
        first: Clip = Clip::default(),
        blend: Option<(Clip, f32)> = None,
        add: Option<(Clip, f32)> = None,
        fade: f32 = 0.0,
        /// The axes along which clips move the roots.
        root_motion: BVec3 = BVec3::TRUE,
        every: u32 = 1,
    }
}

/// One clip without a fade.
pub fn play(first: Clip) -> Ask {
    Ask::default().first(first)
}

impl Ask {
    pub fn playing(&self, ids: &[ClipId]) -> Playing {
        let mut out = Playing::new(self.first.played(ids)).fade(self.fade);
        if let Some((clip, weight)) = &self.blend {
            out = out.blend(clip.played(ids), *weight);
        }
        if let Some((clip, weight)) = &self.add {
            out = out.add(clip.played(ids), *weight);
        }
        out.root_motion(self.root_motion).every(self.every)
    }
}

/// What a rig shows: its clips, how their weights change, and the pose that it fades from.
#[derive(Clone, Debug)]
pub struct Show {
    /// First, second, additive.
    pub layers: [Option<Clip>; 3],
    weights: [f64; 2],
    added: [f64; 2],
    begin: f64,
    fade: f64,
    root_motion: BVec3,
    pub held: Option<Held>,
}

/// A pose that a rig fades from; none if the next frame is going to find that it is lost.
type Held = Option<Mirrored>;

impl Show {
    /// What comes of `ask` after what a rig shows `now`. `last` is its pose in the last frame, if it was
    /// posed: none if that is lost.
    pub fn next(
        now: Option<&Self>,
        ask: &Ask,
        clips: &[Arc<PackedClip>],
        clock: f64,
        last: Option<Held>,
    ) -> Self {
        let begin = |clip: Clip| {
            let layers = now.iter().flat_map(|now| now.layers.iter().flatten());
            let mut same = layers.filter(|layer| clip.keeps && layer.number == clip.number);
            let (at, since) = match same.next() {
                Some(layer) => (layer.time(clips, clock), clock),
                None => (clip.at, clip.since.unwrap_or(clock)),
            };
            clip.at(at).since(Some(since))
        };
        let (first, second, weight) = match ask.blend {
            None | Some((_, 0.0)) => (ask.first, None, 0.0),
            Some((clip, 1.0)) => (clip, None, 0.0),
            Some((clip, weight)) => (ask.first, Some(clip), f64::from(weight)),
        };
        let added = f64::from(ask.add.map_or(0.0, |(_, weight)| weight));
        let wanted = Self {
            layers: [Some(first), second, ask.add.map(|(clip, _)| clip)].map(|c| c.map(begin)),
            weights: [weight; 2],
            added: [added; 2],
            begin: clock,
            fade: ask.fade.into(),
            root_motion: ask.root_motion,
            held: None,
        };
        let Some(last) = last.filter(|_| ask.fade > 0.0) else {
            return Self {
                fade: 0.0,
                ..wanted
            };
        };
        if let Some(now) = now {
            if now.settled().is(&wanted, clips, clock) {
                return now.clone();
            }
            let is_held = now.held.is_some() && now.share(clock) < 1.0;
            let next = now.go_on_to(&wanted, clips, clock);
            if let Some(next) = next.filter(|_| !is_held) {
                return next;
            }
        }
        Self {
            held: Some(last),
            ..wanted
        }
    }

    /// How far its fade has come.
    fn share(&self, clock: f64) -> f64 {
        match self.fade > 0.0 {
            true => ((clock - self.begin) / self.fade).clamp(0.0, 1.0),
            false => 1.0,
        }
    }

    /// The end of its fade.
    fn settled(&self) -> Self {
        let [mut first, mut second, added] = self.layers;
        let (mut weight, more) = (self.weights[1], self.added[1]);
        if weight == 1.0 && second.is_some() {
            (first, second, weight) = (second, None, 0.0);
        }
        second = second.filter(|_| weight > 0.0);
        Self {
            layers: [first, second, added.filter(|_| more > 0.0)],
            weights: [weight; 2],
            added: [more; 2],
            fade: 0.0,
            held: None,
            ..*self
        }
    }

    /// Leaves out clips of which its fade has left nothing.
    pub fn settle(&mut self, clock: f64) {
        if self.share(clock) >= 1.0 {
            *self = self.settled();
        }
    }

    fn is(&self, other: &Self, clips: &[Arc<PackedClip>], clock: f64) -> bool {
        let mut pairs = self.layers.iter().zip(&other.layers);
        let same = pairs.all(|pair| match pair {
            (Some(a), Some(b)) => goes_on(a, b, clips, clock) && a.speed == b.speed,
            (a, b) => a.is_none() && b.is_none(),
        });
        let end = |show: &Self| (show.weights[1], show.added[1], show.root_motion);
        same && end(self) == end(other)
    }

    /// Fades to other weights of clips that go on, if it can.
    fn go_on_to(&self, to: &Self, clips: &[Arc<PackedClip>], clock: f64) -> Option<Self> {
        let mut now = self.clone();
        now.settle(clock);
        let share = now.share(clock);
        let at = |[from, to]: [f64; 2]| from + (to - from) * share;
        let same = |a: Option<Clip>, b: Option<Clip>| {
            a.zip(b).is_some_and(|(a, b)| goes_on(&a, &b, clips, clock))
        };
        let [a, b, added] = now.layers;
        let [first, second, more] = to.layers;
        if self.root_motion != to.root_motion
            || added.is_some() && more.is_some() && !same(added, more)
        {
            return None;
        }
        let (weight, end) = (at(now.weights), to.weights[1]);
        let (first, second, weights) = match (b, second) {
            (None, None) if same(a, first) => (first, None, [0.0; 2]),
            (None, None) => (a, first, [0.0, 1.0]),
            (Some(_), None) if same(b, first) => (a, first, [weight, 1.0]),
            (Some(_), None) if same(a, first) => (first, b, [weight, 0.0]),
            (Some(_), Some(_)) if same(a, first) && same(b, second) => {
                (first, second, [weight, end])
            }
            (None, Some(_)) if same(a, first) => (first, second, [0.0, end]),
            (None, Some(_)) if same(a, second) => (first, second, [1.0, end]),
            _ => return None,
        };
        Some(Self {
            layers: [first, second, more.or(added)],
            weights,
            added: [at(now.added), to.added[1]],
            ..to.clone()
        })
    }

    /// Its pose at a time of the clock.
    pub fn at(
        &self,
        clips: &[Arc<PackedClip>],
        is_root: impl Fn(usize) -> bool,
        clock: f64,
    ) -> Truth {
        let share = self.share(clock);
        let weight = |[from, to]: [f64; 2]| from + (to - from) * share;
        let of = |clip: Clip| {
            let packed = &clips[clip.number];
            let mut out = Truth::of(packed, clip.time(clips, clock));
            let begin = Truth::of(packed, 0.0);
            for joint in (0..out.joints.len()).filter(|joint| is_root(*joint)) {
                for axis in (0..3).filter(|axis| !self.root_motion.test(*axis)) {
                    out.joints[joint].translation[axis] = begin.joints[joint].translation[axis];
                }
            }
            out
        };
        let [first, second, added] = self.layers;
        let mut out = of(first.expect("a first clip"));
        if let Some(clip) = second {
            out = out.to(&of(clip), weight(self.weights));
        }
        if let Some(clip) = added {
            let [begin, end] = [0.0, clip.time(clips, clock)];
            let [begin, end] = [begin, end].map(|time| Truth::of(&clips[clip.number], time));
            out = out.plus(&begin, &end, weight(self.added));
        }
        match &self.held {
            Some(Some(held)) => Truth::from(held).to(&out, share),
            _ => out,
        }
    }
}

/// Whether a layer of a clip goes on in another one.
fn goes_on(a: &Clip, b: &Clip, clips: &[Arc<PackedClip>], clock: f64) -> bool {
    let apart = (a.time(clips, clock) - b.time(clips, clock)).abs();
    let length = f64::from(clips[a.number].duration());
    let apart = if a.clamps {
        apart
    } else {
        apart.min(length - apart)
    };
    a.number == b.number && a.clamps == b.clamps && apart < 1e-3
}

/// A pose by the mirror. Without weights, the host sets those of its blend shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirrored {
    pub joints: Vec<JointTransform>,
    pub weights: Vec<f32>,
}

/// A pose in f64: local transforms, and the weights of channels of clips.
#[derive(Clone, Debug)]
pub struct Truth {
    pub joints: Vec<Trs>,
    pub weights: Vec<f64>,
}

fn trs(joint: &JointTransform) -> Trs {
    let vector = |v: [f32; 3]| DVec3::from_array(v.map(f64::from));
    Trs {
        translation: vector(joint.translation),
        rotation: DQuat::from_array(joint.rotation.map(f64::from)).normalize(),
        scale: vector(joint.scale),
    }
}

impl From<&Mirrored> for Truth {
    fn from(pose: &Mirrored) -> Self {
        Self {
            joints: pose.joints.iter().map(trs).collect(),
            weights: pose.weights.iter().map(|w| f64::from(*w)).collect(),
        }
    }
}

impl Truth {
    /// A clip at a time in it. A channel that it lacks has no weight.
    fn of(clip: &PackedClip, seconds: f64) -> Self {
        let weight = |channel: usize| match channel < clip.channel_count() {
            true => f64::from(clip.weight(channel, seconds as f32)),
            false => 0.0,
        };
        let joint = |joint: usize| trs(&clip.joint(joint, seconds as f32));
        Self {
            joints: (0..clip.joint_count()).map(joint).collect(),
            weights: (0..CHANNELS).map(weight).collect(),
        }
    }

    /// Weights of the two, the second of which the host may set. Poses of the host have none.
    fn weights(&self, other: &Self, mix: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let of = |weights: &[f64], c: usize| weights.get(c).copied().unwrap_or(0.0);
        let mixed = |c| mix(of(&self.weights, c), of(&other.weights, c));
        (0..CHANNELS).map(mixed).collect()
    }

    /// Between this pose and another one: rotations by normalised linear interpolation.
    fn to(&self, other: &Self, share: f64) -> Self {
        let pairs = self.joints.iter().zip(&other.joints);
        let joint = |(a, b): (&Trs, &Trs)| {
            let near = if a.rotation.dot(b.rotation) < 0.0 {
                -b.rotation
            } else {
                b.rotation
            };
            Trs {
                translation: a.translation.lerp(b.translation, share),
                rotation: (a.rotation * (1.0 - share) + near * share).normalize(),
                scale: a.scale.lerp(b.scale, share),
            }
        };
        Self {
            joints: pairs.map(joint).collect(),
            weights: self.weights(other, |a, b| a + (b - a) * share),
        }
    }

    /// With the change from one pose to another one on top.
    fn plus(&self, begin: &Self, end: &Self, weight: f64) -> Self {
        let joint = |((a, begin), end): ((&Trs, &Trs), &Trs)| {
            let turn = begin.rotation.conjugate() * end.rotation;
            let near = if turn.w < 0.0 { -turn } else { turn };
            let share = DQuat::IDENTITY * (1.0 - weight) + near * weight;
            Trs {
                translation: a.translation + (end.translation - begin.translation) * weight,
                rotation: a.rotation * share.normalize(),
                scale: a.scale + (end.scale - begin.scale) * weight,
            }
        };
        let joints = self.joints.iter().zip(&begin.joints).zip(&end.joints);
        let change = Self {
            joints: Vec::new(),
            weights: end.weights(begin, |end, begin| (end - begin) * weight),
        };
        Self {
            joints: joints.map(joint).collect(),
            weights: self.weights(&change, |a, b| a + b),
        }
    }
}

//! What a character is asked to play, and how far its clips have come, as the host needs to know it.

use glam::{BVec3, DMat4, DVec3};

use crate::model::Model;

/// A clip that a character plays: which, from which time on, how fast, and whether it loops. A name
/// is enough for a loop from the beginning.
///
/// ```
/// use sinew_character::PlayClip;
///
/// let jump = PlayClip::new("Jump").once().at(0.1).speed(1.5);
/// let walk = PlayClip::from("Walk");
/// # assert!(jump != walk);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct PlayClip {
    pub(crate) name: String,
    pub(crate) at: f32,
    pub(crate) speed: f32,
    pub(crate) loops: bool,
}

impl PlayClip {
    /// A loop from the beginning of a clip. The name is that of the clip, or the last part of it or
    /// a glob if only one clip fits.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            at: 0.0,
            speed: 1.0,
            loops: true,
        }
    }

    /// Holds the last pose at the end, instead of looping.
    pub fn once(self) -> Self {
        let loops = false;
        Self { loops, ..self }
    }

    /// Starts at this time of the clip, in seconds.
    pub fn at(self, seconds: f32) -> Self {
        let at = seconds;
        Self { at, ..self }
    }

    /// Plays this many times as fast. A negative speed plays backwards, and 0 rests.
    pub fn speed(self, speed: f32) -> Self {
        Self { speed, ..self }
    }
}

impl From<&str> for PlayClip {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for PlayClip {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

/// A clip of the model that is played; `None` for the rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub clip: Option<usize>,
    pub at: f32,
    pub speed: f32,
    pub loops: bool,
    /// Whether it goes on from where it is, if it is played already.
    pub goes_on: bool,
}

impl Part {
    pub const REST: Self = Self {
        clip: None,
        at: 0.0,
        speed: 1.0,
        loops: true,
        goes_on: false,
    };
}

/// All that a character is asked to play.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub main: Part,
    pub blend: Option<(Part, f32)>,
    pub add: Option<(Part, f32)>,
    pub fade: f32,
    pub root_motion: BVec3,
}

impl Request {
    pub fn rest() -> Self {
        Self {
            main: Part::REST,
            blend: None,
            add: None,
            fade: 0.0,
            root_motion: BVec3::TRUE,
        }
    }

    /// The same, to be asked for again without a fade: nothing begins anew.
    pub fn going_on(&self) -> Self {
        let on = |part: Part| Part {
            goes_on: true,
            ..part
        };
        Self {
            main: on(self.main),
            blend: self.blend.map(|(part, weight)| (on(part), weight)),
            add: self.add.map(|(part, weight)| (on(part), weight)),
            fade: 0.0,
            ..*self
        }
    }
}

/// A clip and the clock at which it was at a time.
#[derive(Clone, Copy, Debug)]
struct Layer {
    clip: Option<usize>,
    since: f64,
    at: f64,
    speed: f64,
    loops: bool,
}

impl Layer {
    /// Seconds of the clip, not looped yet.
    fn seconds(&self, clock: f64) -> f64 {
        self.at + (clock - self.since) * self.speed
    }

    fn next(part: &Part, before: &[Self], clock: f64) -> Self {
        let same = before.iter().find(|layer| layer.clip == part.clip);
        let at = match same.filter(|_| part.goes_on) {
            Some(same) => same.seconds(clock),
            None => f64::from(part.at),
        };
        Self {
            clip: part.clip,
            since: clock,
            at,
            speed: f64::from(part.speed),
            loops: part.loops,
        }
    }

    /// How far the root of the first skeleton goes, in skeleton space.
    fn root_motion(&self, model: &Model, from: f64, to: f64) -> DVec3 {
        let Some(clip) = self.clip.and_then(|c| model.clips[c].on().first()) else {
            return DVec3::ZERO;
        };
        let topology = model.skeletons[0].skeleton.topology();
        let Some(root) = topology.parents().position(|parent| parent.is_none()) else {
            return DVec3::ZERO;
        };
        let times = [from, to].map(|clock| self.seconds(clock));
        if self.loops {
            let way = clip.root_motion(root, times[0], times[1]);
            return way.unwrap_or_default().as_dvec3();
        }
        let at = |seconds: f64| {
            let joint = clip.packed().joint(root, seconds as f32);
            glam::Vec3::from(joint.translation).as_dvec3()
        };
        at(times[1]) - at(times[0])
    }

    /// The time code at which prims stand that are no joints.
    fn code(&self, model: &Model, clock: f64) -> Option<f64> {
        let clip = &model.clips[self.clip?];
        let seconds = match (clip.is_bound(), clip.on().first()) {
            (false, _) => return None,
            (true, Some(on)) if self.loops => f64::from(on.looped(self.seconds(clock))),
            (true, _) => self.seconds(clock).clamp(0.0, f64::from(clip.duration())),
        };
        Some(clip.start() + seconds * model.codes_per_second)
    }
}

/// The clips of one request.
#[derive(Clone, Debug)]
struct Layers {
    main: Layer,
    second: Option<(Layer, f64)>,
}

impl Layers {
    fn all(&self) -> Vec<Layer> {
        let second = self.second.iter().map(|(layer, _)| *layer);
        std::iter::once(self.main).chain(second).collect()
    }

    fn root_motion(&self, model: &Model, from: f64, to: f64) -> DVec3 {
        let main = self.main.root_motion(model, from, to);
        match &self.second {
            Some((second, weight)) => main.lerp(second.root_motion(model, from, to), *weight),
            None => main,
        }
    }
}

/// How far the clips of a character have come.
#[derive(Clone, Debug)]
pub(crate) struct Playback {
    now: Layers,
    before: Option<Layers>,
    fade_start: f64,
    fade: f64,
}

impl Playback {
    pub fn rest() -> Self {
        let main = Layer::next(&Part::REST, &[], 0.0);
        Self {
            now: Layers { main, second: None },
            before: None,
            fade_start: 0.0,
            fade: 0.0,
        }
    }

    pub fn ask(&mut self, request: &Request, clock: f64) {
        let playing = self.now.all();
        let next = Layers {
            main: Layer::next(&request.main, &playing, clock),
            second: request
                .blend
                .as_ref()
                .map(|(part, weight)| (Layer::next(part, &playing, clock), f64::from(*weight))),
        };
        let old = std::mem::replace(&mut self.now, next);
        if request.fade > 0.0 {
            self.before = Some(old);
            (self.fade_start, self.fade) = (clock, f64::from(request.fade));
        } else if !request.main.goes_on {
            self.before = None;
        }
    }

    /// How far the fade has come, and what it began with.
    fn fading(&self, clock: f64) -> Option<(&Layers, f64)> {
        let share = (clock - self.fade_start) / self.fade;
        let before = self.before.as_ref().filter(|_| share < 1.0)?;
        Some((before, share.max(0.0)))
    }

    /// How far the root of the first skeleton goes between two times of the clock, in skeleton
    /// space.
    pub fn root_motion(&self, model: &Model, from: f64, to: f64) -> DVec3 {
        let now = self.now.root_motion(model, from, to);
        match self.fading(to) {
            Some((before, share)) => before.root_motion(model, from, to).lerp(now, share),
            None => now,
        }
    }

    /// The transform of a mesh: that at the time of the file's own clip where it plays, and else the
    /// first one.
    pub fn transform(&self, model: &Model, mesh: usize, clock: f64) -> DMat4 {
        let out = &model.meshes[mesh].out;
        let Some(scene) = model.moving.as_ref().filter(|_| out.is_moving) else {
            return out.first;
        };
        let at = |layers: &Layers| match layers.main.code(model, clock) {
            Some(code) => out.at(scene, sinew::sampled::Time::At(code)),
            None => out.first,
        };
        let now = at(&self.now);
        match self.fading(clock) {
            Some((before, share)) => at(before) * (1.0 - share) + now * share,
            None => now,
        }
    }
}

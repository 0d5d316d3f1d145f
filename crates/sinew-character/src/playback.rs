//! What a character is asked to play, and how far its clips have come, as the host needs to know
//! it.

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
    /// A loop from the beginning of a clip. The name is that of the clip, or if only one clip
    /// matches, the last words of its name or a glob.
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

    /// Plays this many times as fast. A negative speed plays backwards, and 0 rests. So does a
    /// speed so low that the clip would have begun more than 16,384 seconds ago.
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
    /// Whether it goes on from where it is, if it is played already in the same role.
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
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub main: Part,
    pub blend: Option<(Part, f32)>,
    pub add: Option<(Part, f32)>,
    /// Seconds of a fade of its own. `None` takes part in the fade that runs, and begins at once if
    /// none does.
    pub fade: Option<f32>,
    pub root_motion: BVec3,
}

impl Request {
    pub fn rest() -> Self {
        Self {
            main: Part::REST,
            blend: None,
            add: None,
            fade: Some(0.0),
            root_motion: BVec3::TRUE,
        }
    }

    /// Whether it has a fade of its own.
    pub fn fades(&self) -> bool {
        self.fade.is_some_and(|fade| fade > 0.0)
    }

    /// The same, to be asked for again: nothing begins anew, and a fade that runs goes on.
    pub fn going_on(&self) -> Self {
        let on = |part: Part| Part {
            goes_on: true,
            ..part
        };
        Self {
            main: on(self.main),
            blend: self.blend.map(|(part, weight)| (on(part), weight)),
            add: self.add.map(|(part, weight)| (on(part), weight)),
            fade: None,
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

    /// The time in the clip.
    fn time(&self, model: &Model, clock: f64) -> f32 {
        let seconds = self.seconds(clock);
        match self.clip.and_then(|c| model.clips[c].on().first()) {
            None => 0.0,
            Some(clip) if self.loops => clip.looped(seconds),
            Some(clip) => (seconds as f32).clamp(0.0, clip.duration()),
        }
    }

    fn new(part: &Part, clock: f64) -> Self {
        Self {
            clip: part.clip,
            since: clock,
            at: f64::from(part.at),
            speed: f64::from(part.speed),
            loops: part.loops,
        }
    }

    /// The time from which on the clip is played further, which may lie before its start or after
    /// its end if it does not loop.
    fn goes_on_at(&self, model: &Model, clock: f64) -> f32 {
        match self.loops {
            true => self.time(model, clock),
            false => self.seconds(clock) as f32,
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
        let seconds = f64::from(self.time(model, clock));
        let code = || clip.start() + seconds * model.codes_per_second;
        clip.is_bound().then(code)
    }
}

/// The clips of one request.
#[derive(Clone, Debug)]
struct Layers {
    main: Layer,
    second: Option<(Layer, f64)>,
    additive: Option<Layer>,
}

impl Layers {
    fn new(request: &Request, clock: f64) -> Self {
        let layer = |part: &Part| Layer::new(part, clock);
        let second = request.blend.as_ref();
        Self {
            main: layer(&request.main),
            second: second.map(|(part, weight)| (layer(part), f64::from(*weight))),
            additive: request.add.as_ref().map(|(part, _)| layer(part)),
        }
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
    /// The axes along which clips move the root joints.
    pub moves_roots: BVec3,
}

impl Playback {
    pub fn rest() -> Self {
        Self {
            now: Layers::new(&Request::rest(), 0.0),
            before: None,
            fade_start: 0.0,
            fade: 0.0,
            moves_roots: BVec3::TRUE,
        }
    }

    /// A request with the times of the clips that go on.
    pub fn resumed(&self, request: &Request, model: &Model, clock: f64) -> Request {
        let on = |part: Part, layer: Option<Layer>| match layer {
            Some(layer) if part.goes_on && part.clip == layer.clip => Part {
                at: layer.goes_on_at(model, clock),
                ..part
            },
            _ => part,
        };
        let second = self.now.second.map(|(layer, _)| layer);
        let with = |(part, weight): (Part, f32), layer| (on(part, layer), weight);
        Request {
            main: on(request.main, Some(self.now.main)),
            blend: request.blend.map(|blend| with(blend, second)),
            add: request.add.map(|add| with(add, self.now.additive)),
            ..*request
        }
    }

    /// Seconds that are left of the fade that runs; 0 if none does.
    pub fn fade_left(&self, clock: f64) -> f32 {
        match self.fading(clock) {
            Some(_) => (self.fade_start + self.fade - clock) as f32,
            None => 0.0,
        }
    }

    /// Begins a request that was [`Playback::resumed`].
    pub fn ask(&mut self, request: &Request, clock: f64) {
        let old = std::mem::replace(&mut self.now, Layers::new(request, clock));
        self.moves_roots = request.root_motion;
        if let Some(fade) = request.fade {
            self.before = request.fades().then_some(old);
            (self.fade_start, self.fade) = (clock, f64::from(fade));
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

    /// The transform of a mesh: that at the time of the file's own clip where it plays, and else
    /// the first one.
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

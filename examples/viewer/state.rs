//! Everything the viewer is at a moment, apart from window and device.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use glam::DVec3;
use sinew_render::{Bounds, Camera, Control, JointId, Look};

use super::beside::{Beside, Between, Standing};
use super::clock::Clock;
use super::drops;
use super::files::{Purpose, Selected};
use super::follow::{self, Follow};
use super::keys;
use super::layout::View;
use super::loader::{Place, Task};
use super::messages::clean;
use super::model::Model;
use super::timing::Timing;
use super::verify::Verify;

/// What only the application can do.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Read the file again, with the clip that is chosen.
    Reload,
    /// Another file, in this place.
    Load(Task, Place),
    /// The main character alone.
    Alone,
    /// The file again, with other variants or purposes.
    Select(Selected),
    /// Look through a camera of the file.
    Camera(usize),
    /// Ask for a file to open, or where to save something.
    Ask(Purpose),
    /// Run the checks whose names contain one of these texts, or else all.
    Verify(Vec<String>),
    Quit,
}

/// What else can be done with a file that was dropped.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    pub text: String,
    pub choices: Vec<Choice>,
}

/// What a button says, and what it does.
pub type Choice = (String, Wish);

#[derive(Default)]
pub struct State {
    pub clock: Clock,
    pub control: Control,
    pub look: Look,
    pub camera: Camera,
    /// Of what is shown, at the time shown.
    pub bounds: Bounds,
    /// World positions of each skeleton's joints, at the time shown.
    pub joints: Vec<Vec<glam::DVec3>>,
    /// Weights that the animation has now, by channel.
    pub weights: BTreeMap<String, f32>,
    pub model: Option<Model>,
    /// The character at the right.
    pub beside: Option<Beside>,
    /// How the camera follows the main character.
    pub follow: Follow,
    /// How often the camera went to find a model that had left the picture.
    pub reframed: u64,
    /// The pointer drags something in the picture.
    pub dragging: bool,
    /// Shown until one of the choices is taken, or something else happens.
    pub offer: Option<Offer>,
    /// The other choices of the offer of which one is being tried.
    pub untried: Vec<Choice>,
    /// Shown until it is closed or a file opens.
    pub error: Option<String>,
    /// The files that are being read, by [`Place`].
    pub loading: [Option<PathBuf>; 2],
    /// Joint names are written beside joints.
    pub names: bool,
    /// The chosen joint's weights are shown as colours.
    pub heat: bool,
    /// GPU and CPU are compared at each time shown.
    pub compare: bool,
    /// Largest distance between them, in the stage's units, or why there is none.
    pub difference: Option<Result<f64, String>>,
    /// The panels are hidden.
    pub bare: bool,
    pub help: bool,
    /// The checks of this GPU, from their start until they are closed.
    pub verify: Option<Verify>,
    pub joint_search: String,
    pub shape_search: String,
    /// Joints whose children are not listed.
    pub folded: HashSet<JointId>,
    /// What the last frames took.
    pub stats: Timing,
    /// The window itself.
    pub view: View,
    /// The adapter's name, and whether it is a software one.
    pub adapter: (String, bool),
    /// Pixels of the picture: left, top, width, height.
    pub viewport: [u32; 4],
    /// The same, of the picture at the right.
    pub viewport_beside: [u32; 4],
    pub wishes: Vec<Wish>,
    /// Frame all as soon as the picture's size is known.
    pub frame_wanted: bool,
    /// Frame what is shown now: its box has to be found first.
    pub refit: bool,
    /// The aspect for which everything was framed; `None` once the camera was moved since.
    pub framed_for: Option<f64>,
    /// A file is held over the window.
    pub hovering: bool,
}

impl State {
    /// Shows another file, or the same one read again, which leaves camera, time, joint and sliders as they were.
    pub fn show(&mut self, model: Model, again: bool) {
        let motion = |m: &Model| {
            let task = &m.matched.as_ref()?.task;
            Some((task.file.clone(), task.clip.clone(), task.guess))
        };
        let is_new_motion =
            motion(&model).is_some() && self.model.as_ref().and_then(motion) != motion(&model);
        let keep_time = again && !is_new_motion;
        // Another clip of the file is not the file again, for the clock.
        self.clock.set_range(model.times, keep_time);
        let on = self.follow.on;
        self.follow = Follow::new(model.walk, model.origin);
        if keep_time && self.model.as_ref().is_some_and(|m| m.walk == model.walk) {
            self.follow.on = on;
        }
        if is_new_motion {
            // It may walk elsewhere.
            self.frame_wanted = true;
            self.clock.playing = self.clock.moves();
        }
        self.offer = None;
        if !again {
            self.camera = model.camera;
            self.framed_for = None;
            self.control.weights.clear();
            self.choose(None);
            self.joint_search.clear();
            self.shape_search.clear();
            self.folded.clear();
            self.frame_wanted = true;
            // Of a clip without a character there is nothing else to see.
            self.look.joints |= model.counts.meshes == 0;
            self.clock.playing = self.clock.moves();
        }
        let there = |id: JointId| {
            let skeleton = model.skeletons.get(id.skeleton);
            skeleton.is_some_and(|s| id.joint < s.joints.len())
        };
        if self.look.chosen.is_some_and(|id| !there(id)) {
            self.choose(None);
        }
        self.control
            .weights
            .retain(|name, _| model.shapes.contains(name));
        self.difference = None;
        self.error = None;
        self.loading[Place::Main as usize] = None;
        self.stats.clear();
        let strongest = model.strongest;
        let is_still = model.times.end <= model.times.start;
        self.model = Some(model);
        if let Some(beside) = self.beside.take_if(|_| is_still) {
            self.set_beside(Some(beside));
        }
        if self.heat && self.look.chosen.is_none() {
            self.choose(strongest);
        }
    }

    /// Shows a character at the right of the main one, or none. Where the main one rests, the time
    /// line is that of the other one.
    pub fn set_beside(&mut self, beside: Option<Beside>) {
        let main = self.model.as_ref().map(|m| m.times);
        let other = beside.as_ref().map(|b| b.model.times);
        let is_still = main.is_none_or(|t| t.end <= t.start);
        if let Some(times) = other.or(main).filter(|_| is_still) {
            self.clock.set_range(times, false);
            self.clock.playing = self.clock.moves();
        }
        self.beside = beside;
        self.loading[Place::Beside as usize] = None;
        self.frame_wanted = true;
    }

    /// A file could not be read: what was shown stays, under the message.
    pub fn fail(&mut self, message: String, place: Place) {
        self.error = Some(clean(&message));
        self.loading[place as usize] = None;
    }

    /// The box is that of the time shown now.
    pub fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
        if let Some(model) = &self.model {
            self.follow.begin(&self.joints, model.up_axis);
        }
    }

    /// Carries the camera along with the root, at the time that is shown now.
    pub fn follow_root(&mut self) {
        let Some(model) = &self.model else { return };
        let by = self.follow.step(&self.joints, model.up_axis);
        follow::carry(&mut self.camera, by);
        if let Some(beside) = &mut self.beside {
            // Both cameras are one: the second character is followed if the first one is, or alone.
            beside.follow.on =
                beside.follow.walk.is_some() && self.follow.walk.is_none_or(|_| self.follow.on);
            beside.follow.step(&beside.joints, beside.model.up_axis);
        }
    }

    /// The camera of the picture at the right, and how its space lies in that of the main one.
    pub fn beside_camera(&self) -> Option<(Camera, Between)> {
        let (model, beside) = (self.model.as_ref()?, self.beside.as_ref()?);
        let standing = |model: &Model, bounds: &Bounds, follow: &Follow| Standing {
            bounds: *bounds,
            walked: follow.walked(),
            meters_per_unit: model.meters_per_unit,
            camera: model.camera,
        };
        let main = standing(model, &self.bounds, &self.follow);
        let other = standing(&beside.model, &beside.bounds, &beside.follow);
        let between = Between::new(main, other);
        let camera = between.camera(&self.camera, other.camera, &self.bounds);
        Some((camera, between))
    }

    /// Plays another clip of the list.
    pub fn play_clip(&mut self, number: usize) {
        let task = self.model.as_ref().and_then(|m| drops::clip_of(m, number));
        let wish = task.map(|task| Wish::Load(task, Place::Main));
        self.wishes.extend(wish);
    }

    /// Reads the file again with another variant or other purposes.
    pub fn select(&mut self, change: impl FnOnce(&mut Selected)) {
        let selected = self.model.as_ref().map(|m| m.selected.clone());
        self.wishes.extend(selected.map(|mut selected| {
            change(&mut selected);
            Wish::Select(selected)
        }));
    }

    /// Takes a choice of what is offered, counted from 0; false if there is none. Should it fail, the
    /// others are offered again.
    pub fn take_choice(&mut self, number: usize) -> bool {
        let offered = self.offer.as_ref().map_or(0, |o| o.choices.len());
        let Some(mut offer) = self.offer.take_if(|_| number < offered) else {
            return false;
        };
        let (_, wish) = offer.choices.remove(number);
        self.wishes.push(wish);
        self.untried = offer.choices;
        // It told why there was a choice.
        self.error = None;
        true
    }

    pub fn choose(&mut self, joint: Option<JointId>) {
        self.look.chosen = joint;
        self.sync();
    }

    /// Brings what depends on several settings in line.
    pub fn sync(&mut self) {
        self.control.heat = self.look.chosen.filter(|_| self.heat);
    }

    /// Moves the camera, which looks at the box that is given too.
    pub fn moves(&mut self, by: impl FnOnce(&mut Camera, &Bounds)) {
        self.framed_for = None;
        by(&mut self.camera, &self.bounds);
    }

    pub fn aspect(&self) -> f64 {
        let [_, _, width, height] = self.viewport.map(|n| f64::from(n.max(1)));
        width / height
    }

    /// Frames all that is shown.
    pub fn frame_all(&mut self) {
        let walked = |bounds: &Bounds, by| bounds.transformed(glam::DMat4::from_translation(by));
        let mut bounds = walked(&self.bounds, self.follow.walked());
        if let (Some((_, between)), Some(beside)) = (self.beside_camera(), &self.beside) {
            let other = walked(&beside.bounds, beside.follow.walked());
            bounds = bounds.union(between.bounds(&other));
        }
        if bounds.is_empty() {
            bounds = Bounds::of([DVec3::splat(-1.0), DVec3::ONE]);
        }
        self.camera.frame(&bounds, self.aspect());
        self.framed_for = Some(self.aspect());
    }

    /// Frames all again if the picture has another shape than when everything was framed, and the
    /// camera has not been moved since.
    pub fn fit_shape(&mut self) {
        let changed = |aspect: f64| (aspect / self.aspect() - 1.0).abs() > 1e-3;
        if self.framed_for.is_some_and(changed) {
            self.frame_all();
        }
    }

    /// Puts the chosen joint in the middle of the picture.
    pub fn frame_joint(&mut self) {
        let position = self.look.chosen.and_then(|id| {
            let joints = self.joints.get(id.skeleton)?;
            joints.get(id.joint).copied()
        });
        if let Some(position) = position {
            self.framed_for = None;
            self.camera.orbit_mut(&self.bounds).target = position;
        }
    }

    /// Does what a key of the table does.
    pub fn key(&mut self, name: &str) {
        keys::press(self, name, false, false);
    }

    pub fn toggle_follow(&mut self) {
        self.follow.on = self.follow.walk.is_some() && !self.follow.on;
    }

    /// With no joint chosen yet, the one with the most weight is: a root often has none.
    pub fn toggle_heat(&mut self) {
        self.heat = !self.heat;
        let any = self.model.as_ref();
        let any = any.and_then(|m| m.strongest.or_else(|| m.first_joint()));
        if self.heat && self.look.chosen.is_none() {
            self.look.chosen = any;
        }
        self.sync();
    }

    /// Closes one thing at a time, the topmost first.
    pub fn close(&mut self) {
        if self.help {
            self.help = false;
        } else if self.verify.take_if(|v| !v.is_running()).is_some() {
        } else if self.error.is_some() || self.view.notice.is_some() {
            self.close_message();
        } else if self.offer.is_some() {
            self.offer = None;
        } else {
            self.choose(None);
        }
    }

    /// Closes the message that is shown: the error, or else the notice.
    pub fn close_message(&mut self) {
        if self.error.take().is_none() {
            self.view.notice = None;
        }
    }

    /// What the window is doing, in a few words, and in a sentence.
    pub fn activity(&self) -> (String, &'static str) {
        let interval = self.stats.figures().interval;
        let (text, hint) = match &self.model {
            _ if self.loading[Place::Main as usize].is_some() => (
                "reading a file",
                "the window is redrawn while a file is read",
            ),
            None => (
                "no file is open",
                "nothing is redrawn until something changes",
            ),
            Some(_) if !self.clock.moves() => (
                "nothing moves",
                "the file has one time only; nothing is redrawn until something changes",
            ),
            Some(_) if !self.clock.playing => (
                "paused",
                "paused: nothing is redrawn until something changes",
            ),
            Some(_) => match interval {
                Some(_) => ("", "from one frame to the next, the median of the last 2 s"),
                None => ("playing", "the first frames are not timed yet"),
            },
        };
        match interval.filter(|_| text.is_empty()) {
            Some(seconds) => (format!("{:.1} ms/frame", seconds * 1e3), hint),
            None => (text.into(), hint),
        }
    }
}

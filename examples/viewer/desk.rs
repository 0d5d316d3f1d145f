//! The viewer without its window: what is read and shown, and what becomes of keys, drops and wishes.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_render::Bounds;

use super::beside::Beside;
use super::drawing::Drawing;
use super::drops::{self, Before, Intent, Shown, Unfit};
use super::files::{self, Picked, Purpose};
use super::keys;
use super::loader::{self, Failed, Place, Ready, Request, Task};
use super::model::Model;
use super::state::{State, Wish};
use super::watch::FileWatch;

/// What other threads tell the viewer.
pub enum Wake {
    Read(Request, Box<Result<Ready, Failed>>),
    /// A file of this name was written.
    FileChanged(OsString),
    /// A line of a script on stdin.
    Line(String),
    NoMoreLines,
    /// The answer of a dialog.
    Picked(Purpose, Picked),
}

/// Hands a [`Wake`] to the thread of the viewer. It may be gone by then.
pub type Tell = Arc<dyn Fn(Wake) + Send + Sync>;

/// A file that is being written changes several times; it is read when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(200);

pub struct Desk {
    pub state: State,
    pub drawing: Option<Drawing>,
    tell: Tell,
    /// What was asked for last, for each side.
    wanted: [Option<Request>; 2],
    /// What each side shows.
    shown: [Option<Request>; 2],
    /// Files that each side is made of.
    watched: [Vec<PathBuf>; 2],
    /// What was shown before the file that is being read was dropped.
    before: Option<Before>,
    /// Motions that do not fit a character, which are not offered again.
    unfit: Unfit,
    watch: Option<FileWatch>,
    changed: Option<(Instant, HashSet<OsString>)>,
    /// Number of the last request.
    requests: u64,
    /// Files that were read, or failed to be.
    pub loads: u64,
    last_frame: Option<Instant>,
    /// Seconds from the frame before to this one, while the clip plays.
    pub interval: Option<f64>,
    /// Whether the clip played at the frame before.
    played: bool,
    /// A dialog is open.
    pub asking: bool,
    pub quit: bool,
}

impl Desk {
    pub fn new(tell: Tell) -> Self {
        let mut state = State::default();
        let told = Arc::clone(&tell);
        let watch = FileWatch::new(move |name| told(Wake::FileChanged(name.to_owned())));
        let watch = watch.map_err(|e| state.error = Some(e)).ok();
        Self {
            state,
            drawing: None,
            tell,
            wanted: Default::default(),
            shown: Default::default(),
            watched: Default::default(),
            before: None,
            unfit: Unfit::default(),
            watch,
            changed: None,
            requests: 0,
            loads: 0,
            last_frame: None,
            interval: None,
            played: false,
            asking: false,
            quit: false,
        }
    }

    /// Takes what another thread tells. Lines of scripts are the window's.
    pub fn take(&mut self, wake: Wake) {
        match wake {
            Wake::Read(request, result) => self.received(request, *result),
            Wake::FileChanged(name) => {
                let (since, names) = self.changed.get_or_insert((Instant::now(), HashSet::new()));
                *since = Instant::now();
                names.insert(name);
            }
            Wake::Picked(purpose, picked) => self.picked(purpose, picked),
            Wake::Line(_) | Wake::NoMoreLines => {}
        }
    }

    /// Whether a file is being read, for either side.
    pub fn is_reading(&self) -> bool {
        self.state.loading.is_some() || self.state.loading_beside.is_some()
    }

    /// Reads files again that changed and have been quiet since. Gives when to look again, if some have not been.
    pub fn read_changed(&mut self) -> Option<Instant> {
        // What is being read now is not replaced by what it may replace.
        if self.is_reading() {
            return None;
        }
        let quiet_at = self.changed.as_ref().map(|(since, _)| *since + QUIET)?;
        if Instant::now() < quiet_at {
            return Some(quiet_at);
        }
        if let Some((_, names)) = self.changed.take() {
            self.reload_changed(&names);
        }
        None
    }

    /// Begins to read a file, for one of both places.
    pub fn load(&mut self, task: Task, place: Place) {
        self.requests += 1;
        let request = Request {
            number: self.requests,
            task,
            place,
        };
        let path = Some(request.task.file().to_owned());
        self.wanted[place as usize] = Some(request.clone());
        match place {
            Place::Main => self.state.loading = path,
            Place::Beside => self.state.loading_beside = path,
        }
        let tell = Arc::clone(&self.tell);
        let started = loader::start(request, move |request, result| {
            tell(Wake::Read(request, Box::new(result)));
        });
        if let Err(e) = started {
            self.state.fail(e);
            self.state.loading_beside = None;
        }
    }

    /// Reads what is shown again, or else what was asked for and is broken.
    pub fn reload(&mut self) {
        self.read_again(|shown, wanted, _| shown.or(wanted));
    }

    /// Reads again what files of these names are part of: what could not be shown, or else what is shown.
    fn reload_changed(&mut self, names: &HashSet<OsString>) {
        let has = |file: &Path| file.file_name().is_some_and(|n| names.contains(n));
        self.read_again(|shown, wanted, files| {
            let number = |request: &Option<Request>| request.as_ref().map(|r| r.number);
            let is_broken = number(&wanted) != number(&shown);
            let broken = wanted.filter(|w| is_broken && has(w.task.file()));
            broken.or_else(|| shown.filter(|_| files.iter().any(|f| has(f))))
        });
    }

    /// Loads, for each side, what is chosen of what it shows, what was asked for last, and the files of what it shows.
    fn read_again(
        &mut self,
        choose: impl Fn(Option<Request>, Option<Request>, &[PathBuf]) -> Option<Request>,
    ) {
        // They may fit by now.
        self.unfit.clear();
        for place in [Place::Main, Place::Beside] {
            let at = place as usize;
            let (shown, wanted) = (self.shown[at].clone(), self.wanted[at].clone());
            if let Some(request) = choose(shown, wanted, &self.watched[at]) {
                self.load(request.task, place);
            }
        }
    }

    fn received(&mut self, request: Request, result: Result<Ready, Failed>) {
        self.loads += 1;
        let latest = self.wanted[request.place as usize].as_ref();
        if latest.is_none_or(|latest| latest.number != request.number) {
            return;
        }
        self.last_frame = None;
        let result = result.and_then(|ready| {
            let (files, task) = (ready.files.clone(), ready.task.clone());
            let drawing = self.drawing.as_mut().ok_or("there is no device")?;
            let (model, bounds) = drawing.load(ready, request.place)?;
            Ok((model, bounds, files, task))
        });
        let before = match request.place {
            Place::Main => self.before.take(),
            Place::Beside => None,
        };
        let untried = std::mem::take(&mut self.state.untried);
        match result {
            Ok((model, bounds, files, task)) => {
                self.watched[request.place as usize] = files;
                let request = Request { task, ..request };
                match request.place {
                    Place::Main => self.show(request, model, bounds, before),
                    Place::Beside => self.show_beside(request, model, bounds),
                }
                self.follow();
            }
            Err(failed) => {
                // It is read again when it is mended, and what is shown if that changes.
                self.follow();
                log::warn!("{}", failed.message);
                let message = failed.message.clone();
                match request.place {
                    Place::Main => self.state.fail(message),
                    Place::Beside => {
                        self.state.error = Some(message);
                        self.state.loading_beside = None;
                    }
                }
                self.unfit.note(&request.task, failed.guess.clone());
                let shown = Shown {
                    main: self.state.model.as_ref(),
                    beside: self.state.beside.as_ref().map(|b| &b.model),
                };
                self.state.offer = drops::after_failure(&request.task, &failed, &shown, untried);
            }
        }
    }

    fn show(&mut self, request: Request, model: Model, bounds: Bounds, before: Option<Before>) {
        let shown = self.state.model.as_ref().map(|m| m.path.clone());
        let again = shown.is_some_and(|shown| loader::same_file(&shown, &model.path));
        // What was put beside another file before goes with it.
        if !again
            && self.wanted[Place::Beside as usize]
                .as_ref()
                .is_some_and(|b| b.number < request.number)
        {
            self.alone();
        }
        let offer = before
            .and_then(|before| drops::after_opening(&before, &model, &request.task, &self.unfit));
        self.has_shown(request);
        self.state.bounds = bounds;
        // Another clip of the file is not the file again, for the clock.
        self.state.show(model, again);
        self.state.offer = offer;
    }

    fn show_beside(&mut self, request: Request, model: Model, bounds: Bounds) {
        self.has_shown(request);
        let mut other = Beside::new(model, bounds);
        if let Some(beside) = &self.state.beside
            && beside.model.path == other.model.path
        {
            other.together = beside.together;
        }
        self.state.set_beside(Some(other));
        self.state.offer = None;
    }

    /// Shows the main character alone.
    fn alone(&mut self) {
        let at = Place::Beside as usize;
        (self.wanted[at], self.shown[at]) = (None, None);
        self.watched[at].clear();
        self.state.set_beside(None);
        if let Some(drawing) = &mut self.drawing {
            drawing.alone();
        }
        self.follow();
    }

    fn has_shown(&mut self, request: Request) {
        let at = request.place as usize;
        self.wanted[at] = Some(request.clone());
        self.shown[at] = Some(request);
    }

    /// Watches the files of what is shown, and those that were asked for and could not be shown.
    fn follow(&mut self) {
        let mut files = self.watched.concat();
        let wanted = self.wanted.iter().flatten();
        files.extend(wanted.map(|r| r.task.file().to_owned()));
        let result = self.watch.as_mut().map(|w| w.set_files(&files));
        if let Some(Err(e)) = result {
            log::warn!("{e}");
        }
    }

    /// A key by its name in the table.
    pub fn press(&mut self, name: &str, shift: bool) -> bool {
        let action = keys::action(name, shift);
        if let Some(action) = action {
            self.state.act(action);
        }
        action.is_some()
    }

    /// Takes what the panels and keys wish for; gives the dialog that is to be shown, if there is one.
    pub fn wishes(&mut self) -> Option<Purpose> {
        let mut ask = None;
        for wish in std::mem::take(&mut self.state.wishes) {
            match wish {
                Wish::Reload => self.reload(),
                Wish::Clip(number) => self.play_clip(number),
                Wish::Load(task, place) => self.load(task, place),
                Wish::Alone => self.alone(),
                Wish::Camera(number) => self.look_through(number),
                Wish::AskFile => ask = Some(Purpose::Open),
                Wish::AskPicture => ask = Some(Purpose::SavePicture),
                Wish::Quit => self.quit = true,
            }
        }
        ask.filter(|_| !self.asking)
    }

    /// Looks through a camera of the file.
    fn look_through(&mut self, number: usize) {
        let drawing = self.drawing.as_ref();
        match drawing.and_then(|d| d.camera(number, &self.state)) {
            Some(camera) => {
                self.state.camera = camera;
                self.state.framed_for = None;
            }
            None => {
                let told = "this camera sees nothing: its aperture or its place is no number";
                self.state.error = Some(told.into());
            }
        }
    }

    /// Shows the desktop's dialog for a file.
    pub fn ask(&mut self, purpose: Purpose, window: &winit::window::Window) {
        let near = self.state.model.as_ref().map(|m| m.path.clone());
        let tell = Arc::clone(&self.tell);
        let started = files::ask(purpose, window, near.as_deref(), move |picked| {
            tell(Wake::Picked(purpose, picked));
        });
        match started {
            Ok(()) => self.asking = true,
            Err(e) => self.state.fail(e),
        }
    }

    /// Takes the answer of a dialog.
    fn picked(&mut self, purpose: Purpose, picked: Picked) {
        self.asking = false;
        match picked {
            Picked::Nothing => {}
            Picked::NoDialog => self.state.view.notice = Some(files::without_dialog(purpose)),
            Picked::File(path) if purpose == Purpose::Open => {
                self.dropped(path, Intent::Open);
            }
            Picked::File(path) => {
                if let Err(e) = self.save_picture(&files::with_png(path)) {
                    self.state.fail(e);
                }
            }
        }
    }

    /// A file was dropped into the window.
    pub fn dropped(&mut self, path: PathBuf, intent: Intent) {
        self.state.hovering = false;
        self.state.offer = None;
        self.state.untried.clear();
        let (task, place) = drops::task(self.state.model.as_ref(), path, intent);
        self.before = self.state.model.as_ref().map(Before::new);
        self.load(task, place);
    }

    /// Writes the picture without the panels.
    pub fn save_picture(&mut self, path: &std::path::Path) -> Result<(), String> {
        let drawing = self.drawing.as_mut().ok_or("there is no device")?;
        let picture = drawing.picture(&self.state)?;
        sinew_render::save_png(path, &picture).map_err(|e| e.to_string())?;
        let (width, height) = picture.dimensions();
        let saved = format!("Saved {} ({width} x {height} pixels)", path.display());
        self.state.view.notice = Some(saved);
        Ok(())
    }

    fn play_clip(&mut self, number: usize) {
        let task = self
            .state
            .model
            .as_ref()
            .and_then(|m| drops::clip_of(m, number));
        if let Some(task) = task {
            self.load(task, Place::Main);
        }
    }

    /// Poses what is shown at its time, and moves the camera along with it.
    pub fn pose(&mut self) {
        self.tick();
        let (Some(drawing), state) = (&mut self.drawing, &mut self.state) else {
            return;
        };
        if let Err(e) = drawing.pose(state) {
            state.fail(e);
        }
        state.follow_root();
        if !state.frame_wanted && drawing.has_left(state) {
            state.refit = true;
            state.reframed += 1;
        }
        if state.refit {
            state.refit = false;
            state.set_bounds(drawing.bounds());
            state.frame_all();
        }
    }

    /// Moves the clock on by the time since the last frame.
    fn tick(&mut self) {
        let now = Instant::now();
        let since = self.last_frame.map(|t| (now - t).as_secs_f64());
        let playing = self.state.clock.playing;
        if let Some(seconds) = since {
            self.state.clock.advance(seconds);
        }
        if let Some(beside) = &mut self.state.beside {
            beside.tick(&self.state.clock, since.unwrap_or(0.0));
        }
        self.interval = since.filter(|_| playing && self.played);
        self.played = playing;
        self.last_frame = Some(now);
    }
}

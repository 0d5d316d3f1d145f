//! The viewer without its window: what is read and shown, and what becomes of keys, drops and wishes.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use image::RgbaImage;

use super::beside::Beside;
use super::drawing::Drawing;
use super::drops::{self, Intent, Unfit};
use super::export::{self, Exported};
use super::files::{self, Picked, Purpose, Selected};
use super::loader::{self, Failed, Place, Ready, Request, Task};
use super::model::Model;
use super::platform::{self, FileWatch, Instant};
use super::state::{State, Wish};
use super::verify::{self, Verify};

/// What other threads tell the viewer, or callbacks of a browser.
pub enum Wake {
    /// The window's device is open, or cannot be opened.
    Opened,
    Read(Request, Box<Result<Ready, Failed>>),
    /// A file of this name was written.
    FileChanged(OsString),
    /// A line of a script on stdin.
    Line(String),
    NoMoreLines,
    /// The answer of a dialog.
    Picked(Purpose, Picked),
    /// A picture to save under a path, or why there is none.
    Drawn(PathBuf, Result<RgbaImage, String>),
    /// A character to save under a path, or why there is none.
    Exported(PathBuf, Result<Exported, String>),
    /// The checks whose names contain one of these texts are wanted, or all.
    Verify(Vec<String>),
    /// How far the checks are.
    Verifying(Verify),
    /// A file is held over the page, or no longer.
    Hovering(bool),
    /// A file was dropped into the page, or is named in its address.
    Dropped(PathBuf, Intent),
    /// A file cannot be given to the viewer, and why.
    NotGiven(String),
}

/// Hands a [`Wake`] to the thread of the viewer. It may be gone by then.
pub type Tell = Arc<dyn Fn(Wake) + Send + Sync>;

/// A file that is being written changes several times; it is read when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(200);

/// One place of the window: what it shows, and what was asked for there.
#[derive(Default)]
struct Side {
    /// What was asked for last.
    wanted: Option<Request>,
    shown: Option<Request>,
    /// Files that it is made of.
    files: Vec<PathBuf>,
}

pub struct Desk {
    pub state: State,
    pub drawing: Option<Drawing>,
    tell: Tell,
    /// By [`Place`].
    sides: [Side; 2],
    /// What was shown before the file that is being read was dropped.
    before: Option<Model>,
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
    asking: bool,
    /// A character is being written.
    exporting: bool,
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
            sides: Default::default(),
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
            exporting: false,
            quit: false,
        }
    }

    /// Takes what another thread tells. The device and lines of scripts are the window's.
    pub fn take(&mut self, wake: Wake) {
        match wake {
            Wake::Read(request, result) => self.received(request, *result),
            Wake::FileChanged(name) => {
                let (since, names) = self.changed.get_or_insert((Instant::now(), HashSet::new()));
                *since = Instant::now();
                names.insert(name);
            }
            Wake::Picked(purpose, picked) => self.picked(purpose, picked),
            Wake::Drawn(path, picture) => {
                if let Err(e) = picture.and_then(|picture| self.drawn(&path, &picture)) {
                    self.state.fail(e, Place::Main);
                }
            }
            Wake::Exported(path, exported) => {
                self.exporting = false;
                if let Err(e) = exported.and_then(|exported| self.exported(&path, &exported)) {
                    self.state.fail(e, Place::Main);
                }
            }
            Wake::Verify(names) => self.verify(names),
            Wake::Verifying(verify) => self.state.verify = Some(verify),
            Wake::Hovering(hovering) => self.state.hovering = hovering,
            Wake::Dropped(path, intent) => self.dropped(path, intent),
            Wake::NotGiven(reason) => self.state.fail(reason, Place::Main),
            Wake::Opened | Wake::Line(_) | Wake::NoMoreLines => {}
        }
    }

    /// Whether a file is being read, for either place.
    pub fn is_reading(&self) -> bool {
        self.state.loading.iter().any(Option::is_some)
    }

    /// Whether GPU and CPU are being compared for what is shown.
    pub fn is_comparing(&self) -> bool {
        let state = &self.state;
        state.compare && state.model.is_some() && state.difference.is_none()
    }

    /// Whether nothing is being read, written, compared or checked, and no dialog is open.
    pub fn is_settled(&self) -> bool {
        let works = self.is_reading() || self.exporting || self.is_comparing();
        !works && !self.asking && !self.is_verifying()
    }

    fn is_verifying(&self) -> bool {
        self.state.verify.as_ref().is_some_and(Verify::is_running)
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
        self.state.loading[place as usize] = Some(request.task.file.clone());
        self.sides[place as usize].wanted = Some(request.clone());
        let tell = Arc::clone(&self.tell);
        let started = loader::start(request, move |request, result| {
            tell(Wake::Read(request, Box::new(result)));
        });
        if let Err(e) = started {
            self.state.fail(e, place);
        }
    }

    /// Reads what is shown again, or else what was asked for and is broken.
    pub fn reload(&mut self) {
        self.read_again(|side| side.shown.as_ref().or(side.wanted.as_ref()));
    }

    /// Reads again what files of these names are part of: what could not be shown, or else what is shown.
    fn reload_changed(&mut self, names: &HashSet<OsString>) {
        let has = |file: &Path| file.file_name().is_some_and(|n| names.contains(n));
        self.read_again(|side| {
            let number = |request: &Option<Request>| request.as_ref().map(|r| r.number);
            let is_broken = number(&side.wanted) != number(&side.shown);
            let wanted = side.wanted.as_ref().filter(|_| is_broken);
            let broken = wanted.filter(|w| has(&w.task.file));
            let shown = side.shown.as_ref();
            broken.or_else(|| shown.filter(|_| side.files.iter().any(|f| has(f))))
        });
    }

    /// Loads what is chosen of each side.
    fn read_again(&mut self, choose: impl Fn(&Side) -> Option<&Request>) {
        // They may fit by now.
        self.unfit.clear();
        for place in [Place::Main, Place::Beside] {
            let request = choose(&self.sides[place as usize]);
            if let Some(task) = request.map(|r| r.task.clone()) {
                self.load(task, place);
            }
        }
    }

    fn received(&mut self, request: Request, result: Result<Ready, Failed>) {
        let place = request.place;
        self.loads += 1;
        let latest = self.sides[place as usize].wanted.as_ref();
        if latest.is_none_or(|latest| latest.number != request.number) {
            return;
        }
        self.last_frame = None;
        let before = match place {
            Place::Main => self.before.take(),
            Place::Beside => None,
        };
        let untried = std::mem::take(&mut self.state.untried);
        let failed = match result.and_then(|ready| self.show(&request, ready, before)) {
            Ok(()) => return self.follow(),
            Err(failed) => failed,
        };
        // It is read again when it is mended, and what is shown if that changes.
        self.follow();
        log::warn!("{}", failed.message);
        self.state.fail(failed.message.clone(), place);
        self.unfit.note(&request.task, failed.can_guess);
        let beside = self.state.beside.as_ref().map(|b| &b.model);
        let shown = [self.state.model.as_ref(), beside];
        self.state.offer = drops::after_failure(&request.task, &failed, shown, untried);
    }

    /// Puts a file that was read into its place.
    fn show(
        &mut self,
        request: &Request,
        ready: Ready,
        before: Option<Model>,
    ) -> Result<(), Failed> {
        let drawing = self.drawing.as_mut().ok_or("there is no device")?;
        let (files, task) = (ready.files.clone(), ready.task.clone());
        let (model, bounds) = drawing.load(ready, request.place)?;
        let shown = Request {
            task,
            ..request.clone()
        };
        let same = |shown: &Model| loader::same_file(&shown.path, &model.path);
        match request.place {
            Place::Main => {
                let again = self.state.model.as_ref().is_some_and(same);
                let offer =
                    before.and_then(|b| drops::after_opening(&b, &model, &shown.task, &self.unfit));
                // What was put beside another file before goes with it.
                let beside = self.sides[Place::Beside as usize].wanted.as_ref();
                if !again && beside.is_some_and(|b| b.number < request.number) {
                    self.alone();
                }
                self.state.bounds = bounds;
                self.state.show(model, again);
                self.state.offer = offer;
                // As when the checks began.
                self.state.clock.playing &= !self.is_verifying();
            }
            Place::Beside => {
                let old = self.state.beside.as_ref().filter(|b| same(&b.model));
                let together = old.is_none_or(|b| b.together);
                let beside = Beside::new(model, bounds, together);
                self.state.set_beside(Some(beside));
                self.state.offer = None;
            }
        }
        self.sides[request.place as usize] = Side {
            wanted: Some(shown.clone()),
            shown: Some(shown),
            files,
        };
        Ok(())
    }

    /// Shows the main character alone.
    fn alone(&mut self) {
        self.sides[Place::Beside as usize] = Side::default();
        self.state.set_beside(None);
        if let Some(drawing) = &mut self.drawing {
            drawing.alone();
        }
        self.follow();
    }

    /// Watches the files of what is shown, and those that were asked for and could not be shown.
    fn follow(&mut self) {
        let of_side = |side: &Side| {
            let wanted = side.wanted.iter().map(|r| r.task.file.clone());
            side.files.iter().cloned().chain(wanted).collect::<Vec<_>>()
        };
        let files: Vec<PathBuf> = self.sides.iter().flat_map(of_side).collect();
        let result = self.watch.as_mut().map(|w| w.set_files(&files));
        if let Some(Err(e)) = result {
            log::warn!("{e}");
        }
    }

    /// Takes what the panels and keys wish for; gives the dialog that is to be shown, if there is one.
    pub fn wishes(&mut self) -> Option<Purpose> {
        let mut ask = None;
        for wish in std::mem::take(&mut self.state.wishes) {
            match wish {
                Wish::Reload => self.reload(),
                Wish::Load(task, place) => self.load(task, place),
                Wish::Select(selected) => self.select(selected),
                Wish::Alone => self.alone(),
                Wish::Camera(number) => self.look_through(number),
                Wish::Ask(purpose) => ask = Some(purpose),
                Wish::Verify(names) => self.verify(names),
                Wish::Quit => self.quit = true,
            }
        }
        ask.filter(|_| !self.asking)
    }

    /// Reads the main character again, with other variants or purposes.
    fn select(&mut self, selected: Selected) {
        let shown = self.sides[Place::Main as usize].shown.as_ref();
        if let Some(task) = shown.map(|request| request.task.clone()) {
            self.load(Task { selected, ..task }, Place::Main);
        }
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
        let started = platform::ask(purpose, window, near.as_deref(), move |picked| {
            tell(Wake::Picked(purpose, picked));
        });
        match started {
            Ok(()) => self.asking = true,
            Err(e) => self.state.fail(e, Place::Main),
        }
    }

    /// Takes the answer of a dialog.
    fn picked(&mut self, purpose: Purpose, picked: Picked) {
        self.asking = false;
        match picked {
            Picked::Nothing => {}
            Picked::NoDialog => self.state.view.notice = Some(platform::without_dialog(purpose)),
            Picked::File(path) if purpose == Purpose::Open => {
                self.dropped(path, Intent::Open);
            }
            Picked::File(path) => {
                let path = files::with_extension(path, purpose.extension());
                let saved = match purpose {
                    Purpose::Glb | Purpose::Usdc => self.export(&path, purpose),
                    Purpose::Open | Purpose::SavePicture => self.save_picture(&path),
                };
                if let Err(e) = saved {
                    self.state.fail(e, Place::Main);
                }
            }
        }
    }

    /// Runs the checks whose names contain one of these texts, or all of them, while the window stays alive.
    pub fn verify(&mut self, names: Vec<String>) {
        if self.is_verifying() {
            return;
        }
        // A software adapter is slow enough with the checks alone.
        self.state.clock.playing = false;
        let (what, done, all) = ("checks", 0, 0);
        self.state.verify = Some(Verify::Running { what, done, all });
        let (adapter, tell) = (self.state.adapter.0.clone(), Arc::clone(&self.tell));
        let work = move || {
            let done = verify::run(&adapter, &names, |verify| tell(Wake::Verifying(verify)));
            tell(Wake::Verifying(match done {
                Ok(report) => Verify::Done(Box::new(report)),
                Err(e) => Verify::Failed(e),
            }));
        };
        if let Err(e) = platform::spawn_waiting("verify", work) {
            self.state.verify = Some(Verify::Failed(e));
        }
    }

    /// Writes the main character while the window stays alive.
    pub fn export(&mut self, path: &Path, purpose: Purpose) -> Result<(), String> {
        let side = &self.sides[Place::Main as usize];
        let shown = side.shown.as_ref();
        let task = shown
            .ok_or("nothing is shown that could be saved")?
            .task
            .clone();
        if side.files.iter().any(|file| loader::same_file(file, path)) {
            return Err(format!(
                "{}: the character is read from this file",
                path.display()
            ));
        }
        let (tell, path) = (Arc::clone(&self.tell), path.to_owned());
        self.exporting = true;
        platform::spawn("export", move || {
            let exported = export::exported(&task, purpose).map_err(|failed| failed.message);
            tell(Wake::Exported(path, exported));
        })
    }

    /// Saves what was exported, and tells what it lacks, except what is told of the shown file already.
    fn exported(&mut self, path: &Path, exported: &Exported) -> Result<(), String> {
        let Exported { bytes, lost } = exported;
        platform::save(path, bytes)?;
        let size = bytes.len().div_ceil(1024);
        let mut notice = format!("Saved {} ({size} KiB)", path.display());
        let told = self.state.model.as_ref().map(|model| &model.messages);
        for message in lost.list() {
            if !told.is_some_and(|told| told.list().contains(message)) {
                notice = format!("{notice}\n{}", message.text);
            }
        }
        self.state.view.notice = Some(notice);
        Ok(())
    }

    /// A file was dropped into the window.
    pub fn dropped(&mut self, path: PathBuf, intent: Intent) {
        self.state.hovering = false;
        self.state.offer = None;
        self.state.untried.clear();
        let (task, place) = drops::task(self.state.model.as_ref(), path, intent);
        self.before = self.state.model.clone();
        self.load(task, place);
    }

    /// Writes the picture without the panels, at once if a thread can wait for it.
    pub fn save_picture(&mut self, path: &Path) -> Result<(), String> {
        let drawing = self.drawing.as_mut().ok_or("there is no device")?;
        let picture = drawing.start_picture(&self.state)?;
        let (tell, to) = (Arc::clone(&self.tell), path.to_owned());
        let later = move |picture| tell(Wake::Drawn(to, picture));
        let drawn = platform::finish(Some(drawing.device()), picture, later);
        drawn.map_or(Ok(()), |picture| self.drawn(path, &picture?))
    }

    fn drawn(&mut self, path: &Path, picture: &RgbaImage) -> Result<(), String> {
        let mut bytes = Vec::new();
        let written = sinew_render::write_png(&mut bytes, picture);
        written.map_err(|e| format!("{}: {e}", path.display()))?;
        platform::save(path, &bytes)?;
        let (width, height) = picture.dimensions();
        let saved = format!("Saved {} ({width} x {height} pixels)", path.display());
        self.state.view.notice = Some(saved);
        Ok(())
    }

    /// Poses what is shown at its time, and moves the camera along with it.
    pub fn pose(&mut self) {
        self.tick();
        let (Some(drawing), state) = (&mut self.drawing, &mut self.state) else {
            return;
        };
        if let Err(e) = drawing.pose(state) {
            state.fail(e, Place::Main);
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

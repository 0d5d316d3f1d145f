//! The window's events, and what becomes of them.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sinew_render::Bounds;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use winit::keyboard::ModifiersState;
use winit::window::{Window, WindowId};

use super::beside::Beside;
use super::drawing::Drawing;
use super::drops::{self, Before, Intent, Shown, Unfit};
use super::files::{self, Picked, Purpose};
use super::loader::{self, Failed, Place, Ready, Request, Task};
use super::messages::clean;
use super::model::Model;
use super::screen::{Painted, Screen};
use super::script::{self, Script};
use super::state::{State, Wish};
use super::watch::FileWatch;
use super::{keys, panels, theme};

/// What other threads tell the window.
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

/// A file that is being written changes several times; it is read when it has been quiet for so long.
const QUIET: Duration = Duration::from_millis(200);

pub struct App {
    pub state: State,
    pub script: Script,
    pub screen: Option<Screen>,
    pub drawing: Option<Drawing>,
    egui: egui::Context,
    input: Option<egui_winit::State>,
    size: (u32, u32),
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
    proxy: EventLoopProxy<Wake>,
    watch: Option<FileWatch>,
    changed: Option<(Instant, HashSet<OsString>)>,
    /// Number of the last request.
    requests: u64,
    /// Files that were read, or failed to be.
    pub loads: u64,
    /// Frames that were painted.
    pub frames: u64,
    last_frame: Option<Instant>,
    /// Seconds from the frame before to this one, while the clip plays.
    interval: Option<f64>,
    /// Whether the clip played at the frame before.
    played: bool,
    /// When a script that waits looks again; nothing is drawn before.
    pub next_step: Option<Instant>,
    /// When egui wants to be drawn again.
    repaint_at: Option<Instant>,
    modifiers: ModifiersState,
    /// A dialog is open.
    pub asking: bool,
    /// Pixel that a step of the script is pressing.
    pub pressing: Option<[f32; 2]>,
    /// The clip of the step that is due has been asked for.
    pub clip_asked: bool,
    lost_before: bool,
    /// Why the viewer cannot go on.
    pub failed: Option<String>,
    pub quit: bool,
}

impl App {
    pub fn new(proxy: EventLoopProxy<Wake>, size: (u32, u32), script: Script) -> Self {
        let egui = egui::Context::default();
        theme::apply(&egui);
        let mut state = State::default();
        let tell = proxy.clone();
        let watch = FileWatch::new(move |name| {
            // A window that is gone needs no reload.
            let _ = tell.send_event(Wake::FileChanged(name.to_owned()));
        });
        let watch = match watch {
            Ok(watch) => Some(watch),
            Err(e) => {
                state.error = Some(e);
                None
            }
        };
        Self {
            state,
            script,
            screen: None,
            drawing: None,
            egui,
            input: None,
            size,
            wanted: Default::default(),
            shown: Default::default(),
            watched: Default::default(),
            before: None,
            unfit: Unfit::default(),
            proxy,
            watch,
            changed: None,
            requests: 0,
            loads: 0,
            frames: 0,
            last_frame: None,
            interval: None,
            played: false,
            next_step: None,
            repaint_at: None,
            modifiers: ModifiersState::empty(),
            asking: false,
            pressing: None,
            clip_asked: false,
            lost_before: false,
            failed: None,
            quit: false,
        }
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
        let proxy = self.proxy.clone();
        let started = loader::start(request, move |request, result| {
            // A window that was closed meanwhile wants no file.
            let _ = proxy.send_event(Wake::Read(request, Box::new(result)));
        });
        if let Err(e) = started {
            self.state.fail(e);
            self.state.loading_beside = None;
        }
        self.redraw();
    }

    /// Reads what is shown again, or else what was asked for and is broken.
    fn reload(&mut self) {
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
        self.redraw();
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
        self.set_title();
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

    fn set_title(&self) {
        if let (Some(screen), Some(model)) = (&self.screen, &self.state.model) {
            screen
                .window
                .set_title(&format!("{} - sinew viewer", model.name()));
        }
    }

    pub fn redraw(&self) {
        if let Some(screen) = &self.screen {
            screen.window.request_redraw();
        }
    }

    /// A key by its name in the table.
    pub fn press(&mut self, name: &str, shift: bool) -> bool {
        let action = keys::action(name, shift);
        if let Some(action) = action {
            self.state.act(action);
            self.redraw();
        }
        action.is_some()
    }

    fn key(&mut self, event: &KeyEvent) {
        if event.state != ElementState::Pressed {
            return;
        }
        let named = keys::name(&event.logical_key);
        if self.modifiers.control_key() || self.modifiers.super_key() {
            if let Some(action) = named
                .filter(|_| !event.repeat)
                .and_then(|n| keys::command(&n))
            {
                self.state.act(action);
                self.redraw();
            }
            return;
        }
        let again = |action: Option<keys::Action>| {
            // Held keys move the camera and step; they do not flicker switches.
            action.is_some_and(|a| {
                super::moves::of_action(a).is_some()
                    || matches!(a, keys::Action::StepOn | keys::Action::StepBack)
            })
        };
        if let Some(name) = named
            && (!event.repeat || again(keys::action(&name, self.modifiers.shift_key())))
        {
            self.press(&name, self.modifiers.shift_key());
        }
    }

    fn wishes(&mut self) {
        for wish in std::mem::take(&mut self.state.wishes) {
            match wish {
                Wish::Reload => self.reload(),
                Wish::Clip(number) => self.play_clip(number),
                Wish::Load(task, place) => self.load(task, place),
                Wish::Alone => self.alone(),
                Wish::Camera(number) => {
                    let camera = self
                        .drawing
                        .as_ref()
                        .and_then(|d| d.camera(number, &self.state));
                    match camera {
                        Some(camera) => {
                            self.state.camera = camera;
                            self.state.framed_for = None;
                        }
                        None => {
                            self.state.error = Some(
                                "this camera sees nothing: its aperture or its place is no number"
                                    .into(),
                            )
                        }
                    }
                }
                Wish::AskFile => self.ask(Purpose::Open),
                Wish::AskPicture => self.ask(Purpose::SavePicture),
                Wish::Quit => self.quit = true,
            }
        }
    }

    /// Shows the desktop's dialog for a file.
    fn ask(&mut self, purpose: Purpose) {
        let Some(screen) = self.screen.as_ref().filter(|_| !self.asking) else {
            return;
        };
        let near = self.state.model.as_ref().map(|m| m.path.clone());
        let proxy = self.proxy.clone();
        let started = files::ask(purpose, &screen.window, near.as_deref(), move |picked| {
            // A window that was closed meanwhile wants no file.
            let _ = proxy.send_event(Wake::Picked(purpose, picked));
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

    /// Makes window and device, or the device anew.
    fn start(&mut self, event_loop: &ActiveEventLoop) -> Result<(), String> {
        let window = match &self.screen {
            Some(screen) => Arc::clone(&screen.window),
            None => {
                let attributes = Window::default_attributes()
                    .with_title("sinew viewer")
                    .with_inner_size(PhysicalSize::new(self.size.0, self.size.1))
                    .with_min_inner_size(PhysicalSize::new(320, 240));
                let window = event_loop.create_window(attributes);
                Arc::new(window.map_err(|e| format!("no window can be opened: {e}"))?)
            }
        };
        self.drawing = None;
        self.screen = None;
        let screen = Screen::new(event_loop, Arc::clone(&window))?;
        self.drawing = Some(Drawing::new(&screen)?);
        self.state.adapter = (screen.adapter.name.clone(), screen.is_software());
        let side = screen.device.limits().max_texture_dimension_2d as usize;
        let viewport = egui::ViewportId::ROOT;
        let scale = Some(window.scale_factor() as f32);
        self.input = Some(egui_winit::State::new(
            self.egui.clone(),
            viewport,
            &window,
            scale,
            None,
            Some(side),
        ));
        self.screen = Some(screen);
        Ok(())
    }

    /// One frame; gives the window's picture where the script wants it.
    pub fn frame(
        &mut self,
        event_loop: &ActiveEventLoop,
        capture: bool,
    ) -> Result<Painted, String> {
        self.tick();
        let (Some(screen), Some(drawing), Some(input)) =
            (&mut self.screen, &mut self.drawing, &mut self.input)
        else {
            return Ok(Painted::Skipped);
        };
        let state = &mut self.state;
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
        let window = Arc::clone(&screen.window);
        let ids = screen.picture_ids();
        let raw = input.take_egui_input(&window);
        let output = self.egui.run_ui(raw, |ui| panels::show(ui, state, ids));
        input.handle_platform_output_with_event_loop(
            &window,
            event_loop,
            output.platform_output.clone(),
        );
        let delay = output
            .viewport_output
            .get(&egui::ViewportId::ROOT)
            .map(|v| v.repaint_delay);
        self.repaint_at = delay.and_then(|d| Instant::now().checked_add(d));

        let [_, _, width, height] = state.viewport;
        let views = [0, 1].map(|which| match which {
            1 if state.beside.is_none() => screen.picture(1, 1, 1).0,
            which => screen.picture(which, width, height).0,
        });
        let mut encoder = screen.device.create_command_encoder(&Default::default());
        let size = [width.max(1), height.max(1)];
        drawing.frame = (self.frames, self.interval);
        if let Err(e) = drawing.draw(&mut encoder, [&views[0], &views[1]], size, state) {
            state.error = Some(clean(&e));
        }
        let painted = screen.paint(&self.egui, output, encoder, capture)?;
        self.frames += 1;
        drawing.measure(&screen.device, state);
        let faults = screen.take_faults();
        if let Some(e) = faults.error {
            state.error.get_or_insert_with(|| clean(&e));
        }
        if let Some(lost) = faults.lost {
            self.recover(event_loop, &lost)?;
        }
        Ok(painted)
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

    /// Makes a new device for one that was lost, and reads the file again.
    fn recover(&mut self, event_loop: &ActiveEventLoop, reason: &str) -> Result<(), String> {
        if self.lost_before {
            return Err(format!("the device was lost again: {reason}"));
        }
        self.lost_before = true;
        log::warn!("the device was lost, making another: {reason}");
        self.start(event_loop)?;
        self.reload();
        Ok(())
    }

    fn end(&mut self, event_loop: &ActiveEventLoop, failed: String) {
        self.failed.get_or_insert(failed);
        event_loop.exit();
    }
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.is_none()
            && let Err(e) = self.start(event_loop)
        {
            self.end(event_loop, e);
        }
        self.redraw();
    }

    fn user_event(&mut self, _event_loop: &ActiveEventLoop, wake: Wake) {
        match wake {
            Wake::Read(request, result) => self.received(request, *result),
            Wake::FileChanged(name) => {
                let (since, names) = self.changed.get_or_insert((Instant::now(), HashSet::new()));
                *since = Instant::now();
                names.insert(name);
            }
            Wake::Line(line) => match script::parse(&line) {
                Ok(Some(step)) => self.script.push(&line, step),
                Ok(None) => {}
                Err(e) => self.refuse(&line, &e),
            },
            Wake::NoMoreLines => self.script.ended = true,
            Wake::Picked(purpose, picked) => self.picked(purpose, picked),
        }
        self.redraw();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _id: WindowId, event: WindowEvent) {
        let (Some(screen), Some(input)) = (&mut self.screen, &mut self.input) else {
            return;
        };
        let is_tab = matches!(&event, WindowEvent::KeyboardInput { event, .. }
            if event.logical_key == winit::keyboard::Key::Named(winit::keyboard::NamedKey::Tab));
        let typing = self.egui.egui_wants_keyboard_input();
        if !is_tab || typing {
            let response = input.on_window_event(&screen.window, &event);
            // Of a redraw egui says so too, and then each would ask for the next.
            if response.repaint && event != WindowEvent::RedrawRequested {
                screen.window.request_redraw();
            }
        }
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => {
                screen.resize(size.width, size.height);
                self.redraw();
            }
            WindowEvent::ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            WindowEvent::KeyboardInput { event, .. } if !typing => self.key(&event),
            WindowEvent::HoveredFile(_) => {
                self.state.hovering = true;
                self.redraw();
            }
            WindowEvent::HoveredFileCancelled => {
                self.state.hovering = false;
                self.redraw();
            }
            WindowEvent::DroppedFile(path) => self.dropped(path, Intent::of(self.modifiers)),
            WindowEvent::RedrawRequested => {
                if let Err(e) = self.step_script(event_loop) {
                    self.end(event_loop, e);
                }
                self.wishes();
                if self.quit {
                    event_loop.exit();
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        // What is being read now is not replaced by what it may replace.
        let is_reading = self.state.loading.is_some() || self.state.loading_beside.is_some();
        let is_quiet = |(since, _): &mut (Instant, _)| !is_reading && now - *since >= QUIET;
        if let Some((_, names)) = self.changed.take_if(is_quiet) {
            self.reload_changed(&names);
        }
        let script = !self.script.is_empty() || self.script.ended;
        if let Some(at) = self.next_step.filter(|at| script && *at > now) {
            event_loop.set_control_flow(ControlFlow::WaitUntil(at));
            return;
        }
        if self.state.clock.playing || script {
            self.redraw();
            event_loop.set_control_flow(ControlFlow::Poll);
            return;
        }
        let quiet_at = self.changed.as_ref().filter(|_| !is_reading);
        let quiet_at = quiet_at.map(|(since, _)| *since + QUIET);
        if self.repaint_at.is_some_and(|at| at <= now) {
            self.repaint_at = None;
            self.redraw();
        }
        let next = [quiet_at, self.repaint_at].into_iter().flatten().min();
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

impl App {
    /// A file was dropped into the window.
    pub fn dropped(&mut self, path: PathBuf, intent: Intent) {
        self.state.hovering = false;
        self.state.offer = None;
        self.state.untried.clear();
        let (task, place) = drops::task(self.state.model.as_ref(), path, intent);
        self.before = self.state.model.as_ref().map(Before::new);
        self.load(task, place);
    }

    pub fn window_size(&self) -> [u32; 2] {
        self.screen.as_ref().map_or([0, 0], Screen::size)
    }

    pub fn resize_window(&mut self, width: u32, height: u32) {
        if let Some(screen) = &mut self.screen {
            let asked = screen
                .window
                .request_inner_size(PhysicalSize::new(width, height));
            if let Some(size) = asked {
                screen.resize(size.width, size.height);
            }
        }
    }

    /// An event of the window, by a script.
    pub fn inject(&mut self, event_loop: &ActiveEventLoop, event: WindowEvent) {
        if let Some(id) = self.screen.as_ref().map(|s| s.window.id()) {
            self.window_event(event_loop, id, event);
        }
    }
}

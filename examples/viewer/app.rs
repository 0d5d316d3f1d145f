//! The window's events, and what becomes of them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use image::RgbaImage;
use serde_json::json;
use sinew::wgpu;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use winit::keyboard::ModifiersState;
use winit::window::{Window, WindowId};

use super::desk::{Desk, Tell, Wake};
use super::drawing::Drawing;
use super::drops::Intent;
use super::messages::clean;
use super::platform::{self, Instant};
use super::screen::Screen;
use super::script::{Answer, Next, Script};
use super::{keys, panels, theme};

/// A script that waits for a file looks this often.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

type Opening = Rc<Cell<Option<Result<Screen, String>>>>;

pub struct App {
    pub desk: Desk,
    pub script: Script,
    pub screen: Option<Screen>,
    /// The window, from before its device is open.
    window: Option<Arc<Window>>,
    /// The device that is open now, until it is taken.
    opening: Opening,
    tell: Tell,
    /// What was told before the device was open.
    early: Vec<Wake>,
    egui: egui::Context,
    input: Option<egui_winit::State>,
    size: (u32, u32),
    /// Title of the window.
    title: String,
    /// Frames that were painted.
    frames: u64,
    /// When a script that waits looks again; nothing is drawn before.
    next_step: Option<Instant>,
    /// When egui wants to be drawn again.
    repaint_at: Option<Instant>,
    modifiers: ModifiersState,
    lost_before: bool,
    /// Why the viewer cannot go on.
    pub failed: Option<String>,
}

impl App {
    pub fn new(proxy: EventLoopProxy<Wake>, size: (u32, u32), script: Script) -> Self {
        let egui = egui::Context::default();
        theme::apply(&egui);
        let tell: Tell = Arc::new(move |wake| {
            // A window that was closed meanwhile wants no file.
            let _ = proxy.send_event(wake);
        });
        Self {
            desk: Desk::new(Arc::clone(&tell)),
            script,
            screen: None,
            window: None,
            opening: Opening::default(),
            tell,
            early: Vec::new(),
            egui,
            input: None,
            size,
            title: "sinew viewer".into(),
            frames: 0,
            next_step: None,
            repaint_at: None,
            modifiers: ModifiersState::empty(),
            lost_before: false,
            failed: None,
        }
    }

    /// Names the file that is shown in the title.
    fn set_title(&mut self) {
        if let (Some(screen), Some(model)) = (&self.screen, &self.desk.state.model) {
            let title = format!("{} - sinew viewer", model.name());
            if self.title != title {
                screen.window.set_title(&title);
                self.title = title;
            }
        }
    }

    pub fn redraw(&self) {
        if let Some(screen) = &self.screen {
            screen.window.request_redraw();
        }
    }

    fn key(&mut self, event: &KeyEvent) {
        if event.state != ElementState::Pressed {
            return;
        }
        let Some(name) = keys::name(&event.logical_key) else {
            return;
        };
        let (state, modifiers) = (&mut self.desk.state, self.modifiers);
        if !modifiers.control_key() && !modifiers.super_key() {
            keys::press(state, &name, modifiers.shift_key(), event.repeat);
        } else if let Some(name) = keys::command(&name) {
            keys::press(state, name, false, event.repeat);
        }
        self.redraw();
    }

    fn wishes(&mut self) {
        if self.desk.state.wishes.is_empty() {
            return;
        }
        let ask = self.desk.wishes();
        if let (Some(purpose), Some(screen)) = (ask, &self.screen) {
            self.desk.ask(purpose, &screen.window);
        }
        self.redraw();
    }

    /// Makes window and device, or the device anew.
    fn start(&mut self, event_loop: &ActiveEventLoop) -> Result<(), String> {
        let window = match &self.window {
            Some(window) => Arc::clone(window),
            None => {
                let attributes = platform::window(self.size)?
                    .with_title("sinew viewer")
                    .with_min_inner_size(PhysicalSize::new(320, 240));
                let window = event_loop.create_window(attributes);
                Arc::new(window.map_err(|e| format!("no window can be opened: {e}"))?)
            }
        };
        self.window = Some(Arc::clone(&window));
        self.desk.drawing = None;
        self.screen = None;
        let screen = Screen::open(event_loop, window, &self.egui);
        let (slot, tell) = (Rc::clone(&self.opening), Arc::clone(&self.tell));
        let opened = platform::finish(None, screen, move |screen| {
            slot.set(Some(screen));
            tell(Wake::Opened);
        });
        opened.map_or(Ok(()), |screen| self.opened(screen?))
    }

    /// Takes the device, and then what was told before.
    fn opened(&mut self, mut screen: Screen) -> Result<(), String> {
        let gpu = &screen.gpu;
        self.desk.drawing = Some(Drawing::new(&gpu.device, &gpu.queue)?);
        let adapter = gpu.adapter.get_info();
        let is_software = adapter.device_type == wgpu::DeviceType::Cpu;
        self.desk.state.adapter = (adapter.name, is_software);
        self.input = Some(egui_winit::State::new(
            self.egui.clone(),
            egui::ViewportId::ROOT,
            &screen.window,
            Some(screen.window.scale_factor() as f32),
            None,
            Some(gpu.device.limits().max_texture_dimension_2d as usize),
        ));
        // It may have another size by now.
        let size = screen.window.inner_size();
        screen.resize(size.width, size.height);
        self.screen = Some(screen);
        for wake in std::mem::take(&mut self.early) {
            self.take(wake);
        }
        Ok(())
    }

    /// Takes what another thread tells.
    fn take(&mut self, wake: Wake) {
        match wake {
            Wake::Line(line) => {
                if let Err(e) = self.script.push(&line) {
                    self.script.failures += 1;
                    let (line, failed) = (line.trim().to_owned(), Some(e));
                    self.answer(&Answer { line, failed });
                }
            }
            Wake::NoMoreLines => self.script.ended = true,
            wake => self.desk.take(wake),
        }
    }

    /// One frame; gives the window's picture if `capture` asks for it and there is one.
    fn frame(
        &mut self,
        event_loop: &ActiveEventLoop,
        capture: bool,
    ) -> Result<Option<RgbaImage>, String> {
        self.desk.pose();
        self.set_title();
        let state = &mut self.desk.state;
        let (Some(screen), Some(drawing), Some(input)) =
            (&mut self.screen, &mut self.desk.drawing, &mut self.input)
        else {
            return Ok(None);
        };
        // A window or a page that shows nothing of itself.
        if screen.size.contains(&0) {
            return Ok(None);
        }
        let ids = screen.picture_ids();
        let raw = input.take_egui_input(&screen.window);
        let output = self.egui.run_ui(raw, |ui| panels::show(ui, state, ids));
        let platform = output.platform_output.clone();
        platform::copy(&platform.commands);
        input.handle_platform_output_with_event_loop(&screen.window, event_loop, platform);
        let viewport = output.viewport_output.get(&egui::ViewportId::ROOT);
        self.repaint_at = viewport.and_then(|v| Instant::now().checked_add(v.repaint_delay));

        let [_, _, width, height] = state.viewport;
        let size = [width.max(1), height.max(1)];
        let beside = if state.beside.is_some() { size } else { [1, 1] };
        let views = [screen.picture(0, size), screen.picture(1, beside)];
        let device = screen.gpu.device.clone();
        let mut encoder = device.create_command_encoder(&Default::default());
        drawing.frame = (self.frames, self.desk.interval);
        if let Err(e) = drawing.draw(&mut encoder, [&views[0], &views[1]], size, state) {
            state.error = Some(clean(&e));
        }
        let picture = screen.paint(&self.egui, output, encoder, capture)?;
        self.frames += 1;
        drawing.measure(&device, state);
        let faults = screen.take_faults();
        if let Some(e) = faults.error {
            state.error.get_or_insert_with(|| clean(&e));
        }
        if let Some(lost) = faults.lost {
            self.recover(event_loop, &lost)?;
        }
        Ok(picture)
    }

    /// Makes a new device for one that was lost, and reads the file again.
    fn recover(&mut self, event_loop: &ActiveEventLoop, reason: &str) -> Result<(), String> {
        if self.lost_before {
            return Err(format!("the device was lost again: {reason}"));
        }
        self.lost_before = true;
        log::warn!("the device was lost, making another: {reason}");
        self.start(event_loop)?;
        self.desk.reload();
        Ok(())
    }

    fn end(&mut self, event_loop: &ActiveEventLoop, failed: String) {
        platform::close(event_loop, Some(&failed));
        self.failed.get_or_insert(failed);
    }
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.window.is_none()
            && let Err(e) = self.start(event_loop)
        {
            self.end(event_loop, e);
        }
        self.redraw();
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, wake: Wake) {
        match wake {
            Wake::Opened => {
                let screen = self.opening.take().unwrap_or(Err("no device came".into()));
                if let Err(e) = screen.and_then(|screen| self.opened(screen)) {
                    self.end(event_loop, e);
                }
            }
            wake if self.screen.is_none() => self.early.push(wake),
            wake => self.take(wake),
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
            WindowEvent::CloseRequested => platform::close(event_loop, None),
            WindowEvent::Resized(size) => {
                screen.resize(size.width, size.height);
                self.redraw();
            }
            WindowEvent::ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            WindowEvent::KeyboardInput { event, .. } if !typing => self.key(&event),
            WindowEvent::HoveredFile(_) => {
                self.desk.state.hovering = true;
                self.redraw();
            }
            WindowEvent::HoveredFileCancelled => {
                self.desk.state.hovering = false;
                self.redraw();
            }
            WindowEvent::DroppedFile(path) => {
                self.desk.dropped(path, Intent::of(self.modifiers));
                self.redraw();
            }
            WindowEvent::RedrawRequested => {
                if let Err(e) = self.step_script(event_loop) {
                    self.end(event_loop, e);
                }
                self.wishes();
                if std::mem::take(&mut self.desk.quit) {
                    platform::close(event_loop, None);
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        let was_reading = self.desk.is_reading();
        let quiet_at = self.desk.read_changed();
        if self.desk.is_reading() && !was_reading {
            self.redraw();
        }
        let script = !self.script.is_empty() || self.script.ended;
        if let Some(at) = self.next_step.filter(|at| script && *at > now) {
            event_loop.set_control_flow(ControlFlow::WaitUntil(at));
            return;
        }
        if self.is_moving() || script {
            self.redraw();
            event_loop.set_control_flow(platform::PLAYING);
            return;
        }
        if self.repaint_at.is_some_and(|at| at <= now) {
            self.repaint_at = None;
            self.redraw();
        }
        let next = [quiet_at, self.repaint_at].into_iter().flatten().min();
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

impl App {
    /// Whether each frame differs from the one before, or takes what the device has found since.
    fn is_moving(&self) -> bool {
        self.desk.state.clock.playing || self.desk.is_comparing()
    }

    fn window_size(&self) -> [u32; 2] {
        self.screen.as_ref().map_or([0, 0], |screen| screen.size)
    }

    fn resize_window(&mut self, [width, height]: [u32; 2]) {
        if let Some(screen) = &mut self.screen {
            let asked = PhysicalSize::new(width, height);
            if let Some(size) = screen.window.request_inner_size(asked) {
                screen.resize(size.width, size.height);
            }
        }
    }

    /// Takes every step of the script that is due, and draws a frame.
    fn step_script(&mut self, event_loop: &ActiveEventLoop) -> Result<(), String> {
        loop {
            let answer = match self.script.next(&mut self.desk) {
                Next::Ended(answer) => answer,
                Next::Size(size) if self.window_size() == size => self.script.end(None),
                Next::Shot(_) if platform::NO_SHOT.is_some() => {
                    self.script.end(platform::NO_SHOT.map(str::to_owned))
                }
                Next::Shot(path) => match self.frame(event_loop, true)? {
                    Some(picture) => {
                        let saved = picture.save(&path);
                        let failed = |e| format!("{}: {e}", path.display());
                        self.script.end(saved.map_err(failed).err())
                    }
                    None => break,
                },
                Next::Size(size) => {
                    self.resize_window(size);
                    break;
                }
                Next::Rest if !self.is_moving() => {
                    self.next_step = Some(Instant::now() + LOOK_AGAIN);
                    return Ok(());
                }
                Next::Frame(Some(event)) => {
                    if let Some(input) = &mut self.input {
                        input.egui_input_mut().events.push(event);
                    }
                    break;
                }
                Next::Frame(None) | Next::Rest | Next::Nothing => break,
            };
            self.answer(&answer);
            // What a step wishes for begins before the next step.
            if !self.desk.state.wishes.is_empty() || self.desk.quit {
                return Ok(());
            }
        }
        if self.script.is_empty() && self.script.ended {
            self.desk.quit = true;
            return Ok(());
        }
        self.frame(event_loop, false)?;
        self.script.count_frame();
        Ok(())
    }

    /// Answers a step on stdout.
    fn answer(&self, Answer { line, failed }: &Answer) {
        if let Some(reason) = failed {
            log::error!("{}", clean(&format!("{line}: {reason}")));
        }
        if !self.script.answers {
            return;
        }
        let mut report = self.desk.report();
        report["frames"] = json!(self.frames);
        report["window"] = json!(self.window_size());
        report["step"] = json!(line);
        report["failed"] = json!(failed);
        platform::answer(&report.to_string());
    }
}

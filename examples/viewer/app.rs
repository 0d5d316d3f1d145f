//! The window's events, and what becomes of them.

use std::sync::Arc;
use std::time::Instant;

use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use winit::keyboard::ModifiersState;
use winit::window::{Window, WindowId};

use super::desk::{Desk, Wake};
use super::drawing::Drawing;
use super::drops::Intent;
use super::messages::clean;
use super::screen::{Painted, Screen};
use super::script::{self, Script};
use super::{keys, panels, theme};

pub struct App {
    pub desk: Desk,
    pub script: Script,
    pub screen: Option<Screen>,
    egui: egui::Context,
    input: Option<egui_winit::State>,
    size: (u32, u32),
    /// Title of the window.
    title: String,
    /// Frames that were painted.
    pub frames: u64,
    /// When a script that waits looks again; nothing is drawn before.
    pub next_step: Option<Instant>,
    /// When egui wants to be drawn again.
    repaint_at: Option<Instant>,
    modifiers: ModifiersState,
    /// Pixel that a step of the script is pressing.
    pub pressing: Option<[f32; 2]>,
    /// The clip of the step that is due has been asked for.
    pub clip_asked: bool,
    lost_before: bool,
    /// Why the viewer cannot go on.
    pub failed: Option<String>,
}

impl App {
    pub fn new(proxy: EventLoopProxy<Wake>, size: (u32, u32), script: Script) -> Self {
        let egui = egui::Context::default();
        theme::apply(&egui);
        let desk = Desk::new(Arc::new(move |wake| {
            // A window that was closed meanwhile wants no file.
            let _ = proxy.send_event(wake);
        }));
        Self {
            desk,
            script,
            screen: None,
            egui,
            input: None,
            size,
            title: "sinew viewer".into(),
            frames: 0,
            next_step: None,
            repaint_at: None,
            modifiers: ModifiersState::empty(),
            pressing: None,
            clip_asked: false,
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
        let named = keys::name(&event.logical_key);
        if self.modifiers.control_key() || self.modifiers.super_key() {
            if let Some(action) = named
                .filter(|_| !event.repeat)
                .and_then(|n| keys::command(&n))
            {
                self.desk.state.act(action);
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
            self.desk.press(&name, self.modifiers.shift_key());
            self.redraw();
        }
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
        self.desk.drawing = None;
        self.screen = None;
        let screen = Screen::new(event_loop, Arc::clone(&window))?;
        self.desk.drawing = Some(Drawing::new(&screen.device, &screen.queue)?);
        self.desk.state.adapter = (screen.adapter.name.clone(), screen.is_software());
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
        self.desk.pose();
        self.set_title();
        let state = &mut self.desk.state;
        let (Some(screen), Some(drawing), Some(input)) =
            (&mut self.screen, &mut self.desk.drawing, &mut self.input)
        else {
            return Ok(Painted::Skipped);
        };
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
        drawing.frame = (self.frames, self.desk.interval);
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
            Wake::Line(line) => match script::parse(&line) {
                Ok(Some(step)) => self.script.push(&line, step),
                Ok(None) => {}
                Err(e) => self.refuse(&line, &e),
            },
            Wake::NoMoreLines => self.script.ended = true,
            wake => self.desk.take(wake),
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
                if self.desk.quit {
                    event_loop.exit();
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
        if self.desk.state.clock.playing || script {
            self.redraw();
            event_loop.set_control_flow(ControlFlow::Poll);
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

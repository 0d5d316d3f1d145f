//! Frames in a window: drag to look around, scroll to come closer, Escape to leave.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use sinew::wgpu;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use super::camera::Orbit;
use super::{Args, Gpu, Program, Result, Target, open_device};

pub enum Failure {
    NoDisplay(String),
    Other(Box<dyn Error>),
}

pub fn show<P: Program>(args: &Args, options: P::Options) -> std::result::Result<(), Failure> {
    let event_loop = EventLoop::new().map_err(|e| Failure::NoDisplay(e.to_string()))?;
    let mut app = App::<P> {
        args,
        options,
        shown: None,
        dragged: None,
        failed: None,
    };
    let ended = event_loop.run_app(&mut app);
    match app.failed {
        Some(e) => Err(Failure::Other(e)),
        None => ended.map_err(|e| Failure::Other(e.into())),
    }
}

struct App<'a, P: Program> {
    args: &'a Args,
    options: P::Options,
    shown: Option<Shown<P>>,
    /// Where the pointer was while its button is down.
    dragged: Option<Option<[f32; 2]>>,
    failed: Option<Box<dyn Error>>,
}

struct Shown<P> {
    program: P,
    gpu: Gpu,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    orbit: Orbit,
    start: Instant,
    /// Seconds of the last frame.
    last: f64,
}

impl<P: Program> Shown<P> {
    fn new(event_loop: &ActiveEventLoop, args: &Args, options: P::Options) -> Result<Self> {
        let [width, height] = args.size::<P>();
        let attributes = Window::default_attributes()
            .with_title(P::NAME)
            .with_inner_size(PhysicalSize::new(width, height));
        let window = Arc::new(event_loop.create_window(attributes)?);
        let display = Box::new(event_loop.owned_display_handle());
        let descriptor = wgpu::InstanceDescriptor::new_with_display_handle(display);
        let instance = wgpu::Instance::new(descriptor);
        let surface = instance.create_surface(Arc::clone(&window))?;
        let (adapter, device, queue) = open_device(&instance, Some(&surface), P::TRACES_RAYS)?;
        let size = window.inner_size();
        let config = surface.get_default_config(&adapter, size.width.max(1), size.height.max(1));
        let mut config = config.ok_or("the adapter cannot draw in this window")?;
        config.format = config.format.add_srgb_suffix();
        surface.configure(&device, &config);
        let gpu = Gpu::new(&adapter, device, queue, config.format);
        let program = P::new(&gpu, options)?;
        Ok(Self {
            orbit: Orbit::new(&program.framing(), [config.width, config.height]),
            program,
            gpu,
            window,
            surface,
            config,
            start: Instant::now(),
            last: 0.0,
        })
    }

    fn size(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    fn draw(&mut self) -> Result<()> {
        use wgpu::CurrentSurfaceTexture::{Outdated, Suboptimal, Success};
        let frame = match self.surface.get_current_texture() {
            Success(frame) | Suboptimal(frame) => frame,
            Outdated => {
                self.surface.configure(&self.gpu.device, &self.config);
                return Ok(());
            }
            // Minimised, say.
            _ => return Ok(()),
        };
        let color = frame.texture.create_view(&Default::default());
        let target = Target::new(&self.gpu, color, self.size());
        let seconds = self.start.elapsed().as_secs_f64();
        let framing = self.program.framing();
        self.orbit.turn += framing.spin * (seconds - self.last) as f32;
        self.last = seconds;
        let camera = self.orbit.clip_from_world(&framing, self.size());
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.program
            .frame(&self.gpu, seconds, camera, &mut encoder, &target)?;
        self.gpu.queue.submit([encoder.finish()]);
        self.program.submitted();
        self.window.pre_present_notify();
        self.gpu.queue.present(frame);
        self.window.request_redraw();
        Ok(())
    }
}

impl<P: Program> ApplicationHandler for App<'_, P> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_none() {
            match Shown::new(event_loop, self.args, self.options.clone()) {
                Ok(shown) => self.shown = Some(shown),
                Err(e) => {
                    self.failed = Some(e);
                    event_loop.exit();
                }
            }
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else {
            return;
        };
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::KeyboardInput { event, .. }
                if event.logical_key == Key::Named(NamedKey::Escape) =>
            {
                event_loop.exit();
            }
            WindowEvent::Resized(size) if size.width > 0 && size.height > 0 => {
                (shown.config.width, shown.config.height) = (size.width, size.height);
                shown.surface.configure(&shown.gpu.device, &shown.config);
                shown.window.request_redraw();
            }
            WindowEvent::MouseInput {
                state,
                button: MouseButton::Left,
                ..
            } => self.dragged = (state == ElementState::Pressed).then_some(None),
            WindowEvent::CursorMoved { position, .. } => {
                let now = [position.x as f32, position.y as f32];
                if let Some(before) = &mut self.dragged
                    && let Some([x, y]) = before.replace(now)
                {
                    shown.orbit.drag(now[0] - x, now[1] - y);
                }
            }
            WindowEvent::MouseWheel { delta, .. } => shown.orbit.zoom(match delta {
                MouseScrollDelta::LineDelta(_, lines) => lines,
                MouseScrollDelta::PixelDelta(pixels) => pixels.y as f32 / 40.0,
            }),
            WindowEvent::RedrawRequested => {
                if let Err(e) = shown.draw() {
                    self.failed = Some(e);
                    event_loop.exit();
                }
            }
            _ => {}
        }
    }
}

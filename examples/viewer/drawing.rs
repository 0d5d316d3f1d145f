//! The stage that is shown, on the device: posed, drawn, measured.

use std::time::Instant;

use glam::DVec2;
use sinew::gpu::{Skinner, SkinnerOptions};
use sinew::sampled::Time;
use sinew::wgpu;
use sinew_render::{
    Background, Bounds, Camera, Control, DrawBackend, Fixed, Lens, Offscreen, Renderer, Stage,
};

use super::gpu_clock::GpuClock;
use super::loader::Ready;
use super::model::Model;
use super::screen::{PICTURE_FORMAT, Screen};
use super::state::State;
use super::timing::{FrameTime, Source};

/// Samples per pixel.
const SAMPLES: u32 = 4;
/// Times of a clip whose boxes are framed together when a file opens.
const FRAMED: usize = 5;
pub struct Drawing {
    skinner: Skinner,
    renderer: Renderer,
    stage: Option<Stage>,
    posed: Option<(f64, Control)>,
    /// Draws the pictures that are saved, once one was.
    offscreen: Option<Offscreen>,
    clock: Option<GpuClock>,
    /// Number of the coming frame, and the seconds since the one before while the clip plays.
    pub frame: (u64, Option<f64>),
    /// CPU seconds that posing took for the coming frame.
    posing: f64,
}

impl Drawing {
    pub fn new(screen: &Screen) -> Result<Self, String> {
        // A clock of the viewer's own times whole frames.
        let options = SkinnerOptions::default();
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", screen.adapter.name);
        let skinner = Skinner::new(&screen.device, &screen.queue, &options);
        let skinner = skinner.map_err(|e| failed(&e))?;
        let renderer = Renderer::new(&screen.device, PICTURE_FORMAT, SAMPLES);
        Ok(Self {
            skinner,
            renderer: renderer.map_err(|e| failed(&e))?,
            stage: None,
            posed: None,
            offscreen: None,
            clock: GpuClock::new(&screen.device, &screen.queue),
            frame: (0, None),
            posing: 0.0,
        })
    }

    /// Puts a file on the device, in place of the one before; that one stays where this fails. The box is around the
    /// whole clip.
    pub fn load(&mut self, ready: Ready) -> Result<(Model, Bounds), String> {
        let (clips, clip) = (ready.clips, ready.clip);
        let mut stage = Stage::new(&self.skinner, ready.loaded).map_err(|e| e.to_string())?;
        stage.check_not_empty().map_err(|e| e.to_string())?;
        let mut model = Model::of_stage(&stage);
        (model.clips, model.clip) = (clips, clip);
        let times = model.times;
        let part = |i: usize| i as f64 / (FRAMED - 1) as f64;
        let time = |i: usize| Time::At(times.start + (times.end - times.start) * part(i));
        let framed: Vec<Time> = (0..FRAMED).map(time).collect();
        let framed = if times.end > times.start {
            &framed[..]
        } else {
            &framed[..1]
        };
        let bounds = stage.bounds_over(framed).map_err(|e| e.to_string())?;
        self.stage = Some(stage);
        self.posed = None;
        Ok((model, bounds))
    }

    /// Poses the stage at the state's time and fills in what the panels show of it.
    pub fn pose(&mut self, state: &mut State) -> Result<(), String> {
        let began = Instant::now();
        let result = self.set_pose(state);
        self.posing = began.elapsed().as_secs_f64();
        result
    }

    fn set_pose(&mut self, state: &mut State) -> Result<(), String> {
        let Some(stage) = &mut self.stage else {
            return Ok(());
        };
        let wanted = (state.clock.time, state.control.clone());
        if self.posed.as_ref() != Some(&wanted) {
            let time = if state.clock.moves() {
                Time::At(state.clock.time)
            } else {
                stage.time()
            };
            let result = stage.set_time(time, &state.control);
            self.posed = Some(wanted);
            result.map_err(|e| e.to_string())?;
            state.joints = stage
                .skeletons()
                .iter()
                .map(|s| {
                    let positions = s.world_from_joint.iter();
                    positions.map(|m| m.w_axis.truncate()).collect()
                })
                .collect();
            state.weights = stage.channels();
            state.difference = None;
        }
        if state.compare && state.difference.is_none() {
            let difference = stage.difference().map_err(|e| e.to_string());
            state.difference = Some(difference.map(|d| d.largest));
            // The comparison left the GPU's pose in place.
            self.posed = None;
        }
        Ok(())
    }

    /// The box around everything at the time shown.
    pub fn bounds(&self) -> Bounds {
        self.stage.as_ref().map_or(Bounds::EMPTY, Stage::bounds)
    }

    /// A camera of the file, at the time shown.
    pub fn camera(&self, number: usize, state: &State) -> Option<Camera> {
        let stage = self.stage.as_ref()?;
        let camera = stage.cameras().get(number)?;
        let fixed = Fixed::of_stage(camera, Time::At(state.clock.time));
        let (Lens::Perspective { low, high } | Lens::Orthographic { low, high }) = fixed.lens;
        let seen = (high - low).cmpgt(DVec2::ZERO).all() && fixed.world_from_camera.is_finite();
        seen.then(|| Camera::fixed(stage.up_axis(), fixed))
    }

    /// Records skinning and the picture.
    pub fn draw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        size: [u32; 2],
        state: &mut State,
    ) -> Result<(), String> {
        let text = |e: sinew_render::Error| e.to_string();
        let Some(stage) = &mut self.stage else {
            clear(encoder, view);
            return Ok(());
        };
        let began = Instant::now();
        if let Some(clock) = &mut self.clock {
            clock.begin(encoder);
        }
        stage.encode(encoder).map_err(text)?;
        if let Some(clock) = &self.clock {
            clock.skinned(encoder);
        }
        let skinned = began.elapsed().as_secs_f64();
        self.renderer
            .draw(encoder, view, size, stage, &state.camera, &state.look)
            .map_err(|e| e.to_string())?;
        let (id, interval) = self.frame;
        if let Some(clock) = &mut self.clock {
            clock.drawn(encoder, id);
        }
        let on_cpu = state.control.backend == DrawBackend::Cpu;
        let recorded = began.elapsed().as_secs_f64() - if on_cpu { skinned } else { 0.0 };
        let frame = FrameTime {
            id,
            at: began,
            interval,
            posing: self.posing,
            skinning: on_cpu.then_some(skinned),
            drawing: self.clock.is_none().then_some(recorded),
        };
        let source = Source::new(state.control.backend, self.clock.is_some());
        state.stats.count(frame, source);
        Ok(())
    }

    /// The picture without the panels, in pixels of the window.
    pub fn picture(&mut self, state: &State) -> Result<image::RgbaImage, String> {
        let stage = self
            .stage
            .as_mut()
            .ok_or("nothing is shown that could be saved")?;
        let offscreen = match &mut self.offscreen {
            Some(offscreen) => offscreen,
            none => {
                let made = Offscreen::new(self.skinner.device(), self.skinner.queue());
                none.insert(made.map_err(|e| e.to_string())?)
            }
        };
        let mut look = state.look.clone();
        if state.view.transparent {
            look.background = Background::Transparent;
        }
        let [_, _, width, height] = state.viewport.map(|n| n.max(1));
        let picture = offscreen.picture(stage, &state.camera, &look, [width, height]);
        picture.map_err(|e| e.to_string())
    }

    /// Takes the GPU times of frames that are done by now.
    pub fn measure(&mut self, device: &wgpu::Device, state: &mut State) {
        let times = self.clock.as_mut().map(|c| c.take(device));
        for time in times.unwrap_or_default() {
            state
                .stats
                .count_gpu(time.frame, time.skinning, time.drawing);
        }
    }
}

/// The picture of no file.
fn clear(encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
    let grey = wgpu::Color {
        r: 0.055,
        g: 0.06,
        b: 0.07,
        a: 1.0,
    };
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("viewer.empty"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(grey),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    });
}

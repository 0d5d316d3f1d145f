//! The stage that is shown, on the device: posed, drawn, measured.

use std::time::Instant;

use glam::DVec2;
use sinew::gpu::{Skinner, SkinnerOptions};
use sinew::sampled::Time;
use sinew::wgpu;
use sinew_render::{Bounds, Camera, Control, DrawBackend, Fixed, Lens, Renderer, Stage};

use super::loader::Ready;
use super::model::Model;
use super::screen::{PICTURE_FORMAT, Screen};
use super::state::State;

/// Samples per pixel.
const SAMPLES: u32 = 4;
/// Times of a clip whose boxes are framed together when a file opens.
const FRAMED: usize = 5;
/// Seconds between two looks at the GPU's clock, which each wait for the device.
const MEASURE_EVERY: f64 = 0.5;

pub struct Drawing {
    skinner: Skinner,
    renderer: Renderer,
    stage: Option<Stage>,
    posed: Option<(f64, Control)>,
    measured: Instant,
}

impl Drawing {
    pub fn new(screen: &Screen) -> Result<Self, String> {
        let options = SkinnerOptions {
            timestamps: true,
            ..SkinnerOptions::default()
        };
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", screen.adapter.name);
        let skinner = Skinner::new(&screen.device, &screen.queue, &options);
        let skinner = skinner.map_err(|e| failed(&e))?;
        let renderer = Renderer::new(&screen.device, PICTURE_FORMAT, SAMPLES);
        Ok(Self {
            skinner,
            renderer: renderer.map_err(|e| failed(&e))?,
            stage: None,
            posed: None,
            measured: Instant::now(),
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
        stage.encode(encoder).map_err(text)?;
        if state.control.backend == DrawBackend::Cpu {
            let seconds = began.elapsed().as_secs_f64();
            state.stats.count_skinning(
                Some(seconds),
                "on the CPU, until its results are ready for upload",
            );
        }
        self.renderer
            .draw(encoder, view, size, stage, &state.camera, &state.look)
            .map_err(|e| e.to_string())
    }

    /// Looks at the GPU's clock after a frame was submitted, now and then.
    pub fn measure(&mut self, state: &mut State) {
        let due =
            self.measured.elapsed().as_secs_f64() > MEASURE_EVERY || state.stats.skin.is_none();
        let Some(stage) = self.stage.as_ref().filter(|_| due) else {
            return;
        };
        if state.control.backend == DrawBackend::Gpu {
            self.measured = Instant::now();
            let times = stage.last_gpu_time().ok().flatten();
            let seconds = times.map(|t| t.total().as_secs_f64());
            state
                .stats
                .count_skinning(seconds, "by the GPU's own clock");
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

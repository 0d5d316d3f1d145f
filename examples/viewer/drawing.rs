//! The stage that is shown, on the device: posed, drawn, measured.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use glam::{DMat4, DVec2, DVec3};
use image::RgbaImage;
use sinew::gpu::{Skinner, SkinnerOptions};
use sinew::sampled::Time;
use sinew::wgpu;
use sinew_render::{
    Background, Bounds, Camera, Comparison, Control, DrawBackend, Fixed, Lens, Look, Offscreen,
    Renderer, Stage, StageSkeleton, View,
};

use super::clock::Clock;
use super::follow::{self, Follow};
use super::gpu_clock::GpuClock;
use super::loader::{Place, Ready};
use super::model::Model;
use super::platform::{self, Instant};
use super::screen::PICTURE_FORMAT;
use super::state::State;
use super::timing::{FrameTime, Parts, Skinning, Source};

/// Samples per pixel.
const SAMPLES: u32 = 4;
/// Times of a clip whose boxes are framed together when a file opens.
const FRAMED: usize = 5;
/// Seconds between two searches for a model that may be out of the picture, while it plays.
const SEARCH_EVERY: f64 = 0.2;

/// A stage, and what it was posed with last.
struct Shown {
    stage: Stage,
    posed: Option<(f64, Control)>,
    /// The comparison of GPU and CPU that is under way.
    comparison: Option<Comparison>,
    /// A comparison of this pose was started.
    is_compared: bool,
}

pub struct Drawing {
    skinner: Skinner,
    renderer: Renderer,
    main: Option<Shown>,
    beside: Option<Shown>,
    /// When the box was last found for a model that may be out of the picture.
    searched: Instant,
    /// Draws the pictures that are saved, once one was.
    offscreen: Option<Offscreen>,
    clock: Option<GpuClock>,
    is_software: bool,
    /// Number of the coming frame, and the seconds since the one before while the clip plays.
    pub frame: (u64, Option<f64>),
    /// CPU seconds that posing took for the coming frame; `None` if its pose is that of the frame before.
    posing: Option<f64>,
}

impl Drawing {
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Self, String> {
        let adapter = device.adapter_info();
        // A clock of the viewer's own times whole frames.
        let options = SkinnerOptions::default();
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", adapter.name);
        let skinner = Skinner::new(device, queue, &options);
        let skinner = skinner.map_err(|e| failed(&e))?;
        let renderer = Renderer::new(device, PICTURE_FORMAT, SAMPLES);
        Ok(Self {
            skinner,
            renderer: renderer.map_err(|e| failed(&e))?,
            main: None,
            beside: None,
            searched: Instant::now(),
            offscreen: None,
            clock: GpuClock::new(device, queue),
            is_software: adapter.device_type == wgpu::DeviceType::Cpu,
            frame: (0, None),
            posing: None,
        })
    }

    pub fn device(&self) -> &wgpu::Device {
        self.skinner.device()
    }

    /// Puts a file on the device, in place of the one that was shown there; that one stays if this
    /// fails. The box is around the whole clip, as the camera sees it that follows the root.
    pub fn load(&mut self, ready: Ready, place: Place) -> Result<(Model, Bounds), String> {
        let mut stage = Stage::new(&self.skinner, ready.loaded).map_err(|e| e.to_string())?;
        stage.check_not_empty().map_err(|e| e.to_string())?;
        let mut model = Model::of_stage(&stage);
        (model.clips, model.clip) = (ready.clips, ready.clip);
        (model.matched, model.walk) = (ready.matched, ready.walk);
        (model.variant_sets, model.selected) = (ready.variant_sets, ready.task.selected);
        if let Some(matched) = &model.matched {
            matched.of_files().for_each(|w| model.messages.add(w));
        }
        let bounds = bounds(&mut stage, &mut model).map_err(|e| e.to_string())?;
        let shown = Some(Shown {
            stage,
            posed: None,
            comparison: None,
            is_compared: false,
        });
        match place {
            Place::Main => self.main = shown,
            Place::Beside => self.beside = shown,
        }
        Ok((model, bounds))
    }

    /// Shows the main character alone.
    pub fn alone(&mut self) {
        self.beside = None;
    }

    /// Poses the stage at the state's time and fills in what the panels show of it.
    pub fn pose(&mut self, state: &mut State) -> Result<(), String> {
        let began = Instant::now();
        let posed = self.set_pose(state);
        let seconds = began.elapsed().as_secs_f64();
        self.posing = posed.as_ref().is_ok_and(|posed| *posed).then_some(seconds);
        posed.map(drop)
    }

    /// Whether a pose was set.
    fn set_pose(&mut self, state: &mut State) -> Result<bool, String> {
        let mut posed = false;
        if let (Some(shown), Some(beside)) = (&mut self.beside, &mut state.beside) {
            let control = Control {
                weights: Default::default(),
                heat: None,
                ..state.control.clone()
            };
            if shown.pose(&beside.clock, &control)? {
                posed = true;
                beside.joints = joints(&shown.stage);
            }
        }
        let Some(shown) = &mut self.main else {
            return Ok(posed);
        };
        if shown.pose(&state.clock, &state.control)? {
            posed = true;
            state.joints = joints(&shown.stage);
            state.weights = shown.stage.channels();
            shown.is_compared = false;
            // While it plays, what was found last stays until the next is there.
            if !state.clock.playing {
                state.difference = None;
            }
        }
        let is_due = shown.comparison.is_some() || !shown.is_compared;
        if state.compare && (is_due || state.difference.is_none()) {
            let compared = shown.compare(self.skinner.device());
            state.difference = compared.transpose().or(state.difference.take());
        }
        Ok(posed)
    }

    /// The box around everything at the time shown.
    pub fn bounds(&self) -> Bounds {
        let main = self.main.as_ref();
        main.map_or(Bounds::EMPTY, |shown| box_of(&shown.stage))
    }

    /// Whether the main character has left the picture. What the user moves stays where it is.
    pub fn has_left(&mut self, state: &State) -> bool {
        let is_free = matches!(state.camera.view, View::Orbit(_)) && !state.dragging;
        let outside = |bounds: &Bounds| follow::is_outside(&state.camera, bounds, state.aspect());
        let joints = Bounds::of(state.joints.iter().flatten().copied());
        // Joints are at hand; surfaces are skinned on the CPU for this.
        if !is_free || self.main.is_none() || !(joints.is_empty() || outside(&joints)) {
            return false;
        }
        if state.clock.playing && self.searched.elapsed().as_secs_f64() < SEARCH_EVERY {
            return false;
        }
        self.searched = Instant::now();
        outside(&self.bounds())
    }

    /// A camera of the file, at the time shown.
    pub fn camera(&self, number: usize, state: &State) -> Option<Camera> {
        let stage = &self.main.as_ref()?.stage;
        let camera = stage.cameras().get(number)?;
        let fixed = Fixed::of_stage(camera, Time::At(state.clock.time));
        let (Lens::Perspective { low, high } | Lens::Orthographic { low, high }) = fixed.lens;
        let seen = (high - low).cmpgt(DVec2::ZERO).all() && fixed.world_from_camera.is_finite();
        seen.then(|| Camera::fixed(stage.up_axis(), fixed))
    }

    /// Records skinning and the pictures: that of the main character, and the one beside it.
    pub fn draw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        views: [&wgpu::TextureView; 2],
        size: [u32; 2],
        state: &mut State,
    ) -> Result<(), String> {
        let text = |e: sinew_render::Error| e.to_string();
        let Some(main) = &mut self.main else {
            clear(encoder, views[0]);
            return Ok(());
        };
        let began = Instant::now();
        let skinning = match state.control.backend {
            DrawBackend::Cpu => Skinning::Mirror,
            DrawBackend::Gpu if self.is_software => Skinning::Software,
            DrawBackend::Gpu => Skinning::Gpu,
        };
        let source = Source {
            skinning,
            timestamps: self.clock.is_some(),
        };
        let mut stages = [
            Some(&mut main.stage),
            self.beside.as_mut().map(|b| &mut b.stage),
        ];
        let mut encode = |encoder: &mut wgpu::CommandEncoder| -> Result<(), String> {
            let mut stages = stages.iter_mut().flatten();
            stages
                .try_for_each(|stage| stage.encode(encoder))
                .map_err(text)
        };
        let skinned = match skinning {
            // Nothing is skinned: the pose is the one before.
            Skinning::Software if self.posing.is_some() => {
                Some(skin_and_wait(&self.skinner, encode)?)
            }
            _ => {
                let begun = Instant::now();
                if let Some(clock) = &mut self.clock {
                    clock.begin(encoder);
                }
                encode(encoder)?;
                let on_cpu = skinning == Skinning::Mirror && self.posing.is_some();
                on_cpu.then(|| begun.elapsed().as_secs_f64())
            }
        };
        if let Some(clock) = &mut self.clock {
            if skinned.is_some() && skinning == Skinning::Software {
                clock.begin(encoder);
            }
            clock.skinned(encoder);
        }
        let recording = Instant::now();
        let mut draw = |view, stage: &Stage, camera: &Camera, look: &Look| {
            let drawn = self.renderer.draw(encoder, view, size, stage, camera, look);
            drawn.map_err(|e| e.to_string())
        };
        if let (Some(beside), Some((camera, _))) = (&self.beside, state.beside_camera()) {
            draw(views[1], &beside.stage, &camera, &look_beside(state))?;
        }
        draw(views[0], &main.stage, &state.camera, &state.look)?;
        let (id, interval) = self.frame;
        if let Some(clock) = &mut self.clock {
            clock.drawn(encoder, id);
        }
        let recorded = recording.elapsed().as_secs_f64();
        let took = Parts {
            interval,
            posing: self.posing,
            skinning: skinned,
            drawing: self.clock.is_none().then_some(recorded),
        };
        let at = began;
        state.stats.count(FrameTime { id, at, took }, source);
        Ok(())
    }

    /// Draws the picture without the panels, in pixels of the window; of both characters, if two are shown. It is there
    /// when the device has drawn it.
    pub fn start_picture(
        &mut self,
        state: &State,
    ) -> Result<impl Future<Output = Result<RgbaImage, String>> + use<>, String> {
        let main = self
            .main
            .as_mut()
            .ok_or("nothing is shown that could be saved")?;
        let offscreen = match &mut self.offscreen {
            Some(offscreen) => offscreen,
            none => {
                let made = Offscreen::new(self.skinner.device(), self.skinner.queue());
                none.insert(made.map_err(|e| e.to_string())?)
            }
        };
        let [left, top, width, height] = state.viewport;
        let mut start = |stage: &mut Stage, camera: &Camera, mut look: Look| {
            if state.view.transparent {
                look.background = Background::Transparent;
            }
            let size = [width.max(1), height.max(1)];
            let picture = offscreen.start_picture(stage, camera, &look, size);
            picture.map_err(|e| e.to_string())
        };
        let first = start(&mut main.stage, &state.camera, state.look.clone())?;
        let second = match (&mut self.beside, state.beside_camera()) {
            (Some(beside), Some((camera, _))) => {
                Some(start(&mut beside.stage, &camera, look_beside(state))?)
            }
            _ => None,
        };
        let [x, y, ..] = state.viewport_beside;
        let (x, y) = (x.saturating_sub(left), y.saturating_sub(top));
        Ok(async move {
            let text = |e: sinew_render::Error| e.to_string();
            let Some(second) = second else {
                return first.await.map_err(text);
            };
            let (first, second) = both(first, second).await;
            let (first, second) = (first.map_err(text)?, second.map_err(text)?);
            let mut both = RgbaImage::new(x + second.width(), y + second.height());
            image::imageops::replace(&mut both, &first, 0, 0);
            image::imageops::replace(&mut both, &second, x.into(), y.into());
            Ok(both)
        })
    }

    /// Takes the GPU times of frames that are done by now.
    pub fn measure(&mut self, device: &wgpu::Device, state: &mut State) {
        let times = self.clock.as_mut().map(|c| c.take(device));
        for (frame, [skinning, drawing]) in times.unwrap_or_default() {
            state.stats.count_gpu(frame, skinning, drawing);
        }
    }
}

/// Waits for two futures at once.
async fn both<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    poll_fn(|context| {
        if of_a.is_none()
            && let Poll::Ready(out) = a.as_mut().poll(context)
        {
            of_a = Some(out);
        }
        if of_b.is_none()
            && let Poll::Ready(out) = b.as_mut().poll(context)
        {
            of_b = Some(out);
        }
        match (of_a.take(), of_b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            rest => {
                (of_a, of_b) = rest;
                Poll::Pending
            }
        }
    })
    .await
}

/// Has a software adapter skin at once; gives the seconds until it is done.
fn skin_and_wait(
    skinner: &Skinner,
    encode: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), String>,
) -> Result<f64, String> {
    let wait = || {
        let waited = skinner.device().poll(wgpu::PollType::wait_indefinitely());
        waited.map(drop).map_err(|e| e.to_string())
    };
    // The picture before may not be done yet.
    wait()?;
    let began = Instant::now();
    let mut encoder = skinner.device().create_command_encoder(&Default::default());
    encode(&mut encoder)?;
    skinner.queue().submit([encoder.finish()]);
    wait()?;
    Ok(began.elapsed().as_secs_f64())
}

/// The look of the character at the right.
fn look_beside(state: &State) -> Look {
    let is_bare = |b: &super::beside::Beside| b.model.counts.meshes == 0;
    Look {
        chosen: None,
        // Of a clip without a character there is nothing else to see.
        joints: state.look.joints || state.beside.as_ref().is_some_and(is_bare),
        ..state.look.clone()
    }
}

impl Shown {
    /// The largest distance between a point of both backends, once it is there: in a browser some frames later.
    fn compare(&mut self, device: &wgpu::Device) -> Result<Option<f64>, String> {
        let text = |e: sinew_render::Error| e.to_string();
        let comparison = match self.comparison.take() {
            Some(under_way) => under_way,
            None => {
                self.is_compared = true;
                let started = self.stage.start_difference().map_err(text)?;
                let arrived = started.arrived();
                let waiting = async move {
                    arrived.await;
                    Ok(())
                };
                platform::finish(Some(device), waiting, drop).transpose()?;
                started
            }
        };
        let Some(difference) = self.stage.take_difference(&comparison) else {
            self.comparison = Some(comparison);
            return Ok(None);
        };
        Ok(Some(difference.map_err(text)?.largest))
    }

    /// Poses the stage, unless it has this pose; gives whether it was posed.
    fn pose(&mut self, clock: &Clock, control: &Control) -> Result<bool, String> {
        let wanted = (clock.time, control.clone());
        if self.posed.as_ref() == Some(&wanted) {
            return Ok(false);
        }
        let time = match clock.moves() {
            true => Time::At(clock.time),
            false => self.stage.time(),
        };
        let result = self.stage.set_time(time, control);
        self.posed = Some(wanted);
        result.map_err(|e| e.to_string()).map(|()| true)
    }
}

/// World positions of each skeleton's joints.
fn joints(stage: &Stage) -> Vec<Vec<DVec3>> {
    let positions = |s: &StageSkeleton| {
        let positions = s.world_from_joint.iter();
        positions.map(|m| m.w_axis.truncate()).collect()
    };
    stage.skeletons().iter().map(positions).collect()
}

/// The box around everything at the time shown; of a clip without a character around the skeleton
/// with the most joints, since others are often left over.
fn box_of(stage: &Stage) -> Bounds {
    let largest = stage.skeletons().iter().max_by_key(|s| s.joints.len());
    match largest.filter(|_| stage.geometry().meshes.is_empty()) {
        Some(skeleton) => skeleton.bounds(),
        None => stage.bounds(),
    }
}

/// The box around the whole clip. Where the camera follows the root, around that of each time as
/// if the root had stayed.
fn bounds(stage: &mut Stage, model: &mut Model) -> sinew_render::Result<Bounds> {
    let times = model.times;
    let count = if times.end > times.start { FRAMED } else { 1 };
    let follow = Follow::new(model.walk, None);
    let first = follow.anchor(&joints(stage), model.up_axis);
    model.origin = first;
    let mut out = box_of(stage);
    let (time, control) = (stage.time(), stage.control().clone());
    for i in 0..count {
        let part = i as f64 / (FRAMED - 1) as f64;
        stage.set_time(
            Time::At(times.start + (times.end - times.start) * part),
            &control,
        )?;
        let now = follow.anchor(&joints(stage), model.up_axis);
        let walked = first.zip(now).map_or(DVec3::ZERO, |(a, b)| b - a);
        let back = DMat4::from_translation(-walked);
        out = out.union(box_of(stage).transformed(back));
    }
    stage.set_time(time, &control)?;
    Ok(out)
}

/// The picture of no file.
fn clear(encoder: &mut wgpu::CommandEncoder, view: &wgpu::TextureView) {
    let [r, g, b, a] = [0.055, 0.06, 0.07, 1.0];
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("viewer.empty"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    });
}

//! What any renderer has anyway: a device, a window or a picture, a depth buffer, a camera. Nothing of it knows Sinew but
//! the device's limits.

mod camera;
mod picture;
mod pipelines;
mod textured;
mod window;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args as _, FromArgMatches as _};
use glam::Mat4;
use sinew::wgpu;

pub use camera::{Framing, Orbit};
pub use pipelines::{Look, buffer, group, layout, pipeline_layout, shader, traced, upload};
pub use textured::Textured;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
pub const SAMPLES: u32 = 4;

/// What a program draws with.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// Of what is drawn on.
    pub format: wgpu::TextureFormat,
    /// Whether the CPU does its work, as for lavapipe.
    pub is_software: bool,
}

impl Gpu {
    /// Opens a device that draws no window.
    pub fn open(traces_rays: bool) -> Result<Self> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let (adapter, device, queue) = open_device(&instance, None, traces_rays)?;
        let format = wgpu::TextureFormat::Rgba8UnormSrgb;
        Ok(Self::new(&adapter, device, queue, format))
    }

    fn new(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        format: wgpu::TextureFormat,
    ) -> Self {
        Self {
            device,
            queue,
            format,
            is_software: adapter.get_info().device_type == wgpu::DeviceType::Cpu,
        }
    }
}

/// A program that draws frames, in a window or into a picture.
pub trait Program: Sized + 'static {
    const NAME: &'static str;
    /// What `--help` says of it.
    const ABOUT: &'static str;
    /// A command that works.
    const EXAMPLE: &'static str;
    /// Width and height of what it draws, if `--size` does not say.
    const SIZE: [u32; 2] = [960, 720];
    /// Whether its device needs ray queries.
    const TRACES_RAYS: bool = false;
    /// Its own options.
    type Options: clap::Args + Clone;

    /// Loads what the options name.
    fn new(gpu: &Gpu, options: Self::Options) -> Result<Self>;

    /// What a camera has to see.
    fn framing(&self) -> Framing;

    /// Records a frame: what is to be seen after so many seconds, by a camera.
    fn frame(
        &mut self,
        gpu: &Gpu,
        seconds: f64,
        clip_from_world: Mat4,
        encoder: &mut wgpu::CommandEncoder,
        target: &Target,
    ) -> Result<()>;

    /// Called when a frame is submitted.
    fn submitted(&mut self) {}

    /// Called when the last frame of a picture is done.
    fn finish(&mut self) {}
}

/// Runs a program in a window, or for one picture if there is no display or `--out` asks for one.
pub fn run<P: Program>() -> ExitCode {
    let command = Args::augment_args(P::Options::augment_args(clap::Command::new(P::NAME)))
        .about(P::ABOUT)
        .after_help(format!("example: {}", P::EXAMPLE));
    let words = command.get_matches();
    let read = || {
        Ok((
            Args::from_arg_matches(&words)?,
            P::Options::from_arg_matches(&words)?,
        ))
    };
    let (args, options) = read().unwrap_or_else(|e: clap::Error| e.exit());
    let done = match &args.out {
        Some(out) => picture::draw::<P>(&args, options, out),
        None => match window::show::<P>(&args, options.clone()) {
            Err(window::Failure::NoDisplay(reason)) => {
                let out = PathBuf::from("frame.png");
                println!("{reason}: drawing {} instead", out.display());
                picture::draw::<P>(&args, options, &out)
            }
            Err(window::Failure::Other(e)) => Err(e),
            Ok(()) => Ok(()),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::FAILURE
        }
    }
}

/// Frames of a picture per second.
const FRAMES_PER_SECOND: f64 = 30.0;

/// The options of every program.
#[derive(clap::Args)]
struct Args {
    /// No window: draw a picture
    #[arg(long, value_name = "OUT.png")]
    out: Option<PathBuf>,
    /// Draw so many frames, 30 to a second, and keep the last one
    #[arg(long, value_name = "N", default_value = "1")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    frames: u32,
    /// The time of the first of them
    #[arg(long, value_name = "S", default_value = "0.5", value_parser = seconds)]
    seconds: f64,
    /// Width and height in pixels [default: 1280x720 for crowd, 960x720 for renderer]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<[u32; 2]>,
}

impl Args {
    /// Width and height of what is drawn.
    fn size<P: Program>(&self) -> [u32; 2] {
        self.size.unwrap_or(P::SIZE)
    }
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.parse().ok().filter(|s| (0.0..=86_400.0).contains(s));
    seconds.ok_or("no number from 0 to 86400".into())
}

fn size(text: &str) -> std::result::Result<[u32; 2], String> {
    let size = text.split_once('x').and_then(|(w, h)| {
        let size: [u32; 2] = [w.parse().ok()?, h.parse().ok()?];
        Some(size).filter(|s| s.iter().all(|n| (1..=8192).contains(n)))
    });
    size.ok_or("no size such as 960x720".into())
}

/// Opens a device on an adapter that can draw on `surface`, with what Sinew needs and no more.
fn open_device(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'_>>,
    traces_rays: bool,
) -> Result<(wgpu::Adapter, wgpu::Device, wgpu::Queue)> {
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
        compatible_surface: surface,
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    }))?;
    // The renderer's own wishes, and Sinew's besides. With larger buffers, large crowds need fewer draws.
    let most = adapter.limits();
    let mine = wgpu::Limits {
        max_buffer_size: most.max_buffer_size,
        max_storage_buffer_binding_size: most.max_storage_buffer_binding_size,
        ..wgpu::Limits::downlevel_defaults()
    };
    let mut mine = mine.using_resolution(most.clone());
    let mut features = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
    let mut experiments = wgpu::ExperimentalFeatures::disabled();
    if traces_rays {
        let rays = wgpu::Features::EXPERIMENTAL_RAY_QUERY;
        if !adapter.features().contains(rays) {
            let name = adapter.get_info().name;
            return Err(format!("the adapter has no ray queries: {name}").into());
        }
        features |= rays;
        mine = mine.using_acceleration_structure_values(most);
        // SAFETY: wgpu asks its users to accept that features which are not finished may have faults.
        experiments = unsafe { wgpu::ExperimentalFeatures::enabled() };
    }
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("renderer"),
        required_features: features,
        required_limits: sinew::gpu::needed_limits(&mine),
        experimental_features: experiments,
        ..Default::default()
    }))?;
    Ok((adapter, device, queue))
}

/// What a frame is drawn on.
pub struct Target {
    color: wgpu::TextureView,
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
    /// Width and height in pixels.
    pub size: [u32; 2],
}

impl Target {
    fn new(gpu: &Gpu, color: wgpu::TextureView, size: [u32; 2]) -> Self {
        let [width, height] = size;
        let texture = |label, format| {
            let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&Default::default())
        };
        Self {
            color,
            samples: texture("samples", gpu.format),
            depth: texture("depth", DEPTH),
            size,
        }
    }

    /// Begins to draw, on a plain background. `times` asks for timestamps.
    pub fn begin<'e>(
        &self,
        encoder: &'e mut wgpu::CommandEncoder,
        times: Option<wgpu::RenderPassTimestampWrites<'_>>,
    ) -> wgpu::RenderPass<'e> {
        let background = wgpu::Color {
            r: 0.045,
            g: 0.05,
            b: 0.06,
            a: 1.0,
        };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("frame"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.samples,
                depth_slice: None,
                resolve_target: Some(&self.color),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(background),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: times,
            ..Default::default()
        })
    }
}

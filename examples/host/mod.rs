//! What any renderer has anyway: a device, a window or a picture, a depth buffer, a camera. Nothing of it knows Sinew but
//! the device's limits.

mod camera;
mod drawing;
mod picture;
mod textured;
mod window;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use glam::Mat4;
use sinew::wgpu;

pub use camera::{Framing, Orbit};
pub use drawing::{Drawing, upload};
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
}

/// A program that draws frames, in a window or into a picture.
pub trait Program: Sized + 'static {
    /// Loads what `file` names.
    fn new(gpu: &Gpu, file: Option<&str>) -> Result<Self>;

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
}

/// Runs a program in a window, or for one picture where there is no display or `--png` asks for one.
pub fn run<P: Program>(usage: &str) -> ExitCode {
    let usage = format!("usage: {usage} [--png OUT.png] [--seconds S] [--size WxH]");
    if std::env::args().any(|a| a == "--help" || a == "-h") {
        println!("{usage}");
        return ExitCode::SUCCESS;
    }
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(reason) => {
            eprintln!("{reason}\n{usage}");
            return ExitCode::from(2);
        }
    };
    let done = match &args.png {
        Some(png) => picture::draw::<P>(&args, png),
        None => match window::show::<P>(&args) {
            Err(window::Failure::NoDisplay(reason)) => {
                let png = PathBuf::from("frame.png");
                println!("{reason}: drawing {} instead", png.display());
                picture::draw::<P>(&args, &png)
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

struct Args {
    file: Option<String>,
    png: Option<PathBuf>,
    seconds: f64,
    size: [u32; 2],
}

impl Args {
    fn parse(mut words: impl Iterator<Item = String>) -> std::result::Result<Self, String> {
        let mut args = Self {
            file: None,
            png: None,
            seconds: 0.5,
            size: [960, 720],
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} wants a value"));
            match word.as_str() {
                "--png" => args.png = Some(value()?.into()),
                "--seconds" => {
                    let text = value()?;
                    args.seconds = text.parse().map_err(|_| format!("no number: {text}"))?;
                }
                "--size" => {
                    let text = value()?;
                    let size = text.split_once('x').and_then(|(w, h)| {
                        let size: [u32; 2] = [w.parse().ok()?, h.parse().ok()?];
                        Some(size).filter(|s| s.iter().all(|n| (1..=8192).contains(n)))
                    });
                    args.size = size.ok_or(format!("no size such as 960x720: {text}"))?;
                }
                option if option.starts_with('-') => return Err(format!("no option {option}")),
                _ if args.file.is_some() => return Err("more than one file".to_owned()),
                _ => args.file = Some(word),
            }
        }
        Ok(args)
    }
}

/// Opens a device on an adapter that can draw on `surface`, with what Sinew needs and no more.
fn open_device(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'_>>,
) -> Result<(wgpu::Adapter, wgpu::Device, wgpu::Queue)> {
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
        compatible_surface: surface,
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    }))?;
    // The renderer's own wishes, and Sinew's besides.
    let mine = wgpu::Limits::downlevel_defaults().using_resolution(adapter.limits());
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        label: Some("renderer"),
        required_features: sinew::gpu::needed_features(),
        required_limits: sinew::gpu::needed_limits().or_better_values_from(&mine),
        ..Default::default()
    }))?;
    Ok((adapter, device, queue))
}

/// What a frame is drawn on.
pub struct Target {
    color: wgpu::TextureView,
    samples: wgpu::TextureView,
    depth: wgpu::TextureView,
}

impl Target {
    fn new(gpu: &Gpu, color: wgpu::TextureView, [width, height]: [u32; 2]) -> Self {
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
        }
    }

    /// Begins to draw, on a plain background.
    pub fn begin<'e>(&self, encoder: &'e mut wgpu::CommandEncoder) -> wgpu::RenderPass<'e> {
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
            ..Default::default()
        })
    }
}

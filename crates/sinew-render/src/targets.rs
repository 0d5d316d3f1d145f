//! The textures that a picture is drawn in before it reaches its target.

use super::buffers::entry;
use super::pipelines::{DEPTH, Pipelines, SHADOW_FORMAT};

/// Texels along the shadow's edge.
const SHADOW_SIZE: u32 = 256;

/// Colour and depth of a picture's size.
#[derive(Debug)]
pub(super) struct Targets {
    pub size: [u32; 2],
    /// Samples that are resolved into the target; `None` where the target is drawn to itself.
    pub color: Option<wgpu::TextureView>,
    pub depth: wgpu::TextureView,
}

impl Targets {
    pub fn new(
        device: &wgpu::Device,
        format: wgpu::TextureFormat,
        samples: u32,
        size: [u32; 2],
    ) -> Self {
        let make = |label, format| texture(device, label, format, samples, size);
        Self {
            size,
            color: (samples > 1).then(|| make("render.color", format)),
            depth: make("render.depth", DEPTH),
        }
    }
}

/// The shadow's square, what blurs it, and how the ground sees it.
#[derive(Debug)]
pub(super) struct Shadow {
    pub seen: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    pub across: wgpu::TextureView,
    pub seen_group: wgpu::BindGroup,
    pub across_group: wgpu::BindGroup,
    pub ground_group: wgpu::BindGroup,
}

impl Shadow {
    pub fn new(device: &wgpu::Device, pipelines: &Pipelines) -> Self {
        let size = [SHADOW_SIZE; 2];
        let make = |label, format| texture(device, label, format, 1, size);
        let seen = make("render.shadow", SHADOW_FORMAT);
        let across = make("render.shadow_across", SHADOW_FORMAT);
        let fetched = |view: &wgpu::TextureView| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("render.shadow"),
                layout: &pipelines.fetched,
                entries: &[entry(0, wgpu::BindingResource::TextureView(view))],
            })
        };
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("render.shadow"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            ..Default::default()
        });
        Self {
            depth: make("render.shadow_depth", DEPTH),
            seen_group: fetched(&seen),
            across_group: fetched(&across),
            ground_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("render.ground"),
                layout: &pipelines.picture,
                entries: &[
                    entry(0, wgpu::BindingResource::TextureView(&seen)),
                    entry(1, wgpu::BindingResource::Sampler(&sampler)),
                ],
            }),
            seen,
            across,
        }
    }
}

fn texture(
    device: &wgpu::Device,
    label: &str,
    format: wgpu::TextureFormat,
    samples: u32,
    [width, height]: [u32; 2],
) -> wgpu::TextureView {
    let usage = match samples {
        1 => wgpu::TextureUsages::TEXTURE_BINDING,
        _ => wgpu::TextureUsages::empty(),
    };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    });
    texture.create_view(&Default::default())
}

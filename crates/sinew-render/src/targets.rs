//! The textures that a renderer draws into besides its target.

use super::buffers::entry;
use super::pipelines::{DEPTH, Pipelines, SHADOW_FORMAT};

/// Width and height of the shadow, in texels.
const SHADOW_SIZE: u32 = 256;

/// Textures of a picture's size.
#[derive(Debug)]
pub(super) struct Targets {
    pub size: [u32; 2],
    /// Multisampled colour, which is resolved into the target; `None` if the target is drawn into
    /// directly.
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
        let create = |label, format| texture(device, label, format, samples, size);
        Self {
            size,
            color: (samples > 1).then(|| create("render.color", format)),
            depth: create("render.depth", DEPTH),
        }
    }
}

/// The textures of the shadow, and their bind groups for the blur and the ground.
#[derive(Debug)]
pub(super) struct Shadow {
    /// The meshes seen from below; after the blur, the shadow.
    pub seen: wgpu::TextureView,
    pub depth: wgpu::TextureView,
    /// The shadow after the first half of the blur.
    pub across: wgpu::TextureView,
    pub seen_group: wgpu::BindGroup,
    pub across_group: wgpu::BindGroup,
    pub ground_group: wgpu::BindGroup,
}

impl Shadow {
    pub fn new(device: &wgpu::Device, pipelines: &Pipelines) -> Self {
        let size = [SHADOW_SIZE; 2];
        let create = |label, format| texture(device, label, format, 1, size);
        let seen = create("render.shadow", SHADOW_FORMAT);
        let across = create("render.shadow_across", SHADOW_FORMAT);
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
            depth: create("render.shadow_depth", DEPTH),
            seen_group: fetched(&seen),
            across_group: fetched(&across),
            ground_group: device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("render.ground"),
                layout: &pipelines.sampled,
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

/// A view of a new texture that can be drawn into, and bound if it is not multisampled.
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
    drawn_into(device, label, [width, height, 1], samples, format, usage)
        .create_view(&Default::default())
}

/// A texture of a width, a height and a number of layers that can be drawn into, and used in
/// another way too.
pub(super) fn drawn_into(
    device: &wgpu::Device,
    label: &str,
    [width, height, depth_or_array_layers]: [u32; 3],
    samples: u32,
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers,
        },
        mip_level_count: 1,
        sample_count: samples,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | wgpu::TextureUsages::RENDER_ATTACHMENT,
        view_formats: &[],
    })
}

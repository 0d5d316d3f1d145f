//! A pipeline that draws textured triangles, lit from above, and the images and colours of its
//! materials.

use std::collections::HashMap;

use glam::{Mat4, Vec4};
use sinew::scene::{ColorSource, Material, Texture, TextureChannel, TextureUse, TextureWrap};
use sinew::wgpu;
use sinew_character::Draw;
use wgpu::util::DeviceExt;

use super::pipelines::{Look, buffer, group, shader, upload};
use super::{Gpu, Result};

/// The pipeline, with its camera. Vertices come from the buffers that `Draw::record` sets.
pub struct Textured {
    pipeline: wgpu::RenderPipeline,
    camera: wgpu::Buffer,
    camera_group: wgpu::BindGroup,
    /// By the prim path of the material; empty for meshes without one.
    materials: HashMap<String, wgpu::BindGroup>,
}

/// A material as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Uniform {
    color: Vec4,
    emissive: Vec4,
    /// The first two rows of the matrix for texture coordinates.
    uv: [Vec4; 2],
    /// Smallest alpha that is drawn; whether alpha is the texture's; whether colours of vertices
    /// count.
    alpha: Vec4,
}

impl Textured {
    pub fn new(gpu: &Gpu) -> Self {
        let pipeline = pipeline(gpu);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let camera = buffer(gpu, size_of::<Mat4>() as u64, usage);
        let camera_group = group(gpu, &pipeline.get_bind_group_layout(0), &[&camera]);
        Self {
            pipeline,
            camera,
            camera_group,
            materials: HashMap::new(),
        }
    }

    /// Decodes and uploads what a material needs, once. Without a material a mesh has its own
    /// colours.
    pub fn add(
        &mut self,
        gpu: &Gpu,
        material: Option<&Material>,
        base_color: Option<(&TextureUse, &Texture)>,
    ) -> Result<()> {
        let name = material.map_or("", |m| &m.path);
        if self.materials.contains_key(name) {
            return Ok(());
        }
        let mut plain = Material::new("");
        plain.color_source = ColorSource::DisplayColor;
        let group = self.group(gpu, material.unwrap_or(&plain), base_color)?;
        self.materials.insert(name.to_owned(), group);
        Ok(())
    }

    /// Begins to draw.
    pub fn begin(&self, gpu: &Gpu, clip_from_world: Mat4, pass: &mut wgpu::RenderPass<'_>) {
        let matrix = clip_from_world.to_cols_array();
        gpu.queue
            .write_buffer(&self.camera, 0, bytemuck::cast_slice(&matrix));
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.camera_group, &[]);
    }

    /// Sets a material that was added.
    pub fn set(&self, material: Option<&Material>, pass: &mut wgpu::RenderPass<'_>) {
        let name = material.map_or("", |m| &m.path);
        pass.set_bind_group(1, self.materials.get(name), &[]);
    }

    fn group(
        &self,
        gpu: &Gpu,
        material: &Material,
        base_color: Option<(&TextureUse, &Texture)>,
    ) -> Result<wgpu::BindGroup> {
        let used = base_color.map(|(used, _)| used);
        let is_colored = material.color_source == ColorSource::DisplayColor;
        let color = match used {
            Some(used) => used.scale,
            None if is_colored => Vec4::ONE,
            None => material.diffuse_color.value.extend(1.0),
        };
        let opacity = material.opacity.texture.as_ref();
        let has_alpha = opacity.is_some_and(|o| {
            o.channel == TextureChannel::A && used.is_some_and(|u| u.texture == o.texture)
        });
        let cutoff = if has_alpha {
            material.opacity_threshold.max(0.1)
        } else {
            0.0
        };
        let uv = used
            .map_or(glam::Mat3::IDENTITY, |u| u.transform)
            .transpose();
        let uniform = Uniform {
            color,
            emissive: material.emissive_color.value.extend(0.0),
            uv: [uv.x_axis.extend(0.0), uv.y_axis.extend(0.0)],
            alpha: Vec4::new(cutoff, f32::from(has_alpha), f32::from(is_colored), 0.0),
        };
        let uniform = upload(gpu, wgpu::BufferUsages::UNIFORM, &[uniform]);
        let image = match base_color {
            Some((used, texture)) => {
                let image = image::load_from_memory(&texture.bytes)
                    .map_err(|e| format!("{}: {e}", texture.resolved))?;
                let looks_srgb = image.color().channel_count() >= 3;
                upload_image(gpu, image.into_rgba8(), used.srgb.unwrap_or(looks_srgb))
            }
            None => {
                let white = image::RgbaImage::from_pixel(1, 1, image::Rgba([255; 4]));
                upload_image(gpu, white, true)
            }
        };
        let wrap = |wrap: Option<TextureWrap>| match wrap {
            Some(TextureWrap::Repeat) => wgpu::AddressMode::Repeat,
            Some(TextureWrap::Mirror) => wgpu::AddressMode::MirrorRepeat,
            _ => wgpu::AddressMode::ClampToEdge,
        };
        let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("material"),
            address_mode_u: wrap(used.map(|u| u.wrap_s)),
            address_mode_v: wrap(used.map(|u| u.wrap_t)),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            ..Default::default()
        });
        let view = image.create_view(&Default::default());
        let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        Ok(gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("material"),
            layout: &self.pipeline.get_bind_group_layout(1),
            entries: &[
                entry(0, uniform.as_entire_binding()),
                entry(1, wgpu::BindingResource::TextureView(&view)),
                entry(2, wgpu::BindingResource::Sampler(&sampler)),
            ],
        }))
    }
}

/// Uploads an image with its mip levels.
fn upload_image(gpu: &Gpu, image: image::RgbaImage, srgb: bool) -> wgpu::Texture {
    let (width, height) = image.dimensions();
    let mut level = image;
    let mut bytes = level.as_raw().clone();
    let mut levels = 1;
    while level.width().max(level.height()) > 1 {
        let (w, h) = ((level.width() / 2).max(1), (level.height() / 2).max(1));
        level = image::imageops::thumbnail(&level, w, h);
        bytes.extend_from_slice(level.as_raw());
        levels += 1;
    }
    let descriptor = wgpu::TextureDescriptor {
        label: Some("image"),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: levels,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: match srgb {
            true => wgpu::TextureFormat::Rgba8UnormSrgb,
            false => wgpu::TextureFormat::Rgba8Unorm,
        },
        usage: wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    };
    let order = wgpu::util::TextureDataOrder::LayerMajor;
    gpu.device
        .create_texture_with_data(&gpu.queue, &descriptor, order, &bytes)
}

fn pipeline(gpu: &Gpu) -> wgpu::RenderPipeline {
    let look = Look {
        buffers: &Draw::VERTEX_BUFFERS,
        ..Look::new("textured")
    };
    look.pipeline(gpu, &shader(gpu, include_str!("textured.wgsl")), None)
}

//! Materials on the GPU: uniforms, the texture of the base colour, and bind groups.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Vec3, Vec4};

use super::images::{TextureImage, is_srgb};
use super::loaded::Loaded;
use super::{buffers, layouts};
use sinew::gpu::{GpuError, guarded};
use sinew::scene::{ColorSource, Material, TextureChannel, TextureUse, TextureWrap};

/// Colour of meshes without a material, linear: light clay.
const CLAY: Vec3 = Vec3::new(0.42, 0.39, 0.36);

/// One material on the GPU.
#[derive(Debug)]
pub(super) struct GpuMaterial {
    pub group: wgpu::BindGroup,
    pub alpha: Alpha,
}

/// What a material's alpha does: each has a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alpha {
    /// Nothing. The depth test runs before the shader, which it cannot where a shader discards.
    Ignored,
    /// Fragments with an alpha below a threshold are not drawn.
    Masked,
    /// Blends, so that the material is drawn after the others.
    Blended,
}

/// Materials of a stage: those of [`sinew::scene::Geometry::materials`], and then
/// [`Materials::plain`] and [`Materials::colored`].
#[derive(Debug)]
pub(super) struct Materials(Vec<GpuMaterial>);

/// `Material` of surface.wgsl.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MaterialUniform {
    base: Vec4,
    emissive: Vec4,
    /// The first two rows of the uv transform.
    uv: [Vec4; 2],
    roughness: f32,
    metallic: f32,
    cutoff: f32,
    vertex_colors: u32,
}

impl Materials {
    pub fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        loaded: &Loaded,
    ) -> Result<Self, GpuError> {
        guarded(device, || {
            let mut textures = Textures {
                device,
                queue,
                views: HashMap::new(),
                white: None,
            };
            let layout = layouts::material(device);
            let materials = loaded.geometry.materials.iter();
            let mut all: Vec<_> = materials
                .map(|m| textures.material(&layout, m, &loaded.images))
                .collect();
            let mut plain = Material::new("");
            plain.diffuse_color.value = CLAY;
            plain.roughness.value = 0.65;
            all.push(textures.material(&layout, &plain, &[]));
            plain.color_source = ColorSource::DisplayColor;
            all.push(textures.material(&layout, &plain, &[]));
            Self(all)
        })
    }

    /// Whether a material has such an alpha.
    pub fn any(&self, alpha: Alpha) -> bool {
        self.0.iter().any(|m| m.alpha == alpha)
    }

    pub fn get(&self, index: usize) -> Option<&GpuMaterial> {
        self.0.get(index)
    }

    /// Index of the material for meshes that have neither a material nor colours.
    pub fn plain(&self) -> usize {
        self.0.len() - 2
    }

    /// Index of the material for meshes that have colours but no material.
    pub fn colored(&self) -> usize {
        self.0.len() - 1
    }
}

/// Uploads textures, each once.
struct Textures<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    /// By index of the texture, and whether it is read as sRGB.
    views: HashMap<(usize, bool), wgpu::TextureView>,
    /// One white texel, for materials without a texture.
    white: Option<wgpu::TextureView>,
}

impl Textures<'_> {
    fn material(
        &mut self,
        layout: &wgpu::BindGroupLayout,
        material: &Material,
        images: &[Option<TextureImage>],
    ) -> GpuMaterial {
        let used = material.diffuse_color.texture.as_ref();
        let image = used.and_then(|u| Some((u, images.get(u.texture)?.as_ref()?)));
        let colored = material.color_source == ColorSource::DisplayColor;
        let alpha_of_texture = image.is_some_and(|(used, _)| {
            let opacity = material.opacity.texture.as_ref();
            opacity.is_some_and(|o| o.texture == used.texture && o.channel == TextureChannel::A)
        });
        let color = match image {
            Some((used, _)) => used.scale.truncate(),
            None if colored => Vec3::ONE,
            None => material.diffuse_color.value,
        };
        let opacity = match alpha_of_texture {
            true => 1.0,
            // A separate texture for opacity is not drawn.
            false if material.opacity.texture.is_some() => 1.0,
            false => material.opacity.value,
        };
        let masked = material.opacity_threshold > 0.0;
        let translucent = alpha_of_texture && image.is_some_and(|(_, i)| i.translucent);
        let transform = used.map_or(Mat3::IDENTITY, |u| u.transform);
        let uniform = MaterialUniform {
            base: color.extend(opacity),
            emissive: match material.emissive_color.texture {
                // A texture for emission is not drawn.
                Some(_) => Vec4::ZERO,
                None => material.emissive_color.value.extend(0.0),
            },
            uv: [transform.row(0).extend(0.0), transform.row(1).extend(0.0)],
            roughness: material.roughness.value,
            metallic: match material.metallic.texture {
                // A texture for metalness is not drawn; most of such a surface is not metal.
                Some(_) => 0.0,
                None => material.metallic.value,
            },
            cutoff: if masked {
                material.opacity_threshold
            } else {
                -1.0
            },
            vertex_colors: u32::from(colored),
        };
        let numbers = buffers::filled(
            self.device,
            "render.material",
            bytemuck::bytes_of(&uniform),
            wgpu::BufferUsages::UNIFORM,
        );
        let view = match image {
            Some((used, image)) => self.texture(used, image),
            None => self.white(),
        };
        let sampler = self.sampler(used);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("render.material"),
            layout,
            entries: &[
                buffers::entry(0, numbers.as_entire_binding()),
                buffers::entry(1, wgpu::BindingResource::TextureView(&view)),
                buffers::entry(2, wgpu::BindingResource::Sampler(&sampler)),
            ],
        });
        GpuMaterial {
            group,
            alpha: match masked {
                true => Alpha::Masked,
                false if opacity < 0.999 || translucent => Alpha::Blended,
                false => Alpha::Ignored,
            },
        }
    }

    fn texture(&mut self, used: &TextureUse, image: &TextureImage) -> wgpu::TextureView {
        let srgb = is_srgb(used, image);
        if let Some(view) = self.views.get(&(used.texture, srgb)) {
            return view.clone();
        }
        let view = self.upload(&image.levels, srgb);
        self.views.insert((used.texture, srgb), view.clone());
        view
    }

    fn white(&mut self) -> wgpu::TextureView {
        if let Some(view) = &self.white {
            return view.clone();
        }
        let white = image::RgbaImage::from_pixel(1, 1, image::Rgba([255; 4]));
        let view = self.upload(&[white], false);
        self.white.insert(view).clone()
    }

    fn upload(&self, levels: &[image::RgbaImage], srgb: bool) -> wgpu::TextureView {
        let largest = self.device.limits().max_texture_dimension_2d;
        let fits = |l: &&image::RgbaImage| l.width().max(l.height()) <= largest;
        let levels: Vec<_> = levels.iter().filter(fits).collect();
        let size = |l: &image::RgbaImage| wgpu::Extent3d {
            width: l.width(),
            height: l.height(),
            depth_or_array_layers: 1,
        };
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("render.texture"),
            size: levels.first().map_or_else(Default::default, |l| size(l)),
            mip_level_count: levels.len() as u32,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: match srgb {
                true => wgpu::TextureFormat::Rgba8UnormSrgb,
                false => wgpu::TextureFormat::Rgba8Unorm,
            },
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        for (i, level) in levels.into_iter().enumerate() {
            let to = wgpu::TexelCopyTextureInfo {
                texture: &texture,
                mip_level: i as u32,
                origin: wgpu::Origin3d::ZERO,
                aspect: wgpu::TextureAspect::All,
            };
            let layout = wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(level.width() * 4),
                rows_per_image: None,
            };
            self.queue
                .write_texture(to, level.as_raw(), layout, size(level));
        }
        texture.create_view(&Default::default())
    }

    fn sampler(&self, used: Option<&TextureUse>) -> wgpu::Sampler {
        let mode = |wrap: TextureWrap| match wrap {
            TextureWrap::Repeat => wgpu::AddressMode::Repeat,
            TextureWrap::Mirror => wgpu::AddressMode::MirrorRepeat,
            // In nearly every file without a wrap mode, uvs stay between 0 and 1.
            TextureWrap::Clamp | TextureWrap::Black | TextureWrap::UseMetadata => {
                wgpu::AddressMode::ClampToEdge
            }
        };
        let modes = used.map_or([wgpu::AddressMode::Repeat; 2], |u| {
            [u.wrap_s, u.wrap_t].map(mode)
        });
        self.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("render.texture"),
            address_mode_u: modes[0],
            address_mode_v: modes[1],
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            mipmap_filter: wgpu::MipmapFilterMode::Linear,
            anisotropy_clamp: 4,
            ..Default::default()
        })
    }
}

//! Materials on the GPU: uniforms, textures, and bind groups.

use std::collections::HashMap;

use bytemuck::{Pod, Zeroable};
use glam::{Mat3, Vec3, Vec4};

use super::images::{TextureImage, checker, is_srgb};
use super::loaded::Loaded;
use super::{buffers, layouts};
use sinew::gpu::{GpuError, guarded};
use sinew::scene::{ColorSource, Material, TextureChannel, TextureUse, TextureWrap, Toon};

/// Colour of meshes without a material, linear: light clay.
const CLAY: Vec3 = Vec3::new(0.42, 0.39, 0.36);

/// Number of textures that a material binds. [`Slot`] lists them, and material.wgsl has the same.
pub(super) const SLOTS: usize = 7;

/// The inputs of a material that a texture can give.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    Base,
    Opacity,
    Normal,
    Roughness,
    Metallic,
    Occlusion,
    Emissive,
}

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
/// [`Materials::plain`], [`Materials::colored`] and [`Materials::translucent`].
#[derive(Debug)]
pub(super) struct Materials(Vec<GpuMaterial>);

/// `Slot` of material.wgsl.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
struct SlotUniform {
    uv: [Vec4; 2],
    scale: Vec4,
    bias: Vec4,
}

/// `Material` of material.wgsl.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct MaterialUniform {
    base: Vec4,
    emissive: Vec4,
    reflected: Vec4,
    shade: Vec4,
    roughness: f32,
    metallic: f32,
    occlusion: f32,
    cutoff: f32,
    toon: [f32; 2],
    is_toon: u32,
    vertex_colors: u32,
    slots: [SlotUniform; SLOTS],
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
                checker: None,
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
            let colored = textures.material(&layout, &plain, &[]);
            // The same, drawn in the order of their distance.
            let translucent = GpuMaterial {
                group: colored.group.clone(),
                alpha: Alpha::Blended,
            };
            all.extend([colored, translucent]);
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
        self.0.len() - 3
    }

    /// Index of the material for meshes that have colours but no material.
    pub fn colored(&self) -> usize {
        self.0.len() - 2
    }

    /// Index of the material for meshes whose own opacity is below 1.
    pub fn translucent(&self) -> usize {
        self.0.len() - 1
    }
}

/// Uploads textures, each once.
struct Textures<'a> {
    device: &'a wgpu::Device,
    queue: &'a wgpu::Queue,
    /// By index of the texture, and whether it is read as sRGB.
    views: HashMap<(usize, bool), wgpu::TextureView>,
    /// One white texel, for inputs without a texture.
    white: Option<wgpu::TextureView>,
    /// The picture in place of one that cannot be read.
    checker: Option<wgpu::TextureView>,
}

/// A texture that is bound to a slot.
struct Bound {
    view: wgpu::TextureView,
    sampler: wgpu::Sampler,
    slot: SlotUniform,
}

impl Textures<'_> {
    fn material(
        &mut self,
        layout: &wgpu::BindGroupLayout,
        material: &Material,
        images: &[Option<TextureImage>],
    ) -> GpuMaterial {
        let colored = material.color_source == ColorSource::DisplayColor;
        let masked = material.opacity_threshold > 0.0;
        let opacity = material.at_main_uvs(&material.opacity.texture);
        let is_translucent = match opacity.and_then(|u| Some((u, decoded(u, images)?))) {
            Some((used, image)) => is_translucent(used, image),
            None => material.opacity.value < 0.999,
        };
        let toon = material.toon;
        let edge = toon.map_or([0.0; 2], |t| {
            // MToon: the cosine plus the shift, from -1 + toony to 1 - toony.
            let half = 1.0 - t.toony;
            [-half - t.shift, half - t.shift]
        });
        let shade = toon.map_or(Vec4::ZERO, |t: Toon| {
            t.shade_color
                .extend(f32::from(u8::from(t.shade_uses_image)))
        });
        let bound = self.slots(material, images);
        let mut slots = [SlotUniform::default(); SLOTS];
        for (slot, bound) in slots.iter_mut().zip(&bound) {
            *slot = bound.slot;
        }
        let base = match colored {
            true => Vec3::ONE,
            false => material.diffuse_color.value,
        };
        let uniform = MaterialUniform {
            base: base.extend(material.opacity.value),
            emissive: material.emissive_color.value.extend(0.0),
            reflected: reflected(material).extend(0.0),
            shade,
            roughness: material.roughness.value,
            metallic: match material.specular_color {
                Some(_) => 0.0,
                None => material.metallic.value,
            },
            occlusion: material.occlusion.value.clamp(0.0, 1.0),
            cutoff: match masked {
                true => material.opacity_threshold,
                false => -1.0,
            },
            toon: edge,
            is_toon: u32::from(toon.is_some()),
            vertex_colors: u32::from(colored),
            slots,
        };
        let numbers = buffers::filled(
            self.device,
            "render.material",
            bytemuck::bytes_of(&uniform),
            wgpu::BufferUsages::UNIFORM,
        );
        let mut entries = vec![buffers::entry(0, numbers.as_entire_binding())];
        for (i, bound) in bound.iter().enumerate() {
            let view = wgpu::BindingResource::TextureView(&bound.view);
            let sampler = wgpu::BindingResource::Sampler(&bound.sampler);
            entries.push(buffers::entry(1 + i as u32, view));
            entries.push(buffers::entry(1 + (SLOTS + i) as u32, sampler));
        }
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("render.material"),
            layout,
            entries: &entries,
        });
        GpuMaterial {
            group,
            alpha: match masked {
                true => Alpha::Masked,
                false if is_translucent => Alpha::Blended,
                false => Alpha::Ignored,
            },
        }
    }

    /// The textures of all slots, in their order. The metalness of a material with its own colour of
    /// reflections is none.
    fn slots(&mut self, material: &Material, images: &[Option<TextureImage>]) -> Vec<Bound> {
        let no_metal = material.specular_color.is_some();
        let at_main = |texture| material.at_main_uvs(texture);
        let metallic = at_main(&material.metallic.texture).filter(|_| !no_metal);
        let used = [
            (Slot::Base, at_main(&material.diffuse_color.texture)),
            (Slot::Opacity, at_main(&material.opacity.texture)),
            (Slot::Normal, at_main(&material.normal)),
            (Slot::Roughness, at_main(&material.roughness.texture)),
            (Slot::Metallic, metallic),
            (Slot::Occlusion, at_main(&material.occlusion.texture)),
            (Slot::Emissive, at_main(&material.emissive_color.texture)),
        ];
        let glows = material.diffuse_color.texture.is_none()
            && material.diffuse_color.value == Vec3::ZERO
            && material.color_source == ColorSource::Material;
        used.into_iter()
            .map(|(slot, used)| {
                let is_color = match glows {
                    true => slot == Slot::Emissive,
                    false => slot == Slot::Base,
                };
                let image = used.and_then(|used| Some((used, decoded(used, images)?)));
                match (image, used) {
                    (Some((used, image)), _) => self.bound(used, image),
                    (None, Some(_)) if is_color => self.checker(),
                    (None, None) if is_color && material.misses_image => self.checker(),
                    (None, _) => self.none(),
                }
            })
            .collect()
    }

    fn bound(&mut self, used: &TextureUse, image: &TextureImage) -> Bound {
        Bound {
            view: self.texture(used, image),
            sampler: self.sampler([used.wrap_s, used.wrap_t]),
            slot: SlotUniform {
                uv: [
                    used.transform.row(0).extend(1.0),
                    used.transform.row(1).extend(channel(used) as f32),
                ],
                scale: used.scale,
                bias: used.bias,
            },
        }
    }

    /// What is bound to an input without a texture; the shader does not read it.
    fn none(&mut self) -> Bound {
        let view = match &self.white {
            Some(view) => view.clone(),
            None => {
                let white = image::RgbaImage::from_pixel(1, 1, image::Rgba([255; 4]));
                let view = self.upload(&[white], false);
                self.white.insert(view).clone()
            }
        };
        Bound {
            view,
            sampler: self.sampler([TextureWrap::Repeat; 2]),
            slot: SlotUniform::default(),
        }
    }

    /// The checker that stands for a picture that cannot be read.
    fn checker(&mut self) -> Bound {
        let view = match &self.checker {
            Some(view) => view.clone(),
            None => {
                let view = self.upload(&checker(), true);
                self.checker.insert(view).clone()
            }
        };
        Bound {
            view,
            sampler: self.sampler([TextureWrap::Repeat; 2]),
            slot: SlotUniform {
                uv: [
                    Mat3::IDENTITY.row(0).extend(1.0),
                    Mat3::IDENTITY.row(1).extend(0.0),
                ],
                scale: Vec4::ONE,
                bias: Vec4::ZERO,
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

    fn sampler(&self, wraps: [TextureWrap; 2]) -> wgpu::Sampler {
        let mode = |wrap: TextureWrap| match wrap {
            TextureWrap::Repeat => wgpu::AddressMode::Repeat,
            TextureWrap::Mirror => wgpu::AddressMode::MirrorRepeat,
            // In nearly every file without a wrap mode, uvs stay between 0 and 1.
            TextureWrap::Clamp | TextureWrap::Black | TextureWrap::UseMetadata => {
                wgpu::AddressMode::ClampToEdge
            }
        };
        let modes = wraps.map(mode);
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

/// The image that an input uses, if it could be decoded.
fn decoded<'a>(used: &TextureUse, images: &'a [Option<TextureImage>]) -> Option<&'a TextureImage> {
    images.get(used.texture)?.as_ref()
}

/// Index of the channel that a texture gives, the first of several.
fn channel(used: &TextureUse) -> usize {
    match used.channel {
        TextureChannel::Rgb | TextureChannel::R => 0,
        TextureChannel::G => 1,
        TextureChannel::B => 2,
        TextureChannel::A => 3,
    }
}

/// Whether an opacity out of an image is below 1 somewhere.
fn is_translucent(used: &TextureUse, image: &TextureImage) -> bool {
    let channel = channel(used);
    let ends = [image.least[channel], 255].map(|texel| {
        let value = f32::from(texel) / 255.0;
        value * used.scale[channel] + used.bias[channel]
    });
    ends[0].min(ends[1]) < 0.98
}

/// The part of the light that a surface reflects at normal incidence.
fn reflected(material: &Material) -> Vec3 {
    if let Some(color) = &material.specular_color {
        return color.value.clamp(Vec3::ZERO, Vec3::ONE);
    }
    let ior = material.ior.max(0.0);
    let root = (1.0 - ior) / (1.0 + ior);
    Vec3::splat(root * root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glass_reflects_four_percent_and_unlit_surfaces_nothing() {
        let mut material = Material::new("");
        assert!((reflected(&material).x - 0.04).abs() < 1e-6);
        material.ior = 1.0;
        assert_eq!(reflected(&material), Vec3::ZERO);
        material.specular_color = Some(sinew::scene::Input::of(Vec3::new(0.5, 2.0, -1.0)));
        assert_eq!(reflected(&material), Vec3::new(0.5, 1.0, 0.0));
    }
}

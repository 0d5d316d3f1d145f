//! UsdPreviewSurface as Bevy's standard material.

use std::collections::HashMap;

use bevy::asset::Handle;
use bevy::color::{Color, LinearRgba};
use bevy::image::Image;
use bevy::material::AlphaMode;
use bevy::math::{Affine2, Mat2, Vec2};
use bevy::pbr::StandardMaterial;
use glam::{Mat3, Vec3};
use sinew::scene::{ColorSource, Material};
use sinew_character::{Character, MeshArrays};

use crate::images::{Images, Made, Slot};

/// What the look of a mesh depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Look {
    material: Option<usize>,
    /// Whether the base colour is that of the vertices.
    pub is_colored: bool,
    /// Whether some of those colours are translucent.
    is_translucent: bool,
    double_sided: bool,
}

impl Look {
    pub fn of(character: &Character, arrays: &MeshArrays) -> Self {
        let material = arrays.material.and_then(|m| character.materials().get(m));
        let is_colored = material.is_none_or(|m| m.color_source == ColorSource::DisplayColor);
        Self {
            material: arrays.material,
            is_colored,
            is_translucent: is_colored && arrays.colors.iter().any(|c| c.w < 1.0),
            double_sided: arrays.double_sided,
        }
    }
}

/// The materials of a character, before Bevy has them as assets.
#[derive(Default)]
pub(crate) struct Looks {
    pub images: Vec<Image>,
    pub surfaces: Vec<Surface>,
    /// The surface of each mesh.
    pub of_meshes: Vec<usize>,
    /// What is not drawn as the file says.
    pub messages: Vec<String>,
}

/// A material and the indices of its images.
#[derive(Clone, Default)]
pub(crate) struct Surface {
    material: StandardMaterial,
    base_color: Option<usize>,
    emissive: Option<usize>,
    roughness_metallic: Option<usize>,
    occlusion: Option<usize>,
    normals: Option<usize>,
}

impl Surface {
    pub fn with_images(self, images: &[Handle<Image>]) -> StandardMaterial {
        let handle = |index: Option<usize>| images.get(index?).cloned();
        StandardMaterial {
            base_color_texture: handle(self.base_color),
            emissive_texture: handle(self.emissive),
            metallic_roughness_texture: handle(self.roughness_metallic),
            occlusion_texture: handle(self.occlusion),
            normal_map_texture: handle(self.normals),
            ..self.material
        }
    }
}

impl Looks {
    /// The materials of all meshes of a character that was loaded with arrays, for a device whose
    /// textures have at most `largest` texels a side.
    pub fn of(character: &Character, largest: u32) -> Self {
        let mut out = Self::default();
        let mut images = Images::new(largest);
        let mut known: HashMap<Look, usize> = HashMap::new();
        let mut of_materials: HashMap<usize, Surface> = HashMap::new();
        for arrays in character.arrays() {
            let look = Look::of(character, arrays);
            let index = *known.entry(look).or_insert_with(|| {
                let made = look.material.and_then(|index| {
                    let material = character.materials().get(index)?;
                    let surface = of_materials.entry(index);
                    let surface =
                        surface.or_insert_with(|| out.surface(character, material, &mut images));
                    Some(surface.clone())
                });
                let mut surface = made.unwrap_or_else(|| Surface {
                    material: StandardMaterial {
                        perceptual_roughness: 0.5,
                        ..StandardMaterial::default()
                    },
                    ..Surface::default()
                });
                if look.double_sided {
                    surface.material.double_sided = true;
                    surface.material.cull_mode = None;
                }
                if look.is_translucent && surface.material.alpha_mode == AlphaMode::Opaque {
                    surface.material.alpha_mode = AlphaMode::Blend;
                }
                out.surfaces.push(surface);
                out.surfaces.len() - 1
            });
            out.of_meshes.push(index);
        }
        out.messages.append(&mut images.messages);
        out.images = images.all;
        out
    }

    fn surface(
        &mut self,
        character: &Character,
        material: &Material,
        images: &mut Images,
    ) -> Surface {
        let textures = character.textures();
        let mut source = |texture| images.source(textures, material.at_main_uvs(texture));
        let base = source(&material.diffuse_color.texture);
        let opacity = source(&material.opacity.texture);
        let emissive = source(&material.emissive_color.texture);
        let roughness = source(&material.roughness.texture);
        let metallic = source(&material.metallic.texture);
        let occlusion = source(&material.occlusion.texture);
        let normals = source(&material.normal);

        let is_colored = material.color_source == ColorSource::DisplayColor;
        let base_image = match (&base, &opacity) {
            (Some(base), opacity) if !is_colored => {
                images.made(Slot::BaseColor, base, opacity.as_ref())
            }
            (_, Some(opacity)) => images.made(Slot::Opacity, opacity, None),
            _ => None,
        };
        let roughness_metallic = match (&roughness, &metallic) {
            (Some(roughness), metallic) => {
                images.made(Slot::RoughnessMetallic, roughness, metallic.as_ref())
            }
            (None, Some(metallic)) => images.made(Slot::Metallic, metallic, None),
            (None, None) => None,
        };
        let mut made = |slot, source: &Option<_>| images.made(slot, source.as_ref()?, None);
        let glow = made(Slot::Emissive, &emissive);
        let occlusion_image = made(Slot::Occlusion, &occlusion);
        let normal_image = made(Slot::Normals, &normals);
        let is_translucent = base_image.is_some_and(|made| made.is_translucent);
        let index = |made: Option<Made>| made.map(|made| made.index);
        let value = |has_image: bool, value: f32| if has_image { 1.0 } else { value };
        let alpha = value(opacity.is_some(), material.opacity.value);
        let color = match base.is_some() || is_colored {
            true => Vec3::ONE,
            false => material.diffuse_color.value,
        };
        let light = match glow {
            Some(made) => Vec3::splat(made.factor),
            None => material.emissive_color.value,
        };
        let all = [
            &base, &opacity, &emissive, &roughness, &metallic, &occlusion, &normals,
        ];
        let mut transforms = all.into_iter().flatten().map(|s| s.used().transform);
        let transform = transforms.next().unwrap_or(Mat3::IDENTITY);
        if transforms.any(|other| other != transform) {
            self.messages.push(format!(
                "{}: its textures have several transforms; all are drawn with the first",
                material.path
            ));
        }
        if material.specular_color.is_some() {
            self.messages.push(format!(
                "{}: specularColor is not drawn: Bevy's standard material is metallic",
                material.path
            ));
        }
        if material.toon.is_some() {
            self.messages.push(format!(
                "{}: its toon shading is not drawn: it is lit as other materials are",
                material.path
            ));
        }
        let mirror = (material.ior - 1.0) / (material.ior + 1.0);
        Surface {
            material: StandardMaterial {
                base_color: Color::linear_rgba(color.x, color.y, color.z, alpha),
                emissive: LinearRgba::rgb(light.x, light.y, light.z),
                perceptual_roughness: value(roughness.is_some(), material.roughness.value),
                metallic: value(metallic.is_some(), material.metallic.value),
                // Bevy reflects 0.16 times the square of this at normal incidence.
                reflectance: (mirror.abs() / 0.4).clamp(0.0, 1.0),
                clearcoat: material.clearcoat.value,
                clearcoat_perceptual_roughness: material.clearcoat_roughness.value,
                alpha_mode: match material.opacity_threshold {
                    threshold if threshold > 0.0 => AlphaMode::Mask(threshold),
                    _ if alpha < 1.0 || is_translucent => AlphaMode::Blend,
                    _ => AlphaMode::Opaque,
                },
                uv_transform: from_upper_edge(transform),
                ..StandardMaterial::default()
            },
            base_color: index(base_image),
            emissive: index(glow),
            roughness_metallic: index(roughness_metallic),
            occlusion: index(occlusion_image),
            normals: index(normal_image),
        }
    }
}

/// A transform of texture coordinates whose v = 0 is the lower edge, for coordinates whose v = 0 is
/// the upper one.
fn from_upper_edge(transform: Mat3) -> Affine2 {
    let flip = Mat3::from_cols(Vec3::X, Vec3::NEG_Y, Vec3::new(0.0, 1.0, 1.0));
    let [x, y, z] = (flip * transform * flip).to_cols_array_2d();
    Affine2 {
        matrix2: Mat2::from_cols(Vec2::new(x[0], x[1]), Vec2::new(y[0], y[1])),
        translation: Vec2::new(z[0], z[1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_are_those_of_images_that_begin_at_the_upper_edge() {
        // u + 0.25, 2 v + 0.5.
        let usd = Mat3::from_cols(Vec3::X, Vec3::Y * 2.0, Vec3::new(0.25, 0.5, 1.0));
        let bevy = from_upper_edge(usd);
        let (u, v) = (0.3, 0.1);
        let found = bevy.transform_point2(Vec2::new(u, 1.0 - v));
        let expected = Vec2::new(u + 0.25, 1.0 - (2.0 * v + 0.5));
        assert!(found.abs_diff_eq(expected, 1e-6), "{found} {expected}");
    }
}

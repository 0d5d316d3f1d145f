//! UsdPreviewSurface as metallic-roughness materials.

use std::collections::HashMap;

use glam::Vec4;

use sinew::error::Warning;
use sinew::scene::{ColorSource, DrawnMesh, Geometry, Material};
use sinew::skel::PrimvarInterpolation;
use sinew_animate::asset::{AlphaMode, AssetMaterial, Image};

use super::skeletons::name_of;

/// Materials and images while they are made, each once.
pub(super) struct MaterialTable<'a> {
    geometry: &'a Geometry,
    pub materials: Vec<AssetMaterial>,
    pub images: Vec<Image>,
    pub warnings: Vec<Warning>,
    known: HashMap<(Option<usize>, Coloring), Made>,
}

/// A material as parts of meshes use it.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    /// Index into the materials.
    pub material: Option<usize>,
    /// The primvars that its textures read, by set.
    pub uv_names: Vec<String>,
    /// Whether vertices have colours.
    pub colored: bool,
}

/// How displayColor and displayOpacity of a mesh are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Coloring {
    /// Not at all.
    #[default]
    None,
    /// One value, as bits of RGBA.
    Constant([u32; 4]),
    /// A value per vertex.
    Vertex { translucent: bool },
}

impl<'a> MaterialTable<'a> {
    pub fn new(geometry: &'a Geometry) -> Self {
        Self {
            geometry,
            materials: Vec::new(),
            images: Vec::new(),
            warnings: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// The material of a part of a mesh.
    pub fn of(&mut self, mesh: &DrawnMesh, material: Option<usize>) -> Made {
        let source = material.map(|m| &self.geometry.materials[m]);
        let reads_color = source.is_none_or(|s| s.color_source == ColorSource::DisplayColor);
        let coloring = match reads_color {
            true => coloring(mesh),
            false => Coloring::None,
        };
        if let Some(known) = self.known.get(&(material, coloring)) {
            return known.clone();
        }
        let made = self.make(source, coloring);
        self.known.insert((material, coloring), made.clone());
        made
    }

    fn make(&mut self, source: Option<&Material>, coloring: Coloring) -> Made {
        let mut made = Made {
            colored: matches!(coloring, Coloring::Vertex { .. }),
            ..Made::default()
        };
        let mut out = match source {
            Some(source) => self.surface(source, &mut made.uv_names),
            // Without a material and colours there is nothing to say.
            None if coloring == Coloring::None => return made,
            None => AssetMaterial {
                name: "displayColor".into(),
                metallic: 0.0,
                roughness: 0.5,
                ..AssetMaterial::default()
            },
        };
        match coloring {
            Coloring::None => {}
            Coloring::Constant(bits) => {
                let color = Vec4::from(bits.map(f32::from_bits));
                out.base_color = color.truncate().extend(out.base_color.w * color.w);
                if out.base_color.w < 1.0 && out.alpha_mode == AlphaMode::Opaque {
                    out.alpha_mode = AlphaMode::Blend;
                }
            }
            Coloring::Vertex { translucent } => {
                out.base_color = Vec4::new(1.0, 1.0, 1.0, out.base_color.w);
                if translucent && out.alpha_mode == AlphaMode::Opaque {
                    out.alpha_mode = AlphaMode::Blend;
                }
            }
        }
        self.materials.push(out);
        made.material = Some(self.materials.len() - 1);
        made
    }

    fn surface(&mut self, source: &Material, _uv_names: &mut Vec<String>) -> AssetMaterial {
        let opacity = source.opacity.value;
        AssetMaterial {
            name: name_of(&source.path).to_owned(),
            base_color: source.diffuse_color.value.extend(opacity),
            metallic: source.metallic.value,
            roughness: source.roughness.value,
            emissive: source.emissive_color.value,
            alpha_mode: match () {
                () if source.opacity_threshold > 0.0 => AlphaMode::Mask(source.opacity_threshold),
                () if opacity < 1.0 || source.opacity.texture.is_some() => AlphaMode::Blend,
                () => AlphaMode::Opaque,
            },
            ior: source.ior,
            ..AssetMaterial::default()
        }
    }
}

/// How a mesh is coloured if its material does not say.
fn coloring(mesh: &DrawnMesh) -> Coloring {
    let (color, opacity) = (&mesh.display_color, &mesh.display_opacity);
    let is_constant = |i: PrimvarInterpolation| i == PrimvarInterpolation::Constant;
    let varies = color
        .as_ref()
        .is_some_and(|c| !is_constant(c.interpolation))
        || opacity
            .as_ref()
            .is_some_and(|o| !is_constant(o.interpolation));
    let first_opacity = opacity.as_ref().and_then(|o| o.values.first());
    if varies {
        let below_1 = |values: &std::sync::Arc<Vec<f32>>| values.iter().any(|o| *o < 1.0);
        return Coloring::Vertex {
            translucent: first_opacity.is_some_and(below_1),
        };
    }
    if color.is_none() && opacity.is_none() {
        return Coloring::None;
    }
    let rgb = color.as_ref().and_then(|c| c.values.first());
    let rgb = rgb
        .and_then(|c| c.first().copied())
        .unwrap_or(glam::Vec3::splat(0.18));
    let alpha = first_opacity
        .and_then(|o| o.first().copied())
        .unwrap_or(1.0);
    Coloring::Constant(rgb.extend(alpha).to_array().map(f32::to_bits))
}

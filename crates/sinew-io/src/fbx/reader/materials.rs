//! Materials, as far as ufbx finds simple PBR in them, and their textures: embedded ones, and files
//! below the FBX's folder.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use glam::{Mat3, Vec3, Vec4};
use sinew_layer::Files;

use super::load::Budget;
use crate::files::read_at_most;
use crate::pictures::{FileNames, LARGEST, extension_of, plain_stem, upside_down};
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{AlphaMode, AssetMaterial, Image, TextureRef, Wrap};

/// All materials, by ufbx's number, and the images that they use.
pub struct Materials {
    pub materials: Vec<AssetMaterial>,
    pub images: Vec<Image>,
    /// Files that images were read from.
    pub sources: Vec<PathBuf>,
    pub warnings: Vec<Warning>,
}

impl Materials {
    pub fn read(
        scene: &ufbx::Scene,
        files: &Files,
        path: &Path,
        budget: &mut Budget,
    ) -> Result<Self, Invalid> {
        // Textures name their uv set, and meshes number theirs.
        let mut uv_sets: HashMap<&str, usize> = HashMap::new();
        for mesh in &scene.meshes {
            for set in &mesh.uv_sets {
                uv_sets.entry(&set.name).or_insert(set.index as usize);
            }
        }
        let mut reader = Reader {
            scene,
            uv_sets,
            images: Images::new(files, path, budget),
        };
        let mut materials = Vec::with_capacity(scene.materials.len());
        for material in &scene.materials {
            materials.push(reader.material(material)?);
        }
        Ok(Self {
            materials,
            images: reader.images.images,
            sources: reader.images.sources,
            warnings: reader.images.warnings,
        })
    }
}

struct Reader<'a> {
    scene: &'a ufbx::Scene,
    uv_sets: HashMap<&'a str, usize>,
    images: Images<'a>,
}

impl Reader<'_> {
    fn material(&mut self, material: &ufbx::Material) -> Result<AssetMaterial, Invalid> {
        let pbr = &material.pbr;
        let roughness_texture = self.texture(&pbr.roughness)?;
        let metallic_texture = self.texture(&pbr.metalness)?;
        let base_color = color(&pbr.base_color, Vec3::splat(0.8)) * factor(&pbr.base_factor);
        let opacity = opacity(pbr);
        let emissive = color(&pbr.emission_color, Vec3::ZERO) * factor(&pbr.emission_factor);
        // Both are channels of one image, or neither counts.
        let packed = roughness_texture.filter(|t| metallic_texture.as_ref() == Some(t));
        let is_left_out = packed.is_none()
            && (pbr.roughness.texture.is_some() || pbr.metalness.texture.is_some());
        if is_left_out {
            self.images.warnings.push(Warning::new(
                "fbx-texture-left-out",
                &*material.element.name,
                "roughness and metalness are separate images: they are not used",
            ));
        }
        let number = |map: &ufbx::MaterialMap, default: f32| match packed {
            Some(_) => 1.0,
            None => scalar(map, default),
        };
        Ok(AssetMaterial {
            name: material.element.name.to_string(),
            base_color: base_color.extend(opacity),
            base_color_texture: self.texture(&pbr.base_color)?,
            metallic: number(&pbr.metalness, 0.0),
            roughness: number(&pbr.roughness, 0.5),
            metallic_roughness_texture: packed,
            normal_texture: self.texture(&pbr.normal_map)?,
            occlusion_texture: self.texture(&pbr.ambient_occlusion)?,
            emissive,
            emissive_texture: self.texture(&pbr.emission_color)?,
            alpha_mode: if opacity < 1.0 {
                AlphaMode::Blend
            } else {
                AlphaMode::Opaque
            },
            double_sided: material.features.double_sided.enabled,
            unlit: material.features.unlit.enabled,
            ..AssetMaterial::default()
        })
    }

    fn texture(&mut self, map: &ufbx::MaterialMap) -> Result<Option<TextureRef>, Invalid> {
        let Some(texture) = map.texture.as_ref().filter(|_| map.texture_enabled) else {
            return Ok(None);
        };
        // For layered textures and shaders, the image of the lowest layer.
        let plain = texture.file_textures.into_iter().next();
        let texture = plain.unwrap_or(texture);
        let Some(image) = self.images.index(self.scene, texture)? else {
            return Ok(None);
        };
        Ok(Some(TextureRef {
            image,
            uv_set: self.uv_sets.get(&*texture.uv_set).copied().unwrap_or(0),
            wrap_s: wrap(texture.wrap_u),
            wrap_t: wrap(texture.wrap_v),
            transform: texture
                .has_uv_transform
                .then(|| uv_transform(&texture.uv_to_texture)),
        }))
    }
}

fn wrap(mode: ufbx::WrapMode) -> Wrap {
    match mode {
        ufbx::WrapMode::Repeat => Wrap::Repeat,
        ufbx::WrapMode::Clamp => Wrap::Clamp,
    }
}

/// FBX's origin is at the lower left, the asset's at the upper.
fn uv_transform(m: &ufbx::Matrix) -> Mat3 {
    let [a, b, c, d, x, y] = [m.m00, m.m10, m.m01, m.m11, m.m03, m.m13].map(|v| v as f32);
    upside_down(Mat3::from_cols(
        Vec3::new(a, b, 0.0),
        Vec3::new(c, d, 0.0),
        Vec3::new(x, y, 1.0),
    ))
}

fn value(map: &ufbx::MaterialMap) -> Option<Vec4> {
    let v = map.value_vec4;
    let v = Vec4::new(v.x as f32, v.y as f32, v.z as f32, v.w as f32);
    (map.has_value && v.is_finite()).then_some(v)
}

/// A texture replaces the colour, as FBX connects it.
fn color(map: &ufbx::MaterialMap, default: Vec3) -> Vec3 {
    if map.texture.is_some() && map.texture_enabled {
        return Vec3::ONE;
    }
    value(map).map_or(default, |v| {
        if map.value_components == 1 {
            Vec3::splat(v.x)
        } else {
            v.truncate()
        }
    })
}

fn factor(map: &ufbx::MaterialMap) -> f32 {
    value(map).map_or(1.0, |v| v.x)
}

fn scalar(map: &ufbx::MaterialMap, default: f32) -> f32 {
    value(map).map_or(default, |v| v.x.clamp(0.0, 1.0))
}

/// What is opaque of it: of PBR shaders their opacity, of Phong and Lambert what transparency
/// leaves.
fn opacity(pbr: &ufbx::MaterialPbrMaps) -> f32 {
    if let Some(opacity) = value(&pbr.opacity) {
        return opacity.x.clamp(0.0, 1.0);
    }
    let through = color(&pbr.transmission_color, Vec3::ONE) * factor(&pbr.transmission_factor);
    let is_given = pbr.transmission_factor.has_value;
    if is_given {
        1.0 - through.element_sum().clamp(0.0, 3.0) / 3.0
    } else {
        1.0
    }
}

/// The images that materials use, each once.
pub struct Images<'a> {
    files: &'a Files,
    folder: PathBuf,
    stem: String,
    budget: &'a mut Budget,
    pub images: Vec<Image>,
    pub sources: Vec<PathBuf>,
    pub warnings: Vec<Warning>,
    /// By ufbx's texture file.
    known: HashMap<u32, Option<usize>>,
    names: FileNames,
}

impl<'a> Images<'a> {
    pub fn new(files: &'a Files, path: &Path, budget: &'a mut Budget) -> Self {
        Self {
            files,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            stem: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            budget,
            images: Vec::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
            known: HashMap::new(),
            names: FileNames::default(),
        }
    }

    /// The image of a texture. An image that cannot be read has no bytes, and there is a warning.
    /// `None` if the texture has no image.
    pub fn index(
        &mut self,
        scene: &ufbx::Scene,
        texture: &ufbx::Texture,
    ) -> Result<Option<usize>, Invalid> {
        if !texture.has_file {
            return Ok(None);
        }
        if let Some(known) = self.known.get(&texture.file_index) {
            return Ok(*known);
        }
        let Some(file) = scene.texture_files.get(texture.file_index as usize) else {
            return Ok(None);
        };
        let name = last_part(&file.filename, &file.relative_filename);
        let bytes = if file.content.is_empty() {
            self.beside(file, name)
        } else {
            self.budget.spend::<u8>(file.content.len(), name)?;
            Some(file.content.to_vec())
        };
        let format = bytes.as_deref().and_then(extension_of);
        match (&bytes, format) {
            (None, _) => self.warn(
                "fbx-image-unreadable",
                name,
                "the texture is neither embedded nor in the folder of the FBX file or below it",
            ),
            (Some(_), None) => self.warn(
                "fbx-image-format",
                name,
                "expected PNG, JPEG, EXR or AVIF: the image is not used",
            ),
            _ => {}
        }
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let stem = plain_stem(stem).unwrap_or_else(|| format!("image{}", self.images.len()));
        let file_name = self.names.unique(&stem, format.unwrap_or("png"));
        self.images.push(Image {
            file_name,
            bytes: bytes.filter(|_| format.is_some()).unwrap_or_default(),
        });
        let index = Some(self.images.len() - 1);
        self.known.insert(texture.file_index, index);
        Ok(index)
    }

    fn warn(&mut self, code: &'static str, name: &str, message: &str) {
        self.warnings.push(Warning::new(code, name, message));
    }

    /// Looks for the path relative to the FBX file, and for the name in the folders where exporters
    /// put images. Other folders are not searched, because the image would be copied into the
    /// output of sinew.
    fn beside(&mut self, file: &ufbx::TextureFile, name: &str) -> Option<Vec<u8>> {
        let relative = file.relative_filename.replace('\\', "/");
        let unpacked = format!("{}.fbm/{name}", self.stem);
        let textures = format!("textures/{name}");
        let places = [&relative, name, &unpacked, &textures];
        let paths = places.iter().map(Path::new).filter(|p| is_below(p));
        let mut paths = paths.map(|p| self.folder.join(p));
        let (path, bytes) = paths.find_map(|p| image(self.files, &p).map(|bytes| (p, bytes)))?;
        self.sources.push(path);
        Some(bytes)
    }
}

/// A path's last part, of the first path that has one.
fn last_part<'a>(path: &'a str, other: &'a str) -> &'a str {
    let last = |p: &'a str| p.rsplit(['/', '\\']).next().unwrap_or_default();
    match last(path) {
        "" => last(other),
        name => name,
    }
}

fn is_below(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
}

/// The bytes of a file if it is a regular file with an image; `None` otherwise.
fn image(files: &Files, path: &Path) -> Option<Vec<u8>> {
    let size = files.size(path).ok()?;
    (size <= LARGEST).then(|| read_at_most(files, path, LARGEST).ok())?
}

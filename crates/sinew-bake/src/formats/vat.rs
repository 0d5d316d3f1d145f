//! Vertex animation textures: images with the positions and normals of a clip for the vertex shader
//! of a game engine, a mesh whose second UV set refers to the texels, and a JSON file that
//! describes them.

use std::path::{Path, PathBuf};

use glam::{DMat3, DVec3, Vec3};
use serde::Serialize;

use super::layout::TextureLayout;
use super::names::beside;
use super::prims::PrimFrame;
use super::surface::VatPart;
use super::vat_mesh;
use super::vat_texture;
use crate::clip::Clip;
use crate::error::{Error, Result};
use crate::format::{VatEncoding, VatOptions, VatValues};
use sinew::error::Invalid;
use sinew::scene::Scene;
use sinew_io::gltf::{GltfOptions, write_asset_into};
use sinew_io::output::Outputs;

/// The four files of vertex animation textures: positions, normals, mesh and metadata.
pub(super) type VatFiles = [PathBuf; 4];

pub(super) fn files(output: &Path) -> VatFiles {
    [
        output.to_owned(),
        beside(output, "_normal", None),
        beside(output, "_mesh", Some("glb")),
        beside(output, "", Some("json")),
    ]
}

/// Collects the frames and writes them at the end, because the range and layout of a texture are
/// known only then.
pub(super) struct VatWriter {
    files: VatFiles,
    values: VatValues,
    encoding: VatEncoding,
    layout: TextureLayout,
    parts: Vec<VatPart>,
    /// From the stage's world space to that of glTF: right-handed, Y up, metres.
    out_from_world: DMat3,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl VatWriter {
    /// # Errors
    /// There are too many vertices or frames for a texture, or the stage's metersPerUnit is not
    /// above 0.
    pub fn new(
        scene: &Scene,
        clip: &Clip,
        files: VatFiles,
        encoding: VatEncoding,
        options: &VatOptions,
        parts: Vec<VatPart>,
    ) -> Result<Self> {
        let vertices = parts.iter().map(|p| p.points.len()).sum();
        let layout = TextureLayout::of_vertices(vertices, clip.len(), options.max_width)
            .map_err(|reason| Error::output(&files[0], reason))?;
        let texels = vertices * clip.len();
        Ok(Self {
            out_from_world: gltf_from_world(scene)?,
            files,
            values: options.values,
            encoding,
            layout,
            parts,
            positions: Vec::with_capacity(texels),
            normals: Vec::with_capacity(texels),
        })
    }

    /// Adds a frame.
    pub fn frame(&mut self, prims: &[PrimFrame]) {
        for (part, prim) in self.parts.iter().zip(prims) {
            let position =
                |p: &u32| (self.out_from_world * prim.points[*p as usize].as_dvec3()).as_vec3();
            self.positions.extend(part.points.iter().map(position));
            let normals = prim.normals.as_deref().unwrap_or_default();
            let normal = |n: &u32| {
                let normal = normals.get(*n as usize).copied().unwrap_or_default();
                (self.out_from_world * normal.as_dvec3())
                    .normalize_or_zero()
                    .as_vec3()
            };
            self.normals.extend(part.normals.iter().map(normal));
        }
    }

    /// Writes positions, normals, mesh and metadata (`OUT.exr`, `OUT_normal.exr`, `OUT_mesh.glb`,
    /// `OUT.json`).
    ///
    /// # Errors
    /// A file cannot be written, or positions are too large for 16-bit floats.
    pub fn finish(mut self, scene: &Scene, clip: &Clip, outputs: &mut Outputs) -> Result<()> {
        let vertices = self.layout.items as usize;
        let rest: Vec<Vec3> = self.positions[..vertices].to_vec();
        let bounds = range(&self.positions);
        if self.values == VatValues::Offset {
            for frame in self.positions.chunks_mut(vertices.max(1)) {
                for (position, rest) in frame.iter_mut().zip(&rest) {
                    *position -= *rest;
                }
            }
        }
        let of_positions = range(&self.positions);
        let of_normals = match self.encoding.is_normalized() {
            true => [Vec3::NEG_ONE, Vec3::ONE],
            false => range(&self.normals),
        };
        let mut texture = |file: &Path, values: &[Vec3], range| {
            outputs.file(file, |sink| {
                vat_texture::write(sink, self.encoding, &self.layout, values, range)
            })
        };
        let [position, normal, mesh_file, metadata_file] = &self.files;
        texture(position, &self.positions, of_positions)?;
        texture(normal, &self.normals, of_normals)?;
        let name = position.file_stem();
        let name = name.unwrap_or_default().to_string_lossy();
        let normals = &self.normals[..vertices];
        let mesh = vat_mesh::asset(&name, &self.parts, &rest, normals, &self.layout);
        write_asset_into(mesh, mesh_file, &GltfOptions::default(), outputs)?;
        let metadata = self.metadata(scene, clip, bounds, of_positions, of_normals);
        Ok(outputs.file(metadata_file, |sink| {
            serde_json::to_writer_pretty(sink, &metadata).map_err(|e| e.to_string())
        })?)
    }

    fn metadata(
        &self,
        scene: &Scene,
        clip: &Clip,
        bounds: [Vec3; 2],
        of_positions: [Vec3; 2],
        of_normals: [Vec3; 2],
    ) -> Metadata<'_> {
        let mut first = 0;
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            parts.push(PartData {
                prim: &part.prim,
                first_vertex: first,
                vertices: part.points.len(),
            });
            first += part.points.len();
        }
        let texture = |file: &Path, values, [min, max]: [Vec3; 2]| TextureData {
            file: file_name(file),
            encoding: self.encoding,
            values,
            min: min.to_array(),
            max: max.to_array(),
        };
        let values = match self.values {
            VatValues::Offset => "offset",
            VatValues::Position => "position",
        };
        Metadata {
            generator: concat!("sinew ", env!("CARGO_PKG_VERSION")),
            version: 1,
            position: texture(&self.files[0], values, of_positions),
            normal: texture(&self.files[1], "direction", of_normals),
            mesh: file_name(&self.files[2]),
            width: self.layout.width,
            height: self.layout.height,
            vertices: self.layout.items,
            frames: self.layout.frames,
            rows_per_frame: self.layout.rows_per_frame,
            frames_per_second: clip.frames_per_second(),
            first_time_code: clip.first(),
            time_codes_per_frame: clip.step,
            bounds: [bounds[0].to_array(), bounds[1].to_array()],
            up_axis: "Y",
            meters_per_unit: 1.0,
            handedness: "right",
            parts,
            source: source_of(scene),
        }
    }
}

/// What a JSON file says of the stage that it comes from.
pub(super) fn source_of(scene: &Scene) -> SourceData {
    SourceData {
        file: file_name(&scene.file),
        up_axis: scene.up_axis,
        meters_per_unit: scene.meters_per_unit,
    }
}

pub(super) fn file_name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// The smallest and largest coordinates; zero without values.
fn range(values: &[Vec3]) -> [Vec3; 2] {
    let all = || values.iter().copied();
    let low = all().reduce(Vec3::min).unwrap_or_default();
    let high = all().reduce(Vec3::max).unwrap_or_default();
    [low, high]
}

/// From a stage's world space to that of glTF: right-handed, Y up, metres.
pub(super) fn gltf_from_world(scene: &Scene) -> Result<DMat3> {
    let unit = scene.meters_per_unit;
    if !(unit.is_finite() && unit > 0.0) {
        let e = Invalid::new(
            "/",
            "metersPerUnit",
            "a number above 0, as textures are in metres",
            unit.to_string(),
        );
        return Err(e.in_file(&scene.file).into());
    }
    let axes = match scene.up_axis {
        // x stays, z goes up, y goes away from the viewer.
        'Z' => DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
        _ => DMat3::IDENTITY,
    };
    Ok(axes * unit)
}

/// The contents of the JSON file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    generator: &'static str,
    version: u32,
    position: TextureData,
    normal: TextureData,
    mesh: String,
    width: u32,
    height: u32,
    vertices: u32,
    frames: u32,
    rows_per_frame: u32,
    frames_per_second: f64,
    first_time_code: f64,
    time_codes_per_frame: f64,
    /// Bounds of all frames, for culling.
    bounds: [[f32; 3]; 2],
    up_axis: &'static str,
    meters_per_unit: f64,
    handedness: &'static str,
    parts: Vec<PartData<'a>>,
    source: SourceData,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextureData {
    file: String,
    encoding: VatEncoding,
    values: &'static str,
    min: [f32; 3],
    max: [f32; 3],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PartData<'a> {
    prim: &'a str,
    first_vertex: usize,
    vertices: usize,
}

/// The stage that textures come from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceData {
    file: String,
    up_axis: char,
    meters_per_unit: f64,
}

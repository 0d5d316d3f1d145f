//! What the JSON file of a set of textures says.

use serde::Serialize;

use super::vat_texture::VatEncoding;

/// What is in the JSON file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    pub generator: &'static str,
    pub version: u32,
    pub position: TextureData,
    pub normal: TextureData,
    pub mesh: String,
    pub width: u32,
    pub height: u32,
    pub vertices: u32,
    pub frames: u32,
    pub rows_per_frame: u32,
    pub frames_per_second: f64,
    pub first_time_code: f64,
    pub time_codes_per_frame: f64,
    /// Of every frame, for culling.
    pub bounds: [[f32; 3]; 2],
    pub up_axis: &'static str,
    pub meters_per_unit: f64,
    pub handedness: &'static str,
    pub parts: Vec<PartData<'a>>,
    pub source: SourceData,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureData {
    pub file: String,
    pub encoding: VatEncoding,
    pub values: &'static str,
    pub min: [f32; 3],
    pub max: [f32; 3],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartData<'a> {
    pub prim: &'a str,
    pub first_vertex: usize,
    pub vertices: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceData {
    pub file: String,
    pub up_axis: char,
    pub meters_per_unit: f64,
}

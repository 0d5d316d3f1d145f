//! The JSON file beside a bone texture.

use glam::Vec3;
use serde::Serialize;

use super::motion::JointData;
use crate::clip::Clip;
use crate::format::BoneValues;
use crate::formats::layout::TextureLayout;
use crate::formats::vat::SourceData;

/// The contents of the JSON file. Docs: `docs/bake.md`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata<'a> {
    pub generator: &'static str,
    pub version: u32,
    pub texture: TextureData,
    pub mesh: String,
    #[serde(flatten)]
    pub layout: TextureLayout,
    /// The clips, in the order of their frames.
    pub clips: &'a [ClipData],
    /// The joints, in the order of the texture and of the mesh file's JOINTS_0.
    pub joint_names: &'a [JointData],
    pub parts: Vec<PartData<'a>>,
    pub up_axis: &'static str,
    pub meters_per_unit: f64,
    pub handedness: &'static str,
    pub space: &'static str,
    pub source: SourceData,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextureData {
    pub file: String,
    pub encoding: &'static str,
    pub channels: &'static str,
    pub values: BoneValues,
}

/// A clip of the texture.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClipData {
    name: String,
    first_frame: usize,
    frames: usize,
    frames_per_second: f64,
    /// From the first frame to the last one.
    seconds: f64,
    first_time_code: f64,
    time_codes_per_frame: f64,
    /// Bounds of all frames, for culling.
    bounds: [[f32; 3]; 2],
}

impl ClipData {
    pub fn new(name: String, first_frame: usize, frames: &Clip, bounds: [Vec3; 2]) -> Self {
        let rate = frames.frames_per_second();
        Self {
            name,
            first_frame,
            frames: frames.len(),
            frames_per_second: rate,
            seconds: (frames.len() - 1) as f64 / rate,
            first_time_code: frames.first(),
            time_codes_per_frame: frames.step,
            bounds: bounds.map(|b| b.to_array()),
        }
    }
}

/// A mesh of the mesh file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartData<'a> {
    pub prim: &'a str,
    pub vertices: usize,
    /// Joints of a vertex: 4 for each pair of JOINTS_n and WEIGHTS_n.
    pub influences: usize,
    /// The largest distance of a point from its true place, in metres.
    pub largest_error: f64,
}

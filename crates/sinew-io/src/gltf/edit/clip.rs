//! Adds animations and EXT_skeleton_humanoid to a document.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{GltfEdit, unexpected};
use crate::error::Result;
use crate::gltf::extensions::FindingSeverity;
use crate::gltf::extensions::humanoid::{EXTENSION, validate};
use sinew::error::Invalid;
use sinew_animate::asset::{
    Asset, AssetClip, Curve, CurveInterpolation, HumanoidSkeleton, Keys, LocalTransform,
    TrackTarget,
};

const FLOAT: u32 = 5126;

impl GltfEdit {
    /// Adds a clip as one more animation. `asset` is this document as it was read. If a node that
    /// the clip moves has a matrix, the matrix is replaced by translation, rotation and scale.
    ///
    /// # Errors
    /// [`Error::Edit`](crate::Error::Edit) if a track is not of a node, a time is before 0, or a
    /// number is beyond the range of f32.
    pub fn add_clip(&mut self, asset: &Asset, clip: &AssetClip) -> Result<()> {
        let mut bytes = Vec::new();
        let mut accessors = Vec::new();
        // Curves often share their times; an accessor of them is enough.
        let mut inputs: HashMap<Vec<u32>, usize> = HashMap::new();
        let first = self
            .json
            .get("accessors")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        let mut channels = Vec::new();
        let mut samplers = Vec::new();
        for track in &clip.tracks {
            let TrackTarget::Node(node) = track.target else {
                return Err(unexpected(
                    &self.file,
                    format!("expected tracks of nodes, found one of {:?}", track.target),
                ));
            };
            let plain = Plain::of(&track.curve).map_err(|found| {
                let name = asset.nodes.get(node).map_or("", |n| &n.name);
                unexpected(
                    &self.file,
                    format!("{}: the curve of \"{name}\" has {found}", clip.name),
                )
            })?;
            let mut add = |kind: &str, values: &[f32], count: usize, bounds: bool| {
                let mut accessor = json!({
                    "byteOffset": bytes.len(), "componentType": FLOAT, "count": count, "type": kind,
                });
                if bounds {
                    accessor["min"] = json!([values.first()]);
                    accessor["max"] = json!([values.last()]);
                }
                bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
                accessors.push(accessor);
                first + accessors.len() - 1
            };
            let bits: Vec<u32> = plain.times.iter().map(|t| t.to_bits()).collect();
            let input = *inputs
                .entry(bits)
                .or_insert_with(|| add("SCALAR", &plain.times, plain.times.len(), true));
            let output = add(plain.kind, &plain.values, plain.count, false);
            samplers.push(json!({
                "input": input, "output": output, "interpolation": plain.interpolation,
            }));
            channels.push(json!({
                "sampler": samplers.len() - 1, "target": { "node": node, "path": plain.path },
            }));
            self.split_matrix(asset, node)?;
        }
        let view = self.add_bytes(&bytes)?;
        for mut accessor in accessors {
            accessor["bufferView"] = json!(view);
            self.push("accessors", accessor)?;
        }
        let mut animation = json!({ "channels": channels, "samplers": samplers });
        if !clip.name.is_empty() {
            animation["name"] = json!(clip.name);
        }
        self.push("animations", animation)?;
        Ok(())
    }

    fn split_matrix(&mut self, asset: &Asset, node: usize) -> Result<()> {
        let local = asset.nodes.get(node).map(|n| n.local);
        let found = self.json.get_mut("nodes").and_then(|n| n.get_mut(node));
        let (Some(local), Some(Value::Object(found))) = (local, found) else {
            return Err(unexpected(
                &self.file,
                format!("the document has no node {node}"),
            ));
        };
        if found.remove("matrix").is_some() || matches!(local, LocalTransform::Matrix(_)) {
            let trs = local.trs();
            found.insert("translation".into(), json!(trs.translation.to_array()));
            found.insert("rotation".into(), json!(trs.rotation.to_array()));
            found.insert("scale".into(), json!(trs.scale.to_array()));
        }
        Ok(())
    }
}

/// A curve as glTF stores it.
struct Plain {
    times: Vec<f32>,
    path: &'static str,
    kind: &'static str,
    interpolation: &'static str,
    values: Vec<f32>,
    /// Elements of `kind`.
    count: usize,
}

impl Plain {
    /// Times that f32 does not tell apart are one, and the last key of them holds.
    fn of(curve: &Curve) -> Result<Self, String> {
        let per_key = match curve.interpolation {
            CurveInterpolation::CubicSpline => 3,
            _ => 1,
        };
        let times: Vec<f32> = curve.times.iter().map(|t| *t as f32).collect();
        let keep: Vec<usize> = (0..times.len())
            .filter(|i| times.get(i + 1).is_none_or(|next| *next > times[*i]))
            .collect();
        let (path, kind, width, values): (_, _, _, Vec<f64>) = match &curve.keys {
            Keys::Translation(v) => (
                "translation",
                "VEC3",
                3,
                v.iter().flat_map(|v| v.to_array()).collect(),
            ),
            Keys::Scale(v) => (
                "scale",
                "VEC3",
                3,
                v.iter().flat_map(|v| v.to_array()).collect(),
            ),
            Keys::Rotation(v) => (
                "rotation",
                "VEC4",
                4,
                v.iter().flat_map(|q| q.to_array()).collect(),
            ),
            Keys::Weights { count, values } => ("weights", "SCALAR", *count, values.clone()),
        };
        let each = width * per_key;
        let kept = keep
            .iter()
            .flat_map(|i| values.iter().skip(i * each).take(each));
        let values: Vec<f32> = kept.map(|v| *v as f32).collect();
        let times: Vec<f32> = keep.iter().map(|i| times[*i]).collect();
        if let Some(bad) = times.iter().chain(&values).find(|v| !v.is_finite()) {
            return Err(format!("a number beyond the range of f32 ({bad})"));
        }
        if let Some(early) = times.first().filter(|t| **t < 0.0) {
            return Err(format!(
                "a key at {early} seconds, before 0, where glTF starts"
            ));
        }
        let elements = if kind == "SCALAR" {
            values.len()
        } else {
            values.len() / width
        };
        Ok(Self {
            times,
            path,
            kind,
            interpolation: match curve.interpolation {
                CurveInterpolation::Linear => "LINEAR",
                CurveInterpolation::Step => "STEP",
                CurveInterpolation::CubicSpline => "CUBICSPLINE",
            },
            values,
            count: elements,
        })
    }
}

impl GltfEdit {
    /// Adds a humanoid skeleton, and the extension to extensionsUsed.
    ///
    /// # Errors
    /// The document already has the extension, or the skeleton breaks a rule of the extension.
    pub fn describe(&mut self, skeleton: &HumanoidSkeleton) -> Result<()> {
        let described = self.json.get("extensions").and_then(|e| e.get(EXTENSION));
        if described.is_some() {
            return Err(unexpected(
                &self.file,
                format!("the document already has {EXTENSION}"),
            ));
        }
        let extension = described_as(skeleton);
        self.object("extensions")?
            .insert(EXTENSION.to_owned(), extension);
        self.use_extension(EXTENSION)?;
        let findings = validate(&self.json);
        match findings
            .iter()
            .find(|f| f.severity == FindingSeverity::Error)
        {
            Some(e) => Err(Invalid::new(&e.location, "", &e.expected, &e.found)
                .coded(e.code)
                .in_file(&self.file)
                .into()),
            None => Ok(()),
        }
    }
}

/// The JSON of EXT_skeleton_humanoid for one skeleton.
#[must_use]
pub fn described_as(skeleton: &HumanoidSkeleton) -> Value {
    let bones: serde_json::Map<String, Value> = skeleton
        .bones
        .iter()
        .map(|(b, n)| (b.name().to_owned(), json!(n)))
        .collect();
    let mut one = json!({ "humanoidBones": bones });
    if let Some(root) = skeleton.root {
        one["rootNode"] = json!(root);
    }
    json!({ "humanoidSkeletons": [one] })
}

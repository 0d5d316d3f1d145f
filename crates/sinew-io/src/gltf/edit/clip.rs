//! Adds animations and EXT_skeleton_humanoid to a document.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{GltfEdit, unexpected};
use crate::error::Result;
use crate::gltf::extensions::FindingSeverity;
use crate::gltf::extensions::humanoid::{EXTENSION, validate};
use crate::gltf::write::StoredCurve;
use sinew::error::Invalid;
use sinew_animate::asset::{Asset, AssetClip, HumanoidSkeleton, LocalTransform, TrackTarget};

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
            let stored = StoredCurve::of(&track.curve).map_err(|found| {
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
            let bits: Vec<u32> = stored.times.iter().map(|t| t.to_bits()).collect();
            let input = *inputs
                .entry(bits)
                .or_insert_with(|| add("SCALAR", &stored.times, stored.times.len(), true));
            let output = add(stored.kind, &stored.values, stored.count, false);
            samplers.push(json!({
                "input": input, "output": output, "interpolation": stored.interpolation,
            }));
            channels.push(json!({
                "sampler": samplers.len() - 1, "target": { "node": node, "path": stored.path },
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

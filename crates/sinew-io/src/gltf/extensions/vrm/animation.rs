//! VRM Animation: clips on human bones and expressions, for any VRM character.
//!
//! Bone tracks stay on the file's own nodes, which the humanoid map names: they are relative to
//! those nodes' rest pose. An expression's weight is the x of its node's translation, and becomes a
//! track of its own; to be clamped to 0..1 where it is used.

use std::collections::{BTreeSet, HashMap};

use glam::DVec3;

use super::super::super::json::Json;
use super::human_bones::PRESETS;
use super::{spec_version, v1};
use crate::gltf::extensions::vrm;
use sinew::error::{Invalid, Warning};
use sinew_animate::asset::{Asset, AssetClip, Curve, Keys, Track, TrackTarget};
use sinew_animate::retarget::Bone;

/// Key values this close to rest do not animate.
const AT_REST: f64 = 1e-6;

/// A node that is a bone.
struct BoneNode {
    bone: Bone,
    rest: DVec3,
}

pub fn apply(animation: &Json, asset: &mut Asset) -> Result<(), Invalid> {
    spec_version(animation, asset)?;
    let bones = bones(animation, asset)?;
    let expressions = expressions(animation, &bones, asset)?;
    let gaze = look_at(animation, asset)?.filter(|n| !bones.contains_key(n));
    let mut refused = BTreeSet::new();
    for clip in &mut asset.clips {
        bone_tracks(clip, &bones, &mut refused);
        expression_tracks(clip, &expressions);
        let is_gaze = |t: &Track| gaze.is_some_and(|n| t.target == TrackTarget::Node(n));
        clip.tracks.retain(|t| !is_gaze(t));
    }
    for (bone, path) in refused {
        asset.warn(
            "vrma-track-ignored",
            format!("{}.humanoid.humanBones.{bone}", animation.at()),
            format!("VRM Animation has no {path} of {bone}: its tracks are ignored"),
        );
    }
    Ok(())
}

fn bones(animation: &Json, asset: &mut Asset) -> Result<HashMap<usize, BoneNode>, Invalid> {
    if animation.get("humanoid")?.is_none() || !v1::humanoid(animation, asset)? {
        return Ok(HashMap::new());
    }
    let Some(humanoid) = asset.humanoids.last_mut() else {
        return Ok(HashMap::new());
    };
    for eye in [Bone::LeftEye, Bone::RightEye] {
        if humanoid.bones.remove(&eye).is_some() {
            asset.warnings.push(Warning::new(
                "vrma-eye-ignored",
                format!("{}.{eye}", humanoid.location),
                "VRM Animation moves eyes by lookAt only: the track is ignored",
            ));
        }
    }
    let node = |(bone, node): (&Bone, &usize)| {
        let rest = asset.nodes[*node].local.trs().translation;
        (*node, BoneNode { bone: *bone, rest })
    };
    Ok(humanoid.bones.iter().map(node).collect())
}

/// Leaves out scales, and translations of other bones than the hips; silently where they never
/// leave the rest pose.
fn bone_tracks(
    clip: &mut AssetClip,
    bones: &HashMap<usize, BoneNode>,
    refused: &mut BTreeSet<(Bone, &'static str)>,
) {
    clip.tracks.retain(|track| {
        let TrackTarget::Node(node) = &track.target else {
            return true;
        };
        let Some(BoneNode { bone, rest }) = bones.get(node) else {
            return true;
        };
        let (path, values, rest) = match &track.curve.keys {
            Keys::Translation(values) if *bone != Bone::Hips => ("translation", values, *rest),
            Keys::Scale(values) => ("scale", values, DVec3::ONE),
            _ => return true,
        };
        if !values.iter().all(|v| v.abs_diff_eq(rest, AT_REST)) {
            refused.insert((*bone, path));
        }
        false
    });
}

/// Expressions by the node that carries their weight.
fn expressions(
    animation: &Json,
    bones: &HashMap<usize, BoneNode>,
    asset: &mut Asset,
) -> Result<HashMap<usize, String>, Invalid> {
    let mut out: HashMap<usize, String> = HashMap::new();
    let Some(all) = animation.get("expressions")? else {
        return Ok(out);
    };
    for group in ["preset", "custom"] {
        let Some(members) = all.get(group)? else {
            continue;
        };
        for (name, value) in members.members()? {
            let is_preset = PRESETS.contains(&name);
            let doubt = match (group, is_preset) {
                ("preset", true) if name.starts_with("look") => {
                    Some("VRM Animation moves eyes by lookAt only: the track is ignored")
                }
                ("preset", false) => {
                    Some("not a preset of VRM 1.0: it is read as a custom expression")
                }
                ("custom", true) => {
                    Some("a custom expression with the name of a preset: it is ignored")
                }
                _ => None,
            };
            if let Some(doubt) = doubt {
                asset.warn("expression-name", value.at(), doubt);
                if is_preset {
                    continue;
                }
            }
            let given = value.need("node")?;
            let node = given.index("a node", asset.nodes.len());
            let node = node.map_err(|e| e.coded("expression-target-range"))?;
            let other = match bones.get(&node) {
                Some(bone) => Some(bone.bone.name().to_owned()),
                None => out.insert(node, name.to_owned()),
            };
            if let Some(other) = other {
                let found = format!("node {node}, which is already the node of {other}");
                let reused = given.error("a node for each expression", found);
                return Err(reused.coded("vrm-node-reused"));
            }
        }
    }
    Ok(out)
}

/// Puts tracks of expressions in place of those of the nodes that carry them.
fn expression_tracks(clip: &mut AssetClip, expressions: &HashMap<usize, String>) {
    let tracks = std::mem::take(&mut clip.tracks).into_iter();
    clip.tracks = tracks
        .filter_map(|track| {
            let name = match &track.target {
                TrackTarget::Node(node) => expressions.get(node),
                _ => None,
            };
            let Some(name) = name else { return Some(track) };
            let Keys::Translation(values) = &track.curve.keys else {
                return None;
            };
            let keys = Keys::Weights {
                count: 1,
                values: values.iter().map(|v| v.x).collect(),
            };
            Some(Track {
                target: TrackTarget::Expression(name.clone()),
                curve: Curve {
                    keys,
                    ..track.curve
                },
            })
        })
        .collect();
}

/// The node that carries the gaze, which is read past.
fn look_at(animation: &Json, asset: &mut Asset) -> Result<Option<usize>, Invalid> {
    let Some(look_at) = animation.get("lookAt")? else {
        return Ok(None);
    };
    asset.warnings.push(vrm::look_at(look_at.at()));
    match look_at.get("node")? {
        None => Ok(None),
        Some(node) => {
            let node = node.index("a node", asset.nodes.len());
            node.map(Some).map_err(|e| e.coded("vrm-node-range"))
        }
    }
}

//! Animation channels whose target is a human bone.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use sinew_animate::retarget::Bone;

use super::super::lookup;
use super::{EXTENSION, Findings};

/// The extension's object of a channel.
fn extension(channel: &Value) -> Option<&Value> {
    channel.get("target")?.get("extensions")?.get(EXTENSION)
}

/// Every channel that there is, by animation.
fn animations(document: &Value) -> impl Iterator<Item = (usize, &[Value])> {
    lookup::list(document, "animations")
        .iter()
        .enumerate()
        .map(|(i, animation)| (i, lookup::list(animation, "channels")))
}

/// Whether any channel names a human bone.
pub(super) fn uses_extension(document: &Value) -> bool {
    animations(document).any(|(_, channels)| channels.iter().any(|c| extension(c).is_some()))
}

pub(super) fn validate(document: &Value, findings: &mut Findings) {
    for (i, channels) in animations(document) {
        let mut targets = HashSet::new();
        let plain_samplers = plain_samplers(channels);
        for (j, channel) in channels.iter().enumerate() {
            let Some(extension) = extension(channel) else {
                continue;
            };
            let at = format!("animations[{i}].channels[{j}]");
            let bone = bone(extension, &at, findings);
            let path = path(channel, &at, findings);
            if let (Some(bone), Some(path)) = (bone, path)
                && !targets.insert((bone, path))
            {
                findings.error(
                    "DUPLICATE_TARGET",
                    format!("{at}.target"),
                    "one channel for each bone and path",
                    format!("a second one for the {path} of {bone}"),
                );
            }
            let sampler = channel.get("sampler").and_then(lookup::index);
            if let Some(other) = sampler.and_then(|s| plain_samplers.get(&s)) {
                findings.error(
                    "SAMPLER_SHARED",
                    format!("{at}.sampler"),
                    "a sampler that no channel without the extension uses",
                    format!("one that animations[{i}].channels[{other}] also uses"),
                );
            }
            let target = channel.get("target");
            if target.is_some_and(|t| t.get("node").is_some()) {
                findings.warning(
                    "NODE_AND_EXT",
                    format!("{at}.target.node"),
                    "either a node or a human bone",
                    "both; the bone is used",
                );
            }
        }
    }
}

/// Samplers of channels without the extension, with the first such channel.
fn plain_samplers(channels: &[Value]) -> HashMap<usize, usize> {
    let mut samplers = HashMap::new();
    for (j, channel) in channels.iter().enumerate() {
        let sampler = channel.get("sampler").and_then(lookup::index);
        if let (None, Some(sampler)) = (extension(channel), sampler) {
            samplers.entry(sampler).or_insert(j);
        }
    }
    samplers
}

fn bone(extension: &Value, at: &str, findings: &mut Findings) -> Option<Bone> {
    let at = format!("{at}.target.extensions.{EXTENSION}.humanoidBoneName");
    let given = extension.get("humanoidBoneName");
    let Some(name) = given.and_then(Value::as_str) else {
        let found = lookup::found(given);
        findings.error("BONE_NAME_MISSING", at, "the name of a human bone", found);
        return None;
    };
    let bone = name.parse().ok();
    if bone.is_none() {
        unknown_bone(at, name, findings);
    }
    bone
}

/// Reports a name that is none of the 55.
pub(super) fn unknown_bone(at: String, name: &str, findings: &mut Findings) {
    let expected = "one of the 55 human bones, such as leftUpperArm";
    let found = lookup::found(Some(&Value::from(name)));
    findings.error("BONE_NAME_UNKNOWN", at, expected, found);
}

fn path<'a>(channel: &'a Value, at: &str, findings: &mut Findings) -> Option<&'a str> {
    let at = format!("{at}.target.path");
    let given = channel.get("target").and_then(|t| t.get("path"));
    let path = given.and_then(Value::as_str);
    match path {
        Some("rotation") => {}
        Some(other @ ("translation" | "scale")) => findings.warning(
            "PATH_NOT_ROTATION",
            at,
            "rotation, the only path that fits every character",
            other,
        ),
        _ => {
            findings.error(
                "PATH",
                at,
                "rotation, translation or scale",
                lookup::found(given),
            );
            return None;
        }
    }
    path
}

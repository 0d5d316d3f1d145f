//! What of a document is read: the extensions that it may require, and a warning for each kind of
//! thing that is left out.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::document::Document;
use super::json::Json;
use sinew::error::Invalid;
use sinew_animate::asset::Asset;

/// Extensions that are read as far as USD can express them.
const HONOURED: &[&str] = &[
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_skeleton_humanoid",
    "EXT_texture_avif",
    "EXT_texture_webp",
    "KHR_animation_pointer",
    "KHR_lights_punctual",
    "KHR_materials_clearcoat",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_visibility",
    "KHR_texture_transform",
    "KHR_xmp_json_ld",
    "VRM",
    "VRMC_vrm",
    "VRMC_vrm_animation",
];

/// Compressions that sinew does not read, and what writes a file without them.
const DECODED_BY_OTHERS: &[(&str, &str)] = &[
    (
        "KHR_draco_mesh_compression",
        "`gltf-transform copy IN OUT` writes the file without Draco",
    ),
    (
        "KHR_texture_basisu",
        "`gltf-transform ktxdecompress IN OUT` writes its KTX2 images as PNG",
    ),
];

/// Extensions that are not read, and that have warnings of their own where something is lost.
const WARNED_ELSEWHERE: &[&str] = &[
    "KHR_texture_basisu",
    "VRMC_materials_mtoon",
    "VRMC_node_constraint",
    "VRMC_springBone",
    "VRMC_springBone_extended_collider",
];

/// Checks that `extensionsRequired` lists nothing that is not read.
///
/// # Errors
/// All such extensions in one error, `gltf-extension-required`.
pub(super) fn check_required(root: &Json<'_>) -> Result<(), Invalid> {
    let mut unknown = Vec::new();
    for extension in root.list("extensionsRequired")? {
        let name = extension.string()?;
        if !HONOURED.contains(&name) {
            unknown.push(name);
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    let mut found = unknown.join(", ");
    for (extension, advice) in DECODED_BY_OTHERS {
        if unknown.contains(extension) {
            found += &format!(" ({advice})");
        }
    }
    Err(not_honoured("extensionsRequired", found))
}

/// The error for a required extension that is not read, or not wholly.
pub(super) fn not_honoured(at: &str, found: impl Into<String>) -> Invalid {
    Invalid::new(at, "", "extensions that sinew reads", found).coded("gltf-extension-required")
}

/// Warns of extensions and extras that are not read, and of things that no scene shows.
pub(super) fn warn_of_left_out(document: &Document, asset: &Asset) {
    let mut found = Found::default();
    found.walk(document.json().value(), &mut Vec::new());
    for (name, seen) in found.extensions {
        let message = format!(
            "the extension {name} is not read (objects with it: {}, this one first)",
            seen.count
        );
        document.warn("gltf-extension-ignored", &seen.first, message);
    }
    if let Some(seen) = found.extras {
        let message = format!(
            "extras of nodes, meshes, materials, animations, skins, cameras, lights, scenes and \
             the file are kept: others are left out (count: {}, these first)",
            seen.count
        );
        document.warn("gltf-extras-ignored", &seen.first, message);
    }
    warn_of_attributes(document);
    warn_of_unshown(document, asset);
}

/// Warns of each vertex attribute that is not read.
fn warn_of_attributes(document: &Document) {
    let mut ignored: BTreeMap<&str, Seen> = BTreeMap::new();
    let meshes = document.json().value().get("meshes");
    for (m, mesh) in meshes
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let primitives = mesh.get("primitives").and_then(Value::as_array);
        for (p, primitive) in primitives.into_iter().flatten().enumerate() {
            let attributes = primitive.get("attributes").and_then(Value::as_object);
            for name in attributes.into_iter().flat_map(|a| a.keys()) {
                if !is_read(name) {
                    let at = || format!("meshes[{m}].primitives[{p}].attributes.{name}");
                    ignored.entry(name).or_default().add(at);
                }
            }
        }
    }
    for (name, seen) in ignored {
        let message = format!(
            "the attribute {name} is not read (primitives with it: {}, this one first)",
            seen.count
        );
        document.warn("gltf-attribute-ignored", &seen.first, message);
    }
}

/// Whether a vertex attribute is read.
fn is_read(attribute: &str) -> bool {
    let sets = ["TEXCOORD_", "JOINTS_", "WEIGHTS_"];
    ["POSITION", "NORMAL", "TANGENT", "COLOR_0"].contains(&attribute)
        || sets.iter().any(|set| attribute.starts_with(set))
}

/// How often something was seen, and where first.
#[derive(Default)]
struct Seen {
    count: usize,
    first: String,
}

impl Seen {
    fn add(&mut self, at: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = at();
        }
        self.count += 1;
    }
}

/// A step from a JSON value to one inside it.
#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

fn location(steps: &[Step<'_>], last: &[&str]) -> String {
    let mut out = String::new();
    let keys = last.iter().map(|k| Step::Key(k));
    for step in steps.iter().copied().chain(keys) {
        // Writing to a string cannot fail.
        let _ = match step {
            Step::Key(key) if out.is_empty() => write!(out, "{key}"),
            Step::Key(key) => write!(out, ".{key}"),
            Step::Index(index) => write!(out, "[{index}]"),
        };
    }
    out
}

/// What a document has and nothing here reads.
#[derive(Default)]
struct Found<'a> {
    extensions: BTreeMap<&'a str, Seen>,
    extras: Option<Seen>,
}

impl<'a> Found<'a> {
    fn walk(&mut self, value: &'a Value, at: &mut Vec<Step<'a>>) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    match key.as_str() {
                        "extensions" => self.extensions_of(member, at),
                        "extras" => self.extras_of(member, at),
                        _ => {
                            at.push(Step::Key(key));
                            self.walk(member, at);
                            at.pop();
                        }
                    }
                }
            }
            Value::Array(elements) => {
                // Numbers hold nothing.
                for (i, element) in elements.iter().enumerate().filter(|(_, e)| !e.is_number()) {
                    at.push(Step::Index(i));
                    self.walk(element, at);
                    at.pop();
                }
            }
            _ => {}
        }
    }

    fn extensions_of(&mut self, extensions: &'a Value, at: &mut Vec<Step<'a>>) {
        let Value::Object(extensions) = extensions else {
            return;
        };
        at.push(Step::Key("extensions"));
        for (name, value) in extensions {
            if HONOURED.contains(&&**name) {
                at.push(Step::Key(name));
                self.walk(value, at);
                at.pop();
            } else if !WARNED_ELSEWHERE.contains(&&**name) {
                let seen = self.extensions.entry(name).or_default();
                seen.add(|| location(at, &[name]));
            }
        }
        at.pop();
    }

    fn extras_of(&mut self, extras: &'a Value, at: &[Step<'a>]) {
        use Step::{Index, Key};
        const KEPT: [&str; 7] = [
            "animations",
            "cameras",
            "materials",
            "meshes",
            "nodes",
            "scenes",
            "skins",
        ];
        let is_kept = match at {
            [] | [Key("asset")] => true,
            [Key(list), Index(_)] => KEPT.contains(list),
            [
                Key("extensions"),
                Key("KHR_lights_punctual"),
                Key("lights"),
                Index(_),
            ] => true,
            // Names of morph targets are read.
            [Key("meshes"), Index(_), Key("primitives"), Index(_)] => extras
                .as_object()
                .is_some_and(|e| e.keys().all(|k| k == "targetNames")),
            // A humanoid map's and a VRM's own members may be called so.
            [Key("extensions"), Key(name), ..] => name.starts_with("VRM"),
            _ => false,
        };
        if !is_kept && !extras.is_null() {
            let seen = self.extras.get_or_insert_default();
            seen.add(|| location(at, &["extras"]));
        }
    }
}

/// Warns of nodes that no scene has, and of things that no node shows.
fn warn_of_unshown(document: &Document, asset: &Asset) {
    // Scenes without any nodes show everything.
    let shows_all = asset.scenes.iter().all(|s| s.roots.is_empty());
    let mut is_shown = vec![shows_all; asset.nodes.len()];
    let mut open: Vec<usize> = asset
        .scenes
        .iter()
        .flat_map(|s| &s.roots)
        .copied()
        .collect();
    let children = asset.children();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut is_shown[node], true) {
            open.extend(&children[node]);
        }
    }
    let hidden: Vec<usize> = (0..is_shown.len()).filter(|n| !is_shown[*n]).collect();
    if let Some(first) = hidden.first() {
        let message = format!(
            "nodes that belong to no scene are left out (count: {}, this one first)",
            hidden.len()
        );
        document.warn("gltf-node-unshown", &format!("nodes[{first}]"), message);
    }
    let unused = |list: &str, what: &str, count: usize, used: &mut dyn Iterator<Item = usize>| {
        let mut free = vec![true; count];
        used.for_each(|i| free[i] = false);
        let unused = free.iter().filter(|f| **f).count();
        if let Some(first) = free.iter().position(|f| *f) {
            let message =
                format!("{what} that no node shows are left out (count: {unused}, this one first)");
            document.warn("gltf-unused", &format!("{list}[{first}]"), message);
        }
    };
    let nodes = &asset.nodes;
    let meshes = &mut nodes.iter().filter_map(|n| n.mesh);
    unused("meshes", "meshes", asset.meshes.len(), meshes);
    let cameras = &mut nodes.iter().filter_map(|n| n.camera);
    unused("cameras", "cameras", asset.cameras.len(), cameras);
    let lights = &mut nodes.iter().filter_map(|n| n.light);
    let list = "extensions.KHR_lights_punctual.lights";
    unused(list, "lights", asset.lights.len(), lights);
}

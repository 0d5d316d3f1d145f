//! Which required extensions a file may ask for.

use super::json::Json;
use sinew::error::Invalid;

/// Extensions that are read, or that change nothing of what is: looks beyond UsdPreviewSurface, lights, metadata.
const SUPPORTED: &[&str] = &[
    "EXT_meshopt_compression",
    "EXT_skeleton_humanoid",
    "EXT_texture_avif",
    "EXT_texture_webp",
    "KHR_animation_pointer",
    "KHR_lights_punctual",
    "KHR_materials_variants",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_texture_basisu",
    "KHR_texture_transform",
    "KHR_xmp_json_ld",
    "VRM",
    "VRMC_node_constraint",
    "VRMC_springBone",
    "VRMC_springBone_extended_collider",
    "VRMC_vrm",
    "VRMC_vrm_animation",
];

/// Families that only change how surfaces look.
const SUPPORTED_PREFIXES: &[&str] = &["KHR_materials_", "VRMC_materials_"];

/// `extensionsRequired` may list nothing that is unknown here.
pub(super) fn check_required(root: &Json<'_>) -> Result<(), Invalid> {
    let mut unknown = Vec::new();
    for extension in root.list("extensionsRequired")? {
        let name = extension.string()?;
        let family = SUPPORTED_PREFIXES.iter().any(|p| name.starts_with(p));
        if !family && !SUPPORTED.contains(&name) {
            unknown.push(name);
        }
    }
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Invalid::new(
        "extensionsRequired",
        "",
        "extensions that sinew reads",
        unknown.join(", "),
    )
    .coded("gltf-extension-required"))
}

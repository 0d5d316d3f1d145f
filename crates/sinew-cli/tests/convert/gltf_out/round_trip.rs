//! glTF files that become USD and glTF again.

use std::path::Path;

use libtest_mimic::Failed;

use crate::gltf_out::judges;
use crate::gltf_out::stages::{ALLOWED, Written};
use crate::gltf_out::survival::Survival;
use common::node;

/// What is lost of the files whose name ends so, the beginning of its kind, and why.
const LOST: &[(&str, &str, &str)] = &[
    (
        "",
        "materials: baseColorTexture.sampler.m",
        "UsdUVTexture has no filters",
    ),
    (
        "",
        "materials: occlusionTexture.sampler.m",
        "UsdUVTexture has no filters",
    ),
    (
        "",
        "meshes: primitives of one node",
        "each primitive becomes a Mesh, and so a node",
    ),
    (
        "materials.glb",
        "materials: normalTexture.scale",
        "UsdPreviewSurface has no strength",
    ),
    (
        "materials.glb",
        "materials: transmission",
        "it becomes opacity",
    ),
    (
        "materials.glb",
        "materials: baseColorTexture.texCoord",
        "sets are numbered anew",
    ),
    (
        "materials.glb",
        "meshes: TEXCOORD",
        "sets are numbered anew",
    ),
    (
        "materials.glb",
        "meshes: COLOR",
        "materials of glTF files do not read displayColor",
    ),
    (
        "extras.glb",
        "extras of primitives",
        "a Mesh keeps those of the mesh",
    ),
    (
        "extras.glb",
        "extras of skins",
        "a Skeleton is of several skins",
    ),
    ("scenes.glb", "scenes", "further scenes are inactive prims"),
    (
        "children_first.glb",
        "scenes",
        "further scenes are inactive prims",
    ),
    // Clips that move nodes alone have no prim that would keep their name.
    (
        "interpolation_test.gltf",
        "clips: name",
        "what moves is no joint",
    ),
    (
        "roundtrip/01_cs_rotate.gltf",
        "clips: name",
        "what moves is no joint",
    ),
    (
        "roundtrip/01_cs_scale.gltf",
        "clips: name",
        "what moves is no joint",
    ),
    (
        "roundtrip/01_cs_translate.gltf",
        "clips: name",
        "what moves is no joint",
    ),
    ("several_clips.glb", "clips:", "two clips have one name"),
    (
        "several_clips.glb",
        "meshes: points at keys",
        "two clips have one name",
    ),
    (
        "two_characters.glb",
        "nodes: node above",
        "nodes of one name",
    ),
    ("fillers.gltf", "joints: joint above", "nodes of one name"),
    (
        "shared_faces.glb",
        "morph targets: name",
        "only the first Mesh of a primitive has shapes of these names",
    ),
    (
        "node_weights.glb",
        "morph targets: name",
        "only the first Mesh of a primitive has shapes of these names",
    ),
    (
        "MorphStressTest.gltf",
        "morph targets: name",
        "names of BlendShapes have no spaces",
    ),
    (
        "MorphStressTest.gltf",
        "morph targets: number",
        "targets that move nothing are left out",
    ),
    (
        "MorphPrimitivesTest.gltf",
        "meshes: points at keys",
        "weights without a clip become a clip",
    ),
    (
        "modifier_shapekey_vrm1.vrm",
        "morph targets: number",
        "expressions that move a texture become shapes",
    ),
    (
        "Example.vrm",
        "joints:",
        "joints without a skinned mesh are nodes",
    ),
    (
        "Med_MovementBasic.glb",
        "joints:",
        "joints without a skinned mesh are nodes",
    ),
    (
        ".vrm",
        "materials: VRMC_materials_mtoon",
        "outlines, rim light and matcaps are left out",
    ),
    (".vrm", "materials: unlit", "MToon is lit, in two tones"),
    (
        ".vrm",
        "materials: nothing more",
        "unlit colours become emission",
    ),
    (
        ".vrm",
        "materials: roughnessFactor",
        "unlit colours become emission",
    ),
];

/// What of a file survives, with a file of USD in binary between.
pub fn survives(file: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let stage = Written::new(file, folder.path().join("between.usdc"), &[])?;
    let back = Written::new(&stage.file, folder.path().join("back.glb"), &[])?;
    if node::missing().is_none() {
        judges::valid(&back.file, ALLOWED)?;
    }
    let survival = Survival::of(file, &back.file)?;
    if let Some(table) = std::env::var_os("SINEW_SURVIVAL_TABLE") {
        use std::io::Write;
        let mut out = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(table)?;
        for (what, tally) in &survival.0 {
            writeln!(
                out,
                "{}\t{what}\t{}\t{}\t{:.1e}\t{}",
                file.file_name().unwrap_or_default().display(),
                tally.kept,
                tally.all,
                tally.worst,
                tally.lost.as_deref().unwrap_or_default(),
            )?;
        }
    }
    let name = file.to_string_lossy();
    let is_known = |what: &str| {
        let mut lost = LOST.iter();
        lost.any(|(ending, kind, _)| name.ends_with(ending) && what.starts_with(kind))
    };
    let lost = survival
        .0
        .iter()
        .filter(|(what, tally)| tally.kept < tally.all && !is_known(what));
    let lost: Vec<String> = lost
        .map(|(what, tally)| {
            let example = tally.lost.as_deref().unwrap_or_default();
            format!("{what}: {} of {}: {example}", tally.kept, tally.all)
        })
        .collect();
    match lost.is_empty() {
        true => Ok(()),
        false => Err(lost.join("\n").into()),
    }
}

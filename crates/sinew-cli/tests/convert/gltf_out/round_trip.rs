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
        "materials: baseColorTexture.sampler.magFilter",
        "UsdUVTexture says nothing of filters",
    ),
    (
        "",
        "materials: baseColorTexture.sampler.minFilter",
        "UsdUVTexture says nothing of filters",
    ),
    (
        "",
        "materials: occlusionTexture.sampler.magFilter",
        "UsdUVTexture says nothing of filters",
    ),
    (
        "",
        "materials: occlusionTexture.sampler.minFilter",
        "UsdUVTexture says nothing of filters",
    ),
    (
        ".vrm",
        "materials: VRMC_materials_mtoon",
        "UsdPreviewSurface has no toon shading",
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

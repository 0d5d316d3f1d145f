//! glTF files that become USD and glTF again.

use std::path::Path;

use libtest_mimic::Failed;

use crate::gltf_out::judges;
use crate::gltf_out::stages::Written;
use crate::gltf_out::survival::Survival;
use common::node;

/// Kinds of things that are lost in all files or in some, and why.
const LOST: &[(&str, &str)] = &[];

/// What of a file survives, with a file of USD in binary between.
pub fn survives(file: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let stage = Written::new(file, folder.path().join("between.usdc"), &[])?;
    let back = Written::new(&stage.file, folder.path().join("back.glb"), &[])?;
    if node::missing().is_none() {
        judges::valid(&back.file, &["NODE_SKINNED_MESH_NON_ROOT"])?;
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
    let is_known = |what: &str| LOST.iter().any(|(known, _)| *known == what);
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

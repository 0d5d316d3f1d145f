//! glTF files that become USD and glTF again.

use std::path::Path;

use libtest_mimic::Failed;

use crate::convert::{How, to_gltf, to_usd};
use crate::judges::valid_gltf;
use crate::stages::ALLOWED;
use crate::subjects::rows;
use crate::survival::Survival;
use common::node;

/// What is lost, one a line.
const LOST: &str = include_str!("lost.txt");

/// What of a file survives, with a file of USD in binary between.
pub fn survives(file: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let between = folder.path().join("between.usdc");
    to_usd(file, &between)?;
    let back = to_gltf(&between, folder.path().join("back.glb"), &How::default())?;
    if node::missing().is_none() {
        valid_gltf(&back.file, ALLOWED)?;
    }
    let survival = Survival::of(file, &back.file)?;
    if let Some(table) = std::env::var_os("SINEW_SURVIVAL_TABLE") {
        survival.append_to(Path::new(&table), file)?;
    }
    let name = file.to_string_lossy();
    let is_known = |what: &str| {
        let is_of = |ending: &str| ending == "*" || name.ends_with(ending);
        rows(LOST).any(|row| is_of(row[0]) && what.starts_with(row[1]))
    };
    let mut lost = Vec::new();
    for (what, tally) in &survival.0 {
        if tally.kept < tally.all && !is_known(what) {
            let example = tally.lost.as_deref().unwrap_or_default();
            lost.push(format!(
                "{what}: {} of {}: {example}",
                tally.kept, tally.all
            ));
        }
    }
    match lost.is_empty() {
        true => Ok(()),
        false => Err(lost.join("\n").into()),
    }
}

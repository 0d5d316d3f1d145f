//! Which bones of real files and of made ones are recognised.

use std::path::{Path, PathBuf};

use common::files::files_of;
use common::trials::Trial;
use libtest_mimic::Failed;
use sinew_animate::retarget::{Bone, Humanoid};
use sinew_io::{open, rig, skeletons};

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let (kind, skip) = match assets {
        Some(_) => ("", false),
        None => ("needs SINEW_ASSETS", true),
    };
    let folder = assets.unwrap_or_default();
    let real = Trial::test("real_rigs_are_recognised", move || {
        real_rigs_are_recognised(&folder)
    });
    vec![real.with_kind(kind).with_ignored_flag(skip)]
}

/// Runs over all files, recognising by names and hierarchy, even where a file has its own map.
fn real_rigs_are_recognised(assets: &Path) -> Result<(), Failed> {
    for file in files_of(assets, &["usda", "usdc", "usdz", "glb", "gltf", "vrm"]) {
        let name = file.strip_prefix(assets)?.display().to_string();
        let Ok(opened) = open(&file) else { continue };
        let Ok(scene) = opened.scene(Default::default()) else {
            continue;
        };
        for skeleton in skeletons(&scene) {
            let Ok(rig) = rig(&scene, skeleton) else {
                continue;
            };
            let row = match Humanoid::recognise(&rig) {
                Ok(found) => {
                    let lacks: Vec<&str> = Bone::MAIN
                        .iter()
                        .filter(|b| !found.joints().contains_key(b))
                        .map(|b| b.name())
                        .collect();
                    println!(
                        "   {:?}",
                        found
                            .joints()
                            .iter()
                            .map(|(b, j)| format!("{b}={}", rig.names()[*j]))
                            .collect::<Vec<_>>()
                            .join(" ")
                    );
                    format!(
                        "{} of {} joints; {}; lacks {}; {:?} {:?}",
                        found.joints().len(),
                        rig.len(),
                        found.origin(),
                        lacks.join(" "),
                        found.conflicts(&rig),
                        found.misplaced()
                    )
                }
                Err(e) => format!("{} joints: {e}", rig.len()),
            };
            println!("{name} <{}>: {row}", skeleton.path);
        }
    }
    Ok(())
}

//! What is drawn of a stage made for it, and of real files where `SINEW_ASSETS` names their folder; the same as usd-core has it
//! where `SINEW_PYTHON` names a Python with it.

mod against;
mod changed;
mod sound;

use std::path::{Path, PathBuf};

use common::python;
use common::trials::Trial;

/// Endings of every format that is read.
#[cfg(feature = "fbx")]
pub const EVERY_FORMAT: &[&str] = &[
    "usda", "usdc", "usdz", "usd", "gltf", "glb", "vrm", "vrma", "bvh", "fbx",
];
#[cfg(not(feature = "fbx"))]
pub const EVERY_FORMAT: &[&str] = &[
    "usda", "usdc", "usdz", "usd", "gltf", "glb", "vrm", "vrma", "bvh",
];

pub fn made() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render/geometry/made.usda")
}

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let (kind, skip) = match assets {
        Some(_) => ("", false),
        None => ("needs SINEW_ASSETS", true),
    };
    let folder = assets.clone().unwrap_or_default();
    let real = |name: &str, run: fn(&Path)| {
        let folder = folder.clone();
        let trial = Trial::test(name, move || {
            run(&folder);
            Ok(())
        });
        trial.with_kind(kind).with_ignored_flag(skip)
    };
    let plain = |name: &str, run: fn()| {
        Trial::test(name, move || {
            run();
            Ok(())
        })
    };
    let own = common::repository().join("examples/assets");
    let mut trials = vec![
        plain("made_stage", sound::made_stage),
        plain("pictures_of_every_kind_of_file", sound::pictures),
        plain("hostile_stages", sound::hostile),
        plain("stages_changed_at_random", changed::nothing_panics),
        real("every_real_file", sound::every_file),
        python::trial("usd_core::made_stage", |python| {
            against::compare(python, &[made()])
        }),
        python::trial("usd_core::the_comparison_notices_differences", |python| {
            against::notices(python, &made())
        }),
        python::trial("usd_core::examples", move |python| {
            against::compare_folder(python, &own, 4)
        }),
    ];
    let all = python::trial("usd_core::real_files", move |python| {
        against::compare_folder(python, &folder, 60)
    });
    trials.push(match skip {
        true => all.with_kind(kind).with_ignored_flag(true),
        false => all,
    });
    trials
}

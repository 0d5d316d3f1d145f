//! Real glTF, VRM and VRM Animation files, where `SINEW_ASSETS` names their folder.

mod as_stated;
#[path = "../humanoid/command.rs"]
mod command;
#[path = "../humanoid/figure.rs"]
#[allow(dead_code, reason = "the rest is for models that are made")]
mod figure;
mod humanoid;
#[path = "../gltf_malformed/memory.rs"]
mod memory;
mod random;
#[path = "../gltf_malformed/scrambling.rs"]
mod scrambling;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Trial};

/// On the folder of real files.
type RealTest = (&'static str, fn(&Path));

fn main() {
    let tests: [RealTest; 3] = [
        (
            "what_is_read_is_what_the_file_states",
            as_stated::what_is_read_is_what_the_file_states,
        ),
        (
            "scrambled_files_neither_panic_nor_take_long",
            random::scrambled_files_neither_panic_nor_take_long,
        ),
        (
            "real_clips_on_real_models",
            humanoid::real_clips_on_real_models,
        ),
    ];
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let (kind, skip) = match assets {
        Some(_) => ("", false),
        None => ("needs SINEW_ASSETS", true),
    };
    let folder = assets.unwrap_or_default();
    let trials = tests.map(|(name, run)| {
        let folder = folder.clone();
        let trial = Trial::test(name, move || {
            run(&folder);
            Ok(())
        });
        trial.with_kind(kind).with_ignored_flag(skip)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into()).exit();
}

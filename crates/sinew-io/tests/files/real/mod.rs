//! Real glTF, VRM and VRM Animation files, where `SINEW_ASSETS` names their folder.

mod as_stated;
mod packed;
mod random;
mod vrm;

use std::path::{Path, PathBuf};

use common::trials::Trial;

/// On the folder of real files.
type RealTest = (&'static str, fn(&Path));

pub fn trials() -> Vec<Trial> {
    let tests: [RealTest; 5] = [
        ("vrm_characters", vrm::real_characters),
        ("vrm_animations", vrm::real_animations),
        (
            "packed_clips_keep_their_bound_and_get_small",
            packed::packed_clips_keep_their_bound_and_get_small,
        ),
        (
            "what_is_read_is_what_the_file_states",
            as_stated::what_is_read_is_what_the_file_states,
        ),
        (
            "scrambled_files_neither_panic_nor_take_long",
            random::scrambled_files_neither_panic_nor_take_long,
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
    trials.into()
}

//! VRM 1.0, VRM 0.x and VRM Animation: made files and real ones.

mod good;
mod made;
mod malformed;
mod real;

use std::path::{Path, PathBuf};

use common::trials::Trial;

/// On the folder of real files.
type RealTest = (&'static str, fn(&Path));

pub fn trials() -> Vec<Trial> {
    let plain: [(&str, fn()); 8] = [
        (
            "scrambled_files_are_told_not_followed",
            malformed::scrambled_files_are_told_not_followed,
        ),
        ("vrm_1", good::vrm_1),
        (
            "vrm_1_says_what_it_reads_past",
            good::vrm_1_says_what_it_reads_past,
        ),
        (
            "vrm_1_is_forgiving_where_nothing_is_lost",
            good::vrm_1_is_forgiving_where_nothing_is_lost,
        ),
        ("vrm_0", good::vrm_0),
        ("vrm_animation", good::vrm_animation),
        (
            "vrm_animation_leaves_out_what_it_may_not_move",
            good::vrm_animation_leaves_out_what_it_may_not_move,
        ),
        (
            "malformed_files_are_errors_with_their_location",
            malformed::malformed_files_are_errors_with_their_location,
        ),
    ];
    let real: [RealTest; 2] = [
        ("real_characters", real::real_characters),
        ("real_animations", real::real_animations),
    ];
    let mut trials = Vec::new();
    for (name, run) in plain {
        trials.push(Trial::test(name, move || {
            run();
            Ok(())
        }));
    }
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    for (name, run) in real {
        let folder = assets.clone().unwrap_or_default().join("vrm");
        let run = move || {
            run(&folder);
            Ok(())
        };
        let kind = if assets.is_some() {
            ""
        } else {
            "needs SINEW_ASSETS"
        };
        trials.push(
            Trial::test(name, run)
                .with_kind(kind)
                .with_ignored_flag(assets.is_none()),
        );
    }
    trials
}

//! Real files, where `SINEW_ASSETS` names their folder: those of known truths, and all of them for what they must not do.

mod packed;
mod vrm;

use std::path::Path;

use common::trials::Trial;

use crate::Needs::{Nothing, Python};
use crate::{Real, humanoid, truth};

/// On the folder of real files.
type RealTest = (&'static str, fn(&Path));

const OF_ALL: [RealTest; 3] = [
    ("vrm_characters", vrm::real_characters),
    ("vrm_animations", vrm::real_animations),
    (
        "packed_clips_keep_their_bound_and_get_small",
        packed::packed_clips_keep_their_bound_and_get_small,
    ),
];

pub fn trials(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, run) in OF_ALL {
        let folder = real.path("");
        let run = move |_: &str| {
            run(&folder);
            Ok(())
        };
        trials.extend(real.trial(Nothing, name.to_owned(), "vrm", run));
    }
    // The vertices of Blender are in files that Python reads.
    for (file, stage, allowed) in truth::FILES {
        let [below, stage] = [file, stage].map(|f| format!("blender/{f}"));
        let (file, stage) = (real.path(&below), real.path(&stage));
        let run = move |_: &str| truth::same(&file, &stage, allowed);
        trials.extend(real.trial(Python, below.replace('/', "::"), &below, run));
    }
    for (stage, metres) in truth::STAGES {
        let below = format!("blender/{stage}");
        let stage = real.path(&below);
        let run = move |_: &str| truth::as_glb(&stage, metres);
        trials.extend(real.trial(Python, below.replace('/', "::"), &below, run));
    }
    for (model, clip) in humanoid::PAIRS {
        let [file, clip] = [model, clip].map(|f| real.path(f));
        let run = move |python: &str| humanoid::both_forms(python, &file, &clip);
        trials.extend(real.trial(Python, format!("humanoid::{model}"), model, run));
    }
    trials
}

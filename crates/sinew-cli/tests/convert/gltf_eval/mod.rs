//! The glTF path against an evaluator of the tests' own, which shares no code with sinew, and against usd-core.

pub mod bodies;
mod converted;
mod direct;
mod fixtures;
mod hand;
mod humanoid_out;
pub mod moments;
pub mod oracle;
pub mod pairing;
pub mod play;
mod random;
mod reader;
mod seeds;
mod self_test;
pub mod subjects;
pub mod truth;
mod usdz;

use std::path::{Path, PathBuf};

use common::files::missing;
use common::python;
use common::trials::Trial;
use libtest_mimic::Failed;

/// What is done with every file.
type FileTest = (&'static str, fn(&Path) -> Result<(), Failed>);

const FILE_TESTS: &[FileTest] = &[
    ("reader", reader::same_contents),
    ("direct", direct::skins),
    ("joints", direct::joints),
];

/// What is done with every file by the help of usd-core.
type PythonTest = (&'static str, fn(&str, &Path) -> Result<(), Failed>);

const PYTHON_TESTS: &[PythonTest] = &[
    ("converted", converted::clips),
    ("all_clips", converted::all_clips),
    ("baked", converted::bakes),
];

pub fn trials() -> Vec<Trial> {
    let mut trials = hand::trials();
    trials.push(Trial::test(
        "comparison::notices_what_is_wrong",
        self_test::notices_what_is_wrong,
    ));
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let root = assets.clone().unwrap_or_default();
    let with_file = |missing: Option<&str>,
                     name: String,
                     run: Box<dyn FnOnce() -> Result<(), Failed> + Send>| {
        Trial::test(name, run)
            .with_kind(missing.unwrap_or_default())
            .with_ignored_flag(missing.is_some())
    };
    let absent = |file: &str| missing(assets.as_deref(), file);
    trials.push(Trial::test("seeds::coverage", seeds::coverage));
    let range = seeds::asked(seeds::DIRECT, 0..40);
    trials.push(Trial::test(
        format!("seeds::direct::{range:?}"),
        move || seeds::direct(range),
    ));
    let range = seeds::asked(seeds::CONVERTED, 0..8);
    let name = format!("seeds::converted::{range:?}");
    trials.push(python::trial(&name, move |python| {
        seeds::converted(python, range)
    }));
    for file in truth::FILES {
        for (who, run) in [
            ("evaluator", truth::evaluator as fn(&Path, truth::File) -> _),
            ("direct", truth::direct),
        ] {
            let folder = root.join("blender");
            let name = format!("blender::{who}::{}", file.0);
            let missing = absent(&format!("blender/{}", file.0));
            trials.push(with_file(
                missing,
                name,
                Box::new(move || run(&folder, file)),
            ));
        }
    }
    trials.push(python::trial("humanoid::puppet.glb", |python| {
        let (model, clip) = humanoid_out::example();
        humanoid_out::both_forms(python, &model, &clip)
    }));
    for (model, clip) in humanoid_out::PAIRS {
        let name = format!("humanoid::{model}::{clip}");
        let missing = absent(model);
        let [model, clip] = [model, clip].map(|f| root.join(f));
        trials.push(match missing {
            Some(_) => with_file(missing, name, Box::new(|| Ok(()))),
            None => python::trial(&name, move |python| {
                humanoid_out::both_forms(python, &model, &clip)
            }),
        });
    }
    for model in &usdz::MODELS {
        for (who, run) in [
            (
                "evaluator",
                usdz::same_as_evaluator as fn(&Path, &usdz::Model) -> _,
            ),
            ("direct", usdz::same_as_direct),
        ] {
            let folder = root.clone();
            let name = format!("usdz::{who}::{}", model.name);
            let missing = absent("usd-wg-assets");
            trials.push(with_file(
                missing,
                name,
                Box::new(move || run(&folder, model)),
            ));
        }
    }
    for subject in subjects::all(assets.as_deref()) {
        let missing = subject.missing;
        for (name, run) in FILE_TESTS {
            let file = subject.file.clone();
            let name = format!("{name}::{}", subject.name);
            trials.push(with_file(missing, name, Box::new(move || run(&file))));
        }
        for (name, run) in PYTHON_TESTS {
            let file = subject.file.clone();
            let name = format!("{name}::{}", subject.name);
            trials.push(match missing {
                Some(_) => with_file(missing, name, Box::new(|| Ok(()))),
                None => python::trial(&name, move |python| run(python, &file)),
            });
        }
    }
    trials
}

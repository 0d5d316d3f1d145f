//! What `sinew convert` writes as glTF, before judges that share no code with it: the validator of Khronos, three.js, the
//! evaluator of the tests, and usd-core's bake of the same stage.

mod agreement;
mod judges;
mod made;
mod matching;
mod properties;
mod round_trip;
mod self_test;
mod stages;
mod survival;

use std::path::PathBuf;

use common::trials::Trial;
use common::{files, node, python, tolerance};

use crate::gltf_eval::subjects;

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let mut trials = vec![
        Trial::test("judges::matching", self_test::matching),
        Trial::test("judges::survival", self_test::survival),
        node::trial("judges::validator", self_test::validator),
    ];
    let blender = std::env::var("SINEW_BLENDER");
    for subject in subjects::all(assets.as_deref()) {
        // Of the fixtures many hold more than Blender's bones can.
        let is_other = !subject.name.starts_with("own::") && !subject.name.ends_with(".vrm");
        if let (Ok(python), None, true) = (&blender, subject.missing, is_other) {
            let python = python.clone();
            let file = subject.file.clone();
            let name = format!("blender_agrees::{}", subject.name);
            trials.push(Trial::test(name, move || {
                agreement::blender_and_evaluator(&python, &file, tolerance::BLENDER)
            }));
        }
        let file = subject.file.clone();
        let name = format!("judges_agree::{}", subject.name);
        let trial = node::trial(&name, move || agreement::three_and_evaluator(&file));
        trials.push(match subject.missing {
            Some(missing) => trial.with_kind(missing).with_ignored_flag(true),
            None => trial,
        });
    }
    let mut round: Vec<(String, PathBuf)> = made::written()
        .iter()
        .map(|(name, file)| (format!("made::{name}"), file.clone()))
        .collect();
    let subjects = subjects::all(assets.as_deref()).into_iter();
    round.extend(
        subjects
            .filter(|s| s.missing.is_none())
            .map(|s| (s.name, s.file)),
    );
    for (name, file) in round {
        trials.push(Trial::test(format!("round_trip::{name}"), move || {
            round_trip::survives(&file)
        }));
    }
    for (stage, truth, metres) in stages::BLENDER {
        let missing = files::missing(assets.as_deref(), &format!("blender/{stage}"));
        let folder = assets.clone().unwrap_or_default().join("blender");
        let trial = Trial::test(format!("blender_truth::{stage}"), move || {
            stages::blender_truth(&folder.join(stage), &folder.join(truth), metres)
        });
        trials.push(
            trial
                .with_kind(missing.unwrap_or_default())
                .with_ignored_flag(missing.is_some()),
        );
    }
    for (name, stage) in stages::subjects(assets.as_deref()) {
        if let Ok(python) = &blender {
            let (python, stage) = (python.clone(), stage.clone());
            trials.push(Trial::test(format!("in_blender::{name}"), move || {
                stages::in_blender(&python, &stage)
            }));
        }
        trials.push(python::trial(&format!("as_glb::{name}"), move |python| {
            stages::as_glb(python, &stage)
        }));
    }
    trials
}

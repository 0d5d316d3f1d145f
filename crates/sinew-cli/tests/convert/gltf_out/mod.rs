//! What `sinew convert` writes as glTF, before judges that share no code with it: the validator of Khronos, three.js, the
//! evaluator of the tests, and usd-core's bake of the same stage.

mod agreement;
mod judges;
mod matching;
mod properties;
mod stages;
mod survival;

use std::path::PathBuf;

use common::{node, python};
use common::trials::Trial;

use crate::gltf_eval::subjects;

pub fn trials() -> Vec<Trial> {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let mut trials = Vec::new();
    for subject in subjects::all(assets.as_deref()) {
        let file = subject.file.clone();
        let name = format!("judges_agree::{}", subject.name);
        let trial = node::trial(&name, move || agreement::three_and_evaluator(&file));
        trials.push(match subject.missing {
            Some(missing) => trial.with_kind(missing).with_ignored_flag(true),
            None => trial,
        });
    }
    for (name, stage) in stages::subjects(assets.as_deref()) {
        trials.push(python::trial(&format!("as_glb::{name}"), move |python| {
            stages::as_glb(python, &stage)
        }));
    }
    trials
}

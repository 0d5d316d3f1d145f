//! What `sinew convert` writes as glTF, before judges that share no code with it: the validator of Khronos, three.js, the
//! evaluator of the tests, and usd-core's bake of the same stage.

mod agreement;
mod judges;

use std::path::PathBuf;

use common::node;
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
    trials
}

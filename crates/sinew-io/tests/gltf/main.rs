//! glTF against judges that share no code with sinew: an evaluator of the tests, which reads by the crate `gltf`, usd-core, the
//! validator of Khronos, three.js, and Blender's own vertices.

mod agreement;
mod convert;
mod converted;
mod direct;
mod eval;
mod hand;
mod humanoid;
mod judges;
mod matching;
mod play;
mod properties;
mod random;
mod reader;
mod round_trip;
mod seeds;
mod self_test;
mod shown;
mod side;
mod stages;
mod subjects;
mod survival;
mod truth;
mod written;

use std::path::PathBuf;

use common::files::missing;
use common::trials::Trial;
use common::{node, python};
use libtest_mimic::Failed;

type Outcome = Result<(), Failed>;

fn main() {
    let assets = std::env::var_os("SINEW_ASSETS").map(PathBuf::from);
    let real = Real(assets);
    common::trials::run([
        ("judges", judges()),
        ("evaluator", hand::trials()),
        ("seeds", seeds()),
        ("written", written::trials()),
        ("gltf", files(&real)),
        ("stages", stages(&real)),
        ("real", real_files(&real)),
    ])
}

/// The folder of the real files, where it is given.
struct Real(Option<PathBuf>);

impl Real {
    /// A file below it; nowhere where it is not given.
    fn path(&self, file: &str) -> PathBuf {
        self.0.clone().unwrap_or_default().join(file)
    }

    fn trial(
        &self,
        file: &str,
        name: String,
        run: impl FnOnce() -> Outcome + Send + 'static,
    ) -> Trial {
        ignored(Trial::test(name, run), missing(self.0.as_deref(), file))
    }
}

/// The trial, ignored where something is missing.
fn ignored(trial: Trial, missing: Option<&'static str>) -> Trial {
    match missing {
        Some(missing) => trial.with_kind(missing).with_ignored_flag(true),
        None => trial,
    }
}

fn judges() -> Vec<Trial> {
    vec![
        Trial::test("comparison", self_test::comparison),
        Trial::test("matching", self_test::matching),
        Trial::test("survival", self_test::survival),
        node::trial("validator", self_test::validator),
    ]
}

fn seeds() -> Vec<Trial> {
    let direct = seeds::asked(seeds::DIRECT, 0..40);
    let converted = seeds::asked(seeds::CONVERTED, 0..8);
    vec![
        Trial::test("coverage", seeds::coverage),
        Trial::test(format!("direct::{direct:?}"), || seeds::direct(direct)),
        python::trial(&format!("converted::{converted:?}"), |python| {
            seeds::converted(python, converted)
        }),
    ]
}

/// Every trial of every glTF file.
fn files(real: &Real) -> Vec<Trial> {
    let alone: [(&str, fn(&std::path::Path) -> Outcome); 4] = [
        ("reader", reader::same_contents),
        ("direct", direct::skins),
        ("joints", direct::joints),
        ("round_trip", round_trip::survives),
    ];
    let with_python: [(&str, fn(&str, &std::path::Path) -> Outcome); 3] = [
        ("converted", converted::clips),
        ("all_clips", converted::all_clips),
        ("baked", converted::bakes),
    ];
    let mut trials = Vec::new();
    for subjects::Subject {
        name,
        file,
        missing,
    } in subjects::all(real.0.as_deref())
    {
        for (what, run) in alone {
            let file = file.clone();
            let trial = Trial::test(format!("{what}::{name}"), move || run(&file));
            trials.push(ignored(trial, missing));
        }
        for (what, run) in with_python {
            let file = file.clone();
            let name = format!("{what}::{name}");
            let trial = python::trial(&name, move |python| run(python, &file));
            trials.push(ignored(trial, missing));
        }
        // Of our own files many hold more than Blender's bones can.
        let is_other = !name.starts_with("own::") && !name.ends_with(".vrm");
        if let (Ok(python), true) = (std::env::var("SINEW_BLENDER"), is_other) {
            let file = file.clone();
            let trial = Trial::test(format!("in_blender::{name}"), move || {
                agreement::blender_and_evaluator(&python, &file)
            });
            trials.push(ignored(trial, missing));
        }
        let trial = node::trial(&format!("in_three::{name}"), move || {
            agreement::three_and_evaluator(&file)
        });
        trials.push(ignored(trial, missing));
    }
    for (name, file) in subjects::richer() {
        let name = format!("round_trip::own::{name}");
        trials.push(Trial::test(name, move || round_trip::survives(&file)));
    }
    trials
}

/// Stages as glTF.
fn stages(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, stage) in stages::subjects(real.0.as_deref()) {
        // Between keys of its own each bone of Blender's turns in another way: the goldens have many such keys.
        let is_golden = name.starts_with("goldens");
        if let (Ok(python), false) = (std::env::var("SINEW_BLENDER"), is_golden) {
            let stage = stage.clone();
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

/// Real files of known truths.
fn real_files(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    let folder = real.path("blender");
    // The vertices of Blender are in files that Python reads.
    let mut of_blender = |file: &str, run: Box<dyn FnOnce() -> Outcome + Send>| {
        let trial = python::trial(&format!("blender::{file}"), move |_| run());
        let missing = missing(real.0.as_deref(), &format!("blender/{file}"));
        trials.push(ignored(trial, missing));
    };
    for (name, stage, allowed) in truth::FILES {
        let [file, stage] = [name, stage].map(|f| folder.join(f));
        of_blender(name, Box::new(move || truth::same(&file, &stage, allowed)));
    }
    for (name, metres) in truth::STAGES {
        let stage = folder.join(name);
        of_blender(name, Box::new(move || truth::as_glb(&stage, metres)));
    }
    for model in &direct::MODELS {
        let assets = real.path("");
        let run = move || direct::same_as_usdz(&assets, model);
        trials.push(real.trial("usd-wg-assets", format!("usdz::{}", model.name), run));
    }
    trials.push(python::trial("humanoid::puppet.glb", |python| {
        let (model, clip) = humanoid::example();
        humanoid::both_forms(python, &model, &clip)
    }));
    for (model, clip) in humanoid::PAIRS {
        let [file, clip] = [model, clip].map(|f| real.path(f));
        let trial = python::trial(&format!("humanoid::{model}"), move |python| {
            humanoid::both_forms(python, &file, &clip)
        });
        trials.push(ignored(trial, missing(real.0.as_deref(), model)));
    }
    let assets = real.path("");
    let run = move || humanoid::real_clips_on_real_models(&assets);
    trials.push(real.trial("vrm", "humanoid::clips_on_models".to_owned(), run));
    trials
}

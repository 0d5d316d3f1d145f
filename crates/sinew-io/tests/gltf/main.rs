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

use std::path::{Path, PathBuf};

use common::files::missing;
use common::trials::Trial;
use common::{node, python};
use libtest_mimic::Failed;

type Outcome = Result<(), Failed>;

fn main() {
    let real = Real(std::env::var_os("SINEW_ASSETS").map(PathBuf::from));
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

/// What a trial needs beside the crates. Python and Blender are given to what runs.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Python,
    Node,
    Blender,
}

/// A trial of it; none where it needs Blender, which is asked for by hand alone.
fn trial(
    needs: Needs,
    name: String,
    missing: Option<&'static str>,
    run: impl FnOnce(&str) -> Outcome + Send + 'static,
) -> Option<Trial> {
    let trial = match needs {
        Needs::Nothing => Trial::test(name, || run("")),
        Needs::Python => python::trial(&name, run),
        Needs::Node => node::trial(&name, || run("")),
        Needs::Blender => {
            let blender = std::env::var("SINEW_BLENDER").ok()?;
            Trial::test(name, move || run(&blender))
        }
    };
    Some(match missing {
        Some(missing) => trial.with_kind(missing).with_ignored_flag(true),
        None => trial,
    })
}

/// The folder of the real files, where it is given.
struct Real(Option<PathBuf>);

impl Real {
    /// A file below it; nowhere where it is not given.
    fn path(&self, file: &str) -> PathBuf {
        self.0.clone().unwrap_or_default().join(file)
    }

    fn missing(&self, file: &str) -> Option<&'static str> {
        missing(self.0.as_deref(), file)
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

/// What is done with every file or stage, by a Python where it needs one.
type FileTest = (&'static str, Needs, fn(&str, &Path) -> Outcome);

const OF_FILES: [FileTest; 9] = [
    ("reader", Needs::Nothing, |_, file| {
        reader::same_contents(file)
    }),
    ("direct", Needs::Nothing, |_, file| direct::skins(file)),
    ("joints", Needs::Nothing, |_, file| direct::joints(file)),
    ("round_trip", Needs::Nothing, |_, file| {
        round_trip::survives(file)
    }),
    ("converted", Needs::Python, converted::clips),
    ("all_clips", Needs::Python, converted::all_clips),
    ("baked", Needs::Python, converted::bakes),
    ("in_three", Needs::Node, |_, file| {
        agreement::three_and_evaluator(file)
    }),
    (
        "in_blender",
        Needs::Blender,
        agreement::blender_and_evaluator,
    ),
];

/// Every trial of every glTF file.
fn files(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    for subject in subjects::all(real.0.as_deref()) {
        // Of our own files many hold more than Blender's bones can.
        let is_own = subject.name.starts_with("own::") || subject.name.ends_with(".vrm");
        for (what, needs, run) in OF_FILES {
            if needs == Needs::Blender && is_own {
                continue;
            }
            let (file, name) = (subject.file.clone(), format!("{what}::{}", subject.name));
            trials.extend(trial(needs, name, subject.missing, move |python| {
                run(python, &file)
            }));
        }
    }
    for (name, file) in subjects::richer() {
        let name = format!("round_trip::own::{name}");
        trials.push(Trial::test(name, move || round_trip::survives(&file)));
    }
    trials
}

const OF_STAGES: [FileTest; 2] = [
    ("as_glb", Needs::Python, stages::as_glb),
    ("in_blender", Needs::Blender, stages::in_blender),
];

/// Stages as glTF.
fn stages(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (stage_name, stage) in stages::subjects(real.0.as_deref()) {
        // Between keys of its own each bone of Blender's turns in another way: the goldens have many such keys.
        let is_golden = stage_name.starts_with("goldens");
        for (what, needs, run) in OF_STAGES {
            if needs == Needs::Blender && is_golden {
                continue;
            }
            let (stage, name) = (stage.clone(), format!("{what}::{stage_name}"));
            trials.extend(trial(needs, name, None, move |python| run(python, &stage)));
        }
    }
    trials
}

/// Real files of known truths.
fn real_files(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    // The vertices of Blender are in files that Python reads.
    for (file, stage, allowed) in truth::FILES {
        let (name, missing) = (format!("blender::{file}"), format!("blender/{file}"));
        let [file, stage] = [file, stage].map(|f| real.path("blender").join(f));
        let run = move |_: &str| truth::same(&file, &stage, allowed);
        trials.extend(trial(Needs::Python, name, real.missing(&missing), run));
    }
    for (stage, metres) in truth::STAGES {
        let (name, missing) = (format!("blender::{stage}"), format!("blender/{stage}"));
        let stage = real.path(&missing);
        let run = move |_: &str| truth::as_glb(&stage, metres);
        trials.extend(trial(Needs::Python, name, real.missing(&missing), run));
    }
    for model in &direct::MODELS {
        let (name, assets) = (format!("usdz::{}", model.name), real.path(""));
        let run = move |_: &str| direct::same_as_usdz(&assets, model);
        trials.extend(trial(
            Needs::Nothing,
            name,
            real.missing("usd-wg-assets"),
            run,
        ));
    }
    trials.push(python::trial("humanoid::puppet.glb", |python| {
        let (model, clip) = humanoid::example();
        humanoid::both_forms(python, &model, &clip)
    }));
    for (model, clip) in humanoid::PAIRS {
        let (name, missing) = (format!("humanoid::{model}"), real.missing(model));
        let [file, clip] = [model, clip].map(|f| real.path(f));
        let run = move |python: &str| humanoid::both_forms(python, &file, &clip);
        trials.extend(trial(Needs::Python, name, missing, run));
    }
    let (name, assets) = ("humanoid::clips_on_models".to_owned(), real.path(""));
    let run = move |_: &str| humanoid::real_clips_on_real_models(&assets);
    trials.extend(trial(Needs::Nothing, name, real.missing("vrm"), run));
    trials
}

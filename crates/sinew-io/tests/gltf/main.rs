//! glTF against judges that share no code with sinew: an evaluator of the tests, which reads by the crate `gltf`, usd-core, the
//! validator of Khronos, three.js, and Blender's own vertices.

mod agreement;
mod assets;
mod convert;
mod converted;
mod cuts;
mod direct;
mod eval;
mod from_asset;
mod hand;
mod humanoid;
mod judges;
mod matching;
mod play;
mod random_stages;
mod real;
mod round_trip;
mod seeds;
mod self_test;
mod shown;
mod stages;
mod subjects;
mod survival;
mod truth;
mod written;

use std::path::{Path, PathBuf};

use common::files::missing;
use common::trials::Trial;
use common::{fixture, node, python};
use libtest_mimic::Failed;

use Needs::{Blender, Node, Nothing, Python};

type Outcome = Result<(), Failed>;

fn main() {
    let real = Real(std::env::var_os("SINEW_ASSETS").map(PathBuf::from));
    common::trials::run([
        ("judges", self_test::trials()),
        ("evaluator", hand::trials()),
        ("seeds", seeds::trials()),
        ("written", written::trials()),
        ("cuts", cuts::trials()),
        ("random_stages", random_stages::trials()),
        ("from_asset", from_asset::trials()),
        ("assets", assets::trials()),
        ("humanoid", humanoids()),
        ("gltf", files(&real)),
        ("stages", stages(&real)),
        ("real", real::trials(&real)),
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
        Nothing => Trial::test(name, || run("")),
        Python => python::trial(&name, run),
        Node => node::trial(&name, || run("")),
        Blender => {
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

    /// A trial of a file or folder below it, which shows as ignored where that is not there.
    fn trial(
        &self,
        needs: Needs,
        name: String,
        file: &str,
        run: impl FnOnce(&str) -> Outcome + Send + 'static,
    ) -> Option<Trial> {
        trial(needs, name, missing(self.0.as_deref(), file), run)
    }
}

/// What is done with every file or stage, by a Python where it needs one.
type FileTest = (&'static str, Needs, fn(&str, &Path) -> Outcome);

const OF_FILES: [FileTest; 5] = [
    ("direct", Nothing, |_, file| direct::same(file)),
    ("round_trip", Nothing, |_, file| round_trip::survives(file)),
    ("converted", Python, converted::clips),
    ("in_three", Node, |_, file| {
        agreement::three_and_evaluator(file)
    }),
    ("in_blender", Blender, agreement::blender_and_evaluator),
];

/// Every trial of every glTF file.
fn files(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    for subject in subjects::all(real.0.as_deref()) {
        for (what, needs, run) in OF_FILES {
            if subject.takes(what) {
                let (file, name) = (subject.file.clone(), format!("{what}::{}", subject.name));
                let run = move |python: &str| run(python, &file);
                trials.extend(trial(needs, name, subject.missing, run));
            }
        }
    }
    trials
}

/// The example's puppet with a clip for any humanoid, and a character with expressions.
fn humanoids() -> Vec<Trial> {
    let example = |name| common::repository().join("examples/assets").join(name);
    let pairs = [
        ("puppet", example("puppet.glb"), example("bow.glb")),
        (
            "expressions",
            fixture("vrm1.gltf"),
            fixture("vrma_linear.gltf"),
        ),
    ];
    let trial = |(name, model, clip): (&str, PathBuf, PathBuf)| {
        python::trial(name, move |python| {
            humanoid::both_forms(python, &model, &clip)
        })
    };
    pairs.into_iter().map(trial).collect()
}

const OF_STAGES: [FileTest; 2] = [
    ("as_glb", Python, stages::as_glb),
    ("in_blender", Blender, stages::in_blender),
];

/// Stages as glTF.
fn stages(real: &Real) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (stage_name, stage) in stages::subjects(real.0.as_deref()) {
        // Between keys of its own each bone of Blender's turns in another way: the goldens have many such keys.
        let is_golden = stage_name.starts_with("goldens");
        for (what, needs, run) in OF_STAGES {
            if needs == Blender && is_golden {
                continue;
            }
            let (stage, name) = (stage.clone(), format!("{what}::{stage_name}"));
            trials.extend(trial(needs, name, None, move |python| run(python, &stage)));
        }
    }
    trials
}

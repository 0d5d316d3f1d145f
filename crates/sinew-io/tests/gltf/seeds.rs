//! Random glTF files of `seeds.py`: sinew's scene of them, and usd-core's picture of what they are converted to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Failed;

use crate::eval::Document;
use crate::play::{Play, text};
use crate::{converted, direct};
use common::python;
use common::trials::Trial;

/// Seeds of sinew's scene, which is quick.
const DIRECT: Range<u64> = 0..400;

const CONVERTED: Range<u64> = 0..80;

pub fn trials() -> Vec<Trial> {
    let direct_seeds = asked(DIRECT, 0..40);
    let converted_seeds = asked(CONVERTED, 0..8);
    vec![
        python::trial(&format!("direct::{direct_seeds:?}"), move |python| {
            let seen = each(python, direct_seeds.clone(), |play, file, _| {
                direct::one(play, file)
            })?;
            match direct_seeds == DIRECT {
                true => covered(&seen),
                false => Ok(()),
            }
        }),
        python::trial(&format!("converted::{converted_seeds:?}"), |python| {
            let run =
                |play: Play<'_>, file: &Path, out: &Path| converted::one(python, play, file, out);
            each(python, converted_seeds, run).map(|_| ())
        }),
    ]
}

/// The seeds that `SINEW_GLTF_SEEDS` asks for, as 7 or 7..90; else all with `tests/run.sh --all`, or the usual ones.
pub fn asked(all: Range<u64>, usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("SINEW_GLTF_SEEDS") else {
        return if common::all() { all } else { usual };
    };
    let (first, end) = text.split_once("..").unwrap_or((&text, ""));
    let number = |t: &str| t.parse::<u64>().ok();
    let first = number(first).expect("SINEW_GLTF_SEEDS: a number");
    first..number(end).unwrap_or(first + 1)
}

/// Writes the files of seeds into a folder, by a script beside this one.
pub fn write(python: &str, script: &str, seeds: &Range<u64>, folder: &Path) -> Result<(), Failed> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gltf");
    let range = [seeds.start, seeds.end].map(|seed| seed.to_string());
    let mut command = Command::new(python);
    let command = command.arg(scripts.join(script)).args(range).arg(folder);
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into()),
    }
}

/// The files of seeds, in a folder.
fn files(python: &str, seeds: &Range<u64>, folder: &Path) -> Result<Vec<PathBuf>, Failed> {
    write(python, "seeds.py", seeds, folder)?;
    let file = |seed| folder.join(format!("seed{seed}.glb"));
    Ok(seeds.clone().map(file).collect())
}

/// How many channels of each interpolation and property files have, and how many meshes with and without a skin.
type Seen = BTreeMap<String, usize>;

fn count(document: &Document, seen: &mut Seen) {
    let mut count = |what: String| *seen.entry(what).or_default() += 1;
    for channel in document.clips.iter().flat_map(|c| &c.channels) {
        let how = channel.interpolation;
        count(format!("{how:?} {:?}", channel.property));
    }
    let nodes = document.shown.iter().map(|n| &document.nodes[*n]);
    for node in nodes.filter(|n| n.mesh.is_some()) {
        count(format!("skinned: {}", node.skin.is_some()));
    }
}

/// Each is there often enough in all seeds.
fn covered(seen: &Seen) -> Result<(), Failed> {
    let is_rare = seen.values().any(|n| *n < 20);
    match (seen.len(), is_rare) {
        (14, false) => Ok(()),
        _ => Err(format!("{seen:?}").into()),
    }
}

/// Every clip of every seed. The files stay where one fails.
fn each(
    python: &str,
    seeds: Range<u64>,
    run: impl Fn(Play<'_>, &Path, &Path) -> Result<(), Failed>,
) -> Result<Seen, Failed> {
    let folder = tempfile::tempdir()?;
    let (mut failures, mut seen) = (Vec::new(), Seen::new());
    for file in files(python, &seeds, folder.path())? {
        let document = Document::open(&file);
        count(&document, &mut seen);
        let result = Play::each(&document, |play| {
            let play = Play {
                whole: true,
                ..play
            };
            run(play, &file, &file.with_extension("usdc"))
        });
        if let Err(e) = result {
            failures.push(format!("{}: {}", file.display(), text(&e)));
        }
    }
    match failures.len() {
        0 => Ok(seen),
        n => {
            failures.truncate(5);
            let (_, first) = (folder.keep(), failures.join("\n"));
            Err(format!("{n} of {seeds:?}:\n{first}").into())
        }
    }
}

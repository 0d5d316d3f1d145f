//! Random glTF files: sinew's scene of them, and usd-core's picture of what they are converted to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use libtest_mimic::Failed;

use crate::eval::Document;
use crate::play::{Play, text};
use crate::random::random;
use crate::{converted, direct};
use common::python;
use common::trials::Trial;

/// Seeds without usd-core, which are quick.
const DIRECT: Range<u64> = 0..400;

const CONVERTED: Range<u64> = 0..80;

pub fn trials() -> Vec<Trial> {
    let direct_seeds = asked(DIRECT, 0..40);
    let converted_seeds = asked(CONVERTED, 0..8);
    vec![
        Trial::test("coverage", coverage),
        Trial::test(format!("direct::{direct_seeds:?}"), || direct(direct_seeds)),
        python::trial(&format!("converted::{converted_seeds:?}"), |python| {
            converted(python, converted_seeds)
        }),
    ]
}

/// The seeds that `SINEW_GLTF_SEEDS` asks for, as 7 or 7..90; else all with `tests/run.sh --all`, or the usual ones.
fn asked(all: Range<u64>, usual: Range<u64>) -> Range<u64> {
    let Ok(text) = std::env::var("SINEW_GLTF_SEEDS") else {
        return if common::all() { all } else { usual };
    };
    let (first, end) = text.split_once("..").unwrap_or((&text, ""));
    let number = |t: &str| t.parse::<u64>().ok();
    let first = number(first).expect("SINEW_GLTF_SEEDS: a number");
    first..number(end).unwrap_or(first + 1)
}

/// Every interpolation of every property is in so many clips of all seeds.
fn coverage() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in DIRECT {
        let document = Document::open(&random(seed, folder.path().join("seed.glb")));
        let mut count = |what: String| *seen.entry(what).or_default() += 1;
        for channel in document.clips.iter().flat_map(|c| &c.channels) {
            count(format!(
                "{:?} {:?}",
                channel.interpolation, channel.property
            ));
        }
        let nodes = document.shown.iter().map(|n| &document.nodes[*n]);
        for node in nodes.filter(|n| n.mesh.is_some()) {
            let how = if node.skin.is_some() {
                "skinned"
            } else {
                "rigid"
            };
            count(how.to_owned());
        }
    }
    let is_rare = seen.values().any(|n| *n < 20);
    match (seen.len(), is_rare) {
        (14, false) => Ok(()),
        _ => Err(format!("{seen:?}").into()),
    }
}

fn direct(seeds: Range<u64>) -> Result<(), Failed> {
    each(seeds, "direct", |play, file, _| direct::one(play, file))
}

fn converted(python: &str, seeds: Range<u64>) -> Result<(), Failed> {
    each(seeds, "converted", |play, file, out| {
        converted::one(python, play, file, out)
    })
}

/// Every clip of every seed. The files of those that fail stay.
fn each(
    seeds: Range<u64>,
    name: &str,
    run: impl Fn(Play<'_>, &Path, &Path) -> Result<(), Failed>,
) -> Result<(), Failed> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("gltf_seeds_{name}"));
    std::fs::create_dir_all(&folder)?;
    let mut failures = Vec::new();
    for seed in seeds.clone() {
        let file = random(seed, folder.join(format!("seed{seed}.glb")));
        let out = folder.join(format!("seed{seed}.usdc"));
        let result = Play::each(&Document::open(&file), |play| {
            let play = Play {
                whole: true,
                ..play
            };
            run(play, &file, &out)
        });
        match result {
            Ok(()) => {
                std::fs::remove_file(&file)?;
                std::fs::remove_file(&out).ok();
            }
            Err(e) => failures.push(format!("seed {seed}: {}", text(&e))),
        }
    }
    match failures.len() {
        0 => Ok(()),
        n => {
            failures.truncate(5);
            let (folder, first) = (folder.display(), failures.join("\n"));
            Err(format!("{n} of {seeds:?}; their files are in {folder}\n{first}").into())
        }
    }
}

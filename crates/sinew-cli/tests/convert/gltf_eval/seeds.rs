//! Random glTF files: sinew's scene of them, and usd-core's picture of what they are converted to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

use crate::gltf_eval::play::Play;
use crate::gltf_eval::random::random;
use crate::gltf_eval::{converted, direct};
use common::gltf_eval::Document;

/// Seeds without usd-core, which are quick.
pub const DIRECT: Range<u64> = 0..400;

pub const CONVERTED: Range<u64> = 0..80;

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

/// Every interpolation of every property is in so many clips of the usual seeds.
pub fn coverage() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in DIRECT {
        let document = Document::open(&random(seed).write(folder.path(), "seed.glb"));
        let mut count = |what: String| *seen.entry(what).or_default() += 1;
        for channel in document.clips.iter().flat_map(|c| &c.channels) {
            count(format!(
                "{:?} {:?}",
                channel.interpolation, channel.property
            ));
        }
        for node in document
            .shown
            .iter()
            .map(|n| &document.nodes[*n])
            .filter(|n| n.mesh.is_some())
        {
            count(
                if node.skin.is_some() {
                    "skinned"
                } else {
                    "rigid"
                }
                .to_owned(),
            );
        }
    }
    let rare: Vec<_> = seen.iter().filter(|(_, n)| **n < 20).collect();
    match (seen.len(), rare.is_empty()) {
        (14, true) => Ok(()),
        _ => Err(format!("{seen:?}").into()),
    }
}

pub fn direct(seeds: Range<u64>) -> Result<(), Failed> {
    each(seeds, "direct", |play, file, _| direct::one(play, file))
}

pub fn converted(python: &str, seeds: Range<u64>) -> Result<(), Failed> {
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
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("gltf_seeds_{name}"));
    std::fs::create_dir_all(&folder)?;
    let mut failures = Vec::new();
    for seed in seeds.clone() {
        let file = random(seed).write(&folder, &format!("seed{seed}.glb"));
        let document = Document::open(&file);
        let out = folder.join(format!("seed{seed}.usdc"));
        let plays = Play::all(&document).into_iter();
        let result = plays
            .map(|play| Play {
                whole: true,
                ..play
            })
            .try_for_each(|play| {
                run(play, &file, &out)
                    .map_err(|e| format!("{}: {}", play.name(), e.message().unwrap_or_default()))
            });
        match result {
            Ok(()) => {
                std::fs::remove_file(&file)?;
                std::fs::remove_file(&out).ok();
            }
            Err(e) => failures.push(format!("seed {seed}: {e}")),
        }
    }
    match failures.len() {
        0 => Ok(()),
        n => {
            let first: Vec<String> = failures.into_iter().take(5).collect();
            Err(format!(
                "{n} of {seeds:?}; their files are in {}\n{}",
                folder.display(),
                first.join("\n")
            )
            .into())
        }
    }
}

//! Every clip of real characters, against bakes of their files.

use std::path::{Path, PathBuf};

use common::trials::Trial;
use sinew_character::{Character, Error};

use crate::clips::compare;
use crate::skinner;

/// Folders with characters.
const FOLDERS: [&str; 6] = [
    "gltf",
    "blender",
    "vrm",
    "kaykit_char/res",
    "usd-wg-assets",
    "maya-usd",
];

const KINDS: [&str; 6] = ["glb", "gltf", "vrm", "usdz", "usdc", "usda"];

pub fn trials() -> Vec<Trial> {
    let Some(assets) = std::env::var_os("SINEW_ASSETS") else {
        let trial = Trial::test("files_play", || Ok(())).with_ignored_flag(true);
        return vec![trial.with_kind("needs SINEW_ASSETS")];
    };
    let assets = PathBuf::from(assets);
    let mut files = Vec::new();
    let mut trials = Vec::new();
    for folder in FOLDERS {
        let mut found = files_of(&assets.join(folder));
        let count = found.len();
        files.append(&mut found);
        let name = format!("files_are_in_{}", folder.replace('/', "_"));
        trials.push(Trial::test(name, move || match count {
            0 => Err(format!("no character in {folder} of SINEW_ASSETS").into()),
            _ => Ok(()),
        }));
    }
    let no_gpu = common::gpu::ignored();
    trials.extend(files.into_iter().map(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let trial = Trial::test(format!("file_plays_{name}"), move || {
            plays(&file);
            Ok(())
        });
        trial.with_ignored_flag(no_gpu)
    }));
    trials
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut out: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    out.retain(|f| f.is_file() && KINDS.iter().any(|k| f.extension() == Some(k.as_ref())));
    out.sort();
    out
}

fn plays(file: &Path) {
    let skinner = skinner();
    let mut hero = match Character::load(&skinner, file) {
        Err(Error::NoCharacter { .. }) => return,
        other => other.unwrap(),
    };
    let mut crowd = skinner.crowd();
    let names: Vec<String> = hero.clips().iter().map(|c| c.name().to_owned()).collect();
    for name in names {
        let begun = std::time::Instant::now();
        compare(&mut hero, &mut crowd, file, &name);
        eprintln!("{} {name}: {:?}", file.display(), begun.elapsed());
    }
}

//! Every clip of real characters, against bakes of their files.

use std::path::{Path, PathBuf};

use common::trials::Trial;
use sinew_character::{Character, CharacterOptions, Error};
use sinew_io::{ClipChoice, OpenOptions};

use crate::clips::compare;
use crate::skinner;

/// Folders of SINEW_ASSETS with characters, and whether everybody can fetch their files.
const FOLDERS: [(&str, bool); 9] = [
    ("gltf", true),
    ("gltf/roundtrip", true),
    ("gltf/simple_morph", true),
    ("blender", false),
    ("vrm", true),
    ("kaykit_char/res/anim", true),
    ("kaykit_char/res/models/mannequin_v2", true),
    ("usd-wg-assets", true),
    ("maya-usd", true),
];

const KINDS: [&str; 6] = ["glb", "gltf", "vrm", "usdz", "usdc", "usda"];

/// The files in them without a mesh that a skeleton moves: clips alone, prims that move by
/// themselves, or a mesh without points at the default time.
const NONE: [&str; 7] = [
    "01_cs_rotate.gltf",
    "01_cs_scale.gltf",
    "01_cs_translate.gltf",
    "BoxAnimated.glb",
    "Med_MovementBasic.glb",
    "interpolation_test.gltf",
    "skelStaticTimeSampledMesh.usda",
];

pub fn trials() -> Vec<Trial> {
    let Some(assets) = std::env::var_os("SINEW_ASSETS") else {
        let trial = Trial::test("files_play", || Ok(())).with_ignored_flag(true);
        return vec![trial.with_kind("needs SINEW_ASSETS")];
    };
    let assets = PathBuf::from(assets);
    let no_gpu = common::gpu::ignored();
    let mut trials = Vec::new();
    for (folder, is_public) in FOLDERS {
        let files = files_of(&assets.join(folder));
        let is_empty = files.is_empty();
        let there = Trial::test(format!("files_are_in_{folder}"), move || match is_empty {
            true => Err("no file of a character".into()),
            false => Ok(()),
        });
        trials.push(match is_empty && !is_public {
            true => there
                .with_kind("files are not public")
                .with_ignored_flag(true),
            false => there,
        });
        trials.extend(files.into_iter().map(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let trial = Trial::test(format!("file_plays_{name}"), move || {
                plays(&file);
                Ok(())
            });
            trial.with_ignored_flag(no_gpu)
        }));
    }
    trials
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut out: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    out.retain(|f| f.is_file() && KINDS.iter().any(|k| f.extension() == Some(k.as_ref())));
    out.sort();
    out
}

fn plays(path: &Path) {
    let options = OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    };
    let file = sinew_io::open_with(path, &options).unwrap();
    let skinner = skinner();
    let hero = Character::from_file(&skinner, &file, &CharacterOptions::default());
    let mut hero = match hero {
        Err(Error::NoCharacter { left_out, .. }) => {
            let is_known = path
                .file_name()
                .is_some_and(|name| NONE.iter().any(|n| name == *n));
            assert!(is_known, "no character: {left_out:?}");
            return;
        }
        other => other.unwrap(),
    };
    assert!(hero.meshes().count() > 0);
    let scene = file.scene(Default::default()).unwrap();
    let clips = file.scene_clips(&scene).unwrap();
    let names: Vec<&str> = hero.clips().iter().map(|c| c.name()).collect();
    let expected: Vec<&str> = clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, expected, "{:?}", hero.left_out());
    let mut crowd = skinner.crowd();
    for clip in &clips {
        compare(&mut hero, &mut crowd, path, &clip.name);
    }
}

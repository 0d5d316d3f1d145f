//! The files that are tested: our own fixtures, and real ones.

use std::path::{Path, PathBuf};

use crate::fixtures;

pub struct Subject {
    /// As its trials are called.
    pub name: String,
    pub file: PathBuf,
    pub is_asset: bool,
}

/// Real files that have to be there: they show as ignored without assets, and a broken search would lose them.
const MUST_BE_THERE: &[&str] = &[
    "gltf/Fox.glb",
    "gltf/interpolation_test.gltf",
    "gltf/MorphStressTest.gltf",
    "gltf/roundtrip/03_skinned_cylinder.gltf",
    "kaykit_char/res/anim/Med_MovementBasic.glb",
    "kaykit_char/res/models/mannequin_v2/manny_med_mod.gltf",
    "vrm/smoke_spring.vrm",
    "blender/rig_dense.glb",
];

/// Folders of SINEW_ASSETS and the endings of what is tested there.
const FOLDERS: [(&str, &[&str]); 4] = [
    ("gltf", &["gltf", "glb"]),
    ("kaykit_char", &["gltf", "glb"]),
    ("vrm", &["vrm"]),
    ("blender", &["glb"]),
];

/// Writes the fixtures and finds the real files.
pub fn all(assets: Option<&Path>) -> Vec<Subject> {
    let mut out: Vec<Subject> = fixtures::written()
        .into_iter()
        .map(|(name, file)| Subject {
            name: format!("own::{name}"),
            file,
            is_asset: false,
        })
        .collect();
    let mut add = |name: String, file: PathBuf| {
        out.push(Subject {
            name,
            file,
            is_asset: true,
        });
    };
    let Some(assets) = assets else {
        for name in MUST_BE_THERE {
            add((*name).to_owned(), PathBuf::new());
        }
        return out;
    };
    let mut names = Vec::new();
    for (folder, endings) in FOLDERS {
        for file in files(&assets.join(folder), endings) {
            let name = file
                .strip_prefix(assets)
                .expect("below it")
                .display()
                .to_string();
            names.push(name.clone());
            add(name, file);
        }
    }
    for must in MUST_BE_THERE {
        assert!(
            names.iter().any(|n| n == must),
            "{must} is not in SINEW_ASSETS"
        );
    }
    out
}

fn files(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("SINEW_ASSETS: {}: {e}", folder.display()));
        for entry in entries {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|e| endings.iter().any(|k| e == *k))
            {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

//! The files that are tested: our own fixtures, and real ones.

use std::path::{Path, PathBuf};

use crate::fixtures;
use common::files::files_of;

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
        for file in files_of(&assets.join(folder), endings) {
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

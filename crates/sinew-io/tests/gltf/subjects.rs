//! The files that are tested: our own, and real ones.

use std::path::{Path, PathBuf};

use common::files::{files_of, missing};

pub struct Subject {
    /// As its trials are called.
    pub name: String,
    pub file: PathBuf,
    /// Why its trials are ignored.
    pub missing: Option<&'static str>,
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

/// Files that hold more than characters: materials with textures and extensions, cameras, lights, several scenes, extras.
const RICHER: [&str; 6] = [
    "materials.gltf",
    "cameras_lights.gltf",
    "extras.gltf",
    "scenes.gltf",
    "eight_influences.gltf",
    "body_and_cape.gltf",
];

/// How many files of our own there are.
const FIXTURES: usize = 36 + 6;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gltf/files")
}

/// A file of `files`.
pub fn fixture(name: &str) -> PathBuf {
    folder().join(name)
}

/// Those of the files that hold more than characters.
pub fn richer() -> Vec<(&'static str, PathBuf)> {
    RICHER.map(|name| (name, fixture(name))).into()
}

impl Subject {
    /// Whether a trial is for this file.
    pub fn takes(&self, trial: &str) -> bool {
        match self.name.strip_prefix("own::") {
            // They are there for what a character does not have.
            Some(name) if RICHER.contains(&name) => trial == "round_trip",
            // They are there for how sinew converts them.
            Some(name) if name.starts_with("assets::") => {
                trial != "round_trip" && trial != "in_three" && trial != "in_blender"
            }
            // Many hold more than Blender's bones can.
            own => trial != "in_blender" || own.is_none() && !self.name.ends_with(".vrm"),
        }
    }
}

/// All files of our own, and the real ones.
pub fn all(assets: Option<&Path>) -> Vec<Subject> {
    let mut out = Vec::new();
    let folders = [
        (folder(), "own"),
        (common::fixture("assets"), "own::assets"),
    ];
    for (folder, of) in folders {
        for file in files_of(&folder, &["gltf"]) {
            let name = file.file_name().unwrap_or_default().display();
            out.push(Subject {
                name: format!("{of}::{name}"),
                file,
                missing: None,
            });
        }
    }
    assert_eq!(out.len(), FIXTURES, "a file of our own is lost");
    for (folder, endings) in FOLDERS {
        let Some(assets) = assets.filter(|a| a.join(folder).exists()) else {
            continue;
        };
        for file in files_of(&assets.join(folder), endings) {
            let name = file.strip_prefix(assets).expect("below it");
            out.push(Subject {
                name: name.display().to_string(),
                file,
                missing: None,
            });
        }
    }
    for must in MUST_BE_THERE {
        if out.iter().any(|s| s.name == *must) {
            continue;
        }
        let reason = missing(assets, must);
        assert!(reason.is_some(), "{must} is not in SINEW_ASSETS");
        out.push(Subject {
            name: (*must).to_owned(),
            file: PathBuf::new(),
            missing: reason,
        });
    }
    out
}

/// Rows of a table: columns with two spaces or more between them. Lines that begin with # say something about it.
pub fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = table.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let columns = line.split("  ").map(str::trim);
        columns.filter(|column| !column.is_empty()).collect()
    })
}

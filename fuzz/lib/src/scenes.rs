//! Characters: what skinning, rendering and checking read of a stage.

use std::fs;

use sinew::sampled::Time;
use sinew_check::CheckOptions;
use sinew_io::usd::UsdFile;

use crate::stages;

/// Opens the layers of the input as files, and reads the characters of the stage.
pub fn scene(input: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in stages::split(input) {
        let plain = !name.contains(['/', '\\', '\0']) && name.len() < 200;
        if plain && !name.is_empty() && name != "." && name != ".." {
            fs::write(folder.path().join(name), bytes).expect("a file");
        }
    }
    if let Ok(file) = UsdFile::open(folder.path().join("root.usda")) {
        read(&file);
    }
}

/// Reads everything of an open file, and checks it.
pub(crate) fn read(file: &UsdFile) {
    let _ = file.authored();
    if let Ok(scene) = file.scene(Default::default()) {
        for skeleton in sinew_io::skeletons(&scene) {
            let _ = sinew_io::placement(&scene, skeleton, Time::At(1.0));
        }
        let _ = file.geometry(&scene);
    }
    let _ = sinew_check::check(file, &CheckOptions::default());
}

//! What glTF, VRM, BVH and FBX files can repeat or nest costs in proportion: `growth.txt`.

#[path = "../../../tests/common/growth.rs"]
mod growth;

use std::hint::black_box;

use growth::{Files, Growth};
use sinew_io::gltf::{GltfOptions, write_asset};
use sinew_io::usd::{AssetOptions, UsdFile};
use sinew_io::{ClipChoice, OpenOptions, read_asset};

/// Opens, checks and converts the file `root`: into glTF as it is read, into USD, and into glTF again from the stage.
fn exercise(files: &Files) -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text)?;
    }
    let asset = read_asset(folder.path().join(&files[0].0))?.ok_or("no USD file")?;
    let options = OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    };
    let file = UsdFile::from_asset(&asset, &options)?;
    write_asset(
        asset,
        &folder.path().join("read.glb"),
        &GltfOptions::default(),
    )?;
    black_box(sinew_check::check(&file, &Default::default())?);
    let scene = file.scene(Default::default())?;
    file.save_as(folder.path().join("out.usdc"))?;
    let asset = file.to_asset(&scene, &AssetOptions::default())?;
    write_asset(
        asset,
        &folder.path().join("out.glb"),
        &GltfOptions::default(),
    )?;
    Ok(())
}

#[test]
fn time_and_memory_grow_with_what_files_hold() {
    let table = include_str!("growth.txt");
    let table = match cfg!(feature = "fbx") {
        true => table,
        false => table
            .split("\n## nodes of an FBX")
            .next()
            .unwrap_or_default(),
    };
    let growth = Growth {
        table,
        exercise: &|files, _| exercise(files),
        most_refused: 1 << 30,
    };
    growth.check();
}

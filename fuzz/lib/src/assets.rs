//! Files of other formats: glTF, VRM, BVH, FBX.

use std::fs;
use std::path::Path;

use sinew_animate::asset::Asset;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_io::usd::UsdFile;
use sinew_io::{OpenOptions, bvh};

use crate::scenes;

/// Reads a .glb or .gltf file, and makes a stage of it.
pub fn gltf(input: &[u8]) {
    // Its folder is empty, so that no file on disk can be named.
    if let Ok(asset) = sinew_io::gltf::read_bytes(input, Path::new("/nowhere/input.glb")) {
        convert(asset);
    }
}

/// As [`gltf`], for files with a humanoid: its bones, its expressions and its clips on a reference skeleton.
pub fn vrm(input: &[u8]) {
    let Ok(asset) = sinew_io::gltf::read_bytes(input, Path::new("/nowhere/input.vrm")) else {
        return;
    };
    let _ = sinew_animate::humanoid::bones_by_name(&asset);
    let reference = sinew_animate::humanoid::reference_asset();
    if let Some(clip) = asset.clips.first() {
        let options = sinew_animate::humanoid::ApplyOptions::default();
        let _ = sinew_animate::humanoid::apply(&reference, &asset, clip, &options);
    }
    if let Some(clip) = reference.clips.first() {
        let options = sinew_animate::humanoid::ApplyOptions::default();
        let _ = sinew_animate::humanoid::apply(&asset, &reference, clip, &options);
    }
    convert(asset);
}

/// Reads a BVH file, and makes a stage of it.
pub fn bvh(input: &[u8]) {
    if let Some(asset) = on_disk(input, "input.bvh", |file| bvh::read(file).ok()) {
        convert(asset);
    }
}

/// Reads an FBX file, and makes a stage of it.
#[cfg(feature = "fbx")]
pub fn fbx(input: &[u8]) {
    if let Some(asset) = on_disk(input, "input.fbx", |file| sinew_io::fbx::read(file).ok()) {
        convert(asset);
    }
}

/// What `read` makes of the input as a file.
pub(crate) fn on_disk<T>(input: &[u8], name: &str, read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    fs::write(&file, input).expect("a file");
    read(&file)
}

/// Makes a stage as `sinew convert` does, and reads it.
fn convert(asset: Asset) {
    if let Ok(stage) = UsdFile::from_asset(&on_own_skeleton(asset), &OpenOptions::default()) {
        scenes::read(&stage);
    }
}

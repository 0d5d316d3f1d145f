//! Whole files: VRM, assets written as USD, and real files where `SINEW_ASSETS` names their folder.

mod from_asset;
#[path = "../formats/gltf_malformed/memory.rs"]
mod memory;
mod real;
#[path = "../formats/gltf_malformed/scrambling.rs"]
mod scrambling;
mod vrm;

fn main() {
    common::trials::run([
        ("from_asset", from_asset::trials()),
        ("real_files", real::trials()),
        ("vrm", vrm::trials()),
    ])
}

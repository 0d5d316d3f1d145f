//! Whole files: assets written as USD, and real files where `SINEW_ASSETS` names their folder.

mod from_asset;
#[path = "../formats/gltf_broken/memory.rs"]
mod memory;
mod real;
#[path = "../formats/gltf_broken/scrambling.rs"]
mod scrambling;

fn main() {
    common::trials::run([
        ("from_asset", from_asset::trials()),
        ("real_files", real::trials()),
    ])
}

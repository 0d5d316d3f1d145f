//! What the command converts and retargets, against usd-core and evaluators of our own.

mod animate;
mod bvh_fbx;
mod clips;
mod gltf_written;
mod retarget;

fn main() {
    common::trials::run([
        ("animate", animate::trials()),
        ("clips", clips::trials()),
        ("convert_bvh_fbx", bvh_fbx::trials()),
        ("gltf_written", gltf_written::trials()),
        ("retarget_files", retarget::trials()),
    ])
}

//! What the command converts and retargets, against usd-core and evaluators of our own.

mod animate;
mod bvh_fbx;
mod clips;
mod gltf_eval;
mod gltf_out;
mod real_humanoid;
mod retarget;

fn main() {
    common::trials::run([
        ("animate", animate::trials()),
        ("clips", clips::trials()),
        ("convert_bvh_fbx", bvh_fbx::trials()),
        ("gltf_eval", gltf_eval::trials()),
        ("gltf_out", gltf_out::trials()),
        ("real_files", real_humanoid::trials()),
        ("retarget_files", retarget::trials()),
    ])
}

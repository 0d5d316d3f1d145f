//! glTF files of our own, for what a reader and a converter can get wrong. No asset is needed for them.

mod curves;
mod layouts;
mod oddities;
mod skeletons;

use std::path::{Path, PathBuf};

use common::gltf_eval::Document;
use common::gltf_maker::GltfMaker;

/// A fixture: its name, which is the file's too, and what makes it.
struct Fixture {
    file: &'static str,
    make: fn() -> GltfMaker,
}

const ALL: &[Fixture] = &[
    fixture("every_curve.glb", curves::every_curve),
    fixture("several_clips.glb", curves::several_clips),
    fixture("pointers.gltf", curves::pointers),
    fixture("late_start.glb", curves::late_start),
    fixture("two_skins.glb", skeletons::two_skins),
    fixture("two_characters.glb", skeletons::two_characters),
    fixture("centimetres.glb", skeletons::centimetres),
    fixture("moving_ancestors.glb", skeletons::moving_ancestors),
    fixture("fillers.gltf", skeletons::fillers),
    fixture("names.glb", skeletons::names),
    fixture("scales.glb", skeletons::scales),
    fixture("sheared_rest.glb", skeletons::sheared_rest),
    fixture("mirrored.glb", skeletons::mirrored),
    fixture("children_first.glb", skeletons::children_first),
    fixture("no_inverse_bind.glb", skeletons::no_inverse_bind),
    fixture("rigid_parts.glb", skeletons::rigid_parts),
    fixture("mesh_below_joint.glb", skeletons::mesh_below_joint),
    fixture("two_bind_poses.glb", oddities::two_bind_poses),
    fixture("unused_joints.glb", oddities::unused_joints),
    fixture("shared_faces.glb", oddities::shared_faces),
    fixture("joints_with_meshes.glb", oddities::joints_with_meshes),
    fixture("no_common_root.glb", oddities::no_common_root),
    fixture("hidden_by_scale.glb", oddities::hidden_by_scale),
    fixture("sizes.glb", oddities::sizes),
    fixture("joint_sets.glb", layouts::joint_sets),
    fixture("loose_weights.glb", layouts::loose_weights),
    fixture("sparse_morphs.glb", layouts::sparse_morphs),
    fixture("quantized.glb", layouts::quantized),
    fixture("node_weights.glb", layouts::node_weights),
    fixture("primitives.gltf", layouts::primitives),
];

const fn fixture(file: &'static str, make: fn() -> GltfMaker) -> Fixture {
    Fixture { file, make }
}

/// Writes them all: their names and where they are.
pub fn written() -> Vec<(&'static str, PathBuf)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("gltf_fixtures");
    std::fs::create_dir_all(&folder).expect("a folder");
    let write = |f: &Fixture| {
        let path = (f.make)().write(&folder, f.file);
        let shows = !Document::open(&path).surfaces(&[], 0.0).is_empty();
        assert!(shows, "{} shows nothing", f.file);
        (f.file, path)
    };
    ALL.iter().map(write).collect()
}

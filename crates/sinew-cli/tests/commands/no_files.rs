//! The model and the GPU part without any file: the same bits as from files, and a crate that takes them alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use common::command::{stderr, stdout};
use glam::{DMat4, Vec3};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::sampled::Time;
use sinew::scene::{BoundSkin, Scene};
use sinew::skel::{
    BlendShape, BlendShapeDef, InbetweenDef, InfluenceInterpolation, Pose, Skeleton, SkinBuilder,
};

fn asset(name: &str) -> PathBuf {
    let folder = common::repository().join("examples/assets");
    folder.join(name)
}

/// The Skeleton of a file, from arrays.
fn skeleton(read: &Skeleton) -> Skeleton {
    let parents = read.topology().parents();
    let parents: Vec<Option<u32>> = parents.map(|p| p.map(|p| p as u32)).collect();
    let rest = read.rest().map(<[DMat4]>::to_vec);
    let joints = read.joints().to_vec();
    Skeleton::from_parents("Arrays", joints, &parents, read.bind().to_vec(), rest).unwrap()
}

fn shape(read: &BlendShape) -> BlendShapeDef {
    let name = read.path().rsplit('/').next().unwrap();
    let (primary, inbetweens) = {
        let all = read.sub_shapes().iter();
        let (primary, others): (Vec<_>, Vec<_>) = all.partition(|s| s.weight == 1.0);
        (primary[0], others)
    };
    let inbetween = |(i, s): (usize, &&sinew::skel::SubShape)| InbetweenDef {
        name: format!("between{i}"),
        weight: s.weight,
        offsets: s.offsets.clone(),
        normal_offsets: s.normal_offsets.clone(),
    };
    BlendShapeDef {
        name: name.to_owned(),
        point_indices: read.point_indices().map(<[u32]>::to_vec),
        offsets: primary.offsets.clone(),
        normal_offsets: primary.normal_offsets.clone(),
        inbetweens: inbetweens.iter().enumerate().map(inbetween).collect(),
    }
}

/// The skin of a file at a time, from its arrays.
fn builder(bound: BoundSkin<'_>, time: Time) -> SkinBuilder {
    let binding = bound.binding();
    let points = binding
        .points
        .at(time)
        .or(binding.points.at(Time::Default))
        .unwrap();
    let mut builder = SkinBuilder::new("Arrays", points).method(binding.method);
    if let Some(normals) = binding.normals.first() {
        let values = normals.values.at(time).unwrap();
        builder = match &normals.corners {
            None => builder.normals(values),
            Some(corners) => {
                let corners = corners.at(time).unwrap();
                let points: Vec<u32> = corners.iter().map(|c| *c as u32).collect();
                builder.corner_normals(values, points)
            }
        };
    }
    if let Some(influences) = &binding.influences {
        let joints = influences.indices.at(time).unwrap();
        let joints: Vec<u32> = joints.iter().map(|j| *j as u32).collect();
        let weights = influences.weights.at(time).unwrap();
        builder = match influences.interpolation {
            InfluenceInterpolation::Vertex => {
                builder.influences(influences.count, &joints, &weights)
            }
            InfluenceInterpolation::Constant => {
                let all = joints.iter().copied().zip(weights.iter().copied());
                builder.constant_influences(&all.collect::<Vec<_>>())
            }
        };
    }
    if let Some(order) = &binding.joints {
        builder = builder.joint_order(order.clone());
    }
    for channel in &binding.shapes {
        let read = channel.shape.as_ref().unwrap().as_ref().unwrap();
        builder = builder.shape(shape(read));
    }
    builder
}

fn bits(points: &[Vec3]) -> Vec<[u32; 3]> {
    points
        .iter()
        .map(|p| p.to_array().map(f32::to_bits))
        .collect()
}

/// Every prim of a file at a time, read and built, comes out the same to the bit.
fn compare(scene: &Scene, time: Time, covered: &mut [bool; 3]) {
    for bound in scene.bound_skins() {
        let path = &bound.binding().path;
        let instance = &bound.skeleton().instance;
        let read = bound.skin(time).unwrap();
        let skeleton = skeleton(instance.skeleton());
        let built = builder(bound, time).build(&skeleton).unwrap();

        let local = instance.joint_local_transforms(time).unwrap();
        let read_pose = bound.pose(time).unwrap();
        let pose = Pose::from_local(&skeleton, &local)
            .unwrap()
            .with_geom_bind(read_pose.geom_bind)
            .with_out_from_skel(read_pose.out_from_skel)
            .with_weights(read_pose.channel_weights.clone());
        let skin_of = |skin| {
            let packed = PackedSkin::pack("Prim", skin).unwrap();
            // A prim that only blends has no normals of its own here where nothing moves them.
            (packed.output_count(), packed.output_normal_count(), packed)
        };
        let (count, normal_count, read) = skin_of(&*read);
        let (built_count, built_normals, built) = skin_of(&built);
        assert_eq!(
            (count, normal_count),
            (built_count, built_normals),
            "{path}"
        );
        let skin = |skin: &PackedSkin, pose: &PackedPose| {
            let mut points = vec![Vec3::ZERO; count];
            let mut normals = vec![Vec3::ZERO; normal_count];
            let wanted = (normal_count > 0).then_some(&mut normals[..]);
            skin_on_cpu(skin, pose, &mut points, wanted).unwrap();
            (bits(&points), bits(&normals))
        };
        let from_file = skin(&read, &PackedPose::pack(&read, &read_pose).unwrap());
        let from_arrays = skin(&built, &PackedPose::pack(&built, &pose).unwrap());
        assert_eq!(from_file, from_arrays, "{path}");
        covered[0] |= normal_count > 0 && built.normal_points().is_none();
        covered[1] |= bound.binding().is_rigid();
        covered[2] |= pose.channel_weights.iter().any(|w| *w != 0.0);
    }
}

#[test]
fn arrays_give_the_same_bits_as_files() {
    let mut covered = [false; 3];
    for name in ["hatchling.usda", "puppet.glb"] {
        let scene = sinew_io::open(asset(name))
            .unwrap()
            .scene(Default::default())
            .unwrap();
        assert!(!scene.bindings.is_empty());
        for time in [1.0, 17.5, 40.0, 71.25] {
            compare(&scene, Time::At(time), &mut covered);
        }
    }
    let [normals, rigid, blended] = covered;
    assert!(normals && rigid && blended, "{covered:?}");
}

/// A crate of its own beside the repository's: its tree has neither what reads files nor clap, and it skins.
#[test]
fn a_renderer_takes_the_model_and_the_gpu_alone() {
    let root = common::repository().canonicalize().unwrap();
    let target = Path::new(env!("CARGO_BIN_EXE_sinew"))
        .ancestors()
        .nth(2)
        .unwrap();
    let folder = target.join("renderer_only");
    std::fs::create_dir_all(&folder).unwrap();
    let manifest = format!(
        "[package]\nname = \"renderer_only\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
         [[bin]]\nname = \"renderer_only\"\npath = {program:?}\n\
         [dependencies]\nglam = \"0.34\"\npollster = \"1.0\"\n\
         sinew = {{ path = {root:?} }}\n\
         [workspace]\n",
        program = root.join("crates/sinew-cli/tests/commands/renderer_only/program.rs"),
    );
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The same versions, so that nothing has to be fetched.
    std::fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let cargo = |args: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(args)
            .arg("--offline")
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", folder.join("target"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "cargo {args:?}: {}",
            stderr(&output)
        );
        (stdout(&output), stderr(&output))
    };
    let (tree, _) = cargo(&["tree", "--prefix", "none", "--edges", "normal,build"]);
    let names: Vec<&str> = tree.lines().filter_map(|l| l.split(' ').next()).collect();
    for there in ["sinew", "wgpu", "glam"] {
        assert!(names.contains(&there), "{tree}");
    }
    for absent in [
        "sinew-layer",
        "sinew-stage",
        "clap",
        "image",
        "indicatif",
        "serde_json",
        "tempfile",
    ] {
        assert!(!names.contains(&absent), "{absent} is in the tree");
    }
    // The rust-version of what reads files does not hold a renderer up, so it needs no flag that says so.
    let (said, built) = cargo(&["run"]);
    assert!(!built.contains("warning"), "{built}");
    assert!(said.contains("vertices 32"), "{said}");
    assert!(common::gpu::ignored() || said.contains("gpu "), "{said}");
}

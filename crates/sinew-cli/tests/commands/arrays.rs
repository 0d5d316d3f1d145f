//! Skins that are built from plain arrays deform to the same bits as those of files.

use glam::{DMat4, Vec3};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::sampled::Time;
use sinew::scene::BoundSkin;
use sinew::skel::{
    BlendShape, BlendShapeDef, InbetweenDef, InfluenceInterpolation, Pose, Skeleton, SkinBuilder,
};

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
        let read = channel.shape.as_ref().unwrap();
        builder = builder.shape(shape(read));
    }
    builder
}

/// Bits of the deformed points and normals.
fn deformed(skin: &PackedSkin, pose: &Pose) -> [Vec<[u32; 3]>; 2] {
    let pose = PackedPose::pack(skin, pose).unwrap();
    let mut points = vec![Vec3::ZERO; skin.output_count()];
    let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
    let wanted = (!normals.is_empty()).then_some(&mut normals[..]);
    skin_on_cpu(skin, &pose, &mut points, wanted).unwrap();
    let bits = |v: &Vec3| v.to_array().map(f32::to_bits);
    [points, normals].map(|vectors| vectors.iter().map(bits).collect())
}

#[test]
fn arrays_give_the_same_bits_as_files() {
    let mut covered = [false; 3];
    for name in ["hatchling.usda", "puppet.glb"] {
        let file = common::repository().join("examples/assets").join(name);
        let file = sinew_io::open(file).unwrap();
        let scene = file.scene(Default::default()).unwrap();
        for (bound, time) in scene
            .bound_skins()
            .flat_map(|bound| [1.0, 17.5, 40.0, 71.25].map(|time| (bound, Time::At(time))))
        {
            let instance = &bound.skeleton().instance;
            let skeleton = skeleton(instance.skeleton());
            let [read, built] = [
                PackedSkin::pack("Prim", &bound.skin(time).unwrap()),
                PackedSkin::pack("Prim", &builder(bound, time).build(&skeleton).unwrap()),
            ]
            .map(Result::unwrap);
            let local = instance.joint_local_transforms(time).unwrap();
            let read_pose = bound.pose(time).unwrap();
            let pose = Pose::from_local(&skeleton, &local)
                .unwrap()
                .with_geom_bind(read_pose.geom_bind)
                .with_out_from_skel(read_pose.out_from_skel)
                .with_weights(read_pose.channel_weights.clone());
            let from_file = deformed(&read, &read_pose);
            assert!(!from_file[0].is_empty());
            let path = &bound.binding().path;
            assert_eq!(from_file, deformed(&built, &pose), "{path}");
            covered[0] |= !from_file[1].is_empty() && built.normal_points().is_none();
            covered[1] |= bound.binding().is_rigid();
            covered[2] |= pose.channel_weights.iter().any(|w| *w != 0.0);
        }
    }
    assert_eq!(covered, [true; 3], "normals, rigid prims, blend shapes");
}

//! A program that takes the model and the GPU part alone: a bending arm out of plain arrays, skinned on a device of its
//! own and on the CPU. Built by no_files.rs as a crate of its own.

use std::sync::Arc;

use sinew::gpu::{Skinner, SkinnerOptions, needed_limits};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::mesh::RenderVertices;
use sinew::skel::{BlendShapeDef, MeshTopology, Pose, Skeleton, SkinBuilder};
use sinew::wgpu;

use glam::{DMat4, DVec3, Vec3};

const RINGS: u32 = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names = ["Shoulder", "Elbow"].map(String::from).to_vec();
    let elbow = DMat4::from_translation(DVec3::X * 4.0);
    let skeleton = Skeleton::from_parents("Arm", names, &[None, Some(0)], vec![DMat4::IDENTITY, elbow], None)?;

    // A strip of quads along x, whose points follow the elbow more and more.
    let points: Vec<Vec3> = (0..RINGS)
        .flat_map(|i| [0.0, 1.0].map(|y| Vec3::new(i as f32, y, 0.0)))
        .collect();
    let influences: Vec<[(u32, f32); 2]> = points
        .iter()
        .map(|p| (p.x / (RINGS - 1) as f32).clamp(0.0, 1.0))
        .map(|w| [(0, 1.0 - w), (1, w)])
        .collect();
    let corners: Vec<i32> = (0..RINGS as i32 - 1)
        .flat_map(|i| [2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1])
        .collect();
    let counts = vec![4; RINGS as usize - 1];
    let faces = MeshTopology::new("Sleeve", &counts, &corners, false, points.len())?;
    let swollen = BlendShapeDef {
        name: "Swollen".into(),
        point_indices: Some(vec![9]),
        offsets: vec![Vec3::Y],
        ..Default::default()
    };
    let skin = SkinBuilder::new("Sleeve", points)
        .influences_of_points(&influences)
        .shape(swollen)
        .build(&skeleton)?;
    // What is drawn: a vertex per corner, with normals made of the deformed points.
    let vertices: Vec<u32> = corners.iter().map(|c| *c as u32).collect();
    let skin = PackedSkin::pack("Sleeve", &skin)?
        .with_smooth_normals(&faces)?
        .with_vertices(RenderVertices::new(vertices))?;

    let bent = elbow * DMat4::from_rotation_z(1.0);
    let pose = Pose::from_local(&skeleton, &[DMat4::IDENTITY, bent])?.with_weights(vec![0.5]);
    let pose = PackedPose::pack(&skin, &pose)?;
    let mut on_cpu = vec![Vec3::ZERO; skin.output_count()];
    let mut normals = vec![Vec3::ZERO; skin.output_normal_count()];
    skin_on_cpu(&skin, &pose, &mut on_cpu, Some(&mut normals))?;
    assert!(normals.iter().all(|n| n.abs_diff_eq(Vec3::Z, 1e-5)), "{normals:?}");
    println!("vertices {}", on_cpu.len());

    // The host's device, with no more than is needed.
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let Ok(adapter) = pollster::block_on(instance.request_adapter(&Default::default())) else {
        println!("no adapter");
        return Ok(());
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: needed_limits(),
        ..Default::default()
    }))?;
    let mut crowd = Skinner::new(&device, &queue, &SkinnerOptions::default())?.crowd();
    let arm = crowd.add_skin(Arc::new(skin))?;
    let instance = crowd.add_instance(arm)?;
    crowd.set_pose(instance, &pose)?;
    crowd.run()?;
    let read = crowd.read(&[instance])?;
    let apart = on_cpu.iter().zip(&read[0].points).map(|(a, b)| a.distance(*b));
    let apart = apart.fold(0.0, f32::max);
    assert!(apart < 1e-5, "{apart}");
    println!("gpu {apart:e}");
    Ok(())
}

//! The culling shader of docs/culling.md, in front of a crowd.

use common::gpu;
use common::trials::Trial;
use glam::{Mat4, Vec3, Vec4};
use libtest_mimic::Failed;
use sinew::gpu::{BoundsUse, Crowd, InstanceId, Skinner, VisibilityMask};
use sinew_verify::cases::Spec;
use sinew_verify::made::{bits, made};
use wgpu::BufferUsages as Usages;

use crate::peers::gpu::{Gpu, buffer};

pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("the_pages_shader_culls", the_pages_shader_culls);
    vec![trial.with_ignored_flag(gpu::ignored())]
}

const PAGE: &str = include_str!("../../docs/culling.md");

fn shader() -> &'static str {
    let (_, after) = PAGE.split_once("```wgsl\n").expect("a shader");
    after.split_once("```").expect("its end").0
}

/// Instances in a row, seen through a slab that moves along it.
fn the_pages_shader_culls() -> Result<(), Failed> {
    let opened = gpu::device()?;
    let (device, queue) = (opened.device(), opened.queue());
    let made = made(&Spec::default());
    let mut crowd = Skinner::new(device, queue, &Default::default())?.crowd();
    let skin = crowd.add_skin(made.packed.clone())?;
    let ids = crowd.add_instances(skin, 9)?;
    let pose = |crowd: &mut Crowd, frame: u64| -> Result<(), Failed> {
        for id in &ids {
            crowd.set_pose(*id, &made.pose(frame * 10 + u64::from(id.index())))?;
        }
        Ok(())
    };
    pose(&mut crowd, 0)?;
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    crowd.submit()?;
    // Far more than a character's size apart.
    let at = |id: &InstanceId| Vec3::new(1000.0 * id.index() as f32, 0.0, 0.0);
    let transforms: Vec<Mat4> = ids
        .iter()
        .map(|id| Mat4::from_translation(at(id)) * Mat4::from_rotation_y(id.index() as f32))
        .collect();
    let gpu = Gpu { device: opened };
    let kernel = gpu.kernel("docs.cull", shader());
    let buffer = |size, usage| buffer(opened, "docs.cull", size, usage | Usages::COPY_DST);
    let count = crowd.index_count();
    let cameras = buffer(112, Usages::UNIFORM);
    let places = buffer(u64::from(count) * 64, Usages::STORAGE);
    let mask = buffer(u64::from(count) * 4, Usages::STORAGE);
    queue.write_buffer(&places, 0, bytemuck::cast_slice(&transforms));
    crowd.set_visibility(Some(VisibilityMask::words(mask.clone())))?;
    let mut last: Vec<Vec<u32>> = crowd.read(&ids)?.iter().map(bits).collect();
    for frame in 1..8u64 {
        pose(&mut crowd, frame)?;
        // From 1,500 before one instance to 1,500 behind it.
        let middle = 1000.0 * frame as f32;
        let mut planes = [Vec4::new(0.0, 0.0, 0.0, 1.0); 6];
        planes[0] = Vec4::new(1.0, 0.0, 0.0, 1500.0 - middle);
        planes[1] = Vec4::new(-1.0, 0.0, 0.0, 1500.0 + middle);
        queue.write_buffer(&cameras, 0, bytemuck::cast_slice(&planes));
        queue.write_buffer(&cameras, 96, bytemuck::cast_slice(&[count, 0, 0, 0]));
        let boxes = crowd.bounds_on_gpu().expect("boxes");
        let bound = [&cameras, boxes, &places, &mask].map(|b| b.as_entire_binding());
        let culling = gpu.dispatch(&kernel, &bound, count as usize)?;
        let mut encoder = device.create_command_encoder(&Default::default());
        culling.record(&mut encoder.begin_compute_pass(&Default::default()));
        crowd.encode(&mut encoder)?;
        queue.submit([encoder.finish()]);
        let now: Vec<Vec<u32>> = crowd.read(&ids)?.iter().map(bits).collect();
        for (id, (now, last)) in ids.iter().zip(now.iter().zip(&last)) {
            let seen = u64::from(id.index()).abs_diff(frame) <= 1;
            let moved = now != last;
            if seen != moved {
                let index = id.index();
                return Err(format!("frame {frame}: instance {index}, moved: {moved}").into());
            }
        }
        last = now;
    }
    Ok(())
}

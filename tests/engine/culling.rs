//! The culling shader of docs/culling.md, in front of a crowd.

use common::gpu;
use common::trials::Trial;
use glam::{Mat4, Vec3, Vec4};
use libtest_mimic::Failed;
use sinew::gpu::{BoundsUse, Crowd, InstanceId, Skinner, VisibilityMask};
use sinew_verify::cases::Spec;
use sinew_verify::made::{bits, made};

pub fn trials() -> Vec<Trial> {
    let trial = Trial::test("the_pages_shader_culls", the_pages_shader_culls);
    vec![trial.with_ignored_flag(gpu::ignored())]
}

const PAGE: &str = include_str!("../../docs/culling.md");

fn shader() -> &'static str {
    let (_, after) = PAGE.split_once("```wgsl\n").expect("a shader");
    after.split_once("```").expect("its end").0
}

/// What the page's shader binds.
struct Culling {
    pipeline: wgpu::ComputePipeline,
    frame: wgpu::Buffer,
    transforms: wgpu::Buffer,
    mask: wgpu::Buffer,
}

impl Culling {
    fn new(device: &wgpu::Device, count: u32) -> Self {
        use wgpu::BufferUsages as Usages;
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("docs.cull"),
            source: wgpu::ShaderSource::Wgsl(shader().into()),
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("docs.cull"),
            layout: None,
            module: &module,
            entry_point: Some("cull"),
            compilation_options: Default::default(),
            cache: None,
        });
        let buffer = |size, usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("docs.cull"),
                size,
                usage: usage | Usages::COPY_DST | Usages::COPY_SRC,
                mapped_at_creation: false,
            })
        };
        Self {
            pipeline,
            frame: buffer(112, Usages::UNIFORM),
            transforms: buffer(u64::from(count) * 64, Usages::STORAGE),
            mask: buffer(u64::from(count) * 4, Usages::STORAGE),
        }
    }

    fn encode(&self, device: &wgpu::Device, crowd: &Crowd, encoder: &mut wgpu::CommandEncoder) {
        let boxes = crowd.bounds_on_gpu().expect("boxes");
        let buffers = [&self.frame, boxes, &self.transforms, &self.mask];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(crowd.index_count().div_ceil(64), 1, 1);
    }
}

/// Instances in a row, seen through a slab that moves along it.
fn the_pages_shader_culls() -> Result<(), Failed> {
    let opened = gpu::device()?;
    let (device, queue) = (opened.device(), opened.queue());
    let made = made(&Spec::default())?;
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
    let culling = Culling::new(device, crowd.index_count());
    queue.write_buffer(&culling.transforms, 0, bytemuck::cast_slice(&transforms));
    crowd.set_visibility(Some(VisibilityMask::words(culling.mask.clone())))?;
    let mut last: Vec<Vec<u32>> = crowd.read(&ids)?.iter().map(bits).collect();
    for frame in 1..8u64 {
        pose(&mut crowd, frame)?;
        // From 1,500 before one instance to 1,500 behind it.
        let middle = 1000.0 * frame as f32;
        let mut planes = [Vec4::new(0.0, 0.0, 0.0, 1.0); 6];
        planes[0] = Vec4::new(1.0, 0.0, 0.0, 1500.0 - middle);
        planes[1] = Vec4::new(-1.0, 0.0, 0.0, 1500.0 + middle);
        queue.write_buffer(&culling.frame, 0, bytemuck::cast_slice(&planes));
        queue.write_buffer(
            &culling.frame,
            96,
            bytemuck::cast_slice(&[crowd.index_count(), 0, 0, 0]),
        );
        let mut encoder = device.create_command_encoder(&Default::default());
        culling.encode(device, &crowd, &mut encoder);
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

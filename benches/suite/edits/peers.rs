//! What an edit of a crowd and its frame cost the CPU in Godot's way and in Bevy's, written from how they keep their characters
//! and recorded on the same wgpu device as sinew's rows.
//!
//! | | Godot | Bevy (CacheSkin) |
//! |---|---|---|
//! | keeps | a buffer and a uniform set for each skeleton, and for each surface of an instance | the joints of all visible skins in one buffer, at offsets of an allocator |
//! | a frame | writes each skeleton that moved; a dispatch with three sets for each visible surface | computes and writes the joints of all skins, lists the skins and writes the list; one dispatch |
//! | hide, show | a flag | frees the joints; finds room for them |
//! | another rig | another set | frees the joints, and finds room for the others |
//! | remove, add | frees a buffer and a set; creates them | as hide and show |
//!
//! Godot: `_update_dirty_skeletons`, `update_mesh_instances`, `mesh_instance_create` (godotengine/godot 028efc086f01). Bevy:
//! `extract_skins`, `prepare_skins`, `prepare_skin_cache_buffers`, `skin_cache` (bevyengine/bevy 44aa9b3159a4).
//!
//! Simplified, in their favour: characters are found by number, not by hash or in the tables of an entity system; all skins have
//! as many joints, so the allocator is a list of offsets; animation, which both do on the CPU, culling, records of mesh instances,
//! pushed constants and results of the last frame are left out. All characters play, so every skeleton moved. Neither sends
//! results elsewhere, so there is no such row. The device runs nothing of it: the kernel stands for theirs by what it binds.

use glam::{Affine3A, Mat4};
use sinew::gpu::GpuDevice;
use wgpu::{BindGroup, Buffer, BufferUsages as Usages, CommandEncoder, ComputePipeline};

use super::{Edit, Edited, POINTS};
use crate::peers::Result;
use crate::peers::gpu::{Gpu, WORKGROUP, buffer};

const STORAGE: Usages = Usages::STORAGE.union(Usages::COPY_DST);

/// A kernel with three storage buffers, in one group or each in its own.
fn kernel(device: &GpuDevice, in_one: bool) -> ComputePipeline {
    let variable = |(number, access): (u32, &str)| {
        let (group, binding) = if in_one { (0, number) } else { (number, 0) };
        format!("@group({group}) @binding({binding}) var<storage, {access}> v{number}: array<f32>;")
    };
    let variables = [(0, "read_write"), (1, "read"), (2, "read")].map(variable);
    let all = variables.concat();
    let main = "fn main(@builtin(global_invocation_id) i: vec3u) { v0[i.x] = v1[i.x] * v2[i.x]; }";
    let wgsl = format!("{all}@compute @workgroup_size({WORKGROUP}) {main}");
    Gpu { device }.kernel("edits", &wgsl)
}

fn group(on: &GpuDevice, kernel: &ComputePipeline, number: u32, buffers: &[&Buffer]) -> BindGroup {
    let resources = buffers.iter().map(|buffer| buffer.as_entire_binding());
    let entries = (0..).zip(resources);
    let entries = entries.map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource });
    let entries: Vec<_> = entries.collect();
    on.device().create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &kernel.get_bind_group_layout(number),
        entries: &entries,
    })
}

pub struct Godot<'a> {
    device: &'a GpuDevice,
    kernel: ComputePipeline,
    mesh: BindGroup,
    /// The rows of a skeleton's joints.
    rows: Vec<[f32; 12]>,
    skeletons: Vec<(Buffer, BindGroup)>,
    /// Of each instance, if it is there, the set that binds its own vertices.
    surfaces: Vec<Option<BindGroup>>,
    /// The skeleton of each instance, and whether it is visible.
    states: Vec<(usize, bool)>,
}

impl<'a> Godot<'a> {
    pub fn new(device: &'a GpuDevice, count: usize, joints: usize) -> Self {
        let kernel = kernel(device, false);
        let skeleton = |_| {
            let joints = buffer(device, "godot.skeleton", joints as u64 * 48, STORAGE);
            let set = group(device, &kernel, 2, &[&joints]);
            (joints, set)
        };
        let rest = buffer(device, "godot.mesh", POINTS as u64 * 32, STORAGE);
        Self {
            device,
            mesh: group(device, &kernel, 1, &[&rest]),
            rows: vec![[0.5; 12]; joints],
            skeletons: (0..count).map(skeleton).collect(),
            surfaces: (0..count).map(|_| Some(surface(device, &kernel))).collect(),
            states: (0..count).map(|number| (number, true)).collect(),
            kernel,
        }
    }
}

fn surface(device: &GpuDevice, kernel: &ComputePipeline) -> BindGroup {
    let skinned = buffer(device, "godot.surface", POINTS as u64 * 16, STORAGE);
    group(device, kernel, 0, &[&skinned])
}

impl Edited for Godot<'_> {
    fn edit(&mut self, edit: Edit, number: usize, round: usize) -> Result<()> {
        let (skeleton, is_visible) = &mut self.states[number];
        match edit {
            Edit::Nothing | Edit::Retarget => {}
            Edit::Hide => *is_visible = false,
            Edit::Show => *is_visible = true,
            Edit::Rebind => *skeleton = (number + round) % self.skeletons.len(),
            Edit::Remove => self.surfaces[number] = None,
            Edit::Add => self.surfaces[number] = Some(surface(self.device, &self.kernel)),
        }
        Ok(())
    }

    fn record(&mut self, encoder: &mut CommandEncoder) -> Result<u64> {
        let rows: &[u8] = bytemuck::cast_slice(&self.rows);
        for (joints, _) in &self.skeletons {
            self.device.queue().write_buffer(joints, 0, rows);
        }
        let mut pass = encoder.begin_compute_pass(&Default::default());
        let instances = self.surfaces.iter().zip(&self.states);
        for (surface, (skeleton, is_visible)) in instances {
            let Some(surface) = surface.as_ref().filter(|_| *is_visible) else {
                continue;
            };
            pass.set_pipeline(&self.kernel);
            pass.set_bind_group(0, surface, &[]);
            pass.set_bind_group(1, &self.mesh, &[]);
            pass.set_bind_group(2, &self.skeletons[*skeleton].1, &[]);
            pass.dispatch_workgroups(POINTS.div_ceil(WORKGROUP) as u32, 1, 1);
        }
        Ok((rows.len() * self.skeletons.len()) as u64)
    }
}

pub struct Bevy<'a> {
    device: &'a GpuDevice,
    kernel: ComputePipeline,
    inverse_binds: Vec<Mat4>,
    /// The joints of each character in the world.
    joints: Vec<Affine3A>,
    /// Of each visible character: the first of its matrices, and whose joints move it.
    skins: Vec<Option<(usize, usize)>>,
    free: Vec<usize>,
    staging: Vec<Mat4>,
    matrices: Buffer,
    skinned: Buffer,
    tasks: Vec<u32>,
    task_buffer: Buffer,
}

impl<'a> Bevy<'a> {
    pub fn new(device: &'a GpuDevice, count: usize, joints: usize) -> Self {
        let of = |label, bytes: usize| buffer(device, label, (count * bytes) as u64, STORAGE);
        Self {
            device,
            kernel: kernel(device, true),
            inverse_binds: vec![Mat4::IDENTITY; joints],
            joints: vec![Affine3A::IDENTITY; count * joints],
            skins: (0..count).map(|n| Some((n * joints, n))).collect(),
            free: Vec::new(),
            staging: vec![Mat4::IDENTITY; count * joints],
            matrices: of("bevy.joints", joints * 64),
            skinned: of("bevy.skinned", POINTS * 48),
            tasks: Vec::new(),
            task_buffer: of("bevy.tasks", 4),
        }
    }
}

impl Edited for Bevy<'_> {
    fn edit(&mut self, edit: Edit, number: usize, round: usize) -> Result<()> {
        let shown = match edit {
            Edit::Nothing | Edit::Retarget => return Ok(()),
            Edit::Hide | Edit::Remove => None,
            Edit::Show | Edit::Add => Some(number),
            Edit::Rebind => Some((number + round) % self.skins.len()),
        };
        let freed = self.skins[number].take();
        self.free.extend(freed.map(|(first, _)| first));
        self.skins[number] = shown.and_then(|character| Some((self.free.pop()?, character)));
        Ok(())
    }

    fn record(&mut self, encoder: &mut CommandEncoder) -> Result<u64> {
        let each = self.inverse_binds.len();
        self.tasks.clear();
        for (number, skin) in (0..).zip(&self.skins) {
            let Some((first, character)) = *skin else {
                continue;
            };
            for (joint, bind) in self.inverse_binds.iter().enumerate() {
                self.staging[first + joint] = self.joints[character * each + joint] * *bind;
            }
            self.tasks.push(number);
        }
        self.tasks.sort_unstable();
        let queue = self.device.queue();
        queue.write_buffer(&self.matrices, 0, bytemuck::cast_slice(&self.staging));
        queue.write_buffer(&self.task_buffer, 0, bytemuck::cast_slice(&self.tasks));
        let buffers = [&self.skinned, &self.task_buffer, &self.matrices];
        let bound = group(self.device, &self.kernel, 0, &buffers);
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.kernel);
        pass.set_bind_group(0, &bound, &[]);
        pass.dispatch_workgroups((self.tasks.len() * POINTS).div_ceil(WORKGROUP) as u32, 1, 1);
        Ok((self.staging.len() * 64 + self.tasks.len() * 4) as u64)
    }
}

//! three.js's vertex stage (src/renderers/shaders/ShaderChunk: morphtarget_vertex, skinbase_vertex, skinning_vertex; and
//! WebGLMorphtargets.js): one dispatch per mesh, dense morph targets in an array of RGBA32F textures.
//!
//! | of a vertex | bytes |
//! |---|---|
//! | position, and normal | 12 + 12 |
//! | four u16 joints and four f32 weights | 24 |
//! | every active morph target, dense: a texel | 16 |
//! | what the stage computes, written as a compute kernel writes it | 12 + 12 |
//!
//! Bones are a texture of four RGBA32F texels each, one texture per skeleton; morph influences are a uniform, and
//! bindMatrix and its inverse are applied to every vertex. A vertex has four influences: of more, the
//! four largest are kept and made to add up to 1. Normals go by the matrix of positions, which is right without scale only.
//! In-betweens are targets of their own. Where dense targets do not fit, the first points that fit are measured. Meshes
//! write to buffers of their own, for a vertex stage waits for no other.

use bytemuck::{Pod, Zeroable};
use glam::Mat4;
use sinew::gpu::{GpuDevice, GpuError};
use wgpu::TextureViewDimension::{D2, D2Array};

use super::gpu::Gpu;
use super::rig::{self, Frame, Rest};
use super::{About, Load, Peer, Result};
use crate::measure::Runs;

const ABOUT: About = About {
    name: "three.js vertex stage, as compute",
    upstream: "mrdoob/three.js c57c9ff90ce7, MIT",
    bytes: "12 each for position and normal, in and out; u16 joints and f32 weights 24; 16 per active dense target",
};

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Mesh {
    bind: Mat4,
    bind_inverse: Mat4,
    vertex_count: u32,
    has_normal: u32,
    has_skeleton: u32,
    morph_targets: u32,
    morph_width: u32,
    unused: [u32; 3],
}

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: Runs) -> Result<Peer> {
    let mut frame = Frame::new(ABOUT, device, load, 16, true)?;
    let positions = frame.of_skins("three.positions", |rest| rest.positions().to_vec())?;
    let normals = frame.of_skins("three.normals", |rest| rest.normals().to_vec())?;
    let indices = frame.of_skins("three.skin_indices", |rest| {
        let points = (0..rest.points).map(|point| rest.largest::<4>(point).0);
        rig::pairs(&points.collect::<Vec<_>>().concat()).collect()
    })?;
    let skin_weights = frame.of_skins("three.skin_weights", |rest| {
        let points = (0..rest.points).map(|point| rest.largest::<4>(point).1);
        points.collect::<Vec<_>>()
    })?;
    let widest = device.device().limits().max_texture_dimension_2d as usize;
    let width = |rest: &Rest<'_>| rest.points.clamp(1, widest);
    // Meshes without targets share a texture of one texel.
    let none = texture(&frame.gpu, [1, 1, 1], &[0.0; 4], D2Array)?;
    let textures = frame.rests.iter().map(|rest| match rest.targets {
        0 => Ok(none.clone()),
        _ => morphs(&frame.gpu, rest, width(rest)),
    });
    let textures: Vec<wgpu::TextureView> = textures.collect::<Result<_>>()?;
    let bones = frame
        .instances()
        .map(|(_, _, pose)| bones(&frame.gpu, &rig::skinning(pose)));
    let bones: Vec<wgpu::TextureView> = bones.collect::<Result<_>>()?;
    let targets = frame.rests.iter().map(|rest| rest.targets).max();
    let targets = targets.unwrap_or(0).max(1);
    let influences = frame.of_instances("three.influences", |rest, pose| {
        let mut weights = rest.target_weights(pose);
        weights.resize(targets.next_multiple_of(4), 0.0);
        weights
    })?;
    let meshes = frame.of_instances("three.meshes", |rest, pose| {
        vec![Mesh {
            bind: pose.geom_bind.as_mat4(),
            bind_inverse: pose.out_from_skel.as_mat4(),
            vertex_count: rest.points as u32,
            has_normal: rest.has_normals().into(),
            has_skeleton: rest.is_skinned().into(),
            morph_targets: rest.targets as u32,
            morph_width: width(rest) as u32,
            unused: [0; 3],
        }]
    })?;
    let vectors = |rest: &Rest<'_>| if rest.has_normals() { 2 } else { 1 };
    let words = |rest: &Rest<'_>| rest.points * vectors(rest) * 3;
    let transformed = frame.outputs("three.transformed", false, words)?;

    let defines = format!("const MORPHTARGETS_COUNT: u32 = {targets}u;\n");
    let kernel = frame
        .gpu
        .kernel("three", &(defines + include_str!("three.wgsl")));
    for (i, (s, pose)) in load.instances.iter().enumerate() {
        let rest = &frame.rests[*s];
        let points = rest.points;
        let active = rest.target_weights(pose).into_iter();
        let active = active.filter(|w| *w != 0.0).count();
        let of_skin = if rest.is_skinned() { 24 } else { 0 };
        frame.bytes += points * (vectors(rest) * 24 + of_skin + active * 16);
        let resources = [
            meshes.binding(i),
            positions.binding(*s),
            normals.binding(*s),
            indices.binding(*s),
            skin_weights.binding(*s),
            wgpu::BindingResource::TextureView(&bones[i]),
            influences.binding(i),
            wgpu::BindingResource::TextureView(&textures[*s]),
            transformed.binding(i),
        ];
        frame.dispatch(&kernel, &resources, points)?;
    }
    frame.measured(runs, &|i| {
        let rest = &frame.rests[load.instances[i].0];
        let all = rest.points * vectors(rest);
        let mut points = frame.gpu.vectors(&transformed, i, all)?;
        let normals = points.split_off(rest.points);
        Ok((points, rest.has_normals().then_some(normals)))
    })
}

/// A layer per target, a texel per vertex in rows of `width`.
fn morphs(gpu: &Gpu<'_>, rest: &Rest<'_>, width: usize) -> Result<wgpu::TextureView> {
    let size = [width, rest.points.div_ceil(width), rest.targets];
    let texels = size[0] * size[1];
    let place = |target, point| (target * texels + point) * 4;
    let data = rest.dense(texels * rest.targets * 4, place);
    texture(gpu, size, &data, D2Array)
}

/// A skeleton's matrices as the smallest square of RGBA32F texels that holds them, its side a multiple of four.
fn bones(gpu: &Gpu<'_>, joints: &[Mat4]) -> Result<wgpu::TextureView> {
    let side = ((joints.len() * 4) as f64).sqrt().ceil() as usize;
    let side = side.next_multiple_of(4).max(4);
    let mut texels = bytemuck::cast_slice(joints).to_vec();
    texels.resize(side * side * 4, 0.0);
    texture(gpu, [side, side, 1], &texels, D2)
}

/// RGBA32F texels in rows and layers.
fn texture(
    gpu: &Gpu<'_>,
    [width, height, layers]: [usize; 3],
    data: &[f32],
    dimension: wgpu::TextureViewDimension,
) -> Result<wgpu::TextureView> {
    let device = gpu.device.device();
    let limit = u64::from(device.limits().max_texture_array_layers);
    if layers as u64 > limit {
        let what = "layers of a morph texture".into();
        let asked = layers as u64;
        return Err(GpuError::Limit { what, asked, limit }.into());
    }
    let extent = |layers: usize| wgpu::Extent3d {
        width: width as u32,
        height: height as u32,
        depth_or_array_layers: layers as u32,
    };
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("three"),
        size: extent(layers),
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    // Layer by layer, for the copies that wgpu makes on the way are as large as what is written.
    for (layer, data) in data.chunks(width * height * 4).enumerate() {
        let mut to = texture.as_image_copy();
        to.origin.z = layer as u32;
        let rows = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(width as u32 * 16),
            rows_per_image: Some(height as u32),
        };
        let queue = gpu.device.queue();
        queue.write_texture(to, bytemuck::cast_slice(data), rows, extent(1));
        if layer % 64 == 63 {
            queue.submit([]);
        }
    }
    Ok(texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(dimension),
        ..Default::default()
    }))
}

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
use glam::{Mat4, Vec3};
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::PackedSkin;
use sinew::skel::Skin;

use super::gpu::Gpu;
use super::rig::{self, Dense};
use crate::load::{Load, Peer};

const UPSTREAM: &str = "mrdoob/three.js c57c9ff90ce7, MIT";

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

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: usize) -> Result<Peer, GpuError> {
    const NAME: &str = "three.js vertex stage, as compute";
    rig::suits(NAME, load)?;
    let gpu = &Gpu::new(device);
    let packed = rig::packed(load);
    let room = gpu.largest_array() / load.skins.len() as u64;
    let dense = rig::dense(gpu, load, 16, room);
    let of_skins = |f: &dyn Fn(&PackedSkin, usize) -> Vec<u32>| rig::of_skins(&packed, &dense, f);
    let vectors = |v: &[Vec3], count: usize| -> Vec<u32> {
        v.iter()
            .take(count)
            .flat_map(|p| p.to_array().map(f32::to_bits))
            .collect()
    };
    let positions = gpu.arrays(
        "three.positions",
        &of_skins(&|s, count| vectors(s.points(), count)),
    )?;
    let normals = of_skins(&|s, count| vectors(s.normals().unwrap_or_default(), count));
    let normals = gpu.arrays("three.normals", &normals)?;
    let indices = gpu.arrays("three.skin_indices", &of_skins(&skin_indices))?;
    let skin_weights = gpu.arrays("three.skin_weights", &of_skins(&skin_weights))?;
    let widest = device.device().limits().max_texture_dimension_2d as usize;
    let width = |dense: &Dense| dense.points.clamp(1, widest);
    // Meshes without targets share a texture of one texel.
    let none = morph_texture(gpu, 1, 1, 1)?;
    let textures = load.skins.iter().zip(&dense);
    let textures = textures.map(|(skin, dense)| match dense.targets {
        0 => Ok(none.clone()),
        _ => morphs(gpu, skin, dense, width(dense)),
    });
    let textures: Vec<wgpu::TextureView> = textures.collect::<Result<_, GpuError>>()?;

    let of_instances = || {
        load.instances
            .iter()
            .map(|(s, pose)| (*s, &packed[*s], pose))
    };
    let targets = dense.iter().map(|d| d.targets).max().unwrap_or(0).max(1);
    let defines = format!("const MORPHTARGETS_COUNT: u32 = {targets}u;\n");
    let kernel = gpu.kernel("three", &(defines + include_str!("three.wgsl")));
    let bones: Vec<wgpu::TextureView> = of_instances()
        .map(|(_, _, pose)| bone_texture(gpu, &rig::skinning(pose)))
        .collect();
    let weights: Vec<Vec<f32>> = of_instances()
        .map(|(s, _, pose)| {
            let mut weights = rig::target_weights(&load.skins[s], pose);
            weights.resize(targets.next_multiple_of(4), 0.0);
            weights
        })
        .collect();
    let meshes: Vec<_> = of_instances()
        .map(|(s, skin, pose)| {
            vec![Mesh {
                bind: pose.geom_bind.as_mat4(),
                bind_inverse: pose.out_from_skel.as_mat4(),
                vertex_count: dense[s].points as u32,
                has_normal: skin.has_point_normals().into(),
                has_skeleton: skin.influences().is_some().into(),
                morph_targets: dense[s].targets as u32,
                morph_width: width(&dense[s]) as u32,
                unused: [0; 3],
            }]
        })
        .collect();
    let meshes = gpu.arrays("three.meshes", &meshes)?;
    let vectors_of = |skin: &PackedSkin| if skin.has_point_normals() { 2 } else { 1 };
    let sizes: Vec<u64> = of_instances()
        .map(|(s, skin, _)| (dense[s].points * vectors_of(skin) * 12) as u64)
        .collect();
    let transformed = gpu.own_outputs("three.transformed", &sizes)?;
    let influences = gpu.arrays("three.influences", &weights)?;

    let mut dispatches = Vec::new();
    let (mut bytes, mut measured) = (0, 0);
    for (i, (s, skin, _)) in of_instances().enumerate() {
        let count = dense[s].points;
        let active = weights[i].iter().filter(|w| **w != 0.0).count();
        let of_skin = if skin.influences().is_some() { 24 } else { 0 };
        bytes += count * (vectors_of(skin) * 24 + of_skin + active * 16);
        measured += count;
        let resources = [
            meshes.binding(i),
            positions.binding(s),
            normals.binding(s),
            indices.binding(s),
            skin_weights.binding(s),
            wgpu::BindingResource::TextureView(&bones[i]),
            influences.binding(i),
            wgpu::BindingResource::TextureView(&textures[s]),
            transformed.binding(i),
        ];
        dispatches.push(gpu.dispatch(&kernel, &resources, count)?);
    }
    let seconds = gpu.measure(&dispatches, runs)?;
    let worst = rig::worst(load, &packed, &|i| {
        let s = load.instances[i].0;
        let floats: Vec<f32> = gpu.array(&transformed, i)?;
        let vectors: Vec<Vec3> = floats
            .as_chunks::<3>()
            .0
            .iter()
            .map(|v| Vec3::from_array(*v))
            .collect();
        let (points, rest) = vectors.split_at(dense[s].points);
        let normals = packed[s]
            .has_point_normals()
            .then(|| rest[..dense[s].points].to_vec());
        Ok((points.to_vec(), normals))
    })?;
    Ok(Peer {
        name: NAME,
        upstream: UPSTREAM,
        seconds,
        points: measured,
        dispatches: dispatches.len(),
        bytes_per_point: bytes as f64 / measured as f64,
        bytes_note: "12 each for position and normal, in and out; u16 joints and f32 weights 24; 16 per active dense target",
        worst,
    })
}

fn skin_indices(skin: &PackedSkin, count: usize) -> Vec<u32> {
    let pairs = |point| {
        let (palette_indices, _) = rig::largest::<4>(skin, point);
        [0, 2].map(|i| u32::from(palette_indices[i]) | u32::from(palette_indices[i + 1]) << 16)
    };
    (0..count).flat_map(pairs).collect()
}

fn skin_weights(skin: &PackedSkin, count: usize) -> Vec<u32> {
    let bits = |point| rig::largest::<4>(skin, point).1.map(f32::to_bits);
    (0..count).flat_map(bits).collect()
}

/// A layer per target, a texel per vertex in rows of `width`.
fn morphs(
    gpu: &Gpu<'_>,
    skin: &Skin,
    dense: &Dense,
    width: usize,
) -> Result<wgpu::TextureView, GpuError> {
    let height = dense.points.div_ceil(width);
    let view = morph_texture(gpu, width, height, dense.targets)?;
    let texels = width * height;
    let mut data = vec![0f32; texels * dense.targets * 4];
    dense.for_each(skin, |target, point, offset| {
        let at = (target * texels + point) * 4;
        data[at..at + 3].copy_from_slice(&offset.to_array());
    });
    // Layer by layer, for the copies that wgpu makes on the way are as large as what is written.
    for (layer, data) in data.chunks(texels * 4).enumerate() {
        gpu.device.queue().write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: view.texture(),
                mip_level: 0,
                origin: wgpu::Origin3d {
                    x: 0,
                    y: 0,
                    z: layer as u32,
                },
                aspect: wgpu::TextureAspect::All,
            },
            bytemuck::cast_slice(data),
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(width as u32 * 16),
                rows_per_image: Some(height as u32),
            },
            wgpu::Extent3d {
                width: width as u32,
                height: height as u32,
                depth_or_array_layers: 1,
            },
        );
        if layer % 64 == 63 {
            gpu.device.queue().submit([]);
        }
    }
    Ok(view)
}

/// A skeleton's matrices as the smallest square of RGBA32F texels that holds them, its side a multiple of four.
fn bone_texture(gpu: &Gpu<'_>, joints: &[Mat4]) -> wgpu::TextureView {
    let side = ((joints.len() * 4) as f64).sqrt().ceil() as usize;
    let side = side.next_multiple_of(4).max(4);
    let mut texels = vec![[0f32; 4]; side * side];
    for (four, joint) in texels.chunks_exact_mut(4).zip(joints) {
        four.copy_from_slice(&joint.to_cols_array_2d());
    }
    let size = wgpu::Extent3d {
        width: side as u32,
        height: side as u32,
        depth_or_array_layers: 1,
    };
    let texture = gpu
        .device
        .device()
        .create_texture(&wgpu::TextureDescriptor {
            label: Some("three.bones"),
            size,
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba32Float,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
    gpu.device.queue().write_texture(
        texture.as_image_copy(),
        bytemuck::cast_slice(&texels),
        wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(side as u32 * 16),
            rows_per_image: Some(side as u32),
        },
        size,
    );
    texture.create_view(&Default::default())
}

fn morph_texture(
    gpu: &Gpu<'_>,
    width: usize,
    height: usize,
    layers: usize,
) -> Result<wgpu::TextureView, GpuError> {
    let device = gpu.device.device();
    let limit = device.limits().max_texture_array_layers;
    if layers > limit as usize {
        return Err(GpuError::Limit {
            what: "layers of a morph texture".into(),
            asked: layers as u64,
            limit: u64::from(limit),
        });
    }
    let texture = device.create_texture(&wgpu::TextureDescriptor {
        label: Some("three.morphs"),
        size: wgpu::Extent3d {
            width: width as u32,
            height: height as u32,
            depth_or_array_layers: layers as u32,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba32Float,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    Ok(texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::D2Array),
        ..Default::default()
    }))
}

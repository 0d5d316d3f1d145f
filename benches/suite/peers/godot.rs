//! Godot 4's compute skeleton (servers/rendering/renderer_rd: shaders/skeleton.glsl and storage_rd/mesh_storage.cpp): one
//! dispatch per surface instance.
//!
//! | of a vertex | bytes |
//! |---|---|
//! | position | 12 |
//! | normal, an octahedron of two unorm16 | 4 |
//! | four bones as u16 and four weights as unorm16 | 16; 32 for eight |
//! | every active blend shape, dense | 12 |
//! | skinned position and normal | 12 + 4 |
//!
//! Joints are 48 bytes. A vertex has four influences or eight: of more, the eight largest are kept and made to add up to 1.
//! Normals go by the matrix of positions, as Godot has them, which is right without scale only. In-betweens are blend
//! shapes of their own. Where dense shapes do not fit a binding, the first points that fit are measured. Each surface
//! instance has a vertex buffer of its own, as upstream.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::PackedSkin;

use super::gpu::Gpu;
use super::rig::{self, Dense};
use crate::load::{Load, Peer};

const UPSTREAM: &str = "godotengine/godot 386e8dc6668a, MIT";

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Surface {
    vertex_count: u32,
    has_normal: u32,
    has_skeleton: u32,
    skin_stride: u32,
    skin_weights: u32,
    blend_shape_count: u32,
    unused: [u32; 2],
}

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: usize) -> Result<Peer, GpuError> {
    const NAME: &str = "Godot";
    rig::suits(NAME, load)?;
    let gpu = &Gpu::new(device);
    let packed = rig::packed(load);
    let room = gpu.largest_array();
    let dense = rig::dense(gpu, load, 12, room);
    let of_skins = |f: &dyn Fn(&PackedSkin, usize) -> Vec<u32>| rig::of_skins(&packed, &dense, f);
    let vertices = gpu.arrays("godot.vertices", &of_skins(&vertices))?;
    let bones = gpu.arrays("godot.bones", &of_skins(&bones))?;
    let blend_shapes: Vec<_> = load
        .skins
        .iter()
        .zip(&dense)
        .map(|(skin, dense)| blend_shapes(skin, dense))
        .collect();
    let blend_shapes = gpu.arrays("godot.blend_shapes", &blend_shapes)?;

    let of_instances = || {
        load.instances
            .iter()
            .map(|(s, pose)| (*s, &packed[*s], pose))
    };
    let kernel = gpu.kernel("godot", include_str!("godot.wgsl"));
    let rows = |m: glam::Mat4| (0..3).map(move |i| m.row(i));
    let joints: Vec<Vec<_>> = of_instances()
        .map(|(_, _, pose)| rig::joints(pose).into_iter().flat_map(rows).collect())
        .collect();
    let joints = gpu.arrays("godot.joints", &joints)?;
    let weights: Vec<_> = of_instances()
        .map(|(s, _, pose)| rig::target_weights(&load.skins[s], pose))
        .collect();
    let surfaces: Vec<_> = of_instances()
        .map(|(s, skin, _)| {
            let per_vertex = influences(skin) as u32;
            vec![Surface {
                vertex_count: dense[s].points as u32,
                has_normal: skin.has_point_normals().into(),
                has_skeleton: skin.influences().is_some().into(),
                skin_stride: per_vertex,
                skin_weights: per_vertex / 2,
                blend_shape_count: dense[s].targets as u32,
                unused: [0; 2],
            }]
        })
        .collect();
    let surfaces = gpu.arrays("godot.surfaces", &surfaces)?;
    let words = |skin: &PackedSkin| if skin.has_point_normals() { 4 } else { 3 };
    let sizes: Vec<u64> = of_instances()
        .map(|(s, skin, _)| (dense[s].points * words(skin) * 4) as u64)
        .collect();
    let skinned = gpu.own_outputs("godot.skinned", &sizes)?;
    let blend_weights = gpu.arrays("godot.weights", &weights)?;

    let mut dispatches = Vec::new();
    let (mut bytes, mut measured) = (0, 0);
    for (i, (s, skin, _)) in of_instances().enumerate() {
        let count = dense[s].points;
        let active = weights[i].iter().filter(|w| w.abs() > 0.0001).count();
        let of_skin = if skin.influences().is_some() {
            influences(skin) * 4
        } else {
            0
        };
        bytes += count * (words(skin) * 8 + of_skin + active * 12);
        measured += count;
        let resources = [
            surfaces.binding(i),
            vertices.binding(s),
            bones.binding(s),
            blend_shapes.binding(s),
            blend_weights.binding(i),
            joints.binding(i),
            skinned.binding(i),
        ];
        dispatches.push(gpu.dispatch(&kernel, &resources, count)?);
    }
    let seconds = gpu.measure(&dispatches, runs)?;
    let worst = rig::worst(load, &packed, &|i| {
        let s = load.instances[i].0;
        let words: Vec<u32> = gpu.array(&skinned, i)?;
        let (positions, normals) = words.split_at(dense[s].points * 3);
        let positions = positions.as_chunks::<3>().0.iter();
        let positions = positions
            .map(|p| Vec3::from_array(p.map(f32::from_bits)))
            .collect();
        let normals = normals[..]
            .iter()
            .take(dense[s].points)
            .map(|w| from_octahedron(*w))
            .collect();
        Ok((positions, packed[s].has_point_normals().then_some(normals)))
    })?;
    Ok(Peer {
        name: NAME,
        upstream: UPSTREAM,
        seconds,
        points: measured,
        dispatches: dispatches.len(),
        bytes_per_point: bytes as f64 / measured as f64,
        bytes_note: "position 12 and octahedral normal 4, in and out; u16 bones and unorm16 weights; 12 per active dense shape",
        worst,
    })
}

/// Influences of a vertex.
fn influences(skin: &PackedSkin) -> usize {
    match skin.influences() {
        Some(influences) if influences.count() > 4 => 8,
        _ => 4,
    }
}

fn vertices(skin: &PackedSkin, count: usize) -> Vec<u32> {
    let positions = skin.points()[..count]
        .iter()
        .flat_map(|p| p.to_array().map(f32::to_bits));
    let normals = skin.normals().unwrap_or_default().iter().take(count);
    positions
        .chain(normals.map(|n| to_octahedron(*n)))
        .collect()
}

fn bones(skin: &PackedSkin, count: usize) -> Vec<u32> {
    let words = |out: &mut Vec<u32>, palette_indices: &[u16], weights: &[f32]| {
        let pairs = |values: &[u16]| {
            values
                .chunks(2)
                .map(|p| u32::from(p[0]) | u32::from(p[1]) << 16)
                .collect::<Vec<_>>()
        };
        let weights: Vec<u16> = weights
            .iter()
            .map(|w| (w * 65535.0).round() as u16)
            .collect();
        out.extend(pairs(palette_indices));
        out.extend(pairs(&weights));
    };
    let mut out = Vec::new();
    if skin.influences().is_some() {
        for point in 0..count {
            if influences(skin) == 8 {
                let (palette_indices, weights) = rig::largest::<8>(skin, point);
                words(&mut out, &palette_indices, &weights);
            } else {
                let (palette_indices, weights) = rig::largest::<4>(skin, point);
                words(&mut out, &palette_indices, &weights);
            }
        }
    }
    out
}

fn blend_shapes(skin: &sinew::skel::Skin, dense: &Dense) -> Vec<u32> {
    let mut out = vec![0u32; dense.targets * dense.points * 3];
    dense.for_each(skin, |target, point, offset| {
        let at = (target * dense.points + point) * 3;
        out[at..at + 3].copy_from_slice(&offset.to_array().map(f32::to_bits));
    });
    out
}

fn to_octahedron(n: Vec3) -> u32 {
    let n = n / (n.x.abs() + n.y.abs() + n.z.abs());
    let e = if n.z >= 0.0 {
        n.truncate()
    } else {
        (Vec2::ONE - Vec2::new(n.y, n.x).abs()) * Vec2::new(1f32.copysign(n.x), 1f32.copysign(n.y))
    };
    let whole = (e * 0.5 + 0.5) * 65535.0;
    whole.x.round() as u32 | (whole.y.round() as u32) << 16
}

fn from_octahedron(word: u32) -> Vec3 {
    let e = Vec2::new((word & 0xffff) as f32, (word >> 16) as f32) / 65535.0 * 2.0 - 1.0;
    let v = e.extend(1.0 - e.x.abs() - e.y.abs());
    let below = (-v.z).max(0.0);
    (v - Vec3::new(below.copysign(v.x), below.copysign(v.y), 0.0)).normalize()
}

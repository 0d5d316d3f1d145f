//! Storm, by Hydra's ext computations (OpenUSD, pxr/usdImaging/usdSkelImaging: shaders/skinning.glslfx and
//! extComputations.cpp): one dispatch per prim for points and another for normals.
//!
//! | of a point | bytes |
//! |---|---|
//! | rest point | 12 |
//! | influences, a joint as a float and a weight each | 8 each, 32 for four |
//! | range of its blend offsets, where the prim has shapes | 8 |
//! | blend offsets, active or not | 16 each |
//! | skinned point | 12 |
//! | normals: rest, influences once more, skinned | 12 + 8 each + 12 |
//!
//! Joints are 64 bytes each. Prims with the same rest data share them, as Storm's registry has it. Matrices that Hydra
//! holds as doubles are floats here.

use bytemuck::{Pod, Zeroable};
use glam::{Mat4, Vec3};
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::PackedSkin;
use sinew::skel::Skin;

use super::gpu::Gpu;
use super::rig;
use crate::load::{Load, Peer};

const UPSTREAM: &str = "PixarAnimationStudios/OpenUSD 26f837364617, TOST-1.0";

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Prim {
    geom_bind: Mat4,
    prim_from_world: Mat4,
    world_from_skel: Mat4,
    points: u32,
    influences_per_point: u32,
    constant_influences: u32,
    offset_ranges: u32,
}

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: usize) -> Result<Peer, GpuError> {
    const NAME: &str = "Hydra (Storm)";
    rig::suits(NAME, load)?;
    let gpu = &Gpu::new(device);
    let packed = rig::packed(load);
    let of_skins = |f: &dyn Fn(&PackedSkin) -> Vec<f32>| packed.iter().map(f).collect::<Vec<_>>();
    let rest = gpu.arrays(
        "hydra.rest",
        &of_skins(&|s| bytemuck::cast_slice(s.points()).to_vec()),
    )?;
    let rest_normals = of_skins(&|s| {
        s.normals()
            .map_or(Vec::new(), |n| bytemuck::cast_slice(n).to_vec())
    });
    let rest_normals = gpu.arrays("hydra.normals", &rest_normals)?;
    let influences = gpu.arrays("hydra.influences", &of_skins(&influences))?;
    let blends: Vec<Offsets> = load.skins.iter().map(|s| Offsets::new(s)).collect();
    let ranges: Vec<_> = blends.iter().map(|b| b.ranges.clone()).collect();
    let offsets: Vec<_> = blends.iter().map(|b| b.offsets.clone()).collect();
    let ranges = gpu.arrays("hydra.offset_ranges", &ranges)?;
    let offsets = gpu.arrays("hydra.offsets", &offsets)?;

    let of_instances = || {
        load.instances
            .iter()
            .map(|(s, pose)| (*s, &packed[*s], pose))
    };
    let points_kernel = gpu.kernel("hydra.points", include_str!("hydra_points.wgsl"));
    let normals_kernel = gpu.kernel("hydra.normals", include_str!("hydra_normals.wgsl"));
    let joints: Vec<_> = of_instances()
        .map(|(_, _, pose)| rig::skinning(pose))
        .collect();
    let joints = gpu.arrays("hydra.joints", &joints)?;
    let weights: Vec<_> = of_instances()
        .map(|(s, _, pose)| rig::target_weights(&load.skins[s], pose))
        .collect();
    let weights = gpu.arrays("hydra.weights", &weights)?;
    let prims: Vec<_> = of_instances()
        .map(|(s, skin, pose)| {
            vec![Prim {
                geom_bind: pose.geom_bind.as_mat4(),
                prim_from_world: pose.out_from_skel.as_mat4(),
                world_from_skel: Mat4::IDENTITY,
                points: skin.point_count() as u32,
                influences_per_point: skin.influences().map_or(0, |i| i.count()),
                constant_influences: skin.influences().is_some_and(|i| i.is_constant()).into(),
                offset_ranges: blends[s].ranges.len() as u32,
            }]
        })
        .collect();
    let prims = gpu.arrays("hydra.prims", &prims)?;
    let sizes = |with: &dyn Fn(&PackedSkin) -> usize| {
        of_instances()
            .map(|(_, s, _)| with(s) as u64 * 12)
            .collect::<Vec<_>>()
    };
    let skinned = gpu.outputs("hydra.skinned", &sizes(&|s| s.point_count()))?;
    let skinned_normals = gpu.outputs("hydra.skinned_normals", &sizes(&|s| s.normal_count()))?;

    let mut dispatches = Vec::new();
    let (mut bytes, mut points) = (0, 0);
    for (i, (s, skin, _)) in of_instances().enumerate() {
        let count = skin.point_count();
        points += count;
        let records = match skin.influences() {
            Some(influences) if !influences.is_constant() => {
                count * influences.count() as usize * 8
            }
            _ => 0,
        };
        bytes += count * 24 + records + blends[s].ranges.len() * 8 + blends[s].offsets.len() * 16;
        let resources = [
            prims.binding(i),
            rest.binding(s),
            influences.binding(s),
            joints.binding(i),
            ranges.binding(s),
            offsets.binding(s),
            weights.binding(i),
            skinned.binding(i),
        ];
        dispatches.push(gpu.dispatch(&points_kernel, &resources, count)?);
        if skin.has_point_normals() {
            bytes += count * 24 + records;
            let resources = [
                prims.binding(i),
                rest_normals.binding(s),
                influences.binding(s),
                joints.binding(i),
                skinned_normals.binding(i),
            ];
            dispatches.push(gpu.dispatch(&normals_kernel, &resources, count)?);
        }
    }
    let seconds = gpu.measure(&dispatches, runs)?;
    let worst = rig::worst(load, &packed, &|i| {
        let skin = &packed[load.instances[i].0];
        let vectors = |arrays, count: usize| -> Result<Vec<Vec3>, GpuError> {
            let mut floats: Vec<f32> = gpu.array(arrays, i)?;
            floats.truncate(count * 3);
            Ok(bytemuck::cast_slice(&floats).to_vec())
        };
        let normals = match skin.has_point_normals() {
            true => Some(vectors(&skinned_normals, skin.normal_count())?),
            false => None,
        };
        Ok((vectors(&skinned, skin.point_count())?, normals))
    })?;
    Ok(Peer {
        name: NAME,
        upstream: UPSTREAM,
        seconds,
        points,
        dispatches: dispatches.len(),
        bytes_per_point: bytes as f64 / points as f64,
        bytes_note: "rest 12, 8 per influence, result 12, 8 for its range and 16 per offset of shapes; normals as much again",
        worst,
    })
}

fn influences(skin: &PackedSkin) -> Vec<f32> {
    let Some(influences) = skin.influences() else {
        return Vec::new();
    };
    let records = if influences.is_constant() {
        1
    } else {
        skin.point_count()
    };
    (0..records)
        .flat_map(|point| influences.of_point(point))
        .flat_map(|(palette_index, weight)| [f32::from(palette_index), weight])
        .collect()
}

/// Blend offsets by point.
struct Offsets {
    ranges: Vec<[i32; 2]>,
    offsets: Vec<[f32; 4]>,
}

impl Offsets {
    fn new(skin: &Skin) -> Self {
        if skin.shapes().iter().all(Option::is_none) {
            return Self {
                ranges: Vec::new(),
                offsets: Vec::new(),
            };
        }
        let mut of_points = vec![Vec::new(); skin.points().len()];
        let mut number = 0.0;
        for shape in skin.shapes().iter().flatten() {
            for sub_shape in shape.sub_shapes() {
                for (entry, offset) in sub_shape.offsets.iter().enumerate() {
                    of_points[shape.point_of(entry)].push(offset.extend(number).to_array());
                }
                number += 1.0;
            }
        }
        let (mut ranges, mut end) = (Vec::with_capacity(of_points.len()), 0);
        for offsets in &of_points {
            ranges.push([end, end + offsets.len() as i32]);
            end += offsets.len() as i32;
        }
        Self {
            ranges,
            offsets: of_points.concat(),
        }
    }
}

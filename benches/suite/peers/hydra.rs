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
use glam::Mat4;
use sinew::gpu::GpuDevice;

use super::rig::{self, Frame, Rest};
use super::{About, Load, Peer, Result};
use crate::measure::Runs;

const ABOUT: About = About {
    name: "Hydra (Storm)",
    upstream: "PixarAnimationStudios/OpenUSD 26f837364617, TOST-1.0",
    bytes: "rest 12, 8 per influence, result 12, 8 for its range and 16 per offset of shapes; normals as much again",
};

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

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: Runs) -> Result<Peer> {
    let mut frame = Frame::new(ABOUT, device, load, 0, false)?;
    let rest = frame.of_skins("hydra.rest", |rest| rest.positions().to_vec())?;
    let rest_normals = frame.of_skins("hydra.normals", |rest| rest.normals().to_vec())?;
    let influences = frame.of_skins("hydra.influences", influences)?;
    let blends: Vec<Offsets> = frame.rests.iter().map(Offsets::new).collect();
    let ranges: Vec<_> = blends.iter().map(|b| b.ranges.clone()).collect();
    let ranges = frame.gpu.arrays("hydra.offset_ranges", &ranges)?;
    let offsets: Vec<_> = blends.iter().map(|b| b.offsets.clone()).collect();
    let offsets = frame.gpu.arrays("hydra.offsets", &offsets)?;
    let joints = frame.of_instances("hydra.joints", |_, pose| rig::skinning(pose))?;
    let weights = frame.of_instances("hydra.weights", Rest::target_weights)?;
    let prims = frame.of_instances("hydra.prims", |rest, pose| {
        let influences = rest.packed.influences();
        let has_shapes = rest.skin.shapes().iter().any(Option::is_some);
        vec![Prim {
            geom_bind: pose.geom_bind.as_mat4(),
            prim_from_world: pose.out_from_skel.as_mat4(),
            world_from_skel: Mat4::IDENTITY,
            points: rest.points as u32,
            influences_per_point: influences.map_or(0, |i| i.count()),
            constant_influences: influences.is_some_and(|i| i.is_constant()).into(),
            offset_ranges: if has_shapes { rest.points as u32 } else { 0 },
        }]
    })?;
    let skinned = frame.outputs("hydra.skinned", true, |rest| rest.points * 3)?;
    let normal_words = |rest: &Rest<'_>| rest.normals().len() * 3;
    let skinned_normals = frame.outputs("hydra.skinned_normals", true, normal_words)?;

    let points_kernel = frame
        .gpu
        .kernel("hydra.points", include_str!("hydra_points.wgsl"));
    let normals_kernel = frame
        .gpu
        .kernel("hydra.normals", include_str!("hydra_normals.wgsl"));
    for (i, (s, _)) in load.instances.iter().enumerate() {
        let (skin, blend) = (&frame.rests[*s], &blends[*s]);
        let (points, has_normals) = (skin.points, skin.has_normals());
        let records = skin.packed.influences().filter(|i| !i.is_constant());
        let records = records.map_or(0, |i| points * i.count() as usize * 8);
        frame.bytes += points * 24 + records + blend.ranges.len() * 8 + blend.offsets.len() * 16;
        let resources = [
            prims.binding(i),
            rest.binding(*s),
            influences.binding(*s),
            joints.binding(i),
            ranges.binding(*s),
            offsets.binding(*s),
            weights.binding(i),
            skinned.binding(i),
        ];
        frame.dispatch(&points_kernel, &resources, points)?;
        if has_normals {
            frame.bytes += points * 24 + records;
            let resources = [
                prims.binding(i),
                rest_normals.binding(*s),
                influences.binding(*s),
                joints.binding(i),
                skinned_normals.binding(i),
            ];
            frame.dispatch(&normals_kernel, &resources, points)?;
        }
    }
    frame.measured(runs, &|i| {
        let rest = &frame.rests[load.instances[i].0];
        let vectors = |arrays| frame.gpu.vectors(arrays, i, rest.points);
        let normals = rest.has_normals().then(|| vectors(&skinned_normals));
        Ok((vectors(&skinned)?, normals.transpose()?))
    })
}

fn influences(rest: &Rest<'_>) -> Vec<f32> {
    let Some(influences) = rest.packed.influences() else {
        return Vec::new();
    };
    let records = if influences.is_constant() {
        1
    } else {
        rest.points
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
    fn new(rest: &Rest<'_>) -> Self {
        let (mut ranges, mut offsets) = (Vec::new(), Vec::new());
        if rest.targets > 0 {
            for of_point in rest.sparse() {
                let first = offsets.len() as i32;
                let own = of_point.into_iter();
                offsets.extend(own.map(|(target, offset)| offset.extend(target as f32).to_array()));
                ranges.push([first, offsets.len() as i32]);
            }
        }
        Self { ranges, offsets }
    }
}

//! Bevy's skin cache (crates/bevy_pbr/src/render: skin/skin_cache.wgsl, morph.wgsl, skinning.wgsl): one dispatch over all mesh
//! instances whose vertices share a slab, dense morph targets in a storage buffer.
//!
//! | of a vertex | bytes |
//! |---|---|
//! | position, normal, four f32 weights, four u16 joints | 48, without normals 36 |
//! | every active morph target, dense: position, normal and tangent, each padded to 16 | 48 |
//! | skinned position, normal and tangent, padded the same way; the tangent is left out | 48 |
//!
//! Joints are 64 bytes. Records are counted whole, since memory moves in lines. A vertex has four influences: of more, the four
//! largest are kept and made to add up to 1. Normals go by the inverse transpose of the blended matrix, where UsdSkel blends
//! the inverse transposes. In-betweens are targets of their own. Where dense targets do not fit a binding, the first points
//! that fit are measured. Without normals a vertex has no place for one and none is computed (VERTEX_NORMALS).

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::PackedSkin;

use super::gpu::{Gpu, WORKGROUP};
use super::rig;
use crate::load::{Load, Peer};

const UPSTREAM: &str = "bevyengine/bevy 44aa9b3159a4, MIT or Apache-2.0";

const NONE: u32 = u32::MAX;
const RECORD: u64 = 48;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Mesh {
    first_cached: u32,
    first_vertex: u32,
    skin: u32,
    morph: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Morph {
    first_weight: u32,
    weight_count: u32,
    first_target: u32,
    vertex_count: u32,
}

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: usize) -> Result<Peer, GpuError> {
    const NAME: &str = "Bevy (CacheSkin)";
    rig::suits(NAME, load)?;
    let gpu = &Gpu::new(device);
    let packed = rig::packed(load);
    let has_normals = packed.iter().any(PackedSkin::has_point_normals);
    let room = gpu.largest_array() / load.skins.len() as u64;
    let dense = rig::dense(gpu, load, RECORD, room);
    let firsts = |counts: &mut dyn Iterator<Item = usize>| -> Vec<u32> {
        let sums = counts.scan(0, |next, count| {
            Some(std::mem::replace(next, *next + count as u32))
        });
        sums.collect()
    };
    let first_vertex = firsts(&mut dense.iter().map(|d| d.points));
    let first_target = firsts(&mut dense.iter().map(|d| d.points * d.targets));
    let slab: Vec<u32> = packed
        .iter()
        .zip(&dense)
        .flat_map(|(skin, dense)| vertices(skin, dense.points, has_normals))
        .collect();
    let mut targets = vec![0f32; 12 * dense.iter().map(|d| d.points * d.targets).sum::<usize>()];
    for ((skin, dense), first) in load.skins.iter().zip(&dense).zip(&first_target) {
        dense.for_each(skin, |target, point, offset| {
            let at = (*first as usize + target * dense.points + point) * 12;
            targets[at..at + 3].copy_from_slice(&offset.to_array());
        });
    }
    let slab = gpu.arrays("bevy.vertices", &[slab])?;
    let targets = gpu.arrays("bevy.targets", &[targets])?;

    let of_instances = || {
        load.instances
            .iter()
            .map(|(s, pose)| (*s, &packed[*s], pose))
    };
    let (mut meshes, mut morphs, mut joints, mut weights) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (s, skin, pose) in of_instances() {
        let morphed = dense[s].targets > 0;
        meshes.push(Mesh {
            first_cached: 0,
            first_vertex: first_vertex[s],
            skin: if skin.influences().is_some() {
                joints.len() as u32
            } else {
                NONE
            },
            morph: if morphed { morphs.len() as u32 } else { NONE },
        });
        morphs.push(Morph {
            first_weight: weights.len() as u32,
            weight_count: dense[s].targets as u32,
            first_target: first_target[s],
            vertex_count: dense[s].points as u32,
        });
        weights.extend(rig::target_weights(&load.skins[s], pose));
        joints.extend(rig::joints(pose));
    }
    let active = weights.iter().filter(|w| **w != 0.0).count() as f64 / load.instances.len() as f64;
    // What one dispatch writes: a binding, and as many workgroups as there may be in a row.
    let workgroups = device
        .device()
        .limits()
        .max_compute_workgroups_per_dimension as usize;
    let most = (workgroups * WORKGROUP).min((gpu.largest_array() / RECORD) as usize);
    let pages = pages(
        &mut meshes,
        &mut of_instances().map(|(s, ..)| dense[s].points),
        most,
    );

    let defines = format!("const VERTEX_NORMALS: bool = {has_normals};\n");
    let kernel = gpu.kernel("bevy", &(defines + include_str!("bevy.wgsl")));
    let joints = gpu.arrays("bevy.joints", &[joints])?;
    let weights = gpu.arrays("bevy.weights", &[weights])?;
    let morphs = gpu.arrays("bevy.morphs", &[morphs])?;
    let page_meshes: Vec<Vec<Mesh>> = pages.iter().map(|page| page.meshes(&meshes)).collect();
    let tasks: Vec<Vec<u32>> = pages
        .iter()
        .map(|page| (0..=page.instances.len() as u32).collect())
        .collect();
    // Their length says where the search ends.
    let sizes: Vec<u64> = pages
        .iter()
        .map(|page| page.vertices as u64 * RECORD)
        .collect();
    let (mut dispatches, mut outputs) = (Vec::new(), Vec::new());
    for ((page, size), (page_meshes, tasks)) in
        pages.iter().zip(&sizes).zip(page_meshes.iter().zip(&tasks))
    {
        let skinned = gpu.outputs("bevy.skinned", &[*size])?;
        let tasks = gpu.exact("bevy.tasks", tasks);
        let page_meshes = gpu.arrays("bevy.meshes", std::slice::from_ref(page_meshes))?;
        let resources = [
            tasks.as_entire_binding(),
            skinned.binding(0),
            slab.binding(0),
            page_meshes.binding(0),
            joints.binding(0),
            weights.binding(0),
            targets.binding(0),
            morphs.binding(0),
        ];
        dispatches.push(gpu.dispatch(&kernel, &resources, page.vertices)?);
        outputs.push(skinned);
    }
    let seconds = gpu.measure(&dispatches, runs)?;
    let worst = rig::worst(load, &packed, &|i| {
        let page = pages
            .iter()
            .position(|page| page.instances.contains(&i))
            .expect("in a page");
        let floats: Vec<[f32; 12]> = gpu.array(&outputs[page], 0)?;
        let records =
            &floats[meshes[i].first_cached as usize..][..dense[load.instances[i].0].points];
        let vectors = |at: usize| -> Vec<Vec3> {
            records
                .iter()
                .map(|r| Vec3::new(r[at], r[at + 1], r[at + 2]))
                .collect()
        };
        Ok((vectors(0), has_normals.then(|| vectors(4))))
    })?;
    let measured: usize = of_instances().map(|(s, ..)| dense[s].points).sum();
    // A place for a normal only where there are some.
    let vertex = if has_normals { RECORD } else { RECORD - 12 };
    Ok(Peer {
        name: NAME,
        upstream: UPSTREAM,
        seconds,
        points: measured,
        dispatches: dispatches.len(),
        bytes_per_point: vertex as f64 + RECORD as f64 * (1.0 + active),
        bytes_note: "vertex 48 (36 without a normal), skinned vertex 48 (padded, with a place for a tangent), 48 per active dense target",
        worst,
    })
}

/// Instances of one dispatch.
struct Page {
    instances: std::ops::Range<usize>,
    vertices: usize,
}

impl Page {
    /// Its instances, and one more that begins where its vertices end.
    fn meshes(&self, all: &[Mesh]) -> Vec<Mesh> {
        let mut out = all[self.instances.clone()].to_vec();
        out.push(Mesh {
            first_cached: self.vertices as u32,
            ..Mesh::zeroed()
        });
        out
    }
}

/// Divides instances, and tells each where its skinned vertices begin.
fn pages(meshes: &mut [Mesh], counts: &mut dyn Iterator<Item = usize>, most: usize) -> Vec<Page> {
    let mut pages = vec![Page {
        instances: 0..0,
        vertices: 0,
    }];
    for (i, (mesh, count)) in meshes.iter_mut().zip(counts).enumerate() {
        let last = pages.len() - 1;
        if pages[last].vertices + count > most && pages[last].vertices > 0 {
            pages.push(Page {
                instances: i..i,
                vertices: 0,
            });
        }
        let last = pages.len() - 1;
        mesh.first_cached = pages[last].vertices as u32;
        pages[last].vertices += count;
        pages[last].instances.end = i + 1;
    }
    pages
}

fn vertices(skin: &PackedSkin, count: usize, has_normals: bool) -> Vec<u32> {
    let mut out = Vec::with_capacity(count * 12);
    for (point, p) in skin.points().iter().take(count).enumerate() {
        let normal = skin.normals().map_or(Vec3::Z, |n| n[point]);
        let (palette_indices, weights) = rig::largest::<4>(skin, point);
        out.extend(p.to_array().map(f32::to_bits));
        if has_normals {
            out.extend(normal.to_array().map(f32::to_bits));
        }
        out.extend(weights.map(f32::to_bits));
        out.extend(
            [0, 2].map(|i| u32::from(palette_indices[i]) | u32::from(palette_indices[i + 1]) << 16),
        );
    }
    out
}

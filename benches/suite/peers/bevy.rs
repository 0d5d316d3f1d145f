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

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use sinew::gpu::GpuDevice;

use super::gpu::WORKGROUP;
use super::rig::{self, Frame, Rest};
use super::{About, Load, Peer, Result};
use crate::measure::Runs;

pub const ABOUT: About = About {
    name: "Bevy (CacheSkin)",
    upstream: "bevyengine/bevy 44aa9b3159a4, MIT or Apache-2.0",
    bytes: "vertex 48 (36 without a normal), skinned vertex 48 (padded, with a place for a tangent), 48 per active dense target",
};

const NONE: u32 = u32::MAX;
const RECORD: usize = 48;

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

/// Instances of one dispatch.
struct Page {
    instances: Range<usize>,
    vertices: usize,
}

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: Runs) -> Result<Peer> {
    let mut frame = Frame::new(ABOUT, device, load, RECORD as u64, true)?;
    let has_normals = frame.rests.iter().any(Rest::has_normals);
    let firsts = |count: fn(&Rest<'_>) -> usize| -> Vec<u32> {
        let sums = frame.rests.iter().scan(0, |next, rest| {
            Some(std::mem::replace(next, *next + count(rest) as u32))
        });
        sums.collect()
    };
    let first_vertex = firsts(|rest| rest.points);
    let first_target = firsts(|rest| rest.points * rest.targets);
    let rests = || frame.rests.iter();
    let slab = rests().flat_map(|rest| vertices(rest, has_normals));
    let slab = frame
        .gpu
        .arrays("bevy.vertices", &[slab.collect::<Vec<u32>>()])?;
    let targets = rests().flat_map(|rest| {
        let place = |target, point| (target * rest.points + point) * 12;
        rest.dense(rest.targets * rest.points * 12, place)
    });
    let targets = frame
        .gpu
        .arrays("bevy.targets", &[targets.collect::<Vec<f32>>()])?;

    let (mut meshes, mut morphs) = (Vec::new(), Vec::new());
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for (i, (s, rest, pose)) in frame.instances().enumerate() {
        let skin = joints.len() as u32;
        meshes.push(Mesh {
            first_cached: 0,
            first_vertex: first_vertex[s],
            skin: if rest.is_skinned() { skin } else { NONE },
            morph: if rest.targets > 0 { i as u32 } else { NONE },
        });
        morphs.push(Morph {
            first_weight: weights.len() as u32,
            weight_count: rest.targets as u32,
            first_target: first_target[s],
            vertex_count: rest.points as u32,
        });
        weights.extend(rest.target_weights(pose));
        joints.extend(rig::joints(pose));
    }
    let active = weights.iter().filter(|w| **w != 0.0).count();
    // What one dispatch writes: a binding, and as many workgroups as there may be in a row.
    let workgroups = device
        .device()
        .limits()
        .max_compute_workgroups_per_dimension as usize;
    let most = (workgroups * WORKGROUP).min(frame.gpu.largest_array() as usize / RECORD);
    let counts: Vec<usize> = frame.instances().map(|(_, rest, _)| rest.points).collect();
    let pages = pages(&mut meshes, &counts, most);

    let defines = format!("const VERTEX_NORMALS: bool = {has_normals};\n");
    let kernel = frame
        .gpu
        .kernel("bevy", &(defines + include_str!("bevy.wgsl")));
    let joints = frame.gpu.arrays("bevy.joints", &[joints])?;
    let weights = frame.gpu.arrays("bevy.weights", &[weights])?;
    let morphs = frame.gpu.arrays("bevy.morphs", &[morphs])?;
    let mut outputs = Vec::new();
    for page in &pages {
        let skinned = [(page.vertices * RECORD) as u64];
        let skinned = frame.gpu.outputs("bevy.skinned", &skinned, true)?;
        // Their length says where the search ends.
        let tasks: Vec<u32> = (0..=page.instances.len() as u32).collect();
        let tasks = frame.gpu.exact("bevy.tasks", &tasks);
        // Its instances, and one more that begins where its vertices end.
        let mut page_meshes = meshes[page.instances.clone()].to_vec();
        page_meshes.push(Mesh {
            first_cached: page.vertices as u32,
            ..Mesh::zeroed()
        });
        let page_meshes = frame.gpu.arrays("bevy.meshes", &[page_meshes])?;
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
        frame.dispatch(&kernel, &resources, page.vertices)?;
        outputs.push(skinned);
    }
    // A place for a normal only where there are some.
    let vertex = if has_normals { RECORD } else { RECORD - 12 };
    let each = (vertex + RECORD) as f64 + (RECORD * active) as f64 / load.instances.len() as f64;
    let mut measured = frame.measured(runs, &|i| {
        let page = pages.iter().position(|page| page.instances.contains(&i));
        let page = page.expect("in a page");
        let records: Vec<[f32; 12]> = frame.gpu.array(&outputs[page], 0)?;
        let records = &records[meshes[i].first_cached as usize..][..counts[i]];
        let vectors = |at: usize| records.iter().map(|r| Vec3::from_slice(&r[at..])).collect();
        Ok((vectors(0), has_normals.then(|| vectors(4))))
    })?;
    measured.bytes_per_point = each;
    Ok(measured)
}

/// Divides instances, and tells each where its skinned vertices begin.
fn pages(meshes: &mut [Mesh], counts: &[usize], most: usize) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    for (i, (mesh, count)) in meshes.iter_mut().zip(counts).enumerate() {
        let is_full = |page: &Page| page.vertices > 0 && page.vertices + count > most;
        if pages.last().is_none_or(is_full) {
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

fn vertices(rest: &Rest<'_>, has_normals: bool) -> Vec<u32> {
    let mut out = Vec::with_capacity(rest.points * 12);
    for (point, p) in rest.positions().iter().enumerate() {
        let (palette_indices, weights) = rest.largest::<4>(point);
        out.extend(p.to_array().map(f32::to_bits));
        if has_normals {
            let normal = rest.normals().get(point).copied().unwrap_or(Vec3::Z);
            out.extend(normal.to_array().map(f32::to_bits));
        }
        out.extend(weights.map(f32::to_bits));
        out.extend(rig::pairs(&palette_indices));
    }
    out
}

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
use sinew::gpu::GpuDevice;

use super::rig::{self, Frame, Rest};
use super::{About, Load, Peer, Result};
use crate::measure::Runs;

pub const ABOUT: About = About {
    name: "Godot",
    upstream: "godotengine/godot 386e8dc6668a, MIT",
    bytes: "position 12 and octahedral normal 4, in and out; u16 bones and unorm16 weights; 12 per active dense shape",
};

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

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: Runs) -> Result<Peer> {
    let mut frame = Frame::new(ABOUT, device, load, 12, false)?;
    let vertices = frame.of_skins("godot.vertices", vertices)?;
    let bones = frame.of_skins("godot.bones", bones)?;
    let blend_shapes = frame.of_skins("godot.blend_shapes", |rest| {
        let place = |target, point| (target * rest.points + point) * 3;
        rest.dense(rest.targets * rest.points * 3, place)
    })?;
    let joints = frame.of_instances("godot.joints", |_, pose| {
        let joints = rig::joints(pose).into_iter();
        joints
            .flat_map(|m| [m.row(0), m.row(1), m.row(2)])
            .collect()
    })?;
    let surfaces = frame.of_instances("godot.surfaces", |rest, _| {
        let per_vertex = influences(rest) as u32;
        vec![Surface {
            vertex_count: rest.points as u32,
            has_normal: rest.has_normals().into(),
            has_skeleton: rest.is_skinned().into(),
            skin_stride: per_vertex,
            skin_weights: per_vertex / 2,
            blend_shape_count: rest.targets as u32,
            unused: [0; 2],
        }]
    })?;
    let words = |rest: &Rest<'_>| if rest.has_normals() { 4 } else { 3 };
    let skinned = frame.outputs("godot.skinned", false, |rest| rest.points * words(rest))?;
    let weights = frame.of_instances("godot.weights", Rest::target_weights)?;

    let kernel = frame.gpu.kernel("godot", include_str!("godot.wgsl"));
    for (i, (s, pose)) in load.instances.iter().enumerate() {
        let rest = &frame.rests[*s];
        let active = rest.target_weights(pose).into_iter();
        let active = active.filter(|w| w.abs() > 0.0001).count();
        let of_skin = if rest.is_skinned() {
            influences(rest) * 4
        } else {
            0
        };
        frame.bytes += rest.points * (words(rest) * 8 + of_skin + active * 12);
        let resources = [
            surfaces.binding(i),
            vertices.binding(*s),
            bones.binding(*s),
            blend_shapes.binding(*s),
            weights.binding(i),
            joints.binding(i),
            skinned.binding(i),
        ];
        let points = rest.points;
        frame.dispatch(&kernel, &resources, points)?;
    }
    frame.measured(runs, &|i| {
        let rest = &frame.rests[load.instances[i].0];
        let words: Vec<u32> = frame.gpu.array(&skinned, i)?;
        let (positions, normals) = words.split_at(rest.points * 3);
        let positions = positions.as_chunks::<3>().0.iter();
        let positions = positions.map(|p| Vec3::from_array(p.map(f32::from_bits)));
        let normals = normals
            .iter()
            .take(rest.points)
            .map(|w| from_octahedron(*w));
        let normals = rest.has_normals().then(|| normals.collect());
        Ok((positions.collect(), normals))
    })
}

/// Influences of a vertex.
fn influences(rest: &Rest<'_>) -> usize {
    match rest.packed.influences() {
        Some(influences) if influences.count() > 4 => 8,
        _ => 4,
    }
}

fn vertices(rest: &Rest<'_>) -> Vec<u32> {
    let positions = rest.positions().iter();
    let positions = positions.flat_map(|p| p.to_array().map(f32::to_bits));
    let normals = rest.normals().iter().map(|n| to_octahedron(*n));
    positions.chain(normals).collect()
}

fn bones(rest: &Rest<'_>) -> Vec<u32> {
    let words = |palette_indices: &[u16], weights: &[f32]| -> Vec<u32> {
        let weights = weights.iter().map(|w| (w * 65535.0).round() as u16);
        let weights: Vec<u16> = weights.collect();
        rig::pairs(palette_indices)
            .chain(rig::pairs(&weights))
            .collect()
    };
    let of_point = |point| match influences(rest) {
        8 => {
            let (palette_indices, weights) = rest.largest::<8>(point);
            words(&palette_indices, &weights)
        }
        _ => {
            let (palette_indices, weights) = rest.largest::<4>(point);
            words(&palette_indices, &weights)
        }
    };
    let points = if rest.is_skinned() { rest.points } else { 0 };
    (0..points).flat_map(of_point).collect()
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

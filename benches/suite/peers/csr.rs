//! The plain walk over compressed sparse rows: what gathering shapes costs without lists of the active ones.
//!
//! | | bytes |
//! |---|---|
//! | rest point, row, blended point | 28 of a point |
//! | sub-shape number | 4 of every entry |
//! | offset | 12 of every entry of an active sub-shape |

use glam::Vec3;
use sinew::gpu::{GpuDevice, GpuError};
use sinew::kernel::PackedSkin;

use super::gpu::Gpu;
use super::rig;
use crate::load::{Load, Peer};

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: usize) -> Result<Peer, GpuError> {
    let [(number, pose)] = load.instances else {
        return Err(GpuError::Mismatch(format!(
            "{}: the plain walk takes one mesh",
            load.name
        )));
    };
    let skin = &load.skins[*number];
    let count = skin.points().len();
    let mut entries: Vec<Vec<(u32, Vec3)>> = vec![Vec::new(); count];
    let mut weights = Vec::new();
    for (shape, channel) in skin.shapes().iter().zip(&pose.channel_weights) {
        let Some(shape) = shape else { continue };
        let own = shape.sub_shape_weights(f64::from(*channel));
        for (sub, weight) in shape.sub_shapes().iter().zip(own) {
            for (entry, offset) in sub.offsets.iter().enumerate() {
                entries[shape.point_of(entry)].push((weights.len() as u32, *offset));
            }
            weights.push(weight as f32);
        }
    }
    let mut rows = vec![0u32];
    let (mut sub_shapes, mut offsets) = (Vec::new(), Vec::new());
    for (sub, offset) in entries.into_iter().flat_map(|own| {
        rows.push(rows[rows.len() - 1] + own.len() as u32);
        own
    }) {
        sub_shapes.push(sub);
        offsets.push(offset);
    }
    let active = sub_shapes
        .iter()
        .filter(|s| weights[**s as usize] != 0.0)
        .count();
    let bytes = 28 * count + 4 * sub_shapes.len() + 12 * active;

    let gpu = Gpu::new(device);
    let rest = gpu.arrays("csr.rest", &[skin.points().to_vec()])?;
    let rows = gpu.exact("csr.rows", &rows);
    let sub_shapes = gpu.arrays("csr.sub_shapes", &[sub_shapes])?;
    let offsets = gpu.arrays("csr.offsets", &[offsets])?;
    let weights = gpu.arrays("csr.weights", &[weights])?;
    let blended = gpu.outputs("csr.blended", &[count as u64 * 12])?;
    let pipeline = gpu.kernel("csr", include_str!("csr.wgsl"));
    let resources = [
        rest.binding(0),
        rows.as_entire_binding(),
        sub_shapes.binding(0),
        offsets.binding(0),
        weights.binding(0),
        blended.binding(0),
    ];
    let dispatches = [gpu.dispatch(&pipeline, &resources, count)?];
    let seconds = gpu.measure(&dispatches, runs)?;
    let packed = PackedSkin::pack("/Peer", skin).map_err(|e| GpuError::Mismatch(e.to_string()))?;
    let worst = rig::worst(load, std::slice::from_ref(&packed), &|_| {
        let mut points: Vec<Vec3> = gpu.array(&blended, 0)?;
        points.truncate(count);
        Ok((points, None))
    })?;
    Ok(Peer {
        name: "plain CSR walk",
        upstream: "the plain way, no one's",
        seconds,
        points: count,
        dispatches: dispatches.len(),
        bytes_per_point: bytes as f64 / count as f64,
        bytes_note: "28 a point, 4 of every entry, 12 of every active one",
        worst,
    })
}

//! The plain walk over compressed sparse rows: what gathering shapes costs without lists of the active ones.
//!
//! | | bytes |
//! |---|---|
//! | rest point, row, blended point | 28 of a point |
//! | sub-shape number | 4 of every entry |
//! | offset | 12 of every entry of an active sub-shape |

use sinew::gpu::{GpuDevice, GpuError};

use super::rig::Frame;
use super::{About, Load, Peer, Result};
use crate::measure::Runs;

const ABOUT: About = About {
    name: "plain CSR walk",
    upstream: "the plain way, no one's",
    bytes: "28 a point, 4 of every entry, 12 of every active one",
};

pub fn run(device: &GpuDevice, load: &Load<'_>, runs: Runs) -> Result<Peer> {
    let [(number, pose)] = load.instances else {
        let why = format!("{}: the plain walk takes one mesh", load.name);
        return Err(GpuError::Unsupported(why).into());
    };
    let mut frame = Frame::new(ABOUT, device, load, 0, false)?;
    let rest = &frame.rests[*number];
    let (points, weights) = (rest.points, rest.target_weights(pose));
    let mut rows = vec![0u32];
    let (mut sub_shapes, mut offsets) = (Vec::new(), Vec::new());
    for (sub, offset) in rest.sparse().into_iter().flat_map(|own| {
        rows.push(rows[rows.len() - 1] + own.len() as u32);
        own
    }) {
        sub_shapes.push(sub);
        offsets.push(offset);
    }
    let active = |sub: &&u32| weights[**sub as usize] != 0.0;
    let active = sub_shapes.iter().filter(active).count();
    frame.bytes = 28 * points + 4 * sub_shapes.len() + 12 * active;

    let gpu = &frame.gpu;
    let rest = gpu.arrays("csr.rest", &[rest.positions().to_vec()])?;
    let rows = gpu.exact("csr.rows", &rows);
    let sub_shapes = gpu.arrays("csr.sub_shapes", &[sub_shapes])?;
    let offsets = gpu.arrays("csr.offsets", &[offsets])?;
    let weights = gpu.arrays("csr.weights", &[weights])?;
    let blended = frame.outputs("csr.blended", true, |rest| rest.points * 3)?;
    let kernel = gpu.kernel("csr", include_str!("csr.wgsl"));
    let resources = [
        rest.binding(0),
        rows.as_entire_binding(),
        sub_shapes.binding(0),
        offsets.binding(0),
        weights.binding(0),
        blended.binding(0),
    ];
    frame.dispatch(&kernel, &resources, points)?;
    frame.measured(runs, &|_| {
        Ok((frame.gpu.vectors(&blended, 0, points)?, None))
    })
}

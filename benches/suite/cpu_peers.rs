//! Peers of the CPU backend that are measured in this process.

use crate::load::Load;
use crate::measure::{Runs, Times};
use crate::peers::ozz;
use crate::row::Row;
use crate::sinew_cpu::case;
use crate::workloads::Workload;

/// ozz-animation's loops on points, and on points with normals where there are some, in a pool of so many threads. None for
/// faces, which it has nothing for.
pub fn rows(load: &Workload, threads: usize, runs: Runs) -> Result<Vec<Row>, String> {
    if load.rig.is_none() || !ozz::is_available() {
        return Ok(Vec::new());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| e.to_string())?;
    let instances = load.instances(0);
    let of_peers = Load {
        name: load.kind.name(),
        skins: &load.skins,
        instances: &instances,
    };
    let has_normals = load.skins.iter().any(|s| s.normals().is_some());
    let mut rows = Vec::new();
    for with_normals in [false, true] {
        if with_normals && !has_normals {
            continue;
        }
        let found = pool.install(|| ozz::run(&of_peers, with_normals, runs.most))?;
        let times = Times::of(found.seconds);
        let case = case(load, with_normals);
        let row = Row::new(of_peers.name, case, found.name, of_peers.points(), times);
        let mut row = row.on_threads(threads).noted(format!(
            "{}; points off by {:.1e}",
            found.bytes_note, found.worst.points
        ));
        row.bytes_per_point = Some(found.bytes_per_point);
        rows.push(row);
    }
    Ok(rows)
}

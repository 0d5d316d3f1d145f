//! The CPU: our backend, and ozz-animation's loops in this process.

use std::process::Command;

use glam::Vec3;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sinew::kernel::{CpuJob, PackedPose, PackedSkin, skin_batch_on_cpu};

use crate::floor;
use crate::measure::Runs;
use crate::peers::{Result, ozz};
use crate::results::Row;
use crate::workloads::{Kind, Workload};

pub const WHO: &str = "sinew, CPU";
/// The loops that any CPU of the architecture runs.
pub const BASELINE: &str = "sinew, CPU, baseline loops";
/// First argument of the suite's own child that measures them: the loops are chosen once for a process.
pub const CHILD: &str = "baseline-rows";

pub fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// Points of a load, and points with normals where it has some, in a pool of so many threads.
pub fn rows(load: &Workload, threads: usize, runs: Runs) -> Result<Vec<Row>> {
    let pool = pool(threads)?;
    let packed = load.skins.iter().map(|s| PackedSkin::pack("/Mesh", s));
    let packed: Vec<PackedSkin> = packed.collect::<std::result::Result<_, _>>()?;
    let skin_of = |c: usize| &packed[load.mesh_of(c)];
    let poses = (0..load.size.characters).map(|c| PackedPose::pack(skin_of(c), &load.pose(c, 0)));
    let poses: Vec<PackedPose> = poses.collect::<std::result::Result<_, _>>()?;
    let mut rows = Vec::new();
    for with_normals in load.with_normals() {
        let results = |c: usize| {
            let count = if *with_normals {
                skin_of(c).output_normal_count()
            } else {
                0
            };
            (
                vec![Vec3::ZERO; skin_of(c).output_count()],
                vec![Vec3::ZERO; count],
            )
        };
        let mut results: Vec<_> = (0..load.size.characters).map(results).collect();
        let each = results.iter_mut().zip(&poses).enumerate();
        let jobs = each.map(|(c, ((points, normals), pose))| {
            let mut job = CpuJob::new(skin_of(c), pose, points);
            job.normals = with_normals.then_some(normals);
            job
        });
        let mut jobs: Vec<CpuJob<'_>> = jobs.collect();
        let bytes = floor::frame_bytes(load, *with_normals);
        let (times, copy) = pool.install(|| {
            let times = runs.time(|| match &mut jobs[..] {
                [one] => one.run().expect("sizes that fit"),
                many => skin_batch_on_cpu(many).expect("sizes that fit"),
            });
            (times, floor::cpu_copy(bytes, runs))
        });
        let row = Row::of(load, *with_normals, WHO, times);
        rows.push(row.on_threads(threads).over_floor(bytes, copy.median()));
    }
    Ok(rows)
}

/// ozz-animation's loops on points, and on points with normals where there are some, in a pool of so many threads. None for
/// faces, which it has nothing for.
pub fn ozz_rows(load: &Workload, threads: usize, runs: Runs) -> Result<Vec<Row>> {
    if load.rig.is_none() || !ozz::is_available() {
        return Ok(Vec::new());
    }
    let pool = pool(threads)?;
    let instances = load.instances(0);
    let mut rows = Vec::new();
    for with_normals in load.with_normals() {
        let runs = Runs::exactly(runs.most);
        let found = pool.install(|| ozz::run(&load.at(&instances), *with_normals, runs))?;
        let (about, worst) = (found.about, found.worst.points);
        let row = Row::of(load, *with_normals, about.name, found.times);
        let mut row = row.on_threads(threads);
        row.note = format!("{}; points off by {worst:.1e}", about.bytes);
        row.bytes_per_point = Some(found.bytes_per_point);
        rows.push(row);
    }
    Ok(rows)
}

/// What the child that measures baseline loops is told: the load, its scale, threads and runs.
type Order = (String, f64, usize, Runs);

/// The rows of the baseline loops, measured by a child of this executable.
pub fn baseline_rows(kind: Kind, scale: f64, threads: usize, runs: Runs) -> Result<Vec<Row>> {
    let order: Order = (kind.name().to_owned(), scale, threads, runs);
    let out = Command::new(std::env::current_exe()?)
        .env("SINEW_CPU", "baseline")
        .args([CHILD, &serde_json::to_string(&order)?])
        .output()?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().into());
    }
    Ok(serde_json::from_slice(&out.stdout)?)
}

/// The child's half: prints the rows as JSON.
pub fn measure_baseline(order: &str) -> Result<()> {
    let (name, scale, threads, runs): Order = serde_json::from_str(order)?;
    let kind = Kind::ALL.into_iter().find(|k| k.name() == name);
    let load = Workload::new(kind.ok_or("no such load")?, scale);
    let mut rows = rows(&load, threads, runs)?;
    for row in &mut rows {
        row.who = BASELINE.into();
    }
    println!("{}", serde_json::to_string(&rows)?);
    Ok(())
}

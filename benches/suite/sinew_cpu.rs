//! Our CPU backend.

use glam::Vec3;
use sinew::kernel::{CpuJob, PackedPose, PackedSkin, skin_batch_on_cpu};

use crate::floor;
use crate::measure::Runs;
use crate::row::Row;
use crate::workloads::Workload;

pub const WHO: &str = "sinew, CPU";

/// Results of one character.
struct Results {
    points: Vec<Vec3>,
    normals: Option<Vec<Vec3>>,
}

/// Points of a load, and points with normals where it has some, in a pool of so many threads.
pub fn rows(load: &Workload, threads: usize, runs: Runs) -> Result<Vec<Row>, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| e.to_string())?;
    let packed: Result<Vec<PackedSkin>, _> = load
        .skins
        .iter()
        .map(|s| PackedSkin::pack("/Mesh", s))
        .collect();
    let packed = packed.map_err(|e| e.to_string())?;
    let characters = 0..load.size.characters;
    let skin_of = |c: usize| &packed[load.mesh_of(c)];
    let poses: Vec<PackedPose> = characters
        .clone()
        .map(|c| PackedPose::pack(skin_of(c), &load.pose(c, 0)))
        .collect();
    let mut rows = Vec::new();
    for with_normals in [false, true] {
        if with_normals && load.skins.iter().all(|s| s.normals().is_none()) {
            continue;
        }
        let mut results: Vec<Results> = characters
            .clone()
            .map(|c| Results {
                points: vec![Vec3::ZERO; skin_of(c).output_count()],
                normals: with_normals.then(|| vec![Vec3::ZERO; skin_of(c).output_normal_count()]),
            })
            .collect();
        let mut jobs: Vec<CpuJob<'_>> = results
            .iter_mut()
            .zip(&poses)
            .enumerate()
            .map(|(c, (result, pose))| {
                let mut job = CpuJob::new(skin_of(c), pose, &mut result.points);
                job.normals = result.normals.as_deref_mut();
                job
            })
            .collect();
        let (times, copy) = pool.install(|| {
            let times = runs.time(|| match &mut jobs[..] {
                [one] => one.run(),
                many => skin_batch_on_cpu(many),
            });
            let bytes = floor::frame_bytes(load, with_normals);
            (times, (bytes, floor::cpu_copy(bytes, runs)))
        });
        let row = Row::new(
            load.kind.name(),
            case(load, with_normals),
            WHO,
            load.points(),
            times,
        );
        rows.push(row.on_threads(threads).over_floor(copy.0, copy.1));
    }
    Ok(rows)
}

/// What is done to a load.
pub fn case(load: &Workload, with_normals: bool) -> &'static str {
    match (load.rig.is_some(), with_normals) {
        (false, _) => "blend",
        (true, false) => "points",
        (true, true) => "points + normals",
    }
}

/// Normals by themselves: what points and normals take more than points. usd-core has a function of its own for them.
pub fn add_normals_alone(rows: &mut Vec<Row>) {
    let both: Vec<Row> = rows
        .iter()
        .filter(|r| r.who == WHO && r.case == "points + normals")
        .cloned()
        .collect();
    for both in both {
        let points = rows
            .iter()
            .find(|r| r.who == WHO && r.case == "points" && r.threads == both.threads);
        let Some(points) = points else { continue };
        let mut alone = both.clone();
        alone.case = "normals".into();
        alone.times.best -= points.times.best;
        alone.times.median -= points.times.median;
        alone.floor_bytes = both.floor_bytes.zip(points.floor_bytes).map(|(b, p)| b - p);
        // At the bandwidth that a copy of both had.
        let share = |(b, p): (u64, u64)| (b - p) as f64 / b as f64;
        let share = both.floor_bytes.zip(points.floor_bytes).map(share);
        alone.floor = both.floor.zip(share).map(|(floor, share)| floor * share);
        rows.push(alone.noted("points + normals less points"));
    }
}

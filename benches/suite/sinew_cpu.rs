//! Our CPU backend.

use std::process::Command;

use glam::Vec3;
use sinew::kernel::{CpuJob, PackedPose, PackedSkin, skin_batch_on_cpu};

use crate::floor;
use crate::measure::Runs;
use crate::row::Row;
use crate::workloads::{Kind, Workload};

pub const WHO: &str = "sinew, CPU";
/// The loops that any CPU of the architecture runs.
pub const BASELINE: &str = "sinew, CPU, baseline loops";
/// First argument of the suite's own child that measures them: the loops are chosen once for a process.
pub const CHILD: &str = "baseline-rows";

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
        .map(|c| PackedPose::pack(skin_of(c), &load.pose(c, 0)).expect("sizes that fit"))
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
                [one] => one.run().expect("sizes that fit"),
                many => skin_batch_on_cpu(many).expect("sizes that fit"),
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

/// The rows of the baseline loops, measured by a child of this executable.
pub fn baseline_rows(
    kind: Kind,
    scale: f64,
    threads: usize,
    runs: Runs,
) -> Result<Vec<Row>, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let out = Command::new(own)
        .env("SINEW_CPU", "baseline")
        .args([CHILD, kind.name(), &scale.to_string(), &threads.to_string()])
        .args([runs.most.to_string(), runs.fewest.to_string()])
        .arg(runs.seconds.to_string())
        .output()
        .map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned());
    }
    serde_json::from_slice(&out.stdout).map_err(|e| e.to_string())
}

/// The child's half: prints the rows as JSON.
pub fn measure_baseline(arguments: &[String]) -> Result<(), String> {
    let [name, scale, threads, most, fewest, seconds] = arguments else {
        return Err(format!("{CHILD}: six arguments"));
    };
    let number = |text: &String| text.parse::<f64>().map_err(|e| format!("{text}: {e}"));
    let kind = Kind::ALL.into_iter().find(|k| k.name() == name);
    let load = Workload::new(kind.ok_or("no such load")?, number(scale)?);
    let runs = Runs {
        most: number(most)? as usize,
        fewest: number(fewest)? as usize,
        seconds: number(seconds)?,
    };
    let mut rows = rows(&load, number(threads)? as usize, runs)?;
    for row in &mut rows {
        row.who = BASELINE.into();
    }
    let text = serde_json::to_string(&rows).map_err(|e| e.to_string())?;
    println!("{text}");
    Ok(())
}

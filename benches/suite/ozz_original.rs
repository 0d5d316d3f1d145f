//! ozz-animation's own SkinningJob, unchanged, in a process of its own (benches/ozz): beside our code of its loops in
//! `peers::ozz`, so that nobody has to believe that.

use std::path::{Path, PathBuf};
use std::process::Command;

use glam::{Mat4, Vec3};
use sinew::kernel::PackedSkin;
use sinew_verify::tolerance;

use crate::measure::{Runs, Times};
use crate::peers::ozz::{Mesh, inverse_transposes, is_available};
use crate::peers::{Result, rig};
use crate::results::Row;
use crate::workloads::Workload;

/// What the rows' names begin with.
pub const NAME: &str = "ozz-animation 0.16.0 (original, C++ -O3";
const UPSTREAM: &str = "guillaumeblanc/ozz-animation 6cbdc790123a, MIT";

/// The programs of benches/ozz/build.sh, and what they are compiled for.
const PROGRAMS: [(&str, &str); 2] = [
    ("skinning_time", "SSE2"),
    ("skinning_time_avx2", "AVX2, FMA"),
];

/// The folder that `SINEW_OZZ` names.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os("SINEW_OZZ")
        .filter(|f| !f.is_empty())
        .map(PathBuf::from)
}

/// How normals are taken along, and what the row's name has more: by inverse transposes, as ours are, which is right where
/// joints scale; or by the joints' matrices, as upstream advises where they do not.
const NORMALS: [(&str, &str); 3] = [
    ("points", ""),
    ("inverse-transposes", ""),
    ("normals", ", normals by the joints' matrices"),
];

/// A load as jobs: one, or one for each number of influences, as upstream advises.
struct Jobs {
    meshes: Vec<Mesh>,
    /// For each job, the point of each of its vertices.
    points: Vec<Vec<usize>>,
}

/// Rows of a load of one mesh in one thread, by each program that this processor runs. None for loads without joints.
///
/// # Errors
/// A program is not there or fails, or its results are not ours.
pub fn rows(load: &Workload, folder: &Path, runs: Runs) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let ([skin], Some(_)) = (&load.skins[..], &load.rig) else {
        return Ok(rows);
    };
    let packed = PackedSkin::pack("/Peer", skin)?;
    let whole = Mesh::new(&packed, true).ok_or("needs influences per point")?;
    let parts = partitioned(&whole);
    let all = (0..whole.positions.len()).collect();
    let whole = Jobs {
        meshes: vec![whole],
        points: vec![all],
    };
    let mut ways = vec![("", whole)];
    if parts.meshes.len() > 1 {
        ways.push((", a job for each number of influences", parts));
    }
    let cases = if load.has_normals() { 3 } else { 1 };
    for (program, instructions) in PROGRAMS {
        let program = folder.join(program);
        // The second is built for x86-64 alone.
        if instructions != "SSE2" && !(program.exists() && is_available()) {
            continue;
        }
        for (way, jobs) in &ways {
            for (normals, more) in &NORMALS[..cases] {
                let mut row = row(load, &program, jobs, normals, runs)?;
                row.who = format!("{NAME}, {instructions}){way}{more}");
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// The points with as many influences each as a job: trailing weights of 0 count as none.
fn partitioned(whole: &Mesh) -> Jobs {
    let places = whole.count;
    let mut by_count = vec![Vec::new(); places + 1];
    for point in 0..whole.positions.len() {
        let weights = &whole.weights[point * (places - 1)..][..places - 1];
        let sum: f32 = weights.iter().sum();
        // The last weight is what the others leave, up to rounding.
        let count = match sum < 1.0 - 1e-5 {
            true => places,
            false => weights.iter().rposition(|w| *w != 0.0).map_or(1, |i| i + 1),
        };
        by_count[count].push(point);
    }
    let counts = by_count.into_iter().enumerate();
    let (meshes, points) = counts
        .filter(|(_, points)| !points.is_empty())
        .map(|(count, points)| {
            let of = |values: &[Vec3]| {
                let values = points.iter().filter_map(|p| values.get(*p));
                values.copied().collect()
            };
            let joints = points
                .iter()
                .flat_map(|p| &whole.joints[p * places..][..count]);
            let weights = points
                .iter()
                .flat_map(|p| &whole.weights[p * (places - 1)..][..count - 1]);
            let mesh = Mesh {
                positions: of(&whole.positions),
                normals: of(&whole.normals),
                joints: joints.copied().collect(),
                weights: weights.copied().collect(),
                count,
            };
            (mesh, points)
        })
        .unzip();
    Jobs { meshes, points }
}

/// What one program takes for the jobs, if its results are those of the CPU backend.
fn row(load: &Workload, program: &Path, jobs: &Jobs, normals: &str, runs: Runs) -> Result<Row> {
    let pose = load.pose(0, 0);
    let folder = tempfile::tempdir()?;
    let (input, output) = (folder.path().join("jobs"), folder.path().join("results"));
    std::fs::write(&input, bytes(&rig::joints(&pose), jobs))?;
    let out = Command::new(program)
        .args([&input, &output])
        .args([normals, &runs.most.to_string(), &runs.fewest.to_string()])
        .arg(runs.seconds.to_string())
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().into());
    }
    let told = String::from_utf8_lossy(&out.stdout);
    let seconds: Vec<f64> = told.lines().filter_map(|l| l.parse().ok()).collect();
    if seconds.is_empty() {
        return Err(format!("{}: told no times", program.display()).into());
    }
    let with_normals = normals != "points";
    let [points, normals] = read(jobs, load.points(), with_normals, &std::fs::read(&output)?)?;
    let worst = rig::worst(&load.at(&[(0, pose)]), &|_| {
        Ok((points.clone(), with_normals.then(|| normals.clone())))
    })?;
    if !worst.is_within(tolerance::PEER_POINTS, tolerance::PEER_NORMALS) {
        return Err(format!("{NAME}): results are not ours: {worst:?}").into());
    }
    let count = load.points();
    let read_and_written: usize = jobs.meshes.iter().map(Mesh::bytes).sum();
    let left_out = if with_normals { 0 } else { count * 24 };
    let mut row = Row::of(load, with_normals, NAME, Times::of(seconds)).on_threads(1);
    row.bytes_per_point = Some((read_and_written - left_out) as f64 / count as f64);
    row.note = format!("{UPSTREAM}; points off by {:.1e}", worst.points);
    if with_normals {
        row.note += &format!(
            ", normals by {:.1e}; they are not normalised",
            worst.normals
        );
    }
    Ok(row)
}

/// Points and normals in the order of the load.
fn read(jobs: &Jobs, count: usize, with_normals: bool, results: &[u8]) -> Result<[Vec<Vec3>; 2]> {
    let floats: Vec<f32> = bytemuck::pod_collect_to_vec(results);
    let mut values = floats.chunks_exact(3).map(Vec3::from_slice);
    let mut out = [vec![Vec3::NAN; count], vec![Vec3::NAN; count]];
    for points in &jobs.points {
        for array in &mut out[..if with_normals { 2 } else { 1 }] {
            for point in points {
                array[*point] = values.next().ok_or("fewer results than points")?;
            }
        }
    }
    Ok(out)
}

/// The file of skinning_time.cc.
fn bytes(joints: &[Mat4], jobs: &Jobs) -> Vec<u8> {
    let mut out = Vec::new();
    let number = |out: &mut Vec<u8>, n: usize| out.extend((n as u32).to_le_bytes());
    let floats = |out: &mut Vec<u8>, values: &[f32]| {
        out.extend(values.iter().flat_map(|v| v.to_le_bytes()));
    };
    number(&mut out, joints.len());
    for matrix in joints.iter().chain(&inverse_transposes(joints)) {
        floats(&mut out, &matrix.to_cols_array());
    }
    number(&mut out, jobs.meshes.len());
    for mesh in &jobs.meshes {
        number(&mut out, mesh.positions.len());
        number(&mut out, mesh.count);
        for values in [&mesh.positions, &mesh.normals] {
            // Without normals the place is filled all the same.
            for i in 0..mesh.positions.len() {
                floats(
                    &mut out,
                    &values.get(i).copied().unwrap_or_default().to_array(),
                );
            }
        }
        floats(&mut out, &mesh.weights);
        out.extend(mesh.joints.iter().flat_map(|j| j.to_le_bytes()));
        out.resize(out.len().next_multiple_of(4), 0);
    }
    out
}

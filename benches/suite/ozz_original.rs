//! ozz-animation's own SkinningJob, unchanged, in a process of its own (benches/ozz): beside our code of its loops in
//! `peers::ozz`, so that nobody has to believe that.

use std::path::{Path, PathBuf};
use std::process::Command;

use glam::{Mat4, Vec3};
use sinew::kernel::PackedSkin;
use sinew::skel::{Pose, Skin};
use sinew_verify::tolerance;

use crate::load::Load;
use crate::measure::{Runs, Times};
use crate::peers::ozz::{Mesh, inverse_transposes};
use crate::peers::rig;
use crate::row::Row;
use crate::sinew_cpu::case;
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

/// How normals are taken along.
#[derive(Clone, Copy, PartialEq)]
enum Normals {
    None,
    /// By inverse transposes, as ours are: right where joints scale.
    InverseTransposes,
    /// By the joints' matrices, as upstream advises where joints do not scale.
    Joints,
}

/// A load as jobs: one, or one for each number of influences, as upstream advises.
struct Jobs {
    meshes: Vec<Mesh>,
    /// For each job, the point of each of its vertices; none where there is one job of all points.
    points: Vec<Vec<usize>>,
}

/// Rows of a load of one mesh in one thread, by each program that this processor runs. None for loads without joints.
///
/// # Errors
/// A program is not there or fails, or its results are not ours.
pub fn rows(load: &Workload, folder: &Path, runs: Runs) -> Result<Vec<Row>, String> {
    let [skin] = &load.skins[..] else {
        return Ok(Vec::new());
    };
    if load.rig.is_none() {
        return Ok(Vec::new());
    }
    let pose = load.pose(0, 0);
    let packed = PackedSkin::pack("/Peer", skin).map_err(|e| e.to_string())?;
    let whole = Mesh::new(&packed, true).ok_or("needs influences per point")?;
    let parts = partitioned(&whole);
    let mut ways = vec![(
        "",
        Jobs {
            meshes: vec![whole],
            points: Vec::new(),
        },
    )];
    if parts.meshes.len() > 1 {
        ways.push((", a job for each number of influences", parts));
    }
    let cases = match skin.normals() {
        Some(_) => &[Normals::None, Normals::InverseTransposes, Normals::Joints][..],
        None => &[Normals::None],
    };
    let mut rows = Vec::new();
    for (program, instructions) in PROGRAMS {
        let program = folder.join(program);
        // The second is built for x86-64 alone.
        if instructions != "SSE2" && !(program.exists() && crate::peers::ozz::is_available()) {
            continue;
        }
        for (way, jobs) in &ways {
            for normals in cases {
                let timed = Timed {
                    load,
                    packed: &packed,
                    pose: &pose,
                    normals: *normals,
                };
                let mut row = timed.row(&program, jobs, runs)?;
                row.who = format!("{NAME}, {instructions}){way}");
                if *normals == Normals::Joints {
                    row.who += ", normals by the joints' matrices";
                }
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
    let mut out = Jobs {
        meshes: Vec::new(),
        points: Vec::new(),
    };
    for (count, points) in by_count.into_iter().enumerate() {
        if points.is_empty() {
            continue;
        }
        let of = |values: &[Vec3]| {
            points
                .iter()
                .filter_map(|p| values.get(*p))
                .copied()
                .collect()
        };
        out.meshes.push(Mesh {
            positions: of(&whole.positions),
            normals: of(&whole.normals),
            joints: points
                .iter()
                .flat_map(|p| &whole.joints[p * places..][..count])
                .copied()
                .collect(),
            weights: points
                .iter()
                .flat_map(|p| &whole.weights[p * (places - 1)..][..count - 1])
                .copied()
                .collect(),
            count,
        });
        out.points.push(points);
    }
    out
}

/// What one row is of.
struct Timed<'a> {
    load: &'a Workload,
    packed: &'a PackedSkin,
    pose: &'a Pose,
    normals: Normals,
}

impl Timed<'_> {
    fn row(&self, program: &Path, jobs: &Jobs, runs: Runs) -> Result<Row, String> {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (input, output) = (folder.path().join("jobs"), folder.path().join("results"));
        let joints = rig::joints(self.pose);
        std::fs::write(&input, bytes(&joints, jobs)).map_err(|e| e.to_string())?;
        let what = match self.normals {
            Normals::None => "points",
            Normals::InverseTransposes => "inverse-transposes",
            Normals::Joints => "normals",
        };
        let out = Command::new(program)
            .args([&input, &output])
            .args([what, &runs.most.to_string(), &runs.fewest.to_string()])
            .arg(runs.seconds.to_string())
            .output()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned());
        }
        let told = String::from_utf8_lossy(&out.stdout);
        let seconds: Vec<f64> = told.lines().filter_map(|l| l.parse().ok()).collect();
        if seconds.is_empty() {
            return Err(format!("{}: told no times", program.display()));
        }
        let results = std::fs::read(&output).map_err(|e| e.to_string())?;
        let (points, normals) = self.read(jobs, &results)?;
        let worst = self.worst(points, normals)?;

        let with_normals = self.normals != Normals::None;
        let count = self.load.points();
        let read_and_written: usize = jobs.meshes.iter().map(Mesh::bytes).sum();
        let left_out = if with_normals { 0 } else { count * 24 };
        let case = case(self.load, with_normals);
        let mut row = Row::new(self.load.kind.name(), case, NAME, count, Times::of(seconds));
        row.bytes_per_point = Some((read_and_written - left_out) as f64 / count as f64);
        let normals = match self.normals {
            Normals::None => String::new(),
            _ => format!(
                ", normals by {:.1e}; they are not normalised",
                worst.normals
            ),
        };
        Ok(row.on_threads(1).noted(format!(
            "{UPSTREAM}; points off by {:.1e}{normals}",
            worst.points
        )))
    }

    /// Points and normals in the order of the load.
    fn read(&self, jobs: &Jobs, results: &[u8]) -> Result<(Vec<Vec3>, Vec<Vec3>), String> {
        let floats: Vec<f32> = results
            .chunks_exact(4)
            .filter_map(|b| Some(f32::from_le_bytes(b.try_into().ok()?)))
            .collect();
        let mut values = floats.chunks_exact(3).map(Vec3::from_slice);
        let count = self.packed.point_count();
        let arrays = if self.normals == Normals::None { 1 } else { 2 };
        let mut out = [vec![Vec3::NAN; count], vec![Vec3::NAN; count]];
        for (i, mesh) in jobs.meshes.iter().enumerate() {
            for array in &mut out[..arrays] {
                for vertex in 0..mesh.positions.len() {
                    let point = jobs.points.get(i).map_or(vertex, |points| points[vertex]);
                    array[point] = values.next().ok_or("fewer results than points")?;
                }
            }
        }
        let [points, normals] = out;
        Ok((points, normals))
    }

    /// How far the results are from the CPU backend's.
    fn worst(&self, points: Vec<Vec3>, normals: Vec<Vec3>) -> Result<rig::Worst, String> {
        let instances = [(0, self.pose.clone())];
        let skins: &[std::sync::Arc<Skin>] = &self.load.skins;
        let load = Load {
            name: self.load.kind.name(),
            skins,
            instances: &instances,
        };
        let packed = std::slice::from_ref(self.packed);
        let has_normals = self.normals != Normals::None;
        let worst = rig::worst(&load, packed, &|_| {
            Ok((points.clone(), has_normals.then(|| normals.clone())))
        });
        let worst = worst.map_err(|e| e.to_string())?;
        let limit = tolerance::PEER_POINTS * f64::from(worst.reach.max(1.0));
        let is_right = f64::from(worst.points) < limit
            && f64::from(worst.normals) < tolerance::PEER_NORMALS
            && f64::from(worst.moved) > limit * 100.0;
        match is_right {
            true => Ok(worst),
            false => Err(format!("{NAME}): results are not ours: {worst:?}")),
        }
    }
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

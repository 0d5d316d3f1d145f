//! ozz-animation's skinning on the CPU (src/geometry/runtime/skinning_job.cc), by our own code: a function per number of
//! influences and kind of result, matrices as four SIMD columns, the last weight implied by the others. One thread by itself;
//! here chunks of points go to the threads of the pool that it is called in.
//!
//! | of a point | bytes |
//! |---|---|
//! | position, in and out | 24 |
//! | u16 joints | 2 each |
//! | f32 weights but the last | 4 each |
//! | normal, in and out | 24 |
//!
//! Inverse transposes are 64 bytes a joint, as joints are. Its normals are not normalised.

use glam::{DMat3, Mat4, Vec3};
use rayon::prelude::*;
use sinew::kernel::PackedSkin;

use super::{About, Load, Peer, Result, rig};
use crate::measure::Runs;

const ABOUT: About = About {
    name: "ozz-animation's loops",
    upstream: "guillaumeblanc/ozz-animation 6de39d369ba2, MIT",
    bytes: "24 for position and again for normal, u16 joints, f32 weights but the last; normals are not normalised",
};

/// Points per task, as many as sinew's.
const CHUNK: usize = 1024;

/// What does not change with time, in ozz's layout.
pub struct Mesh {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    /// `count` for each point.
    pub joints: Vec<u16>,
    /// One less than `count` for each point.
    pub weights: Vec<f32>,
    pub count: usize,
}

struct Job<'a> {
    mesh: &'a Mesh,
    joints: Vec<Mat4>,
    inverse_transposes: Vec<Mat4>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// A part of a job's points.
struct Task<'a> {
    mesh: &'a Mesh,
    first: usize,
    joints: &'a [Mat4],
    inverse_transposes: &'a [Mat4],
    positions: &'a mut [Vec3],
    normals: &'a mut [Vec3],
}

/// Whether this machine has what the loops are written for.
pub fn is_available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Points, or points and normals, in the current pool of threads.
///
/// # Errors
/// Loads without joints, with constant influences or faceVarying normals; machines without AVX2 and FMA.
pub fn run(load: &Load<'_>, with_normals: bool, runs: Runs) -> Result<Peer> {
    if !is_available() {
        return Err("needs AVX2 and FMA".into());
    }
    rig::suits(ABOUT.name, load)?;
    let mut meshes = Vec::with_capacity(load.skins.len());
    for skin in load.skins {
        let mesh = Mesh::new(&PackedSkin::pack("/Peer", skin)?, with_normals);
        meshes.push(mesh.ok_or("needs influences per point")?);
    }
    if with_normals && meshes.iter().any(|m| m.normals.len() != m.positions.len()) {
        return Err("needs normals".into());
    }
    let job = |(mesh, pose): &(usize, _)| {
        let (joints, mesh) = (rig::joints(pose), &meshes[*mesh]);
        Job {
            mesh,
            inverse_transposes: inverse_transposes(&joints),
            joints,
            positions: vec![Vec3::ZERO; mesh.positions.len()],
            normals: vec![Vec3::ZERO; mesh.normals.len()],
        }
    };
    let mut jobs: Vec<Job<'_>> = load.instances.iter().map(job).collect();
    let times = runs.time(|| jobs.par_iter_mut().for_each(Job::run));
    let worst = rig::worst(load, &|i| {
        let normals = with_normals.then(|| jobs[i].normals.clone());
        Ok((jobs[i].positions.clone(), normals))
    })?;
    let bytes: usize = jobs.iter().map(|job| job.mesh.bytes()).sum();
    Ok(Peer {
        about: ABOUT,
        times,
        points: load.points(),
        dispatches: 0,
        bytes_per_point: bytes as f64 / load.points() as f64,
        worst,
    })
}

/// What takes normals where joints scale.
pub fn inverse_transposes(joints: &[Mat4]) -> Vec<Mat4> {
    let of = |m: &Mat4| {
        let linear = DMat3::from_mat4(m.as_dmat4());
        Mat4::from_mat3(linear.inverse().transpose().as_mat3())
    };
    joints.iter().map(of).collect()
}

impl Mesh {
    /// None for constant influences.
    pub fn new(skin: &PackedSkin, with_normals: bool) -> Option<Self> {
        let influences = skin.influences().filter(|i| !i.is_constant())?;
        let count = influences.count() as usize;
        let of_points = (0..skin.point_count()).map(|p| influences.of_point(p));
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for record in of_points {
            for (place, (joint, weight)) in record.enumerate() {
                joints.push(joint);
                if place + 1 < count {
                    weights.push(weight);
                }
            }
        }
        let normals = skin.normals().filter(|_| with_normals);
        Some(Self {
            positions: skin.points().to_vec(),
            normals: normals.unwrap_or_default().to_vec(),
            joints,
            weights,
            count,
        })
    }

    /// What a run reads and writes, palettes apart.
    pub fn bytes(&self) -> usize {
        (self.positions.len() + self.normals.len()) * 24
            + self.joints.len() * 2
            + self.weights.len() * 4
    }
}

impl Job<'_> {
    fn run(&mut self) {
        let mesh = self.mesh;
        let (joints, inverse_transposes) = (&*self.joints, &*self.inverse_transposes);
        let task = |number: usize, positions, normals| {
            run_task(Task {
                mesh,
                first: number * CHUNK,
                joints,
                inverse_transposes,
                positions,
                normals,
            });
        };
        let positions = self.positions.par_chunks_mut(CHUNK);
        if mesh.normals.is_empty() {
            positions
                .enumerate()
                .for_each(|(i, positions)| task(i, positions, &mut []));
        } else {
            let both = positions
                .zip(self.normals.par_chunks_mut(CHUNK))
                .enumerate();
            both.for_each(|(i, (positions, normals))| task(i, positions, normals));
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn run_task(_: Task<'_>) {}

#[cfg(target_arch = "x86_64")]
fn run_task(task: Task<'_>) {
    // SAFETY: `run` asked for AVX2 and FMA.
    unsafe {
        match (task.mesh.count, task.normals.is_empty()) {
            (1, true) => wide::skin::<1, false>(task),
            (2, true) => wide::skin::<2, false>(task),
            (3, true) => wide::skin::<3, false>(task),
            (4, true) => wide::skin::<4, false>(task),
            (_, true) => wide::skin::<0, false>(task),
            (1, false) => wide::skin::<1, true>(task),
            (2, false) => wide::skin::<2, true>(task),
            (3, false) => wide::skin::<3, true>(task),
            (4, false) => wide::skin::<4, true>(task),
            (_, false) => wide::skin::<0, true>(task),
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::*;

    use glam::{Mat4, Vec3, Vec4};

    use super::Task;

    type Columns = [__m128; 4];

    /// For `K` influences, or any number where it is 0.
    #[target_feature(enable = "avx2,fma")]
    pub fn skin<const K: usize, const NORMALS: bool>(task: Task<'_>) {
        let count = if K == 0 { task.mesh.count } else { K };
        let (first, len) = (task.first, task.positions.len());
        let joints = &task.mesh.joints[first * count..][..len * count];
        let weights = &task.mesh.weights[first * (count - 1)..][..len * (count - 1)];
        let positions = &task.mesh.positions[first..][..len];
        for point in 0..len {
            let joints = &joints[point * count..][..count];
            let weights = &weights[point * (count - 1)..][..count - 1];
            let m = blend(task.joints, joints, weights);
            let p = positions[point];
            let sum = _mm_fmadd_ps(m[2], _mm_set1_ps(p.z), m[3]);
            task.positions[point] = linear(&m, p.x, p.y, sum);
            if NORMALS {
                let m = blend(task.inverse_transposes, joints, weights);
                let n = task.mesh.normals[first + point];
                let sum = _mm_mul_ps(m[2], _mm_set1_ps(n.z));
                task.normals[point] = linear(&m, n.x, n.y, sum);
            }
        }
    }

    /// The weighted sum, where the last weight is what the others leave of 1.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn blend(matrices: &[Mat4], joints: &[u16], weights: &[f32]) -> Columns {
        let last = columns(&matrices[joints[weights.len()] as usize]);
        let Some(weight) = weights.first() else {
            return last;
        };
        let mut weight_sum = _mm_set1_ps(*weight);
        let mut sum = columns(&matrices[joints[0] as usize]);
        for column in &mut sum {
            *column = _mm_mul_ps(*column, weight_sum);
        }
        for i in 1..weights.len() {
            let weight = _mm_set1_ps(weights[i]);
            weight_sum = _mm_add_ps(weight_sum, weight);
            add(&mut sum, &columns(&matrices[joints[i] as usize]), weight);
        }
        add(&mut sum, &last, _mm_sub_ps(_mm_set1_ps(1.0), weight_sum));
        sum
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn add(sum: &mut Columns, joint: &Columns, weight: __m128) {
        for (sum, column) in sum.iter_mut().zip(joint) {
            *sum = _mm_fmadd_ps(*column, weight, *sum);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn columns(m: &Mat4) -> Columns {
        [
            m.x_axis.into(),
            m.y_axis.into(),
            m.z_axis.into(),
            m.w_axis.into(),
        ]
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn linear(m: &Columns, x: f32, y: f32, rest: __m128) -> Vec3 {
        let sum = _mm_fmadd_ps(
            m[0],
            _mm_set1_ps(x),
            _mm_fmadd_ps(m[1], _mm_set1_ps(y), rest),
        );
        Vec4::from(sum).truncate()
    }
}

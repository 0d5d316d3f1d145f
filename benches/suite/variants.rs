//! A's mesh by the other kernels: dual quaternions, corner normals, render vertices, made normals.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3, Vec4};
use sinew::gpu::{GpuDevice, GpuError, Skinner, SkinnerOptions};
use sinew::kernel::{CpuJob, PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{MeshTopology, Pose, RestNormals, Skin, SkinningMethod};
use sinew::wgpu;

use crate::measure::Runs;
use crate::row::Row;
use crate::workloads::Workload;
use crate::{sinew_cpu, sinew_gpu};

/// Name of these rows' load.
pub const NAME: &str = "A, other kernels";

/// A skin in one of these ways, and its pose.
struct Variant {
    case: &'static str,
    packed: Arc<PackedSkin>,
    pose: PackedPose,
}

fn variants(load: &Workload) -> Result<Vec<Variant>, sinew::Invalid> {
    let (own, corners) = (&load.skins[0], &load.meshes[0].corners);
    let points = own.points().len();
    let skin = |normals: Option<RestNormals>, method| -> Result<Skin, sinew::Invalid> {
        let rest = Arc::new(own.points().to_vec());
        let influences = own.influences().cloned();
        let skin = Skin::new(
            "/Mesh",
            rest,
            normals,
            influences,
            None,
            own.joint_count(),
            Vec::new(),
        );
        Ok(skin?.with_method(method))
    };
    let (linear, dual) = (
        SkinningMethod::ClassicLinear,
        SkinningMethod::DualQuaternion,
    );
    let per_point = || {
        own.normals()
            .map(|n| RestNormals::per_point(Arc::new(n.to_vec())))
    };
    let by_corner = || -> Result<Option<RestNormals>, sinew::Invalid> {
        let of = |n: &[Vec3]| corners.iter().map(|c| n[*c as usize]).collect::<Vec<_>>();
        let values = Arc::new(own.normals().map(of).unwrap_or_default());
        RestNormals::face_varying("/Mesh", values, corners, points).map(Some)
    };
    let pack = |skin: Skin| PackedSkin::pack("/Mesh", &skin);
    let by_vertices = || -> Result<PackedSkin, sinew::Invalid> {
        // A fifth more than points, as seams make of a mesh.
        let count = points + points / 5;
        let map = (0..count).map(|v| (v * points / count) as u32).collect();
        let vertices = RenderVertices::new(map).with_tangents(vec![Vec4::X; count]);
        pack(skin(per_point(), linear)?)?.with_vertices(vertices)
    };
    let made = || -> Result<PackedSkin, sinew::Invalid> {
        let counts = vec![4; corners.len() / 4];
        let faces = MeshTopology::new("/Mesh", &counts, corners, false, points)?;
        pack(skin(None, linear)?)?.with_smooth_normals(&faces)
    };
    let scaled = |pose: Pose| Pose {
        skinning: pose.skinning.map(|joints| {
            let scale = DMat4::from_scale(DVec3::new(1.0, 1.5, 1.0));
            Arc::new(joints.iter().map(|m| *m * scale).collect())
        }),
        ..pose
    };
    let all = [
        ("points, dual quaternions", pack(skin(None, dual)?)?, false),
        (
            "points, dual quaternions and scale",
            pack(skin(None, dual)?)?,
            true,
        ),
        (
            "points + normals, dual quaternions and scale",
            pack(skin(per_point(), dual)?)?,
            true,
        ),
        (
            "points + faceVarying normals",
            pack(skin(by_corner()?, linear)?)?,
            false,
        ),
        (
            "render vertices + normals + tangents",
            by_vertices()?,
            false,
        ),
        ("points + made normals", made()?, false),
    ];
    let variant = |(case, packed, has_scale)| {
        let pose = load.pose(0, 0);
        let pose = if has_scale { scaled(pose) } else { pose };
        let pose = PackedPose::pack(&packed, &pose)?;
        Ok(Variant {
            case,
            packed: Arc::new(packed),
            pose,
        })
    };
    all.into_iter().map(variant).collect()
}

/// Rows of the CPU on all cores, and of the device where there is one.
pub fn rows(
    load: &Workload,
    device: Option<&GpuDevice>,
    cores: usize,
    runs: Runs,
) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for variant in variants(load).map_err(|e| e.to_string())? {
        let packed = &variant.packed;
        let count = packed.output_count();
        let mut points = vec![Vec3::ZERO; count];
        let normals = packed.has_output_normals();
        let mut normals = normals.then(|| vec![Vec3::ZERO; packed.output_normal_count()]);
        let mut tangents = packed.tangents().map(<[Vec4]>::to_vec);
        let times = runs.time(|| {
            let mut job = CpuJob::new(packed, &variant.pose, &mut points);
            job.normals = normals.as_deref_mut();
            job.tangents = tangents.as_deref_mut();
            job.run().expect("sizes that fit");
        });
        rows.push(Row::new(NAME, variant.case, sinew_cpu::WHO, count, times).on_threads(cores));
        if let Some(device) = device {
            rows.push(on_device(&variant, device, runs).map_err(|e| e.to_string())?);
        }
    }
    Ok(rows)
}

fn on_device(variant: &Variant, device: &GpuDevice, runs: Runs) -> Result<Row, GpuError> {
    let options = SkinnerOptions {
        timestamps: true,
        ..SkinnerOptions::default()
    };
    let skinner = Skinner::new(device.device(), device.queue(), &options)?;
    let mut crowd = skinner.crowd();
    let skin = crowd.add_skin(Arc::clone(&variant.packed))?;
    let instance = crowd.add_instance(skin)?;
    crowd.set_pose(instance, &variant.pose)?;
    let times = runs.collect(|| {
        let start = std::time::Instant::now();
        crowd.submit()?;
        let _ = device.device().poll(wgpu::PollType::wait_indefinitely());
        let wall = start.elapsed();
        let times = crowd.last_gpu_time()?;
        let seconds = times.map_or(wall, |t| t.total());
        Ok::<f64, GpuError>(seconds.as_secs_f64())
    })?;
    device.check()?;
    let count = variant.packed.output_count();
    Ok(Row::new(NAME, variant.case, sinew_gpu::WHO, count, times))
}

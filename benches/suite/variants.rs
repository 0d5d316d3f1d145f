//! A's mesh by the other kernels: dual quaternions, corner normals, render vertices, made normals.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3, Vec4};
use sinew::gpu::GpuDevice;
use sinew::kernel::{CpuJob, PackedPose, PackedSkin};
use sinew::mesh::RenderVertices;
use sinew::skel::{MeshTopology, Pose, RestNormals, Skin, SkinningMethod};

use crate::measure::Runs;
use crate::on_gpu::{OnDevice, stamped};
use crate::peers::Result;
use crate::results::Row;
use crate::workloads::Workload;
use crate::{cpu, on_gpu};

/// Name of these rows' load.
pub const NAME: &str = "A, other kernels";

/// Each way's name, its skin, and whether joints scale.
fn variants(load: &Workload) -> Result<[(&'static str, PackedSkin, bool); 6]> {
    use SkinningMethod::{ClassicLinear, DualQuaternion};
    let (own, corners) = (&load.skins[0], &load.meshes[0].corners);
    let (points, joints) = (own.points().len(), own.joint_count());
    let rest = own.normals().unwrap_or_default();
    let pack = |normals: Option<RestNormals>, method| -> Result<PackedSkin> {
        let at = Arc::new(own.points().to_vec());
        let influences = own.influences().cloned();
        let skin = Skin::new("/Mesh", at, normals, influences, None, joints, Vec::new())?;
        Ok(PackedSkin::pack("/Mesh", &skin.with_method(method))?)
    };
    let per_point = || Some(RestNormals::per_point(Arc::new(rest.to_vec())));
    let of_corners = corners.iter().map(|c| rest[*c as usize]).collect();
    let of_corners = RestNormals::face_varying("/Mesh", Arc::new(of_corners), corners, points)?;
    // A fifth more than points, as seams make of a mesh.
    let count = points + points / 5;
    let vertices = (0..count).map(|v| (v * points / count) as u32).collect();
    let vertices = RenderVertices::new(vertices).with_tangents(vec![Vec4::X; count]);
    let fours = vec![4; corners.len() / 4];
    let faces = MeshTopology::new("/Mesh", &fours, corners, false, points)?;
    Ok([
        (
            "points, dual quaternions",
            pack(None, DualQuaternion)?,
            false,
        ),
        (
            "points, dual quaternions and scale",
            pack(None, DualQuaternion)?,
            true,
        ),
        (
            "points + normals, dual quaternions and scale",
            pack(per_point(), DualQuaternion)?,
            true,
        ),
        (
            "points + faceVarying normals",
            pack(Some(of_corners), ClassicLinear)?,
            false,
        ),
        (
            "render vertices + normals + tangents",
            pack(per_point(), ClassicLinear)?.with_vertices(vertices)?,
            false,
        ),
        (
            "points + made normals",
            pack(None, ClassicLinear)?.with_smooth_normals(&faces)?,
            false,
        ),
    ])
}

/// Rows of the CPU on all cores, and of the device where there is one.
pub fn rows(
    load: &Workload,
    device: Option<&GpuDevice>,
    cores: usize,
    runs: Runs,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (case, packed, has_scale) in variants(load)? {
        let mut pose = load.pose(0, 0);
        if has_scale {
            let scale = DMat4::from_scale(DVec3::new(1.0, 1.5, 1.0));
            let scaled = |joints: Arc<Vec<DMat4>>| joints.iter().map(|m| *m * scale).collect();
            pose.skinning = pose.skinning.map(|joints| Arc::new(scaled(joints)));
        }
        let times = on_cpu(&packed, &pose, runs)?;
        let count = packed.output_count();
        rows.push(Row::new(NAME, case, cpu::WHO, count, times).on_threads(cores));
        if let Some(device) = device {
            let packed = vec![Arc::new(packed)];
            let mut on = OnDevice::new(device, &stamped(), packed, [(0, pose)])?;
            let times = runs.collect(|| on.frame().map(|spent| spent.kernels()))?;
            device.check()?;
            rows.push(Row::new(NAME, case, on_gpu::WHO, count, times));
        }
    }
    Ok(rows)
}

fn on_cpu(packed: &PackedSkin, pose: &Pose, runs: Runs) -> Result<crate::measure::Times> {
    let pose = PackedPose::pack(packed, pose)?;
    let mut points = vec![Vec3::ZERO; packed.output_count()];
    let mut normals = vec![Vec3::ZERO; packed.output_normal_count()];
    let mut tangents = packed.tangents().map(<[Vec4]>::to_vec);
    Ok(runs.time(|| {
        let mut job = CpuJob::new(packed, &pose, &mut points);
        job.normals = packed.has_output_normals().then_some(&mut normals);
        job.tangents = tangents.as_deref_mut();
        job.run().expect("sizes that fit");
    }))
}

//! Small skins with poses.

use std::sync::Arc;

use crate::Failure;
use glam::Vec3;
use sinew::gpu::{Crowd, Deformed, InstanceId, SkinId};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::skel::{Skin, SkinningMethod};

use crate::host::Gpu;

use crate::cases::{self, Influences, Spec};
use crate::compare::{compare, to_f64};
use crate::tolerance;

/// A skin and what it is packed to.
pub struct Made {
    pub skin: Skin,
    pub packed: Arc<PackedSkin>,
}

pub fn made(spec: &Spec) -> Result<Made, Failure> {
    let skin = cases::skin(spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    Ok(Made { skin, packed })
}

impl Made {
    pub fn pose(&self, seed: u64) -> PackedPose {
        PackedPose::pack(&self.packed, &cases::pose(&self.skin, seed)).expect("sizes that fit")
    }

    /// What the CPU makes of it.
    pub fn on_cpu(&self, pose: &PackedPose) -> Deformed {
        let mut points = vec![Vec3::NAN; self.packed.point_count()];
        let mut normals = self.packed.normals().map(|n| vec![Vec3::NAN; n.len()]);
        skin_on_cpu(&self.packed, pose, &mut points, normals.as_deref_mut())
            .expect("sizes that fit");
        Deformed {
            points,
            normals,
            ..Deformed::default()
        }
    }
}

/// Skins of every kind, each of few points.
pub fn twenty() -> Result<Vec<Made>, Failure> {
    (0..20)
        .map(|i| {
            made(&Spec {
                seed: 900 + i as u64,
                points: 20 + 3 * i,
                joints: 3 + i % 4,
                shapes: [0, 3, 0, 0][i % 4],
                normals: i % 5 != 0,
                face_varying: i % 7 == 3,
                influences: match i % 6 {
                    0 => Influences::Vertex(1),
                    1 => Influences::Constant(2),
                    5 => Influences::None,
                    k => Influences::Vertex(k),
                },
                method: match i % 3 {
                    2 => SkinningMethod::DualQuaternion,
                    _ => SkinningMethod::ClassicLinear,
                },
                ..Spec::default()
            })
        })
        .collect()
}

pub fn bits(result: &Deformed) -> Vec<u32> {
    let normals = result.normals.iter().flatten();
    let all = result.points.iter().chain(normals);
    all.flat_map(|v| v.to_array().map(f32::to_bits)).collect()
}

/// GPU against CPU.
pub fn agrees(got: &Deformed, want: &Deformed) -> Result<(), Failure> {
    compare(
        "points",
        &to_f64(&got.points),
        &to_f64(&want.points),
        tolerance::MIRROR_POINTS,
    )?;
    match (&got.normals, &want.normals) {
        (Some(got), Some(want)) => compare(
            "normals",
            &to_f64(got),
            &to_f64(want),
            tolerance::MIRROR_NORMALS,
        )?,
        (None, None) => {}
        _ => return Err("normals on one side only".into()),
    }
    Ok(())
}

/// Where an instance's results lie.
pub fn places(crowd: &Crowd, id: InstanceId) -> Result<Vec<(wgpu::Buffer, u64, usize)>, Failure> {
    let points = crowd.points_on_gpu(id)?;
    let normals = crowd.normals_on_gpu(id)?;
    let all = points.iter().chain(&normals);
    Ok(all.map(|s| (s.buffer.clone(), s.offset, s.count)).collect())
}

/// A crowd with a skin of that kind.
pub fn crowd_of(gpu: &Gpu, spec: &Spec) -> Result<(Made, Crowd, SkinId), Failure> {
    let made = made(spec)?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    Ok((made, crowd, skin))
}

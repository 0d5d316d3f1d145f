//! Small skins with poses.

use std::sync::Arc;

use glam::Vec3;
use libtest_mimic::Failed;
use sinew::gpu::{Crowd, Deformed, InstanceId, SkinId};
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::skel::{Skin, SkinningMethod};

pub use common::host::Gpu;

use common::cases::{self, Influences, Spec};
use common::compare::{compare, to_f64};
use common::tolerance;

/// A skin and what it is packed to.
pub struct Made {
    pub skin: Skin,
    pub packed: Arc<PackedSkin>,
}

pub fn made(spec: &Spec) -> Result<Made, Failed> {
    let skin = cases::skin(spec);
    let packed = Arc::new(PackedSkin::pack("/Case", &skin)?);
    Ok(Made { skin, packed })
}

impl Made {
    pub fn pose(&self, seed: u64) -> PackedPose {
        PackedPose::pack(&self.packed, &cases::pose(&self.skin, seed))
    }

    /// What the CPU makes of it.
    pub fn on_cpu(&self, pose: &PackedPose) -> Deformed {
        let mut points = vec![Vec3::NAN; self.packed.point_count()];
        let mut normals = self.packed.normals().map(|n| vec![Vec3::NAN; n.len()]);
        skin_on_cpu(&self.packed, pose, &mut points, normals.as_deref_mut());
        Deformed {
            points,
            normals,
            ..Deformed::default()
        }
    }
}

/// Skins of every kind, each of few points.
pub fn twenty() -> Result<Vec<Made>, Failed> {
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
pub fn agrees(got: &Deformed, want: &Deformed) -> Result<(), Failed> {
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
pub fn places(crowd: &Crowd, id: InstanceId) -> Result<Vec<(wgpu::Buffer, u64, usize)>, Failed> {
    let points = crowd.points_on_gpu(id)?;
    let normals = crowd.normals_on_gpu(id)?;
    let all = points.iter().chain(&normals);
    Ok(all.map(|s| (s.buffer.clone(), s.offset, s.count)).collect())
}

/// A crowd with a skin of that kind.
pub fn crowd_of(gpu: &Gpu, spec: &Spec) -> Result<(Made, Crowd, SkinId), Failed> {
    let made = made(spec)?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    Ok((made, crowd, skin))
}

pub fn ensure(holds: bool, what: &str) -> Result<(), Failed> {
    match holds {
        true => Ok(()),
        false => Err(what.into()),
    }
}

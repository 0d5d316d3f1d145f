//! Poses that are packed where they are kept, when some are wrong.

use crate::{Failure, ensure};
use glam::DMat4;
use sinew::gpu::GpuError;
use sinew::kernel::PackedPose;
use sinew::skel::Pose;

use crate::cases::{self, Spec};
use crate::check::Checks;
use crate::crowds::made::{agrees, crowd_of};
use crate::host::{Gpu, wrong_use};

pub const CHECKS: Checks = &[("posing_says_what_is_wrong", wrong)];

fn wrong(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let ids = crowd.add_instances(skin, 100)?;
    for id in &ids {
        crowd.set_pose(*id, &made.pose(1))?;
    }
    crowd.run()?;
    let result = crowd.update_poses(|id, pose| match id.index() {
        60 => Err("no clip"),
        // Without joints it stays at rest, whatever buffers were used before.
        61 => Ok(true),
        62 => {
            pose.channel_weights.push(1.0);
            Ok(true)
        }
        _ => {
            made.fill(2, pose);
            Ok(true)
        }
    });
    match result {
        Err(GpuError::Posing { instance: 60, text }) if text == "no clip" => {}
        other => return Err(format!("{other:?}").into()),
    }
    let got = crowd.run()?;
    for (i, got) in got.iter().enumerate() {
        let want = match i {
            // What was wrong changes nothing.
            60 | 62 => made.pose(1),
            61 => PackedPose::pack(&made.packed, &Pose::of_shapes(Vec::new()))?,
            _ => made.pose(2),
        };
        agrees(got, &made.on_cpu(&want))?;
    }
    let mut bad = cases::pose(&made.skin, 3);
    bad.geom_bind = DMat4::NAN;
    wrong_use("/Case", crowd.set_pose(ids[0], &bad))?;
    crowd.remove_instance(ids[0])?;
    let pose = cases::pose(&made.skin, 3);
    let removed = crowd.set_pose(ids[0], &pose);
    ensure(removed.is_err(), "one that was removed")
}

//! Poses that are packed where they are kept.

use crate::{Failure, ensure};
use glam::DMat4;
use sinew::gpu::{GpuError, InstanceId};
use sinew::kernel::PackedPose;
use sinew::skel::Pose;

use crate::cases::{self, Spec};
use crate::crowds::Run;
use crate::crowds::made::{Made, agrees, bits, crowd_of, twenty};
use crate::host::{Gpu, wrong_use};

pub const CHECKS: &[(&str, Run)] = &[
    ("posing_many_equals_setting_each", many),
    ("posing_says_what_is_wrong", wrong),
];

fn fill(made: &Made, seed: u64, pose: &mut Pose) {
    let from = cases::pose(&made.skin, seed);
    pose.skinning = from.skinning;
    pose.channel_weights
        .extend_from_slice(&from.channel_weights);
    (pose.geom_bind, pose.out_from_skel) = (from.geom_bind, from.out_from_skel);
}

fn many(gpu: &Gpu) -> Result<(), Failure> {
    let made = twenty()?;
    // Few are posed on this thread, many on several.
    for count in [20, 200] {
        let (mut each, mut all) = (gpu.crowd()?, gpu.crowd()?);
        let mut ids: Vec<(InstanceId, InstanceId)> = Vec::new();
        for (i, made) in (0..count).zip(made.iter().cycle()) {
            let [a, b] = [&mut each, &mut all].map(|crowd| {
                let skin = crowd.add_skin(made.packed.clone())?;
                crowd.add_instance(skin)
            });
            ids.push((a?, b?));
            each.set_pose(ids[i].0, &made.pose(i as u64))?;
        }
        let of = |id: InstanceId| &made[id.index() as usize % 20];
        all.update_poses(|id, pose| {
            fill(of(id), id.index().into(), pose);
            Ok::<_, String>(true)
        })?;
        for frame in 1..5u64 {
            let (a, b) = (each.run()?, all.run()?);
            for (a, b) in a.iter().zip(&b) {
                ensure(bits(a) == bits(b), &format!("frame {frame}: other bits"))?;
            }
            ensure(a.len() == b.len(), "another number of results")?;
            // Some change, one is hidden and is not asked for.
            let hidden = ids[frame as usize];
            each.set_hidden(hidden.0, frame == 2)?;
            all.set_hidden(hidden.1, frame == 2)?;
            let changes = |index: u32| u64::from(index) % 3 == frame % 3;
            for (a, _) in ids.iter().filter(|(a, _)| changes(a.index())) {
                if !each.is_hidden(*a)? {
                    each.set_pose(*a, &of(*a).pose(frame * 1000 + u64::from(a.index())))?;
                }
            }
            all.update_poses(|id, pose| {
                if changes(id.index()) {
                    fill(of(id), frame * 1000 + u64::from(id.index()), pose);
                }
                Ok::<_, String>(changes(id.index()))
            })?;
            // By one, over a palette that a host holds as well.
            let (a, b) = ids[7];
            let pose = of(a).pose(frame + 500);
            each.set_pose(a, &pose)?;
            all.set_pose(b, &pose)?;
            let (a, b) = ids[if frame == 3 { 7 } else { 8 }];
            each.set_pose(a, &of(a).pose(frame + 600))?;
            all.set_pose(b, &cases::pose(&of(b).skin, frame + 600))?;
        }
    }
    Ok(())
}

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
            fill(&made, 2, pose);
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

//! Characters that play, while some of them are hidden, shown, added, removed or changed: what an
//! edit costs the CPU and uploads, with the frame after it, at two sizes of a crowd.

use glam::DMat4;
use sinew::gpu::{GpuDevice, InstanceId, InstancePose, OutputTarget, RigId};

use crate::measure::{Runs, Times};
use crate::on_gpu::WHO;
use crate::peers::Result;
use crate::playing::Playground;
use crate::results::Row;
use crate::workloads::{Kind, Size, Workload};

pub const NAME: &str = "edits";

/// How many characters there are.
pub const COUNTS: [usize; 2] = [10_000, 100_000];
/// Points of each: few, because the work of the device is not measured.
const POINTS: usize = 200;
/// Edits in a frame, if there are many.
pub const MANY: usize = 1_000;

/// What is done to a character.
#[derive(Clone, Copy)]
pub enum Edit {
    Nothing,
    Hide,
    Show,
    Retarget,
    Rebind,
    Remove,
    Add,
}

/// In an order in which each undoes what the one before did, if that is needed.
pub const EDITS: [(Edit, &str); 7] = [
    (Edit::Nothing, "not edited"),
    (Edit::Hide, "hidden"),
    (Edit::Show, "shown"),
    (Edit::Retarget, "sent to another target"),
    (Edit::Rebind, "moved by another rig"),
    (Edit::Remove, "removed"),
    (Edit::Add, "added"),
];

/// The name of a case.
pub fn case(count: usize, edited: usize, words: &str) -> String {
    format!("{count} characters, {POINTS} points: {edited} {words}")
}

fn pose(rig: RigId) -> InstancePose<'static> {
    InstancePose::Rig {
        rig,
        out_from_skel: &DMat4::IDENTITY,
        channel_weights: &[],
    }
}

fn edit(on: &mut Playground, edit: Edit, number: usize, round: usize) -> Result<()> {
    let (crowd, rigs) = (&mut on.crowd, &on.rigs);
    let id: &mut InstanceId = &mut on.instances[number];
    match edit {
        Edit::Nothing => {}
        Edit::Hide => crowd.set_hidden(*id, true)?,
        Edit::Show => crowd.set_hidden(*id, false)?,
        Edit::Retarget => {
            let normals = (round % 2 == 1).then(Default::default);
            let target = OutputTarget {
                normals,
                ..OutputTarget::default()
            };
            crowd.set_target(*id, target)?;
        }
        Edit::Rebind => crowd.set_pose(*id, pose(rigs[(number + round) % rigs.len()]))?,
        Edit::Remove => crowd.remove_instance(*id)?,
        Edit::Add => {
            *id = crowd.add_instance(on.skins[0])?;
            crowd.set_pose(*id, pose(rigs[number]))?;
        }
    }
    Ok(())
}

/// All rows.
pub fn rows(device: &GpuDevice, scale: f64, runs: Runs) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for count in COUNTS {
        let count = ((count as f64 * scale) as usize).max(MANY);
        let mut size = Size::of(Kind::Crowd, 1.0);
        (size.characters, size.points, size.meshes) = (count, POINTS, 1);
        let load = Workload::sized(Kind::Crowd, size);
        let rig = load.rig.as_ref().ok_or("no rig")?;
        let mut on = Playground::new(&load, rig, device, true)?;
        for _ in 0..3 {
            on.frame(device, 0)?;
        }
        for edited in [1, MANY] {
            // Every kind of edit once before it is measured, and each round of all of them.
            let mut all = EDITS.map(|_| (Vec::new(), Vec::new()));
            for round in 0..=runs.most.max(15) {
                for ((kind, _), (seconds, uploads)) in EDITS.iter().zip(&mut all) {
                    let frame = on.frame_after(device, |on| {
                        let mut numbers = (0..edited).map(|i| (i * 7 + round * 13) % count);
                        numbers.try_for_each(|number| edit(on, *kind, number, round))
                    })?;
                    if round > 0 {
                        seconds.push(frame);
                        uploads.push(on.crowd.last_upload_bytes());
                    }
                    // What the edit left to be settled is not the next one's.
                    on.frame(device, 0)?;
                }
            }
            for ((_, words), (seconds, mut uploads)) in EDITS.iter().zip(all) {
                uploads.sort_unstable();
                let (uploaded, most) = (uploads[uploads.len() / 2], uploads[uploads.len() - 1]);
                rows.push(Row {
                    uploaded: Some(uploaded),
                    note: format!("{uploaded} bytes uploaded, at most {most}; with the frame"),
                    ..Row::new(
                        NAME,
                        &case(count, edited, words),
                        WHO,
                        0,
                        Times::of(seconds),
                    )
                });
            }
        }
        device.check()?;
    }
    Ok(rows)
}

//! Characters that play, while some of them are hidden, shown, added, removed or changed: what an
//! edit costs the CPU and uploads, with the frame after it, at two sizes of a crowd.

mod peers;

use std::time::Instant;

use glam::DMat4;
use sinew::gpu::{GpuDevice, InstanceId, InstancePose, OutputTarget, RigId};
use sinew::wgpu;

use crate::measure::{Runs, Times};
use crate::on_gpu::WHO;
use crate::peers::{Result, bevy, godot};
use crate::playing::Playground;
use crate::results::Row;
use crate::workloads::{Kind, Size, Workload};
use peers::{Bevy, Godot};

pub const NAME: &str = "edits";

/// How many characters there are.
pub const COUNTS: [usize; 2] = [10_000, 100_000];
/// Points of each: few, because the work of the device is not measured.
pub const POINTS: usize = 200;
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

/// A crowd that is edited.
pub trait Edited {
    fn edit(&mut self, edit: Edit, number: usize, round: usize) -> Result<()>;

    /// Records a frame, and returns the bytes that it uploads.
    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<u64>;

    /// Ends a recorded frame, which is not measured. By default the frame is dropped.
    fn end(&mut self, device: &GpuDevice, encoder: wgpu::CommandEncoder) -> Result<()> {
        drop(encoder);
        // Or what was written to buffers would be kept in memory.
        device.queue().submit([]);
        device.device().poll(wgpu::PollType::wait_indefinitely())?;
        Ok(())
    }
}

impl Edited for Playground {
    fn edit(&mut self, edit: Edit, number: usize, round: usize) -> Result<()> {
        let (crowd, rigs) = (&mut self.crowd, &self.rigs);
        let id: &mut InstanceId = &mut self.instances[number];
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
                *id = crowd.add_instance(self.skins[0])?;
                crowd.set_pose(*id, pose(rigs[number]))?;
            }
        }
        Ok(())
    }

    fn record(&mut self, encoder: &mut wgpu::CommandEncoder) -> Result<u64> {
        self.advance();
        self.crowd.encode(encoder)?;
        Ok(self.crowd.last_upload_bytes())
    }

    fn end(&mut self, device: &GpuDevice, encoder: wgpu::CommandEncoder) -> Result<()> {
        self.finish(device, encoder)
    }
}

/// Seconds of the edits of some characters and of recording the frame after them, and its uploads.
fn frame(
    on: &mut impl Edited,
    device: &GpuDevice,
    kind: Edit,
    numbers: impl Iterator<Item = usize>,
    round: usize,
) -> Result<(f64, u64)> {
    let start = Instant::now();
    for number in numbers {
        on.edit(kind, number, round)?;
    }
    let mut encoder = device.device().create_command_encoder(&Default::default());
    let uploaded = on.record(&mut encoder)?;
    let seconds = start.elapsed().as_secs_f64();
    on.end(device, encoder)?;
    Ok((seconds, uploaded))
}

fn measured(
    (who, on): (&str, &mut impl Edited),
    device: &GpuDevice,
    count: usize,
    runs: Runs,
    rows: &mut Vec<Row>,
) -> Result<()> {
    for edited in [1, MANY] {
        // Every kind of edit once before it is measured, and each round of all of them.
        let mut all = EDITS.map(|_| (Vec::new(), Vec::new()));
        for round in 0..=runs.most.max(15) {
            for ((kind, _), (seconds, uploads)) in EDITS.iter().zip(&mut all) {
                let numbers = (0..edited).map(|i| (i * 7 + round * 13) % count);
                let (taken, uploaded) = frame(on, device, *kind, numbers, round)?;
                if round > 0 {
                    seconds.push(taken);
                    uploads.push(uploaded);
                }
                // What the edit left to be settled is not the next one's.
                frame(on, device, Edit::Nothing, std::iter::empty(), round)?;
            }
        }
        for ((kind, words), (seconds, mut uploads)) in EDITS.iter().zip(all) {
            if matches!(kind, Edit::Retarget) && who != WHO {
                continue;
            }
            uploads.sort_unstable();
            let (uploaded, most) = (uploads[uploads.len() / 2], uploads[uploads.len() - 1]);
            let (case, times) = (case(count, edited, words), Times::of(seconds));
            rows.push(Row {
                uploaded: Some(uploaded),
                note: format!("{uploaded} bytes uploaded, at most {most}; with the frame"),
                ..Row::new(NAME, &case, who, 0, times)
            });
        }
    }
    device.check()?;
    Ok(())
}

/// All rows. Peers have them for the smaller crowd: the joints of the larger one do not fit a
/// binding of WebGPU's default limits, as Bevy has them.
pub fn rows(device: &GpuDevice, scale: f64, runs: Runs) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (number, count) in COUNTS.into_iter().enumerate() {
        let count = ((count as f64 * scale) as usize).max(MANY);
        let mut size = Size::of(Kind::Crowd, 1.0);
        (size.characters, size.points, size.meshes) = (count, POINTS, 1);
        let load = Workload::sized(Kind::Crowd, size);
        let rig = load.rig.as_ref().ok_or("no rig")?;
        let mut on = Playground::new(&load, rig, device, true)?;
        for _ in 0..3 {
            on.frame(device, 0)?;
        }
        measured((WHO, &mut on), device, count, runs, &mut rows)?;
        drop(on);
        if number == 0 {
            let joints = rig.joint_count();
            let (name, mut peer) = (godot::ABOUT.name, Godot::new(device, count, joints));
            measured((name, &mut peer), device, count, runs, &mut rows)?;
            drop(peer);
            let (name, mut peer) = (bevy::ABOUT.name, Bevy::new(device, count, joints));
            measured((name, &mut peer), device, count, runs, &mut rows)?;
        }
    }
    Ok(rows)
}

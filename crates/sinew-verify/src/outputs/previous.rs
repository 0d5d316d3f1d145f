//! Positions of the frame before.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::Vec3;
use sinew::gpu::{Crowd, InstanceId, SkinnerOptions, VisibilityMask};

use crate::cases::{self, Spec};
use crate::compare::compare;
use crate::host::{Gpu, tight, with_previous};
use crate::outputs::Run;
use crate::outputs::shown::{Shown, every_kind, on_cpu};
use crate::tolerance;

pub const CHECKS: &[(&str, Run)] = &[
    ("previous_positions_follow_frames", follow),
    ("previous_positions_of_two_frames_in_one_submit", one_submit),
    ("previous_positions_chunked", chunked),
    ("previous_positions_begin_anew", begin_anew),
    ("growing_keeps_previous_positions", growing),
];

fn pose(crowd: &mut Crowd, id: InstanceId, shown: &Shown, time: u64) -> Result<(), Failure> {
    let pose = cases::pose_of(&shown.spec, &shown.skin, time);
    Ok(crowd.set_pose(id, &shown.pack(&pose))?)
}

/// Positions at some time, by the CPU.
fn mirror(shown: &Shown, time: u64) -> Vec<Vec3> {
    let pose = cases::pose_of(&shown.spec, &shown.skin, time);
    on_cpu(&shown.packed, &shown.pack(&pose)).points
}

/// Positions, and those before, of the only instance or another one.
fn both(crowd: &mut Crowd, id: InstanceId) -> Result<(Vec<Vec3>, Vec<Vec3>), Failure> {
    let got = crowd.read(&[id])?.remove(0);
    Ok((got.points, got.previous.ok_or("no previous positions")?))
}

fn follow_with(gpu: &Gpu, options: &SkinnerOptions) -> Result<(), Failure> {
    let all = every_kind()?;
    let mut crowd = gpu.crowd_with(options)?;
    let mut ids = Vec::new();
    for shown in all {
        let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
        ids.push(crowd.add_instance_to(skin, with_previous())?);
    }
    let mut before: Vec<Vec<Vec3>> = Vec::new();
    for time in 0..4 {
        for (shown, id) in all.iter().zip(&ids) {
            pose(&mut crowd, *id, shown, time)?;
        }
        crowd.submit()?;
        let mut now = Vec::new();
        for (i, id) in ids.iter().enumerate() {
            let (points, previous) = both(&mut crowd, *id)?;
            let want = before.get(i).unwrap_or(&points);
            ensure(previous == *want, &format!("frame {time}: {}", all[i].name))?;
            let moves = all[i].packed.influences().is_some() && !points.is_empty();
            ensure(
                time == 0 || !moves || previous != points,
                "nothing moves, so nothing is proved",
            )?;
            now.push(points);
        }
        before = now;
    }
    Ok(())
}

fn follow(gpu: &Gpu) -> Result<(), Failure> {
    follow_with(gpu, &SkinnerOptions::default())
}

fn chunked(gpu: &Gpu) -> Result<(), Failure> {
    let options = tight(Some(4096), Some(2));
    follow_with(gpu, &options)
}

fn one(spec: &Spec) -> Result<Shown, Failure> {
    let skin = cases::skin(spec);
    let packed = sinew::kernel::PackedSkin::pack("/Case", &skin)?;
    Ok(Shown {
        name: "one",
        spec: *spec,
        skin,
        packed: Arc::new(packed),
    })
}

/// Three frames in one encoder, each kept in between.
fn one_submit(gpu: &Gpu) -> Result<(), Failure> {
    let shown = one(&Spec::default().shapes(5))?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
    let id = crowd.add_instance_to(skin, with_previous())?;
    let bytes = shown.packed.output_count() as u64 * 12;
    let usage = wgpu::BufferUsages::COPY_SRC;
    let kept: Vec<_> = (0..6)
        .map(|_| gpu.filled(bytes as usize / 4, usage, 0))
        .collect();
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for time in 0..3usize {
        pose(&mut crowd, id, &shown, time as u64)?;
        crowd.encode(&mut encoder)?;
        for (slices, to) in [
            (crowd.points_on_gpu(id)?, &kept[time * 2]),
            (crowd.previous_on_gpu(id)?, &kept[time * 2 + 1]),
        ] {
            ensure(slices.len() == 1, "one run")?;
            encoder.copy_buffer_to_buffer(slices[0].buffer, slices[0].offset, to, 0, bytes);
        }
    }
    gpu.queue.submit([encoder.finish()]);
    let all: Vec<Vec<u32>> = kept
        .iter()
        .map(|b| gpu.read::<u32>(b))
        .collect::<Result<_, _>>()?;
    ensure(all[0] == all[1], "the first frame has no other before it")?;
    ensure(
        all[3] == all[0],
        "the second frame's previous positions are the first's",
    )?;
    ensure(
        all[5] == all[2],
        "the third frame's previous positions are the second's",
    )?;
    ensure(
        all[0] != all[2] && all[2] != all[4],
        "each frame has its own pose",
    )
}

fn begin_anew(gpu: &Gpu) -> Result<(), Failure> {
    let shown = one(&Spec::default())?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
    let id = crowd.add_instance_to(skin, with_previous())?;
    let mut time = 0;
    let mut frame = |crowd: &mut Crowd| -> Result<bool, Failure> {
        time += 1;
        pose(crowd, id, &shown, time)?;
        crowd.submit()?;
        if crowd.is_hidden(id)? {
            return Ok(false);
        }
        let (points, previous) = both(crowd, id)?;
        let mirror = mirror(&shown, time);
        compare("points", &points, &mirror, tolerance::MIRROR_POINTS)?;
        Ok(previous == points)
    };
    ensure(frame(&mut crowd)?, "the first frame is fresh")?;
    ensure(!frame(&mut crowd)?, "the second is not")?;
    crowd.set_hidden(id, true)?;
    frame(&mut crowd)?;
    crowd.set_hidden(id, false)?;
    ensure(frame(&mut crowd)?, "a frame after being hidden is fresh")?;
    ensure(!frame(&mut crowd)?, "and the next is not")?;
    // Hidden and shown between two frames: nothing was left out.
    crowd.set_hidden(id, true)?;
    crowd.set_hidden(id, false)?;
    ensure(!frame(&mut crowd)?, "no frame was missed")?;
    // So many more that the buffers are replaced.
    let generation = crowd.outputs_generation();
    for _ in 0..20 {
        let other = crowd.add_instance_to(skin, with_previous())?;
        pose(&mut crowd, other, &shown, 1)?;
    }
    ensure(
        crowd.outputs_generation() > generation,
        "buffers were replaced",
    )?;
    ensure(!frame(&mut crowd)?, "a frame in another buffer is fresh")
}

/// Buffers are replaced between frames, submitted or not, and before a hidden instance is read: nothing of the frame
/// before is lost, with a mask or without.
fn growing(gpu: &Gpu) -> Result<(), Failure> {
    let shown = one(&Spec::default())?;
    for (submitted, is_masked) in [(true, false), (false, false), (true, true)] {
        let mut crowd = gpu.crowd()?;
        let skin = crowd.add_skin(Arc::clone(&shown.packed))?;
        let [id, asleep] = [
            crowd.add_instance_to(skin, with_previous())?,
            crowd.add_instance(skin)?,
        ];
        if is_masked {
            let all = gpu.filled(128, wgpu::BufferUsages::STORAGE, 1);
            crowd.set_visibility(Some(VisibilityMask::words(all)))?;
        }
        pose(&mut crowd, id, &shown, 0)?;
        pose(&mut crowd, asleep, &shown, 9)?;
        let first = crowd.run()?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        pose(&mut crowd, id, &shown, 1)?;
        pose(&mut crowd, asleep, &shown, 10)?;
        crowd.encode(&mut encoder)?;
        if submitted {
            gpu.queue.submit([encoder.finish()]);
            encoder = gpu.device.create_command_encoder(&Default::default());
        }
        crowd.set_hidden(asleep, true)?;
        // Twice, and by both ways.
        let generation = crowd.outputs_generation();
        for _ in 0..100 {
            let other = crowd.add_instance_to(skin, with_previous())?;
            pose(&mut crowd, other, &shown, 3)?;
        }
        crowd.reserve_instances(skin, 300)?;
        ensure(
            crowd.outputs_generation() > generation + 4,
            "buffers were replaced",
        )?;
        pose(&mut crowd, id, &shown, 2)?;
        crowd.encode(&mut encoder)?;
        gpu.queue.submit([encoder.finish()]);
        let (_, previous) = both(&mut crowd, id)?;
        let before = mirror(&shown, 1);
        compare("previous", &previous, &before, tolerance::MIRROR_POINTS)?;
        let kept = crowd.read_points(asleep)?;
        let want = mirror(&shown, 10);
        compare("of a hidden one", &kept, &want, tolerance::MIRROR_POINTS)?;
        ensure(kept != first[1].points, "two poses are the same")?;
    }
    Ok(())
}

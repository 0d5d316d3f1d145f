//! Visibility masks and update rates that are refused, what pipelines they need, and boxes out of
//! sight. What frames with them compute is compared in `playing/edits.rs`.

use std::sync::Arc;

use crate::{Failure, ensure};
use glam::DMat4;
use sinew::gpu::{BoundsUse, Crowd, Prewarm, SkinnerOptions, VisibilityMask};
use sinew::skel::SkinningMethod;

use crate::cases::Spec;
use crate::check::Checks;
use crate::crowds::made::crowd_of;
use crate::host::{Gpu, by_rig, posed, posed_to, with_previous, wrong_use};
use crate::playing::figure::{CHANNELS, Figure};
use crate::posing::rigs;

pub const CHECKS: Checks = &[
    ("boxes_out_of_sight_outlive_growth", growing),
    ("masks_that_cannot_be_used_are_refused", refused),
    ("masks_need_no_pipeline_that_is_not_listed", prewarmed),
];

/// Buffers grow while all that were there are out of sight: their boxes stay.
fn growing(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default().points(20))?;
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    let (count, more) = (90, 900);
    let mask = gpu.filled(count + more, wgpu::BufferUsages::STORAGE, 1);
    crowd.set_visibility(Some(VisibilityMask::words(mask.clone())))?;
    for seed in 0..count as u64 {
        posed(&mut crowd, skin, &made.pose(seed))?;
    }
    let frame = |crowd: &mut Crowd| -> Result<Vec<[u32; 8]>, Failure> {
        crowd.submit()?;
        gpu.read(crowd.bounds_on_gpu().ok_or("no boxes")?)
    };
    let before = frame(&mut crowd)?;
    gpu.queue.write_buffer(&mask, 0, &vec![0; count * 4]);
    for id in crowd.add_instances(skin, more)? {
        crowd.set_pose(id, &made.pose(1))?;
    }
    let after = frame(&mut crowd)?;
    ensure(after.len() > before.len(), "no buffer grew")?;
    ensure(after[..count] == before[..count], "a box is lost")
}

fn prewarmed(gpu: &Gpu) -> Result<(), Failure> {
    let skinner = gpu.new_skinner(&SkinnerOptions::default())?;
    let figure = Figure::new(SkinningMethod::ClassicLinear, 12)?;
    skinner.prewarm(&figure.skins[1].packed, &with_previous(), Prewarm::ALL)?;
    let compiled = skinner.compiled();
    let mut crowd = skinner.crowd();
    crowd.enable_bounds(BoundsUse::OnGpu)?;
    let rig = crowd.add_rig(Arc::clone(&figure.rig))?;
    crowd.set_joints(rig, &rigs::locals(&figure.spec, 1))?;
    let skin = crowd.add_skin(Arc::clone(&figure.skins[1].packed))?;
    let pose = by_rig(rig, &DMat4::IDENTITY, &[0.5; CHANNELS]);
    let id = posed_to(&mut crowd, skin, with_previous(), pose)?;
    crowd.set_update_rate(id, 2)?;
    crowd.submit()?;
    let buffer = gpu.filled(1, wgpu::BufferUsages::STORAGE, 1);
    for mask in [VisibilityMask::words, VisibilityMask::bits] {
        crowd.set_visibility(Some(mask(buffer.clone())))?;
        crowd.submit()?;
    }
    let more = skinner.compiled() - compiled;
    ensure(more == 0, &format!("{more} pipelines more"))
}

fn refused(gpu: &Gpu) -> Result<(), Failure> {
    let (made, mut crowd, skin) = crowd_of(gpu, &Spec::default())?;
    let id = posed(&mut crowd, skin, &made.pose(0))?;
    let words = |count, usage| VisibilityMask::words(gpu.filled(count, usage, 1));
    let storage = wgpu::BufferUsages::STORAGE;
    let other = words(400, wgpu::BufferUsages::VERTEX);
    let result = crowd.set_visibility(Some(other));
    wrong_use("expected a buffer with usage STORAGE", result)?;
    let between = VisibilityMask {
        offset: 2,
        ..words(400, storage)
    };
    wrong_use("bytes, found 2", crowd.set_visibility(Some(between)))?;
    let is_masked = crowd.visibility().is_some();
    ensure(!is_masked, "a mask in spite of errors")?;
    // Each is too short for one instance more than it has room for.
    let short = words(3, storage);
    for (mask, room) in [(short.clone(), 3), (VisibilityMask::bits(short.buffer), 96)] {
        crowd.set_visibility(Some(mask))?;
        while crowd.instance_count() < room {
            posed(&mut crowd, skin, &made.pose(0))?;
        }
        crowd.submit()?;
        posed(&mut crowd, skin, &made.pose(0))?;
        wrong_use("instance indices, found 12 bytes", crowd.submit())?;
    }
    crowd.set_visibility(None)?;
    crowd.submit()?;
    wrong_use("every 0 frames", crowd.set_update_rate(id, 0))?;
    crowd.remove_instance(id)?;
    wrong_use("another crowd", crowd.set_update_rate(id, 2))
}

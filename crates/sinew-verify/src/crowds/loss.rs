//! Devices that go away, and memory that is not there.

use crate::{Failure, ensure};
use sinew::gpu::{
    Attribute, BoundsUse, GpuError, InstanceId, OutputTarget, Skinner, SkinnerOptions,
    VisibilityMask,
};

use crate::cases::Spec;
use crate::check::Checks;
use crate::crowds::made::{TWENTY, add_posed, agrees, all_bits, crowd_of};
use crate::host::{Gpu, posed};

pub const CHECKS: Checks = &[
    ("loss_is_an_error_and_rebuilt", lost_and_rebuilt),
    ("loss_reaches_readings", lost_readings),
];

fn lost<T>(what: &str, result: Result<T, GpuError>) -> Result<(), Failure> {
    match result {
        Err(GpuError::Lost(_)) => Ok(()),
        Err(other) => Err(format!("{what}: {other:?}").into()),
        Ok(_) => Err(format!("{what}: no error").into()),
    }
}

fn lost_and_rebuilt(gpu: &Gpu) -> Result<(), Failure> {
    let old = gpu.another()?;
    let mut crowd = old.crowd()?;
    let mut ids: Vec<InstanceId> = Vec::new();
    let crowd_skin = crowd.add_skin(TWENTY[0].packed.clone())?;
    for (i, made) in TWENTY.iter().enumerate() {
        let poses = [0, 1, 2].map(|seed| made.pose(seed + i as u64));
        ids.extend(add_posed(&mut crowd, &made.packed, &poses)?);
    }
    // One goes to a buffer of the caller's, which is lost with the device.
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let positions = Attribute::In {
        buffer: old.filled(1024, usage, 0),
        offset: 16,
        stride: 20,
    };
    let target = OutputTarget {
        positions,
        ..OutputTarget::default()
    };
    crowd.set_target(ids[0], target)?;
    crowd.remove_instance(ids.remove(7))?;
    crowd.set_hidden(ids[3], true)?;
    crowd.set_update_rate(ids[4], 5)?;
    let mask = old.filled(100, wgpu::BufferUsages::STORAGE, 1);
    crowd.set_visibility(Some(VisibilityMask::words(mask)))?;
    crowd.enable_bounds(BoundsUse::ReadBack)?;
    let before = crowd.run()?;
    old.finish()?;
    let bounds = crowd.latest_bounds(ids[1])?;

    old.device.destroy();
    let mut encoder = old.encoder();
    lost("submit", crowd.submit())?;
    lost("run", crowd.run())?;
    lost("read", crowd.read(&ids[..1]))?;
    lost("add_skin", crowd.add_skin(TWENTY[0].packed.clone()))?;
    let options = SkinnerOptions::default();
    lost("a skinner", Skinner::new(&old.device, &old.queue, &options))?;
    lost("encode", crowd.encode(&mut encoder))?;
    lost("request_read", crowd.request_read(&mut encoder, &ids[..1]))?;
    let skin_of_all = crowd.add_instances(crowd_skin, 1000);
    lost("growth", skin_of_all)?;
    // These have nothing to ask, and must not panic.
    let _ = (
        crowd.poll(),
        crowd.latest_bounds(ids[1]),
        crowd.last_gpu_time(),
    );
    let skin_free = crowd.instance_count();

    let new = gpu.another()?;
    let mut again = crowd.rebuild(&new.skinner(&SkinnerOptions::default())?)?;
    ensure(
        again.instance_count() == skin_free && again.instances() == ids,
        "other instances",
    )?;
    ensure(again.is_hidden(ids[3])?, "the hidden one shows")?;
    ensure(again.update_rate(ids[4])?.every == 5, "another rate")?;
    ensure(again.visibility().is_none(), "a mask of another device")?;
    ensure(again.read(&ids[..1]).is_err(), "results before a frame")?;
    ensure(all_bits(&again.run()?) == all_bits(&before), "other bits")?;
    new.finish()?;
    ensure(
        bounds.is_some() && again.latest_bounds(ids[1])? == bounds,
        "other bounds",
    )?;
    // Ids go on where they were, and removed ones stay removed.
    again.remove_instance(ids[5])?;
    ensure(again.set_hidden(ids[5], true).is_err(), "a removed id")?;
    again.set_hidden(ids[3], false)?;
    agrees(&again.read(&ids[..1])?[0], &before[0])?;
    agrees(&again.run()?[3], &TWENTY[1].on_cpu(&TWENTY[1].pose(1)))
}

fn lost_readings(gpu: &Gpu) -> Result<(), Failure> {
    for is_submitted in [false, true] {
        let gpu = gpu.another()?;
        let (made, mut crowd, skin) = crowd_of(&gpu, &Spec::default())?;
        let id = posed(&mut crowd, skin, &made.pose(1))?;
        let mut encoder = gpu.encoder();
        crowd.encode(&mut encoder)?;
        let ticket = crowd.request_read(&mut encoder, &[id])?;
        if is_submitted {
            gpu.queue.submit([encoder.finish()]);
        } else {
            drop(encoder);
        }
        gpu.device.destroy();
        let _ = crowd.poll();
        let _ = gpu.finish();
        match crowd.take(&ticket) {
            // It may have come before the device went.
            Some(Ok(got)) if is_submitted => agrees(&got[0], &made.on_cpu(&made.pose(1)))?,
            Some(Err(GpuError::Lost(_))) => {}
            Some(Err(GpuError::NotSubmitted)) if !is_submitted => {}
            other => return Err(format!("{is_submitted}: {other:?}").into()),
        }
    }
    Ok(())
}

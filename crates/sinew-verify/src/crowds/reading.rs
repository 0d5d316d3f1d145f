//! Results that come back later.

use crate::{Failure, ensure};
use sinew::gpu::{Crowd, Deformed, GpuError, InstanceId, ReadTicket};

use crate::cases::Spec;
use crate::crowds::Run;
use crate::crowds::made::{Made, agrees, bits, made, twenty};
use crate::host::{Gpu, mismatch, posed};

pub const CHECKS: &[(&str, Run)] = &[
    ("reading_out_of_order_from_two_crowds", out_of_order),
    ("reading_has_a_bound", bound),
    ("reading_of_dropped_encoders", dropped),
    ("reading_refuses_what_is_wrong", refused),
    ("reading_nothing", nothing),
];

struct One {
    crowd: Crowd,
    made: Made,
    id: InstanceId,
}

fn one(gpu: &Gpu, seed: u64) -> Result<One, Failure> {
    let made = made(
        &Spec::default()
            .seed(seed)
            .face_varying(seed.is_multiple_of(2)),
    )?;
    let mut crowd = gpu.crowd()?;
    let skin = crowd.add_skin(made.packed.clone())?;
    let id = crowd.add_instance(skin)?;
    Ok(One { crowd, made, id })
}

impl One {
    /// Records a frame and its reading.
    fn frame(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        seed: u64,
    ) -> Result<ReadTicket, Failure> {
        self.crowd.set_pose(self.id, &self.made.pose(seed))?;
        self.crowd.encode(encoder)?;
        Ok(self.crowd.request_read(encoder, &[self.id])?)
    }

    fn check(
        &self,
        got: Option<Result<Vec<Deformed>, GpuError>>,
        seed: u64,
    ) -> Result<(), Failure> {
        let got = got.ok_or("nothing has come back")??;
        agrees(&got[0], &self.made.on_cpu(&self.made.pose(seed)))
    }
}

fn wait(gpu: &Gpu) -> Result<(), Failure> {
    gpu.device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(())
}

fn out_of_order(gpu: &Gpu) -> Result<(), Failure> {
    let (mut a, mut b) = (one(gpu, 1)?, one(gpu, 2)?);
    for round in 0..5u64 {
        // Three frames of both in one submit, three more in submits of their own.
        let mut tickets = Vec::new();
        let mut shared = gpu.device.create_command_encoder(&Default::default());
        for frame in 0..3u64 {
            let seed = 100 * round + frame;
            tickets.push((
                seed,
                a.frame(&mut shared, seed)?,
                b.frame(&mut shared, seed + 50)?,
            ));
        }
        for (_, of_a, of_b) in &tickets {
            a.crowd.poll()?;
            ensure(a.crowd.take(of_a).is_none(), "before a submit")?;
            ensure(b.crowd.take(of_b).is_none(), "before a submit")?;
        }
        gpu.queue.submit([shared.finish()]);
        for frame in 3..6u64 {
            let seed = 100 * round + frame;
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            tickets.push((
                seed,
                a.frame(&mut encoder, seed)?,
                b.frame(&mut encoder, seed + 50)?,
            ));
            gpu.queue.submit([encoder.finish()]);
        }
        wait(gpu)?;
        for i in [4, 0, 5, 2, 1, 3] {
            let (seed, of_a, of_b) = &tickets[i];
            let (got_b, got_a) = (b.crowd.take(of_b), a.crowd.take(of_a));
            a.check(got_a, *seed)?;
            b.check(got_b, *seed + 50)?;
        }
    }
    // The blocking way gives the same.
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let ticket = a.frame(&mut encoder, 9)?;
    gpu.queue.submit([encoder.finish()]);
    let blocking = a.crowd.read(&[a.id])?;
    let late = a.crowd.take(&ticket).ok_or("nothing has come back")??;
    ensure(
        bits(&blocking[0]) == bits(&late[0]),
        "two ways, two results",
    )
}

fn bound(gpu: &Gpu) -> Result<(), Failure> {
    let mut a = one(gpu, 1)?;
    for _ in 0..3 {
        let mut tickets = Vec::new();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for seed in 0..Crowd::MOST_READS as u64 {
            tickets.push(a.frame(&mut encoder, seed)?);
        }
        let full = a.crowd.request_read(&mut encoder, &[a.id]);
        ensure(matches!(full, Err(GpuError::Busy(_))), &format!("{full:?}"))?;
        gpu.queue.submit([encoder.finish()]);
        // The blocking way does not count.
        a.crowd.read(&[a.id])?;
        wait(gpu)?;
        // One is taken, two nobody wants any more.
        let taken = a.crowd.take(&tickets[3]);
        a.check(taken, 3)?;
        tickets.drain(4..6);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let more = [
            a.frame(&mut encoder, 20)?,
            a.frame(&mut encoder, 21)?,
            a.frame(&mut encoder, 22)?,
        ];
        ensure(
            a.crowd.request_read(&mut encoder, &[a.id]).is_err(),
            "beyond the bound",
        )?;
        gpu.queue.submit([encoder.finish()]);
        wait(gpu)?;
        for (ticket, seed) in more.iter().zip(20..) {
            let got = a.crowd.take(ticket);
            a.check(got, seed)?;
        }
        // The rest is dropped here, taken or not.
    }
    Ok(())
}

/// An encoder that is never submitted holds nothing for ever.
fn dropped(gpu: &Gpu) -> Result<(), Failure> {
    let mut a = one(gpu, 1)?;
    for _ in 0..3 * Crowd::MOST_READS {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let ticket = a.frame(&mut encoder, 1)?;
        drop(encoder);
        let taken = a.crowd.take(&ticket).ok_or("nothing")?;
        mismatch("dropped", taken)?;
    }
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let ticket = a.frame(&mut encoder, 4)?;
    gpu.queue.submit([encoder.finish()]);
    wait(gpu)?;
    let got = a.crowd.take(&ticket);
    a.check(got, 4)
}

fn refused(gpu: &Gpu) -> Result<(), Failure> {
    let (mut a, mut b) = (one(gpu, 1)?, one(gpu, 2)?);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let too_early = a.crowd.request_read(&mut encoder, &[a.id]);
    mismatch("no frame was encoded", too_early)?;
    let ticket = a.frame(&mut encoder, 1)?;
    gpu.queue.submit([encoder.finish()]);
    wait(gpu)?;
    let foreign = b.crowd.take(&ticket).ok_or("nothing")?;
    mismatch("a reading of another crowd", foreign)?;
    let got = a.crowd.take(&ticket);
    a.check(got, 1)?;
    let twice = a.crowd.take(&ticket).ok_or("nothing")?;
    mismatch("one that was taken", twice)
}

fn nothing(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    let ticket = crowd.request_read(&mut encoder, &[])?;
    let empty = crowd.take(&ticket).ok_or("nothing to wait for")??;
    ensure(empty.is_empty(), "results of nothing")?;
    // Many at once, the empty among them.
    let mut all = twenty()?;
    all.push(made(&Spec::default().points(0))?);
    let mut ids = Vec::new();
    for made in &all {
        let skin = crowd.add_skin(made.packed.clone())?;
        let id = posed(&mut crowd, skin, &made.pose(8))?;
        ids.insert(0, id);
    }
    crowd.encode(&mut encoder)?;
    let ticket = crowd.request_read(&mut encoder, &ids)?;
    gpu.queue.submit([encoder.finish()]);
    wait(gpu)?;
    let got = crowd.take(&ticket).ok_or("nothing has come back")??;
    for (got, made) in got.iter().zip(all.iter().rev()) {
        agrees(got, &made.on_cpu(&made.pose(8)))?;
    }
    ensure(got.len() == all.len(), "some are missing")
}

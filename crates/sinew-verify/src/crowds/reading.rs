//! Results that come back later.

use crate::{Failure, ensure};
use sinew::gpu::{Crowd, Deformed, GpuError, InstanceId, ReadTicket, wait_for};

use crate::cases::Spec;
use crate::check::Checks;
use crate::crowds::made::{Made, TWENTY, agrees, all_bits, bits, crowd_of, made};
use crate::host::{Gpu, posed, wrong_use};

pub const CHECKS: Checks = &[
    ("reading_out_of_order_from_two_crowds", out_of_order),
    ("reading_has_a_bound", bound),
    ("reading_of_dropped_encoders", dropped),
    ("reading_refuses_what_is_wrong", refused),
    ("reading_nothing", nothing),
    ("repeats_on_the_gpu", repeats),
];

struct One {
    crowd: Crowd,
    made: Made,
    id: InstanceId,
}

fn one(gpu: &Gpu, seed: u64) -> Result<One, Failure> {
    let spec = Spec::default()
        .seed(seed)
        .face_varying(seed.is_multiple_of(2));
    let (made, mut crowd, skin) = crowd_of(gpu, &spec)?;
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

    /// Takes a reading of a frame with the pose of `seed`, and checks it.
    fn check(&mut self, gpu: &Gpu, ticket: &ReadTicket, seed: u64) -> Result<(), Failure> {
        let got = taken(gpu, &mut self.crowd, ticket)?;
        agrees(&got[0], &self.made.on_cpu(&self.made.pose(seed)))
    }
}

/// What `take` returns once the reading has come.
fn taken(gpu: &Gpu, crowd: &mut Crowd, ticket: &ReadTicket) -> Result<Vec<Deformed>, Failure> {
    wait_for(&gpu.device, ticket.arrived())?;
    Ok(crowd.take(ticket).ok_or("it arrived, and is not there")??)
}

fn out_of_order(gpu: &Gpu) -> Result<(), Failure> {
    let (mut a, mut b) = (one(gpu, 1)?, one(gpu, 2)?);
    for round in 0..5u64 {
        // Three frames of both in one submit, three more in submits of their own.
        let mut tickets = Vec::new();
        let mut shared = gpu.encoder();
        for frame in 0..3u64 {
            let seed = 100 * round + frame;
            let of_a = a.frame(&mut shared, seed)?;
            tickets.push((seed, of_a, b.frame(&mut shared, seed + 50)?));
        }
        for (_, of_a, of_b) in &tickets {
            a.crowd.poll()?;
            ensure(a.crowd.take(of_a).is_none(), "before a submit")?;
            ensure(b.crowd.take(of_b).is_none(), "before a submit")?;
        }
        gpu.queue.submit([shared.finish()]);
        for frame in 3..6u64 {
            let seed = 100 * round + frame;
            let mut encoder = gpu.encoder();
            let of_a = a.frame(&mut encoder, seed)?;
            tickets.push((seed, of_a, b.frame(&mut encoder, seed + 50)?));
            gpu.queue.submit([encoder.finish()]);
        }
        for i in [4, 0, 5, 2, 1, 3] {
            let (seed, of_a, of_b) = &tickets[i];
            b.check(gpu, of_b, *seed + 50)?;
            a.check(gpu, of_a, *seed)?;
        }
    }
    // The blocking way gives the same.
    let mut encoder = gpu.encoder();
    let ticket = a.frame(&mut encoder, 9)?;
    gpu.queue.submit([encoder.finish()]);
    let blocking = a.crowd.read(&[a.id])?;
    let late = taken(gpu, &mut a.crowd, &ticket)?;
    let same = bits(&blocking[0]) == bits(&late[0]);
    ensure(same, "two ways, two results")
}

fn bound(gpu: &Gpu) -> Result<(), Failure> {
    let mut a = one(gpu, 1)?;
    for _ in 0..3 {
        let mut tickets = Vec::new();
        let mut encoder = gpu.encoder();
        for seed in 0..Crowd::MOST_READS as u64 {
            tickets.push(a.frame(&mut encoder, seed)?);
        }
        let full = a.crowd.request_read(&mut encoder, &[a.id]);
        ensure(matches!(full, Err(GpuError::Busy(_))), &format!("{full:?}"))?;
        gpu.queue.submit([encoder.finish()]);
        // The blocking way does not count.
        a.crowd.read(&[a.id])?;
        // The last is taken, so all have come. Two of them nobody wants any more.
        let last = Crowd::MOST_READS - 1;
        a.check(gpu, &tickets[last], last as u64)?;
        tickets.drain(4..6);
        let mut encoder = gpu.encoder();
        let mut more = Vec::new();
        for seed in 20..23 {
            more.push(a.frame(&mut encoder, seed)?);
        }
        let full = a.crowd.request_read(&mut encoder, &[a.id]);
        ensure(full.is_err(), "beyond the bound")?;
        gpu.queue.submit([encoder.finish()]);
        for (ticket, seed) in more.iter().zip(20..) {
            a.check(gpu, ticket, seed)?;
        }
        // The rest is dropped here, taken or not.
    }
    Ok(())
}

/// An encoder that is never submitted holds nothing for ever.
fn dropped(gpu: &Gpu) -> Result<(), Failure> {
    let mut a = one(gpu, 1)?;
    for _ in 0..3 * Crowd::MOST_READS {
        let mut encoder = gpu.encoder();
        let ticket = a.frame(&mut encoder, 1)?;
        drop(encoder);
        let taken = a.crowd.take(&ticket).ok_or("nothing")?;
        wrong_use("dropped", taken)?;
    }
    let mut encoder = gpu.encoder();
    let ticket = a.frame(&mut encoder, 4)?;
    gpu.queue.submit([encoder.finish()]);
    a.check(gpu, &ticket, 4)
}

fn refused(gpu: &Gpu) -> Result<(), Failure> {
    let (mut a, mut b) = (one(gpu, 1)?, one(gpu, 2)?);
    let mut encoder = gpu.encoder();
    let too_early = a.crowd.request_read(&mut encoder, &[a.id]);
    wrong_use("expected a frame", too_early)?;
    let ticket = a.frame(&mut encoder, 1)?;
    gpu.queue.submit([encoder.finish()]);
    let foreign = b.crowd.take(&ticket).ok_or("nothing")?;
    wrong_use("a reading of another crowd", foreign)?;
    a.check(gpu, &ticket, 1)?;
    let twice = a.crowd.take(&ticket).ok_or("nothing")?;
    wrong_use("a reading of another crowd", twice)
}

fn nothing(gpu: &Gpu) -> Result<(), Failure> {
    let mut crowd = gpu.crowd()?;
    let mut encoder = gpu.encoder();
    let ticket = crowd.request_read(&mut encoder, &[])?;
    let empty = crowd.take(&ticket).ok_or("nothing to wait for")??;
    ensure(empty.is_empty(), "results of nothing")?;
    // Many at once, the empty among them.
    let mut all = TWENTY.clone();
    all.push(made(&Spec::default().points(0)));
    let mut ids = Vec::new();
    for made in &all {
        let skin = crowd.add_skin(made.packed.clone())?;
        let id = posed(&mut crowd, skin, &made.pose(8))?;
        ids.insert(0, id);
    }
    crowd.encode(&mut encoder)?;
    let ticket = crowd.request_read(&mut encoder, &ids)?;
    gpu.queue.submit([encoder.finish()]);
    let got = taken(gpu, &mut crowd, &ticket)?;
    for (got, made) in got.iter().zip(all.iter().rev()) {
        agrees(got, &made.on_cpu(&made.pose(8)))?;
    }
    ensure(got.len() == all.len(), "some are missing")
}

/// The same bits again: of frames one by one, in flight at once, and on another device.
fn repeats(gpu: &Gpu) -> Result<(), Failure> {
    let run = |gpu: &Gpu, in_one_submit: bool, waits: bool| -> Result<_, Failure> {
        let mut crowd = gpu.crowd()?;
        let mut ids = Vec::new();
        for made in &*TWENTY {
            let skin = crowd.add_skin(made.packed.clone())?;
            ids.push(crowd.add_instance(skin)?);
        }
        let (mut encoder, mut tickets) = (gpu.encoder(), Vec::new());
        for time in 0..3 {
            for (id, made) in ids.iter().zip(&*TWENTY) {
                crowd.set_pose(*id, &made.pose(time))?;
            }
            crowd.encode(&mut encoder)?;
            tickets.push(crowd.request_read(&mut encoder, &ids)?);
            if !in_one_submit {
                let frame = std::mem::replace(&mut encoder, gpu.encoder());
                gpu.queue.submit([frame.finish()]);
            }
            if waits {
                gpu.finish()?;
            }
        }
        gpu.queue.submit([encoder.finish()]);
        // The last one first.
        let mut take = |ticket| Ok(all_bits(&taken(gpu, &mut crowd, ticket)?));
        tickets.iter().rev().map(&mut take).collect()
    };
    let want: Vec<Vec<Vec<u32>>> = run(gpu, false, true)?;
    ensure(want[0] != want[1], "frames do not differ")?;
    let other = gpu.another()?;
    for (what, found) in [
        ("again", run(gpu, false, true)?),
        ("in flight", run(gpu, false, false)?),
        ("in one submit", run(gpu, true, false)?),
        ("on another device", run(&other, false, true)?),
    ] {
        ensure(found == want, &format!("other bits {what}"))?;
    }
    Ok(())
}

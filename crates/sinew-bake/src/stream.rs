//! Deforms every prim at every time it is wanted, a batch of times at a time, and hands the results on in the order of
//! time. Batches overlap: while one is written, the next is deformed and the one after it posed.

use std::collections::HashSet;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use glam::{DMat4, Vec3};

use super::Progress;
use super::buffers::Buffers;
use super::deform::{Deformer, UnderWay};
use super::extent::extent;
use super::frames::{Deformed, Done, Frame, Scheduled};
use super::plan::Plan;
use super::posing::{Place, PosedBatch, Poser};
use super::troubles::Troubles;
use sinew::error::{Invalid, Result};
use sinew::math;
use sinew::scene::Scene;

/// Deforms what is scheduled; `sink` gets every time once, in order, and may give arrays that it needs no more to the
/// buffers. What cannot be deformed is left out of its frame, and told in `troubles`.
///
/// While the sink has one batch, the next is deformed and the one after it posed. Returns how long posing and deforming
/// took, without waiting for the sink.
///
/// # Errors
/// A GPU that fails, and whatever `sink` says.
pub(super) fn deform_frames(
    scene: &Scene,
    plan: &Plan,
    schedule: &[Scheduled],
    deformer: &mut Deformer,
    troubles: &mut Troubles,
    progress: &mut dyn FnMut(Progress),
    sink: &mut dyn FnMut(Frame, &Buffers) -> Result<()>,
) -> Result<Duration> {
    let total: usize = schedule.iter().map(|(_, b)| b.len()).sum();
    let mut done = 0;
    progress(Progress::Deforming { done, total });
    let buffers = &Buffers::default();
    let mut take = |batch: Finished| {
        for frame in batch.frames {
            sink(frame, buffers)?;
        }
        done += batch.samples;
        progress(Progress::Deforming { done, total });
        Ok(())
    };
    let mut batches = Batches {
        batches: batches(scene, plan, schedule, deformer.batch_points()).into_iter(),
        poser: Poser::new(scene, plan),
        finisher: Finisher {
            scene,
            deformer,
            troubles,
            buffers,
        },
        posed: None,
        under_way: None,
        busy: Duration::ZERO,
    };
    // A thread of rayon's must not wait for another one of the same pool.
    if rayon::current_thread_index().is_some() {
        while let Some(batch) = batches.next() {
            take(batch?)?;
        }
        return Ok(batches.busy);
    }
    let (sender, receiver) = sync_channel(1);
    std::thread::scope(|scope| {
        let deforming = scope.spawn(move || {
            while let Some(batch) = batches.next() {
                // Nobody takes it where the sink failed.
                if sender.send(batch?).is_err() {
                    break;
                }
            }
            Ok(batches.busy)
        });
        let taken = receiver.iter().try_for_each(&mut take);
        drop(receiver);
        let deformed = deforming.join();
        taken.and(deformed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// Batches on their way: one is deformed while the next is posed.
struct Batches<'a> {
    batches: IntoIter<&'a [Scheduled]>,
    poser: Poser<'a>,
    finisher: Finisher<'a>,
    posed: Option<PosedBatch>,
    under_way: Option<Begun>,
    busy: Duration,
}

impl Batches<'_> {
    fn next(&mut self) -> Option<Result<Finished>> {
        let start = Instant::now();
        let next = self.advance().transpose();
        self.busy += start.elapsed();
        next
    }

    fn advance(&mut self) -> Result<Option<Finished>> {
        loop {
            // A GPU gets its next work before the results of its last are waited for.
            let begun = match self.posed.take() {
                Some(mut batch) => {
                    let jobs = std::mem::take(&mut batch.jobs);
                    let jobs = self.finisher.deformer.begin(jobs)?;
                    Some(Begun { batch, jobs })
                }
                None => None,
            };
            let before = std::mem::replace(&mut self.under_way, begun);
            let next = self.batches.next();
            let (poser, finisher) = (&mut self.poser, &mut self.finisher);
            let (posed, finished) = rayon::join(
                || next.map(|batch| poser.pose(batch)),
                || before.map(|begun| finisher.finish(begun)),
            );
            self.posed = posed;
            match finished {
                Some(finished) => return finished.map(Some),
                None if self.posed.is_none() && self.under_way.is_none() => return Ok(None),
                None => {}
            }
        }
    }
}

/// A batch that the backend has: the posed one without its jobs.
struct Begun {
    batch: PosedBatch,
    jobs: UnderWay,
}

struct Finished {
    frames: Vec<Frame>,
    /// (prim, time) pairs, those without a result included.
    samples: usize,
}

/// Finishes batches.
struct Finisher<'a> {
    scene: &'a Scene,
    deformer: &'a mut Deformer,
    troubles: &'a mut Troubles,
    buffers: &'a Buffers,
}

impl Finisher<'_> {
    fn finish(&mut self, begun: Begun) -> Result<Finished> {
        let PosedBatch {
            mut frames,
            places,
            troubles,
            samples,
            ..
        } = begun.batch;
        for (binding, time, e) in troubles {
            match time {
                Some(time) => self.troubles.at(binding, time, e),
                None => self.troubles.whole(binding, e),
            }
        }
        let scene = self.scene;
        let then = |i: usize, mut done: Done| {
            let place: &Place = &places[i];
            if let Some(m) = place.out_from_prim {
                leave_prim_space(&mut done.points, done.normals.as_deref_mut(), m);
            }
            let binding = &scene.bindings[place.binding];
            let extent = extent(&done.points, binding, frames[place.frame].time);
            (done, extent)
        };
        let results = self.deformer.finish(begun.jobs, self.buffers, then)?;
        let mut failed: HashSet<(usize, usize)> = HashSet::new();
        for ((done, extent), place) in results.into_iter().zip(places) {
            let time = frames[place.frame].time;
            let Some(extent) = extent else {
                let path = &scene.bindings[place.binding].path;
                let e = Invalid::new(path, "points", "finite results", "some that overflow f32");
                self.troubles
                    .at(place.binding, time, e.in_file(&scene.file));
                failed.insert((place.frame, place.binding));
                continue;
            };
            frames[place.frame].deformed.push(Deformed {
                binding: place.binding,
                part: place.part,
                points: done.points,
                normals: done.normals,
                extent,
            });
        }
        // A prim comes out whole at a time, or not at all.
        if !failed.is_empty() {
            for (i, frame) in frames.iter_mut().enumerate() {
                let came_out = |b: usize| !failed.contains(&(i, b));
                frame.transforms.retain(|(b, _)| came_out(*b));
                frame.deformed.retain(|d| came_out(d.binding));
            }
        }
        Ok(Finished { frames, samples })
    }
}

/// Carries what stays in its own space, such as the results of a prim that only blends (rule 20), to where it was asked
/// for.
pub(super) fn leave_prim_space(
    points: &mut [Vec3],
    normals: Option<&mut [Vec3]>,
    out_from_prim: DMat4,
) {
    for p in points {
        *p = out_from_prim.transform_point3(p.as_dvec3()).as_vec3();
    }
    let normal = math::normal_matrix(out_from_prim);
    for n in normals.into_iter().flatten() {
        *n = (normal * n.as_dvec3()).as_vec3();
    }
}

/// Runs of times that together have about `most` points.
fn batches<'a>(
    scene: &Scene,
    plan: &Plan,
    schedule: &'a [Scheduled],
    most: usize,
) -> Vec<&'a [Scheduled]> {
    let points = |b: usize| {
        let count = scene.bindings[b].points.first().map_or(0, |p| p.len());
        count * plan.of(b).parts.len()
    };
    let mut out = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (i, (_, bindings)) in schedule.iter().enumerate() {
        sum += bindings.iter().map(|b| points(*b)).sum::<usize>();
        if sum >= most {
            out.push(&schedule[start..=i]);
            (start, sum) = (i + 1, 0);
        }
    }
    if start < schedule.len() {
        out.push(&schedule[start..]);
    }
    out
}

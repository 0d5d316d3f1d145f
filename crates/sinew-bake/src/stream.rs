//! Deforms prims in batches of times and passes the results on, ordered by time. Batches overlap:
//! while one is written, the next one is deformed and the one after it is posed.

use std::collections::HashSet;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use glam::{DMat4, Vec3};

use crate::backend::{Buffers, Deformer, Done, UnderWay};
use crate::diagnostics::Diagnostics;
use crate::error::{Error, Result};
use crate::options::{Progress, Watch, tell};
use crate::plan::Plan;
use crate::posing::{Place, PosedBatch, Poser, overflow};
use crate::schedule::Scheduled;
use crate::sink::{Frame, FrameSink};
use sinew::math;
use sinew::sampled::Time;
use sinew::scene::{ExtentRule, Scene, SkinBinding};

/// What deforms prims: a scene on a backend, and who is told.
pub(super) struct Runner<'a, 'w> {
    pub scene: &'a Scene,
    pub deformer: &'a mut Deformer,
    pub watch: &'a mut Watch<'w>,
    /// The errors of prims so far.
    pub diagnostics: Diagnostics,
    /// The (prim, time) pairs of the whole bake that are done before this run, and all of them.
    /// `None` if this run is the whole bake.
    pub whole: Option<(usize, usize)>,
}

impl<'a, 'w> Runner<'a, 'w> {
    pub fn new(scene: &'a Scene, deformer: &'a mut Deformer, watch: &'a mut Watch<'w>) -> Self {
        Self {
            scene,
            deformer,
            watch,
            diagnostics: Diagnostics::default(),
            whole: None,
        }
    }

    /// Deforms a schedule. `sink` receives every time once, in order. A prim that cannot be deformed
    /// is not in its frame, and its error is added to the diagnostics.
    ///
    /// While the sink handles one batch, the next one is deformed and the one after it is posed.
    /// Returns the time of posing and deforming, without that of the sink.
    ///
    /// # Errors
    /// Errors of the GPU and of the sink, and [`Error::Cancelled`].
    pub fn deform(
        &mut self,
        plan: &Plan,
        schedule: &[Scheduled],
        sink: &mut dyn FrameSink,
    ) -> Result<Duration> {
        let scene = self.scene;
        let own = schedule.iter().map(|(_, b)| b.len()).sum();
        let (mut done, total) = self.whole.unwrap_or((0, own));
        let watch = &mut *self.watch;
        tell(watch, Progress::Deforming { done, total })?;
        let buffers = &Buffers::default();
        let mut take_batch = |frames: Vec<Frame>| -> Result<()> {
            for mut frame in frames {
                sink.frame(&mut frame).map_err(Error::of_sink)?;
                done += schedule[frame.index].1.len();
                recycle(frame, buffers);
                tell(watch, Progress::Deforming { done, total })?;
            }
            Ok(())
        };
        let mut batches = Batches {
            batches: batches(scene, plan, schedule, self.deformer.batch_points()).into_iter(),
            poser: Poser::new(scene, plan),
            finisher: Finisher {
                scene,
                deformer: &mut *self.deformer,
                diagnostics: &mut self.diagnostics,
                buffers,
            },
            posed: None,
            under_way: None,
            busy: Duration::ZERO,
        };
        // A thread of rayon must not wait for another thread of the same pool.
        if rayon::current_thread_index().is_some() {
            while let Some(batch) = batches.next() {
                take_batch(batch?)?;
            }
            return Ok(batches.busy);
        }
        let (sender, receiver) = sync_channel(1);
        std::thread::scope(|scope| {
            let deforming = scope.spawn(move || {
                while let Some(batch) = batches.next() {
                    // There is no receiver after a failure or a cancellation.
                    if sender.send(batch?).is_err() {
                        break;
                    }
                }
                Ok(batches.busy)
            });
            let taken = receiver.iter().try_for_each(&mut take_batch);
            drop(receiver);
            let deformed = deforming.join();
            taken.and(deformed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })
    }
}

/// Keeps the memory of a frame for later frames.
fn recycle(frame: Frame, buffers: &Buffers) {
    for prim in frame.prims {
        buffers.give(prim.points);
        for normals in prim.normals.into_iter().flatten() {
            buffers.give(normals);
        }
    }
    for array in frame.recycled {
        buffers.give(array);
    }
}

/// Batches in progress: one is deformed while the next one is posed.
struct Batches<'a> {
    batches: IntoIter<&'a [Scheduled]>,
    poser: Poser<'a>,
    finisher: Finisher<'a>,
    posed: Option<PosedBatch>,
    under_way: Option<Begun>,
    busy: Duration,
}

impl Batches<'_> {
    fn next(&mut self) -> Option<Result<Vec<Frame>>> {
        let start = Instant::now();
        let next = self.advance().transpose();
        self.busy += start.elapsed();
        next
    }

    fn advance(&mut self) -> Result<Option<Vec<Frame>>> {
        loop {
            // The GPU gets its next work before the results of its last work are read.
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

/// A batch that the backend deforms: a posed batch without its jobs.
struct Begun {
    batch: PosedBatch,
    jobs: UnderWay,
}

/// Finishes batches.
struct Finisher<'a> {
    scene: &'a Scene,
    deformer: &'a mut Deformer,
    diagnostics: &'a mut Diagnostics,
    buffers: &'a Buffers,
}

impl Finisher<'_> {
    fn finish(&mut self, begun: Begun) -> Result<Vec<Frame>> {
        let PosedBatch {
            mut frames,
            places,
            diagnostics,
            ..
        } = begun.batch;
        for (binding, time, e) in diagnostics {
            match time {
                Some(time) => self.diagnostics.at(binding, time, e),
                None => self.diagnostics.whole(binding, e),
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
            let frame = &mut frames[place.frame];
            let Some(extent) = extent else {
                let e = overflow(scene.bound(place.binding), "points");
                self.diagnostics.at(place.binding, frame.time, e);
                failed.insert((place.frame, place.binding));
                continue;
            };
            let sample = &mut frame.prims[place.sample];
            sample.normals[place.part] = done.normals;
            // The second kind of normals of a prim comes with the same points again.
            match place.part {
                0 => (sample.points, sample.extent) = (done.points, Some(extent)),
                _ => self.buffers.give(done.points),
            }
        }
        // If one part of a prim fails, the whole prim has no sample at this time.
        if !failed.is_empty() {
            for (i, frame) in frames.iter_mut().enumerate() {
                frame.prims.retain(|p| !failed.contains(&(i, p.binding)));
            }
        }
        Ok(frames)
    }
}

/// The corners of the bounding box of a prim's points, with their widths. `None` if a point is not
/// finite.
pub(super) fn extent(points: &[Vec3], binding: &SkinBinding, time: Time) -> Option<[Vec3; 2]> {
    let rule = binding.extent_rule;
    let widths = match rule {
        ExtentRule::Points => None,
        _ => binding.widths.at(time),
    };
    rule.corners(points, widths.as_deref().map_or(&[][..], Vec::as_slice))
}

/// Transforms results that are in prim space, such as those of a prim that only blends (rule 20),
/// to the requested space.
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

/// Splits times into runs with about `most` points each.
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

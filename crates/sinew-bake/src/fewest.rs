//! The fewest sample times whose linear interpolation stays near the true points.
//!
//! The true points are those of the pose at a time, interpolated without rounding
//! ([`MotionCache`]). They are measured on a grid: the authored times and frames of the range, and
//! between two of them as many more as it takes. A span of the grid is halved until the points at
//! its three inner quarters are within the error of the straight line between its ends, at most
//! [`MOST_HALVINGS`] times. Points between two times of the grid are then off by at most a sixteenth
//! of the error more, because between them the way is nearly a parabola, so the grid itself gets
//! fifteen sixteenths of the error.
//!
//! Each prim keeps times of the grid of its own. From one that is kept, the next is the farthest for
//! which all times between are near enough, as far as [`LOOK_AHEAD`] times beyond the first that
//! fails. That is greedy: no step can be longer, but another choice may need fewer samples. In
//! tests it takes at most 4 % more than the fewest that are possible on the grid.
//!
//! Memory is limited: a prim holds the points since its last kept time, at most [`WINDOW_BYTES`].

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::plan::{Plan, PrimPlan};
use super::schedule::MAX_SAMPLES;
use crate::error::{Error, Result};
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{MotionCache, OutSpace, Scene};

/// How often a span of the grid is halved.
const MOST_HALVINGS: u32 = 5;

/// The part of the error that the times of the grid get.
const OF_GRID: f64 = 15.0 / 16.0;

/// Times to try beyond the first that is too far.
const LOOK_AHEAD: usize = 8;

/// Bytes of points that one prim may hold.
const WINDOW_BYTES: usize = 128 << 20;

/// Bytes of points that are computed at once.
const CHUNK_BYTES: usize = 128 << 20;

/// The sample times of prims that move, and the errors that are left.
#[derive(Debug, Default)]
pub(super) struct Fewest {
    /// By index into [`Scene::bindings`].
    pub times: BTreeMap<usize, Vec<Time>>,
    /// The largest distance found between a point and the straight line, in the units of the
    /// points.
    pub largest_error: f64,
    pub warnings: Vec<Warning>,
}

/// Chooses the sample times of prims with a common Skeleton from their base times.
///
/// # Errors
/// [`Error::TooManyFrames`] if too many times are needed. A prim that cannot be posed keeps all of
/// its base times, so that the bake reports it.
pub(super) fn choose(
    scene: &Scene,
    plan: &Plan,
    prims: &[&PrimPlan],
    base: &[Time],
    error: f64,
    out: &mut Fewest,
) -> Result<()> {
    let codes: Vec<f64> = base.iter().filter_map(|t| t.code()).collect();
    let mut keep_all = |prim: &PrimPlan| {
        out.times.insert(prim.binding, base.to_vec());
    };
    let Some(first) = codes.first().filter(|_| codes.len() > 1) else {
        prims.iter().for_each(|p| keep_all(p));
        return Ok(());
    };
    // Prims that cannot be posed at the first time are left to the bake.
    let tracked: Vec<Tracked<'_>> = prims.iter().map(|p| Tracked::new(scene, p)).collect();
    let mut known = Vec::new();
    for tracked in tracked {
        match tracked.points(scene, plan.space, *first) {
            Ok(points) => known.push((tracked, points)),
            Err(_) => keep_all(tracked.prim),
        }
    }
    let bytes: usize = known.iter().map(|(_, p)| p.len() * 12).sum();
    let spans = (CHUNK_BYTES / (bytes * 16).max(1)).clamp(1, 64);
    let (tracked, mut before): (Vec<Tracked<'_>>, Vec<Arc<Vec<Vec3>>>) = known.into_iter().unzip();
    let work = Work {
        scene,
        space: plan.space,
        tracked: &tracked,
        error,
    };
    let mut segments: Vec<Segments> = before
        .iter()
        .map(|points| Segments::new(*first, points.clone(), error * OF_GRID))
        .collect();
    let mut broken = false;
    let mut jumps: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for chunk in codes.windows(2).collect::<Vec<_>>().chunks(spans) {
        let ends: Vec<Result<Posed, Invalid>> =
            chunk.par_iter().map(|span| work.pose(span[1])).collect();
        let Ok(ends) = ends.into_iter().collect::<Result<Vec<Posed>, Invalid>>() else {
            broken = true;
            break;
        };
        let starts = std::iter::once(&before).chain(&ends);
        let refined: Vec<Result<Vec<Refined>, Invalid>> = chunk
            .par_iter()
            .zip(starts.collect::<Vec<_>>().par_iter())
            .zip(ends.par_iter())
            .map(|((span, start), end)| {
                let mut out = Vec::new();
                work.refine((span[0], start), (span[1], end), 0, &mut out)?;
                Ok(out)
            })
            .collect();
        let Ok(refined) = refined.into_iter().collect::<Result<Vec<_>, Invalid>>() else {
            broken = true;
            break;
        };
        for sample in refined.iter().flatten() {
            for (i, far) in &sample.jumps {
                let jump = jumps.entry(*i).or_insert((sample.time, *far));
                if *far > jump.1 {
                    *jump = (sample.time, *far);
                }
            }
        }
        segments.par_iter_mut().enumerate().for_each(|(i, s)| {
            for sample in refined.iter().flatten() {
                s.push(sample.time, sample.points[i].clone());
            }
        });
        if let Some(last) = ends.into_iter().next_back() {
            before = last;
        }
    }
    for (i, (segments, tracked)) in segments.into_iter().zip(&tracked).enumerate() {
        if broken {
            // The bake says at which times the prim fails.
            out.times.insert(tracked.prim.binding, base.to_vec());
            continue;
        }
        let (times, worst) = segments.finish();
        if times.len() > MAX_SAMPLES {
            return Err(Error::TooManyFrames {
                file: scene.file.clone(),
                most: MAX_SAMPLES,
                range: None,
            });
        }
        out.largest_error = out.largest_error.max(worst);
        if let Some((time, far)) = jumps.get(&i) {
            let message = format!(
                "points jump near time {time}: between two samples there they are off by up to {far:.3e}"
            );
            let path = &scene.bindings[tracked.prim.binding].path;
            out.warnings
                .push(Warning::new("max-error-jump", path, message));
        }
        let times = times.into_iter().map(Time::At).collect();
        out.times.insert(tracked.prim.binding, times);
    }
    Ok(())
}

/// The points of every tracked prim at one time.
type Posed = Vec<Arc<Vec<Vec3>>>;

/// A prim with the points that its samples have to be near to.
struct Tracked<'a> {
    prim: &'a PrimPlan,
    /// Corners of the box of its points at rest, if a transform moves them.
    corners: Vec<DVec3>,
}

impl<'a> Tracked<'a> {
    fn new(scene: &Scene, prim: &'a PrimPlan) -> Self {
        let mut corners = Vec::new();
        if prim.transform.is_some() {
            let points = scene.bindings[prim.binding].points.first();
            let all = || points.iter().flat_map(|p| p.iter().copied());
            // A prim without points, such as a sphere, counts as a cube of edge 2.
            let low = all().reduce(Vec3::min).unwrap_or(Vec3::NEG_ONE).as_dvec3();
            let high = all().reduce(Vec3::max).unwrap_or(Vec3::ONE).as_dvec3();
            let of = |bit: u32, i: usize| if bit & (1 << i) == 0 { low[i] } else { high[i] };
            corners.extend((0..8).map(|b| DVec3::new(of(b, 0), of(b, 1), of(b, 2))));
        }
        Self { prim, corners }
    }

    fn points(&self, scene: &Scene, space: OutSpace, time: f64) -> Result<Arc<Vec<Vec3>>, Invalid> {
        self.points_in(scene, &mut MotionCache::new(scene, Time::At(time), space))
    }

    /// Points, and corners that the written transform moves.
    fn points_in(
        &self,
        scene: &Scene,
        motion: &mut MotionCache<'_>,
    ) -> Result<Arc<Vec<Vec3>>, Invalid> {
        let bound = scene.bound(self.prim.binding);
        let mut out = Vec::new();
        if let Some(part) = self.prim.parts.first() {
            let points = motion.points(bound, part.blend_only)?;
            out.extend(points.iter().map(|p| p.as_vec3()));
        }
        if let Some(kind) = self.prim.transform {
            let m = kind.exact(bound, motion)?;
            out.extend(
                self.corners
                    .iter()
                    .map(|c| m.transform_point3(*c).as_vec3()),
            );
        }
        Ok(Arc::new(out))
    }
}

/// What refining needs.
struct Work<'a> {
    scene: &'a Scene,
    space: OutSpace,
    tracked: &'a [Tracked<'a>],
    error: f64,
}

/// A time of the grid.
struct Refined {
    time: f64,
    points: Posed,
    /// Prims that are too far from a straight line in the span that ends here, which cannot be
    /// halved any more, with their distance.
    jumps: Vec<(usize, f64)>,
}

impl Work<'_> {
    fn pose(&self, time: f64) -> Result<Posed, Invalid> {
        let mut motion = MotionCache::new(self.scene, Time::At(time), self.space);
        let points = |t: &Tracked<'_>| t.points_in(self.scene, &mut motion);
        self.tracked.iter().map(points).collect()
    }

    /// Adds the times of the grid after `a` up to `b`.
    fn refine(
        &self,
        a: (f64, &Posed),
        b: (f64, &Posed),
        depth: u32,
        out: &mut Vec<Refined>,
    ) -> Result<(), Invalid> {
        let at = |quarter: f64| a.0 + (b.0 - a.0) * quarter;
        let quarters = [0.25, 0.5, 0.75].map(|q| (q, at(q)));
        let mut inner = Vec::with_capacity(3);
        for (_, time) in quarters {
            inner.push(self.pose(time)?);
        }
        let mut jumps = Vec::new();
        for i in 0..self.tracked.len() {
            let off =
                |((q, _), posed): (&(f64, f64), &Posed)| distance(&a.1[i], &b.1[i], *q, &posed[i]);
            let far = quarters.iter().zip(&inner).map(off).fold(0.0, f64::max);
            if far > self.error {
                jumps.push((i, far));
            }
        }
        if !jumps.is_empty() && depth < MOST_HALVINGS {
            let middle = (quarters[1].1, &inner[1]);
            self.refine(a, middle, depth + 1, out)?;
            return self.refine(middle, b, depth + 1, out);
        }
        for ((_, time), points) in quarters.into_iter().zip(inner) {
            out.push(Refined {
                time,
                points,
                jumps: Vec::new(),
            });
        }
        out.push(Refined {
            time: b.0,
            points: b.1.clone(),
            jumps,
        });
        Ok(())
    }
}

/// The largest distance of points from the straight lines between `a` and `b`. Infinite if their
/// numbers differ.
fn distance(a: &[Vec3], b: &[Vec3], alpha: f64, points: &[Vec3]) -> f64 {
    if a.len() != b.len() || a.len() != points.len() {
        return f64::INFINITY;
    }
    let alpha = alpha as f32;
    let ends = a.iter().zip(b);
    let squared = ends
        .zip(points)
        .map(|((a, b), p)| a.lerp(*b, alpha).distance_squared(*p));
    f64::from(squared.fold(0.0, f32::max)).sqrt()
}

/// The kept times of one prim while the grid goes by.
struct Segments {
    error: f64,
    kept: Vec<f64>,
    anchor: (f64, Arc<Vec<Vec3>>),
    /// Times after the anchor.
    window: Vec<(f64, Arc<Vec<Vec3>>)>,
    /// The last time of the window to which a straight line is near enough, and its distance.
    reached: Option<(usize, f64)>,
    worst: f64,
    /// Whether nothing moved since the anchor.
    still: bool,
}

impl Segments {
    fn new(time: f64, points: Arc<Vec<Vec3>>, error: f64) -> Self {
        Self {
            error,
            kept: vec![time],
            anchor: (time, points),
            window: Vec::new(),
            reached: None,
            worst: 0.0,
            still: true,
        }
    }

    fn push(&mut self, time: f64, points: Arc<Vec<Vec3>>) {
        self.still &= points == self.anchor.1;
        if self.still {
            // One is enough, as a straight line is the truth.
            self.window.clear();
        }
        self.window.push((time, points));
        let last = self.window.len() - 1;
        match self.error_to(last) {
            far if far <= self.error => self.reached = Some((last, far)),
            _ => {}
        }
        let reached = self.reached.map_or(0, |(i, _)| i);
        let bytes = self.window.len() * self.anchor.1.len() * 12;
        let is_full = bytes > WINDOW_BYTES && last > 0;
        if last - reached >= LOOK_AHEAD || is_full {
            self.keep();
        }
    }

    /// The largest error of the straight line to a time of the window; stops at one that is too
    /// large.
    fn error_to(&self, to: usize) -> f64 {
        let (t0, a) = &self.anchor;
        let (t1, b) = &self.window[to];
        let mut worst = 0.0f64;
        // The middle is the farthest off most of the time.
        let half = to / 2;
        for (t, points) in self.window[half..to].iter().chain(&self.window[..half]) {
            worst = worst.max(distance(a, b, (t - t0) / (t1 - t0), points));
            if worst > self.error {
                break;
            }
        }
        worst
    }

    /// Keeps the time that is reached, and goes on from there.
    fn keep(&mut self) {
        let (reached, far) = self.reached.take().unwrap_or((0, 0.0));
        let rest = self.window.split_off(reached + 1);
        let Some(kept) = self.window.pop() else {
            return;
        };
        self.worst = self.worst.max(far);
        self.kept.push(kept.0);
        self.anchor = kept;
        self.window.clear();
        self.still = true;
        for (time, points) in rest {
            self.push(time, points);
        }
    }

    /// The kept times, with the last one, and the largest error.
    fn finish(mut self) -> (Vec<f64>, f64) {
        while !self.window.is_empty() {
            self.keep();
        }
        (self.kept, self.worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kept times of one point that moves along a curve, by the greedy search.
    fn kept(way: &[Vec3], error: f64) -> (Vec<f64>, f64) {
        let mut segments = Segments::new(0.0, Arc::new(vec![way[0]]), error);
        for (t, p) in way.iter().enumerate().skip(1) {
            segments.push(t as f64, Arc::new(vec![*p]));
        }
        segments.finish()
    }

    /// The fewest by trying all: the shortest way through the times.
    fn fewest(way: &[Vec3], error: f64) -> usize {
        let mut best = vec![usize::MAX; way.len()];
        best[0] = 1;
        for to in 1..way.len() {
            for from in 0..to {
                let near = (from + 1..to).all(|k| {
                    let alpha = (k - from) as f64 / (to - from) as f64;
                    distance(&[way[from]], &[way[to]], alpha, &[way[k]]) <= error
                });
                if near && best[from] != usize::MAX {
                    best[to] = best[to].min(best[from] + 1);
                }
            }
        }
        best[way.len() - 1]
    }

    #[test]
    fn greedy_steps_need_hardly_more_than_the_fewest() {
        let mut all = (0, 0);
        for seed in 0..40 {
            let phase = seed as f32;
            let way: Vec<Vec3> = (0..200)
                .map(|i| {
                    let t = i as f32 * 0.05;
                    let wave = (t * (1.0 + phase * 0.1)).sin();
                    Vec3::new(wave, (t + phase).cos() * t, t * t * 0.1)
                })
                .collect();
            for error in [0.3, 0.03, 0.003] {
                let (times, worst) = kept(&way, error);
                assert!(worst <= error);
                assert_eq!((times[0], times[times.len() - 1]), (0.0, 199.0));
                let least = fewest(&way, error);
                all = (all.0 + times.len(), all.1 + least);
                assert!(
                    times.len() <= least + 1 + least / 10,
                    "{} of {least}",
                    times.len()
                );
            }
        }
        assert!(all.0 * 100 <= all.1 * 104, "{all:?}");
    }

    #[test]
    fn what_rests_or_goes_straight_needs_its_ends() {
        let rests = vec![Vec3::ONE; 100];
        assert_eq!(kept(&rests, 1e-6).0, [0.0, 99.0]);
        let straight: Vec<Vec3> = (0..100).map(|i| Vec3::X * i as f32).collect();
        assert_eq!(kept(&straight, 1e-4).0, [0.0, 99.0]);
        let mut starts = vec![Vec3::ZERO; 50];
        starts.extend((0..50).map(|i| Vec3::X * i as f32));
        assert_eq!(kept(&starts, 1e-4).0, [0.0, 50.0, 99.0]);
    }
}

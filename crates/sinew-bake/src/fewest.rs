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
//! which all times between are near enough. It is searched as in a sorted list: the times since the
//! kept one are tested whenever their number has doubled, and after the first test that fails, the
//! farthest is between the last two tests. That is greedy, and another choice may need fewer
//! samples. In tests it takes at most 4 % more than the fewest that are possible on the grid.
//!
//! Memory is limited: prims hold their points since the last kept time, at most [`WINDOW_BYTES`] of
//! all prims of a Skeleton, and spans are refined one after another if many would need more than
//! [`CHUNK_BYTES`].

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::frames::MAX_SAMPLES;
use crate::options::{Progress, Watch, tell};
use crate::plan::{Plan, PrimPlan};
use sinew::error::{Invalid, Warning};
use sinew::sampled::Time;
use sinew::scene::{MotionCache, OutSpace, Scene};

/// How often a span of the grid is halved.
const MOST_HALVINGS: u32 = 5;

/// The largest number of times of the grid in a span: four for each of its smallest parts.
const POSES_OF_SPAN: usize = 4 << MOST_HALVINGS;

/// The part of the error that the times of the grid get.
const OF_GRID: f64 = 15.0 / 16.0;

/// Number of times since the kept one at which the search tests first, and times to try beyond one
/// that is too far.
const LOOK_AHEAD: usize = 8;

/// Bytes of points that the prims of a Skeleton may hold.
const WINDOW_BYTES: usize = 256 << 20;

/// Times that each prim may hold, however large it is.
const LEAST_WINDOW: usize = 2 * LOOK_AHEAD;

/// Bytes of points that are computed at once.
const CHUNK_BYTES: usize = 128 << 20;

/// Spans that are refined at once.
const MOST_SPANS: usize = 64;

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

/// The base times of all Skeletons that the search has passed.
pub(super) struct Choosing<'a, 'w> {
    watch: &'a mut Watch<'w>,
    pub done: usize,
    total: usize,
}

impl<'a, 'w> Choosing<'a, 'w> {
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn new(watch: &'a mut Watch<'w>, total: usize) -> Result<Self> {
        let mut out = Self {
            watch,
            done: 0,
            total,
        };
        out.pass(0)?;
        Ok(out)
    }

    /// Tells that so many more are done.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn pass(&mut self, more: usize) -> Result<()> {
        self.done += more;
        let (done, total) = (self.done, self.total);
        tell(self.watch, Progress::Choosing { done, total })
    }
}

/// Chooses the sample times of prims with a common Skeleton from their base times.
///
/// # Errors
/// [`Error::TooManyFrames`] if too many times are needed, and [`Error::Cancelled`]. A prim that
/// cannot be posed keeps all of its base times, so that the bake reports it.
pub(super) fn choose(
    (scene, plan): (&Scene, &Plan),
    prims: &[&PrimPlan],
    base: &[Time],
    error: f64,
    out: &mut Fewest,
    choosing: &mut Choosing<'_, '_>,
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
    let bytes: usize = known.iter().map(|(_, p)| size_of_val(&p[..])).sum();
    let (tracked, points): (Vec<Tracked<'_>>, Vec<Arc<Vec<Vec3>>>) = known.into_iter().unzip();
    let start = Posed {
        time: *first,
        points,
    };
    let work = Work {
        scene,
        space: plan.space,
        tracked: &tracked,
        error,
        spans: (CHUNK_BYTES / bytes.saturating_mul(POSES_OF_SPAN).max(1)).min(MOST_SPANS),
        window: (WINDOW_BYTES / bytes.max(1)).max(LEAST_WINDOW),
    };
    let found = work.search(start, &codes, choosing)?;
    for (i, tracked) in tracked.iter().enumerate() {
        let Some(found) = &found else {
            // The bake says at which times the prim fails.
            out.times.insert(tracked.prim.binding, base.to_vec());
            continue;
        };
        let (times, worst) = &found.kept[i];
        if times.len() > MAX_SAMPLES {
            return Err(Error::TooManyFrames {
                file: scene.file.clone(),
                most: MAX_SAMPLES,
                range: None,
            });
        }
        out.largest_error = out.largest_error.max(*worst);
        if let Some((time, far)) = found.jumps.get(&i) {
            let message = match far.is_finite() {
                true => {
                    out.largest_error = out.largest_error.max(*far);
                    format!(
                        "points jump near time {time}: between two samples there they are off by up to {far:.3e}"
                    )
                }
                false => format!(
                    "the number of points changes near time {time}: between two samples there the points have no line to be near to"
                ),
            };
            let path = &scene.bindings[tracked.prim.binding].path;
            out.warnings
                .push(Warning::new("max-error-jump", path, message));
        }
        let times = times.iter().copied().map(Time::At).collect();
        out.times.insert(tracked.prim.binding, times);
    }
    Ok(())
}

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

/// The points of every tracked prim at one time.
#[derive(Clone)]
struct Posed {
    time: f64,
    points: Vec<Arc<Vec<Vec3>>>,
}

/// What the search needs.
struct Work<'a> {
    scene: &'a Scene,
    space: OutSpace,
    tracked: &'a [Tracked<'a>],
    error: f64,
    /// Spans to refine at once; 0 if even one is too large to be held.
    spans: usize,
    /// Times that each prim may hold.
    window: usize,
}

/// A time of the grid.
struct Refined {
    posed: Posed,
    /// Prims that are too far from a straight line in the span that ends here, which cannot be
    /// halved any more, with their distance.
    jumps: Vec<(usize, f64)>,
}

/// The result of a search, by index into the tracked prims.
struct Found {
    /// The kept times and the largest error on the grid.
    kept: Vec<(Vec<f64>, f64)>,
    /// The largest jump and its time.
    jumps: BTreeMap<usize, (f64, f64)>,
}

impl Work<'_> {
    /// Searches the times to keep. `None` if a prim cannot be posed at one of the times.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    fn search(
        &self,
        start: Posed,
        codes: &[f64],
        choosing: &mut Choosing<'_, '_>,
    ) -> Result<Option<Found>> {
        let points = start.points.iter().cloned();
        let segments =
            points.map(|p| Segments::new(start.time, p, self.error * OF_GRID, self.window));
        let mut segments: Vec<Segments> = segments.collect();
        let mut jumps = BTreeMap::new();
        let mut take = |samples: &[Refined]| take(samples, &mut segments, &mut jumps);
        let mut before = start;
        for times in codes.get(1..).unwrap_or_default().chunks(self.spans.max(1)) {
            let refined = match (self.spans, times) {
                (0, [end]) => self.refine_one(&before, *end, &mut take),
                _ => self.refine_all(&before, times, &mut take),
            };
            match refined {
                Ok(last) => before = last,
                Err(_) => return Ok(None),
            }
            choosing.pass(times.len())?;
        }
        let kept = segments.into_par_iter().map(Segments::finish).collect();
        Ok(Some(Found { kept, jumps }))
    }

    /// Refines one span and takes its times as they come. Returns its end.
    fn refine_one(
        &self,
        start: &Posed,
        end: f64,
        take: &mut dyn FnMut(&[Refined]),
    ) -> Result<Posed, Invalid> {
        let end = self.pose(end)?;
        self.refine((start, &end), None, 0, &mut |four| take(&four))?;
        Ok(end)
    }

    /// Refines spans that follow each other, all at once. Returns the end of the last.
    fn refine_all(
        &self,
        start: &Posed,
        ends: &[f64],
        take: &mut dyn FnMut(&[Refined]),
    ) -> Result<Posed, Invalid> {
        let ends: Result<Vec<Posed>, Invalid> = ends.par_iter().map(|t| self.pose(*t)).collect();
        let mut ends = ends?;
        let starts: Vec<&Posed> = std::iter::once(start).chain(&ends).collect();
        let refined: Result<Vec<Vec<Refined>>, Invalid> = starts
            .par_iter()
            .zip(&ends)
            .map(|(start, end)| {
                let mut out = Vec::new();
                self.refine((start, end), None, 0, &mut |four| out.extend(four))?;
                Ok(out)
            })
            .collect();
        for samples in refined? {
            take(&samples);
        }
        Ok(ends.pop().unwrap_or_else(|| start.clone()))
    }

    fn pose(&self, time: f64) -> Result<Posed, Invalid> {
        let mut motion = MotionCache::new(self.scene, Time::At(time), self.space);
        let points = |t: &Tracked<'_>| t.points_in(self.scene, &mut motion);
        let points = self.tracked.iter().map(points).collect::<Result<_, _>>()?;
        Ok(Posed { time, points })
    }

    /// Passes on the times of the grid after `a` up to `b`, four at once. `middle` is the time
    /// halfway, if its points are known.
    fn refine(
        &self,
        (a, b): (&Posed, &Posed),
        middle: Option<Posed>,
        depth: u32,
        out: &mut dyn FnMut([Refined; 4]),
    ) -> Result<(), Invalid> {
        let pose = |quarter: f64| self.pose(a.time + (b.time - a.time) * quarter);
        let middle = match middle {
            Some(middle) => middle,
            None => pose(0.5)?,
        };
        let (first, last) = rayon::join(|| pose(0.25), || pose(0.75));
        let inner = [first?, middle, last?];
        let mut jumps = Vec::new();
        for i in 0..self.tracked.len() {
            let off = |(q, posed): (f64, &Posed)| {
                distance(&a.points[i], &b.points[i], q, &posed.points[i])
            };
            let far = [0.25, 0.5, 0.75].into_iter().zip(&inner).map(off);
            let far = far.fold(0.0, f64::max);
            if far > self.error {
                jumps.push((i, far));
            }
        }
        let [first, middle, last] = inner;
        if !jumps.is_empty() && depth < MOST_HALVINGS {
            self.refine((a, &middle), Some(first), depth + 1, out)?;
            return self.refine((&middle, b), Some(last), depth + 1, out);
        }
        let inside = |posed: Posed| Refined {
            posed,
            jumps: Vec::new(),
        };
        let end = Refined {
            posed: b.clone(),
            jumps,
        };
        out([inside(first), inside(middle), inside(last), end]);
        Ok(())
    }
}

/// Adds times of the grid to the segments of every prim, and their jumps to the largest ones.
fn take(samples: &[Refined], segments: &mut [Segments], jumps: &mut BTreeMap<usize, (f64, f64)>) {
    for sample in samples {
        for (i, far) in &sample.jumps {
            let jump = jumps.entry(*i).or_insert((sample.posed.time, *far));
            if *far > jump.1 {
                *jump = (sample.posed.time, *far);
            }
        }
    }
    segments.par_iter_mut().enumerate().for_each(|(i, s)| {
        for Refined { posed, .. } in samples {
            s.push(posed.time, posed.points[i].clone());
        }
    });
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
    /// Times that the window may hold.
    most: usize,
    kept: Vec<f64>,
    anchor: (f64, Arc<Vec<Vec3>>),
    /// Times after the anchor.
    window: Vec<(f64, Arc<Vec<Vec3>>)>,
    /// The farthest time of the window that a test found near enough, and its distance. The first
    /// one always is.
    reached: (usize, f64),
    /// Length of the window at which the next test is due.
    next_test: usize,
    worst: f64,
    /// Whether nothing moved since the anchor.
    still: bool,
}

impl Segments {
    fn new(time: f64, points: Arc<Vec<Vec3>>, error: f64, most: usize) -> Self {
        Self {
            error,
            most,
            kept: vec![time],
            anchor: (time, points),
            window: Vec::new(),
            reached: (0, 0.0),
            next_test: LEAST_WINDOW,
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
        let is_full = self.window.len() >= self.most;
        if !is_full && self.window.len() < self.next_test {
            return;
        }
        let is_whole = self.search();
        if is_full || !is_whole {
            self.keep();
        } else {
            self.next_test = 2 * self.window.len();
        }
    }

    /// Searches the farthest time of the window to which a straight line is near enough. Returns
    /// whether that is its last one.
    fn search(&mut self) -> bool {
        let Some(last) = self.window.len().checked_sub(1) else {
            return true;
        };
        if self.test(last) {
            return true;
        }
        let mut too_far = last;
        while too_far - self.reached.0 > 1 {
            let middle = usize::midpoint(self.reached.0, too_far);
            if !self.test(middle) {
                too_far = middle;
            }
        }
        // Lines to times farther on may be near again.
        let beyond = too_far + 1..last.min(too_far + LOOK_AHEAD);
        beyond.rev().any(|to| self.test(to));
        false
    }

    /// Whether a straight line to a time of the window is near enough, which then is reached.
    fn test(&mut self, to: usize) -> bool {
        let far = self.error_to(to);
        let is_near = far <= self.error;
        if is_near {
            self.reached = (to, far);
        }
        is_near
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
        let (reached, far) = std::mem::take(&mut self.reached);
        let rest = self.window.split_off(reached + 1);
        let Some(kept) = self.window.pop() else {
            return;
        };
        self.worst = self.worst.max(far);
        self.kept.push(kept.0);
        self.anchor = kept;
        self.window.clear();
        self.next_test = LEAST_WINDOW;
        self.still = true;
        for (time, points) in rest {
            self.push(time, points);
        }
    }

    /// The kept times, with the last one, and the largest error.
    fn finish(mut self) -> (Vec<f64>, f64) {
        while !self.window.is_empty() {
            self.search();
            self.keep();
        }
        (self.kept, self.worst)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;

    /// The kept times of one point that moves along a curve, by the greedy search.
    fn kept(way: &[Vec3], error: f64) -> (Vec<f64>, f64) {
        kept_of_windows(way, error, usize::MAX)
    }

    fn kept_of_windows(way: &[Vec3], error: f64, most: usize) -> (Vec<f64>, f64) {
        let mut segments = Segments::new(0.0, Arc::new(vec![way[0]]), error, most);
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

    #[test]
    fn spans_that_are_too_large_to_hold_give_the_same() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/assets");
        let file = sinew_io::open(format!("{folder}/hatchling.usda")).unwrap();
        let scene = file.scene(Default::default()).unwrap();
        let chosen: Vec<usize> = (0..scene.bindings.len()).collect();
        let plan = Plan::new(&scene, &chosen, &crate::BakePlan::own_times());
        let tracked: Vec<Tracked<'_>> = plan.prims().map(|p| Tracked::new(&scene, p)).collect();
        let mut work = Work {
            scene: &scene,
            space: plan.space,
            tracked: &tracked,
            error: 0.001,
            spans: MOST_SPANS,
            window: usize::MAX,
        };
        let codes = [1.0, 4.0, 6.0, 9.0];
        let search = |work: &Work<'_>| {
            let start = work.pose(codes[0]).unwrap();
            let mut passed = Vec::new();
            let watch = &mut |now| {
                passed.push(now);
                ControlFlow::Continue(())
            };
            let mut choosing = Choosing::new(watch, 3).unwrap();
            let found = work.search(start, &codes, &mut choosing).unwrap();
            (found.unwrap().kept, passed.len())
        };
        let at_once = search(&work);
        work.spans = 0;
        let one_by_one = search(&work);
        // The beginning is told too.
        assert_eq!((at_once.1, one_by_one.1), (2, 4));
        assert!(at_once.0.iter().any(|(times, _)| times.len() > 10));
        assert_eq!(at_once.0, one_by_one.0);
    }

    #[test]
    fn a_window_that_is_full_goes_on_behind_what_is_kept() {
        let way: Vec<Vec3> = (0..500)
            .map(|i| Vec3::new((i as f32 * 0.01).sin(), i as f32, 0.0))
            .collect();
        let (all, _) = kept(&way, 1e-3);
        let (few, worst) = kept_of_windows(&way, 1e-3, 20);
        assert!(worst <= 1e-3);
        assert!(few.len() > all.len(), "{} of {}", few.len(), all.len());
        assert!(few.windows(2).all(|w| w[1] - w[0] <= 20.0 && w[0] < w[1]));
        assert_eq!((few[0], few[few.len() - 1]), (0.0, 499.0));
    }

    /// Tests of every time against all before it need 800 million distances.
    #[test]
    fn long_straight_ways_take_no_longer_than_their_length() {
        let way: Vec<Vec3> = (0..40_000).map(|i| Vec3::X * i as f32).collect();
        let (few, took) = common::processor::spent(|| kept(&way, 0.1).0);
        assert_eq!(few, [0.0, 39_999.0]);
        assert!(took.as_secs() < 10, "{took:?}");
    }
}

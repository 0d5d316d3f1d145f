//! The way of an ankle whose foot stands in one place.

use glam::DVec3;

use super::contacts::{Contact, contact_height};
use super::tracks::{Places, Point, Steps, Tracks};

/// Seconds in which a correction fades, if the next contact is far.
const FADE: f64 = 0.4;
/// Seconds of a swing that is bridged from one contact to the next.
const LONGEST_SWING: f64 = 1.2;
/// Seconds between two contacts of one stance.
const PAUSE: f64 = 0.1;
/// How far a foot is moved at most, as a share of the leg's length. If more is needed, the two rigs
/// are too different.
const FARTHEST: f64 = 0.25;
/// Seconds in which the height of a foot changes from one point of contact to the next, at least.
const SHORTEST_CHANGE: f64 = 0.05;
/// The fastest change of a correction that a swing begins with, in leg lengths per second.
const STEEPEST: f64 = 0.4;

/// The ankle of a leg at every sample, so that the points of contact stay in place, as high as the
/// source's are in proportion, and no point of the foot is below the ground; and how often the foot
/// stands where it cannot be kept in place.
pub fn locked(
    tracks: &Tracks,
    ground: &Ground<'_>,
    steps: &Steps,
    leg: usize,
) -> (Vec<DVec3>, usize) {
    let places = &tracks.legs[leg].places;
    let length = places[0].length();
    // 0 for a leg without a place.
    let farthest = (FARTHEST * length).max(0.0);
    let mut skipped = 0;
    let mut corrections = Corrections {
        seconds: &tracks.seconds,
        steepest: STEEPEST * length,
        of: vec![DVec3::ZERO; places.len()],
        stances: Vec::new(),
    };
    for stance in stances(&steps.0[leg], &tracks.seconds) {
        let rolled = rolled(&stance, places);
        let (first, last) = (stance[0].1.first, stance[0].1.first + rolled.len() - 1);
        // The foot stands where it was on average.
        let own = places[first..=last].iter().map(|p| p.ankle);
        let differences = rolled.iter().zip(own).map(|(r, a)| *r - a);
        let mean = differences.clone().sum::<DVec3>() / rolled.len() as f64;
        let too_low = |point, sample| ground.too_low(tracks, (leg, point), sample);
        let raised = |sample| raised(&stance, &tracks.seconds, sample, too_low);
        let by: Vec<DVec3> = differences
            .zip(first..)
            .map(|(d, sample)| (d - mean).with_y(raised(sample).clamp(-farthest, farthest)))
            .collect();
        if by.iter().any(|d| d.x.hypot(d.z) > farthest) {
            skipped += 1;
            continue;
        }
        corrections.of[first..=last].copy_from_slice(&by);
        corrections.stances.push((first, last));
    }
    corrections.fade();
    for (sample, by) in corrections.of.iter_mut().enumerate() {
        by.y = by.y.max(ground.depth(tracks, leg, sample).min(farthest));
    }
    let corrected = places.iter().zip(&corrections.of);
    (corrected.map(|(p, by)| p.ankle + *by).collect(), skipped)
}

/// The ground that a clip moves on, as the source stands on it.
pub struct Ground<'a> {
    source: &'a Tracks,
    /// From heights on the source to heights on the target.
    scale: f64,
    /// How much higher the source stands in the clip than in its standing pose, in metres.
    level: f64,
    /// Feet of the source that are lower by less than this, in metres, sink into the ground; others
    /// are on lower ground.
    sinks: f64,
}

impl<'a> Ground<'a> {
    pub fn new(source: &'a Tracks, scale: f64, steps: &Steps) -> Self {
        let sinks = contact_height(source);
        let height = median(steps, source, |leg, point, i| source.above(leg, point, i));
        Self {
            source,
            scale,
            level: if height.abs() < sinks { height } else { 0.0 },
            sinks,
        }
    }

    /// How much too low the target is as a whole: the median of all contacts, within what a foot is
    /// moved at most.
    pub fn too_low_in_contacts(&self, target: &Tracks, steps: &Steps) -> f64 {
        let lengths = target.legs.iter().map(|l| l.places[0].length());
        let farthest = FARTHEST * lengths.fold(0.0, f64::max);
        let too_low = |leg, point, i| self.too_low(target, (leg, point), i);
        median(steps, target, too_low).clamp(-farthest, farthest)
    }

    /// How much higher than in the standing pose a point of the target should be.
    fn wanted(&self, leg: usize, point: Point, sample: usize) -> f64 {
        let own = self.source.above(leg, point, sample) - self.level;
        // From one rule to the other without a jump.
        let between = 2.0 * (own + self.sinks);
        self.scale * own.max(between.min(0.0))
    }

    /// How far a point of the target is too low.
    fn too_low(&self, target: &Tracks, (leg, point): (usize, Point), sample: usize) -> f64 {
        self.wanted(leg, point, sample) - target.above(leg, point, sample)
    }

    /// How far a foot of the target is below the ground; negative above it.
    fn depth(&self, target: &Tracks, leg: usize, sample: usize) -> f64 {
        let points = target.legs[leg].foot.leg.points();
        let depths = points.map(|point| {
            self.wanted(leg, point, sample).min(0.0) - target.above(leg, point, sample)
        });
        depths.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The median of a value over the samples of all contacts; 0 without contacts.
fn median(steps: &Steps, tracks: &Tracks, value: impl Fn(usize, Point, usize) -> f64) -> f64 {
    let mut values = Vec::new();
    for (leg, point, contact) in steps.of_clip(tracks) {
        let of = (contact.first..=contact.last).map(|i| value(leg, point, i));
        values.extend(of.filter(|v| v.is_finite()));
    }
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// By how much the ankle is raised during a stance: as much as the point of contact is too low,
/// with an even change from one point to the next.
fn raised(
    stance: &[(Point, Contact)],
    seconds: &[f64],
    sample: usize,
    too_low: impl Fn(Point, usize) -> f64,
) -> f64 {
    let mut by = too_low(stance[0].0, sample);
    for pair in stance.windows(2) {
        let [(_, before), (point, next)] = [pair[0], pair[1]];
        let ends = [before.last.min(next.first), before.last.max(next.first)];
        let [from, to] = ends.map(|i| seconds[i]);
        let share = (seconds[sample] - from) / (to - from).max(SHORTEST_CHANGE);
        by += (too_low(point, sample) - by) * share.clamp(0.0, 1.0);
    }
    by
}

/// The ankle during a stance, up to a constant: the foot rolls about one point after the other.
fn rolled(stance: &[(Point, Contact)], places: &[Places]) -> Vec<DVec3> {
    let first = stance[0].1.first;
    let last = stance.iter().map(|(_, c)| c.last).fold(first, usize::max);
    let mut out: Vec<DVec3> = Vec::with_capacity(last + 1 - first);
    let mut ankle = places[first].ankle;
    let mut from = first;
    for (i, (point, contact)) in stance.iter().enumerate() {
        let to = match stance.get(i + 1) {
            // In the middle of the time when both stand.
            Some((_, next)) => contact.last.midpoint(next.first).max(from),
            None => last,
        };
        let anchor = ankle + places[from].offset(*point);
        for place in &places[from..=to] {
            ankle = anchor - place.offset(*point);
            out.push(ankle);
        }
        if to < last {
            // The next point is where it is now, and moves on from there.
            out.pop();
        }
        from = to;
    }
    out
}

/// Contacts that follow one another without a pause, in order of time.
fn stances(steps: &[Vec<Contact>; 2], seconds: &[f64]) -> Vec<Vec<(Point, Contact)>> {
    let of = |point: Point, contacts: &[Contact]| -> Vec<(Point, Contact)> {
        contacts.iter().map(|c| (point, *c)).collect()
    };
    let mut all = of(Point::Heel, &steps[0]);
    all.extend(of(Point::Ball, &steps[1]));
    all.sort_by_key(|(_, c)| (c.first, c.last));
    let mut out: Vec<Vec<(Point, Contact)>> = Vec::new();
    for (point, contact) in all {
        let end =
            |stance: &[(Point, Contact)]| stance.iter().map(|(_, c)| c.last).fold(0, usize::max);
        let stance = out.last_mut().filter(|stance| {
            let last = end(stance);
            contact.first <= last || seconds[contact.first] - seconds[last] < PAUSE
        });
        match stance {
            None => out.push(vec![(point, contact)]),
            // A point that stands only while another one does adds nothing.
            Some(stance) if contact.last > end(stance) => stance.push((point, contact)),
            Some(_) => {}
        }
    }
    out
}

/// What is added to the place of an ankle, in metres.
struct Corrections<'a> {
    seconds: &'a [f64],
    /// Metres per second.
    steepest: f64,
    /// By sample.
    of: Vec<DVec3>,
    /// First and last samples, in order.
    stances: Vec<(usize, usize)>,
}

impl Corrections<'_> {
    /// Fills in the swings between the stances, without a jump of place or speed.
    fn fade(&mut self) {
        let (Some((start, _)), Some((_, end))) =
            (self.stances.first().copied(), self.stances.last().copied())
        else {
            return;
        };
        let pairs: Vec<(usize, usize)> =
            self.stances.windows(2).map(|w| (w[0].1, w[1].0)).collect();
        let slopes: Vec<(DVec3, DVec3)> = pairs
            .iter()
            .map(|(a, b)| (self.slope(*a, false), self.slope(*b, true)))
            .collect();
        let (first, last) = (self.slope(start, true), self.slope(end, false));
        for ((a, b), (slope_a, slope_b)) in pairs.into_iter().zip(slopes) {
            let (from, to) = (self.seconds[a], self.seconds[b]);
            let ends = [(self.of[a], slope_a), (self.of[b], slope_b)];
            for i in a + 1..b {
                let time = self.seconds[i];
                self.of[i] = if to - from <= LONGEST_SWING {
                    hermite((from, to), ends, time)
                } else if time - from < FADE {
                    hermite((from, from + FADE), [ends[0], NONE], time)
                } else if to - time < FADE {
                    hermite((to - FADE, to), [NONE, ends[1]], time)
                } else {
                    DVec3::ZERO
                };
            }
        }
        // At the ends of the clip there may be no time to fade.
        let seconds = self.seconds;
        let is_short = |a: f64, b: f64| b - a < FADE / 2.0;
        for i in 0..start {
            let (from, to) = (seconds[0].max(seconds[start] - FADE), seconds[start]);
            let end = (self.of[start], first);
            self.of[i] = match is_short(seconds[0], to) {
                true => end.0,
                false if seconds[i] < from => DVec3::ZERO,
                false => hermite((from, to), [NONE, end], seconds[i]),
            };
        }
        let final_second = seconds[seconds.len() - 1];
        for i in end + 1..self.of.len() {
            let (from, to) = (seconds[end], final_second.min(seconds[end] + FADE));
            let begin = (self.of[end], last);
            self.of[i] = match is_short(from, final_second) {
                true => begin.0,
                false if seconds[i] > to => DVec3::ZERO,
                false => hermite((from, to), [begin, NONE], seconds[i]),
            };
        }
    }

    /// The speed of the correction at an end of a stance, inside of it.
    fn slope(&self, at: usize, is_start: bool) -> DVec3 {
        let is_of = |s: &&(usize, usize)| if is_start { s.0 == at } else { s.1 == at };
        let Some((first, last)) = self.stances.iter().find(is_of) else {
            return DVec3::ZERO;
        };
        let other = if is_start {
            (at + 2).min(*last)
        } else {
            at.saturating_sub(2).max(*first)
        };
        let time = self.seconds[other] - self.seconds[at];
        if time.abs() < 1e-3 {
            return DVec3::ZERO;
        }
        ((self.of[other] - self.of[at]) / time).clamp_length_max(self.steepest)
    }
}

/// No correction, and no change of it.
const NONE: (DVec3, DVec3) = (DVec3::ZERO, DVec3::ZERO);

/// The cubic curve between two values with their slopes.
fn hermite((from, to): (f64, f64), ends: [(DVec3, DVec3); 2], time: f64) -> DVec3 {
    let length = to - from;
    let t = ((time - from) / length).clamp(0.0, 1.0);
    let (t2, t3) = (t * t, t * t * t);
    let [(a, slope_a), (b, slope_b)] = ends;
    a * (2.0 * t3 - 3.0 * t2 + 1.0)
        + slope_a * (length * (t3 - 2.0 * t2 + t))
        + b * (3.0 * t2 - 2.0 * t3)
        + slope_b * (length * (t3 - t2))
}

//! The way of an ankle whose foot stands in one place.

use glam::DVec3;

use super::contacts::{Contact, low};
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
/// The fastest change of a correction that a swing begins with, in leg lengths per second.
const STEEPEST: f64 = 0.4;

/// The ankle of a leg at every sample, so that the points of contact stay in place, as high as those
/// of the source are in proportion, and no point of the foot below the ground; and how often the foot
/// stands where it cannot be kept in place.
pub fn locked(
    tracks: &Tracks,
    ground: &Ground<'_>,
    steps: &Steps,
    leg: usize,
) -> (Vec<DVec3>, usize) {
    let places = &tracks.legs[leg].places;
    let length = places[0].length();
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
        let by: Vec<DVec3> = differences
            .zip(first..)
            .map(|(d, sample)| (d - mean).with_y(raised(&stance, sample, too_low)))
            .collect();
        if by.iter().any(|d| d.length() > FARTHEST * length) {
            skipped += 1;
            continue;
        }
        corrections.of[first..=last].copy_from_slice(&by);
        corrections.stances.push((first, last));
    }
    corrections.fade();
    if !corrections.stances.is_empty() {
        for (sample, by) in corrections.of.iter_mut().enumerate() {
            by.y = by.y.max(ground.depth(tracks, leg, sample));
        }
    }
    let corrected = places.iter().zip(&corrections.of);
    (corrected.map(|(p, by)| p.ankle + *by).collect(), skipped)
}

/// The ground that a clip moves on, as the source stands on it.
pub struct Ground<'a> {
    source: &'a Tracks,
    /// Of heights on the target.
    scale: f64,
    /// The ground of the source, above the one of its standing pose: 0, or the lowest place of a foot
    /// in a clip that goes down from there.
    level: f64,
}

impl<'a> Ground<'a> {
    pub fn new(source: &'a Tracks, scale: f64) -> Self {
        let legs = source.legs.iter().enumerate();
        let heights = legs.flat_map(|(leg, track)| {
            let points = track.foot.leg.points();
            points.flat_map(move |p| (0..track.places.len()).map(move |i| source.above(leg, p, i)))
        });
        let lowest = heights.fold(0.0, f64::min);
        let level = if lowest < -low(source) { lowest } else { 0.0 };
        Self {
            source,
            scale,
            level,
        }
    }

    /// How far a point of the target is below where the source's is, in proportion. A source whose feet
    /// sink a little stands on the ground.
    fn too_low(&self, target: &Tracks, (leg, point): (usize, Point), sample: usize) -> f64 {
        let own = self.source.above(leg, point, sample).max(self.level);
        self.scale * own - target.above(leg, point, sample)
    }

    /// How far a foot of the target is below the ground; negative above it.
    fn depth(&self, target: &Tracks, leg: usize, sample: usize) -> f64 {
        let points = target.legs[leg].foot.leg.points();
        let depths = points.map(|point| self.scale * self.level - target.above(leg, point, sample));
        depths.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// By how much the ankle is raised during a stance: as much as the point of contact is too low,
/// with an even change from one point to the next.
fn raised(
    stance: &[(Point, Contact)],
    sample: usize,
    too_low: impl Fn(Point, usize) -> f64,
) -> f64 {
    let mut by = too_low(stance[0].0, sample);
    for pair in stance.windows(2) {
        let [(_, before), (point, next)] = [pair[0], pair[1]];
        let (from, to) = (before.last.min(next.first), before.last.max(next.first));
        let share = (sample as f64 - from as f64) / (to - from).max(1) as f64;
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

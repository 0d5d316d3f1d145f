//! When a point of a foot stands on the ground.

use glam::DVec3;

use super::tracks::{Point, Tracks, floor};

/// The limits of a contact, for a character whose hips are [`HIPS`] above the ground. Those of
/// other characters are in proportion.
const HIPS: f64 = 0.95;
/// Metres per second. A stretch of time in which the point travels too far is searched again with
/// the next one.
const SPEEDS: [f64; 3] = [0.25, 0.12, 0.06];
/// Metres above the lowest position in the clip.
const HEIGHT: f64 = 0.05;
/// Metres that a standing point may travel: beyond, the foot slides in the source too.
const TRAVEL: f64 = 0.04;
/// Seconds.
const SHORTEST: f64 = 0.1;
/// Seconds before and after a moment over which its speed is measured.
const WINDOW: f64 = 1.0 / 60.0;

/// How many points are asked for the velocity of the ground.
const ASKED: usize = 256;

/// Samples, first and last, in which a point stands on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    pub first: usize,
    pub last: usize,
}

/// The contacts of a point, in order. `points` are its positions in metres with Y up, at the
/// rising times `seconds`. `floor` is the height of the ground for this point, and `hips` that of
/// the hips above the ground, in metres.
pub fn contacts(points: &[DVec3], seconds: &[f64], floor: f64, hips: f64) -> Vec<Contact> {
    let size = hips / HIPS;
    let speeds: Vec<f64> = (0..points.len())
        .map(|i| speed(points, seconds, i) / size)
        .collect();
    let low: Vec<bool> = points
        .iter()
        .map(|p| p.y - floor <= HEIGHT * size)
        .collect();
    let search = Search {
        points,
        speeds: &speeds,
        low: &low,
        travel: TRAVEL * size,
    };
    let mut out: Vec<Contact> = Vec::new();
    search.find(0, points.len(), &SPEEDS, &mut out);
    out = joined(&out, |contact| search.is_still(contact), seconds);
    out.retain(|c| seconds[c.last] - seconds[c.first] >= SHORTEST);
    out
}

struct Search<'a> {
    points: &'a [DVec3],
    speeds: &'a [f64],
    low: &'a [bool],
    travel: f64,
}

impl Search<'_> {
    /// Contacts from sample `from` up to `to`, which is not included.
    fn find(&self, from: usize, to: usize, speeds: &[f64], out: &mut Vec<Contact>) {
        let Some((fastest, slower)) = speeds.split_first() else {
            return;
        };
        let is_still = |i: &usize| self.low[*i] && self.speeds[*i] <= *fastest;
        let mut at = from;
        while let Some(first) = (at..to).find(is_still) {
            let end = (first..to).find(|i| !is_still(i)).unwrap_or(to);
            let contact = Contact {
                first,
                last: end - 1,
            };
            if self.is_still(&contact) {
                out.push(contact);
            } else {
                self.find(first, end, slower, out);
            }
            at = end;
        }
    }

    fn is_still(&self, contact: &Contact) -> bool {
        travel(&self.points[contact.first..=contact.last]) <= self.travel
    }
}

/// The largest height of a standing point above the lowest place of the clip, in metres.
pub fn contact_height(tracks: &Tracks) -> f64 {
    HEIGHT * tracks.hip_height() / HIPS
}

/// Joins contacts that a moment parts; of those that cannot be joined the longer one stays.
fn joined(
    contacts: &[Contact],
    is_still: impl Fn(&Contact) -> bool,
    seconds: &[f64],
) -> Vec<Contact> {
    let length = |c: &Contact| seconds[c.last] - seconds[c.first];
    let mut out: Vec<Contact> = Vec::new();
    for contact in contacts {
        let last = out.last_mut();
        match last.filter(|l| seconds[contact.first] - seconds[l.last] < SHORTEST) {
            None => out.push(*contact),
            Some(last) => {
                let both = Contact {
                    first: last.first,
                    last: contact.last,
                };
                if is_still(&both) {
                    *last = both;
                } else if length(contact) > length(last) {
                    *last = *contact;
                }
            }
        }
    }
    out
}

/// The velocity of the ground in metres per second, for a clip that walks on the spot: the one that
/// most low points have, within a little.
pub fn belt(tracks: &Tracks) -> Option<DVec3> {
    let size = tracks.hip_height() / HIPS;
    let mut velocities = Vec::new();
    for point in Point::ALL {
        let highest = floor(tracks, point) + 0.5 * HEIGHT * size;
        for points in (0..tracks.legs.len()).map(|leg| tracks.points(leg, point)) {
            let low = (0..points.len()).filter(|i| points[*i].y <= highest);
            velocities.extend(low.map(|i| {
                let v = velocity(&points, &tracks.seconds, i);
                DVec3::new(v.x, 0.0, v.z)
            }));
        }
    }
    let near = |v: DVec3| {
        let velocities = velocities.iter();
        velocities.filter(move |other| other.distance(v) <= SPEEDS[1] * size)
    };
    let asked = velocities.len().div_ceil(ASKED).max(1);
    let asked = velocities.iter().step_by(asked);
    let most = asked.max_by_key(|v| near(**v).count())?;
    Some(near(*most).sum::<DVec3>() / near(*most).count() as f64)
}

/// The largest horizontal distance from the first position.
pub fn travel(points: &[DVec3]) -> f64 {
    let flat = |p: &DVec3| f64::hypot(p.x - points[0].x, p.z - points[0].z);
    points.iter().map(flat).fold(0.0, f64::max)
}

/// Horizontal, in metres per second.
fn speed(points: &[DVec3], seconds: &[f64], i: usize) -> f64 {
    let velocity = velocity(points, seconds, i);
    f64::hypot(velocity.x, velocity.z)
}

/// In metres per second.
fn velocity(points: &[DVec3], seconds: &[f64], i: usize) -> DVec3 {
    let last = seconds[seconds.len() - 1];
    let (a, b) = (
        (seconds[i] - WINDOW).max(seconds[0]),
        (seconds[i] + WINDOW).min(last),
    );
    if b <= a {
        return DVec3::ZERO;
    }
    (position(points, seconds, b) - position(points, seconds, a)) / (b - a)
}

/// Between two samples.
fn position(points: &[DVec3], seconds: &[f64], time: f64) -> DVec3 {
    let next = seconds.partition_point(|t| *t <= time);
    match next {
        0 => points[0],
        n if n == points.len() => points[n - 1],
        n => {
            let (a, b) = (seconds[n - 1], seconds[n]);
            points[n - 1].lerp(points[n], (time - a) / (b - a))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(count: usize) -> Vec<f64> {
        (0..count).map(|i| i as f64 / 30.0).collect()
    }

    /// A point that stands, is carried one step and stands again.
    fn step(far: f64) -> Vec<DVec3> {
        (0..45)
            .map(|i| {
                let alpha = ((f64::from(i) - 15.0) / 15.0).clamp(0.0, 1.0);
                let up = 0.2 * (alpha * std::f64::consts::PI).sin();
                DVec3::new(0.0, up, far * alpha)
            })
            .collect()
    }

    #[test]
    fn a_step_is_between_two_contacts() {
        let found = contacts(&step(0.8), &seconds(45), 0.0, 0.95);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].first, found[1].last), (0, 44));
        assert!((13..=15).contains(&found[0].last), "{found:?}");
        assert!((30..=32).contains(&found[1].first), "{found:?}");
    }

    #[test]
    fn what_slides_or_hovers_does_not_stand() {
        let slide: Vec<DVec3> = (0..60).map(|i| DVec3::X * f64::from(i) * 0.01).collect();
        assert_eq!(contacts(&slide, &seconds(60), 0.0, 0.95), []);
        let hover = vec![DVec3::Y * 0.3; 60];
        assert_eq!(contacts(&hover, &seconds(60), 0.0, 0.95), []);
        assert_eq!(contacts(&[DVec3::ZERO], &[0.0], 0.0, 0.95), []);
        assert_eq!(contacts(&[], &[], 0.0, 0.95), []);
    }

    #[test]
    fn limits_are_in_proportion_to_the_size() {
        let large: Vec<DVec3> = step(0.8).iter().map(|p| *p * 100.0).collect();
        let (own, scaled) = (
            contacts(&step(0.8), &seconds(45), 0.0, 0.95),
            contacts(&large, &seconds(45), 0.0, 95.0),
        );
        assert_eq!(own, scaled);
    }
}

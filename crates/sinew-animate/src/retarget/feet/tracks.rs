//! Where the legs of a rig are over time, in metres with Y up.

use glam::{DMat4, DQuat, DVec3};

use super::contacts::{Contact, contacts, travel};
use super::leg::{Leg, Pose, at, turn};
use super::{LockedFeet, Sliding};
use crate::retarget::RigPlacement;

/// How far a leg may be stretched, as a share of its length, if the clip does not stretch it more.
const STRETCHED: f64 = 0.975;
/// The share of a leg's length by which the last place of a joint of a loop may differ from the
/// first one.
const SAME: f64 = 0.005;
/// The largest number of samples of a loop; longer clips are not repeated.
const LONGEST_LOOP: usize = 20_000;

/// The points of a foot that stand on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Below the ankle, on the ground in the standing pose.
    Heel,
    /// Where the toes begin.
    Ball,
}

impl Point {
    pub const ALL: [Self; 2] = [Self::Heel, Self::Ball];
}

/// The places of a leg at one time.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub hip: DVec3,
    pub knee: DVec3,
    pub ankle: DVec3,
    heel: DVec3,
    /// The ankle, if there are no toes.
    ball: DVec3,
}

impl Places {
    pub fn point(&self, point: Point) -> DVec3 {
        match point {
            Point::Heel => self.heel,
            Point::Ball => self.ball,
        }
    }

    /// From the ankle to a point of the foot.
    pub fn offset(&self, point: Point) -> DVec3 {
        self.point(point) - self.ankle
    }

    /// The length of the stretched leg.
    pub fn length(&self) -> f64 {
        self.hip.distance(self.knee) + self.knee.distance(self.ankle)
    }

    /// How far the ankle may be from the hip: as far as it is, or a little less than the length of
    /// the leg.
    pub fn reach(&self) -> f64 {
        self.hip.distance(self.ankle).max(STRETCHED * self.length())
    }

    pub fn moved(&self, by: DVec3) -> Self {
        Self {
            hip: self.hip + by,
            knee: self.knee + by,
            ankle: self.ankle + by,
            heel: self.heel + by,
            ball: self.ball + by,
        }
    }

    /// Whether another leg is as long and bent in the same way; `by` leads from this one to it.
    fn is_same(&self, other: &Self, by: DVec3) -> bool {
        let moved = self.moved(by);
        let pairs = [
            (moved.hip, other.hip),
            (moved.knee, other.knee),
            (moved.ankle, other.ankle),
            (moved.heel, other.heel),
            (moved.ball, other.ball),
        ];
        let most = SAME * self.length();
        pairs.iter().all(|(a, b)| a.distance(*b) <= most)
    }
}

/// A leg with what the standing pose says of it, in metres.
pub struct Foot {
    pub leg: Leg,
    /// Height of the hip joint above the ground.
    pub hip_height: f64,
    /// From the ankle to the heel, in the axes of the foot.
    heel: DVec3,
    /// The knee's axis in the axes of the thigh, for a leg that never bends.
    hinge: DVec3,
}

impl Foot {
    /// `standing` is metres_from_joint.
    pub fn new(leg: Leg, standing: &[DMat4]) -> Self {
        let bound = |joint: usize| standing[joint];
        let (foot, toes) = (bound(leg.foot), leg.toes.map(bound));
        // The ground is the origin of the world, or else at the toes.
        let [hip, ankle] = [bound(leg.upper), foot].map(|m| at(&m).y);
        let lowest = toes.map_or(ankle, |m| at(&m).y.min(ankle));
        let is_standing = lowest.abs() <= 0.35 * (hip - lowest);
        let ground = if is_standing { lowest.min(0.0) } else { lowest };
        let forward = toes.map_or(DVec3::Z, |m| at(&m) - at(&foot));
        let thigh = at(&bound(leg.lower)) - at(&bound(leg.upper));
        let hinge = turn(&bound(leg.upper)).inverse() * -thigh.cross(forward);
        Self {
            leg,
            hip_height: hip - ground,
            heel: turn(&foot).inverse() * DVec3::new(0.0, ground - ankle, 0.0),
            hinge: hinge.normalize_or_zero(),
        }
    }

    pub fn places(&self, world: &[DMat4]) -> Places {
        let [hip, knee, ankle] = self.leg.places(world);
        Places {
            hip,
            knee,
            ankle,
            heel: ankle + turn(&world[self.leg.foot]) * self.heel,
            ball: self.leg.toes.map_or(ankle, |toes| at(&world[toes])),
        }
    }
}

/// The transform from skeleton space to metres with Y up.
pub fn metres_from_skel(placement: &RigPlacement, world_from_skel: DMat4) -> DMat4 {
    let upright = DQuat::from_rotation_arc(placement.up.normalize_or(DVec3::Y), DVec3::Y);
    DMat4::from_scale(DVec3::splat(placement.meters_per_unit))
        * DMat4::from_quat(upright)
        * world_from_skel
}

/// A leg over time.
pub struct Track {
    pub foot: Foot,
    /// Where the leg is while the character stands.
    standing: Places,
    pub places: Vec<Places>,
    /// The sum of the knee's axes in the axes of the thigh, each times the sine of its bend.
    bends: DVec3,
}

/// The legs of a rig over time.
pub struct Tracks {
    pub legs: Vec<Track>,
    /// The time of each sample, rising.
    pub seconds: Vec<f64>,
    /// The samples of the clip itself, first and last, if it is repeated before and after.
    pub clip: (usize, usize),
}

impl Tracks {
    /// Legs of a rig that stands as in `standing`, metres_from_joint.
    pub fn new(legs: impl Iterator<Item = Leg>, standing: &[DMat4], seconds: &[f64]) -> Self {
        let track = |leg| {
            let foot = Foot::new(leg, standing);
            Track {
                standing: foot.places(standing),
                foot,
                places: Vec::with_capacity(seconds.len()),
                bends: DVec3::ZERO,
            }
        };
        Self {
            legs: legs.map(track).collect(),
            seconds: seconds.to_vec(),
            clip: (0, seconds.len().saturating_sub(1)),
        }
    }

    /// Adds the next sample.
    pub fn push(&mut self, pose: &Pose) {
        for track in &mut self.legs {
            track.places.push(track.foot.places(&pose.world));
            let leg = &track.foot.leg;
            track.bends += turn(&pose.world[leg.upper]).inverse() * leg.bend(&pose.world);
        }
    }

    /// Whether the legs end as they began, apart from the way that they went.
    pub fn is_loop(&self) -> bool {
        let count = self.seconds.len();
        let by = self.way();
        (3..=LONGEST_LOOP).contains(&count)
            && self.legs.iter().all(|l| {
                let (first, last) = (&l.places[0], &l.places[count - 1]);
                first.is_same(last, by)
            })
    }

    /// From the first sample to the last one.
    fn way(&self) -> DVec3 {
        let way = self.legs.iter().filter_map(|leg| {
            let (first, last) = (leg.places.first()?, leg.places.last()?);
            Some(last.hip - first.hip)
        });
        way.sum::<DVec3>() / self.legs.len().max(1) as f64
    }

    /// The loop once more before and after it.
    pub fn repeated(mut self) -> Self {
        let (by, last) = (self.way(), self.seconds.len() - 1);
        let length = self.seconds[last] - self.seconds[0];
        // The last sample of a round is the first one of the next.
        let samples = || {
            (0..3 * last)
                .map(|i| (i / last, i % last))
                .chain([(2, last)])
        };
        let far = |round: usize| round as f64 - 1.0;
        for leg in &mut self.legs {
            let moved = samples().map(|(round, i)| leg.places[i].moved(by * far(round)));
            leg.places = moved.collect();
        }
        let times = samples().map(|(round, i)| self.seconds[i] + length * far(round));
        self.seconds = times.collect();
        self.clip = (last, 2 * last);
        self
    }

    /// Moves everything at a steady velocity.
    pub fn carry(&mut self, velocity: DVec3) {
        for leg in &mut self.legs {
            for (places, second) in leg.places.iter_mut().zip(&self.seconds) {
                *places = places.moved(velocity * *second);
            }
        }
    }

    /// A point of a leg over time; empty for the ball of a foot without toes.
    pub fn points(&self, leg: usize, point: Point) -> Vec<DVec3> {
        let track = &self.legs[leg];
        match (point, track.foot.leg.toes) {
            (Point::Ball, None) => Vec::new(),
            _ => track.places.iter().map(|p| p.point(point)).collect(),
        }
    }

    /// The height of the hip joints above the ground, in metres.
    pub fn hip_height(&self) -> f64 {
        let heights = self.legs.iter().map(|l| l.foot.hip_height);
        heights.fold(0.0, f64::max)
    }

    /// Moves everything up.
    pub fn raise(&mut self, by: f64) {
        for leg in &mut self.legs {
            for places in &mut leg.places {
                *places = places.moved(DVec3::Y * by);
            }
        }
    }

    /// How much higher a point of a leg is than while the character stands.
    pub fn above(&self, leg: usize, point: Point, sample: usize) -> f64 {
        let track = &self.legs[leg];
        track.places[sample].point(point).y - track.standing.point(point).y
    }

    /// The axis of a knee in the axes of the thigh: the mean of the clip.
    pub fn hinge(&self, leg: usize) -> DVec3 {
        let track = &self.legs[leg];
        match track.bends.length() > 1e-3 * self.seconds.len() as f64 {
            true => track.bends.normalize(),
            false => track.foot.hinge,
        }
    }
}

/// For each leg: the contacts of its heel, and of its ball if there are toes.
pub struct Steps(pub Vec<[Vec<Contact>; 2]>);

impl Steps {
    /// Finds the contacts of the source. Positions are those of `tracks`.
    pub fn find(tracks: &Tracks) -> Self {
        let height = tracks.hip_height();
        let floors = Point::ALL.map(|point| floor(tracks, point));
        let of = |leg: usize| {
            [0, 1].map(|p| {
                let points = tracks.points(leg, Point::ALL[p]);
                contacts(&points, &tracks.seconds, floors[p], height)
            })
        };
        Self((0..tracks.legs.len()).map(of).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().flatten().all(Vec::is_empty)
    }

    /// Whether each leg has a contact.
    pub fn are_of_all_legs(&self) -> bool {
        let mut legs = self.0.iter();
        legs.all(|leg| leg.iter().any(|c| !c.is_empty()))
    }

    /// The contacts with the points in them, of all legs.
    pub fn all(&self) -> impl Iterator<Item = (usize, Point, Contact)> + '_ {
        self.0.iter().enumerate().flat_map(|(leg, points)| {
            let points = Point::ALL.into_iter().zip(points);
            points.flat_map(move |(point, all)| all.iter().map(move |c| (leg, point, *c)))
        })
    }

    /// The contacts that begin in the clip itself.
    pub fn of_clip<'a>(
        &'a self,
        tracks: &'a Tracks,
    ) -> impl Iterator<Item = (usize, Point, Contact)> + 'a {
        let (first, last) = tracks.clip;
        self.all().filter(move |(_, _, c)| {
            (first..last).contains(&c.first) || (c.first < first && c.last >= last)
        })
    }

    /// How far points slide in their contacts.
    pub fn sliding(&self, tracks: &Tracks) -> Sliding {
        let slid: Vec<f64> = self
            .of_clip(tracks)
            .map(|(leg, point, c)| {
                let places = &tracks.legs[leg].places[c.first..=c.last];
                let points: Vec<DVec3> = places.iter().map(|p| p.point(point)).collect();
                travel(&points)
            })
            .collect();
        Sliding {
            mean: slid.iter().sum::<f64>() / slid.len().max(1) as f64,
            worst: slid.into_iter().fold(0.0, f64::max),
        }
    }

    /// The velocity of the ground below the standing feet of `tracks`, on average.
    pub fn belt(&self, tracks: &Tracks) -> DVec3 {
        let (mut moved, mut time) = (DVec3::ZERO, 0.0);
        for (leg, point, c) in self.all() {
            let places = &tracks.legs[leg].places;
            moved += places[c.last].point(point) - places[c.first].point(point);
            time += tracks.seconds[c.last] - tracks.seconds[c.first];
        }
        DVec3::new(moved.x, 0.0, moved.z) / time
    }

    /// A report with the counts.
    pub fn report(&self, tracks: &Tracks) -> LockedFeet {
        LockedFeet {
            contacts: self.of_clip(tracks).count(),
            ..LockedFeet::default()
        }
    }
}

/// The lowest place of a point.
pub fn floor(tracks: &Tracks, point: Point) -> f64 {
    let legs = 0..tracks.legs.len();
    let heights = legs.flat_map(|leg| tracks.points(leg, point));
    heights.map(|p| p.y).fold(f64::INFINITY, f64::min)
}

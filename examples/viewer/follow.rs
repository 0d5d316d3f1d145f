//! The camera follows a root that walks away, and finds a model that has left the picture.

use glam::DVec3;
use sinew::sampled::Time;
use sinew::scene::{PlacedSkeleton, Scene};
use sinew_render::{Bounds, Camera, JointId, View};

/// A joint that carries a character away, and the directions in which it does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walk {
    pub joint: JointId,
    /// Along the up axis too, as on stairs.
    pub climbs: bool,
}

/// Times at which the root is looked at.
const SAMPLES: usize = 17;
/// A root that goes farther than this, in sizes of the skeleton, walks away.
const FAR: f64 = 0.5;
/// One that goes farther up or down than this is followed up and down.
const HIGH: f64 = 0.75;
/// The root carries at least this part of all joints.
const MOST: f64 = 0.6;

/// The root's way in a scene, if it walks away: that of the skeleton with the most joints.
pub fn walk(scene: &Scene) -> Option<Walk> {
    let placed = scene.instances.iter().chain(&scene.unbound_skeletons);
    let joints = |p: &PlacedSkeleton| p.instance.skeleton().joints().len();
    let (skeleton, placed) = placed
        .enumerate()
        .max_by_key(|(i, p)| (joints(p), std::cmp::Reverse(*i)))?;
    let times = times(scene, placed);
    let frames: Vec<Vec<DVec3>> = times
        .into_iter()
        .filter_map(|time| {
            let world_from_skel = scene.world_from_prim(placed.prim, time);
            let pose = placed.instance.skel_from_joint(time).ok()?;
            let place = |m: &glam::DMat4| (world_from_skel * *m).w_axis.truncate();
            Some(pose.iter().map(place).collect())
        })
        .collect();
    let up = up_of(scene.up_axis);
    let topology = placed.instance.skeleton().topology();
    let parents: Vec<_> = (0..joints(placed)).map(|j| topology.parent(j)).collect();
    way(&frames, &parents, up).map(|(joint, climbs)| Walk {
        joint: JointId { skeleton, joint },
        climbs,
    })
}

fn up_of(axis: char) -> DVec3 {
    match axis {
        'Z' => DVec3::Z,
        _ => DVec3::Y,
    }
}

/// Times from the first to the last key of a skeleton.
fn times(scene: &Scene, placed: &PlacedSkeleton) -> Vec<Time> {
    let clip = placed.instance.animation().map(|a| a.joint_times());
    let keys = clip.into_iter().flatten();
    let keys = keys.chain(scene.transform_times(placed.prim));
    let range = keys.filter(|t| t.is_finite()).fold(None, |range, t| {
        let (first, last): (f64, f64) = range.unwrap_or((t, t));
        Some((first.min(t), last.max(t)))
    });
    let Some((first, last)) = range.filter(|(a, b)| a < b) else {
        return Vec::new();
    };
    let part = |i: usize| i as f64 / (SAMPLES - 1) as f64;
    (0..SAMPLES)
        .map(|i| Time::At(first + (last - first) * part(i)))
        .collect()
}

/// The first joint that goes far and carries most of the others, and whether it climbs. `parents`
/// come before their children.
fn way(frames: &[Vec<DVec3>], parents: &[Option<usize>], up: DVec3) -> Option<(usize, bool)> {
    let first = frames.first()?;
    let size = Bounds::of(first.iter().copied()).diagonal();
    let mut carried = vec![1.0; parents.len()];
    for (joint, parent) in parents.iter().enumerate().rev() {
        if let Some(parent) = parent {
            carried[*parent] += carried[joint];
        }
    }
    let far = |joint: usize| {
        let at = frames.iter().filter_map(|f| f.get(joint));
        let path = Bounds::of(at.copied()).size();
        let height = path.dot(up).abs();
        let climbs = height > size * HIGH;
        ((path - up * path.dot(up)).length() > size * FAR || climbs).then_some((joint, climbs))
    };
    let most = parents.len() as f64 * MOST;
    let roots = (0..parents.len()).filter(|j| carried[*j] >= most && size > 0.0);
    roots.into_iter().find_map(far)
}

/// Where the camera's target is carried along.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Follow {
    /// Switched on by a file whose root walks away.
    pub on: bool,
    pub walk: Option<Walk>,
    /// The root at the time shown last, while it is followed.
    at: Option<DVec3>,
    /// The root where the character's box was found.
    origin: Option<DVec3>,
}

impl Follow {
    /// Of a file: on if its root walks away. `origin` is the root at the time of its box.
    pub fn new(walk: Option<Walk>, origin: Option<DVec3>) -> Self {
        Self {
            on: walk.is_some(),
            walk,
            at: None,
            origin,
        }
    }

    /// The root in the directions that the camera follows; `joints` are those of each skeleton.
    pub fn anchor(&self, joints: &[Vec<DVec3>], up_axis: char) -> Option<DVec3> {
        let walk = self.walk?;
        let root = *joints.get(walk.joint.skeleton)?.get(walk.joint.joint)?;
        let up = up_of(up_axis);
        Some(match walk.climbs {
            true => root,
            false => root - up * root.dot(up),
        })
    }

    /// How far the root went since the last call; none if it is not followed.
    pub fn step(&mut self, joints: &[Vec<DVec3>], up_axis: char) -> DVec3 {
        let now = self.anchor(joints, up_axis).filter(|_| self.on);
        let before = std::mem::replace(&mut self.at, now);
        match (before, now) {
            (Some(before), Some(now)) => now - before,
            _ => DVec3::ZERO,
        }
    }

    /// How far the camera went with the root from where the box was found.
    pub fn walked(&self) -> DVec3 {
        self.at
            .zip(self.origin)
            .map_or(DVec3::ZERO, |(at, origin)| at - origin)
    }

    /// The character's box was found at the time that these joints are of.
    pub fn begin(&mut self, joints: &[Vec<DVec3>], up_axis: char) {
        self.origin = self.anchor(joints, up_axis);
    }
}

/// Carries the target along. A camera of the file stays.
pub fn carry(camera: &mut Camera, by: DVec3) {
    if let View::Orbit(orbit) = &mut camera.view {
        orbit.target += by;
    }
}

/// Whether a box lies outside of a picture of `aspect` (width over height).
pub fn is_outside(camera: &Camera, bounds: &Bounds, aspect: f64) -> bool {
    if bounds.is_empty() {
        return false;
    }
    let m = camera.matrices(aspect);
    let clip_from_world = m.clip_from_view * m.view_from_world;
    let corners = bounds.corners().map(|c| clip_from_world * c.extend(1.0));
    let beyond = |is: &dyn Fn(&glam::DVec4) -> bool| corners.iter().all(is);
    beyond(&|c| c.x > c.w)
        || beyond(&|c| c.x < -c.w)
        || beyond(&|c| c.y > c.w)
        || beyond(&|c| c.y < -c.w)
        || beyond(&|c| c.w <= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feet, hips and head, of which the hips go `x` to the side and `y` up.
    fn body(x: f64, y: f64) -> Vec<DVec3> {
        let by = DVec3::new(x, y, 0.0);
        // A root that stays behind.
        vec![
            DVec3::ZERO,
            DVec3::Y + by,
            DVec3::Y * 0.5 + by,
            DVec3::Y * 2.0 + by,
        ]
    }

    #[test]
    fn the_root_is_the_first_joint_that_walks_with_most_of_the_body() {
        let parents = [None, Some(0), Some(1), Some(1)];
        let walks = [0.0, 1.0, 2.0, 3.0, 4.0].map(|x| body(x, 0.1));
        let sways = [0.0, 0.3, 0.0, 0.3, 0.0].map(|x| body(x, 0.0));
        let returns = [0.0, 2.0, 0.0].map(|x| body(x, 0.0));
        // A head that goes far carries nobody away.
        let mut nods = [body(0.0, 0.0), body(0.0, 0.0)];
        nods[1][3] += DVec3::Z * 3.0;
        for (frames, up, expected) in [
            (&walks[..], DVec3::Y, Some((1, false))),
            // Up is another axis: the same way goes up.
            (&walks, DVec3::X, Some((1, true))),
            (&sways, DVec3::Y, None),
            (&returns, DVec3::Y, Some((1, false))),
            (&nods, DVec3::Y, None),
            (&[], DVec3::Y, None),
        ] {
            assert_eq!(way(frames, &parents, up), expected);
        }
    }
}

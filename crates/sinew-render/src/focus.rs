//! What a camera frames: everything that is drawn, a prim, or what a joint moves.

use glam::{DMat4, DVec3, Vec3};

use super::{JointId, Look, Stage, heat};
use sinew::error::Invalid;

/// The weight from which on a point belongs to the joints that are framed.
const MOSTLY: f32 = 0.5;

/// A part of a stage that a camera frames.
#[derive(Clone, Debug, PartialEq)]
pub enum Focus {
    /// The points that a joint and those below it move most, or else the joint itself.
    Joint(JointId),
    /// A prim with all that is below it, by its path.
    Prim(String),
}

impl Stage {
    /// The points that a camera has to frame for a look, in world space: the focus, or else
    /// everything of [`Stage::outline`] with the bones and boxes that are drawn over it. They are
    /// those of the current pose; none if there is nothing to see of the focus.
    ///
    /// # Errors
    /// The influences of a prim are broken at this time.
    pub fn framed(&self, look: &Look, focus: Option<&Focus>) -> Result<Vec<DVec3>, Invalid> {
        match focus {
            Some(Focus::Joint(joint)) => self.moved_by(*joint),
            Some(Focus::Prim(path)) => Ok(self.below(path)),
            None => {
                let mut points = self.outline();
                if look.joints {
                    let joints = self.skeletons().iter().flat_map(|s| &s.world_from_joint);
                    points.extend(joints.map(|m| m.w_axis.truncate()));
                }
                if look.bounds {
                    let boxes = (0..self.meshes.len()).map(|i| self.mesh_bounds(i));
                    let boxes = boxes.filter(|b| !b.is_empty());
                    points.extend(boxes.flat_map(|b| b.corners()));
                }
                Ok(points)
            }
        }
    }

    /// The points of visible meshes, and the joints of skeletons, at a path or below it.
    fn below(&self, path: &str) -> Vec<DVec3> {
        let is_below = |other: &str| {
            let rest = other.strip_prefix(path.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mut points = Vec::new();
        for (i, mesh) in self.meshes.iter().enumerate() {
            let drawn = self.geometry.drawn(mesh.drawn);
            if mesh.visible && drawn.is_some_and(|d| is_below(&d.path)) {
                points.extend(self.points(i));
            }
        }
        for skeleton in self.skeletons().iter().filter(|s| is_below(&s.path)) {
            let joints = skeleton.world_from_joint.iter();
            points.extend(joints.map(|m| m.w_axis.truncate()));
        }
        points
    }

    fn moved_by(&self, joint: JointId) -> Result<Vec<DVec3>, Invalid> {
        let Some(skeleton) = self.skeletons().get(joint.skeleton) else {
            return Ok(Vec::new());
        };
        let mut chosen = vec![false; skeleton.joints.len()];
        for (i, info) in skeleton.joints.iter().enumerate() {
            // Parents come before their children.
            chosen[i] = i == joint.joint || info.parent.is_some_and(|p| chosen[p]);
        }
        let is_chosen = |j: usize| chosen.get(j).copied().unwrap_or(false);
        let mut points = Vec::new();
        for (i, mesh) in self.meshes.iter().enumerate().filter(|(_, m)| m.visible) {
            let Some(binding) = mesh.binding() else {
                continue;
            };
            let weights = heat::weights(
                &self.scene,
                binding,
                joint.skeleton,
                &is_chosen,
                self.time(),
            )?;
            let moved = self.points(i).into_iter().zip(weights);
            points.extend(moved.filter(|(_, w)| *w >= MOSTLY).map(|(p, _)| p));
        }
        if points.is_empty() {
            points = self.around_joint(joint);
        }
        Ok(points)
    }

    /// The corners of a box around a joint, as large as the way to its farthest neighbour, or a
    /// twentieth of the stage.
    fn around_joint(&self, joint: JointId) -> Vec<DVec3> {
        let skeleton = &self.skeletons()[joint.skeleton];
        let place = |i: usize| {
            let world: Option<&DMat4> = skeleton.world_from_joint.get(i);
            world.map(|m| m.w_axis.truncate())
        };
        let Some(middle) = place(joint.joint) else {
            return Vec::new();
        };
        let joints = skeleton.joints.iter().enumerate();
        let near = joints.filter(|(_, j)| j.parent == Some(joint.joint));
        let parent = skeleton.joints.get(joint.joint).and_then(|j| j.parent);
        let ways = near.map(|(i, _)| i).chain(parent).filter_map(place);
        let far = ways.map(|p| p.distance(middle)).fold(0.0, f64::max);
        let half = match far > 0.0 {
            true => far,
            false => 0.05 * self.bounds().diagonal().max(1e-6),
        };
        let corner = |i: u32| {
            let sign = |bit: u32| if i >> bit & 1 == 1 { half } else { -half };
            middle + DVec3::new(sign(0), sign(1), sign(2))
        };
        (0..8).map(corner).collect()
    }
}

/// The colour that stands for a weight from 0 to 1, as sRGB from 0 to 1: from dark blue over green to
/// yellow, as surface.wgsl draws it before the lights.
#[must_use]
pub fn heat_color(weight: f32) -> [f32; 3] {
    let at = weight.clamp(0.0, 1.0) * (heat::STOPS.len() - 1) as f32;
    let first = (at as usize).min(heat::STOPS.len() - 2);
    let [from, to] = [heat::STOPS[first], heat::STOPS[first + 1]].map(Vec3::from);
    from.lerp(to, at - first as f32).to_array()
}

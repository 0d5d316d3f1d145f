//! The steps: how each part of the body moves at a moment.

use glam::{EulerRot, Quat, Vec3, vec3};

use super::dance::{Moment, Pose, rest, world};
use super::rig::{self, Rig, SIDES, Side};

pub struct Dancer<'a> {
    rig: &'a Rig,
    now: Moment,
    poses: Vec<Pose>,
}

/// A rotation from angles about x, y and z.
fn euler(x: f32, y: f32, z: f32) -> Quat {
    Quat::from_euler(EulerRot::YXZ, y, x, z)
}

/// A scale that squashes (or, if `by` is negative, stretches) and roughly keeps the volume.
fn squash(by: f32) -> Vec3 {
    vec3(1.0 + 0.5 * by, 1.0 - by, 1.0 + 0.5 * by)
}

impl<'a> Dancer<'a> {
    pub fn new(rig: &'a Rig, now: Moment) -> Self {
        Self {
            rig,
            now,
            poses: rest(rig),
        }
    }

    pub fn dance(mut self) -> Vec<Pose> {
        self.trunk();
        self.head();
        for side in SIDES {
            self.eye(side);
            self.ear(side);
            self.arm(side);
            self.wing(side);
            // The feet have goals in skeleton space, so the hips must be posed before.
            self.leg(side);
        }
        self.tail();
        self.poses
    }

    fn joint(&mut self, name: &str) -> &mut Pose {
        &mut self.poses[self.rig.find(name)]
    }

    fn turn(&mut self, name: &str, x: f32, y: f32, z: f32) {
        self.joint(name).rotation = euler(x, y, z);
    }

    /// How much the spine is squashed.
    fn spine_squash(&self) -> f32 {
        let m = self.now;
        0.05 * m.beat(0.0) * m.calm + 0.2 * m.crouch - 0.13 * m.up
    }

    fn trunk(&mut self) {
        let m = self.now;
        let Moment {
            up,
            crouch,
            calm,
            cheer,
            ..
        } = m;
        let drop = -0.035 - 0.035 * m.beat(0.0) * calm - 0.13 * crouch;
        self.joint("hips").translation +=
            vec3(-0.08 * m.wave(4.0, 0.0) * calm, drop + 0.42 * up, 0.0);
        self.turn(
            "hips",
            0.1 * crouch,
            0.16 * m.wave(2.0, 0.0) * calm,
            0.1 * m.wave(4.0, 0.01) * calm,
        );
        self.joint("spine").scale = squash(self.spine_squash());
        self.turn(
            "spine",
            0.05 * m.beat(0.01) + 0.2 * crouch - 0.12 * up,
            -0.1 * m.wave(2.0, 0.01) * calm,
            -0.13 * m.wave(4.0, 0.015) * calm,
        );
        self.turn(
            "chest",
            -0.05 * m.beat(0.02) - 0.08 * cheer,
            -0.16 * m.wave(2.0, 0.02) * calm,
            -0.1 * m.wave(4.0, 0.02) * calm,
        );
        self.turn(
            "neck",
            0.06 * m.beat(0.025) - 0.08 * crouch,
            0.05 * m.wave(2.0, 0.0),
            0.1 * m.wave(4.0, 0.03) * calm,
        );
    }

    fn head(&mut self) {
        let m = self.now;
        self.turn(
            "head",
            0.1 * m.beat(0.035) - 0.16 * m.up + 0.1 * m.crouch,
            0.22 * m.wave(1.0, 0.03) * m.calm,
            0.17 * m.wave(4.0, 0.04) * m.calm,
        );
        // The head takes back half of the squash that it inherits from the spine.
        let own = 0.035 * m.beat(0.03) * m.calm + 0.09 * m.crouch - 0.06 * m.up;
        self.joint("head").scale = squash(own) / squash(0.5 * self.spine_squash());
        let sing = (0.5 - 0.5 * m.wave(4.0, 0.06)).powi(2) * 0.22 * m.calm;
        self.turn("jaw", -0.15 + sing + 0.36 * m.cheer, 0.0, 0.0);
    }

    fn eye(&mut self, side: Side) {
        let m = self.now;
        self.turn(
            &side.name("eye*"),
            -0.1 * m.cheer + 0.06 * m.wave(1.0, 0.0),
            0.24 * m.wave(1.0, -0.03),
            0.0,
        );
    }

    /// The ears rise when the body sinks. The tip follows later than the ear.
    fn ear(&mut self, side: Side) {
        let m = self.now;
        let lift = |late: f32| {
            let (up, crouch) = m.leap(late);
            side.sign * (0.16 * m.beat(late) + 0.5 * crouch - 0.55 * up)
        };
        self.turn(
            &side.name("ear*"),
            -0.1 * m.wave(4.0, 0.06),
            0.0,
            lift(0.045) + 0.1 * m.wave(4.0, 0.07),
        );
        self.turn(
            &side.name("earTip*"),
            0.0,
            0.0,
            1.3 * lift(0.07) + 0.16 * m.wave(4.0, 0.09),
        );
    }

    /// The arms pump alternately; both go up in the leap.
    fn arm(&mut self, side: Side) {
        let (m, x) = (self.now, side.sign);
        let (cheer, ground) = (m.cheer, 1.0 - m.cheer);
        let pump = 0.5 + 0.5 * x * m.wave(4.0, 0.02);
        let lift = -0.15 + 0.75 * pump * ground + 1.05 * cheer;
        self.turn(
            &side.name("arm*"),
            0.15 - 0.35 * pump,
            x * -0.25 * ground,
            x * lift,
        );
        let bend = 0.25 + 0.6 * pump * ground + 0.3 * cheer + 0.2 * cheer * x * m.wave(8.0, 0.0);
        self.turn(
            &side.name("fore*"),
            -0.2 * pump,
            x * -0.3 * ground,
            x * bend,
        );
    }

    /// The wings flutter on every beat and row the air in the leap.
    fn wing(&mut self, side: Side) {
        let (m, x) = (self.now, side.sign);
        let flap =
            |late: f32| 0.2 * m.beat(late) * m.calm + 0.65 * m.cheer * m.wave(8.0, late - 0.02);
        self.turn(
            &side.name("wing*"),
            0.0,
            x * (0.15 + 0.2 * flap(0.02)),
            x * (0.1 + flap(0.02)),
        );
        self.turn(
            &side.name("wingMid*"),
            0.0,
            x * 0.15 * flap(0.04),
            x * (0.05 + 0.7 * flap(0.045)),
        );
        self.turn(
            &side.name("wingTip*"),
            0.0,
            x * 0.15 * flap(0.06),
            x * 0.8 * flap(0.07),
        );
    }

    /// The foot has a goal; hip and knee follow from it.
    fn leg(&mut self, side: Side) {
        let (m, x) = (self.now, side.sign);
        let [hips, thigh, shin, foot] =
            ["hips", "thigh*", "shin*", "foot*"].map(|name| self.rig.find(&side.name(name)));
        let step = (x * m.wave(4.0, 0.0)).max(0.0) * m.calm;
        let (up, _) = m.leap(0.012);
        let goal = self.rig.joints[foot].at
            + vec3(
                0.03 * x * step,
                0.12 * step * step.sqrt() + 0.4 * up,
                0.06 * step - 0.06 * up,
            );
        let world = world(self.rig, &self.poses);
        let (_, of_hips, _) = world[hips].to_scale_rotation_translation();
        let (of_thigh, of_shin) = reach(
            self.rig.local(shin),
            self.rig.local(foot),
            goal - world[thigh].w_axis.truncate(),
            vec3(0.35 * x, 0.0, 1.0),
        );
        let of_foot = euler(0.35 * step + 0.5 * up, x * 0.2, 0.0);
        self.poses[thigh].rotation = of_hips.inverse() * of_thigh;
        self.poses[shin].rotation = of_thigh.inverse() * of_shin;
        self.poses[foot].rotation = of_shin.inverse() * of_foot;
    }

    /// A wave runs down the tail and grows.
    fn tail(&mut self) {
        let m = self.now;
        for i in 1..=rig::TAIL_JOINTS {
            let late = 0.025 * i as f32;
            let (up, crouch) = m.leap(late);
            let swing = 0.08 + 0.03 * i as f32;
            self.turn(
                &rig::tail(i),
                -0.05 * m.beat(late) + 0.16 * crouch - 0.2 * up,
                1.5 * swing * m.wave(4.0, late),
                0.3 * swing * m.wave(2.0, late),
            );
        }
    }
}

/// Two-bone inverse kinematics: rotations with which the bones `upper` and `lower` (given at rest)
/// reach from the first bone's joint to `goal`. The joint between them bends towards `pole`.
fn reach(upper: Vec3, lower: Vec3, goal: Vec3, pole: Vec3) -> (Quat, Quat) {
    let (a, b) = (upper.length(), lower.length());
    // Keep the limb from being fully folded or fully stretched, where the bend would flip.
    let d = goal.length().clamp(0.12, (a + b) * 0.998);
    let direction = goal.normalize();
    let along = (a * a - b * b + d * d) / (2.0 * d);
    let out = (pole - direction * pole.dot(direction)).normalize();
    let bend = direction * along + out * (a * a - along * along).max(0.0).sqrt();
    (
        Quat::from_rotation_arc(upper.normalize(), bend.normalize()),
        Quat::from_rotation_arc(lower.normalize(), (direction * d - bend).normalize()),
    )
}

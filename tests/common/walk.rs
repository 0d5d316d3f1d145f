//! A walk whose feet stand still, made by hand for a body of [`rigs`](crate::rigs) with plain axes.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};
use sinew::math::Trs;

use crate::rigs::{Made, body};

/// Seconds of a cycle.
pub const CYCLE: f64 = 1.1;
/// Share of a cycle that a foot stands.
pub const STANCE: f64 = 0.62;
/// Metres of a cycle.
const STRIDE: f64 = 0.8;
/// The height of the hips in metres: with bent knees, and with legs that are nearly straight when
/// they touch the ground.
pub const HIPS: [f64; 2] = [0.9, 0.925];
/// How far the heel rises before the foot leaves the ground, in radians.
const HEEL: f64 = 0.5;

/// The joints that end at the ball of a foot.
pub fn side(left: bool) -> [&'static str; 4] {
    match left {
        true => ["LUpperLeg", "LLowerLeg", "LFoot", "LToes"],
        false => ["RUpperLeg", "RLowerLeg", "RFoot", "RToes"],
    }
}

/// Cycles of a foot up to a time; the foot stands while the fraction is below [`STANCE`].
pub fn cycles(left: bool, seconds: f64) -> f64 {
    seconds / CYCLE + if left { 0.0 } else { 0.5 }
}

fn smooth(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The ball of the foot, and the pitch of the foot.
fn foot(left: bool, seconds: f64) -> (DVec3, f64) {
    let cycles = cycles(left, seconds);
    let (number, phase) = (cycles.floor(), cycles.fract());
    let swing = (phase - STANCE) / (1.0 - STANCE);
    let lift = if swing > 0.0 {
        0.1 * (PI * swing).sin().powi(2)
    } else {
        0.0
    };
    let pitch = match swing > 0.0 {
        true => 1.0 - smooth(swing / 0.7),
        false => smooth((phase / STANCE - 0.7) / 0.3),
    };
    let start = if left { 0.0 } else { -0.5 };
    let z = STRIDE * (number + start + STANCE / 2.0 + smooth(swing)) + 0.05;
    let x = if left { 0.11 } else { -0.11 };
    (DVec3::new(x, 0.02 + lift, z), HEEL * pitch)
}

/// The pose of a body at a time, with the hips at a height of [`HIPS`]; `made` has the proportions
/// and axes of the default build.
pub fn pose(made: &Made, hips: f64, seconds: f64) -> Vec<Trs> {
    let at = |key: &str| body().into_iter().find(|p| p.0 == key).unwrap().2;
    let mut pose = made.rig.rest().to_vec();
    let moved = DVec3::new(0.0, hips - at("hips").y, STRIDE * seconds / CYCLE);
    pose[made.at["hips"]].translation += moved;
    for left in [true, false] {
        let [upper, lower, ankle, toes] = side(left);
        let (ball, pitch) = foot(left, seconds);
        let turned = DQuat::from_rotation_x(pitch);
        let to = ball + turned * (at(ankle) - at(toes));
        let hip = at(upper) + moved;
        let (thigh, shin) = (at(lower) - at(upper), at(ankle) - at(lower));
        // The knee is before the line from hip to ankle.
        let (a, b, d) = (thigh.length(), shin.length(), hip.distance(to));
        assert!(d < a + b, "the leg is too short at {seconds}");
        let along = (a * a - b * b + d * d) / (2.0 * d);
        let down = (to - hip) / d;
        let ahead = (DVec3::Z - down * down.z).normalize();
        let knee = hip + down * along + ahead * (a * a - along * along).sqrt();
        let thigh = DQuat::from_rotation_arc(thigh.normalize(), (knee - hip) / a);
        let shin = DQuat::from_rotation_arc(shin.normalize(), (to - knee) / b);
        for (key, turn) in [
            (upper, thigh),
            (lower, thigh.inverse() * shin),
            (ankle, shin.inverse() * turned),
        ] {
            pose[made.at[key]].rotation = turn;
        }
    }
    pose
}

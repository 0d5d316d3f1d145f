//! Legs, feet, hands, fingers and thumbs in the reference pose.
//!
//! A part is measured in the scene's axes. If the part that carries it is off and reported, the
//! part is first turned back with it: a foot on a spread leg, or the fingers of a lowered arm, are
//! not reported again.

use glam::{DQuat, DVec3};

use sinew_animate::retarget::Bone;

use super::{ARM, LEG, Pose, degrees, fingers, mirrored, off_by};
use crate::gltf::extensions::humanoid::Findings;

/// The angle in degrees between a leg and the line from ankle to toes, from the steepest flat foot
/// to a level one. The ankle is above the sole, so this line descends on a flat foot.
const ANKLE: (f64, f64) = (45.0, 90.0);

/// How far toes may point down, in degrees: their joint is above the sole.
const TOES: f64 = 20.0;

/// One side of the body.
struct Side {
    /// Upper arm, lower arm, hand, root of the middle finger.
    arm: [Bone; 4],
    leg: [Bone; 4],
    /// Where the arm points to.
    out: DVec3,
    /// The name of that direction.
    out_name: &'static str,
}

fn sides() -> [Side; 2] {
    let [_, arm @ ..] = ARM;
    let side = |arm, leg, out, out_name| Side {
        arm,
        leg,
        out,
        out_name,
    };
    [
        side(arm, LEG, DVec3::X, "+X"),
        side(mirrored(arm), mirrored(LEG), DVec3::NEG_X, "-X"),
    ]
}

/// Findings about the limbs of both sides. `upright` turns the upper body and the legs so that they
/// stand and face as the extension asks for; the identity if nothing of that is reported.
pub(super) fn limbs(pose: &Pose, upright: (DQuat, DQuat), findings: &mut Findings) {
    let (body, legs) = upright;
    let sides = sides();
    for side in &sides {
        let shin = leg(pose, side, legs, findings);
        if foot(pose, side, shin, findings) {
            toes(pose, side, shin, findings);
        }
    }
    for side in &sides {
        let forearm = forearm(pose, side, body);
        let hand = hand(pose, side, forearm, findings);
        digits(pose, side, hand, findings);
    }
}

/// Checks the leg, and returns the turn that makes it hang straight down.
fn leg(pose: &Pose, side: &Side, upright: DQuat, findings: &mut Findings) -> DQuat {
    let mut turn = upright;
    for (bone, direction) in pose.segments(&side.leg[..3]) {
        let direction = turn * direction;
        if let Some(found) = off_by(degrees(direction, DVec3::NEG_Y)) {
            let at = pose.at_bone(bone);
            let expected = "a leg that points straight down, towards -Y";
            findings.warning("REF_TPOSE_LEG", at, expected, found);
            turn = DQuat::from_rotation_arc(direction, DVec3::NEG_Y) * turn;
        }
    }
    turn
}

/// Checks the foot, and returns whether it is as it should be. A foot without toes has no direction,
/// so it is not checked.
fn foot(pose: &Pose, side: &Side, turn: DQuat, findings: &mut Findings) -> bool {
    let (foot, toes) = (side.leg[2], side.leg[3]);
    let Some(direction) = pose.direction(foot, toes).map(|d| turn * d) else {
        return true;
    };
    let ankle = degrees(direction, DVec3::NEG_Y);
    let pitch = (ANKLE.0 - ankle).max(ankle - ANKLE.1);
    let level = DVec3::new(direction.x, 0.0, direction.z).try_normalize();
    let yaw = level.map_or(0.0, |d| degrees(d, DVec3::Z));
    let off = [
        ("a foot perpendicular to its leg", pitch),
        ("a foot whose toes point along +Z", yaw),
    ];
    let off = off.map(|(expected, angle)| Some((expected, off_by(angle)?)));
    let at = pose.at_bone(foot);
    for (expected, found) in off.iter().flatten() {
        findings.warning("REF_FOOT", &at, *expected, found);
    }
    off.iter().all(Option::is_none)
}

/// Checks the toes by their own axis: where an ankle is high, only they show that the foot points
/// down.
fn toes(pose: &Pose, side: &Side, turn: DQuat, findings: &mut Findings) {
    let toes = side.leg[3];
    let Some(tip) = pose.tip(&pose.segments(&side.leg), toes) else {
        return;
    };
    let tip = turn * tip;
    let up = 90.0 - degrees(tip, DVec3::Y);
    let pitch = up.max(-up - TOES);
    if let Some(found) = off_by(pitch) {
        let at = pose.at_bone(toes);
        findings.warning("REF_FOOT", at, "toes that lie level, along +Z", found);
    }
}

/// The turn that stretches the forearm along X, if [`Pose::arms`] reports it.
fn forearm(pose: &Pose, side: &Side, upright: DQuat) -> DQuat {
    let last = pose.segments(&side.arm[..3]).pop();
    let direction = last.map(|(_, direction)| upright * direction);
    match direction.filter(|d| off_by(degrees(*d, side.out)).is_some()) {
        Some(direction) => DQuat::from_rotation_arc(direction, side.out) * upright,
        None => upright,
    }
}

/// Checks the palm, and returns the turn that makes it face the ground.
fn hand(pose: &Pose, side: &Side, turn: DQuat, findings: &mut Findings) -> DQuat {
    let hand = side.arm[2];
    let Some(back) = back_of_hand(pose, side).map(|back| turn * back) else {
        return turn;
    };
    let Some(found) = off_by(degrees(back, DVec3::Y)) else {
        return turn;
    };
    let expected = "a flat hand whose palm faces the ground";
    let at = pose.at_bone(hand);
    findings.warning("REF_HAND", at, expected, found);
    DQuat::from_rotation_arc(back, DVec3::Y) * turn
}

/// The normal of the back of the hand: of the plane through the wrist and the roots of its first
/// and its last finger.
fn back_of_hand(pose: &Pose, side: &Side) -> Option<DVec3> {
    let wrist = pose.position(side.arm[2])?;
    // From the index finger to the little one.
    let chains = fingers();
    let roots = chains.iter().filter_map(|chain| chain.first());
    let roots = roots.filter(|root| is_of(side, **root) && !is_thumb(**root));
    let roots: Vec<DVec3> = ["Index", "Middle", "Ring", "Little"]
        .iter()
        .filter_map(|name| roots.clone().find(|root| root.name().contains(name)))
        .filter_map(|root| pose.position(*root))
        .collect();
    let (front, back) = (*roots.first()?, *roots.last()?);
    let along = (front + back) / 2.0 - wrist;
    ((front - back).cross(along) * side.out.x).try_normalize()
}

fn digits(pose: &Pose, side: &Side, turn: DQuat, findings: &mut Findings) {
    for chain in fingers().iter().filter(|chain| is_of(side, chain[0])) {
        let (code, wanted, expected) = if is_thumb(chain[0]) {
            let wanted = (side.out + DVec3::Z).normalize();
            let expected = format!("a thumb halfway between {} and +Z", side.out_name);
            ("REF_THUMB", wanted, expected)
        } else {
            let expected = format!("a finger stretched along {}", side.out_name);
            ("REF_FINGER", side.out, expected)
        };
        for (bone, direction) in pose.segments(chain) {
            if let Some(found) = off_by(degrees(turn * direction, wanted)) {
                let at = pose.at_bone(bone);
                findings.warning(code, at, &expected, found);
            }
        }
    }
}

fn is_of(side: &Side, digit: Bone) -> bool {
    digit.ancestors().any(|b| b == side.arm[2])
}

fn is_thumb(digit: Bone) -> bool {
    digit.name().contains("Thumb")
}

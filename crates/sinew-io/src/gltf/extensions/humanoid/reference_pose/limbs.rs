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

/// Findings about the limbs of both sides. `upright` turns the character so that it stands and
/// faces as the extension asks for; the identity if that is not reported.
pub(super) fn limbs(pose: &Pose, upright: DQuat, findings: &mut Findings) {
    let sides = sides();
    for side in &sides {
        let shin = leg(pose, side, upright, findings);
        foot(pose, side, shin, findings);
    }
    for side in &sides {
        let forearm = forearm(pose, side, upright);
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

/// A foot without toes has no direction, so it is not checked.
fn foot(pose: &Pose, side: &Side, turn: DQuat, findings: &mut Findings) {
    let (foot, toes) = (side.leg[2], side.leg[3]);
    let Some(direction) = pose.direction(foot, toes).map(|d| turn * d) else {
        return;
    };
    let mut push = |expected: &str, found| {
        let at = pose.at_bone(foot);
        findings.warning("REF_FOOT", at, expected, found);
    };
    let ankle = degrees(direction, DVec3::NEG_Y);
    let pitch = (ANKLE.0 - ankle).max(ankle - ANKLE.1);
    if let Some(found) = off_by(pitch) {
        push("a foot perpendicular to its leg", found);
    }
    let level = DVec3::new(direction.x, 0.0, direction.z).try_normalize();
    if let Some(found) = level.and_then(|d| off_by(degrees(d, DVec3::Z))) {
        push("a foot whose toes point along +Z", found);
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

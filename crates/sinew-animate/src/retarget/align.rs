//! Turns the limbs of the target's reference pose to point as the source's do.

use glam::{DMat3, DQuat, DVec3};
use serde::Serialize;

use super::bone_map::JointPair;
use super::reference::{Reference, pair_above};
use super::{Bone, Rig};
use sinew::error::Warning;

/// Hands whose knuckles lie within this angle, in radians, keep the roll that they have.
const SAME_ROLL: f64 = 0.35;

/// A foot has a heading if this share of its length is horizontal.
const HAS_HEADING: f64 = 0.2;

/// Limbs that are turned by less than this, in degrees, are not worth a warning.
const SMALL: f64 = 5.0;

/// A limb of the target that was turned in the reference pose.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlignedLimb {
    /// The human bone, if it is known.
    pub bone: Option<Bone>,
    /// Name of the target's joint.
    pub joint: String,
    /// Angle in degrees. What hangs from the limb turns with it, and has its own angle beyond that.
    pub degrees: f64,
}

/// The rotations of the target's reference at each pair, and the limbs that turn by themselves.
pub(super) struct Alignment {
    pub turns: Vec<DQuat>,
    pub limbs: Vec<AlignedLimb>,
}

impl Alignment {
    /// Turns nothing.
    pub fn none(pairs: &[JointPair]) -> Self {
        Self {
            turns: vec![DQuat::IDENTITY; pairs.len()],
            limbs: Vec::new(),
        }
    }

    /// Turns limbs to point in the direction of the source's.
    ///
    /// Arms, legs, hands and fingers turn, by the shortest rotation from the direction that they
    /// have after the limb above them was turned. So a bone keeps its roll, and a bent arm unbends
    /// at its joints. A limb points to the nearest paired bone below it, a hand to its middle
    /// finger or another one; what has no paired bone below it turns with the limb above. Hands
    /// also turn about their length if their knuckles point elsewhere. Feet turn about the vertical
    /// axis only: they stay as flat, or as high on their heels, as they were modelled. The trunk,
    /// the head and the shoulders do not turn, because there bodies differ rather than poses.
    ///
    /// If `only_human` is not set, joints that are no known human bones turn too, if they have one
    /// paired joint below them.
    pub fn new(
        (source, source_rig): (&Reference, &Rig),
        (target, target_rig): (&Reference, &Rig),
        pairs: &[JointPair],
        only_human: bool,
    ) -> Self {
        use Bone::{LeftFoot, LeftHand, RightFoot, RightHand};
        let mut out = Self::none(pairs);
        let above: Vec<Option<usize>> = pairs
            .iter()
            .map(|p| pair_above(target_rig, pairs, p))
            .collect();
        // The nearest human bone above; other joints may lie between two bones.
        let human_above: Vec<Option<usize>> = (0..pairs.len())
            .map(|i| {
                let mut chain = std::iter::successors(above[i], |a| above[*a]);
                chain.find(|a| pairs[*a].bone.is_some())
            })
            .collect();
        let (mut children, mut human_below) =
            (vec![Vec::new(); pairs.len()], vec![Vec::new(); pairs.len()]);
        for j in 0..pairs.len() {
            if let Some(above) = above[j] {
                children[above].push(j);
            }
            if let Some(above) = human_above[j] {
                human_below[above].push(j);
            }
        }
        // From one pair to one below it, on both sides.
        let between = |a: usize, b: usize| {
            let (a, b) = (&pairs[a], &pairs[b]);
            let from = (source.position(b.source) - source.position(a.source)).try_normalize()?;
            let to = (target.position(b.target) - target.position(a.target)).try_normalize()?;
            Some((from, to))
        };
        for (i, pair) in pairs.iter().enumerate() {
            // A foot that is missing does not make the leg point to its toes.
            let is_tip = |tip: Bone, bone: Bone| {
                tip.parent() == Some(bone)
                    || matches!(tip, LeftHand | RightHand | LeftFoot | RightFoot)
                    || tip.is_finger() && bone.is_finger()
            };
            let nearest = match pair.bone {
                Some(_) => &human_below[i],
                None => &children[i],
            };
            let below: Vec<usize> = nearest
                .iter()
                .copied()
                .filter(|j| match (pair.bone, pairs[*j].bone) {
                    (Some(bone), Some(tip)) => is_tip(tip, bone),
                    (bone, _) => bone.is_none(),
                })
                // Only joints that are below this one on both sides.
                .filter(|j| source_rig.chain(pairs[*j].source).any(|j| j == pair.source))
                .collect();
            let finger = |bone: &Bone| {
                below
                    .iter()
                    .copied()
                    .find(|j| pairs[*j].bone == Some(*bone))
            };
            let kind = Kind::of(pair.bone, below.len(), only_human);
            let base = match (kind, above[i]) {
                (Kind::Limb | Kind::Hand(_) | Kind::Carried, Some(a)) => out.turns[a],
                _ => DQuat::IDENTITY,
            };
            let own = match kind {
                Kind::Fixed | Kind::Carried => None,
                Kind::Limb => below
                    .first()
                    .and_then(|tip| between(i, *tip))
                    .map(|(from, to)| DQuat::from_rotation_arc(base * to, from)),
                Kind::Hand(fingers) => {
                    let tip = fingers.iter().find_map(finger);
                    let direction = tip.and_then(|tip| between(i, tip));
                    let [_, index, _, little] = fingers.each_ref().map(finger);
                    let knuckles = index
                        .zip(little)
                        .and_then(|(index, little)| between(index, little));
                    direction.map(|(from, to)| {
                        let arc = DQuat::from_rotation_arc(base * to, from);
                        let roll = knuckles.map_or(DQuat::IDENTITY, |(across, other)| {
                            roll(from, across, arc * base * other)
                        });
                        roll * arc
                    })
                }
                Kind::Foot => below
                    .first()
                    .and_then(|tip| between(i, *tip))
                    .and_then(heading),
            };
            let own = own.unwrap_or(DQuat::IDENTITY);
            out.turns[i] = (own * base).normalize();
            let degrees = own.angle_between(DQuat::IDENTITY).to_degrees();
            if degrees > 0.1 {
                out.limbs.push(AlignedLimb {
                    bone: pair.bone,
                    joint: target_rig.unique_name(pair.target).to_owned(),
                    degrees,
                });
            }
        }
        out
    }

    /// The warning that tells which limbs were turned, if some were turned by a visible angle.
    pub fn warning(&self, source: &Rig, target: &Rig) -> Option<Warning> {
        let mut limbs: Vec<&AlignedLimb> =
            self.limbs.iter().filter(|l| l.degrees >= SMALL).collect();
        let fingers = limbs.len();
        limbs.retain(|l| !l.bone.is_some_and(Bone::is_finger));
        let fingers = fingers - limbs.len();
        let mut named: Vec<String> = limbs
            .iter()
            .map(|l| {
                let bone = l.bone.map(Bone::name);
                format!("{} by {:.0}", bone.unwrap_or(&l.joint), l.degrees)
            })
            .collect();
        match fingers {
            0 => {}
            1 => named.push("a finger bone".to_owned()),
            n => named.push(format!("{n} finger bones")),
        }
        (!named.is_empty()).then(|| {
            let message = format!(
                "its reference pose differs from that of {}, so its limbs were turned to point the same way (degrees): {}; the \
                 reference pose bind turns none",
                source.label(),
                named.join(", ")
            );
            Warning::new("retarget-aligned", target.label(), message)
        })
    }
}

/// How a joint is aligned.
#[derive(Clone, Copy)]
enum Kind {
    /// It keeps its reference.
    Fixed,
    Limb,
    /// With the bones of its middle, index, ring and little fingers.
    Hand([Bone; 4]),
    Foot,
    /// It turns with the joint above it.
    Carried,
}

impl Kind {
    fn of(bone: Option<Bone>, below: usize, only_human: bool) -> Self {
        use Bone::*;
        match bone {
            None if !only_human && below == 1 => Self::Limb,
            None => Self::Carried,
            Some(LeftHand) => Self::Hand([
                LeftMiddleProximal,
                LeftIndexProximal,
                LeftRingProximal,
                LeftLittleProximal,
            ]),
            Some(RightHand) => Self::Hand([
                RightMiddleProximal,
                RightIndexProximal,
                RightRingProximal,
                RightLittleProximal,
            ]),
            Some(LeftFoot | RightFoot) => Self::Foot,
            Some(LeftToes | RightToes) => Self::Carried,
            Some(bone) if bone.is_limb() => Self::Limb,
            Some(_) => Self::Fixed,
        }
    }
}

/// The rotation about an axis that brings one direction next to another; the identity if they are
/// near each other, or along the axis.
fn roll(axis: DVec3, wanted: DVec3, found: DVec3) -> DQuat {
    let flat = |v: DVec3| Some(v.reject_from_normalized(axis)).filter(|v| v.length() > 0.1);
    let (Some(wanted), Some(found)) = (flat(wanted), flat(found)) else {
        return DQuat::IDENTITY;
    };
    let angle = DMat3::from_cols(axis, found, wanted)
        .determinant()
        .atan2(found.dot(wanted));
    match angle.abs() > SAME_ROLL {
        true => DQuat::from_axis_angle(axis, angle),
        false => DQuat::IDENTITY,
    }
}

/// The rotation about the vertical axis between the headings of two directions.
fn heading((from, to): (DVec3, DVec3)) -> Option<DQuat> {
    let flat = |v: DVec3| {
        let flat = DVec3::new(v.x, 0.0, v.z);
        (flat.length() > HAS_HEADING).then_some(flat)
    };
    let (from, to) = (flat(from)?, flat(to)?);
    let angle = (to.z * from.x - to.x * from.z).atan2(to.dot(from));
    Some(DQuat::from_rotation_y(angle))
}

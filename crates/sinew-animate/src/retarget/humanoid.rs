//! The human bones of a rig.

use std::collections::BTreeMap;
use std::fmt;

use super::conventions::Convention;
use super::recognise::{self, anatomy};
use super::{Bone, Conflict, Rig};

/// The human bones of a rig: which joint is which bone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Humanoid {
    joints: BTreeMap<Bone, usize>,
    origin: Origin,
    misplaced: Vec<(Bone, usize)>,
}

/// Where the joints of the bones are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Names and hierarchy.
    Recognised(Option<Convention>),
    /// The file.
    Given,
    /// The shape of the skeleton.
    Guessed,
}

/// A rig in which no human body is recognised. As text, it says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    /// How many of [`Bone::MAIN`] names and hierarchy show.
    pub main: usize,
    /// Whether the bones are found, but arms and legs point the same way, across the trunk.
    pub is_on_all_fours: bool,
    /// The most likely joint of each bone, by words in the names and by the shape of the skeleton.
    pub guess: BTreeMap<Bone, usize>,
}

impl fmt::Display for Unrecognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_on_all_fours, self.main) {
            (true, _) => f.write_str("the joints show a body on four legs, not a human one"),
            (false, 0) => f.write_str(
                "the joints show no human body: none of their names says which bone it is",
            ),
            (false, main) => write!(
                f,
                "the joints' names and hierarchy show no human body: {main} of the {} main bones are found",
                Bone::MAIN.len()
            ),
        }
    }
}

impl std::error::Error for Unrecognised {}

impl Unrecognised {
    /// Takes the guess as the bones.
    #[must_use]
    pub fn guessed(self) -> Humanoid {
        Humanoid {
            joints: self.guess,
            origin: Origin::Guessed,
            misplaced: Vec::new(),
        }
    }
}

/// A main bone that a rig may have, but that is not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsureBone {
    /// The bone.
    pub bone: Bone,
    /// The joint that mirrors that of the other side, or that the shape of the skeleton suggests.
    pub suggestion: Option<usize>,
    /// The joints that it may be, the most likely one first.
    pub joints: Vec<usize>,
}

/// The smallest number of [`Bone::MAIN`], with the hips among them, that make a humanoid.
const ENOUGH: usize = 6;

impl Humanoid {
    /// Recognises the human bones by the names of the joints and by their hierarchy. The names may
    /// be those of any tool: case, separators, prefixes, and the place of left and right in the name
    /// do not matter, and words may have several meanings. Arms and legs are chains whose names fit
    /// their order, the hips are where the legs meet, the spine is what lies between these and the
    /// arms. The hips and at least 6 of the 15 bones of [`Bone::MAIN`] have to be found. Joints
    /// with the name of a bone in a place where it cannot be are not used: see
    /// [`Humanoid::misplaced`].
    ///
    /// # Errors
    /// [`Unrecognised`], with the best guess, if there are fewer bones, or if the body stands on
    /// four legs.
    pub fn recognise(rig: &Rig) -> Result<Self, Unrecognised> {
        let (mut joints, misplaced) = recognise::by_names(rig);
        anatomy::place_thighs(rig, &mut joints);
        let found = Self {
            joints,
            origin: Origin::Recognised(Convention::of(rig.names())),
            misplaced,
        };
        let main = found.main_count();
        let is_on_all_fours = anatomy::is_on_all_fours(rig, &found.joints);
        if main >= ENOUGH && found.joints.contains_key(&Bone::Hips) && !is_on_all_fours {
            return Ok(found);
        }
        Err(Unrecognised {
            main,
            is_on_all_fours,
            guess: guess(rig, found.joints),
        })
    }

    /// Uses a map that the file itself has (VRM, EXT_skeleton_humanoid). Indices that are out of
    /// range are ignored.
    #[must_use]
    pub fn given(rig: &Rig, joints: BTreeMap<Bone, usize>) -> Self {
        let joints = joints.into_iter().filter(|(_, j)| *j < rig.len()).collect();
        Self {
            joints,
            origin: Origin::Given,
            misplaced: Vec::new(),
        }
    }

    /// The index of the joint of each bone.
    #[must_use]
    pub fn joints(&self) -> &BTreeMap<Bone, usize> {
        &self.joints
    }

    /// The convention that the names follow; `None` if it is none that is known by name, or if the
    /// bones are not from names.
    #[must_use]
    pub fn convention(&self) -> Option<Convention> {
        match self.origin {
            Origin::Recognised(convention) => convention,
            Origin::Given | Origin::Guessed => None,
        }
    }

    /// The joints of the bones, without those between two others that are neighbours in the full
    /// hierarchy of bones. VRM and EXT_skeleton_humanoid demand this of a map: where arms hang from
    /// the neck, as in 3ds Max Biped, the neck is left out. Limbs that do not hang from the trunk
    /// are left out too.
    #[must_use]
    pub fn in_order(&self, rig: &Rig) -> BTreeMap<Bone, usize> {
        let mut out = self.joints.clone();
        loop {
            let at = |joint: usize| out.iter().find(|(_, j)| **j == joint).map(|(b, _)| *b);
            let wrong = out.iter().find_map(|(bone, joint)| {
                let above = rig.chain(*joint).skip(1).find_map(at);
                let nearest = bone.ancestors().find(|b| out.contains_key(b));
                let is_main = |b: &Bone| Bone::MAIN.contains(b);
                (nearest != above).then(|| above.filter(|a| !is_main(a)).unwrap_or(*bone))
            });
            match wrong {
                Some(bone) => out.remove(&bone),
                None => return out,
            };
        }
    }

    /// How the bones were found, such as `the names of Mixamo`.
    #[must_use]
    pub fn origin(&self) -> String {
        match self.origin {
            Origin::Recognised(Some(convention)) => format!("the names of {convention}"),
            Origin::Recognised(None) => "names and hierarchy".to_owned(),
            Origin::Given => "the file's own humanoid map".to_owned(),
            Origin::Guessed => "a guess".to_owned(),
        }
    }

    /// Joints with the name of a bone that are not used, because they are in a place of the
    /// hierarchy where that bone cannot be.
    #[must_use]
    pub fn misplaced(&self) -> &[(Bone, usize)] {
        &self.misplaced
    }

    /// Matches that contradict the anatomy of a body: left on the right, hips that hang below the head, a
    /// knee that is not between hip and foot. It is relative to the body itself, so rigs may face
    /// any way, lie, or be mirrored as a whole; what positions show counts only in a bind or rest pose
    /// that stands.
    #[must_use]
    pub fn conflicts(&self, rig: &Rig) -> Vec<Conflict> {
        anatomy::conflicts(rig, &self.joints)
    }

    /// What the body lacks of a human one: hips, head or neck, both legs and an arm, with thighs about
    /// as long as shins. `None` if it is one.
    #[must_use]
    pub fn not_human(&self, rig: &Rig) -> Option<String> {
        let unsure: Vec<Bone> = self.unsure(rig).iter().map(|u| u.bone).collect();
        anatomy::not_human(rig, &self.joints, &unsure)
    }

    /// The main bones that are not found although the rig may have them: joints that are no bone
    /// yet, and neither twists, ends, controls, hair nor cloth, are where these bones would be. So
    /// a rig that lacks a limb has no such bone, but one with a limb of unknown names has. Empty if
    /// the bones are not from names.
    #[must_use]
    pub fn unsure(&self, rig: &Rig) -> Vec<UnsureBone> {
        if !matches!(self.origin, Origin::Recognised(_)) {
            return Vec::new();
        }
        let suggested = guess(rig, self.joints.clone());
        let open = self.open(rig);
        let lacks = |b: &&Bone| !self.joints.contains_key(b) && **b != Bone::Spine;
        let unsure = Bone::MAIN.iter().filter(lacks).filter_map(|bone| {
            let suggestion = suggested.get(bone).copied();
            let mut joints: Vec<usize> = suggestion.into_iter().collect();
            let misplaced = self.misplaced.iter().filter(|(b, _)| b == bone);
            joints.extend(misplaced.map(|(_, j)| *j));
            joints.extend(self.places(rig, *bone, &open));
            let mut seen = std::collections::BTreeSet::new();
            joints.retain(|j| seen.insert(*j));
            (!joints.is_empty()).then_some(UnsureBone {
                bone: *bone,
                suggestion,
                joints,
            })
        });
        unsure.collect()
    }

    /// Whether each joint is neither a bone nor a helper.
    fn open(&self, rig: &Rig) -> Vec<bool> {
        let mut open: Vec<bool> = recognise::helpers(rig).iter().map(|h| !h).collect();
        self.joints.values().for_each(|j| open[*j] = false);
        open
    }

    /// The open joints that hang from the nearest bone above a missing bone of a limb, if they form
    /// a chain that is long enough for it and for the missing bones between.
    fn places(&self, rig: &Rig, bone: Bone, open: &[bool]) -> Vec<usize> {
        let missing = bone.ancestors().filter(|b| Bone::MAIN.contains(b));
        let missing = missing.take_while(|b| !self.joints.contains_key(b) && b.is_limb());
        let needed = missing.count() + 1;
        let above = bone.ancestors().find_map(|b| self.joints.get(&b));
        let (Some(above), false) = (above, matches!(bone, Bone::Head | Bone::Hips)) else {
            return Vec::new();
        };
        // The number of open joints from the bone above to each joint.
        let mut depth = vec![0; rig.len()];
        let mut out = Vec::new();
        for (joint, parent) in rig.parents().iter().enumerate() {
            let Some(parent) = *parent else { continue };
            if open[joint] && (parent == *above || depth[parent] > 0) {
                depth[joint] = depth[parent] + 1;
            }
            if depth[joint] == needed {
                out.push(joint);
            }
        }
        out
    }

    /// The number of [`Bone::MAIN`] that are found. A hand or a foot counts only at the end of a
    /// limb, because figures that are not human have joints with these names too.
    fn main_count(&self) -> usize {
        let found = |b: &Bone| self.joints.contains_key(b);
        let limb = |b: &Bone| match b {
            Bone::LeftHand | Bone::RightHand | Bone::LeftFoot | Bone::RightFoot => {
                b.ancestors().take(2).any(|a| found(&a))
            }
            _ => true,
        };
        Bone::MAIN.iter().filter(|b| found(b) && limb(b)).count()
    }
}

/// Adds to the bones that are found those that symmetry and the shape of the skeleton suggest.
fn guess(rig: &Rig, mut joints: BTreeMap<Bone, usize>) -> BTreeMap<Bone, usize> {
    let helpers = recognise::helpers(rig);
    let shape = recognise::by_shape(rig);
    let agree = |(bone, joint): &(&Bone, &usize)| joints.get(bone).is_none_or(|j| j == *joint);
    let is_like = shape.iter().filter(agree).count() * 3 >= shape.len() * 2;
    let mirrored = anatomy::mirrored(rig, &joints);
    for (ways, is_likely) in [(mirrored, true), (shape, is_like)] {
        for (bone, joint) in ways {
            let is_free = !helpers[joint] && !joints.values().any(|j| *j == joint);
            if is_free && is_likely && fits(rig, &joints, bone, joint) {
                joints.entry(bone).or_insert(joint);
            }
        }
    }
    joints
}

/// Whether a joint is where a bone can be: the nearest bone above it is an ancestor of the bone,
/// and those below it are descendants.
fn fits(rig: &Rig, joints: &BTreeMap<Bone, usize>, bone: Bone, joint: usize) -> bool {
    joints.iter().all(|(other, at)| {
        let is_above = rig.chain(joint).any(|j| j == *at);
        let is_below = rig.chain(*at).any(|j| j == joint);
        let (over, under) = (
            bone.ancestors().any(|b| b == *other),
            other.ancestors().any(|b| b == bone),
        );
        (!is_above || over) && (!is_below || under)
    })
}

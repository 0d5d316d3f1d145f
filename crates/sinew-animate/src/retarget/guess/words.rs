//! Guesses human bones by words in the names of joints.

use std::collections::{BTreeMap, BTreeSet};

use crate::retarget::conventions::{Part, Place};
use crate::retarget::{Bone, Rig};

/// Words, and the main bones of the trunk, arms and legs that they suggest.
const WORDS: &[(&[&str], &[Part])] = &[
    (&["hips", "hip", "pelvis", "root"], &[Part::Trunk(0)]),
    (&["spine", "back", "abdomen", "waist"], &[Part::Trunk(1)]),
    (&["torso"], &[Part::Trunk(0), Part::Trunk(1)]),
    (&["head", "skull"], &[Part::Trunk(5)]),
    (&["upperarm", "uparm", "humerus", "bicep"], &[Part::Arm(1)]),
    (&["lowerarm", "forearm", "elbow", "ulna"], &[Part::Arm(2)]),
    (&["hand", "wrist"], &[Part::Arm(3)]),
    (&["arm"], &[Part::Arm(1), Part::Arm(2), Part::Arm(3)]),
    (&["upperleg", "upleg", "thigh", "femur"], &[Part::Leg(0)]),
    (
        &["lowerleg", "calf", "shin", "knee", "tibia"],
        &[Part::Leg(1)],
    ),
    (&["foot", "ankle"], &[Part::Leg(2)]),
    (&["leg"], &[Part::Leg(0), Part::Leg(1), Part::Leg(2)]),
];

/// Guesses the main bones. Each bone is the first joint from the root down whose words fit and that
/// is not another bone yet.
pub(super) fn by_words(rig: &Rig) -> BTreeMap<Bone, usize> {
    let mut out = BTreeMap::new();
    let mut taken = BTreeSet::new();
    let joints: Vec<(String, Option<bool>)> = rig.names().iter().map(|n| words(n)).collect();
    // Words that mean one bone go first, and then words that may mean several.
    for several in [false, true] {
        for bone in Bone::MAIN {
            let place = Place::of(bone);
            let is_sided = !matches!(place.part, Part::Trunk(_));
            if out.contains_key(&bone) {
                continue;
            }
            let fits = |(name, side): &(String, Option<bool>)| {
                let mut known = WORDS.iter();
                let found = known.find(|(words, _)| words.iter().any(|w| name.contains(w)));
                found.is_some_and(|(_, parts)| {
                    parts.contains(&place.part) && (parts.len() > 1) == several
                }) && *side == is_sided.then_some(place.is_right)
            };
            let joint = (0..joints.len()).find(|j| !taken.contains(j) && fits(&joints[*j]));
            if let Some(joint) = joint {
                out.insert(bone, joint);
                taken.insert(joint);
            }
        }
    }
    out
}

/// The letters of a name, and whether it says right (`true`) or left.
fn words(name: &str) -> (String, Option<bool>) {
    let mut words: Vec<String> = Vec::new();
    let mut last = ' ';
    for c in name.chars() {
        let starts = !last.is_alphabetic() || (c.is_uppercase() && last.is_lowercase());
        if c.is_alphabetic() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        last = c;
    }
    let side = words.iter().find_map(|w| match w.as_str() {
        "l" | "left" | "lf" | "lft" => Some(false),
        "r" | "right" | "rt" | "rgt" => Some(true),
        _ => None,
    });
    (words.concat(), side)
}

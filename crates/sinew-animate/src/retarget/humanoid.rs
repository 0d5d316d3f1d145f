//! Which joint is which human bone.

use std::collections::{BTreeMap, HashMap};

use super::conventions::{Convention, Part, Place};
use super::{Bone, Rig, guess};

/// Human bones of a rig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Humanoid {
    joints: BTreeMap<Bone, usize>,
    convention: Option<Convention>,
    misplaced: Vec<(Bone, usize)>,
}

/// A rig whose names follow no known convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    /// The convention that fits best, where one fits at all, and how many of the main bones it finds.
    pub closest: Option<(Convention, usize)>,
    /// What the names' words suggest, or else the skeleton's shape.
    pub guess: BTreeMap<Bone, usize>,
}

/// So many of [`Bone::MAIN`], the hips among them, make a humanoid.
const ENOUGH: usize = 6;

impl Humanoid {
    /// Recognises a rig by its joints' names: the convention that finds most bones, without regard to case,
    /// separators and prefixes, where it finds the hips and at least 6 of the 15 main bones. A joint whose
    /// nearest bone above is none of those that belong above it is left out ([`Humanoid::misplaced`]).
    ///
    /// # Errors
    /// A rig that no convention fits, with the best guess.
    pub fn recognise(rig: &Rig) -> Result<Self, Unrecognised> {
        let names: Vec<String> = rig.names().iter().map(|n| normalise(n)).collect();
        let mut index: HashMap<&str, Vec<usize>> = HashMap::new();
        for (i, name) in names.iter().enumerate() {
            index.entry(name).or_default().push(i);
        }
        let mut best: Option<(usize, usize, Humanoid)> = None;
        for convention in Convention::ALL {
            for prefix in prefixes(convention, &names) {
                let found = Self::find(rig, convention, &prefix, &index);
                let spelled = |(bone, joint): (&Bone, &usize)| {
                    let name = convention.bone_name(*bone).unwrap_or_default();
                    rig.names()[*joint].ends_with(&name)
                };
                let as_spelled = found.joints.iter().filter(|j| spelled(*j)).count();
                let score = (found.joints.len(), as_spelled);
                if best.as_ref().is_none_or(|(n, s, _)| score > (*n, *s)) {
                    best = Some((score.0, score.1, found));
                }
            }
        }
        let (closest, main) = match best {
            Some((_, _, found)) => {
                let main = found.main_count();
                if main >= ENOUGH && found.joints.contains_key(&Bone::Hips) {
                    return Ok(found);
                }
                (found.convention.filter(|_| main > 0), main)
            }
            None => (None, 0),
        };
        Err(Unrecognised {
            closest: closest.map(|c| (c, main)),
            guess: guess::guess(rig),
        })
    }

    /// A map that the file itself gives (VRM, EXT_skeleton_humanoid). Joints that the rig lacks are left out.
    #[must_use]
    pub fn given(rig: &Rig, joints: BTreeMap<Bone, usize>) -> Self {
        let joints = joints.into_iter().filter(|(_, j)| *j < rig.len()).collect();
        Self {
            joints,
            convention: None,
            misplaced: Vec::new(),
        }
    }

    /// Joint of each bone.
    #[must_use]
    pub fn joints(&self) -> &BTreeMap<Bone, usize> {
        &self.joints
    }

    /// Whose names the joints have; `None` where the file gave the map.
    #[must_use]
    pub fn convention(&self) -> Option<Convention> {
        self.convention
    }

    /// Joints named as bones that are not where those bones belong, and so are not taken for them.
    #[must_use]
    pub fn misplaced(&self) -> &[(Bone, usize)] {
        &self.misplaced
    }

    /// How many of [`Bone::MAIN`] are found. A hand or a foot counts at the end of a limb only: figures that are no humans
    /// have such names too.
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

    fn find(
        rig: &Rig,
        convention: Convention,
        prefix: &str,
        index: &HashMap<&str, Vec<usize>>,
    ) -> Self {
        let mut out = Self {
            joints: BTreeMap::new(),
            convention: Some(convention),
            misplaced: Vec::new(),
        };
        let mut bone_of = HashMap::new();
        // Parents come first, so what is above a bone is known when its turn comes.
        for bone in Bone::ALL {
            let Some(name) = convention.bone_name(*bone) else {
                continue;
            };
            let key = format!("{prefix}{}", normalise(&name));
            let candidates = index.get(key.as_str()).map_or(&[][..], Vec::as_slice);
            let fits = |joint: &&usize| {
                let above = rig.chain(**joint).skip(1).find_map(|j| bone_of.get(&j));
                above.is_none_or(|a| bone.ancestors().any(|b| b == *a))
            };
            match candidates.iter().find(fits) {
                Some(joint) => {
                    out.joints.insert(*bone, *joint);
                    bone_of.insert(*joint, *bone);
                }
                None => out.misplaced.extend(candidates.iter().map(|j| (*bone, *j))),
            }
        }
        out
    }
}

/// Letters and digits in lower case, without a namespace.
pub(super) fn normalise(name: &str) -> String {
    let name = name.rsplit(':').next().unwrap_or(name);
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What may stand before every name: nothing, what the convention has, or what stands before the hips' name.
fn prefixes(convention: Convention, names: &[String]) -> Vec<String> {
    let mut out = vec![String::new()];
    out.extend(convention.prefixes().iter().map(|p| (*p).to_owned()));
    let hips = normalise(&convention.bone_name(Bone::Hips).unwrap_or_default());
    let before = names.iter().filter_map(|n| n.strip_suffix(hips.as_str()));
    for prefix in before.take(8) {
        if !out.iter().any(|p| p == prefix) {
            out.push(prefix.to_owned());
        }
    }
    out
}

impl Bone {
    /// Upper and lower arms and legs, hands and fingers.
    pub(super) fn is_limb(self) -> bool {
        match Place::of(self).part {
            Part::Arm(i) => i > 0,
            Part::Leg(i) => i < 2,
            Part::Finger(..) => true,
            Part::Trunk(_) | Part::Eye => false,
        }
    }
}

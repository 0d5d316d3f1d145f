//! Recognises the human bones of a rig.

use std::collections::{BTreeMap, HashMap};

use super::conventions::{Convention, Part, Place};
use super::{Bone, Rig, guess};

/// The human bones of a rig: which joint is which bone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Humanoid {
    joints: BTreeMap<Bone, usize>,
    convention: Option<Convention>,
    misplaced: Vec<(Bone, usize)>,
}

/// The joint names of a rig follow no known convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    /// The convention that fits best and how many of [`Bone::MAIN`] it finds; `None` if it finds
    /// none.
    pub closest: Option<(Convention, usize)>,
    /// The most likely joint of each bone, by words in the names or by the shape of the skeleton.
    pub guess: BTreeMap<Bone, usize>,
}

/// The smallest number of [`Bone::MAIN`], with the hips among them, that make a humanoid.
const ENOUGH: usize = 6;

impl Humanoid {
    /// Recognises the human bones by the names of the joints. It uses the convention that finds
    /// most bones; case, separators and prefixes do not matter. The convention has to find the hips
    /// and at least 6 of the 15 bones of [`Bone::MAIN`]. Joints in a wrong place of the hierarchy
    /// are not used: see [`Humanoid::misplaced`].
    ///
    /// # Errors
    /// [`Unrecognised`], with the best guess, if no convention fits.
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

    /// Uses a map that the file itself has (VRM, EXT_skeleton_humanoid). Indices that are out of
    /// range are ignored.
    #[must_use]
    pub fn given(rig: &Rig, joints: BTreeMap<Bone, usize>) -> Self {
        let joints = joints.into_iter().filter(|(_, j)| *j < rig.len()).collect();
        Self {
            joints,
            convention: None,
            misplaced: Vec::new(),
        }
    }

    /// The index of the joint of each bone.
    #[must_use]
    pub fn joints(&self) -> &BTreeMap<Bone, usize> {
        &self.joints
    }

    /// The convention that the names follow; `None` if the map is from the file.
    #[must_use]
    pub fn convention(&self) -> Option<Convention> {
        self.convention
    }

    /// Joints with the name of a bone that are not used, because they are in a wrong place of the
    /// hierarchy.
    #[must_use]
    pub fn misplaced(&self) -> &[(Bone, usize)] {
        &self.misplaced
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
        // Parents come first, so the bones above a bone are already known.
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

/// A name in lower case, with only letters and digits, and without its namespace.
pub(super) fn normalise(name: &str) -> String {
    let name = name.rsplit(':').next().unwrap_or(name);
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Prefixes that all names may have: none, those of the convention, and the text before the name of
/// the hips.
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
    /// Whether this is an upper or lower arm or leg, a hand or a finger.
    pub(super) fn is_limb(self) -> bool {
        match Place::of(self).part {
            Part::Arm(i) => i > 0,
            Part::Leg(i) => i < 2,
            Part::Finger(..) => true,
            Part::Trunk(_) | Part::Eye => false,
        }
    }
}

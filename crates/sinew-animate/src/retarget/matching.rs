//! Matches the joints of the source with those of the target, and says how.

use std::collections::HashSet;
use std::fmt;

use serde::Serialize;
use sinew::error::first_few;
use sinew::{Invalid, Warning};

use super::{Bone, BoneMap, BonePair, Humanoid, Rig, Unrecognised};
use crate::error::{Error, Result};

/// Which joint of the target follows which joint of the source, and how they were matched.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Matching {
    /// The pairs.
    pub map: BoneMap,
    /// How the joints were matched.
    pub by: MatchedBy,
    /// The human bones of the source, if they are known.
    pub source: Option<Humanoid>,
    /// The human bones of the target, if they are known.
    pub target: Option<Humanoid>,
    /// Main bones that one side has, and that the other side may have too.
    pub unsure: Vec<Unsure>,
}

/// How joints are to be matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MatchChoice {
    /// By the human bones, or else by the joints' names.
    #[default]
    Auto,
    /// As `Auto`, and the best guess takes the place of bones that are not recognised.
    Guess,
    /// By these pairs.
    Map(BoneMap),
}

/// How the joints were matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// A map of the user's.
    Map,
    /// The human bones of both sides.
    Bones,
    /// The human bones of both sides, of which at least one is a guess.
    Guess,
    /// Joints of the same name on both sides.
    Names,
}

/// How the joints of a [`MatchRow`] were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchHow {
    /// By their names, by a humanoid map of the file, or by a map of the user's.
    Named,
    /// By a guess at the shape of a skeleton.
    Guessed,
    /// One side has no such joint.
    Missing,
}

impl MatchHow {
    /// `named`, `guessed` or `missing`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Guessed => "guessed",
            Self::Missing => "missing",
        }
    }
}

/// A bone and its joint on each side, or a pair of joints that are no human bone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MatchRow {
    /// Name of the bone.
    pub bone: Option<&'static str>,
    /// The joint of the source.
    pub source: Option<String>,
    /// The joint of the target.
    pub target: Option<String>,
    /// How they were found.
    #[serde(skip)]
    pub how: MatchHow,
}

/// Two rigs whose joints cannot be matched. As text it says why, and gives the best guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMatch {
    /// For each rig in which no body is recognised, a line with the reason and its joints.
    pub reasons: String,
    /// The most likely pairs; empty if neither names nor shapes suggest one.
    pub guess: BoneMap,
}

impl fmt::Display for NoMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reasons)?;
        match self.guess.pairs.is_empty() {
            true => f.write_str("Neither the names nor the shapes of the rigs suggest a pair."),
            false => write!(f, "The best guess:\n{}", self.guess.to_json()),
        }
    }
}

/// A main bone that was found on one side only, although the other side may have it.
#[derive(Clone, Debug, Serialize)]
pub struct Unsure {
    /// Name of the bone.
    pub bone: &'static str,
    /// The joint of the source; `None` if the bone was not found there.
    pub source: Option<String>,
    /// The joint of the target; `None` if the bone was not found there.
    pub target: Option<String>,
    /// The joints that the bone may be where it was not found, the most likely one first.
    pub candidates: Vec<String>,
    /// The most likely pair, for the map.
    #[serde(skip)]
    pair: Option<BonePair>,
}

impl Matching {
    /// Matches two rigs as `choice` says. `given` are the humanoid maps of the files; if a file has
    /// none, its bones are recognised.
    ///
    /// # Errors
    /// [`Error::NoMatch`] if the joints cannot be matched; [`Error::Invalid`] if the match
    /// contradicts the anatomy of a body.
    pub fn find(
        source: &Rig,
        target: &Rig,
        given: [Option<Humanoid>; 2],
        choice: &MatchChoice,
    ) -> Result<Self> {
        let guesses = *choice == MatchChoice::Guess;
        let mut is_guess = false;
        let mut known = |given: Option<Humanoid>, rig: &Rig| match given {
            Some(given) => Ok(given),
            None => Humanoid::recognise(rig).or_else(|unknown| {
                is_guess |= guesses;
                match guesses && !unknown.guess.is_empty() {
                    true => Ok(unknown.guessed()),
                    false => Err(unknown),
                }
            }),
        };
        let [s, t] = given;
        let (s, t) = (known(s, source), known(t, target));
        let tagged =
            |map: BoneMap| map.with_bones((source, s.as_ref().ok()), (target, t.as_ref().ok()));
        let (map, by) = if let MatchChoice::Map(map) = choice {
            (tagged(map.clone()), MatchedBy::Map)
        } else {
            let with_top = |map: BoneMap| match (&s, &t) {
                (Ok(s), Ok(t)) => map.with_top_of_trunk((source, s), (target, t)),
                _ => map,
            };
            let bones = match (&s, &t) {
                (Ok(s), Ok(t)) => Some(BoneMap::between((source, s), (target, t))),
                _ => None,
            };
            let by = match is_guess {
                true => MatchedBy::Guess,
                false => MatchedBy::Bones,
            };
            let bones = bones.map(with_top);
            let names = BoneMap::same_names(source, target)
                .map(tagged)
                .map(with_top);
            match (bones, names) {
                // The names also match joints that are no human bones, so prefer them if they agree
                // with the bones.
                (Some(bones), Some(names)) if contains(&names, &bones) => (names, MatchedBy::Names),
                (Some(bones), _) => (bones, by),
                (None, Some(names)) => (names, MatchedBy::Names),
                (None, None) => return Err(no_match((source, &s), (target, &t))),
            }
        };
        let (s, t) = (s.ok(), t.ok());
        if matches!(by, MatchedBy::Bones | MatchedBy::Guess) {
            let sides = [(source, &s), (target, &t)];
            for (rig, humanoid) in sides {
                if by == MatchedBy::Bones {
                    human(rig, humanoid.as_ref())?;
                }
                anatomy(rig, humanoid.as_ref())?;
            }
        }
        let unsure = match (by, &s, &t) {
            (MatchedBy::Bones, Some(s), Some(t)) => unsure((source, s), (target, t)),
            _ => Vec::new(),
        };
        Ok(Self {
            map,
            by,
            source: s,
            target: t,
            unsure,
        })
    }

    /// The map with the most likely pairs of the bones that are not sure at its end.
    #[must_use]
    pub fn map_to_edit(&self) -> BoneMap {
        let pairs = self.unsure.iter().filter_map(|u| u.pair.clone());
        let mut map = self.map.clone();
        map.pairs.extend(pairs);
        map
    }

    /// Whether a joint of the source has a partner, or belongs to a spine of which a joint further
    /// up has one, so that the partner gets its bend too.
    fn is_carried(&self, source: &Rig, joint: usize) -> bool {
        const TRUNK: [Bone; 3] = [Bone::Spine, Bone::Chest, Bone::UpperChest];
        self.map.pairs.iter().any(|pair| {
            let Ok(paired) = source.find(&pair.source) else {
                return false;
            };
            let is_trunk = pair.bone.is_some_and(|b| TRUNK.contains(&b));
            paired == joint || (is_trunk && source.chain(paired).any(|j| j == joint))
        })
    }

    /// A row for every pair, and for every bone whose joint has no partner; or for every pair alone, if
    /// the joints were not matched by bones.
    #[must_use]
    pub fn rows(&self, source: &Rig, target: &Rig) -> Vec<MatchRow> {
        let how = match self.by {
            MatchedBy::Guess => MatchHow::Guessed,
            MatchedBy::Map | MatchedBy::Bones | MatchedBy::Names => MatchHow::Named,
        };
        let pairs = &self.map.pairs;
        let row = |p: &BonePair| MatchRow {
            bone: p.bone.map(Bone::name),
            source: Some(p.source.clone()),
            target: Some(p.target.clone()),
            how,
        };
        if matches!(self.by, MatchedBy::Map | MatchedBy::Names) {
            return pairs.iter().map(row).collect();
        }
        // The topmost bone of the trunk may follow another joint than the bone of the same name.
        let free =
            |rig: &Rig, humanoid: &Option<Humanoid>, bone: Bone, of: fn(&BonePair) -> &str| {
                let name = rig.unique_name(*humanoid.as_ref()?.joints().get(&bone)?);
                let is_paired = pairs.iter().any(|p| of(p) == name);
                (!is_paired).then(|| name.to_owned())
            };
        let all = Bone::ALL.iter().filter_map(|bone| {
            if let Some(pair) = pairs.iter().find(|p| p.bone == Some(*bone)) {
                return Some(row(pair));
            }
            let source = free(source, &self.source, *bone, |p| &p.source);
            let target = free(target, &self.target, *bone, |p| &p.target);
            (source.is_some() || target.is_some()).then(|| MatchRow {
                bone: Some(bone.name()),
                source,
                target,
                how: MatchHow::Missing,
            })
        });
        let others = pairs.iter().filter(|p| p.bone.is_none()).map(row);
        all.chain(others).collect()
    }

    /// The names of the joints of each side that are in no pair: those of the source that no joint
    /// follows, and those of the target that stay at rest.
    #[must_use]
    pub fn unmatched(&self, source: &Rig, target: &Rig) -> [Vec<String>; 2] {
        let own = |rig: &Rig, of: fn(&BonePair) -> &str| {
            let joints = unmatched(rig, self.map.pairs.iter().map(of));
            joints.map(|j| rig.names()[j].clone()).collect()
        };
        [own(source, |p| &p.source), own(target, |p| &p.target)]
    }

    /// How the bones of source and target were found, such as `the names of Mixamo`.
    #[must_use]
    pub fn origins(&self) -> [Option<String>; 2] {
        let of = |humanoid: &Option<Humanoid>| match (self.by, humanoid) {
            (MatchedBy::Map, _) => Some("a map of pairs".to_owned()),
            (MatchedBy::Names, _) => Some("the same names on both sides".to_owned()),
            (MatchedBy::Bones | MatchedBy::Guess, Some(h)) => Some(h.origin()),
            (MatchedBy::Bones | MatchedBy::Guess, None) => None,
        };
        [of(&self.source), of(&self.target)]
    }

    /// Warnings about joints that the clip moves and that no joint of the target follows, about
    /// bones that are not sure, and about joints whose names do not fit their places.
    pub fn warnings(
        &self,
        source: &Rig,
        target: &Rig,
        moves: impl Fn(usize) -> bool,
    ) -> Vec<Warning> {
        let mut out = Vec::new();
        let by_bones = matches!(self.by, MatchedBy::Bones | MatchedBy::Guess);
        let lost: Vec<String> = match (&self.source, &self.target) {
            (Some(s), Some(t)) if by_bones => {
                // The topmost joint of the target's trunk may follow one of these.
                let follows = |joint: usize| {
                    let mut pairs = self.map.pairs.iter();
                    pairs.any(|p| source.find(&p.source) == Ok(joint))
                };
                let lacks = s.joints().iter().filter(|(bone, joint)| {
                    let is_lost = !t.joints().contains_key(bone) && !follows(**joint);
                    is_lost && moves(**joint) && !self.is_carried(source, **joint)
                });
                lacks
                    .map(|(bone, joint)| format!("{bone} ({})", source.names()[*joint]))
                    .collect()
            }
            _ => unmatched(source, self.map.pairs.iter().map(|p| p.source.as_str()))
                .filter(|joint| moves(*joint))
                .map(|joint| source.names()[joint].clone())
                .collect(),
        };
        if !lost.is_empty() {
            let message = format!(
                "no joint of the target follows {}, which the clip moves",
                lost.join(", ")
            );
            out.push(Warning::new(
                "retarget-bone-missing",
                target.label(),
                message,
            ));
        }
        for unsure in &self.unsure {
            let (rig, other) = match unsure.source {
                Some(_) => (target, source),
                None => (source, target),
            };
            let message = format!(
                "{} is not recognised, though {} has it: it may be {}",
                unsure.bone,
                other.label(),
                first_few(&unsure.candidates, MOST_CANDIDATES)
            );
            out.push(Warning::new("retarget-incomplete", rig.label(), message));
        }
        if self.by == MatchedBy::Guess {
            out.push(Warning::new(
                "retarget-guess",
                target.label(),
                "the joints were matched by a guess at the shape of a skeleton: check which follows which",
            ));
        }
        if !by_bones {
            return out;
        }
        for (rig, humanoid) in [(source, &self.source), (target, &self.target)] {
            for (bone, joint) in humanoid.iter().flat_map(|h| h.misplaced()) {
                let name = &rig.names()[*joint];
                let message = format!(
                    "{name} has the name of {bone}, but it hangs where that bone cannot be: left out"
                );
                out.push(Warning::new(
                    "retarget-bone-misplaced",
                    rig.label(),
                    message,
                ));
            }
        }
        out
    }
}

/// Refuses a body that is not human.
fn human(rig: &Rig, humanoid: Option<&Humanoid>) -> Result<()> {
    match humanoid.and_then(|h| h.not_human(rig)) {
        None => Ok(()),
        Some(found) => {
            let expected = "a human body: hips, head or neck, both legs and an arm";
            let invalid = Invalid::new(rig.label(), "", expected, found);
            Err(invalid.coded("retarget-not-human").into())
        }
    }
}

/// Refuses a match that contradicts the anatomy of a body.
fn anatomy(rig: &Rig, humanoid: Option<&Humanoid>) -> Result<()> {
    let conflicts = humanoid.map_or_else(Vec::new, |h| h.conflicts(rig));
    if conflicts.is_empty() {
        return Ok(());
    }
    let found: Vec<String> = conflicts
        .iter()
        .map(|conflict| {
            let joints = conflict.joints.iter();
            let joints: Vec<String> = joints
                .map(|(bone, joint)| format!("{} as {bone}", rig.names()[*joint]))
                .collect();
            format!("{}: {}", joints.join(", "), conflict.reason)
        })
        .collect();
    let expected = "joints in the places of a human body";
    let invalid = Invalid::new(rig.label(), "", expected, found.join("; "));
    Err(invalid.coded("retarget-anatomy").into())
}

/// The main bones that one side has, and that the other side may have too.
fn unsure((source, s): (&Rig, &Humanoid), (target, t): (&Rig, &Humanoid)) -> Vec<Unsure> {
    let mut out = Vec::new();
    let name = |rig: &Rig, joint: usize| rig.unique_name(joint).to_owned();
    for (rig, humanoid, other, has, is_source) in
        [(source, s, target, t, true), (target, t, source, s, false)]
    {
        for unsure in humanoid.unsure(rig) {
            let Some(joint) = has.joints().get(&unsure.bone) else {
                continue;
            };
            let found = name(other, *joint);
            let pair = unsure.suggestion.map(|suggestion| {
                let likely = name(rig, suggestion);
                let (source, target) = match is_source {
                    true => (likely, found.clone()),
                    false => (found.clone(), likely),
                };
                BonePair {
                    source,
                    target,
                    bone: Some(unsure.bone),
                }
            });
            let (source, target) = match is_source {
                true => (None, Some(found)),
                false => (Some(found), None),
            };
            out.push(Unsure {
                bone: unsure.bone.name(),
                source,
                target,
                candidates: unsure.joints.iter().map(|j| name(rig, *j)).collect(),
                pair,
            });
        }
    }
    out
}

/// Indices of the joints of a rig that are in no pair.
fn unmatched<'a>(rig: &Rig, paired: impl Iterator<Item = &'a str>) -> impl Iterator<Item = usize> {
    let paired: HashSet<usize> = paired.filter_map(|n| rig.find(n).ok()).collect();
    (0..rig.len()).filter(move |j| !paired.contains(j))
}

/// Whether all pairs of `part` are in `all`.
fn contains(all: &BoneMap, part: &BoneMap) -> bool {
    let has = |source: &str, target: &str| {
        all.pairs
            .iter()
            .any(|p| p.source == source && p.target == target)
    };
    part.pairs.iter().all(|p| has(&p.source, &p.target))
}

/// Largest number of joints that a message lists.
const MOST_NAMES: usize = 100;

/// Largest number of candidates for a bone that a message lists.
pub const MOST_CANDIDATES: usize = 6;

type Side<'a> = (&'a Rig, &'a std::result::Result<Humanoid, Unrecognised>);

/// The error for rigs that cannot be matched: for each unknown rig the reason and its joints, and
/// the best guess.
fn no_match(source: Side<'_>, target: Side<'_>) -> Error {
    let mut reasons = String::new();
    for (rig, found) in [source, target] {
        let Err(unknown) = found else { continue };
        reasons += &format!(
            "{}: {unknown}. The joints are {}. [retarget-not-human]\n",
            rig.label(),
            first_few(rig.names(), MOST_NAMES)
        );
    }
    let guess = |(_, found): Side<'_>| match found {
        Ok(humanoid) => humanoid.clone(),
        Err(unknown) => unknown.clone().guessed(),
    };
    let bones = (guess(source), guess(target));
    let (source, target) = ((source.0, &bones.0), (target.0, &bones.1));
    let guess = BoneMap::between(source, target).with_top_of_trunk(source, target);
    Error::NoMatch(Box::new(NoMatch { reasons, guess }))
}

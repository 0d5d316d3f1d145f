//! Matches the joints of the source with those of the target.

use std::collections::HashSet;
use std::path::Path;

use serde::Serialize;
use sinew::error::first_few;
use sinew::{Invalid, Warning};
use sinew_animate::retarget::{Bone, BoneMap, BonePair, Humanoid, Rig, Unrecognised};

use crate::error::{Error, Result};

/// Which joint of the target follows which joint of the source, and how they were matched.
pub struct Matching {
    pub map: BoneMap,
    pub by: MatchedBy,
    /// The human bones of the source, if they are known.
    pub source: Option<Humanoid>,
    /// The human bones of the target, if they are known.
    pub target: Option<Humanoid>,
    /// Main bones that one side has, and that the other side may have too.
    pub unsure: Vec<Unsure>,
}

/// How the joints were matched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MatchedBy {
    /// A MAP.json.
    Map,
    /// The human bones of both sides.
    Bones,
    /// The human bones of both sides, of which at least one is a guess.
    Guess,
    /// Joints of the same name on both sides.
    Names,
}

/// A main bone that was found on one side only, although the other side may have it.
#[derive(Serialize)]
pub struct Unsure {
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

/// The value of `--map` that asks for the best guess at rigs that are not recognised.
pub const GUESS: &str = "guess";

impl Matching {
    /// Matches two rigs: by the file `map`, or else by the human bones, or else by the joints'
    /// names. `given` are the humanoid maps of the files; if a file has none, its bones are
    /// recognised. If `map` is [`GUESS`], the best guess takes the place of bones that are not
    /// recognised.
    ///
    /// # Errors
    /// The map cannot be read, the joints cannot be matched, or the match contradicts the anatomy
    /// of a body. If joints cannot be matched, the best guess is written to `write_map`.
    pub fn find(
        source: &Rig,
        target: &Rig,
        given: [Option<Humanoid>; 2],
        map: Option<&Path>,
        write_map: Option<&Path>,
    ) -> Result<Self> {
        let guesses = map == Some(Path::new(GUESS));
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
        let (map, by) = if let Some(file) = map.filter(|_| !guesses) {
            let text = sinew_io::read_text(file)?;
            let map = BoneMap::from_json(&text, &file.display().to_string())?;
            (tagged(map), MatchedBy::Map)
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
                (None, None) => return Err(no_match((source, &s), (target, &t), write_map)),
            }
        };
        let (s, t) = (s.ok(), t.ok());
        if matches!(by, MatchedBy::Bones | MatchedBy::Guess) {
            let sides = [(source, &s), (target, &t)];
            for (rig, humanoid) in sides {
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
                "{} is not recognised, though {} has it: it may be {}; write a map with --write-map FILE, edit it and give it with --map",
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
                "the joints were matched by a guess at the shape of a skeleton: check which follows which (--verbose lists them)",
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
    let expected = "joints in the places of a human body (if they are right as they are, name the pairs with --map MAP.json)";
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
pub fn unmatched<'a>(
    rig: &Rig,
    paired: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = usize> {
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

/// The error for rigs that cannot be matched: for each unknown rig the reason and its joints, and a
/// map to start from.
fn no_match(source: Side<'_>, target: Side<'_>, write_map: Option<&Path>) -> Error {
    let mut text = String::new();
    for (rig, found) in [source, target] {
        let Err(unknown) = found else { continue };
        text += &format!(
            "{}: {unknown}. The joints are {}.\n",
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
    let map = BoneMap::between(source, target).with_top_of_trunk(source, target);
    text += "Write the pairs of joints to a file and give it with --map: {\"source joint\": \"target joint\", ...}. ";
    text += &match (map.pairs.is_empty(), write_map) {
        (true, _) => "Neither the names nor the shapes of the rigs suggest a pair.".to_owned(),
        (false, None) => {
            format!(
                "The best guess, to start from (--map guess takes it):\n{}",
                map_text(&map)
            )
        }
        (false, Some(file)) => match write(&map, file) {
            Ok(()) => format!("The best guess is in {}.", file.display()),
            Err(error) => error.to_string(),
        },
    };
    Error::Message(text)
}

/// Writes a map to a file.
pub fn write(map: &BoneMap, file: &Path) -> Result<()> {
    std::fs::write(file, map_text(map) + "\n").map_err(|e| Error::write(file, e))
}

/// A map as JSON, a pair in each line.
pub fn map_text(map: &BoneMap) -> String {
    let quote = |name: &str| serde_json::Value::from(name).to_string();
    let line = |p: &BonePair| format!("  {}: {}", quote(&p.source), quote(&p.target));
    let lines: Vec<String> = map.pairs.iter().map(line).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

//! Matches the joints of the source with those of the target.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::error::{Error, Result};
use sinew::Warning;
use sinew_animate::retarget::{Bone, BoneMap, Humanoid, Rig, Unrecognised};

/// Which joint of the target follows which joint of the source, and how they were matched.
pub struct Matching {
    pub map: BoneMap,
    pub by: MatchedBy,
    /// The human bones of the source, if they are known.
    pub source: Option<Humanoid>,
    /// The human bones of the target, if they are known.
    pub target: Option<Humanoid>,
}

/// How the joints were matched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MatchedBy {
    /// A MAP.json.
    Map,
    /// The human bones of both sides.
    Bones,
    /// Joints of the same name on both sides.
    Names,
}

impl Matching {
    /// Matches two rigs: by the file `map`, or else by the human bones, or else by the joints'
    /// names. `given` are the humanoid maps of the files; if a file has none, its bones are
    /// recognised by the joints' names.
    ///
    /// # Errors
    /// The map cannot be read, or the joints cannot be matched.
    pub fn find(
        source: &Rig,
        target: &Rig,
        given: [Option<Humanoid>; 2],
        map: Option<&Path>,
    ) -> Result<Self> {
        let [s, t] = given;
        let known =
            |given: Option<Humanoid>, rig| given.map_or_else(|| Humanoid::recognise(rig), Ok);
        let (s, t) = (known(s, source), known(t, target));
        let tagged =
            |map: BoneMap| map.with_bones((source, s.as_ref().ok()), (target, t.as_ref().ok()));
        let (map, by) = if let Some(file) = map {
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
            let bones = bones.map(with_top);
            let names = BoneMap::same_names(source, target)
                .map(tagged)
                .map(with_top);
            match (bones, names) {
                // The names also match joints that are no human bones, so prefer them if they agree
                // with the bones.
                (Some(bones), Some(names)) if contains(&names, &bones) => (names, MatchedBy::Names),
                (Some(bones), _) => (bones, MatchedBy::Bones),
                (None, Some(names)) => (names, MatchedBy::Names),
                (None, None) => return Err(no_match((source, &s), (target, &t))),
            }
        };
        Ok(Self {
            map,
            by,
            source: s.ok(),
            target: t.ok(),
        })
    }

    /// Warnings about joints that the clip moves and that no joint of the target follows, and about
    /// joints whose names do not fit their places.
    pub fn warnings(
        &self,
        source: &Rig,
        target: &Rig,
        moves: impl Fn(usize) -> bool,
    ) -> Vec<Warning> {
        let mut out = Vec::new();
        let lost: Vec<String> = match (self.by, &self.source, &self.target) {
            (MatchedBy::Bones, Some(s), Some(t)) => {
                let lacks = s
                    .joints()
                    .iter()
                    .filter(|(b, _)| !t.joints().contains_key(b));
                let lacks = lacks.filter(|(_, joint)| moves(**joint));
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
        if self.by != MatchedBy::Bones {
            return out;
        }
        for (rig, humanoid) in [(source, &self.source), (target, &self.target)] {
            for (bone, joint) in humanoid.iter().flat_map(|h| h.misplaced()) {
                let name = &rig.names()[*joint];
                let message = format!(
                    "{name} has the name of {bone}, but its parent does not fit that bone: left out"
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

type Side<'a> = (&'a Rig, &'a std::result::Result<Humanoid, Unrecognised>);

/// The error for rigs that cannot be matched: for each unknown rig the closest convention and its
/// joints, and a map to start from.
fn no_match(source: Side<'_>, target: Side<'_>) -> Error {
    let mut text = String::new();
    for (rig, found) in [source, target] {
        let Err(unknown) = found else { continue };
        let closest = match unknown.closest {
            Some((convention, bones)) => {
                format!("; the closest is {convention}, with {bones} of the 15 main bones")
            }
            None => String::new(),
        };
        text += &format!(
            "{}: the joints' names follow no known convention{closest}. The joints are {}.\n",
            rig.label(),
            sinew::error::first_few(rig.names(), MOST_NAMES)
        );
    }
    let guess = |(rig, found): Side<'_>| match found {
        Ok(humanoid) => named(rig, humanoid.joints()),
        Err(unknown) => named(rig, &unknown.guess),
    };
    let (from, to) = (guess(source), guess(target));
    let both: Vec<String> = from
        .iter()
        .filter_map(|(bone, s)| {
            let (_, t) = to.iter().find(|(b, _)| b == bone)?;
            let quote = |name: &str| serde_json::Value::from(name).to_string();
            Some(format!("  {}: {}", quote(s), quote(t)))
        })
        .collect();
    text += "Write the pairs of joints to a file and give it with --map: {\"source joint\": \"target joint\", ...}. ";
    text += &match both.is_empty() {
        true => "Neither the names nor the shapes of the rigs suggest a pair.".to_owned(),
        false => format!(
            "The best guess, to start from:\n{{\n{}\n}}",
            both.join(",\n")
        ),
    };
    Error::Message(text)
}

fn named(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> Vec<(Bone, String)> {
    let name = |joint: usize| rig.unique_name(joint).to_owned();
    joints
        .iter()
        .map(|(bone, joint)| (*bone, name(*joint)))
        .collect()
}

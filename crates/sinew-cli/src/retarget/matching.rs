//! Which joint follows which, and how that is known.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use sinew::{Error, Result, Warning};
use sinew_animate::retarget::{Bone, BoneMap, Humanoid, Rig, Unrecognised};

/// A bone map and where it comes from.
pub struct Matching {
    pub map: BoneMap,
    pub by: By,
    pub source: Option<Humanoid>,
    pub target: Option<Humanoid>,
}

/// What the map goes by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// MAP.json.
    Map,
    /// Human bones on both sides.
    Bones,
    /// The same names on both sides.
    Names,
}

impl Matching {
    /// `given` are the humanoid maps of the files.
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
            let text = std::fs::read_to_string(file).map_err(|e| Error::Open {
                file: file.to_owned(),
                reason: e.to_string(),
            })?;
            let map = BoneMap::from_json(&text, &file.display().to_string())?;
            (tagged(map), By::Map)
        } else {
            let bones = match (&s, &t) {
                (Ok(s), Ok(t)) => Some(BoneMap::between((source, s), (target, t))),
                _ => None,
            };
            let names = BoneMap::same_names(source, target).map(tagged);
            match (bones, names) {
                // The same names say more, where they say nothing else.
                (Some(bones), Some(names)) if holds(&names, &bones) => (names, By::Names),
                (Some(bones), _) => (bones, By::Bones),
                (None, Some(names)) => (names, By::Names),
                (None, None) => return Err(unknown((source, &s), (target, &t))),
            }
        };
        Ok(Self {
            map,
            by,
            source: s.ok(),
            target: t.ok(),
        })
    }

    /// Joints of the source that the clip moves and nothing follows, and names in odd places.
    pub fn warnings(
        &self,
        source: &Rig,
        target: &Rig,
        moves: impl Fn(usize) -> bool,
    ) -> Vec<Warning> {
        let mut out = Vec::new();
        let lost: Vec<String> = match (self.by, &self.source, &self.target) {
            (By::Bones, Some(s), Some(t)) => {
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
                "nothing there follows {}, which the clip moves",
                lost.join(", ")
            );
            out.push(Warning::new(
                "retarget-bone-missing",
                target.label(),
                message,
            ));
        }
        if self.by != By::Bones {
            return out;
        }
        for (rig, humanoid) in [(source, &self.source), (target, &self.target)] {
            for (bone, joint) in humanoid.iter().flat_map(|h| h.misplaced()) {
                let name = &rig.names()[*joint];
                let message = format!(
                    "{name} is named as the {bone} and does not hang where that belongs: left out"
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

/// The joints that no pair holds.
pub fn unmatched<'a>(
    rig: &Rig,
    paired: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = usize> {
    let paired: HashSet<usize> = paired.filter_map(|n| rig.find(n).ok()).collect();
    (0..rig.len()).filter(move |j| !paired.contains(j))
}

fn holds(all: &BoneMap, part: &BoneMap) -> bool {
    let has = |source: &str, target: &str| {
        all.pairs
            .iter()
            .any(|p| p.source == source && p.target == target)
    };
    part.pairs.iter().all(|p| has(&p.source, &p.target))
}

/// Joints that a message lists at most.
const MOST_NAMES: usize = 100;

type Side<'a> = (&'a Rig, &'a std::result::Result<Humanoid, Unrecognised>);

/// Says of each unknown rig what it is closest to, and writes a map to begin with.
fn unknown(source: Side<'_>, target: Side<'_>) -> Error {
    let mut text = String::new();
    for (rig, found) in [source, target] {
        let Err(unknown) = found else { continue };
        let closest = match unknown.closest {
            Some((convention, bones)) => {
                format!("; {convention} is closest, with {bones} of the 15 main bones")
            }
            None => String::new(),
        };
        text += &format!(
            "{}: its joints follow no known naming{closest}. They are {}.\n",
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
    text += "Say which joint follows which in a file and give it with --map: {\"source joint\": \"target joint\", ...}. ";
    text += &match both.is_empty() {
        true => "Neither names nor shapes suggest a pair.".to_owned(),
        false => format!(
            "The best guess, to begin with:\n{{\n{}\n}}",
            both.join(",\n")
        ),
    };
    Error::Request(text)
}

fn named(rig: &Rig, joints: &BTreeMap<Bone, usize>) -> Vec<(Bone, String)> {
    let name = |joint: usize| rig.unique_name(joint).to_owned();
    joints
        .iter()
        .map(|(bone, joint)| (*bone, name(*joint)))
        .collect()
}

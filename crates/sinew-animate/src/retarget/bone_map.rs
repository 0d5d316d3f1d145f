//! Which joint of the target follows which joint of the source.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Bone, Humanoid, Rig};
use crate::error::{Error, Result};
use sinew::error::{Invalid, first_few};

/// A source joint and the target joint that follows it, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BonePair {
    /// As [`Rig::find`] takes it.
    pub source: String,
    /// As [`Rig::find`] takes it.
    pub target: String,
    /// The human bone that both are, where that is known.
    pub bone: Option<Bone>,
}

/// Pairs of joints: a JSON object `{"source joint": "target joint"}`, by the last parts of joint paths or whole
/// paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoneMap {
    pub pairs: Vec<BonePair>,
}

/// A pair by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct JointPair {
    pub source: usize,
    pub target: usize,
    pub bone: Option<Bone>,
}

impl BoneMap {
    /// Reads MAP.json. `file` names it in errors.
    ///
    /// # Errors
    /// What is no JSON object from joint names to joint names, a joint twice on either side, or no joint at all, each
    /// with its place in the file.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        // Windows editors begin files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let map: Self = serde_json::from_str(text).map_err(|e| {
            let place = format!("line {} column {}", e.line(), e.column());
            let whole = e.to_string();
            let found = whole.split(" at line ").next().unwrap_or(&whole).to_owned();
            let expected = r#"an object {"source joint": "target joint", ...}"#;
            Error::from(
                Invalid::new(place, "", expected, found)
                    .coded("bone-map")
                    .in_file(file),
            )
        })?;
        Ok(map)
    }

    /// The bones that both sides have.
    #[must_use]
    pub fn between(source: (&Rig, &Humanoid), target: (&Rig, &Humanoid)) -> Self {
        let pairs = source.1.joints().iter().filter_map(|(bone, joint)| {
            let other = target.1.joints().get(bone)?;
            Some(BonePair {
                source: source.0.unique_name(*joint).to_owned(),
                target: target.0.unique_name(*other).to_owned(),
                bone: Some(*bone),
            })
        });
        Self {
            pairs: pairs.collect(),
        }
    }

    /// Joints of the same name on both sides, hanging from each other as on the other side; `None` unless these are most
    /// joints of the smaller rig, and a third of the larger one's.
    #[must_use]
    pub fn same_names(source: &Rig, target: &Rig) -> Option<Self> {
        let mut other = vec![None; target.len()];
        let mut taken = vec![false; source.len()];
        let mut pairs = Vec::new();
        for joint in 0..target.len() {
            let name = target.unique_name(joint);
            let Ok(from) = source.find(name) else {
                continue;
            };
            // The nearest paired joints above are each other's too.
            let above = target.chain(joint).skip(1).find_map(|j| other[j]);
            let is_below = above.is_none_or(|a| source.chain(from).skip(1).any(|j| j == a));
            if is_below && !std::mem::replace(&mut taken[from], true) {
                other[joint] = Some(from);
                pairs.push(BonePair {
                    source: source.unique_name(from).to_owned(),
                    target: name.to_owned(),
                    bone: None,
                });
            }
        }
        let (fewer, more) = (
            source.len().min(target.len()),
            source.len().max(target.len()),
        );
        let is_most = pairs.len() * 2 > fewer && pairs.len() * 3 > more;
        is_most.then_some(Self { pairs })
    }

    /// Says of each pair which bone it is, where a side whose bones are known says so and the other one does not say
    /// otherwise.
    #[must_use]
    pub fn with_bones(
        mut self,
        source: (&Rig, Option<&Humanoid>),
        target: (&Rig, Option<&Humanoid>),
    ) -> Self {
        let [of_source, of_target] = [source, target].map(|(_, humanoid)| {
            let joints = humanoid.iter().flat_map(|h| h.joints());
            joints
                .map(|(bone, joint)| (*joint, *bone))
                .collect::<BTreeMap<_, _>>()
        });
        for pair in &mut self.pairs {
            let (from, to) = (source.0.find(&pair.source), target.0.find(&pair.target));
            let from = from.ok().and_then(|j| of_source.get(&j));
            let to = to.ok().and_then(|j| of_target.get(&j));
            pair.bone = match (from, to) {
                (Some(a), Some(b)) if a != b => None,
                (Some(_), None) if target.1.is_some() => None,
                (None, Some(_)) if source.1.is_some() => None,
                (bone, other) => bone.or(other).copied(),
            };
        }
        self
    }

    /// The pairs by index, in the order of the target's joints.
    ///
    /// # Errors
    /// A name that its rig lacks or has several times, a joint in two pairs, no pair at all.
    pub(super) fn resolve(&self, source: &Rig, target: &Rig) -> Result<Vec<JointPair>> {
        let mut out: BTreeMap<usize, JointPair> = BTreeMap::new();
        for pair in &self.pairs {
            let (from, to) = (find(source, &pair.source)?, find(target, &pair.target)?);
            let joint = JointPair {
                source: from,
                target: to,
                bone: pair.bone,
            };
            if let Some(other) = out.insert(to, joint) {
                return Err(Error::BoneMap(format!(
                    "the bone map has {} follow both {} and {} of {}",
                    pair.target,
                    source.joints()[other.source],
                    source.joints()[from],
                    source.label(),
                )));
            }
        }
        if out.is_empty() {
            return Err(Error::BoneMap(format!(
                "the bone map pairs no joint of {} with one of {}",
                source.label(),
                target.label()
            )));
        }
        Ok(out.into_values().collect())
    }
}

fn find(rig: &Rig, name: &str) -> Result<usize> {
    rig.find(name).map_err(|count| {
        let label = rig.label();
        // Of a name without end its beginning says enough.
        let name: String = name.chars().take(200).collect();
        Error::BoneMap(match count {
            0 => format!(
                "the bone map names {name}, and {label} has no such joint: it has {}",
                first_few(rig.names(), MOST_NAMES)
            ),
            _ => format!(
                "the bone map names {name}, and {label} has {count} joints of that name: give a whole joint path"
            ),
        })
    })
}

/// Names of joints that a message lists at most.
pub(super) const MOST_NAMES: usize = 12;

impl Serialize for BoneMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.pairs.len()))?;
        for pair in &self.pairs {
            map.serialize_entry(&pair.source, &pair.target)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for BoneMap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs)
    }
}

struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = BoneMap;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of joint names")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<BoneMap, A::Error> {
        use serde::de::Error as _;
        let mut sources = std::collections::BTreeSet::new();
        let mut targets = std::collections::BTreeSet::new();
        let mut pairs = Vec::new();
        while let Some((source, target)) = map.next_entry::<String, String>()? {
            if !sources.insert(source.clone()) {
                return Err(A::Error::custom(format!("'{source}' twice")));
            }
            if !targets.insert(target.clone()) {
                return Err(A::Error::custom(format!("'{target}' for two joints")));
            }
            pairs.push(BonePair {
                source,
                target,
                bone: None,
            });
        }
        if pairs.is_empty() {
            return Err(A::Error::custom("no joint"));
        }
        Ok(BoneMap { pairs })
    }
}

//! Bone maps: which joint of the target follows which joint of the source.

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
    /// Name of the source joint, as [`Rig::find`] accepts it.
    pub source: String,
    /// Name of the target joint, as [`Rig::find`] accepts it.
    pub target: String,
    /// The human bone that both joints are, if it is known.
    pub bone: Option<Bone>,
}

/// Pairs of source and target joints. As JSON it is an object `{"source joint": "target joint"}`
/// with names that [`Rig::find`] accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoneMap {
    /// The pairs, in any order.
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
    /// The map as JSON, a pair in each line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let quote = |name: &str| serde_json::Value::from(name).to_string();
        let line = |p: &BonePair| format!("  {}: {}", quote(&p.source), quote(&p.target));
        let lines: Vec<String> = self.pairs.iter().map(line).collect();
        format!("{{\n{}\n}}", lines.join(",\n"))
    }

    /// Parses JSON text. Errors name `file`.
    ///
    /// # Errors
    /// [`Error::Invalid`], with line and column, if the text is not a JSON object from joint names
    /// to joint names, if a joint is in two pairs, or if there is no pair.
    pub fn from_json(text: &str, file: &str) -> Result<Self> {
        // Some editors put a byte order mark at the beginning of files.
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

    /// Pairs the human bones that both rigs have.
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

    /// Pairs the joints that have the same name and the same place in the hierarchy on both sides.
    /// `None` unless these are more than half of the joints of the smaller rig and more than a
    /// third of those of the larger one.
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
            // The nearest paired joint above is paired with an ancestor on the other side.
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

    /// Sets the human bone of each pair from the known bones of one or both sides. If the two sides
    /// disagree, the bone is `None`.
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
    /// [`Error::BoneMap`] if a rig does not have a name or has it several times, if a joint is in
    /// two pairs, or if there is no pair.
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
                    "bone map: {} follows both {} and {} of {}",
                    pair.target,
                    source.joints()[other.source],
                    source.joints()[from],
                    source.label(),
                )));
            }
        }
        if out.is_empty() {
            return Err(Error::BoneMap(format!(
                "bone map: no joint of {} is paired with a joint of {}",
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
        // Very long names are cut off.
        let name: String = name.chars().take(200).collect();
        Error::BoneMap(match count {
            0 => format!(
                "bone map: {label} has no joint {name}; it has {}",
                first_few(rig.names(), MOST_NAMES)
            ),
            _ => format!(
                "bone map: {label} has {count} joints with the name {name}; use the full joint path"
            ),
        })
    })
}

/// The largest number of joint names in a message.
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
                return Err(A::Error::custom(format!("source joint '{source}' twice")));
            }
            if !targets.insert(target.clone()) {
                return Err(A::Error::custom(format!("target joint '{target}' twice")));
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

//! Everything about skinning as a file authors it, whether or not it reaches any prim.
//!
//! A [`Scene`](sinew::scene::Scene) holds what skinning uses; a check also wants what is overlooked,
//! and where it is authored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use glam::{DMat4, Quat, Vec3};
use sinew_layer::layer::field;
use sinew_layer::{Path, Value};
use sinew_stage::{Attribute, Predicate, Prim, Source};

use super::skeletons::weight_metadata;
use crate::error::Result;
use crate::usd::file::UsdFile;
use crate::usd::read::skinned_prims::token_metadata;
use crate::usd::read::tree::prim_kind;
use crate::usd::read::values::{FromUsd, is_blocked, read_metadata};
use sinew::sampled::{Half3, Time};
use sinew::skel::binding::PrimKind;

/// An authored value of one of the types that UsdSkel uses; single values are arrays of one.
#[derive(Clone, Debug, PartialEq)]
pub enum AuthoredValue {
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Vectors(Vec<Vec3>),
    Halves(Vec<Half3>),
    Quats(Vec<Quat>),
    Matrices(Vec<DMat4>),
    Tokens(Vec<String>),
    /// A blocked value (`None` in a file).
    Blocked,
    /// Any other type.
    Other,
}

impl AuthoredValue {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Ints(v) => v.len(),
            Self::Floats(v) => v.len(),
            Self::Vectors(v) => v.len(),
            Self::Halves(v) => v.len(),
            Self::Quats(v) => v.len(),
            Self::Matrices(v) => v.len(),
            Self::Tokens(v) => v.len(),
            Self::Blocked | Self::Other => 0,
        }
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// An attribute with an opinion, as composed.
#[derive(Clone, Debug)]
pub struct AuthoredAttribute {
    /// Type of the value that is there, such as `float[]`, which may be another than the schema's.
    pub type_name: String,
    pub interpolation: Option<String>,
    pub element_size: Option<i32>,
    /// `weight` metadata of an in-between.
    pub weight: Option<f32>,
    /// The default, then the time samples in order.
    pub values: Vec<(Time, AuthoredValue)>,
    /// Whether value clips supply its samples, which are not listed here.
    pub clips: bool,
}

impl AuthoredAttribute {
    /// The first value that is there: the default, or the first sample.
    #[must_use]
    pub fn first(&self) -> Option<&AuthoredValue> {
        self.values
            .iter()
            .map(|(_, v)| v)
            .find(|v| **v != AuthoredValue::Blocked)
    }

    /// The first value's tokens; none if it holds another type.
    #[must_use]
    pub fn tokens(&self) -> &[String] {
        match self.first() {
            Some(AuthoredValue::Tokens(t)) => t,
            _ => &[],
        }
    }

    /// The first value's matrices, if it holds matrices.
    #[must_use]
    pub fn matrices(&self) -> Option<&[DMat4]> {
        match self.first() {
            Some(AuthoredValue::Matrices(m)) => Some(m),
            _ => None,
        }
    }
}

/// A prim of the composed stage.
#[derive(Clone, Debug)]
pub struct AuthoredPrim {
    pub path: String,
    /// Parent's index; parents come before their children, depth first.
    pub parent: Option<usize>,
    pub kind: PrimKind,
    pub type_name: String,
    /// Whether SkelBindingAPI is applied.
    pub has_api: bool,
    /// Whether it is a native instance.
    pub is_instance: bool,
    /// Whether it is below a native instance, where nothing can be overridden.
    pub in_instance: bool,
    /// Attributes that UsdSkel reads, by name. Instances of a prototype share them.
    pub attributes: Arc<BTreeMap<String, AuthoredAttribute>>,
    /// Those whose value is `None`.
    pub blocked: Arc<BTreeSet<String>>,
    /// skel: relationships with an opinion, and their forwarded targets.
    pub relationships: BTreeMap<String, Vec<String>>,
}

impl AuthoredPrim {
    /// An attribute's tokens; none if it is not authored.
    #[must_use]
    pub fn tokens(&self, name: &str) -> &[String] {
        self.attributes.get(name).map_or(&[], |a| a.tokens())
    }

    /// Names of properties that only SkelBindingAPI gives a meaning.
    pub fn binding_properties(&self) -> impl Iterator<Item = &str> {
        self.attributes
            .keys()
            .chain(self.relationships.keys())
            .map(String::as_str)
            .filter(|name| name.starts_with("skel:") || name.starts_with("primvars:skel:"))
    }
}

/// A composed stage as far as skinning reads it.
#[derive(Clone, Debug)]
pub struct AuthoredStage {
    pub prims: Vec<AuthoredPrim>,
    /// startTimeCode and endTimeCode, each where it is authored.
    pub start: Option<f64>,
    pub end: Option<f64>,
    pub time_codes_per_second: f64,
    pub frames_per_second: f64,
}

impl AuthoredStage {
    /// The prim at a path.
    #[must_use]
    pub fn prim(&self, path: &str) -> Option<&AuthoredPrim> {
        self.prims.iter().find(|p| p.path == path)
    }

    /// A prim's ancestors, the nearest first.
    pub fn ancestors<'a>(
        &'a self,
        prim: &'a AuthoredPrim,
    ) -> impl Iterator<Item = &'a AuthoredPrim> {
        std::iter::successors(prim.parent, |p| self.prims[*p].parent).map(|p| &self.prims[p])
    }
}

impl UsdFile {
    /// Reads every active, loaded, defined prim's opinions on skinning.
    ///
    /// # Errors
    /// Values that cannot be decoded.
    pub fn authored(&self) -> Result<AuthoredStage> {
        self.all_read(self.read_authored())
    }

    fn read_authored(&self) -> Result<AuthoredStage, sinew_stage::Error> {
        let stage = &self.stage;
        let mut prims: Vec<AuthoredPrim> = Vec::new();
        let mut shared = HashMap::new();
        // Prims come depth first, so the ancestors of the next one are on this stack.
        let mut above: Vec<(Prim<'_>, usize)> = Vec::new();
        for prim in stage.traverse(Predicate::DEFAULT_PROXIES) {
            let parent = prim.parent();
            while above.last().is_some_and(|(p, _)| Some(*p) != parent) {
                above.pop();
            }
            let parent = above.last().map(|(_, index)| *index);
            let in_instance =
                parent.is_some_and(|p: usize| prims[p].is_instance || prims[p].in_instance);
            above.push((prim, prims.len()));
            prims.push(read_prim(&prim, parent, in_instance, &mut shared)?);
        }
        let time = |key: &str| -> Result<Option<f64>, sinew_stage::Error> {
            Ok(match stage.metadata(key)? {
                Some(Value::Double(t)) => Some(t),
                _ => None,
            })
        };
        Ok(AuthoredStage {
            prims,
            start: time("startTimeCode")?,
            end: time("endTimeCode")?,
            time_codes_per_second: stage.time_codes_per_second(),
            frames_per_second: stage.frames_per_second(),
        })
    }
}

/// The relationships of UsdSkel.
const RELATIONSHIPS: [&str; 3] = [
    "skel:skeleton",
    "skel:animationSource",
    "skel:blendShapeTargets",
];

/// The attributes of a prim, and those that are blocked.
type Attributes = (
    Arc<BTreeMap<String, AuthoredAttribute>>,
    Arc<BTreeSet<String>>,
);

/// Reads a prim. `shared` holds what earlier instances of the same prototype have read of their attributes, by the path in
/// the prototype.
fn read_prim(
    prim: &Prim<'_>,
    parent: Option<usize>,
    in_instance: bool,
    shared: &mut HashMap<Path, Attributes>,
) -> Result<AuthoredPrim, sinew_stage::Error> {
    let kind = prim_kind(prim);
    let original = prim.prim_in_prototype().map(Prim::path);
    let known = original.as_ref().and_then(|path| shared.get(path)).cloned();
    let (attributes, blocked) = match known {
        Some(known) => known,
        None => {
            let read = read_attributes(prim, kind)?;
            shared.extend(original.map(|path| (path, read.clone())));
            read
        }
    };
    let mut relationships = BTreeMap::new();
    for name in RELATIONSHIPS {
        let relationship = prim.relationship(name);
        if relationship.has_authored_targets() {
            let targets = relationship.forwarded_targets();
            let targets = targets.iter().map(|t| t.as_str().to_owned()).collect();
            relationships.insert(name.to_owned(), targets);
        }
    }
    Ok(AuthoredPrim {
        path: prim.path().as_str().to_owned(),
        parent,
        kind,
        type_name: prim.type_name().to_owned(),
        has_api: prim.has_api("SkelBindingAPI"),
        is_instance: prim.is_instance(),
        in_instance,
        attributes,
        blocked,
        relationships,
    })
}

fn read_attributes(prim: &Prim<'_>, kind: PrimKind) -> Result<Attributes, sinew_stage::Error> {
    let names = prim.authored_property_names();
    let skins = names
        .iter()
        .any(|n| n.as_str().starts_with("primvars:skel:") || n.as_str().starts_with("skel:"));
    let (mut attributes, mut blocked) = (BTreeMap::new(), BTreeSet::new());
    for name in names.iter().map(|name| name.as_str()) {
        if RELATIONSHIPS.contains(&name) || !is_wanted(name, kind, prim.type_name(), skins) {
            continue;
        }
        let attribute = prim.attribute(name);
        let read = read_attribute(&attribute)?;
        if read.first().is_some() || read.clips {
            attributes.insert(name.to_owned(), read);
        } else if is_blocked(&attribute) {
            blocked.insert(name.to_owned());
        }
    }
    Ok((Arc::new(attributes), Arc::new(blocked)))
}

/// Large arrays are read only where UsdSkel looks at them.
fn is_wanted(name: &str, kind: PrimKind, type_name: &str, skins: bool) -> bool {
    match (kind, type_name) {
        (PrimKind::Skeleton, _) => {
            matches!(name, "joints" | "bindTransforms" | "restTransforms")
                || name.starts_with("skel:")
        }
        (PrimKind::SkelAnimation, _) => matches!(
            name,
            "joints"
                | "translations"
                | "rotations"
                | "scales"
                | "blendShapes"
                | "blendShapeWeights"
        ),
        (_, "BlendShape") => {
            matches!(name, "pointIndices" | "offsets" | "normalOffsets")
                || name.starts_with("inbetweens:")
        }
        (PrimKind::Skinnable { .. }, _) if name == "points" => skins,
        _ => name.starts_with("skel:") || name.starts_with("primvars:skel:"),
    }
}

fn read_attribute(attribute: &Attribute<'_, '_>) -> Result<AuthoredAttribute, sinew_stage::Error> {
    let mut type_name = String::new();
    let mut values = Vec::new();
    let mut add = |time: Time, value: Value| {
        if type_name.is_empty() && value != Value::Block {
            type_name = value.type_name().unwrap_or_default().to_owned();
        }
        values.push((time, convert(value)));
    };
    if let Some(default) = attribute.default()? {
        add(Time::Default, default);
    }
    let clips = attribute.source(Some(0.0)) == Source::Clips;
    if !clips && let Some(samples) = attribute.samples()? {
        for (i, time) in samples.times().iter().enumerate() {
            add(Time::At(*time), samples.load(i)?);
        }
    }
    if type_name.is_empty() && !values.is_empty() {
        // The value of a type that USD does not know.
        type_name = declared_type(attribute);
    }
    Ok(AuthoredAttribute {
        type_name,
        interpolation: token_metadata(attribute, "interpolation")?,
        element_size: read_metadata(attribute, "elementSize")?,
        weight: weight_metadata(attribute)?,
        values,
        clips,
    })
}

/// The type that the strongest opinion declares.
fn declared_type(attribute: &Attribute<'_, '_>) -> String {
    let mut opinions = attribute.opinions();
    let declared = opinions.find_map(|o| o.spec.get(field::TYPE_NAME));
    match declared {
        Some(Value::Token(name)) => name.as_str().to_owned(),
        _ => String::new(),
    }
}

fn convert(value: Value) -> AuthoredValue {
    use AuthoredValue as A;
    let or_other = |v: Option<A>| v.unwrap_or(A::Other);
    match value {
        Value::Block => A::Blocked,
        Value::IntArray(_) | Value::UIntArray(_) => or_other(FromUsd::from_usd(value).map(A::Ints)),
        Value::FloatArray(_) => or_other(FromUsd::from_usd(value).map(A::Floats)),
        Value::Vec3fArray(_) => or_other(FromUsd::from_usd(value).map(A::Vectors)),
        Value::Vec3hArray(_) => or_other(FromUsd::from_usd(value).map(A::Halves)),
        Value::QuatfArray(_) => or_other(FromUsd::from_usd(value).map(A::Quats)),
        Value::Matrix4dArray(_) => or_other(FromUsd::from_usd(value).map(A::Matrices)),
        Value::Matrix4d(_) => {
            or_other(FromUsd::from_usd(value).map(|m: DMat4| A::Matrices(vec![m])))
        }
        Value::TokenArray(_) => or_other(FromUsd::from_usd(value).map(A::Tokens)),
        Value::Token(t) => A::Tokens(vec![t.into()]),
        _ => A::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Files, OpenOptions};

    #[test]
    fn instances_share_what_is_read() {
        let text = r#"#usda 1.0
def "Character"
{
    def Mesh "Mesh" (prepend apiSchemas = ["SkelBindingAPI"])
    {
        int[] primvars:skel:jointIndices = [0, 1]
        rel skel:skeleton = </Character/Rig>
        float[] primvars:skel:jointWeights = None
    }
    def Skeleton "Rig" {}
}
def "A" (instanceable = true; prepend references = </Character>) {}
def "B" (instanceable = true; prepend references = </Character>) {}
"#;
        let options = OpenOptions {
            files: Files::in_memory([("root.usda", text.as_bytes().to_vec())]),
            ..OpenOptions::default()
        };
        let file = UsdFile::open_with("root.usda", &options).unwrap();
        let stage = file.authored().unwrap();
        let [a, b] = ["/A/Mesh", "/B/Mesh"].map(|path| stage.prim(path).unwrap());
        assert!(Arc::ptr_eq(&a.attributes, &b.attributes));
        assert!(a.attributes.contains_key("primvars:skel:jointIndices"));
        assert!(a.blocked.contains("primvars:skel:jointWeights"));
        // Each is bound to the skeleton that is its own.
        assert_eq!(a.relationships["skel:skeleton"], ["/A/Rig"]);
        assert_eq!(b.relationships["skel:skeleton"], ["/B/Rig"]);
        let original = stage.prim("/Character/Mesh").unwrap();
        assert_eq!(*original.blocked, *a.blocked);
    }
}

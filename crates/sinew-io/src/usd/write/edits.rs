//! What a bake changes, as plain data, and how a layer takes it: samples, transforms and their order.

use openusd::{gf, sdf, tf};

use super::flatten::Authoring;
use crate::openusd_compat::crate_arrays::Streamed;
use crate::usd::read::values::matrix4d;
use sinew::sampled::Time;
use sinew::scene::NormalsProperty;

/// Values in ascending order of time, or one value at the default time.
pub type Samples<T> = Vec<(Time, T)>;

/// Points or normals of a prim at one time: the values, or their offset in the file if they are on
/// disk already.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedArray(pub(crate) Kept);

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kept {
    Here(Vec<glam::Vec3>),
    /// Offset in the file that [`BakeOutput`](crate::usd::BakeOutput) is writing.
    InFile(u64),
}

impl From<Vec<glam::Vec3>> for BakedArray {
    fn from(values: Vec<glam::Vec3>) -> Self {
        Self(Kept::Here(values))
    }
}

impl BakedArray {
    /// The values, if they are in memory.
    #[must_use]
    pub fn held(&self) -> Option<&[glam::Vec3]> {
        match &self.0 {
            Kept::Here(values) => Some(values),
            Kept::InFile(_) => None,
        }
    }
}

/// The samples that a bake writes to one prim. A property without samples stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedPrim {
    pub path: String,
    /// Prims of other instances of the same prototype that get the same samples.
    pub copies: Vec<String>,
    /// Deformed points, in the space that was asked for.
    pub points: Samples<BakedArray>,
    /// Deformed normals, for each property that holds normals.
    pub normals: Vec<(NormalsProperty, Samples<BakedArray>)>,
    /// Corners of the points' bounding box, widths included.
    pub extent: Samples<[glam::Vec3; 2]>,
    /// The transform that replaces the prim's own, if one does.
    pub transform: Option<BakedTransform>,
}

impl BakedPrim {
    /// Lists the prims that these samples belong to: `path` and `copies`.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.path)
            .chain(&self.copies)
            .map(String::as_str)
    }
}

/// A transform that replaces a prim's own.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedTransform {
    /// Whether it ignores the transforms of the parents (`!resetXformStack!`).
    pub resets: bool,
    /// `parent_from_prim`, or `world_from_prim` if `resets` is set.
    pub samples: Samples<glam::DMat4>,
}

/// The extentsHint of a prim above baked ones (rule 32).
#[derive(Debug, PartialEq)]
pub struct BakedHint {
    pub path: String,
    /// Corners of the bounding box of all below, in the prim's own space: a pair for each purpose, in the
    /// order default, render, proxy, guide, up to the last that is not empty.
    pub samples: Samples<Vec<glam::Vec3>>,
}

/// Everything that a bake changes in a stage.
#[derive(Debug, Default)]
pub struct BakeEdits {
    pub prims: Vec<BakedPrim>,
    pub hints: Vec<BakedHint>,
    /// SkelRoots that become Xforms (rule 32).
    pub retype: Vec<String>,
    /// SkelRoots at and below which SkelBindingAPI and its properties are removed, because nothing
    /// is skinned there any more. A layer over the input keeps them.
    pub unbind: Vec<String>,
}

/// Authors what a bake changes. The samples that are in the file already are blocks in the layer, and come back.
pub(crate) fn apply(
    data: &mut dyn sdf::AbstractData,
    mut edits: BakeEdits,
) -> std::result::Result<Streamed, sdf::AuthoringError> {
    for path in &edits.retype {
        sdf::PrimSpec::over(data, path.as_str())?.set_type_name("Xform");
    }
    for prim in &mut edits.prims {
        for (property, samples) in &prim.normals {
            if *property == NormalsProperty::Primvar && !samples.is_empty() {
                unindex(data, &prim.path, property.name())?;
            }
        }
        if let Some(transform) = prim.transform.take() {
            author_transform(data, &prim.path, transform)?;
        }
    }
    author_arrays(data, edits.prims, edits.hints)
}

/// Authors points, normals and boxes; what is in the file already as [`apply`] does.
pub(crate) fn author_arrays(
    data: &mut dyn sdf::AbstractData,
    prims: Vec<BakedPrim>,
    hints: Vec<BakedHint>,
) -> std::result::Result<Streamed, sdf::AuthoringError> {
    let mut streamed = Streamed::new();
    for prim in prims {
        let path = &prim.path;
        let points = [("points", "point3f[]", prim.points)];
        let normals = prim.normals.into_iter();
        let normals = normals.map(|(property, samples)| (property.name(), "normal3f[]", samples));
        for (name, type_name, samples) in points.into_iter().chain(normals) {
            author_array(data, path, name, type_name, samples, &mut streamed)?;
        }
        let extent = map_samples(prim.extent, |e| vec3f(e.to_vec()));
        author(data, path, "extent", "float3[]", extent)?;
    }
    for hint in hints {
        let samples = map_samples(hint.samples, vec3f);
        author(data, &hint.path, "extentsHint", "float3[]", samples)?;
    }
    Ok(streamed)
}

fn map_samples<T>(samples: Samples<T>, f: impl Fn(T) -> sdf::Value) -> Samples<sdf::Value> {
    samples.into_iter().map(|(t, v)| (t, f(v))).collect()
}

fn author_array(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    name: &str,
    type_name: &str,
    samples: Samples<BakedArray>,
    streamed: &mut Streamed,
) -> Authoring {
    let offset = |array: &BakedArray| match array.0 {
        Kept::Here(_) => None,
        Kept::InFile(offset) => Some(offset),
    };
    let timed = samples.iter().filter(|(time, _)| time.code().is_some());
    let offsets: Vec<Option<u64>> = timed.map(|(_, array)| offset(array)).collect();
    if offsets.iter().any(Option::is_some) {
        streamed.insert(sdf::Path::new(prim)?.append_property(name)?, offsets);
    }
    let value = |array: BakedArray| match array.0 {
        Kept::Here(values) => vec3f(values),
        Kept::InFile(_) => sdf::Value::ValueBlock,
    };
    author(data, prim, name, type_name, map_samples(samples, value))
}

/// Blocks the indices of a primvar that is written flat.
pub(crate) fn unindex(data: &mut dyn sdf::AbstractData, prim: &str, name: &str) -> Authoring {
    let block = vec![(Time::Default, sdf::Value::ValueBlock)];
    author(data, prim, &format!("{name}:indices"), "int[]", block)
}

/// Makes `xformOp:transform` the prim's only op, as Pixar's bake does.
fn author_transform(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    transform: BakedTransform,
) -> Authoring {
    let is_identity = |(_, m): &(Time, glam::DMat4)| *m == glam::DMat4::IDENTITY;
    let moves = !transform.samples.iter().all(is_identity);
    if moves {
        author_matrices(data, prim, transform.samples)?;
    }
    author_order(data, prim, transform.resets, moves)
}

pub(crate) const TRANSFORM: &str = "xformOp:transform";

pub(crate) fn author_matrices(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    samples: Samples<glam::DMat4>,
) -> Authoring {
    let samples = map_samples(samples, |m| sdf::Value::Matrix4d(matrix4d(m)));
    author(data, prim, TRANSFORM, "matrix4d", samples)
}

/// Has a prim no op but its `xformOp:transform`, or none where it does not move.
pub(crate) fn author_order(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    resets: bool,
    moves: bool,
) -> Authoring {
    let reset = resets.then(|| tf::Token::from("!resetXformStack!"));
    let order = reset
        .into_iter()
        .chain(moves.then(|| tf::Token::from(TRANSFORM)));
    let path = sdf::Path::new(prim)?.append_property("xformOpOrder")?;
    if !data.has_spec(&path) {
        let uniform = sdf::Variability::Uniform;
        sdf::AttributeSpec::new(data, &path, "token[]", uniform, false)?;
    }
    let default = sdf::FieldKey::Default.as_str();
    data.set_field(&path, default, sdf::Value::TokenVec(order.collect()));
    Ok(())
}

fn vec3f(v: Vec<glam::Vec3>) -> sdf::Value {
    // Both are three packed f32, so this moves the allocation and copies nothing.
    sdf::Value::Vec3fVec(bytemuck::cast_vec::<_, gf::Vec3f>(v))
}

/// Authors samples, replacing the ones that were there, or the default value.
pub(crate) fn author(
    data: &mut dyn sdf::AbstractData,
    prim: &str,
    name: &str,
    type_name: &str,
    samples: Samples<sdf::Value>,
) -> Authoring {
    if samples.is_empty() {
        return Ok(());
    }
    let path = sdf::Path::new(prim)?.append_property(name)?;
    if !data.has_spec(&path) {
        sdf::AttributeSpec::new(data, &path, type_name, sdf::Variability::Varying, false)?;
    }
    let mut timed: sdf::TimeSampleMap = Vec::with_capacity(samples.len());
    for (time, value) in samples {
        match time {
            Time::At(t) => timed.push((t, value)),
            Time::Default => data.set_field(&path, sdf::FieldKey::Default.as_str(), value),
        }
    }
    let samples = sdf::FieldKey::TimeSamples.as_str();
    if timed.is_empty() {
        data.erase_field(&path, samples);
    } else {
        data.set_field(&path, samples, sdf::Value::TimeSamples(timed));
    }
    Ok(())
}

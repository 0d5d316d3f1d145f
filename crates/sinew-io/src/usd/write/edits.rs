//! What a bake changes, as plain data, and how a layer takes it: samples, transforms and their order.

use sinew_layer::layer::field;
use sinew_layer::{Layer, Path, TimeSamples, Token, Value};

use super::old_motion::{self, BlockedAttribute};
use crate::usd::read::values::matrix4d;
use sinew::sampled::Time;
use sinew::scene::NormalsProperty;

/// Values in ascending order of time, or one value at the default time.
pub type Samples<T> = Vec<(Time, T)>;

/// Points or normals of a prim at one time: an array in memory, or one that
/// [`BakeOutput`](crate::usd::BakeOutput) has written to its file already.
#[derive(Clone, Debug, PartialEq)]
pub struct BakedArray(pub(crate) Value);

impl From<Vec<glam::Vec3>> for BakedArray {
    fn from(values: Vec<glam::Vec3>) -> Self {
        Self(vec3f(values))
    }
}

impl BakedArray {
    /// The values, if they are in memory.
    #[must_use]
    pub fn held(&self) -> Option<&[glam::Vec3]> {
        match &self.0 {
            Value::Vec3fArray(values) => Some(bytemuck::cast_slice(values)),
            _ => None,
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
    /// The velocity of each point per second, at the times of `points`; empty if there are none.
    pub velocities: Samples<BakedArray>,
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
    /// Prims whose faces turn, because their points are beyond a mirror that their transform no
    /// longer has: the path, and whether its `orientation` is leftHanded now.
    pub orientations: Vec<(String, bool)>,
    /// Attributes that get no value. Those that describe the motion of replaced points are added
    /// when the edits are written.
    pub blocked: Vec<BlockedAttribute>,
}

/// Authors what a bake changes.
pub(crate) fn apply(layer: &mut Layer, mut edits: BakeEdits) {
    retype(layer, &edits.retype);
    orient(layer, &edits.orientations);
    old_motion::block(layer, &edits.blocked);
    for prim in &mut edits.prims {
        for (property, samples) in &prim.normals {
            if *property == NormalsProperty::Primvar && !samples.is_empty() {
                unindex(layer, &prim.path, property.name());
            }
        }
        if let Some(transform) = prim.transform.take() {
            author_transform(layer, &prim.path, transform);
        }
    }
    author_arrays(layer, edits.prims, edits.hints);
}

/// Makes these prims Xforms.
pub(crate) fn retype(layer: &mut Layer, prims: &[String]) {
    for path in prims {
        let prim = Path::parse(path).unwrap_or_default();
        let fields = &mut layer.over(&prim).fields;
        fields.set(field::TYPE_NAME, Value::token("Xform"));
    }
}

/// Authors which way faces turn.
pub(crate) fn orient(layer: &mut Layer, prims: &[(String, bool)]) {
    for (prim, is_left_handed) in prims {
        let path = over(layer, prim).property("orientation");
        let value = ["rightHanded", "leftHanded"][usize::from(*is_left_handed)];
        layer.uniform(&path, "token", Value::token(value));
    }
}

/// Authors points, normals and boxes.
pub(crate) fn author_arrays(layer: &mut Layer, prims: Vec<BakedPrim>, hints: Vec<BakedHint>) {
    for prim in prims {
        let path = &prim.path;
        let points = [
            ("points", "point3f[]", prim.points),
            ("velocities", "vector3f[]", prim.velocities),
        ];
        let normals = prim.normals.into_iter();
        let normals = normals.map(|(property, samples)| (property.name(), "normal3f[]", samples));
        for (name, type_name, samples) in points.into_iter().chain(normals) {
            author(layer, path, name, type_name, map_samples(samples, |a| a.0));
        }
        let extent = map_samples(prim.extent, |e| vec3f(e.to_vec()));
        author(layer, path, "extent", "float3[]", extent);
    }
    for hint in hints {
        let samples = map_samples(hint.samples, vec3f);
        author(layer, &hint.path, "extentsHint", "float3[]", samples);
    }
}

fn map_samples<T>(samples: Samples<T>, f: impl Fn(T) -> Value) -> Samples<Value> {
    samples.into_iter().map(|(t, v)| (t, f(v))).collect()
}

/// Blocks the indices of a primvar that is written flat.
pub(crate) fn unindex(layer: &mut Layer, prim: &str, name: &str) {
    let block = vec![(Time::Default, Value::Block)];
    author(layer, prim, &format!("{name}:indices"), "int[]", block);
}

/// Makes `xformOp:transform` the prim's only op, as Pixar's bake does.
fn author_transform(layer: &mut Layer, prim: &str, transform: BakedTransform) {
    let is_identity = |(_, m): &(Time, glam::DMat4)| *m == glam::DMat4::IDENTITY;
    let moves = !transform.samples.iter().all(is_identity);
    if moves {
        author_matrices(layer, prim, transform.samples);
    }
    author_order(layer, prim, transform.resets, moves);
}

pub(crate) const TRANSFORM: &str = "xformOp:transform";

pub(crate) fn author_matrices(layer: &mut Layer, prim: &str, samples: Samples<glam::DMat4>) {
    let samples = map_samples(samples, matrix4d);
    author(layer, prim, TRANSFORM, "matrix4d", samples);
}

/// Has a prim no op but its `xformOp:transform`, or none where it does not move.
pub(crate) fn author_order(layer: &mut Layer, prim: &str, resets: bool, moves: bool) {
    let reset = resets.then(|| Token::new_static("!resetXformStack!"));
    let order = reset
        .into_iter()
        .chain(moves.then(|| Token::new_static(TRANSFORM)));
    let path = over(layer, prim).property("xformOpOrder");
    layer.uniform(&path, "token[]", Value::TokenArray(order.collect()));
}

fn vec3f(v: Vec<glam::Vec3>) -> Value {
    // Both are three packed f32, so this moves the allocation and copies nothing.
    Value::Vec3fArray(bytemuck::cast_vec::<_, [f32; 3]>(v).into())
}

/// The path of a prim of the stage, which is an `over` if the layer does not have it yet.
fn over(layer: &mut Layer, prim: &str) -> Path {
    // Paths of the stage are valid.
    let path = Path::parse(prim).unwrap_or_default();
    layer.over(&path);
    path
}

/// Authors samples, replacing the ones that were there, or the default value.
pub(crate) fn author(
    layer: &mut Layer,
    prim: &str,
    name: &str,
    type_name: &str,
    samples: Samples<Value>,
) {
    if samples.is_empty() {
        return;
    }
    let path = over(layer, prim).property(name);
    let fields = &mut layer.attribute(&path, type_name).fields;
    let mut timed = Vec::with_capacity(samples.len());
    for (time, value) in samples {
        match time {
            Time::At(t) => timed.push((t, value)),
            Time::Default => fields.set(field::DEFAULT, value),
        }
    }
    // A spline would be stronger than the samples, or stand beside a value that it contradicts.
    fields.remove(field::SPLINE);
    if timed.is_empty() {
        fields.remove(field::TIME_SAMPLES);
    } else {
        let samples = Value::TimeSamples(TimeSamples::new(timed));
        fields.set(field::TIME_SAMPLES, samples);
    }
}

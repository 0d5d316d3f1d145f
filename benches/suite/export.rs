//! Work loads as USD, so that every peer runs the same.
//!
//! `/Load` is a SkelRoot; each character below it is an Xform with a Skeleton, a SkelAnimation and a Mesh. Where
//! characters share meshes, Skeleton and Mesh come from a class by an internal reference. Faces have no Skeleton's joints,
//! only the SkelAnimation's weights. Frames are times 0, 1, ...

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use bytemuck::cast_slice;
use glam::{DMat4, Vec3};
use half::f16;
use sinew_layer::layer::field;
use sinew_layer::value::{Quat, Reference, Specifier, TimeSamples};
use sinew_layer::{Fields, Layer, ListOp, Path as LayerPath, Value, usda, usdc};

use crate::peers::Result;
use crate::workloads::{Mesh, Rig, Workload, geom_bind};

/// Writes a work load in the format of the file's ending.
pub fn export(load: &Workload, file: &Path) -> Result<()> {
    let layer = layer(load);
    let mut sink = BufWriter::new(File::create(file)?);
    match file.extension().and_then(|e| e.to_str()) {
        Some("usda") => usda::write(&layer, &mut sink)?,
        Some("usdc") => drop(usdc::write_layer(&layer, &mut sink)?),
        _ => return Err(format!("no USD format: {}", file.display()).into()),
    }
    sink.flush()?;
    Ok(())
}

fn layer(load: &Workload) -> Layer {
    let mut layer = Layer::new("load");
    let root = LayerPath::root();
    for (key, value) in [
        ("startTimeCode", Value::Double(0.0)),
        ("endTimeCode", Value::Double((load.size.frames - 1) as f64)),
        ("timeCodesPerSecond", Value::Double(24.0)),
        (field::DEFAULT_PRIM, Value::token("Load")),
    ] {
        layer.root_mut().fields.set(key, value);
    }
    let is_shared = load.size.meshes < load.size.characters;
    let shared = if is_shared { &load.meshes[..] } else { &[] };
    for (i, mesh) in shared.iter().enumerate() {
        let class = root.child(&format!("Class{i}"));
        let fields = &mut layer.define(&class, "Xform").fields;
        fields.set(field::SPECIFIER, Value::Specifier(Specifier::Class));
        body(&mut layer, &class, mesh, load.rig.as_ref());
    }
    let root_of_load = root.child("Load");
    layer.define(&root_of_load, "SkelRoot");
    for character in 0..load.size.characters {
        let path = root_of_load.child(&format!("Character{character}"));
        let number = load.mesh_of(character);
        layer.define(&path, "Xform");
        animation(&mut layer, &path.child("Animation"), load, character);
        if is_shared {
            let reference = Reference {
                prim: root.child(&format!("Class{number}")),
                ..Reference::default()
            };
            let references = ListOp::prepended(vec![reference]).into();
            let fields = &mut layer.over(&path).fields;
            fields.set(field::REFERENCES, Value::ReferenceListOp(references));
        } else {
            body(&mut layer, &path, &load.meshes[number], load.rig.as_ref());
        }
        let rig = path.child("Rig");
        let source = rig.property("skel:animationSource");
        layer.relationship(&source, vec![path.child("Animation")]);
        layer.apply_schema(&rig, "SkelBindingAPI");
    }
    layer
}

/// A Skeleton and a Mesh that is bound to it.
fn body(layer: &mut Layer, parent: &LayerPath, mesh: &Mesh, rig: Option<&Rig>) {
    let (skeleton, path) = (&parent.child("Rig"), &parent.child("Mesh"));
    layer.define(skeleton, "Skeleton");
    if let Some(Rig { skeleton: rig, .. }) = rig {
        let rest = rig.rest().unwrap_or_default();
        set(
            layer,
            skeleton,
            "uniform token[] joints",
            tokens(rig.joints()),
        );
        let bind = matrices(rig.bind());
        set(layer, skeleton, "uniform matrix4d[] bindTransforms", bind);
        let rest = matrices(rest);
        set(layer, skeleton, "uniform matrix4d[] restTransforms", rest);
    }
    layer.define(path, "Mesh");
    layer.apply_schema(path, "SkelBindingAPI");
    let relationship = path.property("skel:skeleton");
    layer.relationship(&relationship, vec![skeleton.clone()]);
    let skin = &mesh.skin;
    let (counts, corners) = (vec![4; mesh.corners.len() / 4], mesh.corners.clone());
    let (counts, corners) = (
        Value::IntArray(counts.into()),
        Value::IntArray(corners.into()),
    );
    let none = Value::token("none");
    set(layer, path, "point3f[] points", vectors(skin.points()));
    set(layer, path, "int[] faceVertexCounts", counts);
    set(layer, path, "int[] faceVertexIndices", corners);
    set(layer, path, "uniform token subdivisionScheme", none);
    let vertex = || Value::token("vertex");
    if let Some(normals) = skin.normals() {
        let fields = set(layer, path, "normal3f[] normals", vectors(normals));
        fields.set("interpolation", vertex());
    }
    if let Some(influences) = skin.influences() {
        let joints = influences.joints().iter().map(|j| *j as i32);
        let joints = Value::IntArray(joints.collect());
        let weights = Value::FloatArray(influences.weights().to_vec().into());
        for (name, array) in [
            ("int[] primvars:skel:jointIndices", joints),
            ("float[] primvars:skel:jointWeights", weights),
        ] {
            let fields = set(layer, path, name, array);
            fields.set("elementSize", Value::Int(influences.count() as i32));
            fields.set("interpolation", vertex());
        }
        let bind = Value::Matrix4d(Box::new(geom_bind().to_cols_array()));
        set(
            layer,
            path,
            "matrix4d primvars:skel:geomBindTransform",
            bind,
        );
    }
    if mesh.shapes.is_empty() {
        return;
    }
    let names: Vec<String> = mesh.shapes.iter().map(|s| s.name.clone()).collect();
    set(
        layer,
        path,
        "uniform token[] skel:blendShapes",
        tokens(&names),
    );
    let mut targets = Vec::with_capacity(names.len());
    for shape in &mesh.shapes {
        let target = path.child(&shape.name);
        layer.define(&target, "BlendShape");
        let offsets = vectors(&shape.offsets);
        set(layer, &target, "uniform vector3f[] offsets", offsets);
        if let Some(indices) = &shape.point_indices {
            let indices = Value::IntArray(indices.iter().map(|i| *i as i32).collect());
            set(layer, &target, "uniform int[] pointIndices", indices);
        }
        for between in &shape.inbetweens {
            let name = format!("uniform point3f[] inbetweens:{}", between.name);
            let fields = set(layer, &target, &name, vectors(&between.offsets));
            fields.set("weight", Value::Float(between.weight));
        }
        targets.push(target);
    }
    layer.relationship(&path.property("skel:blendShapeTargets"), targets);
}

fn animation(layer: &mut Layer, path: &LayerPath, load: &Workload, character: usize) {
    layer.define(path, "SkelAnimation");
    let frames = 0..load.size.frames;
    let Some(rig) = &load.rig else {
        let names = load.meshes[0].shapes.iter().map(|s| s.name.clone());
        let names = tokens(&names.collect::<Vec<_>>());
        set(layer, path, "uniform token[] blendShapes", names);
        let weights = frames.map(|frame| Value::FloatArray(load.weights(0, frame).into()));
        return sampled(layer, path, ("blendShapeWeights", "float[]"), weights);
    };
    let joints = tokens(rig.skeleton.joints());
    set(layer, path, "uniform token[] joints", joints);
    let translations = vectors(&rig.components(character, 0).0);
    set(layer, path, "float3[] translations", translations);
    let scales = Value::Vec3hArray(vec![[f16::ONE; 3]; rig.joint_count()].into());
    set(layer, path, "half3[] scales", scales);
    let rotations = frames.map(|frame| {
        let (_, rotations) = rig.components(character, frame);
        Value::QuatfArray(rotations.iter().map(|q| Quat(q.to_array())).collect())
    });
    sampled(layer, path, ("rotations", "quatf[]"), rotations);
}

/// An attribute, declared as in text, with its value. Gives its fields.
fn set<'a>(layer: &'a mut Layer, prim: &LayerPath, declared: &str, value: Value) -> &'a mut Fields {
    let (kind, name) = declared.rsplit_once(' ').unwrap_or_default();
    let path = prim.property(name);
    match kind.strip_prefix("uniform ") {
        Some(kind) => layer.uniform(&path, kind, value),
        None => layer
            .attribute(&path, kind)
            .fields
            .set(field::DEFAULT, value),
    }
    &mut layer.attribute(&path, kind).fields
}

fn sampled(
    layer: &mut Layer,
    prim: &LayerPath,
    (name, kind): (&str, &str),
    values: impl Iterator<Item = Value>,
) {
    let samples = values
        .zip(0..)
        .map(|(value, frame)| (f64::from(frame), value));
    let samples = Value::TimeSamples(TimeSamples::new(samples.collect()));
    let fields = &mut layer.attribute(&prim.property(name), kind).fields;
    fields.set(field::TIME_SAMPLES, samples);
}

fn vectors(v: &[Vec3]) -> Value {
    Value::Vec3fArray(cast_slice(v).to_vec().into())
}

/// USD's rows are our columns.
fn matrices(m: &[DMat4]) -> Value {
    Value::Matrix4dArray(m.iter().map(DMat4::to_cols_array).collect())
}

fn tokens(names: &[String]) -> Value {
    Value::TokenArray(names.iter().map(|n| n.as_str().into()).collect())
}

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
    let ending = file
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let layer = layer(load);
    let mut sink = BufWriter::new(File::create(file)?);
    match ending {
        "usda" => usda::write(&layer, &mut sink)?,
        "usdc" => drop(usdc::write_layer(&layer, &mut sink)?),
        _ => return Err(format!("no USD format is named .{ending}").into()),
    }
    sink.flush()?;
    Ok(())
}

fn layer(load: &Workload) -> Layer {
    let mut layer = Layer::new("load");
    let last = (load.size.frames - 1) as f64;
    for (key, value) in [
        ("startTimeCode", Value::Double(0.0)),
        ("endTimeCode", Value::Double(last)),
        ("timeCodesPerSecond", Value::Double(24.0)),
        (field::DEFAULT_PRIM, Value::token("Load")),
    ] {
        layer.root_mut().fields.set(key, value);
    }
    let is_shared = load.size.meshes < load.size.characters;
    if is_shared {
        for (i, mesh) in load.meshes.iter().enumerate() {
            let class = LayerPath::root().child(&format!("Class{i}"));
            let specifier = Value::Specifier(Specifier::Class);
            let fields = &mut layer.define(&class, "Xform").fields;
            fields.set(field::SPECIFIER, specifier);
            body(&mut layer, &class, mesh, load.rig.as_ref());
        }
    }
    let root = LayerPath::root().child("Load");
    layer.define(&root, "SkelRoot");
    for character in 0..load.size.characters {
        let path = root.child(&format!("Character{character}"));
        let number = load.mesh_of(character);
        layer.define(&path, "Xform");
        animation(&mut layer, &path, load, character);
        let rig = path.child("Rig");
        if is_shared {
            let reference = Reference {
                prim: LayerPath::root().child(&format!("Class{number}")),
                ..Reference::default()
            };
            let references = ListOp::prepended(vec![reference]);
            let references = Value::ReferenceListOp(references.into());
            let fields = &mut layer.over(&path).fields;
            fields.set(field::REFERENCES, references);
        } else {
            body(&mut layer, &path, &load.meshes[number], load.rig.as_ref());
        }
        let animation = path.child("Animation");
        layer.relationship(&rig.property("skel:animationSource"), vec![animation]);
        layer.apply_schema(&rig, "SkelBindingAPI");
    }
    layer
}

/// A Skeleton and a Mesh that is bound to it.
fn body(layer: &mut Layer, parent: &LayerPath, mesh: &Mesh, rig: Option<&Rig>) {
    let skeleton = parent.child("Rig");
    layer.define(&skeleton, "Skeleton");
    if let Some(rig) = rig {
        let rest = rig.skeleton.rest().unwrap_or_default();
        for (name, kind, value) in [
            ("joints", "token[]", tokens(rig.skeleton.joints())),
            (
                "bindTransforms",
                "matrix4d[]",
                matrices(rig.skeleton.bind()),
            ),
            ("restTransforms", "matrix4d[]", matrices(rest)),
        ] {
            layer.uniform(&skeleton.property(name), kind, value);
        }
    }

    let path = parent.child("Mesh");
    layer.define(&path, "Mesh");
    layer.apply_schema(&path, "SkelBindingAPI");
    let skin = &mesh.skin;
    value(
        layer,
        &path,
        ("points", "point3f[]"),
        vectors(skin.points()),
    );
    let counts = Value::IntArray(vec![4; mesh.corners.len() / 4].into());
    value(layer, &path, ("faceVertexCounts", "int[]"), counts);
    let corners = Value::IntArray(mesh.corners.clone().into());
    value(layer, &path, ("faceVertexIndices", "int[]"), corners);
    let scheme = path.property("subdivisionScheme");
    layer.uniform(&scheme, "token", Value::token("none"));
    if let Some(normals) = skin.normals() {
        let fields = value(layer, &path, ("normals", "normal3f[]"), vectors(normals));
        fields.set("interpolation", Value::token("vertex"));
    }
    layer.relationship(&path.property("skel:skeleton"), vec![skeleton]);
    if let Some(influences) = skin.influences() {
        let joints = influences.joints().iter().map(|j| *j as i32);
        let joints = Value::IntArray(joints.collect());
        let weights = Value::FloatArray(influences.weights().to_vec().into());
        for (name, kind, array) in [
            ("primvars:skel:jointIndices", "int[]", joints),
            ("primvars:skel:jointWeights", "float[]", weights),
        ] {
            let fields = value(layer, &path, (name, kind), array);
            fields.set("elementSize", Value::Int(influences.count() as i32));
            fields.set("interpolation", Value::token("vertex"));
        }
        let bind = Value::Matrix4d(Box::new(geom_bind().to_cols_array()));
        let name = "primvars:skel:geomBindTransform";
        value(layer, &path, (name, "matrix4d"), bind);
    }
    if mesh.shapes.is_empty() {
        return;
    }
    let names: Vec<String> = mesh.shapes.iter().map(|s| s.name.clone()).collect();
    let shapes = path.property("skel:blendShapes");
    layer.uniform(&shapes, "token[]", tokens(&names));
    let mut targets = Vec::with_capacity(names.len());
    for shape in &mesh.shapes {
        let target = path.child(&shape.name);
        layer.define(&target, "BlendShape");
        let offsets = target.property("offsets");
        layer.uniform(&offsets, "vector3f[]", vectors(&shape.offsets));
        if let Some(indices) = &shape.point_indices {
            let indices = Value::IntArray(indices.iter().map(|i| *i as i32).collect());
            layer.uniform(&target.property("pointIndices"), "int[]", indices);
        }
        for between in &shape.inbetweens {
            let name = target.property(&format!("inbetweens:{}", between.name));
            layer.uniform(&name, "point3f[]", vectors(&between.offsets));
            let fields = &mut layer.attribute(&name, "point3f[]").fields;
            fields.set("weight", Value::Float(between.weight));
        }
        targets.push(target);
    }
    layer.relationship(&path.property("skel:blendShapeTargets"), targets);
}

fn animation(layer: &mut Layer, parent: &LayerPath, load: &Workload, character: usize) {
    let path = parent.child("Animation");
    layer.define(&path, "SkelAnimation");
    let Some(rig) = &load.rig else {
        let names = load.meshes[0].shapes.iter().map(|s| s.name.clone());
        let names: Vec<String> = names.collect();
        let shapes = path.property("blendShapes");
        layer.uniform(&shapes, "token[]", tokens(&names));
        let samples = (0..load.size.frames).map(|frame| {
            let weights = load.weights(0, frame);
            (frame as f64, Value::FloatArray(weights.into()))
        });
        let weights = path.property("blendShapeWeights");
        return sampled(layer, &weights, "float[]", samples.collect());
    };
    let joints = path.property("joints");
    layer.uniform(&joints, "token[]", tokens(rig.skeleton.joints()));
    let (mut rotations, mut translations) = (Vec::new(), Vec::new());
    for frame in 0..load.size.frames {
        let (t, r) = rig.components(character, frame);
        let r = r.iter().map(|q| Quat(q.to_array())).collect();
        rotations.push((frame as f64, Value::QuatfArray(r)));
        translations = t;
    }
    let translations = vectors(&translations);
    value(layer, &path, ("translations", "float3[]"), translations);
    let scales = Value::Vec3hArray(vec![[f16::ONE; 3]; rig.joint_count()].into());
    value(layer, &path, ("scales", "half3[]"), scales);
    sampled(layer, &path.property("rotations"), "quatf[]", rotations);
}

/// An attribute with its value. Gives its fields.
fn value<'a>(
    layer: &'a mut Layer,
    prim: &LayerPath,
    (name, kind): (&str, &str),
    value: Value,
) -> &'a mut Fields {
    let fields = &mut layer.attribute(&prim.property(name), kind).fields;
    fields.set(field::DEFAULT, value);
    fields
}

fn sampled(layer: &mut Layer, path: &LayerPath, kind: &str, samples: Vec<(f64, Value)>) {
    let samples = Value::TimeSamples(TimeSamples::new(samples));
    layer
        .attribute(path, kind)
        .fields
        .set(field::TIME_SAMPLES, samples);
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

//! Work loads as USD, so that every peer runs the same.
//!
//! `/Load` is a SkelRoot; each character below it is an Xform with a Skeleton, a SkelAnimation and a Mesh. Where
//! characters share meshes, Skeleton and Mesh come from a class by an internal reference. Faces have no Skeleton's joints,
//! only the SkelAnimation's weights. Frames are times 0, 1, ...

use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use bytemuck::cast_slice;
use glam::{DMat4, Vec3};
use half::f16;
use openusd::{gf, sdf, tf};

use crate::workloads::{Mesh, Rig, Workload, geom_bind};

type Failure = Box<dyn std::error::Error>;

/// Writes a work load in the format of the file's ending.
pub fn export(load: &Workload, file: &Path) -> Result<(), Failure> {
    let ending = file
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let format = sdf::LayerRegistry::find_by_extension(ending);
    let format = format.ok_or_else(|| format!("no USD format is named .{ending}"))?;
    let data = layer(load)?;
    let mut sink = BufWriter::new(File::create(file)?);
    format.write(&data, &mut sink)?;
    Ok(())
}

fn layer(load: &Workload) -> Result<sdf::Data, Failure> {
    let mut layer = Layer::new();
    let last = (load.size.frames - 1) as f64;
    layer.root("startTimeCode", sdf::Value::Double(0.0));
    layer.root("endTimeCode", sdf::Value::Double(last));
    layer.root("timeCodesPerSecond", sdf::Value::Double(24.0));
    layer.root("defaultPrim", sdf::Value::token("Load"));
    let is_shared = load.size.meshes < load.size.characters;
    if is_shared {
        for (i, mesh) in load.meshes.iter().enumerate() {
            let class = format!("/Class{i}");
            layer.prim(&class, sdf::Specifier::Class, "Xform")?;
            body(&mut layer, &class, mesh, load.rig.as_ref())?;
        }
    }
    layer.prim("/Load", sdf::Specifier::Def, "SkelRoot")?;
    for character in 0..load.size.characters {
        let path = format!("/Load/Character{character}");
        let number = load.mesh_of(character);
        layer.prim(&path, sdf::Specifier::Def, "Xform")?;
        animation(&mut layer, &path, load, character)?;
        if is_shared {
            let reference = sdf::Reference {
                prim_path: sdf::path(format!("/Class{number}"))?,
                ..Default::default()
            };
            let references = sdf::ListOp::prepended([reference]);
            layer.set(&path, "references", sdf::Value::ReferenceListOp(references))?;
            layer.prim(&format!("{path}/Rig"), sdf::Specifier::Over, "")?;
        } else {
            body(&mut layer, &path, &load.meshes[number], load.rig.as_ref())?;
        }
        let animation = format!("{path}/Animation");
        let rig = format!("{path}/Rig");
        layer.relationship(&rig, "skel:animationSource", &[animation])?;
        layer.apply(&rig, "SkelBindingAPI")?;
    }
    layer.finish()
}

/// A Skeleton and a Mesh that is bound to it.
fn body(layer: &mut Layer, parent: &str, mesh: &Mesh, rig: Option<&Rig>) -> Result<(), Failure> {
    let def = sdf::Specifier::Def;
    let skeleton = format!("{parent}/Rig");
    layer.prim(&skeleton, def, "Skeleton")?;
    if let Some(rig) = rig {
        let uniform = [
            ("joints", "token[]", tokens(rig.skeleton.joints())),
            (
                "bindTransforms",
                "matrix4d[]",
                matrices(rig.skeleton.bind()),
            ),
            (
                "restTransforms",
                "matrix4d[]",
                matrices(rig.skeleton.rest().unwrap_or_default()),
            ),
        ];
        for (name, kind, value) in uniform {
            layer.uniform(&skeleton, name, kind, value)?;
        }
    }

    let path = format!("{parent}/Mesh");
    layer.prim(&path, def, "Mesh")?;
    layer.apply(&path, "SkelBindingAPI")?;
    let skin = &mesh.skin;
    layer.attribute(&path, "points", "point3f[]", vectors(skin.points()))?;
    let counts = vec![4; mesh.corners.len() / 4];
    layer.attribute(
        &path,
        "faceVertexCounts",
        "int[]",
        sdf::Value::IntVec(counts),
    )?;
    let corners = sdf::Value::IntVec(mesh.corners.clone());
    layer.attribute(&path, "faceVertexIndices", "int[]", corners)?;
    layer.uniform(
        &path,
        "subdivisionScheme",
        "token",
        sdf::Value::token("none"),
    )?;
    if let Some(normals) = skin.normals() {
        let attribute = layer.attribute(&path, "normals", "normal3f[]", vectors(normals))?;
        layer.set(&attribute, "interpolation", sdf::Value::token("vertex"))?;
    }
    layer.relationship(&path, "skel:skeleton", &[skeleton])?;
    if let Some(influences) = skin.influences() {
        let joints = influences.joints().iter().map(|j| *j as i32).collect();
        let weights = influences.weights().to_vec();
        for (name, kind, value) in [
            (
                "primvars:skel:jointIndices",
                "int[]",
                sdf::Value::IntVec(joints),
            ),
            (
                "primvars:skel:jointWeights",
                "float[]",
                sdf::Value::FloatVec(weights),
            ),
        ] {
            let attribute = layer.attribute(&path, name, kind, value)?;
            let size = sdf::Value::Int(influences.count() as i32);
            layer.set(&attribute, "elementSize", size)?;
            layer.set(&attribute, "interpolation", sdf::Value::token("vertex"))?;
        }
        let bind = sdf::Value::Matrix4d(gf::Matrix4d(geom_bind().to_cols_array()));
        layer.attribute(&path, "primvars:skel:geomBindTransform", "matrix4d", bind)?;
    }
    if mesh.shapes.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = mesh.shapes.iter().map(|s| s.name.clone()).collect();
    layer.uniform(&path, "skel:blendShapes", "token[]", tokens(&names))?;
    let mut targets = Vec::with_capacity(names.len());
    for shape in &mesh.shapes {
        let target = format!("{path}/{}", shape.name);
        layer.prim(&target, def, "BlendShape")?;
        layer.uniform(&target, "offsets", "vector3f[]", vectors(&shape.offsets))?;
        if let Some(indices) = &shape.point_indices {
            let indices = indices.iter().map(|i| *i as i32).collect();
            layer.uniform(
                &target,
                "pointIndices",
                "int[]",
                sdf::Value::IntVec(indices),
            )?;
        }
        for between in &shape.inbetweens {
            let name = format!("inbetweens:{}", between.name);
            let attribute =
                layer.uniform(&target, &name, "point3f[]", vectors(&between.offsets))?;
            layer.set(&attribute, "weight", sdf::Value::Float(between.weight))?;
        }
        targets.push(target);
    }
    layer.relationship(&path, "skel:blendShapeTargets", &targets)
}

fn animation(
    layer: &mut Layer,
    parent: &str,
    load: &Workload,
    character: usize,
) -> Result<(), Failure> {
    let path = format!("{parent}/Animation");
    layer.prim(&path, sdf::Specifier::Def, "SkelAnimation")?;
    let Some(rig) = &load.rig else {
        let names = load.meshes[0].shapes.iter().map(|s| s.name.clone());
        let names: Vec<String> = names.collect();
        layer.uniform(&path, "blendShapes", "token[]", tokens(&names))?;
        let samples = (0..load.size.frames).map(|frame| {
            let weights = load.weights(0, frame);
            (frame as f64, sdf::Value::FloatVec(weights))
        });
        return layer.sampled(&path, "blendShapeWeights", "float[]", samples.collect());
    };
    layer.uniform(&path, "joints", "token[]", tokens(rig.skeleton.joints()))?;
    let (mut rotations, mut translations) = (Vec::new(), Vec::new());
    for frame in 0..load.size.frames {
        let (t, r) = rig.components(character, frame);
        let quat = |q: &glam::Quat| gf::Quatf {
            w: q.w,
            x: q.x,
            y: q.y,
            z: q.z,
        };
        let r = sdf::Value::QuatfVec(r.iter().map(quat).collect());
        rotations.push((frame as f64, r));
        translations = t;
    }
    layer.attribute(&path, "translations", "float3[]", vectors(&translations))?;
    let one = gf::Vec3h::from([f16::ONE; 3]);
    let scales = sdf::Value::Vec3hVec(vec![one; rig.joint_count()]);
    layer.attribute(&path, "scales", "half3[]", scales)?;
    layer.sampled(&path, "rotations", "quatf[]", rotations)
}

fn vectors(v: &[Vec3]) -> sdf::Value {
    sdf::Value::Vec3fVec(cast_slice::<Vec3, gf::Vec3f>(v).to_vec())
}

/// USD's rows are our columns.
fn matrices(m: &[DMat4]) -> sdf::Value {
    let matrices = m.iter().map(|m| gf::Matrix4d(m.to_cols_array()));
    sdf::Value::Matrix4dVec(matrices.collect())
}

fn tokens(names: &[String]) -> sdf::Value {
    sdf::Value::TokenVec(names.iter().map(|n| n.as_str().into()).collect())
}

/// A layer's specs. openusd's own authoring rewrites a parent's list of children for each child; here lists are written
/// once, by `finish`.
struct Layer {
    data: sdf::Data,
    /// Names below each path: prims, and properties.
    children: HashMap<String, [Vec<tf::Token>; 2]>,
}

impl Layer {
    fn new() -> Self {
        let mut data = sdf::Data::new();
        data.create_spec(sdf::Path::abs_root(), sdf::SpecType::PseudoRoot);
        Self {
            data,
            children: HashMap::new(),
        }
    }

    /// Metadata of the layer.
    fn root(&mut self, key: &str, value: sdf::Value) {
        if let Some(spec) = self.data.spec_mut(&sdf::Path::abs_root()) {
            spec.add(key, value);
        }
    }

    fn prim(&mut self, path: &str, specifier: sdf::Specifier, kind: &str) -> Result<(), Failure> {
        let (parent, name) = path.rsplit_once('/').ok_or("no absolute path")?;
        let [prims, _] = self.children.entry(parent.to_owned()).or_default();
        prims.push(name.into());
        let spec = self.data.create_spec(sdf::path(path)?, sdf::SpecType::Prim);
        spec.add("specifier", sdf::Value::Specifier(specifier));
        if !kind.is_empty() {
            spec.add("typeName", sdf::Value::token(kind));
        }
        Ok(())
    }

    /// A field of what is there already.
    fn set(&mut self, path: &str, key: &str, value: sdf::Value) -> Result<(), Failure> {
        let spec = self.data.spec_mut(&sdf::path(path)?);
        spec.ok_or_else(|| format!("{path} is not there yet"))?
            .add(key, value);
        Ok(())
    }

    fn apply(&mut self, prim: &str, api: &str) -> Result<(), Failure> {
        let apis = sdf::TokenListOp::prepended([tf::Token::from(api)]);
        self.set(prim, "apiSchemas", sdf::Value::TokenListOp(apis))
    }

    fn property(&mut self, prim: &str, name: &str, kind: sdf::SpecType) -> Result<String, Failure> {
        let [_, properties] = self.children.entry(prim.to_owned()).or_default();
        properties.push(name.into());
        let path = format!("{prim}.{name}");
        self.data.create_spec(sdf::path(&path)?, kind);
        Ok(path)
    }

    /// Gives its path.
    fn attribute(
        &mut self,
        prim: &str,
        name: &str,
        kind: &str,
        value: sdf::Value,
    ) -> Result<String, Failure> {
        let path = self.property(prim, name, sdf::SpecType::Attribute)?;
        self.set(&path, "typeName", sdf::Value::token(kind))?;
        self.set(&path, "default", value)?;
        Ok(path)
    }

    fn uniform(
        &mut self,
        prim: &str,
        name: &str,
        kind: &str,
        value: sdf::Value,
    ) -> Result<String, Failure> {
        let path = self.attribute(prim, name, kind, value)?;
        let uniform = sdf::Value::Variability(sdf::Variability::Uniform);
        self.set(&path, "variability", uniform)?;
        Ok(path)
    }

    fn sampled(
        &mut self,
        prim: &str,
        name: &str,
        kind: &str,
        samples: Vec<(f64, sdf::Value)>,
    ) -> Result<(), Failure> {
        let path = self.property(prim, name, sdf::SpecType::Attribute)?;
        self.set(&path, "typeName", sdf::Value::token(kind))?;
        self.set(&path, "timeSamples", sdf::Value::TimeSamples(samples))
    }

    fn relationship(&mut self, prim: &str, name: &str, targets: &[String]) -> Result<(), Failure> {
        let path = self.property(prim, name, sdf::SpecType::Relationship)?;
        let targets: Result<Vec<_>, _> = targets.iter().map(sdf::path).collect();
        let targets = sdf::PathListOp::explicit(targets?);
        let uniform = sdf::Value::Variability(sdf::Variability::Uniform);
        self.set(&path, "variability", uniform)?;
        self.set(&path, "targetPaths", sdf::Value::PathListOp(targets))
    }

    fn finish(mut self) -> Result<sdf::Data, Failure> {
        for (path, lists) in std::mem::take(&mut self.children) {
            let path = if path.is_empty() { "/" } else { &path };
            for (key, names) in ["primChildren", "propertyChildren"].into_iter().zip(lists) {
                if !names.is_empty() {
                    self.set(path, key, sdf::Value::TokenVec(names))?;
                }
            }
        }
        Ok(self.data)
    }
}

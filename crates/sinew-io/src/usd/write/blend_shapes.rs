//! Blend shapes and in-betweens authored into an open file.
//!
//! Opinions go to the root layer, in memory: [`UsdFile::scene`] and bakes see them at once, and
//! [`UsdFile::save_as`] writes the layer under another name.

use sinew_layer::layer::field;
use sinew_layer::path::is_identifier;
use sinew_layer::{Layer, Path, Token, Value};
use sinew_stage::Prim;

use super::edits::author;
use crate::error::{Error, Result, explain};
use crate::usd::file::UsdFile;
use crate::usd::read::skeletons::read_shape_parts;
use crate::usd::read::values::{read_sampled, read_uniform, vectors};
use sinew::error::Invalid;
use sinew::sampled::{Interpolation, Sampled, Time};
use sinew::skel::{BlendShapeDef, InbetweenDef};

/// What authoring comes across: a request that makes no sense, or a value that cannot be read.
pub(crate) type Authored<T> = std::result::Result<T, Failure>;

pub(crate) enum Failure {
    Invalid(Invalid),
    /// The request makes no sense, for this reason.
    Refused(String),
    /// A layer or a value that cannot be read.
    Unread(String),
}

impl From<Invalid> for Failure {
    fn from(error: Invalid) -> Self {
        Self::Invalid(error)
    }
}

impl From<sinew_stage::Error> for Failure {
    fn from(error: sinew_stage::Error) -> Self {
        Self::Unread(explain(&error))
    }
}

impl From<sinew_layer::Error> for Failure {
    fn from(error: sinew_layer::Error) -> Self {
        Self::Unread(explain(&error))
    }
}

pub(crate) fn refuse<T>(reason: String) -> Authored<T> {
    Err(Failure::Refused(reason))
}

impl UsdFile {
    /// Adds a blend shape to a mesh (or other prim with points): a BlendShape prim below it, its token
    /// at the end of skel:blendShapes, its path at the end of skel:blendShapeTargets, and SkelBindingAPI where it
    /// is not applied yet. Gives the new prim's path.
    ///
    /// For the shape to move anything the mesh has to be bound to a Skeleton below a SkelRoot, and the
    /// Skeleton's animation to have a channel of the shape's name ([`UsdFile::set_blend_shape_weights`]).
    ///
    /// ```
    /// use glam::Vec3;
    /// use sinew_io::usd::UsdFile;
    /// use sinew::sampled::Time;
    /// use sinew::skel::{BlendShapeDef, InbetweenDef};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let out = folder.path().join("puffed.usda");
    /// let mut file = UsdFile::open("../../examples/assets/hatchling.usda")?;
    /// let shape = file.add_blend_shape(
    ///     "/Hatchling/Geo/Body",
    ///     &BlendShapeDef {
    ///         name: "Puff".into(),
    ///         point_indices: Some(vec![0, 7, 9]),
    ///         offsets: vec![Vec3::new(0.0, 0.0, 0.1); 3],
    ///         ..Default::default()
    ///     },
    /// )?;
    /// assert_eq!(shape, "/Hatchling/Geo/Body/Puff");
    /// file.add_inbetween(
    ///     &shape,
    ///     &InbetweenDef {
    ///         name: "Half".into(),
    ///         weight: 0.5,
    ///         offsets: vec![Vec3::new(0.0, 0.03, 0.05); 3],
    ///         normal_offsets: None,
    ///     },
    /// )?;
    /// file.save_as(&out)?;
    ///
    /// let scene = UsdFile::open(&out)?.scene(Default::default())?;
    /// let skin = scene.resolve("/Hatchling/Geo/Body")?.skin(Time::Default)?;
    /// let added = skin.shapes().last().and_then(Option::as_ref).expect("the shape");
    /// assert_eq!(added.sub_shapes().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A prim that is not there, has no points or lies in a native instance; a name that is no identifier
    /// or is taken; tokens and targets that differ in number already; a shape that
    /// [`BlendShapeDef::validate`] refuses.
    pub fn add_blend_shape(&mut self, mesh: &str, shape: &BlendShapeDef) -> Result<String> {
        let added = self.try_add_blend_shape(mesh, shape);
        added.map_err(|e| self.failure(e))
    }

    /// Adds an in-between to a BlendShape prim, one that the file came with or one that
    /// [`UsdFile::add_blend_shape`] added.
    ///
    /// # Errors
    /// A path that is no BlendShape, or lies in a native instance; a name that is no identifier or is
    /// taken; a weight of 0, of 1 or of another in-between; offsets that are not as many as the shape's.
    pub fn add_inbetween(&mut self, shape: &str, inbetween: &InbetweenDef) -> Result<()> {
        let added = self.try_add_inbetween(shape, inbetween);
        added.map_err(|e| self.failure(e))
    }

    /// Gives a SkelAnimation blend shape channels and their weights over time, in place of those that it has. One weight
    /// per channel at each time; [`Time::Default`] authors the value without a time.
    ///
    /// # Errors
    /// A path that is no SkelAnimation, or lies in a native instance; a channel that is empty or listed
    /// twice; weights of another number, or that are not finite; times that are not, or that repeat.
    pub fn set_blend_shape_weights(
        &mut self,
        animation: &str,
        channels: &[&str],
        samples: &[(Time, Vec<f32>)],
    ) -> Result<()> {
        let set = self.try_set_weights(animation, channels, samples);
        set.map_err(|e| self.failure(e))
    }

    pub(crate) fn failure(&self, failure: Failure) -> Error {
        let edit = |reason: String| Error::Edit {
            file: self.file().to_owned(),
            reason,
        };
        match failure {
            Failure::Invalid(invalid) => invalid.in_file(self.file()).into(),
            Failure::Refused(reason) => edit(reason),
            Failure::Unread(reason) => edit(format!("cannot author: {reason}")),
        }
    }

    /// An active prim of a schema, where opinions of the root layer count.
    pub(crate) fn prim_to_edit(&self, path: &str, schema: &str) -> Authored<Prim<'_>> {
        let path = Path::parse(path)?;
        let prim = self.stage.prim(&path);
        let Some(prim) = prim.filter(|p| p.is_active() && p.is_a(schema)) else {
            return refuse(format!("no active {schema} at {path}"));
        };
        let mut above = prim.parent();
        while let Some(ancestor) = above {
            if ancestor.is_instance() {
                let ancestor = ancestor.path();
                return refuse(format!(
                    "{path} lies in the instance {ancestor}, where opinions do not count"
                ));
            }
            above = ancestor.parent();
        }
        if prim.is_instance() {
            return refuse(format!(
                "{path} lies in the instance {path}, where opinions do not count"
            ));
        }
        Ok(prim)
    }

    fn try_add_blend_shape(&mut self, mesh: &str, shape: &BlendShapeDef) -> Authored<String> {
        let prim = self.prim_to_edit(mesh, "PointBased")?;
        let name = &shape.name;
        if !is_identifier(name) {
            return refuse(format!("{mesh}: '{name}' is not a valid prim name"));
        }
        let mesh_path = prim.path().clone();
        let path = mesh_path.child(name);
        if self.stage.prim(&path).is_some() {
            return refuse(format!("{path} exists already"));
        }
        let points: Sampled<Vec<glam::Vec3>> =
            read_sampled(&prim.attribute("points"), Interpolation::Linear)?;
        shape.validate(path.as_str(), points.first().map_or(0, |p| p.len()))?;

        let tokens = prim.attribute("skel:blendShapes");
        let mut tokens: Vec<String> = read_uniform(&tokens)?.unwrap_or_default();
        let mut targets = prim.relationship("skel:blendShapeTargets").targets();
        if tokens.len() != targets.len() {
            let expected = format!("{} targets, as many as skel:blendShapes", tokens.len());
            let found = targets.len().to_string();
            return Err(Invalid::new(mesh, "skel:blendShapeTargets", expected, found).into());
        }
        if tokens.contains(name) {
            return refuse(format!("{mesh}: skel:blendShapes lists {name} already"));
        }
        for between in &shape.inbetweens {
            check_inbetween_name(&path, between)?;
        }
        let binds = prim.has_api("SkelBindingAPI");
        tokens.push(name.clone());
        targets.push(path.clone());
        self.edit_root(|layer| {
            layer.define(&path, "BlendShape");
            let mut author = |name: &str, type_name: &str, value: Value| {
                layer.uniform(&path.property(name), type_name, value);
            };
            author("offsets", "vector3f[]", vectors(&shape.offsets));
            // Without normal offsets, and without indices, there is no opinion.
            if let Some(normals) = &shape.normal_offsets {
                author("normalOffsets", "vector3f[]", vectors(normals));
            }
            if let Some(indices) = &shape.point_indices {
                // Below the number of points, which int[] arrays number.
                let indices = indices.iter().map(|i| *i as i32).collect();
                author("pointIndices", "int[]", Value::IntArray(indices));
            }
            for between in &shape.inbetweens {
                author_inbetween(layer, &path, between);
            }
            let tokens = token_array(&tokens);
            layer.uniform(&mesh_path.property("skel:blendShapes"), "token[]", tokens);
            layer.relationship(&mesh_path.property("skel:blendShapeTargets"), targets);
            if !binds {
                layer.apply_schema(&mesh_path, "SkelBindingAPI");
            }
        })?;
        Ok(path.as_str().to_owned())
    }

    fn try_add_inbetween(&mut self, shape: &str, inbetween: &InbetweenDef) -> Authored<()> {
        let prim = self.prim_to_edit(shape, "BlendShape")?;
        let path = prim.path().clone();
        check_inbetween_name(&path, inbetween)?;
        let name = format!("inbetweens:{}", inbetween.name);
        let known = prim.authored_property_names();
        if known.iter().any(|n| *n == name) {
            return refuse(format!("{shape}.{name} exists already"));
        }
        let parts = read_shape_parts(&prim)?;
        // The mesh is not asked: the shape itself says how many offsets belong to it.
        let entries = match &parts.point_indices {
            Some(indices) if !indices.is_empty() => indices.len(),
            _ if !parts.offsets.is_empty() => parts.offsets.len(),
            _ => inbetween.offsets.len(),
        };
        let dense = |inbetweens: Vec<InbetweenDef>| BlendShapeDef {
            name: String::new(),
            point_indices: None,
            offsets: Vec::new(),
            normal_offsets: None,
            inbetweens,
        };
        dense(vec![inbetween.clone()]).validate(shape, entries)?;
        for other in parts.inbetweens {
            let Some(weight) = other.weight else { continue };
            // Only the weights and names of the others matter here.
            let other = InbetweenDef {
                name: other.name,
                weight,
                offsets: Vec::new(),
                normal_offsets: None,
            };
            if dense(vec![other.clone()]).validate(shape, entries).is_ok() {
                dense(vec![other, inbetween.clone()]).validate(shape, entries)?;
            }
        }
        self.edit_root(|layer| author_inbetween(layer, &path, inbetween))?;
        Ok(())
    }

    fn try_set_weights(
        &mut self,
        animation: &str,
        channels: &[&str],
        samples: &[(Time, Vec<f32>)],
    ) -> Authored<()> {
        let path = self
            .prim_to_edit(animation, "SkelAnimation")?
            .path()
            .clone();
        for (i, channel) in channels.iter().enumerate() {
            if channel.is_empty() || channels[..i].contains(channel) {
                return refuse(format!(
                    "{animation}: '{channel}' is empty, or listed twice as a channel"
                ));
            }
        }
        for (i, (time, weights)) in samples.iter().enumerate() {
            let wrong = |expected: String, found: String| {
                Err(Invalid::new(animation, "blendShapeWeights", expected, found).into())
            };
            if time.code().is_some_and(|t| !t.is_finite()) {
                return wrong("finite times".into(), time.to_string());
            }
            if samples[..i].iter().any(|(t, _)| t == time) {
                return wrong("each time once".into(), format!("time {time} twice"));
            }
            if weights.len() != channels.len() {
                let expected = format!("{} weights, one per channel", channels.len());
                return wrong(expected, format!("{} at time {time}", weights.len()));
            }
            if let Some(w) = weights.iter().find(|w| !w.is_finite()) {
                return wrong("finite weights".into(), format!("{w} at time {time}"));
            }
        }
        let names: Vec<String> = channels.iter().map(|c| (*c).to_owned()).collect();
        let values = samples.iter();
        let values = values.map(|(time, w)| (*time, Value::FloatArray(w.clone().into())));
        let values = values.collect();
        self.edit_root(|layer| {
            layer.uniform(
                &path.property("blendShapes"),
                "token[]",
                token_array(&names),
            );
            let weights = layer.attribute(&path.property("blendShapeWeights"), "float[]");
            for known in [field::DEFAULT, field::TIME_SAMPLES, field::SPLINE] {
                weights.fields.remove(known);
            }
            author(layer, animation, "blendShapeWeights", "float[]", values);
        })?;
        Ok(())
    }
}

/// Refuses a name that no in-between can have. `inbetweens:normalOffsets` would count as some in-between's normal offsets.
fn check_inbetween_name(shape: &Path, inbetween: &InbetweenDef) -> Authored<()> {
    let name = &inbetween.name;
    if !is_identifier(name) || name == "normalOffsets" {
        return refuse(format!(
            "{shape}: '{name}' is not a valid name for an in-between"
        ));
    }
    Ok(())
}

/// As UsdSkelInbetweenShape creates them: points, though they hold offsets; normal offsets are vectors.
fn author_inbetween(layer: &mut Layer, shape: &Path, inbetween: &InbetweenDef) {
    let property = format!("inbetweens:{}", inbetween.name);
    let path = shape.property(&property);
    layer.uniform(&path, "point3f[]", vectors(&inbetween.offsets));
    let weight = Value::Float(inbetween.weight);
    layer
        .attribute(&path, "point3f[]")
        .fields
        .set("weight", weight);
    if let Some(normals) = &inbetween.normal_offsets {
        let path = shape.property(&format!("{property}:normalOffsets"));
        layer.uniform(&path, "vector3f[]", vectors(normals));
    }
}

pub(crate) fn token_array(names: &[String]) -> Value {
    Value::TokenArray(names.iter().map(Token::new).collect())
}

//! Primvars of meshes (normals, texture coordinates, colours), and the material that a prim is bound to.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{Vec2, Vec3};
use sinew_layer::path::is_property_name;
use sinew_layer::{Path, Value};
use sinew_stage::{Attribute, Prim};

use super::places::with_ancestors;
use crate::usd::read::skinned_prims::token_metadata;
use crate::usd::read::values::{FromUsd, read_sampled};
use sinew::error::Warning;
use sinew::sampled::{Interpolation, Sampled};
use sinew::scene::Primvar;
use sinew::skel::{MeshTopology, PrimvarInterpolation};

/// The values of one primvar that several meshes may inherit.
pub(super) struct Inherited<T> {
    /// By the prim that authors it, in a prototype if there is one.
    values: HashMap<Path, Option<Primvar<T>>>,
    /// The nearest prim, from each one upward, that authors one for those below.
    sources: HashMap<Path, Option<Path>>,
}

impl<T> Default for Inherited<T> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            sources: HashMap::new(),
        }
    }
}

/// What the primvars of one mesh are read with.
pub(super) struct PrimvarReader<'a> {
    pub interpolation: Interpolation,
    pub prim: Prim<'a>,
    pub topology: &'a MeshTopology,
    pub points: usize,
    /// Primvars that do not fit, which have their warning.
    pub left_out: Vec<String>,
    pub warnings: &'a mut Vec<Warning>,
}

impl<'a> PrimvarReader<'a> {
    /// `primvars:normals`, else `normals`, as renderers take them.
    pub fn normals(&mut self) -> Result<Option<Primvar<Vec3>>, sinew_stage::Error> {
        if let Some(normals) = self.read(self.prim, "primvars:normals")? {
            return Ok(Some(normals));
        }
        self.read(self.prim, "normals")
    }

    /// Widths of curves.
    pub fn widths(&mut self) -> Result<Option<Primvar<f32>>, sinew_stage::Error> {
        self.read(self.prim, "widths")
    }

    /// The first of these sets that there is, then `st`, then any.
    pub fn uvs(&mut self, names: &[String]) -> Result<Option<Primvar<Vec2>>, sinew_stage::Error> {
        let named = names.iter().map(String::as_str).chain(["st"]);
        for name in named {
            if let Some(uvs) = self.read(self.prim, &format!("primvars:{name}"))? {
                return Ok(Some(uvs));
            }
        }
        for name in self.uv_properties() {
            if let Some(uvs) = self.read(self.prim, &name)? {
                return Ok(Some(uvs));
            }
        }
        Ok(None)
    }

    /// All sets but the one of this property, by name.
    pub fn other_uvs(&mut self, known: &str) -> Result<Vec<Primvar<Vec2>>, sinew_stage::Error> {
        let mut out = Vec::new();
        for name in self.uv_properties().filter(|name| name != known) {
            out.extend(self.read(self.prim, &name)?);
        }
        Ok(out)
    }

    /// Names of the primvars that hold texture coordinates.
    fn uv_properties(&self) -> impl Iterator<Item = String> + use<'a> {
        let prim = self.prim;
        let names = prim.authored_property_names().into_iter();
        let names = names.map(|name| name.as_str().to_owned());
        names.filter(move |name| {
            name.starts_with("primvars:")
                && !name.ends_with(":indices")
                && prim.attribute(name).type_name().starts_with("texCoord2")
        })
    }

    /// A primvar of the mesh, or else a constant one of the nearest prim above that has it (UsdGeomPrimvarsAPI's
    /// inheritance). Each prim's is read once into `known`, which is of this name, so that what many inherit is there once.
    pub fn inherited<T>(
        &mut self,
        name: &str,
        known: &mut Inherited<T>,
    ) -> Result<Option<Primvar<T>>, sinew_stage::Error>
    where
        Vec<T>: FromUsd,
        T: Clone,
    {
        let Some(from) = self.source(name, &mut known.sources)? else {
            return Ok(None);
        };
        let shared = from.prim_in_prototype().unwrap_or(from).path();
        if let Some(known) = known.values.get(&shared) {
            return Ok(known.clone());
        }
        let read = self.read(from, name)?;
        known.values.insert(shared, read.clone());
        Ok(read)
    }

    /// The prim that authors a primvar for the mesh. `known` has that of prims above, where it is known.
    fn source(
        &self,
        name: &str,
        known: &mut HashMap<Path, Option<Path>>,
    ) -> Result<Option<Prim<'a>>, sinew_stage::Error> {
        if self.prim.attribute(name).has_authored_value() {
            return Ok(Some(self.prim));
        }
        let mut unknown = Vec::new();
        let mut source = None;
        for prim in with_ancestors(self.prim).skip(1) {
            let path = prim.path();
            if let Some(known) = known.get(&path) {
                source.clone_from(known);
                break;
            }
            unknown.push(path.clone());
            let attribute = prim.attribute(name);
            let constant = Some(PrimvarInterpolation::Constant);
            if attribute.has_authored_value() && interpolation_of(attribute)? == constant {
                source = Some(path);
                break;
            }
        }
        known.extend(unknown.into_iter().map(|path| (path, source.clone())));
        Ok(source.and_then(|path| self.prim.stage().prim(&path)))
    }

    /// A primvar that fits the mesh's faces; one that does not is left out with a warning.
    fn read<T>(
        &mut self,
        prim: Prim<'_>,
        name: &str,
    ) -> Result<Option<Primvar<T>>, sinew_stage::Error>
    where
        Vec<T>: FromUsd,
    {
        let attribute = prim.attribute(name);
        // A material may ask for any text.
        if !is_property_name(name) || !attribute.has_authored_value() {
            return Ok(None);
        }
        if self.left_out.iter().any(|left_out| left_out == name) {
            return Ok(None);
        }
        let values: Sampled<Vec<T>> = read_sampled(&attribute, self.interpolation)?;
        if !values.has_value() {
            return Ok(None);
        }
        let path = self.prim.path();
        let path = path.as_str();
        let mut leave_out = |message: String| {
            let message = format!("{message}: left out");
            self.left_out.push(name.to_owned());
            self.warnings
                .push(Warning::new("primvar-count", path, message).on(name));
            Ok(None)
        };
        let Some(interpolation) = interpolation_of(attribute)? else {
            return leave_out(format!("{name} has an unknown interpolation"));
        };
        let mut out = Primvar {
            name: name.to_owned(),
            interpolation,
            values,
            indices: None,
        };
        // The attribute `normals` is no primvar and has no indices.
        if name.starts_with("primvars:") {
            let indices = format!("{name}:indices");
            let indices: Sampled<Vec<i32>> =
                read_sampled(&prim.attribute(&indices), self.interpolation)?;
            if let Some(first) = indices.first() {
                if indices.values().any(|v| v != first) {
                    return leave_out(format!("{name} has indices that change over time"));
                }
                // None is as large as what a negative one becomes, so the check finds it.
                let indices = first.iter().map(|i| u32::try_from(*i).unwrap_or(u32::MAX));
                out.indices = Some(Arc::new(indices.collect()));
            }
        }
        for values in out.values.values() {
            let slice = out.slice(values);
            if let Err(e) = slice.check(path, name, self.topology, self.points) {
                return leave_out(e.brief());
            }
        }
        Ok(Some(out))
    }
}

/// The interpolation of a primvar, or of `normals` and `widths`, where `vertex` is the fallback.
fn interpolation_of(
    attribute: Attribute<'_, '_>,
) -> Result<Option<PrimvarInterpolation>, sinew_stage::Error> {
    Ok(match token_metadata(&attribute, "interpolation")? {
        Some(token) => PrimvarInterpolation::from_token(&token),
        None if ["normals", "widths"].contains(&attribute.name()) => {
            Some(PrimvarInterpolation::Vertex)
        }
        None => Some(PrimvarInterpolation::Constant),
    })
}

/// Relationships by purpose: that of previews, that of all purposes, and where a file has nothing else that of full renders.
const PURPOSES: [&str; 3] = [
    "material:binding:preview",
    "material:binding",
    "material:binding:full",
];

/// A binding authored on a prim.
#[derive(Clone)]
struct Direct {
    material: Path,
    /// strongerThanDescendants.
    stronger: bool,
}

/// The bindings that hold at prims, by path, each found once.
#[derive(Default)]
pub(super) struct MaterialBindings {
    known: HashMap<Path, [Option<Direct>; PURPOSES.len()]>,
}

impl MaterialBindings {
    /// The path of the material that a prim is bound to, by itself or by a prim above it. The nearest counts, but for those
    /// that are stronger than their descendants.
    pub fn bound(&mut self, prim: Prim<'_>) -> Result<Option<Path>, sinew_stage::Error> {
        let mut found: [Option<Direct>; PURPOSES.len()] = Default::default();
        let mut unknown = Vec::new();
        for prim in with_ancestors(prim) {
            let path = prim.path();
            if let Some(known) = self.known.get(&path) {
                found.clone_from(known);
                break;
            }
            unknown.push((path, prim));
        }
        for (path, prim) in unknown.into_iter().rev() {
            for (found, direct) in found.iter_mut().zip(read(prim)?) {
                if direct.is_some() && found.as_ref().is_none_or(|above| !above.stronger) {
                    *found = direct;
                }
            }
            self.known.insert(path, found.clone());
        }
        Ok(found.into_iter().flatten().next().map(|d| d.material))
    }
}

fn read(prim: Prim<'_>) -> Result<[Option<Direct>; PURPOSES.len()], sinew_stage::Error> {
    let mut out: [Option<Direct>; PURPOSES.len()] = Default::default();
    for (name, out) in PURPOSES.iter().zip(&mut out) {
        let relationship = prim.relationship(name);
        let Some(material) = relationship.forwarded_targets().into_iter().next() else {
            continue;
        };
        let strength = relationship.metadata("bindMaterialAs")?;
        let stronger = matches!(&strength, Some(Value::Token(t)) if t == "strongerThanDescendants");
        *out = Some(Direct { material, stronger });
    }
    Ok(out)
}

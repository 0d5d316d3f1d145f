//! A layer built prim by prim, in memory.
//!
//! openusd's own authoring rewrites a parent's list of children for each child; here lists are written once, at the end.

use openusd::{sdf, tf};

use super::names::Names;
use crate::error::{Error, Invalid, Result};

/// A prim of the layer that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PrimId(usize);

/// The layer's root, whose children are the root prims.
pub(super) const ROOT: PrimId = PrimId(0);

struct Prim {
    path: sdf::Path,
    fields: Vec<(String, sdf::Value)>,
    apis: Vec<tf::Token>,
    children: Vec<tf::Token>,
    properties: Vec<tf::Token>,
    names: Names,
}

/// The layer that is being built.
pub(super) struct LayerBuilder {
    data: sdf::Data,
    prims: Vec<Prim>,
    path_bytes: usize,
}

/// Bytes of all prims' paths; deep hierarchies repeat the names of all above.
const MAX_PATH_BYTES: usize = 1 << 26;

/// Names are identifiers by now, so this is never seen.
fn refused(e: &sdf::PathParseError) -> Error {
    Error::Request(format!("no path in a layer: {e}"))
}

impl LayerBuilder {
    pub fn new() -> Self {
        let root = Prim {
            path: sdf::Path::abs_root(),
            fields: Vec::new(),
            apis: Vec::new(),
            children: Vec::new(),
            properties: Vec::new(),
            names: Names::default(),
        };
        Self {
            data: sdf::Data::new(),
            prims: vec![root],
            path_bytes: 0,
        }
    }

    /// Adds a prim, named after the first wanted name that is not empty, and numbered where that is taken.
    pub fn define(&mut self, parent: PrimId, wanted: &[&str], type_name: &str) -> Result<PrimId> {
        let above = &mut self.prims[parent.0];
        let name = above.names.unique(wanted);
        let path = above.path.append_path(name.as_str());
        let path = path.map_err(|e| refused(&e))?;
        self.path_bytes += path.as_str().len();
        if self.path_bytes > MAX_PATH_BYTES {
            let expected = format!("prim paths of {MAX_PATH_BYTES} bytes at most");
            return Err(Invalid::new("nodes", "name", expected, "more").into());
        }
        above.children.push(name.into());
        let specifier = sdf::Value::Specifier(sdf::Specifier::Def);
        let type_name = sdf::Value::token(type_name);
        self.prims.push(Prim {
            path,
            fields: vec![
                (sdf::FieldKey::Specifier.as_str().to_owned(), specifier),
                (sdf::FieldKey::TypeName.as_str().to_owned(), type_name),
            ],
            apis: Vec::new(),
            children: Vec::new(),
            properties: Vec::new(),
            names: Names::default(),
        });
        Ok(PrimId(self.prims.len() - 1))
    }

    pub fn path(&self, prim: PrimId) -> &sdf::Path {
        &self.prims[prim.0].path
    }

    /// The prim's name alone.
    pub fn name(&self, prim: PrimId) -> &str {
        self.prims[prim.0].path.name().unwrap_or_default()
    }

    /// Metadata of a prim, or of the layer.
    pub fn metadata(&mut self, prim: PrimId, key: &str, value: sdf::Value) {
        self.prims[prim.0].fields.push((key.to_owned(), value));
    }

    /// Applies an API schema, once.
    pub fn apply(&mut self, prim: PrimId, api: &str) {
        let apis = &mut self.prims[prim.0].apis;
        if !apis.iter().any(|a| a.as_str() == api) {
            apis.push(api.into());
        }
    }

    fn property(
        &mut self,
        prim: PrimId,
        name: &str,
        kind: sdf::SpecType,
    ) -> Result<&mut sdf::SpecData> {
        let prim = &mut self.prims[prim.0];
        let path = prim.path.append_property(name).map_err(|e| refused(&e))?;
        prim.properties.push(name.into());
        Ok(self.data.create_spec(path, kind))
    }

    /// An attribute that may vary over time.
    pub fn attribute(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
    ) -> Result<Attribute<'_>> {
        let spec = self.property(prim, name, sdf::SpecType::Attribute)?;
        spec.add(
            sdf::FieldKey::TypeName.as_str(),
            sdf::Value::token(type_name),
        );
        Ok(Attribute { spec })
    }

    /// An attribute that does not, with its value.
    pub fn uniform(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
        value: sdf::Value,
    ) -> Result<Attribute<'_>> {
        let attribute = self.attribute(prim, name, type_name)?;
        let uniform = sdf::Value::Variability(sdf::Variability::Uniform);
        attribute
            .spec
            .add(sdf::FieldKey::Variability.as_str(), uniform);
        Ok(attribute.value(value))
    }

    pub fn relationship(
        &mut self,
        prim: PrimId,
        name: &str,
        targets: Vec<sdf::Path>,
    ) -> Result<()> {
        let spec = self.property(prim, name, sdf::SpecType::Relationship)?;
        let uniform = sdf::Value::Variability(sdf::Variability::Uniform);
        spec.add(sdf::FieldKey::Variability.as_str(), uniform);
        let targets = sdf::PathListOp::explicit(targets);
        spec.add(
            sdf::FieldKey::TargetPaths.as_str(),
            sdf::Value::PathListOp(targets),
        );
        Ok(())
    }

    /// The whole layer.
    pub fn finish(mut self) -> sdf::Data {
        for (i, prim) in self.prims.into_iter().enumerate() {
            let kind = match i {
                0 => sdf::SpecType::PseudoRoot,
                _ => sdf::SpecType::Prim,
            };
            let spec = self.data.create_spec(prim.path, kind);
            for (key, value) in prim.fields {
                spec.add(key, value);
            }
            if !prim.apis.is_empty() {
                let apis = sdf::TokenListOp::prepended(prim.apis);
                spec.add(
                    sdf::FieldKey::ApiSchemas.as_str(),
                    sdf::Value::TokenListOp(apis),
                );
            }
            for (key, names) in [
                (sdf::ChildrenKey::PropertyChildren, prim.properties),
                (sdf::ChildrenKey::PrimChildren, prim.children),
            ] {
                if !names.is_empty() {
                    spec.add(key.as_str(), sdf::Value::TokenVec(names));
                }
            }
        }
        self.data
    }
}

/// An attribute that is being authored.
pub(super) struct Attribute<'a> {
    spec: &'a mut sdf::SpecData,
}

impl Attribute<'_> {
    /// The value without a time.
    pub fn value(self, value: sdf::Value) -> Self {
        self.spec.add(sdf::FieldKey::Default.as_str(), value);
        self
    }

    /// Values by ascending time code.
    pub fn samples(self, samples: sdf::TimeSampleMap) -> Self {
        let samples = sdf::Value::TimeSamples(samples);
        self.spec.add(sdf::FieldKey::TimeSamples.as_str(), samples);
        self
    }

    pub fn metadata(self, key: &str, value: sdf::Value) -> Self {
        self.spec.add(key, value);
        self
    }

    /// `interpolation` of a primvar.
    pub fn interpolation(self, token: &str) -> Self {
        self.metadata("interpolation", sdf::Value::token(token))
    }

    /// Takes its value from another property.
    pub fn connect(self, source: sdf::Path) -> Self {
        let sources = sdf::PathListOp::explicit([source]);
        self.metadata(
            sdf::FieldKey::ConnectionPaths.as_str(),
            sdf::Value::PathListOp(sources),
        )
    }
}

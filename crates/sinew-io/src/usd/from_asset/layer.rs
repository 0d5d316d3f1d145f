//! A layer built prim by prim, in memory.
//!
//! openusd's own authoring rewrites a parent's list of children for each child; here lists are written once, at the end.

use openusd::{sdf, tf};

use super::budget::{Budget, is_finite, value_bytes};
use super::names::Names;
use super::sampling::Samples;
use crate::error::{Error, Result};
use sinew::error::Invalid;

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
    budget: Budget,
    tally: Tally,
    /// The latest property.
    last: sdf::Path,
}

/// What is known of the values since the latest property was added.
#[derive(Default)]
struct Tally {
    /// Bytes that the budget does not know of yet.
    bytes: usize,
    /// Some number overflowed: those of the file were finite.
    overflows: bool,
}

impl Tally {
    fn add(&mut self, value: &sdf::Value) {
        self.bytes = self.bytes.saturating_add(value_bytes(value));
        self.overflows |= !is_finite(value);
    }
}

/// Bytes that a prim or a property takes besides its path and its value.
const EACH: usize = 512;

/// Characters of a path that an error gives.
const QUOTED: usize = 200;

/// Names are identifiers by now, so this is never seen.
fn refused(e: &sdf::PathParseError) -> Error {
    Invalid::new("", "", "a path of a layer", e.to_string()).into()
}

impl LayerBuilder {
    pub fn new(budget: Budget) -> Self {
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
            budget,
            tally: Tally::default(),
            last: sdf::Path::abs_root(),
        }
    }

    /// Accounts for something new at a path, and for the values since the last time.
    fn charge(&mut self, path: &str) -> Result<()> {
        let tally = std::mem::take(&mut self.tally);
        let quoted = |path: &str| path.chars().take(QUOTED).collect::<String>();
        if tally.overflows {
            let expected = "numbers in the file whose products are finite";
            let error = Invalid::new(
                quoted(self.last.as_str()),
                "",
                expected,
                "some that overflow",
            );
            return Err(error.coded("overflow").in_file(self.budget.file()).into());
        }
        let bytes = tally.bytes.saturating_add(path.len() + EACH);
        self.budget.charge(bytes, || quoted(path))
    }

    /// Adds a prim, named after the first wanted name that is not empty, and numbered where that is taken.
    pub fn define(&mut self, parent: PrimId, wanted: &[&str], type_name: &str) -> Result<PrimId> {
        let above = &mut self.prims[parent.0];
        let name = above.names.unique(wanted);
        let path = above.path.append_path(name.as_str());
        let path = path.map_err(|e| refused(&e))?;
        self.charge(path.as_str())?;
        self.prims[parent.0].children.push(name.into());
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

    /// A new property, and where its values are looked at.
    fn property(
        &mut self,
        prim: PrimId,
        name: &str,
        kind: sdf::SpecType,
    ) -> Result<(&mut sdf::SpecData, &mut Tally)> {
        let path = self.prims[prim.0].path.append_property(name);
        let path = path.map_err(|e| refused(&e))?;
        self.charge(path.as_str())?;
        self.prims[prim.0].properties.push(name.into());
        self.last = path.clone();
        Ok((self.data.create_spec(path, kind), &mut self.tally))
    }

    /// An attribute that may vary over time.
    pub fn attribute(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
    ) -> Result<Attribute<'_>> {
        let (spec, tally) = self.property(prim, name, sdf::SpecType::Attribute)?;
        spec.add(
            sdf::FieldKey::TypeName.as_str(),
            sdf::Value::token(type_name),
        );
        Ok(Attribute { spec, tally })
    }

    /// An attribute with a value that does not change, or with samples.
    pub fn sampled(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
        samples: Samples<sdf::Value>,
    ) -> Result<()> {
        let attribute = self.attribute(prim, name, type_name)?;
        match samples {
            Samples::Constant(v) => attribute.value(v),
            Samples::Varying(v) => attribute.samples(v),
        };
        Ok(())
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
        let (spec, tally) = self.property(prim, name, sdf::SpecType::Relationship)?;
        tally.bytes += targets.iter().map(|t| t.as_str().len()).sum::<usize>();
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
    ///
    /// # Errors
    /// Values that overflow, or more of them than the budget allows.
    pub fn finish(mut self) -> Result<sdf::Data> {
        self.charge("/")?;
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
        Ok(self.data)
    }
}

/// An attribute that is being authored.
pub(super) struct Attribute<'a> {
    spec: &'a mut sdf::SpecData,
    tally: &'a mut Tally,
}

impl Attribute<'_> {
    /// The value without a time.
    pub fn value(self, value: sdf::Value) -> Self {
        self.tally.add(&value);
        self.spec.add(sdf::FieldKey::Default.as_str(), value);
        self
    }

    /// Values by ascending time code.
    pub fn samples(self, samples: sdf::TimeSampleMap) -> Self {
        let samples = sdf::Value::TimeSamples(samples);
        self.tally.add(&samples);
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

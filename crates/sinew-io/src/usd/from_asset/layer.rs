//! A layer built prim by prim, in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::value::{Dictionary, Specifier, TimeSamples, Variability};
use sinew_layer::{Layer, ListOp, Path, Spec, SpecKind, Token, Value};

use super::budget::{Budget, is_finite, value_bytes};
use super::extras;
use super::names::Names;
use super::sampling::Samples;
use crate::error::Result;
use crate::usd::write::sockets::SOURCE_DATA;
use sinew::error::Invalid;

/// A prim of the layer that is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PrimId(usize);

/// The layer's root, whose children are the root prims.
pub(super) const ROOT: PrimId = PrimId(0);

struct Prim {
    path: Path,
    apis: Vec<Token>,
    names: Names,
    /// Data of the source file.
    source: Dictionary,
}

/// The layer that is being built.
pub(super) struct LayerBuilder {
    layer: Layer,
    prims: Vec<Prim>,
    budget: Budget,
    tally: Tally,
    /// The latest property.
    last: Path,
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
    fn add(&mut self, value: &Value) {
        self.bytes = self.bytes.saturating_add(value_bytes(value));
        self.overflows |= !is_finite(value);
    }
}

/// Bytes that a prim or a property takes besides its path and its value.
const EACH: usize = 512;

/// Characters of a path that an error gives.
const QUOTED: usize = 200;

impl LayerBuilder {
    /// An empty layer. Messages call it `name`.
    pub fn new(name: &str, budget: Budget) -> Self {
        let root = Prim {
            path: Path::root(),
            apis: Vec::new(),
            names: Names::default(),
            source: Dictionary::new(),
        };
        Self {
            layer: Layer::new(name),
            prims: vec![root],
            budget,
            tally: Tally::default(),
            last: Path::root(),
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
        let path = above.path.child(&name);
        self.charge(path.as_str())?;
        let fields = &mut self.layer.create(&path, SpecKind::Prim).fields;
        fields.set(field::SPECIFIER, Value::Specifier(Specifier::Def));
        fields.set(field::TYPE_NAME, Value::token(type_name));
        self.prims.push(Prim {
            path,
            apis: Vec::new(),
            names: Names::default(),
            source: Dictionary::new(),
        });
        Ok(PrimId(self.prims.len() - 1))
    }

    pub fn path(&self, prim: PrimId) -> &Path {
        &self.prims[prim.0].path
    }

    /// The prim's name alone.
    pub fn name(&self, prim: PrimId) -> &str {
        self.prims[prim.0].path.name()
    }

    /// Metadata of a prim, or of the layer.
    pub fn metadata(&mut self, prim: PrimId, key: &str, value: Value) {
        let kind = match prim {
            ROOT => SpecKind::Root,
            _ => SpecKind::Prim,
        };
        let spec = self.layer.create(&self.prims[prim.0].path, kind);
        spec.fields.set(key, value);
    }

    /// Keeps a prim's name in the file, where the prim's own had to be another.
    pub fn display_name(&mut self, prim: PrimId, name: &str) {
        if !name.is_empty() && name != self.name(prim) {
            self.metadata(prim, "displayName", extras::text(name));
        }
    }

    /// Adds data of the source file to a prim's customData, or to the layer's customLayerData, below
    /// `gltf`.
    ///
    /// # Errors
    /// More of them than the budget allows.
    pub fn source_data(&mut self, prim: PrimId, key: &str, value: Value) -> Result<()> {
        self.tally.bytes = self.tally.bytes.saturating_add(extras::bytes(&value));
        let path = self.path(prim).as_str().to_owned();
        self.charge(&path)?;
        self.prims[prim.0].source.insert(key.into(), value);
        Ok(())
    }

    /// Adds the extras of what a prim stands for to its customData.
    ///
    /// # Errors
    /// More of them than the budget allows.
    pub fn extras(&mut self, prim: PrimId, extras: Option<&serde_json::Value>) -> Result<()> {
        match extras {
            Some(extras) => self.source_data(prim, "extras", extras::value(extras)),
            None => Ok(()),
        }
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
        kind: SpecKind,
    ) -> Result<(&mut Spec, &mut Tally)> {
        let path = self.prims[prim.0].path.property(name);
        self.charge(path.as_str())?;
        self.last = path.clone();
        Ok((self.layer.create(&path, kind), &mut self.tally))
    }

    /// An attribute that may vary over time.
    pub fn attribute(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
    ) -> Result<Attribute<'_>> {
        let (spec, tally) = self.property(prim, name, SpecKind::Attribute)?;
        spec.fields.set(field::TYPE_NAME, Value::token(type_name));
        Ok(Attribute { spec, tally })
    }

    /// An attribute that may vary over time, with its value.
    pub fn set(&mut self, prim: PrimId, name: &str, type_name: &str, value: Value) -> Result<()> {
        self.attribute(prim, name, type_name)?.value(value);
        Ok(())
    }

    /// An attribute with a value that does not change, or with samples.
    pub fn sampled(
        &mut self,
        prim: PrimId,
        name: &str,
        type_name: &str,
        samples: Samples<Value>,
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
        value: Value,
    ) -> Result<Attribute<'_>> {
        let attribute = self.attribute(prim, name, type_name)?;
        let uniform = Value::Variability(Variability::Uniform);
        let attribute = attribute.metadata(field::VARIABILITY, uniform);
        Ok(attribute.value(value))
    }

    pub fn relationship(&mut self, prim: PrimId, name: &str, targets: Vec<Path>) -> Result<()> {
        let (spec, tally) = self.property(prim, name, SpecKind::Relationship)?;
        tally.bytes += targets.iter().map(|t| t.as_str().len()).sum::<usize>();
        let uniform = Value::Variability(Variability::Uniform);
        spec.fields.set(field::VARIABILITY, uniform);
        let targets = ListOp::explicit(targets);
        spec.fields
            .set(field::TARGET_PATHS, Value::PathListOp(targets.into()));
        Ok(())
    }

    /// Adds a variant of a prim, in which some prims below it are bound to materials. Prims and
    /// materials are given by their paths.
    ///
    /// # Errors
    /// More of them than the budget allows.
    pub fn variant(
        &mut self,
        prim: PrimId,
        (set, name): (&str, &str),
        binds: &[(&Path, &Path)],
    ) -> Result<()> {
        let root = self.path(prim).clone();
        let variant = root.with_variant(set, name);
        self.charge(variant.as_str())?;
        self.layer.create(&variant, SpecKind::Variant);
        for (mesh, material) in binds {
            let Some(mesh) = mesh.replace_prefix(&root, &variant) else {
                continue;
            };
            let binding = mesh.property("material:binding");
            self.charge(binding.as_str())?;
            let fields = &mut self.layer.create(&binding, SpecKind::Relationship).fields;
            let uniform = Value::Variability(Variability::Uniform);
            fields.set(field::VARIABILITY, uniform);
            let targets = ListOp::explicit(vec![(*material).clone()]);
            fields.set(field::TARGET_PATHS, Value::PathListOp(targets.into()));
        }
        Ok(())
    }

    /// Names the variant sets of a prim, and selects a variant of each.
    pub fn select_variants(&mut self, prim: PrimId, selection: Arc<BTreeMap<Token, Token>>) {
        let sets = ListOp::prepended(selection.keys().cloned().collect());
        let names = Value::StringListOp(sets.into());
        self.metadata(prim, field::VARIANT_SET_NAMES, names);
        let selection = Value::VariantSelections(selection);
        self.metadata(prim, field::VARIANT_SELECTION, selection);
    }

    /// The whole layer.
    ///
    /// # Errors
    /// Values that overflow, or more of them than the budget allows.
    pub fn finish(mut self) -> Result<Layer> {
        self.charge("/")?;
        for prim in self.prims {
            if !prim.source.is_empty() {
                let (kind, key) = match prim.path.is_root() {
                    true => (SpecKind::Root, "customLayerData"),
                    false => (SpecKind::Prim, "customData"),
                };
                let source = extras::dictionary(prim.source);
                let data = Dictionary::from([(SOURCE_DATA.into(), source)]);
                let fields = &mut self.layer.create(&prim.path, kind).fields;
                fields.set(key, extras::dictionary(data));
            }
            if !prim.apis.is_empty() {
                let apis = ListOp::prepended(prim.apis);
                self.layer
                    .create(&prim.path, SpecKind::Prim)
                    .fields
                    .set(field::API_SCHEMAS, Value::TokenListOp(apis.into()));
            }
        }
        Ok(self.layer)
    }
}

/// An attribute that is being authored.
pub(super) struct Attribute<'a> {
    spec: &'a mut Spec,
    tally: &'a mut Tally,
}

impl Attribute<'_> {
    /// The value without a time.
    pub fn value(self, value: Value) -> Self {
        self.tally.add(&value);
        self.spec.fields.set(field::DEFAULT, value);
        self
    }

    /// Values by ascending time code.
    pub fn samples(self, samples: Vec<(f64, Value)>) -> Self {
        self.tally.overflows |= samples.iter().any(|(time, _)| !time.is_finite());
        let samples = Value::TimeSamples(TimeSamples::new(samples));
        self.tally.add(&samples);
        self.spec.fields.set(field::TIME_SAMPLES, samples);
        self
    }

    pub fn metadata(self, key: &str, value: Value) -> Self {
        self.spec.fields.set(key, value);
        self
    }

    /// `interpolation` of a primvar.
    pub fn interpolation(self, token: &str) -> Self {
        self.metadata("interpolation", Value::token(token))
    }

    /// Takes its value from another property.
    pub fn connect(self, source: Path) -> Self {
        let sources = ListOp::explicit(vec![source]);
        self.metadata(field::CONNECTION_PATHS, Value::PathListOp(sources.into()))
    }
}

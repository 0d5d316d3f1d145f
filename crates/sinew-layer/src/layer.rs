//! Specs and fields of one layer.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::error::Result;
use crate::path::Path;
use crate::value::Value;

/// The names of fields that this crate itself uses.
pub mod field {
    pub const SPECIFIER: &str = "specifier";
    pub const TYPE_NAME: &str = "typeName";
    pub const DEFAULT: &str = "default";
    pub const TIME_SAMPLES: &str = "timeSamples";
    pub const SPLINE: &str = "spline";
    pub const VARIABILITY: &str = "variability";
    pub const CUSTOM: &str = "custom";
    pub const TARGET_PATHS: &str = "targetPaths";
    pub const CONNECTION_PATHS: &str = "connectionPaths";
    pub const REFERENCES: &str = "references";
    pub const PAYLOAD: &str = "payload";
    pub const INHERITS: &str = "inheritPaths";
    pub const SPECIALIZES: &str = "specializes";
    pub const VARIANT_SET_NAMES: &str = "variantSetNames";
    pub const VARIANT_SELECTION: &str = "variantSelection";
    pub const SUBLAYERS: &str = "subLayers";
    pub const SUBLAYER_OFFSETS: &str = "subLayerOffsets";
    pub const RELOCATES: &str = "relocates";
    pub const LAYER_RELOCATES: &str = "layerRelocates";
    pub const PRIM_ORDER: &str = "primOrder";
    pub const PROPERTY_ORDER: &str = "propertyOrder";
    pub const DEFAULT_PRIM: &str = "defaultPrim";
    pub const API_SCHEMAS: &str = "apiSchemas";
    pub const CLIPS: &str = "clips";
    pub const CLIP_SETS: &str = "clipSets";
    pub const ACTIVE: &str = "active";
    pub const INSTANCEABLE: &str = "instanceable";
    pub const EXPRESSION_VARIABLES: &str = "expressionVariables";
    pub const DOCUMENTATION: &str = "documentation";
    pub const COMMENT: &str = "comment";
}

/// What a spec describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecKind {
    /// The layer itself, at `/`.
    Root,
    Prim,
    Attribute,
    Relationship,
    /// At `/Prim{set=}`.
    VariantSet,
    /// At `/Prim{set=variant}`.
    Variant,
}

/// The fields of a spec, in the order in which they were authored. Specs may share them: a clone costs nothing until it
/// is changed. Of each name there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(Arc<List>);

/// Up to this many names are compared one by one; longer lists have an index.
const FEW: usize = 32;

#[derive(Clone, Debug, Default)]
struct List {
    fields: Vec<(SmolStr, Value)>,
    /// Where each name is, in lists of more than [`FEW`].
    places: Option<HashMap<SmolStr, u32, foldhash::fast::RandomState>>,
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.fields == other.fields
    }
}

impl List {
    fn new(fields: Vec<(SmolStr, Value)>) -> Self {
        let place = |(at, (name, _)): (usize, &(SmolStr, Value))| (name.clone(), at as u32);
        let places = || fields.iter().enumerate().map(place).collect();
        Self {
            places: (fields.len() > FEW).then(places),
            fields,
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(name).map(|at| *at as usize),
            None => self.fields.iter().position(|(n, _)| n == name),
        }
    }
}

impl Fields {
    /// A field's value, as it is stored.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.place(name).map(|at| &self.0.fields[at].1)
    }

    /// To change a field's value.
    #[must_use]
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let at = self.0.place(name)?;
        Some(&mut Arc::make_mut(&mut self.0).fields[at].1)
    }

    /// Sets or replaces a field.
    pub fn set(&mut self, name: impl Into<SmolStr>, value: Value) {
        let name = name.into();
        if let Some(old) = self.get_mut(&name) {
            *old = value;
            return;
        }
        let list = Arc::make_mut(&mut self.0);
        let at = list.fields.len() as u32;
        if let Some(places) = &mut list.places {
            places.insert(name.clone(), at);
        }
        list.fields.push((name, value));
        if list.places.is_none() && list.fields.len() > FEW {
            *list = List::new(std::mem::take(&mut list.fields));
        }
    }

    /// Removes a field and gives its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.0.place(name)?;
        let list = Arc::make_mut(&mut self.0);
        let (_, value) = list.fields.remove(at);
        if list.places.is_some() {
            *list = List::new(std::mem::take(&mut list.fields));
        }
        Some(value)
    }

    /// Names and values in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (SmolStr, Value)> {
        self.0.fields.iter()
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.fields.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.fields.is_empty()
    }

    /// Whether both are one list, which a writer writes once.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Where the list lies, to find lists that are the same.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl FromIterator<(SmolStr, Value)> for Fields {
    /// The names have to differ.
    fn from_iter<I: IntoIterator<Item = (SmolStr, Value)>>(iter: I) -> Self {
        Self(Arc::new(List::new(iter.into_iter().collect())))
    }
}

/// One spec: what it describes, its fields, and the names of what is below it. Lists of children are no fields here.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub kind: SpecKind,
    pub fields: Fields,
    pub(crate) below: Option<Box<Below>>,
}

/// The names below a spec, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Below {
    /// Child prims of a prim, a variant or the root; variants of a variant set.
    pub children: Vec<SmolStr>,
    pub properties: Vec<SmolStr>,
    pub variant_sets: Vec<SmolStr>,
}

impl Spec {
    /// A spec without fields.
    #[must_use]
    pub fn new(kind: SpecKind) -> Self {
        Self {
            kind,
            fields: Fields::default(),
            below: None,
        }
    }

    /// A field's value, as it is stored ([`Value::load`] decodes it).
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name)
    }

    /// Child prims of a prim, a variant or the root; variants of a variant set.
    #[must_use]
    pub fn children(&self) -> &[SmolStr] {
        self.below.as_ref().map_or(&[], |b| &b.children)
    }

    #[must_use]
    pub fn properties(&self) -> &[SmolStr] {
        self.below.as_ref().map_or(&[], |b| &b.properties)
    }

    #[must_use]
    pub fn variant_sets(&self) -> &[SmolStr] {
        self.below.as_ref().map_or(&[], |b| &b.variant_sets)
    }

    pub(crate) fn below_mut(&mut self) -> &mut Below {
        self.below.get_or_insert_default()
    }
}

/// One layer: specs by path. There is always one at `/`.
#[derive(Clone, Debug)]
pub struct Layer {
    /// How messages call it: the file's name.
    name: String,
    pub(crate) specs: HashMap<Path, Spec, foldhash::fast::RandomState>,
}

impl Layer {
    /// A layer without prims.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let mut specs = HashMap::default();
        specs.insert(Path::root(), Spec::new(SpecKind::Root));
        Self {
            name: name.into(),
            specs,
        }
    }

    /// How messages call this layer: the file's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many specs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.specs.len()
    }

    /// Whether there is nothing but the root, and the root has no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.specs.len() == 1 && self.root().fields.is_empty()
    }

    #[must_use]
    pub fn spec(&self, path: &Path) -> Option<&Spec> {
        self.specs.get(path)
    }

    /// To change a spec's fields.
    #[must_use]
    pub fn spec_mut(&mut self, path: &Path) -> Option<&mut Spec> {
        self.specs.get_mut(path)
    }

    /// The layer's own spec, which has its metadata.
    #[must_use]
    pub fn root(&self) -> &Spec {
        &self.specs[&Path::root()]
    }

    pub fn root_mut(&mut self) -> &mut Spec {
        self.specs
            .entry(Path::root())
            .or_insert_with(|| Spec::new(SpecKind::Root))
    }

    /// A field's value, decoded.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] if the value lies in a file that is broken there.
    pub fn get(&self, path: &Path, name: &str) -> Result<Option<Value>> {
        self.spec(path)
            .and_then(|s| s.get(name))
            .map(Value::load)
            .transpose()
    }

    /// Makes a spec and enters it in its parent's list. If it is there already, it is given as it is. Missing ancestors
    /// are made too: prims as `over`, variant sets and variants as such.
    pub fn create(&mut self, path: &Path, kind: SpecKind) -> &mut Spec {
        // What is missing, from below: how deep a layer nests is up to its file.
        let mut missing = Vec::new();
        let mut next = (path.clone(), kind);
        while !self.specs.contains_key(&next.0) {
            let above = parent_of(&next.0, next.1);
            missing.push(next);
            match above {
                Some(above) => next = above,
                None => break,
            }
        }
        for (made, kind) in missing.into_iter().rev() {
            if let Some((parent, _)) = parent_of(&made, kind)
                && let Some(parent) = self.specs.get_mut(&parent)
            {
                let below = parent.below_mut();
                match (kind, made.variant()) {
                    (SpecKind::Attribute | SpecKind::Relationship, _) => {
                        below.properties.push(made.name().into());
                    }
                    (SpecKind::VariantSet, Some((set, _))) => below.variant_sets.push(set.into()),
                    (SpecKind::Variant, Some((_, variant))) => below.children.push(variant.into()),
                    _ => below.children.push(made.name().into()),
                }
            }
            let mut spec = Spec::new(kind);
            if kind == SpecKind::Prim && made != *path {
                let over = Value::Specifier(crate::value::Specifier::Over);
                spec.fields.set(field::SPECIFIER, over);
            }
            self.specs.insert(made, spec);
        }
        self.specs.get_mut(path).expect("it was made")
    }

    /// Removes a spec with all below it. The root only loses its fields and children.
    pub fn remove(&mut self, path: &Path) {
        let mut below = Vec::new();
        self.walk(path, &mut |p, _| below.push(p.clone()));
        for path in below {
            self.specs.remove(&path);
        }
        if path.is_root() {
            self.root_mut();
            return;
        }
        let (parent, name) = match path.variant() {
            Some((_, "")) | None => (path.parent(), path.name()),
            Some((set, variant)) => (path.parent().map(|p| p.with_variant(set, "")), variant),
        };
        let name = name
            .strip_suffix('=')
            .filter(|_| path.is_variant())
            .unwrap_or(name);
        if let Some(below) = parent.and_then(|p| self.specs.get_mut(&p)?.below.as_mut()) {
            for list in [
                &mut below.children,
                &mut below.properties,
                &mut below.variant_sets,
            ] {
                list.retain(|n| n != name);
            }
        }
    }

    /// Calls `visit` for a spec and all below it, parents first, in the layer's order: the spec, its properties, its
    /// variant sets with their variants, its children. Names without a spec are passed over.
    pub fn walk<'a>(&'a self, path: &Path, visit: &mut dyn FnMut(&Path, &'a Spec)) {
        // A stack of its own: how deep a layer nests is up to its file.
        let mut stack = vec![path.clone()];
        while let Some(path) = stack.pop() {
            let Some(spec) = self.specs.get(&path) else {
                continue;
            };
            visit(&path, spec);
            for name in spec.properties() {
                let path = path.property(name);
                if let Some(spec) = self.specs.get(&path) {
                    visit(&path, spec);
                }
            }
            match spec.kind {
                SpecKind::VariantSet => {
                    let set = path.variant().map_or("", |(set, _)| set);
                    let prim = path.parent().unwrap_or_default();
                    stack.extend(
                        spec.children()
                            .iter()
                            .rev()
                            .map(|v| prim.with_variant(set, v)),
                    );
                }
                _ => {
                    stack.extend(spec.children().iter().rev().map(|name| path.child(name)));
                    let sets = spec.variant_sets().iter().rev();
                    stack.extend(sets.map(|set| path.with_variant(set, "")));
                }
            }
        }
    }
}

/// The path and kind of the spec in whose list a spec of this kind is. None for the root.
fn parent_of(path: &Path, kind: SpecKind) -> Option<(Path, SpecKind)> {
    let parent = path.parent()?;
    // The set of a variant stands beside it: `/A{v=}` is above `/A{v=x}`.
    Some(match (kind, path.variant()) {
        (SpecKind::Variant, Some((set, _))) => (parent.with_variant(set, ""), SpecKind::VariantSet),
        _ if parent.is_root() => (parent, SpecKind::Root),
        _ if parent.is_variant() => (parent, SpecKind::Variant),
        _ => (parent, SpecKind::Prim),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        Path::parse(text).unwrap()
    }

    #[test]
    fn deep_specs_need_no_stack() {
        let deep = path(&"/a".repeat(20_000));
        let mut layer = Layer::new("test");
        layer.create(&deep, SpecKind::Prim);
        assert_eq!(layer.len(), 20_001);
    }

    #[test]
    fn specs_are_made_with_their_ancestors_and_removed_with_what_is_below() {
        let mut layer = Layer::new("test");
        layer.create(&path("/A/B.c"), SpecKind::Attribute);
        layer.create(&path("/A{v=x}D"), SpecKind::Prim);
        let mut seen = Vec::new();
        layer.walk(&Path::root(), &mut |p, s| {
            seen.push((p.to_string(), s.kind))
        });
        assert_eq!(
            seen,
            [
                ("/", SpecKind::Root),
                ("/A", SpecKind::Prim),
                ("/A{v=}", SpecKind::VariantSet),
                ("/A{v=x}", SpecKind::Variant),
                ("/A{v=x}D", SpecKind::Prim),
                ("/A/B", SpecKind::Prim),
                ("/A/B.c", SpecKind::Attribute),
            ]
            .map(|(p, k)| (p.to_owned(), k))
        );
        layer.remove(&path("/A{v=}"));
        assert!(layer.spec(&path("/A{v=x}D")).is_none());
        assert!(layer.spec(&path("/A")).unwrap().variant_sets().is_empty());
        layer.remove(&path("/A/B.c"));
        assert!(layer.spec(&path("/A/B")).unwrap().properties().is_empty());
        layer.remove(&Path::root());
        assert!(layer.is_empty());
    }
}

//! Prims of a stage.

use std::fmt;

use sinew_layer::layer::field;
use sinew_layer::value::Specifier;
use sinew_layer::{Path, SpecKind, Token, Value};

use crate::attribute::Attribute;
use crate::compose::{Node, Opinion, VariantSet};
use crate::error::Result;
use crate::metadata::{self, SpecOpinion};
use crate::names;
use crate::population::{NONE, PrimData};
use crate::relationship::Relationship;
use crate::schema::PrimType;
use crate::stage::Stage;

/// Which prims a traversal gives: each flag that is `Some` has to be as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    pub active: Option<bool>,
    pub loaded: Option<bool>,
    pub defined: Option<bool>,
    pub abstract_: Option<bool>,
    /// Whether prims below instances are given too, as instance proxies.
    pub instance_proxies: bool,
}

impl Predicate {
    /// Active, loaded, defined and not abstract: what a renderer shows. Without prims below instances.
    pub const DEFAULT: Self = Self {
        active: Some(true),
        loaded: Some(true),
        defined: Some(true),
        abstract_: Some(false),
        instance_proxies: false,
    };
    /// As [`Predicate::DEFAULT`], with prims below instances.
    pub const DEFAULT_PROXIES: Self = Self {
        instance_proxies: true,
        ..Self::DEFAULT
    };
    /// Every prim, but none below instances.
    pub const ALL: Self = Self {
        active: None,
        loaded: None,
        defined: None,
        abstract_: None,
        instance_proxies: false,
    };
    /// Every prim, and those below instances.
    pub const ALL_PROXIES: Self = Self {
        instance_proxies: true,
        ..Self::ALL
    };
}

impl Predicate {
    fn accepts(&self, prim: Prim<'_>) -> bool {
        let flags = prim.data().flags;
        let fits = |wanted: Option<bool>, is: bool| wanted.is_none_or(|w| w == is);
        fits(self.active, flags.active)
            && fits(self.loaded, flags.loaded)
            && fits(self.defined, flags.defined)
            && fits(self.abstract_, flags.abstract_)
    }
}

/// A prim of a stage.
#[derive(Clone, Copy)]
pub struct Prim<'s> {
    pub(crate) stage: &'s Stage,
    /// Which prim; of an instance proxy the one in the prototype.
    pub(crate) id: u32,
    /// Through which instances an instance proxy is seen; 0 for others.
    pub(crate) chain: u32,
}

impl PartialEq for Prim<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.stage, other.stage) && (self.id, self.chain) == (other.id, other.chain)
    }
}

impl Eq for Prim<'_> {}

impl fmt::Debug for Prim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Prim({})", self.path())
    }
}

impl<'s> Prim<'s> {
    pub(crate) fn data(self) -> &'s PrimData {
        self.stage.data(self.id)
    }

    pub(crate) fn kind(self) -> &'s PrimType {
        &self.stage.population().types[self.data().kind as usize]
    }

    #[must_use]
    pub fn stage(self) -> &'s Stage {
        self.stage
    }

    /// The path in the stage.
    #[must_use]
    pub fn path(self) -> Path {
        let mut path = self.data().path.clone();
        let mut at = self;
        // Each instance on the way replaces the path of its prototype.
        while let Some(instance) = self.stage.instance(at.chain) {
            let data = instance.data();
            if data.prototype != NONE {
                let prototype = &self.stage.data(data.prototype).path;
                path = path.replace_prefix(prototype, &data.path).unwrap_or(path);
            }
            at = instance;
        }
        path
    }

    #[must_use]
    pub fn name(self) -> &'s str {
        self.data().path.name()
    }

    /// The prim above; none for the pseudo root. Above a prototype is the pseudo root.
    #[must_use]
    pub fn parent(self) -> Option<Prim<'s>> {
        let parent = self.data().parent;
        if parent == NONE {
            return None;
        }
        if self.chain != 0 && self.stage.data(parent).flags.prototype {
            return self.stage.instance(self.chain);
        }
        Some(self.stage.handle(parent, self.chain))
    }

    /// All children, those of an instance through its prototype.
    fn all_children(self) -> impl DoubleEndedIterator<Item = Prim<'s>> {
        let data = self.data();
        let (owner, chain) = match data.prototype {
            NONE => (data, self.chain),
            prototype => (
                self.stage.data(prototype),
                self.stage.chain(self.chain, self.id),
            ),
        };
        let ids = owner.first_child..owner.first_child + owner.child_count;
        ids.map(move |id| self.stage.handle(id, chain))
    }

    /// The children that `predicate` lets through, in order. Those of an instance only if it asks for instance proxies;
    /// those of an instance proxy in any case.
    pub fn children(self, predicate: Predicate) -> impl DoubleEndedIterator<Item = Prim<'s>> {
        let closed = self.is_instance() && !predicate.instance_proxies && self.chain == 0;
        let children = (!closed).then(|| self.all_children());
        children
            .into_iter()
            .flatten()
            .filter(move |child| predicate.accepts(*child))
    }

    /// The child of this name, whatever it is.
    #[must_use]
    pub fn child(self, name: &str) -> Option<Prim<'s>> {
        if !sinew_layer::path::is_identifier(name) {
            return None;
        }
        let data = self.data();
        let (owner, chain) = match data.prototype {
            NONE => (data, self.chain),
            prototype => (
                self.stage.data(prototype),
                self.stage.chain(self.chain, self.id),
            ),
        };
        let id = self.stage.id_at(&owner.path.child(name))?;
        Some(self.stage.handle(id, chain))
    }

    /// All prims below this one that `predicate` lets through, parents before children.
    #[must_use]
    pub fn descendants(self, predicate: Predicate) -> Traversal<'s> {
        let stack = self.children(predicate).rev().collect();
        Traversal {
            stack,
            last: None,
            predicate,
        }
    }

    /// The type, such as `Mesh`; empty if there is none.
    #[must_use]
    pub fn type_name(self) -> &'s str {
        &self.kind().name
    }

    #[must_use]
    pub fn specifier(self) -> Specifier {
        self.data().specifier
    }

    /// Whether it and all above it are active.
    #[must_use]
    pub fn is_active(self) -> bool {
        self.data().flags.active
    }

    /// Whether it and all above it are defined: by `def` or `class`.
    #[must_use]
    pub fn is_defined(self) -> bool {
        self.data().flags.defined
    }

    /// Whether it or one above it is a `class`.
    #[must_use]
    pub fn is_abstract(self) -> bool {
        self.data().flags.abstract_
    }

    /// Whether its payloads and those above it are loaded; so too if there are none.
    #[must_use]
    pub fn is_loaded(self) -> bool {
        self.data().flags.loaded
    }

    /// Whether it is an instance: what is below it is in its prototype.
    #[must_use]
    pub fn is_instance(self) -> bool {
        self.data().flags.instance
    }

    /// Whether it lies below an instance: its opinions are those of a prim in the prototype.
    #[must_use]
    pub fn is_instance_proxy(self) -> bool {
        self.chain != 0
    }

    /// Whether it is a prototype.
    #[must_use]
    pub fn is_prototype(self) -> bool {
        self.data().flags.prototype && self.chain == 0
    }

    /// The prototype of an instance.
    #[must_use]
    pub fn prototype(self) -> Option<Prim<'s>> {
        let prototype = self.data().prototype;
        (prototype != NONE).then(|| self.stage.handle(prototype, 0))
    }

    /// The prim in the prototype that an instance proxy shows.
    #[must_use]
    pub fn prim_in_prototype(self) -> Option<Prim<'s>> {
        (self.chain != 0).then(|| self.stage.handle(self.id, 0))
    }

    /// The instances of a prototype.
    pub fn instances(self) -> impl Iterator<Item = Prim<'s>> {
        let instances = self.stage.population().instances.get(&self.id);
        let ids = instances.into_iter().flatten();
        ids.map(move |id| self.stage.handle(*id, 0))
    }

    /// Whether its type is `schema` or derives from it: `Boundable`, `Imageable`, `Typed`.
    #[must_use]
    pub fn is_a(self, schema: &str) -> bool {
        self.kind().is_a(schema)
    }

    /// Whether an API schema is applied or built in: `SkelBindingAPI`, `CollectionAPI` (any instance of it) or
    /// `CollectionAPI:lightLink`.
    #[must_use]
    pub fn has_api(self, schema: &str) -> bool {
        self.kind().has_api(schema)
    }

    /// The API schemas: those that are built into the type, those that are authored, and those that these bring with them.
    #[must_use]
    pub fn applied_schemas(self) -> &'s [Token] {
        &self.kind().apis
    }

    /// The names of properties that have a spec, in order.
    #[must_use]
    pub fn authored_property_names(self) -> Vec<Token> {
        self.ordered(
            self.opinions()
                .flat_map(|o| o.spec.properties())
                .cloned()
                .collect(),
        )
    }

    /// The names of all properties: those of the schemas and those that have a spec, in order.
    #[must_use]
    pub fn property_names(self) -> Vec<Token> {
        let authored = self.opinions().flat_map(|o| o.spec.properties());
        self.ordered(
            authored
                .chain(self.kind().property_names())
                .cloned()
                .collect(),
        )
    }

    /// Sorts names of properties, then puts those in place that the strongest `propertyOrder` has.
    fn ordered(self, mut all: Vec<Token>) -> Vec<Token> {
        names::sort(&mut all);
        let order = self
            .opinions()
            .find_map(|o| o.spec.get(field::PROPERTY_ORDER));
        if let Some(Ok(Value::TokenVector(order))) = order.map(Value::load) {
            names::apply_order(&mut all, &order);
        }
        all
    }

    /// A handle to an attribute, whether or not it is there ([`Attribute::is_defined`]).
    #[must_use]
    pub fn attribute<'n>(self, name: &'n str) -> Attribute<'s, 'n> {
        Attribute { prim: self, name }
    }

    /// A handle to a relationship, whether or not it is there ([`Relationship::is_defined`]).
    #[must_use]
    pub fn relationship<'n>(self, name: &'n str) -> Relationship<'s, 'n> {
        Relationship { prim: self, name }
    }

    /// Whether a property of this name is an attribute (`Some(true)`) or a relationship: by its schema, else by its strongest
    /// spec.
    #[must_use]
    pub fn property_is_attribute(self, name: &str) -> Option<bool> {
        let kind = match self.kind().property(name) {
            Some(spec) => spec.kind,
            None => self.property_opinions(name).next()?.spec.kind,
        };
        Some(kind == SpecKind::Attribute)
    }

    /// A field's composed value: dictionaries are merged key by key, edits of lists applied to a whole list; of
    /// others the strongest opinion counts.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn metadata(self, name: &str) -> Result<Option<Value>> {
        if self.data().parent == NONE {
            return self.stage.authored_metadata(name);
        }
        match name {
            field::TYPE_NAME => {
                let name = self.kind().name.clone();
                Ok(Some(Value::Token(name)).filter(|_| !self.kind().name.is_empty()))
            }
            field::SPECIFIER => Ok(Some(Value::Specifier(self.specifier()))),
            _ => metadata::compose(self, self.spec_opinions(), name, None, None),
        }
    }

    /// The names of all fields that have an opinion, sorted, without those of arcs, clips and lists of what is below.
    #[must_use]
    pub fn authored_metadata_names(self) -> Vec<Token> {
        if self.data().parent == NONE {
            return self.stage.authored_metadata_names();
        }
        let fields = self.opinions().flat_map(|o| o.spec.fields.iter());
        let mut all: Vec<Token> = fields
            .map(|(n, _)| n.clone())
            .filter(|n| !metadata::is_private(n))
            .collect();
        if self.opinions().next().is_some() {
            all.push(Token::new_static(field::SPECIFIER));
        }
        names::sort(&mut all);
        all
    }

    /// The opinions, strongest first. A prototype has none.
    pub fn opinions(self) -> impl Iterator<Item = Opinion<'s>> {
        let data = self.data();
        let index = (!data.flags.prototype).then_some(&data.index);
        index.into_iter().flat_map(|i| i.opinions())
    }

    pub(crate) fn spec_opinions(self) -> impl Iterator<Item = SpecOpinion<'s>> {
        let index = &self.data().index;
        self.opinions().map(|opinion| SpecOpinion {
            node: opinion.node,
            layer: opinion.layer,
            path: opinion.path.clone(),
            spec: opinion.spec,
            offset: index.offset(&opinion),
        })
    }

    /// The nodes that can have specs of a property, strongest first; with `all` the others too.
    pub(crate) fn nodes_with(
        self,
        name: &str,
        all: bool,
    ) -> impl Iterator<Item = (usize, &'s Node)> + use<'s> {
        let index = &self.data().index;
        let known = match all {
            true => None,
            false => index.property_nodes(&self.stage.population().property_room),
        };
        let listed = known.map(|known| known.get(name).map_or(&[][..], |nodes| &nodes[..]));
        let others = listed.map_or(0..index.nodes().len(), |_| 0..0);
        let listed = listed.into_iter().flatten().map(|i| *i as usize);
        listed.chain(others).map(|i| (i, &index.nodes()[i]))
    }

    /// The specs of a property, strongest first.
    pub fn property_opinions(self, name: &str) -> impl Iterator<Item = SpecOpinion<'s>> {
        let is_name = sinew_layer::path::is_property_name(name);
        let is_there = is_name && !self.data().flags.prototype;
        let name = Token::new(name);
        let nodes = is_there.then(|| self.nodes_with(&name, false));
        let nodes = nodes.into_iter().flatten().filter(|(_, n)| n.has_specs);
        nodes.flat_map(move |(i, node)| {
            let path = node.path.property(&name);
            node.stack.layers.iter().filter_map(move |layer| {
                let spec = layer.layer.spec(&path)?;
                Some(SpecOpinion {
                    node: i,
                    layer,
                    path: path.clone(),
                    spec,
                    offset: node.map.offset().after(&layer.offset),
                })
            })
        })
    }

    /// A path in the namespace of a node of this prim's index as a path of the stage, as this prim sees it: below the
    /// instance for an instance proxy, in the prototype for its prims. None if the arcs do not reach it.
    #[must_use]
    pub fn map_from_node(self, node: usize, path: &Path) -> Option<Path> {
        let mapped = self.data().index.map_to_stage(node, path)?;
        Some(self.source_to_stage(mapped))
    }

    /// A path below the instance that a prototype was made from becomes a path below this prim's instance or prototype.
    pub(crate) fn source_to_stage(self, path: Path) -> Path {
        if !self.data().flags.in_prototype {
            return path;
        }
        let mut best: Option<(Path, Prim<'s>)> = None;
        // What an instance itself says belongs to what is above it.
        let start = if self.is_instance() {
            self.parent()
        } else {
            Some(self)
        };
        let mut at = start;
        while let Some(prim) = at {
            let data = prim.data();
            let prototype = match (data.prototype, data.flags.prototype) {
                (NONE, true) => Some(data),
                (NONE, false) => None,
                (prototype, _) => Some(self.stage.data(prototype)),
            };
            if let Some(prototype) = prototype {
                let source = prototype.index.path();
                let longer = best
                    .as_ref()
                    .is_none_or(|(b, _)| source.as_str().len() > b.as_str().len());
                if longer && path.has_prefix(source) {
                    best = Some((source.clone(), prim));
                }
            }
            at = prim.parent();
        }
        match best {
            Some((source, prim)) => path.replace_prefix(&source, &prim.path()).unwrap_or(path),
            None => path,
        }
    }

    /// The variant sets, each with its variants in the order of their names and the one that is selected.
    #[must_use]
    pub fn variant_sets(self) -> Vec<VariantSet> {
        if self.is_prototype() {
            return Vec::new();
        }
        let mut sets = self.data().index.variant_sets();
        for set in &mut sets {
            set.variants.sort();
        }
        sets
    }
}

/// Prims in namespace order. [`Traversal::skip_children`] leaves out what is below the last one.
pub struct Traversal<'s> {
    stack: Vec<Prim<'s>>,
    /// The prim that was given last, if its children are not on the stack yet.
    last: Option<Prim<'s>>,
    predicate: Predicate,
}

impl Traversal<'_> {
    /// Leaves out what is below the prim that was given last.
    pub fn skip_children(&mut self) {
        self.last = None;
    }
}

impl<'s> Iterator for Traversal<'s> {
    type Item = Prim<'s>;

    fn next(&mut self) -> Option<Prim<'s>> {
        if let Some(last) = self.last.take() {
            self.stack.extend(last.children(self.predicate).rev());
        }
        self.last = self.stack.pop();
        self.last
    }
}

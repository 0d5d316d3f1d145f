//! Prims of a stage.

use std::fmt;

use sinew_layer::value::Specifier;
use sinew_layer::{Path, Token, Value};

use crate::attribute::Attribute;
use crate::compose::Opinion;
use crate::error::Result;
use crate::relationship::Relationship;
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
    #[must_use]
    pub fn stage(self) -> &'s Stage {
        self.stage
    }

    /// The path in the stage.
    #[must_use]
    pub fn path(self) -> Path {
        Path::root()
    }

    #[must_use]
    pub fn name(self) -> &'s str {
        ""
    }

    /// The prim above; none for the pseudo root. Above a prototype is the pseudo root.
    #[must_use]
    pub fn parent(self) -> Option<Prim<'s>> {
        None
    }

    /// The children that `predicate` lets through, in order.
    pub fn children(self, predicate: Predicate) -> impl Iterator<Item = Prim<'s>> {
        let _ = predicate;
        std::iter::empty()
    }

    /// The child of this name, whatever it is.
    #[must_use]
    pub fn child(self, name: &str) -> Option<Prim<'s>> {
        let _ = name;
        None
    }

    /// All prims below this one that `predicate` lets through, parents before children.
    #[must_use]
    pub fn descendants(self, predicate: Predicate) -> Traversal<'s> {
        let _ = predicate;
        Traversal {
            stack: Vec::new(),
            predicate,
        }
    }

    /// The type, such as `Mesh`; empty if there is none.
    #[must_use]
    pub fn type_name(self) -> &'s str {
        ""
    }

    #[must_use]
    pub fn specifier(self) -> Specifier {
        Specifier::Over
    }

    /// Whether it and all above it are active.
    #[must_use]
    pub fn is_active(self) -> bool {
        true
    }

    /// Whether it and all above it are defined: by `def` or `class`.
    #[must_use]
    pub fn is_defined(self) -> bool {
        true
    }

    /// Whether it or one above it is a `class`.
    #[must_use]
    pub fn is_abstract(self) -> bool {
        false
    }

    /// Whether its payloads and those above it are loaded; so too if there are none.
    #[must_use]
    pub fn is_loaded(self) -> bool {
        true
    }

    /// Whether it is an instance: what is below it is in its prototype.
    #[must_use]
    pub fn is_instance(self) -> bool {
        false
    }

    /// Whether it lies below an instance: its opinions are those of a prim in the prototype.
    #[must_use]
    pub fn is_instance_proxy(self) -> bool {
        self.chain != 0
    }

    /// Whether it is a prototype.
    #[must_use]
    pub fn is_prototype(self) -> bool {
        false
    }

    /// Whether it is a prototype or lies below one. False for instance proxies.
    #[must_use]
    pub fn is_in_prototype(self) -> bool {
        false
    }

    /// The prototype of an instance.
    #[must_use]
    pub fn prototype(self) -> Option<Prim<'s>> {
        None
    }

    /// The prim in the prototype that an instance proxy shows.
    #[must_use]
    pub fn prim_in_prototype(self) -> Option<Prim<'s>> {
        None
    }

    /// The instances of a prototype.
    pub fn instances(self) -> impl Iterator<Item = Prim<'s>> {
        std::iter::empty()
    }

    /// Whether its type is `schema` or derives from it: `Boundable`, `Imageable`, `Typed`.
    #[must_use]
    pub fn is_a(self, schema: &str) -> bool {
        let _ = schema;
        false
    }

    /// Whether an API schema is applied or built in: `SkelBindingAPI`, `CollectionAPI` (any instance of it) or
    /// `CollectionAPI:lightLink`.
    #[must_use]
    pub fn has_api(self, schema: &str) -> bool {
        let _ = schema;
        false
    }

    /// The API schemas: those that are authored, those built in, and those that these bring with them.
    #[must_use]
    pub fn applied_schemas(self) -> &'s [Token] {
        &[]
    }

    /// The names of properties that have a spec, in order.
    #[must_use]
    pub fn authored_property_names(self) -> Vec<Token> {
        Vec::new()
    }

    /// The names of all properties: those of the schemas and those that have a spec, in order.
    #[must_use]
    pub fn property_names(self) -> Vec<Token> {
        Vec::new()
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

    /// Whether a property of this name is an attribute (`Some(true)`) or a relationship, by its strongest spec or its schema.
    #[must_use]
    pub fn property_is_attribute(self, name: &str) -> Option<bool> {
        let _ = name;
        None
    }

    /// A field's composed value: dictionaries are merged key by key, edits of lists applied to a whole list; of
    /// others the strongest opinion counts, else the schema's fallback.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn metadata(self, name: &str) -> Result<Option<Value>> {
        let _ = name;
        Ok(None)
    }

    /// The names of all fields that have an opinion, sorted.
    #[must_use]
    pub fn authored_metadata_names(self) -> Vec<Token> {
        Vec::new()
    }

    /// The opinions, strongest first.
    pub fn opinions(self) -> impl Iterator<Item = Opinion<'s>> {
        std::iter::empty()
    }

    /// The variant sets, in order, each with the names of its variants.
    #[must_use]
    pub fn variant_sets(self) -> Vec<(Token, Vec<Token>)> {
        Vec::new()
    }

    /// The variant of a set that is selected.
    #[must_use]
    pub fn variant_selection(self, set: &str) -> Option<Token> {
        let _ = set;
        None
    }
}

/// Prims in namespace order. [`Traversal::skip_children`] leaves out what is below the last one.
pub struct Traversal<'s> {
    stack: Vec<Prim<'s>>,
    predicate: Predicate,
}

impl Traversal<'_> {
    /// Leaves out what is below the prim that was given last.
    pub fn skip_children(&mut self) {
        let _ = self.predicate;
    }
}

impl<'s> Iterator for Traversal<'s> {
    type Item = Prim<'s>;

    fn next(&mut self) -> Option<Prim<'s>> {
        self.stack.pop()
    }
}

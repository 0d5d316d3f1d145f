//! Relationships and their targets.

use sinew_layer::{Path, Token, Value};

use crate::compose::Opinion;
use crate::error::Result;
use crate::prim::Prim;

/// A handle to a relationship of a prim, whether or not it is there.
#[derive(Clone, Copy)]
pub struct Relationship<'s, 'n> {
    pub(crate) prim: Prim<'s>,
    pub(crate) name: &'n str,
}

impl<'s, 'n> Relationship<'s, 'n> {
    #[must_use]
    pub fn prim(self) -> Prim<'s> {
        self.prim
    }

    #[must_use]
    pub fn name(self) -> &'n str {
        self.name
    }

    #[must_use]
    pub fn path(self) -> Path {
        self.prim.path().property(self.name)
    }

    /// Whether there is a spec, or the prim's schemas have it.
    #[must_use]
    pub fn is_defined(self) -> bool {
        false
    }

    /// Whether there is a spec.
    #[must_use]
    pub fn is_authored(self) -> bool {
        false
    }

    #[must_use]
    pub fn is_custom(self) -> bool {
        false
    }

    /// The targets, as paths of the stage.
    #[must_use]
    pub fn targets(self) -> Vec<Path> {
        Vec::new()
    }

    /// The targets; in place of a target that is a relationship its own targets.
    #[must_use]
    pub fn forwarded_targets(self) -> Vec<Path> {
        Vec::new()
    }

    /// Whether targets are authored: an empty list is.
    #[must_use]
    pub fn has_authored_targets(self) -> bool {
        false
    }

    /// A field's composed value.
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

    /// The specs, strongest first.
    pub fn opinions(self) -> impl Iterator<Item = Opinion<'s>> {
        std::iter::empty()
    }
}

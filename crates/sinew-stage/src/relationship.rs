//! Relationships and their targets.

use std::collections::HashSet;

use sinew_layer::layer::field;
use sinew_layer::value::Variability;
use sinew_layer::{Path, SpecKind, Token, Value};

use crate::error::Result;
use crate::metadata::{self, SpecOpinion};
use crate::names;
use crate::prim::Prim;
use crate::targets;

/// How many relationships are followed from one to the next before targets that remain are left out.
const MAX_FORWARDED: usize = 100_000;

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
        self.prim.property_is_attribute(self.name) == Some(false)
    }

    /// Whether there is a spec.
    #[must_use]
    pub fn is_authored(self) -> bool {
        self.opinions().next().is_some()
    }

    #[must_use]
    pub fn is_custom(self) -> bool {
        metadata::is_custom(self.prim, self.name)
    }

    /// The targets, as paths of the stage.
    #[must_use]
    pub fn targets(self) -> Vec<Path> {
        targets::compose(self.prim, self.name, field::TARGET_PATHS).unwrap_or_default()
    }

    /// The targets; in place of a target that is a relationship its own targets.
    #[must_use]
    pub fn forwarded_targets(self) -> Vec<Path> {
        self.follow().0
    }

    /// Whether relationships that forward to each other in a circle are all that the targets lead to.
    #[must_use]
    pub fn forwards_in_circle(self) -> bool {
        let (targets, has_end) = self.follow();
        targets.is_empty() && !has_end
    }

    /// The forwarded targets, and whether the way ends at a relationship without any.
    fn follow(self) -> (Vec<Path>, bool) {
        let stage = self.prim.stage();
        let mut out = Vec::new();
        let (mut seen, mut visited) = (HashSet::new(), HashSet::new());
        let mut stack: Vec<Path> = self.targets();
        let mut has_end = stack.is_empty();
        stack.reverse();
        while let Some(target) = stack.pop() {
            let relationship = target.split_property().and_then(|(prim, name)| {
                let prim = stage.prim(&prim)?;
                (prim.property_is_attribute(name) == Some(false)).then(|| (prim, name.to_owned()))
            });
            match relationship {
                Some((prim, name)) => {
                    if visited.len() < MAX_FORWARDED && visited.insert(target) {
                        let further = prim.relationship(&name).targets();
                        has_end |= further.is_empty();
                        stack.extend(further.into_iter().rev());
                    }
                }
                None => {
                    if seen.insert(target.clone()) {
                        out.push(target);
                    }
                }
            }
        }
        (out, has_end)
    }

    /// Whether targets are authored: an empty list is.
    #[must_use]
    pub fn has_authored_targets(self) -> bool {
        self.opinions()
            .any(|o| o.spec.get(field::TARGET_PATHS).is_some())
    }

    /// A field's composed value.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn metadata(self, name: &str) -> Result<Option<Value>> {
        let fallback = self.prim.kind().property_field(self.name, name);
        match name {
            field::CUSTOM => Ok(Some(Value::Bool(self.is_custom()))),
            field::VARIABILITY => {
                let value = metadata::compose(self.prim, self.opinions(), name, fallback, None)?;
                Ok(value.or(Some(Value::Variability(Variability::Uniform))))
            }
            _ => metadata::compose(self.prim, self.opinions(), name, fallback, None),
        }
    }

    /// The names of all fields that have an opinion, sorted, without the targets.
    #[must_use]
    pub fn authored_metadata_names(self) -> Vec<Token> {
        let mut all = metadata::names_of(self.opinions());
        all.extend([field::CUSTOM, field::VARIABILITY].map(Token::new_static));
        names::sort(&mut all);
        all
    }

    /// The specs, strongest first.
    pub fn opinions(self) -> impl Iterator<Item = SpecOpinion<'s>> {
        let all = self.prim.property_opinions(self.name);
        all.filter(|o| o.spec.kind == SpecKind::Relationship)
    }
}

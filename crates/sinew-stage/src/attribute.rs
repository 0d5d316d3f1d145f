//! Attributes: what they are, and their values at any time.

use std::sync::Arc;

use sinew_layer::value::{Spline, Variability};
use sinew_layer::{Path, TimeSamples, Token, Value};

use crate::compose::Opinion;
use crate::error::Result;
use crate::prim::Prim;

/// Where an attribute's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// There is no value.
    None,
    /// The schema's fallback.
    Fallback,
    Default,
    TimeSamples,
    Spline,
    /// Value clips.
    Clips,
}

/// An asset path with what it resolves to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResolvedAsset {
    /// As the layer has it.
    pub authored: Token,
    /// With its expression variables put in; the authored path if it is no expression.
    pub evaluated: Token,
    /// The identifier; empty if nothing is there.
    pub resolved: String,
}

/// A handle to an attribute of a prim, whether or not it is there.
#[derive(Clone, Copy)]
pub struct Attribute<'s, 'n> {
    pub(crate) prim: Prim<'s>,
    pub(crate) name: &'n str,
}

impl<'s, 'n> Attribute<'s, 'n> {
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

    /// The type, such as `point3f[]`: the schema's, else that of the strongest spec. Empty if there is none.
    #[must_use]
    pub fn type_name(self) -> Token {
        Token::default()
    }

    #[must_use]
    pub fn variability(self) -> Variability {
        Variability::Varying
    }

    #[must_use]
    pub fn is_custom(self) -> bool {
        false
    }

    /// A field's composed value; not of values, which [`Attribute::get`] gives.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn metadata(self, name: &str) -> Result<Option<Value>> {
        let _ = name;
        Ok(None)
    }

    /// The names of all fields that have an opinion, sorted; values and connections among them.
    #[must_use]
    pub fn authored_metadata_names(self) -> Vec<Token> {
        Vec::new()
    }

    /// The specs, strongest first.
    pub fn opinions(self) -> impl Iterator<Item = Opinion<'s>> {
        std::iter::empty()
    }

    /// Where the value at a time comes from; `None` is the default time.
    #[must_use]
    pub fn source(self, time: Option<f64>) -> Source {
        let _ = time;
        Source::None
    }

    /// The value at the default time, the schema's fallback included.
    ///
    /// # Errors
    /// The value lies in a file that is broken there.
    pub fn default(self) -> Result<Option<Value>> {
        self.get(None)
    }

    /// The time samples that win, if samples do: at times of the stage. Values of type `timecode` are of the stage too.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn samples(self) -> Result<Option<TimeSamples>> {
        Ok(None)
    }

    /// The spline that wins, if one does: at times of the stage.
    #[must_use]
    pub fn spline(self) -> Option<Arc<Spline>> {
        None
    }

    /// The times of samples of the stage: of time samples, of a spline's knots, or of value clips.
    ///
    /// # Errors
    /// A clip cannot be read.
    pub fn times(self) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    /// The value at a time of the stage (`None` is the default time), as usd-core resolves and interpolates it. None if
    /// there is no value or if it is blocked.
    ///
    /// # Errors
    /// A value lies in a file that is broken there.
    pub fn get(self, time: Option<f64>) -> Result<Option<Value>> {
        let _ = time;
        Ok(None)
    }

    /// Whether a layer or a clip has a value; a block is none.
    #[must_use]
    pub fn has_authored_value(self) -> bool {
        false
    }

    /// Whether there is a value: authored or the schema's fallback.
    #[must_use]
    pub fn has_value(self) -> bool {
        false
    }

    /// Whether there may be more than one value over time.
    #[must_use]
    pub fn might_be_time_varying(self) -> bool {
        false
    }

    /// Whether the strongest opinion is `None`: a block.
    #[must_use]
    pub fn is_blocked(self) -> bool {
        false
    }

    /// The sources of the connections, as paths of the stage.
    #[must_use]
    pub fn connections(self) -> Vec<Path> {
        Vec::new()
    }

    /// Whether connections are authored.
    #[must_use]
    pub fn has_authored_connections(self) -> bool {
        false
    }

    /// The asset path at a time, resolved from the layer that has it. None if the value is no asset path.
    ///
    /// # Errors
    /// As [`Attribute::get`].
    pub fn asset(self, time: Option<f64>) -> Result<Option<ResolvedAsset>> {
        let _ = time;
        Ok(None)
    }

    /// The asset paths of an array, resolved from the layer that has it. None if the value is no array of asset paths.
    ///
    /// # Errors
    /// As [`Attribute::get`].
    pub fn assets(self, time: Option<f64>) -> Result<Option<Vec<ResolvedAsset>>> {
        let _ = time;
        Ok(None)
    }
}

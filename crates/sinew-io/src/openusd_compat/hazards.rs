//! Works around: values that openusd 0.8 reads or writes wrongly without an error. They are reported, and refused where a file
//! would be written that holds them changed.
//!
//! - A spline is not read: the attribute's default counts. The writer of .usda changes its extrapolation and loops, and the
//!   one of .usdc has no splines.
//! - In .usdc a single half2 comes out as another one, and a single pathExpression as an empty one.
//! - In .usdc, a negative int64 reads as a positive one, and 64-bit integer arrays that take more room than as many of
//!   32 bits do not decode, so that time samples of them are gone.
//!
//! See the fault: write `half2 a = (1, 2)` to .usdc by openusd and read it again: (0.0001, 0).
//!
//! Test: `splines_are_told_and_not_written`, `what_a_spline_moves_is_refused` and those beside them in
//! `crates/sinew-cli/tests/commands/types.rs`.
//!
//! Goes when: those tests pass with the values kept, kind by kind.

use std::path::Path;

use openusd::sdf::{self, AbstractData, Value};
use openusd::usd;

use crate::error::{Error, Result};
use crate::usd::file::UsdFile;
use crate::usd::write::flatten::has_extension;
use sinew::error::{Invalid, Warning};

const SPLINE: &str = "spline";

/// The kinds of values that some file of a stage holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub splines: bool,
    /// A single half2 or pathExpression.
    pub narrow: bool,
    /// 64-bit integers that are not read as they are.
    pub integers: bool,
    /// What crates before 0.7 count otherwise than openusd does.
    pub counted: bool,
}

impl Marks {
    /// Of a .usda file, more rather than less.
    pub fn of_text(text: &[u8]) -> Self {
        let text = std::str::from_utf8(text);
        let has = |word: &str| text.map_or(true, |text| text.contains(word));
        Self {
            splines: has(".spline"),
            narrow: has("half2") || has("texCoord2h") || has("pathExpression"),
            ..Self::default()
        }
    }

    pub fn add(&mut self, other: Self) {
        self.splines |= other.splines;
        self.narrow |= other.narrow;
        self.integers |= other.integers;
        self.counted |= other.counted;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Spline,
    Half2,
    PathExpression,
    Integers,
}

/// Such a value of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hazard {
    pub prim: String,
    pub property: String,
    kind: Kind,
}

impl Hazard {
    /// Of a property, or of a prim's metadata.
    fn new(path: &sdf::Path, field: &str, kind: Kind) -> Self {
        let prim = path.prim_path();
        let behind = path.as_str().strip_prefix(prim.as_str());
        let property = match behind.and_then(|p| p.strip_prefix('.')) {
            Some(property) => property,
            None => field,
        };
        Self {
            prim: prim.as_str().to_owned(),
            property: property.to_owned(),
            kind,
        }
    }

    pub fn is_spline(&self) -> bool {
        self.kind == Kind::Spline
    }

    /// What reading makes of it; none where it is read as it is.
    pub fn warning(&self) -> Option<Warning> {
        let (code, message) = match self.kind {
            Kind::Spline => (
                "spline-ignored",
                "has a spline, which is not read: its default value counts, if it has one",
            ),
            Kind::Integers => (
                "integers-not-read",
                "has 64-bit integers in a .usdc file that are not read: they are left out, or others take their place",
            ),
            Kind::Half2 | Kind::PathExpression => return None,
        };
        let message = format!("{} {message}", self.property);
        Some(Warning::new(code, self.prim.as_str(), message).on(self.property.as_str()))
    }

    /// Why it cannot be written to `out`; none where it can.
    fn refusal(&self, out: &Path) -> Option<Error> {
        let is_crate = !has_extension(out, "usda");
        let (code, expected, found) = match self.kind {
            Kind::Spline => (
                "spline-not-written",
                "a default or time samples",
                "a spline, which would not be written as it is",
            ),
            Kind::Half2 if is_crate => (
                "value-not-in-crate",
                "a value that can be written to .usdc (.usda holds any)",
                "a single half2",
            ),
            Kind::PathExpression if is_crate => (
                "value-not-in-crate",
                "a value that can be written to .usdc (.usda holds any)",
                "a pathExpression",
            ),
            Kind::Integers => (
                "integers-not-read",
                "integers that can be read",
                "64-bit integers in a .usdc file, which would be left out or changed",
            ),
            Kind::Half2 | Kind::PathExpression => return None,
        };
        let error = Invalid::new(&self.prim, &self.property, expected, found);
        Some(error.coded(code).in_file(out).into())
    }
}

impl UsdFile {
    /// Refuses to write the composed stage to `out`, where that would change values without a word.
    ///
    /// # Errors
    /// `spline-not-written`, `value-not-in-crate` or `integers-not-read`, naming prim and property; a stage that cannot
    /// be read.
    pub fn check_flattened(&self, out: &Path) -> Result<()> {
        let hazards = self.hazards().map_err(|e| Error::write(out, e))?;
        let refused = hazards.iter().find_map(|h| h.refusal(out));
        refused.map_or(Ok(()), Err)
    }

    /// Refuses to write a layer made of this stage's files to `out`, as [`UsdFile::check_flattened`] does.
    pub(crate) fn check_layer_values(&self, layer: &dyn AbstractData, out: &Path) -> Result<()> {
        let mut found = Vec::new();
        let marks = self.opened.marks();
        if marks.splines || marks.narrow {
            of_layer(layer, &mut found);
        }
        let refused = found.iter().find_map(|h| h.refusal(out));
        refused.map_or(Ok(()), Err)
    }

    /// Refuses to write a copy of the root layer to `out`, as [`UsdFile::check_flattened`] does.
    pub(crate) fn check_root_values(&self, out: &Path) -> Result<()> {
        let root = self.stage.root_layer();
        let mut found = Vec::new();
        if self.opened.marks().integers {
            integers(root.data(), &mut found);
        }
        match found.iter().find_map(|h| h.refusal(out)) {
            Some(error) => Err(error),
            None => self.check_layer_values(root.data(), out),
        }
    }

    /// What of the stage's values openusd reads or writes wrongly.
    pub(crate) fn hazards(&self) -> Result<Vec<Hazard>, openusd::Error> {
        let (stage, marks) = (&self.stage, self.opened.marks());
        let mut out = Vec::new();
        if marks.integers {
            for layer in stage.layer_identifiers() {
                if let Some(layer) = stage.layer(&layer) {
                    integers(layer.data(), &mut out);
                }
            }
        }
        if !marks.splines && !marks.narrow {
            return Ok(out);
        }
        let mut prims = Vec::new();
        let all = usd::PrimPredicate::ALL.with_instance_proxies(true);
        stage.traverse(all, |p| prims.push(p.clone()))?;
        for prim in prims {
            let prim = stage.prim(&prim)?;
            for name in prim.authored_property_names()? {
                let property = prim.path().append_property(name.as_str())?;
                // The strongest opinion on a value counts.
                for site in stage.attribute(property.clone())?.property_stack()? {
                    let Some(layer) = stage.layer(&site.layer) else {
                        continue;
                    };
                    let data = layer.data();
                    let samples = data.has_field(&site.path, "timeSamples");
                    if !samples && data.has_field(&site.path, SPLINE) {
                        out.push(Hazard::new(&property, SPLINE, Kind::Spline));
                        break;
                    }
                    let field = if samples { "timeSamples" } else { "default" };
                    // What does not decode is told by who reads it.
                    if let Ok(Some(value)) = data.try_field(&site.path, field) {
                        let kind = unwritten(&value);
                        out.extend(kind.map(|kind| Hazard::new(&property, field, kind)));
                        break;
                    }
                }
            }
        }
        Ok(out)
    }
}

/// What of a layer's values cannot be written.
fn of_layer(data: &dyn AbstractData, out: &mut Vec<Hazard>) {
    for path in data.spec_paths() {
        for field in data.list_fields(&path).unwrap_or_default() {
            if field == SPLINE && path.is_property_path() {
                out.push(Hazard::new(&path, &field, Kind::Spline));
            } else if let Ok(Some(value)) = data.try_field(&path, &field) {
                let kind = unwritten(&value);
                out.extend(kind.map(|kind| Hazard::new(&path, &field, kind)));
            }
        }
    }
}

/// The kind of a value, or of one in it, that a crate does not get as it is.
fn unwritten(value: &Value) -> Option<Kind> {
    match value {
        Value::Vec2h(_) => Some(Kind::Half2),
        Value::PathExpression(e) if !e.to_string().is_empty() => Some(Kind::PathExpression),
        Value::TimeSamples(samples) => samples.iter().find_map(|(_, v)| unwritten(v)),
        Value::Dictionary(entries) => entries.values().find_map(unwritten),
        _ => None,
    }
}

/// 64-bit integers of a layer of a stage that has some that are not read as they are.
fn integers(data: &dyn AbstractData, out: &mut Vec<Hazard>) {
    for path in data.spec_paths() {
        let declared = data.try_field(&path, sdf::FieldKey::TypeName.as_str());
        let wide = matches!(declared.ok().flatten().as_deref(), Some(Value::Token(t)) if t.as_str().contains("int64"));
        for field in data.list_fields(&path).unwrap_or_default() {
            let not_read = match data.try_field(&path, &field) {
                Ok(value) => value.is_some_and(|v| may_be_negative(&v)),
                Err(_) => wide,
            };
            if not_read {
                out.push(Hazard::new(&path, &field, Kind::Integers));
            }
        }
    }
}

/// A negative int64 is read as the positive one of its lower 32 bits.
fn may_be_negative(value: &Value) -> bool {
    match value {
        Value::Int64(v) => (1 << 31..1 << 32).contains(v),
        Value::TimeSamples(samples) => samples.iter().any(|(_, v)| may_be_negative(v)),
        Value::Dictionary(entries) => entries.values().any(may_be_negative),
        _ => false,
    }
}

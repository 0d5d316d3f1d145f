//! Variants chosen by the caller: opinions of a session layer, stronger than any file's.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::path::is_variant_name;
use sinew_layer::{Layer, Path, Token, Value};
use sinew_stage::{Predicate, Prim, Stage};

use super::file::UsdFile;
use crate::error::{Error, Result};

/// How messages call the session layer.
pub(crate) const SESSION: &str = "sinew:session";

/// Variants of one prim, written `/Prim{set=name}{set2=name2}`. An empty name selects none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantSelection {
    /// Absolute prim path.
    pub prim: String,
    /// (variant set, variant), at least one.
    pub variants: Vec<(String, String)>,
}

impl fmt::Display for VariantSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prim)?;
        for (set, variant) in &self.variants {
            write!(f, "{{{set}={variant}}}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for VariantSelection {
    type Err = String;

    /// `/Prim{set=name}`, with as many sets as wanted.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong =
            || format!("'{text}' is no variant selection; expected /Prim{{set=name}}, in quotes");
        let (prim, mut rest) = text.split_at(text.find('{').ok_or_else(wrong)?);
        prim_path(prim).ok_or_else(wrong)?;
        let mut variants = Vec::new();
        while !rest.is_empty() {
            let (one, more) = rest
                .strip_prefix('{')
                .and_then(|r| r.split_once('}'))
                .ok_or_else(wrong)?;
            let (set, variant) = one.split_once('=').ok_or_else(wrong)?;
            let (set, variant) = (set.trim(), variant.trim());
            if set.is_empty() || !is_variant_name(set) || !is_variant_name(variant) {
                return Err(wrong());
            }
            variants.push((set.to_owned(), variant.to_owned()));
            rest = more;
        }
        Ok(Self {
            prim: prim.to_owned(),
            variants,
        })
    }
}

/// A variant set of a prim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantSet {
    /// Path of the prim.
    pub prim: String,
    /// Name of the set.
    pub name: String,
    /// Its variants, in the order of their names.
    pub variants: Vec<String>,
    /// The variant that the file or [`OpenOptions::variants`](super::OpenOptions::variants)
    /// selects; `None` if none is selected.
    pub selected: Option<String>,
}

impl UsdFile {
    /// The variant sets from which [`VariantSelection`] can select, in the order of the prims. Sets
    /// in instances are not among them, because instances share them.
    #[must_use]
    pub fn variant_sets(&self) -> Vec<VariantSet> {
        let prims = self.stage.traverse(Predicate::DEFAULT);
        let of_prim = |prim: Prim<'_>| {
            let path = prim.path();
            prim.variant_sets().into_iter().map(move |set| VariantSet {
                prim: path.as_str().to_owned(),
                name: set.name.as_str().to_owned(),
                variants: set.variants.iter().map(|v| v.as_str().to_owned()).collect(),
                selected: set.selection.map(|s| s.as_str().to_owned()),
            })
        };
        prims.flat_map(of_prim).collect()
    }
}

/// An absolute path of a prim outside of variants.
fn prim_path(text: &str) -> Option<Path> {
    let path = Path::parse(text).ok()?;
    (path.is_absolute() && path.is_prim() && !path.has_variants()).then_some(path)
}

/// Authors the selections as overs; a later one of the same set wins. What is no path of a prim is left out: [`check`]
/// refuses it.
pub(crate) fn author(layer: &mut Layer, selections: &[VariantSelection]) {
    for selection in selections {
        let Some(path) = prim_path(&selection.prim) else {
            continue;
        };
        let fields = &mut layer.over(&path).fields;
        let mut all = match fields.remove(field::VARIANT_SELECTION) {
            Some(Value::VariantSelections(known)) => Arc::unwrap_or_clone(known),
            _ => BTreeMap::new(),
        };
        let variants = selection.variants.iter();
        all.extend(variants.map(|(set, variant)| (Token::new(set), Token::new(variant))));
        fields.set(
            field::VARIANT_SELECTION,
            Value::VariantSelections(Arc::new(all)),
        );
    }
}

/// A session layer with the selections.
pub(crate) fn session_layer(selections: &[VariantSelection]) -> Layer {
    let mut layer = Layer::new(SESSION);
    author(&mut layer, selections);
    layer
}

/// Refuses selections that fit nothing, and names what there is.
///
/// # Errors
/// A prim that is not there or belongs to an instance, a set or a variant that it does not have.
pub(crate) fn check(stage: &Stage, selections: &[VariantSelection]) -> Result<()> {
    for selection in selections {
        check_one(stage, selection).map_err(|reason| Error::NoSuchVariant {
            selection: selection.to_string(),
            reason,
        })?;
    }
    Ok(())
}

fn check_one(stage: &Stage, selection: &VariantSelection) -> std::result::Result<(), String> {
    // The selection itself is an opinion on the prim, which does not make it one.
    let is_session = |layer| stage.session_layer().is_some_and(|s| Arc::ptr_eq(s, layer));
    let path = &selection.prim;
    let prim = prim_path(path)
        .and_then(|path| stage.prim(&path))
        .filter(|prim| prim.opinions().any(|o| !is_session(&o.layer.layer)));
    let Some(prim) = prim else {
        return Err(format!("there is no prim at {path}"));
    };
    // Of instances in instances the outermost is the one to select on.
    let above = std::iter::successors(prim.parent(), |prim| prim.parent());
    if let Some(instance) = above.filter(|prim| prim.is_instance()).last() {
        let instance = instance.path();
        return Err(format!(
            "{path} belongs to the instance {instance}, whose contents no opinion reaches; select on the instance itself"
        ));
    }
    let sets = prim.variant_sets();
    for (set, variant) in &selection.variants {
        let Some(known) = sets.iter().find(|s| s.name == *set) else {
            return Err(match sets.is_empty() {
                true => format!("{path} has no variant sets"),
                false => {
                    let sets: Vec<_> = sets.iter().map(|s| s.name.as_str()).collect();
                    let sets = sets.join(", ");
                    format!("{path} has no variant set '{set}'; its sets are {sets}")
                }
            });
        };
        if !variant.is_empty() && !known.variants.iter().any(|name| name == variant) {
            return Err(format!(
                "variant set '{set}' of {path} has no variant '{variant}'; its variants are {}",
                known.variants.join(", ")
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_selections_of_a_set_count() {
        let selections = ["/A/B{lod=high}", "/A{v=x}", "/A/B{lod=low}{look=red}"];
        let mut selections: Vec<VariantSelection> =
            selections.iter().map(|s| s.parse().unwrap()).collect();
        selections.push(VariantSelection {
            prim: "no path".to_owned(),
            variants: vec![("a".to_owned(), "b".to_owned())],
        });
        let layer = session_layer(&selections);
        let of = |prim: &str| match layer.get(&Path::parse(prim).unwrap(), "variantSelection") {
            Ok(Some(Value::VariantSelections(selected))) => selected,
            other => panic!("{other:?}"),
        };
        let pairs =
            |prim: &str| -> Vec<(Token, Token)> { of(prim).as_ref().clone().into_iter().collect() };
        let pair = |set: &str, variant: &str| (Token::new(set), Token::new(variant));
        assert_eq!(pairs("/A/B"), [pair("lod", "low"), pair("look", "red")]);
        assert_eq!(pairs("/A"), [pair("v", "x")]);
        assert_eq!(layer.len(), 3);
    }

    #[test]
    fn selections_as_text() {
        let parse = |s: &str| s.parse::<VariantSelection>();
        let two = parse("/A/B{lod=high}{look=red}").unwrap();
        assert_eq!(two.prim, "/A/B");
        assert_eq!(two.variants.len(), 2);
        assert_eq!(two.to_string(), "/A/B{lod=high}{look=red}");
        assert_eq!(parse("/A{lod=}").unwrap().variants[0].1, "");
        for wrong in [
            "",
            "/A",
            "{a=b}",
            "/{a=b}",
            "A{a=b}",
            "/A{a}",
            "/A{=b}",
            "/A{a=b",
            "/A{a=b}c",
            "/A.x{a=b}",
            "/A{a=b\"c}",
            "/A{a=b}/C{d=e}",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}

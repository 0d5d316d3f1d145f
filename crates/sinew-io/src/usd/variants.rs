//! Variants chosen by the caller: opinions of a session layer, stronger than any file's.

use std::collections::HashMap;
use std::fmt;
use std::io::Cursor;

use openusd::{sdf, usd};

use crate::error::explain;
use crate::error::{Error, Result};
use crate::usd::resolver::SESSION;

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
        let path = sdf::Path::new(prim).map_err(|_| wrong())?;
        if !path.is_abs() || path.is_abs_root() || path.is_property_path() {
            return Err(wrong());
        }
        let mut variants = Vec::new();
        while !rest.is_empty() {
            let (one, more) = rest
                .strip_prefix('{')
                .and_then(|r| r.split_once('}'))
                .ok_or_else(wrong)?;
            let (set, variant) = one.split_once('=').ok_or_else(wrong)?;
            let (set, variant) = (set.trim(), variant.trim());
            let spelled = sdf::Path::is_valid_variant_identifier;
            if set.is_empty() || !spelled(set) || !spelled(variant) {
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

/// Authors the selections as overs; a later one of the same set wins.
pub(crate) fn author(
    data: &mut dyn sdf::AbstractData,
    selections: &[VariantSelection],
) -> std::result::Result<(), sdf::AuthoringError> {
    let mut of_prim: Vec<(&str, HashMap<String, String>)> = Vec::new();
    for selection in selections {
        let at = of_prim.iter().position(|(p, _)| *p == selection.prim);
        let at = at.unwrap_or_else(|| {
            of_prim.push((&selection.prim, HashMap::new()));
            of_prim.len() - 1
        });
        of_prim[at].1.extend(selection.variants.iter().cloned());
    }
    for (prim, map) in of_prim {
        sdf::PrimSpec::over(data, prim)?.set(
            sdf::FieldKey::VariantSelection.as_str(),
            sdf::Value::VariantSelectionMap(map),
        );
    }
    Ok(())
}

/// The selections as the text of a session layer.
pub(crate) fn session_layer(
    selections: &[VariantSelection],
) -> std::result::Result<Vec<u8>, String> {
    let mut layer = sdf::Layer::new_anonymous("selections");
    layer
        .edit(|edit| author(edit.data_mut(), selections))
        .map_err(|e| explain(&e))?;
    let mut text = Cursor::new(Vec::new());
    sdf::LayerRegistry::find_by_extension("usda")
        .ok_or("no text format")?
        .write(layer.data(), &mut text)
        .map_err(|e| explain(&e))?;
    Ok(text.into_inner())
}

/// Refuses selections that fit nothing, and names what there is.
///
/// # Errors
/// A prim that is not there or belongs to an instance, a set or a variant that it does not have.
pub(crate) fn check(stage: &usd::Stage, selections: &[VariantSelection]) -> Result<()> {
    for selection in selections {
        let refuse = |reason: String| Error::NoSuchVariant {
            selection: selection.to_string(),
            reason,
        };
        check_one(stage, selection)
            .map_err(|e| refuse(explain(&e)))?
            .map_err(refuse)?;
    }
    Ok(())
}

fn check_one(
    stage: &usd::Stage,
    selection: &VariantSelection,
) -> std::result::Result<std::result::Result<(), String>, openusd::Error> {
    let prim = stage.prim(selection.prim.as_str())?;
    // The selection itself is an opinion on the prim, which does not make it one.
    if !prim.prim_stack()?.iter().any(|site| site.layer != SESSION) {
        return Ok(Err(format!("there is no prim at {}", selection.prim)));
    }
    for ancestor in prim.path().ancestors_below_root() {
        if ancestor != *prim.path() && stage.prim(&ancestor)?.is_instance()? {
            return Ok(Err(format!(
                "{} belongs to the instance {ancestor}, whose contents no opinion reaches; select on the instance itself",
                selection.prim
            )));
        }
    }
    let sets = variant_sets(stage, &prim)?;
    for (set, variant) in &selection.variants {
        let Some((_, names)) = sets.iter().find(|(name, _)| name == set) else {
            let sets: Vec<_> = sets.iter().map(|(name, _)| name.as_str()).collect();
            let prim = &selection.prim;
            return Ok(Err(match sets.is_empty() {
                true => format!("{prim} has no variant sets"),
                false => format!(
                    "{prim} has no variant set '{set}'; its sets are {}",
                    sets.join(", ")
                ),
            }));
        };
        if !variant.is_empty() && !names.contains(variant) {
            return Ok(Err(format!(
                "variant set '{set}' of {} has no variant '{variant}'; its variants are {}",
                selection.prim,
                names.join(", ")
            )));
        }
    }
    Ok(Ok(()))
}

/// A variant set's name and its variants.
type VariantSet = (String, Vec<String>);

/// Every variant set of a prim with its variants, from all the layers that have an opinion on it.
pub(crate) fn variant_sets(
    stage: &usd::Stage,
    prim: &usd::Prim,
) -> std::result::Result<Vec<VariantSet>, openusd::Error> {
    let mut out: Vec<VariantSet> = Vec::new();
    for site in prim.prim_stack()? {
        let Some(layer) = stage.layer(&site.layer) else {
            continue;
        };
        let names = |path: &sdf::Path, key: sdf::ChildrenKey| {
            let value = layer.data().try_field(path, key.as_str())?;
            Ok::<_, openusd::Error>(match value.as_deref() {
                Some(sdf::Value::TokenVec(names)) => {
                    names.iter().map(|n| n.as_str().to_owned()).collect()
                }
                _ => Vec::new(),
            })
        };
        for set in names(&site.path, sdf::ChildrenKey::VariantSetChildren)? {
            let at = site.path.append_variant_selection(&set, "")?;
            let variants = names(&at, sdf::ChildrenKey::VariantChildren)?;
            match out.iter_mut().find(|(name, _)| *name == set) {
                Some((_, known)) => {
                    known.extend(
                        variants
                            .into_iter()
                            .filter(|v| !known.contains(v))
                            .collect::<Vec<_>>(),
                    );
                }
                None => out.push((set, variants)),
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

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

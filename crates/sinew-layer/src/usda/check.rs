//! Finds what cannot be written before anything is written, and the version of the text that a
//! layer needs.

use std::collections::HashSet;
use std::hash::Hash;

use super::lexer::Lexer;
use super::parser::{Parser, is_keyword};
use super::strings::asset_text;
use super::types::TypeName;
use super::write::value_text;
use super::write_fields::{is_metadata, statement};
use super::write_values::{Output, kind_of};
use super::{array_edit, write_spline};
use crate::error::{Error, Result};
use crate::layer::{Layer, Spec, SpecKind, field};
use crate::path::{Path, is_identifier, is_property_name, is_variant_name};
use crate::value::{AssetPath, ListOp, Value};

/// The version of the text format, after `1.`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub u32);

/// The version that has durations.
const DURATIONS: Version = Version(4);

/// Checks all of a layer.
pub(super) fn check(layer: &Layer) -> Result<Version> {
    let mut version = Version::default();
    let mut failed = None;
    layer.walk(&Path::root(), &mut |path, spec| {
        if failed.is_none() {
            failed = check_spec(path, spec, &mut version).err();
        }
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(version),
    }
}

fn unwritable<T>(path: &Path, field: &str, reason: impl Into<String>) -> Result<T> {
    Err(Error::Unwritable {
        path: path.to_string(),
        field: field.to_owned(),
        reason: reason.into(),
    })
}

fn check_spec(path: &Path, spec: &Spec, version: &mut Version) -> Result<()> {
    check_name(path, spec)?;
    for (name, value) in spec.fields.iter() {
        if matches!(value, Value::Placed(_)) {
            return unwritable(path, name, "the value lies in another file's writer");
        }
        if is_metadata(spec.kind, name) {
            check_field(path, spec, name, value, version)?;
        }
    }
    match spec.kind {
        SpecKind::Attribute => check_attribute(path, spec, version),
        SpecKind::Relationship => match spec.get(field::TARGET_PATHS) {
            Some(value) => check_paths(path, field::TARGET_PATHS, &value.load()?),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Names and types have to be words of the grammar.
fn check_name(path: &Path, spec: &Spec) -> Result<()> {
    let good = match spec.kind {
        SpecKind::Root => true,
        SpecKind::Prim => is_identifier(path.name()),
        SpecKind::Attribute | SpecKind::Relationship => is_property_name(path.name()),
        SpecKind::VariantSet => path.variant().is_some_and(|(set, _)| is_identifier(set)),
        SpecKind::Variant => path
            .variant()
            .is_some_and(|(_, name)| is_variant_name(name)),
    };
    if !good {
        return unwritable(path, "", "the name does not follow the grammar");
    }
    let type_name = match spec.get(field::TYPE_NAME) {
        Some(Value::Token(name)) => name.as_str(),
        None => "",
        Some(_) => return unwritable(path, field::TYPE_NAME, "it is no token"),
    };
    let is_type = |name: &str| {
        let mut lexer = Lexer::new(name);
        lexer.type_name().is_some_and(|word| !is_keyword(word)) && lexer.at_end()
    };
    let good = match spec.kind {
        SpecKind::Attribute => is_type(type_name.strip_suffix("[]").unwrap_or(type_name)),
        SpecKind::Prim => type_name.is_empty() || type_name.split('.').all(is_type),
        _ => true,
    };
    match good {
        true => Ok(()),
        false => unwritable(
            path,
            field::TYPE_NAME,
            format!("'{type_name}' is no name of a type"),
        ),
    }
}

/// A field of metadata can be written if its text can be read.
fn check_field(
    path: &Path,
    spec: &Spec,
    name: &str,
    value: &Value,
    version: &mut Version,
) -> Result<()> {
    let value = value.load()?;
    *version = (*version).max(version_of(&value));
    if spec.kind == SpecKind::VariantSet {
        return unwritable(path, name, "variant sets have no fields in text");
    }
    if matches!(value, Value::ArrayEdit(_)) {
        return unwritable(path, name, "only attributes have edits of arrays");
    }
    if has_twice(&value) {
        return unwritable(path, name, "an item is in a list twice");
    }
    let mut out = Output::collect();
    out.push("(\n");
    if let Some(reason) = statement(spec.kind, &spec.fields, name, &value, 1, &mut out)? {
        return unwritable(path, name, reason);
    }
    out.push(")");
    let kind = match spec.kind {
        SpecKind::Variant => SpecKind::Prim,
        kind => kind,
    };
    let mut parser = Parser::new("", &out.text);
    parser.path = path.prim_path();
    parser.layer.create(&parser.path.clone(), kind);
    match parser.metadata(kind) {
        Ok(()) if parser.lexer.at_end() => Ok(()),
        Ok(()) => unwritable(path, name, "its text would be something else"),
        Err(fail) => unwritable(
            path,
            name,
            format!("its text could not be read: {}", fail.reason),
        ),
    }
}

/// Whether a list edit has an item twice in one list, which usd-core refuses.
fn has_twice(value: &Value) -> bool {
    fn twice<T: Hash + Eq>(op: &ListOp<T>) -> bool {
        op.lists().iter().any(|(_, items)| {
            let mut seen = HashSet::new();
            !items.iter().all(|item| seen.insert(item))
        })
    }
    match value {
        Value::TokenListOp(op) | Value::StringListOp(op) => twice(op),
        Value::PathListOp(op) => twice(op),
        Value::IntListOp(op) => twice(op),
        Value::UIntListOp(op) => twice(op),
        Value::Int64ListOp(op) => twice(op),
        Value::UInt64ListOp(op) => twice(op),
        _ => false,
    }
}

/// Targets and connections have to be absolute paths of prims or properties.
fn check_paths(path: &Path, name: &str, value: &Value) -> Result<()> {
    let Value::PathListOp(op) = value else {
        return unwritable(path, name, "it is no list edit of paths");
    };
    for target in op.lists().into_iter().flat_map(|(_, items)| items) {
        if !target.is_absolute() || target.is_root() || target.has_variants() {
            return unwritable(path, name, format!("<{target}> is no prim or property"));
        }
    }
    match has_twice(value) {
        true => unwritable(path, name, "an item is in a list twice"),
        false => Ok(()),
    }
}

fn check_attribute(path: &Path, spec: &Spec, version: &mut Version) -> Result<()> {
    let kind = match spec.get(field::TYPE_NAME) {
        Some(Value::Token(name)) => TypeName::parse(name),
        _ => TypeName::Unknown,
    };
    if let Some(value) = spec.get(field::DEFAULT) {
        check_value(path, field::DEFAULT, kind, &value.load()?, version)?;
    }
    match spec.get(field::TIME_SAMPLES).map(Value::load).transpose()? {
        None => {}
        Some(Value::TimeSamples(samples)) => {
            for value in samples.values().iter() {
                let value = value.load()?;
                if value == Value::AnimationBlock {
                    return unwritable(path, field::TIME_SAMPLES, "a sample is an AnimationBlock");
                }
                check_value(path, field::TIME_SAMPLES, kind, &value, version)?;
            }
        }
        Some(_) => return unwritable(path, field::TIME_SAMPLES, "they are no time samples"),
    }
    match spec.get(field::SPLINE).map(Value::load).transpose()? {
        None => {}
        Some(Value::Spline(spline)) => {
            let type_name = match spec.get(field::TYPE_NAME) {
                Some(Value::Token(name)) => name.as_str(),
                _ => "",
            };
            if let Some(problem) = write_spline::problem(&spline, type_name) {
                return unwritable(path, field::SPLINE, problem);
            }
            *version = (*version).max(write_spline::version(&spline));
        }
        Some(_) => return unwritable(path, field::SPLINE, "it is no spline"),
    }
    match spec.get(field::CONNECTION_PATHS) {
        Some(value) => check_paths(path, field::CONNECTION_PATHS, &value.load()?),
        None => Ok(()),
    }
}

/// Whether text can have a value of an attribute that is declared with this type.
#[must_use]
pub fn is_readable_as(value: &Value, type_name: &str) -> bool {
    let (path, mut version) = (Path::root(), Version::default());
    check_value(&path, "", TypeName::parse(type_name), value, &mut version).is_ok()
}

/// A value can be written if it is of its attribute's type, or if its text can be read as one: then
/// usd-core writes it too.
fn check_value(
    path: &Path,
    name: &str,
    kind: TypeName,
    value: &Value,
    version: &mut Version,
) -> Result<()> {
    *version = (*version).max(version_of(value));
    let fits = match (kind, kind_of(value)) {
        _ if matches!(value, Value::Block | Value::AnimationBlock) => true,
        (TypeName::Array(kind), None) => match value {
            Value::ArrayEdit(edit) => {
                if let Some(problem) = array_edit::problem(edit, kind) {
                    return unwritable(path, name, problem);
                }
                true
            }
            _ => false,
        },
        (TypeName::Scalar(kind), Some(found)) => (kind, false) == found,
        (TypeName::Array(kind), Some(found)) => (kind, true) == found,
        _ => false,
    };
    if fits {
        return check_assets(path, name, value);
    }
    let mut out = Output::collect();
    if !value_text(value, &mut out)? {
        return unwritable(path, name, "its value is of a type that text does not have");
    }
    let mut parser = Parser::new("", &out.text);
    match parser.value(&path.prim_path(), kind, "") {
        Ok(_) if parser.lexer.at_end() => Ok(()),
        Ok(_) => unwritable(path, name, "its text would be something else"),
        Err(fail) => {
            let reason = format!(
                "its value is of another type than declared: {}",
                fail.reason
            );
            unwritable(path, name, reason)
        }
    }
}

/// The version that a value needs. A value that cannot be loaded needs none: writing reports it.
fn version_of(value: &Value) -> Version {
    match value {
        Value::Duration(_) | Value::DurationArray(_) => DURATIONS,
        Value::ArrayEdit(edit) => array_edit::VERSION.max(version_of(&edit.literals)),
        Value::Dictionary(entries) => {
            let versions = entries.values().filter_map(|v| v.load().ok());
            versions.map(|v| version_of(&v)).max().unwrap_or_default()
        }
        _ => Version::default(),
    }
}

/// Asset paths have no escapes for everything.
fn check_assets(path: &Path, name: &str, value: &Value) -> Result<()> {
    let assets: &[AssetPath] = match value {
        Value::AssetPath(asset) => std::slice::from_ref(asset),
        Value::AssetPathArray(assets) => assets,
        _ => return Ok(()),
    };
    for asset in assets {
        let mut text = String::new();
        asset_text(&asset.0, &mut text);
        let mut lexer = Lexer::new(&text);
        let read = lexer.asset().ok().flatten();
        if read.as_ref() != Some(&asset.0) || !lexer.at_end() {
            return unwritable(path, name, format!("{asset:?} has no text"));
        }
    }
    Ok(())
}

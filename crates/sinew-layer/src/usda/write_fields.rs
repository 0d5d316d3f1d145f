//! Writes the statements of metadata.

use super::numbers::double;
use super::strings::{asset_text, quoted};
use super::write_values::{Output, Text, dictionary, plain};
use crate::error::Result;
use crate::layer::{Fields, SpecKind, field};
use crate::path::Path;
use crate::value::{LayerOffset, ListOp, Payload, Permission, Reference, Value};

/// Whether a field of a spec is a statement in its parentheses. Others have a place of their own.
pub(super) fn is_metadata(kind: SpecKind, name: &str) -> bool {
    match name {
        field::PRIM_ORDER => false,
        field::SUBLAYER_OFFSETS => kind != SpecKind::Root,
        field::SPECIFIER | field::PROPERTY_ORDER => {
            !matches!(kind, SpecKind::Prim | SpecKind::Variant)
        }
        field::TYPE_NAME => !matches!(
            kind,
            SpecKind::Prim | SpecKind::Variant | SpecKind::Attribute
        ),
        field::VARIABILITY | field::CUSTOM => {
            !matches!(kind, SpecKind::Attribute | SpecKind::Relationship)
        }
        field::DEFAULT | field::TIME_SAMPLES | field::SPLINE | field::CONNECTION_PATHS => {
            kind != SpecKind::Attribute
        }
        field::TARGET_PATHS => kind != SpecKind::Relationship,
        _ => true,
    }
}

/// Writes one field as one or more statements, each on a line of its own. The answer is why the
/// field has no text, if it has none.
pub(super) fn statement(
    kind: SpecKind,
    fields: &Fields,
    name: &str,
    value: &Value,
    level: usize,
    out: &mut Output,
) -> Result<Option<String>> {
    let value = value.load()?;
    let key = match name {
        field::DOCUMENTATION => "doc",
        field::INHERITS => "inherits",
        field::VARIANT_SET_NAMES => "variantSets",
        field::VARIANT_SELECTION => "variants",
        field::LAYER_RELOCATES if kind == SpecKind::Root => "relocates",
        // usd-core 26.11 does not read them any more.
        field::RELOCATES => return Ok(Some("prims have no relocates in text".to_owned())),
        name => name,
    };
    // What `key =` stands for, on one line.
    let begin = |out: &mut Output| {
        out.indent(level);
        out.push(key);
        out.push(" = ");
    };
    match &value {
        Value::String(text) if name == field::COMMENT => {
            out.indent(level);
            quoted(text, &mut out.text);
        }
        Value::Token(word) if matches!(name, "symmetryFunction" | "displayUnit") => {
            begin(out);
            out.push(word);
        }
        Value::Permission(permission) => {
            begin(out);
            out.push(match permission {
                Permission::Public => "public",
                Permission::Private => "private",
            });
        }
        Value::Bool(value) => {
            begin(out);
            out.push(if *value { "true" } else { "false" });
        }
        Value::Dictionary(entries) if name.ends_with("Substitutions") => {
            begin(out);
            out.push("{");
            for (i, (from, to)) in entries.iter().enumerate() {
                let Value::String(to) = to else {
                    return Ok(Some(format!("'{from}' is not replaced by a string")));
                };
                out.push(if i > 0 { ", " } else { " " });
                quoted(from, &mut out.text);
                out.push(": ");
                quoted(to, &mut out.text);
            }
            out.push(" }");
        }
        Value::Dictionary(entries) => {
            begin(out);
            if let Some(key) = dictionary(entries, level, out)? {
                return Ok(Some(format!(
                    "the entry '{key}' is of a type that text does not have"
                )));
            }
        }
        Value::VariantSelections(selections) => {
            let strings = selections.iter();
            let strings = strings.map(|(k, v)| (k.clone(), Value::String(v.clone())));
            begin(out);
            dictionary(&strings.collect(), level, out)?;
        }
        Value::Relocates(relocates) => {
            begin(out);
            out.push("{");
            for (i, (from, to)) in relocates.iter().enumerate() {
                out.push(if i > 0 { ",\n" } else { "\n" });
                out.indent(level + 1);
                path_text(from, out);
                out.push(": ");
                path_text(to, out);
            }
            out.push("\n");
            out.indent(level);
            out.push("}");
        }
        Value::StringVector(assets) if name == field::SUBLAYERS => {
            begin(out);
            let offsets = match fields
                .get(field::SUBLAYER_OFFSETS)
                .map(Value::load)
                .transpose()?
            {
                Some(Value::LayerOffsetVector(offsets)) => offsets,
                _ => Default::default(),
            };
            out.push("[");
            for (i, asset) in assets.iter().enumerate() {
                out.push(if i > 0 { ",\n" } else { "\n" });
                out.indent(level + 1);
                asset_text(asset, &mut out.text);
                offset_text(offsets.get(i).unwrap_or(&LayerOffset::IDENTITY), out);
            }
            out.push("\n");
            out.indent(level);
            out.push("]");
        }
        Value::Payload(payload) => {
            begin(out);
            match payload.asset.is_empty() && payload.prim.is_empty() {
                true => out.push("None"),
                false => payload_text(payload, level, out)?,
            }
        }
        Value::StringListOp(op) if name == field::VARIANT_SET_NAMES => {
            return edits(key, op, level, true, out, |name, _, out| {
                quoted(name, &mut out.text);
                Ok(())
            });
        }
        Value::TokenListOp(op) | Value::StringListOp(op) => {
            return edits(key, op, level, true, out, |text, _, out| {
                quoted(text, &mut out.text);
                Ok(())
            });
        }
        Value::PathListOp(op) => {
            return edits(key, op, level, true, out, |path, _, out| {
                path_text(path, out);
                Ok(())
            });
        }
        Value::ReferenceListOp(op) => {
            return edits(key, op, level, false, out, reference_text);
        }
        Value::PayloadListOp(op) => {
            return edits(key, op, level, false, out, payload_text);
        }
        Value::IntListOp(op) => return edits(key, op, level, true, out, number),
        Value::UIntListOp(op) => return edits(key, op, level, true, out, number),
        Value::Int64ListOp(op) => return edits(key, op, level, true, out, number),
        Value::UInt64ListOp(op) => return edits(key, op, level, true, out, number),
        Value::Unregistered(inner) => match &**inner {
            Value::String(text) => {
                begin(out);
                out.push(text);
            }
            Value::Dictionary(entries) => {
                begin(out);
                if let Some(key) = dictionary(entries, level, out)? {
                    let reason = format!("the entry '{key}' is of a type that text does not have");
                    return Ok(Some(reason));
                }
            }
            Value::UnregisteredListOp(op) => {
                let mut items = op.lists().into_iter().flat_map(|(_, items)| items);
                if items.any(|item| item_text(item).is_none()) {
                    return Ok(Some("an item of its list has no text".to_owned()));
                }
                return edits(key, op, level, true, out, |item, _, out| {
                    out.push(item_text(item).unwrap_or_default());
                    Ok(())
                });
            }
            _ => return Ok(Some("its value has no text".to_owned())),
        },
        value => {
            begin(out);
            if !plain(value, out)? {
                return Ok(Some(
                    "its value is of a type that text does not have".to_owned(),
                ));
            }
        }
    }
    out.push("\n");
    out.flush_full()?;
    Ok(None)
}

fn number<T: Text>(value: &T, _: usize, out: &mut Output) -> Result<()> {
    // Integers do not look at the type.
    value.text(super::types::Scalar::Int, &mut out.text);
    Ok(())
}

/// The text of an item of a list that no schema knows. None for a dictionary.
fn item_text(item: &Value) -> Option<&str> {
    match item {
        Value::Unregistered(inner) => item_text(inner),
        Value::String(text) => Some(text),
        _ => None,
    }
}

/// Writes all lists of a list edit, each as a statement. Lists of paths and the like stand on
/// several lines.
pub(super) fn edits<T>(
    key: &str,
    op: &ListOp<T>,
    level: usize,
    one_line: bool,
    out: &mut Output,
    item: impl Fn(&T, usize, &mut Output) -> Result<()>,
) -> Result<Option<String>> {
    if !op.explicit && can_be_empty(key) && op.lists().iter().all(|(_, items)| items.is_empty()) {
        out.indent(level);
        out.push("prepend ");
        out.push(key);
        out.push(" = None\n");
    }
    for (word, items) in op.lists() {
        let whole = word.is_empty() && op.explicit;
        if items.is_empty() && !whole {
            continue;
        }
        out.indent(level);
        if !word.is_empty() {
            out.push(word);
            out.push(" ");
        }
        out.push(key);
        out.push(" = ");
        list(items, level, one_line, out, &item)?;
        out.push("\n");
        out.flush_full()?;
    }
    Ok(None)
}

/// Whether text can say that a list edit edits nothing. Lists of paths and names have no such
/// statement, but then nothing says the same.
fn can_be_empty(key: &str) -> bool {
    let paths = [
        "inherits",
        "specializes",
        "references",
        "payload",
        "variantSets",
    ];
    !paths.contains(&key) && !key.contains(' ')
}

/// Writes one list, `None` if it is empty.
pub(super) fn list<T>(
    items: &[T],
    level: usize,
    one_line: bool,
    out: &mut Output,
    item: impl Fn(&T, usize, &mut Output) -> Result<()>,
) -> Result<()> {
    if items.is_empty() {
        out.push("None");
        return Ok(());
    }
    // One arc stands without brackets, as usd-core writes it.
    if let [one] = items
        && !one_line
    {
        return item(one, level, out);
    }
    out.push("[");
    for (i, one) in items.iter().enumerate() {
        if one_line {
            out.push(if i > 0 { ", " } else { "" });
        } else {
            out.push(if i > 0 { ",\n" } else { "\n" });
            out.indent(level + 1);
        }
        item(one, level + 1, out)?;
        out.flush_full()?;
    }
    if !one_line {
        out.push("\n");
        out.indent(level);
    }
    out.push("]");
    Ok(())
}

pub(super) fn path_text(path: &Path, out: &mut Output) {
    out.push("<");
    out.push(path.as_str());
    out.push(">");
}

/// An asset, a prim or both. A path in this layer is written even if it is empty.
fn target_text(asset: &str, prim: &Path, out: &mut Output) {
    if !asset.is_empty() {
        asset_text(asset, &mut out.text);
    }
    if asset.is_empty() || !prim.is_empty() {
        path_text(prim, out);
    }
}

fn payload_text(payload: &Payload, _: usize, out: &mut Output) -> Result<()> {
    target_text(&payload.asset, &payload.prim, out);
    offset_text(&payload.offset, out);
    Ok(())
}

fn reference_text(reference: &Reference, level: usize, out: &mut Output) -> Result<()> {
    target_text(&reference.asset, &reference.prim, out);
    if reference.custom_data.is_empty() {
        offset_text(&reference.offset, out);
        return Ok(());
    }
    out.push(" (\n");
    for (key, value, usual) in parts(&reference.offset) {
        if value != usual {
            out.indent(level + 1);
            out.push(key);
            double(value, &mut out.text);
            out.push("\n");
        }
    }
    out.indent(level + 1);
    out.push("customData = ");
    dictionary(&reference.custom_data, level + 1, out)?;
    out.push("\n");
    out.indent(level);
    out.push(")");
    Ok(())
}

fn parts(offset: &LayerOffset) -> [(&'static str, f64, f64); 2] {
    [
        ("offset = ", offset.offset, 0.0),
        ("scale = ", offset.scale, 1.0),
    ]
}

fn offset_text(offset: &LayerOffset, out: &mut Output) {
    let mut open = false;
    for (key, value, usual) in parts(offset) {
        if value != usual {
            out.push(if open { "; " } else { " (" });
            out.push(key);
            double(value, &mut out.text);
            open = true;
        }
    }
    out.push(if open { ")" } else { "" });
}

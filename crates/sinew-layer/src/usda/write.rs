//! Writes layers: prims, variants and properties.

use smol_str::SmolStr;

use super::array_edit;
use super::check::Version;
use super::numbers::double;
use super::strings::quoted;
use super::write_fields::{edits, is_metadata, list, path_text, statement};
use super::write_spline::spline;
use super::write_values::{Output, plain};
use crate::error::Result;
use crate::layer::{Layer, Spec, SpecKind, field};
use crate::path::Path;
use crate::value::{Specifier, Value, Variability};

/// What is still to be written, the next one last.
enum Next {
    Prim(Path, usize),
    VariantSet(Path, usize),
    Variant(Path, usize),
    /// A closing brace.
    Close(usize),
}

/// Writes a layer that was checked.
pub(super) fn layer(layer: &Layer, version: Version, out: &mut Output) -> Result<()> {
    out.push(&format!("#usda 1.{}\n", version.0));
    let root = layer.root();
    if root
        .fields
        .iter()
        .any(|(name, _)| is_metadata(SpecKind::Root, name))
    {
        out.push("(\n");
        statements(SpecKind::Root, root, 1, out)?;
        out.push(")\n");
    }
    out.push("\n");
    order("rootPrims", root, field::PRIM_ORDER, 0, out)?;
    // A stack of its own: how deep a layer nests is up to its file.
    let mut next = Vec::new();
    children(root, &Path::root(), 0, &mut next);
    while let Some(item) = next.pop() {
        out.flush_full()?;
        let (path, level) = match item {
            Next::Close(level) => {
                out.indent(level);
                out.push("}\n");
                continue;
            }
            Next::Prim(path, level)
            | Next::VariantSet(path, level)
            | Next::Variant(path, level) => (path, level),
        };
        let Some(spec) = layer.spec(&path) else {
            continue;
        };
        next.push(Next::Close(level));
        match spec.kind {
            SpecKind::VariantSet => {
                let (set, prim) = (path.variant().map_or("", |v| v.0), path.parent());
                let prim = prim.unwrap_or_default();
                out.indent(level);
                out.push("variantSet ");
                quoted(set, &mut out.text);
                out.push(" = {\n");
                let variants = spec.children().iter().rev();
                next.extend(variants.map(|v| Next::Variant(prim.with_variant(set, v), level + 1)));
                continue;
            }
            SpecKind::Variant => {
                out.indent(level);
                quoted(path.variant().map_or("", |v| v.1), &mut out.text);
                metadata(spec, level, out)?;
                out.push(" {\n");
            }
            _ => prim_head(&path, spec, level, out)?,
        }
        order("nameChildren", spec, field::PRIM_ORDER, level + 1, out)?;
        order("properties", spec, field::PROPERTY_ORDER, level + 1, out)?;
        for name in spec.properties() {
            if let Some(property) = layer.spec(&path.property(name)) {
                property_text(name, property, level + 1, out)?;
                out.flush_full()?;
            }
        }
        children(spec, &path, level + 1, &mut next);
        // There is no text for a set without variants.
        let sets = spec.variant_sets().iter().rev();
        let sets = sets.map(|set| path.with_variant(set, ""));
        let sets = sets.filter(|set| layer.spec(set).is_some_and(|s| !s.children().is_empty()));
        next.extend(sets.map(|set| Next::VariantSet(set, level + 1)));
    }
    out.flush()
}

fn children(spec: &Spec, path: &Path, level: usize, next: &mut Vec<Next>) {
    let names = spec.children().iter().rev();
    next.extend(names.map(|name| Next::Prim(path.child(name), level)));
}

/// A prim up to its opening brace.
fn prim_head(path: &Path, spec: &Spec, level: usize, out: &mut Output) -> Result<()> {
    out.indent(level);
    out.push(match spec.get(field::SPECIFIER) {
        Some(Value::Specifier(Specifier::Def)) => "def ",
        Some(Value::Specifier(Specifier::Class)) => "class ",
        _ => "over ",
    });
    if let Some(Value::Token(name)) = spec.get(field::TYPE_NAME)
        && !name.is_empty()
    {
        out.push(name);
        out.push(" ");
    }
    quoted(path.name(), &mut out.text);
    metadata(spec, level, out)?;
    out.push("\n");
    out.indent(level);
    out.push("{\n");
    Ok(())
}

/// Metadata in parentheses, if there is any.
fn metadata(spec: &Spec, level: usize, out: &mut Output) -> Result<()> {
    if spec
        .fields
        .iter()
        .any(|(name, _)| is_metadata(spec.kind, name))
    {
        out.push(" (\n");
        statements(spec.kind, spec, level + 1, out)?;
        out.indent(level);
        out.push(")");
    }
    Ok(())
}

fn statements(kind: SpecKind, spec: &Spec, level: usize, out: &mut Output) -> Result<()> {
    for (name, value) in spec
        .fields
        .iter()
        .filter(|(name, _)| is_metadata(kind, name))
    {
        statement(kind, &spec.fields, name, value, level, out)?;
    }
    Ok(())
}

/// `reorder` with names, if there are any.
fn order(what: &str, spec: &Spec, name: &str, level: usize, out: &mut Output) -> Result<()> {
    if let Some(Value::TokenVector(names)) = spec.get(name).map(Value::load).transpose()?
        && !names.is_empty()
    {
        out.indent(level);
        out.push("reorder ");
        out.push(what);
        out.push(" = ");
        list(&names, level, true, out, |name, _, out| {
            quoted(name, &mut out.text);
            Ok(())
        })?;
        out.push("\n");
    }
    Ok(())
}

fn property_text(name: &SmolStr, spec: &Spec, level: usize, out: &mut Output) -> Result<()> {
    let custom = spec.get(field::CUSTOM) == Some(&Value::Bool(true));
    let variability = spec.get(field::VARIABILITY);
    let custom = if custom { "custom " } else { "" };
    if spec.kind == SpecKind::Relationship {
        // Without a word a relationship is varying; `rel` alone makes it uniform.
        let varying = variability != Some(&Value::Variability(Variability::Uniform));
        let head = format!("{}rel {name}", if varying { "varying " } else { "" });
        let op = match spec.get(field::TARGET_PATHS).map(Value::load).transpose()? {
            Some(Value::PathListOp(op)) => Some(op),
            _ => None,
        };
        out.indent(level);
        out.push(custom);
        out.push(&head);
        let explicit = op.as_ref().filter(|op| op.explicit);
        if let Some(op) = explicit {
            out.push(" = ");
            list(&op.explicit_items, level, true, out, path_item)?;
        }
        metadata(spec, level, out)?;
        out.push("\n");
        if let Some(op) = op.filter(|op| !op.explicit) {
            edits(&head, &op, level, true, out, path_item)?;
        }
        return Ok(());
    }
    let uniform = variability == Some(&Value::Variability(Variability::Uniform));
    let uniform = if uniform { "uniform " } else { "" };
    let type_name = match spec.get(field::TYPE_NAME) {
        Some(Value::Token(name)) => name.as_str(),
        _ => "",
    };
    let head = format!("{uniform}{type_name} {name}");
    out.indent(level);
    out.push(custom);
    out.push(&head);
    if let Some(value) = spec.get(field::DEFAULT) {
        out.push(" = ");
        value_text(&value.load()?, out)?;
    }
    metadata(spec, level, out)?;
    out.push("\n");
    if let Some(Value::TimeSamples(samples)) =
        spec.get(field::TIME_SAMPLES).map(Value::load).transpose()?
    {
        out.indent(level);
        out.push(&head);
        out.push(".timeSamples = {\n");
        for (time, value) in samples.times().iter().zip(samples.values().iter()) {
            out.indent(level + 1);
            double(*time, &mut out.text);
            out.push(": ");
            value_text(&value.load()?, out)?;
            out.push(",\n");
        }
        out.indent(level);
        out.push("}\n");
    }
    if let Some(Value::Spline(value)) = spec.get(field::SPLINE).map(Value::load).transpose()? {
        out.indent(level);
        out.push(&head);
        out.push(".spline = ");
        spline(&value, level, out)?;
        out.push("\n");
    }
    if let Some(Value::PathListOp(op)) = spec
        .get(field::CONNECTION_PATHS)
        .map(Value::load)
        .transpose()?
    {
        edits(&format!("{head}.connect"), &op, level, true, out, path_item)?;
    }
    Ok(())
}

fn path_item(path: &Path, _: usize, out: &mut Output) -> Result<()> {
    path_text(path, out);
    Ok(())
}

/// A value of an attribute. The answer is false if there is no text for it.
pub(super) fn value_text(value: &Value, out: &mut Output) -> Result<bool> {
    match value {
        Value::Block => out.push("None"),
        Value::AnimationBlock => out.push("AnimationBlock"),
        Value::ArrayEdit(edit) => array_edit::write(edit, out),
        Value::Unregistered(inner) => match &**inner {
            Value::String(text) => out.push(text),
            _ => return Ok(false),
        },
        value => return plain(value, out),
    }
    Ok(true)
}

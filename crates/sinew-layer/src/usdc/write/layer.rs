//! Writes a layer that is in memory.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{Seek, Write};

use smol_str::SmolStr;

use super::CrateWriter;
use crate::error::Result;
use crate::layer::{Layer, Spec, SpecKind};
use crate::path::Path;

/// Writes a whole layer as a crate file, spec by spec in the layer's order. Names without a spec are left out of the
/// lists; specs that no list names are written after the others.
///
/// # Errors
/// [`Error::Unwritable`] if a value has no form in crate files or a spec has no parent; [`Error::Io`];
/// [`Error::Malformed`] if a value lies in another file that is broken there.
pub fn write_layer<W: Write + Seek>(layer: &Layer, out: W) -> Result<W> {
    let mut writer = CrateWriter::with_name(out, layer.name())?;
    write_specs(layer, &mut writer)?;
    writer.finish()
}

pub(super) fn write_specs<W: Write + Seek>(
    layer: &Layer,
    writer: &mut CrateWriter<W>,
) -> Result<()> {
    write_below(layer, &Path::root(), writer)?;
    if writer.len() < layer.len() {
        let mut rest: Vec<&Path> = layer.specs.keys().filter(|p| !writer.has(p)).collect();
        rest.sort_unstable();
        for path in rest {
            if !writer.has(path) {
                write_below(layer, path, writer)?;
            }
        }
    }
    Ok(())
}

/// Writes a spec and all that lists below it name.
fn write_below<W: Write + Seek>(
    layer: &Layer,
    path: &Path,
    writer: &mut CrateWriter<W>,
) -> Result<()> {
    let mut stack: Vec<(Path, &Spec)> = layer
        .spec(path)
        .map(|s| (path.clone(), s))
        .into_iter()
        .collect();
    while let Some((path, spec)) = stack.pop() {
        let set = path.variant().filter(|_| spec.kind == SpecKind::VariantSet);
        let prim = set.and(path.parent()).unwrap_or_default();
        let child = |name: &str| match set {
            Some((set, _)) => prim.with_variant(set, name),
            None => path.child(name),
        };
        let mut below = Vec::new();
        let properties = named(layer, spec.properties(), |n| path.property(n), &mut below);
        let sets = named(
            layer,
            spec.variant_sets(),
            |n| path.with_variant(n, ""),
            &mut below,
        );
        let children = named(layer, spec.children(), child, &mut below);
        writer.spec_parts(
            &path,
            spec.kind,
            &spec.fields,
            &children,
            &properties,
            &sets,
        )?;
        stack.extend(below.into_iter().rev());
    }
    Ok(())
}

/// The names that have a spec, each once; their specs are added to `below`.
fn named<'a>(
    layer: &'a Layer,
    names: &'a [SmolStr],
    path: impl Fn(&str) -> Path,
    below: &mut Vec<(Path, &'a Spec)>,
) -> Cow<'a, [SmolStr]> {
    let mut seen = HashSet::with_hasher(foldhash::fast::RandomState::default());
    let mut kept: Option<Vec<SmolStr>> = None;
    for (i, name) in names.iter().enumerate() {
        let path = path(name);
        match layer.spec(&path).filter(|_| seen.insert(name)) {
            Some(spec) => {
                below.push((path, spec));
                if let Some(kept) = &mut kept {
                    kept.push(name.clone());
                }
            }
            None => {
                kept.get_or_insert_with(|| names[..i].to_vec());
            }
        }
    }
    kept.map_or(names.into(), Into::into)
}

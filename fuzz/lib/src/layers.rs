//! Layer files: reading, and writing what was read.

use std::io::Cursor;
use std::path::Path as FilePath;

use sinew_layer::layer::{Layer, Spec, SpecKind, field};
use sinew_layer::usdz::{Package, write_package};
use sinew_layer::value::{Specifier, Variability};
use sinew_layer::{Path, Value, usda, usdc};

use crate::assets::on_disk;

/// Reads text, and all values of the layer.
pub fn usda(input: &[u8]) {
    if let Ok(layer) = usda::parse("input.usda", input) {
        load(&layer);
    }
}

/// Reads a crate file, and all values of the layer.
pub fn usdc(input: &[u8]) {
    if let Some(layer) = crate_layer(input) {
        load(&layer);
    }
}

/// Reads a package with all layers and packages in it, and writes it again.
pub fn usdz(input: &[u8]) {
    let Some(package) = on_disk(input, "input.usdz", |file| Package::open(file).ok()) else {
        return;
    };
    let names: Vec<&str> = package.entries().collect();
    for name in &names {
        assert!(package.bytes(name).is_some(), "an entry without bytes");
        if let Ok(layer) = package.layer(name) {
            load(&layer);
        }
        if let Ok(inner) = package.package(name) {
            assert!(inner.entries().all(|name| inner.bytes(name).is_some()));
        }
    }
    if let Ok(layer) = package.root_layer() {
        load(&layer);
    }
    let entries = names.iter().map(|name| {
        (
            (*name).to_owned(),
            package.bytes(name).unwrap_or_default().into(),
        )
    });
    let mut written = Vec::new();
    if write_package(FilePath::new("again.usdz"), &mut written, entries).is_ok() {
        let again = on_disk(&written, "again.usdz", Package::open);
        let again = again.expect("what was written can be read");
        for name in names {
            assert_eq!(package.bytes(name), again.bytes(name), "{name}");
        }
    }
}

/// Text that was written can be read, and is the same layer.
pub fn usda_round_trip(input: &[u8]) {
    let Ok(layer) = usda::parse("input.usda", input) else {
        return;
    };
    if let Some(text) = text(&layer) {
        let again = usda::parse("written.usda", &text).unwrap_or_else(|error| {
            panic!("{error}\n{}", String::from_utf8_lossy(&text));
        });
        same(&layer, &again);
    }
}

/// A crate file that was written can be read, and is the same layer.
pub fn usdc_round_trip(input: &[u8]) {
    let Some(layer) = crate_layer(input) else {
        return;
    };
    if let Some(again) = as_crate(&layer) {
        same(&layer, &again);
    }
}

/// Text becomes a crate file of the same layer.
pub fn usda_to_usdc(input: &[u8]) {
    let Ok(layer) = usda::parse("input.usda", input) else {
        return;
    };
    if let Some(again) = as_crate(&layer) {
        same(&layer, &again);
    }
}

/// A crate file becomes text, and what is read of that text is kept. Broken crate files may hold what text cannot.
pub fn usdc_to_usda(input: &[u8]) {
    let Some(text) = crate_layer(input).and_then(|layer| text(&layer)) else {
        return;
    };
    let again = usda::parse("written.usda", &text).unwrap_or_else(|error| {
        panic!("{error}\n{}", String::from_utf8_lossy(&text));
    });
    usda_round_trip(&self::text(&again).expect("a layer of text can be written as text"));
}

/// A crate file's layer: inputs that are no crate files are passed over.
fn crate_layer(input: &[u8]) -> Option<Layer> {
    match input.starts_with(b"PXR-USDC") {
        true => Layer::from_bytes("input.usdc", input.to_vec()).ok(),
        false => None,
    }
}

fn text(layer: &Layer) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    usda::write(layer, &mut text).ok()?;
    Some(text)
}

fn as_crate(layer: &Layer) -> Option<Layer> {
    let written = usdc::write_layer(layer, Cursor::new(Vec::new())).ok()?;
    let again = Layer::from_bytes("written.usdc", written.into_inner());
    Some(again.expect("what was written can be read"))
}

/// Decodes all values.
fn load(layer: &Layer) {
    layer.walk(&Path::root(), &mut |_, spec| {
        for (_, value) in spec.fields.iter() {
            load_value(value, 0);
        }
    });
}

fn load_value(value: &Value, depth: usize) {
    assert!(depth < 2000, "values nest without end");
    match value.load() {
        Ok(Value::TimeSamples(samples)) => {
            for value in samples.values().iter() {
                load_value(value, depth + 1);
            }
        }
        Ok(Value::Dictionary(entries)) => {
            for value in entries.values() {
                load_value(value, depth + 1);
            }
        }
        Ok(Value::ArrayEdit(edit)) => load_value(&edit.literals, depth + 1),
        _ => {}
    }
}

/// Whether two layers have the same specs with the same fields. Values that cannot be decoded have to be gone.
fn same(a: &Layer, b: &Layer) {
    let (a, mut b) = (described(a), described(b));
    for ((_, _, before), (_, _, after)) in a.iter().zip(&mut b) {
        for (before, after) in before.iter().zip(after) {
            // Of a type that no schema knows, text keeps the value's text.
            if before.0 == after.0 && after.1.contains("Unregistered(String(") {
                after.1.clone_from(&before.1);
            }
        }
    }
    if a != b {
        let other = a.iter().zip(&b).find(|(a, b)| a != b);
        panic!("{} and {} specs; {other:#?}", a.len(), b.len());
    }
}

/// Path, kind and names of a spec, and its fields, as text: a number that is none equals itself then.
type Described = (String, String, Vec<(String, String)>);

fn described(layer: &Layer) -> Vec<Described> {
    let mut specs = Vec::new();
    layer.walk(&Path::root(), &mut |path, spec| {
        let mut fields: Vec<(String, String)> = spec
            .fields
            .iter()
            .filter(|(name, value)| !says_nothing(spec.kind, name, value))
            .map(|(name, value)| (name.to_string(), value_text(value)))
            .collect();
        fields.sort();
        specs.push((path.to_string(), names(layer, path, spec), fields));
    });
    specs.sort();
    specs
}

/// The kind of a spec and the names of the specs below it. Properties and variants have no order in text.
fn names(layer: &Layer, path: &Path, spec: &Spec) -> String {
    let mut lists = [spec.children(), spec.properties(), spec.variant_sets()].map(<[_]>::to_vec);
    lists[0].retain(|name| match spec.kind {
        SpecKind::VariantSet => {
            let set = path.variant().map_or("", |(set, _)| set);
            let prim = path.parent().unwrap_or_default();
            layer.spec(&prim.with_variant(set, name)).is_some()
        }
        _ => layer.spec(&path.child(name)).is_some(),
    });
    lists[1].retain(|name| layer.spec(&path.property(name)).is_some());
    lists[2].retain(|name| layer.spec(&path.with_variant(name, "")).is_some());
    lists[1].sort();
    if spec.kind == SpecKind::VariantSet {
        lists[0].sort();
    }
    format!("{:?} {lists:?}", spec.kind)
}

/// Whether a field only says what holds anyway. Text has no names that are empty, and relationships are always uniform.
fn says_nothing(kind: SpecKind, name: &str, value: &Value) -> bool {
    let uniform = kind == SpecKind::Relationship && name == field::VARIABILITY;
    uniform
        || matches!(
            (name, value),
            (field::VARIABILITY, Value::Variability(Variability::Varying))
                | (field::CUSTOM, Value::Bool(false))
                | (field::SPECIFIER, Value::Specifier(Specifier::Over))
                | ("", _)
        )
}

fn value_text(value: &Value) -> String {
    match value.load() {
        Ok(Value::TimeSamples(samples)) => {
            let values = samples.values();
            let pairs = samples.times().iter().zip(values.iter());
            let pairs = pairs.map(|(time, value)| format!("{time:?}: {}", value_text(value)));
            pairs.collect::<Vec<_>>().join(", ")
        }
        Ok(Value::Dictionary(entries)) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{key:?}: {}", value_text(value)));
            entries.collect::<Vec<_>>().join(", ")
        }
        // The offset 0 has no sign in text.
        Ok(value) => format!("{value:?}").replace("offset: -0.0", "offset: 0.0"),
        Err(_) => "broken".to_owned(),
    }
}

//! Crate files that sinew-layer writes, as usd-core reads them: each value type, each kind of spec, and edits that
//! usd-core saves into such a file.
//!
//! These trials need a Python with usd-core 26.11, which `SINEW_PYTHON` names; without one they show as ignored.

mod specs;
mod values;

use std::path::PathBuf;
use std::process::Command;

use half::f16;
use libtest_mimic::{Arguments, Failed, Trial};
use sinew_layer::usdc::write_layer;
use sinew_layer::value::{AssetPath, PathExpression, Specifier};
use sinew_layer::{Dictionary, Layer, Path, SpecKind, Value};

fn main() {
    let python = std::env::var("SINEW_PYTHON").ok();
    let trial = |name: &str, run: fn(&str) -> Result<(), Failed>| {
        let path = python.clone().unwrap_or_default();
        Trial::test(name, move || run(&path))
            .with_kind(if python.is_some() {
                ""
            } else {
                "needs SINEW_PYTHON"
            })
            .with_ignored_flag(python.is_none())
    };
    let trials = vec![
        trial("every_value_type", values::every_value_type),
        trial("every_kind_of_spec", specs::every_kind_of_spec),
        trial("values_in_metadata", values::values_in_metadata),
        trial("long_arrays", values::long_arrays),
        trial("placed_samples", specs::placed_samples),
        trial("values_without_text", values::values_without_text),
        trial("splines_and_edits", specs::splines_and_edits),
        trial("versions", specs::versions),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn run_python(python: &str, arguments: &[&str]) -> Result<String, Failed> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/crate_writer.py");
    let output = Command::new(python).arg(script).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Compares bytes of a crate file with text, and again after usd-core has edited and saved the file.
fn compare(python: &str, crate_file: &[u8], text: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (crate_path, text_path) = (file("a.usdc"), file("a.usda"));
    std::fs::write(&crate_path, crate_file)?;
    std::fs::write(&text_path, format!("#usda 1.2\n{text}"))?;
    run_python(python, &["compare", &crate_path, &text_path])?;
    run_python(python, &["edit", &crate_path, &text_path])?;
    Ok(())
}

fn written(layer: &Layer) -> Vec<u8> {
    write_layer(layer, std::io::Cursor::new(Vec::new()))
        .unwrap()
        .into_inner()
}

fn prim(layer: &mut Layer, text: &str) {
    let spec = layer.create(&path(text), SpecKind::Prim);
    spec.fields
        .set("specifier", Value::Specifier(Specifier::Def));
}

/// An attribute as text authors it: custom, with its type.
fn attribute(layer: &mut Layer, text: &str, type_name: &str, default: Option<Value>) {
    let spec = layer.create(&path(text), SpecKind::Attribute);
    spec.fields.set("custom", Value::Bool(true));
    spec.fields.set("typeName", Value::token(type_name));
    if let Some(value) = default {
        spec.fields.set("default", value);
    }
}

fn asset(text: &str) -> AssetPath {
    AssetPath(text.into())
}

fn expression(text: &str) -> PathExpression {
    PathExpression(text.into())
}

fn halves<const N: usize>(values: [f32; N]) -> [f16; N] {
    values.map(f16::from_f32)
}

fn dictionary<const N: usize>(items: [(&str, Value); N]) -> Value {
    let items: Dictionary = items.into_iter().map(|(k, v)| (k.into(), v)).collect();
    Value::Dictionary(items.into())
}

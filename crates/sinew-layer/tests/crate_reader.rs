//! Crate files of all versions, as usd-core writes them: they have to hold the same as the text of the same layer.
//!
//! These trials need a Python with usd-core 26.11, which `SINEW_PYTHON` names; without one they show as ignored.

use std::path::Path as FilePath;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use sinew_layer::layer::field;
use sinew_layer::usdz::write_package;
use sinew_layer::value::{Specifier, Variability};
use sinew_layer::{Layer, Path, Spec, SpecKind, Value};

/// A file of each of these versions has another structure than the one before it.
const VERSIONS: [&str; 8] = [
    "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "0.9.0", "0.11.0", "0.16.0",
];

fn main() {
    let python = std::env::var("SINEW_PYTHON").ok();
    let trial = |version: &'static str| {
        let path = python.clone().unwrap_or_default();
        let name = format!("version_{}", version.replace('.', "_"));
        Trial::test(name, move || run(&path, version))
            .with_kind(if python.is_some() {
                ""
            } else {
                "needs SINEW_PYTHON"
            })
            .with_ignored_flag(python.is_none())
    };
    let trials = VERSIONS.map(trial).into();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn run(python: &str, version: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name);
    let (crate_file, text_file) = (file("a.usdc"), file("a.usda"));
    let script = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("tests/crate_reader.py");
    let output = Command::new(python)
        .arg(script)
        .args([&crate_file, &text_file])
        .arg(version)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let bytes = std::fs::read(&crate_file)?;
    let number: Vec<u8> = version.split('.').map(|n| n.parse().unwrap()).collect();
    assert_eq!(bytes[8..11], number, "the version that was asked for");
    let text = Layer::open(&text_file)?;
    compare(&Layer::open(&crate_file)?, &text)?;
    compare(&Layer::from_bytes("memory", bytes)?, &text)?;

    // In a package, which usd-core opens too.
    let package = file("a.usdz");
    let entries = [
        ("root.usdc".to_owned(), crate_file.clone().into()),
        ("notes.txt".to_owned(), b"text"[..].into()),
    ];
    write_package(&package, std::fs::File::create(&package)?, entries)?;
    compare(&Layer::open(&package)?, &text)?;
    let inside = format!("{}[root.usdc]", package.display());
    compare(&Layer::open(FilePath::new(&inside))?, &text)?;
    let open = "import sys; from pxr import Sdf; \
                a, b = map(Sdf.Layer.FindOrOpen, sys.argv[1:]); \
                assert a.ExportToString() == b.ExportToString()";
    let output = Command::new(python)
        .args(["-c", open])
        .args([&package, &crate_file])
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn compare(found: &Layer, expected: &Layer) -> Result<(), Failed> {
    let mut paths = Vec::new();
    found.walk(&Path::root(), &mut |path, _| paths.push(path.clone()));
    if found.len() != expected.len() || paths.len() != found.len() {
        let lens = [paths.len(), found.len(), expected.len()];
        return Err(format!("specs that were reached, of the file, of the text: {lens:?}").into());
    }
    for path in &paths {
        let (Some(a), Some(b)) = (found.spec(path), expected.spec(path)) else {
            return Err(format!("{path} is not in the text").into());
        };
        let names = |spec: &Spec| {
            let mut lists = [spec.children(), spec.properties(), spec.variant_sets()];
            // Text has properties and variants in the order of their names.
            let mut lists = lists.each_mut().map(|list| list.to_vec());
            lists[1].sort();
            if spec.kind == SpecKind::VariantSet {
                lists[0].sort();
            }
            lists
        };
        if a.kind != b.kind || names(a) != names(b) {
            return Err(format!("{path}: {a:?} and {b:?}").into());
        }
        let (a, b) = (fields(a)?, fields(b)?);
        if let Some(i) = (0..a.len().max(b.len())).find(|i| a.get(*i) != b.get(*i)) {
            return Err(format!("{path}: {:.300?} and {:.300?}", a.get(i), b.get(i)).into());
        }
    }
    Ok(())
}

/// A spec's fields by name, decoded, without those that only say what holds anyway.
fn fields(spec: &Spec) -> sinew_layer::Result<Vec<(String, Value)>> {
    let mut fields = Vec::new();
    for (name, value) in spec.fields.iter() {
        match (name.as_str(), value) {
            (field::VARIABILITY, Value::Variability(Variability::Varying)) => {}
            (field::CUSTOM, Value::Bool(false)) => {}
            (field::SPECIFIER, Value::Specifier(Specifier::Over)) => {}
            (_, Value::TimeSamples(samples)) => {
                for (i, time) in samples.times().iter().enumerate() {
                    fields.push((format!("{name} at {time}"), samples.load(i)?));
                }
            }
            _ => fields.push((name.to_string(), value.load()?)),
        }
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(fields)
}

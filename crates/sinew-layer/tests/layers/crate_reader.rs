//! Crate files of all versions, as usd-core writes them: they have to hold the same as the text of the same layer.

use std::path::Path as FilePath;

use libtest_mimic::Trial;
use sinew_layer::layer::field;
use sinew_layer::usdz::write_package;
use sinew_layer::value::{Specifier, Variability};
use sinew_layer::{Layer, Path, Spec, SpecKind, Value};

use super::{Done, against_usd_core, python};

/// A file of each of these versions has another structure than the one before it.
const VERSIONS: [&str; 8] = [
    "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "0.9.0", "0.11.0", "0.16.0",
];

pub fn trials() -> [Trial; 8] {
    VERSIONS.map(|version| {
        let name = format!("version_{}", version.replace('.', "_"));
        against_usd_core(name, move || run(version))
    })
}

fn run(version: &str) -> Done {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (crate_file, text_file) = (file("a.usdc"), file("a.usda"));
    python("crate_reader.py", &[&crate_file, &text_file, version])?;
    let bytes = std::fs::read(&crate_file)?;
    let number: Vec<u8> = version.split('.').map(|n| n.parse().unwrap()).collect();
    assert_eq!(bytes[8..11], number, "the version that was asked for");
    let open = |file: &str| Layer::open(FilePath::new(file));
    let text = open(&text_file)?;
    compare(&open(&crate_file)?, &text)?;
    compare(&Layer::from_bytes("memory", bytes)?, &text)?;

    // In a package, which usd-core opens too.
    let package = file("a.usdz");
    let entries = [
        (
            "root.usdc".to_owned(),
            FilePath::new(&crate_file).to_owned().into(),
        ),
        ("notes.txt".to_owned(), b"text"[..].into()),
    ];
    write_package(
        FilePath::new(&package),
        std::fs::File::create(&package)?,
        entries,
    )?;
    compare(&open(&package)?, &text)?;
    compare(&open(&format!("{package}[root.usdc]"))?, &text)?;
    python("crate_writer.py", &["compare", &package, &crate_file])?;
    Ok(())
}

fn compare(found: &Layer, expected: &Layer) -> Done {
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

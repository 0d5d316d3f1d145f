//! Tests of reading and writing by subject.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{MAX_NESTING, parse, write};
use crate::error::Error;
use crate::layer::{Layer, SpecKind, field};
use crate::path::Path;
use crate::value::{AssetPath, Dictionary, ListOp, TimeSamples, Value};

fn read(text: &str) -> Layer {
    match parse("test", text.as_bytes()) {
        Ok(layer) => layer,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn message(text: &str) -> String {
    match parse("test", text.as_bytes()) {
        Ok(_) => panic!("it is a layer: {text}"),
        Err(error) => error.to_string(),
    }
}

fn written(layer: &Layer) -> String {
    let mut out = Vec::new();
    write(layer, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

/// The specs with their fields, sorted.
fn content(layer: &Layer) -> Vec<String> {
    let mut all = Vec::new();
    layer.walk(&Path::root(), &mut |path, spec| {
        let mut fields: Vec<_> = spec.fields.iter().map(|f| format!("{f:?}")).collect();
        fields.sort();
        all.push(format!("{path} {:?} {fields:?}", spec.kind));
    });
    all
}

#[test]
fn everything_is_read_back_as_it_was() {
    let text = include_str!("everything.usda");
    let layer = parse("everything", text.as_bytes()).unwrap();
    let text = written(&layer);
    let again = parse("again", text.as_bytes()).unwrap();
    assert_eq!(content(&layer), content(&again));
    assert!(
        text.starts_with("#usda 1.3\n"),
        "a loop's boundary needs 1.3"
    );
}

#[test]
fn texts_are_read_and_written_or_errors_that_name_line_column_and_spec() {
    for row in include_str!("texts.txt").split("\n## ").skip(1) {
        let (_, row) = row.split_once('\n').unwrap();
        let with_header = |text: &str| match text.starts_with('#') {
            true => text.to_owned(),
            false => format!("#usda 1.0\n{text}"),
        };
        if let Some((text, words)) = row.trim_end().rsplit_once("\n! ") {
            let message = message(&with_header(text));
            assert!(message.contains(words), "{message}\n{words}");
            continue;
        }
        let (text, expected) = row.split_once("== written\n").unwrap();
        let layer = read(&with_header(text));
        assert_eq!(written(&layer).trim_end(), expected.trim_end());
        assert_eq!(content(&read(expected)), content(&layer));
    }
}

#[test]
fn what_is_no_text_is_told_by_its_beginning() {
    for (bytes, words) in [
        (&b""[..], "line 1, column 1"),
        (b"\x89PNG\r\n\x1a\n\0\0", "found '\u{fffd}PNG'"),
        (
            b"#usda 1.0\n\xff",
            "line 2, column 1: the text is not UTF-8",
        ),
    ] {
        let error = parse("test", bytes).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let prims = |n: usize| {
        format!(
            "#usda 1.0\n{}{}",
            "def \"A\" {\n".repeat(n),
            "}\n".repeat(n)
        )
    };
    let layer = parse("deep", prims(MAX_NESTING).as_bytes()).unwrap();
    assert_eq!(layer.len(), MAX_NESTING + 1);
    assert_eq!(
        parse("again", written(&layer).as_bytes()).unwrap().len(),
        layer.len()
    );
    assert!(message(&prims(MAX_NESTING + 2)).contains("nested deeper than 1000"));
    let entries = |n: usize| {
        let (open, close) = ("dictionary a = {".repeat(n), "}".repeat(n));
        format!("#usda 1.0\n(customLayerData = {{{open}{close}}})")
    };
    let layer = parse("deep", entries(MAX_NESTING).as_bytes()).unwrap();
    assert_eq!(written(&layer).matches("dictionary").count(), MAX_NESTING);
    assert!(message(&entries(MAX_NESTING + 1)).contains("more than 1000 dictionaries"));
}

#[test]
fn what_text_cannot_hold_is_found_before_anything_is_written() {
    let with = |spec: &str, kind: SpecKind, fields: &[(&str, Value)]| {
        let mut layer = Layer::new("test");
        let spec = layer.create(&path(spec), kind);
        for (name, value) in fields {
            spec.fields.set(*name, value.clone());
        }
        layer
    };
    let attribute = |fields: &[(&str, Value)]| with("/A.b", SpecKind::Attribute, fields);
    let of_type = |type_name: &str, name, value| {
        attribute(&[("typeName", Value::token(type_name)), (name, value)])
    };
    let prim = |name, value| with("/A", SpecKind::Prim, &[(name, value)]);
    let asset = |text: &str| Value::AssetPath(AssetPath(text.into()));
    let list = Value::TokenListOp(Arc::new(ListOp::explicit(vec!["a".into(), "a".into()])));
    let data = |entry: &[(SmolStr, Value)]| {
        Value::Dictionary(Arc::new(entry.iter().cloned().collect::<Dictionary>()))
    };
    let samples = TimeSamples::new(vec![(0.0, Value::Float(1.0)), (1.0, Value::token("x"))]);
    for (layer, name) in [
        (attribute(&[]), "typeName"),
        (attribute(&[("typeName", Value::token("a b"))]), "typeName"),
        (of_type("float", "default", Value::token("x")), "default"),
        (
            of_type("float", "timeSamples", Value::TimeSamples(samples)),
            "timeSamples",
        ),
        (of_type("asset", "default", asset("a@b\\")), "default"),
        (of_type("asset", "default", asset("a\n")), "default"),
        (prim("apiSchemas", list.clone()), "apiSchemas"),
        (
            prim("customData", data(&[("a".into(), list)])),
            "customData",
        ),
        (prim("a:b", Value::Bool(true)), "a:b"),
        (
            prim(field::RELOCATES, Value::Relocates(Arc::default())),
            "relocates",
        ),
    ] {
        let mut out = Vec::new();
        match write(&layer, &mut out) {
            Err(Error::Unwritable { field, .. }) => assert_eq!(field, name),
            other => panic!("{name}: {other:?}"),
        }
        assert!(out.is_empty());
    }
    // What usd-core writes and reads, although the types differ.
    let int = of_type("float", "default", Value::Int(3));
    assert!(written(&int).contains("float b = 3\n"));
    let hidden = prim("hidden", Value::token("true"));
    assert!(written(&hidden).contains("hidden = \"true\"\n"));
    assert!(written(&prim("customData", data(&[]))).contains("customData = {\n"));
}

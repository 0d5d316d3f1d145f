//! Tests of reading and writing by subject.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{MAX_NESTING, parse, write};
use crate::error::Error;
use crate::layer::{Layer, SpecKind, field};
use crate::path::Path;
use crate::value::{AssetPath, Dictionary, ListOp, TimeSamples, Value};

fn read(text: &str) -> Layer {
    match parse("test", format!("#usda 1.0\n{text}").as_bytes()) {
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

fn get(layer: &Layer, spec: &str, name: &str) -> Value {
    layer
        .get(&path(spec), name)
        .unwrap()
        .unwrap_or_else(|| panic!("{spec} has no {name}"))
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
fn attributes_have_usds_fields() {
    let layer = read(
        "def Mesh \"A\"\n{\n    custom uniform token[] a:b = [\"x\"]\n    float3 p = (1, -0, 2.5)\n    quatf q = (1, 2, 3, 4)\n    \
         matrix2d m = ((1, 2), (3, 4))\n    half h = 0.1\n    bool b = None\n}\n",
    );
    let token = |t: &str| Value::token(t);
    assert_eq!(get(&layer, "/A", "typeName"), token("Mesh"));
    assert_eq!(get(&layer, "/A.a:b", "typeName"), token("token[]"));
    assert_eq!(get(&layer, "/A.a:b", "custom"), Value::Bool(true));
    let Value::Vec3f([_, zero, _]) = get(&layer, "/A.p", "default") else {
        panic!("p is a float3");
    };
    assert!(zero.is_sign_negative());
    let Value::Quatf(quat) = get(&layer, "/A.q", "default") else {
        panic!("q is a quatf");
    };
    assert_eq!(quat.0, [2.0, 3.0, 4.0, 1.0]);
    assert_eq!(
        get(&layer, "/A.m", "default"),
        Value::Matrix2d(Box::new([1.0, 2.0, 3.0, 4.0]))
    );
    assert_eq!(get(&layer, "/A.b", "default"), Value::Block);
    let text = written(&layer);
    assert!(
        text.contains("half h = 0.1\n") && text.contains("float3 p = (1, -0, 2.5)"),
        "{text}"
    );
}

#[test]
fn lists_are_edited_statement_by_statement() {
    let layer = read(
        "def \"A\" (\n    prepend apiSchemas = [\"a\", \"a\", \"b\"]\n    delete apiSchemas = [\"c\"]\n    references = None\n    \
         payload = @a@</B> (offset = 2; scale = 3)\n    add mine = [1, x]\n)\n{\n    rel r = </Old>\n    append rel r = [<B>, <../C>]\n}\n",
    );
    let Value::TokenListOp(op) = get(&layer, "/A", "apiSchemas") else {
        panic!("apiSchemas is a list of tokens");
    };
    assert_eq!((op.prepended.len(), op.deleted.len()), (2, 1));
    assert_eq!(
        get(&layer, "/A", "references"),
        Value::ReferenceListOp(ListOp::explicit(vec![]).into())
    );
    let Value::PayloadListOp(op) = get(&layer, "/A", "payload") else {
        panic!("payload is a list");
    };
    assert_eq!(op.explicit_items[0].offset.apply(1.0), 5.0);
    let Value::PathListOp(op) = get(&layer, "/A.r", "targetPaths") else {
        panic!("targets are paths");
    };
    assert_eq!(
        (op.explicit, &op.appended),
        (false, &vec![path("/A/B"), path("/C")])
    );
    assert_eq!(
        content(&parse("again", written(&layer).as_bytes()).unwrap()),
        content(&layer)
    );
}

#[test]
fn variants_nest_and_merge() {
    let layer = read(
        "def \"A\" (\n    variants = {\n        string v = \"x\"\n    }\n    prepend variantSets = \"v\"\n)\n{\n    variantSet \"v\" = {\n        \
         \"x\" (doc = \"d\") {\n            int a = 1\n            def \"B\"\n            {\n                variantSet \"w\" = {\n                    \
         \"y\" {\n                    }\n                }\n            }\n        }\n    }\n    variantSet \"v\" = { \"x\" { int b\n} \"z\" {} }\n}\n",
    );
    assert_eq!(get(&layer, "/A{v=x}", "documentation"), Value::string("d"));
    assert_eq!(
        layer.spec(&path("/A{v=x}")).unwrap().properties(),
        ["a", "b"]
    );
    assert_eq!(layer.spec(&path("/A{v=}")).unwrap().children(), ["x", "z"]);
    assert!(layer.spec(&path("/A{v=x}B{w=y}")).is_some());
    assert_eq!(
        content(&parse("again", written(&layer).as_bytes()).unwrap()),
        content(&layer)
    );
}

#[test]
fn errors_name_line_column_and_spec() {
    for (text, parts) in [
        (
            "#usda 1.0\ndef \"A\"\n{\n    int a = 3000000000\n}\n",
            "line 4, column 13, in </A.a>: expected a number from -2147483648",
        ),
        (
            "#usda 1.0\ndef \"A\"\n{\n    int a = x\n}\n",
            "expected an integer, found 'x'",
        ),
        (
            "#usda 1.0\ndef \"A\"\n{\n    float3 a = (1, 2)\n}\n",
            "in </A.a>: expected 3 numbers, found 2",
        ),
        (
            "#usda 1.0\ndef \"A\"\n{\n    int a = 1 }\n",
            "expected the end of the line or ';', found '}'",
        ),
        (
            "#usda 1.0\n(\n    ä = \"x\n)\n",
            "line 3, column 9, in </>: a string without its closing quote",
        ),
        (
            "#usda 1.0\ndef \"A\" {}\ndef \"A\" {}\n",
            "line 3, column 5, in </>: there is a prim 'A' here already",
        ),
        (
            "#usda 1.0\ndef \"A\" (kind = None) {}\n",
            "expected a string, found 'None) {}'",
        ),
        (
            "#usda 1.0\ndef \"A\"",
            "expected '{', found the end of the file",
        ),
        (
            "#usda 1.0\ndef \"A\" (references = @@) {}\n",
            "an asset path must not be empty",
        ),
        (
            "#usda 1.0\ndef \"A\" {\nint a\nfloat a\n}\n",
            "the attribute is of type int already, not float",
        ),
        ("#usda 1.5\n", "the newest supported one is 1.4"),
        (
            "#sdf 1.4.32\n",
            "expected '#usda 1.0' to '#usda 1.4', or 'PXR-USDC' of a crate, found '#sdf 1.4.32'",
        ),
        ("", "line 1, column 1"),
    ] {
        let message = message(text);
        assert!(message.contains(parts), "{message}\n{parts}");
    }
    let picture = parse("test", b"\x89PNG\r\n\x1a\n\0\0")
        .unwrap_err()
        .to_string();
    assert!(picture.ends_with("found '\u{fffd}PNG'"), "{picture}");
    let error = parse("test", b"#usda 1.0\n\xff").unwrap_err().to_string();
    assert!(
        error.contains("line 2, column 1: the text is not UTF-8"),
        "{error}"
    );
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
    let asset = |text: &str| Value::AssetPath(AssetPath(text.into()));
    let list = Value::TokenListOp(Arc::new(ListOp::explicit(vec!["a".into(), "a".into()])));
    let float = ("typeName", Value::token("float"));
    let samples = TimeSamples::new(vec![(0.0, Value::Float(1.0)), (1.0, Value::token("x"))]);
    let entry = [(SmolStr::new("a"), list.clone())];
    let attribute = SpecKind::Attribute;
    for (layer, name) in [
        (with("/A.b", attribute, &[]), "typeName"),
        (
            with("/A.b", attribute, &[("typeName", Value::token("a b"))]),
            "typeName",
        ),
        (
            with(
                "/A.b",
                attribute,
                &[float.clone(), ("default", Value::token("x"))],
            ),
            "default",
        ),
        (
            with(
                "/A.b",
                attribute,
                &[float.clone(), ("timeSamples", Value::TimeSamples(samples))],
            ),
            "timeSamples",
        ),
        (
            with(
                "/A.b",
                attribute,
                &[
                    ("typeName", Value::token("asset")),
                    ("default", asset("a@b\\")),
                ],
            ),
            "default",
        ),
        (
            with(
                "/A.b",
                attribute,
                &[
                    ("typeName", Value::token("asset")),
                    ("default", asset("a\n")),
                ],
            ),
            "default",
        ),
        (
            with("/A", SpecKind::Prim, &[("apiSchemas", list.clone())]),
            "apiSchemas",
        ),
        (
            with(
                "/A",
                SpecKind::Prim,
                &[("customData", Value::Dictionary(Arc::new(entry.into())))],
            ),
            "customData",
        ),
        (
            with("/A", SpecKind::Prim, &[("a:b", Value::Bool(true))]),
            "a:b",
        ),
        (
            with(
                "/A",
                SpecKind::Prim,
                &[(field::RELOCATES, Value::Relocates(Arc::default()))],
            ),
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
    let int = with("/A.b", attribute, &[float, ("default", Value::Int(3))]);
    assert!(written(&int).contains("float b = 3\n"));
    let hidden = with("/A", SpecKind::Prim, &[("hidden", Value::token("true"))]);
    assert!(written(&hidden).contains("hidden = \"true\"\n"));
    let data = with(
        "/A",
        SpecKind::Prim,
        &[("customData", Value::Dictionary(Arc::new(Dictionary::new())))],
    );
    assert!(written(&data).contains("customData = {\n"));
}

#[test]
fn an_unknown_edit_is_named_wherever_spaces_follow_it() {
    for word in ["\u{75d}s", "wrote"] {
        let text = format!("#usda 1.3\ndef \"W\" {{\n    int[] a = edit [ {word}\n\n  ]\n}}\n");
        assert!(
            message(&text).contains(&format!("found '{word}'")),
            "{}",
            message(&text)
        );
    }
}

//! Trials of the writer that look at its tables; `crates/sinew-layer/tests/layers/crate_writer.rs` has usd-core read its files.

use std::io::Cursor;

use super::layer::write_specs;
use super::*;
use crate::layer::Layer;
use crate::value::{ListOp, TimeSamples};

type Writer = CrateWriter<Cursor<Vec<u8>>>;

fn writer() -> Writer {
    CrateWriter::new(Cursor::new(Vec::new())).unwrap()
}

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

/// A spec without anything below it.
fn spec(writer: &mut Writer, text: &str, kind: SpecKind, fields: &Fields) -> Result<()> {
    writer.spec_parts(&path(text), kind, fields, &[], &[], &[])
}

/// A writer that has the root.
fn rooted() -> Writer {
    let mut writer = writer();
    spec(&mut writer, "/", SpecKind::Root, &Fields::default()).unwrap();
    writer
}

fn fields<const N: usize>(fields: [(&str, Value); N]) -> Fields {
    fields
        .map(|(name, value)| (name.into(), value))
        .into_iter()
        .collect()
}

fn rep(value: &Value) -> Rep {
    match value {
        Value::Placed(placed) => Rep(placed.rep),
        value => panic!("{value:?}"),
    }
}

fn unwritable<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result.unwrap_err() {
        error @ Error::Unwritable { .. } => error.to_string(),
        error => panic!("{error}"),
    }
}

#[test]
fn equal_values_are_written_once() {
    let mut writer = writer();
    let floats = |v: f32| Value::FloatArray(vec![v, 0.1].into());
    let first = writer.place(&floats(1.0)).unwrap();
    assert_eq!(writer.place(&floats(1.0)).unwrap(), first);
    assert_eq!(writer.place_slice(&[1.0f32, 0.1]).unwrap(), first);
    let end = writer.out.position;
    assert!(rep(&first).is_array() && rep(&first).payload().is_multiple_of(8));
    // The same bytes as another type, as a scalar, and other bytes.
    let scalar = writer.place(&Value::Vec2f([1.0, 0.1])).unwrap();
    let vectors = writer.place_slice(&[[1.0f32, 0.1]]).unwrap();
    let other = writer.place(&floats(-0.0)).unwrap();
    let zero = writer.place(&floats(0.0)).unwrap();
    let reps = [&first, &scalar, &vectors, &other, &zero].map(|v| rep(v).payload());
    assert!(
        reps.is_sorted_by(|a, b| a < b) && reps[1] >= end,
        "{reps:?}"
    );

    let samples = |times: &[f64], value: f32| {
        let samples = times.iter().map(|t| (*t, floats(value))).collect();
        Value::TimeSamples(TimeSamples::new(samples))
    };
    let first = writer.place(&samples(&[1.0, 2.0], 1.0)).unwrap();
    let end = writer.out.position;
    assert_eq!(writer.place(&samples(&[1.0, 2.0], 1.0)).unwrap(), first);
    assert_eq!(writer.out.position, end);
    // Only the samples' list is new: times and values are there.
    writer.place(&samples(&[1.0, 2.0], 0.0)).unwrap();
    assert_eq!(writer.out.position, end + 4 * 8 + 2 * 8);
}

#[test]
fn small_values_need_no_bytes() {
    let mut writer = writer();
    let start = writer.out.position;
    for value in [
        Value::Double(0.5),
        Value::Int64(-5),
        Value::UInt64(u64::from(u32::MAX)),
        Value::Vec4d(Box::new([1.0, -2.0, 3.0, 4.0])),
        Value::Dictionary(Arc::default()),
        Value::Block,
        Value::token("a"),
    ] {
        let rep = rep(&writer.place(&value).unwrap());
        assert!(rep.is_inlined() && !rep.is_array(), "{value:?}");
    }
    let empty = rep(&writer.place_slice::<f64>(&[]).unwrap());
    assert!(empty.is_array() && empty.payload() == 0);
    assert_eq!(writer.out.position, start);
    for value in [
        Value::Double(0.1),
        Value::Int64(i64::MIN),
        Value::UInt64(u64::MAX),
    ] {
        assert!(
            !rep(&writer.place(&value).unwrap()).is_inlined(),
            "{value:?}"
        );
    }
}

#[test]
fn placed_values_belong_to_their_writer() {
    let placed = writer().place_slice(&[1u8]).unwrap();
    let mut writer = rooted();
    let with_it = fields([("default", placed.clone())]);
    let error = spec(&mut writer, "/A", SpecKind::Prim, &with_it);
    assert!(unwritable(error).starts_with("/A: default: "));
    unwritable(writer.place(&placed));
    // It may be tried again without that value.
    spec(&mut writer, "/A", SpecKind::Prim, &Fields::default()).unwrap();
}

#[test]
fn specs_have_to_fit_their_place() {
    let mut writer = writer();
    let none = Fields::default();
    unwritable(spec(&mut writer, "/A", SpecKind::Prim, &none));
    spec(&mut writer, "/", SpecKind::Root, &none).unwrap();
    spec(&mut writer, "/A", SpecKind::Prim, &none).unwrap();
    for (text, kind) in [
        ("/A", SpecKind::Prim),
        ("/", SpecKind::Root),
        ("/B", SpecKind::Root),
        ("/B/C", SpecKind::Prim),
        ("/B", SpecKind::Attribute),
        ("/A.b", SpecKind::Prim),
        ("/A{v=x}", SpecKind::VariantSet),
        ("/A{v=}", SpecKind::Variant),
        ("B", SpecKind::Prim),
        ("", SpecKind::Prim),
    ] {
        unwritable(spec(&mut writer, text, kind, &none));
    }
    for (text, kind) in [
        ("/A.r", SpecKind::Relationship),
        ("/A.r[/X].w", SpecKind::Attribute),
        ("/A{v=}", SpecKind::VariantSet),
        ("/A{v=x}", SpecKind::Variant),
    ] {
        spec(&mut writer, text, kind, &none).unwrap();
    }
    let lists = fields([("properties", Value::Int(1))]);
    unwritable(spec(&mut writer, "/B", SpecKind::Prim, &lists));
}

#[test]
fn shared_fields_become_one_set() {
    let mut writer = rooted();
    let shared = fields([("a", Value::Double(0.1)), ("b", Value::Int(2))]);
    let equal: Fields = shared.iter().cloned().collect();
    for (text, fields) in [("/P0", &shared), ("/P1", &shared.clone()), ("/P2", &equal)] {
        spec(&mut writer, text, SpecKind::Prim, fields).unwrap();
    }
    let first = writer.specs[1][1];
    assert_eq!(writer.specs[1][1..], [first; 3]);
    assert_eq!(writer.table.fields.len(), 2);
    // Names of children come behind the shared fields.
    let children = ["C".into()];
    writer
        .spec_parts(&path("/Q"), SpecKind::Prim, &shared, &children, &[], &[])
        .unwrap();
    assert_eq!(writer.table.fields.len(), 3);

    // A relative path means another prim in each spec.
    let targets = ListOp::explicit(vec![path("../X")]);
    let relative = fields([("r", Value::PathListOp(targets.into()))]);
    for text in ["/Q/R", "/P1/R"] {
        spec(&mut writer, text, SpecKind::Prim, &relative).unwrap();
    }
    let [.., one, other] = &writer.specs[1][..] else {
        panic!()
    };
    assert_ne!(one, other);
    unwritable(writer.place(relative.get("r").unwrap()));
}

#[test]
fn nesting_and_texts_are_checked() {
    let mut value = Value::Int(1);
    for _ in 0..200 {
        let dictionary = [("a".into(), value)]
            .into_iter()
            .collect::<crate::Dictionary>();
        value = Value::Dictionary(dictionary.into());
    }
    let mut writer = writer();
    assert!(unwritable(writer.place(&value)).contains("nested"));
    assert!(unwritable(writer.place(&Value::token("a\0b"))).contains("NUL"));
    assert_eq!(writer.depth, 0);
}

#[test]
fn a_file_may_begin_anywhere() {
    let mut out = Cursor::new(b"before".to_vec());
    out.set_position(6);
    let out = write_layer(&Layer::new("test"), out).unwrap();
    assert_eq!(out.position(), out.get_ref().len() as u64);
    let bytes = &out.get_ref()[6..];
    assert_eq!(bytes[..11], *b"PXR-USDC\x00\x08\x00");
    let table = u64::from_le_bytes(bytes[16..24].try_into().unwrap()) as usize;
    assert_eq!(bytes.len(), table + 8 + 6 * 32);
    assert_eq!(bytes[table + 8..table + 14], *b"TOKENS");
}

#[test]
fn lost_specs_are_written_and_missing_ones_are_not_named() {
    let mut layer = Layer::new("test");
    layer.create(&path("/A/B.c"), SpecKind::Attribute);
    let below = layer.root_mut().below_mut();
    below.children = ["X", "Y", "Y"].map(Into::into).to_vec();
    layer.specs.insert(path("/Y"), Spec::new(SpecKind::Prim));
    let mut writer = writer();
    write_specs(&layer, &mut writer).unwrap();
    assert_eq!(writer.len(), layer.len());
    let names = writer.tokens.all();
    assert!(names.contains(&&b"Y"[..]) && !names.contains(&&b"X"[..]));

    layer
        .specs
        .insert(path("/No/Parent"), Spec::new(SpecKind::Prim));
    let error = write_layer(&layer, Cursor::new(Vec::new()));
    assert!(unwritable(error).starts_with("/No/Parent: "));
}

#[test]
fn lists_that_no_schema_knows_are_the_same_from_text_and_from_crate_files() {
    let text = "#usda 1.0\nover \"A\" (\n    prepend unknown = [\"a\", 2]\n)\n{\n}\n";
    let layer = crate::usda::parse("a.usda", text.as_bytes()).unwrap();
    let out = write_layer(&layer, Cursor::new(Vec::new())).unwrap();
    let mut again = Layer::from_bytes("a.usdc", out.into_inner()).unwrap();
    let unknown = |layer: &Layer| layer.get(&path("/A"), "unknown").unwrap();
    assert!(unknown(&layer).is_some());
    assert_eq!(unknown(&again), unknown(&layer));
    let mut written = Vec::new();
    crate::usda::write(&again, &mut written).unwrap();
    assert!(
        String::from_utf8(written)
            .unwrap()
            .contains("prepend unknown = [\"a\", 2]")
    );

    // Text has no dictionaries in lists.
    let dictionary = Value::Unregistered(Value::Dictionary(Arc::default()).into());
    let op = Value::UnregisteredListOp(ListOp::prepended(vec![dictionary]).into());
    let fields = &mut again.spec_mut(&path("/A")).unwrap().fields;
    fields.set("unknown", Value::Unregistered(op.into()));
    assert!(unwritable(crate::usda::write(&again, &mut Vec::new())).contains("no text"));
}

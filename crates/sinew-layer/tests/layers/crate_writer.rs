//! Crate files that sinew-layer writes, as usd-core reads them: each value type, each kind of spec, and edits that
//! usd-core saves into such a file.

use std::io::Cursor;

use sinew_layer::usdc::{CrateWriter, write_layer};
use sinew_layer::value::{LayerOffset, Payload, Permission, Specifier};
use sinew_layer::{
    Dictionary, Fields, Layer, ListOp, Path, SpecKind, TimeSamples, Token, Value, usda,
};

use super::{Done, python};

fn path(text: &str) -> Path {
    Path::parse(text).unwrap()
}

fn parse(text: &str) -> sinew_layer::Result<Layer> {
    usda::parse("a.usda", text.as_bytes())
}

fn written(layer: &Layer) -> sinew_layer::Result<Vec<u8>> {
    Ok(write_layer(layer, Cursor::new(Vec::new()))?.into_inner())
}

/// Compares bytes of a crate file with text, and again after usd-core has edited and saved the file.
fn compare(crate_file: &[u8], text: &str) -> Done {
    let folder = tempfile::tempdir()?;
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (crate_path, text_path) = (file("a.usdc"), file("a.usda"));
    std::fs::write(&crate_path, crate_file)?;
    std::fs::write(&text_path, text)?;
    python("crate_writer.py", &["compare", &crate_path, &text_path])?;
    python("crate_writer.py", &["edit", &crate_path, &text_path])?;
    Ok(())
}

/// What usd-core says of a layer's crate file.
fn print(what: &str, layer: &Layer) -> Result<String, libtest_mimic::Failed> {
    let file = tempfile::NamedTempFile::with_suffix(".usdc")?;
    std::fs::write(file.path(), written(layer)?)?;
    python("crate_writer.py", &[what, &file.path().to_string_lossy()])
}

/// Writes the layer of a text as a crate file, and compares the two.
fn same_as_text(text: &str) -> Done {
    compare(&written(&parse(text)?)?, text)
}

pub fn every_value_type() -> Done {
    same_as_text(include_str!("written/types.usda"))
}

pub fn every_kind_of_spec() -> Done {
    let text = include_str!("written/specs.usda");
    let mut layer = parse(text)?;
    // A relative path, as memory may have it.
    let targets = vec![path("日本"), path("/A.größe:x"), path("/Nowhere/X")];
    let targets = Value::PathListOp(ListOp::explicit(targets).into());
    let relationship = layer.spec_mut(&path("/A.rel")).ok_or("a relationship")?;
    relationship.fields.set("targetPaths", targets);
    compare(&written(&layer)?, text)
}

pub fn values_in_metadata() -> Done {
    same_as_text(include_str!("written/metadata.usda"))
}

/// Splines, edits of arrays and blocks of animation.
pub fn splines_and_edits() -> Done {
    same_as_text(include_str!("written/splines.usda"))
}

/// Arrays that are long enough to be compressed, or to be mapped.
pub fn long_arrays() -> Done {
    let half = |i: i64| (i % 7) as f32 / 4.0;
    let scattered = |i: i64| (i * i * 7_919) % 1_000_003 - 500_000;
    type Element<'a> = &'a dyn Fn(i64) -> String;
    let arrays: [(&str, Element<'_>); 13] = [
        ("int", &|i| scattered(i).to_string()),
        ("uint", &|i| (u32::MAX as i64 - i).to_string()),
        ("int64", &|i| (scattered(i) << 30).to_string()),
        ("uint64", &|i| (u64::MAX - i as u64).to_string()),
        ("half", &|i| half(i).to_string()),
        ("float", &|i| (i - 100).to_string()),
        ("float", &|i| half(i).to_string()),
        ("float", &|i| (i as f32 / 8.0).to_string()),
        ("double", &|i| (-i - 1).to_string()),
        ("double", &|i| ["-0", "1e-300"][i as usize % 2].to_owned()),
        ("bool", &|i| i32::from(i % 3 == 0).to_string()),
        ("point3f", &|i| format!("({i}, 0.5, -1)")),
        ("double3", &|i| format!("({i}, 0.5, -1)")),
    ];
    let mut text = "#usda 1.2\ndef \"A\" {\n".to_owned();
    for (i, (type_name, element)) in arrays.into_iter().enumerate() {
        let elements: Vec<String> = (0..3000).map(element).collect();
        let elements = elements.join(", ");
        // The second one is the same value, which the file has once.
        for copy in ["", "_copy"] {
            text += &format!("custom {type_name}[] a{i}{copy} = [{elements}]\n");
        }
    }
    same_as_text(&(text + "}\n"))
}

/// Samples that are written ahead, one by one, and specs that come in parts.
pub fn placed_samples() -> Done {
    let mut writer = CrateWriter::new(Cursor::new(Vec::new()))?;
    let mut samples = Vec::new();
    for i in 0..4 {
        // The last two are equal.
        let points: Vec<[f32; 3]> = (0..300)
            .map(|j| [(i.min(2) * j) as f32, 0.5, 1.0])
            .collect();
        samples.push((f64::from(i), writer.place_slice(&points)?));
    }
    let extent = writer.place(&Value::Vec3fArray(vec![[0.0; 3], [1.0; 3]].into()))?;
    writer.spec_parts(
        &Path::root(),
        SpecKind::Root,
        &Fields::default(),
        &["M".into()],
        &[],
        &[],
    )?;
    let fields = |fields: Vec<(&str, Value)>| {
        fields
            .into_iter()
            .map(|(k, v)| (k.into(), v))
            .collect::<Fields>()
    };
    let mesh = path("/M");
    let def = fields(vec![("specifier", Value::Specifier(Specifier::Def))]);
    let names = ["points".into(), "extent".into()];
    writer.spec_parts(&mesh, SpecKind::Prim, &def, &[], &names, &[])?;
    let points = fields(vec![
        ("typeName", Value::token("point3f[]")),
        ("timeSamples", Value::TimeSamples(TimeSamples::new(samples))),
    ]);
    let extent = fields(vec![
        ("typeName", Value::token("float3[]")),
        ("default", extent),
    ]);
    for (name, fields) in names.iter().zip([&points, &extent]) {
        writer.spec_parts(
            &mesh.property(name),
            SpecKind::Attribute,
            fields,
            &[],
            &[],
            &[],
        )?;
    }
    let bytes = writer.finish()?.into_inner();
    // Three arrays of 300 points, not four.
    assert!(bytes.len() < 12_500, "{}", bytes.len());
    let sample = |i: i32| {
        let points: Vec<String> = (0..300)
            .map(|j| format!("({}, 0.5, 1)", i.min(2) * j))
            .collect();
        format!("{i}: [{}]", points.join(", "))
    };
    let samples = [0, 1, 2, 3].map(sample).join(", ");
    let text = format!(
        "#usda 1.2\ndef \"M\" {{\npoint3f[] points.timeSamples = {{ {samples} }}\nfloat3[] extent = [(0, 0, 0), (1, 1, 1)]\n}}\n"
    );
    compare(&bytes, &text)
}

/// A file asks for no newer version than usd-core's own would.
pub fn versions() -> Done {
    for (value, version) in [
        ("double a = 1", "0 8 0\n"),
        ("double a = AnimationBlock", "0 8 0\n"),
        ("timecode a = 1", "0 9 0\n"),
        ("timecode[] a = [1]", "0 9 0\n"),
        ("pathExpression a = \"//\"", "0 10 0\n"),
        ("duration a = 1", "0 16 0\n"),
        ("duration[] a = [1]", "0 16 0\n"),
    ] {
        let layer = parse(&format!("#usda 1.4\ndef \"A\" {{\n{value}\n}}\n"))?;
        assert_eq!(print("version", &layer)?, version, "{value}");
    }
    let layer = parse("#usda 1.0\n(\nrelocates = { </A/B>: </A/C> }\n)\n")?;
    assert_eq!(print("version", &layer)?, "0 11 0\n");
    Ok(())
}

fn dictionary<const N: usize>(items: [(&str, Value); N]) -> Value {
    let items: Dictionary = items.into_iter().map(|(k, v)| (k.into(), v)).collect();
    Value::Dictionary(items.into())
}

/// What no field of text has, in a dictionary.
pub fn values_without_text() -> Done {
    let listed = |n: i32| ListOp {
        added: vec![n],
        prepended: vec![n + 1, n + 1],
        appended: vec![n + 2],
        deleted: vec![n + 3],
        ordered: vec![n + 4],
        ..ListOp::default()
    };
    let numbers = listed(-1);
    let unknown = ListOp {
        prepended: vec![
            Value::string("x"),
            Value::Unregistered(dictionary([]).into()),
        ],
        ..ListOp::default()
    };
    let payload = Payload {
        asset: "p".into(),
        prim: path("/P"),
        offset: LayerOffset {
            offset: 1.0,
            scale: 2.0,
        },
    };
    let mut layer = parse("#usda 1.0\ndef \"A\" {}\n")?;
    let fields = &mut layer.spec_mut(&path("/A")).unwrap().fields;
    fields.set(
        "customData",
        dictionary([
            ("a", Value::IntListOp(numbers.clone().into())),
            (
                "b",
                Value::UIntListOp(numbers.filter_map(|i| u32::try_from(*i).ok()).into()),
            ),
            (
                "c",
                Value::Int64ListOp(numbers.filter_map(|i| Some(i64::from(*i) << 40)).into()),
            ),
            (
                "d",
                Value::UInt64ListOp(ListOp::explicit(vec![u64::MAX]).into()),
            ),
            ("e", Value::UnregisteredListOp(unknown.into())),
            ("f", Value::Payload(payload.into())),
            (
                "g",
                Value::PathVector(vec![path("/A.b"), path("/C")].into()),
            ),
            ("h", Value::TokenVector(vec!["t".into()].into())),
            ("i", Value::DoubleVector(vec![0.5, 2.0].into())),
            (
                "j",
                Value::StringListOp(ListOp::<Token>::explicit(vec![]).into()),
            ),
            ("k", Value::Specifier(Specifier::Over)),
            ("l", Value::Permission(Permission::Private)),
            ("m", Value::Block),
        ]),
    );

    let printed = print("print", &layer)?;
    let expected = "\
a: SdfIntListOp(Deleted Items: [2], Added Items: [-1], Prepended Items: [0], Appended Items: [1], Ordered Items: [3])
b: SdfUIntListOp(Deleted Items: [2], Prepended Items: [0], Appended Items: [1], Ordered Items: [3])
c: SdfInt64ListOp(Deleted Items: [2199023255552], Added Items: [-1099511627776], Prepended Items: [0], \
    Appended Items: [1099511627776], Ordered Items: [3298534883328])
d: SdfUInt64ListOp(Explicit Items: [18446744073709551615])
e: SdfUnregisteredValueListOp(Prepended Items: [x, {}])
f: Sdf.Payload('p', Sdf.Path('/P'), Sdf.LayerOffset(1, 2))
g: [Sdf.Path('/A.b'), Sdf.Path('/C')]
h: ['t']
i: [0.5, 2.0]
j: SdfStringListOp(Explicit Items: [])
k: Sdf.SpecifierOver
l: Sdf.PermissionPrivate
m: Sdf.ValueBlock
";
    assert_eq!(printed, expected);
    Ok(())
}

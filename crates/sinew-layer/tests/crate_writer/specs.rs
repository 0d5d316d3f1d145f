//! Specs: of each kind, with splines, edits and samples that are written ahead, and the version that they ask for.

use libtest_mimic::Failed;
use sinew_layer::usdc::CrateWriter;
use sinew_layer::value::{
    ArrayEdit, EditOp, EditSource, Interpolation, Knot, Specifier, Spline, SplineValueType,
    Tangent, TimeCode, Variability,
};
use sinew_layer::{Dictionary, Fields, Layer, ListOp, Path, SpecKind, TimeSamples, Value};

use crate::{attribute, compare, dictionary, expression, path, prim, run_python, written};

pub fn every_kind_of_spec(python: &str) -> Result<(), Failed> {
    let mut layer = Layer::new("specs");
    let root = &mut layer.root_mut().fields;
    root.set("defaultPrim", Value::token("A"));
    root.set("documentation", Value::string("A layer"));
    prim(&mut layer, "/A");
    let a = &mut layer.spec_mut(&path("/A")).unwrap().fields;
    a.set("typeName", Value::token("Xform"));
    a.set(
        "variantSetNames",
        Value::StringListOp(ListOp::prepended(vec!["v".into()]).into()),
    );
    let selections = [("v".into(), "red-1".into())].into_iter().collect();
    a.set(
        "variantSelection",
        Value::VariantSelections(std::sync::Arc::new(selections)),
    );
    prim(&mut layer, "/A/日本");
    layer.create(&path("/A/日本/ZOver/AOver"), SpecKind::Prim);
    let class = layer.create(&path("/_class"), SpecKind::Prim);
    class
        .fields
        .set("specifier", Value::Specifier(Specifier::Class));
    attribute(&mut layer, "/A.größe:x", "double", None);
    let mut samples = vec![
        (1.0, Value::Double(0.1)),
        (2.5, Value::Block),
        (4.0, Value::Double(3.0)),
    ];
    let size = layer.spec_mut(&path("/A.größe:x")).unwrap();
    size.fields.set(
        "timeSamples",
        Value::TimeSamples(TimeSamples::new(samples.clone())),
    );
    attribute(&mut layer, "/A.same", "double", Some(Value::Double(2.0)));
    samples[1].1 = Value::Double(0.1);
    let same = layer.spec_mut(&path("/A.same")).unwrap();
    same.fields
        .set("timeSamples", Value::TimeSamples(TimeSamples::new(samples)));
    same.fields
        .set("variability", Value::Variability(Variability::Uniform));
    let connections = ListOp {
        added: vec![path("/A.größe:x")],
        deleted: vec![path("/_class")],
        ..ListOp::default()
    };
    same.fields
        .set("connectionPaths", Value::PathListOp(connections.into()));
    let relationship = layer.create(&path("/A.rel"), SpecKind::Relationship);
    relationship.fields.set("custom", Value::Bool(true));
    relationship
        .fields
        .set("variability", Value::Variability(Variability::Uniform));
    // A relative path, as memory may have it.
    let targets = vec![path("日本"), path("/A.größe:x"), path("/Nowhere/X")];
    relationship.fields.set(
        "targetPaths",
        Value::PathListOp(ListOp::explicit(targets).into()),
    );
    for variant in ["red-1", "|2"] {
        let path = path("/A").with_variant("v", variant);
        layer.create(&path, SpecKind::Variant);
        let child = layer.create(&path.child("Child"), SpecKind::Prim);
        child
            .fields
            .set("specifier", Value::Specifier(Specifier::Def));
        attribute(
            &mut layer,
            path.property("inside").as_str(),
            "int",
            Some(Value::Int(3)),
        );
    }
    prim(&mut layer, "/A{v=red-1}{w=deep}D");
    let variant = layer.spec_mut(&path("/A{v=red-1}")).unwrap();
    variant.fields.set(
        "variantSetNames",
        Value::StringListOp(ListOp::explicit(vec!["w".into()]).into()),
    );

    let text = r#"(
    doc = "A layer"
    defaultPrim = "A"
)
def Xform "A" (
    prepend variantSets = "v"
    variants = { string v = "red-1" }
) {
    custom double größe:x
    double größe:x.timeSamples = { 1: 0.1, 2.5: None, 4: 3 }
    custom uniform double same = 2
    uniform double same.timeSamples = { 1: 0.1, 2.5: 0.1, 4: 3 }
    add uniform double same.connect = </A.größe:x>
    delete uniform double same.connect = </_class>
    custom rel rel = [</A/日本>, </A.größe:x>, </Nowhere/X>]
    def "日本" {
        over "ZOver" {
            over "AOver" {
            }
        }
    }
    variantSet "v" = {
        "red-1" (
            variantSets = "w"
        ) {
            custom int inside = 3
            def "Child" {
            }
            variantSet "w" = {
                "deep" {
                    def "D" {
                    }
                }
            }
        }
        "|2" {
            custom int inside = 3
            def "Child" {
            }
        }
    }
}
class "_class" {
}
"#;
    compare(python, &written(&layer), text)
}

/// Splines, edits of arrays and blocks of animation.
pub fn splines_and_edits(python: &str) -> Result<(), Failed> {
    let mut layer = Layer::new("splines");
    prim(&mut layer, "/A");
    let literals = Value::IntArray(vec![5, 7].into());
    let ops = vec![
        EditOp::Insert(EditSource::Literal(0), None),
        EditOp::Insert(EditSource::Literal(1), Some(0)),
        EditOp::Resize(9, None),
        EditOp::Erase(2),
    ];
    let edit = ArrayEdit { literals, ops };
    attribute(
        &mut layer,
        "/A.edit",
        "int[]",
        Some(Value::ArrayEdit(edit.clone().into())),
    );
    attribute(
        &mut layer,
        "/A.same",
        "int[]",
        Some(Value::ArrayEdit(edit.into())),
    );
    let literals = Value::StringArray(vec![].into());
    let none = ArrayEdit {
        literals,
        ops: vec![],
    };
    attribute(
        &mut layer,
        "/A.none",
        "string[]",
        Some(Value::ArrayEdit(none.into())),
    );
    attribute(
        &mut layer,
        "/A.block",
        "double",
        Some(Value::AnimationBlock),
    );
    let knot = |time: f64, value: f64, data: Value| {
        let tangent = Tangent {
            width: 0.25,
            slope: 1.5,
            ..Tangent::default()
        };
        Knot {
            time,
            value,
            pre_value: None,
            next: Interpolation::Curve,
            pre_tangent: tangent,
            post_tangent: tangent,
            custom_data: match data {
                Value::Dictionary(data) => (*data).clone(),
                _ => Dictionary::default(),
            },
        }
    };
    let data = dictionary([
        ("d", dictionary([("e", Value::Int(1))])),
        ("note", Value::string("x")),
    ]);
    for (name, value_type) in [
        ("float", SplineValueType::Float),
        ("double", SplineValueType::Double),
    ] {
        let spline = Spline {
            value_type,
            knots: vec![knot(0.0, 0.5, Value::Block), knot(2.0, -1.0, data.clone())],
            ..Spline::default()
        };
        let path = format!("/A.{name}");
        attribute(&mut layer, &path, name, None);
        let spec = layer.spec_mut(&self::path(&path)).unwrap();
        spec.fields.set("spline", Value::Spline(spline.into()));
    }
    let knots = "bezier, 0: 0.5; pre (0.25, 1.5); post curve (0.25, 1.5), \
        2: -1; pre (0.25, 1.5); post curve (0.25, 1.5); { dictionary d = { int e = 1 }\nstring note = \"x\" }";
    let mut text = "def \"A\" {\n".to_owned();
    for name in ["edit", "same"] {
        text += &format!("custom int[] {name} = edit [append 5; prepend 7; resize 9; erase [2]]\n");
    }
    text += "custom string[] none = edit []\ncustom double block = AnimationBlock\n";
    for name in ["float", "double"] {
        text += &format!("custom {name} {name}\n{name} {name}.spline = {{ {knots} }}\n");
    }
    compare(python, &written(&layer), &(text + "}\n"))
}

/// Samples that are written ahead, one by one, and specs that come in parts.
pub fn placed_samples(python: &str) -> Result<(), Failed> {
    let mut writer = CrateWriter::new(std::io::Cursor::new(Vec::new()))?;
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
        "def \"M\" {{\npoint3f[] points.timeSamples = {{ {samples} }}\nfloat3[] extent = [(0, 0, 0), (1, 1, 1)]\n}}\n"
    );
    compare(python, &bytes, &text)
}

/// A file asks for no newer version than usd-core's own would.
pub fn versions(python: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for (value, version) in [
        (Value::Double(1.0), "0 8 0\n"),
        (Value::AnimationBlock, "0 8 0\n"),
        (Value::TimeCode(TimeCode(1.0)), "0 9 0\n"),
        (Value::TimeCodeArray(vec![TimeCode(1.0)].into()), "0 9 0\n"),
        (Value::PathExpression(expression("//")), "0 10 0\n"),
    ] {
        let mut layer = Layer::new("version");
        attribute(&mut layer, "/A.a", "double", Some(value));
        let file = folder.path().join("a.usdc").to_string_lossy().into_owned();
        std::fs::write(&file, written(&layer))?;
        assert_eq!(run_python(python, &["version", &file])?, version);
    }
    Ok(())
}

//! Values: of each type, in metadata, without text, and arrays of every length.

use half::f16;
use libtest_mimic::Failed;
use sinew_layer::value::{LayerOffset, Payload, Permission, Quat, Reference, Specifier, TimeCode};
use sinew_layer::{Dictionary, Layer, ListOp, Path, Token, Value};

use crate::{
    asset, attribute, compare, dictionary, expression, halves, path, prim, run_python, written,
};

pub fn every_value_type(python: &str) -> Result<(), Failed> {
    let quat = |x: f64, y: f64, z: f64, w: f64| [x, y, z, w];
    let (q, r) = (quat(0.5, -0.25, 3.0, 1.0), quat(0.1, 0.2, 0.3, 0.4));
    let mut matrix4 = [0.0; 16];
    matrix4
        .iter_mut()
        .enumerate()
        .for_each(|(i, v)| *v = i as f64 + 0.5);
    let mut identity4 = [0.0; 16];
    (0..4).for_each(|i| identity4[5 * i] = 1.0);
    let rows = "((0.5, 1.5, 2.5, 3.5), (4.5, 5.5, 6.5, 7.5), (8.5, 9.5, 10.5, 11.5), (12.5, 13.5, 14.5, 15.5))";
    let identity = "((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))";
    let matrices = format!("[{rows}, {identity}]");
    let texts = |texts: &[&str]| texts.iter().map(Token::new).collect::<Vec<_>>();
    let values: Vec<(&str, Value, &str)> = vec![
        ("bool", Value::Bool(true), "1"),
        (
            "bool[]",
            Value::BoolArray(vec![true, false, true].into()),
            "[1, 0, 1]",
        ),
        ("uchar", Value::UChar(200), "200"),
        (
            "uchar[]",
            Value::UCharArray(vec![0, 255].into()),
            "[0, 255]",
        ),
        ("int", Value::Int(-7), "-7"),
        (
            "int[]",
            Value::IntArray(vec![i32::MIN, 0, i32::MAX].into()),
            "[-2147483648, 0, 2147483647]",
        ),
        ("uint", Value::UInt(u32::MAX), "4294967295"),
        (
            "uint[]",
            Value::UIntArray(vec![1, u32::MAX].into()),
            "[1, 4294967295]",
        ),
        ("int64", Value::Int64(-3), "-3"),
        ("int64", Value::Int64(i64::MIN), "-9223372036854775808"),
        (
            "int64[]",
            Value::Int64Array(vec![-1, 1 << 40].into()),
            "[-1, 1099511627776]",
        ),
        ("uint64", Value::UInt64(3), "3"),
        ("uint64", Value::UInt64(u64::MAX), "18446744073709551615"),
        (
            "uint64[]",
            Value::UInt64Array(vec![1, u64::MAX].into()),
            "[1, 18446744073709551615]",
        ),
        ("half", Value::Half(f16::from_f32(0.5)), "0.5"),
        (
            "half[]",
            Value::HalfArray(halves([0.5, -2.0]).to_vec().into()),
            "[0.5, -2]",
        ),
        ("float", Value::Float(0.1), "0.1"),
        (
            "float[]",
            Value::FloatArray(vec![0.1, -0.0, f32::INFINITY].into()),
            "[0.1, -0, inf]",
        ),
        ("double", Value::Double(2.0), "2"),
        ("double", Value::Double(0.1), "0.1"),
        ("double", Value::Double(-0.0), "-0"),
        ("double", Value::Double(f64::NAN), "nan"),
        ("double", Value::Double(1e300), "1e300"),
        (
            "double[]",
            Value::DoubleArray(vec![0.1, 1e300].into()),
            "[0.1, 1e300]",
        ),
        (
            "string",
            Value::string("a \"text\"\nof two lines"),
            "\"a \\\"text\\\"\\nof two lines\"",
        ),
        ("string", Value::string(""), "\"\""),
        (
            "string[]",
            Value::StringArray(texts(&["b", "", "größe 日本"]).into()),
            "[\"b\", \"\", \"größe 日本\"]",
        ),
        ("token", Value::token("none"), "\"none\""),
        (
            "token[]",
            Value::TokenArray(texts(&["x", "y", "x"]).into()),
            "[\"x\", \"y\", \"x\"]",
        ),
        ("asset", Value::AssetPath(asset("./a.png")), "@./a.png@"),
        (
            "asset[]",
            Value::AssetPathArray(vec![asset("b.usd"), asset("")].into()),
            "[@b.usd@, @@]",
        ),
        (
            "matrix2d",
            Value::Matrix2d(Box::new([1.0, 0.0, 0.0, -5.0])),
            "((1, 0), (0, -5))",
        ),
        (
            "matrix2d",
            Value::Matrix2d(Box::new([1.0, 2.0, 3.0, 4.0])),
            "((1, 2), (3, 4))",
        ),
        (
            "matrix2d[]",
            Value::Matrix2dArray(vec![[1.0, 2.0, 3.0, 4.0]].into()),
            "[((1, 2), (3, 4))]",
        ),
        (
            "matrix3d",
            Value::Matrix3d(Box::new([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])),
            "((1, 2, 3), (4, 5, 6), (7, 8, 9))",
        ),
        (
            "matrix3d",
            Value::Matrix3d(Box::new([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0])),
            "((1, 0, 0), (0, 2, 0), (0, 0, 3))",
        ),
        (
            "matrix3d[]",
            Value::Matrix3dArray(vec![[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]].into()),
            "[((1, 2, 3), (4, 5, 6), (7, 8, 9))]",
        ),
        ("matrix4d", Value::Matrix4d(Box::new(matrix4)), rows),
        ("matrix4d", Value::Matrix4d(Box::new(identity4)), identity),
        (
            "matrix4d[]",
            Value::Matrix4dArray(vec![matrix4, identity4].into()),
            &matrices,
        ),
        (
            "quatd",
            Value::Quatd(Box::new(Quat(r))),
            "(0.4, 0.1, 0.2, 0.3)",
        ),
        (
            "quatd[]",
            Value::QuatdArray(vec![Quat(r), Quat(q)].into()),
            "[(0.4, 0.1, 0.2, 0.3), (1, 0.5, -0.25, 3)]",
        ),
        (
            "quatf",
            Value::Quatf(Quat(q.map(|v| v as f32))),
            "(1, 0.5, -0.25, 3)",
        ),
        (
            "quatf[]",
            Value::QuatfArray(vec![Quat(q.map(|v| v as f32))].into()),
            "[(1, 0.5, -0.25, 3)]",
        ),
        (
            "quath",
            Value::Quath(Quat(q.map(f16::from_f64))),
            "(1, 0.5, -0.25, 3)",
        ),
        (
            "quath[]",
            Value::QuathArray(vec![Quat(q.map(f16::from_f64))].into()),
            "[(1, 0.5, -0.25, 3)]",
        ),
        ("double2", Value::Vec2d([1.0, -128.0]), "(1, -128)"),
        ("double2", Value::Vec2d([0.1, 2.0]), "(0.1, 2)"),
        (
            "double2[]",
            Value::Vec2dArray(vec![[0.1, 2.0]].into()),
            "[(0.1, 2)]",
        ),
        ("float2", Value::Vec2f([127.0, 128.0]), "(127, 128)"),
        ("float2", Value::Vec2f([127.0, -1.0]), "(127, -1)"),
        (
            "texCoord2f[]",
            Value::Vec2fArray(vec![[0.5, 0.25]].into()),
            "[(0.5, 0.25)]",
        ),
        ("half2", Value::Vec2h(halves([0.5, -3.0])), "(0.5, -3)"),
        ("half2", Value::Vec2h(halves([1.0, 2.0])), "(1, 2)"),
        (
            "half2[]",
            Value::Vec2hArray(vec![halves([0.5, -3.0])].into()),
            "[(0.5, -3)]",
        ),
        ("int2", Value::Vec2i([1, -2]), "(1, -2)"),
        ("int2", Value::Vec2i([1, 1000]), "(1, 1000)"),
        (
            "int2[]",
            Value::Vec2iArray(vec![[1, -2]].into()),
            "[(1, -2)]",
        ),
        ("double3", Value::Vec3d([1.0, 2.0, 3.0]), "(1, 2, 3)"),
        ("double3", Value::Vec3d([0.1, 2.0, 3.0]), "(0.1, 2, 3)"),
        (
            "double3[]",
            Value::Vec3dArray(vec![[0.1, 2.0, 3.0]].into()),
            "[(0.1, 2, 3)]",
        ),
        ("color3f", Value::Vec3f([0.5, 0.25, 1.0]), "(0.5, 0.25, 1)"),
        ("float3", Value::Vec3f([0.0, 1.0, -1.0]), "(0, 1, -1)"),
        (
            "point3f[]",
            Value::Vec3fArray(vec![[0.5, 1.0, -1.0], [0.0; 3]].into()),
            "[(0.5, 1, -1), (0, 0, 0)]",
        ),
        (
            "half3",
            Value::Vec3h(halves([0.5, 1.0, -1.0])),
            "(0.5, 1, -1)",
        ),
        (
            "half3",
            Value::Vec3h(halves([7.0, 1.0, -1.0])),
            "(7, 1, -1)",
        ),
        (
            "half3[]",
            Value::Vec3hArray(vec![halves([0.5, 1.0, -1.0])].into()),
            "[(0.5, 1, -1)]",
        ),
        ("int3", Value::Vec3i([1, 2, 3]), "(1, 2, 3)"),
        ("int3", Value::Vec3i([1, 2, 3000]), "(1, 2, 3000)"),
        (
            "int3[]",
            Value::Vec3iArray(vec![[1, 2, 3]].into()),
            "[(1, 2, 3)]",
        ),
        (
            "double4",
            Value::Vec4d(Box::new([1.0, 2.0, 3.0, 4.0])),
            "(1, 2, 3, 4)",
        ),
        (
            "double4",
            Value::Vec4d(Box::new([0.1, 2.0, 3.0, 4.0])),
            "(0.1, 2, 3, 4)",
        ),
        (
            "double4[]",
            Value::Vec4dArray(vec![[1.0, 2.0, 3.0, 4.0]].into()),
            "[(1, 2, 3, 4)]",
        ),
        (
            "float4",
            Value::Vec4f([0.5, 2.0, 3.0, 4.0]),
            "(0.5, 2, 3, 4)",
        ),
        (
            "float4",
            Value::Vec4f([-5.0, 2.0, 3.0, 4.0]),
            "(-5, 2, 3, 4)",
        ),
        (
            "float4[]",
            Value::Vec4fArray(vec![[0.5, 2.0, 3.0, 4.0]].into()),
            "[(0.5, 2, 3, 4)]",
        ),
        (
            "half4",
            Value::Vec4h(halves([0.5, 2.0, 3.0, 4.0])),
            "(0.5, 2, 3, 4)",
        ),
        (
            "half4[]",
            Value::Vec4hArray(vec![halves([0.5, 2.0, 3.0, 4.0])].into()),
            "[(0.5, 2, 3, 4)]",
        ),
        ("int4", Value::Vec4i([1, 2, 3, 4]), "(1, 2, 3, 4)"),
        ("int4", Value::Vec4i([1, 2, 3, 400]), "(1, 2, 3, 400)"),
        (
            "int4[]",
            Value::Vec4iArray(vec![[1, 2, 3, 4]].into()),
            "[(1, 2, 3, 4)]",
        ),
        ("timecode", Value::TimeCode(TimeCode(10.5)), "10.5"),
        (
            "timecode[]",
            Value::TimeCodeArray(vec![TimeCode(1.0), TimeCode(2.5)].into()),
            "[1, 2.5]",
        ),
        (
            "pathExpression",
            Value::PathExpression(expression("/World//Chars* - /World/X")),
            "\"/World//Chars* - /World/X\"",
        ),
        (
            "pathExpression[]",
            Value::PathExpressionArray(vec![expression("/A//"), expression("")].into()),
            "[\"/A//\", \"\"]",
        ),
        ("float[]", Value::FloatArray(vec![].into()), "[]"),
        ("string[]", Value::StringArray(vec![].into()), "[]"),
        ("timecode[]", Value::TimeCodeArray(vec![].into()), "[]"),
        ("double", Value::Block, "None"),
        ("float[]", Value::Block, "None"),
    ];
    let mut layer = Layer::new("types");
    prim(&mut layer, "/A");
    let mut text = "def \"A\" {\n".to_owned();
    for (i, (type_name, value, written)) in values.into_iter().enumerate() {
        attribute(&mut layer, &format!("/A.a{i}"), type_name, Some(value));
        text += &format!("custom {type_name} a{i} = {written}\n");
    }
    compare(python, &written(&layer), &(text + "}\n"))
}

pub fn values_in_metadata(python: &str) -> Result<(), Failed> {
    let mut layer = Layer::new("metadata");
    let root = &mut layer.root_mut().fields;
    root.set(
        "subLayers",
        Value::StringVector(vec!["a.usda".into(), "b.usda".into()].into()),
    );
    let offset = LayerOffset {
        offset: 10.0,
        scale: 0.5,
    };
    root.set(
        "subLayerOffsets",
        Value::LayerOffsetVector(vec![LayerOffset::IDENTITY, offset].into()),
    );
    root.set(
        "layerRelocates",
        Value::Relocates(vec![(path("/A/B"), path("/A/C")), (path("/A/D"), Path::empty())].into()),
    );
    root.set(
        "expressionVariables",
        dictionary([("X", Value::string("y"))]),
    );
    root.set("customLayerData", dictionary([]));
    root.set("timeCodesPerSecond", Value::Double(30.0));
    root.set(
        "primOrder",
        Value::TokenVector(vec!["B".into(), "A".into()].into()),
    );
    prim(&mut layer, "/A");
    let fields = &mut layer.spec_mut(&path("/A")).unwrap().fields;
    let nested = dictionary([
        (
            "deeper",
            dictionary([("i", Value::Int(1)), ("d", Value::Double(0.1))]),
        ),
        ("list", Value::IntArray(vec![1, 2].into())),
    ]);
    fields.set(
        "customData",
        dictionary([
            ("a", Value::AssetPath(asset("x.png"))),
            ("b", nested.clone()),
            ("c", nested),
            ("empty", dictionary([])),
        ]),
    );
    fields.set("active", Value::Bool(false));
    fields.set("instanceable", Value::Bool(true));
    fields.set("comment", Value::string("note"));
    fields.set("permission", Value::Permission(Permission::Private));
    let reference = |asset: &str, prim: &str, offset, data| Reference {
        asset: asset.into(),
        prim: path(prim),
        offset,
        custom_data: data,
    };
    let data = match dictionary([("k", Value::string("v"))]) {
        Value::Dictionary(data) => (*data).clone(),
        _ => Dictionary::default(),
    };
    let references = ListOp {
        prepended: vec![
            reference("r.usda", "", LayerOffset::IDENTITY, data),
            reference("", "/Other/Prim", offset, Dictionary::default()),
        ],
        appended: vec![reference(
            "q.usda",
            "/Q",
            LayerOffset::IDENTITY,
            Dictionary::default(),
        )],
        deleted: vec![reference(
            "r.usda",
            "/R",
            LayerOffset::IDENTITY,
            Dictionary::default(),
        )],
        ..ListOp::default()
    };
    fields.set("references", Value::ReferenceListOp(references.into()));
    let payload = Payload {
        asset: "p.usda".into(),
        prim: path("/P"),
        offset,
    };
    fields.set(
        "payload",
        Value::PayloadListOp(ListOp::explicit(vec![payload]).into()),
    );
    let paths = ListOp {
        explicit: true,
        ..ListOp::default()
    };
    fields.set("inheritPaths", Value::PathListOp(paths.into()));
    let paths = ListOp {
        ordered: vec![path("/B"), path("/A/C")],
        added: vec![path("/B")],
        ..ListOp::default()
    };
    fields.set("specializes", Value::PathListOp(paths.into()));
    let schemas = ListOp {
        prepended: vec!["S".into()],
        appended: vec!["T".into()],
        ..ListOp::default()
    };
    fields.set("apiSchemas", Value::TokenListOp(schemas.into()));
    fields.set(
        "clipSets",
        Value::StringListOp(ListOp::prepended(vec!["c".into()]).into()),
    );
    fields.set(
        "clips",
        dictionary([(
            "c",
            dictionary([
                (
                    "times",
                    Value::Vec2dArray(vec![[0.0, 1.0], [2.0, 3.5]].into()),
                ),
                ("primPath", Value::string("/X")),
            ]),
        )]),
    );
    fields.set(
        "unknownText",
        Value::Unregistered(Value::string("1.5").into()),
    );
    fields.set(
        "unknownDictionary",
        Value::Unregistered(dictionary([("a", Value::Float(0.5))]).into()),
    );
    // The text between the brackets.
    let unknown = ListOp::prepended(vec![Value::string(r#""a", "b""#)]);
    let unknown = Value::UnregisteredListOp(unknown.into());
    fields.set("unknownList", Value::Unregistered(unknown.into()));
    attribute(&mut layer, "/A.x", "token", None);
    let fields = &mut layer.spec_mut(&path("/A.x")).unwrap().fields;
    fields.set(
        "allowedTokens",
        Value::TokenArray(vec!["p".into(), "q".into()].into()),
    );
    fields.set("hidden", Value::Bool(true));
    fields.set("displayName", Value::string("An x"));
    prim(&mut layer, "/B");
    let text = r#"(
    subLayers = [
        @a.usda@,
        @b.usda@ (offset = 10; scale = 0.5)
    ]
    relocates = { </A/B>: </A/C>, </A/D>: <> }
    expressionVariables = { string X = "y" }
    customLayerData = { }
    timeCodesPerSecond = 30
)
reorder rootPrims = ["B", "A"]
def "A" (
    customData = {
        asset a = @x.png@
        dictionary b = { dictionary deeper = { int i = 1
            double d = 0.1 }
            int[] list = [1, 2] }
        dictionary c = { dictionary deeper = { int i = 1
            double d = 0.1 }
            int[] list = [1, 2] }
        dictionary empty = { }
    }
    active = false
    instanceable = true
    "note"
    permission = private
    prepend references = [@r.usda@ (customData = { string k = "v" }), </Other/Prim> (offset = 10; scale = 0.5)]
    append references = @q.usda@</Q>
    delete references = @r.usda@</R>
    payload = @p.usda@</P> (offset = 10; scale = 0.5)
    inherits = None
    add specializes = </B>
    reorder specializes = [</B>, </A/C>]
    prepend apiSchemas = ["S"]
    append apiSchemas = ["T"]
    prepend clipSets = ["c"]
    clips = { dictionary c = { double2[] times = [(0, 1), (2, 3.5)]
        string primPath = "/X" } }
    unknownText = 1.5
    prepend unknownList = ["a", "b"]
    unknownDictionary = { float a = 0.5 }
) {
    custom token x (
        allowedTokens = ["p", "q"]
        hidden = true
        displayName = "An x"
    )
}
def "B" {
}
"#;
    compare(python, &written(&layer), text)
}

/// What no field of text has, in a dictionary.
pub fn values_without_text(python: &str) -> Result<(), Failed> {
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
    let mut layer = Layer::new("values");
    prim(&mut layer, "/A");
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

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.usdc").to_string_lossy().into_owned();
    std::fs::write(&file, written(&layer))?;
    let printed = run_python(python, &["print", &file])?;
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

/// Arrays that are long enough to be compressed, or to be mapped.
pub fn long_arrays(python: &str) -> Result<(), Failed> {
    let n = 3000;
    let list = |f: &dyn Fn(i64) -> String| {
        let items: Vec<String> = (0..n).map(f).collect();
        format!("[{}]", items.join(", "))
    };
    let half = |i: i64| (i % 7) as f32 / 4.0;
    let scattered = |i: i64| (i * i * 7_919) % 1_000_003 - 500_000;
    let values = [
        (
            "int[]",
            Value::IntArray((0..n).map(|i| scattered(i) as i32).collect()),
            list(&|i| scattered(i).to_string()),
        ),
        (
            "uint[]",
            Value::UIntArray((0..n).map(|i| (u32::MAX as i64 - i) as u32).collect()),
            list(&|i| (u32::MAX as i64 - i).to_string()),
        ),
        (
            "int64[]",
            Value::Int64Array((0..n).map(|i| scattered(i) << 30).collect()),
            list(&|i| (scattered(i) << 30).to_string()),
        ),
        (
            "uint64[]",
            Value::UInt64Array((0..n).map(|i| u64::MAX - i as u64).collect()),
            list(&|i| (u64::MAX - i as u64).to_string()),
        ),
        (
            "half[]",
            Value::HalfArray((0..n).map(|i| f16::from_f32(half(i))).collect()),
            list(&|i| half(i).to_string()),
        ),
        (
            "float[]",
            Value::FloatArray((0..n).map(|i| i as f32 - 100.0).collect()),
            list(&|i| (i - 100).to_string()),
        ),
        (
            "float[]",
            Value::FloatArray((0..n).map(half).collect()),
            list(&|i| half(i).to_string()),
        ),
        (
            "float[]",
            Value::FloatArray((0..n).map(|i| i as f32 / 8.0).collect()),
            list(&|i| (i as f32 / 8.0).to_string()),
        ),
        (
            "double[]",
            Value::DoubleArray((0..n).map(|i| -(i as f64) - 1.0).collect()),
            list(&|i| (-i - 1).to_string()),
        ),
        (
            "double[]",
            Value::DoubleArray((0..n).map(|i| [-0.0, 1e-300][i as usize % 2]).collect()),
            list(&|i| ["-0", "1e-300"][i as usize % 2].to_owned()),
        ),
        (
            "bool[]",
            Value::BoolArray((0..n).map(|i| i % 3 == 0).collect()),
            list(&|i| i32::from(i % 3 == 0).to_string()),
        ),
        (
            "point3f[]",
            Value::Vec3fArray((0..n).map(|i| [i as f32, 0.5, -1.0]).collect()),
            list(&|i| format!("({i}, 0.5, -1)")),
        ),
        (
            "double3[]",
            Value::Vec3dArray((0..n).map(|i| [i as f64, 0.5, -1.0]).collect()),
            list(&|i| format!("({i}, 0.5, -1)")),
        ),
    ];
    let mut layer = Layer::new("arrays");
    prim(&mut layer, "/A");
    let mut text = "def \"A\" {\n".to_owned();
    for (i, (type_name, value, items)) in values.into_iter().enumerate() {
        // The second one is the same value, which the file has once.
        for copy in ["", "_copy"] {
            attribute(
                &mut layer,
                &format!("/A.a{i}{copy}"),
                type_name,
                Some(value.clone()),
            );
            text += &format!("custom {type_name} a{i}{copy} = {items}\n");
        }
    }
    compare(python, &written(&layer), &(text + "}\n"))
}

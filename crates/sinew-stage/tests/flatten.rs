//! What a flattened stage has. crates/sinew-cli/tests/survive compares it with usd-core's Flatten for everything that USD has.

use std::io::Cursor;
use std::path::Path as FilePath;
use std::sync::Arc;

use sinew_layer::layer::field;
use sinew_layer::{Layer, Path, Value, usda, usdc};
use sinew_stage::flatten::{Flattened, Home, Instancing, flatten};
use sinew_stage::resolver::FileResolver;
use sinew_stage::{Stage, StageOptions};

/// Writes layers, each as text and as a crate file, and flattens the stage of the first in both forms. `EXT` in the text is the
/// extension.
fn flattened(layers: &[(&str, &str)], check: impl Fn(&Flattened, &FilePath)) {
    flattened_with(layers, &[], &|_| None, check);
}

fn flattened_with(
    layers: &[(&str, &str)],
    homes: &[Home],
    home_of: &dyn Fn(&Path) -> Option<Path>,
    check: impl Fn(&Flattened, &FilePath),
) {
    for extension in ["usda", "usdc"] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        for (name, text) in layers {
            let text = format!("#usda 1.4\n{}", text.replace("EXT", extension));
            let layer = usda::parse(name, text.as_bytes()).expect("the text is a layer");
            let bytes = match extension {
                "usda" => text.into_bytes(),
                _ => usdc::write_layer(&layer, Cursor::new(Vec::new()))
                    .expect("a crate file")
                    .into_inner(),
            };
            std::fs::write(folder.join(format!("{name}.{extension}")), bytes).expect("a file");
        }
        let root = folder.join(format!("{}.{extension}", layers[0].0));
        let resolver = Arc::new(FileResolver::new(Vec::new()));
        let options = StageOptions::new(resolver, root.to_str().expect("a path"));
        let stage = Stage::open(options).expect("a stage");
        let instancing = Instancing {
            homes: homes.to_vec(),
            home_of,
        };
        let flattened = flatten(&stage, &instancing).expect("a flattened stage");
        check(&flattened, &folder);
    }
}

fn path(text: &str) -> Path {
    Path::parse(text).expect("a path")
}

/// The layer as text.
fn text(layer: &Layer) -> String {
    let mut bytes = Vec::new();
    usda::write(layer, &mut bytes).expect("text");
    String::from_utf8(bytes).expect("text")
}

fn field(flattened: &Flattened, at: &str, name: &str) -> Option<Value> {
    flattened.layer.get(&path(at), name).expect("a value")
}

#[track_caller]
fn has(flattened: &Flattened, expected: &[&str]) {
    let text = text(&flattened.layer);
    for line in expected {
        assert!(text.contains(line), "'{line}' is not in\n{text}");
    }
}

#[test]
fn times_and_assets_are_of_the_stage() {
    let layers = [
        (
            "root",
            "(subLayers = [@./sub.EXT@ (offset = 5; scale = 2)])\n",
        ),
        (
            "sub",
            r#"def "A" (customData = { timecode t = 1; asset[] files = [@./a.png@, @b.png@] })
            {
                timecode[] codes = [1, 2]
                duration[] lengths = [1, 2]
                asset[] files = [@./a.png@]
                float x.timeSamples = { 0: 1, 1: None, }
                timecode[] edited = edit [append 3]
            }
            "#,
        ),
    ];
    flattened(&layers, |flat, folder| {
        let file = format!("@{}/a.png@", folder.display());
        has(
            flat,
            &[
                "timecode t = 7",
                &format!("asset[] files = [{file}, @b.png@]"),
                "timecode[] codes = [7, 9]",
                "duration[] lengths = [2, 4]",
                &format!("asset[] files = [{file}]\n"),
                "5: 1,",
                "7: None,",
                "timecode[] edited = [11]",
            ],
        );
    });
}

#[test]
fn edits_of_arrays_are_applied_at_the_times_where_they_count() {
    let layers = [
        (
            "root",
            r#"(subLayers = [@./weak.EXT@])
            over "A"
            {
                int[] fixed = edit [append 7]
                int[] sampled.timeSamples = { 1: edit [append 7], 3: [9], 8: edit [prepend 1], }
            }
            "#,
        ),
        (
            "weak",
            r#"def "A"
            {
                int[] fixed = [1]
                int[] sampled.timeSamples = { 2: [4], 5: [5], 9: [6], }
            }
            "#,
        ),
    ];
    flattened(&layers, |flat, _| {
        has(flat, &["int[] fixed = [1, 7]"]);
        let samples = field(flat, "/A.sampled", field::TIME_SAMPLES);
        let Some(Value::TimeSamples(samples)) = samples else {
            panic!("{samples:?}")
        };
        // A whole array hides the sample at 5.
        assert_eq!(samples.times(), [1.0, 2.0, 3.0, 8.0, 9.0]);
        let ints = |v: &[i32]| Value::IntArray(v.to_vec().into());
        let expected = [&[4, 7][..], &[4, 7], &[9], &[1, 5], &[1, 6]].map(ints);
        assert_eq!(samples.values()[..], expected);
    });
}

#[test]
fn equal_fields_with_other_meanings_are_told_apart() {
    // A crate file stores the fields of the attributes once.
    let layers = [
        (
            "root",
            r#"def Mesh "Clipped" (
                clips = {
                    dictionary default = {
                        asset[] assetPaths = [@./clip.EXT@]
                        asset manifestAssetPath = @./clip.EXT@
                        string primPath = "/C"
                        double2[] active = [(0, 0)]
                        double2[] times = [(0, 0), (9, 9)]
                    }
                }
            )
            {
                float a
                float b
                asset file
            }
            def Sphere "Round"
            {
                double radius (hidden = true)
                double other (hidden = true)
            }
            def "One" (references = @./asset.EXT@</Shot> (offset = 1))
            {
            }
            def "Two" (references = @./asset.EXT@</Shot> (offset = 2))
            {
            }
            "#,
        ),
        (
            "clip",
            r#"over "C"
            {
                float a.timeSamples = { 0: 1, }
                float b.timeSamples = { 0: 2, }
                asset file.timeSamples = { 0: @./c.png@, }
                point3f[] points.timeSamples = { 0: [(1, 2, 3)], }
            }
            "#,
        ),
        (
            "asset",
            "def \"Shot\"\n{\n float x.timeSamples = { 0: 1, }\n}\n",
        ),
    ];
    flattened(&layers, |flat, folder| {
        has(
            flat,
            &[
                "float a.timeSamples = {\n        0: 1,",
                "float b.timeSamples = {\n        0: 2,",
                &format!("0: @{}/c.png@,", folder.display()),
                // No layer of the stage declares it.
                "point3f[] points.timeSamples = {\n        0: [(1, 2, 3)],",
            ],
        );
        for (prim, time) in [("/One.x", 1.0), ("/Two.x", 2.0)] {
            match field(flat, prim, field::TIME_SAMPLES) {
                Some(Value::TimeSamples(samples)) => assert_eq!(samples.times(), [time]),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn blocks_and_weaker_animation() {
    let layers = [
        (
            "root",
            r#"(subLayers = [@./weak.EXT@])
            over Sphere "A"
            {
                double radius = None
                float stilled = AnimationBlock
                float emptied.timeSamples = { }
                float overridden = 5
            }
            "#,
        ),
        (
            "weak",
            r#"def Sphere "A"
            {
                double radius = 3
                float stilled = 1
                float stilled.timeSamples = { 0: 2, }
                float emptied.timeSamples = { 0: 2, }
                float overridden.timeSamples = { 0: 2, }
            }
            "#,
        ),
    ];
    flattened(&layers, |flat, _| {
        assert_eq!(field(flat, "/A.radius", field::DEFAULT), Some(Value::Block));
        assert_eq!(
            field(flat, "/A.stilled", field::DEFAULT),
            Some(Value::Float(1.0))
        );
        for (name, sampled) in [("stilled", false), ("emptied", true), ("overridden", false)] {
            let samples = field(flat, &format!("/A.{name}"), field::TIME_SAMPLES);
            assert_eq!(samples.is_some(), sampled, "{name}");
        }
    });
}

#[test]
fn metadata_are_composed() {
    let layers = [
        (
            "root",
            r#"(subLayers = [@./weak.EXT@]; expressionVariables = { string NAME = "n" })
            over "A" (
                prepend apiSchemas = ["CollectionAPI:x"]
                customData = { int a = 1 }
                nobodyKnows = "this"
            )
            {
                rel emptied = []
                float wrong = 1
                asset searched = @`"${NAME}.png"`@
                asset relative = @`"./${NAME}.png"`@
            }
            def "Gone" (active = false)
            {
            }
            "#,
        ),
        (
            "weak",
            r#"def Mesh "A" (
                prepend apiSchemas = ["SkelBindingAPI"]
                customData = { int a = 2; int b = 3 }
            )
            {
                rel emptied = </A>
                float points = 3
                double notTyped = 1
            }
            "#,
        ),
    ];
    flattened(&layers, |flat, folder| {
        has(
            flat,
            &[
                "apiSchemas = [\"CollectionAPI:x\", \"SkelBindingAPI\"]",
                "int a = 1",
                "int b = 3",
                "nobodyKnows = \"this\"",
                "rel emptied = None",
                // What no text could hold as the schema's points.
                "float points = 3",
                "asset searched = @`\"${NAME}.png\"`@",
                &format!("asset relative = @{}/n.png@", folder.display()),
            ],
        );
        assert!(flat.layer.spec(&path("/Gone")).is_none());
    });
}

#[test]
fn instances_share_a_prim() {
    let layers = [(
        "root",
        r#"def "World"
        {
            def "One" (instanceable = true; references = </Asset>)
            {
            }
            def "Two" (instanceable = true; references = </Asset>)
            {
            }
            def "Apart" (instanceable = true; references = </Asset>)
            {
            }
        }
        class "Asset"
        {
            def "Inner"
            {
                rel self = </Asset/Inner>
            }
        }
        "#,
    )];
    let home = Home {
        path: path("/Shared"),
        instance: path("/World/One"),
    };
    let home_of = |instance: &Path| (instance.name() != "Apart").then(|| path("/Shared"));
    flattened_with(&layers, &[home], &home_of, |flat, _| {
        let there = |at: &str| flat.layer.spec(&path(at)).is_some();
        assert!(there("/Shared/Inner") && there("/World/Apart/Inner"));
        assert!(!there("/World/One/Inner"));
        let paths = |at: &str, name| match field(flat, at, name) {
            Some(Value::PathListOp(op)) => op.explicit_items.clone(),
            other => panic!("{other:?}"),
        };
        for at in ["/Shared/Inner", "/World/Apart/Inner"] {
            let targets = paths(&format!("{at}.self"), field::TARGET_PATHS);
            assert_eq!(targets, [path(at)]);
        }
        match field(flat, "/World/One", field::REFERENCES) {
            Some(Value::ReferenceListOp(op)) => assert_eq!(op.appended[0].prim, path("/Shared")),
            other => panic!("{other:?}"),
        }
        let instanceable = |at| field(flat, at, "instanceable");
        assert_eq!(instanceable("/World/Two"), Some(Value::Bool(true)));
    });
}

//! Blend shapes and in-betweens authored through the library.

use std::path::{Path, PathBuf};
use std::process::Command;

use common::compare::{compare_within, size};
use common::trials::Trial;
use common::{tolerance, usd};
use glam::{DVec3, Vec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew::sampled::Time;
use sinew::skel::{BlendShapeDef, InbetweenDef};
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_io::usd::UsdFile;

const MESH: &str = "/World/Char/Geo/Body";
const ANIM: &str = "/World/Char/Rig/Anim";
const TIMES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

pub fn trials() -> Vec<Trial> {
    let python = std::env::var("SINEW_PYTHON").ok();
    if python.is_none() {
        eprintln!("usd-core does not read back: SINEW_PYTHON names none (tests/run.sh makes one)");
    }
    let mut trials = Vec::new();
    for extension in ["usda", "usdc"] {
        trials.push(Trial::test(
            format!("edits_are_baked_and_saved::{extension}"),
            move || edits_are_baked_and_saved(extension),
        ));
        let (ignored, python) = (python.is_none(), python.clone().unwrap_or_default());
        trials.push(
            Trial::test(format!("usd_core_reads_it_back::{extension}"), move || {
                usd_core_reads_it_back(extension, &python)
            })
            .with_ignored_flag(ignored),
        );
    }
    trials.push(Trial::test("a_copy_elsewhere_finds_its_assets", || {
        a_copy_elsewhere_finds_its_assets()
    }));
    trials.push(Trial::test("what_cannot_be_authored_is_refused", || {
        what_cannot_be_authored_is_refused()
    }));
    trials
}

fn golden(name: &str) -> PathBuf {
    common::repository().join("tests/goldens").join(name)
}

fn offsets(n: usize, seed: f32) -> Vec<Vec3> {
    let at = |i: usize| i as f32 + seed;
    (0..n)
        .map(|i| Vec3::new(at(i).sin(), (at(i) * 0.5).cos(), (at(i) * 2.0).sin()) * 0.25)
        .collect()
}

fn between(name: &str, weight: f32, n: usize, seed: f32) -> InbetweenDef {
    InbetweenDef {
        name: name.into(),
        weight,
        offsets: offsets(n, seed),
        normal_offsets: None,
    }
}

fn sparse() -> BlendShapeDef {
    BlendShapeDef {
        name: "Bulge".into(),
        point_indices: Some(vec![9, 0, 4, 11]),
        offsets: offsets(4, 1.0),
        normal_offsets: Some(offsets(4, 2.0)),
        inbetweens: vec![InbetweenDef {
            normal_offsets: Some(offsets(4, 4.0)),
            ..between("Early", 0.25, 4, 3.0)
        }],
    }
}

fn dense() -> BlendShapeDef {
    BlendShapeDef {
        name: "All".into(),
        offsets: offsets(12, 5.0),
        ..Default::default()
    }
}

/// A mesh without shapes, and its animation without channels, get both.
fn edited() -> Result<UsdFile, Failed> {
    let mut file = UsdFile::open(golden("lbs_basic.usda"))?;
    let path = file.add_blend_shape(MESH, &sparse())?;
    assert_eq!(path, format!("{MESH}/Bulge"));
    file.add_inbetween(&path, &between("Beyond", 1.5, 4, 6.0))?;
    let path = file.add_blend_shape(MESH, &dense())?;
    file.add_inbetween(&path, &between("Below", -0.5, 12, 7.0))?;
    let samples = [
        (Time::At(1.0), vec![0.1, 0.0]),
        (Time::At(3.0), vec![1.3, -0.75]),
        (Time::At(5.0), vec![0.5, 2.0]),
    ];
    file.set_blend_shape_weights(ANIM, &["Bulge", "All"], &samples)?;
    Ok(file)
}

fn baked(file: &Path, out: &Path) -> Result<Vec<Vec<DVec3>>, Failed> {
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    bake(file, out, &options, &mut |_| {})?;
    let stage = usd::open(out);
    let at = |t: &f64| usd::vectors(&stage, MESH, "points", Some(*t)).ok_or("no points");
    Ok(TIMES.iter().map(at).collect::<Result<_, _>>()?)
}

fn edits_are_baked_and_saved(extension: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let saved = folder.path().join("saved").with_extension(extension);
    let file = edited()?;
    file.save_as(&saved)?;
    let reread = UsdFile::open(&saved)?;
    let scenes = [
        file.scene(Default::default())?,
        reread.scene(Default::default())?,
    ];
    for scene in &scenes {
        let skin = scene.resolve(MESH)?.skin(Time::Default)?;
        let shapes: Vec<_> = skin.shapes().iter().flatten().collect();
        let expected = [sparse(), dense()].map(|mut def| {
            let path = format!("{MESH}/{}", def.name);
            def.inbetweens.push(match def.name.as_str() {
                "Bulge" => between("Beyond", 1.5, 4, 6.0),
                _ => between("Below", -0.5, 12, 7.0),
            });
            def.validate(&path, 12)
        });
        for (shape, expected) in shapes.iter().zip(expected) {
            assert_eq!(shape.as_ref(), &expected?);
        }
        assert_eq!(shapes.len(), 2);
        let pose = scene.resolve(MESH)?.pose(Time::At(3.0))?;
        assert_eq!(pose.channel_weights, [1.3, -0.75]);
    }
    // The source is as it was.
    let source = UsdFile::open(golden("lbs_basic.usda"))?.scene(Default::default())?;
    let skin = source.resolve(MESH)?.skin(Time::Default)?;
    assert!(skin.shapes().is_empty());
    Ok(())
}

fn rows(value: &Value) -> Vec<DVec3> {
    let row = |v: &Value| {
        let x = |i: usize| v[i].as_f64().expect("a number");
        DVec3::new(x(0), x(1), x(2))
    };
    value.as_array().expect("vectors").iter().map(row).collect()
}

fn usd_core_reads_it_back(extension: &str, python: &str) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let saved = folder.path().join("saved").with_extension(extension);
    edited()?.save_as(&saved)?;
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/against_usd_core/author_readback.py");
    let output = Command::new(python)
        .arg(script)
        .arg(&saved)
        .args([MESH, ANIM])
        .args(TIMES.map(|t| t.to_string()))
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || stderr.contains("Warning") {
        return Err(format!("usd-core: {stderr}").into());
    }
    let mut theirs: Value = serde_json::from_slice(&output.stdout)?;
    let pixars = theirs["baked"].take();
    let vectors = |v: &[Vec3]| {
        json!(
            v.iter()
                .map(|v| v.as_dvec3().to_array())
                .collect::<Vec<_>>()
        )
    };
    let between = |b: &InbetweenDef| {
        let name = format!("inbetweens:{}", b.name);
        let normals = b.normal_offsets.as_deref().map(vectors);
        json!({ "name": name, "weight": b.weight, "offsets": vectors(&b.offsets), "normals": normals })
    };
    let shape = |def: &BlendShapeDef, types: Value| {
        json!({
            "indices": def.point_indices,
            "offsets": vectors(&def.offsets),
            "normals": def.normal_offsets.as_deref().map(vectors),
            "types": types,
            "custom": [],
            "inbetweens": def.inbetweens.iter().map(between).collect::<Vec<_>>(),
        })
    };
    let [mut bulge, mut all] = [sparse(), dense()];
    // usd-core has them in the order of their names.
    bulge
        .inbetweens
        .insert(0, self::between("Beyond", 1.5, 4, 6.0));
    all.inbetweens.push(self::between("Below", -0.5, 12, 7.0));
    let types = [
        json!({
            "offsets": "vector3f[]",
            "normalOffsets": "vector3f[]",
            "pointIndices": "int[]",
            "inbetweens:Early": "point3f[]",
            "inbetweens:Early:normalOffsets": "vector3f[]",
            "inbetweens:Beyond": "point3f[]",
        }),
        json!({ "offsets": "vector3f[]", "inbetweens:Below": "point3f[]" }),
    ];
    let [of_bulge, of_all] = types;
    let paths = [format!("{MESH}/Bulge"), format!("{MESH}/All")];
    let weights = |a: f32, b: f32| json!([f64::from(a), f64::from(b)]);
    let expected = json!({
        "api": true,
        "tokens": ["Bulge", "All"],
        "channels": ["Bulge", "All"],
        "targets": paths,
        "weights": {
            "1.0": weights(0.1, 0.0),
            "3.0": weights(1.3, -0.75),
            "5.0": weights(0.5, 2.0),
        },
        "shapes": { &paths[0]: shape(&bulge, of_bulge), &paths[1]: shape(&all, of_all) },
        "baked": null,
    });
    assert_eq!(theirs, expected);

    let ours = baked(&saved, &folder.path().join("baked.usdc"))?;
    let plain = baked(&golden("lbs_basic.usda"), &folder.path().join("plain.usdc"))?;
    for (i, time) in TIMES.iter().enumerate() {
        let pixars = rows(&pixars[i]);
        let within = tolerance::PIXAR_BAKE_POINTS * size(&pixars);
        compare_within(&format!("points at {time}"), &ours[i], &pixars, within)?;
        assert!(
            compare_within("", &ours[i], &plain[i], 0.01).is_err(),
            "shapes move points"
        );
    }
    Ok(())
}

fn a_copy_elsewhere_finds_its_assets() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    for name in ["a", "b", "a/tex"] {
        std::fs::create_dir(folder.join(name))?;
    }
    std::fs::copy(golden("lbs_basic.usda"), folder.join("a/char.usda"))?;
    for texture in ["a/tex/skin.png", "a/tex/fur.1001.png"] {
        std::fs::write(folder.join(texture), "")?;
    }
    let main = folder.join("a/main.usda");
    std::fs::write(
        &main,
        r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 5
    timeCodesPerSecond = 24
)
def "World" (
    prepend references = @./char.usda@</World>
)
{
    asset skin = @./tex/skin.png@
    asset beside = @tex/skin.png@
    asset fur = @tex/fur.<UDIM>.png@
    asset elsewhere = @studio/skin.png@
    asset missing = @./gone.png@
}
"#,
    )?;
    let mut file = UsdFile::open(&main)?;
    file.add_blend_shape(MESH, &sparse())?;
    let out = folder.join("b/main.usda");
    file.save_as(&out)?;
    let text = std::fs::read_to_string(&out)?;
    for path in [
        "prepend references = @../a/char.usda@</World>",
        "skin = @../a/tex/skin.png@",
        "beside = @../a/tex/skin.png@",
        "fur = @../a/tex/fur.<UDIM>.png@",
        "elsewhere = @studio/skin.png@",
        "missing = @../a/gone.png@",
    ] {
        assert!(text.contains(path), "{path} is not in\n{text}");
    }
    // Overs, and none of what is referenced.
    assert!(!text.contains("faceVertexCounts"), "{text}");
    let scene = UsdFile::open(&out)?.scene(Default::default())?;
    assert_eq!(scene.warnings, []);
    let skin = scene.resolve(MESH)?.skin(Time::Default)?;
    assert_eq!(skin.shapes().len(), 1);

    let beside = folder.join("a/copy.usda");
    file.save_as(&beside)?;
    let text = std::fs::read_to_string(&beside)?;
    assert!(text.contains("@./char.usda@"), "{text}");
    let own = file.save_as(&main).unwrap_err().to_string();
    assert!(own.contains("read from"), "{own}");
    // A package holds copies of all that is there.
    let package = folder.join("b/main.usdz");
    let missing = file.save_as(&package)?.warnings;
    assert!(missing.iter().all(|w| w.code == "asset-missing"));
    let scene = UsdFile::open(&package)?.scene(Default::default())?;
    assert_eq!(scene.resolve(MESH)?.skin(Time::Default)?.shapes().len(), 1);
    Ok(())
}

fn what_cannot_be_authored_is_refused() -> Result<(), Failed> {
    let mut file = edited()?;
    let before = saved_text(&file)?;
    let says = |error: sinew_io::Result<String>, words: &[&str]| {
        let text = error.expect_err("refused").to_string();
        let all = words.iter().all(|w| text.contains(w));
        assert!(all && text.contains("lbs_basic.usda"), "{text}: {words:?}");
    };
    let named = |name: &str| BlendShapeDef {
        name: name.into(),
        ..dense()
    };
    let mut add = |mesh: &str, shape: &BlendShapeDef| file.add_blend_shape(mesh, shape);
    says(add("/World/Nobody", &named("S")), &["/World/Nobody"]);
    says(add("/World", &named("S")), &["PointBased", "/World"]);
    says(add("not a path", &named("S")), &["not a path"]);
    says(add(MESH, &named("two words")), &["two words"]);
    says(add(MESH, &named("")), &["''"]);
    says(add(MESH, &named("All")), &["/All", "already"]);
    let short = BlendShapeDef {
        offsets: offsets(3, 0.0),
        ..named("S")
    };
    says(
        add(MESH, &short),
        &["Body/S.offsets", "12 offsets", "found 3"],
    );
    let twice = BlendShapeDef {
        inbetweens: vec![between("a", 0.5, 12, 0.0), between("b", 0.5, 12, 0.0)],
        ..named("S")
    };
    says(add(MESH, &twice), &["'b'", "0.5"]);
    let unnamed = BlendShapeDef {
        inbetweens: vec![between("a:b", 0.5, 12, 0.0)],
        ..named("S")
    };
    says(add(MESH, &unnamed), &["a:b"]);

    let bulge = format!("{MESH}/Bulge");
    let mut add =
        |path: &str, b: InbetweenDef| file.add_inbetween(path, &b).map(|()| String::new());
    says(add(MESH, between("a", 0.5, 4, 0.0)), &["BlendShape", MESH]);
    says(
        add(&bulge, between("Early", 0.5, 4, 0.0)),
        &["Early", "already"],
    );
    says(add(&bulge, between("a", 0.25, 4, 0.0)), &["'a'", "0.25"]);
    says(add(&bulge, between("a", 1.0, 4, 0.0)), &["'a'", "primary"]);
    says(
        add(&bulge, between("a", 0.5, 3, 0.0)),
        &["inbetweens:a", "found 3"],
    );
    says(
        add(&bulge, between("normalOffsets", 0.5, 4, 0.0)),
        &["normalOffsets"],
    );

    let mut set = |path: &str, channels: &[&str], samples: &[(Time, Vec<f32>)]| {
        let set = file.set_blend_shape_weights(path, channels, samples);
        set.map(|()| String::new())
    };
    let at = |t: f64, w: f32| (Time::At(t), vec![w]);
    says(set(MESH, &["a"], &[]), &["SkelAnimation"]);
    says(set(ANIM, &["a", "a"], &[]), &["'a'"]);
    says(set(ANIM, &["a"], &[at(1.0, f32::NAN)]), &["finite"]);
    says(set(ANIM, &["a"], &[at(f64::NAN, 1.0)]), &["finite times"]);
    says(
        set(ANIM, &["a"], &[at(1.0, 1.0), at(1.0, 2.0)]),
        &["time 1 twice"],
    );
    says(
        set(ANIM, &["a", "b"], &[at(1.0, 1.0)]),
        &["2 weights", "found 1"],
    );

    // Nothing of all this left a trace.
    assert_eq!(saved_text(&file)?, before);

    let mut instanced = UsdFile::open(golden("instanced.usda"))?;
    let scene = instanced.scene(Default::default())?;
    let mesh = &scene.bindings.first().ok_or("instances are bound")?.path;
    let refused = instanced.add_blend_shape(mesh, &named("S"));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("instance"), "{text}");
    Ok(())
}

fn saved_text(file: &UsdFile) -> Result<String, Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("text.usda");
    file.save_as(&out)?;
    Ok(std::fs::read_to_string(out)?)
}

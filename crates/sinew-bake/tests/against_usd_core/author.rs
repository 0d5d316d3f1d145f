//! Blend shapes and in-betweens authored through the library.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use common::compare::{compare_within, size};
use common::trials::Trial;
use common::{tolerance, usd};
use glam::{DVec3, Vec3};
use libtest_mimic::Failed;
use serde_json::Value;
use sinew::sampled::Time;
use sinew::skel::{BlendShapeDef, InbetweenDef};
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_io::usd::UsdFile;

const MESH: &str = "/World/Char/Geo/Body";
const ANIM: &str = "/World/Char/Rig/Anim";
const SHAPES: [&str; 2] = ["Bulge", "All"];
const TIMES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("a_copy_elsewhere_finds_its_assets", || {
            a_copy_elsewhere_finds_its_assets()
        }),
        Trial::test("what_cannot_be_authored_is_refused", || {
            what_cannot_be_authored_is_refused()
        }),
    ];
    for extension in ["usda", "usdc"] {
        let name = format!("edits_are_baked_and_saved::{extension}");
        trials.push(Trial::test(name, move || {
            edits_are_baked_and_saved(extension)
        }));
        let name = format!("usd_core_reads_it_back::{extension}");
        let read = move |python: &str| usd_core_reads_it_back(extension, python);
        trials.push(common::python::trial(&name, read));
    }
    trials
}

fn golden(name: &str) -> PathBuf {
    common::repository().join("tests/goldens").join(name)
}

/// What usd-core finds of the shapes after they are saved.
static AUTHORED: LazyLock<Value> = LazyLock::new(|| {
    let json = serde_json::from_str(include_str!("author.json"));
    json.expect("JSON")
});

fn vectors(json: &Value) -> Option<Vec<Vec3>> {
    let rows: Option<Vec<[f32; 3]>> = serde_json::from_value(json.clone()).expect("vectors");
    rows.map(|rows| rows.into_iter().map(Vec3::from).collect())
}

/// A shape of [`AUTHORED`], and an in-between that is added to it later.
fn shape(name: &str) -> (BlendShapeDef, InbetweenDef) {
    let json = &AUTHORED["shapes"][format!("{MESH}/{name}")];
    let between = |json: &Value| InbetweenDef {
        name: json["name"].as_str().unwrap()["inbetweens:".len()..].into(),
        weight: json["weight"].as_f64().unwrap() as f32,
        offsets: vectors(&json["offsets"]).unwrap(),
        normal_offsets: vectors(&json["normals"]),
    };
    let betweens = json["inbetweens"].as_array().unwrap().iter();
    let mut inbetweens: Vec<InbetweenDef> = betweens.map(between).collect();
    let later = inbetweens.remove(0);
    let shape = BlendShapeDef {
        name: name.into(),
        point_indices: serde_json::from_value(json["indices"].clone()).unwrap(),
        offsets: vectors(&json["offsets"]).unwrap(),
        normal_offsets: vectors(&json["normals"]),
        inbetweens,
    };
    (shape, later)
}

/// A mesh without shapes, and its animation without channels, get both.
fn edited() -> Result<UsdFile, Failed> {
    let mut file = UsdFile::open(golden("lbs_basic.usda"))?;
    for name in SHAPES {
        let (shape, later) = shape(name);
        let path = file.add_blend_shape(MESH, &shape)?;
        assert_eq!(path, format!("{MESH}/{name}"));
        file.add_inbetween(&path, &later)?;
    }
    let mut samples: Vec<(Time, Vec<f32>)> = Vec::new();
    for (time, weights) in AUTHORED["weights"].as_object().ok_or("weights")? {
        samples.push((
            Time::At(time.parse()?),
            serde_json::from_value(weights.clone())?,
        ));
    }
    file.set_blend_shape_weights(ANIM, &SHAPES, &samples)?;
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
        let expected = SHAPES.map(|name| {
            let (mut def, later) = shape(name);
            def.inbetweens.push(later);
            def.validate(&format!("{MESH}/{name}"), 12)
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
    assert_eq!(theirs, *AUTHORED);

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
    file.add_blend_shape(MESH, &shape("Bulge").0)?;
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
    assert!(own.contains("reads from"), "{own}");
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
    let text = include_str!("author.txt")
        .replace("MESH", MESH)
        .replace("ANIM ", &format!("{ANIM} "));
    for row in text.lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let (kind, path) = columns[0].split_once(' ').ok_or(row)?;
        let refused = match (kind, &columns[1..]) {
            ("shape", [name, offsets, betweens, _]) => {
                let betweens = betweens.split(", ").filter(|b| !b.is_empty());
                let shape = BlendShapeDef {
                    name: (*name).into(),
                    offsets: vec![Vec3::X; offsets.parse()?],
                    inbetweens: betweens.map(|b| between(b, 12)).collect(),
                    ..BlendShapeDef::default()
                };
                file.add_blend_shape(path, &shape).map(|_| ())
            }
            ("between", [offsets, name, _]) => {
                file.add_inbetween(path, &between(name, offsets.parse()?))
            }
            ("weights", [channels, samples, _]) => {
                let channels: Vec<&str> = channels.split(' ').collect();
                let samples = samples.split(", ").filter_map(|s| s.split_once(' '));
                let sample =
                    |(t, w): (&str, &str)| (Time::At(t.parse().unwrap()), vec![w.parse().unwrap()]);
                let samples: Vec<_> = samples.map(sample).collect();
                file.set_blend_shape_weights(path, &channels, &samples)
            }
            _ => return Err(row.into()),
        };
        let told = refused.expect_err(row).to_string();
        let words = columns.last().into_iter().flat_map(|w| w.split(", "));
        for word in words.chain(["lbs_basic.usda"]) {
            assert!(told.contains(word), "{row}: '{told}' should say '{word}'");
        }
    }
    // Nothing of all this left a trace.
    assert_eq!(saved_text(&file)?, before);

    let mut instanced = UsdFile::open(golden("instanced.usda"))?;
    let scene = instanced.scene(Default::default())?;
    let mesh = &scene.bindings.first().ok_or("instances are bound")?.path;
    let refused = instanced.add_blend_shape(mesh, &shape("All").0);
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("instance"), "{text}");
    Ok(())
}

/// `NAME WEIGHT` with so many offsets.
fn between(text: &str, offsets: usize) -> InbetweenDef {
    let (name, weight) = text.split_once(' ').expect("a name and a weight");
    InbetweenDef {
        name: name.into(),
        weight: weight.parse().expect("a weight"),
        offsets: vec![Vec3::X; offsets],
        normal_offsets: None,
    }
}

fn saved_text(file: &UsdFile) -> Result<String, Failed> {
    let folder = tempfile::tempdir()?;
    let out = folder.path().join("text.usda");
    file.save_as(&out)?;
    Ok(std::fs::read_to_string(out)?)
}

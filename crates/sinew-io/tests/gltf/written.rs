//! glTF that is written from files of our own: bakes of it equal bakes of the source, and what does not fit is said or baked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use sinew::sampled::Time;
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_io::gltf::GltfEdit;

use crate::convert::{How, Written, to_gltf, to_usd};
use common::command::Bench;
use common::trials::{Trial, named};

pub fn trials() -> Vec<Trial> {
    let all: [(&str, fn()); 7] = [
        ("a_bake_of_the_glb_equals_one_of_the_stage", same_bake),
        ("a_gltf_has_its_buffer_and_images_beside_it", files_beside),
        ("influences_are_cut_with_a_figure", cut),
        ("what_does_not_fit_is_measured_or_baked", misfits),
        ("z_up_in_centimetres_gets_a_root", units),
        ("nothing_is_left_out_in_silence", left_out),
        ("other_formats_are_written_too", other_inputs),
    ];
    named(all.map(|(name, run)| (name, run, false)))
}

fn asset(name: &str) -> PathBuf {
    common::repository().join("examples/assets").join(name)
}

fn convert(input: &Path, output: PathBuf) -> Written {
    to_gltf(input, output, &How::default()).unwrap()
}

/// The JSON of a file.
fn json_of(file: &Path) -> Value {
    GltfEdit::open(file).unwrap().json().clone()
}

/// World points of a mesh of a baked file, in metres, with those at rest of the file that was baked.
struct Baked {
    /// The last part of its path.
    name: String,
    /// In prim space.
    rest: Vec<Vec3>,
    /// At each time.
    frames: Vec<Vec<DVec3>>,
}

/// Bakes a file, and gives its meshes at some seconds.
fn baked(bench: &Bench, source: &Path, seconds: &[f64]) -> Vec<Baked> {
    let out = bench.path("baked.usdc");
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    bake(source, &out, &options, &mut |_| {}).unwrap();
    let rest = sinew_io::open(source).unwrap();
    let rest_scene = rest.scene(Default::default()).unwrap();
    let rest = rest.geometry(&rest_scene).unwrap();
    let rate = rest_scene.time_line.time_codes_per_second;
    let unit = rest_scene.meters_per_unit;
    let file = sinew_io::open(&out).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    let meshes = geometry.meshes.iter().zip(&rest.meshes);
    let baked = meshes.map(|(mesh, rest)| {
        let at = |second: &f64| {
            let time = Time::At(second * rate);
            let world = mesh.world_from_prim(time);
            let points = mesh.points.at(time).unwrap();
            let points = points.iter().map(|p| p.as_dvec3());
            points.map(|p| world.transform_point3(p) * unit).collect()
        };
        Baked {
            name: mesh.path.rsplit('/').next().unwrap().to_owned(),
            rest: rest.points.first().unwrap().to_vec(),
            frames: seconds.iter().map(at).collect(),
        }
    });
    baked.collect()
}

/// The largest distance between a vertex of glTF and the point of the stage that it was made from,
/// by the size of the stage's mesh.
fn difference(stage: &[Baked], gltf: &[Baked]) -> f64 {
    let bits = |p: &Vec3| p.to_array().map(f32::to_bits);
    let mut worst = 0.0f64;
    for mesh in stage {
        let mut points: HashMap<[u32; 3], Vec<usize>> = HashMap::new();
        for (i, p) in mesh.rest.iter().enumerate() {
            points.entry(bits(p)).or_default().push(i);
        }
        let size = common::compare::size(&common::compare::to_f64(&mesh.rest));
        let other = gltf.iter().find(|m| m.name == mesh.name);
        let other = other.unwrap_or_else(|| panic!("no mesh {} in glTF", mesh.name));
        for (want, found) in mesh.frames.iter().zip(&other.frames) {
            // The first frame of a baked mesh need not be at rest: any point may be it.
            let all: Vec<usize> = (0..want.len()).collect();
            for (vertex, at) in other.rest.iter().enumerate() {
                let from = points.get(&bits(at)).unwrap_or(&all);
                let near = from.iter().map(|i| want[*i].distance(found[vertex]));
                worst = worst.max(near.fold(f64::MAX, f64::min) / size);
            }
        }
    }
    worst
}

fn same_bake() {
    let bench = Bench::new();
    let source = asset("hatchling.usda");
    let written = convert(&source, bench.path("hatchling.glb"));
    assert_eq!(written.clips[0], "Dance");
    assert!(written.skinned >= 5, "{}", written.skinned);
    assert_eq!(written.codes(), ["inbetweens-as-targets"; 3]);
    let again = convert(&source, bench.path("again.glb"));
    let bytes = |written: &Written| std::fs::read(&written.file).unwrap();
    assert!(bytes(&written) == bytes(&again), "the same bytes");
    let file = sinew_io::open(&source).unwrap();
    let animation = &file.animations().unwrap()[0];
    let scene = file.scene(Default::default()).unwrap();
    let rate = scene.time_line.time_codes_per_second;
    let keys: Vec<f64> = animation.joint_times().collect();
    let seconds: Vec<f64> = keys.iter().step_by(7).map(|t| t / rate).collect();
    assert!(seconds.len() > 4);
    let stage = baked(&bench, &source, &seconds);
    let worst = difference(&stage, &baked(&bench, &written.file, &seconds));
    assert!(worst < 1e-4, "{worst} of a mesh's size");
}

fn files_beside() {
    let bench = Bench::new();
    let stage = bench.path("puppet.usda");
    to_usd(&asset("puppet.glb"), &stage).unwrap();
    let out = convert(&stage, bench.path("my puppet.gltf")).file;
    let text: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(text["buffers"][0]["uri"], "my%20puppet.bin");
    let bin = std::fs::metadata(bench.path("my puppet.bin")).unwrap();
    assert_eq!(text["buffers"][0]["byteLength"], bin.len());
    for image in text["images"].as_array().into_iter().flatten() {
        let uri = image["uri"].as_str().unwrap();
        let path = bench.path(&uri.replace("%20", " "));
        assert!(path.exists(), "{}", path.display());
    }
    let scene = sinew_io::open(&out).unwrap().scene(Default::default());
    let skeleton = scene.unwrap().instances[0].instance.skeleton().clone();
    assert_eq!(skeleton.joints().len(), 21);
}

/// A stage with one mesh of two points per joint, whose rows of influences and method are given.
fn stage(bench: &Bench, method: &str, weights: &str, metadata: &str) -> PathBuf {
    let text = include_str!("bend.usda");
    let text = text.replace("METHOD", method).replace("WEIGHTS", weights);
    bench.write("bend.usda", text.replace("METADATA", metadata))
}

const WEIGHTS: &str = "1,0,1,0,0.6,0.4,0.6,0.4,0,1,0,1";

fn cut() {
    let bench = Bench::new();
    let source = stage(&bench, "classicLinear", WEIGHTS, "");
    let with_at_most = |count| {
        let how = How {
            max_influences: Some(count),
            ..How::default()
        };
        to_gltf(&source, bench.path("cut.glb"), &how).unwrap()
    };
    let written = with_at_most(1);
    let cut = written.influences.unwrap();
    assert_eq!((cut.vertices, cut.most), (2, 1));
    assert_eq!(cut.worst_clip, "Bend");
    // Points at the joint B, half a unit beside it, lose a weight of 0.4 of a turn by 120 degrees,
    // which leads them sqrt(1/2) away. The unit is a centimetre.
    let (want, found) = (0.4 * 0.5f64.sqrt() * 0.01, cut.worst_distance);
    assert!((found - want).abs() < 1e-6, "{found}, not {want}");
    let attributes = &json_of(&written.file)["meshes"][0]["primitives"][0]["attributes"];
    assert!(attributes["JOINTS_0"].is_u64() && attributes["JOINTS_1"].is_null());
    assert!(with_at_most(4).influences.is_none());
}

fn misfits() {
    let bench = Bench::new();
    let bake = How {
        bake: true,
        ..How::default()
    };
    let seconds = [0.0, 0.5];
    let too_little = "1,0,1,0,0.6,0.2,0.6,0.4,0,1,0,1";
    let negative = "1,0,1,0,1.4,-0.4,0.6,0.4,0,1,0,1";
    for (method, weights, code) in [
        ("dualQuaternion", WEIGHTS, "gltf-dual-quaternion"),
        ("classicLinear", too_little, "gltf-weights"),
        ("classicLinear", negative, "gltf-weights-negative"),
    ] {
        let source = stage(&bench, method, weights, "metersPerUnit = 1");
        let written = convert(&source, bench.path("odd.glb"));
        assert_eq!(written.codes(), [code]);
        let message = &written.warnings[0].message;
        let told = ["time code 12 of Bend", "time code 0"];
        assert!(told.iter().any(|t| message.contains(t)), "{message}");
        let stage = baked(&bench, &source, &seconds);
        let off = difference(&stage, &baked(&bench, &written.file, &seconds));
        assert!(off > 1e-3, "{code}: it differs by {off}");
        let said = message.split("points are off by up to ").nth(1).unwrap();
        let said: f64 = said.split(',').next().unwrap().parse().unwrap();
        let is_so = (said / 5.0f64.sqrt() - off).abs() < 2e-3 * off;
        assert!(is_so, "{code}: {said} said, {off} found");

        let written = to_gltf(&source, bench.path("odd.glb"), &bake).unwrap();
        assert_eq!((written.codes(), written.skinned), (vec!["gltf-baked"], 0));
        let off = difference(&stage, &baked(&bench, &written.file, &seconds));
        assert!(off < 1e-6, "{code}: baked, it differs by {off}");
    }
    // What fits stays skinned.
    let source = stage(&bench, "classicLinear", WEIGHTS, "");
    let written = to_gltf(&source, bench.path("fits.glb"), &bake).unwrap();
    assert_eq!((written.codes(), written.skinned), (vec![], 1));
}

fn units() {
    let bench = Bench::new();
    let nodes = |metadata: &str| -> Vec<Value> {
        let source = stage(&bench, "classicLinear", WEIGHTS, metadata);
        let written = convert(&source, bench.path("units.glb"));
        json_of(&written.file)["nodes"].as_array().unwrap().clone()
    };
    let z_up = nodes("upAxis = \"Z\"\n    metersPerUnit = 0.01");
    let root = z_up.iter().find(|n| n["name"] == "Root").unwrap();
    assert_eq!(root["scale"], json!([0.01, 0.01, 0.01]));
    let turn = root["rotation"][0].as_f64().unwrap();
    assert!((turn + 0.5f64.sqrt()).abs() < 1e-12, "{root}");
    let metres = nodes("metersPerUnit = 1");
    assert!(metres.iter().all(|n| n["name"] != "Root"), "{metres:?}");
}

fn other_inputs() {
    let bench = Bench::new();
    let walk = convert(&asset("walk.bvh"), bench.path("walk.glb"));
    assert_eq!(walk.clips[0], "walk");
    let how = How {
        clip: Some("Wave"),
        ..How::default()
    };
    let puppet = to_gltf(&asset("puppet.glb"), bench.path("puppet.glb"), &how).unwrap();
    assert_eq!(
        (puppet.clips, puppet.joints),
        (vec!["Wave".to_owned()], vec![21])
    );
}

/// Meshes of other purposes, meshes that cannot be drawn, and humanoid maps.
fn left_out() {
    let bench = Bench::new();
    let source = bench.write("some.usda", include_str!("left_out.usda"));
    let written = convert(&source, bench.path("some.glb"));
    let told: Vec<_> = written
        .warnings
        .iter()
        .map(|w| (&*w.path, w.code))
        .collect();
    assert!(told.contains(&("/Proxy", "mesh-left-out")), "{told:?}");
    assert!(told.iter().all(|(path, _)| *path != "/Shown"), "{told:?}");
    let broken: Vec<&str> = written.left_out.iter().map(|l| l.prim.as_str()).collect();
    assert_eq!(broken, ["/Broken"]);
    let puppet = convert(&asset("puppet.glb"), bench.path("again.glb"));
    assert!(
        puppet.codes().contains(&"humanoid-left-out"),
        "{:?}",
        puppet.codes()
    );
}

//! glTF that is written from files of our own: what does not fit is said or baked, and every file is where it has to be.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew_io::gltf::GltfEdit;

use crate::convert::{How, Written, to_gltf, to_usd};
use crate::direct::skinned;
use crate::eval::Document;
use crate::matching::match_points;
use crate::shown::{Shown, shown};
use crate::subjects::fixture;
use common::command::Bench;
use common::trials::{Trial, named};

pub fn trials() -> Vec<Trial> {
    let all: [(&str, fn()); 6] = [
        ("it_is_the_same_bytes_every_time", same_bytes),
        ("a_gltf_has_its_buffer_and_images_beside_it", files_beside),
        ("influences_are_cut_with_a_figure", cut),
        ("what_does_not_fit_is_measured_or_baked", misfits),
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

/// The mesh that a stage shows at 0 s and 0.5 s, in metres.
fn of_stage(file: &Path) -> Shown {
    let scene = sinew_io::open(file).unwrap().scene(Default::default());
    let scene = scene.unwrap();
    let rate = scene.time_line.time_codes_per_second;
    let codes = SECONDS.map(|s| s * rate);
    let mut shown = skinned(&scene, &codes).unwrap().remove(0);
    let points = shown.points.iter_mut().flatten();
    points.for_each(|p| *p *= scene.meters_per_unit);
    shown.corners = vec![0, 1, 3, 2, 2, 3, 5, 4];
    shown
}

/// The same of a glTF file, as the evaluator plays it.
fn of_gltf(file: &Path) -> Shown {
    let document = Document::open(file);
    let clips: Vec<_> = document.clips.iter().collect();
    shown(&document, &clips, &SECONDS).remove(0)
}

const SECONDS: [f64; 2] = [0.0, 0.5];

/// That they are in their places is `stages::as_glb::examples::hatchling`.
fn same_bytes() {
    let bench = Bench::new();
    let source = asset("hatchling.usda");
    let written = convert(&source, bench.path("hatchling.glb"));
    assert_eq!(written.clips[0], "Dance");
    assert!(written.skinned >= 5, "{}", written.skinned);
    assert_eq!(written.codes(), ["inbetweens-as-targets"; 3]);
    let again = convert(&source, bench.path("again.glb"));
    let bytes = |written: &Written| std::fs::read(&written.file).unwrap();
    assert!(bytes(&written) == bytes(&again), "the same bytes");
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
    let cut = written.influences.as_ref().unwrap();
    assert_eq!((cut.vertices, cut.most), (2, 1));
    // What is left adds up to 1.
    assert!(written.codes().is_empty(), "{:?}", written.codes());
    assert_eq!((&*cut.worst_clip, cut.worst_time), ("Bend", 0.5));
    assert_eq!(cut.worst_mesh, "Skin");
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
    let too_little = "1,0,1,0,0.6,0.2,0.6,0.4,0,1,0,1";
    let negative = "1,0,1,0,1.4,-0.4,0.6,0.4,0,1,0,1";
    let zero = "1,0,1,0,0.6,0.4,0,0,0,1,0,1";
    for (method, weights, code) in [
        ("dualQuaternion", WEIGHTS, "gltf-dual-quaternion"),
        ("classicLinear", too_little, "gltf-weights"),
        ("classicLinear", negative, "gltf-weights-negative"),
        ("classicLinear", zero, "gltf-weights-zero"),
    ] {
        let source = stage(&bench, method, weights, "metersPerUnit = 1");
        let want = of_stage(&source);
        // Which vertex is which point is seen where nothing is off.
        let written = to_gltf(&source, bench.path("baked.glb"), &bake).unwrap();
        assert_eq!((written.codes(), written.skinned), (vec!["gltf-baked"], 0));
        let baked = match_points(&want, &of_gltf(&written.file), |_| true).unwrap();
        assert!(baked.error < 1e-6, "{code}: baked, off by {}", baked.error);

        let written = convert(&source, bench.path("odd.glb"));
        assert_eq!(written.codes(), [code]);
        // What is in metres with Y up has no root around it.
        let nodes = json_of(&written.file)["nodes"].clone();
        assert!(!nodes.to_string().contains("\"Root\""), "{nodes}");
        let message = &written.warnings[0].message;
        let told = ["time code 12 of Bend", "time code 0"];
        assert!(told.iter().any(|t| message.contains(t)), "{message}");
        let got = of_gltf(&written.file);
        let off = baked.worst_of(|vertex, point| {
            let each = want.points.iter().zip(&got.points);
            let each = each.map(|(want, got)| want[point].distance(got[vertex]));
            each.fold(0.0, f64::max)
        });
        assert!(off > 1e-3, "{code}: it differs by {off} m");
        let said = message.split("points are off by up to ").nth(1).unwrap();
        let said: f64 = said.split(',').next().unwrap().parse().unwrap();
        assert!(
            (said - off).abs() < 2e-3 * off,
            "{code}: {said} said, {off} found"
        );
    }
    // What fits stays skinned.
    let source = stage(&bench, "classicLinear", WEIGHTS, "");
    let written = to_gltf(&source, bench.path("fits.glb"), &bake).unwrap();
    assert_eq!((written.codes(), written.skinned), (vec![], 1));
}

fn other_inputs() {
    let bench = Bench::new();
    let walk = convert(&asset("walk.bvh"), bench.path("walk.glb"));
    assert_eq!(walk.clips[0], "walk");
    // Joints of a skin get a common root.
    let apart = convert(&fixture("no_common_root.gltf"), bench.path("apart.glb"));
    let nodes = json_of(&apart.file)["nodes"].as_array().unwrap().clone();
    assert!(nodes.iter().any(|n| n["name"] == "Root"), "{nodes:?}");
    // The mesh's own node, too, where it is a joint.
    let mut own = json_of(&fixture("no_common_root.gltf"));
    own["skins"] = json!([{ "joints": [0, 1, 3] }]);
    let own = bench.write("own.gltf", own.to_string());
    let own = json_of(&convert(&own, bench.path("own.glb")).file);
    assert_eq!(own["scenes"][0]["nodes"], json!([4]), "{own}");
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

//! glTF that the command writes from files of our own: bakes of it equal bakes of the source, and
//! what does not fit is said or baked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use common::command::{Bench, bake, misused, refused, sinew, stderr, stdout};
use common::trials::{Trial, named};
use glam::{DVec3, Vec3};
use serde_json::Value;
use sinew::sampled::Time;
use sinew_io::gltf::GltfEdit;

pub fn trials() -> Vec<Trial> {
    named([
        (
            "a_bake_of_the_glb_equals_one_of_the_stage",
            same_bake as fn(),
            false,
        ),
        (
            "a_gltf_has_its_buffer_and_images_beside_it",
            files_beside,
            false,
        ),
        ("influences_are_cut_with_a_figure", cut, false),
        ("what_does_not_fit_is_measured_or_baked", misfits, false),
        ("z_up_in_centimetres_gets_a_root", units, false),
        ("nothing_is_left_out_in_silence", left_out, false),
        ("wrong_use_writes_nothing", wrong_use, false),
        ("other_formats_are_written_too", other_inputs, false),
    ])
}

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/assets")
        .join(name)
}

/// Converts, and gives the report of --json.
fn convert(input: &Path, output: &Path, more: &[&str]) -> Value {
    ended(input, output, more, 0)
}

/// Converts with an exit code to expect.
fn ended(input: &Path, output: &Path, more: &[&str], code: i32) -> Value {
    let mut args = vec![
        "convert",
        input.to_str().unwrap(),
        "-o",
        output.to_str().unwrap(),
        "--json",
    ];
    args.extend(more);
    let result = sinew(&args);
    assert_eq!(
        result.status.code(),
        Some(code),
        "{args:?}: {}",
        stderr(&result)
    );
    serde_json::from_slice(&result.stdout).unwrap()
}

fn codes(report: &Value) -> Vec<&str> {
    let warnings = report["warnings"].as_array().unwrap();
    warnings
        .iter()
        .map(|w| w["code"].as_str().unwrap())
        .collect()
}

/// World points of the meshes of a baked file, in metres, at time codes of their own, with those at
/// rest of the file that was baked.
struct Baked {
    meshes: Vec<BakedMesh>,
}

struct BakedMesh {
    /// The last part of its path.
    name: String,
    /// In prim space.
    rest: Vec<Vec3>,
    /// At each time.
    frames: Vec<Vec<DVec3>>,
}

impl Baked {
    fn new(bench: &Bench, source: &Path, name: &str, seconds: &[f64]) -> Self {
        let out = bench.path(name);
        let baked = bake(source, &out, &[]);
        assert!(baked.status.success(), "{}", stderr(&baked));
        let rest = sinew_io::open(source).unwrap();
        let rest_scene = rest.scene(Default::default()).unwrap();
        let rest = rest.geometry(&rest_scene).unwrap();
        let rate = rest_scene.time_line.time_codes_per_second;
        let unit = rest_scene.meters_per_unit;
        let file = sinew_io::open(&out).unwrap();
        let scene = file.scene(Default::default()).unwrap();
        let geometry = file.geometry(&scene).unwrap();
        let meshes = geometry
            .meshes
            .iter()
            .zip(&rest.meshes)
            .map(|(mesh, rest)| {
                let name = mesh.path.rsplit('/').next().unwrap().to_owned();
                let at = |second: &f64| {
                    let time = Time::At(second * rate);
                    let world = mesh.world_from_prim(time);
                    let points = mesh.points.at(time).unwrap();
                    points
                        .iter()
                        .map(|p| world.transform_point3(p.as_dvec3()) * unit)
                        .collect()
                };
                let rest_points = rest.points.first().unwrap().to_vec();
                BakedMesh {
                    name,
                    rest: rest_points,
                    frames: seconds.iter().map(at).collect(),
                }
            });
        Self {
            meshes: meshes.collect(),
        }
    }
}

/// The largest distance between a vertex of glTF and the point of the stage that it was made from,
/// by the size of the stage's mesh.
fn difference(stage: &Baked, gltf: &Baked) -> f64 {
    let mut worst = 0.0f64;
    for BakedMesh { name, rest, frames } in &stage.meshes {
        let mut points: HashMap<[u32; 3], Vec<usize>> = HashMap::new();
        for (i, p) in rest.iter().enumerate() {
            points
                .entry(p.to_array().map(f32::to_bits))
                .or_default()
                .push(i);
        }
        let low = rest.iter().copied().reduce(Vec3::min).unwrap();
        let high = rest.iter().copied().reduce(Vec3::max).unwrap();
        let size = f64::from(low.distance(high));
        let mut others = gltf.meshes.iter();
        let other = others.find(|m| m.name == *name);
        let other = other.unwrap_or_else(|| panic!("no mesh {name} in glTF"));
        for (want, found) in frames.iter().zip(&other.frames) {
            for (vertex, at) in other.rest.iter().enumerate() {
                // The first frame of a baked mesh need not be at rest: any point may be it.
                let all: Vec<usize> = (0..want.len()).collect();
                let from = points.get(&at.to_array().map(f32::to_bits)).unwrap_or(&all);
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
    let out = bench.path("hatchling.glb");
    let report = convert(&source, &out, &[]);
    assert_eq!(report["clips"][0]["name"], "Dance");
    assert!(report["skinned"].as_u64().unwrap() >= 5, "{report}");
    assert_eq!(codes(&report), ["inbetweens-as-targets"; 3]);
    let again = bench.path("again.glb");
    convert(&source, &again, &[]);
    assert!(
        std::fs::read(&out).unwrap() == std::fs::read(&again).unwrap(),
        "the same bytes"
    );
    let file = sinew_io::open(&source).unwrap();
    let animation = &file.animations().unwrap()[0];
    let rate = file
        .scene(Default::default())
        .unwrap()
        .time_line
        .time_codes_per_second;
    let keys: Vec<f64> = animation.joint_times().collect();
    let seconds: Vec<f64> = keys.iter().step_by(7).map(|t| t / rate).collect();
    assert!(seconds.len() > 4);
    let stage = Baked::new(&bench, &source, "a.usdc", &seconds);
    let gltf = Baked::new(&bench, &out, "b.usdc", &seconds);
    let worst = difference(&stage, &gltf);
    assert!(worst < 1e-4, "{worst} of a mesh's size");
}

fn files_beside() {
    let bench = Bench::new();
    let stage = bench.path("puppet.usda");
    convert(&asset("puppet.glb"), &stage, &[]);
    let out = bench.path("my puppet.gltf");
    convert(&stage, &out, &[]);
    let text: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(text["buffers"][0]["uri"], "my%20puppet.bin");
    let size = text["buffers"][0]["byteLength"].as_u64().unwrap();
    assert_eq!(
        std::fs::metadata(bench.path("my puppet.bin"))
            .unwrap()
            .len(),
        size
    );
    for image in text["images"].as_array().into_iter().flatten() {
        let uri = image["uri"].as_str().unwrap();
        let path = bench.path(&uri.replace("%20", " "));
        assert!(path.exists(), "{}", path.display());
    }
    let inspected = sinew(&["inspect", out.to_str().unwrap()]);
    assert!(inspected.status.success(), "{}", stderr(&inspected));
    assert!(
        stdout(&inspected).contains("21 joints"),
        "{}",
        stdout(&inspected)
    );
}

/// The names of attributes of all primitives.
fn attributes(file: &Path) -> Vec<String> {
    let json = GltfEdit::open(file).unwrap();
    let meshes = json.json()["meshes"].as_array().unwrap().clone();
    let primitives = meshes
        .iter()
        .flat_map(|m| m["primitives"].as_array().unwrap());
    let names = primitives.flat_map(|p| p["attributes"].as_object().unwrap().keys());
    names.cloned().collect()
}

/// A stage with one mesh of two points per joint, whose rows of influences and method are given.
fn stage(method: &str, weights: &str, more: &str) -> String {
    format!(
        r#"#usda 1.0
(
    defaultPrim = "Root"
    {more}
    timeCodesPerSecond = 24
)
def SkelRoot "Root"
{{
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        uniform token[] joints = ["A", "A/B"]
        uniform matrix4d[] bindTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        uniform matrix4d[] restTransforms = [((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,0,1)), ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,1,0,1))]
        rel skel:animationSource = </Root/Bend>
    }}
    def SkelAnimation "Bend"
    {{
        uniform token[] joints = ["A", "A/B"]
        float3[] translations = [(0,0,0), (0,1,0)]
        quatf[] rotations.timeSamples = {{ 0: [(1,0,0,0), (1,0,0,0)], 12: [(1,0,0,0), (0.5,0.5,0.5,0.5)] }}
        half3[] scales = [(1,1,1), (1,1,1)]
    }}
    def Mesh "Skin" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [4, 4]
        int[] faceVertexIndices = [0, 1, 3, 2, 2, 3, 5, 4]
        point3f[] points = [(-0.5,0,0), (0.5,0,0), (-0.5,1,0), (0.5,1,0), (-0.5,2,0), (0.5,2,0)]
        int[] primvars:skel:jointIndices = [0,1,0,1,0,1,0,1,0,1,0,1] (elementSize = 2; interpolation = "vertex")
        float[] primvars:skel:jointWeights = [{weights}] (elementSize = 2; interpolation = "vertex")
        uniform token primvars:skel:skinningMethod = "{method}"
        rel skel:skeleton = </Root/Skel>
    }}
}}
"#
    )
}

const WEIGHTS: &str = "1,0,1,0,0.6,0.4,0.6,0.4,0,1,0,1";

fn cut() {
    let bench = Bench::new();
    let source = bench.write("two.usda", stage("classicLinear", WEIGHTS, ""));
    let out = bench.path("two.glb");
    let report = convert(&source, &out, &["--max-influences", "1"]);
    let cut = &report["influences"];
    assert_eq!(
        (cut["vertices"].as_u64(), cut["most"].as_u64()),
        (Some(2), Some(1))
    );
    assert_eq!(cut["worst_clip"], "Bend");
    // Points at the joint B, half a unit beside it, lose a weight of 0.4 of a turn by 120 degrees,
    // which leads them sqrt(1/2) away. The unit is a centimetre.
    let want = 0.4 * 0.5f64.sqrt() * 0.01;
    let found = cut["worst_distance"].as_f64().unwrap();
    assert!((found - want).abs() < 1e-6, "{found}, not {want}");
    assert!(attributes(&out).iter().all(|a| a != "JOINTS_1"));
    let whole = convert(&source, &out, &["--max-influences", "4"]);
    assert!(whole["influences"].is_null());
}

fn misfits() {
    let bench = Bench::new();
    let seconds = [0.0, 0.5];
    for (method, weights, code) in [
        ("dualQuaternion", WEIGHTS, "gltf-dual-quaternion"),
        (
            "classicLinear",
            "1,0,1,0,0.6,0.2,0.6,0.4,0,1,0,1",
            "gltf-weights",
        ),
        (
            "classicLinear",
            "1,0,1,0,1.4,-0.4,0.6,0.4,0,1,0,1",
            "gltf-weights-negative",
        ),
    ] {
        let source = bench.write("odd.usda", stage(method, weights, "metersPerUnit = 1"));
        let out = bench.path("odd.glb");
        let report = convert(&source, &out, &[]);
        assert_eq!(codes(&report), [code]);
        let message = report["warnings"][0]["message"].as_str().unwrap();
        assert!(
            message.contains("time code 12 of Bend") || message.contains("time code 0"),
            "{message}"
        );
        let stage = Baked::new(&bench, &source, "a.usdc", &seconds);
        let off = difference(&stage, &Baked::new(&bench, &out, "b.usdc", &seconds));
        assert!(off > 1e-3, "{code}: it differs by {off}");
        let said = message.split("points are off by up to ").nth(1).unwrap();
        let said: f64 = said.split(',').next().unwrap().parse().unwrap();
        let size = 5.0f64.sqrt();
        assert!(
            (said / size - off).abs() < 2e-3 * off,
            "{code}: {said} said, {off} found"
        );

        let report = convert(&source, &out, &["--bake"]);
        assert_eq!(codes(&report), ["gltf-baked"]);
        assert_eq!(report["skinned"], 0);
        let off = difference(&stage, &Baked::new(&bench, &out, "b.usdc", &seconds));
        assert!(off < 1e-6, "{code}: baked, it differs by {off}");
    }
    // What fits stays skinned.
    let source = bench.write("fits.usda", stage("classicLinear", WEIGHTS, ""));
    let report = convert(&source, &bench.path("fits.glb"), &["--bake"]);
    assert_eq!(
        (report["skinned"].as_u64(), codes(&report)),
        (Some(1), vec![])
    );
}

fn units() {
    let bench = Bench::new();
    let metadata = "upAxis = \"Z\"\n    metersPerUnit = 0.01";
    let source = bench.write("z.usda", stage("classicLinear", WEIGHTS, metadata));
    let out = bench.path("z.glb");
    convert(&source, &out, &[]);
    let json = GltfEdit::open(&out).unwrap();
    let nodes = json.json()["nodes"].as_array().unwrap().clone();
    let root = nodes.iter().find(|n| n["name"] == "Root").unwrap();
    assert_eq!(root["scale"], serde_json::json!([0.01, 0.01, 0.01]));
    let half = 0.5f64.sqrt();
    let turn = root["rotation"].as_array().unwrap();
    assert!((turn[0].as_f64().unwrap() + half).abs() < 1e-12, "{turn:?}");
    let metres = bench.write(
        "y.usda",
        stage("classicLinear", WEIGHTS, "metersPerUnit = 1"),
    );
    convert(&metres, &out, &[]);
    let json = GltfEdit::open(&out).unwrap();
    let nodes = json.json()["nodes"].as_array().unwrap().clone();
    assert!(nodes.iter().all(|n| n["name"] != "Root"), "{nodes:?}");
}

fn wrong_use() {
    let bench = Bench::new();
    let source = bench.write("a.usda", stage("classicLinear", WEIGHTS, ""));
    let input = source.to_str().unwrap();
    for (out, more, words) in [
        ("x.glb", &["--flatten"][..], &["--flatten"][..]),
        ("x.usda", &["--bake"], &["--bake", ".glb"]),
        ("x.usda", &["--max-influences", "4"], &["--max-influences"]),
        ("x.glb", &["--clip", "Walk"], &["Walk", "Bend"]),
    ] {
        let out = bench.path(out);
        let mut args = vec!["convert", input, "-o", out.to_str().unwrap()];
        args.extend(more);
        let output = sinew(&args);
        // Which clips there are, only the file says.
        match more[0] {
            "--clip" => refused(&output, &out, words),
            _ => misused(&output, &out, words),
        }
    }
    let same = bench.path("same.glb");
    convert(&source, &same, &[]);
    let before = std::fs::read(&same).unwrap();
    let same_name = same.to_str().unwrap();
    let result = sinew(&["convert", same_name, "-o", same_name]);
    assert_eq!(result.status.code(), Some(1), "{}", stderr(&result));
    assert!(std::fs::read(&same).unwrap() == before, "it is not touched");
}

fn other_inputs() {
    let bench = Bench::new();
    let walk = convert(&asset("walk.bvh"), &bench.path("walk.glb"), &[]);
    assert_eq!(walk["clips"][0]["name"], "walk");
    let puppet = convert(
        &asset("puppet.glb"),
        &bench.path("puppet.glb"),
        &["--clip", "Wave"],
    );
    assert_eq!(puppet["clips"].as_array().unwrap().len(), 1);
    assert_eq!(puppet["skins"][0]["joints"], 21);
}

/// Meshes of other purposes, meshes that cannot be drawn, and humanoid maps.
fn left_out() {
    let bench = Bench::new();
    let mesh = |name: &str, more: &str, corners: &str| {
        format!(
            "def Mesh \"{name}\"\n{{\n    uniform token subdivisionScheme = \"none\"\n    {more}\n    int[] faceVertexCounts = [3]\n    int[] faceVertexIndices = [{corners}]\n    \
             point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}}\n"
        )
    };
    let text = format!(
        "#usda 1.0\n{}{}{}",
        mesh("Shown", "", "0, 1, 2"),
        mesh("Proxy", "uniform token purpose = \"proxy\"", "0, 1, 2"),
        mesh("Broken", "", "0, 1, 7"),
    );
    let source = bench.write("some.usda", text);
    let report = ended(&source, &bench.path("some.glb"), &[], 3);
    let warnings = report["warnings"].as_array().unwrap();
    let of = |path: &str| warnings.iter().find(|w| w["path"] == path);
    assert_eq!(of("/Proxy").unwrap()["code"], "mesh-left-out", "{report}");
    assert_eq!(report["failed"].as_array().unwrap().len(), 1, "{report}");
    let broken = &report["failed"][0];
    assert_eq!(broken["path"], "/Broken", "{report}");
    let reason = broken["message"].as_str().unwrap();
    assert!(reason.contains("left out"), "{report}");
    assert!(of("/Shown").is_none(), "{report}");

    let report = convert(&asset("puppet.glb"), &bench.path("again.glb"), &[]);
    assert!(codes(&report).contains(&"humanoid-left-out"), "{report}");
}

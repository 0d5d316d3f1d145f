//! What written stages hold: no bindings without effect, extents of SkelRoots, the animation source that was chosen.

use std::path::Path;
use std::process::Command;

use common::command::{Bench, bake, sinew, stderr, stdout};
use common::sketch::{API, IDENTITY, TRIANGLE};
use common::trials::Trial;
use common::{python, usd};
use libtest_mimic::Failed;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    let mut trials = common::trials::named([
        (
            "the_animation_source_can_be_chosen_everywhere",
            the_animation_source_can_be_chosen_everywhere as fn(),
            false,
        ),
        (
            "the_animation_source_of_pictures_can_be_chosen",
            the_animation_source_of_pictures_can_be_chosen,
            common::gpu::ignored(),
        ),
    ]);
    trials.push(python::trial(
        "a_bake_needs_no_bindings",
        a_bake_needs_no_bindings,
    ));
    trials.push(python::trial(
        "convert_and_retarget_author_the_extents_of_skel_roots",
        convert_and_retarget_author_the_extents_of_skel_roots,
    ));
    trials
}

/// Bindings without effect are taken away, and usd-core's validators agree.
fn a_bake_needs_no_bindings(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let input = common::repository().join("examples/assets/hatchling.usda");
    let bake = |name: &str, more: &[&str]| {
        let out = bench.path(name);
        let output = bake(&input, &out, &[&["--frames", "1:4"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        out
    };
    let mut files = Vec::new();
    for (name, more) in [
        ("a.usda", &[][..]),
        ("a.usdc", &[]),
        ("a.usdz", &[]),
        ("clips.usdc", &["--clip-frames", "2"]),
    ] {
        let out = bake(name, more);
        let output = sinew(&["check", out.to_str().unwrap(), "--strict"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stdout(&output));
        let stage = usd::open(&out);
        for prim in ["/Hatchling", "/Hatchling/Geo/Body", "/Hatchling/Rig/Skel"] {
            let prim = usd::prim(&stage, prim);
            assert!(!prim.has_api("SkelBindingAPI"), "{name}");
            let names = prim.authored_property_names();
            let left = names.iter().find(|n| n.as_str().contains("skel:"));
            assert_eq!(left.map(|n| n.as_str()), None, "{name}");
        }
        // The rig itself stays.
        assert_eq!(usd::type_name(&stage, "/Hatchling/Rig/Skel"), "Skeleton");
        files.push(out);
    }
    let text = std::fs::read_to_string(bake("kept.usda", &["--keep-bindings"])).unwrap();
    assert!(text.contains("SkelBindingAPI") && text.contains("skel:jointIndices"));
    let misused = sinew(&[
        "bake",
        input.to_str().unwrap(),
        "-o",
        "o.pc2",
        "--keep-bindings",
    ]);
    assert_eq!(misused.status.code(), Some(2));
    let script = "
import sys
from pxr import Usd, UsdValidation
validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
context = UsdValidation.ValidationContext(validators)
for file in sys.argv[1:]:
    for error in context.Validate(Usd.Stage.Open(file)):
        print(file, error.GetName(), error.GetMessage())
";
    let output = Command::new(python)
        .args(["-c", script])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    Ok(())
}

/// The extent of a SkelRoot encloses what UsdSkel computes at every frame of the clip.
fn convert_and_retarget_author_the_extents_of_skel_roots(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let assets = common::repository().join("examples/assets");
    let asset = |name: &str| assets.join(name).to_str().unwrap().to_owned();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let runs = [
        ("convert.usda", vec!["convert", "PUPPET"]),
        ("walk.usdc", vec!["convert", "WALK"]),
        (
            "retarget.usda",
            vec!["retarget", "WALK", "HATCHLING", "--map", "MAP"],
        ),
        ("moved.usdc", vec!["retarget", "WALK", "PUPPET"]),
    ];
    let map = bench.write("map.json", r#"{"Hips": "root"}"#);
    let mut files = Vec::new();
    for (name, args) in &runs {
        let args: Vec<String> = args
            .iter()
            .map(|a| match *a {
                "PUPPET" => asset("puppet.glb"),
                "WALK" => asset("walk.bvh"),
                "HATCHLING" => asset("hatchling.usda"),
                "MAP" => map.to_str().unwrap().to_owned(),
                other => other.to_owned(),
            })
            .collect();
        let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
        let out = path(name);
        args.extend(["-o", &out, "--quiet"]);
        let output = sinew(&args);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            stderr(&output)
        );
        let stage = usd::open(Path::new(&out));
        let scene = sinew_io::open(&out)
            .unwrap()
            .scene(Default::default())
            .unwrap();
        let root = &scene.skel_roots[0].path;
        let extent = usd::vectors(&stage, root, "extent", None).unwrap();
        assert_eq!(extent.len(), 2, "{name}");
        files.push(out);
    }
    let script = "
import sys
from pxr import Gf, Usd, UsdGeom, UsdSkel
for file in sys.argv[1:]:
    stage = Usd.Stage.Open(file)
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    authored = UsdGeom.Boundable(root).GetExtentAttr().Get()
    anim = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Animation))
    times = UsdSkel.Animation(anim).GetTranslationsAttr().GetTimeSamples()
    times = sorted(set(times) | set(UsdSkel.Animation(anim).GetRotationsAttr().GetTimeSamples()))
    union = Gf.Range3f()
    for time in times or [Usd.TimeCode.Default()]:
        low, high = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(root), time)
        union.UnionWith(Gf.Range3f(low, high))
    size = (union.max - union.min).GetLength()
    for a, b in zip(authored, [union.min, union.max]):
        if (Gf.Vec3f(a) - b).GetLength() > 1e-5 * size:
            print(file, authored, union)
";
    let output = Command::new(python)
        .args(["-c", script])
        .args(&files)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(stdout(&output), "");
    Ok(())
}

/// A Skeleton beside the SkelRoot's animation source, which only the schema's text finds.
fn bound_by_the_mesh() -> String {
    format!(
        r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 3
)
def SkelRoot "R" ({API}) {{
    def Skeleton "Skel" ({API}) {{
        uniform token[] joints = ["A"]
        uniform matrix4d[] bindTransforms = [{IDENTITY}]
        uniform matrix4d[] restTransforms = [{IDENTITY}]
    }}
    def SkelAnimation "Anim" {{
        uniform token[] joints = ["A"]
        float3[] translations.timeSamples = {{ 1: [(0, 0, 0)], 3: [(8, 0, 0)] }}
        quatf[] rotations = [(1, 0, 0, 0)]
        half3[] scales = [(1, 1, 1)]
    }}
    def Mesh "M" ({API}) {{
        rel skel:skeleton = </R/Skel>
        rel skel:animationSource = </R/Anim>
        int[] primvars:skel:jointIndices = [0, 0, 0] (interpolation = "vertex")
        float[] primvars:skel:jointWeights = [1, 1, 1] (interpolation = "vertex")
        {TRIANGLE}
    }}
}}
"#
    )
}

fn the_animation_source_can_be_chosen_everywhere() {
    let bench = Bench::new();
    let input = bench.write("in.usda", bound_by_the_mesh());
    let input = input.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    let binding = ["--anim-source", "binding"];
    // The clip is bound only as the schema's text has it.
    let (moved, map) = (path("moved.usda"), bench.write("map.json", r#"{"A": "A"}"#));
    let map = map.to_str().unwrap();
    let retarget = [
        "retarget", input, input, "-o", &moved, "--map", map, "--json",
    ];
    let report = sinew(&[&retarget[..], &binding].concat());
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["clip"], "/R/Anim");
    let converted = sinew(&[&["convert", input, "-o", &path("c.usda")][..], &binding].concat());
    assert_eq!(converted.status.code(), Some(0), "{}", stderr(&converted));
    let told = |args: &[&str]| stderr(&sinew(args)).contains("animation-source-ignored");
    assert!(told(&["convert", input, "-o", &path("d.usda")]));
    assert!(!told(
        &[&["convert", input, "-o", &path("d.usda")][..], &binding].concat()
    ));
}

fn the_animation_source_of_pictures_can_be_chosen() {
    let bench = Bench::new();
    let input = bench.write("in.usda", bound_by_the_mesh());
    let input = input.to_str().unwrap();
    let path = |name: &str| bench.path(name).to_str().unwrap().to_owned();
    // The triangle is at the left, or has left the picture of the first frame's camera. %d is a number.
    let picture = |name: &str, more: &[&str]| {
        let out = path(name);
        let args = [
            "render",
            input,
            "-o",
            &out,
            "--frames",
            "1:3:2",
            "--size",
            "64x64",
            "--no-grid",
        ];
        let output = sinew(&[&args[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let at = |number: &str| {
            let file = out.replace("%03d", number).replace("###", number);
            std::fs::read(&file).unwrap_or_else(|e| panic!("{file}: {e}"))
        };
        (at("001"), at("003"))
    };
    let (first, last) = picture("still/%03d.png", &[]);
    assert_eq!(first, last);
    let (first, last) = picture("moved/###.png", &["--anim-source", "binding"]);
    assert_ne!(first, last);
}

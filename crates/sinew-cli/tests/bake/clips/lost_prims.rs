//! Prims that cannot be baked at some times: values around cuts are one file's all the same.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::clips::bench::{count, ends_with, same_files};
use crate::clips::values::equal;
use common::command::Bench;

/// Frames of the stage.
const LAST: u32 = 14;

const THREE: &str = "[(1, 0, 0), (0, 1, 0), (0, 0, 1)]";
/// Too few for the influences.
const TWO: &str = "[(1, 0, 0), (0, 1, 0)]";

/// A mesh of three points; `points` are those at time codes.
fn mesh(name: &str, points: &[(u32, &str)]) -> String {
    let mut samples = String::new();
    for (time, points) in points {
        write!(samples, "{time}: {points}, ").unwrap();
    }
    format!(
        r#"def Mesh "{name}" (prepend apiSchemas = ["SkelBindingAPI"])
        {{
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            point3f[] points.timeSamples = {{ {samples} }}
            normal3f[] normals = {THREE} (interpolation = "vertex")
            normal3f[] primvars:normals = {THREE} (interpolation = "vertex")
            int[] primvars:skel:jointIndices = [0, 0, 0] (elementSize = 1; interpolation = "vertex")
            float[] primvars:skel:jointWeights = [1, 1, 1] (elementSize = 1; interpolation = "vertex")
        }}
"#
    )
}

/// A SkelRoot with meshes on a joint that moves along x, at each time code by so much.
fn character(name: &str, along: &dyn Fn(u32) -> f32, meshes: &[String]) -> String {
    let identity = "[((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]";
    let mut moves = String::new();
    for time in 1..=LAST {
        write!(moves, "{time}: [({:e}, 0.5, {time})], ", along(time)).unwrap();
    }
    format!(
        r#"def SkelRoot "{name}" (prepend apiSchemas = ["SkelBindingAPI"]; kind = "component")
    {{
        float3[] extentsHint = [(0, 0, 0), (1, 1, 1)]
        float3[] extent = [(0, 0, 0), (9, 9, 9)]
        rel skel:skeleton = <Skel>
        def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
        {{
            uniform token[] joints = ["A"]
            uniform matrix4d[] bindTransforms = {identity}
            uniform matrix4d[] restTransforms = {identity}
            rel skel:animationSource = <Anim>
            def SkelAnimation "Anim"
            {{
                uniform token[] joints = ["A"]
                float3[] translations.timeSamples = {{ {moves} }}
                quatf[] rotations = [(1, 0, 0, 0)]
                half3[] scales = [(1, 1, 1)]
            }}
        }}
        {}
    }}
"#,
        meshes.concat()
    )
}

/// Prims that fail where their rest points have another number, and where results overflow f32: at the beginning, in the
/// middle for longer than several clips, often, at the end, always.
fn stage() -> String {
    let even = |time: u32| (time, if time.is_multiple_of(2) { TWO } else { THREE });
    let often: Vec<(u32, &str)> = (1..=LAST).map(even).collect();
    let hero = [
        mesh("Whole", &[(1, THREE)]),
        mesh("Early", &[(1, TWO), (6, THREE)]),
        mesh("Middle", &[(1, THREE), (4, TWO), (11, THREE)]),
        mesh("Late", &[(1, THREE), (9, TWO)]),
        mesh("Often", &often),
        mesh("Never", &[(1, TWO), (5, TWO)]),
    ];
    let lost = [mesh("Lost", &[(1, TWO), (5, TWO)])];
    let far = |time: u32| match time {
        3 | 4 | 5 | 8 => 3e38,
        _ => time as f32,
    };
    // These add up to more than there is.
    let large = "[(1e38, 0, 0), (0, 1, 0), (0, 0, 1)]";
    let far = character("Far", &far, &[mesh("Large", &[(1, large)])]);
    let hero = character("Hero", &|time| time as f32 * 0.25, &hero);
    let lost = character("Lost", &|time| time as f32, &lost);
    format!(
        "#usda 1.0\n(\n    startTimeCode = 1\n    endTimeCode = {LAST}\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n\
        def Xform \"World\" (kind = \"group\")\n{{\n    float3[] extentsHint = [(0, 0, 0), (1, 1, 1)]\n    \
        {hero}    {lost}}}\ndef Xform \"Away\" (kind = \"group\")\n{{\n    {far}}}\n"
    )
}

/// A bake in which prims fail, at some times or at all.
fn bake(input: &Path, out: &Path, more: &[&str]) -> Value {
    let report = ends_with(3, input, out, more);
    let failed = report["failed"].as_array().unwrap();
    assert!(
        failed.iter().all(|f| f["message"].is_string()),
        "{failed:?}"
    );
    let paths: Vec<_> = failed.iter().map(|f| f["path"].as_str().unwrap()).collect();
    let stitches = more.contains(&"--stitch");
    let all = ["Early", "Middle", "Late", "Often", "Never"].map(|n| format!("/World/Hero/{n}"));
    // Clips do not say which times a prim lacks.
    for path in all.iter().filter(|p| !stitches || p.ends_with("Never")) {
        let shard = more.contains(&"--shard");
        assert!(shard || paths.contains(&path.as_str()), "{path}: {paths:?}");
    }
    report
}

/// Codes and texts, in no order.
fn told(report: &Value) -> Vec<String> {
    let all = ["errors", "warnings"].map(|what| report[what].as_array().unwrap());
    let mut out: Vec<String> = all.into_iter().flatten().map(Value::to_string).collect();
    out.sort();
    out
}

pub fn as_in_one_file(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage());
    let mut pairs: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (at, options) in [
        &[][..],
        &["--layer"],
        &["--space", "skel"],
        &["--frames", "1.5:13:0.5"],
    ]
    .iter()
    .enumerate()
    {
        let one = bench.path(&format!("one_{at}.usdc"));
        let report = bake(&input, &one, options);
        let expected = told(&report);
        let failing = expected.iter().filter(|t| t.contains("times-not-baked"));
        assert_eq!(failing.count(), 5, "{expected:#?}");
        assert_eq!(
            report["errors"].as_array().unwrap().len(),
            2,
            "{expected:#?}"
        );
        for length in ["1", "2", "3", "5", "100"] {
            let clips = bench.path(&format!("clips_{at}_{length}.usdc"));
            let report = bake(
                &input,
                &clips,
                &[options, &["--clip-frames", length][..]].concat(),
            );
            assert_eq!(told(&report), expected);
            pairs.push((one.clone(), clips));
        }
    }
    equal(python, &pairs)
}

/// Whoever bakes a clip finds the same samples for its edges.
pub fn in_shards() {
    let bench = Bench::new();
    let input = bench.write("in.usda", stage());
    for folder in ["one", "many"] {
        std::fs::create_dir(bench.path(folder)).unwrap();
    }
    let (one, many) = (bench.path("one/out.usdc"), bench.path("many/out.usdc"));
    let cut = ["--clip-frames", "2"];
    let report = bake(&input, &one, &cut);
    for shard in ["4/4", "2/4", "1/4", "3/4"] {
        bake(&input, &many, &[&cut[..], &["--shard", shard]].concat());
    }
    bake(&input, &many, &[&cut[..], &["--stitch"]].concat());
    same_files(&bench.path("one"), &bench.path("many"));
    // Going on does, too, and tells the first time first, whichever is tried first.
    for clip in [3, 5] {
        std::fs::remove_file(bench.path(&format!("many/out_clips/out.{clip:04}.usdc"))).unwrap();
    }
    let resumed = ends_with(3, &input, &many, &[&cut[..], &["--resume"]].concat());
    assert_eq!(count(&resumed, "baked"), 2);
    assert_eq!(count(&report, "baked"), 7);
    same_files(&bench.path("one"), &bench.path("many"));
}

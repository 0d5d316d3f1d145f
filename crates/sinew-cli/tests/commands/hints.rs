//! extentsHint of prims above baked ones (rule 32). What Pixar makes of one is in tests/goldens.

use std::path::Path;

use common::character::{self, API};
use common::command::{Bench, bake as bake_command, stderr};
use common::{tolerance, usd};
use glam::DVec3;
use sinew::scene::Scene;
use sinew_bake::{Backend, BakeOptions, OutSpace, Rigid, bake};
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_stage::Stage;

const HINT: &str = "float3[] extentsHint = [(0, 0, 0), (1, 1, 1)]";

fn golden(stage: &str) -> String {
    let path = format!("tests/goldens/{stage}.usda");
    std::fs::read_to_string(common::repository().join(path)).unwrap()
}

/// The stage with a hint on every Xform that has no metadata.
fn with_hints(stage: &str) -> String {
    let text = golden(stage);
    let mut out = String::new();
    let mut in_xform = false;
    for line in text.lines() {
        out.push_str(line);
        out.push('\n');
        if in_xform && line.trim() == "{" {
            out.push_str(HINT);
            out.push('\n');
        }
        in_xform = line.trim().starts_with("def Xform \"");
    }
    assert!(out.contains(HINT), "{stage}");
    out
}

fn scene(file: &Path) -> Scene {
    let file = UsdFile::open(file).unwrap();
    file.scene(ReadOptions::default()).unwrap()
}

fn baked(input: &Path, output: &Path, space: OutSpace, rigid: Rigid) -> Stage {
    let mut options = BakeOptions::default();
    options.backend = Backend::Cpu;
    options.space = Some(space);
    options.rigid = rigid;
    // As in Pixar's bake, where Skeletons still move and count.
    options.keep_bindings = true;
    bake(input, output, &options, &mut |_| {}).unwrap();
    usd::open(output)
}

/// Hinted prims, topmost first.
fn hinted(scene: &Scene) -> Vec<String> {
    let nodes = scene
        .bounds
        .hints
        .iter()
        .map(|h| &scene.bounds.nodes[h.node]);
    nodes.map(|n| scene.prims[n.prim].path.clone()).collect()
}

/// The hint's times, or some where it is the same at all.
fn hint_times(stage: &Stage, model: &str) -> Vec<f64> {
    let times = usd::times(stage, model, "extentsHint");
    match times.is_empty() {
        true => vec![1.0, 3.0],
        false => times,
    }
}

/// How many points of a prim lie within the `purpose`th range of a hint, at the hint's times: all, or
/// this panics.
fn enclosed(stage: &Stage, model: &str, prim: &str, purpose: usize) -> usize {
    let mut count = 0;
    for time in hint_times(stage, model) {
        let hint = usd::vectors(stage, model, "extentsHint", Some(time)).expect("a hint");
        let Some(points) = usd::vectors(stage, prim, "points", Some(time)) else {
            continue;
        };
        let model_from_world = usd::world_from_prim(stage, model, time).inverse();
        let model_from_prim = model_from_world * usd::world_from_prim(stage, prim, time);
        let (low, high) = (hint[2 * purpose], hint[2 * purpose + 1]);
        let slack = DVec3::splat(tolerance::HINT * low.abs().max(high.abs()).max_element());
        for p in points {
            let p = model_from_prim.transform_point3(p);
            let inside = p.cmpge(low - slack).all() && p.cmple(high + slack).all();
            assert!(
                inside,
                "{prim} at {time}: {p} beyond {model}'s {low} {high}"
            );
            count += 1;
        }
    }
    count
}

#[test]
fn rule_32_a_hint_encloses_every_baked_point_in_every_space() {
    const STAGES: [&str; 6] = [
        "ancestors_animated",
        "constant_rigid_meshless_note",
        "gprims",
        "instanced",
        "nested_skel_roots",
        "xform_ops",
    ];
    let bench = Bench::new();
    for stage in STAGES {
        let input = bench.write(&format!("{stage}.usda"), with_hints(stage));
        let scene = scene(&input);
        for (space, rigid) in [
            (OutSpace::Prim, Rigid::Xform),
            (OutSpace::Prim, Rigid::Points),
            (OutSpace::Skel, Rigid::Xform),
            (OutSpace::World, Rigid::Points),
        ] {
            let stage_out = baked(&input, &bench.path("out.usdc"), space, rigid);
            let mut points = 0;
            for model in hinted(&scene) {
                let below = format!("{model}/");
                for binding in &scene.bindings {
                    if binding.path.starts_with(&below) && binding.unsupported.is_none() {
                        points += enclosed(&stage_out, &model, &binding.path, 0);
                    }
                }
            }
            assert!(points > 100, "{stage} {space:?}: {points} points");
        }
    }
}

#[test]
fn rule_32_a_hint_encloses_instances_that_share_their_points() {
    let bench = Bench::new();
    let text = with_hints("instanced").replace("</World/Anim2>", "</World/Anim1>");
    let input = bench.write("in.usda", text);
    let stage = baked(
        &input,
        &bench.path("out.usda"),
        OutSpace::Prim,
        Rigid::Xform,
    );
    for instance in ["/World/One", "/World/Two"] {
        let body = format!("{instance}/Root/Geo/Body");
        assert!(usd::prim(&stage, instance).is_instance());
        assert!(enclosed(&stage, "/World", &body, 0) > 0);
        assert!(enclosed(&stage, &format!("{instance}/Root/Geo"), &body, 0) > 0);
    }
}

#[test]
fn rule_32_hints_are_rewritten_above_baked_prims_and_nowhere_else() {
    let bench = Bench::new();
    let input = bench.write("in.usda", golden("extents_hint"));
    let stage = baked(
        &input,
        &bench.path("out.usda"),
        OutSpace::Prim,
        Rigid::Xform,
    );
    let char = "/World/Char";
    let part = format!("{char}/Beside/Part");
    assert_eq!(
        hinted(&scene(&input)),
        ["/World", char, &part, "/World/Still"]
    );
    for (model, prim, purpose) in [
        ("/World", "Geo/Body", 0),
        (char, "Geo/Body", 0),
        (char, "Geo/Stands", 0),
        (char, "Geo/Simple", 2),
        (char, "Beside/Part/Limb", 0),
        (&part, "Beside/Part/Limb", 0),
    ] {
        assert!(enclosed(&stage, model, &format!("{char}/{prim}"), purpose) > 0);
    }
    let untouched = usd::vectors(&stage, "/World/Prop", "extentsHint", None);
    assert_eq!(untouched.unwrap(), [DVec3::ZERO, DVec3::ONE]);
    assert!(usd::times(&stage, "/World/Prop", "extentsHint").is_empty());

    // An invisible prim is left out, though it is baked.
    let hidden = usd::vectors(&stage, &format!("{char}/Geo/Hidden"), "points", Some(1.0)).unwrap();
    let hint = usd::vectors(&stage, char, "extentsHint", Some(1.0)).unwrap();
    assert!(hidden.iter().any(|p| p.y > 2.0 * hint[1].y));

    // A layer of overs holds the same hints.
    let layer = bench.path("layer.usda");
    let output = bake_command(&input, &layer, &["--layer"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let layered = usd::open(&layer);
    for time in [1.0, 2.0, 3.0, 4.0, 5.0] {
        let of = |stage| usd::vectors(stage, char, "extentsHint", Some(time));
        assert_eq!(of(&layered), of(&stage), "at {time}");
    }
}

#[test]
fn rule_32_no_hint_is_made_where_none_is_authored() {
    let bench = Bench::new();
    let input = bench.write("in.usda", golden("lbs_basic"));
    assert!(scene(&input).bounds.nodes.is_empty(), "nothing is read");
    let out = bench.path("out.usda");
    baked(&input, &out, OutSpace::Prim, Rigid::Xform);
    let text = std::fs::read_to_string(out).unwrap();
    assert!(text.contains("extent") && !text.contains("extentsHint"));
}

/// A model with one skinned point at (x, 0, 0), below its own Skeleton, and more.
fn model(translations: &str, more: &str) -> String {
    let rig = character::rig(translations, "(0, 5, 0)");
    format!(
        r#"#usda 1.0
def SkelRoot "Hero" ({API}
    kind = "component"
) {{
    {HINT}
    {rig}
    {more}
}}
"#
    )
}

/// The hint of a bake in which the Skeleton still moves, as in Pixar's.
fn hint_of(bench: &Bench, translations: &str, more: &str, args: &[&str]) -> Vec<(f64, Vec<DVec3>)> {
    let args = [args, &["--keep-bindings"]].concat();
    hint_of_bake(bench, translations, more, &args)
}

fn hint_of_bake(
    bench: &Bench,
    translations: &str,
    more: &str,
    args: &[&str],
) -> Vec<(f64, Vec<DVec3>)> {
    let input = bench.write("model.usda", model(translations, more));
    let out = bench.path("model_out.usda");
    let output = bake_command(&input, &out, args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let stage = usd::open(&out);
    let at = |t| usd::vectors(&stage, "/Hero", "extentsHint", t).expect("a hint");
    let times = usd::times(&stage, "/Hero", "extentsHint");
    match times.is_empty() {
        true => vec![(f64::NAN, at(None))],
        false => times.into_iter().map(|t| (t, at(Some(t)))).collect(),
    }
}

#[test]
fn rule_32_a_prim_below_its_skeleton_counts() {
    // The Skeleton's own extent is its joint's pivot, and stands for what lies below it at Pixar's.
    let bench = Bench::new();
    let hint = hint_of(&bench, "float3[] translations = [(2, 0, 0)]", "", &[]);
    assert_eq!(hint.len(), 1);
    assert_eq!(
        hint[0].1,
        [DVec3::new(2.0, 0.0, 0.0), DVec3::new(2.0, 5.0, 0.0)]
    );
    // Without its binding it rests at the origin.
    let hint = hint_of_bake(&bench, "float3[] translations = [(2, 0, 0)]", "", &[]);
    assert_eq!(hint[0].1, [DVec3::ZERO, DVec3::new(2.0, 5.0, 0.0)]);
}

#[test]
fn rule_32_samples_that_say_nothing_new_are_left_out() {
    let bench = Bench::new();
    let x = |x: f64| format!("[({x}, 0, 0)]");
    let samples = |xs: [f64; 4]| {
        let rows = xs.iter().zip(1..).map(|(v, t)| format!("{t}: {},", x(*v)));
        format!(
            "float3[] translations.timeSamples = {{ {} }}",
            rows.collect::<String>()
        )
    };
    let times = |xs| -> Vec<f64> {
        let hint = hint_of(&bench, &samples(xs), "", &[]);
        hint.into_iter().map(|(t, _)| t).collect()
    };
    assert_eq!(times([2.0; 4]), [1.0]);
    assert_eq!(times([2.0, 2.0, 2.0, 3.0]), [3.0, 4.0]);
}

#[test]
fn rule_32_a_hint_is_sampled_where_something_beside_moves() {
    let bench = Bench::new();
    let ball = r#"def Sphere "Ball" {
        double radius = 1
        double3 xformOp:translate.timeSamples = { 3: (10, 0, 0), 7: (20, 0, 0) }
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }"#;
    let still = "float3[] translations = [(2, 0, 0)]";
    let hint = hint_of(&bench, still, ball, &[]);
    let high: Vec<_> = hint.iter().map(|(t, h)| (*t, h[1].x)).collect();
    assert_eq!(high, [(3.0, 11.0), (7.0, 21.0)]);
    // Who asks for frames gets those.
    let hint = hint_of(&bench, still, ball, &["--frames", "4:5"]);
    let high: Vec<_> = hint.iter().map(|(t, h)| (*t, h[1].x)).collect();
    assert_eq!(high, [(4.0, 13.5), (5.0, 16.0)]);
}

#[test]
fn rule_32_extents_that_are_none_are_overlooked() {
    let bench = Bench::new();
    let still = "float3[] translations = [(2, 0, 0)]";
    let want = [DVec3::new(2.0, 0.0, 0.0), DVec3::new(2.0, 5.0, 0.0)];
    for more in [
        r#"def Mesh "Short" { float3[] extent = [(9, 9, 9)]; }"#,
        r#"def Mesh "Long" { float3[] extent = [(9, 9, 9), (9, 9, 9), (9, 9, 9)]; }"#,
        r#"def Mesh "Nan" { float3[] extent = [(nan, 0, 0), (9, 9, 9)]; }"#,
        r#"def Mesh "Far" { float3[] extent = [(0, 0, 0), (inf, 9, 9)]; }"#,
        r#"def Mesh "Empty" { float3[] extent = [(9, 9, 9), (-9, -9, -9)]; }"#,
        r#"def Mesh "Points" { point3f[] points = [(nan, 9, 9)]; }"#,
        r#"def Sphere "Ball" { double radius = inf; }"#,
        r#"def Sphere "Ball" {
            double3 xformOp:scale = (1e200, 1e200, 1e200)
            double3 xformOp:scale:b = (1e200, 1e200, 1e200)
            uniform token[] xformOpOrder = ["xformOp:scale", "xformOp:scale:b"]
        }"#,
    ] {
        let hint = hint_of(&bench, still, more, &[]);
        assert_eq!(hint[0].1, want, "{more}");
    }
    // Points stand in for an authored extent that is none.
    let more =
        r#"def Mesh "Both" { float3[] extent = [(9, 9, 9)]; point3f[] points = [(3, 6, 0)]; }"#;
    let hint = hint_of(&bench, still, more, &[]);
    assert_eq!(hint[0].1[1], DVec3::new(3.0, 6.0, 0.0));
}

#[test]
fn rule_32_a_flattened_model_keeps_its_hint() {
    // A singular model space has no bounds, so the hint stays as it is, without a panic.
    let bench = Bench::new();
    let text = model("float3[] translations = [(2, 0, 0)]", "").replace(
        "rel skel:skeleton = </Hero/Skel>",
        "rel skel:skeleton = </Hero/Skel>
        float3 xformOp:scale = (0, 1, 1)
        uniform token[] xformOpOrder = [\"xformOp:scale\"]",
    );
    let text = text.replace("\"component\"", "\"group\"");
    let input = bench.write("flat.usda", text);
    let out = bench.path("flat_out.usda");
    let output = bake_command(&input, &out, &["--space", "world"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let hint = usd::vectors(&usd::open(&out), "/Hero", "extentsHint", None);
    assert_eq!(hint.unwrap(), [DVec3::ZERO, DVec3::ONE]);
}

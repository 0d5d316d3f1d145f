//! extentsHint of prims above baked ones (rule 32). What Pixar makes of one is in tests/goldens; rows of
//! tests/data/runs.txt have small hints to the number.

use std::path::Path;

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

//! A hint encloses every baked point, in every space (rule 32). What Pixar makes of one is in
//! tests/goldens; rows of tests/data/runs.txt have small hints to the number.

use std::path::Path;

use common::command::Bench;
use common::{tolerance, usd};
use glam::DVec3;
use sinew_bake::{Backend, BakeOptions, OutSpace, Rigid, bake};
use sinew_stage::Stage;

const HINT: &str = "float3[] extentsHint = [(0, 0, 0), (1, 1, 1)]";

/// The stage with a hint on every Xform that has no metadata.
fn with_hints(stage: &str) -> String {
    let path = common::repository().join(format!("tests/goldens/{stage}.usda"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut out = String::new();
    let mut in_xform = false;
    for line in text.lines() {
        out += line;
        out += "\n";
        if in_xform && line.trim() == "{" {
            out += HINT;
            out += "\n";
        }
        in_xform = line.trim().starts_with("def Xform \"");
    }
    assert!(out.contains(HINT), "{stage}");
    out
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

/// How many points of a prim lie within a hint at the hint's times, or at some if it has none: all, or this panics.
fn enclosed(stage: &Stage, model: &str, prim: &str) -> usize {
    let mut times = usd::times(stage, model, "extentsHint");
    if times.is_empty() {
        times = vec![1.0, 3.0];
    }
    let mut count = 0;
    for time in times {
        let hint = usd::vectors(stage, model, "extentsHint", Some(time)).expect("a hint");
        let Some(points) = usd::vectors(stage, prim, "points", Some(time)) else {
            continue;
        };
        let model_from_world = usd::world_from_prim(stage, model, time).inverse();
        let model_from_prim = model_from_world * usd::world_from_prim(stage, prim, time);
        let slack = DVec3::splat(tolerance::HINT * hint[0].abs().max(hint[1].abs()).max_element());
        for p in points {
            let p = model_from_prim.transform_point3(p);
            let inside = p.cmpge(hint[0] - slack).all() && p.cmple(hint[1] + slack).all();
            assert!(inside, "{prim} at {time}: {p} beyond {model}'s {hint:?}");
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
        let file = sinew_io::open(&input).unwrap();
        let scene = file.scene(Default::default()).unwrap();
        for (space, rigid) in [
            (OutSpace::Prim, Rigid::Xform),
            (OutSpace::Prim, Rigid::Points),
            (OutSpace::Skel, Rigid::Xform),
            (OutSpace::World, Rigid::Points),
        ] {
            let stage_out = baked(&input, &bench.path("out.usdc"), space, rigid);
            let mut points = 0;
            for hint in &scene.bounds.hints {
                let model = &scene.prims[scene.bounds.nodes[hint.node].prim].path;
                let below = format!("{model}/");
                let is_baked = |path: &str| path.starts_with(&below);
                for binding in scene.bindings.iter().filter(|b| is_baked(&b.path)) {
                    if binding.unsupported.is_none() {
                        points += enclosed(&stage_out, model, &binding.path);
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
        assert!(enclosed(&stage, "/World", &body) > 0);
        assert!(enclosed(&stage, &format!("{instance}/Root/Geo"), &body) > 0);
    }
}

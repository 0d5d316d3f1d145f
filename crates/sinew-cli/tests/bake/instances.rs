//! PointInstancers: where their instances stand, and what is drawn of them.

use std::process::Command;

use crate::bench::project;
use common::command::{Bench, stderr};
use common::sketch::{JOINTS, character, influences};
use libtest_mimic::Failed;

/// Two prototypes, one below the instancer and one elsewhere, orientations, scales, ids, and instances in a prototype.
pub fn instances_stand_where_usd_core_places_them(python: &str) -> Result<(), Failed> {
    let here = project("crates/sinew-cli/tests/bake");
    let input = here.join("instances.usda");
    let file = sinew_io::open(&input).unwrap();
    let scene = file.scene(Default::default()).unwrap();
    let geometry = file.geometry(&scene).unwrap();
    assert!(geometry.errors.is_empty() && geometry.warnings.is_empty());
    let bare: Vec<&str> = geometry
        .meshes
        .iter()
        .filter(|m| m.instances.is_empty())
        .map(|m| m.path.as_str())
        .collect();
    assert_eq!(bare, ["/Lib/B"], "a prototype that stands for itself too");
    let times = [1.0, 4.0, 6.5, 10.0];
    let seen = |time: f64| {
        let time = sinew::sampled::Time::At(time);
        let shown = geometry.meshes.iter().filter(|m| m.visible(time));
        let mut all: Vec<(String, [f64; 16])> = shown
            .map(|m| (m.path.clone(), m.world_from_prim(time).to_cols_array()))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        all
    };
    let count = |time| seen(time).len();
    assert_eq!([1.0, 6.5, 10.0].map(count), [5, 4, 4]);
    let mut command = Command::new(python);
    command.arg(here.join("instances.py")).arg(&input);
    let output = command.args(times.map(|t| t.to_string())).output()?;
    assert!(output.status.success(), "{}", stderr(&output));
    let expected: Vec<Vec<(String, Vec<f64>)>> = serde_json::from_slice(&output.stdout).unwrap();
    for (time, expected) in times.into_iter().zip(expected) {
        let mut found = seen(time);
        assert_eq!(found.len(), expected.len(), "at {time}");
        for (path, matrix) in expected {
            let near = |m: &[f64; 16]| m.iter().zip(&matrix).all(|(a, b)| (a - b).abs() < 1e-3);
            let at = found.iter().position(|(p, m)| *p == path && near(m));
            let at = at.unwrap_or_else(|| panic!("{path} at {time}: {matrix:?} in {found:?}"));
            found.remove(at);
        }
    }
    Ok(())
}

/// Skinned prototypes move with their instances.
pub fn instances_of_skinned_prototypes_are_drawn() {
    use sinew::gpu::{AdapterChoice, GpuDevice, Skinner};
    let bench = Bench::new();
    let faces = "int[] faceVertexCounts = [3]\n        int[] faceVertexIndices = [0, 1, 2]";
    let body = format!("{}\n        {faces}", influences())
        .replace("[0, 1] (", "[0, 1, 1] (")
        .replace("[1, 1] (", "[1, 1, 1] (");
    let two = "[(0, 0, 0), (1, 0, 0)]";
    let hero = character("Hero", JOINTS, "[0, 1]", &[("M", &body)])
        .replace(two, "[(0, 0, 0), (1, 0, 0), (0, 1, 0)]")
        .replace("</Hero", "</P/Hero");
    let text = format!(
        "#usda 1.0\ndef PointInstancer \"P\" {{\n double3 xformOp:translate = (100, 0, 0)\n \
         uniform token[] xformOpOrder = [\"xformOp:translate\"]\n int[] protoIndices = [0, 0]\n \
         point3f[] positions = [(0, 0, 0), (5, 7, 0)]\n rel prototypes = </P/Hero>\n{hero}}}\n"
    );
    let input = bench.write("in.usda", text);
    let gpu = GpuDevice::new(&AdapterChoice::Any).unwrap();
    let skinner = Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap();
    let mut stage = sinew_render::Stage::open(&skinner, &input, &Default::default()).unwrap();
    let control = stage.control().clone();
    stage
        .set_time(sinew::sampled::Time::Default, &control)
        .unwrap();
    assert_eq!(stage.meshes().len(), 2);
    let bounds = stage.bounds();
    let size = [bounds.low, bounds.high];
    assert_eq!(
        size.map(|v| v.to_array()),
        [[100.0, 0.0, 0.0], [106.0, 8.0, 0.0]]
    );
}

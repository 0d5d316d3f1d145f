//! The stages of `conformance`, baked: points and normals in world space are those of its `points.json`, which do not come
//! from sinew. And usd-core finds in them what its kept scores say.

use std::process::Command;

use common::compare::compare_within;
use common::trials::Trial;
use common::{tolerance, usd};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::Value;
use sinew_bake::bake;

use crate::bench::*;

/// A trial for each case.
pub fn trials() -> Vec<Trial> {
    let trials = cases().into_iter().map(|case| {
        let name = case["name"].as_str().expect("a name").to_owned();
        Trial::test(name, move || Ok(follow(&case)?))
    });
    trials.collect()
}

fn json(file: &str) -> String {
    std::fs::read_to_string(project("conformance").join(file)).expect("a file of the corpus")
}

fn cases() -> Vec<Value> {
    let text = json("points.json");
    let cases = text.lines().map(serde_json::from_str);
    cases.collect::<Result<_, _>>().expect("JSON")
}

/// The numbers of the rules that have a case.
pub fn rules() -> Vec<u32> {
    let cases = cases();
    let about = cases.iter().filter_map(|case| case["about"].as_str());
    let words = about.flat_map(|about| about.split([' ', ',']));
    words.filter_map(|word| word.parse().ok()).collect()
}

fn follow(case: &Value) -> Result<(), String> {
    let name = case["name"].as_str().expect("a name");
    let bench = Bench::new();
    let (input, output) = (
        project(&format!("conformance/cases/{name}.usda")),
        bench.path("out.usda"),
    );
    match bake(&input, &output, &options(""), &mut |_| {}) {
        Err(_) if case["refusal"] == true => return Ok(()),
        other => other.map_err(|e| e.to_string())?,
    };
    let stage = usd::open(&output);
    for kind in ["points", "normals"] {
        for (prim, at_times) in case[kind].as_object().expect("prims") {
            for (time, want) in at_times.as_object().expect("times") {
                let time: f64 = time.parse().expect("a time code");
                let want: Vec<[f64; 3]> = serde_json::from_value(want.clone()).expect("vectors");
                let want: Vec<DVec3> = want.into_iter().map(DVec3::from).collect();
                let world = usd::world_from_prim(&stage, prim, time);
                let turn = world.inverse().transpose();
                let found = usd::vectors(&stage, prim, kind, Some(time));
                let found = found.ok_or_else(|| format!("{prim}.{kind}: no value"))?;
                let found = found.into_iter().map(|v| match kind {
                    "points" => world.transform_point3(v),
                    _ => turn.transform_vector3(v).normalize_or_zero(),
                });
                let (found, what) = (found.collect::<Vec<_>>(), format!("{prim} at {time}"));
                compare_within(&what, &found, &want, tolerance::PIXAR_BAKE_POINTS)?;
            }
        }
    }
    Ok(())
}

/// The corpus' own runner scores usd-core as `scores.json` says, and its maker makes the same points.
pub fn usd_core_scores_as_kept(python: &str) -> Result<(), Failed> {
    let run = |script: &str, argument: &str| {
        let script = project("conformance").join(script);
        let mut command = Command::new(python);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let output = command.arg(script).arg(argument).output()?;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(Failed::from(error)),
        }
    };
    run("make.py", "--check")?;
    let printed = run("run.py", "usd-core")?;
    let kept: Value = serde_json::from_str(&json("scores.json"))?;
    let kept = kept["usd-core"]["cases"].as_object().ok_or("no scores")?;
    for (name, score) in kept {
        let score = score.as_str().ok_or("a score")?;
        let is_there = printed.lines().any(|line| {
            let (case, found) = line.split_once(' ').unwrap_or((line, ""));
            case == name && found.trim() == score
        });
        if !is_there {
            return Err(format!("{name}: expected {score}\n{printed}").into());
        }
    }
    Ok(())
}

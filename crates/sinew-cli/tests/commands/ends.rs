//! Every command ends on every stage of `tests/data/stages.txt` as `check` says before, and `retarget`
//! onto it as `check` says of what was written.

use std::ops::ControlFlow;
use std::path::Path;

use common::gpu;
use common::stages::{Case, stages};
use sinew::gpu::Skinner;
use sinew::sampled::Time;
use sinew_check::check_file;
use sinew_render::{Control, DrawBackend, Stage};

const THREADS: usize = 4;

#[test]
fn commands_end_as_check_says() {
    let skinner = (!gpu::ignored()).then(|| {
        let gpu = gpu::device().unwrap();
        Skinner::new(gpu.device(), gpu.queue(), &Default::default()).unwrap()
    });
    let cases = stages().cases;
    // A command waits for rayon's pool, so it must not hold one of its threads.
    let skinner = &skinner;
    let wrong: String = std::thread::scope(|scope| {
        let parts = cases.chunks(cases.len().div_ceil(THREADS));
        let of_part = |part: &[Case]| -> String {
            let wrong = part.iter().map(|case| of_case(case, skinner.as_ref()));
            wrong.collect()
        };
        let running: Vec<_> = parts
            .map(|part| scope.spawn(move || of_part(part)))
            .collect();
        let ended = running.into_iter().map(|thread| thread.join().unwrap());
        ended.collect()
    });
    assert!(wrong.is_empty(), "{wrong}");
}

/// The commands that do not end on a stage as they should, a line each.
fn of_case(case: &Case, skinner: Option<&Skinner>) -> String {
    let folder = tempfile::tempdir().unwrap();
    case.write(folder.path());
    let input = folder.path().join("in.usda");
    let says = check_file(&input, &Default::default()).unwrap().ends;
    let out = |name: &str| folder.path().join(name);
    let (clip, moved) = (out("clip.usda"), out("r.usda"));
    std::fs::write(&clip, stages().base("character")).unwrap();
    let retargeted = command("retarget", &[&clip, &input], &moved);
    let mut ends = vec![
        (
            "bake",
            says.bake,
            command("bake", &[&input], &out("b.usda")),
        ),
        (
            "convert",
            says.convert,
            command("convert", &[&input], &out("c.usda")),
        ),
        (
            "gltf",
            says.gltf,
            command("convert", &[&input], &out("c.glb")),
        ),
        ("retarget", says.retarget, retargeted),
    ];
    ends.extend(skinner.map(|skinner| ("render", says.render, drawn(&input, skinner))));
    let differs = |what: &str| {
        let mark = format!("{what} differs: ");
        case.all("#").any(|text| text.starts_with(&mark))
    };
    let wrong = ends.into_iter();
    let wrong = wrong.filter(|(what, says, ended)| (says != ended) != differs(what));
    let line =
        |(what, says, ended)| format!("{}: {what} ends with {ended}, not with {says}\n", case.name);
    wrong.map(line).collect()
}

fn command(name: &str, inputs: &[&Path], output: &Path) -> u8 {
    let mut line = vec!["sinew".as_ref(), name.as_ref()];
    line.extend(inputs.iter().map(|input| input.as_os_str()));
    line.extend(["-o".as_ref(), output.as_os_str(), "--json".as_ref()]);
    if name == "bake" {
        line.push("--backend=cpu".as_ref());
    }
    let go_on = Box::new(|_| ControlFlow::Continue(()));
    match sinew_cli::call(line.into_iter().map(Into::into).collect(), go_on) {
        Ok(outcome) => outcome.exit,
        Err(_) => 1,
    }
}

/// How `render` ends, by what decides it.
fn drawn(input: &Path, skinner: &Skinner) -> u8 {
    let Ok(mut stage) = Stage::open(skinner, input, &Default::default()) else {
        return 1;
    };
    let control = Control {
        backend: DrawBackend::Cpu,
        ..Control::default()
    };
    let (first, last) = stage.time_range().unwrap_or((1.0, 2.0));
    for time in [first, 1.0, 2.0, last] {
        stage.set_time(Time::At(time), &control).unwrap();
    }
    match stage.check_not_empty() {
        Err(_) => 1,
        Ok(()) if stage.failed().is_empty() && stage.left_out().is_empty() => 0,
        Ok(()) => 3,
    }
}

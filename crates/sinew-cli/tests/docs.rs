//! The README and the pages of `docs` are true: tests/pages.py runs their commands and follows their links. Their pictures are
//! what is drawn, and the engine needs what they say.

use std::path::PathBuf;
use std::process::Command;

use common::command::{Bench, executable, stderr, stdout};
use common::python;
use common::trials::Trial;

/// The checks of tests/pages.py.
const CHECKS: [&str; 10] = [
    "bevy_is_apart_and_has_our_wgpu",
    "chart_has_the_figures_of_the_results",
    "commands_run",
    "commands_that_draw_run",
    "lines_are_short",
    "links_lead_somewhere",
    "named_files_exist",
    "pages_begin_with_a_command",
    "synopses_name_the_options",
    "what_is_not_run_exists",
];

/// Pictures of the README and the guide.
const PICTURES: [&str; 3] = ["hatchling.png", "clip.png", "weights.png"];

fn main() {
    let mut trials: Vec<Trial> = CHECKS
        .into_iter()
        .map(|check| {
            python::trial(check, move |python| {
                let mut pages = Command::new(python);
                pages.arg(common::repository().join("tests/pages.py"));
                let output = pages.arg(check).arg(executable()).args(PICTURES).output()?;
                match output.status.success() {
                    true => Ok(()),
                    false => Err((stdout(&output) + &stderr(&output)).into()),
                }
            })
        })
        .collect();
    trials.extend(common::trials::named([
        (
            "pictures_are_those_of_the_commands",
            pictures_are_those_of_the_commands as fn(),
            common::gpu::ignored(),
        ),
        (
            "the_engine_needs_no_files",
            the_engine_needs_no_files,
            false,
        ),
    ]));
    common::trials::run([("", trials)])
}

/// They are what the commands of `docs/render.md` draw, which tests/pages.py leaves to this test.
fn pictures_are_those_of_the_commands() {
    let root = common::repository().canonicalize().unwrap();
    let page = std::fs::read_to_string(root.join("docs/render.md")).unwrap();
    let picture = |file: PathBuf| image::open(file).unwrap().into_rgba8();
    for name in PICTURES {
        let lines = page.lines();
        let mut calls = lines.map(|line| line.trim_start_matches("cargo "));
        let out = format!(" -o {name} ");
        let line = calls.find(|line| line.starts_with("sinew ") && line.contains(&out));
        let line = line.unwrap();
        let assets = format!("{}/examples/assets/", root.display());
        let words = line.replace("examples/assets/", &assets);
        let bench = Bench::new();
        let mut command = Command::new(executable());
        command.args(words.split_whitespace().skip(1));
        let output = command.current_dir(bench.folder.path()).output().unwrap();
        assert!(output.status.success(), "{line}\n{}", stderr(&output));
        let kept = root.join("examples/pictures").join(name);
        let size = std::fs::metadata(&kept).unwrap().len();
        assert!(size <= 700_000, "{name} has {size} bytes");
        let (kept, drawn) = (picture(kept), picture(bench.path(name)));
        assert_eq!(kept.dimensions(), drawn.dimensions(), "{name}");
        let share = common::pictures::differing(&kept, &drawn);
        // Another adapter may draw edges differently.
        assert!(
            share < 0.05,
            "{name}: {share} differs; draw it again by: {line}"
        );
    }
}

/// What takes the model and the GPU part alone has neither what reads files nor clap in its tree.
fn the_engine_needs_no_files() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args("tree --offline -p sinew --edges normal,build --prefix none".split(' '));
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let tree = stdout(&output);
    let names: Vec<&str> = tree.lines().filter_map(|l| l.split(' ').next()).collect();
    for there in ["sinew", "wgpu", "glam"] {
        assert!(names.contains(&there), "{tree}");
    }
    let absent = "sinew-layer sinew-stage clap image indicatif serde_json tempfile";
    for name in absent.split(' ') {
        assert!(!names.contains(&name), "{name} is in the tree");
    }
}

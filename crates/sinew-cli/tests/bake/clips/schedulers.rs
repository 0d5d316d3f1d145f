//! The files of examples/farm do what they say, with each scheduler's own part played here; GNU parallel plays it itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::Failed;

use crate::clips::bench::{bake, example, project, same_files};
use common::command::{Bench, stderr, stdout};

pub fn parallel_is_missing() -> bool {
    // moreutils has a command of the same name.
    let version = Command::new("parallel")
        .arg("--version")
        .stderr(Stdio::null())
        .output();
    let missing = !version.is_ok_and(|o| stdout(&o).contains("GNU parallel"));
    if missing {
        eprintln!("schedulers::gnu_parallel is ignored because GNU parallel is not installed");
    }
    missing
}

const CUT: [&str; 4] = ["--clip-frames", "4", "--frames", "1:24"];

/// The bake by one process, in a folder of the bench.
fn alone(bench: &Bench, input: &Path, cut: &[&str]) -> PathBuf {
    let folder = bench.path("alone");
    std::fs::create_dir(&folder).unwrap();
    bake(input, &folder.join("shot.usdc"), cut);
    folder
}

/// The folder of the command under test comes first.
fn path() -> std::ffi::OsString {
    let folder = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().unwrap();
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).unwrap()
}

fn good(output: Output) -> Output {
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    output
}

fn accepted_by_bash(script: &str) {
    good(
        Command::new("bash")
            .arg("-n")
            .arg(project(script))
            .output()
            .unwrap(),
    );
}

/// Four shards; the second one is killed at its second clip, and run again alone.
pub fn gnu_parallel() {
    accepted_by_bash("examples/farm/parallel.sh");
    let bench = Bench::new();
    let input = example();
    let alone = alone(&bench, &input, &CUT);
    let folder = bench.path("farm");
    std::fs::create_dir(&folder).unwrap();
    let out = folder.join("shot.usdc");
    // The worker that has shard 2 dies as a machine does, once its first clip is there.
    let worker = bench.write(
        "worker.sh",
        r#"#!/bin/bash
set -eu
"$SINEW" bake "$@" &
if [[ "$*" = *"--shard 2/"* ]] && mkdir "$BENCH/died" 2>/dev/null; then
    kill -KILL $! 2>/dev/null || true
    wait $! || exit $?
fi
wait $!
"#,
    );
    let shards = |which: &[&str]| {
        Command::new("parallel")
            .args(["--quote", "--jobs", "2", "bash"])
            .arg(&worker)
            .arg(&input)
            .arg("-o")
            .arg(&out)
            .args(CUT)
            .args([
                "--backend",
                "cpu",
                "--resume",
                "--quiet",
                "--shard",
                "{}/4",
                ":::",
            ])
            .args(which)
            .env("SINEW", env!("CARGO_BIN_EXE_sinew"))
            .env("BENCH", bench.folder.path())
            .output()
            .unwrap()
    };
    let output = shards(&["1", "2", "3", "4"]);
    // GNU parallel's status is the number of jobs that failed.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let stitch = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command
            .arg("bake")
            .arg(&input)
            .arg("-o")
            .arg(&out)
            .args(CUT);
        command.arg("--stitch").output().unwrap()
    };
    let early = stitch();
    assert_eq!(early.status.code(), Some(1));
    assert!(
        stderr(&early).contains("are not there"),
        "{}",
        stderr(&early)
    );
    good(shards(&["2"]));
    good(stitch());
    same_files(&alone, &folder);

    // The script does all of it.
    let folder = bench.path("script");
    std::fs::create_dir(&folder).unwrap();
    let script = Command::new(project("examples/farm/parallel.sh"))
        .arg(&input)
        .arg(folder.join("shot.usdc"))
        .args(["4", "3", "--frames", "1:24", "--backend", "cpu"])
        .env("SINEW", env!("CARGO_BIN_EXE_sinew"))
        .output()
        .unwrap();
    good(script);
    same_files(&alone, &folder);
    let usage = Command::new(project("examples/farm/parallel.sh"))
        .output()
        .unwrap();
    assert_eq!(usage.status.code(), Some(2));
}

/// The script, told by the environment which task it is.
pub fn slurm() {
    accepted_by_bash("examples/farm/slurm.sbatch");
    let bench = Bench::new();
    let input = example();
    let alone = alone(&bench, &input, &["--clip-frames", "25"]);
    let folder = bench.path("farm");
    std::fs::create_dir(&folder).unwrap();
    let text = std::fs::read_to_string(project("examples/farm/slurm.sbatch")).unwrap();
    let array = text
        .lines()
        .find_map(|l| l.strip_prefix("#SBATCH --array=1-"));
    assert_eq!(array, Some("8"), "as SHARDS is without more");
    // The one that stitches comes last, as the dependency has it.
    for task in ["1", "2", "3", "4", "5", "6", "7", "8", "0"] {
        let script = Command::new("bash")
            .arg(project("examples/farm/slurm.sbatch"))
            .env("SLURM_ARRAY_TASK_ID", task)
            .env("SLURM_CPUS_PER_TASK", "1")
            .env("IN", &input)
            .env("OUT", folder.join("shot.usdc"))
            .env("CLIP_FRAMES", "25")
            .env("PATH", path())
            .output();
        good(script.unwrap());
    }
    same_files(&alone, &folder);
}

/// The commands of both Jobs, told by the environment which pod it is.
pub fn kubernetes() {
    let text = std::fs::read_to_string(project("examples/farm/kubernetes-job.yaml")).unwrap();
    let documents: Vec<&str> = text.split("\n---\n").collect();
    let mut commands = Vec::new();
    for document in &documents {
        let lines = || {
            document
                .lines()
                .filter(|l| !l.trim_start().starts_with('#'))
        };
        for line in lines() {
            let indent = line.len() - line.trim_start().len();
            assert!(indent % 2 == 0 && !line.contains('\t'), "'{line}'");
        }
        let top: Vec<&str> = lines()
            .filter(|l| !l.starts_with(' ') && !l.is_empty())
            .collect();
        assert_eq!(
            top,
            ["apiVersion: batch/v1", "kind: Job", "metadata:", "spec:"]
        );
        // What stands behind `- -ec`: one line, or the folded lines of `>-`.
        let mut rest = lines().skip_while(|l| l.trim() != "- -ec").skip(1);
        let first = rest.next().unwrap().trim().strip_prefix("- ").unwrap();
        commands.push(match first {
            ">-" => {
                let folded = rest.take_while(|l| l.starts_with("              "));
                folded.map(str::trim).collect::<Vec<_>>().join(" ")
            }
            one => one.to_owned(),
        });
    }
    assert_eq!(commands.len(), 2);
    let value = |key: &str| {
        let mut lines = documents[0].lines().map(str::trim);
        lines
            .find_map(|l| l.strip_prefix(key)?.strip_prefix(": "))
            .unwrap()
    };
    assert_eq!(
        (value("completionMode"), value("restartPolicy")),
        ("Indexed", "Never")
    );
    let pods: usize = value("completions").parse().unwrap();
    assert_eq!(value("value"), format!("\"{pods}\""), "SHARDS");

    let bench = Bench::new();
    let input = bench.write("shot.usda", std::fs::read(example()).unwrap());
    let alone = alone(&bench, &input, &["--clip-frames", "100"]);
    std::fs::create_dir(bench.path("out")).unwrap();
    let run = |command: &str, index: Option<usize>| {
        let command = command.replace("/shots/", &format!("{}/", bench.folder.path().display()));
        let mut shell = Command::new("sh");
        shell.args(["-ec", &command]).env("PATH", path());
        shell.env("SHARDS", pods.to_string());
        if let Some(index) = index {
            shell.env("JOB_COMPLETION_INDEX", index.to_string());
        }
        good(shell.output().unwrap());
    };
    for pod in 0..pods {
        run(&commands[0], Some(pod));
    }
    run(&commands[1], None);
    same_files(&alone, &bench.path("out"));
}

/// The commands that OpenCue would be given, with its token replaced as it does.
pub fn opencue(python: &str) -> Result<(), Failed> {
    let script = project("examples/farm/opencue.py");
    let bench = Bench::new();
    let input = example();
    let alone = alone(&bench, &input, &CUT);
    let folder = bench.path("farm");
    std::fs::create_dir(&folder).unwrap();
    let dry = Command::new(python)
        .arg(script)
        .arg(&input)
        .arg(folder.join("shot.usdc"))
        .args([
            "--clip-frames",
            "4",
            "--shards",
            "3",
            "--dry-run",
            "--",
            "--frames",
            "1:24",
        ])
        .output()?;
    let text = stdout(&good(dry));
    let [shard, stitch] = text.lines().collect::<Vec<_>>()[..] else {
        return Err(text.into());
    };
    let run = |command: &str| {
        let mut shell = Command::new("sh");
        good(
            shell
                .args(["-ec", command])
                .env("PATH", path())
                .output()
                .unwrap(),
        );
    };
    for frame in 1..=3 {
        run(&shard
            .replace("#IFRAME#", &frame.to_string())
            .replace('\'', ""));
    }
    run(stitch);
    same_files(&alone, &folder);
    Ok(())
}

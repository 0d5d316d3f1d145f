//! The files of examples/farm do what they say. GNU parallel and Slurm run them; the parts of Kubernetes and OpenCue are played
//! here, and their manifests are checked against the schemas of both. Dask has its test in crates/sinew-python.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::SystemTime;

use libtest_mimic::{Completion, Failed};

use crate::clips::bench::{bake, count, example, project, same_files};
use crate::clips::slurm::{Cluster, wait_for};
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

/// 48 clips, which four shards divide evenly: a shard has enough of them to be lost in the middle.
const LONG: [&str; 4] = ["--frames", "1:96:0.1", "--clip-frames", "20"];
const CLIPS: usize = 48;
const SHARDS: usize = 4;

/// A `sinew` that loses the first task which has shard 2: when that has its first clip, it dies as a machine does
/// (LOSS=kill), or stops until somebody ends it (LOSS=hold). Its bake leaves the processors to whoever waits for that clip.
const WORKER: &str = r#"#!/bin/bash
set -u
if [[ "$*" = *"--shard 2/"* ]] && mkdir "$BENCH/lost" 2>/dev/null; then
    nice -n 19 "$SINEW" "$@" &
    child=$!
    until [ -e "$FIRST" ]; do
        kill -0 $child || exit 1
        sleep 0.002
    done
    if [ "$LOSS" = hold ]; then
        kill -STOP $child
        until grep -q '^State:.*stopped' /proc/$child/status; do sleep 0.002; done
        touch "$BENCH/lost/held"
    else
        kill -KILL $child
    fi
    wait $child
else
    exec "$SINEW" "$@"
fi
"#;

/// A farm that loses a task: what it baked before, and what comes out.
struct Farm {
    bench: Bench,
    alone: PathBuf,
    folder: PathBuf,
}

impl Farm {
    fn new() -> Self {
        let bench = Bench::new();
        let alone = alone(&bench, &example(), &LONG);
        let folder = bench.path("farm");
        std::fs::create_dir(&folder).unwrap();
        Self {
            bench,
            alone,
            folder,
        }
    }

    fn out(&self) -> PathBuf {
        self.folder.join("shot.usdc")
    }

    /// The clips of the shard that is lost.
    fn of_lost() -> std::ops::RangeInclusive<usize> {
        let each = CLIPS / SHARDS;
        each + 1..=2 * each
    }

    fn clip(&self, number: usize) -> PathBuf {
        let name = format!("shot_clips/shot.{number:04}.usdc");
        self.folder.join(name)
    }

    /// Writes the worker as `sinew` to a folder, and tells it what it needs by the environment.
    fn lose(&self, command: &mut Command, loss: &str) -> PathBuf {
        let folder = self.bench.path("bin");
        std::fs::create_dir(&folder).unwrap();
        let worker = folder.join("sinew");
        std::fs::write(&worker, WORKER).unwrap();
        good(
            Command::new("chmod")
                .arg("+x")
                .arg(&worker)
                .output()
                .unwrap(),
        );
        let paths = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect::<Vec<_>>();
        let paths = std::env::join_paths(std::iter::once(folder).chain(paths)).unwrap();
        command
            .env("PATH", paths)
            .env("SINEW", env!("CARGO_BIN_EXE_sinew"))
            .env("BENCH", self.bench.folder.path())
            .env("FIRST", self.clip(*Self::of_lost().start()))
            .env("LOSS", loss);
        worker
    }

    /// The clips that are there, with the time of their last change.
    fn finished(&self) -> BTreeMap<usize, SystemTime> {
        let changed = |number: usize| Some(self.clip(number).metadata().ok()?.modified().unwrap());
        (1..=CLIPS)
            .filter_map(|number| Some((number, changed(number)?)))
            .collect()
    }

    /// Of what was there after the loss nothing was baked again, and the result is that of one machine. `baked` is what
    /// each run that ended well says: clips baked, clips kept.
    fn has_lost_one_clip(&self, before: &BTreeMap<usize, SystemTime>, baked: &[(usize, usize)]) {
        let lost = Self::of_lost().filter(|n| before.contains_key(n)).count();
        let each = CLIPS / SHARDS;
        assert!((1..each).contains(&lost), "lost in the middle: {lost}");
        let after = self.finished();
        for (number, changed) in before {
            assert_eq!(after.get(number), Some(changed), "clip {number}");
        }
        let mut expected = vec![(each, 0); SHARDS - 1];
        // What the lost task had finished is kept; the clip that it was baking, and the rest, are baked.
        expected.push((each - lost, lost));
        let mut baked = baked.to_vec();
        baked.sort_unstable_by_key(|(_, kept)| *kept);
        assert_eq!(baked, expected);
        same_files(&self.alone, &self.folder);
    }
}

/// The JSON values that a program printed one after another.
fn values(output: &Output) -> Vec<serde_json::Value> {
    let values = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    values.map(Result::unwrap).collect()
}

/// Four shards; the machine of the second one dies after its first clip, and the shard is run again alone.
pub fn gnu_parallel() {
    accepted_by_bash("examples/farm/parallel.sh");
    let farm = Farm::new();
    let (input, out) = (example(), farm.out());
    let mut shards = Command::new("parallel");
    let worker = farm.lose(&mut shards, "kill");
    shards.args(["--quote", "--jobs", "2"]).arg(&worker);
    shards
        .arg("bake")
        .arg(&input)
        .arg("-o")
        .arg(&out)
        .args(LONG);
    shards.args(["--backend", "cpu", "--resume", "--json", "--quiet"]);
    shards.args(["--shard", "{}/4", ":::"]);
    let mut reports: Vec<serde_json::Value> = Vec::new();
    let output = shards.args(["1", "2", "3", "4"]).output().unwrap();
    reports.extend(values(&output));
    // GNU parallel's status is the number of jobs that failed.
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let stitch = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        let command = command.arg("bake").arg(&input).arg("-o").arg(&out);
        command.args(LONG).arg("--stitch").output().unwrap()
    };
    let early = stitch();
    assert_eq!(early.status.code(), Some(1));
    assert!(
        stderr(&early).contains("are not there"),
        "{}",
        stderr(&early)
    );
    let before = farm.finished();
    let mut again = Command::new(env!("CARGO_BIN_EXE_sinew"));
    again.arg("bake").arg(&input).arg("-o").arg(&out).args(LONG);
    again.args(["--backend", "cpu", "--resume", "--json", "--shard", "2/4"]);
    reports.extend(values(&good(again.output().unwrap())));
    good(stitch());
    let baked = reports.iter().map(|report| {
        let baked = count(report, "baked") as usize;
        (baked, count(report, "kept") as usize)
    });
    farm.has_lost_one_clip(&before, &baked.collect::<Vec<_>>());

    // The script does all of it.
    let bench = Bench::new();
    let alone = alone(&bench, &input, &CUT);
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

/// A Slurm cluster on this machine: an array, the stitch that waits for it, and a task that is cancelled and queued again in
/// the middle of its shard.
pub fn slurm_cluster() {
    let farm = Farm::new();
    let cluster = Cluster::start(16);
    let script = project("examples/farm/slurm.sbatch");
    let logs = farm.bench.path("logs");
    std::fs::create_dir(&logs).unwrap();
    let array = cluster.submit(&logs, |sbatch| {
        farm.lose(sbatch, "hold");
        sbatch.arg("--array=1-4").arg(&script).args(&LONG[..2]);
        sbatch.env("IN", example()).env("OUT", farm.out());
        sbatch.env("CLIP_FRAMES", LONG[3]).env("SHARDS", "4");
    });
    let stitch = cluster.submit(&logs, |sbatch| {
        sbatch.arg(format!("--dependency=afterok:{array}"));
        sbatch.arg("--array=0").arg(&script).args(&LONG[..2]);
        sbatch.env("IN", example()).env("OUT", farm.out());
        sbatch.env("CLIP_FRAMES", LONG[3]).env("PATH", path());
    });
    let held = farm.bench.path("lost/held");
    wait_for("first clip of shard 2", || held.exists().then_some(()));
    // Read while the task stands still: Slurm may start it again at once.
    let before: BTreeMap<_, _> = farm
        .finished()
        .into_iter()
        .filter(|(number, _)| Farm::of_lost().contains(number))
        .collect();
    let task = format!("{array}_2");
    assert_eq!(cluster.state(&task), "RUNNING");
    cluster.requeue(&task);
    let done = format!("{stitch}_0");
    wait_for("end of the stitch", || {
        let state = cluster.state(&done);
        assert!(!state.contains("FAILED"), "{state}");
        (state == "COMPLETED").then_some(())
    });
    let baked = (1..=SHARDS).map(|task| {
        let log = logs.join(format!("sinew-bake-{array}_{task}.log"));
        let log = std::fs::read_to_string(log).unwrap();
        let found = log.lines().rev().find_map(|line| {
            // `2 clips baked, 1 kept, of 12`
            let (baked, rest) = line.trim().split_once(" clip")?;
            let kept = rest.split_once("baked, ")?.1.split_once(" kept")?.0;
            Some((baked.parse().ok()?, kept.parse().ok()?))
        });
        found.unwrap_or_else(|| panic!("{log}"))
    });
    farm.has_lost_one_clip(&before, &baked.collect::<Vec<_>>());
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
    let script = project("examples/farm/opencue_bake.py");
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
        run(&shard.replace("#IFRAME#", &frame.to_string()));
    }
    run(stitch);
    same_files(&alone, &folder);
    Ok(())
}

/// Whether this Python has a module. A trial without it shows as ignored.
fn has_module(python: &str, module: &str) -> bool {
    let import = format!("import {module}");
    let output = Command::new(python).args(["-c", &import]).output();
    output.is_ok_and(|o| o.status.success())
}

/// Both Jobs, against the schemas of Kubernetes; a Job with a wrong key is refused.
pub fn kubernetes_schema(python: &str) -> Result<Completion, Failed> {
    if !has_module(python, "kubernetes_validate") {
        return Ok(Completion::ignored_with("needs kubernetes-validate"));
    }
    let manifest = project("examples/farm/kubernetes-job.yaml");
    let bench = Bench::new();
    let check = |file: &Path| {
        let mut command = Command::new(python);
        command.args(["-m", "kubernetes_validate", "--strict"]);
        command.arg(file).output().unwrap()
    };
    let output = good(check(&manifest));
    let text = stdout(&output) + &stderr(&output);
    for job in ["job/sinew-bake", "job/sinew-stitch"] {
        assert!(
            text.contains(&format!("passed for resource {job}")),
            "{text}"
        );
    }
    let text = std::fs::read_to_string(manifest)?;
    for (right, wrong) in [
        ("backoffLimitPerIndex: 3", "backoffLimitPerIndexes: 3"),
        ("completions: 8", "completions: eight"),
        ("    - name: shots\n", "    - nam: shots\n"),
    ] {
        assert!(text.contains(right), "{right}");
        let file = bench.write("wrong.yaml", text.replace(right, wrong));
        assert!(!check(&file).status.success(), "{wrong}");
    }
    Ok(Completion::Completed)
}

/// The job that pyoutline makes, against the grammar of OpenCue; its commands are those of `--dry-run`.
pub fn opencue_schema(python: &str) -> Result<Completion, Failed> {
    if !has_module(python, "outline.cuerun") {
        return Ok(Completion::ignored_with("needs opencue-pyoutline"));
    }
    let made = |mode: &str| {
        let output = Command::new(python)
            .arg(project("examples/farm/opencue_bake.py"))
            .args(["a shot.usda", "out/its bake.usdc", "--shards", "3", mode])
            .args(["--", "--frames", "1:24"])
            // pyoutline asks who submits the job.
            .env("USER", "artist")
            .output()
            .unwrap();
        stdout(&good(output))
    };
    let check = |spec: &str| {
        use std::io::Write;
        let mut child = Command::new(python)
            .arg(project("tests/farm/opencue_spec.py"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(spec.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap()
    };
    let spec = made("--spec");
    let layers = values(&good(check(&spec)));
    let dry = made("--dry-run");
    let commands: Vec<&str> = dry.lines().collect();
    assert_eq!(
        layers,
        [
            serde_json::json!(["bake", "1-3", commands[0]]),
            serde_json::json!(["stitch", "1", commands[1]]),
        ]
    );
    assert!(spec.contains("LAYER_ON_LAYER"), "{spec}");
    for (right, wrong) in [
        ("<chunk>1</chunk>", "<chunks>1</chunks>"),
        ("type=\"Render\"", "type=\"Bake\""),
        (
            "job name=\"sinew-bake-its_bake",
            "job name=\"sinew-bake-its bake",
        ),
        ("<onlayer>bake", "<onlayer>baked"),
    ] {
        assert!(spec.contains(right), "{right}: {spec}");
        let output = check(&spec.replace(right, wrong));
        assert!(!output.status.success(), "{wrong}");
    }
    Ok(Completion::Completed)
}

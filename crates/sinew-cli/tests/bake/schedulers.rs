//! The files of examples/farm do what they say. GNU parallel and Slurm run them; the parts of Kubernetes and OpenCue are played
//! here, and their manifests are checked against the schemas of both. Dask has its test in crates/sinew-python.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Completion, Failed};

use crate::bench::{Folder, project, same_files};
use crate::slurm::{Cluster, wait_for};
use common::command::{executable, stderr, stdout};

/// Whether GNU parallel is here; moreutils has a command of the same name.
pub fn has_parallel() -> bool {
    let mut version = Command::new("parallel");
    let version = version.arg("--version").stderr(Stdio::null()).output();
    version.is_ok_and(|o| stdout(&o).contains("GNU parallel"))
}

/// A folder for a farm, and the bake by one process to compare with.
struct Farm {
    folder: Folder,
    input: PathBuf,
    out: PathBuf,
}

impl Farm {
    /// With these options of the bake.
    fn new(options: &str) -> Self {
        let folder = Folder::new();
        for name in ["alone", "farm"] {
            std::fs::create_dir(folder.path(name)).unwrap();
        }
        let line = format!("bake hatchling.usda -o alone/shot.usdc --backend cpu {options}");
        folder.run(0, &line);
        Self {
            input: folder.path("hatchling.usda"),
            out: folder.path("farm/shot.usdc"),
            folder,
        }
    }

    /// What the farm has made is what one process has made.
    fn is_whole(&self) {
        same_files(&self.folder.path("alone"), &self.folder.path("farm"));
    }
}

/// Folders to look for commands in; that of the command under test comes first.
fn path_with(folder: &Path) -> OsString {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&inherited));
    std::env::join_paths(folders).unwrap()
}

fn path() -> OsString {
    path_with(executable().parent().unwrap())
}

fn good(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let told = stdout(&output) + &stderr(&output);
    assert!(output.status.success(), "{command:?}: {told}");
    output
}

/// Runs a line of a shell, as a farm does.
fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-ec", line]).env("PATH", path());
    shell
}

pub fn gnu_parallel() {
    let farm = Farm::new("--clip-frames 4 --frames 1:24");
    let script = project("examples/farm/parallel.sh");
    let mut parallel = Command::new(&script);
    parallel.arg(&farm.input).arg(&farm.out);
    parallel.args("4 3 --frames 1:24 --backend cpu".split(' '));
    good(parallel.env("SINEW", executable()));
    farm.is_whole();
    let usage = Command::new(script).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}

/// The script, told by the environment which task it is.
pub fn slurm() {
    let farm = Farm::new("--clip-frames 25");
    let script = project("examples/farm/slurm.sbatch");
    let text = std::fs::read_to_string(&script).unwrap();
    let mut lines = text.lines();
    let array = lines.find_map(|l| l.strip_prefix("#SBATCH --array=1-"));
    assert_eq!(array, Some("8"), "as SHARDS is without more");
    // The one that stitches comes last, as the dependency has it.
    for task in ["1", "2", "3", "4", "5", "6", "7", "8", "0"] {
        let mut bash = Command::new("bash");
        bash.arg(&script).env("SLURM_ARRAY_TASK_ID", task);
        bash.env("SLURM_CPUS_PER_TASK", "1").env("PATH", path());
        bash.env("IN", &farm.input).env("OUT", &farm.out);
        good(bash.env("CLIP_FRAMES", "25"));
    }
    farm.is_whole();
}

/// A Slurm cluster on this machine: an array, the stitch that waits for it, and a task that is cancelled and queued again in
/// the middle of its shard, of which no finished clip is baked again.
pub fn slurm_cluster() {
    // 48 clips: a shard of four has enough of them to be lost in the middle.
    let frames = "--frames 1:96:0.1";
    let farm = Farm::new(&format!("{frames} --clip-frames 20"));
    let script = project("examples/farm/slurm.sbatch");
    let cluster = Cluster::start(16);
    let [bin, logs] = ["bin", "logs"].map(|name| {
        std::fs::create_dir(farm.folder.path(name)).unwrap();
        farm.folder.path(name)
    });
    let worker = project("crates/sinew-cli/tests/bake/worker.sh");
    std::fs::copy(worker, bin.join("sinew")).unwrap();
    let clip = |n: usize| {
        farm.folder
            .path(&format!("farm/shot_clips/shot.{n:04}.usdc"))
    };
    let submit = |options: &[&str], path: OsString| {
        cluster.submit(&logs, |sbatch| {
            sbatch.args(options).arg(&script).args(frames.split(' '));
            sbatch.env("IN", &farm.input).env("OUT", &farm.out);
            sbatch.env("CLIP_FRAMES", "20").env("SHARDS", "4");
            sbatch.env("PATH", path).env("SINEW", executable());
            sbatch.env("BENCH", farm.folder.0.folder.path());
            sbatch.env("FIRST", clip(13));
        })
    };
    let array = submit(&["--array=1-4"], path_with(&bin));
    let after = format!("--dependency=afterok:{array}");
    let stitch = submit(&[&after, "--array=0"], path());
    let held = farm.folder.path("held");
    wait_for("first clip of shard 2", || held.exists().then_some(()));
    // Read while the task stands still: Slurm may start it again at once.
    let changed = |n: usize| clip(n).metadata().ok()?.modified().ok();
    let before: Vec<_> = (13..=24).map(changed).collect();
    let lost = before.iter().flatten().count();
    assert!((1..12).contains(&lost), "lost in the middle: {lost}");
    let task = format!("{array}_2");
    assert_eq!(cluster.state(&task), "RUNNING");
    cluster.requeue(&task);
    let done = format!("{stitch}_0");
    wait_for("end of the stitch", || {
        let state = cluster.state(&done);
        assert!(!state.contains("FAILED"), "{state}");
        (state == "COMPLETED").then_some(())
    });
    for (n, before) in (13..=24).zip(before) {
        assert!(before.is_none() || changed(n) == before, "clip {n}");
    }
    let log = logs.join(format!("sinew-bake-{task}.log"));
    let log = std::fs::read_to_string(log).unwrap();
    let kept = format!("baked, {lost} kept");
    assert!(log.contains(&kept), "{log}");
    farm.is_whole();
}

/// What stands behind `- -ec` in a document of YAML: one line, or the folded lines of `>-`.
fn command_of(document: &str) -> String {
    let mut lines = document.lines().skip_while(|l| l.trim() != "- -ec").skip(1);
    let first = lines.next().unwrap().trim().strip_prefix("- ").unwrap();
    if first != ">-" {
        return first.to_owned();
    }
    let folded = lines.take_while(|l| l.starts_with("              "));
    folded.map(str::trim).collect::<Vec<_>>().join(" ")
}

/// The commands of both Jobs, told by the environment which pod it is.
pub fn kubernetes() {
    let text = std::fs::read_to_string(project("examples/farm/kubernetes-job.yaml")).unwrap();
    let [bake, stitch] = text.split("\n---\n").collect::<Vec<_>>()[..] else {
        panic!("two documents");
    };
    let value = |key: &str| {
        let mut lines = bake.lines().map(str::trim);
        let value = lines.find_map(|l| l.strip_prefix(key)?.strip_prefix(": "));
        value.unwrap_or_else(|| panic!("{key}"))
    };
    assert_eq!(value("completionMode"), "Indexed");
    assert_eq!(value("restartPolicy"), "Never");
    let pods: usize = value("completions").parse().unwrap();
    assert_eq!(value("value"), format!("\"{pods}\""), "SHARDS");

    let farm = Farm::new("--clip-frames 100");
    // The names of the manifest.
    std::fs::copy(&farm.input, farm.folder.path("shot.usda")).unwrap();
    std::fs::rename(farm.folder.path("farm"), farm.folder.path("out")).unwrap();
    let run = |document: &str, pod: usize| {
        let shots = format!("{}/", farm.folder.0.folder.path().display());
        let mut shell = shell(&command_of(document).replace("/shots/", &shots));
        shell.env("SHARDS", pods.to_string());
        good(shell.env("JOB_COMPLETION_INDEX", pod.to_string()));
    };
    (0..pods).for_each(|pod| run(bake, pod));
    run(stitch, 0);
    same_files(&farm.folder.path("alone"), &farm.folder.path("out"));
}

/// The commands that OpenCue would be given, with its token replaced as it does.
pub fn opencue(python: &str) -> Result<(), Failed> {
    let farm = Farm::new("--clip-frames 4 --frames 1:24");
    let mut dry = Command::new(python);
    dry.arg(project("examples/farm/opencue_bake.py"));
    dry.arg(&farm.input).arg(&farm.out);
    dry.args("--clip-frames 4 --shards 3 --dry-run -- --frames 1:24".split(' '));
    let text = stdout(&good(&mut dry));
    let [shard, stitch] = text.lines().collect::<Vec<_>>()[..] else {
        return Err(text.into());
    };
    for frame in 1..=3 {
        good(&mut shell(&shard.replace("#IFRAME#", &frame.to_string())));
    }
    good(&mut shell(stitch));
    farm.is_whole();
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
    let folder = Folder::new();
    let check = |file: &Path| {
        let mut command = Command::new(python);
        command.args(["-m", "kubernetes_validate", "--strict"]);
        command.arg(file);
        command
    };
    let output = good(&mut check(&manifest));
    let told = stdout(&output) + &stderr(&output);
    for job in ["job/sinew-bake", "job/sinew-stitch"] {
        let passed = format!("passed for resource {job}");
        assert!(told.contains(&passed), "{told}");
    }
    let text = std::fs::read_to_string(manifest)?;
    for (right, wrong) in [
        ("backoffLimitPerIndex: 3", "backoffLimitPerIndexes: 3"),
        ("completions: 8", "completions: eight"),
        ("    - name: shots\n", "    - nam: shots\n"),
    ] {
        assert!(text.contains(right), "{right}");
        let file = folder.0.write("wrong.yaml", text.replace(right, wrong));
        assert!(!check(&file).output()?.status.success(), "{wrong}");
    }
    Ok(Completion::Completed)
}

/// The job that pyoutline makes, against the grammar of OpenCue; its commands are those of `--dry-run`.
pub fn opencue_schema(python: &str) -> Result<Completion, Failed> {
    if !has_module(python, "outline.cuerun") {
        return Ok(Completion::ignored_with("needs opencue-pyoutline"));
    }
    let folder = Folder::new();
    let made = |mode: &str| {
        let mut command = Command::new(python);
        command.arg(project("examples/farm/opencue_bake.py"));
        command.args(["a shot.usda", "out/its bake.usdc", "--shards", "3", mode]);
        command.args(["--", "--frames", "1:24"]);
        // pyoutline asks who submits the job.
        stdout(&good(command.env("USER", "artist")))
    };
    let check = |spec: &str| {
        let spec = folder.0.write("spec.xml", spec);
        let mut command = Command::new(python);
        command.arg(project("tests/farm/opencue_spec.py"));
        command.stdin(std::fs::File::open(spec).unwrap());
        command
    };
    let (spec, dry) = (made("--spec"), made("--dry-run"));
    let checked = good(&mut check(&spec));
    let layers = serde_json::Deserializer::from_slice(&checked.stdout).into_iter();
    let layers: Vec<serde_json::Value> = layers.map(Result::unwrap).collect();
    let commands: Vec<&str> = dry.lines().collect();
    let expected = [
        serde_json::json!(["bake", "1-3", commands[0]]),
        serde_json::json!(["stitch", "1", commands[1]]),
    ];
    assert_eq!(layers, expected);
    assert!(spec.contains("LAYER_ON_LAYER"), "{spec}");
    for (right, wrong) in [
        ("<chunk>1</chunk>", "<chunks>1</chunks>"),
        ("type=\"Render\"", "type=\"Bake\""),
        ("name=\"sinew-bake-its_bake", "name=\"sinew-bake-its bake"),
        ("<onlayer>bake", "<onlayer>baked"),
    ] {
        assert!(spec.contains(right), "{right}: {spec}");
        let output = check(&spec.replace(right, wrong)).output()?;
        assert!(!output.status.success(), "{wrong}");
    }
    Ok(Completion::Completed)
}

//! The files of examples/farm do what they say. GNU parallel and Slurm run them; the parts of Kubernetes and OpenCue are played
//! here, and their manifests are checked against the schemas of both. Dask has its test in crates/sinew-python.

use std::path::PathBuf;
use std::process::{Command, Output};

use libtest_mimic::{Completion, Failed};

use crate::bench::{Folder, project, same_files};
use common::command::{executable, stderr, stdout};

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

/// A program that finds the command under test first.
fn program(name: &str) -> Command {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let own = executable().parent().unwrap().to_owned();
    let folders = std::iter::once(own).chain(std::env::split_paths(&inherited));
    let mut command = Command::new(name);
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command.env("SINEW", executable());
    command
}

fn good(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let told = stdout(&output) + &stderr(&output);
    assert!(output.status.success(), "{command:?}: {told}");
    output
}

/// Whether a program is here and says this of its version: moreutils has a `parallel` too.
fn is_here(name: &str, option: &str, words: &str) -> bool {
    let output = Command::new(name).arg(option).output();
    output.is_ok_and(|o| stdout(&o).contains(words))
}

pub fn gnu_parallel() -> Completion {
    if !is_here("parallel", "--version", "GNU parallel") {
        return Completion::ignored_with("needs GNU parallel");
    }
    let farm = Farm::new("--clip-frames 4 --frames 1:24");
    let script = project("examples/farm/parallel.sh");
    let mut parallel = program(script.to_str().unwrap());
    parallel.arg(&farm.input).arg(&farm.out);
    good(parallel.args("4 3 --frames 1:24 --backend cpu".split(' ')));
    farm.is_whole();
    let usage = Command::new(script).output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
    Completion::Completed
}

/// The script, told by the environment which task it is.
pub fn slurm() {
    let farm = Farm::new("--clip-frames 25");
    let script = project("examples/farm/slurm.sbatch");
    let text = std::fs::read_to_string(&script).unwrap();
    assert!(text.contains("\n#SBATCH --array=1-8\n"), "{text}");
    // The one that stitches comes last, as the dependency has it.
    for task in ["1", "2", "3", "4", "5", "6", "7", "8", "0"] {
        let mut bash = program("bash");
        bash.arg(&script).env("SLURM_ARRAY_TASK_ID", task);
        bash.env("SLURM_CPUS_PER_TASK", "1")
            .env("CLIP_FRAMES", "25");
        good(bash.env("IN", &farm.input).env("OUT", &farm.out));
    }
    farm.is_whole();
}

pub fn slurm_cluster() -> Completion {
    let folders = ["/usr/bin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    for name in ["munged", "slurmctld", "slurmd", "sbatch"] {
        if !folders.iter().any(|folder| folder.join(name).is_file()) {
            return Completion::ignored_with(format!("needs Slurm: {name}"));
        }
    }
    let farm = Farm::new("--frames 1:96:0.1 --clip-frames 20");
    let mut bash = program("bash");
    bash.arg(project("crates/sinew-cli/tests/bake/slurm_cluster.sh"));
    bash.arg(farm.folder.0.folder.path());
    good(bash.env("IN", &farm.input).env("OUT", &farm.out));
    farm.is_whole();
    Completion::Completed
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
    let (bake, stitch) = text.split_once("\n---\n").unwrap();
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
        let line = command_of(document).replace("/shots/", &shots);
        let mut shell = program("sh");
        shell.args(["-ec", &line]).env("SHARDS", pods.to_string());
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
    let (shard, stitch) = text.trim().split_once('\n').ok_or("two lines")?;
    for frame in 1..=3 {
        let line = shard.replace("#IFRAME#", &frame.to_string());
        good(program("sh").args(["-ec", &line]));
    }
    good(program("sh").args(["-ec", stitch]));
    farm.is_whole();
    Ok(())
}

/// The manifest of a scheduler fits its schema, which refuses wrong ones (tests/farm/manifests.py).
pub fn fits_the_schema(python: &str, scheduler: &str) -> Result<Completion, Failed> {
    let mut script = Command::new(python);
    script
        .arg(project("tests/farm/manifests.py"))
        .arg(scheduler);
    let output = script.output()?;
    match output.status.code() {
        Some(0) => Ok(Completion::Completed),
        Some(77) => Ok(Completion::ignored_with(
            "needs tests/farm/requirements.txt",
        )),
        _ => Err((stdout(&output) + &stderr(&output)).into()),
    }
}

//! The Python package: builds its wheel, installs it into a folder of its own, and runs pytest, the
//! types' checks and the examples with it.
//!
//! `SINEW_PYTHON` names a Python with usd-core, numpy and tests/requirements.txt (tests/run.sh makes
//! one). Without it the tests show as ignored. `SINEW_BPY` may name another Python, with bpy and numpy,
//! for the example in Blender.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use common::python;
use common::trials::Trial;
use libtest_mimic::{Completion, Failed};
use tempfile::TempDir;

/// The modules that the tests import, beside those that every test with Python needs.
const MODULES: &str = "import maturin, mypy, pytest";

/// The examples, what they import beside the package, and their arguments; `{}` is a scratch folder.
const EXAMPLES: [(&str, &str, &[&str]); 4] = [
    ("bake_folder.py", "numpy", &["examples/assets", "{}/baked"]),
    (
        "compare_with_pixar.py",
        "matplotlib",
        &["examples/assets/hatchling.usda", "{}/error.png"],
    ),
    (
        "training_data.py",
        "numpy",
        &["examples/assets/hatchling.usda", "{}/clip.npz"],
    ),
    (
        "blender_points.py",
        "bpy",
        &["examples/assets/hatchling.usda", "{}/hatchling.blend"],
    ),
];

fn main() {
    let folder = package().join("tests");
    let mut files: Vec<String> = folder
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("test_") && name.ends_with(".py"))
        .collect();
    files.sort();
    // The folder is removed with the last trial.
    let shared = Arc::new(Package::default());
    let tests = files.into_iter().map(|file| {
        let name = file.trim_end_matches(".py").to_owned();
        let shared = Arc::clone(&shared);
        python::ignorable(&name, move |python| pytest(python, &shared, &file))
    });
    let examples = EXAMPLES.into_iter().map(|(file, module, args)| {
        let name = file.trim_end_matches(".py");
        let shared = Arc::clone(&shared);
        python::ignorable(name, move |python| {
            example(python, &shared, file, module, args)
        })
    });
    let (tests, examples): (Vec<Trial>, Vec<Trial>) = (tests.collect(), examples.collect());
    let timings = vec![python::ignorable("python_points", move |python| {
        timings(python, &shared)
    })];
    common::trials::run([
        ("pytest", tests),
        ("examples", examples),
        ("timings", timings),
    ])
}

fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn repository() -> PathBuf {
    package().join("../..")
}

/// Whether a Python has what these tests need.
fn missing(python: &str, imports: &str) -> Option<String> {
    let found = Command::new(python).args(["-c", imports]).output();
    let is_there = found.is_ok_and(|output| output.status.success());
    (!is_there).then(|| format!("needs {}", imports.trim_start_matches("import ")))
}

fn checked(command: &mut Command) -> Result<String, String> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let (out, err) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    match status.success() {
        true => Ok(out.into_owned()),
        false => Err(format!("{command:?} ended with {status}:\n{out}\n{err}")),
    }
}

/// The package in a folder of its own. The wheel is built once, in the dev profile, into the target
/// folder that this test was built in.
#[derive(Default)]
struct Package {
    folder: OnceLock<Result<TempDir, String>>,
}

impl Package {
    /// The folder to import from.
    fn site(&self, python: &str) -> Result<PathBuf, Failed> {
        match self.folder.get_or_init(|| Self::install(python)) {
            Ok(folder) => Ok(folder.path().join("site")),
            Err(e) => Err(e.clone().into()),
        }
    }

    fn install(python: &str) -> Result<TempDir, String> {
        let folder = TempDir::new().map_err(|e| e.to_string())?;
        let (wheels, site) = (folder.path().join("wheels"), folder.path().join("site"));
        let test = std::env::current_exe().map_err(|e| e.to_string())?;
        let target = test.ancestors().nth(3).ok_or("a test without a folder")?;
        let mut maturin = Command::new(python);
        maturin.args(["-m", "maturin", "build", "--profile", "dev", "--locked"]);
        // Of the crates that the tests of the workspace have built.
        maturin.args(["--features", "as-tested"]);
        maturin
            .args(["--interpreter", python, "--out"])
            .arg(&wheels);
        maturin.env("CARGO_TARGET_DIR", target);
        checked(maturin.current_dir(package()))?;
        let wheel = wheels.read_dir().map_err(|e| e.to_string())?.flatten();
        let wheel = wheel.map(|w| w.path()).next().ok_or("no wheel")?;
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]);
        pip.arg("--target").arg(&site).arg(wheel);
        checked(&mut pip)?;
        Ok(folder)
    }
}

/// A Python that imports the installed package.
fn with_package(python: &str, site: &Path) -> Command {
    let mut command = Command::new(python);
    command.env("PYTHONPATH", site);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.current_dir(repository());
    // The command that the functions are compared with, where cargo has built it too.
    let program = common::command::executable();
    if program.exists() {
        command.env("SINEW_COMMAND", program);
    }
    command
}

fn pytest(python: &str, shared: &Package, file: &str) -> Result<Completion, Failed> {
    if let Some(missing) = missing(python, MODULES) {
        return Ok(Completion::ignored_with(missing));
    }
    let site = shared.site(python)?;
    let mut run = with_package(python, &site);
    run.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]);
    // By itself pytest keeps the folders of its last three runs.
    let scratch = TempDir::new()?;
    run.arg("--basetemp").arg(scratch.path().join("pytest"));
    let ended = run.arg(package().join("tests").join(file)).output()?;
    let text = String::from_utf8_lossy(&ended.stdout);
    let last = text.trim_end().lines().last().unwrap_or_default();
    match ended.status.code() {
        Some(0) if last.contains("skipped") && !last.contains("passed") => {
            let why = text.lines().find(|line| line.starts_with("SKIPPED"));
            Ok(Completion::ignored_with(why.unwrap_or(last)))
        }
        // No test was collected, because the file skips itself.
        Some(5) => {
            let why = text.lines().find(|line| line.starts_with("SKIPPED"));
            Ok(Completion::ignored_with(why.unwrap_or(last)))
        }
        Some(0) => Ok(Completion::Completed),
        _ => Err(text.into_owned().into()),
    }
}

/// The timings run, on little. They compare the package's points with usd-core's.
fn timings(python: &str, shared: &Package) -> Result<Completion, Failed> {
    if let Some(missing) = missing(python, MODULES) {
        return Ok(Completion::ignored_with(missing));
    }
    let site = shared.site(python)?;
    let mut run = with_package(python, &site);
    run.args(["benches/python_points.py", "2000", "3", "--rows"]);
    let told = checked(run.args(["--runs", "1"]))?;
    let is_row = |line: &&str| line.contains("\"load\": \"python\"");
    match told.lines().filter(is_row).count() {
        5 => Ok(Completion::Completed),
        rows => Err(format!("expected 5 rows, found {rows}: {told}").into()),
    }
}

fn example(
    python: &str,
    shared: &Package,
    file: &str,
    module: &str,
    args: &[&str],
) -> Result<Completion, Failed> {
    let blender = std::env::var("SINEW_BPY").ok().filter(|_| module == "bpy");
    let runs = blender.as_deref().unwrap_or(python);
    for (python, imports) in [(python, MODULES), (runs, &format!("import {module}"))] {
        if let Some(missing) = missing(python, imports) {
            return Ok(Completion::ignored_with(missing));
        }
    }
    let site = shared.site(python)?;
    let scratch = TempDir::new()?;
    let here = scratch.path().to_string_lossy();
    let args: Vec<String> = args.iter().map(|a| a.replace("{}", &here)).collect();
    let mut run = with_package(runs, &site);
    run.env("MPLCONFIGDIR", scratch.path());
    run.arg(format!("examples/python/{file}")).args(&args);
    checked(&mut run)?;
    let output = args.last().map(PathBuf::from).unwrap_or_default();
    match output.exists() {
        true => Ok(Completion::Completed),
        false => Err(format!("{file} wrote no {}", output.display()).into()),
    }
}

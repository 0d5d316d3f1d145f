//! What Python measures, in processes of its own: usd-core's functions, SMPL's skinning in PyTorch, and our own package beside
//! loops over usd-core's functions.

use std::path::Path;
use std::process::Command;

use crate::measure::Runs;
use crate::peers::Result;
use crate::results::Row;
use crate::workloads::Workload;

/// What the package's part of the suite is called.
pub const NAME: &str = "python";

/// Points and frames of the package's clips: a face, and a body.
pub const SIZES: [(usize, usize); 2] = [(10_000, 200), (100_000, 100)];

/// Who the package's rows are of.
pub const OURS: [&str; 2] = [
    "sinew, Python, one call",
    "sinew, Python, a call for each frame",
];
pub const OURS_OF_ARRAYS: &str = "sinew, Python";

// Parts of the program, so that they are there where no checkout is.
const USD_CORE: &str = include_str!("usd_core.py");
const TORCH: &str = include_str!("smpl_torch.py");

const PACKAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../benches/python_points.py"
);

/// The Python that a variable of the environment names.
fn named(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|p| !p.is_empty())
}

/// A Python with usd-core, which `SINEW_PYTHON` names.
pub fn with_usd_core() -> Option<String> {
    named("SINEW_PYTHON")
}

/// What usd_core.py measures on an exported load.
pub fn usd_core_rows(
    python: &str,
    file: &Path,
    load: &str,
    runs: Runs,
    cores: usize,
) -> Result<Vec<Row>> {
    let mut command = Command::new(python);
    command
        .args(["-c", USD_CORE])
        .arg(file)
        .args([load, &runs.most.to_string(), &runs.fewest.to_string()])
        .arg(runs.seconds.to_string());
    let mut rows = printed(command)?;
    for threads in rows.iter_mut().filter_map(|r| r.threads.as_mut()) {
        // All that there are.
        if *threads == 0 {
            *threads = cores;
        }
    }
    Ok(rows)
}

/// What smpl_torch.py measures at a load's size, by the Python that `SINEW_TORCH` names; nothing where it names none.
pub fn torch_rows(load: &Workload, runs: Runs) -> Result<Vec<Row>> {
    let Some(python) = named("SINEW_TORCH") else {
        return Ok(Vec::new());
    };
    let size = &load.size;
    let (meshes, runs) = (size.meshes, runs.most);
    let numbers = [size.points, size.joints, size.characters, meshes, runs];
    let mut command = Command::new(python);
    command
        .args(["-c", TORCH, load.kind.name()])
        .args(numbers.map(|n| n.to_string()));
    printed(command)
}

/// What a size's rows of the package are called.
pub fn case(what: &str, points: usize) -> String {
    format!("{what}, {},000 points", points / 1000)
}

/// What python_points.py measures, by a Python with usd-core that also has the package.
pub fn package_rows(python: &str, scale: f64, runs: Runs, cores: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (points, frames) in SIZES {
        let frames = ((frames as f64 * scale) as usize).max(2);
        let mut command = Command::new(python);
        command
            .arg(PACKAGE)
            .args([points, frames].map(|n| n.to_string()))
            .args(["--rows", "--runs", &runs.most.to_string()]);
        rows.extend(printed(command)?);
    }
    for row in &mut rows {
        row.threads = Some(cores);
    }
    Ok(rows)
}

/// The rows that a script prints, one a line; what it wrote to stderr if it failed.
fn printed(mut command: Command) -> Result<Vec<Row>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let out = command.output().map_err(|e| format!("{program}: {e}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().into());
    }
    let told = String::from_utf8_lossy(&out.stdout);
    let row = |line: &str| serde_json::from_str(line).map_err(|e| format!("{line}: {e}").into());
    told.lines().map(row).collect()
}

//! SMPL's skinning in PyTorch, in a process of its own.

use std::process::Command;

use crate::measure::Runs;
use crate::row::Row;
use crate::workloads::Workload;

/// Part of the program, so that it is there where no checkout is.
const SCRIPT: &str = include_str!("smpl_torch.py");

/// What smpl_torch.py measures at a load's size, by the Python that `SINEW_TORCH` names; nothing where it names none.
pub fn rows(load: &Workload, runs: Runs) -> Result<Vec<Row>, String> {
    let Some(python) = std::env::var("SINEW_TORCH").ok().filter(|p| !p.is_empty()) else {
        return Ok(Vec::new());
    };
    let size = &load.size;
    let numbers = [
        size.points,
        size.joints,
        size.characters,
        size.meshes,
        runs.most,
    ];
    let out = Command::new(&python)
        .args(["-c", SCRIPT])
        .arg(load.kind.name())
        .args(numbers.map(|n| n.to_string()))
        .output()
        .map_err(|e| format!("{python}: {e}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned());
    }
    let told = String::from_utf8_lossy(&out.stdout);
    let row = |line: &str| serde_json::from_str(line).map_err(|e| format!("{line}: {e}"));
    told.lines().map(row).collect()
}

//! usd-core, in processes of its own.

use std::path::Path;
use std::process::Command;

use crate::measure::Runs;
use crate::row::Row;

/// Part of the program, so that it is there where no checkout is.
const SCRIPT: &str = include_str!("usd_core.py");

/// A Python with usd-core, which `SINEW_PYTHON` names.
pub fn python() -> Option<String> {
    std::env::var("SINEW_PYTHON").ok().filter(|p| !p.is_empty())
}

/// What usd_core.py measures on an exported load.
pub fn rows(
    python: &str,
    file: &Path,
    load: &str,
    runs: Runs,
    cores: usize,
) -> Result<Vec<Row>, String> {
    let out = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(file)
        .args([load, &runs.most.to_string(), &runs.fewest.to_string()])
        .arg(runs.seconds.to_string())
        .output()
        .map_err(|e| format!("{python}: {e}"))?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).trim().to_owned());
    }
    let told = String::from_utf8_lossy(&out.stdout);
    let row = |line: &str| {
        let mut row: Row = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
        row.threads = row.threads.map(|n| if n == 0 { cores } else { n });
        Ok(row)
    };
    told.lines().map(row).collect()
}

/// BakeSkinning and Export, as one command.
pub fn bake(python: &str, input: &Path, output: &Path) -> Vec<String> {
    const BAKE: &str = "import sys
from pxr import Usd, UsdSkel
stage = Usd.Stage.Open(sys.argv[1])
assert UsdSkel.BakeSkinning(stage.Traverse())
stage.Export(sys.argv[2])";
    let text = |path: &Path| path.to_string_lossy().into_owned();
    vec![
        python.into(),
        "-c".into(),
        BAKE.into(),
        text(input),
        text(output),
    ]
}

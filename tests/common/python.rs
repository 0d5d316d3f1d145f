//! Trials that need a Python with usd-core 26.11, which `SINEW_PYTHON` names (tests/run.sh makes one).

use std::path::Path;
use std::process::Command;

use bytemuck::pod_collect_to_vec;
use libtest_mimic::{Completion, Failed};

use super::trials::Trial;

/// A trial of such a Python; without one it shows as ignored, with the reason.
pub fn trial(name: &str, run: impl FnOnce(&str) -> Result<(), Failed> + Send + 'static) -> Trial {
    ignorable(name, |python| run(python).map(|()| Completion::Completed))
}

/// A trial that needs more of the Python than that, and finds out while it runs whether it is there.
pub fn ignorable(
    name: &str,
    run: impl FnOnce(&str) -> Result<Completion, Failed> + Send + 'static,
) -> Trial {
    let python = std::env::var("SINEW_PYTHON").ok();
    let (kind, skip) = match &python {
        Some(_) => ("", false),
        None => ("needs SINEW_PYTHON", true),
    };
    let python = python.unwrap_or_default();
    Trial::ignorable(name, move || run(&python))
        .with_kind(kind)
        .with_ignored_flag(skip)
}

/// The arrays of one of numpy's .npz files as f64, by name, in the order of the file. The Python of `SINEW_PYTHON` reads it.
pub fn arrays(npz: &Path) -> Result<Vec<(String, Vec<f64>)>, Failed> {
    const SCRIPT: &str = "import numpy, sys
for name, array in numpy.load(sys.argv[1]).items():
    sys.stdout.buffer.write(f'{name} {array.size}\\n'.encode() + array.astype('<f8').tobytes())";
    let python = std::env::var("SINEW_PYTHON")?;
    let output = Command::new(python)
        .args(["-c", SCRIPT])
        .arg(npz)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut rest = output.stdout.as_slice();
    let mut arrays = Vec::new();
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let line = std::str::from_utf8(&rest[..end])?;
        let (name, size) = line.rsplit_once(' ').ok_or("a name and a size")?;
        let (values, after) = rest[end + 1..].split_at(8 * size.parse::<usize>()?);
        arrays.push((name.to_owned(), pod_collect_to_vec(values)));
        rest = after;
    }
    Ok(arrays)
}

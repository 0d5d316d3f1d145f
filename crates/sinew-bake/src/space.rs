//! The size of an output before it is written, and the free space of its disk.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result, bytes_as_text};
use crate::format::Format;
use crate::options::{BakeOptions, Progress, Watch, tell};
use crate::plan::Plan;
use crate::report::BakeReport;
use crate::schedule::Scheduled;
use crate::work::Work;
use sinew::scene::Scene;

/// An estimate is too high if samples are thinned, so a bake is refused only if the disk has less
/// than this part of it.
const REFUSED_BELOW: u64 = 2;

/// Bytes of a vector in a `.usda`: three numbers of up to twelve characters.
const USDA: u64 = 42;
/// Bytes of a vector in an OBJ: three numbers of up to ten characters.
const OBJ: u64 = 34;
/// Bytes of a vector in a crate or a point cache.
const BINARY: u64 = 12;
/// Bytes of the other values of a sample: its extent and its times.
const SAMPLE: u64 = 128;

/// The space that an output needs on its disk.
#[derive(Clone, Debug)]
pub(super) struct Space {
    output: PathBuf,
    /// Estimated size of the output in bytes.
    needed: u64,
    /// Free bytes before the bake; `None` if the system does not tell.
    free: Option<u64>,
}

impl Space {
    /// Compares an estimate with the free space of the output's disk, writes both into the log, and
    /// tells `watch` the estimate.
    ///
    /// # Errors
    /// [`Error::DiskSpace`] if the disk is clearly too small, and [`Error::Cancelled`].
    pub fn check(
        output: &Path,
        needed: u64,
        options: &BakeOptions,
        report: &mut BakeReport,
        watch: &mut Watch<'_>,
    ) -> Result<Self> {
        report.estimated_bytes = needed;
        tell(watch, Progress::Begins { bytes: needed })?;
        let space = Self {
            output: output.to_owned(),
            needed,
            free: free_beside(output),
        };
        let Some(free) = space.free else {
            return Ok(space);
        };
        log::info!(
            "{}: about {} are needed, and {} are free",
            output.display(),
            bytes_as_text(needed),
            bytes_as_text(free)
        );
        if free < needed / REFUSED_BELOW && !options.ignore_free_space {
            return Err(space.error(free, false));
        }
        if free < needed {
            log::warn!(
                "{}: about {} are needed, but only {} are free",
                output.display(),
                bytes_as_text(needed),
                bytes_as_text(free)
            );
        }
        Ok(space)
    }

    /// The result of writing; if the disk was full, the error says how much is missing.
    pub fn explain<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|e| match is_full(&e) {
            true => self.error(self.free.unwrap_or(0), true),
            false => e,
        })
    }

    fn error(&self, free: u64, is_full: bool) -> Error {
        Error::DiskSpace {
            file: self.output.clone(),
            needed: self.needed,
            free,
            is_full,
        }
    }
}

/// Estimated size of a bake into USD, of the samples of a schedule. Native instances share samples.
pub(super) fn of_usd(scene: &Scene, work: &Work, schedule: &[Scheduled], output: &Path) -> u64 {
    let vector = match sinew_io::extension(output).as_str() {
        "usda" => USDA,
        _ => BINARY,
    };
    let samples = schedule.iter().flat_map(|(_, bindings)| bindings);
    let size = |b: &usize| work.plan.vectors(scene, *b) * vector + SAMPLE;
    samples.fold(0u64, |sum, b| sum.saturating_add(size(b)))
}

/// Estimated size of a bake into frames: that of points, normals and, in an OBJ, faces.
pub(super) fn of_frames(
    scene: &Scene,
    plan: &Plan,
    frames: usize,
    format: Format,
    corners: usize,
) -> u64 {
    let points = |b: usize| scene.bindings[b].points.first().map_or(0, |p| p.len()) as u64;
    let all = plan.prims().map(|p| p.binding);
    let frame = match format {
        Format::Pc2 => all.map(|b| points(b) * BINARY).sum::<u64>(),
        Format::Obj => all.map(|b| points(b) * 2 * OBJ).sum::<u64>() + corners as u64 * 16,
        // Positions and normals, with up to four channels of two or four bytes.
        Format::Png => all.map(|b| points(b) * 2 * 8).sum::<u64>(),
        _ => all.map(|b| points(b) * 2 * 16).sum::<u64>(),
    };
    frame.saturating_mul(frames as u64)
}

/// Free bytes of the disk that an output, which need not exist, will be on.
fn free_beside(output: &Path) -> Option<u64> {
    let absolute = std::path::absolute(output).ok()?;
    let folder = absolute.ancestors().skip(1).find(|f| f.is_dir())?;
    free(folder)
}

#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

/// Whether an error, or a cause of it, is that of a full disk.
fn is_full(error: &Error) -> bool {
    use std::io::{self, ErrorKind};
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(e) = cause {
        let kind = e.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(
            kind,
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        ) {
            return true;
        }
        cause = e.source();
    }
    // Some writers only keep the text.
    let text = error.to_string();
    [ErrorKind::StorageFull, ErrorKind::QuotaExceeded]
        .iter()
        .any(|kind| text.contains(&kind.to_string()))
        || text.contains("No space left on device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_recognised_by_its_kind_and_its_text() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let write = |source: sinew_io::Source| sinew_io::Error::Write {
            file: "a.usdc".into(),
            source,
        };
        assert!(is_full(&write(full().into()).into()));
        assert!(is_full(&write(full().to_string().into()).into()));
        let text = "No space left on device (os error 28)";
        assert!(is_full(&write(text.into()).into()));
        assert!(!is_full(&write("no more".into()).into()));
    }
}

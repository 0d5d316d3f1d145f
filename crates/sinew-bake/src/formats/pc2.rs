//! Point caches (PC2), a format of 3ds Max that Blender, Houdini and others read.
//!
//! 32 bytes of header, little-endian: `POINTCACHE2` and a zero byte, version 1 (i32), points (i32),
//! first frame (f32), frames from one sample to the next (f32), samples (i32). Then x, y, z of
//! every point as f32, sample by sample.

use std::path::{Path, PathBuf};

use glam::Vec3;

use super::names::{beside, unique};
use super::prims::PrimFrame;
use crate::clip::Clip;
use crate::error::{Error, Result};
use sinew_io::output::{OutputId, Outputs};

const VERSION: i32 = 1;

/// Number of samples that are collected before they are written. Files are open only while they are
/// written.
const GATHERED: usize = 16 << 20;

/// The caches, one per prim.
pub(super) struct Pc2Writer {
    files: Vec<(OutputId, Vec<u8>)>,
    gathered: usize,
}

/// The file of each prim: the output itself for one prim, with the names of prims appended for
/// several.
pub(super) fn files(output: &Path, prims: &[&str]) -> Vec<PathBuf> {
    match prims {
        [_] => vec![output.to_owned()],
        _ => {
            let names = unique(prims);
            let file = |name: &String| beside(output, &format!("_{name}"), None);
            names.iter().map(file).collect()
        }
    }
}

impl Pc2Writer {
    /// Creates the files of prims with these numbers of points.
    ///
    /// # Errors
    /// The folder cannot be written to, or a number is too large for the format.
    pub fn new(outputs: &mut Outputs, clip: &Clip, prims: &[(PathBuf, usize)]) -> Result<Self> {
        let mut files = Vec::with_capacity(prims.len());
        for (file, points) in prims {
            let header = header(clip, *points).ok_or_else(|| {
                let samples = clip.len();
                let reason =
                    format!("{points} points and {samples} samples are too many for a point cache");
                Error::output(file, reason)
            })?;
            files.push((outputs.begin(file)?, header));
        }
        Ok(Self { files, gathered: 0 })
    }

    /// Adds a sample of every prim.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn frame(&mut self, outputs: &mut Outputs, prims: &[PrimFrame]) -> Result<()> {
        for ((_, bytes), prim) in self.files.iter_mut().zip(prims) {
            self.gathered += size_of_val(prim.points.as_slice());
            put(bytes, &prim.points);
        }
        match self.gathered > GATHERED {
            true => self.flush(outputs),
            false => Ok(()),
        }
    }

    /// Writes the remaining samples.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn flush(&mut self, outputs: &mut Outputs) -> Result<()> {
        for (file, bytes) in &mut self.files {
            outputs.append(*file, bytes)?;
            bytes.clear();
        }
        self.gathered = 0;
        Ok(())
    }
}

fn header(clip: &Clip, points: usize) -> Option<Vec<u8>> {
    let mut out = b"POINTCACHE2\0".to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend(i32::try_from(points).ok()?.to_le_bytes());
    out.extend((clip.first() as f32).to_le_bytes());
    out.extend((clip.step as f32).to_le_bytes());
    out.extend(i32::try_from(clip.len()).ok()?.to_le_bytes());
    Some(out)
}

fn put(bytes: &mut Vec<u8>, points: &[Vec3]) {
    if cfg!(target_endian = "little") {
        bytes.extend_from_slice(bytemuck::cast_slice(points));
        return;
    }
    for coordinate in points.iter().flat_map(|p| p.to_array()) {
        bytes.extend(coordinate.to_le_bytes());
    }
}

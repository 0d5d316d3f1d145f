//! The files of an output.

use std::path::{Path, PathBuf};

use super::clip::Clip;
use super::names::{self, FramePattern};
use super::prims::FramedPrim;
use super::session::FramesToBake;
use super::vat::VatFiles;
use super::{Format, pc2};
use crate::error::{Error, Result};
use sinew_io::usd::UsdFile;

/// The files of an output.
pub(super) enum Files {
    Obj {
        folder: Option<PathBuf>,
        frames: Vec<PathBuf>,
    },
    /// Each file with its binding.
    Pc2(Vec<(usize, PathBuf)>),
    Vat(VatFiles),
}

impl Files {
    pub fn new(asked: FramesToBake<'_>, prims: &[FramedPrim], clip: &Clip) -> Result<Self> {
        let output = asked.output;
        Ok(match asked.format {
            Format::Pc2 => {
                let paths: Vec<&str> = prims
                    .iter()
                    .map(|p| asked.scene.bindings[p.binding].path.as_str())
                    .collect();
                let files = pc2::files(output, &paths);
                Self::Pc2(prims.iter().map(|p| p.binding).zip(files).collect())
            }
            Format::Exr | Format::Png => Self::Vat(VatFiles::of(output)),
            // Bone textures name their files themselves.
            Format::Obj | Format::Usd | Format::Bones => {
                match FramePattern::new(output).map_err(|e| Error::output(output, e))? {
                    Some(pattern) => Self::Obj {
                        folder: Some(pattern.folder().to_owned()),
                        frames: clip
                            .numbers()
                            .into_iter()
                            .map(|n| pattern.file(n))
                            .collect(),
                    },
                    None if clip.len() == 1 => Self::Obj {
                        folder: None,
                        frames: vec![output.to_owned()],
                    },
                    None => {
                        return Err(Error::FrameNumber {
                            file: output.to_owned(),
                            frames: clip.len(),
                            example: names::beside(output, ".####", None),
                        });
                    }
                }
            }
        })
    }

    fn all(&self) -> Vec<&Path> {
        match self {
            Self::Obj { frames, .. } => frames.iter().map(PathBuf::as_path).collect(),
            Self::Pc2(files) => files.iter().map(|(_, file)| file.as_path()).collect(),
            Self::Vat(files) => files.all().to_vec(),
        }
    }

    /// The folder that may be created.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Obj { folder, .. } => folder.as_deref(),
            _ => None,
        }
    }

    /// Fails if a file is one of the input, or a folder.
    pub fn check(&self, input: &UsdFile) -> Result<()> {
        for file in self.all() {
            if file.is_dir() {
                return Err(Error::output(file, "it is a folder"));
            }
            input.check_output(file)?;
        }
        Ok(())
    }
}

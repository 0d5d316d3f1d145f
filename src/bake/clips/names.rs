//! The names of a bake's clips.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The files that stand behind a stage of clips: OUT_clips/OUT.0001.usdc and so on.
pub(super) struct ClipNames {
    pub folder: PathBuf,
    stem: OsString,
}

impl ClipNames {
    pub fn of(out: &Path) -> Self {
        let stem = out.file_stem().unwrap_or_default().to_owned();
        let mut folder = stem.clone();
        folder.push("_clips");
        Self {
            folder: out.with_file_name(folder),
            stem,
        }
    }

    /// By the clip's number, from 1.
    pub fn clip(&self, number: usize) -> PathBuf {
        self.named(&format!("{number:04}"))
    }

    /// What is the same at all times.
    pub fn topology(&self) -> PathBuf {
        self.named("topology")
    }

    pub fn manifest(&self) -> PathBuf {
        self.named("manifest")
    }

    fn named(&self, what: &str) -> PathBuf {
        let mut name = self.stem.clone();
        name.push(format!(".{what}.usdc"));
        self.folder.join(name)
    }

    /// Clips that are there, or what has their names, by number.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn there(&self) -> Result<Vec<(usize, PathBuf)>> {
        let fail = |e: std::io::Error| Error::Open {
            file: self.folder.clone(),
            reason: e.to_string(),
        };
        let mut out = Vec::new();
        if !self.folder.is_dir() {
            return Ok(out);
        }
        for entry in fs::read_dir(&self.folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            let number = self.number(&path.file_name().unwrap_or_default().to_string_lossy());
            out.extend(number.map(|n| (n, path)));
        }
        out.sort();
        Ok(out)
    }

    /// Of a clip, by its file name.
    fn number(&self, name: &str) -> Option<usize> {
        let number = name.strip_prefix(&*self.stem.to_string_lossy());
        let number = number.and_then(|n| n.strip_prefix('.')?.strip_suffix(".usdc"));
        let digits = number.filter(|n| n.len() >= 4 && n.bytes().all(|b| b.is_ascii_digit()));
        digits.and_then(|n| n.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beside_the_stage() {
        let names = ClipNames::of(Path::new("shots/hero.v2.usdc"));
        let text = |p: PathBuf| p.to_str().unwrap().replace('\\', "/");
        assert_eq!(text(names.clip(7)), "shots/hero.v2_clips/hero.v2.0007.usdc");
        assert_eq!(
            text(names.clip(12345)),
            "shots/hero.v2_clips/hero.v2.12345.usdc"
        );
        assert_eq!(
            text(names.manifest()),
            "shots/hero.v2_clips/hero.v2.manifest.usdc"
        );
    }
}

//! The file names of clips.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Result;
use sinew_io::Error;

/// The files that a stage of clips refers to: OUT_clips/OUT.0001.usdc and so on.
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

    /// The file of a clip, by its number from 1.
    pub fn clip(&self, number: usize) -> PathBuf {
        self.named(&format!("{number:04}"))
    }

    /// The file with everything that does not change over time.
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

    /// Existing files with names of clips, by number.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn there(&self) -> Result<Vec<(usize, PathBuf)>> {
        let fail = |e: std::io::Error| -> crate::Error {
            let file = self.folder.clone();
            let source = e.into();
            Error::Open { file, source }.into()
        };
        let mut out = Vec::new();
        if !self.folder.is_dir() {
            return Ok(out);
        }
        for entry in fs::read_dir(&self.folder).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            let number = self.number(path.file_name().unwrap_or_default().as_encoded_bytes());
            out.extend(number.map(|n| (n, path)));
        }
        out.sort();
        Ok(out)
    }

    /// The number of a clip, from 1, by its file name.
    pub fn number(&self, name: &[u8]) -> Option<usize> {
        let number = name.strip_prefix(self.stem.as_encoded_bytes())?;
        let digits = number.strip_prefix(b".")?.strip_suffix(b".usdc")?;
        let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
        // Only as `clip` writes it.
        let written = format!("{number:04}");
        (number > 0 && written.as_bytes() == digits).then_some(number)
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
        let number = |name: &str| names.number(name.as_bytes());
        assert_eq!(number("hero.v2.0007.usdc"), Some(7));
        assert_eq!(number("hero.v2.12345.usdc"), Some(12345));
        for no in [
            "hero.v2.0000.usdc",
            "hero.v2.007.usdc",
            "hero.v2.00007.usdc",
            "hero.v2.+007.usdc",
            "hero.v2.topology.usdc",
            "hero.v3.0007.usdc",
        ] {
            assert_eq!(number(no), None, "{no}");
        }
    }
}

//! The clips that a sequence is asked for, and the files that hold them.

use std::path::{Path, PathBuf};

use sinew::error::first_few;
use sinew::skel::SkelAnimation;
use sinew_animate::humanoid::on_own_skeleton;

use crate::error::{Error, Result};
use crate::usd::{StageClip, UsdFile};
use crate::{ClipChoice, OpenOptions, read_asset};

/// The largest number of names in a message.
const MOST_NAMES: usize = 16;

/// A clip as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipRequest {
    /// The file that holds it.
    pub file: PathBuf,
    /// Its name ([`ClipChoice::Named`]) or prim path; `None` if the file has only one, or plays one
    /// itself.
    pub clip: Option<String>,
    /// The time code of the result at which it begins; `None` for the end of the clip before.
    pub start: Option<f64>,
}

impl ClipRequest {
    /// Reads `FILE[#NAME][@START]`. START is a number, so an `@` before anything else belongs to the
    /// file or the name; a `#` belongs to the file's name if that file is there.
    ///
    /// ```
    /// use sinew_io::usd::sequence::ClipRequest;
    ///
    /// let wave = ClipRequest::parse("clips.usda#/Clips/Wave@48")?;
    /// assert_eq!(wave.clip.as_deref(), Some("/Clips/Wave"));
    /// assert_eq!(wave.start, Some(48.0));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// An empty name; something else than a number behind an `@` that ends a file's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let is_file = |name: &str| Path::new(name).is_file();
        let plain = |file: &str, start| Self {
            file: PathBuf::from(file),
            clip: None,
            start,
        };
        if is_file(text) {
            return Ok(plain(text, None));
        }
        let (rest, start) = match text.rsplit_once('@') {
            Some((rest, number)) => match number.parse::<f64>() {
                Ok(start) if start.is_finite() => (rest, Some(start)),
                _ if is_file(rest) => {
                    return Err(format!(
                        "{text}: expected a time code after @, found '{number}'"
                    ));
                }
                _ => (text, None),
            },
            None => (text, None),
        };
        if is_file(rest) {
            return Ok(plain(rest, start));
        }
        let mut hashes = rest.match_indices('#').map(|(at, _)| at);
        let there = hashes.clone().find(|at| is_file(&rest[..*at]));
        let Some(at) = there.or_else(|| hashes.next()) else {
            return Ok(plain(rest, start));
        };
        let clip = &rest[at + 1..];
        if clip.is_empty() {
            return Err(format!("{text}: expected a clip's name after #"));
        }
        Ok(Self {
            clip: Some(clip.to_owned()),
            ..plain(&rest[..at], start)
        })
    }

    /// The error of this file.
    pub(super) fn refuse<T>(&self, reason: String) -> Result<T> {
        let file = self.file.clone();
        Err(Error::Edit { file, reason })
    }

    /// Opens the file of the clip, once, and gives its index in `opened`. Other formats than USD are
    /// converted, with the clip that is asked for.
    pub(super) fn open<'a>(&'a self, opened: &mut Vec<Opened<'a>>) -> Result<usize> {
        let is_open = |(by, file): &Opened<'_>| {
            by.file == self.file && (!file.is_made() || by.clip == self.clip)
        };
        if let Some(known) = opened.iter().position(is_open) {
            return Ok(known);
        }
        let file = match read_asset(&self.file)? {
            None => UsdFile::open(&self.file)?,
            Some(asset) => {
                let options = OpenOptions {
                    clips: self.clip.clone().map_or(ClipChoice::All, ClipChoice::Named),
                    ..OpenOptions::default()
                };
                UsdFile::from_asset(&on_own_skeleton(asset), &options)?
            }
        };
        opened.push((self, file));
        Ok(opened.len() - 1)
    }

    /// The SkelAnimations that are meant: all of one clip.
    pub(super) fn chosen(&self, file: &UsdFile) -> Result<Vec<(StageClip, SkelAnimation)>> {
        let mut clips = match &self.clip {
            // A file of another format was converted with only the clip that was asked for.
            Some(name) if !file.is_made() => file.find_clip(name)?,
            _ => file.stage_clips()?,
        };
        let is_one = |clips: &[StageClip]| clips.windows(2).all(|w| w[0].name == w[1].name);
        if self.clip.is_none() && !is_one(&clips) {
            // Of several a USD file may play one itself.
            let plays = |clip: &&StageClip| !file.is_made() && !clip.drives.is_empty();
            let driving = clips.iter().filter(plays);
            let driving: Vec<StageClip> = driving.cloned().collect();
            if driving.is_empty() || !is_one(&driving) {
                let names: Vec<&str> = clips.iter().map(|c| c.name.as_str()).collect();
                return self.undecided(&names);
            }
            clips = driving;
        }
        if clips.is_empty() {
            return self.undecided(&[]);
        }
        let animations = file.animations()?;
        let animation = |clip: StageClip| {
            let animation = animations.iter().find(|a| a.path == clip.path)?;
            Some((clip, animation.clone()))
        };
        Ok(clips.into_iter().filter_map(animation).collect())
    }

    /// The error of a file without exactly one clip.
    fn undecided<T>(&self, names: &[&str]) -> Result<T> {
        let file = self.file.display();
        self.refuse(match names {
            [] => "no clip in this file".to_owned(),
            [first, ..] => format!(
                "the file has several clips; choose one with #, as in {file}#{first}: {}",
                first_few(names, MOST_NAMES)
            ),
        })
    }
}

/// A file that is open, and the first request of it.
pub(super) type Opened<'a> = (&'a ClipRequest, UsdFile);

#[cfg(test)]
mod tests {
    use super::*;

    /// Each text, and the file, clip and start in it.
    #[test]
    fn clips_are_asked_for() {
        for (text, file, clip, start) in [
            ("a.usda", "a.usda", None, None),
            ("a.usda@24", "a.usda", None, Some(24.0)),
            ("a.usda@-1.5", "a.usda", None, Some(-1.5)),
            (r"C:\a.usda#/C/W@1e2", r"C:\a.usda", Some("/C/W"), Some(1e2)),
            ("me@home/a.usda", "me@home/a.usda", None, None),
            (
                "a.usda#Rig|Wave@home",
                "a.usda",
                Some("Rig|Wave@home"),
                None,
            ),
        ] {
            let (file, clip) = (PathBuf::from(file), clip.map(str::to_owned));
            let expected = ClipRequest { file, clip, start };
            assert_eq!(ClipRequest::parse(text), Ok(expected));
        }
        assert!(ClipRequest::parse("a.usda#@3").is_err());
    }

    #[test]
    fn names_of_files_that_are_there_win() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("take#2@3");
        std::fs::write(&odd, "").unwrap();
        let name = odd.to_str().unwrap();
        let request = |text: String| ClipRequest::parse(&text);
        assert_eq!(request(name.to_owned()).unwrap().clip, None);
        let wave = request(format!("{name}#Wave@5")).unwrap();
        assert_eq!(wave.file, odd);
        assert_eq!(
            (wave.clip.as_deref(), wave.start),
            (Some("Wave"), Some(5.0))
        );
        assert!(request(format!("{name}@now")).is_err());
    }
}

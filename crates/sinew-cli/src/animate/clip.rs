//! The clips that `sinew animate` is given, and the files that hold them.

use std::path::{Path, PathBuf};

use sinew::skel::SkelAnimation;
use sinew_io::usd::{StageClip, UsdFile, find_asset_clip};
use sinew_io::{ClipChoice, OpenOptions, read_asset};

use crate::error::{Error, Result};

/// A clip as it was asked for: `FILE[#NAME][@START]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    pub file: PathBuf,
    /// A name, as for --clip, or a prim path.
    pub clip: Option<String>,
    /// The time code at which it begins.
    pub start: Option<f64>,
}

impl Request {
    /// Reads `FILE[#NAME][@START]`. START is a number, so an `@` before anything else belongs to the
    /// file or the name; a `#` belongs to the file's name if that file is there.
    ///
    /// # Errors
    /// An empty name; something else than a number behind an `@` that ends a file's name.
    pub fn parse(text: &str) -> Result<Self> {
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
                    return Err(Error::Usage(format!(
                        "{text}: expected a time code after @, found '{number}'"
                    )));
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
            return Err(Error::Usage(format!(
                "{text}: expected a clip's name after #"
            )));
        }
        Ok(Self {
            clip: Some(clip.to_owned()),
            ..plain(&rest[..at], start)
        })
    }
}

/// A file that is open. Other formats than USD are converted with one clip.
pub struct Opened {
    path: PathBuf,
    clip: Option<String>,
    pub file: UsdFile,
}

/// Opens the file of a request, once, and gives its index in `opened`.
///
/// # Errors
/// The file cannot be read, or has no clip as asked.
pub fn open(request: &Request, opened: &mut Vec<Opened>) -> Result<usize> {
    let is_open = |o: &Opened| {
        o.path == request.file && (o.file.origin().is_none() || o.clip == request.clip)
    };
    if let Some(known) = opened.iter().position(is_open) {
        return Ok(known);
    }
    let file = match read_asset(&request.file)? {
        None => UsdFile::open(&request.file)?,
        Some(asset) => {
            let clip = match &request.clip {
                Some(name) => find_asset_clip(&asset, name)?,
                None => match asset.clips.len() {
                    1 => 0,
                    _ => {
                        let names = asset.clips.iter().map(|c| c.name.as_str());
                        return Err(undecided(request, &names.collect::<Vec<_>>()));
                    }
                },
            };
            let options = OpenOptions {
                clips: ClipChoice::Named(asset.clips[clip].name.clone()),
                ..OpenOptions::default()
            };
            sinew_io::open_with(&request.file, &options)?
        }
    };
    opened.push(Opened {
        path: request.file.clone(),
        clip: request.clip.clone(),
        file,
    });
    Ok(opened.len() - 1)
}

/// The SkelAnimations that a request means: all of one clip.
///
/// # Errors
/// The file has no clip as asked, or several.
pub fn chosen(request: &Request, file: &UsdFile) -> Result<Vec<(StageClip, SkelAnimation)>> {
    let mut clips = match &request.clip {
        // A file of another format was converted with only the clip that was asked for.
        Some(name) if file.origin().is_none() => file.find_clip(name)?,
        _ => file.stage_clips()?,
    };
    if request.clip.is_none() {
        let is_one = |clips: &[StageClip]| clips.windows(2).all(|w| w[0].name == w[1].name);
        if !is_one(&clips) {
            // Of several the file may play one itself.
            let driving = clips.iter().filter(|c| !c.drives.is_empty());
            let driving: Vec<StageClip> = driving.cloned().collect();
            if driving.is_empty() || !is_one(&driving) {
                let names: Vec<&str> = clips.iter().map(|c| c.name.as_str()).collect();
                return Err(undecided(request, &names));
            }
            clips = driving;
        }
    }
    if clips.is_empty() {
        return Err(undecided(request, &[]));
    }
    let animations = file.animations()?;
    let animation = |clip: StageClip| {
        let animation = animations.iter().find(|a| a.path == clip.path)?;
        Some((clip, animation.clone()))
    };
    Ok(clips.into_iter().filter_map(animation).collect())
}

/// The error of a file without exactly one clip.
fn undecided(request: &Request, names: &[&str]) -> Error {
    const MOST_NAMES: usize = 16;
    let file = request.file.display();
    Error::Message(match names {
        [] => format!("{file}: no clip in this file"),
        [first, ..] => format!(
            "{file}: the file has several clips; choose one with #, as in {file}#{first}: {}",
            sinew::error::first_few(names, MOST_NAMES)
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_are_asked_for() {
        let parse = |text: &str| {
            let request = Request::parse(text).unwrap();
            let file = request.file.to_str().unwrap().to_owned();
            (file, request.clip, request.start)
        };
        let clip = |name: &str| Some(name.to_owned());
        let file = |name: &str| name.to_owned();
        assert_eq!(parse("a.usda"), (file("a.usda"), None, None));
        assert_eq!(parse("a.usda@24"), (file("a.usda"), None, Some(24.0)));
        assert_eq!(parse("a.usda@-1.5"), (file("a.usda"), None, Some(-1.5)));
        let both = parse(r"C:\clips\a.usda#/Clips/Wave@1e2");
        assert_eq!(
            both,
            (file(r"C:\clips\a.usda"), clip("/Clips/Wave"), Some(100.0))
        );
        assert_eq!(
            parse("me@home/a.usda"),
            (file("me@home/a.usda"), None, None)
        );
        let at = parse("a.usda#Rig|Wave@home");
        assert_eq!(at, (file("a.usda"), clip("Rig|Wave@home"), None));
        assert!(Request::parse("a.usda#@3").is_err());
    }

    #[test]
    fn names_of_files_that_are_there_win() {
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("take#2@3");
        std::fs::write(&odd, "").unwrap();
        let odd = odd.to_str().unwrap();
        let request = |text: String| Request::parse(&text).unwrap();
        assert_eq!(request(odd.to_owned()).clip, None);
        let wave = request(format!("{odd}#Wave@5"));
        assert_eq!(wave.file.to_str(), Some(odd));
        assert_eq!(
            (wave.clip.as_deref(), wave.start),
            (Some("Wave"), Some(5.0))
        );
        assert!(Request::parse(&format!("{odd}@now")).is_err());
    }
}

//! A clip that was dropped on a character: retargeted as `sinew retarget` does, and how.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew::Warning;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_animate::retarget::{MatchChoice, MatchHow, MatchRow};
use sinew_io::retarget::{Error, Request, Retargeted, Source, SourceRequest, Target, retarget};
use sinew_io::usd::UsdFile;
use sinew_io::{OpenOptions, read_asset};
use sinew_render::Loaded;

use super::clips::{self, ClipEntry};
use super::loader::{Failed, Ready, Task};

/// A clip for another character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    pub file: PathBuf,
    /// Name of the clip; `None` for the one that the file begins with.
    pub clip: Option<String>,
    /// The best guess takes the place of bones that are not recognised.
    pub guess: bool,
}

impl Motion {
    pub fn new(file: PathBuf) -> Self {
        Self {
            file,
            ..Self::default()
        }
    }
}

/// Which joint of the character follows which joint of the clip's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    pub motion: Motion,
    pub rows: Vec<MatchRow>,
    /// How the bones of both sides were found.
    pub origins: [Option<String>; 2],
    /// Joints of the clip's file that no joint follows, and joints that stay at rest.
    pub unmatched: [Vec<String>; 2],
    /// Factor of the root's motion.
    pub root_scale: f64,
    pub warnings: Vec<Warning>,
}

impl Matched {
    fn new(motion: Motion, moved: &Retargeted) -> Self {
        let (source, target) = (&moved.source, &moved.target);
        Self {
            motion,
            rows: moved.matching.rows(source, target),
            origins: moved.matching.origins(),
            unmatched: moved.matching.unmatched(source, target),
            root_scale: moved.retargeter.root_scale(),
            warnings: moved.warnings.clone(),
        }
    }

    /// How many rows were found in this way.
    pub fn count(&self, how: MatchHow) -> usize {
        self.rows.iter().filter(|r| r.how == how).count()
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        let row = |r: &MatchRow| {
            let how = r.how.name();
            json!({"bone": r.bone, "source": r.source, "target": r.target, "how": how})
        };
        json!({
            "source": self.motion.file,
            "named": self.count(MatchHow::Named),
            "guessed": self.count(MatchHow::Guessed),
            "missing": self.count(MatchHow::Missing),
            "origins": self.origins,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "unmatched_source": self.unmatched[0],
            "unmatched_target": self.unmatched[1],
            "root_scale": self.root_scale,
            "warnings": self.warnings,
        })
    }
}

/// Reads the clip's file and the character, and moves the clip to it. `others` are the clips that
/// the list shows besides those of the clip's file.
pub fn retargeted(motion: &Motion, onto: &Path, others: &[ClipEntry]) -> Result<Ready, Failed> {
    let own = listed(&motion.file)?;
    let mut request = SourceRequest::new(&motion.file);
    // Of clips that belong together all play, unless one was asked for.
    let joined = || {
        own.first()
            .map(|c| c.name.clone())
            .filter(|n| n.contains('+'))
    };
    request.clip = motion.clip.clone().or_else(joined);
    let matches = match motion.guess {
        true => MatchChoice::Guess,
        false => MatchChoice::Auto,
    };
    let options = Request {
        matches,
        ..Request::default()
    };
    let attempt = |request: &SourceRequest| {
        let source = Source::open(request)?;
        let target = Target::open(onto, None, &source)?;
        let moved = retarget(&source, &target, &options)?;
        Ok::<_, Error>((source, target, moved))
    };
    let result = match attempt(&request) {
        // A clip without a skeleton may have been made for this very character.
        Err(Error::NoSkeleton {
            needs_model: true, ..
        }) => {
            request.model = Some(onto.to_owned());
            attempt(&request)
        }
        result => result,
    };
    let (source, mut target, moved) = result.map_err(|e| failed(&e, motion))?;
    let file = &mut target.file;
    file.set_animation(
        &moved.skeleton,
        "Animation",
        &moved.animation,
        &moved.time_line,
    )?;
    let loaded = Loaded::of(file, &OpenOptions::default())?;
    let mut files = file.layer_files();
    files.extend([onto.to_owned(), motion.file.clone()]);
    let played = match source.file.origin() {
        Some(origin) => request
            .clip
            .clone()
            .or_else(|| Some(origin.clips.first()?.0.clone())),
        None => Some(moved.clip.clone()),
    };
    let motion = Motion {
        clip: played.clone(),
        ..motion.clone()
    };
    let is_own = |c: &ClipEntry| c.from.is_none();
    let first = (!others.iter().any(is_own)).then(ClipEntry::as_authored);
    let others: Vec<ClipEntry> = first
        .iter()
        .chain(others)
        .filter(|c| c.from.as_ref() != Some(&motion.file))
        .cloned()
        .collect();
    let clip = played
        .and_then(|name| clips::find(&own, &name))
        .map(|i| others.len() + i);
    Ok(Ready {
        clips: others.iter().cloned().chain(own).collect(),
        clip,
        matched: Some(Matched::new(motion.clone(), &moved)),
        task: Task::Retarget {
            motion,
            onto: onto.to_owned(),
            others,
        },
        files,
        loaded,
        walk: None,
    })
}

/// The clips of a motion's file.
fn listed(file: &PathBuf) -> Result<Vec<ClipEntry>, Failed> {
    Ok(match read_asset(file)? {
        Some(asset) => clips::of_asset(&on_own_skeleton(asset), Some(file)),
        None => clips::of_animations(&UsdFile::open(file)?.animations()?, Some(file)),
    })
}

fn failed(error: &Error, motion: &Motion) -> Failed {
    let guess = match error {
        Error::Animate(sinew_animate::Error::NoMatch(no)) if !no.guess.pairs.is_empty() => {
            Some(Motion {
                guess: true,
                ..motion.clone()
            })
        }
        _ => None,
    };
    Failed {
        message: error.to_string(),
        guess: guess.filter(|_| !motion.guess),
    }
}

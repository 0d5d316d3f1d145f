//! A clip that was dropped on a character: retargeted as `sinew retarget` does, and how.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sinew::Warning;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_animate::retarget::{BoneMap, MatchChoice, MatchHow, MatchRow};
use sinew_io::retarget::{
    Error, Request, Retargeted, Side, Source, SourceRequest, Target, retarget,
};
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
    let asked = request.clip.clone();
    let matches = match motion.guess {
        true => MatchChoice::Guess,
        false => MatchChoice::Auto,
    };
    let options = Request {
        matches,
        ..Request::default()
    };
    let ask = Ask {
        source: request,
        onto,
        skeleton: None,
        options: &options,
    };
    let done = ask.answer().map_err(|e| failed(&e, motion))?;
    let (source, mut target, moved) = (done.source, done.target, done.moved);
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
        Some(origin) => asked.or_else(|| Some(origin.clips.first()?.0.clone())),
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

/// A clip, and the character that it is for.
#[derive(Clone)]
struct Ask<'a> {
    source: SourceRequest,
    onto: &'a Path,
    /// Path of the character's skeleton.
    skeleton: Option<String>,
    options: &'a Request,
}

struct Answer {
    source: Source,
    target: Target,
    moved: Retargeted,
}

/// The largest number of skeletons of a file that are tried.
const MOST_SKELETONS: usize = 8;

impl Ask<'_> {
    /// Retargets the clip. What `sinew retarget` asks its user for is found out: the skeleton of a
    /// clip that has none is the character's, and of several skeletons the one counts whose joints
    /// match best.
    fn answer(&self) -> Result<Answer, Error> {
        match self.try_once() {
            Err(Error::NoSkeleton {
                needs_model: true, ..
            }) => {
                let mut ask = self.clone();
                ask.source.model = Some(self.onto.to_owned());
                ask.answer()
            }
            Err(Error::SeveralSkeletons { file, side, paths }) => {
                let tried = paths.iter().take(MOST_SKELETONS).map(|path| {
                    let mut ask = self.clone();
                    match side {
                        Side::Source => ask.source.skeleton = Some(path.clone()),
                        Side::Target => ask.skeleton = Some(path.clone()),
                    }
                    (path, ask.answer())
                });
                let pairs = |answer: &Answer| answer.moved.matching.map.pairs.len();
                let mut best: Option<(&String, Answer)> = None;
                let mut error = None;
                for (path, answer) in tried {
                    match answer {
                        Ok(a) if best.as_ref().is_none_or(|(_, b)| pairs(&a) > pairs(b)) => {
                            best = Some((path, a));
                        }
                        Ok(_) => {}
                        Err(e) => error = error.or(Some(e)),
                    }
                }
                let Some((path, mut answer)) = best else {
                    return Err(error.unwrap_or(Error::SeveralSkeletons { file, side, paths }));
                };
                let message = format!(
                    "the file has {} skeletons: the one whose joints match best was taken",
                    paths.len()
                );
                let at = format!("{} <{path}>", file.display());
                let warning = Warning::new("retarget-skeleton", at, message);
                answer.moved.warnings.push(warning);
                Ok(answer)
            }
            result => result,
        }
    }

    fn try_once(&self) -> Result<Answer, Error> {
        let source = Source::open(&self.source)?;
        let target = Target::open(self.onto, self.skeleton.as_deref(), &source)?;
        let moved = retarget(&source, &target, self.options)?;
        Ok(Answer {
            source,
            target,
            moved,
        })
    }
}

/// The clips of a motion's file.
fn listed(file: &PathBuf) -> Result<Vec<ClipEntry>, Failed> {
    Ok(match read_asset(file)? {
        Some(asset) => clips::of_asset(&on_own_skeleton(asset), Some(file)),
        None => clips::of_animations(&UsdFile::open(file)?.animations()?, Some(file)),
    })
}

fn failed(error: &Error, motion: &Motion) -> Failed {
    let no_match = match error {
        Error::Animate(error) => match &**error {
            sinew_animate::Error::NoMatch(no_match) => Some(no_match),
            _ => None,
        },
        _ => None,
    };
    let is_new = |guess: &BoneMap| !guess.pairs.is_empty() && !motion.guess;
    let guess = no_match.filter(|no| is_new(&no.guess)).map(|_| Motion {
        guess: true,
        ..motion.clone()
    });
    Failed {
        message: error.to_string(),
        guess,
    }
}

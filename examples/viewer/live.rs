//! A clip that was dropped on a character: retargeted as `sinew retarget` does, and how.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sinew::Warning;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_animate::retarget::{Bone, MatchChoice, MatchHow, MatchRow};
use sinew_io::read_asset_from;
use sinew_io::retarget::{
    Error, Request, Retargeted, Side, Source, SourceRequest, Target, retarget,
};
use sinew_io::usd::UsdFile;
use sinew_render::Loaded;

use super::clips::{self, ClipEntry};
use super::files::{self, Selected};
use super::loader::{Failed, Ready, Task};

/// Which joint of the character follows which joint of the clip's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    /// The clip, and the character.
    pub task: Task,
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
    fn new(task: Task, moved: &Retargeted) -> Self {
        let (source, target) = (&moved.source, &moved.target);
        Self {
            task,
            rows: moved.matching.rows(source, target),
            origins: moved.matching.origins(),
            unmatched: moved.matching.unmatched(source, target),
            root_scale: moved.retargeter.root_scale(),
            warnings: moved.warnings.clone(),
        }
    }

    /// The command line that writes this clip for the character.
    pub fn command(&self) -> String {
        let quoted = |text: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
            match !text.is_empty() && text.chars().all(is_plain) {
                true => text.to_owned(),
                false => format!("'{}'", text.replace('\'', r"'\''")),
            }
        };
        let path = |file: &Path| quoted(&file.to_string_lossy());
        let onto = self.task.onto.as_deref().unwrap_or(Path::new(""));
        let stem = |file: &Path| {
            file.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let out = format!("{}_{}.usda", stem(onto), stem(&self.task.file));
        let clip = self.task.clip.as_ref();
        let clip = clip.map_or_else(String::new, |name| format!(" --clip {}", quoted(name)));
        let map = if self.task.guess { " --map guess" } else { "" };
        format!(
            "sinew retarget {} {} -o {}{clip}{map}",
            path(&self.task.file),
            path(onto),
            quoted(&out)
        )
    }

    /// How many rows were found in this way.
    pub fn count(&self, how: MatchHow) -> usize {
        self.rows.iter().filter(|r| r.how == how).count()
    }

    /// The rows of main bones that one side lacks.
    pub fn lacking(&self) -> impl Iterator<Item = &MatchRow> {
        self.missing().filter(|r| is_main(r))
    }

    /// The rows of optional bones that one side lacks: fingers, toes, eyes and the like.
    pub fn optional(&self) -> impl Iterator<Item = &MatchRow> {
        self.missing().filter(|r| !is_main(r))
    }

    fn missing(&self) -> impl Iterator<Item = &MatchRow> {
        self.rows.iter().filter(|r| r.how == MatchHow::Missing)
    }

    /// How many main bones are matched, and how many either side has.
    pub fn main(&self) -> [usize; 2] {
        let all = self.rows.iter().filter(|r| is_main(r)).count();
        [all - self.lacking().count(), all]
    }

    /// The warnings about the match itself.
    pub fn own_warnings(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().filter(|w| is_own(w))
    }

    /// The warnings about the two files.
    pub fn of_files(&self) -> impl Iterator<Item = &Warning> {
        self.warnings.iter().filter(|w| !is_own(w))
    }

    /// Whether a warning only repeats what [`Matched::summary`] says calmly: the clip moves optional
    /// bones that the character lacks.
    pub fn is_told_calmly(&self, warning: &Warning) -> bool {
        let has_bones = self.rows.iter().any(is_main);
        warning.code == "retarget-bone-missing" && has_bones && self.lacking().next().is_none()
    }

    /// How good the match is, in a few lines.
    pub fn summary(&self) -> Vec<(Tone, String)> {
        let is_guess = self.rows.iter().any(|r| r.how == MatchHow::Guessed);
        let (good, how) = match is_guess {
            true => (Tone::Doubtful, "guessed"),
            false => (Tone::Good, "matched"),
        };
        let [matched, all] = self.main();
        let others = self.rows.len() - all - self.optional().count();
        let mut out = Vec::new();
        match all {
            0 => out.push((good, format!("{} {how}", count(others, "joint")))),
            _ => {
                let tone = if matched < all { Tone::Bad } else { good };
                out.push((tone, format!("{matched} of {all} main bones {how}")));
            }
        }
        for (side, has) in [("clip", is_in_source as Has), ("character", is_in_target)] {
            let lacks = self.lacking().filter(|r| !has(r));
            let names: Vec<&str> = lacks.filter_map(|r| r.bone).collect();
            if !names.is_empty() {
                out.push((Tone::Bad, format!("the {side} lacks {}", names.join(", "))));
            }
        }
        if all > 0 && others > 0 {
            out.push((
                Tone::Calm,
                format!("{} {how} too", count(others, "other joint")),
            ));
        }
        for (side, has) in [("clip", is_in_source as Has), ("character", is_in_target)] {
            let only = self.optional().filter(|r| has(r)).count();
            if only > 0 {
                let bones = count(only, "optional bone");
                out.push((Tone::Calm, format!("{bones} of the {side} alone")));
            }
        }
        out
    }

    /// For scripts.
    pub fn json(&self) -> Value {
        let names = |rows: Vec<&MatchRow>| -> Vec<&str> {
            rows.into_iter().filter_map(|r| r.bone).collect()
        };
        let summary = self.summary().into_iter().map(|(_, text)| text);
        let row = |r: &MatchRow| {
            let how = r.how.name();
            json!({"bone": r.bone, "source": r.source, "target": r.target, "how": how})
        };
        json!({
            "source": self.task.file,
            "command": self.command(),
            "named": self.count(MatchHow::Named),
            "guessed": self.count(MatchHow::Guessed),
            "missing": self.count(MatchHow::Missing),
            "main": self.main(),
            "main_missing": names(self.lacking().collect()),
            "optional_missing": names(self.optional().collect()),
            "summary": summary.collect::<Vec<_>>(),
            "origins": self.origins,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "unmatched_source": self.unmatched[0],
            "unmatched_target": self.unmatched[1],
            "root_scale": self.root_scale,
            "warnings": self.warnings,
        })
    }
}

/// How a line of a summary is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    /// It may be wrong.
    Doubtful,
    /// Something that matters lacks.
    Bad,
    /// Good to know.
    Calm,
}

fn is_own(warning: &Warning) -> bool {
    warning.code.starts_with("retarget")
}

type Has = fn(&MatchRow) -> bool;

fn is_in_source(row: &MatchRow) -> bool {
    row.source.is_some()
}

fn is_in_target(row: &MatchRow) -> bool {
    row.target.is_some()
}

/// Whether a row is of a bone that every humanoid has.
pub fn is_main(row: &MatchRow) -> bool {
    row.bone
        .is_some_and(|name| Bone::MAIN.iter().any(|b| b.name() == name))
}

/// `1 joint`, `2 joints`.
fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// A clip that was moved to a character.
pub struct Moved {
    pub source: Source,
    /// The character, with the clip.
    pub target: Target,
    clip: Retargeted,
    /// What was selected that the character has.
    selected: Selected,
    /// All clips of the motion's file, and the one that was asked for.
    own: Vec<ClipEntry>,
    asked: Option<String>,
}

/// Reads the file of a task's clip and the character, and moves the clip to it.
pub fn moved(task: &Task, onto: &Path) -> Result<Moved, Failed> {
    let own = listed(&task.file)?;
    let mut request = SourceRequest {
        files: files::options().files,
        ..SourceRequest::new(&task.file)
    };
    // Of clips that belong together all play, unless one was asked for.
    let joined = || {
        own.first()
            .map(|c| c.name.clone())
            .filter(|n| n.contains('+'))
    };
    request.clip = task.clip.clone().or_else(joined);
    let asked = request.clip.clone();
    let matches = match task.guess {
        true => MatchChoice::Guess,
        false => MatchChoice::Auto,
    };
    let options = Request {
        matches,
        ..Request::default()
    };
    let mut selected = task.selected.clone();
    if !selected.variants.is_empty() {
        selected.open(onto)?;
    }
    let done = Files::retargeted(request, onto, &selected, &options);
    let (opened, clip) = done.map_err(|e| failed(&e, task))?;
    let Files { source, mut target } = opened;
    let (animation, times) = (&clip.animation, &clip.time_line);
    let file = &mut target.file;
    file.set_animation(&clip.skeleton, "Animation", animation, times)?;
    Ok(Moved {
        source,
        target,
        clip,
        selected,
        own,
        asked,
    })
}

/// What is shown of a clip that was moved to a character.
pub fn retargeted(task: &Task, onto: &Path) -> Result<Ready, Failed> {
    let moved = moved(task, onto)?;
    let (file, own) = (&moved.target.file, moved.own);
    let loaded = Loaded::of(file, &files::options())?;
    let mut read = file.layer_files();
    read.extend([onto.to_owned(), task.file.clone()]);
    let played = match moved.source.file.origin() {
        Some(origin) => moved
            .asked
            .or_else(|| Some(origin.clips.first()?.0.clone())),
        None => Some(moved.clip.clip.clone()),
    };
    let is_own = |c: &ClipEntry| c.from.is_none();
    let first = (!task.others.iter().any(is_own)).then(ClipEntry::as_authored);
    let others: Vec<ClipEntry> = first
        .iter()
        .chain(&task.others)
        .filter(|c| c.from.as_ref() != Some(&task.file))
        .cloned()
        .collect();
    let clip = played
        .as_ref()
        .and_then(|name| clips::find(&own, name))
        .map(|i| others.len() + i);
    let mut clips: Vec<ClipEntry> = others.iter().cloned().chain(own).collect();
    clips::tell_apart(&mut clips);
    let task = Task {
        clip: played,
        is_drop: false,
        others,
        selected: moved.selected,
        ..task.clone()
    };
    let variant_sets = (!file.is_made()).then(|| file.variant_sets());
    Ok(Ready {
        variant_sets,
        clips,
        clip,
        matched: Some(Arc::new(Matched::new(task.clone(), &moved.clip))),
        task,
        files: read,
        loaded,
        walk: None,
    })
}

/// The largest number of skeletons of a file that are tried.
const MOST_SKELETONS: usize = 8;

/// The file of a clip, and that of the character that it is for.
struct Files {
    source: Source,
    target: Target,
}

impl Files {
    fn open(source: &SourceRequest, onto: &Path, selected: &Selected) -> Result<Self, Error> {
        let source = Source::open(source)?;
        let target = Target::open_with(onto, None, &source, &selected.options())?;
        Ok(Self { source, target })
    }

    /// Retargets a clip. What `sinew retarget` asks its user for is found out: the skeleton of a
    /// clip that has none is the character's, and of several skeletons the one counts whose joints
    /// match best.
    fn retargeted(
        mut request: SourceRequest,
        onto: &Path,
        selected: &Selected,
        options: &Request,
    ) -> Result<(Self, Retargeted), Error> {
        let mut files = Self::open(&request, onto, selected)?;
        let mut moved = files.with_the_best_target(options);
        if let Err(Error::NoSkeleton {
            needs_model: true, ..
        }) = &moved
        {
            request.model = Some(onto.to_owned());
            files = Self::open(&request, onto, selected)?;
            moved = files.with_the_best_target(options);
        }
        if let Err(Error::SeveralSkeletons {
            file,
            side: Side::Source,
            paths,
        }) = moved
        {
            // A clip of human bones is applied to all skeletons of its file if one is asked for.
            request.skeleton = paths.first().cloned();
            files = Self::open(&request, onto, selected)?;
            moved = best(&file, Side::Source, paths, |path| {
                files.source.choose_skeleton(path);
                files.with_the_best_target(options)
            });
        }
        Ok((files, moved?))
    }

    fn with_the_best_target(&mut self, options: &Request) -> Result<Retargeted, Error> {
        self.target.choose_skeleton(None);
        match retarget(&self.source, &self.target, options) {
            Err(Error::SeveralSkeletons {
                file,
                side: Side::Target,
                paths,
            }) => best(&file, Side::Target, paths, |path| {
                self.target.choose_skeleton(Some(path));
                retarget(&self.source, &self.target, options)
            }),
            result => result,
        }
    }
}

/// The skeleton of a file whose joints match best, with a warning.
fn best(
    file: &Path,
    side: Side,
    paths: Vec<String>,
    mut tried: impl FnMut(&str) -> Result<Retargeted, Error>,
) -> Result<Retargeted, Error> {
    let pairs = |moved: &Retargeted| moved.matching.map.pairs.len();
    let mut best: Option<(&String, Retargeted)> = None;
    let mut error = None;
    for path in paths.iter().take(MOST_SKELETONS) {
        match tried(path) {
            Ok(m) if best.as_ref().is_none_or(|(_, b)| pairs(&m) > pairs(b)) => {
                best = Some((path, m));
            }
            Ok(_) => {}
            Err(e) => error = error.or(Some(e)),
        }
    }
    let Some((path, mut moved)) = best else {
        let file = file.to_owned();
        return Err(error.unwrap_or(Error::SeveralSkeletons { file, side, paths }));
    };
    let message = format!(
        "the file has {} skeletons: the one whose joints match best was taken",
        paths.len()
    );
    let at = format!("{} <{path}>", file.display());
    moved
        .warnings
        .push(Warning::new("retarget-skeleton", at, message));
    Ok(moved)
}

/// The clips of a motion's file.
fn listed(file: &PathBuf) -> Result<Vec<ClipEntry>, Failed> {
    let options = files::options();
    Ok(match read_asset_from(&options.files, file)? {
        Some(asset) => clips::of_asset(&on_own_skeleton(asset), Some(file)),
        None => {
            let file_of_it = UsdFile::open_with(file, &options)?;
            clips::of_animations(&file_of_it.animations()?, Some(file))
        }
    })
}

fn failed(error: &Error, task: &Task) -> Failed {
    let no_match = match error {
        Error::Animate(error) => match &**error {
            sinew_animate::Error::NoMatch(no_match) => Some(no_match),
            _ => None,
        },
        _ => None,
    };
    let has_guess = no_match.is_some_and(|no| !no.guess.pairs.is_empty());
    Failed {
        message: error.to_string(),
        can_guess: has_guess && !task.guess,
        ..Failed::default()
    }
}

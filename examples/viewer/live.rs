//! A clip that was dropped on a character: retargeted as `sinew retarget` does, and how.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use sinew::Warning;
use sinew_animate::humanoid::on_own_skeleton;
use sinew_animate::retarget::{Bone, BoneMap, MatchChoice, MatchHow, MatchRow};
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
            "source": self.motion.file,
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
    let done = Files::retargeted(request, onto, &options);
    let (mut files, moved) = done.map_err(|e| failed(&e, motion))?;
    let (file, clip, times) = (&mut files.target.file, &moved.animation, &moved.time_line);
    file.set_animation(&moved.skeleton, "Animation", clip, times)?;
    let loaded = Loaded::of(file, &OpenOptions::default())?;
    let mut read = file.layer_files();
    read.extend([onto.to_owned(), motion.file.clone()]);
    let played = match files.source.file.origin() {
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
    let mut clips: Vec<ClipEntry> = others.iter().cloned().chain(own).collect();
    clips::tell_apart(&mut clips);
    Ok(Ready {
        clips,
        clip,
        matched: Some(Arc::new(Matched::new(motion.clone(), &moved))),
        task: Task::retarget(motion, onto.to_owned(), others),
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
    fn open(source: &SourceRequest, onto: &Path) -> Result<Self, Error> {
        let source = Source::open(source)?;
        let target = Target::open(onto, None, &source)?;
        Ok(Self { source, target })
    }

    /// Retargets a clip. What `sinew retarget` asks its user for is found out: the skeleton of a
    /// clip that has none is the character's, and of several skeletons the one counts whose joints
    /// match best.
    fn retargeted(
        mut request: SourceRequest,
        onto: &Path,
        options: &Request,
    ) -> Result<(Self, Retargeted), Error> {
        let mut files = Self::open(&request, onto)?;
        let mut moved = files.with_the_best_target(options);
        if let Err(Error::NoSkeleton {
            needs_model: true, ..
        }) = &moved
        {
            request.model = Some(onto.to_owned());
            files = Self::open(&request, onto)?;
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
            files = Self::open(&request, onto)?;
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
        ..Failed::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bone: &'static str, source: bool, target: bool) -> MatchRow {
        MatchRow {
            bone: Some(bone),
            source: source.then(|| bone.to_uppercase()),
            target: target.then(|| bone.to_owned()),
            how: match source && target {
                true => MatchHow::Named,
                false => MatchHow::Missing,
            },
        }
    }

    /// The summary of these rows after the main bones, and whether bones that lack are told calmly.
    fn told(
        main: MatchHow,
        missing: Option<usize>,
        more: &[(&'static str, bool, bool)],
    ) -> (Vec<(Tone, String)>, bool) {
        let mut rows: Vec<MatchRow> = Bone::MAIN
            .iter()
            .map(|b| row(b.name(), true, true))
            .collect();
        rows.iter_mut().for_each(|row| row.how = main);
        if let Some(missing) = missing {
            rows[missing] = row(Bone::MAIN[missing].name(), true, false);
        }
        rows.extend(
            more.iter()
                .map(|(bone, source, target)| row(bone, *source, *target)),
        );
        let matched = Matched {
            motion: Motion::new("walk.bvh".into()),
            rows,
            origins: [None, None],
            unmatched: [Vec::new(), Vec::new()],
            root_scale: 1.0,
            warnings: Vec::new(),
        };
        let warning = |code| Warning::new(code, "", "no joint follows it");
        assert!(!matched.is_told_calmly(&warning("retarget-guess")));
        let is_calm = matched.is_told_calmly(&warning("retarget-bone-missing"));
        (matched.summary(), is_calm)
    }

    #[test]
    fn a_match_is_a_success_a_doubt_or_a_failure() {
        let lines = |lines: &[(Tone, &str)]| -> Vec<(Tone, String)> {
            lines
                .iter()
                .map(|(tone, text)| (*tone, (*text).to_owned()))
                .collect()
        };
        let thumb = ("leftThumbProximal", true, false);
        let more = [
            ("neck", true, true),
            thumb,
            ("jaw", true, false),
            ("leftEye", false, true),
        ];
        // Without fingers it is a success.
        let success = lines(&[
            (Tone::Good, "15 of 15 main bones matched"),
            (Tone::Calm, "1 other joint matched too"),
            (Tone::Calm, "2 optional bones of the clip alone"),
            (Tone::Calm, "1 optional bone of the character alone"),
        ]);
        assert_eq!(told(MatchHow::Named, None, &more), (success, true));
        // A main bone that lacks is named.
        let last = Bone::MAIN.len() - 1;
        let lacks = format!("the character lacks {}", Bone::MAIN[last].name());
        let failure = lines(&[
            (Tone::Bad, "14 of 15 main bones matched"),
            (Tone::Bad, &lacks),
            (Tone::Calm, "1 optional bone of the clip alone"),
        ]);
        assert_eq!(
            told(MatchHow::Named, Some(last), &[thumb]),
            (failure, false)
        );
        let doubt = lines(&[(Tone::Doubtful, "15 of 15 main bones guessed")]);
        assert_eq!(told(MatchHow::Guessed, None, &[]), (doubt, true));
    }
}

//! Puts clips on a character, one after another, as a small layer of references.
//!
//! The layer refers to the published files wherever it can, so it shows their newest versions. A clip that
//! cannot be referred to is copied, and so is a character of another format than USD.
//!
//! ```
//! use sinew_io::usd::sequence::{ClipRequest, Request, Sequence};
//!
//! let hatchling = "../../examples/assets/hatchling.usda";
//! let request = Request {
//!     character: hatchling.into(),
//!     clips: vec![ClipRequest::parse(&format!("{hatchling}@101"))?],
//!     output: "shot.usda".into(),
//!     ..Request::default()
//! };
//! let shot = Sequence::make(&request, |_| {})?;
//! assert_eq!(shot.time_line.range.map(|r| r.0), Some(101.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod converted;
mod form;
mod layer;
mod matching;
mod request;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use sinew::error::{Invalid, Warning};
use sinew::scene::{PlacedSkeleton, Scene, TimeLine};
use sinew_layer::Layer;

use super::write::save;
use crate::error::{Error, Result};
use crate::usd::UsdFile;
use crate::{OpenOptions, skeletons};
use converted::Converted;
use layer::{Assembly, Part, Track};
use matching::Found;
pub use request::ClipRequest;

/// A character, and the clips to put on it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The file with the character. A layer can reference only USD files, so another one is
    /// converted to `OUT_character.usdc` beside the output.
    pub character: PathBuf,
    /// How it is opened.
    pub open: OpenOptions,
    /// Paths of the skeletons to move; empty for all of them.
    pub skeletons: Vec<String>,
    /// The clips in their order. Each begins where the one before it ends, or at its own start. If
    /// clips overlap, the one that begins later takes over at its start.
    pub clips: Vec<ClipRequest>,
    /// The layer that is to be written.
    pub output: PathBuf,
}

/// A character with clips, composed in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct Sequence {
    /// The stage of the layer that is to be written.
    pub file: UsdFile,
    /// From the first start to the end of what plays last, with the rates of the first clip.
    pub time_line: TimeLine,
    /// One entry for each clip and each skeleton that it moves.
    pub clips: Vec<SequenceClip>,
    /// What cannot be posed.
    pub errors: Vec<Invalid>,
    /// What was copied, cut or guessed.
    pub warnings: Vec<Warning>,
    /// The copies of clips that are written beside the layer.
    copies: Vec<(PathBuf, Arc<Layer>)>,
    /// The character, if it was converted.
    converted: Option<Converted>,
}

/// A clip on a skeleton.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SequenceClip {
    /// The file that holds it.
    pub file: String,
    /// Its name.
    pub clip: String,
    /// Path of the SkelAnimation in its file.
    pub animation: String,
    /// Path of the skeleton in the character's file.
    pub skeleton: String,
    /// Time codes of the result. Another clip may begin before the end.
    pub start: f64,
    pub end: f64,
    /// The file that it is copied to; `None` if the layer refers to the published one.
    pub copy: Option<String>,
}

/// A clip with its place in time.
struct Played<'a> {
    request: &'a ClipRequest,
    file: &'a UsdFile,
    found: Vec<Found>,
    /// First and last time code in its own file.
    range: (f64, f64),
    /// Time codes per second of its own file.
    rate: f64,
    /// Time codes of the result.
    start: f64,
    end: f64,
}

impl Sequence {
    /// Puts clips on a character. `doing` is told what is done, for a progress line.
    ///
    /// # Errors
    /// A file that cannot be read; a character that has no skeleton as asked for;
    /// a clip that its file does not have, or that fits no skeleton; a character without one root
    /// prim above its skeletons; a skeleton that needs rest transforms for joints that a clip lacks,
    /// and has none; an output that is one of the inputs.
    pub fn make(request: &Request, mut doing: impl FnMut(&str)) -> Result<Self> {
        doing(&format!("reading {}", request.character.display()));
        let mut character = crate::open_with(&request.character, &request.open)?;
        let mut converted = None;
        if character.is_made() {
            let beside = Converted::new(character, &request.output)?;
            character = beside.stage()?;
            converted = Some(beside);
        }
        let scene = character.scene(Default::default())?;
        let targets = request.targets(&scene)?;
        let mut opened = Vec::new();
        let mut of_clip = Vec::with_capacity(request.clips.len());
        for clip in &request.clips {
            doing(&format!("reading {}", clip.file.display()));
            of_clip.push(clip.open(&mut opened)?);
        }
        let mut warnings: Vec<Warning> = converted.iter().map(Converted::warning).collect();
        for file in converted.iter().map(Converted::file) {
            for (_, clip) in &opened {
                clip.check_output(file)?;
            }
        }
        let mut played: Vec<Played<'_>> = Vec::with_capacity(of_clip.len());
        for (clip, at) in request.clips.iter().zip(of_clip) {
            let file = &opened[at].1;
            let found =
                matching::matched(clip, &clip.chosen(file)?, (&scene, &targets), &mut warnings)?;
            check_rate(clip, file)?;
            warnings.extend(other_units(clip, file, &character));
            let next = Played::new(clip, file, found, &played);
            played.push(next);
        }
        let tracks = tracks(&played, &targets, &mut warnings);
        let time_line = time_line(&played, &tracks);
        doing("composing");
        let mut work = Assembly::new(&character, &request.output, &tracks, &time_line)?;
        let in_memory = converted.iter().map(|c| c.in_memory(&request.output));
        let mut file = work.compose(&character, in_memory)?;
        let moved = file.scene(Default::default())?;
        file.author_extents(&moved, Some(&work.skeletons))?;
        warnings.append(&mut work.warnings);
        warnings.extend(moved.warnings.iter().cloned());
        let clips = clips(&played, &targets, &work);
        let copies = work.copies.into_iter().map(|c| (c.file, c.layer));
        let copies = copies.collect();
        Ok(Self {
            file,
            time_line,
            clips,
            errors: moved.errors,
            warnings,
            copies,
            converted,
        })
    }

    /// Writes the layer and the copies beside it. They appear under their names together.
    ///
    /// # Errors
    /// A file or a folder that cannot be written.
    pub fn save(&self) -> Result<()> {
        let mut outputs = save::Outputs::default();
        if let Some(character) = &self.converted {
            character.save(&mut outputs)?;
        }
        for (file, layer) in &self.copies {
            save::export_with(layer, file, &mut outputs)?;
        }
        save::export_with(&self.file.root_layer(), self.file.file(), &mut outputs)?;
        outputs.finish()
    }
}

impl Request {
    fn refuse<T>(&self, reason: String) -> Result<T> {
        let file = self.character.clone();
        Err(Error::Edit { file, reason })
    }

    /// The skeletons to move.
    fn targets<'s>(&self, scene: &'s Scene) -> Result<Vec<&'s PlacedSkeleton>> {
        let all = skeletons(scene);
        let paths: Vec<&str> = all.iter().map(|s| s.path.as_str()).collect();
        if all.is_empty() {
            return self.refuse("no skeleton in this file".to_owned());
        }
        let unknown = |path: &&String| !paths.contains(&path.as_str());
        if let Some(unknown) = self.skeletons.iter().find(unknown) {
            let paths = paths.join(", ");
            return self.refuse(format!("no skeleton at {unknown}; the file has {paths}"));
        }
        let mut chosen = all;
        if !self.skeletons.is_empty() {
            chosen.retain(|s| self.skeletons.contains(&s.path));
        }
        Ok(chosen)
    }
}

impl<'a> Played<'a> {
    fn new(
        request: &'a ClipRequest,
        file: &'a UsdFile,
        found: Vec<Found>,
        before: &[Played<'_>],
    ) -> Self {
        let times = found.iter().flat_map(|f| {
            let weights = f.animation.blend_shape_weights.times();
            f.animation.joint_times().chain(weights)
        });
        let times = times.filter(|t| t.is_finite());
        let range = times.fold(None, |range: Option<(f64, f64)>, time| {
            let (first, last) = range.unwrap_or((time, time));
            Some((first.min(time), last.max(time)))
        });
        let range = range.unwrap_or_default();
        let rate = file.time_line().time_codes_per_second;
        let factor = rates(before.first().map_or(file, |p| p.file)).0 / rate;
        let after = before.last().map(|p| p.end);
        let start = request.start.or(after).unwrap_or(range.0 * factor);
        Self {
            request,
            file,
            found,
            range,
            rate,
            start,
            end: start + (range.1 - range.0) * factor,
        }
    }

    /// What it moves on a skeleton.
    fn on(&self, skeleton: usize) -> Option<&Found> {
        self.found.iter().find(|f| f.skeleton == skeleton)
    }
}

/// Time codes and frames per second of a file.
fn rates(file: &UsdFile) -> (f64, f64) {
    let own = file.time_line();
    (own.time_codes_per_second, own.frames_per_second)
}

/// Refuses a rate by which no time can be divided.
fn check_rate(request: &ClipRequest, file: &UsdFile) -> Result<()> {
    let rate = rates(file).0;
    if rate.is_finite() && rate > 0.0 {
        return Ok(());
    }
    let error = Invalid::new(
        "/",
        "timeCodesPerSecond",
        "a rate above 0",
        rate.to_string(),
    );
    let error = error.coded("frame-rate-invalid");
    Err(error.in_file(&request.file).into())
}

/// The warning of a clip whose translations are in other units than the character's.
fn other_units(request: &ClipRequest, file: &UsdFile, character: &UsdFile) -> Option<Warning> {
    let units = [file, character].map(UsdFile::authored_meters_per_unit);
    let [Some(own), Some(theirs)] = units else {
        return None;
    };
    ((own - theirs).abs() > 1e-6 * theirs.abs()).then(|| {
        let message = format!(
            "the clip has {own} m per unit and the character {theirs}; its translations are used as they are, so the joints may come apart"
        );
        Warning::new("clip-units", request.file.display().to_string(), message)
    })
}

/// The clips of each skeleton in the order of their starts. Of two that start together the later in
/// the arguments counts.
fn tracks<'a>(
    played: &'a [Played<'a>],
    targets: &[&'a PlacedSkeleton],
    warnings: &mut Vec<Warning>,
) -> Vec<Track<'a>> {
    let mut out = Vec::with_capacity(targets.len());
    let mut told: Vec<(usize, usize)> = Vec::new();
    for (t, target) in targets.iter().enumerate() {
        let own = played.iter().enumerate();
        let part = |(i, played): (usize, &'a Played<'a>)| {
            let found = played.on(t)?;
            Some((i, Part { played, found }))
        };
        let mut own: Vec<(usize, Part<'a>)> = own.filter_map(part).collect();
        own.sort_by(|(_, a), (_, b)| a.played.start.total_cmp(&b.played.start));
        let mut parts = Vec::with_capacity(own.len());
        for (at, (i, part)) in own.iter().enumerate() {
            let next = own.get(at + 1);
            if let Some((j, next)) = next
                && part.played.end > next.played.start + 1e-9
                && !told.contains(&(*i, *j))
            {
                told.push((*i, *j));
                warnings.push(cut(part.played, next.played));
            }
            if next.is_none_or(|(_, next)| next.played.start > part.played.start) {
                parts.push(*part);
            }
        }
        if !parts.is_empty() {
            out.push(Track {
                skeleton: target,
                parts,
            });
        }
    }
    out
}

/// The warning that a clip does not play to its end.
fn cut(cut: &Played<'_>, by: &Played<'_>) -> Warning {
    let name = |p: &Played<'_>| p.found.first().map_or(String::new(), |f| f.name.clone());
    let (own, other, start) = (name(cut), name(by), by.start);
    let message = match start > cut.start {
        true => format!(
            "{own} would play from {} to {}; {other} begins at {start} and takes over there",
            cut.start, cut.end
        ),
        false => format!("{own} never plays, because {other} begins at {start} too"),
    };
    let file = cut.request.file.display().to_string();
    Warning::new("clip-overlap", file, message)
}

/// From the first start to the end of what plays last.
fn time_line(played: &[Played<'_>], tracks: &[Track<'_>]) -> TimeLine {
    let (time_codes_per_second, frames_per_second) =
        played.first().map_or((24.0, 24.0), |p| rates(p.file));
    let starts = tracks.iter().map(|t| t.parts[0].played.start);
    let ends = tracks
        .iter()
        .filter_map(|t| Some(t.parts.last()?.played.end));
    TimeLine {
        range: starts
            .min_by(f64::total_cmp)
            .zip(ends.max_by(f64::total_cmp)),
        time_codes_per_second,
        frames_per_second,
    }
}

/// What plays on which skeleton.
fn clips(
    played: &[Played<'_>],
    targets: &[&PlacedSkeleton],
    work: &Assembly<'_>,
) -> Vec<SequenceClip> {
    let shown = |path: &Path| path.display().to_string();
    let mut out = Vec::new();
    for p in played {
        for found in &p.found {
            let copy = work.copies.iter().find(|c| c.is_of(p, found));
            out.push(SequenceClip {
                file: shown(&p.request.file),
                clip: found.name.clone(),
                animation: found.animation.path.clone(),
                skeleton: targets[found.skeleton].path.clone(),
                start: p.start,
                end: p.end,
                copy: copy.map(|c| shown(&c.file)),
            });
        }
    }
    out
}

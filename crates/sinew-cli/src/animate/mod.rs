//! `sinew animate`.

mod clip;
mod report;

use std::path::{Path, PathBuf};

use sinew::error::first_few;
use sinew::scene::{PlacedSkeleton, TimeLine};
use sinew::skel::SkelAnimation;
use sinew::{Invalid, Warning};
use sinew_io::usd::{SequencePart, SkeletonSequence, StageClip, UsdFile};
use sinew_io::{ClipChoice, renamed, shape_names, skeletons};

use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::extents;
use crate::open::{ComposeArgs, USD, check_extension};
use crate::progress::Progress;
use crate::report::{Sizes, Verbosity, print_findings, print_result, result_json};
use clip::{Opened, Request};
use report::{ClipReport, Report};

/// Put clips on a character, one after another, as references.
///
/// OUT is a small layer: it references CHARACTER and the SkelAnimations of the CLIPs, and binds them
/// to CHARACTER's skeletons. What is published anew is seen there at once. One clip is a reference
/// with a layer offset; several clips are USD's value clips. Nothing is copied that need not be.
///
/// A CLIP begins where the one before it ends, or at frame START of OUT. If clips overlap, the one
/// that begins later plays from its start on, with a warning. Before the first clip, between clips
/// and after the last one the nearest pose is held. A clip moves all skeletons that it fits.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// File with the character: USD.
    #[arg(value_name = "CHARACTER")]
    character: PathBuf,
    /// Clips in their order: a file; `#` and the name or the prim path of a clip, if the file has
    /// several; `@` and the time code of OUT at which it begins. Names are as in --clip of other
    /// commands.
    #[arg(value_name = "CLIP[#NAME][@START]", required = true)]
    clips: Vec<String>,
    /// File to write.
    #[arg(short, long, value_name = "OUT.{usda,usdc}")]
    output: PathBuf,
    /// Move only this skeleton of CHARACTER. May be repeated.
    #[arg(long, value_name = "PATH")]
    skeleton: Vec<String>,
    #[command(flatten)]
    compose: ComposeArgs,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The largest number of joints or prims in a message.
const MOST_NAMES: usize = 8;

const AFTER_HELP: &str = "\
OUT has the time codes per second of the first clip. Value clips need one prim path, one order of
joints and samples of everything that moves. A clip that has something else, and one that is not
USD, is copied to the folder OUT_clips, with a warning.

Examples:
  sinew animate hero.usda walk.usda -o hero_walk.usda
  sinew animate hero.usda walk.usda wave.usda bow.usda -o shot.usda
  sinew animate hero.usda walk.usda@1001 wave.usda@1040 -o shot.usda
  sinew animate hero.usda 'clips.usda#Walk' 'clips.usda#/Clips/Wave@48' -o shot.usda
  sinew animate hero.usda hero.glb#Run@24 -o shot.usda --json | jq '.clips[].end'";

pub fn run(args: &Args, verbosity: Verbosity) -> Result<Exit> {
    if sinew_io::extension(&args.output) == "usdz" {
        let reason = "OUT references other files: write OUT.usda, and pack it with `sinew convert OUT.usda -o OUT.usdz`";
        return Err(Error::bad_output(&args.output, reason));
    }
    check_extension(&args.output, &USD[..3])?;
    let requests = args.clips.iter().map(|text| Request::parse(text));
    let requests = requests.collect::<Result<Vec<_>>>()?;
    let mut progress = Progress::new(verbosity.is_quiet());
    progress.doing(&format!("reading {}", args.character.display()));
    let character = open_character(args)?;
    let scene = character.scene(Default::default())?;
    let targets = targets(args, &skeletons(&scene))?;
    let shapes: Vec<Vec<String>> = targets.iter().map(|s| shape_names(&scene, s)).collect();
    let mut warnings = Vec::new();
    let mut opened: Vec<Opened> = Vec::new();
    let mut of_request = Vec::with_capacity(requests.len());
    for request in &requests {
        progress.doing(&format!("reading {}", request.file.display()));
        of_request.push(clip::open(request, &mut opened)?);
    }
    let mut played: Vec<Played<'_>> = Vec::with_capacity(requests.len());
    for (request, at) in requests.iter().zip(of_request) {
        let file = &opened[at].file;
        let clips = clip::chosen(request, file)?;
        let found = matched(request, &clips, &targets, &shapes, &mut warnings)?;
        check_rate(request, file)?;
        check_units(request, file, &character, &mut warnings);
        let (rate, fps) = match played.first() {
            Some(first) => (first.out_rate, first.out_fps),
            None => {
                let own = file.time_line();
                (own.time_codes_per_second, own.frames_per_second)
            }
        };
        let before = played.last().map(|p: &Played<'_>| p.end);
        played.push(Played::new(request, file, found, (rate, fps), before));
    }
    let mut sequences = sequences(&played, &targets, &mut warnings);
    sequences.retain(|s| !s.parts.is_empty());
    let time_line = time_line(&played, &sequences);
    progress.doing("composing");
    let mut assembled = character.assemble(&args.output, &sequences, &time_line)?;
    warnings.append(&mut assembled.warnings);
    let moved = assembled.file.scene(Default::default())?;
    for skeleton in assembled.skeletons.clone() {
        extents::author(&mut assembled.file, &moved, Some(&skeleton))?;
    }
    progress.doing(&format!("writing {}", args.output.display()));
    assembled.save()?;
    drop(progress);
    warnings.extend(moved.warnings.iter().cloned());
    print_findings(&moved.errors, &warnings, verbosity);
    let copies = assembled
        .copies
        .iter()
        .filter_map(|(skeleton, part, copy)| {
            let part = &sequences.get(*skeleton)?.parts.get(*part)?;
            let source = part.file.file().to_owned();
            Some((source, part.animation.path.clone(), copy.clone()))
        });
    let clips = clip_reports(&played, &targets, &copies.collect::<Vec<_>>());
    let report = Report::new(
        (&args.output, &args.character),
        &time_line,
        &clips,
        (&moved.errors, &warnings),
        Sizes::of("CHARACTER", &args.character, &[&args.output]),
    );
    match (args.json, verbosity.is_quiet()) {
        (true, _) => print_result(&result_json("animate", Exit::Done, &report)?)?,
        (false, true) => {}
        (false, false) => print_result(&report.text())?,
    }
    Ok(Exit::Done)
}

fn open_character(args: &Args) -> Result<UsdFile> {
    let options = args.compose.options(ClipChoice::First)?;
    let file = sinew_io::open_with(&args.character, &options)?;
    if file.origin().is_some() {
        let name = args.character.display();
        let stem = args.character.with_extension("usdc");
        return Err(Error::Message(format!(
            "{name}: a layer can reference USD files alone; convert the character first: sinew convert {name} -o {}",
            stem.display()
        )));
    }
    Ok(file)
}

/// The skeletons to move.
fn targets<'s>(args: &Args, all: &[&'s PlacedSkeleton]) -> Result<Vec<&'s PlacedSkeleton>> {
    let name = args.character.display();
    if all.is_empty() {
        return Err(Error::Message(format!("{name}: no skeleton in this file")));
    }
    if args.skeleton.is_empty() {
        return Ok(all.to_vec());
    }
    let by_path = |path: &String| {
        let found = all.iter().copied().find(|s| s.path == *path);
        found.ok_or_else(|| {
            let paths: Vec<&str> = all.iter().map(|s| s.path.as_str()).collect();
            let paths = paths.join(", ");
            Error::Message(format!(
                "{name}: no skeleton at {path}; the file has {paths}"
            ))
        })
    };
    args.skeleton.iter().map(by_path).collect()
}

/// A clip with its place in time.
struct Played<'a> {
    request: &'a Request,
    file: &'a UsdFile,
    /// By the index of the skeleton.
    found: Vec<(usize, Found)>,
    /// First and last time code in its own file.
    range: (f64, f64),
    rate: f64,
    /// Rates of the result.
    out_rate: f64,
    out_fps: f64,
    /// Time codes of the result.
    start: f64,
    end: f64,
}

/// The SkelAnimation for a skeleton.
#[derive(Clone)]
struct Found {
    name: String,
    animation: SkelAnimation,
    is_renamed: bool,
}

impl<'a> Played<'a> {
    fn new(
        request: &'a Request,
        file: &'a UsdFile,
        found: Vec<(usize, Found)>,
        (out_rate, out_fps): (f64, f64),
        before: Option<f64>,
    ) -> Self {
        let times = found.iter().flat_map(|(_, f)| {
            let weights = f.animation.blend_shape_weights.times();
            f.animation.joint_times().chain(weights)
        });
        let mut range: Option<(f64, f64)> = None;
        for time in times.filter(|t| t.is_finite()) {
            let (first, last) = range.get_or_insert((time, time));
            (*first, *last) = (first.min(time), last.max(time));
        }
        let range = range.unwrap_or_default();
        let rate = file.time_line().time_codes_per_second;
        let factor = out_rate / rate;
        let start = request.start.or(before).unwrap_or(range.0 * factor);
        Self {
            request,
            file,
            found,
            range,
            rate,
            out_rate,
            out_fps,
            start,
            end: start + (range.1 - range.0) * factor,
        }
    }
}

/// How a SkelAnimation fits a skeleton; the largest is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_made_for: bool,
    /// Paths of joints are the skeleton's, not only names.
    by_path: bool,
    is_whole: bool,
    known: usize,
}

/// The SkelAnimation of a clip for each skeleton that it fits.
fn matched(
    request: &Request,
    clips: &[(StageClip, SkelAnimation)],
    targets: &[&PlacedSkeleton],
    shapes: &[Vec<String>],
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(usize, Found)>> {
    let is_target = |path: &String| targets.iter().any(|t| t.path == *path);
    let mut fits: Vec<(usize, usize, Rank)> = Vec::new();
    for (c, (clip, animation)) in clips.iter().enumerate() {
        let made_for_one = clip.made_for.iter().any(is_target);
        for (t, target) in targets.iter().enumerate() {
            let is_made_for = clip.made_for.contains(&target.path);
            if made_for_one && !is_made_for {
                continue;
            }
            let of = animation.joints.len();
            let joints = target.instance.skeleton().joints();
            let count = |own: &[String], theirs: &[String]| {
                own.iter().filter(|j| theirs.contains(j)).count()
            };
            let (known, of, by_path) = match count(&animation.joints, joints) {
                0 if of == 0 => {
                    let own = &animation.blend_shapes;
                    (count(own, &shapes[t]), own.len(), true)
                }
                0 => match renamed(animation, target.instance.skeleton()) {
                    Some((renamed, _)) => (count(&renamed.joints, joints), of, false),
                    None => continue,
                },
                known => (known, of, true),
            };
            if known > 0 {
                let is_whole = known == of;
                let rank = Rank {
                    is_made_for,
                    by_path,
                    is_whole,
                    known,
                };
                fits.push((t, c, rank));
            }
        }
    }
    // A skeleton that takes a part is not meant if another one takes the whole.
    let has_whole = |c: usize| fits.iter().any(|f| f.1 == c && f.2.is_whole && f.2.by_path);
    let meant = fits.iter().copied();
    let meant = meant.filter(|(_, c, r)| (r.is_whole && r.by_path) || !has_whole(*c));
    let meant: Vec<_> = meant.collect();
    let mut out = Vec::new();
    for (t, target) in targets.iter().enumerate() {
        let own: Vec<_> = meant.iter().filter(|f| f.0 == t).collect();
        let Some(best) = own.iter().map(|f| f.2).max() else {
            continue;
        };
        let best: Vec<usize> = own.iter().filter(|f| f.2 == best).map(|f| f.1).collect();
        let [one] = best[..] else {
            let paths: Vec<&str> = best.iter().map(|c| clips[*c].0.path.as_str()).collect();
            return Err(Error::Message(format!(
                "{}: several clips fit the skeleton {}; choose one by its path, as in {}#{}: {}",
                request.file.display(),
                target.path,
                request.file.display(),
                paths[0],
                paths.join(", ")
            )));
        };
        let (clip, animation) = &clips[one];
        let skeleton = target.instance.skeleton();
        let by_name = renamed(animation, skeleton);
        let is_renamed = by_name.is_some();
        let animation = match by_name {
            Some((renamed, warning)) => {
                warnings.push(warning);
                renamed
            }
            None => animation.clone(),
        };
        let joints = skeleton.joints();
        let missing: Vec<&String> = animation
            .joints
            .iter()
            .filter(|j| !joints.contains(j))
            .collect();
        if !missing.is_empty() && !is_renamed {
            let message = format!(
                "{} does not have {} of the {} joints that this clip moves: {}",
                target.path,
                missing.len(),
                animation.joints.len(),
                first_few(&missing, MOST_NAMES)
            );
            warnings.push(Warning::new("clip-joints", &clip.path, message));
        }
        // What `retarget --animation-only` names so is known by its file.
        let stem = request.file.file_stem().unwrap_or_default();
        let name = match clip.name.as_str() {
            "Animation" => stem.to_string_lossy().into_owned(),
            name => name.to_owned(),
        };
        out.push((
            t,
            Found {
                name,
                animation,
                is_renamed,
            },
        ));
    }
    if out.is_empty() {
        let moved: Vec<&String> = clips
            .iter()
            .flat_map(|(_, a)| a.joints.iter().chain(&a.blend_shapes))
            .collect();
        let targets: Vec<&str> = targets.iter().map(|t| t.path.as_str()).collect();
        return Err(Error::Message(format!(
            "{}: this clip moves {}, which the skeletons of the character lack: {}; `sinew retarget --animation-only` makes a clip for them",
            request.file.display(),
            first_few(&moved, MOST_NAMES),
            first_few(&targets, MOST_NAMES)
        )));
    }
    Ok(out)
}

/// Refuses a rate by which no time can be divided.
fn check_rate(request: &Request, file: &UsdFile) -> Result<()> {
    let rate = file.time_line().time_codes_per_second;
    match rate.is_finite() && rate > 0.0 {
        true => Ok(()),
        false => {
            let found = rate.to_string();
            let error = Invalid::new("/", "timeCodesPerSecond", "a rate above 0", found);
            let error = error.coded("frame-rate-invalid");
            Err(error.in_file(&request.file).into())
        }
    }
}

/// Warns of a clip whose translations are in other units than the character's.
fn check_units(
    request: &Request,
    file: &UsdFile,
    character: &UsdFile,
    warnings: &mut Vec<Warning>,
) {
    let units = [file, character].map(UsdFile::authored_meters_per_unit);
    if let [Some(own), Some(theirs)] = units
        && (own - theirs).abs() > 1e-6 * theirs.abs()
    {
        let message = format!(
            "the clip has {own} m per unit and the character {theirs}; its translations are used as they are, so the joints may come apart"
        );
        let file = request.file.display().to_string();
        warnings.push(Warning::new("clip-units", file, message));
    }
}

/// The clips of each skeleton in the order of their starts. Of two that start together the later in
/// the arguments counts.
fn sequences<'a>(
    played: &[Played<'a>],
    targets: &[&'a PlacedSkeleton],
    warnings: &mut Vec<Warning>,
) -> Vec<SkeletonSequence<'a>> {
    let mut out = Vec::with_capacity(targets.len());
    let mut told: Vec<(usize, usize)> = Vec::new();
    for (t, target) in targets.iter().enumerate() {
        let own = played.iter().enumerate();
        let own = own.filter(|(_, p)| p.found.iter().any(|(skeleton, _)| *skeleton == t));
        let mut own: Vec<(usize, &Played<'a>)> = own.collect();
        own.sort_by(|a, b| a.1.start.total_cmp(&b.1.start));
        for pair in own.windows(2) {
            let ((i, a), (j, b)) = (pair[0], pair[1]);
            if a.end > b.start + 1e-9 && !told.contains(&(i, j)) {
                told.push((i, j));
                warnings.push(cut(a, b));
            }
        }
        let replaced: Vec<bool> = own
            .iter()
            .enumerate()
            .map(|(i, (_, p))| {
                own.get(i + 1)
                    .is_some_and(|(_, next)| next.start <= p.start)
            })
            .collect();
        let mut replaced = replaced.into_iter();
        own.retain(|_| replaced.next() == Some(false));
        let part = |(_, p): (usize, &Played<'a>)| {
            let found = p
                .found
                .iter()
                .find(|(skeleton, _)| *skeleton == t)?
                .1
                .clone();
            Some(SequencePart {
                file: p.file,
                is_published: p.file.origin().is_none() && !found.is_renamed,
                animation: found.animation,
                name: found.name,
                start: p.start,
                range: p.range,
                rate: p.rate,
            })
        };
        out.push(SkeletonSequence {
            skeleton: target,
            parts: own.into_iter().filter_map(part).collect(),
        });
    }
    out
}

/// The warning that a clip does not play to its end.
fn cut(cut: &Played<'_>, by: &Played<'_>) -> Warning {
    let name = |p: &Played<'_>| {
        let found = p.found.first();
        found.map_or_else(String::new, |(_, f)| f.name.clone())
    };
    let message = match by.start > cut.start {
        true => format!(
            "{} would play from {} to {}; {} begins at {} and plays from there on",
            name(cut),
            cut.start,
            cut.end,
            name(by),
            by.start
        ),
        false => format!(
            "{} never plays, because {} begins at {} too",
            name(cut),
            name(by),
            by.start
        ),
    };
    let file = cut.request.file.display().to_string();
    Warning::new("clip-overlap", file, message)
}

/// From the first start to the end of what plays last.
fn time_line(played: &[Played<'_>], sequences: &[SkeletonSequence<'_>]) -> TimeLine {
    let rates = played.first();
    let rates = rates.map_or((24.0, 24.0), |p| (p.out_rate, p.out_fps));
    let end =
        |part: &SequencePart<'_>| part.start + (part.range.1 - part.range.0) * rates.0 / part.rate;
    let starts = sequences
        .iter()
        .filter_map(|s| Some(s.parts.first()?.start));
    let ends = sequences.iter().filter_map(|s| s.parts.last().map(end));
    TimeLine {
        range: starts
            .min_by(f64::total_cmp)
            .zip(ends.max_by(f64::total_cmp)),
        time_codes_per_second: rates.0,
        frames_per_second: rates.1,
    }
}

/// The file and the path of a SkelAnimation, and the file that it was copied to.
type Copy = (PathBuf, String, PathBuf);

fn clip_reports(
    played: &[Played<'_>],
    targets: &[&PlacedSkeleton],
    copies: &[Copy],
) -> Vec<ClipReport> {
    let shown = |path: &Path| path.display().to_string();
    let mut out = Vec::new();
    for p in played {
        for (t, found) in &p.found {
            let animation = &found.animation.path;
            let own = |c: &&Copy| c.0 == p.file.file() && c.1 == *animation;
            let copy = copies.iter().find(own);
            out.push(ClipReport {
                file: shown(&p.request.file),
                clip: found.name.clone(),
                animation: animation.clone(),
                skeleton: targets[*t].path.clone(),
                start: p.start,
                end: p.end,
                copy: copy.map(|(.., file)| shown(file)),
            });
        }
    }
    out
}

//! Clips one after another on a character: `tests/data/sequences.txt`, in sinew, in usd-core and by
//! hand. A line of a case is
//!
//! - `$ CHARACTER CLIP...`: makes the sequence `out.usda`, with `-o`, `--skeleton` and `--variant` as
//!   the command has them; `ASSETS/` are the repository's. Before it `convert FILE OUT` converts, and
//!   `retarget ALONE WHOLE ANGLE` moves the example walk onto the puppet, with the arms opened by an
//!   angle: the clip alone, and the puppet with it;
//! - `! WORD, WORD`: it is refused, with these words; `? CODE WORDS`: it warns so, and of nothing
//!   else;
//! - `part FROM FILE FIRST SPEED`: from the time FROM on the clip of FILE plays, from its own time FIRST
//!   on, by SPEED of its time codes for each of the result. If FILE has a character, the points are
//!   compared with those of that character. `of 1`: the next parts are of the second character;
//! - `range FIRST LAST`: the time codes of the result; `drives PATH...`: the skeletons that are
//!   moved; `height Y`: where the second point is;
//! - `has TEXT`, `lacks TEXT`: what the layer says; `copies NAME...`: what is written beside it.

use std::path::{Path, PathBuf};

use common::command::Bench;
use common::stages::{Case, Table};
use common::trials::Trial;
use common::{python, tolerance, usd};
use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::reference;
use sinew_io::usd::sequence::{ClipRequest, Request, Sequence};
use sinew_stage::Stage;

use crate::formats::scene;
use crate::pair::Job;
use crate::usd_core;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("sequences", || run(None)),
        python::trial("sequences_in_usd_core", |python| run(Some(python))),
    ]
}

/// Runs all cases, with usd-core as the judge if there is a Python.
fn run(python: Option<&str>) -> Result<(), Failed> {
    let table = Table::read("sequences.txt");
    assert!(table.cases.len() > 30);
    let fault = |case: &Case| {
        let fault = check(case, python).err()?;
        Some(format!("{}: {}", case.name, fault.message()?))
    };
    let faults: Vec<String> = table.cases.iter().filter_map(fault).collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n").into()),
    }
}

fn check(case: &Case, python: Option<&str>) -> Result<(), Failed> {
    let bench = Bench::new();
    case.write(bench.folder.path());
    for line in case.all("convert") {
        let (from, to) = line.split_once(' ').ok_or("convert FILE OUT")?;
        sinew_io::open(file(&bench, from))?.save_as(bench.path(to))?;
    }
    for line in case.all("retarget") {
        let words: Vec<&str> = line.split(' ').collect();
        let [alone, whole, angle] = words[..] else {
            return Err("retarget ALONE WHOLE ANGLE".into());
        };
        let [clip, target] = ["ASSETS/walk.bvh", "ASSETS/puppet.glb"].map(|f| file(&bench, f));
        let mut job = Job::new(clip, target);
        job.request.options.arm_space = angle.parse()?;
        job.write_alone(&bench.path(alone))?;
        job.write(&bench.path(whole))?;
    }
    let request = request(&bench, case.one("$"))?;
    let before = std::fs::read(&request.output).ok();
    let made = match (Sequence::make(&request, |_| {}), case.all("!").next()) {
        (Ok(made), None) => made,
        (Ok(_), Some(words)) => return Err(format!("expected an error with {words}").into()),
        (Err(error), words) => {
            let text = error.to_string();
            let has_all = words.is_some_and(|w| w.split(", ").all(|word| text.contains(word)));
            let is_kept = std::fs::read(&request.output).ok() == before;
            return match has_all && is_kept {
                true => Ok(()),
                false => Err(text.into()),
            };
        }
    };
    let told: Vec<String> = made.warnings.iter().map(ToString::to_string).collect();
    let expected: Vec<&str> = case.all("?").collect();
    let is_so = |(told, expected): (&String, &&str)| {
        let (code, words) = expected.split_once(' ').unwrap();
        told.contains(&format!("[{code}]")) && told.contains(words)
    };
    if told.len() != expected.len() || !told.iter().zip(&expected).all(is_so) {
        return Err(format!("warnings {told:#?}").into());
    }
    made.save()?;
    let out = &request.output;
    let text = std::fs::read_to_string(out)?;
    let (mut character, mut parts) = (0, Vec::new());
    for (key, line) in &case.lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_so = match key.as_str() {
            "of" => {
                compare(out, character, &std::mem::take(&mut parts), python)?;
                character = line.parse()?;
                true
            }
            "part" => {
                let [from, file, first, speed] = words[..] else {
                    return Err("part FROM FILE FIRST SPEED".into());
                };
                parts.push(Part {
                    from: from.parse()?,
                    truth: Truth::of(&bench.path(file))?,
                    first: first.parse()?,
                    speed: speed.parse()?,
                });
                true
            }
            "range" => {
                let stage = usd::open(out);
                let range = [stage.start_time_code(), stage.end_time_code()];
                range == [0, 1].map(|i| words[i].parse().ok())
            }
            "drives" => {
                let scene = scene(out, None)?;
                let driven = scene.instances.iter();
                let driven = driven.filter(|s| s.instance.animation().is_some());
                driven.map(|s| s.path.as_str()).eq(words)
            }
            "height" => deformed(&scene(out, None)?, 0, 1.0)?[1].y == line.parse::<f64>()?,
            "has" => text.contains(line),
            "lacks" => !text.contains(line),
            "copies" => {
                let entries = std::fs::read_dir(bench.path("out_clips"));
                let names = entries
                    .into_iter()
                    .flatten()
                    .map(|e| e.unwrap().file_name());
                names.eq(words)
            }
            "#" | "$" | "!" | "?" | "convert" | "retarget" => true,
            _ => return Err(format!("{key}: no such word").into()),
        };
        if !is_so {
            return Err(format!("not so: {key} {line}\n{text}").into());
        }
    }
    compare(out, character, &parts, python)
}

/// A file of the case, or of the repository.
fn file(bench: &Bench, name: &str) -> PathBuf {
    match name.strip_prefix("ASSETS/") {
        Some(name) => common::repository().join("examples/assets").join(name),
        None => bench.path(name),
    }
}

/// Reads the line of a request.
fn request(bench: &Bench, line: &str) -> Result<Request, Failed> {
    let mut words = line.split(' ');
    let mut request = Request {
        character: file(bench, words.next().unwrap()),
        output: bench.path("out.usda"),
        ..Request::default()
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or("a value");
        match word {
            "-o" => request.output = bench.path(value()?),
            "--skeleton" => request.skeletons.push(value()?.to_owned()),
            "--variant" => request.open.variants.push(value()?.parse()?),
            clip => {
                let clip = file(bench, clip).display().to_string();
                request.clips.push(ClipRequest::parse(&clip)?);
            }
        }
    }
    Ok(request)
}

/// A part of a time line: from a time on, a clip at the time that follows from it.
struct Part {
    from: f64,
    truth: Truth,
    first: f64,
    speed: f64,
}

/// Where points are while a clip plays.
enum Truth {
    /// A clip for the hero, by hand.
    Clip(Box<Stage>, String),
    /// A character that plays it.
    Character(Box<Scene>),
}

impl Truth {
    fn of(file: &Path) -> Result<Self, Failed> {
        let scene = scene(file, None)?;
        if scene.bound_skins().next().is_some() {
            return Ok(Self::Character(Box::new(scene)));
        }
        let stage = usd::open(file);
        let mut prims = stage.traverse(sinew_stage::Predicate::DEFAULT);
        let clip = prims.find(|p| p.type_name() == "SkelAnimation");
        let path = clip.ok_or("a clip")?.path().as_str().to_owned();
        Ok(Self::Clip(Box::new(stage), path))
    }

    fn points(&self, time: f64) -> Result<Vec<DVec3>, Failed> {
        let (stage, path) = match self {
            Self::Clip(stage, path) => (stage, path),
            Self::Character(scene) => return deformed(scene, 0, time),
        };
        let number = |name: &str, at: Option<usize>| {
            let values = usd::value(stage, path, name, Some(time));
            let values = values.map_or(Vec::new(), |v| usd::numbers(&v));
            at.map_or(0.0, |at| values[at])
        };
        let joints = usd::tokens(stage, path, "joints");
        let x_of = |names: [&str; 2]| {
            let at = |j: &String| names.contains(&j.rsplit('/').next().unwrap());
            number("translations", joints.iter().position(at).map(|at| 3 * at))
        };
        let (root, second) = (x_of(["A", "X"]), x_of(["B", "Y"]));
        let up = number("blendShapeWeights", Some(0));
        Ok(vec![
            DVec3::new(root, 0.0, 0.0),
            DVec3::new(root + second, 1.0, up),
        ])
    }
}

/// Whole frames and times between them, before, in and after the parts: points by sinew, and at
/// whole frames by usd-core too, are where they are by hand.
fn compare(
    out: &Path,
    character: usize,
    parts: &[Part],
    python: Option<&str>,
) -> Result<(), Failed> {
    let [first, .., last] = [parts.first(), parts.last()];
    let Some((first, last)) = first.zip(last) else {
        return Ok(());
    };
    // A character has thousands of points.
    let step = match first.truth {
        Truth::Clip(..) => 1,
        Truth::Character(_) => 7,
    };
    let whole = (first.from as i32 - 3..last.from as i32 + 40).step_by(step);
    let whole: Vec<f64> = whole.map(f64::from).collect();
    let near = |who: &str, time: f64, found: &[DVec3]| {
        let playing = parts.iter().rev().find(|p| p.from <= time);
        let part = playing.unwrap_or(first);
        // Before its first time a clip holds.
        let own = part.first + (time - part.from).max(0.0) * part.speed;
        let truth = part.truth.points(own)?;
        let most = match part.truth {
            Truth::Clip(..) => 10.0 * tolerance::READ,
            Truth::Character(_) => tolerance::CONVERTED,
        };
        let is_near = |(a, b): (&DVec3, &DVec3)| a.distance(*b) <= most;
        match found.len() == truth.len() && found.iter().zip(&truth).all(is_near) {
            true => Ok(()),
            false => Err(Failed::from(format!(
                "{who} at {time}: not {truth:?} but {found:?}"
            ))),
        }
    };
    let Some(python) = python else {
        let scene = scene(out, None)?;
        for time in whole.iter().flat_map(|t| [*t, t + 0.375]) {
            near("sinew", time, &deformed(&scene, character, time)?)?;
        }
        return Ok(());
    };
    let read = usd_core::read(python, out, &whole)?;
    for time in whole {
        near("usd-core", time, &usd_core::points(&read, character, time))?;
    }
    Ok(())
}

/// Where sinew has the points of a mesh at a time.
fn deformed(scene: &Scene, mesh: usize, time: f64) -> Result<Vec<DVec3>, Failed> {
    let bound = scene.bound_skins().nth(mesh).ok_or("a skin")?;
    let (skin, pose) = (bound.skin(Time::At(time))?, bound.pose(Time::At(time))?);
    Ok(reference::deform(&skin, &pose)?.points)
}

//! Clips one after another on a character: `tests/data/sequences.txt`, in sinew, in usd-core and by
//! hand. A line of a case is
//!
//! - `$ CHARACTER CLIP...`: makes the sequence `out.usda`, with `-o`, `--skeleton` and `--variant` as
//!   the command has them; `ASSETS/` are the repository's; `pack FILE PACKAGE` comes before it;
//! - `! WORD, WORD`: it is refused, with these words; `? CODE WORDS`: it warns so, and of nothing
//!   else;
//! - `part FROM FILE FIRST SPEED`: from that time on the clip of the file plays, which begins at its
//!   own time FIRST and goes on by SPEED time codes for each; `of 1`: the parts that follow are those
//!   of the second character;
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
use sinew_io::usd::UsdFile;
use sinew_io::usd::sequence::{ClipRequest, Request, Sequence};
use sinew_stage::Stage;

use crate::formats::scene;
use crate::pair::Job;
use crate::usd_core;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("sequences", || run(None)),
        python::trial("sequences_in_usd_core", |python| run(Some(python))),
        Trial::test("a_clip_of_another_format", a_clip_of_another_format),
        python::trial("published_clips_of_retarget", published_clips),
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
    for pack in case.all("pack") {
        let (file, package) = pack.split_once(' ').ok_or("pack FILE PACKAGE")?;
        UsdFile::open(bench.path(file))?.save_as(bench.path(package))?;
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
                    clip: usd::open(&bench.path(file)),
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
            _ => true,
        };
        if !is_so {
            return Err(format!("not so: {key} {line}\n{text}").into());
        }
    }
    compare(out, character, &parts, python)
}

/// Reads the line of a request.
fn request(bench: &Bench, line: &str) -> Result<Request, Failed> {
    let assets = common::repository().join("examples/assets");
    let file = |word: &str| match word.strip_prefix("ASSETS/") {
        Some(name) => assets.join(name),
        None => bench.path(word),
    };
    let mut words = line.split(' ');
    let mut request = Request {
        character: file(words.next().unwrap()),
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
                let clip = file(clip).display().to_string();
                request.clips.push(ClipRequest::parse(&clip)?);
            }
        }
    }
    Ok(request)
}

/// A part of a time line, by hand: from a time on, a clip at the time that follows from it.
struct Part {
    from: f64,
    clip: Stage,
    first: f64,
    speed: f64,
}

impl Part {
    /// Where the hero's points are at a time of the result.
    fn points(&self, time: f64) -> [DVec3; 2] {
        let prims = self.clip.traverse(sinew_stage::Predicate::DEFAULT);
        let mut prims = prims.filter(|p| p.type_name() == "SkelAnimation");
        let path = prims.next().expect("a clip").path().as_str().to_owned();
        // Before its first time a clip holds.
        let time = self.first + (time - self.from).max(0.0) * self.speed;
        let number = |name: &str, at: Option<usize>| {
            let values = usd::value(&self.clip, &path, name, Some(time));
            let values = values.map_or(Vec::new(), |v| usd::numbers(&v));
            at.map_or(0.0, |at| values[at])
        };
        let joints = usd::tokens(&self.clip, &path, "joints");
        let place = |names: [&str; 2]| {
            let at = |j: &String| names.contains(&j.rsplit('/').next().unwrap());
            joints.iter().position(at).map(|at| 3 * at)
        };
        let [root, second] =
            [place(["A", "X"]), place(["B", "Y"])].map(|at| number("translations", at));
        let weight = number("blendShapeWeights", Some(0));
        [
            DVec3::new(root, 0.0, 0.0),
            DVec3::new(root + second, 1.0, weight),
        ]
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
    let whole: Vec<f64> = (first.from as i32 - 3..last.from as i32 + 40)
        .map(f64::from)
        .collect();
    let truth = |time: f64| {
        let playing = parts.iter().rev().find(|p| p.from <= time);
        playing.unwrap_or(first).points(time)
    };
    let near = |who: &str, time: f64, found: &[DVec3]| {
        let truth = truth(time);
        let most = 10.0 * tolerance::READ;
        let is_near = |(a, b): (&DVec3, &DVec3)| a.distance(*b) <= most;
        match found.len() == 2 && found.iter().zip(&truth).all(is_near) {
            true => Ok(()),
            false => Err(format!("{who} at {time}: {found:?} is not {truth:?}")),
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

/// Puts clips on the puppet as USD; gives the layer and the codes of the warnings.
fn on_puppet(bench: &Bench, clips: &[&str], out: &str) -> Result<(PathBuf, Vec<String>), Failed> {
    let character = bench.path("hero.usdc");
    if !character.exists() {
        let puppet = common::repository().join("examples/assets/puppet.glb");
        sinew_io::open(puppet)?.save_as(&character)?;
    }
    let clips = clips.iter().map(|clip| ClipRequest::parse(clip));
    let request = Request {
        character,
        clips: clips.collect::<Result<_, _>>()?,
        output: bench.path(out),
        ..Request::default()
    };
    let made = Sequence::make(&request, |_| {})?;
    made.save()?;
    let codes = made.warnings.iter().map(|w| w.code.to_owned()).collect();
    Ok((request.output, codes))
}

/// A file that converts, with several clips: the chosen one is copied, and plays as it does alone.
fn a_clip_of_another_format() -> Result<(), Failed> {
    let bench = Bench::new();
    let puppet = common::repository().join("examples/assets/puppet.glb");
    let asset = sinew_io::read_asset(&puppet)?.ok_or("glTF")?;
    let clip = &asset.clips.last().ok_or("a clip")?.name;
    let asked = format!("{}#{clip}@3", puppet.display());
    let (out, codes) = on_puppet(&bench, &[&asked], "out.usda")?;
    assert_eq!(codes, ["clip-copied"]);
    let (alone, out) = (scene(&puppet, Some(clip))?, scene(&out, None)?);
    let first = alone.time_line.range.ok_or("a range")?.0;
    for time in (0..20).map(|step| f64::from(step) * 1.7) {
        let found = deformed(&out, 0, 3.0 + time)?;
        let expected = deformed(&alone, 0, first + time)?;
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(&expected) {
            assert!(a.distance(*b) < tolerance::CONVERTED, "{time}: {a} {b}");
        }
    }
    Ok(())
}

/// What retargeting publishes alone has one prim path and one order of joints, so nothing is copied,
/// and the points are those of each clip alone.
fn published_clips(python: &str) -> Result<(), Failed> {
    let bench = Bench::new();
    let assets = common::repository().join("examples/assets");
    let job = Job::new(assets.join("walk.bvh"), assets.join("puppet.glb"));
    let stays = job.clone().with(|job| {
        job.request.options.in_place = true;
        job.request.options.arm_space = 20.0;
    });
    let (walk, stay) = (bench.path("walk.usdc"), bench.path("stay.usda"));
    job.write_alone(&walk)?;
    stays.write_alone(&stay)?;
    let first = usd::open(&walk).start_time_code().ok_or("a start")?;
    let [walk, stay] = [walk, stay].map(|file| file.display().to_string());
    let (out, codes) = on_puppet(&bench, &[&walk, &format!("{stay}@200")], "out.usda")?;
    assert!(!codes.contains(&"clip-copied".to_owned()), "{codes:?}");
    let text = std::fs::read_to_string(&out)?;
    assert!(text.contains("@./walk.usdc@, @./stay.usda@"), "{text}");
    let whole = scene(&out, None)?;
    let times: Vec<f64> = (0..8).map(|i| first + 3.0 * f64::from(i)).collect();
    for (clip, from) in [(&walk, first), (&stay, 200.0)] {
        let (alone, _) = on_puppet(&bench, &[clip], "alone.usda")?;
        let alone = scene(&alone, None)?;
        let moved: Vec<f64> = times.iter().map(|t| t - first + from).collect();
        let read = usd_core::read(python, &out, &moved)?;
        for (time, moved) in times.iter().zip(&moved) {
            let expected = deformed(&alone, 0, *time)?;
            let found = deformed(&whole, 0, *moved)?;
            // The puppet's mesh is in the world's space.
            let judged = usd_core::points(&read, 0, *moved);
            assert_eq!([found.len(), judged.len()], [expected.len(); 2]);
            for ((a, b), c) in found.iter().zip(&expected).zip(&judged) {
                assert!(a.distance(*b) < tolerance::READ, "{moved}: {a} {b}");
                assert!(c.distance(*b) < tolerance::CONVERTED, "{moved}: {c} {b}");
            }
        }
    }
    Ok(())
}

//! `tests/data/rules.txt` and `tests/data/bakes.txt`: stages, bakes of them, and what must come out.
//! Each case has a folder of its own, and its lines are done in their order. `ASSETS/` and `GOLDENS/`
//! stand for the repository's folders. `#` begins a comment, and `gpu` marks a case that needs a GPU.
//!
//! Bakes:
//! - `bake [IN > OUT] OPTIONS`: bakes IN into OUT, or `in.usda` into `out.usda`;
//!   [`options`](crate::bench::options) has the options. `stitch` stitches in the same way. `again
//!   OPTIONS` repeats the last bake with further options. If a case begins with the line of a result,
//!   `in.usda` is baked first;
//! - `fails WORD, WORD`: the bake above is refused, its error has these words, and no file is changed;
//!   `usage WORD, WORD`: the same, and the error is one of wrong usage;
//! - `shards IN OPTIONS`: a bake in three shards writes the same files as one without shards.
//!
//! Results of the last bake:
//! - `= PRIM.ATTRIBUTE [@ TIME] VECTORS`: the values that were computed by hand, within
//!   `tolerance::BY_HAND`, at TIME or else at the first time; `==`: to the bit; `~`: within a few
//!   roundings; `reference PRIM TIME`: the points are those of the f64 reference;
//! - `moved PRIM X Y Z`: its transform is this translation; `times PRIM.ATTRIBUTE TIMES`, `tokens
//!   PRIM.ATTRIBUTE TOKENS`, `none PRIM.ATTRIBUTE`: it has no value; `type PRIM TYPE`, `instance PRIM
//!   true`, `prototypes NUMBER`;
//! - `alike FILE FILE PRIM.ATTRIBUTE ATTRIBUTE TIMES`: two stages have the same values;
//! - `warns CODE`: there is such a warning; `told COUNT CODE WORDS`: there are so many, all with these
//!   words; `says WORD, WORD`, `quiet WORD`: the report has these words, or does not have the word;
//! - `report FIELD NUMBER`, `clips OF BAKED KEPT`, `files NAMES`, `failed PATHS`: fields of the report;
//!   `as-one IN OPTIONS`: a bake into one file counts the same; `estimate LEAST MOST`: the estimated
//!   size, as a multiple of the written one;
//! - `written TEXT`, `unwritten TEXT`: the output has this text, or does not have it; `pc2 FILE FIRST
//!   STEP SAMPLES`; `count FILE POINTER NUMBER`: the length of a list in a JSON file.
//!
//! Files:
//! - `copy FROM TO`, `rename FROM TO`, `remove FILE`, `mkdir FOLDER`, `put NAMES` (with the text
//!   `half`), `append FILE TEXT`, `cut FILE BYTES` (from its end), `drop FILE TEXT` (the lines with
//!   it), `replace FILE FROM -> TO` (all of them), `tamper FILE FROM -> TO` (the first bytes);
//! - `there NAMES`, `gone NAMES`, `entries FOLDER NUMBER`, `same FOLDER FOLDER`, `equal FILE FILE`;
//!   `keep` remembers all files, and `kept` compares them.
//!
//! A scene is read from the file of `open FILE`, or else from `in.usda`. READING says where its
//! animation is searched, `at-skeleton` or `at-binding`:
//! - `binds READING MESH SKELETON ANIMATION, ...`: all bindings; `ignores READING PATHS`: animation
//!   sources without effect; `poses READING NUMBER`: skeletons; `found READING CODE WORD`: a warning;
//! - `first READING PRIM TIME X Y Z, TIME CODE, ...`: its first point by the f64 reference, or the code
//!   of its error, one time after the other; `weights READING PRIM WEIGHTS`: its channel weights.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::compare::compare_within;
use common::stages::{Case, Table};
use common::trials::Trial;
use common::{gpu, processor, tolerance, usd};
use glam::{DMat4, DVec3};
use serde_json::Value;
use sinew::Invalid;
use sinew::sampled::Time;
use sinew::scene::{OutSpace, Scene};
use sinew::skel::{AnimSource, reference};
use sinew_bake::{BakeReport, bake, stitch};
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_stage::Stage;

use crate::bench::*;
use crate::readers::pc2;
use crate::truth::{deformed, scene};

/// A trial for each case of a table.
pub fn trials(file: &str) -> Vec<Trial> {
    let cases = Table::read(file).cases.into_iter();
    let trials = cases.map(|case| {
        let needs_gpu = case.all("gpu").next().is_some();
        let trial = Trial::test(case.name.clone(), move || Ok(Run::new(&case).follow()?));
        trial.with_ignored_flag(needs_gpu && gpu::ignored())
    });
    trials.collect()
}

type Done = Result<(), String>;

/// A case that is followed.
struct Run<'a> {
    case: &'a Case,
    bench: Bench,
    /// The words of the last bake without those of `again`.
    words: String,
    output: PathBuf,
    report: Option<BakeReport>,
    /// The file that scenes are read from.
    opened: PathBuf,
    kept: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl<'a> Run<'a> {
    fn new(case: &'a Case) -> Self {
        let bench = Bench::new();
        case.write(bench.folder.path());
        Self {
            case,
            words: String::new(),
            output: bench.path("out.usda"),
            report: None,
            opened: bench.path("in.usda"),
            kept: BTreeMap::new(),
            bench,
        }
    }

    fn follow(mut self) -> Done {
        for (i, (key, text)) in self.case.lines.iter().enumerate() {
            let next = self.case.lines.get(i + 1);
            let done = match key.as_str() {
                "#" | "gpu" | "fails" | "usage" => Ok(()),
                "bake" | "stitch" | "again" => self.bake(key, text, next),
                "shards" => self.in_shards(text),
                key => match self.file(key, text) {
                    Some(done) => done,
                    None => match self.of_scene(key, text) {
                        Some(done) => done,
                        None => self.of_result(key, text),
                    },
                },
            };
            done.map_err(|found| format!("{key} {text}\n  {found}"))?;
        }
        let left = listing(self.bench.folder.path());
        let mut left = left.keys().map(|f| f.to_string_lossy());
        holds(
            !left.any(|f| f.ends_with(".tmp")),
            "unfinished files are left",
        )
    }

    /// A file of the case, or of the repository.
    fn path(&self, name: &str) -> PathBuf {
        match (name.strip_prefix("ASSETS/"), name.strip_prefix("GOLDENS/")) {
            (Some(asset), _) => project("examples/assets").join(asset),
            (_, Some(golden)) => project("tests/goldens").join(golden),
            _ => self.bench.path(name),
        }
    }

    fn bake(&mut self, key: &str, text: &str, next: Option<&(String, String)>) -> Done {
        let words = match key {
            "again" => format!("{} {text}", self.words),
            _ => {
                self.words = text.to_owned();
                text.to_owned()
            }
        };
        let (files, words) = match words.split_once(" > ") {
            Some((input, rest)) => {
                let (output, words) = rest.split_once(' ').unwrap_or((rest, ""));
                ((self.path(input), self.path(output)), words)
            }
            None => (
                (self.path("in.usda"), self.path("out.usda")),
                words.as_str(),
            ),
        };
        let (input, output) = files;
        let refusal = next.filter(|(key, _)| key == "fails" || key == "usage");
        let before = refusal.map(|_| listing(self.bench.folder.path()));
        let options = options(words);
        let (result, took) = processor::spent(|| match key {
            "stitch" => stitch(&input, &output, &options, &mut |_| {}),
            _ => bake(&input, &output, &options, &mut |_| {}),
        });
        self.output = output;
        if let (Some((kind, words)), Some(before)) = (refusal, before) {
            let words: Vec<&str> = words.split(", ").collect();
            is_refused(result, kind == "usage", &words, text);
            holds(took.as_secs() < 30, &format!("refused after {took:?}"))?;
            let after = listing(self.bench.folder.path());
            return holds(before == after, "a refused bake changed files");
        }
        let report = self.report.insert(result.map_err(|e| e.to_string())?);
        let on_cpu = report.backend.contains("cpu") != words.contains("gpu");
        holds(on_cpu && !report.elapsed.is_zero(), &format!("{report:?}"))
    }

    /// Shards in any order, one of them twice, then the stitch: the files of one bake.
    fn in_shards(&mut self, text: &str) -> Done {
        let (input, words) = text.split_once(' ').unwrap();
        let (input, [one, many]) = (self.path(input), ["one", "many"].map(|f| self.path(f)));
        for folder in [&one, &many] {
            std::fs::create_dir(folder).unwrap();
        }
        let whole = run(&input, &one.join("hero.usdc"), words);
        holds(clips(&whole).0 >= 3, "few clips")?;
        let out = many.join("hero.usdc");
        let mut samples = 0;
        for which in ["3/3", "1/3", "2/3", "1/3"] {
            let report = run(&input, &out, &format!("{words} shard {which}"));
            holds(!out.exists(), "a shard writes no stage")?;
            samples += report.samples;
            assert_eq!(report.files.len(), clips(&report).1);
            assert!(report.files.iter().all(|f| f.exists()));
        }
        let again = run(&input, &out, &format!("{words} shard 1/3 resume"));
        samples -= again.samples;
        assert_eq!(samples, whole.samples, "each sample is one shard's");
        let report = stitched(&input, &out, words);
        assert_eq!((report.samples, report.deformed_points), (samples, 0));
        let (of, baked, kept) = clips(&report);
        assert_eq!((baked, kept), (0, of));
        same_files(&one, &many);
        Ok(())
    }

    /// Changes a file, or looks for some.
    fn file(&mut self, key: &str, text: &str) -> Option<Done> {
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (file, other) = (self.path(first), self.path(rest));
        let folder = self.bench.folder.path();
        let mut names = text.split(' ').map(|name| self.bench.path(name));
        let text_of = |file: &Path| std::fs::read_to_string(file).unwrap();
        let edit = || {
            let (from, to) = rest.split_once(" -> ").unwrap();
            (unescaped(from), unescaped(to))
        };
        match key {
            "copy" => _ = std::fs::copy(file, other).unwrap(),
            "rename" => std::fs::rename(file, other).unwrap(),
            "remove" if file.is_dir() => std::fs::remove_dir_all(file).unwrap(),
            "remove" => std::fs::remove_file(file).unwrap(),
            "mkdir" => std::fs::create_dir(file).unwrap(),
            "put" => text
                .split(' ')
                .for_each(|name| _ = self.bench.write(name, "half")),
            "append" => std::fs::write(&file, text_of(&file) + "\n" + rest + "\n").unwrap(),
            "cut" => {
                let bytes = std::fs::read(&file).unwrap();
                let length = bytes.len() - rest.parse::<usize>().unwrap();
                std::fs::write(&file, &bytes[..length]).unwrap();
            }
            "drop" => {
                let whole = text_of(&file);
                let lines = whole.lines().filter(|l| !l.contains(rest));
                let left: Vec<&str> = lines.collect();
                assert!(left.len() < whole.lines().count(), "no line with {rest}");
                std::fs::write(&file, left.join("\n") + "\n").unwrap();
            }
            "replace" => {
                let (whole, (from, to)) = (text_of(&file), edit());
                assert!(whole.contains(&from), "no {from}");
                std::fs::write(&file, whole.replace(&from, &to)).unwrap();
            }
            "tamper" => {
                let (mut bytes, (from, to)) = (std::fs::read(&file).unwrap(), edit());
                let mut places = bytes.windows(from.len());
                let place = places.position(|w| w == from.as_bytes()).unwrap();
                bytes[place..place + from.len()].copy_from_slice(to.as_bytes());
                std::fs::write(&file, bytes).unwrap();
            }
            "keep" => self.kept = listing(folder),
            "kept" => return Some(holds(self.kept == listing(folder), "other files")),
            "there" => return Some(holds(names.all(|f| f.exists()), "not all are there")),
            "gone" => return Some(holds(!names.any(|f| f.exists()), "some are there")),
            "entries" => return Some(equal(entries(&file), rest.parse().unwrap())),
            "same" => same_files(&file, &other),
            "equal" => {
                let [a, b] = [file, other].map(|file| std::fs::read(file).unwrap());
                return Some(holds(a == b, "they differ"));
            }
            "open" => self.opened = file,
            _ => return None,
        }
        Some(Ok(()))
    }

    /// What a scene of the opened file holds.
    fn of_scene(&self, key: &str, text: &str) -> Option<Done> {
        let (reading, rest) = text.split_once(' ').unwrap_or((text, ""));
        let anim_source = match reading {
            "at-skeleton" => AnimSource::AtSkeleton,
            "at-binding" => AnimSource::AtBinding,
            _ => return None,
        };
        let file = UsdFile::open(&self.opened).unwrap();
        let scene = file.scene(ReadOptions { anim_source }).unwrap();
        let words: Vec<&str> = rest.split_whitespace().collect();
        Some(match key {
            "binds" => equal(bindings(&scene), rest.to_owned()),
            "poses" => equal(scene.instances.len(), rest.parse().unwrap()),
            "ignores" => {
                let all = scene.warnings.iter();
                let ignored = all.filter(|w| w.code == "animation-source-ignored");
                equal(ignored.map(|w| w.path.as_str()).collect(), words)
            }
            "found" => {
                let (code, word) = (words[0], words[1..].join(" "));
                let mut all = scene.warnings.iter();
                let is_there = all.any(|w| w.code == code && w.message.contains(&word));
                holds(is_there, &format!("{:?}", scene.warnings))
            }
            "first" => {
                let (prim, rows) = rest.split_once(' ').unwrap();
                let bound = scene.resolve(prim).unwrap();
                let first = |time: Time| {
                    let (skin, pose) = (bound.skin(time)?, bound.pose(time)?);
                    // Both zeros are one.
                    let point = reference::deform(&skin, &pose).unwrap().points[0] + DVec3::ZERO;
                    Ok(format!("{} {} {}", point.x, point.y, point.z))
                };
                rows.split(", ").try_for_each(|row| {
                    let (time, want) = row.split_once(' ').unwrap();
                    let found = first(time.parse().map_or(Time::Default, Time::At));
                    let code = |e: Invalid| e.code.unwrap_or_default().to_owned();
                    equal(found.unwrap_or_else(code), want.to_owned())
                })
            }
            "weights" => {
                let pose = scene.resolve(words[0]).unwrap().pose(Time::Default);
                let want = words[1..].iter().map(|w| w.parse().unwrap()).collect();
                equal(pose.unwrap().channel_weights.to_vec(), want)
            }
            _ => return None,
        })
    }

    /// What the last bake made.
    fn of_result(&mut self, key: &str, text: &str) -> Done {
        if self.report.is_none() {
            self.bake("bake", "", None)?;
        }
        let report = self.report.as_ref().expect("a bake");
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let stage = || usd::open(&self.output);
        match key {
            "=" => values(&stage(), text, tolerance::BY_HAND),
            "~" => values(&stage(), text, tolerance::FEW_ROUNDINGS),
            "==" => values(&stage(), text, 0.0),
            "reference" => {
                let time = rest.parse().unwrap();
                let scene = scene(&self.opened);
                let want = deformed(&scene, first, Time::At(time), OutSpace::Prim).points;
                let got = usd::vectors(&stage(), first, "points", Some(time)).unwrap();
                common::compare::compare(text, &got, &want, tolerance::POINTS)
            }
            "moved" => {
                let want = DMat4::from_translation(vectors(rest)[0]);
                equal(usd::local_transform(&stage(), first, None), Some(want))
            }
            "times" => {
                let (prim, name) = first.split_once('.').unwrap();
                let want = rest.split_whitespace().map(|t| t.parse().unwrap());
                equal(usd::times(&stage(), prim, name), want.collect())
            }
            "tokens" => {
                let (prim, name) = first.split_once('.').unwrap();
                equal(usd::tokens(&stage(), prim, name).join(" "), rest.to_owned())
            }
            "none" => {
                let (prim, name) = text.split_once('.').unwrap();
                holds(!usd::has_value(&stage(), prim, name), "it has a value")
            }
            "type" => equal(usd::type_name(&stage(), first), rest.to_owned()),
            "instance" => equal(usd::prim(&stage(), first).is_instance(), rest == "true"),
            "prototypes" => equal(stage().prototypes().count(), text.parse().unwrap()),
            "alike" => self.alike(text),
            "warns" => holds(!warnings(report, text).is_empty(), &told(report).join("\n")),
            "told" => {
                let (code, words) = rest.split_once(' ').unwrap_or((rest, ""));
                let found = warnings(report, code);
                let is_told = found.iter().all(|w| w.message.contains(words));
                let is_right = is_told && found.len().to_string() == first;
                holds(is_right, &format!("{found:?}"))
            }
            "says" => {
                let told = told(report).join("\n");
                holds(text.split(", ").all(|word| told.contains(word)), &told)
            }
            "quiet" => {
                let told = told(report).join("\n");
                holds(!told.contains(text), &told)
            }
            "report" => equal(counted(report, first), rest.parse().unwrap()),
            // The same bake in one file counts the same.
            "as-one" => {
                let one = run(&self.path(first), &self.bench.path("one.usdc"), rest);
                holds(one.clips.is_none(), "it has clips")?;
                let counts = |r: &BakeReport| (r.prims, r.shared, r.moved, r.points, r.samples);
                equal(counts(report), counts(&one))?;
                // Frames at the edges of clips are deformed for both.
                holds(report.deformed_points > one.deformed_points, "no edges")
            }
            "estimate" => {
                let sizes = report.files.iter().map(|f| f.metadata().unwrap().len());
                let ratio = report.estimated_bytes as f64 / sizes.sum::<u64>() as f64;
                let [least, most] = [first, rest].map(|n| n.parse().unwrap());
                holds((least..most).contains(&ratio), &format!("{ratio}"))
            }
            "clips" => {
                let (of, baked, kept) = clips(report);
                equal(format!("{of} {baked} {kept}"), text.to_owned())
            }
            "files" => {
                let want = text.split(' ').map(|name| self.bench.path(name));
                equal(report.files.clone(), want.collect())
            }
            "failed" => {
                let mut found: Vec<&str> = report.failed.iter().map(|f| &*f.path).collect();
                found.dedup();
                equal(found, text.split_whitespace().collect())
            }
            "written" => holds(self.text().contains(text), "it is not written"),
            "unwritten" => holds(!self.text().contains(text), "it is written"),
            "pc2" => {
                let cache = pc2(&self.path(first));
                let found = (cache.first, cache.step, cache.samples.len());
                equal(
                    format!("{} {} {}", found.0, found.1, found.2),
                    rest.to_owned(),
                )
            }
            "count" => {
                let (pointer, count) = rest.split_once(' ').unwrap();
                let json = std::fs::read(self.path(first)).unwrap();
                let json: Value = serde_json::from_slice(&json).unwrap();
                let list = json.pointer(pointer).and_then(Value::as_array);
                equal(list.map(Vec::len), count.parse().ok())
            }
            _ => Err("a key that nobody knows".to_owned()),
        }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.output).unwrap()
    }

    fn alike(&self, text: &str) -> Done {
        let words: Vec<&str> = text.split(' ').collect();
        let [a, b, attribute, other, times @ ..] = &words[..] else {
            panic!("two stages and two attributes");
        };
        let [a, b] = [a, b].map(|file| usd::open(&self.path(file)));
        let (prim, name) = attribute.split_once('.').unwrap();
        for time in times {
            let time = time.parse().ok();
            let found = usd::vectors(&a, prim, name, time);
            holds(found.is_some(), &format!("none at {time:?}"))?;
            equal(found, usd::vectors(&b, prim, other, time))?;
        }
        Ok(())
    }
}

fn holds(is_right: bool, found: &str) -> Done {
    match is_right {
        true => Ok(()),
        false => Err(found.to_owned()),
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Done {
    holds(
        found == expected,
        &format!("found {found:?}, expected {expected:?}"),
    )
}

/// `MESH SKELETON ANIMATION, ...`; `nothing` without a SkelRoot.
fn bindings(scene: &Scene) -> String {
    let bound = scene.bound_skins().map(|b| {
        let animation = b.skeleton().instance.animation().map(|a| a.path.as_str());
        let (mesh, skeleton) = (&b.binding().path, &b.skeleton().path);
        format!("{mesh} {skeleton} {}", animation.unwrap_or("none"))
    });
    let bound: Vec<String> = bound.collect();
    match bound.is_empty() && scene.skel_roots.is_empty() {
        true => "nothing".to_owned(),
        false => bound.join(", "),
    }
}

/// A number of a report by its name.
fn counted(report: &BakeReport, field: &str) -> usize {
    match field {
        "prims" => report.prims,
        "moved" => report.moved,
        "frames" => report.frames,
        "points" => report.points,
        "samples" => report.samples,
        "files" => report.files.len(),
        "errors" => report.errors.len(),
        other => panic!("{other}: no number of a report"),
    }
}

/// `PRIM.ATTRIBUTE [@ TIME] VECTORS`
fn values(stage: &Stage, text: &str, within: f64) -> Done {
    let (attribute, rest) = text.split_once(' ').unwrap();
    let (prim, name) = attribute.split_once('.').unwrap();
    let (time, want) = match rest.strip_prefix("@ ").and_then(|r| r.split_once(' ')) {
        Some((time, want)) => (Some(time.parse().unwrap()), want),
        None => (usd::times(stage, prim, name).first().copied(), rest),
    };
    let got = usd::vectors(stage, prim, name, time).ok_or("no value")?;
    compare_within(name, &got, &vectors(want), within)
}

fn vectors(text: &str) -> Vec<DVec3> {
    let vector = |text: &str| {
        let numbers = text.split_whitespace().map(|n| n.parse().unwrap());
        DVec3::from_slice(&numbers.collect::<Vec<f64>>())
    };
    text.split(", ").map(vector).collect()
}

fn unescaped(text: &str) -> String {
    let text = text.replace("\\n", "\n").replace("\\r", "\r");
    text.replace("\\e", "\x1b")
}

/// Every rule of the list has a case here or in the corpus, or a test that is named after it.
pub fn every_rule_has_its_case() {
    let read = |file: PathBuf| std::fs::read_to_string(file).unwrap();
    let list = read(project("src/skel/rules.md"));
    let number = |line: &str| line.split_once(". ")?.0.parse::<u32>().ok();
    let rules: Vec<u32> = list.lines().filter_map(number).collect();
    assert!(
        rules.len() >= 34 && rules.iter().copied().eq(1..=rules.len() as u32),
        "rules are numbered one by one: {rules:?}"
    );
    let text = read(project("tests/data/rules.txt"))
        + &read(project("crates/sinew-bake/tests/bakes/utils.rs"));
    let in_corpus = crate::corpus::rules();
    let missing: Vec<u32> = rules
        .into_iter()
        .filter(|rule| !in_corpus.contains(rule))
        .filter(|rule| {
            let names = [
                format!("## rule {rule:02}: "),
                format!("fn rule_{rule:02}_"),
            ];
            !names.iter().any(|name| text.contains(name))
        })
        .collect();
    assert!(missing.is_empty(), "rules without a case: {missing:?}");
}

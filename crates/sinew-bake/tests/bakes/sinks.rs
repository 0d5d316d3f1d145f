//! Formats from outside: a sink written with the public API alone, bakers that are used again, cancellation, and errors
//! that a caller can match.

use std::error::Error as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use glam::Vec3;
use sinew::kernel::{PackedPose, PackedSkin, skin_on_cpu};
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew_bake::{
    Backend, BakePlan, BakeReport, BakeStart, Baker, Error, Frame, FrameRange, FrameSink, OutSpace,
    Progress, SinkError, bake,
};

use common::stages::Table;

use crate::bench::*;
use crate::readers::pc2;
use crate::truth::scene;

const WING: &str = "/Hatchling/Geo/WingL";

fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// LightWave's point cache of one prim: counts of frames and points, seconds, then the points of every frame, all
/// big-endian. It has its name once it is whole.
struct Mdd {
    output: PathBuf,
    file: Option<BufWriter<File>>,
}

impl Mdd {
    fn new(output: PathBuf) -> Self {
        Self { output, file: None }
    }

    fn part(&self) -> PathBuf {
        self.output.with_extension("part")
    }

    fn file(&mut self) -> Result<&mut BufWriter<File>, SinkError> {
        self.file.as_mut().ok_or_else(|| "not begun".into())
    }
}

impl FrameSink for Mdd {
    fn begin(&mut self, start: &BakeStart<'_>) -> Result<(), SinkError> {
        let [prim] = start.prims else {
            return Err(format!("MDD holds one prim, not {}", start.prims.len()).into());
        };
        let rate = start.scene.time_line.time_codes_per_second;
        let mut file = BufWriter::new(File::create(self.part())?);
        file.write_all(&i32::try_from(start.times.len())?.to_be_bytes())?;
        file.write_all(&i32::try_from(prim.points)?.to_be_bytes())?;
        for time in start.times {
            let seconds = time.code().unwrap_or(0.0) / rate;
            file.write_all(&(seconds as f32).to_be_bytes())?;
        }
        self.file = Some(file);
        Ok(())
    }

    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
        let file = self.file()?;
        for coordinate in frame.prims[0].points.iter().flat_map(|p| p.to_array()) {
            file.write_all(&coordinate.to_be_bytes())?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.file()?.flush()?;
        self.file = None;
        std::fs::rename(self.part(), &self.output)?;
        Ok(())
    }
}

impl Drop for Mdd {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // It may be gone already.
            let _ = std::fs::remove_file(self.part());
        }
    }
}

/// Everything that came, for comparison.
#[derive(Default)]
struct Kept {
    times: Vec<Time>,
    /// Path, time and points of every sample.
    samples: Vec<(String, Time, Vec<Vec3>)>,
    paths: Vec<String>,
    bindings: Vec<usize>,
    finished: bool,
}

impl FrameSink for Kept {
    fn begin(&mut self, start: &BakeStart<'_>) -> Result<(), SinkError> {
        self.times = start.times.to_vec();
        self.bindings = start.prims.iter().map(|p| p.binding).collect();
        self.paths = start.prims.iter().map(|p| p.path.clone()).collect();
        Ok(())
    }

    fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
        assert_eq!(frame.time, self.times[frame.index]);
        for prim in &mut frame.prims {
            assert_eq!(prim.binding, self.bindings[prim.prim]);
            let path = self.paths[prim.prim].clone();
            // Taken, so that nothing here is memory of a later frame.
            let points = std::mem::take(&mut prim.points);
            self.samples.push((path, frame.time, points));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.finished = true;
        Ok(())
    }
}

fn kept(baker: &mut Baker, scene: &Scene, plan: &BakePlan) -> (Kept, BakeReport) {
    let mut sink = Kept::default();
    let report = baker.bake(scene, plan, &mut sink, &mut go_on).unwrap();
    assert!(sink.finished);
    (sink, report)
}

fn bits(samples: &[(String, Time, Vec<Vec3>)]) -> Vec<u32> {
    let points = samples.iter().flat_map(|(_, _, points)| points);
    points
        .flat_map(|p| p.to_array().map(f32::to_bits))
        .collect()
}

pub fn a_format_from_outside_holds_what_ours_does() {
    let bench = Bench::new();
    let (mdd, cache) = (bench.path("wing.mdd"), bench.path("wing.pc2"));
    let plan = BakePlan::frames(1.0, 5.0, 0.5).with_prims([WING]);
    let mut sink = Mdd::new(mdd.clone());
    let report = Baker::cpu().bake(&scene(&hatchling()), &plan, &mut sink, &mut go_on);
    let report = report.unwrap();
    assert_eq!((report.frames, report.prims), (9, 1));
    run(&hatchling(), &cache, &format!("frames 1:5:0.5 prim {WING}"));
    let bytes = std::fs::read(mdd).unwrap();
    let words = bytes.chunks_exact(4).map(|b| b.try_into().unwrap());
    let words: Vec<u32> = words.map(u32::from_be_bytes).collect();
    assert_eq!(words[..2], [9, report.points as u32]);
    let samples = pc2(&cache).samples;
    let points = samples.iter().flatten().flat_map(|p| p.to_array());
    let points: Vec<u32> = points.map(f32::to_bits).collect();
    assert!(words[2 + 9..] == points, "other points than in .pc2");
}

pub fn a_cancelled_bake_leaves_nothing_and_the_baker_goes_on() {
    let bench = Bench::new();
    let scene = scene(&hatchling());
    let plan = BakePlan::frames(1.0, 24.0, 1.0).with_prims([WING]);
    let mut baker = Baker::cpu();
    let mut seen = 0;
    let mut half_way = |now| match now {
        Progress::Deforming { done, total } if done * 2 >= total => ControlFlow::Break(()),
        Progress::Deforming { done, .. } => {
            seen = done;
            ControlFlow::Continue(())
        }
        _ => panic!("{now:?} after the break"),
    };
    {
        let mut sink = Mdd::new(bench.path("wing.mdd"));
        let result = baker.bake(&scene, &plan, &mut sink, &mut half_way);
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
        assert!(sink.part().exists(), "the break came in the middle");
    }
    assert_eq!(seen, 11);
    assert_eq!(entries(bench.folder.path()), 0);

    // Our own formats, in the middle and when all is deformed but nothing has its name.
    let options = options("frames 1:24");
    for name in ["a.usdc", "a.usda", "new/a.####.obj", "a.pc2", "a.exr"] {
        for at_the_end in [false, true] {
            let mut stop = |now| match now {
                Progress::Writing => ControlFlow::Break(()),
                Progress::Deforming { done, .. } if done > 0 && !at_the_end => {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            };
            let result = baker.bake_file(&hatchling(), &bench.path(name), &options, &mut stop);
            let is_cancelled = matches!(result, Err(Error::Cancelled));
            assert!(is_cancelled, "{name}: {result:?}");
            assert_eq!(entries(bench.folder.path()), 0, "{name}");
        }
    }
    let (again, _) = kept(&mut baker, &scene, &plan);
    let (fresh, _) = kept(&mut Baker::cpu(), &scene, &plan);
    assert!(bits(&again.samples) == bits(&fresh.samples));
}

pub fn the_search_for_few_samples_is_told_and_can_be_cancelled() {
    let scene = scene(&hatchling());
    let mut plan = BakePlan::own_times().with_prims([WING]);
    plan.max_error = Some(0.01);
    let mut told = Vec::new();
    let mut stop = |now| {
        told.push(now);
        match now {
            Progress::Choosing { done, .. } if done > 0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let result = Baker::cpu().bake(&scene, &plan, &mut Kept::default(), &mut stop);
    assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    assert!(
        matches!(
            told[..],
            [
                Progress::Choosing { done: 0, total: a },
                Progress::Choosing { done: 1.., total: b }
            ] if a == b
        ),
        "{told:?}"
    );
}

pub fn one_device_of_the_hosts_bakes_many_scenes() {
    let gpu = common::gpu::device().unwrap();
    let plan = BakePlan::frames(1.0, 3.0, 0.5).with_space(OutSpace::World);
    let mut baker = Baker::on_device(gpu.device(), gpu.queue()).unwrap();
    assert_eq!(baker.backend(), format!("gpu ({})", gpu.report().name));
    let puppet = hatchling().with_file_name("puppet.glb");
    // The first one again, after another file and after a bake that was broken off.
    for (file, breaks) in [(hatchling(), false), (puppet, true), (hatchling(), false)] {
        let scene = scene(&file);
        if breaks {
            let mut stop = |_| ControlFlow::Break(());
            let result = baker.bake(&scene, &plan, &mut Kept::default(), &mut stop);
            assert!(matches!(result, Err(Error::Cancelled)));
        }
        let (ours, report) = kept(&mut baker, &scene, &plan);
        assert_eq!(report.backend, baker.backend());
        let mut own = Baker::new(&Backend::Adapter(gpu.report().name.clone())).unwrap();
        let (fresh, _) = kept(&mut own, &scene, &plan);
        assert!(!ours.samples.is_empty());
        assert!(bits(&ours.samples) == bits(&fresh.samples), "{file:?}");
    }
}

/// What a sink gets at two times is what the scene says when it is asked for both in turn.
pub fn two_times_of_one_scene() {
    let scene = scene(&hatchling());
    let plan = BakePlan::frames(3.0, 7.0, 4.0)
        .with_prims([WING])
        .with_space(OutSpace::World);
    let (baked, _) = kept(&mut Baker::cpu(), &scene, &plan);
    let bound = scene.resolve(WING).unwrap();
    let skin = PackedSkin::pack(WING, &bound.skin(Time::At(3.0)).unwrap()).unwrap();
    let mut poses = [3.0, 7.0].map(|t| scene.at(Time::At(t), OutSpace::World));
    let mut seen = Vec::new();
    for _ in 0..2 {
        for (poses, (_, time, want)) in poses.iter_mut().zip(&baked.samples) {
            assert_eq!(poses.time(), *time);
            let pose = PackedPose::pack(&skin, &poses.pose(bound).unwrap()).unwrap();
            let mut points = vec![Vec3::ZERO; skin.output_count()];
            skin_on_cpu(&skin, &pose, &mut points, None).unwrap();
            assert!(points == *want, "at {time}");
            seen.push(points);
        }
    }
    assert!(seen[0] != seen[1] && seen[0] == seen[2]);
}

/// USD has times of its own for each prim; a sink sees them as the file does.
pub fn prims_have_times_of_their_own() {
    let bench = Bench::new();
    let scene = scene(&hatchling());
    let (ours, report) = kept(&mut Baker::cpu(), &scene, &BakePlan::own_times());
    let usd = run(&hatchling(), &bench.path("out.usdc"), "");
    assert_eq!(
        (report.prims, report.samples, report.deformed_points),
        (usd.prims, usd.samples, usd.deformed_points)
    );
    assert_eq!(ours.samples.len(), report.samples);
    assert_eq!(ours.paths.len(), report.prims - report.shared);
    assert!(report.files.is_empty() && report.frames == 0);
}

pub fn what_a_sink_says_comes_out() {
    struct Full;
    impl FrameSink for Full {
        fn frame(&mut self, frame: &mut Frame) -> Result<(), SinkError> {
            match frame.index {
                2 => Err(std::io::Error::from(std::io::ErrorKind::StorageFull).into()),
                _ => Ok(()),
            }
        }
        fn finish(&mut self) -> Result<(), SinkError> {
            panic!("nothing is finished after an error");
        }
    }
    let plan = BakePlan::frames(1.0, 9.0, 1.0);
    let result = Baker::cpu().bake(&scene(&hatchling()), &plan, &mut Full, &mut go_on);
    let Err(Error::Sink(e)) = result else {
        panic!("{result:?}");
    };
    let e = e.downcast_ref::<std::io::Error>().unwrap();
    assert_eq!(e.kind(), std::io::ErrorKind::StorageFull);
}

/// However deep prims nest, no stage of a bake recurses with them.
pub fn a_caller_with_little_stack_bakes_a_deep_stage() {
    const DEPTH: usize = 990;
    let bench = Bench::new();
    let head: String = (0..DEPTH)
        .map(|i| format!("def Xform \"X{i}\" {{\n"))
        .collect();
    let text = Table::read("rules.txt")
        .base("two joints")
        .replacen("#usda 1.0", "", 1);
    let text = text
        .replace("</W/R/S>", "<S>")
        .replace("</W/R/Anim>", "<../Anim>");
    let text = format!("#usda 1.0\n{head}{text}\n{}", "}\n".repeat(DEPTH));
    let input = bench.write("deep.usda", text);
    let [text, crate_file] = ["baked.usda", "baked.usdc"].map(|name| bench.path(name));
    let options = options("");
    let small = std::thread::Builder::new().stack_size(256 << 10);
    let work = move || {
        let own = std::thread::current().id();
        let mut progress = |_| assert_eq!(std::thread::current().id(), own);
        let once = bake(&input, &text, &options, &mut progress);
        let again = Baker::cpu().bake_file(&input, &crate_file, &options, &mut go_on);
        [once, again].map(|report| report.map_or_else(|e| panic!("{e}"), |r| r.prims))
    };
    assert_eq!(small.spawn(work).unwrap().join().unwrap(), [1, 1]);
}

pub fn errors_have_kinds() {
    let scene = scene(&hatchling());
    let fail = |plan: &BakePlan| {
        let mut sink = Kept::default();
        let result = Baker::cpu().bake(&scene, plan, &mut sink, &mut go_on);
        assert!(sink.times.is_empty(), "begun");
        let error = result.unwrap_err();
        assert!(!error.to_string().contains("--"), "{error}");
        error
    };
    let e = fail(&BakePlan::default().with_prims(["/Nobody"]));
    assert!(
        matches!(&e, Error::UnknownPrim { path, known, .. } if path == "/Nobody" && known.contains(&WING.into())),
        "{e}"
    );
    let e = fail(&BakePlan::default().with_prims(["Nobody"]));
    assert!(matches!(&e, Error::PrimPath { path } if path == "Nobody"));
    for (first, last, step) in [(3.0, 1.0, 1.0), (1.0, 3.0, 0.0), (f64::NAN, 3.0, 1.0)] {
        let mut own = BakePlan::own_times();
        own.frames = Some(FrameRange { first, last, step });
        for plan in [BakePlan::frames(first, last, step), own] {
            assert!(matches!(fail(&plan), Error::EmptyRange { .. }));
        }
    }
    let e = fail(&BakePlan::frames(0.0, 1e9, 1.0));
    assert!(matches!(
        e,
        Error::TooManyFrames {
            range: Some((0.0, 1e9)),
            ..
        }
    ));

    let bench = Bench::new();
    let fail = |input: &Path, out: &str| {
        let result = bake(input, &bench.path(out), &options(""), &mut |_| {});
        assert_eq!(entries(bench.folder.path()), 0, "{out}");
        result.unwrap_err()
    };
    let missing = fail(&bench.path("no.usda"), "out.usdc");
    assert!(matches!(missing, Error::Io(e) if matches!(*e, sinew_io::Error::Open { .. })));
    let clip = hatchling().with_file_name("walk.bvh");
    let nothing = fail(&clip, "out.usdc");
    assert!(
        matches!(&nothing, Error::NothingToSkin(why) if why.file == clip),
        "{nothing}"
    );
    assert!(nothing.source().is_none());
    let several = fail(&hatchling(), "out.obj");
    assert!(matches!(several, Error::FrameNumber { frames, .. } if frames > 1));
}

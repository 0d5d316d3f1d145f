//! The goals of benches/RESULTS.md, and whether this run meets them: each has a bar, is judged on medians, and on the kind of
//! hardware that it is about.

use sinew::kernel::Packing;

use crate::measure::Times;
use crate::options::ENOUGH;
use crate::results::Results;
use crate::row::Row;
use crate::{crowds, playing, python, sinew_cpu, sinew_gpu, whole};

pub enum Met {
    Yes,
    No,
    /// Why there is no telling.
    Open(&'static str),
}

pub struct Goal {
    pub what: String,
    pub wanted: String,
    pub figure: String,
    /// Time of the floor, and how many of it the figure takes.
    pub floor: Option<(f64, f64)>,
    pub met: Met,
}

pub const NEEDS_HARDWARE: &str = "open: needs a hardware GPU";
const NOT_RUN: &str = "open: not run";
const TOO_FEW: &str = "open: fewer than 15 runs";
const USD_CORE: &str = "usd-core 26.11";

/// All of them, in the order of the work loads.
pub fn goals(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    bandwidth(results, &mut goals);
    gpu_peers(results, &mut goals);
    faces(results, &mut goals);
    cpu(results, &mut goals);
    processes(results, &mut goals);
    frames(results, &mut goals);
    many_characters(results, &mut goals);
    players(results, &mut goals);
    package(results, &mut goals);
    goals
}

fn floor(row: &Row) -> Option<(f64, f64)> {
    row.floor.map(|f| (f, row.times.median() / f))
}

fn judged(fulfilled: bool) -> Met {
    if fulfilled { Met::Yes } else { Met::No }
}

/// Judged by medians, where there are enough runs for them to mean something.
fn by_medians(times: &[&Times], fulfilled: bool) -> Met {
    match times.iter().all(|t| t.count() >= ENOUGH) {
        true => judged(fulfilled),
        false => Met::Open(TOO_FEW),
    }
}

fn on_hardware(results: &Results, times: &[&Times], fulfilled: bool) -> Met {
    match results.is_hardware() {
        true => by_medians(times, fulfilled),
        false => Met::Open(NEEDS_HARDWARE),
    }
}

fn not_run(what: &str, wanted: &str) -> Goal {
    Goal {
        what: what.into(),
        wanted: wanted.into(),
        figure: String::new(),
        floor: None,
        met: Met::Open(NOT_RUN),
    }
}

/// How many times as many points per second: of medians, and between quartiles the one way and the other.
struct Ratio {
    median: f64,
    spread: [f64; 2],
}

impl Ratio {
    fn of(ours: &Row, theirs: &Row) -> Self {
        Self::of_times(&ours.times, &theirs.times).times(ours.points as f64 / theirs.points as f64)
    }

    /// `theirs` over `ours`.
    fn of_times(ours: &Times, theirs: &Times) -> Self {
        let ([our_low, our_high], [their_low, their_high]) = (ours.quartiles(), theirs.quartiles());
        Self {
            median: theirs.median() / ours.median(),
            spread: [their_low / our_high, their_high / our_low],
        }
    }

    fn times(self, factor: f64) -> Self {
        Self {
            median: self.median * factor,
            spread: self.spread.map(|s| s * factor),
        }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [low, high] = self.spread;
        write!(f, "{:.2}x ({low:.2} to {high:.2})", self.median)
    }
}

fn bandwidth(results: &Results, goals: &mut Vec<Goal>) {
    for (load, case) in [("A", "points + normals"), ("C", "points")] {
        let what =
            format!("{load}, {case}: share of a copy's bandwidth for the bytes it must move");
        let wanted = "85 %";
        let Some(row) = results.row(load, case, sinew_gpu::WHO, None) else {
            goals.push(not_run(&what, wanted));
            continue;
        };
        let share = row.floor.map_or(0.0, |f| f / row.times.median());
        goals.push(Goal {
            what,
            wanted: wanted.into(),
            figure: format!("{:.1} %", share * 100.0),
            floor: floor(row),
            met: on_hardware(results, &[&row.times], share >= 0.85),
        });
    }
    let what = "C: dispatches depend on variants and pages, not on instances";
    let wanted = "as many for half the characters";
    goals.push(match results.dispatches {
        Some([all, half]) => Goal {
            what: what.into(),
            wanted: wanted.into(),
            figure: format!("{all}, and {half} for half of them"),
            floor: None,
            // Software adapters hold palettes in small uniforms, and a page of these is a dispatch.
            met: match results.is_hardware() {
                true => judged(all == half),
                false => Met::Open(NEEDS_HARDWARE),
            },
        },
        None => not_run(what, wanted),
    });
}

/// Ours over the fastest of some peers' kernels, with the bytes per point of both.
fn over_peer(results: &Results, who: &str, load: &str, peers: &[&str], wanted: f64) -> Goal {
    let packing = who.strip_prefix(sinew_gpu::WHO).unwrap_or_default();
    let what = format!("{load}{packing}: over {}", peers.join(" and "));
    let wanted_text = format!("{wanted}x");
    let is_one =
        |r: &&Row| r.load == load && r.threads.is_none() && peers.iter().any(|p| r.who.contains(p));
    // With normals where the load has some: of a peer's rows those come first.
    let ours = |theirs: &Row| results.row(load, &theirs.case, who, None);
    let first = results.rows.iter().find(is_one).map(|r| r.case.as_str());
    let theirs = results
        .rows
        .iter()
        .filter(is_one)
        .filter(|r| Some(r.case.as_str()) == first);
    let fastest = theirs.max_by(|a, b| a.rate().total_cmp(&b.rate()));
    let Some((ours, theirs)) = fastest.and_then(|t| Some((ours(t)?, t))) else {
        return not_run(&what, &wanted_text);
    };
    let ratio = Ratio::of(ours, theirs);
    let bytes = match (ours.bytes_per_point, theirs.bytes_per_point) {
        (Some(a), Some(b)) => format!("; {a:.0} B a point against {b:.0}"),
        _ => String::new(),
    };
    let times = [&ours.times, &theirs.times];
    Goal {
        what,
        wanted: wanted_text,
        figure: format!("{ratio}{bytes}"),
        floor: floor(ours),
        met: on_hardware(results, &times, ratio.median >= wanted),
    }
}

fn gpu_peers(results: &Results, goals: &mut Vec<Goal>) {
    for (peer, wanted) in [("Godot", 1.5), ("Hydra", 3.0), ("PyTorch", 20.0)] {
        goals.push(over_peer(results, sinew_gpu::WHO, "C", &[peer], wanted));
    }
    for packing in [Packing::Fine, Packing::Compact] {
        let who = sinew_gpu::packed_name(packing);
        goals.push(over_peer(results, &who, "A", &["Godot"], 1.5));
    }
    let dense = ["Bevy", "three.js", "Godot"];
    goals.push(over_peer(results, sinew_gpu::WHO, "D", &dense, 10.0));
    let walk = ["plain CSR walk"];
    goals.push(over_peer(results, sinew_gpu::WHO, "D", &walk, 3.0));
}

fn faces(results: &Results, goals: &mut Vec<Goal>) {
    let (set, weights) = (
        "D: CPU time of changing the active set, from weights to the recorded frame",
        "D: bytes uploaded where only weights change",
    );
    let Some(cost) = &results.face else {
        goals.push(not_run(set, "under 1 ms"));
        goals.push(not_run(weights, "the weights'"));
        return;
    };
    let (times, uploaded) = &cost.set;
    let [low, high] = times.quartiles().map(|s| s * 1e3);
    goals.push(Goal {
        what: set.into(),
        wanted: "under 1 ms".into(),
        figure: format!(
            "{:.3} ms ({low:.3} to {high:.3}); {:.3} ms where only weights change",
            times.median() * 1e3,
            cost.weights.0.median() * 1e3
        ),
        floor: None,
        met: by_medians(&[times], times.median() < 1e-3),
    });
    goals.push(Goal {
        what: weights.into(),
        wanted: format!("the weights' {} B", results.face_weights * 4),
        figure: format!("{} B; {uploaded} B with another active set", cost.weights.1),
        floor: None,
        met: judged(cost.weights.1 <= results.face_weights as u64 * 4),
    });
}

/// Our CPU backend over usd-core's functions, with the loops that this CPU has and with those that any has: usd-core's wheel
/// is built for any.
fn cpu(results: &Results, goals: &mut Vec<Goal>) {
    let cores = Some(results.cores);
    // usd-core has a function for points and another for normals; ours gives both in one.
    let cases: [(&str, &str, &[&str], &str); 3] = [
        ("A", "points", &["points"], "SkinPointsLBS"),
        (
            "A",
            "points + normals",
            &["points", "normals"],
            "SkinPointsLBS and SkinNormals",
        ),
        ("D", "blend", &["blend"], "ComputeDeformedPoints"),
    ];
    for (load, case, parts, functions) in cases {
        let theirs: Option<Vec<&Row>> = parts
            .iter()
            .map(|part| results.row(load, part, USD_CORE, cores))
            .collect();
        for (who, loops) in [
            (sinew_cpu::WHO, ""),
            (sinew_cpu::BASELINE, ", baseline loops"),
        ] {
            let what = format!("{load}, {case}, CPU{loops}: over usd-core's parallel {functions}");
            let ours = results.row_of(load, case, who, cores);
            goals.push(match ours.zip(theirs.as_deref()) {
                Some((ours, theirs)) => over_functions(what, ours, theirs),
                None => not_run(&what, "4x"),
            });
        }
    }
}

fn over_functions(what: String, ours: &Row, theirs: &[&Row]) -> Goal {
    // One function runs after the other: medians and quartiles add up.
    let each: Vec<Ratio> = theirs.iter().map(|t| Ratio::of(ours, t)).collect();
    let ratio = Ratio {
        median: each.iter().map(|r| r.median).sum(),
        spread: [0, 1].map(|i| each.iter().map(|r| r.spread[i]).sum()),
    };
    let times: Vec<&Times> = theirs
        .iter()
        .map(|t| &t.times)
        .chain([&ours.times])
        .collect();
    Goal {
        what,
        wanted: "4x".into(),
        figure: ratio.to_string(),
        floor: floor(ours),
        met: by_medians(&times, ratio.median >= 4.0),
    }
}

fn processes(results: &Results, goals: &mut Vec<Goal>) {
    let ours = results.row("E", "bake", whole::WHO, None);
    let theirs = results.row("E", "bake", "usd-core", None);
    let what = "E: whole process, over usd-core's bake and export";
    goals.push(match ours.zip(theirs) {
        Some((ours, theirs)) => {
            let ratio = Ratio::of(ours, theirs);
            Goal {
                what: what.into(),
                wanted: "3x".into(),
                figure: ratio.to_string(),
                floor: floor(ours),
                met: by_medians(&[&ours.times, &theirs.times], ratio.median >= 3.0),
            }
        }
        None => not_run(what, "3x"),
    });
    let what = "E: peak memory with all frames over that with a quarter";
    goals.push(match results.growth {
        Some(growth) => Goal {
            what: what.into(),
            wanted: "flat: under 1.2x".into(),
            figure: format!("{growth:.2}x"),
            floor: None,
            met: judged(growth < 1.2),
        },
        None => not_run(what, "flat: under 1.2x"),
    });
    let what = "start: `sinew inspect` of a 1 MB file";
    goals.push(match results.row("start", "inspect", "sinew", None) {
        Some(row) => Goal {
            what: what.into(),
            wanted: "under 50 ms".into(),
            figure: format!("{:.1} ms", row.times.median() * 1e3),
            floor: None,
            met: by_medians(&[&row.times], row.times.median() < 0.05),
        },
        None => not_run(what, "under 50 ms"),
    });
}

fn frames(results: &Results, goals: &mut Vec<Goal>) {
    let what = "C: CPU cost of a frame, pose and upload, per joint";
    goals.push(match results.frame("C") {
        Some((cost, counts)) => {
            let each = |times: &Times| times.median() / counts.joints as f64 * 1e6;
            let sum = each(&cost.pose) + each(&cost.record);
            Goal {
                what: what.into(),
                wanted: "under 0.1 us".into(),
                figure: format!(
                    "{sum:.3} us on one thread: {:.3} posing ({:.3} on all cores), {:.3} recording and upload of {:.1} MB",
                    each(&cost.pose),
                    each(&cost.pose_on_all),
                    each(&cost.record),
                    cost.uploaded as f64 / 1e6
                ),
                floor: None,
                met: by_medians(&[&cost.pose, &cost.record], sum < 0.1),
            }
        }
        None => not_run(what, "under 0.1 us"),
    });
    let what = "F: a frame per mesh";
    goals.push(match results.frame("F") {
        Some((cost, counts)) => {
            let each = |times: &Times| times.median() / counts.meshes as f64 * 1e6;
            Goal {
                what: what.into(),
                wanted: "under 1 us".into(),
                figure: format!(
                    "{:.2} us until the device is done: {:.2} posing, {:.2} recording and upload",
                    each(&cost.whole),
                    each(&cost.pose_on_all),
                    each(&cost.record)
                ),
                floor: None,
                met: on_hardware(results, &[&cost.whole], each(&cost.whole) < 1.0),
            }
        }
        None => not_run(what, "under 1 us"),
    });
}

/// Stages of many characters.
fn many_characters(results: &Results, goals: &mut Vec<Goal>) {
    let row = |case: &str, who: &str| results.row(crowds::NAME, case, who, None);
    for count in &crowds::COUNTS[1..] {
        let case = format!("bake {count} references");
        let what = format!("{case}, over usd-core's bake and export");
        goals.push(match row(&case, crowds::OURS).zip(row(&case, "usd-core")) {
            Some((ours, theirs)) => {
                let ratio = Ratio::of(ours, theirs);
                Goal {
                    what,
                    wanted: "2x".into(),
                    figure: ratio.to_string(),
                    floor: None,
                    met: by_medians(&[&ours.times, &theirs.times], ratio.median >= 2.0),
                }
            }
            None => not_run(&what, "2x"),
        });
    }
    let [few, many, _] = crowds::COUNTS;
    for (verb, who) in [
        ("bake", crowds::OURS),
        ("inspect", "sinew"),
        ("check", "sinew"),
    ] {
        let case = |n: usize| format!("{verb} {n} references");
        let what = format!("{verb}: {many} characters over {few}");
        goals.push(match row(&case(many), who).zip(row(&case(few), who)) {
            Some((many, few)) => {
                let growth = Ratio::of_times(&few.times, &many.times);
                Goal {
                    what,
                    wanted: "at most 4.8x".into(),
                    figure: growth.to_string(),
                    floor: None,
                    met: by_medians(&[&many.times, &few.times], growth.median <= 4.8),
                }
            }
            None => not_run(&what, "at most 4.8x"),
        });
    }
}

/// Characters that play clips on the device: recording and uploads need no GPU.
fn players(results: &Results, goals: &mut Vec<Goal>) {
    let [.., most] = playing::COUNTS;
    for (count, with_skins) in [(most, true), (playing::PALETTES, false)] {
        for changed in [0, playing::changed(count)] {
            let case = playing::case(count, with_skins, changed);
            let what = format!("{}: {case}", playing::NAME);
            // Palettes alone are for five times as many.
            let most_bytes = if with_skins { 64_000 } else { u64::MAX };
            let wanted = if with_skins { "1 ms, 64 KB" } else { "1 ms" };
            goals.push(
                match results.row(playing::NAME, &case, playing::OURS, None) {
                    Some(row) => {
                        let (seconds, bytes) =
                            (row.times.median(), row.uploaded.unwrap_or(u64::MAX));
                        Goal {
                            what,
                            wanted: wanted.into(),
                            figure: format!(
                                "{:.3} ms, {:.1} KB uploaded",
                                seconds * 1e3,
                                bytes as f64 / 1e3
                            ),
                            floor: None,
                            met: by_medians(&[&row.times], seconds <= 1e-3 && bytes <= most_bytes),
                        }
                    }
                    None => not_run(&what, wanted),
                },
            );
        }
    }
}

/// The Python package over the same loops of usd-core's functions.
fn package(results: &Results, goals: &mut Vec<Goal>) {
    let cores = Some(results.cores);
    for (points, _) in python::SIZES {
        let cases = [
            ("clip", python::OURS[0], ": one call for all frames"),
            ("clip", python::OURS[1], ": a call for each frame"),
            ("plain arrays", python::OURS_OF_ARRAYS, ""),
        ];
        for (what, who, how) in cases {
            let case = python::case(what, points);
            let theirs = results.row(python::NAME, &case, USD_CORE, cores);
            let ours = results.row_of(python::NAME, &case, who, cores);
            let what = format!("python, {case}{how}, over usd-core's functions");
            goals.push(match ours.zip(theirs) {
                Some((ours, theirs)) => {
                    let ratio = Ratio::of(ours, theirs);
                    Goal {
                        what,
                        wanted: "5x".into(),
                        figure: ratio.to_string(),
                        floor: None,
                        met: by_medians(&[&ours.times, &theirs.times], ratio.median >= 5.0),
                    }
                }
                None => not_run(&what, "5x"),
            });
        }
    }
}

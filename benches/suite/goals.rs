//! The goals of benches/RESULTS.md, and whether this run meets them: each has a bar, is judged on medians, and on the kind of
//! hardware that it is about.

use crate::measure::Times;
use crate::options::ENOUGH;
use crate::results::{Results, Row};
use crate::{cpu, crowds, edits, on_gpu, playing, python, whole};

/// Goals about what no row says: whoever measures it says what it found.
pub const DISPATCHES: &str = "C: dispatches depend on variants and pages, not on instances";
pub const ACTIVE_SET: &str =
    "D: CPU time of changing the active set, from weights to the recorded frame";
pub const WEIGHTS: &str = "D: bytes uploaded where only weights change";
pub const PEAK: &str = "E: peak memory with all frames over that with a quarter";
pub const JOINTS: &str = "C: CPU cost of a frame, pose and upload, per joint";
pub const MESHES: &str = "F: a frame per mesh";

pub struct Goal {
    pub what: String,
    pub wanted: String,
    pub found: Found,
}

/// What a run says about a goal.
#[derive(Clone)]
pub struct Found {
    pub figure: String,
    /// Time of the floor, and how many of it the figure takes.
    pub floor: Option<(f64, f64)>,
    /// `yes`, `no`, or why this run cannot tell.
    pub met: &'static str,
}

const YES: &str = "yes";
const NO: &str = "**no**";
const NEEDS_HARDWARE: &str = "open: needs a hardware GPU";
const NOT_RUN: &str = "open: not run";
const TOO_FEW: &str = "open: fewer than 15 runs";
const USD_CORE: &str = "usd-core 26.11";

impl Found {
    /// Judged by medians of times, where there are enough runs for them to mean something.
    pub fn new(figure: String, times: &[&Times], fulfilled: bool) -> Self {
        let met = match times.iter().all(|t| t.count() >= ENOUGH) {
            true if fulfilled => YES,
            true => NO,
            false => TOO_FEW,
        };
        Self {
            figure,
            floor: None,
            met,
        }
    }

    fn over_floor(mut self, row: &Row) -> Self {
        self.floor = row.floor.zip(row.times_the_floor());
        self
    }

    pub fn on_hardware(mut self, is_hardware: bool) -> Self {
        if !is_hardware {
            self.met = NEEDS_HARDWARE;
        }
        self
    }
}

/// A goal that is open if its rows were not measured.
fn goal(what: impl Into<String>, wanted: impl Into<String>, found: Option<Found>) -> Goal {
    Goal {
        what: what.into(),
        wanted: wanted.into(),
        found: found.unwrap_or(Found {
            figure: String::new(),
            floor: None,
            met: NOT_RUN,
        }),
    }
}

/// How many times as many points per second ours are: of medians, and between quartiles the one way and the other.
type Ratio = [f64; 3];

fn ratio(ours: &Row, theirs: &Row) -> Ratio {
    // Rows without points are compared by time alone.
    let points = ours.points.max(1) as f64 / theirs.points.max(1) as f64;
    let ([our_low, our_high], [low, high]) = (ours.times.quartiles(), theirs.times.quartiles());
    let median = theirs.times.median() / ours.times.median();
    [median, low / our_high, high / our_low].map(|r| r * points)
}

fn shown([median, low, high]: Ratio) -> String {
    format!("{median:.2}x ({low:.2} to {high:.2})")
}

/// Ours over theirs, which run one after the other, and of which it is to be so many times as fast.
fn over<'a>(
    what: impl Into<String>,
    wanted: f64,
    ours: Option<&'a Row>,
    theirs: impl IntoIterator<Item = Option<&'a Row>>,
) -> Goal {
    let theirs: Option<Vec<&Row>> = theirs.into_iter().collect();
    let found = ours.zip(theirs).map(|(ours, theirs)| {
        let each = theirs.iter().map(|theirs| ratio(ours, theirs));
        let sum = each.reduce(|a, b| std::array::from_fn(|i| a[i] + b[i]));
        let sum = sum.unwrap_or_default();
        let times = theirs.iter().chain([&ours]).map(|row| &row.times);
        let times: Vec<&Times> = times.collect();
        Found::new(shown(sum), &times, sum[0] >= wanted).over_floor(ours)
    });
    goal(what, format!("{wanted}x"), found)
}

/// Ours over the fastest of some peers' kernels: which of ours, the load, the peers, the times.
const OVER_PEERS: [(&str, &str, &[&str], f64); 6] = [
    ("", "C", &["Godot"], 1.5),
    ("", "C", &["Hydra"], 3.0),
    ("", "C", &["PyTorch"], 20.0),
    ("", "A", &["Godot"], 1.0),
    ("", "D", &["Bevy", "three.js", "Godot"], 10.0),
    ("", "D", &["plain CSR walk"], 3.0),
];

/// Our CPU backend over usd-core's functions, which has one for points and another for normals; ours gives both in one.
const OVER_FUNCTIONS: [(&str, &str, &[&str], &str); 3] = [
    ("A", "points", &["points"], "SkinPointsLBS"),
    (
        "A",
        "points + normals",
        &["points", "normals"],
        "SkinPointsLBS and SkinNormals",
    ),
    ("D", "blend", &["blend"], "ComputeDeformedPoints"),
];

/// The Python package over the same loops of usd-core's functions: what, whose row of ours, how.
const OVER_LOOPS: [(&str, &str, &str); 3] = [
    ("clip", python::OURS[0], ": one call for all frames"),
    ("clip", python::OURS[1], ": a call for each frame"),
    ("plain arrays", python::OURS_OF_ARRAYS, ""),
];

/// All goals, in the order of the work loads.
pub fn goals(results: &Results) -> Vec<Goal> {
    let fact = |what: &'static str, wanted: &str| {
        let found = results.facts.get(what).cloned();
        goal(what, wanted, found)
    };
    let mut all = vec![
        share(results, "A", "points + normals"),
        share(results, "C", "points"),
        fact(DISPATCHES, "as many for half the characters"),
    ];
    all.extend(OVER_PEERS.map(|row| over_peer(results, row)));
    all.push(fact(ACTIVE_SET, "under 1 ms"));
    all.push(fact(WEIGHTS, "the weights' 3200 B"));
    // With the loops that this CPU has and with those that any has: usd-core's wheel is built for any.
    let cores = Some(results.cores);
    for (load, case, parts, functions) in OVER_FUNCTIONS {
        for (who, loops) in [(cpu::WHO, ""), (cpu::BASELINE, ", baseline loops")] {
            let theirs = parts
                .iter()
                .map(|part| results.row(load, part, USD_CORE, cores));
            let ours = results.row(load, case, who, cores);
            let what = format!("{load}, {case}, CPU{loops}: over usd-core's parallel {functions}");
            all.push(over(what, 4.0, ours, theirs));
        }
    }
    let ours = results.row("E", "bake", whole::OURS, None);
    let theirs = results.row("E", "bake", whole::THEIRS, None);
    let what = "E: whole process, over usd-core's bake and export";
    all.push(over(what, 3.0, ours, [theirs]));
    all.push(fact(PEAK, "flat: under 1.2x"));
    let start = results.row("start", "inspect", "sinew inspect", None);
    let start = start.map(|row| {
        let median = row.times.median();
        let figure = format!("{:.1} ms", median * 1e3);
        Found::new(figure, &[&row.times], median < 0.05)
    });
    let what = "start: `sinew inspect` of a 1 MB file";
    all.push(goal(what, "under 50 ms", start));
    all.push(fact(JOINTS, "under 0.1 us"));
    all.push(fact(MESHES, "under 1 us"));
    many_characters(results, &mut all);
    players(results, &mut all);
    edited(results, &mut all);
    for (points, _) in python::SIZES {
        for (what, who, how) in OVER_LOOPS {
            let case = python::case(what, points);
            let row = |who: &str| results.row(python::NAME, &case, who, cores);
            let what = format!("python, {case}{how}, over usd-core's functions");
            all.push(over(what, 5.0, row(who), [row(USD_CORE)]));
        }
    }
    all
}

fn share(results: &Results, load: &str, case: &str) -> Goal {
    let row = results.row(load, case, on_gpu::WHO, None);
    let found = row.map(|row| {
        let share = row.floor.map_or(0.0, |f| f / row.times.median());
        let figure = format!("{:.1} %", share * 100.0);
        let found = Found::new(figure, &[&row.times], share >= 0.85);
        found.over_floor(row).on_hardware(results.is_hardware())
    });
    let what = format!("{load}, {case}: share of a copy's bandwidth for the bytes it must move");
    goal(what, "85 %", found)
}

/// With the bytes per point of both.
fn over_peer(
    results: &Results,
    (packing, load, peers, wanted): (&str, &str, &[&str], f64),
) -> Goal {
    let is_one =
        |r: &&Row| r.load == load && r.threads.is_none() && peers.iter().any(|p| r.who.contains(p));
    // With normals where the load has some: of a peer's rows those come first.
    let case = results.rows.iter().find(is_one).map_or("", |r| &r.case);
    let theirs = results.rows.iter().filter(|r| is_one(r) && r.case == case);
    let fastest = theirs.max_by(|a, b| a.rate().total_cmp(&b.rate()));
    let ours = results.row(load, case, &format!("{}{packing}", on_gpu::WHO), None);
    let what = format!("{load}{packing}: over {}", peers.join(" and "));
    let mut goal = over(what, wanted, ours, [fastest]);
    if let Some((ours, theirs)) = ours.zip(fastest) {
        if let Some((a, b)) = ours.bytes_per_point.zip(theirs.bytes_per_point) {
            goal.found.figure += &format!("; {a:.0} B a point against {b:.0}");
        }
        goal.found = goal.found.on_hardware(results.is_hardware());
    }
    goal
}

/// Stages of many characters.
fn many_characters(results: &Results, all: &mut Vec<Goal>) {
    let row = |case: &str, who: &str| results.row(crowds::NAME, case, who, None);
    for count in &crowds::COUNTS[1..] {
        let case = format!("bake {count} references");
        let what = format!("{case}, over usd-core's bake and export");
        all.push(over(
            what,
            2.0,
            row(&case, whole::OURS),
            [row(&case, whole::THEIRS)],
        ));
    }
    let [few, many, _] = crowds::COUNTS;
    for verb in ["bake", "inspect", "check"] {
        let of = |count: usize| {
            row(
                &format!("{verb} {count} references"),
                &format!("sinew {verb}"),
            )
        };
        let found = of(few).zip(of(many)).map(|(few, many)| {
            let bare = |row: &Row| Row {
                points: 0,
                ..row.clone()
            };
            let growth = ratio(&bare(few), &bare(many));
            Found::new(shown(growth), &[&many.times, &few.times], growth[0] <= 4.8)
        });
        let what = format!("{verb}: {many} characters over {few}");
        all.push(goal(what, "at most 4.8x", found));
    }
}

/// Characters that play clips on the device: recording and uploads need no GPU.
fn players(results: &Results, all: &mut Vec<Goal>) {
    let [.., most] = playing::COUNTS;
    // Palettes alone are for five times as many.
    let crowds = [
        (most, true, "1 ms, 64 KB", 64_000),
        (playing::PALETTES, false, "1 ms", u64::MAX),
    ];
    for (count, with_skins, wanted, most) in crowds {
        for changed in [0, playing::changed(count)] {
            let case = playing::case(count, with_skins, changed);
            let row = results.row(playing::NAME, &case, on_gpu::WHO, None);
            let found = row.map(|row| {
                let (seconds, bytes) = (row.times.median(), row.uploaded.unwrap_or(u64::MAX));
                let (ms, kilobytes) = (seconds * 1e3, bytes as f64 / 1e3);
                let figure = format!("{ms:.3} ms, {kilobytes:.1} KB uploaded");
                Found::new(figure, &[&row.times], seconds <= 1e-3 && bytes <= most)
            });
            all.push(goal(format!("{}: {case}", playing::NAME), wanted, found));
        }
    }
}

/// What an edit of characters that play costs beside a frame without one: the same in crowds of any
/// size.
fn edited(results: &Results, all: &mut Vec<Goal>) {
    let row = |count, edited, words: &str| {
        let case = edits::case(count, edited, words);
        results.row(edits::NAME, &case, on_gpu::WHO, None)
    };
    let [(_, nothing), changes @ ..] = edits::EDITS;
    for count in edits::COUNTS {
        let bounds = [(1, 0.05e-3, 4_000), (edits::MANY, 2e-3, u64::MAX)];
        for (edited, seconds, most) in bounds {
            for (_, words) in changes {
                let rows = row(count, edited, words).zip(row(count, edited, nothing));
                let found = rows.map(|(row, without)| {
                    let more = row.times.median() - without.times.median();
                    let bytes = row.uploaded.unwrap_or(u64::MAX);
                    let figure = format!("{:.3} ms, {bytes} bytes uploaded", more * 1e3);
                    Found::new(figure, &[&row.times], more <= seconds && bytes <= most)
                });
                let what = format!("{}: {}", edits::NAME, edits::case(count, edited, words));
                let wanted = match edited {
                    1 => "0.05 ms, 4 KB",
                    _ => "2 ms",
                };
                all.push(goal(what, wanted, found));
            }
        }
    }
}

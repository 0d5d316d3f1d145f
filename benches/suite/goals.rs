//! The goals of benches/RESULTS.md, and whether this run meets them: each has a bar, is judged on medians, and on the kind of
//! hardware that it is about.

use std::fmt;

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
    pub found: Found,
}

/// What a run says about a goal.
pub struct Found {
    pub figure: String,
    /// Time of the floor, and how many of it the figure takes.
    pub floor: Option<(f64, f64)>,
    pub met: Met,
}

const NEEDS_HARDWARE: &str = "open: needs a hardware GPU";
const NOT_RUN: &str = "open: not run";
const TOO_FEW: &str = "open: fewer than 15 runs";
const USD_CORE: &str = "usd-core 26.11";

/// All of them, in the order of the work loads.
pub fn goals(results: &Results) -> Vec<Goal> {
    let groups = [
        bandwidth,
        gpu_peers,
        faces,
        cpu,
        processes,
        frames,
        many_characters,
        players,
        package,
    ];
    groups
        .into_iter()
        .flat_map(|group| group(results))
        .collect()
}

/// A goal that is open if its rows were not measured.
fn goal(what: impl Into<String>, wanted: impl Into<String>, found: Option<Found>) -> Goal {
    let (what, wanted) = (what.into(), wanted.into());
    let not_run = || Found::new(String::new(), Met::Open(NOT_RUN));
    Goal {
        what,
        wanted,
        found: found.unwrap_or_else(not_run),
    }
}

impl Found {
    fn new(figure: String, met: Met) -> Self {
        Self {
            figure,
            floor: None,
            met,
        }
    }

    fn over_floor(self, row: &Row) -> Self {
        let floor = row.floor.map(|f| (f, row.times.median() / f));
        Self { floor, ..self }
    }
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

fn on_hardware(results: &Results, met: Met) -> Met {
    match results.is_hardware() {
        true => met,
        false => Met::Open(NEEDS_HARDWARE),
    }
}

/// How many times as many points per second: of medians, and between quartiles the one way and the other.
struct Ratio {
    median: f64,
    spread: [f64; 2],
}

impl Ratio {
    fn of(ours: &Row, theirs: &Row) -> Self {
        // Rows without points are compared by time alone.
        let points = ours.points.max(1) as f64 / theirs.points.max(1) as f64;
        let ([our_low, our_high], [their_low, their_high]) =
            (ours.times.quartiles(), theirs.times.quartiles());
        Self {
            median: points * theirs.times.median() / ours.times.median(),
            spread: [points * their_low / our_high, points * their_high / our_low],
        }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.spread;
        write!(f, "{:.2}x ({low:.2} to {high:.2})", self.median)
    }
}

/// Ours over theirs, which is to be so many times as fast.
fn over(what: impl Into<String>, wanted: f64, rows: Option<(&Row, &Row)>) -> Goal {
    let found = rows.map(|(ours, theirs)| {
        let ratio = Ratio::of(ours, theirs);
        let met = by_medians(&[&ours.times, &theirs.times], ratio.median >= wanted);
        Found::new(ratio.to_string(), met).over_floor(ours)
    });
    goal(what, format!("{wanted}x"), found)
}

fn bandwidth(results: &Results) -> Vec<Goal> {
    let share = |load: &str, case: &str| {
        let what =
            format!("{load}, {case}: share of a copy's bandwidth for the bytes it must move");
        let row = results.row(load, case, sinew_gpu::WHO, None);
        let found = row.map(|row| {
            let share = row.floor.map_or(0.0, |f| f / row.times.median());
            let met = on_hardware(results, by_medians(&[&row.times], share >= 0.85));
            Found::new(format!("{:.1} %", share * 100.0), met).over_floor(row)
        });
        goal(what, "85 %", found)
    };
    let dispatches = results.dispatches.map(|[all, half]| {
        // Software adapters hold palettes in small uniforms, and a page of these is a dispatch.
        let met = on_hardware(results, judged(all == half));
        Found::new(format!("{all}, and {half} for half of them"), met)
    });
    vec![
        share("A", "points + normals"),
        share("C", "points"),
        goal(
            "C: dispatches depend on variants and pages, not on instances",
            "as many for half the characters",
            dispatches,
        ),
    ]
}

/// Ours over the fastest of some peers' kernels, with the bytes per point of both.
fn over_peer(results: &Results, who: &str, load: &str, peers: &[&str], wanted: f64) -> Goal {
    let packing = who.strip_prefix(sinew_gpu::WHO).unwrap_or_default();
    let is_one =
        |r: &&Row| r.load == load && r.threads.is_none() && peers.iter().any(|p| r.who.contains(p));
    // With normals where the load has some: of a peer's rows those come first.
    let case = results.rows.iter().find(is_one).map(|r| r.case.as_str());
    let theirs = results
        .rows
        .iter()
        .filter(|r| is_one(r) && Some(r.case.as_str()) == case);
    let fastest = theirs.max_by(|a, b| a.rate().total_cmp(&b.rate()));
    let rows = fastest.and_then(|t| Some((results.row(load, &t.case, who, None)?, t)));
    let mut goal = over(
        format!("{load}{packing}: over {}", peers.join(" and ")),
        wanted,
        rows,
    );
    if let Some((ours, theirs)) = rows {
        if let (Some(a), Some(b)) = (ours.bytes_per_point, theirs.bytes_per_point) {
            goal.found.figure += &format!("; {a:.0} B a point against {b:.0}");
        }
        goal.found.met = on_hardware(results, goal.found.met);
    }
    goal
}

fn gpu_peers(results: &Results) -> Vec<Goal> {
    let ours = sinew_gpu::WHO;
    let (fine, compact) = (
        sinew_gpu::packed_name(Packing::Fine),
        sinew_gpu::packed_name(Packing::Compact),
    );
    let wanted: [(&str, &str, &[&str], f64); 7] = [
        (ours, "C", &["Godot"], 1.5),
        (ours, "C", &["Hydra"], 3.0),
        (ours, "C", &["PyTorch"], 20.0),
        (&fine, "A", &["Godot"], 1.5),
        (&compact, "A", &["Godot"], 1.5),
        (ours, "D", &["Bevy", "three.js", "Godot"], 10.0),
        (ours, "D", &["plain CSR walk"], 3.0),
    ];
    let goals =
        wanted.map(|(who, load, peers, wanted)| over_peer(results, who, load, peers, wanted));
    goals.into()
}

fn faces(results: &Results) -> Vec<Goal> {
    let cost = results.face.as_ref();
    let set = cost.map(|cost| {
        let times = &cost.set.0;
        let [low, high] = times.quartiles().map(|s| s * 1e3);
        let figure = format!(
            "{:.3} ms ({low:.3} to {high:.3}); {:.3} ms where only weights change",
            times.median() * 1e3,
            cost.weights.0.median() * 1e3
        );
        Found::new(figure, by_medians(&[times], times.median() < 1e-3))
    });
    let most = results.face_weights as u64 * 4;
    let bytes = cost.map(|cost| {
        let (weights, set) = (cost.weights.1, cost.set.1);
        let figure = format!("{weights} B; {set} B with another active set");
        Found::new(figure, judged(weights <= most))
    });
    let wanted = match cost {
        Some(_) => format!("the weights' {most} B"),
        None => "the weights'".into(),
    };
    vec![
        goal(
            "D: CPU time of changing the active set, from weights to the recorded frame",
            "under 1 ms",
            set,
        ),
        goal("D: bytes uploaded where only weights change", wanted, bytes),
    ]
}

/// Our CPU backend over usd-core's functions, with the loops that this CPU has and with those that any has: usd-core's wheel
/// is built for any.
fn cpu(results: &Results) -> Vec<Goal> {
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
    let loops = [
        (sinew_cpu::WHO, ""),
        (sinew_cpu::BASELINE, ", baseline loops"),
    ];
    let each = cases
        .into_iter()
        .flat_map(|case| loops.map(|loops| (case, loops)));
    let goals = each.map(|((load, case, parts, functions), (who, loops))| {
        let theirs = parts
            .iter()
            .map(|part| results.row(load, part, USD_CORE, cores));
        let theirs: Option<Vec<&Row>> = theirs.collect();
        let ours = results.row_of(load, case, who, cores);
        let found = ours
            .zip(theirs)
            .map(|(ours, theirs)| over_functions(ours, &theirs));
        let what = format!("{load}, {case}, CPU{loops}: over usd-core's parallel {functions}");
        goal(what, "4x", found)
    });
    goals.collect()
}

fn over_functions(ours: &Row, theirs: &[&Row]) -> Found {
    // One function runs after the other: medians and quartiles add up.
    let each: Vec<Ratio> = theirs.iter().map(|t| Ratio::of(ours, t)).collect();
    let ratio = Ratio {
        median: each.iter().map(|r| r.median).sum(),
        spread: [0, 1].map(|i| each.iter().map(|r| r.spread[i]).sum()),
    };
    let times: Vec<&Times> = theirs.iter().chain([&ours]).map(|row| &row.times).collect();
    let met = by_medians(&times, ratio.median >= 4.0);
    Found::new(ratio.to_string(), met).over_floor(ours)
}

fn processes(results: &Results) -> Vec<Goal> {
    let ours = results.row("E", "bake", whole::WHO, None);
    let theirs = results.row("E", "bake", "usd-core", None);
    let growth = results.growth;
    let growth = growth.map(|g| Found::new(format!("{g:.2}x"), judged(g < 1.2)));
    let start = results.row("start", "inspect", "sinew", None).map(|row| {
        let median = row.times.median();
        let met = by_medians(&[&row.times], median < 0.05);
        Found::new(format!("{:.1} ms", median * 1e3), met)
    });
    vec![
        over(
            "E: whole process, over usd-core's bake and export",
            3.0,
            ours.zip(theirs),
        ),
        goal(
            "E: peak memory with all frames over that with a quarter",
            "flat: under 1.2x",
            growth,
        ),
        goal(
            "start: `sinew inspect` of a 1 MB file",
            "under 50 ms",
            start,
        ),
    ]
}

fn frames(results: &Results) -> Vec<Goal> {
    let crowd = results.frame("C").map(|(cost, counts)| {
        let each = |times: &Times| times.median() / counts.joints as f64 * 1e6;
        let sum = each(&cost.pose) + each(&cost.record);
        let figure = format!(
            "{sum:.3} us on one thread: {:.3} posing ({:.3} on all cores), {:.3} recording and upload of {:.1} MB",
            each(&cost.pose),
            each(&cost.pose_on_all),
            each(&cost.record),
            cost.uploaded as f64 / 1e6
        );
        Found::new(figure, by_medians(&[&cost.pose, &cost.record], sum < 0.1))
    });
    let dust = results.frame("F").map(|(cost, counts)| {
        let each = |times: &Times| times.median() / counts.meshes as f64 * 1e6;
        let figure = format!(
            "{:.2} us until the device is done: {:.2} posing, {:.2} recording and upload",
            each(&cost.whole),
            each(&cost.pose_on_all),
            each(&cost.record)
        );
        let met = by_medians(&[&cost.whole], each(&cost.whole) < 1.0);
        Found::new(figure, on_hardware(results, met))
    });
    vec![
        goal(
            "C: CPU cost of a frame, pose and upload, per joint",
            "under 0.1 us",
            crowd,
        ),
        goal("F: a frame per mesh", "under 1 us", dust),
    ]
}

/// Stages of many characters.
fn many_characters(results: &Results) -> Vec<Goal> {
    let row = |case: &str, who: &str| results.row(crowds::NAME, case, who, None);
    let ratios = crowds::COUNTS[1..].iter().map(|count| {
        let case = format!("bake {count} references");
        let rows = row(&case, crowds::OURS).zip(row(&case, "usd-core"));
        over(
            format!("{case}, over usd-core's bake and export"),
            2.0,
            rows,
        )
    });
    let [few, many, _] = crowds::COUNTS;
    let verbs = [
        ("bake", crowds::OURS),
        ("inspect", "sinew"),
        ("check", "sinew"),
    ];
    let growths = verbs.map(|(verb, who)| {
        let of = |count: usize| row(&format!("{verb} {count} references"), who);
        let found = of(few).zip(of(many)).map(|(few, many)| {
            let (of_few, of_many) = (few.without_points(), many.without_points());
            let growth = Ratio::of(&of_few, &of_many);
            let met = by_medians(&[&many.times, &few.times], growth.median <= 4.8);
            Found::new(growth.to_string(), met)
        });
        goal(
            format!("{verb}: {many} characters over {few}"),
            "at most 4.8x",
            found,
        )
    });
    ratios.chain(growths).collect()
}

/// Characters that play clips on the device: recording and uploads need no GPU.
fn players(results: &Results) -> Vec<Goal> {
    let [.., most] = playing::COUNTS;
    let crowds = [(most, true), (playing::PALETTES, false)];
    let each = crowds.into_iter().flat_map(|(count, with_skins)| {
        [0, playing::changed(count)].map(|changed| (count, with_skins, changed))
    });
    let goals = each.map(|(count, with_skins, changed)| {
        // Palettes alone are for five times as many.
        let (wanted, most) = match with_skins {
            true => ("1 ms, 64 KB", 64_000),
            false => ("1 ms", u64::MAX),
        };
        let case = playing::case(count, with_skins, changed);
        let row = results.row(playing::NAME, &case, playing::OURS, None);
        let found = row.map(|row| {
            let (seconds, bytes) = (row.times.median(), row.uploaded.unwrap_or(u64::MAX));
            let figure = format!(
                "{:.3} ms, {:.1} KB uploaded",
                seconds * 1e3,
                bytes as f64 / 1e3
            );
            Found::new(
                figure,
                by_medians(&[&row.times], seconds <= 1e-3 && bytes <= most),
            )
        });
        goal(format!("{}: {case}", playing::NAME), wanted, found)
    });
    goals.collect()
}

/// The Python package over the same loops of usd-core's functions.
fn package(results: &Results) -> Vec<Goal> {
    let cores = Some(results.cores);
    let cases = [
        ("clip", python::OURS[0], ": one call for all frames"),
        ("clip", python::OURS[1], ": a call for each frame"),
        ("plain arrays", python::OURS_OF_ARRAYS, ""),
    ];
    let each = python::SIZES
        .into_iter()
        .flat_map(|(points, _)| cases.map(|case| (points, case)));
    let goals = each.map(|(points, (what, who, how))| {
        let case = python::case(what, points);
        let theirs = results.row(python::NAME, &case, USD_CORE, cores);
        let ours = results.row_of(python::NAME, &case, who, cores);
        let what = format!("python, {case}{how}, over usd-core's functions");
        over(what, 5.0, ours.zip(theirs))
    });
    goals.collect()
}

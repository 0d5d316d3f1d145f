//! The goals of benches/RESULTS.md, and whether this run meets them.

use sinew::kernel::Packing;

use crate::results::Results;
use crate::row::Row;
use crate::{crowds, sinew_cpu, sinew_gpu, whole};

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

pub const NEEDS_HARDWARE: &str = "needs a hardware GPU, not run yet";
const NOT_RUN: &str = "not run";
const USD_CORE: &str = "usd-core 26.11";

fn times_faster(ours: &Row, theirs: &Row) -> f64 {
    ours.rate() / theirs.rate()
}

fn floor(row: &Row) -> Option<(f64, f64)> {
    row.floor.map(|f| (f, row.times.best / f))
}

fn judged(fulfilled: bool) -> Met {
    if fulfilled { Met::Yes } else { Met::No }
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

/// All of them, in the order of the issue.
pub fn goals(results: &Results) -> Vec<Goal> {
    let mut goals = Vec::new();
    bandwidth(results, &mut goals);
    gpu_peers(results, &mut goals);
    faces(results, &mut goals);
    cpu(results, &mut goals);
    processes(results, &mut goals);
    many_characters(results, &mut goals);
    goals
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
        let share = row.floor.map_or(0.0, |f| f / row.times.best);
        goals.push(Goal {
            what,
            wanted: wanted.into(),
            figure: format!("{:.1} %", share * 100.0),
            floor: floor(row),
            met: hardware(results, share >= 0.85),
        });
    }
    let what = "C: dispatches depend on variants and pages, not on instances";
    goals.push(match results.dispatches {
        Some([all, half]) => Goal {
            what: what.into(),
            wanted: "as many for half the characters".into(),
            figure: format!("{all}, and {half} for half of them"),
            floor: None,
            met: judged(all == half),
        },
        None => not_run(what, "as many for half the characters"),
    });
}

fn hardware(results: &Results, fulfilled: bool) -> Met {
    if results.is_hardware() {
        judged(fulfilled)
    } else {
        Met::Open(NEEDS_HARDWARE)
    }
}

/// Ours over the fastest of some peers' kernels, with the bytes per point of both. Where it is about how much work there is,
/// and not about bandwidth, any adapter tells.
fn over_peer(results: &Results, load: &str, peers: &[&str], wanted: f64, anywhere: bool) -> Goal {
    over_peer_by(results, sinew_gpu::WHO, load, peers, wanted, anywhere)
}

fn over_peer_by(
    results: &Results,
    who: &str,
    load: &str,
    peers: &[&str],
    wanted: f64,
    anywhere: bool,
) -> Goal {
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
    let fastest = theirs.min_by(|a, b| a.times.best.total_cmp(&b.times.best));
    let Some((ours, theirs)) = fastest.and_then(|t| Some((ours(t)?, t))) else {
        return not_run(&what, &wanted_text);
    };
    let ratio = times_faster(ours, theirs);
    let bytes = match (ours.bytes_per_point, theirs.bytes_per_point) {
        (Some(a), Some(b)) => format!("; {a:.0} B a point against {b:.0}"),
        _ => String::new(),
    };
    Goal {
        what,
        wanted: wanted_text,
        figure: format!("{ratio:.2}x{bytes}"),
        floor: floor(ours),
        met: match anywhere {
            true => judged(ratio >= wanted),
            false => hardware(results, ratio >= wanted),
        },
    }
}

fn gpu_peers(results: &Results, goals: &mut Vec<Goal>) {
    goals.push(over_peer(results, "C", &["Godot"], 1.5, false));
    goals.push(over_peer(results, "C", &["Hydra"], 3.0, false));
    goals.push(over_peer(results, "C", &["PyTorch"], 20.0, false));
    for packing in [Packing::Fine, Packing::Compact] {
        let who = sinew_gpu::packed_name(packing);
        let goal = over_peer_by(results, &who, "A", &["Godot"], 1.5, false);
        goals.push(goal);
    }
}

fn faces(results: &Results, goals: &mut Vec<Goal>) {
    goals.push(over_peer(results, "D", &["Bevy", "three.js"], 10.0, true));
    goals.push(over_peer(results, "D", &["plain CSR walk"], 3.0, true));
    let (set, weights) = (
        "D: CPU time of changing the active set, from weights to the recorded frame",
        "D: bytes uploaded where only weights change",
    );
    let Some(cost) = results.face else {
        goals.push(not_run(set, "under 1 ms"));
        goals.push(not_run(weights, "the weights'"));
        return;
    };
    goals.push(Goal {
        what: set.into(),
        wanted: "under 1 ms".into(),
        figure: format!(
            "{:.3} ms ({:.3}); {:.3} ms where only weights change",
            cost.set.0.best * 1e3,
            cost.set.0.median * 1e3,
            cost.weights.0.best * 1e3
        ),
        floor: None,
        met: judged(cost.set.0.best < 1e-3),
    });
    goals.push(Goal {
        what: weights.into(),
        wanted: format!("the weights' {} B", results.face_weights * 4),
        figure: format!(
            "{} B; {} B with another active set",
            cost.weights.1, cost.set.1
        ),
        floor: None,
        met: judged(cost.weights.1 <= results.face_weights as u64 * 4),
    });
}

fn cpu(results: &Results, goals: &mut Vec<Goal>) {
    let cores = Some(results.cores);
    let cases = [
        ("A", "points", "SkinPointsLBS"),
        ("A", "normals", "SkinNormals"),
        ("D", "blend", "ComputeDeformedPoints"),
    ];
    for (load, case, function) in cases {
        let what = format!("{load}, {case}, CPU: over usd-core's parallel {function}");
        let ours = results.row(load, case, sinew_cpu::WHO, cores);
        let theirs = results.row(load, case, USD_CORE, cores);
        goals.push(match ours.zip(theirs) {
            Some((ours, theirs)) => {
                let ratio = times_faster(ours, theirs);
                Goal {
                    what,
                    wanted: "4x".into(),
                    figure: format!("{ratio:.2}x"),
                    floor: floor(ours),
                    met: judged(ratio >= 4.0),
                }
            }
            None => not_run(&what, "4x"),
        });
    }
    for (load, case) in [("A", "points"), ("D", "blend")] {
        let on = |threads| results.row(load, case, sinew_cpu::WHO, Some(threads));
        let pair = on(1).zip(on(results.cores)).filter(|_| results.cores > 1);
        if let Some((one, all)) = pair {
            goals.push(Goal {
                what: format!("{load}, {case}, CPU: {} threads over 1", results.cores),
                wanted: "shown".into(),
                figure: format!("{:.2}x", times_faster(all, one)),
                floor: floor(all),
                met: Met::Yes,
            });
        }
    }
}

fn processes(results: &Results, goals: &mut Vec<Goal>) {
    let ours = results.row("E", "bake", whole::WHO, None);
    let theirs = results.row("E", "bake", "usd-core", None);
    let what = "E: whole process, over usd-core's bake and export";
    goals.push(match ours.zip(theirs) {
        Some((ours, theirs)) => {
            let ratio = times_faster(ours, theirs);
            Goal {
                what: what.into(),
                wanted: "3x".into(),
                figure: format!("{ratio:.2}x"),
                floor: floor(ours),
                met: judged(ratio >= 3.0),
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
    let what = "C: CPU cost of a frame, pose and upload, per joint";
    goals.push(match results.frame("C") {
        Some((cost, counts)) => {
            let each = |seconds: f64| seconds / counts.joints as f64 * 1e6;
            let sum = each(cost.pose.best + cost.record.best);
            Goal {
                what: what.into(),
                wanted: "under 0.1 us".into(),
                figure: format!(
                    "{sum:.3} us on one thread: {:.3} posing ({:.3} on all cores), {:.3} recording and upload of {:.1} MB",
                    each(cost.pose.best),
                    each(cost.pose_on_all.best),
                    each(cost.record.best),
                    cost.uploaded as f64 / 1e6
                ),
                floor: None,
                met: judged(sum < 0.1),
            }
        }
        None => not_run(what, "under 0.1 us"),
    });
    let what = "F: a frame per mesh";
    goals.push(match results.frame("F") {
        Some((cost, counts)) => {
            let each = |seconds: f64| seconds / counts.meshes as f64 * 1e6;
            Goal {
                what: what.into(),
                wanted: "under 1 us".into(),
                figure: format!(
                    "{:.2} us until the device is done: {:.2} posing, {:.2} recording and upload",
                    each(cost.whole.best),
                    each(cost.pose_on_all.best),
                    each(cost.record.best)
                ),
                floor: None,
                met: judged(each(cost.whole.best) < 1.0),
            }
        }
        None => not_run(what, "under 1 us"),
    });
    let what = "start: `sinew inspect` of a 1 MB file";
    goals.push(match results.row("start", "inspect", "sinew", None) {
        Some(row) => Goal {
            what: what.into(),
            wanted: "under 50 ms".into(),
            figure: format!(
                "{:.1} ms ({:.1})",
                row.times.best * 1e3,
                row.times.median * 1e3
            ),
            floor: None,
            met: judged(row.times.best < 0.05),
        },
        None => not_run(what, "under 50 ms"),
    });
}

/// Stages of many characters, judged on medians.
fn many_characters(results: &Results, goals: &mut Vec<Goal>) {
    let row = |case: &str, who: &str| results.row(crowds::NAME, case, who, None);
    for count in &crowds::COUNTS[1..] {
        let case = format!("bake {count} references");
        let what = format!("{case}, over usd-core's bake and export");
        goals.push(match row(&case, crowds::OURS).zip(row(&case, "usd-core")) {
            Some((ours, theirs)) => {
                let ratio = theirs.times.median / ours.times.median;
                Goal {
                    what,
                    wanted: "2x".into(),
                    figure: format!("{ratio:.2}x"),
                    floor: None,
                    met: judged(ratio >= 2.0),
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
                let growth = many.times.median / few.times.median;
                Goal {
                    what,
                    wanted: "at most 4.8x".into(),
                    figure: format!("{growth:.2}x"),
                    floor: None,
                    met: judged(growth <= 4.8),
                }
            }
            None => not_run(&what, "at most 4.8x"),
        });
    }
}

//! The table as text, and its place in benches/RESULTS.md.

use std::fmt::Write as _;
use std::path::Path;

use crate::goals::{Found, Met, goals};
use crate::results::Results;
use crate::row::Row;
use crate::workloads::Kind;
use crate::{crowds, influences, playing, python, start, variants, visible};

/// The parts of the suite that are no work load A to F, and the titles of their tables.
pub const PARTS: [(&str, &str); 7] = [
    (
        playing::NAME,
        "G: characters of 60 joints and 5,000 points, 20 meshes, that play 40 clips; CPU cost of a frame",
    ),
    (variants::NAME, "A, other kernels; POINTS at most"),
    (
        influences::NAME,
        "A's mesh by number of influences, one thread; POINTS",
    ),
    (
        visible::NAME,
        "visible: frames of C and F that compute only what a mask shows",
    ),
    (
        crowds::NAME,
        "crowds: stages of characters of 200 points, 10 joints and 5 samples, whole processes",
    ),
    (
        python::NAME,
        "python: the package, and the same loops over usd-core's functions",
    ),
    (
        start::NAME,
        "Start: whole processes of the command, from nothing to their end",
    ),
];

const BEGIN: &str = "<!-- suite:begin -->";
const END: &str = "<!-- suite:end -->";

/// Where and when a run was made.
pub struct Conditions {
    pub cpu: String,
    pub system: String,
    pub date: String,
    pub seconds: f64,
}

impl Conditions {
    pub fn of_this_machine(seconds: f64) -> Self {
        Self {
            cpu: cpu_model().unwrap_or_else(|| std::env::consts::ARCH.into()),
            system: std::env::consts::OS.into(),
            date: today(),
            seconds,
        }
    }
}

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Year, month and day in UTC, from days since 1970 (the civil calendar in eras of 400 years from March on).
fn today() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let days = (now.unwrap_or_default().as_secs() / 86_400) as i64 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = era * 400 + year + i64::from(month < 3);
    format!("{year}-{month:02}-{day:02}")
}

fn adapter_name(results: &Results) -> &str {
    results
        .adapter
        .as_ref()
        .map_or("no GPU", |a| a.name.as_str())
}

/// Marks a run's section, so that the next on the same adapter takes its place.
fn marker(adapter: &str) -> String {
    format!("<!-- suite:adapter {adapter} -->")
}

/// One run's section.
pub fn section(results: &Results, conditions: &Conditions) -> String {
    let mut out = marker(adapter_name(results));
    let _ = writeln!(out, "\n## {}, {}\n", adapter_name(results), conditions.date);
    let adapter = results.adapter.as_ref().map_or_else(
        || "No GPU was measured".to_owned(),
        |a| {
            let kind = if a.software { ", software" } else { "" };
            format!("Adapter {} by {} ({}{kind})", a.name, a.driver, a.backend)
        },
    );
    let _ = writeln!(
        out,
        "{adapter}; CPU {}, {} cores, {}. All rows are of one run, which took {:.0} minutes. Medians; in brackets the quartiles, then how many runs.\n",
        conditions.cpu,
        results.cores,
        conditions.system,
        (conditions.seconds / 60.0).max(1.0)
    );
    out.push_str(
        "| goal | wanted | figure | floor | times the floor | met |\n|---|---|---|---|---|---|\n",
    );
    for goal in goals(results) {
        let Found { figure, floor, met } = goal.found;
        let (floor, ratio) = floor.map_or_else(Default::default, |(floor, ratio)| {
            (milliseconds(floor), format!("{ratio:.1}"))
        });
        let met = match met {
            Met::Yes => "yes",
            Met::No => "**no**",
            Met::Open(why) => why,
        };
        let (what, wanted) = (goal.what, goal.wanted);
        let _ = writeln!(
            out,
            "| {what} | {wanted} | {figure} | {floor} | {ratio} | {met} |"
        );
    }
    let loads = Kind::ALL.map(|k| (k.name(), format!("{}: {}; POINTS", k.name(), k.words())));
    let parts = PARTS.map(|(name, title)| (name, title.to_owned()));
    for (name, title) in loads.into_iter().chain(parts) {
        let rows: Vec<&Row> = results.rows.iter().filter(|r| r.load == name).collect();
        if let Some(points) = rows.iter().map(|r| r.points).max() {
            let points = format!("{:.3} M points", points as f64 / 1e6);
            table(&mut out, &title.replace("POINTS", &points), &rows);
        }
    }
    if !results.layouts.is_empty() {
        out.push_str("\nBytes a point of the field's kernels, palettes apart:\n\n");
        for (who, layout) in &results.layouts {
            let _ = writeln!(out, "- {who}: {layout}");
        }
    }
    if !results.missing.is_empty() {
        out.push_str("\nNot measured:\n\n");
        for what in &results.missing {
            let _ = writeln!(out, "- {}", what.lines().next().unwrap_or_default());
        }
    }
    out
}

fn table(out: &mut String, title: &str, rows: &[&Row]) {
    let _ = writeln!(out, "\n### {title}\n");
    out.push_str(
        "| | what | threads | ms | million points/s | B a point | floor: MB, ms | times the floor | |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let threads = row.threads.map_or_else(String::new, |n| n.to_string());
        let rate = match row.points {
            0 => String::new(),
            _ => format!("{:.1}", row.rate() / 1e6),
        };
        let bytes = row
            .bytes_per_point
            .map_or_else(String::new, |b| format!("{b:.0}"));
        let floor = match (row.floor_bytes, row.floor) {
            (Some(bytes), Some(copy)) => {
                format!("{:.1}, {}", bytes as f64 / 1e6, milliseconds(copy))
            }
            (None, Some(floor)) => milliseconds(floor),
            _ => String::new(),
        };
        let [low, high] = row.times.quartiles().map(milliseconds);
        let ratio = row
            .floor
            .map_or_else(String::new, |f| format!("{:.1}", row.times.median() / f));
        let _ = writeln!(
            out,
            "| {} | {} | {threads} | {} ({low} to {high}, {}) | {rate} | {bytes} | {floor} | {ratio} | {} |",
            row.who,
            row.case,
            milliseconds(row.times.median()),
            row.times.count(),
            row.note
        );
    }
}

fn milliseconds(seconds: f64) -> String {
    let ms = seconds * 1e3;
    match ms {
        _ if ms < 1.0 => format!("{ms:.3}"),
        _ if ms < 100.0 => format!("{ms:.2}"),
        _ => format!("{ms:.0}"),
    }
}

/// Puts a section into RESULTS.md, where that adapter's was, and leaves those of other adapters.
pub fn rewrite(file: &Path, results: &Results, section: &str) -> std::io::Result<()> {
    let old = match std::fs::read_to_string(file) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        old => old?,
    };
    std::fs::write(file, placed(&old, adapter_name(results), section))
}

fn placed(old: &str, adapter: &str, section: &str) -> String {
    let between = old.split_once(BEGIN).and_then(|(before, rest)| {
        rest.split_once(END)
            .map(|(inner, after)| (before, inner, after))
    });
    let (before, inner, after) = between.unwrap_or((old, "", ""));
    let own = marker(adapter);
    let start = "<!-- suite:adapter ";
    let others = inner
        .split(start)
        .skip(1)
        .map(|s| format!("{start}{}", s.trim_end()));
    let mut sections: Vec<String> = others.filter(|s| !s.starts_with(&own)).collect();
    sections.insert(0, section.trim_end().to_owned());
    let gap = if before.is_empty() || before.ends_with("\n\n") {
        ""
    } else {
        "\n\n"
    };
    format!(
        "{before}{gap}{BEGIN}\n{}\n{END}{after}",
        sections.join("\n\n")
    )
}

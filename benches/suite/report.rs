//! The table as text, and its place in benches/RESULTS.md.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::goals::goals;
use crate::results::{Results, Row};
use crate::workloads::Kind;
use crate::{crowds, edits, influences, playing, python, start, variants, visible};

/// The parts of the suite that are no work load A to F, and the titles of their tables.
pub const PARTS: [(&str, &str); 8] = [
    (
        playing::NAME,
        "G: characters of 60 joints and 5,000 points, 20 meshes, that play 40 clips; CPU cost of a frame",
    ),
    (
        edits::NAME,
        "edits: characters of 60 joints that play, and change; CPU cost of an edit and its frame",
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
/// Begins a run's section, so that the next on the same adapter takes its place.
const ADAPTER: &str = "<!-- suite:adapter ";

fn cpu_model() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Year, month and day in UTC, from days since 1970 (the civil calendar in eras of 400 years from March on).
fn today() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
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
    let adapter = results.adapter.as_ref();
    adapter.map_or("no GPU", |a| a.name.as_str())
}

/// A run's section; the run took so long.
pub fn section(results: &Results, taken: Duration) -> String {
    let name = adapter_name(results);
    let mut out = format!("{ADAPTER}{name} -->\n## {name}, {}\n\n", today());
    out += &match &results.adapter {
        None => "No GPU was measured".to_owned(),
        Some(a) => {
            let kind = if a.software { ", software" } else { "" };
            format!("Adapter {} by {} ({}{kind})", a.name, a.driver, a.backend)
        }
    };
    let _ = writeln!(
        out,
        "; CPU {}, {} cores, {}. All rows are of one run, which took {:.0} minutes. Medians; in brackets the quartiles, then how many runs.\n",
        cpu_model().unwrap_or_else(|| std::env::consts::ARCH.into()),
        results.cores,
        std::env::consts::OS,
        (taken.as_secs_f64() / 60.0).max(1.0)
    );
    out +=
        "| goal | wanted | figure | floor | times the floor | met |\n|---|---|---|---|---|---|\n";
    for goal in goals(results) {
        let floor = goal.found.floor;
        line(
            &mut out,
            [
                goal.what,
                goal.wanted,
                goal.found.figure,
                shown(floor, |(floor, _)| milliseconds(floor)),
                shown(floor, |(_, ratio)| format!("{ratio:.1}")),
                goal.found.met.into(),
            ],
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
    let layouts = results
        .layouts
        .iter()
        .map(|(who, of)| format!("{who}: {of}"));
    let title = "Bytes a point of the field's kernels, palettes apart";
    list(&mut out, title, layouts.collect());
    let missing = results.missing.iter();
    let missing = missing.map(|what| what.lines().next().unwrap_or_default().to_owned());
    list(&mut out, "Not measured", missing.collect());
    out
}

fn list(out: &mut String, title: &str, lines: Vec<String>) {
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{title}:\n\n- {}", lines.join("\n- "));
    }
}

fn table(out: &mut String, title: &str, rows: &[&Row]) {
    let _ = writeln!(out, "\n### {title}\n");
    out.push_str(
        "| | what | threads | ms | million points/s | B a point | floor: MB, ms | times the floor | |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let rate = (row.points > 0).then(|| row.rate() / 1e6);
        let [low, high] = row.times.quartiles().map(milliseconds);
        let (median, count) = (milliseconds(row.times.median()), row.times.count());
        let megabytes = shown(row.floor_bytes, |b| format!("{:.1}, ", b as f64 / 1e6));
        line(
            out,
            [
                row.who.clone(),
                row.case.clone(),
                shown(row.threads, |n| n.to_string()),
                format!("{median} ({low} to {high}, {count})"),
                shown(rate, |rate| format!("{rate:.1}")),
                shown(row.bytes_per_point, |b| format!("{b:.0}")),
                shown(row.floor, |floor| megabytes + &milliseconds(floor)),
                shown(row.times_the_floor(), |ratio| format!("{ratio:.1}")),
                row.note.clone(),
            ],
        );
    }
}

fn line<const N: usize>(out: &mut String, cells: [String; N]) {
    let _ = writeln!(out, "| {} |", cells.join(" | "));
}

/// Nothing where there is no value.
fn shown<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(String::new, show)
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
    let between = old.split_once(BEGIN).and_then(|(before, rest)| {
        let (inner, after) = rest.split_once(END)?;
        Some((before, inner, after))
    });
    let (before, inner, after) = between.unwrap_or((&old, "", ""));
    let own = format!("{ADAPTER}{} -->", adapter_name(results));
    let mut sections = vec![section.trim_end().to_owned()];
    let others = inner.split(ADAPTER).skip(1);
    let others = others.map(|s| format!("{ADAPTER}{}", s.trim_end()));
    sections.extend(others.filter(|s| !s.starts_with(&own)));
    let gap = match before.is_empty() || before.ends_with("\n\n") {
        true => "",
        false => "\n\n",
    };
    let sections = sections.join("\n\n");
    std::fs::write(
        file,
        format!("{before}{gap}{BEGIN}\n{sections}\n{END}{after}"),
    )
}

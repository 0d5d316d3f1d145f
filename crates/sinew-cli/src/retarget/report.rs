//! The report of `sinew retarget`.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use sinew::Warning;
use sinew::error::first_few;
use sinew_animate::retarget::{BoneMap, MOST_CANDIDATES, Measured, Sliding};
use sinew_io::retarget::Retargeted;

use crate::finding::{self, Finding};
use crate::report::{Sizes, Verbosity, count};

/// The report of --json.
#[derive(Serialize)]
pub struct Report<'a> {
    #[serde(flatten)]
    values: Value,
    /// The pairs of joints, in the form of a MAP.json. The order of pairs is kept.
    map: &'a BoneMap,
    /// `map` with the most likely pairs of what is incomplete at its end; `None` if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    map_to_edit: Option<BoneMap>,
}

/// `bones` has a row for each bone.
pub fn json<'a>(
    moved: &'a Retargeted,
    output: &Path,
    (failed, warnings): (&[Finding], &[Warning]),
    sizes: &Sizes,
) -> Report<'a> {
    let (source, target) = (&moved.source, &moved.target);
    let (matching, retargeter) = (&moved.matching, &moved.retargeter);
    let [from, to] = retargeter.measured();
    let time_line = &moved.time_line;
    let [source_names, target_names] = matching.origins();
    let [unmatched_source, unmatched_target] = matching.unmatched(source, target);
    let mut values = json!({
        "output": output.display().to_string(),
        "clip": moved.clip,
        "source": source.label(),
        "target": target.label(),
        "source_names": source_names,
        "target_names": target_names,
        "samples": moved.samples,
        "first": time_line.range.map(|r| r.0),
        "last": time_line.range.map(|r| r.1),
        "time_codes_per_second": time_line.time_codes_per_second,
        "frames_per_second": time_line.frames_per_second,
        "root_scale": retargeter.root_scale(),
        "body": {"source": from, "target": to},
        "bones": matching.rows(source, target),
        "incomplete": matching.unsure,
        "unmatched_source": unmatched_source,
        "unmatched_target": unmatched_target,
        "failed": failed,
        "warnings": finding::of_warnings(warnings, None),
        "input_bytes": sizes.input_bytes,
        "output_bytes": sizes.output_bytes,
    });
    if let Some(feet) = &moved.feet {
        values["feet"] = json!(feet);
    }
    Report {
        values,
        map: &matching.map,
        map_to_edit: (!matching.unsure.is_empty()).then(|| matching.map_to_edit()),
    }
}

/// Four lines, the maps to edit, and with --verbose the details and the table of bones. Writing to
/// a String cannot fail, so its results are dropped.
pub fn text(moved: &Retargeted, output: &Path, sizes: &Sizes, verbosity: Verbosity) -> String {
    let mut out = format!("{} ({sizes})\n", output.display());
    let samples = count(moved.samples, "sample");
    let rate = moved.time_line.time_codes_per_second;
    let range = match moved.time_line.range {
        Some((first, last)) => format!(" from {first} to {last} at {rate} time codes per second"),
        None => String::new(),
    };
    let _ = writeln!(out, "  clip {}: {samples}{range}", moved.clip);
    let [lost, still] = moved.matching.unmatched(&moved.source, &moved.target);
    let _ = writeln!(
        out,
        "  {} of {} to {}; {} not followed, {} at rest{}",
        count(moved.matching.map.pairs.len(), "joint"),
        moved.source.label(),
        moved.target.label(),
        lost.len(),
        still.len(),
        match verbosity.is_verbose() {
            true => "",
            false => " (--verbose lists them)",
        }
    );
    let _ = writeln!(out, "  {}", body(moved));
    if verbosity.is_verbose() {
        write_details(&mut out, moved);
        write_bones(&mut out, moved);
        for (what, joints) in [("not followed", lost), ("at rest", still)] {
            if !joints.is_empty() {
                let _ = writeln!(out, "\n  {what}: {}", joints.join(", "));
            }
        }
    }
    write_incomplete(&mut out, moved);
    out
}

/// What a body was measured on.
fn measured(body: &Measured) -> String {
    match body.reference {
        "clip" => "measured on its clip".to_owned(),
        pose => format!("measured on its {pose} pose"),
    }
}

/// What was found of the source, such as `ground at 0.92 m, Z up, scale 0.4810, measured on its clip`.
fn body(moved: &Retargeted) -> String {
    let [from, _] = moved.retargeter.measured();
    let up = from.up.trim_start_matches('+');
    let scale = moved.retargeter.root_scale();
    let measured = measured(from);
    // Without a minus for what rounds to nothing.
    let ground = (from.ground * 100.0).round() / 100.0 + 0.0;
    format!("ground at {ground:.2} m, {up} up, scale {scale:.4}, {measured}")
}

/// How the clip was moved.
fn write_details(out: &mut String, moved: &Retargeted) {
    for (side, names) in ["source", "target"].iter().zip(moved.matching.origins()) {
        if let Some(names) = names {
            let _ = writeln!(out, "  {side} recognised as {names}");
        }
    }
    for (side, body) in ["source", "target"].iter().zip(moved.retargeter.measured()) {
        let _ = writeln!(out, "  {side} {}", measured(body));
    }
    if let Some(feet) = &moved.feet {
        let slide =
            |s: &Sliding| format!("{:.1} cm (worst {:.1})", s.mean * 100.0, s.worst * 100.0);
        let ground = match feet.belt > 0.0 {
            true => format!(" with ground that moves at {:.2} m/s", feet.belt),
            false => String::new(),
        };
        let _ = writeln!(
            out,
            "  feet locked in {}{ground}: they slid by {}, now by {}; hips lowered by up to {:.1} cm",
            count(feet.contacts, "contact"),
            slide(&feet.before),
            slide(&feet.after),
            feet.lowered * 100.0
        );
    }
}

/// Which joint follows which.
fn write_bones(out: &mut String, moved: &Retargeted) {
    let rows = moved.matching.rows(&moved.source, &moved.target);
    let mut lines = vec![["bone", "source", "target"]];
    lines.extend(rows.iter().map(|row| {
        let joints = [&row.source, &row.target].map(|joint| joint.as_deref());
        let [source, target] = joints.map(|joint| joint.unwrap_or("-"));
        [row.bone.unwrap_or("-"), source, target]
    }));
    let wide = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let (a, b) = (wide(0), wide(1));
    let _ = writeln!(out);
    for [bone, source, target] in &lines {
        let _ = writeln!(out, "  {bone:a$}  {source:b$}  {target}");
    }
}

/// Lists the bones that are not sure, and a map to edit.
fn write_incomplete(out: &mut String, moved: &Retargeted) {
    for bone in &moved.matching.unsure {
        let (rig, joint) = match (&bone.source, &bone.target) {
            (Some(joint), _) => (moved.target.label(), joint.as_str()),
            (None, joint) => {
                let other = moved.target.label();
                (moved.source.label(), joint.as_deref().unwrap_or(other))
            }
        };
        let candidates = first_few(&bone.candidates, MOST_CANDIDATES);
        let _ = writeln!(
            out,
            "\n  incomplete: no partner for {joint} ({}); in {rig} it may be {candidates}",
            bone.bone
        );
    }
    if !moved.matching.unsure.is_empty() {
        let map = moved.matching.map_to_edit().to_json();
        let _ = writeln!(
            out,
            "\n  a map to edit, for --map; what is not sure is at its end:\n{map}"
        );
    }
}

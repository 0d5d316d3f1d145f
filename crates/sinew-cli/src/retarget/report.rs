//! The report of `sinew retarget`.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use sinew::Warning;
use sinew::error::first_few;
use sinew_animate::retarget::{
    AlignedLimb, BoneMap, LockedFeet, MOST_CANDIDATES, MatchRow, RetargetPose, Sliding, Unsure,
};
use sinew_io::retarget::Retargeted;

use crate::error::Result;
use crate::exit::Exit;
use crate::finding::{self, Finding};
use crate::report::{Sizes, Verbosity, count, result_json};

/// The report, as JSON and as text.
#[derive(Serialize)]
pub struct Report<'a> {
    clip: String,
    source: String,
    target: String,
    /// How the joints of the source were recognised: a convention of names, a map, or equal names.
    source_names: Option<String>,
    /// How the joints of the target were recognised.
    target_names: Option<String>,
    samples: usize,
    /// First and last time code of the clip.
    first: Option<f64>,
    last: Option<f64>,
    time_codes_per_second: f64,
    frames_per_second: f64,
    /// Factor of the root's translation.
    root_scale: f64,
    /// What --lock-feet did, in metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    feet: Option<LockedFeet>,
    /// The poses of source and target that rotations are measured from.
    reference_poses: [&'static str; 2],
    /// Limbs of the target that were turned in its reference pose, and the angles.
    aligned: &'a [AlignedLimb],
    bones: Vec<MatchRow>,
    /// The pairs of joints, in the form of a MAP.json.
    map: BoneMap,
    /// Main bones that one side has, and that the other side may have under an unknown name.
    incomplete: &'a [Unsure],
    /// `map` with the most likely pairs of `incomplete` at its end; `None` if nothing is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    map_to_edit: Option<BoneMap>,
    /// Joints of the source that no joint of the target follows.
    unmatched_source: Vec<String>,
    /// Joints of the target that follow no joint and stay at rest.
    unmatched_target: Vec<String>,
}

impl<'a> Report<'a> {
    pub fn new(moved: &'a Retargeted) -> Self {
        let (source, target) = (&moved.source, &moved.target);
        let (matching, retargeter) = (&moved.matching, &moved.retargeter);
        let time_line = &moved.time_line;
        let [source_names, target_names] = matching.origins();
        let [unmatched_source, unmatched_target] = matching.unmatched(source, target);
        Self {
            clip: moved.clip.clone(),
            source: source.label().to_owned(),
            target: target.label().to_owned(),
            source_names,
            target_names,
            samples: moved.samples,
            first: time_line.range.map(|r| r.0),
            last: time_line.range.map(|r| r.1),
            time_codes_per_second: time_line.time_codes_per_second,
            frames_per_second: time_line.frames_per_second,
            root_scale: retargeter.root_scale(),
            feet: moved.feet,
            reference_poses: retargeter.reference_poses().map(|pose| match pose {
                RetargetPose::Rest => "rest",
                _ => "bind",
            }),
            aligned: retargeter.aligned(),
            bones: matching.rows(source, target),
            map: matching.map.clone(),
            incomplete: &matching.unsure,
            map_to_edit: (!matching.unsure.is_empty()).then(|| matching.map_to_edit()),
            unmatched_source,
            unmatched_target,
        }
    }

    pub fn json(
        &self,
        output: &Path,
        exit: Exit,
        warnings: &[Warning],
        sizes: Sizes,
    ) -> Result<String> {
        #[derive(Serialize)]
        struct Whole<'a> {
            output: String,
            #[serde(flatten)]
            report: &'a Report<'a>,
            warnings: Vec<Finding>,
            #[serde(flatten)]
            sizes: Sizes,
        }
        let whole = Whole {
            output: output.display().to_string(),
            report: self,
            warnings: finding::of_warnings(warnings, None),
            sizes,
        };
        result_json("retarget", exit, &whole)
    }

    /// Three lines, the maps to edit, and with --verbose the details and the table of bones. Writing
    /// to a String cannot fail, so its results are dropped.
    pub fn text(&self, output: &Path, sizes: &Sizes, verbosity: Verbosity) -> String {
        let mut out = format!("{} ({sizes})\n", output.display());
        let _ = writeln!(
            out,
            "  clip {}: {}{}",
            self.clip,
            count(self.samples, "sample"),
            self.range()
        );
        let _ = write!(
            out,
            "  {} of {} to {}",
            count(self.map.pairs.len(), "joint"),
            self.source,
            self.target
        );
        let (lost, still) = (self.unmatched_source.len(), self.unmatched_target.len());
        let _ = writeln!(
            out,
            "; {lost} not followed, {still} at rest{}",
            match verbosity.is_verbose() {
                true => "",
                false => " (--verbose lists them)",
            }
        );
        if verbosity.is_verbose() {
            self.write_details(&mut out);
        }
        self.write_incomplete(&mut out);
        out
    }

    /// How the clip was moved, and which joint follows which.
    fn write_details(&self, out: &mut String) {
        for (side, names) in [
            ("source", &self.source_names),
            ("target", &self.target_names),
        ] {
            if let Some(names) = names {
                let _ = writeln!(out, "  {side} recognised as {names}");
            }
        }
        let _ = writeln!(out, "  root motion scaled by {:.4}", self.root_scale);
        let [source, target] = self.reference_poses;
        let _ = writeln!(
            out,
            "  measured from the {source} pose of the source and the {target} pose of the target"
        );
        if let Some(feet) = &self.feet {
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
        let _ = writeln!(out);
        let cell = |v: &Option<String>| v.clone().unwrap_or_else(|| "-".to_owned());
        let head = ("bone".to_owned(), "source".to_owned(), "target".to_owned());
        let lines: Vec<(String, String, String)> = std::iter::once(head)
            .chain(self.bones.iter().map(|r| {
                let bone = r.bone.unwrap_or("-").to_owned();
                (bone, cell(&r.source), cell(&r.target))
            }))
            .collect();
        let wide = |f: fn(&(String, String, String)) -> &String| {
            lines
                .iter()
                .map(|l| f(l).chars().count())
                .max()
                .unwrap_or(0)
        };
        let (a, b) = (wide(|l| &l.0), wide(|l| &l.1));
        for (bone, source, target) in &lines {
            let _ = writeln!(out, "  {bone:a$}  {source:b$}  {target}");
        }
        for (what, joints) in [
            ("not followed", &self.unmatched_source),
            ("at rest", &self.unmatched_target),
        ] {
            if !joints.is_empty() {
                let _ = writeln!(out, "\n  {what}: {}", joints.join(", "));
            }
        }
    }

    /// Lists the bones that are not sure, and a map to edit.
    fn write_incomplete(&self, out: &mut String) {
        let Some(map) = &self.map_to_edit else { return };
        for bone in self.incomplete {
            let (rig, joint) = match (&bone.source, &bone.target) {
                (Some(joint), _) => (&self.target, joint),
                (None, joint) => (&self.source, joint.as_ref().unwrap_or(&self.target)),
            };
            let candidates = first_few(&bone.candidates, MOST_CANDIDATES);
            let _ = writeln!(
                out,
                "\n  incomplete: no partner for {joint} ({}); in {rig} it may be {candidates}",
                bone.bone
            );
        }
        let _ = writeln!(
            out,
            "\n  a map to edit, for --map; what is not sure is at its end:\n{}",
            map.to_json()
        );
    }

    fn range(&self) -> String {
        match (self.first, self.last) {
            (Some(first), Some(last)) => format!(
                " from {first} to {last} at {} time codes per second",
                self.time_codes_per_second
            ),
            _ => String::new(),
        }
    }
}

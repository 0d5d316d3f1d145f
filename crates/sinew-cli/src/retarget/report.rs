//! The report of `sinew retarget`.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use sinew::Warning;
use sinew::error::first_few;
use sinew::scene::TimeLine;
use sinew::skel::SkelAnimation;
use sinew_animate::retarget::{
    Bone, BoneMap, BonePair, Humanoid, LockedFeet, RetargetPose, Retargeter, Rig, Sliding,
};

use super::matching::{MOST_CANDIDATES, MatchedBy, Matching, Unsure, map_text, unmatched};
use crate::error::Result;
use crate::exit::Exit;
use crate::report::{count, result_json};

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
    aligned: Vec<Aligned>,
    bones: Vec<Row>,
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

/// A limb of the target that was turned in its reference pose.
#[derive(Serialize)]
struct Aligned {
    bone: Option<&'static str>,
    joint: String,
    degrees: f64,
}

/// A bone, and its joint on each side.
#[derive(Serialize)]
struct Row {
    bone: Option<&'static str>,
    source: Option<String>,
    target: Option<String>,
}

impl<'a> Report<'a> {
    pub fn new(
        matching: &'a Matching,
        (source, target): (&Rig, &Rig),
        clip: &SkelAnimation,
        time_line: &TimeLine,
        times: &[f64],
        retargeter: &Retargeter,
        feet: Option<LockedFeet>,
    ) -> Self {
        let names = |humanoid: &Option<Humanoid>| match (matching.by, humanoid) {
            (MatchedBy::Map, _) => Some("from MAP.json".to_owned()),
            (MatchedBy::Names, _) => Some("the same names on both sides".to_owned()),
            (MatchedBy::Bones | MatchedBy::Guess, Some(h)) => Some(h.origin()),
            (MatchedBy::Bones | MatchedBy::Guess, None) => None,
        };
        let pairs = &matching.map.pairs;
        let own = |rig: &Rig, of: fn(&BonePair) -> &str| {
            let joints = unmatched(rig, pairs.iter().map(of));
            joints.map(|j| rig.names()[j].clone()).collect()
        };
        Self {
            clip: clip.path.clone(),
            source: source.label().to_owned(),
            target: target.label().to_owned(),
            source_names: names(&matching.source),
            target_names: names(&matching.target),
            samples: times.len().max(1),
            first: time_line.range.map(|r| r.0),
            last: time_line.range.map(|r| r.1),
            time_codes_per_second: time_line.time_codes_per_second,
            frames_per_second: time_line.frames_per_second,
            root_scale: retargeter.root_scale(),
            feet,
            reference_poses: retargeter.reference_poses().map(|pose| match pose {
                RetargetPose::Rest => "rest",
                _ => "bind",
            }),
            aligned: retargeter
                .aligned()
                .iter()
                .map(|limb| Aligned {
                    bone: limb.bone.map(Bone::name),
                    joint: limb.joint.clone(),
                    degrees: limb.degrees,
                })
                .collect(),
            bones: rows(matching, source, target),
            map: matching.map.clone(),
            incomplete: &matching.unsure,
            map_to_edit: (!matching.unsure.is_empty()).then(|| matching.map_to_edit()),
            unmatched_source: own(source, |p| &p.source),
            unmatched_target: own(target, |p| &p.target),
        }
    }

    pub fn json(&self, output: &Path, exit: Exit, warnings: &[Warning]) -> Result<String> {
        #[derive(Serialize)]
        struct Whole<'a> {
            output: String,
            #[serde(flatten)]
            report: &'a Report<'a>,
            warnings: &'a [Warning],
        }
        let whole = Whole {
            output: output.display().to_string(),
            report: self,
            warnings,
        };
        result_json("retarget", exit, &whole)
    }

    pub fn text(&self, output: &Path) -> String {
        let mut out = format!("{}\n", output.display());
        let names = |n: &Option<String>| n.as_ref().map_or(String::new(), |n| format!(", {n}"));
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "  clip    {}, {}{}",
            self.clip,
            count(self.samples, "sample"),
            self.range()
        );
        let _ = writeln!(
            out,
            "  source  {}{}",
            self.source,
            names(&self.source_names)
        );
        let _ = writeln!(
            out,
            "  target  {}{}",
            self.target,
            names(&self.target_names)
        );
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
        self.write_incomplete(&mut out);
        out
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
            map_text(map)
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

/// A row for every bone that a side has; or for every pair, if the joints were not matched by
/// bones.
fn rows(matching: &Matching, source: &Rig, target: &Rig) -> Vec<Row> {
    if matches!(matching.by, MatchedBy::Map | MatchedBy::Names) {
        let pairs = matching.map.pairs.iter();
        return pairs
            .map(|p| Row {
                bone: p.bone.map(Bone::name),
                source: Some(p.source.clone()),
                target: Some(p.target.clone()),
            })
            .collect();
    }
    let joint = |rig: &Rig, humanoid: &Option<Humanoid>, bone: Bone| {
        let joint = humanoid.as_ref()?.joints().get(&bone)?;
        Some(rig.names()[*joint].clone())
    };
    // The topmost bone of the trunk may follow another joint than the bone of the same name.
    let follows = |bone: Bone| {
        let mut pairs = matching.map.pairs.iter();
        let pair = pairs.find(|p| p.bone == Some(bone))?;
        Some(source.names()[source.find(&pair.source).ok()?].clone())
    };
    let all = Bone::ALL.iter().map(|bone| Row {
        bone: Some(bone.name()),
        source: follows(*bone).or_else(|| joint(source, &matching.source, *bone)),
        target: joint(target, &matching.target, *bone),
    });
    all.filter(|r| r.source.is_some() || r.target.is_some())
        .collect()
}

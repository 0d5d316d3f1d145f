//! Clips of the project's own puppet, written as other tools write motion, land on figures.
//!
//! `landing.txt` has a row for each clip and figure; `make.py` beside it makes the clips. What lands is compared with the
//! puppet's own motion: where the bones of the body point, how the joints are turned, where the ground is, how far the
//! hips go.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::command::Bench;
use common::trials::Trial;
use glam::{DMat4, DQuat, DVec3};
use libtest_mimic::Failed;
use sinew_io::skeletons;

use crate::formats;
use crate::pair::Job;

pub fn trials() -> Vec<Trial> {
    common::trials![clips_of_other_tools_land, standing_feet_stay]
}

/// Seconds between the keys of all clips, and how many they have.
const STEP: f64 = 0.125;
const KEYS: u32 = 9;

/// Degrees that a bone may point or be turned off. Rigs without a pose that stands are solved from the clip.
const LIMBS: f64 = 20.0;
const ENDS: f64 = 45.0;

/// The share of the keys in which a bone may be off by more.
const OUTLIERS: usize = 1;

/// In lengths of a leg: how far from the ground the lowest foot joint may be, and how much longer or shorter the way of the
/// hips.
const GROUND: f64 = 0.07;
const WAY: f64 = 0.25;

/// The same height over all rows in which the body does not lie: the median, and 90 of 100 rows.
const GROUNDS: [(usize, f64); 2] = [(50, 0.015), (90, 0.035)];

/// Metres that the ball of a foot slides with locked feet while it stands, on average and at most.
const SLIDING: [f64; 2] = [0.004, 0.01];

/// Bones by the joints at their ends.
const POINTS: [(&str, &[&str], &str, f64); 13] = [
    ("trunk", &["leftUpperLeg", "rightUpperLeg"], "neck", LIMBS),
    ("pelvis", &["rightUpperLeg"], "leftUpperLeg", LIMBS),
    ("left thigh", &["leftUpperLeg"], "leftLowerLeg", LIMBS),
    ("right thigh", &["rightUpperLeg"], "rightLowerLeg", LIMBS),
    ("left shin", &["leftLowerLeg"], "leftFoot", LIMBS),
    ("right shin", &["rightLowerLeg"], "rightFoot", LIMBS),
    ("left foot", &["leftFoot"], "leftToes", ENDS),
    ("right foot", &["rightFoot"], "rightToes", ENDS),
    ("left upper arm", &["leftUpperArm"], "leftLowerArm", LIMBS),
    (
        "right upper arm",
        &["rightUpperArm"],
        "rightLowerArm",
        LIMBS,
    ),
    ("left forearm", &["leftLowerArm"], "leftHand", LIMBS),
    ("right forearm", &["rightLowerArm"], "rightHand", LIMBS),
    ("neck", &["neck"], "head", ENDS),
];

/// Joints whose turns from the bind pose are compared: positions do not show a head that looks backwards.
const TURNS: [&str; 5] = ["hips", "chest", "head", "leftFoot", "rightFoot"];

/// Joints of a figure at each key, in metres with Y up, and in its bind pose.
struct Moves {
    keys: Vec<BTreeMap<String, DMat4>>,
    bind: BTreeMap<String, DMat4>,
}

impl Moves {
    fn read(file: &Path) -> Result<Self, Failed> {
        let scene = formats::scene(file, None)?;
        let line = &scene.time_line;
        let start = line.range.map_or(0.0, |r| r.0);
        let at = |key: u32| start + f64::from(key) * STEP * line.time_codes_per_second;
        let keys = (0..KEYS)
            .map(|key| formats::world(&scene, at(key)))
            .collect();
        let skeleton = skeletons(&scene)[0].instance.skeleton();
        let names = skeleton
            .joints()
            .iter()
            .map(|j| j.rsplit('/').next().unwrap_or(j).to_owned());
        let bind = names.zip(skeleton.bind().iter().copied()).collect();
        Ok(Self { keys, bind })
    }

    fn place(&self, key: usize, joint: &str) -> DVec3 {
        self.keys[key][joint].w_axis.truncate()
    }

    fn points(&self, key: usize, from: &[&str], to: &str) -> DVec3 {
        let from: DVec3 =
            from.iter().map(|j| self.place(key, j)).sum::<DVec3>() / from.len() as f64;
        (self.place(key, to) - from).normalize()
    }

    /// How a joint is turned from the bind pose.
    fn turned(&self, key: usize, joint: &str) -> DQuat {
        let turn = |m: &DMat4| m.to_scale_rotation_translation().1;
        turn(&self.keys[key][joint]) * turn(&self.bind[joint]).inverse()
    }

    fn leg(&self) -> f64 {
        let [hip, knee, foot] =
            ["leftUpperLeg", "leftLowerLeg", "leftFoot"].map(|j| self.place(0, j));
        hip.distance(knee) + knee.distance(foot)
    }

    /// The lowest joint of the feet over the clip, from where it is in the bind pose, in legs.
    fn ground(&self) -> f64 {
        let feet = ["leftFoot", "leftToes", "rightFoot", "rightToes"];
        let height = |at: &BTreeMap<String, DMat4>| {
            feet.map(|j| at[j].w_axis.y)
                .into_iter()
                .fold(f64::MAX, f64::min)
        };
        let lowest = self.keys.iter().map(height).fold(f64::MAX, f64::min);
        (lowest - height(&self.bind)) / self.leg()
    }

    /// How far the hips go, in legs.
    fn way(&self) -> f64 {
        let steps = 1..self.keys.len();
        let steps = steps.map(|k| self.place(k, "hips").distance(self.place(k - 1, "hips")));
        steps.sum::<f64>() / self.leg()
    }

    /// The ball of each foot, and two keys between which it stands.
    fn stands(&self) -> Vec<(&'static str, usize, usize)> {
        let mut out: Vec<(&str, usize, usize)> = Vec::new();
        for foot in ["leftToes", "rightToes"] {
            for key in 1..self.keys.len() {
                if self.place(key, foot).distance(self.place(key - 1, foot)) > 1e-3 {
                    continue;
                }
                match out.last_mut() {
                    Some((last, _, to)) if *last == foot && *to == key - 1 => *to = key,
                    _ => out.push((foot, key - 1, key)),
                }
            }
        }
        out
    }

    /// Metres that feet slide between two keys: on average, and at most.
    fn slides(&self, stands: &[(&str, usize, usize)]) -> [f64; 2] {
        let slide = |(foot, from, to): &(&str, usize, usize)| {
            let ways = (*from..=*to).map(|key| self.place(key, foot) - self.place(*from, foot));
            ways.map(|way| way.with_y(0.0).length()).fold(0.0, f64::max)
        };
        let all: Vec<f64> = stands.iter().map(slide).collect();
        [
            all.iter().sum::<f64>() / all.len() as f64,
            all.iter().copied().fold(0.0, f64::max),
        ]
    }

    fn keys(&self) -> std::ops::Range<usize> {
        0..self.keys.len()
    }
}

/// The turn about the vertical that brings the bones of one motion nearest to the other's.
fn heading(truth: &Moves, moves: &Moves) -> DQuat {
    let (mut cos, mut sin) = (0.0, 0.0);
    for key in truth.keys() {
        for (_, from, to, _) in POINTS {
            let (a, b) = (truth.points(key, from, to), moves.points(key, from, to));
            cos += a.x * b.x + a.z * b.z;
            sin += a.z * b.x - a.x * b.z;
        }
    }
    DQuat::from_rotation_y(f64::atan2(sin, cos))
}

/// Not a number is beyond every limit.
fn is_beyond(value: f64, limit: f64) -> bool {
    value.is_nan() || value > limit
}

/// What is wrong; empty if nothing is. `still`: the hips of the clip do not move, and say nothing of the ground.
fn faults(truth: &Moves, moves: &Moves, still: bool) -> Vec<String> {
    let mut out = Vec::new();
    let turn = heading(truth, moves);
    let mut judge = |what: &str, within: f64, off: &dyn Fn(usize) -> f64| {
        let mut off: Vec<f64> = truth.keys().map(|k| off(k).to_degrees()).collect();
        off.sort_by(f64::total_cmp);
        let off = off[off.len() - 1 - OUTLIERS];
        if is_beyond(off, within) {
            out.push(format!("{what} {off:.0} degrees"));
        }
    };
    for (what, from, to, within) in POINTS {
        judge(what, within, &|key| {
            let wanted = turn * truth.points(key, from, to);
            wanted.angle_between(moves.points(key, from, to))
        });
    }
    for joint in TURNS {
        judge(&format!("turn of {joint}"), ENDS, &|key| {
            // The same turn, of a figure that may face another way at rest.
            let wanted = turn * truth.turned(key, joint);
            wanted.angle_between(moves.turned(key, joint))
        });
    }
    if !still {
        let ground = moves.ground() - truth.ground();
        if is_beyond(ground.abs(), GROUND) {
            out.push(format!("feet {ground:+.2} legs"));
        }
        let (way, wanted) = (moves.way(), truth.way());
        if is_beyond((way - wanted).abs(), WAY) {
            out.push(format!("hips go {way:.2} legs, not {wanted:.2}"));
        }
    }
    out
}

fn clips_of_other_tools_land() -> Result<(), Failed> {
    let folder = common::fixture("motion");
    let table = folder.join("landing.txt");
    let bench = Bench::new();
    let (mut wrong, mut right) = (Vec::new(), 0);
    let mut grounds = Vec::new();
    let text = std::fs::read_to_string(&table)?;
    let mut rows = 0;
    for (number, line) in text.lines().enumerate() {
        let (row, mark) = line.split_once('#').unwrap_or((line, ""));
        let words: Vec<&str> = row.split_whitespace().collect();
        let [clip, figure, expected] = words[..] else {
            assert!(words.is_empty(), "{}: {line}", number + 1);
            continue;
        };
        if clip.ends_with(".fbx") && !cfg!(feature = "fbx") {
            continue;
        }
        rows += 1;
        let seen = seen(
            &folder,
            clip,
            target(&folder, figure),
            expected,
            &bench.path(&format!("{number}.usda")),
            &mut grounds,
        )?;
        let is_right = match expected {
            "refused" => seen.starts_with("refused"),
            _ => seen.is_empty(),
        };
        let is_marked = mark.trim().starts_with("wrong today");
        let at = format!("landing.txt:{}: {clip} on {figure}", number + 1);
        match (is_right, is_marked) {
            (true, true) => wrong.push(format!("{at} is right now: take its mark away")),
            (false, false) => wrong.push(format!("{at}: {seen}")),
            _ => right += usize::from(is_right),
        }
    }
    println!("{right} of {rows} rows land");
    grounds.sort_by(f64::total_cmp);
    for (percent, limit) in GROUNDS {
        let ground = *grounds
            .get(grounds.len() * percent / 100)
            .ok_or("no row stands")?;
        println!("{percent} of 100 rows: feet within {ground:.4} legs of where they stand");
        if is_beyond(ground, limit) {
            wrong.push(format!(
                "{percent} of 100 rows: feet off by {ground:.4} legs, over {limit}"
            ));
        }
    }
    assert!(rows > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// The file of a figure.
fn target(folder: &Path, figure: &str) -> PathBuf {
    match figure {
        "puppet" => common::repository().join("examples/assets/puppet.glb"),
        _ => folder.join(figure).with_extension("gltf"),
    }
}

/// The walk has feet that stand. With locked feet they stand on every figure.
fn standing_feet_stay() -> Result<(), Failed> {
    let folder = common::fixture("motion");
    let bench = Bench::new();
    let truth = Moves::read(&folder.join("own_walk.gltf"))?;
    let stands = truth.stands();
    assert_eq!(stands.len(), 3, "{stands:?}");
    let mut wrong = Vec::new();
    for clip in [
        "cmu_walk.bvh",
        "lafan1_walk.bvh",
        "solver_walk.bvh",
        "lafan1_walk.vrma",
    ] {
        for figure in ["puppet", "a_pose"] {
            let out = bench.path(&format!("{clip}.{figure}.usda"));
            let job = Job::new(folder.join(clip), target(&folder, figure));
            let job = job.with(|job| job.request.lock_feet = true);
            let feet = job.write(&out)?.feet.ok_or("feet")?;
            let moves = Moves::read(&out)?;
            let slides = moves.slides(&stands);
            println!("{clip} on {figure}: {slides:.5?}");
            let mut found = faults(&truth, &moves, false);
            let mut both = slides.iter().zip(SLIDING);
            if both.any(|(slide, most)| is_beyond(*slide, most)) {
                found.push(format!("feet slide by {slides:.4?} m"));
            }
            if feet.contacts < stands.len() || is_beyond(feet.after.mean, 0.2 * feet.before.mean) {
                found.push(format!("{feet:?}"));
            }
            if !found.is_empty() {
                wrong.push(format!("{clip} on {figure}: {}", found.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// What is wrong with a clip on a figure, or why it is refused. The height of its feet goes to `grounds`.
fn seen(
    folder: &Path,
    clip: &str,
    target: PathBuf,
    expected: &str,
    out: &Path,
    grounds: &mut Vec<f64>,
) -> Result<String, Failed> {
    let job = Job::new(folder.join(clip), target);
    if let Err(error) = job.run() {
        return Ok(format!("refused: {error}"));
    }
    if expected == "refused" {
        return Ok("it is taken".to_owned());
    }
    job.write(out)?;
    let name = clip.split(['_', '.']).nth(1).ok_or("CONVENTION_CLIP")?;
    let truth = Moves::read(&folder.join(format!("own_{name}.gltf")))?;
    let moves = Moves::read(out)?;
    if expected == "right" && name != "lie" {
        grounds.push(moves.ground().abs());
    }
    Ok(faults(&truth, &moves, expected == "still").join(", "))
}

//! Every combination of ways in which two files have a human body, at random with a fixed seed.
//!
//! What is expected is told by the bodies themselves and by plain matrices: a joint of the target
//! is turned as the joint of the source is, so its bones point as the source's do.

use std::collections::BTreeMap;

use glam::DVec3;
use sinew::math::Trs;
use sinew_animate::retarget::{RetargetOptions, Retargeter};

use common::bodies::{Arms, Body, Bound, Placed, Rested, Ways, pairs};
use common::rng::Rng;
use common::tolerance;

/// Combinations of a run.
const COMBINATIONS: u64 = 3000;

/// The issue asks for this, in radians.
const WANTED: f64 = 1e-4;

/// How far trunk, head and feet may be off, in radians, where nothing tells the space of a bind pose:
/// up is along the trunk then, and trunks lean.
const LEAN: f64 = 0.22;

/// Key of the source's joint that a target's joint follows, if both have it.
fn followed(source: &Body, target: &Body, key: &str) -> Option<String> {
    let (s, t) = (source.ways.spine, target.ways.spine);
    let (top_s, top_t) = (format!("spine{s}"), format!("spine{t}"));
    // Joints of the spine beyond the third are followed as the topmost ones only.
    let highest = format!("spine{}", t.min(3));
    let is_extra = |key: &str| key.starts_with("spine") && key > "spine3";
    if is_extra(key) {
        return (s > 3 && key == top_t).then_some(top_s);
    }
    if t <= 3 && key == highest && s > t {
        return Some(top_s);
    }
    source.at.contains_key(key).then(|| key.to_owned())
}

/// Whether the joint is turned to point as the source's, whatever the reference poses are.
fn is_limb(key: &str) -> bool {
    let limbs = ["Arm", "Hand", "Leg", "Thumb", "Index", "Middle", "Little"];
    limbs.iter().any(|l| key.contains(l))
}

/// The largest angle between a bone of the target and where it should point, and which it is.
fn worst(source: &Body, target: &Body, pose: &[Trs], out: &[Trs]) -> (f64, String, usize) {
    let space_is_known = height_is_known(&source.ways) && height_is_known(&target.ways);
    let (from, to) = (source.world(pose), target.world(out));
    let turned = source.turned(&from);
    let mut worst = (0.0, String::new(), 0);
    for (key, parent) in &target.above {
        let Some(m) = followed(source, target, parent) else {
            continue;
        };
        // A hand points along its middle finger.
        if parent.ends_with("Hand") && !key.contains("Middle") {
            continue;
        }
        let own = if is_limb(parent) {
            &source.directions
        } else {
            &target.directions
        };
        let Some(direction) = own.get(key) else {
            continue;
        };
        let want = turned[source.at[&m]] * *direction;
        let at = |key: &str| to[target.at[key]].w_axis.truncate();
        let got = at(key) - at(parent);
        let angle = got
            .normalize()
            .cross(want)
            .length()
            .atan2(got.normalize().dot(want));
        let angle = match is_limb(parent) || space_is_known {
            true => angle,
            false => angle - LEAN,
        };
        worst.2 += 1;
        if angle > worst.0 || angle.is_nan() {
            (worst.0, worst.1) = (angle, format!("{parent} to {key}"));
        }
    }
    worst
}

/// The length of thigh and shin in metres.
fn leg(body: &Body) -> f64 {
    let world = body.world(body.rig.rest());
    let at = |key: &str| world[body.at[key]].w_axis.truncate();
    let (hip, knee, ankle) = (at("LUpperLeg"), at("LLowerLeg"), at("LFoot"));
    hip.distance(knee) + knee.distance(ankle)
}

fn hips(body: &Body, pose: &[Trs]) -> DVec3 {
    body.world(pose)[body.at["hips"]].w_axis.truncate()
}

/// Whether the files tell how high the hips are when the body stands, and where up is.
fn height_is_known(ways: &Ways) -> bool {
    let is_laid = matches!(ways.placed, Placed::Laid | Placed::WorldRest);
    let is_placed = matches!(ways.bound, Bound::Skeleton | Bound::World) && !is_laid;
    ways.rested != Rested::Everything || is_placed
}

struct Worst(BTreeMap<String, (usize, f64)>);

impl Worst {
    fn add(&mut self, ways: &Ways, side: &str, angle: f64) {
        let arms = match ways.arms {
            Arms::T => "T-pose",
            Arms::A => "A-pose",
        };
        let rows = [
            format!("placement {:?}", ways.placed),
            format!("bind {:?}", ways.bound),
            format!("rest {:?}", ways.rested),
            format!("arms {arms}"),
            format!("up {}", if ways.z_up { "Z" } else { "Y" }),
            format!("unit {}", if ways.centimetres { "cm" } else { "m" }),
            format!("spine of {}", ways.spine),
            format!("facing {} degrees", 90 * ways.quarters),
            format!("twist, end and helper joints {}", ways.extras),
            format!("fingers {}", ways.fingers),
            format!("shoulders {}", ways.shoulders),
            format!("root joint {}", ways.root),
        ];
        for row in rows {
            let row = self.0.entry(format!("{side} {row}")).or_insert((0, 0.0));
            *row = (row.0 + 1, row.1.max(angle));
        }
    }
}

#[test]
fn every_combination_points_as_the_source_does() {
    let mut table = Worst(BTreeMap::new());
    let mut failed = Vec::new();
    let (mut bones, mut all, mut heights) = (0, 0.0_f64, 0);
    for seed in 0..COMBINATIONS {
        let mut rng = Rng::new(seed);
        let ways = [Ways::random(&mut rng), Ways::random(&mut rng)];
        let [source, target] = ways.map(|w| Body::new(&mut rng, w));
        let map = pairs(&source, &target);
        let options = RetargetOptions::default();
        let mut retargeter =
            Retargeter::new(&source.rig, &target.rig, &map, &options).expect("pairs");
        let mut out = vec![Trs::IDENTITY; target.rig.len()];
        let mut went = Vec::new();
        for most in [0.0, 1.0, 2.0] {
            let pose = source.random_pose(&mut rng, most);
            retargeter.retarget(&pose, &mut out);
            let (angle, bone, compared) = worst(&source, &target, &pose, &out);
            for (side, ways) in ["source", "target"].into_iter().zip(&ways) {
                table.add(ways, side, angle);
            }
            bones += compared;
            all = all.max(angle);
            if angle.is_nan() || angle > WANTED {
                failed.push(format!(
                    "seed {seed}, turned by {most}: {bone} is {angle:.2e} off: {ways:?}"
                ));
            }
            went.push((hips(&source, &pose), hips(&target, &out)));
        }
        // The root moves in proportion.
        let scale = retargeter.root_scale();
        let size = target.height;
        for pair in went.windows(2) {
            let (a, b) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
            if (b - a * scale).length() > tolerance::ROOT_OF_BODIES * size {
                failed.push(format!(
                    "seed {seed}: the root moves by {b}, not {a} times {scale}: {ways:?}"
                ));
            }
        }
        if ways.iter().all(height_is_known) {
            heights += 1;
            let want = target.height + scale * (went[0].0.y - source.height);
            let off = (went[0].1.y - want).abs() / size;
            let legs = leg(&target) / leg(&source);
            if (scale / legs - 1.0).abs() > tolerance::ROOT_OF_BODIES
                || off > tolerance::ROOT_OF_BODIES
            {
                failed.push(format!(
                    "seed {seed}: root scale {scale}, expected {legs}, height off by {off}: {ways:?}"
                ));
            }
        }
    }
    println!(
        "{COMBINATIONS} combinations, {bones} bones compared, {heights} with known heights; worst {all:.2e} rad"
    );
    for (row, (count, worst)) in &table.0 {
        println!("{worst:9.2e} rad  {row} ({count})");
    }
    let first: Vec<_> = failed.iter().take(10).collect();
    assert!(
        failed.is_empty(),
        "{} failed, such as {first:#?}",
        failed.len()
    );
    assert!(bones as u64 > 80 * COMBINATIONS && heights as u64 > COMBINATIONS / 4);
}

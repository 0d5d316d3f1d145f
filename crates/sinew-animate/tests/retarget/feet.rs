//! Feet that stand in the source stand on the target, whatever its legs are.

use std::sync::Arc;

use glam::{DVec3, Quat, Vec3};
use sinew::math::Trs;
use sinew::sampled::{Half3, Interpolation, Sampled, Time};
use sinew::skel::{SkelAnimation, SkeletonInstance};
use sinew_animate::retarget::{
    BoneMap, ClipSource, LockedFeet, RetargetOptions, Retargeter, lock_feet, sunk_feet,
};

use super::poses::{humanoid, retargeter};
use common::rigs::{Build, Made, vroid};
use common::tolerance;
use common::walk::{self, CYCLE, HIPS, STANCE};

/// Frames per second, and time codes per second.
const RATE: f64 = 30.0;
/// Three cycles of the walk, and the first frame of the next.
const FRAMES: usize = 100;

fn times() -> Vec<f64> {
    (0..FRAMES).map(|f| f as f64).collect()
}

/// An animation of a body, by its pose at a time in seconds.
fn clip(made: &Made, pose: impl Fn(f64) -> Vec<Trs>) -> SkelAnimation {
    let poses: Vec<(f64, Vec<Trs>)> = times().iter().map(|t| (*t, pose(t / RATE))).collect();
    let one = Half3::from([half::f16::ONE; 3]);
    let linear = Interpolation::Linear;
    let of = |f: &dyn Fn(&Trs) -> Vec3| {
        let samples = poses.iter();
        let samples = samples.map(|(t, p)| (*t, Some(p.iter().map(f).collect::<Vec<Vec3>>())));
        Sampled::new(None, samples.collect(), linear)
    };
    let turns = poses.iter().map(|(t, p)| {
        let turns = p.iter().map(|j| j.rotation.as_quat());
        (*t, Some(turns.collect::<Vec<Quat>>()))
    });
    SkelAnimation {
        joints: made.rig.joints().to_vec(),
        translations: of(&|j| j.translation.as_vec3()),
        rotations: Sampled::new(None, turns.collect(), linear),
        scales: Sampled::constant(vec![one; made.rig.len()]),
        ..SkelAnimation::default()
    }
}

/// A target whose thighs and shins are longer by these factors; its feet are the source's.
fn target(thigh: f64, shin: f64) -> Made {
    let reshape = move |key: &str, at: DVec3| {
        let (ankle, knee, hip) = (0.09, 0.5, 0.9);
        let new_knee = ankle + (knee - ankle) * shin;
        let new_hip = new_knee + (hip - knee) * thigh;
        let y = match &key[1..] {
            "Foot" | "Toes" => at.y,
            "LowerLeg" => new_knee,
            _ => at.y - hip + new_hip,
        };
        DVec3::new(at.x, y, at.z)
    };
    Build {
        name: &vroid,
        reshape: &reshape,
        ..Build::default()
    }
    .make()
}

/// A clip retargeted, as it is and with its feet locked.
fn both(source: &Made, clip: SkelAnimation, target: &Made) -> (Vec<SkelAnimation>, LockedFeet) {
    let (clips, report, _) = both_with_depths(source, clip, target);
    (clips, report)
}

/// The same, with how far feet get below the ground in the two clips, in metres.
fn both_with_depths(
    source: &Made,
    clip: SkelAnimation,
    target: &Made,
) -> (Vec<SkelAnimation>, LockedFeet, [f64; 2]) {
    let mut moves = retargeter(source, target, &RetargetOptions::default());
    let instance = SkeletonInstance::new(Arc::new(source.skeleton.clone()), Some(Arc::new(clip)));
    let source_clip = ClipSource {
        instance: &instance,
        world_from_skel: None,
        world_from_target: None,
    };
    let free = moves
        .retarget_clip(&source_clip, &target.rig, &times(), &[])
        .expect("a clip");
    let (s, t) = (humanoid(source), humanoid(target));
    let map = BoneMap::between((&source.rig, &s), (&target.rig, &t));
    let mut locked = free.clone();
    let rigs = (&source.rig, &target.rig);
    let report =
        lock_feet(&mut locked, &moves, &source_clip, rigs, &map, RATE).expect("locked feet");
    let clips = [free, locked];
    let depths = clips.each_ref().map(|clip| {
        let sunk = sunk_feet(clip, &moves, &source_clip, rigs, &map).expect("depths");
        sunk.depth
    });
    (clips.into(), report, depths)
}

/// World positions of joints, frame by frame.
fn places(made: &Made, clip: &SkelAnimation, keys: &[&str]) -> Vec<Vec<DVec3>> {
    let frame = |time: &f64| {
        let local = clip
            .joint_local_transforms(Time::At(*time))
            .expect("a pose");
        let local: Vec<Trs> = local.iter().map(Trs::from_matrix).collect();
        let world = made.world(&local);
        keys.iter().map(|k| made.position(&world, k)).collect()
    };
    times().iter().map(frame).collect()
}

/// The farthest that the ball of a foot gets from where it touched the ground, and from its height
/// at rest, in metres.
fn slides(made: &Made, clip: &SkelAnimation) -> [f64; 2] {
    let mut worst = [0.0_f64; 2];
    let rest = made.world(made.rig.rest());
    for left in [true, false] {
        let [.., toes] = walk::side(left);
        let places = places(made, clip, &[toes]);
        let mut touched: Option<DVec3> = None;
        for (frame, place) in places.iter().enumerate() {
            let phase = walk::cycles(left, frame as f64 / RATE).fract();
            // A frame at each end may belong to the swing.
            let edge = 1.0 / RATE / CYCLE;
            if !(edge..STANCE - edge).contains(&phase) {
                touched = None;
                continue;
            }
            let first = *touched.get_or_insert(place[0]);
            let off = place[0] - first;
            let height = place[0].y - made.position(&rest, toes).y;
            worst = [worst[0].max(off.x.hypot(off.z)), worst[1].max(height.abs())];
        }
    }
    worst
}

/// The bend of a knee in degrees, frame by frame.
fn bends(made: &Made, clip: &SkelAnimation, left: bool) -> Vec<f64> {
    let [upper, lower, foot, _] = walk::side(left);
    let places = places(made, clip, &[upper, lower, foot]);
    let bend = |p: &Vec<DVec3>| (p[1] - p[0]).angle_between(p[2] - p[1]).to_degrees();
    places.iter().map(bend).collect()
}

/// The largest change from one frame to the next, and the largest change of that.
fn changes(values: &[f64]) -> (f64, f64) {
    let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let first: Vec<f64> = values.windows(2).map(|w| w[1] - w[0]).collect();
    let second: Vec<f64> = first.windows(2).map(|w| w[1] - w[0]).collect();
    (largest(&first), largest(&second))
}

#[test]
fn feet_stand_on_legs_of_any_proportions() {
    let source = Build::default().make();
    let legs = [(0.7, 0.7), (1.3, 1.3), (1.3, 0.7), (0.75, 1.25)];
    for (hips, (thigh, shin)) in HIPS.into_iter().flat_map(|h| legs.map(|legs| (h, legs))) {
        let made = clip(&source, |t| walk::pose(&source, hips, t));
        let of_source = slides(&source, &made);
        assert!(
            of_source.iter().all(|s| *s < 1e-6),
            "the source's feet stand"
        );
        let target = target(thigh, shin);
        let (clips, report) = both(&source, made, &target);
        let [free, locked] = [0, 1].map(|i| slides(&target, &clips[i]));
        assert!(free[0] > 0.01, "{thigh} {shin}: unlocked by {free:?}");
        assert!(
            free[1] > 0.005,
            "{thigh} {shin}: off the ground by {free:?}"
        );
        assert!(
            locked.iter().all(|off| *off < tolerance::LOCKED_FOOT),
            "{thigh} {shin}: locked by {locked:?}"
        );
        assert!(report.contacts >= 10, "{report:?}");
        assert!(report.before.mean > 0.01, "{report:?}");
        assert!(report.after.worst < tolerance::LOCKED_FOOT, "{report:?}");
        assert!((report.belt, report.skipped) == (0.0, 0), "{report:?}");
        assert!(report.lowered < 0.03, "{report:?}");
        for left in [true, false] {
            let [free, locked] = [0, 1].map(|i| bends(&target, &clips[i], left));
            assert!(locked.iter().all(|b| b.is_finite()));
            // Three whole cycles are a loop, and stay one.
            let off = locked[0] - locked[FRAMES - 1];
            assert!(off.abs() < tolerance::LOOP_OF_A_KNEE, "{off} degrees apart");
            let (speed, pop) = changes(&locked);
            let (free_speed, free_pop) = changes(&free);
            assert!(
                speed < tolerance::KNEE_OF_A_LOCKED_FOOT * free_speed,
                "{speed} against {free_speed}"
            );
            assert!(
                pop < tolerance::KNEE_OF_A_LOCKED_FOOT * free_pop,
                "{pop} against {free_pop}"
            );
            let straightest = locked.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(straightest > 3.0, "a knee of {straightest} degrees");
        }
    }
}

/// Legs that bend less, in proportion, as the hips go down. Between contacts too no foot is below the
/// ground.
#[test]
fn feet_that_sink_are_told_and_lifted() {
    let source = Build::default().make();
    for (thigh, shin) in [(0.5, 0.5), (1.25, 0.75)] {
        let target = target(thigh, shin);
        let made = clip(&source, |t| walk::pose(&source, HIPS[0], t));
        let (clips, _, [free, locked]) = both_with_depths(&source, made, &target);
        let own = [0, 1].map(|i| deepest(&target, &clips[i]));
        for (told, own) in [free, locked].into_iter().zip(own) {
            assert!((told - own).abs() < 1e-6, "{told} told, {own} measured");
        }
        assert!(free > 0.01, "{thigh} {shin}: {free}");
        assert!(locked < 1e-6, "{thigh} {shin}: {locked}");
    }
    // A clip on its own character.
    let made = clip(&source, |t| walk::pose(&source, HIPS[0], t));
    let (_, _, depths) = both_with_depths(&source, made, &source);
    assert!(depths.iter().all(|d| *d < 1e-6), "{depths:?}");
}

/// A clip whose feet are in the ground, on its own character: the hips are raised, and the legs stay
/// as they are.
#[test]
fn feet_in_the_ground_are_lifted_by_the_hips() {
    let source = Build::default().make();
    let made = clip(&source, |t| {
        let mut pose = walk::pose(&source, HIPS[0], t);
        pose[source.at["hips"]].translation.y -= 0.03;
        pose
    });
    let (clips, report) = both(&source, made, &source);
    assert!((deepest(&source, &clips[0]) - 0.03).abs() < 1e-6);
    assert!(deepest(&source, &clips[1]) < 1e-6);
    assert_eq!((report.skipped, report.lowered), (0, 0.0));
    for left in [true, false] {
        let [free, locked] = [0, 1].map(|i| bends(&source, &clips[i], left));
        let off = free.iter().zip(&locked).map(|(a, b)| (a - b).abs());
        assert!(off.fold(0.0, f64::max) < 0.01);
    }
}

/// A sample that is no number says nothing of the others.
#[test]
fn a_sample_that_is_no_number_stops_nothing() {
    let source = Build::default().make();
    for broken in [0, FRAMES / 2] {
        let made = clip(&source, |t| {
            let mut pose = walk::pose(&source, HIPS[0], t);
            if (t * RATE).round() as usize == broken {
                pose[source.at["hips"]].translation.y = f64::NAN;
            }
            pose
        });
        let target = target(1.3, 1.3);
        let (clips, report) = both(&source, made, &target);
        assert!(report.contacts > 5, "{report:?}");
        let toes = [true, false].map(|left| walk::side(left)[3]);
        let places = places(&target, &clips[1], &toes);
        assert!(places.iter().flatten().all(|p| p.is_finite()));
    }
}

/// How far a ball gets below its height at rest, in metres.
fn deepest(made: &Made, clip: &SkelAnimation) -> f64 {
    let rest = made.world(made.rig.rest());
    let toes = [true, false].map(|left| walk::side(left)[3]);
    let places = places(made, clip, &toes);
    let depths = places.iter().flat_map(|frame| {
        let pairs = frame.iter().zip(toes);
        pairs.map(|(place, key)| made.position(&rest, key).y - place.y)
    });
    depths.fold(0.0, f64::max)
}

/// The directions of feet and of everything that is no leg are those of the unlocked clip.
#[test]
fn only_legs_and_hips_change() {
    let source = Build::default().make();
    let target = target(1.25, 0.75);
    let made = clip(&source, |t| walk::pose(&source, HIPS[0], t));
    let (clips, _) = both(&source, made, &target);
    for time in times() {
        let [free, locked] = [0, 1].map(|i| {
            let local = clips[i].joint_local_transforms(Time::At(time));
            local.expect("a pose")
        });
        let legs = [true, false].map(|left| walk::side(left).map(|k| target.at[k]));
        for (joint, (a, b)) in free.iter().zip(&locked).enumerate() {
            let is_leg = legs.iter().any(|leg| leg[..3].contains(&joint));
            if !is_leg && joint != target.at["hips"] {
                assert_eq!(a, b, "{joint} at {time}");
            }
        }
        let world = [&free, &locked].map(|local| {
            let local: Vec<Trs> = local.iter().map(Trs::from_matrix).collect();
            target.world(&local)
        });
        for leg in legs {
            let [a, b] = [0, 1].map(|i| world[i][leg[2]].to_scale_rotation_translation().1);
            assert!(
                a.angle_between(b) < tolerance::TURNED_FIGURE,
                "a foot at {time}"
            );
        }
    }
}

#[test]
fn without_contacts_nothing_changes() {
    let source = Build::default().make();
    let target = target(0.7, 0.7);
    // It rises like a balloon.
    let made = clip(&source, |t| {
        let mut pose = walk::pose(&source, HIPS[0], t);
        pose[source.at["hips"]].translation.y += 2.0 * t;
        pose
    });
    let (clips, report) = both(&source, made, &target);
    assert_eq!(report, LockedFeet::default());
    for time in times() {
        let [free, locked] = [0, 1].map(|i| clips[i].joint_local_transforms(Time::At(time)));
        assert_eq!(free, locked);
    }
}

/// A clip that walks on the spot: the ground moves.
#[test]
fn feet_stand_on_a_belt() {
    let source = Build::default().make();
    let speed = 0.8 / CYCLE;
    let made = clip(&source, |t| {
        let mut pose = walk::pose(&source, HIPS[0], t);
        pose[source.at["hips"]].translation.z -= speed * t;
        pose
    });
    let target = target(1.3, 1.3);
    let (_, report) = both(&source, made, &target);
    assert!(report.contacts >= 10, "{report:?}");
    assert!((report.belt / speed - 1.3).abs() < 0.05, "{report:?}");
    assert!(report.before.worst > 0.005, "{report:?}");
    assert!(report.after.mean < tolerance::LOCKED_FOOT, "{report:?}");
}

#[test]
fn legs_that_follow_nothing_are_an_error() {
    let source = Build::default().make();
    let target = target(1.0, 1.0);
    let made = clip(&source, |t| walk::pose(&source, HIPS[0], t));
    let instance = SkeletonInstance::new(Arc::new(source.skeleton.clone()), Some(Arc::new(made)));
    let source_clip = ClipSource {
        instance: &instance,
        world_from_skel: None,
        world_from_target: None,
    };
    let map = r#"{"mixamorig:Hips": "J_Bip_C_Hips", "mixamorig:Spine": "J_Bip_C_Spine"}"#;
    let map = BoneMap::from_json(map, "map.json").expect("a map");
    let options = RetargetOptions::default();
    let moves = Retargeter::new(&source.rig, &target.rig, &map, &options);
    let mut moves = moves.expect("a retargeter");
    let mut moved = moves
        .retarget_clip(&source_clip, &target.rig, &times(), &[])
        .expect("a clip");
    let rigs = (&source.rig, &target.rig);
    let error = lock_feet(&mut moved, &moves, &source_clip, rigs, &map, RATE).unwrap_err();
    assert!(
        error.to_string().contains("feet cannot be locked"),
        "{error}"
    );
}

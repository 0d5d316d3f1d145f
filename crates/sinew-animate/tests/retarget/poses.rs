//! Directions of bones, arms and odd transforms, against plain f64 matrices.

use glam::{DMat3, DMat4, DQuat, DVec3};
use sinew::math::Trs;
use sinew_animate::retarget::{
    BoneMap, Humanoid, RetargetOptions, RetargetPose, Retargeter, RigPlacement,
};

use crate::counting;
use common::rigs::{Build, Made, bones, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;

pub fn humanoid(made: &Made) -> Humanoid {
    Humanoid::recognise(&made.rig).expect("a known rig")
}

pub fn retargeter(source: &Made, target: &Made, options: &RetargetOptions) -> Retargeter {
    let (s, t) = (humanoid(source), humanoid(target));
    let map = BoneMap::between((&source.rig, &s), (&target.rig, &t));
    Retargeter::new(&source.rig, &target.rig, &map, options).expect("a retargeter")
}

pub fn moved(retargeter: &mut Retargeter, target: &Made, pose: &[Trs]) -> Vec<Trs> {
    let mut out = vec![Trs::IDENTITY; target.rig.len()];
    retargeter.retarget(pose, &mut out);
    out
}

/// A body of the same directions, with Mixamo's names and its own random joint orients.
pub fn source(rng: &mut Rng) -> Made {
    Build {
        orient: Box::new(|_| random_turn(rng)),
        ..Build::default()
    }
    .make()
}

/// Another naming, and other joint orients.
pub fn vroid_target(rng: &mut Rng) -> Made {
    Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(rng)),
        ..Build::default()
    }
    .make()
}

pub fn close(what: &str, got: DVec3, want: DVec3, within: f64) {
    let off = got.distance(want);
    assert!(off <= within, "{what}: {got} is {off:.3e} from {want}");
}

/// Bones of the same direction at bind point the same way in every pose.
pub fn same_directions(source: &Made, target: &Made, pose: &[Trs], out: &[Trs]) {
    let sides = [(source, pose), (target, out)];
    point_alike("", sides.map(|(made, pose)| (made, pose, DQuat::IDENTITY)));
}

/// The joint that some trunks have between the upper chest and what hangs from it.
pub const TOP: &str = "spineTop";

/// The same for characters that stand turned in their worlds. Returns how many bones were compared.
pub fn point_alike(what: &str, sides: [(&Made, &[Trs], DQuat); 2]) -> usize {
    let worlds = sides.map(|(made, pose, _)| made.world(pose));
    let has = |key: &String| sides.iter().all(|(made, ..)| made.at.contains_key(key));
    let is_longer = sides.iter().any(|(made, ..)| made.at.contains_key(TOP));
    let mut compared = 0;
    for (a, b) in bones().iter().filter(|(a, b)| has(a) && has(b)) {
        if is_longer && a == "upperChest" {
            continue;
        }
        let [want, got] = [0, 1].map(|i| {
            let (made, _, stands) = &sides[i];
            stands.inverse() * made.direction(&worlds[i], a, b)
        });
        close(
            &format!("{what} {a} to {b}"),
            got,
            want,
            tolerance::DIRECTION,
        );
        compared += 1;
    }
    assert!(compared >= 8, "{what}: {compared} bones compared");
    compared
}

/// The length of thigh and shin in metres.
pub fn leg(made: &Made) -> f64 {
    let world = made.world(made.rig.rest());
    let at = |key: &str| made.position(&world, key);
    let (hip, knee, ankle) = (at("LUpperLeg"), at("LLowerLeg"), at("LFoot"));
    hip.distance(knee) + knee.distance(ankle)
}

/// A T-pose as an A-pose, about where the upper arm is.
pub fn arms_down(key: &str, at: DVec3, shoulder: DVec3) -> DVec3 {
    let arm = ["LowerArm", "Hand", "Thumb", "Index", "Middle", "Little"];
    if !arm.iter().any(|a| key[1..].starts_with(a)) {
        return at;
    }
    DQuat::from_rotation_z(-0.8 * shoulder.x.signum()) * (at - shoulder) + shoulder
}

#[test]
fn an_a_pose_follows_a_t_pose() {
    let mut rng = Rng::new(5);
    let source = source(&mut rng);
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        reshape: &|key, at| arms_down(key, at, DVec3::new(0.17 * at.x.signum(), 1.42, -0.01)),
        ..Build::default()
    }
    .make();
    for pose in [RetargetPose::Auto, RetargetPose::Bind, RetargetPose::Rest] {
        let mut options = RetargetOptions::default();
        options.pose = pose;
        let mut retargeter = retargeter(&source, &target, &options);
        assert_eq!(retargeter.warnings(), []);
        for _ in 0..5 {
            let pose = source.random_pose(&mut rng, 3.0);
            let out = moved(&mut retargeter, &target, &pose);
            same_directions(&source, &target, &pose, &out);
        }
    }
    // At the source's bind pose the target's arms are level, turned from the frame of arm and elbow
    // in the one pose to that in the other: the elbow's hinge is at right angles to the front.
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    let out = moved(&mut retargeter, &target, source.rig.rest());
    let arm = target.at["LUpperArm"];
    let turned = |pose: &[Trs]| target.world(pose)[arm].to_scale_rotation_translation().1;
    let turn = turned(&out) * turned(target.rig.rest()).inverse();
    let frame = |made: &Made| {
        let rest = made.world(made.rig.rest());
        let along = made.direction(&rest, "LUpperArm", "LLowerArm");
        let hinge = along.cross(DVec3::Z).normalize();
        DQuat::from_mat3(&DMat3::from_cols(along, hinge, along.cross(hinge)))
    };
    let want = frame(&source) * frame(&target).inverse();
    let off = turn.angle_between(want);
    assert!(off < tolerance::ANGLE_BY_ACOS, "{off}");
}

/// Hands whose palms face elsewhere are turned about their length, and feet about the vertical axis.
#[test]
fn palms_and_feet_meet_too() {
    let mut rng = Rng::new(25);
    let source = source(&mut rng);
    let hands = ["LHand", "RHand"].map(|key| source.position(source.rig.bind(), key));
    let feet = ["LFoot", "RFoot"].map(|key| source.position(source.rig.bind(), key));
    // The hands are rolled by 60 degrees in the bind pose, and the feet point outward.
    let turned = |key: &str, at: DVec3| {
        let side = usize::from(key.starts_with('R'));
        let sign = [1.0, -1.0][side];
        let finger = ["Thumb", "Index", "Middle", "Little"];
        let along = DQuat::from_axis_angle(DVec3::X, sign);
        let out = DQuat::from_rotation_y(0.4 * sign);
        match &key[1..] {
            "Toes" => feet[side] + out * (at - feet[side]),
            key if finger.iter().any(|f| key.starts_with(f)) => {
                hands[side] + along * (at - hands[side])
            }
            _ => at,
        }
    };
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        reshape: &turned,
        ..Build::default()
    }
    .make();
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(&mut retargeter, &target, &pose);
    let (from, to) = (source.world(&pose), target.world(&out));
    for (a, b) in [("Hand", "Index1"), ("Hand", "Little1"), ("Foot", "Toes")] {
        for (a, b) in ["L", "R"].map(|side| (format!("{side}{a}"), format!("{side}{b}"))) {
            let want = source.direction(&from, &a, &b);
            close(
                &b,
                target.direction(&to, &a, &b),
                want,
                tolerance::DIRECTION,
            );
        }
    }
}

#[test]
fn arm_space_opens_the_arms() {
    let mut rng = Rng::new(14);
    let source = source(&mut rng);
    let target = vroid_target(&mut rng);
    let mut opened = RetargetOptions::default();
    opened.arm_space = -30.0;
    let out = moved(
        &mut retargeter(&source, &target, &opened),
        &target,
        source.rig.rest(),
    );
    let to = target.world(&out);
    // From a T-pose, closing brings the arms down.
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        for (a, b) in [
            ("UpperArm", "LowerArm"),
            ("LowerArm", "Hand"),
            ("Middle1", "Middle2"),
        ] {
            let (a, b) = (format!("{side}{a}"), format!("{side}{b}"));
            let was = source.direction(&source.world(source.rig.rest()), &a, &b);
            let want = DQuat::from_rotation_z(-sign * 30f64.to_radians()) * was;
            close(
                &a,
                target.direction(&to, &a, &b),
                want,
                tolerance::DIRECTION,
            );
        }
    }
    // In any pose the angle is the same, and nothing else moves.
    let pose = source.random_pose(&mut rng, 1.0);
    let plain = RetargetOptions::default();
    let without = moved(&mut retargeter(&source, &target, &plain), &target, &pose);
    let with = moved(&mut retargeter(&source, &target, &opened), &target, &pose);
    let arms = [target.at["LUpperArm"], target.at["RUpperArm"]];
    for (j, (a, b)) in without.iter().zip(&with).enumerate() {
        let angle = a.rotation.dot(b.rotation).abs().min(1.0).acos() * 2.0;
        let want = if arms.contains(&j) {
            30f64.to_radians()
        } else {
            0.0
        };
        assert!(
            (angle - want).abs() < tolerance::ANGLE_BY_ACOS,
            "{}: {angle}",
            target.rig.names()[j]
        );
    }
    let armless = Build {
        has: &|key| !key.contains("UpperArm") && !key.contains("Shoulder"),
        ..Build::default()
    }
    .make();
    let (s, t) = (humanoid(&source), humanoid(&armless));
    let map = BoneMap::between((&source.rig, &s), (&armless.rig, &t));
    let refused = Retargeter::new(&source.rig, &armless.rig, &map, &opened).unwrap_err();
    assert!(refused.to_string().contains("upper arms"), "{refused}");
}

/// Mirrored, sheared, flattened: odd, and still numbers; mirrored and evenly scaled ones are exact too.
#[test]
fn odd_transforms_stay_finite() {
    let mut rng = Rng::new(16);
    for kind in 0..4 {
        let source = source(&mut rng);
        let straight = Build {
            name: &vroid,
            orient: Box::new(|_| random_turn(&mut rng)),
            ..Build::default()
        }
        .make();
        let odd = match kind {
            0 => DMat4::from_scale(DVec3::new(-1.0, -1.0, -1.0)),
            1 => DMat4::from_scale(DVec3::splat(2.0)),
            2 => DMat4::from_cols_array(&[
                1.0, 0.4, 0.0, 0.0, 0.0, 1.0, 0.3, 0.0, 0.0, 0.0, 1.5, 0.0, 0.0, 0.0, 0.0, 1.0,
            ]),
            _ => DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0)),
        };
        // A scaled joint's children are brought back to where they were.
        let mut rest = straight.skeleton.rest().unwrap().to_vec();
        let upper = straight.at["LUpperArm"];
        rest[upper] *= odd;
        if kind < 3 {
            let below = (0..rest.len()).filter(|j| straight.rig.parents()[*j] == Some(upper));
            for j in below {
                rest[j] = odd.inverse() * rest[j];
            }
        }
        let target = straight.bound(straight.skeleton.bind().to_vec(), rest);
        let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
        let sheared = retargeter
            .warnings()
            .iter()
            .any(|w| w.code == "retarget-shear");
        assert_eq!(sheared, kind == 2, "{kind}");
        let mut pose = source.random_pose(&mut rng, 3.0);
        if kind == 3 {
            pose[source.at["RUpperArm"]].scale = DVec3::ZERO;
        }
        let out = moved(&mut retargeter, &target, &pose);
        for local in &out {
            let all = local.translation.is_finite() && local.scale.is_finite();
            assert!(all && local.rotation.is_normalized(), "{kind}: {local:?}");
        }
        if kind < 2 {
            same_directions(&source, &target, &pose, &out);
        }
    }
}

#[test]
fn frames_allocate_nothing() {
    let mut rng = Rng::new(17);
    let source = source(&mut rng);
    let target = Build {
        name: &vroid,
        extra: vec![("LUpperArm", "Twist", true)],
        ..Build::default()
    }
    .make();
    let mut options = RetargetOptions::default();
    options.arm_space = 5.0;
    let mut retargeter = retargeter(&source, &target, &options);
    let pose = source.random_pose(&mut rng, 3.0);
    let mut out = vec![Trs::IDENTITY; target.rig.len()];
    let count = counting::allocations(|| {
        for _ in 0..10 {
            retargeter.place_source(DMat4::IDENTITY);
            retargeter.retarget(&pose, &mut out);
        }
    });
    assert_eq!(count, 0);
    assert!(counting::allocations(|| drop(std::hint::black_box(vec![0u8; 9]))) > 0);
}

/// A character's own clips play on it unchanged, stretched and scaled joints too; and in other units.
#[test]
fn the_same_rig_gets_its_own_pose_back() {
    let mut rng = Rng::new(18);
    let source = source(&mut rng);
    let names = BoneMap::same_names(&source.rig, &source.rig).unwrap();
    let options = RetargetOptions::default();
    let mut retargeter = Retargeter::new(&source.rig, &source.rig, &names, &options).unwrap();
    let mut pose = source.random_pose(&mut rng, 3.0);
    pose[source.at["LUpperArm"]].translation += DVec3::new(0.1, -0.2, 0.05);
    pose[source.at["LHand"]].scale = DVec3::new(1.5, 1.0, 0.5);
    let out = moved(&mut retargeter, &source, &pose);
    let (want, got) = (source.world(&pose), source.world(&out));
    for (want, got) in want.iter().zip(&got) {
        assert!(
            got.abs_diff_eq(*want, tolerance::RETARGETED_IN_F64),
            "{got} {want}"
        );
    }
    // On another body those joints keep their rest.
    let other = Build {
        orient: Box::new(|_| random_turn(&mut rng)),
        ..Build::default()
    }
    .make();
    let out = moved(
        &mut self::retargeter(&source, &other, &options),
        &other,
        &pose,
    );
    for key in ["LUpperArm", "LHand"] {
        let (got, rest) = (out[other.at[key]], other.rig.rest()[other.at[key]]);
        assert_eq!((got.translation, got.scale), (rest.translation, rest.scale));
    }
    // The same body, in centimetres.
    let turns: Vec<DQuat> = (0..source.rig.len())
        .map(|_| random_turn(&mut rng))
        .collect();
    let make = |size: f64| {
        let mut next = turns.iter();
        Build {
            orient: Box::new(move |_| *next.next().unwrap()),
            skel_from_body: DMat4::from_scale(DVec3::splat(size)),
            placement: RigPlacement {
                meters_per_unit: 1.0 / size,
                ..RigPlacement::default()
            },
            ..Build::default()
        }
        .make()
    };
    let (metres, centimetres) = (make(1.0), make(100.0));
    let mut pose = metres.random_pose(&mut rng, 3.0);
    pose[metres.at["RLowerLeg"]].translation += DVec3::new(0.1, -0.2, 0.05);
    let out = moved(
        &mut self::retargeter(&metres, &centimetres, &options),
        &centimetres,
        &pose,
    );
    let (want, got) = (metres.world(&pose), centimetres.world(&out));
    for key in metres.at.keys() {
        close(
            key,
            centimetres.position(&got, key),
            metres.position(&want, key),
            tolerance::RETARGETED_IN_F64,
        );
    }
}

//! Which way characters face, and whether they stand or lie.

use std::sync::Arc;

use glam::{DMat4, DQuat, DVec3};
use sinew::sampled::Time;
use sinew::skel::{Skeleton, SkeletonInstance};
use sinew_animate::retarget::{
    ClipSource, RetargetOptions, RetargetPose, Retargeter, Rig, RigPlacement,
};

use crate::poses::{close, moved, retargeter, same_directions, source, vroid_target};
use common::bodies::{Body, Bound, Rested, Ways, pairs};
use common::rigs::{Build, Made, bones, random_turn, vroid};
use common::rng::Rng;
use common::tolerance;

/// A rig that is bound in the world below an Armature that is turned onto its back, and whose arms hang at rest.
fn bound_in_the_world() -> Made {
    let turned = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let placement = RigPlacement {
        world_from_skel: turned.inverse(),
        ..RigPlacement::default()
    };
    let made = Build {
        name: &vroid,
        skel_from_body: turned,
        placement,
        ..Build::default()
    }
    .make();
    let bind = made.skeleton.bind().iter();
    let bind = bind.map(|m| placement.world_from_skel * *m).collect();
    let mut rest = made.skeleton.rest().expect("a rest pose").to_vec();
    for (arm, angle) in [("LUpperArm", -1.2), ("RUpperArm", 1.2)] {
        let joint = made.at[arm];
        rest[joint] *= DMat4::from_rotation_z(angle);
    }
    let joints = made.skeleton.joints().to_vec();
    let skeleton = Skeleton::new("/Skel", joints, Some(bind), Some(rest)).expect("a skeleton");
    let skeleton = skeleton.with_joint_names(made.skeleton.joint_names().map(<[_]>::to_vec));
    let rig = Rig::new("a rig", &skeleton, placement).expect("a rig");
    Made {
        rig,
        skeleton,
        at: made.at,
    }
}

/// Codes of a whole clip: one frame, in which the source is where it is said to be.
fn codes(
    source: &Made,
    target: &Made,
    pose: RetargetPose,
    world_from_skel: DMat4,
) -> Vec<&'static str> {
    let mut options = RetargetOptions::default();
    options.pose = pose;
    let mut retargeter = retargeter(source, target, &options);
    let instance = SkeletonInstance::new(Arc::new(source.skeleton.clone()), None);
    let world = |_: Time| world_from_skel;
    let clip = ClipSource {
        instance: &instance,
        world_from_skel: Some(&world),
        world_from_target: None,
    };
    let made = retargeter.retarget_clip(&clip, &target.rig, &[1.0, 2.0], &[]);
    made.expect("a clip");
    retargeter.warnings().iter().map(|w| w.code).collect()
}

/// As from Maya's HumanIK: bind and rest stand in the world, below a placement that lays them down.
fn standing_in_the_world() -> Made {
    let placement = RigPlacement {
        world_from_skel: DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
        ..RigPlacement::default()
    };
    Build {
        name: &vroid,
        placement,
        ..Build::default()
    }
    .make()
}

#[test]
fn a_target_that_lies_while_the_source_stands_is_told() {
    let mut rng = Rng::new(21);
    let upright = source(&mut rng);
    let fine = vroid_target(&mut rng);
    let standing = DMat4::IDENTITY;
    let lying = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    use RetargetPose::{Auto, Bind, Rest};
    for world in [standing, lying] {
        assert!(codes(&upright, &fine, Auto, world).is_empty());
        // Only the rest pose as it is lies.
        let wrong = standing_in_the_world();
        for pose in [Auto, Bind] {
            assert_eq!(codes(&upright, &wrong, pose, world), ["retarget-reference"]);
        }
        assert_eq!(codes(&upright, &wrong, Rest, world), ["retarget-lying"]);
        // The space of the bind transforms is known by the joints that agree with the rest pose.
        let bound = bound_in_the_world();
        assert_eq!(codes(&upright, &bound, Bind, world), ["retarget-reference"]);
        assert_eq!(codes(&upright, &bound, Auto, world), ["retarget-reference"]);
    }
    let wrong = standing_in_the_world();
    let placed = wrong.rig.placement().world_from_skel;
    assert_eq!(
        codes(&wrong, &fine, Rest, placed.inverse()),
        ["retarget-lying"]
    );
    let bound = bound_in_the_world();
    let placed = bound.rig.placement().world_from_skel;
    assert_eq!(codes(&bound, &fine, Auto, placed), ["retarget-reference"]);
    // A beast's trunk lies in every pose.
    let beast = Build {
        name: &vroid,
        reshape: &|_, at| DVec3::new(at.x, 0.5 - at.z, at.y),
        ..Build::default()
    }
    .make();
    assert!(codes(&upright, &beast, Bind, standing).is_empty());
    assert!(!codes(&upright, &beast, Auto, standing).contains(&"retarget-lying"));
}

#[test]
fn characters_face_their_own_way() {
    let mut rng = Rng::new(12);
    let source = source(&mut rng);
    // Built facing backward, as VRM 0.x is, and standing turned and moved in its stage.
    let back = DMat4::from_rotation_y(std::f64::consts::PI);
    let placed =
        DMat4::from_rotation_translation(DQuat::from_rotation_y(0.9), DVec3::new(4.0, 0.0, -2.0));
    let target = Build {
        name: &vroid,
        orient: Box::new(|_| random_turn(&mut rng)),
        skel_from_body: back,
        placement: RigPlacement {
            world_from_skel: placed,
            ..RigPlacement::default()
        },
        ..Build::default()
    }
    .make();
    let mut retargeter = retargeter(&source, &target, &RetargetOptions::default());
    let codes: Vec<_> = retargeter.warnings().iter().map(|w| w.code).collect();
    assert_eq!(codes, ["retarget-facing"]);
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(&mut retargeter, &target, &pose);
    // Seen from where each character stands, all points the same way.
    let own = (placed * back).inverse();
    let to: Vec<DMat4> = target.world(&out).iter().map(|m| own * *m).collect();
    let from = source.world(&pose);
    for (a, b) in bones() {
        let want = source.direction(&from, &a, &b);
        close(
            &a,
            target.direction(&to, &a, &b),
            want,
            tolerance::DIRECTION,
        );
    }
    let went =
        source.position(&from, "hips") - source.position(&source.world(source.rig.rest()), "hips");
    let rest = DVec3::new(0.0, 0.95, 0.0);
    close(
        "hips",
        target.position(&to, "hips"),
        rest + went,
        tolerance::RETARGETED_IN_F64,
    );
}

/// The bind pose lies while the rest pose is a T-pose, and the other way round.
#[test]
fn the_pose_that_fits_is_the_reference() {
    let mut rng = Rng::new(31);
    let nonsense = Ways {
        bound: Bound::Nonsense,
        ..Ways::default()
    };
    let everything = Ways {
        rested: Rested::Everything,
        ..Ways::default()
    };
    for (ways, poses) in [
        (nonsense, [RetargetPose::Bind, RetargetPose::Rest]),
        (everything, [RetargetPose::Bind, RetargetPose::Bind]),
    ] {
        let source = Body::new(&mut rng, Ways::default());
        let target = Body::new(&mut rng, ways);
        let map = pairs(&source, &target);
        let make = |pose| {
            let mut options = RetargetOptions::default();
            options.pose = pose;
            Retargeter::new(&source.rig, &target.rig, &map, &options).expect("a retargeter")
        };
        let auto = make(RetargetPose::Auto);
        assert_eq!(auto.reference_poses(), poses);
        let codes: Vec<_> = auto.warnings().iter().map(|w| w.code).collect();
        let told = poses[1] == RetargetPose::Rest;
        assert_eq!(
            codes,
            if told {
                vec!["retarget-reference"]
            } else {
                vec![]
            }
        );
        // The options decide otherwise.
        for pose in [RetargetPose::Bind, RetargetPose::Rest] {
            assert_eq!(make(pose).reference_poses(), [pose; 2]);
        }
    }
}

#[test]
fn bind_transforms_of_another_space_count_as_turned() {
    // Meshes of glTF files may be bound lying down, with a node above that sets all upright.
    let mut rng = Rng::new(13);
    let source = source(&mut rng);
    let straight = vroid_target(&mut rng);
    let lying = DMat4::from_rotation_x(1.2) * DMat4::from_translation(DVec3::new(0.1, 0.2, 0.3));
    let bind = straight
        .skeleton
        .bind()
        .iter()
        .map(|b| lying * *b)
        .collect();
    let skeleton = sinew::skel::Skeleton::new(
        "/Skel",
        straight.skeleton.joints().to_vec(),
        Some(bind),
        straight.skeleton.rest().map(<[DMat4]>::to_vec),
    )
    .unwrap()
    .with_joint_names(Some(straight.rig.names().to_vec()));
    let rig =
        sinew_animate::retarget::Rig::new("lying", &skeleton, RigPlacement::default()).unwrap();
    let target = Made {
        rig,
        at: straight.at,
        skeleton,
    };
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(
        &mut retargeter(&source, &target, &RetargetOptions::default()),
        &target,
        &pose,
    );
    same_directions(&source, &target, &pose, &out);
}

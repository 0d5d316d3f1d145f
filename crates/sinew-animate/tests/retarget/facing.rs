//! Which way characters face, and whether they stand or lie.

use glam::{DMat4, DVec3};
use sinew_animate::retarget::{RetargetOptions, RetargetPose, Retargeter};

use crate::poses::{moved, retargeter, same_directions, source, vroid_target};
use common::rigs::random_turn;
use common::rng::Rng;

/// The bind pose is folded, or of other bones, while the rest pose is a T-pose; and the other way
/// round.
#[test]
fn the_pose_that_stands_is_the_reference() {
    let mut rng = Rng::new(31);
    let source = source(&mut rng);
    let plain = vroid_target(&mut rng);
    let (bind, rest) = (plain.skeleton.bind(), plain.skeleton.rest().unwrap());
    let folded = bind.iter().map(|m| {
        let up = 2.0 * (0.95 - m.w_axis.y).max(0.0);
        DMat4::from_translation(DVec3::Y * up) * *m
    });
    let turned = |all: &[DMat4], rng: &mut Rng| -> Vec<DMat4> {
        let each = all.iter();
        each.map(|m| *m * DMat4::from_quat(random_turn(rng)))
            .collect()
    };
    let others = turned(bind, &mut rng);
    let anyhow = turned(rest, &mut rng);
    for (target, reference) in [
        (plain.bound(folded.collect(), rest.to_vec()), "rest"),
        (plain.bound(others, rest.to_vec()), "rest"),
        (plain.bound(bind.to_vec(), anyhow), "bind"),
    ] {
        let make = |pose| {
            let mut options = RetargetOptions::default();
            options.pose = pose;
            retargeter(&source, &target, &options)
        };
        let poses = |r: &Retargeter| r.measured().each_ref().map(|m| m.reference);
        let auto = make(RetargetPose::Auto);
        assert_eq!(poses(&auto), ["bind", reference]);
        assert_eq!(auto.warnings(), []);
        // The options decide otherwise.
        for (pose, name) in [(RetargetPose::Bind, "bind"), (RetargetPose::Rest, "rest")] {
            assert_eq!(poses(&make(pose)), [name; 2]);
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
    let rest = straight.skeleton.rest().unwrap().to_vec();
    let target = straight.bound(bind, rest);
    let pose = source.random_pose(&mut rng, 3.0);
    let out = moved(
        &mut retargeter(&source, &target, &RetargetOptions::default()),
        &target,
        &pose,
    );
    same_directions(&source, &target, &pose, &out);
}

//! What the host sets: places, shapes and poses.

use common::tolerance;
use common::trials::Trial;
use glam::{BVec3, DMat4, DVec3, Vec3};
use sinew_character::Error;

use crate::made::TWINS;
use crate::{Stage, apart, results, step, trials};

pub fn trials() -> Vec<Trial> {
    trials![
        roots_stay_and_tell_their_way,
        shapes_and_places_are_the_hosts,
        of_one_skeleton_leave_the_other_alone,
    ]
}

fn roots_stay_and_tell_their_way() {
    let Stage {
        mut crowd,
        mut hero,
        ..
    } = Stage::new();
    hero.play("Run").unwrap();
    step(&mut hero, &mut crowd, 0.25);
    assert_eq!(hero.root_motion(), DVec3::ZERO, "the clip itself moves it");
    let with_motion = results(&hero, &mut crowd);
    hero.set_root_motion(BVec3::FALSE);
    // Run goes 2 along x in its second, and over its end. Its skeleton stands turned to -z.
    let mut way = DVec3::ZERO;
    for _ in 0..8 {
        step(&mut hero, &mut crowd, 0.25);
        way += hero.root_motion();
    }
    let apart_of = |a: DVec3, b: DVec3| a.distance(b);
    assert!(apart_of(way, DVec3::NEG_Z * 4.0) < 1e-2, "{way}");
    let in_place = results(&hero, &mut crowd);
    // The same moment of the clip, half a unit further back.
    let shift = Vec3::Z * 0.5;
    let moved: Vec<Vec3> = with_motion[0].iter().map(|p| *p + shift).collect();
    assert!(apart(&in_place[..1], &[moved]) <= 1e-3);
}

fn shapes_and_places_are_the_hosts() {
    let Stage {
        mut crowd,
        mut hero,
        ..
    } = Stage::new();
    assert_eq!(hero.shapes(), ["Blink", "Smile"]);
    assert_eq!(hero.skeletons()[0].channels, ["Smile"]);
    step(&mut hero, &mut crowd, 0.0);
    let before = results(&hero, &mut crowd);
    hero.set_shape("Blink", 0.5).unwrap();
    hero.set_place(DMat4::from_scale(DVec3::splat(2.0)))
        .unwrap();
    step(&mut hero, &mut crowd, 0.0);
    let after = results(&hero, &mut crowd);
    // The face's first point rises by half of the shape; its place has a height of 3.
    assert_eq!(after[1][0], (before[1][0] + Vec3::Y * 0.5) * 2.0);
    assert_eq!(after[2][0], before[2][0] * 2.0);
    assert!(matches!(
        hero.set_shape("Smile", 1.0),
        Err(Error::PlayedShape { .. })
    ));
    let error = hero.set_shape("Frown", 1.0).unwrap_err().to_string();
    assert!(error.contains("Blink, Smile"), "{error}");
    assert!(hero.set_shape("Blink", f32::NAN).is_err());
    for nowhere in [f64::NAN, 1e300] {
        let nowhere = DMat4::from_scale(DVec3::splat(nowhere));
        let error = hero.set_place(nowhere).unwrap_err().to_string();
        assert!(error.contains("place: expected a matrix"), "{error}");
    }
    step(&mut hero, &mut crowd, 0.0);
    assert_eq!(results(&hero, &mut crowd)[2][0], before[2][0] * 2.0);
}

fn of_one_skeleton_leave_the_other_alone() {
    let mut stage = Stage::of(TWINS);
    assert_eq!(stage.hero.skeletons().len(), 2);
    let clips: Vec<&str> = stage.hero.clips().iter().map(|c| c.name()).collect();
    assert_eq!(clips, ["Walk", "Run"]);
    let is_twin: Vec<bool> = stage.hero.meshes().map(|m| m.contains("Twin")).collect();
    assert!(is_twin.contains(&true) && is_twin.contains(&false));
    let twin = stage.hero.skeletons()[1].path.contains("Twin");
    let run = stage.hero.clips()[1].on()[1].clone();
    stage.hero.play("Walk").unwrap();
    stage.hero.set_pose(1, run.sample(0.75)).unwrap();
    let found = stage.frame(0.25);
    let walks = stage.hero.positions(Some("Walk"), 0.25).unwrap();
    let runs = stage.hero.positions(Some("Run"), 0.75).unwrap();
    let expected = is_twin.iter().zip(walks).zip(runs);
    let expected: Vec<Vec<Vec3>> = expected
        .map(|((is_twin, walks), runs)| if *is_twin == twin { runs } else { walks })
        .collect();
    assert!(apart(&found, &expected) <= tolerance::CHARACTERS_MIRRORED);
}

//! Characters of a crowd: what they share, its clock, and how they join and leave.

use common::tolerance;
use common::trials::Trial;
use glam::{DMat4, DVec3, Vec3};
use sinew_character::{Character, Error};

use crate::{Stage, apart, blended, results, step, trials};

pub fn trials() -> Vec<Trial> {
    trials![
        are_shared,
        that_are_dropped_leave,
        of_others_are_refused,
        that_are_rebuilt_are_others,
        have_one_clock,
        hold_nothing_after_a_failure,
        upload_what_is_asked_for,
    ]
}

fn are_shared() {
    let Stage {
        skinner,
        mut crowd,
        hero: mut first,
    } = Stage::new();
    first.play("Walk").unwrap();
    step(&mut first, &mut crowd, 0.25);
    let mut others: Vec<Character> = (0..3).map(|_| first.another()).collect();
    for (i, other) in others.iter_mut().enumerate() {
        other.play("Run").unwrap();
        let place = DMat4::from_translation(DVec3::X * (10.0 * (i + 1) as f64));
        other.set_place(place).unwrap();
        other.update(&mut crowd).unwrap();
    }
    for _ in 0..4 {
        crowd.advance(0.0625).unwrap();
        for character in others.iter_mut().chain([&mut first]) {
            character.update(&mut crowd).unwrap();
        }
    }
    assert_eq!(crowd.instance_count(), 4 * 3);
    let found = results(&first, &mut crowd);
    let expected = first.positions(Some("Walk"), 0.5).unwrap();
    assert!(apart(&found, &expected) <= tolerance::CHARACTERS_MIRRORED);
    for (i, other) in others.iter().enumerate() {
        let mut expected = other.positions(Some("Run"), 0.25).unwrap();
        let aside = Vec3::X * (10.0 * (i + 1) as f32);
        expected.iter_mut().flatten().for_each(|p| *p += aside);
        let found = results(other, &mut crowd);
        // Rounded at ten times the size.
        assert!(apart(&found, &expected) <= 10.0 * tolerance::CHARACTERS_MIRRORED);
    }
    // Nothing is uploaded for those that only play.
    step(&mut first, &mut crowd, 0.0625);
    crowd.submit().unwrap();
    assert!(
        crowd.last_upload_bytes() <= 64,
        "{}",
        crowd.last_upload_bytes()
    );
    // A file belongs to one crowd, until all its characters have left.
    let mut elsewhere = skinner.crowd();
    assert!(matches!(first.draws(&elsewhere), Err(Error::Gpu(_))));
    for character in others.iter_mut().chain([&mut first]) {
        character.remove(&mut crowd).unwrap();
    }
    assert_eq!(crowd.instance_count(), 0);
    step(&mut first, &mut elsewhere, 0.5);
    let found = results(&first, &mut elsewhere);
    let expected = first.positions(Some("Walk"), 0.5).unwrap();
    assert!(apart(&found, &expected) <= tolerance::CHARACTERS_MIRRORED);
}

/// When the crowd advances; a crowd that is gone has nothing of them anyway.
fn that_are_dropped_leave() {
    let mut stage = Stage::new();
    stage.hero.play("Walk").unwrap();
    let mut other = stage.hero.another();
    other.update(&mut stage.crowd).unwrap();
    stage.frame(0.25);
    assert_eq!(stage.crowd.instance_count(), 2 * 3);
    drop(other);
    assert_eq!(stage.crowd.instance_count(), 2 * 3);
    let found = stage.frame(0.25);
    assert_eq!(stage.crowd.instance_count(), 3);
    let walk = stage.clip("Walk").sample(0.5);
    stage.expect(&found, &walk);
    // What all shared is free for another crowd only once the last one has left.
    let Stage {
        skinner,
        mut crowd,
        hero,
    } = stage;
    let mut copy = hero.another();
    drop(hero);
    crowd.advance(0.0).unwrap();
    assert_eq!(crowd.instance_count(), 0);
    let mut elsewhere = skinner.crowd();
    copy.update(&mut elsewhere).unwrap();
    drop(elsewhere);
    drop(copy);
}

/// Ids of two crowds that were filled alike differ, and each crowd keeps its characters.
fn of_others_are_refused() {
    let mut stage = Stage::new();
    let mut elsewhere = Stage::new();
    stage.frame(0.25);
    elsewhere.frame(0.25);
    let count = stage.crowd.instance_count();
    let ids = [&stage, &elsewhere].map(|s| s.hero.instances().unwrap());
    assert_ne!(ids[0], ids[1]);
    let refused = |result: Result<(), Error>| {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Gpu(_)), "{error}");
        assert!(error.to_string().contains("hero.usda"), "{error}");
    };
    refused(stage.hero.update(&mut elsewhere.crowd));
    refused(stage.hero.draws(&elsewhere.crowd).map(|_| ()));
    refused(stage.hero.remove(&mut elsewhere.crowd));
    refused(stage.hero.another().update(&mut elsewhere.crowd));
    assert_eq!(elsewhere.crowd.instance_count(), count);
    // It still is where it was, and can leave.
    stage.frame(0.25);
    stage.hero.remove(&mut stage.crowd).unwrap();
    assert_eq!(stage.crowd.instance_count(), 0);
    stage.hero.update(&mut elsewhere.crowd).unwrap();
    assert_eq!(elsewhere.crowd.instance_count(), 2 * count);
}

/// Their device is another one than that of indices and texture coordinates.
fn that_are_rebuilt_are_others() {
    let mut stage = Stage::new();
    stage.frame(0.25);
    let mut rebuilt = stage.crowd.rebuild(&stage.skinner).unwrap();
    assert!(matches!(stage.hero.draws(&rebuilt), Err(Error::Gpu(_))));
    let updated = stage.hero.update(&mut rebuilt);
    assert!(matches!(updated, Err(Error::Gpu(_))));
}

/// Of two characters one misses some frames, and is at the crowd's clock afterwards. Who forgets to
/// advance the clock gets an error.
fn have_one_clock() {
    let mut stage = Stage::new();
    let mut late = stage.hero.another();
    late.play("Walk").unwrap();
    stage.frame(0.25);
    late.update(&mut stage.crowd).unwrap();
    for _ in 0..3 {
        stage.frame(0.25);
    }
    late.crossfade("Run", 0.5).unwrap();
    let error = late.update(&mut stage.crowd).unwrap_err();
    assert!(matches!(error, Error::NotAdvanced { .. }), "{error}");
    step(&mut late, &mut stage.crowd, 0.25);
    assert_eq!(stage.crowd.clock(), 1.25);
    let found = results(&late, &mut stage.crowd);
    // Walk is a loop of one second, and began at 0.25 s.
    let walk = stage.clip("Walk").sample(0.0);
    let run = stage.clip("Run").sample(0.25);
    stage.expect(&found, &blended(&walk, &run, 0.5));
    for dt in [-0.25, f64::NAN, f64::INFINITY] {
        let error = stage.crowd.advance(dt).unwrap_err();
        assert!(error.to_string().contains("0 or more"), "{error}");
    }
    assert_eq!(stage.crowd.clock(), 1.25);
}

/// A pose that the crowd refuses after the character has joined it.
fn hold_nothing_after_a_failure() {
    let mut stage = Stage::new();
    let walk = stage.clip("Walk").sample(0.25);
    let mut broken = walk.clone();
    broken.joints[1].translation[0] = f32::NAN;
    stage.hero.play("Walk").unwrap();
    stage.hero.set_pose(0, broken).unwrap();
    let error = stage.hero.update(&mut stage.crowd).unwrap_err();
    assert!(matches!(error, Error::Gpu(_)), "{error}");
    assert_eq!(stage.crowd.instance_count(), 0);
    assert!(stage.hero.instances().is_err());
    // Played again, it does what it was asked for.
    stage.hero.blend("Run", 0.0, 0.0).unwrap();
    let found = stage.frame(0.25);
    stage.expect(&found, &walk);
}

/// A fade uploads the clock and the state of each rig, and nothing of the meshes.
fn upload_what_is_asked_for() {
    let mut stage = Stage::new();
    stage.hero.play("Walk").unwrap();
    stage.frame(0.25);
    stage.hero.crossfade("Run", 0.5).unwrap();
    stage.frame(0.25);
    let most = 16 + 64 * stage.hero.rigs().unwrap().count() as u64;
    let uploaded = stage.crowd.last_upload_bytes();
    assert!((80..=most).contains(&uploaded), "{uploaded} of {most}");
    // What is so already uploads the clock alone.
    stage.hero.set_root_motion(glam::BVec3::TRUE);
    stage.frame(0.25);
    assert_eq!(stage.crowd.last_upload_bytes(), 16);
}

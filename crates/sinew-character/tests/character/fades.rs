//! Fades, blends and sums of clips, against those of the CPU.

use common::tolerance;
use common::trials::Trial;
use glam::{BVec3, DVec3};
use sinew::clip::JointMask;
use sinew_character::{Character, PlayClip};

use crate::made::{HERO, folder};
use crate::{Stage, apart, blended, named, results, skinner};

pub fn trials() -> Vec<Trial> {
    named([
        (
            "a_crossfade_is_the_blend_of_its_clips",
            a_crossfade_is_the_blend_of_its_clips,
        ),
        (
            "blends_and_sums_are_those_of_clips",
            blends_and_sums_are_those_of_clips,
        ),
        (
            "a_fade_that_is_pending_can_be_changed",
            a_fade_that_is_pending_can_be_changed,
        ),
        ("a_fade_that_runs_goes_on", a_fade_that_runs_goes_on),
        (
            "another_fade_takes_the_place_of_a_pending_one",
            another_fade_takes_the_place_of_a_pending_one,
        ),
        ("clips_go_on_without_weight", clips_go_on_without_weight),
        (
            "an_added_clip_keeps_its_own_time",
            an_added_clip_keeps_its_own_time,
        ),
        (
            "weights_change_while_they_fade",
            weights_change_while_they_fade,
        ),
    ])
}

/// Half a fade on the GPU, and the same by the clips of the CPU in another character.
fn a_crossfade_is_the_blend_of_its_clips() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    let mut other = hero.another();
    hero.play("Walk").unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    hero.crossfade("Run", 0.5).unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    let clip = |name: &str| hero.clips().iter().find(|c| c.name() == name).unwrap().on()[0].clone();
    let (walk, run) = (clip("Walk"), clip("Run"));
    let mut blended = walk.sample(0.5);
    blended.blend(&run.sample(0.25), 0.5).unwrap();
    other.set_pose(0, blended).unwrap();
    other.update(&mut crowd, 0.0).unwrap();
    let (found, expected) = (results(&hero, &mut crowd), results(&other, &mut crowd));
    let difference = apart(&found, &expected);
    assert!(
        difference <= tolerance::CHARACTERS_MIRRORED,
        "{difference:.2e}"
    );
    // It is neither of the two, and ends at the second.
    for (clip, seconds) in [("Walk", 0.5), ("Run", 0.25)] {
        let alone = hero.positions(Some(clip), seconds).unwrap();
        assert!(apart(&found, &alone) > 1e-2, "{clip}");
    }
    hero.update(&mut crowd, 0.25).unwrap();
    let found = results(&hero, &mut crowd);
    let alone = hero.positions(Some("Run"), 0.5).unwrap();
    assert!(apart(&found, &alone) <= tolerance::CHARACTERS_MIRRORED);
    // To the rest pose.
    hero.stop(0.25).unwrap();
    hero.update(&mut crowd, 0.5).unwrap();
    let found = results(&hero, &mut crowd);
    let rest = hero.positions(None, 0.0).unwrap();
    assert!(apart(&found, &rest) <= tolerance::CHARACTERS_MIRRORED);
}

fn blends_and_sums_are_those_of_clips() {
    let made = folder();
    let skinner = skinner();
    let mut crowd = skinner.crowd();
    let mut hero = Character::load(&skinner, made.path().join(HERO)).unwrap();
    let mut other = hero.another();
    hero.play(PlayClip::new("Walk").at(0.25)).unwrap();
    hero.blend("Run", 0.25, 0.0).unwrap();
    hero.add(Some(PlayClip::new("Run").at(0.125).speed(0.0)), 0.5, 0.0)
        .unwrap();
    hero.update(&mut crowd, 0.25).unwrap();
    let on = |name: &str| hero.clips().iter().find(|c| c.name() == name).unwrap().on()[0].clone();
    let (walk, run) = (on("Walk"), on("Run"));
    let mut expected = walk.sample(0.5);
    expected.blend(&run.sample(0.25), 0.25).unwrap();
    expected
        .add(&run.sample(0.0), &run.sample(0.125), 0.5)
        .unwrap();
    other.set_pose(0, expected.clone()).unwrap();
    other.update(&mut crowd, 0.0).unwrap();
    let (found, wanted) = (results(&hero, &mut crowd), results(&other, &mut crowd));
    let difference = apart(&found, &wanted);
    assert!(
        difference <= tolerance::CHARACTERS_MIRRORED,
        "{difference:.2e}"
    );
    // By a mask only below the second joint; the host poses it, and then plays again.
    let mask = JointMask::below(&hero.skeletons()[0].skeleton, &["Tip"]).unwrap();
    let mut masked = walk.sample(0.5);
    masked.blend_masked(&run.sample(0.25), 1.0, &mask).unwrap();
    assert_eq!(masked.joints[0], walk.sample(0.5).joints[0]);
    assert_ne!(masked.joints[1], walk.sample(0.5).joints[1]);
    other.set_pose(0, masked).unwrap();
    other.update(&mut crowd, 0.25).unwrap();
    assert!(apart(&results(&other, &mut crowd), &wanted) > 1e-2);
    other.play(PlayClip::new("Walk").once()).unwrap();
    other.update(&mut crowd, 100.0).unwrap();
    let ended = hero.positions(Some("Walk"), 1.0).unwrap();
    let found = results(&other, &mut crowd);
    assert!(apart(&found, &ended) <= tolerance::CHARACTERS_MIRRORED);
}

/// The fade keeps its time, and the change has it, too.
fn a_fade_that_is_pending_can_be_changed() {
    let mut stage = Stage::new();
    let (walk, run) = (stage.clip("Walk"), stage.clip("Run"));
    stage.hero.play("Walk").unwrap();
    stage.frame(0.25);
    stage.hero.crossfade("Run", 0.5).unwrap();
    stage.hero.set_root_motion(BVec3::FALSE);
    let found = stage.frame(0.25);
    // The way of the root changes, so the GPU fades from the pose of the last frame.
    let mut run = run.sample(0.25);
    run.in_place(0, &stage.clip("Run").sample(0.0), BVec3::FALSE)
        .unwrap();
    stage.expect(&found, &blended(&walk.sample(0.25), &run, 0.5));
    // Run goes 0.5 along the skeleton's x axis in this time.
    let way = stage.hero.root_motion();
    assert!(way.distance(DVec3::NEG_Z * 0.25) < 1e-3, "{way}");
    // And it ends when it would have.
    let found = stage.frame(0.25);
    let mut run = stage.clip("Run").sample(0.5);
    run.in_place(0, &stage.clip("Run").sample(0.0), BVec3::FALSE)
        .unwrap();
    stage.expect(&found, &run);
}

fn a_fade_that_runs_goes_on() {
    let mut stage = Stage::new();
    let (walk, run) = (stage.clip("Walk"), stage.clip("Run"));
    stage.hero.play("Walk").unwrap();
    stage.frame(0.25);
    stage.hero.crossfade("Run", 0.5).unwrap();
    stage.frame(0.125);
    // Both clips go on, and the sum has the rest of the time: 0.375 s.
    let added = PlayClip::new("Run").at(0.25).speed(0.0);
    stage.hero.add(Some(added), 0.75, 0.0).unwrap();
    let found = stage.frame(0.125);
    let mut expected = blended(&walk.sample(0.5), &run.sample(0.25), 0.5);
    let change = [run.sample(0.0), run.sample(0.25)];
    expected.add(&change[0], &change[1], 0.25).unwrap();
    stage.expect(&found, &expected);
    // What cannot go on fades from the pose of the last frame.
    let held = expected;
    stage.hero.set_root_motion(BVec3::FALSE);
    let found = stage.frame(0.125);
    let mut expected = run.sample(0.375);
    expected
        .in_place(0, &run.sample(0.0), BVec3::FALSE)
        .unwrap();
    expected.add(&change[0], &change[1], 0.75).unwrap();
    stage.expect(&found, &blended(&held, &expected, 0.5));
}

/// The rest pose is faded to from the clip, and not from the fade that never began.
fn another_fade_takes_the_place_of_a_pending_one() {
    let mut stage = Stage::new();
    let walk = stage.clip("Walk");
    stage.hero.play("Walk").unwrap();
    stage.frame(0.25);
    for _ in 0..100 {
        stage.hero.crossfade("Run", 0.5).unwrap();
    }
    stage.hero.stop(0.5).unwrap();
    let found = stage.frame(0.25);
    stage.expect(&found, &blended(&walk.sample(0.5), &walk.sample(0.0), 0.5));
    // It begins at a clip that was asked for before it.
    stage.hero.play("Run").unwrap();
    stage.hero.crossfade("Walk", 0.5).unwrap();
    let found = stage.frame(0.25);
    let run = stage.clip("Run").sample(0.25);
    stage.expect(&found, &blended(&run, &walk.sample(0.25), 0.5));
}

/// A slider from walking to running that comes to both of its ends.
fn clips_go_on_without_weight() {
    let mut stage = Stage::new();
    let (walk, run) = (stage.clip("Walk"), stage.clip("Run"));
    stage.hero.play("Walk").unwrap();
    let mut seconds = 0.0;
    // Those of 16 bits have no rounding.
    for weight in [1.0, 0.4, 0.0, 0.6, 0.8] {
        stage.hero.blend("Run", weight, 0.0).unwrap();
        let found = stage.frame(0.1875);
        seconds += 0.1875;
        let expected = blended(&walk.sample(seconds), &run.sample(seconds), weight);
        stage.expect(&found, &expected);
    }
}

/// The clip that is added is the one that is blended, at another time.
fn an_added_clip_keeps_its_own_time() {
    let mut stage = Stage::new();
    let run = stage.clip("Run");
    stage.hero.play(PlayClip::new("Run").at(0.5)).unwrap();
    let added = PlayClip::new("Run").at(0.25).speed(0.0);
    stage.hero.add(Some(added), 0.5, 0.0).unwrap();
    stage.frame(0.125);
    stage.hero.blend("Walk", 0.0, 0.0).unwrap();
    let found = stage.frame(0.125);
    let mut expected = run.sample(0.75);
    expected
        .add(&run.sample(0.0), &run.sample(0.25), 0.5)
        .unwrap();
    stage.expect(&found, &expected);
}

fn weights_change_while_they_fade() {
    let mut stage = Stage::new();
    let (walk, run) = (stage.clip("Walk"), stage.clip("Run"));
    stage.hero.play("Walk").unwrap();
    stage.frame(0.25);
    stage.hero.blend("Run", 0.5, 0.5).unwrap();
    stage.frame(0.125);
    // From a weight of 0.125, within the 0.375 s that are left.
    stage.hero.blend("Run", 0.875, 0.0).unwrap();
    let found = stage.frame(0.125);
    stage.expect(
        &found,
        &blended(&walk.sample(0.5), &run.sample(0.25), 0.375),
    );
    let found = stage.frame(0.25);
    stage.expect(
        &found,
        &blended(&walk.sample(0.75), &run.sample(0.5), 0.875),
    );
}

//! What the library refuses, and feet.

use std::sync::Arc;

use common::tolerance;
use common::trials::Trial;
use glam::DVec3;
use libtest_mimic::Failed;
use sinew::sampled::Time;
use sinew::skel::SkeletonInstance;
use sinew_animate::retarget::{BoneMap, ClipSource, Humanoid, Retargeter, Rig};
use sinew_io::usd::UsdFile;
use sinew_io::{placement, skeletons};

use crate::formats;
use crate::pair::{Job, SKEL, pair};

pub fn trials() -> Vec<Trial> {
    common::trials![
        feet_are_locked,
        a_rig_learns_of_its_clip,
        what_cannot_be_set_is_refused
    ]
}

/// A program has a rig before it has a clip: bind and rest pose count until it gives the rig poses of
/// the clip. Then the clip lands as `retarget` lands it. Its zero pose lies along an axis.
fn a_rig_learns_of_its_clip() -> Result<(), Failed> {
    let walk = common::fixture("motion").join("lafan1_walk.bvh");
    let puppet = common::repository().join("examples/assets/puppet.glb");
    let (target, moved) = Job::new(&walk, &puppet).run()?;
    let scene = formats::scene(&walk, None)?;
    let placed = skeletons(&scene)[0];
    let animation = placed.instance.animation().ok_or("a clip")?;
    let times: Vec<f64> = animation.joint_times().collect();
    let place = placement(&scene, placed, Time::Default);
    let mut source = Rig::new("walk", placed.instance.skeleton(), place)?;
    let scene = target.file.scene(Default::default())?;
    let skeleton = skeletons(&scene)[0].instance.skeleton();
    let places = |animation: Arc<_>| -> Result<Vec<DVec3>, Failed> {
        let instance = SkeletonInstance::new(skeleton.clone(), Some(animation));
        let mut out = Vec::new();
        for time in &times {
            let joints = instance.skel_from_joint(Time::At(*time))?;
            out.extend(joints.iter().map(|m| m.w_axis.truncate()));
        }
        Ok(out)
    };
    let wanted = places(Arc::new(moved.animation))?;
    let off = |source: &Rig| -> Result<(f64, bool), Failed> {
        let bones = [source, &moved.target].map(Humanoid::recognise);
        let [Ok(from), Ok(to)] = bones else {
            return Err("a human".into());
        };
        let map = BoneMap::between((source, &from), (&moved.target, &to));
        let mut retargeter = Retargeter::new(source, &moved.target, &map, &Default::default())?;
        let clip = ClipSource {
            instance: &placed.instance,
            world_from_skel: None,
            world_from_target: None,
        };
        let found = retargeter.retarget_clip(&clip, &moved.target, &times, &[])?;
        let found = places(Arc::new(found))?;
        let off = found.iter().zip(&wanted).map(|(a, b)| a.distance(*b));
        let mut warnings = retargeter.warnings().iter();
        Ok((
            off.fold(0.0, f64::max),
            warnings.any(|w| w.message.contains("all the same")),
        ))
    };
    let (before, warns) = off(&source)?;
    assert!(before > 0.2 && warns, "{before}");
    for time in &times {
        let pose = placed.instance.joint_local_transforms(Time::At(*time))?;
        source.add_sample(place.world_from_skel, &pose);
    }
    let (after, warns) = off(&source)?;
    assert!(after < 1e-5 && !warns, "{after}");
    Ok(())
}

/// The example walk has feet that stand.
fn feet_are_locked() -> Result<(), Failed> {
    let assets = common::repository().join("examples/assets");
    let job = Job::new(assets.join("walk.bvh"), assets.join("puppet.glb"));
    let job = job.with(|job| job.request.lock_feet = true);
    let feet = job.run()?.1.feet.ok_or("feet")?;
    assert!(feet.contacts > 0);
    assert!(feet.before.worst > tolerance::LOCKED_FOOT, "{feet:?}");
    assert!(feet.after.worst < tolerance::LOCKED_FOOT, "{feet:?}");
    Ok(())
}

/// The library's own doors, and nothing of what they refuse left behind.
fn what_cannot_be_set_is_refused() -> Result<(), Failed> {
    use half::f16;
    use sinew::sampled::Sampled;
    use sinew::scene::TimeLine;
    use sinew::skel::SkelAnimation;
    let pair = pair(12);
    let mut hero = UsdFile::open(pair.bench.path("hero.usda"))?;
    let whole = SkelAnimation {
        joints: vec!["Root".into()],
        translations: Sampled::constant(vec![glam::Vec3::X]),
        rotations: Sampled::constant(vec![glam::Quat::IDENTITY]),
        scales: Sampled::constant(vec![[f16::ONE; 3]]),
        ..SkelAnimation::default()
    };
    let rate = TimeLine {
        range: None,
        time_codes_per_second: 24.0,
        frames_per_second: 24.0,
    };
    let text = |file: &UsdFile| {
        file.save_as(pair.bench.path("text.usda")).unwrap();
        std::fs::read_to_string(pair.bench.path("text.usda")).unwrap()
    };
    let before = text(&hero);
    let out = pair.bench.path("alone.usda");
    let mut refuse =
        |skeleton: &str, name: &str, animation: &SkelAnimation, rate: &TimeLine, words: &[&str]| {
            let alone = hero.write_animation(&out, name, animation, rate);
            let set = hero
                .set_animation(skeleton, name, animation, rate)
                .unwrap_err()
                .to_string();
            for word in words {
                assert!(set.contains(word), "'{set}' should say '{word}'");
            }
            assert_eq!(alone.is_err(), skeleton == SKEL, "{set}");
        };
    refuse(
        "/Char/Body",
        "A",
        &whole,
        &rate,
        &["Skeleton", "/Char/Body"],
    );
    refuse("/Nobody", "A", &whole, &rate, &["/Nobody"]);
    std::fs::remove_file(&out)?;
    refuse(SKEL, "two words", &whole, &rate, &["two words"]);
    let short = SkelAnimation {
        rotations: Sampled::constant(Vec::new()),
        ..whole.clone()
    };
    let words = ["hero.usda", "rotations", "1 values", "found 0"];
    refuse(SKEL, "A", &short, &rate, &words);
    let without = SkelAnimation {
        scales: Sampled::default(),
        ..whole.clone()
    };
    refuse(SKEL, "A", &without, &rate, &["scales", "found none"]);
    let still = TimeLine {
        frames_per_second: 0.0,
        ..rate
    };
    refuse(SKEL, "A", &whole, &still, &["per second"]);
    assert!(!out.exists());
    assert_eq!(text(&hero), before);
    for name in ["A", "A_2"] {
        let path = hero.set_animation(SKEL, "A", &whole, &rate)?;
        assert_eq!(path, format!("{SKEL}/{name}"));
        let scene = hero.scene(Default::default())?;
        let bound = scene.instances[0].instance.animation();
        assert_eq!(bound.map(|a| a.path.as_str()), Some(path.as_str()));
    }

    let golden = common::repository().join("tests/goldens/instanced.usda");
    let mut instanced = UsdFile::open(golden)?;
    let scene = instanced.scene(Default::default())?;
    let inside = scene.instances.first().ok_or("a skeleton")?.path.clone();
    let refused = instanced
        .set_animation(&inside, "A", &whole, &rate)
        .unwrap_err();
    assert!(refused.to_string().contains("instance"), "{refused}");
    Ok(())
}

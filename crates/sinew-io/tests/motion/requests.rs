//! Which clip and skeleton are taken, and what is refused.

use common::trials::Trial;
use common::{tolerance, usd};
use libtest_mimic::Failed;
use sinew_animate::retarget::BoneMap;
use sinew_io::usd::UsdFile;

use crate::pair::{Job, SKEL, pair};

pub fn trials() -> Vec<Trial> {
    common::trials![
        clips_and_skeletons_are_chosen,
        an_unknown_rig_shows_a_guess,
        bad_requests_are_refused,
        feet_are_locked,
        what_cannot_be_set_is_refused
    ]
}

fn clips_and_skeletons_are_chosen() -> Result<(), Failed> {
    let pair = pair(6);
    for name in ["Still", "/Char/Skel/Still"] {
        let named = |job: &mut Job| job.source.clip = Some(name.to_owned());
        let (_, moved) = pair.job().with(named).run()?;
        assert!(moved.animation.rotations.times().eq([1.0]));
    }
    type Change = fn(&mut Job);
    let refused: [(Change, &[&str]); 3] = [
        (
            |job| job.source.clip = Some("Run".to_owned()),
            &["no clip is named 'Run'", "Walk, Still"],
        ),
        (
            |job| job.source.skeleton = Some("/X".to_owned()),
            &["/X", "walk.usda", SKEL],
        ),
        (
            |job| job.target_skeleton = Some("/X".to_owned()),
            &["/X", "hero.usda", SKEL],
        ),
    ];
    for (change, words) in refused {
        pair.job().with(change).refused(words);
    }
    let by_path = |job: &mut Job| {
        job.source.skeleton = Some(SKEL.to_owned());
        job.target_skeleton = Some(SKEL.to_owned());
    };
    pair.job().with(by_path).run()?;
    // Two in one file are not guessed between.
    let hero = std::fs::read_to_string(pair.bench.path("hero.usda"))?;
    let root = hero.find("def SkelRoot").ok_or("a SkelRoot")?;
    let twins = hero.clone() + &hero[root..].replace("Char", "Twin");
    pair.bench.write("hero.usda", twins);
    pair.job().refused(&["several skeletons", "/Twin/Skel"]);
    let twin = |job: &mut Job| job.target_skeleton = Some("/Twin/Skel".to_owned());
    let out = pair.bench.path("out.usda");
    pair.job().with(twin).write(&out)?;
    let times = |path: &str| usd::times(&usd::open(&out), path, "rotations");
    assert_eq!(times("/Twin/Skel/Animation").len(), 9);
    // A name that is taken is numbered, and the other animation stays.
    let names = "uniform token[] jointNames";
    let own = format!("def SkelAnimation \"Animation\" {{ }}\n{names}");
    pair.bench.write("hero.usda", hero.replace(names, &own));
    pair.job().write(&out)?;
    assert_eq!(times("/Char/Skel/Animation_2").len(), 9);
    Ok(())
}

fn an_unknown_rig_shows_a_guess() -> Result<(), Failed> {
    let pair = pair(7);
    let odd = |key: &str| match key {
        "hips" => "torso_1".to_owned(),
        "spine" => "torso_2".to_owned(),
        key if key.contains("LowerArm") => format!("elbow_{}", &key[..1]),
        key if key.contains("Foot") => format!("{}_ankle", &key[..1]),
        // Letters of no word.
        key => key.bytes().map(|b| format!("x{b}")).collect(),
    };
    let hero = pair.write_hero(&odd);
    let no_match = pair.job().unmatched(&[
        "hero.usda",
        "no human body",
        "\"mixamorig:Hips\": \"torso_1\"",
        "\"mixamorig:LeftForeArm\": \"elbow_L\"",
        "\"mixamorig:RightFoot\": \"R_ankle\"",
    ]);
    // The guess is a map to begin with.
    let out = pair.bench.path("out.usda");
    pair.job().mapped(no_match.guess).write(&out)?;
    // Between two rigs of the same names nothing needs to be known.
    let (_, moved) = Job::new(&out, &hero).run()?;
    let same = Some("the same names on both sides".to_owned());
    assert!(moved.matching.origins().contains(&same));
    Ok(())
}

fn bad_requests_are_refused() -> Result<(), Failed> {
    let pair = pair(8);
    for (map, words) in [
        ("{\n\"a\": 1}", ["map.json", "line 2"]),
        ("{\"Nobody\": \"Root\"}", ["Nobody", "mixamorig:Hips"]),
    ] {
        let text = match BoneMap::from_json(map, "map.json") {
            Ok(map) => pair.job().mapped(map).refused(&[]).to_string(),
            Err(error) => error.to_string(),
        };
        for word in words {
            assert!(text.contains(word), "{text}");
        }
    }
    let options = |change: fn(&mut Job), word: &str| pair.job().with(change).refused(&[word]);
    options(
        |job| job.request.options.root_bone = Some("Nobody".to_owned()),
        "root bone Nobody",
    );
    options(|job| job.request.options.arm_space = f64::NAN, "arm space");
    // The file that is read is not overwritten.
    let (target, _) = pair.job().run()?;
    let error = target.file.check_output(&pair.bench.path("hero.usda"));
    let text = error.unwrap_err().to_string();
    assert!(text.contains("read from"), "{text}");
    // A clip without scales counts for nothing in USD.
    pair.bench.write("empty.usda", "#usda 1.0\n");
    let walk = std::fs::read_to_string(pair.bench.path("walk.usda"))?;
    let scaleless = walk.replace("half3[] scales", "half3[] widths");
    pair.bench.write("scaleless.usda", scaleless);
    let rows: [(&str, &str, &[&str]); 5] = [
        ("hero", "walk", &["hero.usda", "no clip"]),
        ("empty", "hero", &["empty.usda", "no skeleton"]),
        ("walk", "empty", &["empty.usda", "no skeleton"]),
        ("gone", "hero", &["gone.usda"]),
        (
            "scaleless",
            "hero",
            &["scaleless.usda", "/Char/Skel/Walk", "scales"],
        ),
    ];
    for (clip, target, words) in rows {
        let [clip, target] = [clip, target].map(|n| pair.bench.path(&format!("{n}.usda")));
        Job::new(clip, target).refused(words);
    }
    Ok(())
}

/// A map of two bones has no legs to lock; the example walk has feet that stand.
fn feet_are_locked() -> Result<(), Failed> {
    let assets = common::repository().join("examples/assets");
    let job = Job::new(assets.join("walk.bvh"), assets.join("puppet.glb"));
    let job = job.with(|job| job.request.lock_feet = true);
    let feet = job.run()?.1.feet.ok_or("feet")?;
    assert!(feet.contacts > 0);
    assert!(feet.before.worst > tolerance::LOCKED_FOOT, "{feet:?}");
    assert!(feet.after.worst < tolerance::LOCKED_FOOT, "{feet:?}");
    let map = BoneMap::from_json(r#"{"Hips": "hips", "Spine": "spine"}"#, "map.json")?;
    job.mapped(map)
        .refused(&["puppet.glb", "feet cannot be locked"]);
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
    refuse(
        SKEL,
        "A",
        &short,
        &rate,
        &["hero.usda", "rotations", "1 values", "found 0"],
    );
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
    assert_eq!(
        hero.set_animation(SKEL, "A", &whole, &rate)?,
        format!("{SKEL}/A")
    );
    assert_eq!(
        hero.set_animation(SKEL, "A", &whole, &rate)?,
        format!("{SKEL}/A_2")
    );
    let scene = hero.scene(Default::default())?;
    let bound = scene.instances[0]
        .instance
        .animation()
        .map(|a| a.path.clone());
    assert_eq!(bound, Some(format!("{SKEL}/A_2")));

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

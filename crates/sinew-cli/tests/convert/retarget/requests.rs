//! What is asked of `sinew retarget`, guessed by it and refused.

use common::command::{misused, refused, sinew, stderr, stdout};
use common::trials::Trial;
use common::usd;
use libtest_mimic::Failed;
use sinew_io::usd::UsdFile;

use super::{SKEL, pair};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "clips_and_skeletons_are_chosen",
            clips_and_skeletons_are_chosen,
        ),
        Trial::test("an_unknown_rig_shows_a_guess", an_unknown_rig_shows_a_guess),
        Trial::test("bad_requests_write_nothing", bad_requests_write_nothing),
        Trial::test(
            "what_cannot_be_set_is_refused",
            what_cannot_be_set_is_refused,
        ),
    ]
}

fn clips_and_skeletons_are_chosen() -> Result<(), Failed> {
    let pair = pair(6);
    for name in ["Still", "/Char/Skel/Still"] {
        pair.ran("out.usda", &["--clip", name]);
        assert_eq!(
            usd::times(
                &usd::open(&pair.bench.path("out.usda")),
                "/Char/Skel/Animation",
                "rotations"
            ),
            [1.0]
        );
    }
    let out = pair.bench.path("none.usda");
    refused(
        &pair.run("none.usda", &["--clip", "Run"]),
        &out,
        &["no clip is named 'Run'", "Walk, Still"],
    );
    refused(
        &pair.run("none.usda", &["--source-skeleton", "/X"]),
        &out,
        &["/X", SKEL],
    );
    refused(
        &pair.run("none.usda", &["--target-skeleton", "/X"]),
        &out,
        &["/X", "hero.usda", SKEL],
    );
    pair.ran(
        "out.usda",
        &["--source-skeleton", SKEL, "--target-skeleton", SKEL],
    );
    // Two in one file are not guessed between.
    let hero = std::fs::read_to_string(pair.bench.path("hero.usda"))?;
    let twins = hero.clone() + &hero[hero.find("def SkelRoot").unwrap()..].replace("Char", "Twin");
    pair.bench.write("hero.usda", twins);
    refused(
        &pair.run("none.usda", &[]),
        &out,
        &["several skeletons", "--target-skeleton", "/Twin/Skel"],
    );
    pair.ran("out.usda", &["--target-skeleton", "/Twin/Skel"]);
    let stage = usd::open(&pair.bench.path("out.usda"));
    assert_eq!(
        usd::times(&stage, "/Twin/Skel/Animation", "rotations").len(),
        9
    );
    // A name that is taken is numbered, and the other animation stays.
    let own = hero.replace(
        "uniform token[] jointNames",
        "def SkelAnimation \"Animation\" { }\nuniform token[] jointNames",
    );
    pair.bench.write("hero.usda", own);
    pair.ran("out.usda", &[]);
    let stage = usd::open(&pair.bench.path("out.usda"));
    assert_eq!(
        usd::times(&stage, "/Char/Skel/Animation_2", "rotations").len(),
        9
    );
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
    let out = pair.bench.path("out.usda");
    let output = pair.run("out.usda", &[]);
    refused(
        &output,
        &out,
        &[
            "hero.usda",
            "no human body",
            "--map",
            "\"mixamorig:Hips\": \"torso_1\"",
            "\"mixamorig:LeftForeArm\": \"elbow_L\"",
            "\"mixamorig:RightFoot\": \"R_ankle\"",
        ],
    );
    // What it prints is a map to begin with.
    let text = stderr(&output);
    let guess = &text[text.rfind("\n{").unwrap()..];
    let map = pair.bench.write("map.json", guess.trim());
    pair.ran("out.usda", &["--map", map.to_str().unwrap()]);
    // Between two rigs of the same names nothing needs to be known.
    let (a, b) = (hero.to_str().unwrap(), out.to_str().unwrap());
    let third = pair.bench.path("third.usda");
    let output = sinew(&["retarget", b, a, "-o", third.to_str().unwrap(), "--verbose"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("the same names on both sides"),
        "{}",
        stdout(&output)
    );
    Ok(())
}

fn bad_requests_write_nothing() -> Result<(), Failed> {
    let pair = pair(8);
    let out = pair.bench.path("out.usda");
    let map = |text: &str| {
        pair.bench
            .write("map.json", text)
            .to_str()
            .unwrap()
            .to_owned()
    };
    let refuse = |more: &[&str], words: &[&str]| refused(&pair.run("out.usda", more), &out, words);
    refuse(&["--map", "/no/such/map.json"], &["/no/such/map.json"]);
    refuse(&["--map", &map("{\n\"a\": 1}")], &["map.json", "line 2"]);
    refuse(
        &["--map", &map("{\"Nobody\": \"Root\"}")],
        &["Nobody", "mixamorig:Hips"],
    );
    refuse(&["--root-bone", "Nobody"], &["root bone Nobody"]);
    refuse(&["--arm-space", "NaN"], &["arm space"]);
    // OUT is no name that USD knows, or a file that is read.
    let glb = pair.bench.path("out.mp4");
    misused(&pair.run("out.mp4", &[]), &glb, &["found .mp4"]);
    let before = std::fs::read(pair.bench.path("hero.usda"))?;
    for name in ["hero.usda", "walk.usda"] {
        let output = pair.run(name, &[]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains("read from"), "{}", stderr(&output));
    }
    assert_eq!(std::fs::read(pair.bench.path("hero.usda"))?, before);
    // No clip, no skeleton, nothing there.
    let run = |clip: &str, target: &str| {
        let path = |n: &str| pair.bench.path(n).to_str().unwrap().to_owned();
        sinew(&[
            "retarget",
            &path(clip),
            &path(target),
            "-o",
            out.to_str().unwrap(),
        ])
    };
    refused(
        &run("hero.usda", "walk.usda"),
        &out,
        &["hero.usda", "no clip"],
    );
    pair.bench.write("empty.usda", "#usda 1.0\n");
    refused(
        &run("empty.usda", "hero.usda"),
        &out,
        &["empty.usda", "no skeleton"],
    );
    refused(
        &run("walk.usda", "empty.usda"),
        &out,
        &["empty.usda", "no skeleton"],
    );
    refused(&run("gone.usda", "hero.usda"), &out, &["gone.usda"]);
    // A clip without scales counts for nothing in USD.
    let walk = std::fs::read_to_string(pair.bench.path("walk.usda"))?;
    pair.bench.write(
        "scaleless.usda",
        walk.replace("half3[] scales", "half3[] widths"),
    );
    refused(
        &run("scaleless.usda", "hero.usda"),
        &out,
        &["scaleless.usda", "/Char/Skel/Walk", "scales"],
    );
    let usage = sinew(&["retarget", "a.usda"]);
    assert_eq!(usage.status.code(), Some(2));
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

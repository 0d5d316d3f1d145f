//! Clips are chosen by the same names in USD as in other formats, and move what they are for.
//!
//! `crates/sinew-io/tests/data/clips/hero.gltf` is a character of two joints with three clips, and `twins.gltf` two
//! of them whose joints have the same names: each clip has a side for each, and `Alone` moves Bob.

use std::path::{Path, PathBuf};

use common::command::Bench;
use common::document::Document;
use common::tolerance;
use common::trials::Trial;
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::json;
use sinew::sampled::Time;
use sinew::skel::AnimSource;
use sinew::skel::reference::deform;
use sinew_io::gltf;
use sinew_io::usd::{ReadOptions, UsdFile};
use sinew_io::{ClipChoice, OpenOptions, open_with};

use crate::formats::scene;
use crate::pair::Job;

pub fn trials() -> Vec<Trial> {
    common::trials![
        every_name_means_the_same,
        names_survive,
        instances_take_it,
        what_stays_is_told,
        a_skeleton_elsewhere
    ]
}

const CLIPS: [&str; 3] = ["Rig|Walk", "Rig|Wave", "all"];

fn named(clip: &str) -> OpenOptions {
    OpenOptions {
        clips: ClipChoice::Named(clip.to_owned()),
        ..OpenOptions::default()
    }
}

/// A fixture, changed and written, and converted with all of its clips: `NAME.glb` and `NAME.usda`.
fn converted(bench: &Bench, name: &str, document: &Document) -> Result<[PathBuf; 2], Failed> {
    let glb = bench.write(&format!("{name}.glb"), document.glb());
    let all = bench.path(&format!("{name}.usda"));
    let options = OpenOptions {
        clips: ClipChoice::All,
        ..OpenOptions::default()
    };
    open_with(&glb, &options)?.save_as(&all)?;
    Ok([glb, all])
}

fn hero(bench: &Bench) -> Result<[PathBuf; 2], Failed> {
    converted(bench, "hero", &Document::fixture("clips/hero.gltf"))
}

/// Where the points of all meshes are while a clip plays, at whole frames and between them. The
/// meshes have other root prims in other files.
fn played(file: &Path, clip: &str) -> Result<Vec<Vec<DVec3>>, Failed> {
    let scene = scene(file, Some(clip))?;
    assert_eq!(scene.time_line.time_codes_per_second, 30.0);
    let mut bound: Vec<_> = scene.bound_skins().collect();
    bound.sort_by_key(|b| b.binding().path.rsplit('/').next().map(str::to_owned));
    let mut out = Vec::new();
    for bound in &bound {
        for time in (0..=30).map(|half| Time::At(0.5 * f64::from(half))) {
            let (skin, pose) = (bound.skin(time)?, bound.pose(time)?);
            out.push(deform(&skin, &pose)?.points);
        }
    }
    assert!(!out.is_empty() && out.windows(2).any(|w| w[0] != w[1]));
    Ok(out)
}

fn same(a: (&Path, &str), b: (&Path, &str)) -> Result<(), Failed> {
    let (first, second) = (played(a.0, a.1)?, played(b.0, b.1)?);
    assert_eq!(first.len(), second.len(), "{a:?}, {b:?}");
    for (at, (first, second)) in first.iter().zip(&second).enumerate() {
        for (x, y) in first.iter().zip(second) {
            assert!(
                x.distance(*y) < tolerance::CONVERTED,
                "{a:?}, {b:?}, {at}: {x} {y}"
            );
        }
    }
    Ok(())
}

/// Names, last words, globs, a prim's name and its path, in every form of USD.
fn every_name_means_the_same() -> Result<(), Failed> {
    let bench = Bench::new();
    let [glb, all] = hero(&bench)?;
    for extension in ["usda", "usdc", "usdz"] {
        let file = bench.path(&format!("copy/hero.{extension}"));
        std::fs::create_dir_all(bench.path("copy"))?;
        UsdFile::open(&all)?.save_as(&file)?;
        for clip in CLIPS {
            same((&glb, clip), (&file, clip))?;
        }
        for wave in ["Wave", "*av?", "Rig_Wave", "/hero/Animations/Rig_Wave"] {
            same((&glb, "Rig|Wave"), (&file, wave))?;
        }
    }
    same((&glb, "Wave"), (&glb, "R*ve"))?;
    // Clips that play together: where both move a joint, the first counts.
    same((&glb, "Wave+all"), (&glb, "Wave"))?;
    // Of clips of one name the second gets a number.
    let mut document = Document::fixture("clips/hero.gltf");
    for clip in 0..CLIPS.len() {
        document.set(&format!("/animations/{clip}/name"), json!("Move"));
    }
    let [moves, all] = converted(&bench, "moves", &document)?;
    for (clip, was) in ["Move", "Move_2", "Move_3"].into_iter().zip(CLIPS) {
        same((&moves, clip), (&all, clip))?;
        same((&moves, clip), (&glb, was))?;
    }
    Ok(())
}

/// To USD and back to glTF, clips keep their names and what they move, of twins too.
fn names_survive() -> Result<(), Failed> {
    let bench = Bench::new();
    for name in ["hero", "twins"] {
        let document = Document::fixture(&format!("clips/{name}.gltf"));
        let [glb, all] = converted(&bench, name, &document)?;
        let back = bench.path("back.glb");
        let file = UsdFile::open(&all)?;
        let asset = file.to_asset(&file.scene(Default::default())?, &Default::default())?;
        gltf::write_asset(asset, &back, &Default::default())?;
        let clips = |file: &Path| -> Result<Vec<String>, Failed> {
            let clips = gltf::read(file)?.clips.into_iter();
            let mut names: Vec<String> = clips.map(|c| c.name).collect();
            names.sort();
            Ok(names)
        };
        assert_eq!(clips(&back)?, clips(&glb)?);
        for clip in CLIPS {
            same((&glb, clip), (&all, clip))?;
            same((&all, clip), (&back, clip))?;
        }
    }
    // A clip of one twin leaves the other as it is, and says so.
    let told = scene(&bench.path("twins.usda"), Some("Alone"))?.warnings;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].code, "clip-elsewhere");
    assert!(told[0].to_string().contains("Ann"), "{told:?}");
    Ok(())
}

fn instances_take_it() -> Result<(), Failed> {
    let bench = Bench::new();
    let [glb, _] = hero(&bench)?;
    let set = bench.write(
        "set.usda",
        "#usda 1.0\n(\n    timeCodesPerSecond = 30\n    framesPerSecond = 30\n)\ndef Xform \"Set\" {\n    def \"Hero\" (\n        instanceable = true\n        references = @./hero.usda@\n    ) {\n    }\n}\n",
    );
    same((&glb, "Wave"), (&set, "Wave"))?;
    let file = open_with(&set, &named("Wave"))?;
    for anim_source in [AnimSource::AtSkeleton, AnimSource::AtBinding] {
        let scene = file.scene(ReadOptions { anim_source })?;
        let bound = scene.instances[0].instance.animation();
        let path = bound.map(|a| a.path.as_str());
        assert_eq!(
            path,
            Some("/Set/Hero/Animations/Rig_Wave"),
            "{anim_source:?}"
        );
    }
    Ok(())
}

/// Another clip moves no nodes above the joints.
fn what_stays_is_told() -> Result<(), Failed> {
    let bench = Bench::new();
    let mut document = Document::fixture("clips/hero.gltf");
    let above = json!({ "sampler": 0, "target": { "node": 0, "path": "rotation" } });
    document.set("/animations/0/channels/-", above);
    let [_, all] = converted(&bench, "hero", &document)?;
    assert_eq!(scene(&all, Some("Walk"))?.warnings, []);
    let told = scene(&all, Some("Wave"))?.warnings;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].code, "clip-transforms");
    assert!(told[0].to_string().contains("/hero/Rig"), "{told:?}");
    Ok(())
}

/// A SkelAnimation alone is a source with the skeleton from another file, whose joints are found by
/// their names if they have other paths.
fn a_skeleton_elsewhere() -> Result<(), Failed> {
    let bench = Bench::new();
    let assets = common::repository().join("examples/assets");
    let puppet = assets.join("puppet.glb");
    let first = Job::new(assets.join("walk.bvh"), &puppet);
    let (whole, alone) = (bench.path("whole.usda"), bench.path("alone.usda"));
    first.write(&whole)?;
    first.write_alone(&alone)?;
    let model = bench.path("model.usdc");
    sinew_io::open(&puppet)?.save_as(&model)?;
    Job::new(&alone, &puppet).refused(&["no skeleton in this file"]);
    let (_, expected) = Job::new(&whole, &puppet).run()?;
    let text = std::fs::read_to_string(&alone)?;
    let line = text.lines().find(|l| l.contains("token[] joints"));
    let line = line.ok_or("joints")?;
    let other = line
        .replace("[\"", "[\"Extra/")
        .replace(", \"", ", \"Extra/");
    let elsewhere = bench.write("elsewhere.usda", text.replace(line, &other));
    // The same beside its skeleton, which it does not drive then.
    let joints = "token[] joints = [\"";
    let text = std::fs::read_to_string(&whole)?;
    let animation = text.find("def SkelAnimation").ok_or("an animation")?;
    let (before, after) = text.split_at(animation);
    let end = after
        .find(joints)
        .and_then(|at| Some(at + after[at..].find('\n')?));
    let (own, rest) = after.split_at(end.ok_or("joints")?);
    let own = own
        .replace(joints, "token[] joints = [\"Extra/")
        .replace(", \"", ", \"Extra/");
    let beside = bench.write("beside.usda", format!("{before}{own}{rest}"));
    for (clip, model, is_renamed) in [
        (&alone, Some(&model), false),
        (&alone, Some(&puppet), false),
        (&elsewhere, Some(&model), true),
        (&beside, None, true),
    ] {
        let job = Job::new(clip, &puppet);
        let (_, moved) = job.with(|job| job.source.model = model.cloned()).run()?;
        let by_name = moved.warnings.iter().any(|w| w.code == "joints-by-name");
        assert_eq!(by_name, is_renamed, "{:?}", moved.warnings);
        let (a, b) = (&moved.animation, &expected.animation);
        let times: Vec<f64> = a.rotations.times().collect();
        assert!(times.len() > 10 && b.rotations.times().eq(times.iter().copied()));
        for time in times.into_iter().map(Time::At) {
            let [r, s] = [a, b].map(|a| a.rotations.at(time).unwrap());
            let [t, u] = [a, b].map(|a| a.translations.at(time).unwrap());
            let is_near = r.iter().zip(s.iter()).all(|(a, b)| a.abs_diff_eq(*b, NEAR))
                && t.iter().zip(u.iter()).all(|(a, b)| a.abs_diff_eq(*b, NEAR));
            assert!(is_near, "{time:?}");
        }
    }
    Ok(())
}

const NEAR: f32 = 10.0 * tolerance::READ as f32;

//! Clips are chosen by the same names in USD as in other formats, and move what they are for.
//!
//! `crates/sinew-io/tests/data/clips/hero.gltf` is a character of two joints with three clips, and `twins.gltf` two
//! of them whose joints have the same names: each clip has a side for each, and `Alone` moves Bob.
//! `crowd.gltf` is three figures with human bones, of which the third has no head.

use std::path::{Path, PathBuf};

use common::command::Bench;
use common::document::Document;
use common::trials::Trial;
use common::{tolerance, usd};
use glam::DVec3;
use libtest_mimic::Failed;
use serde_json::json;
use sinew::sampled::Time;
use sinew::scene::Scene;
use sinew::skel::AnimSource;
use sinew::skel::reference::deform;
use sinew_animate::asset::TrackTarget;
use sinew_animate::humanoid::{ApplyOptions, apply_to_all};
use sinew_bake::{Backend, BakeOptions, bake};
use sinew_io::gltf;
use sinew_io::usd::{BakeEdits, ReadOptions, UsdFile};
use sinew_io::{ClipChoice, OpenOptions, open_with};

use crate::formats::scene;
use crate::pair::Job;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("every_name_means_the_same", every_name_means_the_same),
        Trial::test("names_survive", names_survive),
        Trial::test("unclear_choices_are_refused", unclear_choices_are_refused),
        Trial::test("the_chosen_clip_is_bound", the_chosen_clip_is_bound),
        Trial::test("instances_take_it", instances_take_it),
        Trial::test("what_stays_is_told", what_stays_is_told),
        Trial::test("a_skeleton_elsewhere", a_skeleton_elsewhere),
        Trial::test("every_humanoid_moves", every_humanoid_moves),
    ]
}

const CLIPS: [&str; 3] = ["Rig|Walk", "Rig|Wave", "all"];
const SKELETON: &str = "/hero/Rig/Skeleton";

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

fn unclear_choices_are_refused() -> Result<(), Failed> {
    let bench = Bench::new();
    let [glb, all] = hero(&bench)?;
    let fails = |file: &Path, clip: &str, words: &[&str]| {
        let error = open_with(file, &named(clip)).unwrap_err().to_string();
        assert!(words.iter().all(|w| error.contains(w)), "{clip}: {error}");
    };
    for file in [&glb, &all] {
        fails(file, "Rig*", &["fits several clips", "Rig|Walk, Rig|Wave"]);
        fails(
            file,
            "Run",
            &["no clip is named 'Run'", "Rig|Walk, Rig|Wave, all"],
        );
        // The end of a word is no word.
        fails(file, "ave", &["no clip is named 'ave'"]);
    }
    // Clips of one name on one skeleton, and one that fits nothing.
    let scope = |name: &str, clip: &str, joints: &str| {
        format!(
            "def Scope \"{name}\" {{\n def SkelAnimation \"{clip}\" {{\n uniform token[] joints = [{joints}]\n }}\n}}\n"
        )
    };
    let own = r#""hips", "hips/spine""#;
    let text = std::fs::read_to_string(&all)?
        + &scope("One", "Nod", own)
        + &scope("Two", "Nod", own)
        + &scope("Three", "Lost", r#""x", "y""#);
    let more = bench.write("more.usda", text);
    fails(&more, "Nod", &["fits several clips", "/One/Nod, /Two/Nod"]);
    let lost = ["/Three/Lost fits no skeleton", "moves x, y", SKELETON];
    fails(&more, "Lost", &lost);
    Ok(())
}

/// The SkelAnimation that a file's skeleton is bound to.
fn bound_to(file: &Path) -> Vec<String> {
    let stage = usd::open(file);
    let prim = usd::prim(&stage, SKELETON);
    let source = prim.relationship("skel:animationSource");
    let targets = source.forwarded_targets();
    targets.iter().map(|t| t.as_str().to_owned()).collect()
}

/// In copies, flattened ones, and layers of a bake over the input. Every clip is there still.
fn the_chosen_clip_is_bound() -> Result<(), Failed> {
    let bench = Bench::new();
    let [_, all] = hero(&bench)?;
    assert_eq!(bound_to(&all), ["/hero/Animations/Rig_Walk"]);
    for (flat, name) in [
        (false, "a.usda"),
        (false, "b.usdz"),
        (true, "c.usda"),
        (true, "d.usdz"),
    ] {
        let out = bench.path(name);
        let file = open_with(&all, &named("Wave"))?;
        if flat {
            file.write_flattened(&out, BakeEdits::default())?;
        } else {
            file.save_as(&out)?;
        }
        assert_eq!(bound_to(&out), ["/hero/Animations/Rig_Wave"]);
        let stage = usd::open(&out);
        assert_eq!(stage.end_time_code(), Some(15.0));
        assert!(usd::times(&stage, "/hero/Animations/all", "rotations").len() > 2);
    }
    let mut options = BakeOptions::default();
    options.open = named("Wave");
    options.backend = Backend::Cpu;
    options.layer = true;
    let out = bench.path("layer.usda");
    bake(&all, &out, &options, &mut |_| {})?;
    assert_eq!(bound_to(&out), ["/hero/Animations/Rig_Wave"]);
    // Which clips there are, and what they drive and fit.
    let file = open_with(&all, &named("Wave"))?;
    let clips = file.stage_clips()?;
    for ((clip, fits), name) in clips.iter().zip(file.clip_fits(&clips)?).zip(CLIPS) {
        assert_eq!((clip.name.as_str(), fits[0].as_str()), (name, SKELETON));
        assert_eq!(clip.drives.len(), usize::from(name == "Rig|Wave"));
    }
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
    for (clip, model, is_renamed) in [
        (&alone, &model, false),
        (&alone, &puppet, false),
        (&elsewhere, &model, true),
    ] {
        let job = Job::new(clip, &puppet);
        let (_, moved) = job
            .with(|job| job.source.model = Some(model.clone()))
            .run()?;
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

/// A clip for the head moves each figure that has one, or the one that is asked for.
fn every_humanoid_moves() -> Result<(), Failed> {
    let file = common::fixture("clips/crowd.gltf");
    let model = gltf::read(&file)?;
    let options = ApplyOptions::default();
    let applied = |only| apply_to_all(&model, &model, &model.clips[0], &options, only);
    let driven = |scene: Scene| {
        let instances = scene.instances.iter();
        instances
            .filter(|s| s.instance.animation().is_some())
            .count()
    };
    let both = "humanoid skeleton 2 does not move";
    for (only, heads, unmoved, told) in [
        (None, &[3, 8][..], &[2][..], &[both][..]),
        (Some(1), &[8], &[], &[]),
    ] {
        let all = applied(only)?;
        assert_eq!(all.moved.len(), heads.len());
        assert_eq!(all.unmoved, unmoved);
        let applied = all.into_applied();
        let moved: Vec<_> = applied
            .clip
            .tracks
            .iter()
            .map(|t| t.target.clone())
            .collect();
        let heads: Vec<_> = heads.iter().map(|n| TrackTarget::Node(*n)).collect();
        assert_eq!(moved, heads);
        let warnings = &applied.report.warnings;
        assert_eq!(warnings.len(), told.len(), "{warnings:?}");
        for (warning, words) in warnings.iter().zip(told) {
            assert_eq!(warning.code, "humanoid-unmoved");
            assert!(warning.to_string().contains(words), "{warning}");
        }
        // As USD, each character that moves has a side of the clip.
        let asset = applied.into_asset(model.clone());
        let made = UsdFile::from_asset(&asset, &OpenOptions::default())?;
        assert_eq!(driven(made.scene(Default::default())?), heads.len());
    }
    let refused = applied(Some(2)).unwrap_err().to_string();
    assert!(
        refused.contains("nothing of clip \"Nod\" moves"),
        "{refused}"
    );
    // The clip in the model's own file moves both too.
    assert_eq!(driven(scene(&file, None)?), 2);
    Ok(())
}

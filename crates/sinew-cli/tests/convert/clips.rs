//! Clips are chosen by the same names in every command, and in USD as in other formats.

use std::path::Path;

use common::command::{Bench, bake, refused, sinew, stderr, stdout};
use common::gltf_maker::{GltfMaker, Shape};
use common::mannequin::{Build, Mannequin};
use common::trials::Trial;
use common::{tolerance, usd};
use glam::{DMat4, DQuat, DVec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_animate::retarget::Bone;
use sinew_io::gltf;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("usd_clips_bake_as_their_glb", usd_clips_bake_as_their_glb),
        Trial::test("twins_keep_their_own_clips", twins_keep_their_own_clips),
        Trial::test("all_is_a_name", all_is_a_name),
        Trial::test("unclear_choices_are_refused", unclear_choices_are_refused),
        Trial::test("inspect_lists_every_clip", inspect_lists_every_clip),
        Trial::test(
            "convert_binds_the_chosen_clip",
            convert_binds_the_chosen_clip,
        ),
        Trial::test("layers_bind_the_chosen_clip", layers_bind_the_chosen_clip),
        Trial::test(
            "instances_take_the_chosen_clip",
            instances_take_the_chosen_clip,
        ),
        Trial::test("what_stays_is_told", what_stays_is_told),
        Trial::test("clips_of_one_name_become_two", clips_of_one_name_become_two),
        Trial::test("a_skeleton_from_another_file", a_skeleton_from_another_file),
        Trial::test("every_humanoid_moves", every_humanoid_moves),
    ]
}

/// Keys on the frames of 30 per second, so that every clip alone has the same rate.
const TIMES: [f32; 4] = [0.0, 0.1, 0.4, 0.5];

/// A character of two joints below a node of its own, and its clips.
fn add_character(gltf: &mut GltfMaker, name: &str, at: f64) -> (usize, [usize; 2]) {
    let node = json!({ "name": name, "translation": [at, 0, 0] });
    let above = gltf.node(None, node);
    let hips = gltf.node(
        Some(above),
        json!({ "name": "hips", "translation": [0, 1, 0] }),
    );
    let spine = gltf.node(
        Some(hips),
        json!({ "name": "spine", "translation": [0, 0.5, 0] }),
    );
    let skin = gltf.skin_at_rest(&[hips, spine]);
    let x = at as f32;
    let mesh = gltf.mesh(
        "body",
        &[Shape {
            points: vec![[x, 1.0, 0.0], [x, 1.5, 0.2], [x + 0.3, 2.0, 0.0]],
            triangles: vec![0, 1, 2],
            joints: vec![[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]],
            weights: vec![[1., 0., 0., 0.], [0.5, 0.5, 0., 0.], [1., 0., 0., 0.]],
            ..Shape::default()
        }],
    );
    let body = format!("{name}_body");
    gltf.node(None, json!({ "name": body, "mesh": mesh, "skin": skin }));
    (above, [hips, spine])
}

/// Turns a node about Z to these angles in degrees, at `TIMES`.
fn turn(gltf: &mut GltfMaker, clip: usize, node: usize, angles: [f64; 4]) {
    let turns = angles.map(|a| DQuat::from_rotation_z(a.to_radians()).to_array());
    let values: Vec<f32> = turns.as_flattened().iter().map(|v| *v as f32).collect();
    let curve = gltf.curve("LINEAR", &TIMES, "VEC4", &values);
    gltf.channel(clip, curve, json!({ "node": node, "path": "rotation" }));
}

const CLIPS: [(&str, [f64; 4]); 3] = [
    ("Rig|Walk", [0.0, 20.0, -20.0, 0.0]),
    ("Rig|Wave", [10.0, 80.0, 45.0, 90.0]),
    ("all", [5.0, 5.0, -60.0, 5.0]),
];

fn character() -> GltfMaker {
    let mut gltf = GltfMaker::new();
    let (_, joints) = add_character(&mut gltf, "Rig", 0.0);
    for (name, angles) in CLIPS {
        let clip = gltf.animation(name);
        for joint in joints {
            turn(&mut gltf, clip, joint, angles);
        }
    }
    gltf
}

fn name(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// A run that must succeed.
fn run(args: &[&str]) -> String {
    let output = sinew(args);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        stderr(&output)
    );
    stderr(&output)
}

fn json_of(args: &[&str]) -> Value {
    let output = sinew(&[args, &["--json"]].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{args:?}: {}",
        stderr(&output)
    );
    serde_json::from_str(&stdout(&output)).expect("JSON")
}

/// The times and points of every mesh of a bake.
fn baked(input: &Path, clip: &str) -> Vec<(String, Vec<(f64, Vec<DVec3>)>)> {
    let out = input.with_file_name("baked.usdc");
    let output = bake(input, &out, &["--clip", clip]);
    assert_eq!(output.status.code(), Some(0), "{clip}: {}", stderr(&output));
    let stage = usd::open(&out);
    let meshes = stage.traverse(sinew_stage::Predicate::DEFAULT);
    let meshes = meshes.filter(|p| p.type_name() == "Mesh");
    let read = |prim: sinew_stage::Prim<'_>| {
        let path = prim.path().as_str().to_owned();
        let times = usd::times(&stage, &path, "points").into_iter();
        let points = |t| usd::vectors(&stage, &path, "points", Some(t)).expect("points");
        let samples = times.map(|t| (t, points(t))).collect();
        (path, samples)
    };
    let mut out: Vec<_> = meshes.map(read).collect();
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

/// The meshes have other root prims in other files.
fn same(a: &Path, b: &Path, clips: [&str; 2]) {
    let (a, b) = (baked(a, clips[0]), baked(b, clips[1]));
    assert!(!a.is_empty() && a.len() == b.len());
    for ((path, a), (_, b)) in a.iter().zip(&b) {
        assert_eq!(a.len(), b.len(), "{path}, {clips:?}");
        assert!(a.len() > 4);
        for ((time, a), (other, b)) in a.iter().zip(b) {
            assert_eq!(time, other, "{path}");
            for (a, b) in a.iter().zip(b) {
                assert!(
                    (*a - *b).length() < tolerance::CONVERTED,
                    "{path} at {time}: {a} {b}"
                );
            }
        }
    }
}

fn usd_clips_bake_as_their_glb() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    for extension in ["usda", "usdc", "usdz"] {
        let out = bench.path(&format!("hero_all.{extension}"));
        run(&["convert", name(&glb), "-o", name(&out)]);
        for (clip, _) in CLIPS {
            same(&glb, &out, [clip, clip]);
        }
        // The last words, a glob, the prim's name and its path.
        for wave in ["Wave", "*av?", "Rig_Wave", "/hero/Animations/Rig_Wave"] {
            same(&glb, &out, ["Rig|Wave", wave]);
        }
    }
    same(&glb, &glb, ["Wave", "R*ve"]);
    Ok(())
}

/// Two characters whose joints have the same names, each with its own side of a clip.
fn twins_keep_their_own_clips() -> Result<(), Failed> {
    let bench = Bench::new();
    let mut gltf = GltfMaker::new();
    // Clips list the later one first.
    let twins = [("Ann", 0.0, 1.0), ("Bob", 5.0, -0.5)];
    let twins = twins.map(|(name, at, sign)| (add_character(&mut gltf, name, at).1, sign));
    for (name, angles) in CLIPS {
        let clip = gltf.animation(name);
        for (joints, sign) in twins.iter().rev() {
            for joint in joints {
                turn(&mut gltf, clip, *joint, angles.map(|a| a * sign));
            }
        }
    }
    let alone = gltf.animation("Alone");
    for joint in twins[1].0 {
        turn(&mut gltf, alone, joint, CLIPS[1].1);
    }
    let glb = gltf.write(bench.folder.path(), "twins.glb");
    let out = bench.path("twins_all.usda");
    run(&["convert", name(&glb), "-o", name(&out)]);
    for (clip, _) in CLIPS {
        same(&glb, &out, [clip, clip]);
    }
    // A clip of one twin leaves the other as it is, and says so.
    let output = bake(&out, &bench.path("alone.usdc"), &["--clip", "Alone"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = stderr(&output);
    assert_eq!(told.matches("[clip-elsewhere]").count(), 1, "{told}");
    assert!(told.contains("Ann"), "{told}");
    Ok(())
}

/// No word stands for several clips.
fn all_is_a_name() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    let out = bench.path("out.usda");
    let clips = |more: &[&str]| -> Vec<String> {
        let report = json_of(&[&["convert", name(&glb), "-o", name(&out)], more].concat());
        let clips = report["clips"].as_array().expect("clips").iter();
        clips
            .map(|c| c["name"].as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(clips(&[]), CLIPS.map(|c| c.0));
    assert_eq!(clips(&["--clip", "all"]), ["all"]);
    same(&glb, &glb, ["all", "all"]);
    let mut gltf = GltfMaker::new();
    let (_, joints) = add_character(&mut gltf, "Rig", 0.0);
    let clip = gltf.animation("Walk");
    turn(&mut gltf, clip, joints[0], CLIPS[0].1);
    let glb = gltf.write(bench.folder.path(), "walk.glb");
    let none = bench.path("none.usda");
    let output = sinew(&["convert", name(&glb), "-o", name(&none), "--clip", "all"]);
    refused(
        &output,
        &none,
        &["no clip is named 'all'", "without --clip every clip"],
    );
    Ok(())
}

fn unclear_choices_are_refused() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    let all = bench.path("all.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    let out = bench.path("none.usdc");
    for input in [&glb, &all] {
        let fails = |clip: &str, words: &[&str]| {
            refused(&bake(input, &out, &["--clip", clip]), &out, words);
        };
        fails("Rig*", &["fits several clips", "Rig|Walk, Rig|Wave"]);
        fails(
            "Run",
            &["no clip is named 'Run'", "Rig|Walk, Rig|Wave, all"],
        );
        // The end of a word is no word.
        fails("ave", &["no clip is named 'ave'"]);
    }
    // Clips of one name on one skeleton, and one that fits nothing.
    let text = std::fs::read_to_string(&all)?;
    let joints = text.find("uniform token[] joints = ").ok_or("joints")?;
    let joints = text[joints..].lines().next().ok_or("a line")?;
    let scope = |name: &str, joints: &str| {
        format!("def Scope \"{name}\" {{\n def SkelAnimation \"Nod\" {{\n {joints}\n }}\n}}\n")
    };
    let more = [
        scope("One", joints),
        scope("Two", joints),
        scope("Three", "uniform token[] joints = [\"x\", \"y\"]").replace("Nod", "Lost"),
    ];
    let text = text + &more.concat();
    bench.write("more.usda", text);
    let fails = |clip: &str, words: &[&str]| {
        let more = bench.path("more.usda");
        refused(&bake(&more, &out, &["--clip", clip]), &out, words);
    };
    fails("Nod", &["fits several clips", "/One/Nod, /Two/Nod"]);
    fails(
        "Lost",
        &[
            "/Three/Lost fits no skeleton",
            "moves x, y",
            "/hero/Rig/Skeleton",
        ],
    );
    Ok(())
}

fn inspect_lists_every_clip() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    let all = bench.path("all.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    let listed = |more: &[&str]| -> Vec<(String, bool, bool)> {
        let report = json_of(&[&["inspect", name(&all)], more].concat());
        let list = report["animations"].as_array().expect("animations").iter();
        let is_in = |list: &Value| list[0] == "/hero/Rig/Skeleton";
        list.map(|a| {
            let clip = a["clip"].as_str().expect("a name").to_owned();
            (clip, is_in(&a["drives"]), is_in(&a["fits"]))
        })
        .collect()
    };
    let entry = |name: &str, bound: bool| (name.to_owned(), bound, !bound);
    let rest = |wave: bool| {
        [
            entry("Rig|Walk", !wave),
            entry("Rig|Wave", wave),
            entry("all", false),
        ]
    };
    assert_eq!(listed(&[]), rest(false));
    assert_eq!(listed(&["--clip", "Wave"]), rest(true));
    let text = stdout(&sinew(&["inspect", name(&all)]));
    assert!(
        text.contains("3 animations") && text.contains("clip \"Rig|Wave\""),
        "{text}"
    );
    Ok(())
}

/// The SkelAnimation that a file's skeleton is bound to.
fn bound_to(file: &Path, skeleton: &str) -> Vec<String> {
    let stage = usd::open(file);
    let prim = usd::prim(&stage, skeleton);
    let targets = prim
        .relationship("skel:animationSource")
        .forwarded_targets();
    targets.iter().map(|t| t.as_str().to_owned()).collect()
}

fn convert_binds_the_chosen_clip() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    let all = bench.path("hero_all.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    assert_eq!(
        bound_to(&all, "/hero/Rig/Skeleton"),
        ["/hero/Animations/Rig_Walk"]
    );
    for more in [&[][..], &["--flatten"]] {
        for extension in ["usda", "usdz"] {
            let out = bench.path(&format!("wave.{extension}"));
            let args = ["convert", name(&all), "-o", name(&out), "--clip", "Wave"];
            run(&[&args, more].concat());
            assert_eq!(
                bound_to(&out, "/hero/Rig/Skeleton"),
                ["/hero/Animations/Rig_Wave"]
            );
            let stage = usd::open(&out);
            assert_eq!(stage.end_time_code(), Some(15.0));
            // All clips are there still.
            assert!(usd::times(&stage, "/hero/Animations/all", "rotations").len() > 2);
        }
    }
    Ok(())
}

/// A layer over the input plays what was baked, and says so itself.
fn layers_bind_the_chosen_clip() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    let all = bench.path("all.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    let out = bench.path("layer.usda");
    let output = bake(&all, &out, &["--clip", "Wave", "--layer"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        bound_to(&out, "/hero/Rig/Skeleton"),
        ["/hero/Animations/Rig_Wave"]
    );
    Ok(())
}

fn instances_take_the_chosen_clip() -> Result<(), Failed> {
    let bench = Bench::new();
    let glb = character().write(bench.folder.path(), "hero.glb");
    let all = bench.path("hero.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    let set = bench.write(
        "set.usda",
        "#usda 1.0\n(\n    timeCodesPerSecond = 30\n    framesPerSecond = 30\n)\ndef Xform \"Set\" {\n    def \"Hero\" (\n        instanceable = true\n        references = @./hero.usda@\n    ) {\n    }\n}\n",
    );
    same(&glb, &set, ["Wave", "Wave"]);
    for source in ["skeleton", "binding"] {
        let report = json_of(&[
            "inspect",
            name(&set),
            "--clip",
            "Wave",
            "--anim-source",
            source,
        ]);
        let bound = &report["bindings"][0]["animation"];
        assert_eq!(bound, "/Set/Hero/Animations/Rig_Wave", "{source}");
    }
    Ok(())
}

/// Another clip moves no nodes above the joints.
fn what_stays_is_told() -> Result<(), Failed> {
    let bench = Bench::new();
    let mut gltf = GltfMaker::new();
    let (above, joints) = add_character(&mut gltf, "Rig", 0.0);
    for (clip, (name, angles)) in CLIPS.into_iter().enumerate() {
        let animation = gltf.animation(name);
        turn(&mut gltf, animation, joints[0], angles);
        if clip == 0 {
            turn(&mut gltf, animation, above, angles);
        }
    }
    let glb = gltf.write(bench.folder.path(), "hero.glb");
    let all = bench.path("all.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    let told = |clip: &str| {
        let output = bake(&all, &bench.path("out.usdc"), &["--clip", clip]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    assert!(!told("Walk").contains("clip-transforms"));
    let wave = told("Wave");
    assert!(
        wave.contains("[clip-transforms]") && wave.contains("/hero/Rig"),
        "{wave}"
    );
    Ok(())
}

/// The same clip twice: the second gets a number, in glTF and in USD.
fn clips_of_one_name_become_two() -> Result<(), Failed> {
    let bench = Bench::new();
    let asset = |name: &str| common::repository().join("examples/assets").join(name);
    let (puppet, bow) = (asset("puppet.glb"), asset("bow.glb"));
    let outs = ["one.glb", "two.glb"].map(|n| bench.path(n));
    run(&["humanoid", name(&puppet), name(&bow), "-o", name(&outs[0])]);
    run(&["humanoid", name(&outs[0]), name(&bow), "-o", name(&outs[1])]);
    let names = |file: &Path| -> Vec<String> {
        let asset = gltf::read(file).expect("a file");
        asset.clips.into_iter().map(|c| c.name).collect()
    };
    let (before, after) = (names(&outs[0]), names(&outs[1]));
    let bow = before.last().ok_or("a clip")?;
    assert_eq!(after.last(), Some(&format!("{bow}_2")));
    // A file that has two of one name already.
    let mut gltf = GltfMaker::new();
    let (_, joints) = add_character(&mut gltf, "Rig", 0.0);
    for (_, angles) in CLIPS {
        let clip = gltf.animation("Move");
        turn(&mut gltf, clip, joints[1], angles);
    }
    let glb = gltf.write(bench.folder.path(), "moves.glb");
    let all = bench.path("moves_all.usda");
    run(&["convert", name(&glb), "-o", name(&all)]);
    for clip in ["Move", "Move_2", "Move_3"] {
        same(&glb, &all, [clip, clip]);
    }
    Ok(())
}

/// A SkelAnimation alone is a source with the skeleton from another file.
fn a_skeleton_from_another_file() -> Result<(), Failed> {
    let bench = Bench::new();
    let asset = |name: &str| common::repository().join("examples/assets").join(name);
    let (walk, puppet) = (asset("walk.bvh"), asset("puppet.glb"));
    let (walk, puppet) = (name(&walk), name(&puppet));
    let file = |n: &str| bench.path(n);
    let (whole, alone, model) = (file("whole.usda"), file("alone.usda"), file("model.usdc"));
    run(&["retarget", walk, puppet, "-o", name(&whole), "--quiet"]);
    run(&[
        "retarget",
        walk,
        puppet,
        "-o",
        name(&alone),
        "--animation-only",
        "--quiet",
    ]);
    run(&["convert", puppet, "-o", name(&model), "--quiet"]);
    let out = file("none.usda");
    let output = sinew(&["retarget", name(&alone), puppet, "-o", name(&out)]);
    refused(
        &output,
        &out,
        &["no skeleton in this file", "--source-model"],
    );
    let expected = file("expected.usda");
    run(&[
        "retarget",
        name(&whole),
        puppet,
        "-o",
        name(&expected),
        "--quiet",
    ]);
    // The skeleton's joints under other paths are found by their names.
    let text = std::fs::read_to_string(&alone)?;
    let line = text
        .lines()
        .find(|l| l.contains("token[] joints"))
        .ok_or("joints")?;
    let moved = text.replace(
        line,
        &line
            .replace("[\"", "[\"Extra/")
            .replace(", \"", ", \"Extra/"),
    );
    let elsewhere = bench.write("elsewhere.usda", moved);
    for (clip, model, is_renamed) in [
        (&alone, name(&model), false),
        (&alone, puppet, false),
        (&elsewhere, name(&model), true),
    ] {
        let out = file("out.usda");
        let args = [
            "retarget",
            name(clip),
            puppet,
            "-o",
            name(&out),
            "--source-model",
            model,
        ];
        let told = run(&args);
        assert_eq!(told.contains("[joints-by-name]"), is_renamed, "{told}");
        let [a, b] = [&out, &expected].map(|f| usd::open(f));
        let animation = usd::prim(&a, "/puppet")
            .descendants(sinew_stage::Predicate::DEFAULT)
            .find(|p| p.type_name() == "SkelAnimation")
            .ok_or("a SkelAnimation")?;
        let path = animation.path();
        let times = usd::times(&a, path.as_str(), "rotations");
        assert!(times.len() > 10);
        for time in times {
            for name in ["rotations", "translations"] {
                let [a, b] =
                    [&a, &b].map(|stage| usd::value(stage, path.as_str(), name, Some(time)));
                let (a, b) = (usd::numbers(&a.ok_or("a")?), usd::numbers(&b.ok_or("b")?));
                for (a, b) in a.iter().zip(&b) {
                    assert!(
                        (a - b).abs() < 10.0 * tolerance::READ,
                        "{name} at {time}: {a} {b}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// Two mannequins, and a third without the bone that moves.
fn crowd() -> (GltfMaker, Vec<Mannequin>) {
    let at = |x: f64| Build {
        root: DMat4::from_translation(DVec3::new(x, 0.0, 0.0)),
        ..Build::default()
    };
    let headless = Build {
        bones: vec![Bone::Hips, Bone::Spine],
        ..at(4.0)
    };
    let mut gltf = GltfMaker::new();
    let mut made = Vec::new();
    for build in [at(0.0), at(2.0), headless] {
        let one = build.add_to(gltf);
        gltf = one.gltf.clone();
        made.push(one);
    }
    let skeletons: Vec<Value> = made.iter().map(Mannequin::humanoid_skeleton).collect();
    let value = json!({ "humanoidSkeletons": skeletons });
    gltf.extension("EXT_skeleton_humanoid", value);
    (gltf, made)
}

fn every_humanoid_moves() -> Result<(), Failed> {
    let bench = Bench::new();
    let (mut model, made) = crowd();
    let glb = model.write(bench.folder.path(), "crowd.glb");
    let nod = |gltf: &mut GltfMaker| {
        let clip = gltf.animation("Nod");
        let turns = [0.0, 0.5].map(DQuat::from_rotation_x);
        gltf.bone_channel(clip, "head", &[0.0, 1.0], &turns);
    };
    let mut clip = GltfMaker::new();
    nod(&mut clip);
    let clip = clip.write(bench.folder.path(), "nod.glb");
    let moved = |out: &Path| -> Vec<usize> {
        let asset = gltf::read(out).expect("a file");
        let clip = asset.clips.last().expect("a clip");
        let node = |t: &sinew_animate::asset::Track| match t.target {
            sinew_animate::asset::TrackTarget::Node(node) => node,
            _ => panic!("a node"),
        };
        clip.tracks.iter().map(node).collect()
    };
    let heads: Vec<usize> = made
        .iter()
        .filter_map(|m| m.nodes.get(&Bone::Head))
        .copied()
        .collect();
    assert_eq!(heads.len(), 2);
    let out = bench.path("out.glb");
    let told = run(&["humanoid", name(&glb), name(&clip), "-o", name(&out)]);
    assert_eq!(moved(&out), heads);
    assert_eq!(told.matches("[humanoid-unmoved]").count(), 1, "{told}");
    assert!(told.contains("humanoid skeleton 2 does not move"), "{told}");
    run(&[
        "humanoid",
        name(&glb),
        name(&clip),
        "-o",
        name(&out),
        "--skeleton",
        "1",
    ]);
    assert_eq!(moved(&out), heads[1..]);
    let report = json_of(&[
        "humanoid",
        name(&glb),
        name(&clip),
        "-o",
        name(&out),
        "--skeleton",
        "all",
    ]);
    let skeletons = report["skeletons"].as_array().ok_or("skeletons")?.iter();
    let skeletons: Vec<&Value> = skeletons.map(|s| &s["skeleton"]).collect();
    assert_eq!(skeletons, [0, 1]);
    assert_eq!(report["unmoved"], json!([2]));
    // As USD, both characters have a side of the clip.
    let stage = bench.path("out.usda");
    run(&["humanoid", name(&glb), name(&clip), "-o", name(&stage)]);
    let scene = sinew_io::open(&stage)?.scene(Default::default())?;
    let driven = scene
        .instances
        .iter()
        .filter(|s| s.instance.animation().is_some());
    assert_eq!(driven.count(), 2);
    // The clip in the model's own file moves both too.
    nod(&mut model);
    let own = model.write(bench.folder.path(), "own.glb");
    let scene = sinew_io::open(&own)?.scene(Default::default())?;
    let driven = scene
        .instances
        .iter()
        .filter(|s| s.instance.animation().is_some());
    assert_eq!(driven.count(), 2);
    let none = bench.path("none.glb");
    let args = ["humanoid", name(&glb), name(&clip), "-o", name(&none)];
    let wrong = sinew(&[&args[..], &["--skeleton", "2"]].concat());
    refused(&wrong, &none, &["nothing of clip \"Nod\" moves"]);
    assert_eq!(
        sinew(&[&args[..], &["--skeleton", "x"]].concat())
            .status
            .code(),
        Some(2)
    );
    Ok(())
}

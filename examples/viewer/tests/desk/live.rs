//! Motions that are dropped on a character, two characters side by side, clips that belong
//! together, and the camera that follows.

use std::path::{Path, PathBuf};

use common::bvh_maker::{Bvh, mixamo};
use common::gltf_maker::{GltfMaker, Shape, trs_node};
use common::tolerance;
use egui::{PointerButton, vec2};
use glam::{DQuat, DVec2, DVec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_io::retarget::{Request, Source, SourceRequest, Target, retarget};
use sinew_viewer::drops::Intent;
use sinew_viewer::state::Wish;

use crate::viewer::{Viewer, view};
use crate::{HATCHLING, PUPPET, Run, check, truth};

pub const TRIALS: &[(&str, Run)] = &[
    ("a_dropped_motion_is_retargeted", retargeted),
    ("joints_without_a_match_are_told_of", unmatched),
    ("two_characters_side_by_side", side_by_side),
    ("bone_and_shape_clips_are_joined", joined),
    ("the_camera_follows_and_finds", follows),
];

/// What `sinew retarget` makes of a clip and the puppet, as a USD file.
fn reference(motion: &Path, folder: &Path) -> Result<PathBuf, Failed> {
    let source = Source::open(&SourceRequest::new(motion))?;
    let mut target = Target::open(PUPPET, None, &source)?;
    let moved = retarget(&source, &target, &Request::default())?;
    let (clip, times) = (&moved.animation, &moved.time_line);
    let file = &mut target.file;
    file.set_animation(&moved.skeleton, "Animation", clip, times)?;
    let out = folder.join("reference.usdc");
    file.write(&out)?;
    let alone = folder.join("alone.usda");
    file.write_animation(&alone, "Animation", clip, times)?;
    Ok(out)
}

/// The rows of the match whose joints were found in this way.
fn rows(report: &Value, how: &str) -> Vec<(String, String)> {
    let rows = report["match"]["rows"].as_array();
    let rows = rows.into_iter().flatten().filter(|r| r["how"] == how);
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    rows.map(|r| (text(&r["source"]), text(&r["target"])))
        .collect()
}

/// Joints whose names say nothing.
fn nameless(mut bvh: Bvh) -> Bvh {
    for (i, part) in bvh.parts.iter_mut().enumerate() {
        part.name = format!("node{i}");
    }
    bvh
}

/// A field of a report is a file of this name.
fn is_file(value: &Value, name: &str) -> Result<(), Failed> {
    let is_it = value.as_str().is_some_and(|f| f.ends_with(name));
    check(is_it, || format!("{value} is not {name}"))
}

fn retargeted() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let walk = folder.path().join("walk.bvh");
    std::fs::write(&walk, mixamo("mixamorig:", 40, 7).text())?;
    let expected = reference(&walk, folder.path())?;

    let mut viewer = Viewer::open(&[PUPPET])?;
    let report = viewer.drop(&walk, Intent::Auto)?;
    is_file(&report["file"], "puppet.glb")?;
    check(report["error"].is_null(), || report.to_string())?;
    let clip = report["clip"].as_str().unwrap_or("").to_owned();
    check(clip.starts_with("walk.bvh"), || clip.clone())?;
    let plays = report["playing"] == true && report["time"].as_f64() < Some(10.0);
    check(plays, || report.to_string())?;
    // Which joint follows which is told, also of those that follow none.
    let named = rows(&report, "named");
    for (source, target) in [
        ("Hips", "hips"),
        ("LeftArm", "leftUpperArm"),
        ("RightUpLeg", "rightUpperLeg"),
    ] {
        let pair = (format!("mixamorig:{source}"), target.to_owned());
        check(named.contains(&pair), || format!("{pair:?}: {named:?}"))?;
    }
    let matched = &report["match"];
    check(rows(&report, "guessed").is_empty(), || matched.to_string())?;
    // The puppet has no fingers, which is no failure.
    let summary = "15 of 15 main bones matched";
    let is_whole = matched["main"] == json!([15, 15])
        && matched["main_missing"] == json!([])
        && matched["summary"][0] == summary;
    check(is_whole, || matched.to_string())?;
    check(viewer.has(summary), || {
        format!("no '{summary}' in the panels")
    })?;
    let thumb = "mixamorig:LeftHandThumb1";
    let missing = rows(&report, "missing");
    check(missing.contains(&(thumb.to_owned(), String::new())), || {
        format!("{missing:?}")
    })?;
    let unmatched = matched["unmatched_source"].to_string();
    check(unmatched.contains(&format!("\"{thumb}\"")), || {
        unmatched.clone()
    })?;
    let warnings = matched["warnings"].to_string();
    check(warnings.contains("\"retarget-bone-missing\""), || {
        warnings.clone()
    })?;
    // It is where the library says, in a large picture.
    viewer.keys(&["Tab"])?;
    let mut pictures = Vec::new();
    for time in [5.0, 30.0] {
        viewer.time(time);
        viewer.shows(&expected, time)?;
        pictures.push(viewer.picture()?);
    }
    let moved = pictures[1].difference(&pictures[0]);
    check(moved > 1000, || "the puppet rests".into())?;

    // The character's own clip and the dropped one stay in the list; the answer names what plays.
    let clips = json!(["Wave", clip]);
    let report = viewer.clip("Wave")?;
    let is_own = report["clip"] == "Wave" && report["match"].is_null();
    check(report["clips"] == clips && is_own, || report.to_string())?;
    let report = viewer.clip("walk.bvh")?;
    let is_back = report["clip"] == *clip && rows(&report, "named") == named;
    check(report["clips"] == clips && is_back, || report.to_string())?;

    // A clip alone, for this very character.
    viewer.drop(folder.path().join("alone.usda"), Intent::Auto)?;
    let report = viewer.clip("Animation")?;
    let is_alone = report["match"].is_object() && report["clip"] == "alone.usda: /Animation";
    check(report["error"].is_null() && is_alone, || report.to_string())?;
    viewer.time(30.0);
    viewer.shows(&expected, 30.0)?;
    // It changes on disk: the character follows.
    let other = folder.path().join("other.bvh");
    std::fs::write(&other, mixamo("", 40, 8).text())?;
    let expected = reference(&other, folder.path())?;
    viewer.until("the changed clip", |viewer| {
        viewer.time(20.0);
        viewer.shows(&expected, 20.0).map(drop)
    })
}

fn unmatched() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let odd = folder.path().join("odd.bvh");
    std::fs::write(&odd, nameless(mixamo("", 20, 3)).text())?;
    let mut viewer = Viewer::open(&[PUPPET])?;
    let report = viewer.drop(&odd, Intent::Auto)?;
    let error = report["error"].as_str().unwrap_or("");
    for word in [
        "odd.bvh",
        "no human body",
        "node12",
        "The best guess:",
        "\"hips\"",
    ] {
        check(error.contains(word), || format!("{word}: {error}"))?;
    }
    check(!error.contains("--"), || {
        format!("options of a command: {error}")
    })?;
    // What was shown stays, until the guess is taken.
    check(report["clip"] == "Wave", || report.to_string())?;
    let guess = "Play it by the best guess";
    check(report["offer"]["choices"][0] == guess, || {
        report.to_string()
    })?;
    check(viewer.texts().contains(guess), || viewer.texts())?;
    // Opened in place of the puppet, it is not offered to be opened again.
    let report = viewer.drop(&odd, Intent::Open)?;
    let choices = &report["offer"]["choices"];
    let offers = choices[0] == "Play its clip on puppet.glb by the best guess"
        && choices[1] == "Show puppet.glb beside it";
    check(offers, || report.to_string())?;
    // Nothing can be read of this one; the other offer is gone with the drop.
    let notes = folder.path().join("notes.md");
    std::fs::write(&notes, "# notes")?;
    let report = viewer.drop(&notes, Intent::Auto)?;
    let told = report["error"].as_str().unwrap_or("");
    let lists = told.contains("notes.md is no 3D file") && told.contains(".usda");
    check(lists && told.ends_with('.'), || told.to_owned())?;
    check(report["offer"].is_null(), || report.to_string())?;
    viewer.drop(PUPPET, Intent::Open)?;
    viewer.drop(&odd, Intent::Auto)?;
    let report = viewer.choose(1)?;
    let is_well = report["error"].is_null() && report["offer"].is_null();
    check(is_well, || report.to_string())?;
    let is_guess = rows(&report, "guessed").len() > 10 && rows(&report, "named").is_empty();
    check(is_guess, || report["match"].to_string())?;
    let codes = report["match"]["warnings"].to_string();
    check(codes.contains("retarget-guess"), || codes.clone())?;
    // A motion for nobody is opened, as ever.
    let report = viewer.drop(&odd, Intent::Open)?;
    check(report["points"] == 0 && report["match"].is_null(), || {
        report.to_string()
    })
}

fn side_by_side() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[PUPPET, HATCHLING])?;
    viewer.keys(&["Tab"])?;
    viewer.time(12.0);
    let report = viewer.report();
    let beside = &report["beside"];
    is_file(&beside["file"], "hatchling.usda")?;
    let (main, right) = (viewer.state().viewport, viewer.state().viewport_beside);
    let is_right = right[0] >= main[0] + main[2] && right[2..] == main[2..];
    check(is_right, || format!("{main:?} {right:?}"))?;
    // Both show the same second: 24 codes a second, from 0 and from 1.
    check(beside["time"] == 13.0, || beside.to_string())?;
    viewer.state().look.grid = false;
    let with = viewer.picture()?;
    viewer.state().look.surface = false;
    let without = viewer.picture()?;
    viewer.state().look.surface = true;
    let [x, width, height] = [right[0] - main[0], main[2], main[3]];
    for (x, file, time, report) in [
        (0, PUPPET, 12.0, &report),
        (x, HATCHLING, 13.0, &report["beside"]),
    ] {
        let half = |picture: &image::RgbaImage| {
            image::imageops::crop_imm(picture, x, 0, width, height).to_image()
        };
        let found = truth::differs(&half(&with.image), &half(&without.image));
        let triangles = truth::triangles(file, time)?;
        let expected = truth::silhouette(&triangles, view(report), [width, height]);
        let overlap = truth::overlap(&expected, &found);
        check(overlap > tolerance::SILHOUETTE_OVERLAP, || {
            format!("{file}: silhouettes overlap by {overlap}")
        })?;
    }
    // Both cameras turn together.
    viewer.keys(&["Left"])?;
    let turned = viewer.report()["beside"]["clip_from_world"] != beside["clip_from_world"];
    check(turned, || "one camera stays".into())?;

    // Its own time: the hatchling's clip is longer.
    viewer
        .state()
        .beside
        .as_mut()
        .ok_or("no second one")?
        .together = false;
    viewer.keys(&["Space"])?;
    std::thread::sleep(std::time::Duration::from_millis(400));
    viewer.keys(&["Space"])?;
    let report = viewer.report();
    let [a, b] = [&report["time"], &report["beside"]["time"]].map(Value::as_f64);
    let apart = b
        .zip(a)
        .is_some_and(|(b, a)| (b - a - 1.0).abs() > 1e-6 || b > 13.0);
    check(apart, || report.to_string())?;
    viewer.state().wishes.push(Wish::Alone);
    viewer.settle()?;
    let alone = viewer.report()["beside"].is_null() && viewer.state().viewport[2] > width;
    check(alone, || viewer.report().to_string())?;

    // A dropped character is opened, and what else it may have meant is offered.
    let report = viewer.drop(HATCHLING, Intent::Auto)?;
    is_file(&report["file"], "hatchling.usda")?;
    let choices = report["offer"]["choices"].as_array().map(Vec::len);
    check(choices == Some(3), || report.to_string())?;
    is_file(&viewer.choose(3)?["beside"]["file"], "puppet.glb")?;
    // Another character takes the place of both.
    viewer.drop(PUPPET, Intent::Auto)?;
    let report = viewer.choose(2)?;
    is_file(&report["file"], "puppet.glb")?;
    let is_alone = report["beside"].is_null() && !rows(&report, "named").is_empty();
    check(is_alone, || report.to_string())?;
    check(viewer.choose(1).is_err(), || {
        "a choice is still offered".into()
    })
}

/// A bone of two boxes with a shape, and clips as Blender exports them.
fn blender(folder: &Path) -> PathBuf {
    let mut gltf = GltfMaker::new();
    let still = (DQuat::IDENTITY, DVec3::ONE);
    let root = gltf.node(None, trs_node("root", DVec3::ZERO, still.0, still.1));
    let tip = gltf.node(Some(root), trs_node("tip", DVec3::Y, still.0, still.1));
    let skin = gltf.skin_at_rest(&[root, tip]);
    let corners = [
        [-0.3, 0.0],
        [0.3, 0.0],
        [0.3, 1.0],
        [-0.3, 1.0],
        [0.3, 2.0],
        [-0.3, 2.0],
    ];
    let count = corners.len();
    let mesh = gltf.mesh(
        "Body",
        &[Shape {
            points: corners.map(|[x, y]| [x, y, 0.0]).to_vec(),
            triangles: vec![0, 1, 2, 0, 2, 3, 3, 2, 4, 3, 4, 5],
            joints: (0..count).map(|i| [u16::from(i > 3), 0, 0, 0]).collect(),
            weights: vec![[1.0, 0.0, 0.0, 0.0]; count],
            targets: vec![(
                "wide".into(),
                corners.map(|[x, _]| [x * 3.0, 0.0, 0.0]).to_vec(),
            )],
            ..Shape::default()
        }],
    );
    // Readers have something to say about it, which both the scene and its pictures repeat.
    let coat = json!({"clearcoatFactor": 0.5, "clearcoatNormalTexture": {"index": 0}});
    gltf.use_extension("KHR_materials_clearcoat");
    let extensions = json!({"KHR_materials_clearcoat": coat});
    let material = gltf.push("materials", json!({"extensions": extensions}));
    gltf.json["meshes"][mesh]["primitives"][0]["material"] = json!(material);
    let body = gltf.node(None, json!({"name": "Body", "mesh": mesh, "skin": skin}));
    let times = [0.0f32, 1.0];
    let turn = |angle: f64| DQuat::from_rotation_z(angle).to_array().map(|v| v as f32);
    for (name, angle) in [("Bend", 1.2), ("Lean", -0.6)] {
        let clip = gltf.animation(name);
        let values = [turn(0.0), turn(angle)].concat();
        let curve = gltf.curve("LINEAR", &times, "VEC4", &values);
        gltf.channel(clip, curve, json!({"node": tip, "path": "rotation"}));
    }
    let clip = gltf.animation("BendShapes");
    let curve = gltf.curve("LINEAR", &times, "SCALAR", &[0.0, 1.0]);
    gltf.channel(clip, curve, json!({"node": body, "path": "weights"}));
    gltf.write(folder, "blender.glb")
}

/// The same as one Skeleton with two SkelAnimations, of which one is bound.
const TWO_CLIPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/desk/two_clips.usda");

fn joined() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let glb = blender(folder.path());
    let mut viewer = Viewer::open(&[&glb.display().to_string()])?;
    let report = viewer.report();
    let clips = json!(["Bend + BendShapes", "Bend", "Lean", "BendShapes"]);
    let are_joined = report["clips"] == clips && report["clip"] == clips[0];
    check(are_joined, || report.to_string())?;
    // Each message once, and as bad as `sinew check` says.
    let checked = sinew_check::check_file(&glb, &sinew_check::CheckOptions::default())?;
    let mut ignored = checked.of("gltf-material-ignored");
    let (Some(finding), None) = (ignored.next(), ignored.next()) else {
        return Err("one finding about the clear coat".into());
    };
    let messages = report["messages"].as_array().into_iter().flatten();
    let found: Vec<&Value> = messages.filter(|m| m["code"] == finding.code).collect();
    let is_once = found.len() == 1 && found[0]["severity"] == finding.severity.name();
    check(is_once, || report["messages"].to_string())?;
    let mut pictures = Vec::new();
    for (clip, weight) in [
        ("Bend + BendShapes", 1.0),
        ("Bend", 0.0),
        ("BendShapes", 1.0),
    ] {
        viewer.clip(clip)?;
        viewer.keys(&["End"])?;
        let picture = viewer.picture()?;
        let shape = &picture.report["weights"]["wide"];
        check(*shape == weight, || format!("{clip}: {shape}"))?;
        pictures.push(picture);
    }
    // Bones and shapes at once is neither of them alone.
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let changed = pictures[a].difference(&pictures[b]);
        check(changed > 1000, || format!("{a} and {b}: {changed} pixels"))?;
    }
    check(viewer.clip("Be").is_err(), || {
        "several clips are meant".into()
    })?;

    // In a USD file too: the shapes that belong to the bound clip play with it.
    let report = viewer.drop(TWO_CLIPS, Intent::Open)?;
    check(report["error"].is_null(), || report.to_string())?;
    for (clip, weight) in [("/Root/Bend + /Root/BendShapes", 0.5), ("/Root/Bend", 0.0)] {
        viewer.time(12.0);
        let report = viewer.report();
        let plays = report["clip"] == clip && report["weights"]["wide"] == weight;
        check(plays, || report.to_string())?;
        viewer.clip("/Root/Bend")?;
    }
    Ok(())
}

/// The root's pixel, from the middle of the picture, in picture widths.
fn off_middle(report: &Value) -> Option<f64> {
    let at = &report["follow"]["root"];
    let part = |i: usize| {
        let (first, size) = (
            report["viewport"][i].as_f64()?,
            report["viewport"][i + 2].as_f64()?,
        );
        Some((at[i].as_f64()? - first) / size - 0.5)
    };
    Some(DVec2::new(part(0)?, part(1)?).length())
}

fn follows() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    // 3 cm a frame for 300 frames: five times its height.
    let far = folder.path().join("far.bvh");
    std::fs::write(&far, mixamo("", 300, 5).text())?;
    let mut viewer = Viewer::open(&[PUPPET])?;
    check(viewer.state().follow.walk.is_none(), || {
        "a clip on the spot".into()
    })?;
    let report = viewer.drop(&far, Intent::Auto)?;
    let follow = &report["follow"];
    check(follow["on"] == true && follow["joint"] == "hips", || {
        report.to_string()
    })?;
    let in_middle = |report: &Value| {
        let off = off_middle(report);
        check(off.is_some_and(|o| o < 0.15), || {
            format!("{off:?}: {report}")
        })
    };
    let reframed =
        |report: &Value, times: u64| check(report["reframed"] == times, || report.to_string());
    // Turned by the user, the camera goes along all the same.
    viewer.time(0.0);
    viewer.keys(&["Left"])?;
    let near = view(&viewer.report());
    for time in [100.0, 299.0] {
        viewer.time(time);
        let report = viewer.report();
        in_middle(&report)?;
        reframed(&report, 0)?;
        // The same distance and direction: only the place is another.
        let now = view(&report);
        let turned = (0..3).map(|i| (near.col(i) - now.col(i)).abs().max_element());
        check(turned.fold(0.0, f64::max) < 1e-9, || {
            "the camera turned".into()
        })?;
        let walked = (near.col(3) - now.col(3)).length();
        check(walked > 0.5, || "the camera stays".into())?;
    }
    // Not followed, the model leaves the picture, and is found again once it is out of it.
    viewer.time(0.0);
    viewer.keys(&["a"])?;
    viewer.time(5.0);
    reframed(&viewer.report(), 0)?;
    viewer.time(299.0);
    let found = viewer.report();
    reframed(&found, 1)?;
    in_middle(&found)?;
    // The user may push it out of the picture; when the pointer lets go, it is found again.
    let middle = viewer.middle();
    viewer.drag(middle, vec2(1500.0, 0.0), PointerButton::Secondary);
    let back = viewer.report();
    reframed(&back, 2)?;
    in_middle(&back)?;
    let apart = (view(&back) - view(&found)).to_cols_array();
    check(apart.iter().all(|d| d.abs() < 1e-9), || {
        "another view".into()
    })?;
    // Half out of the picture is where the user wants it.
    viewer.drag(middle, vec2(350.0, 0.0), PointerButton::Secondary);
    reframed(&viewer.report(), 2)
}

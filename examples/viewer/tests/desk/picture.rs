//! The picture: what keys, mouse and settings change in it.

use std::collections::BTreeMap;
use std::path::Path;

use common::tolerance;
use egui::{PointerButton, pos2, vec2};
use libtest_mimic::Failed;
use sinew::skel::SkinningMethod;
use sinew_render::{Background, Light};
use sinew_viewer::drops::Intent;
use sinew_viewer::panels::scene;

use crate::viewer::{Picture, Viewer};
use crate::{HATCHLING, PUPPET, Run, check, truth};

pub const TRIALS: &[(&str, Run)] = &[
    ("characters_are_where_the_reference_says", silhouettes),
    ("keys_show_what_they_name", keys),
    ("mouse_moves_the_camera", mouse),
    ("gpu_and_cpu_agree", backends),
    ("shapes_and_time", shapes),
    ("clips_of_a_stage", clips),
    ("light_background_and_ground", scene),
    ("weights_start_at_the_strongest_joint", weights),
    ("a_saved_picture_can_be_transparent", save),
];

/// What the surfaces cover is what the reference's triangles cover, at both times and at no other.
fn silhouettes() -> Result<(), Failed> {
    for (file, times) in [(HATCHLING, [1.0, 31.0]), (PUPPET, [0.0, 20.0])] {
        let mut viewer = Viewer::open(&[file])?;
        let mut seen = Vec::new();
        for time in times {
            viewer.time(time);
            let picture = viewer.picture()?;
            let report = &picture.report;
            check(report["time"] == time && report["error"].is_null(), || {
                report.to_string()
            })?;
            let [expected, found] = viewer.shows(Path::new(file), time)?;
            let covered = found.iter().filter(|c| **c).count() as f64 / found.len() as f64;
            check(covered > 0.03, || {
                format!("{covered} of the picture is covered")
            })?;
            seen.push((picture, expected, found));
        }
        // The comparison tells one time from another.
        let crossed = truth::overlap(&seen[0].1, &seen[1].2);
        check(crossed < tolerance::SILHOUETTE_OVERLAP, || {
            format!("other times overlap by {crossed}")
        })?;
        let changed = seen[0].0.difference(&seen[1].0);
        check(changed > 1000, || {
            format!("{changed} pixels change with time")
        })?;
    }
    Ok(())
}

/// Each key changes the picture, and changes it back.
fn keys() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[HATCHLING])?;
    viewer.time(12.0);
    viewer.joint("head")?;
    let plain = viewer.picture()?;
    for key in ["j", "h", "w", "v", "b", "g", "s", "Tab"] {
        viewer.keys(&[key])?;
        let changed = viewer.picture()?.difference(&plain);
        check(changed > 300, || format!("{key}: {changed} pixels changed"))?;
        viewer.keys(&[key])?;
        let left = viewer.picture()?.difference(&plain);
        check(left < 50, || format!("{key}: does not go away"))?;
    }
    // These write over the picture. The joints' panel names joints too.
    viewer.keys(&["Tab"])?;
    for (key, text) in [("n", "head"), ("?", "orbit"), ("i", "skinning")] {
        let has = |viewer: &Viewer| viewer.texts().lines().any(|l| l == text);
        check(!has(&viewer), || format!("{key}: {text} is there already"))?;
        viewer.keys(&[key])?;
        check(has(&viewer), || format!("{key}: {}", viewer.texts()))?;
        viewer.keys(&[key])?;
        check(!has(&viewer), || format!("{key}: does not go away"))?;
    }
    Ok(())
}

fn mouse() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[PUPPET])?;
    viewer.time(0.0);
    let home = viewer.picture()?;
    let middle = viewer.middle();
    type Step = (&'static str, Box<dyn Fn(&mut Viewer) -> Result<(), Failed>>);
    let drag = |by, button| {
        move |v: &mut Viewer| {
            v.drag(middle, by, button);
            Ok(())
        }
    };
    let steps: [Step; 5] = [
        (
            "orbit",
            Box::new(drag(vec2(120.0, 20.0), PointerButton::Primary)),
        ),
        (
            "pan",
            Box::new(drag(vec2(60.0, -40.0), PointerButton::Secondary)),
        ),
        (
            "zoom",
            Box::new(|v| {
                v.scroll(-200.0);
                Ok(())
            }),
        ),
        ("orbit by key", Box::new(|v| v.keys(&["Left"]))),
        ("from above", Box::new(|v| v.keys(&["7"]))),
    ];
    for (name, step) in steps {
        let before = viewer.report()["clip_from_world"].clone();
        step(&mut viewer)?;
        let picture = viewer.picture()?;
        let moved = picture.report["clip_from_world"] != before;
        check(moved, || format!("{name}: the camera stays"))?;
        let changed = picture.difference(&home);
        check(changed > 1000, || format!("{name}: the picture stays"))?;
    }
    // A click chooses the joint below it.
    viewer.keys(&["1", "f", "j"])?;
    viewer.joint("leftHand")?;
    let at = viewer.report()["joint_at"].clone();
    let at = [0, 1].map(|i| at[i].as_f64().unwrap_or(f64::NAN) as f32);
    viewer.keys(&["Escape"])?;
    check(viewer.report()["joint"].is_null(), || {
        viewer.report().to_string()
    })?;
    viewer.click(pos2(at[0], at[1]));
    check(viewer.report()["joint"] == "leftHand", || {
        viewer.report().to_string()
    })?;
    viewer.keys(&["Escape", "j"])?;
    // Panels take their clicks: the button at the right of the bar, and the timeline.
    let size = viewer.size();
    viewer.click(pos2(size.x - 20.0, 17.0));
    check(viewer.report()["help"] == true, || {
        viewer.report().to_string()
    })?;
    viewer.keys(&["Escape"])?;
    viewer.click(pos2(size.x * 0.6, size.y - 24.0));
    let time = viewer.report()["time"].as_f64();
    check(time > Some(5.0), || viewer.report().to_string())?;

    // Frame all brings everything back into the picture.
    viewer.time(0.0);
    viewer.scroll(2000.0);
    viewer.keys(&["f"])?;
    let [_, found] = viewer.shows(Path::new(PUPPET), 0.0)?;
    let (width, height) = viewer.picture()?.image.dimensions();
    let inside = |i: usize| {
        let (x, y) = (i as u32 % width, i as u32 / width);
        x > 2 && y > 2 && x < width - 3 && y < height - 3
    };
    let out = (0..found.len())
        .filter(|i| found[*i] && !inside(*i))
        .count();
    check(out == 0, || format!("{out} pixels at the picture's edge"))
}

fn backends() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[HATCHLING])?;
    viewer.time(20.0);
    let by_gpu = viewer.picture()?;
    viewer.keys(&["p"])?;
    let by_cpu = viewer.picture()?;
    check(by_cpu.report["backend"] == "Cpu", || {
        by_cpu.report.to_string()
    })?;
    check(by_cpu.difference(&by_gpu) < 50, || {
        "the CPU's picture is another".into()
    })?;
    for time in [3.0, 28.0] {
        viewer.time(time);
        viewer.keys(&["d"])?;
        let report = viewer.report();
        // Of a character of about a unit's size.
        let difference = report["difference"].as_f64();
        let agree = difference.is_some_and(|d| d < tolerance::MIRROR_POINTS * 4.0);
        check(agree, || report.to_string())?;
        viewer.keys(&["d"])?;
    }
    viewer.state().control.method = Some(SkinningMethod::DualQuaternion);
    let dual = viewer.picture()?;
    check(dual.report["method"] == "dualQuaternion", || {
        dual.report.to_string()
    })?;
    viewer.state().control.method = Some(SkinningMethod::ClassicLinear);
    let changed = dual.difference(&viewer.picture()?);
    check(changed > 50, || "both methods look the same".into())
}

fn shapes() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[HATCHLING])?;
    viewer.time(1.0);
    let before = viewer.picture()?;
    let shape = before.report["shapes"][0]
        .as_str()
        .ok_or("no shapes")?
        .to_owned();
    viewer.state().control.weights.insert(shape.clone(), 1.5);
    let changed = viewer.picture()?.difference(&before);
    check(changed > 20, || format!("{shape} changes nothing"))?;

    // Time goes on by itself.
    viewer.keys(&["Space"])?;
    std::thread::sleep(std::time::Duration::from_millis(300));
    let report = viewer.report();
    let went = report["playing"] == true && report["time"].as_f64() > Some(1.0);
    check(went, || report.to_string())?;
    viewer.keys(&["Space", "End", "."])?;
    let report = viewer.report();
    check(report["time"] == report["range"][0], || report.to_string())
}

/// A stage with two animations: either can be played.
fn clips() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("two.usda");
    let turned = "#usda 1.0\n(\n    subLayers = [@ASSET@]\n)\ndef SkelAnimation \"Turned\"\n{\n    \
                  uniform token[] joints = [\"JOINT\"]\n    float3[] translations = [(0, 0, 0)]\n    \
                  quatf[] rotations = [(0.7071068, 0, 0.7071068, 0)]\n    half3[] scales = [(1, 1, 1)]\n}\n";
    let scene = sinew_io::open(HATCHLING)?.scene(Default::default())?;
    let root = &scene.instances[0].instance.skeleton().joints()[0];
    std::fs::write(
        &file,
        turned.replace("ASSET", HATCHLING).replace("JOINT", root),
    )?;
    let mut viewer = Viewer::open(&[&file.display().to_string()])?;
    let mut pictures = BTreeMap::new();
    // The bound one by its name, and the way back: only the name in the list differs.
    for name in [
        "as the file says",
        "/Turned",
        "/Hatchling/Rig/Dance",
        "as the file says",
    ] {
        let report = viewer.clip(name)?;
        let count = report["clips"].as_array().map(Vec::len);
        check(report["clip"] == name && count == Some(3), || {
            report.to_string()
        })?;
        viewer.time(12.0);
        pictures.insert(name, viewer.picture()?);
    }
    let bound = &pictures["as the file says"];
    check(pictures["/Turned"].difference(bound) > 1000, || {
        "the other clip looks the same".into()
    })?;
    let named = pictures["/Hatchling/Rig/Dance"].difference(bound);
    check(named < 1000, || "the way back leads elsewhere".into())?;
    check(viewer.clip("/None").is_err(), || {
        "a clip that is not there".into()
    })?;

    // A clip without a character shows its joints.
    let walk = common::repository().join("examples/assets/walk.bvh");
    let report = viewer.drop(walk, Intent::Open)?;
    check(report["error"].is_null() && report["points"] == 0, || {
        report.to_string()
    })?;
    viewer.time(3.0);
    let joints = viewer.picture()?;
    viewer.keys(&["j"])?;
    let changed = joints.difference(&viewer.picture()?);
    check(changed > 300, || "no joints in the picture".into())
}

const CORNER: [f32; 4] = [0.0, 0.0, 0.1, 0.1];
const LEFT: [f32; 4] = [0.3, 0.3, 0.5, 0.7];
const RIGHT: [f32; 4] = [0.5, 0.3, 0.7, 0.7];
const MIDDLE: [f32; 4] = [0.3, 0.3, 0.7, 0.7];

fn scene() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[HATCHLING])?;
    viewer.time(5.0);
    viewer.keys(&["1", "f"])?;
    let plain = viewer.picture()?;
    for (name, range) in [
        ("White", 250.0..256.0),
        ("Dark", 0.0..60.0),
        ("Grey", 60.0..180.0),
    ] {
        viewer.press(name)?;
        let corner = viewer.picture()?.brightness(CORNER);
        check(range.contains(&corner), || format!("{name}: {corner}"))?;
    }
    viewer.state().look.background = scene::background_of("#204060").ok_or("no colour")?;
    let pixel = viewer.picture()?.image.get_pixel(3, 3).0;
    check(pixel[..3] == [0x20, 0x40, 0x60], || format!("{pixel:?}"))?;
    viewer.state().look.background = Background::GREY;

    // The ground: lines and shadow, shadow, nothing.
    let grid = viewer.picture()?;
    viewer.press("Shadow")?;
    let shadow = viewer.picture()?;
    scene::Ground::Off.apply(viewer.state());
    let off = viewer.picture()?;
    let (lines, dark) = (grid.difference(&shadow), shadow.difference(&off));
    check(lines > 2000 && dark > 500, || {
        format!("{lines} and {dark} pixels")
    })?;
    viewer.press("Grid")?;
    let back = viewer.picture()?.difference(&plain);
    check(back < 50, || "the ground does not come back".into())?;

    // Lights from the other side, brighter, and none.
    let mut lit = |turn: f64, intensity: f64| {
        viewer.state().look.light = Light {
            turn: turn.to_radians(),
            intensity,
            follows_camera: true,
        };
        viewer.picture()
    };
    let usual = lit(0.0, 1.0)?;
    let side = |picture: &Picture| picture.brightness(LEFT) - picture.brightness(RIGHT);
    let sides = [side(&usual), side(&lit(90.0, 1.0)?)];
    check(sides[0] > sides[1] + 5.0, || format!("{sides:?}"))?;
    let usual = usual.brightness(MIDDLE);
    let [bright, none] = [lit(0.0, 2.0)?, lit(0.0, 0.0)?].map(|p| p.brightness(MIDDLE));
    let ordered = bright > usual + 5.0 && none < usual - 20.0;
    check(ordered, || format!("{bright} {usual} {none}"))?;

    // Lights of the camera show its side as bright from behind; those of the world stay in front.
    lit(0.0, 1.0)?;
    let middle = viewer.middle();
    for _ in 0..2 {
        viewer.drag(middle, vec2(290.0, 0.0), PointerButton::Primary);
    }
    let with_camera = viewer.picture()?.brightness(MIDDLE);
    viewer.press("World")?;
    let in_world = viewer.picture()?.brightness(MIDDLE);
    check((with_camera - in_world).abs() > 3.0, || {
        format!("{with_camera} {in_world}")
    })
}

/// Name of the joint with the largest sum of weights, by another way: the file's influences, point by point.
fn strongest() -> Result<String, Failed> {
    let file = sinew_io::open(HATCHLING)?;
    let scene = file.scene(Default::default())?;
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for binding in &scene.bindings {
        let instance = &scene.instances[binding.instance].instance;
        let time = sinew::sampled::Time::Default;
        let count = binding.points.first().map_or(0, |p| p.len());
        let Some(influences) = binding.influences_at(instance, time, count)? else {
            continue;
        };
        let map = binding.joint_map(instance);
        let constant = influences.interpolation() == sinew::skel::InfluenceInterpolation::Constant;
        for point in 0..count {
            for (own, weight) in influences.of_point(if constant { 0 } else { point }) {
                let joint = map.as_ref().map_or(Some(own), |m| m[own as usize]);
                let path = joint.map(|j| instance.skeleton().joints()[j as usize].clone());
                *sums.entry(path.unwrap_or_default()).or_default() += f64::from(weight);
            }
        }
    }
    let strongest = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (path, _) = strongest.ok_or("no weights")?;
    Ok(path.rsplit('/').next().unwrap_or_default().to_owned())
}

fn weights() -> Result<(), Failed> {
    let mut viewer = Viewer::open(&[HATCHLING])?;
    viewer.time(5.0);
    let plain = viewer.picture()?;
    viewer.press("Weights")?;
    let shown = viewer.picture()?;
    let report = &shown.report;
    let is_strongest = report["joint"] == strongest()?.as_str() && report["heat"] == true;
    check(is_strongest, || report.to_string())?;
    check(shown.difference(&plain) > 5000, || "no colours".into())?;
    // More than the colour of no weight is seen.
    let yellow = |p: &&image::Rgba<u8>| p.0[0] > 150 && p.0[1] > 130 && p.0[2] < 90;
    let count = shown.image.pixels().filter(yellow).count();
    check(count > 300, || "nothing has much weight".into())
}

fn save() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.png");
    let mut viewer = Viewer::open(&[HATCHLING])?;
    viewer.time(5.0);
    viewer.press("Save without background")?;
    scene::Ground::Off.apply(viewer.state());
    viewer.desk().save_picture(&file)?;
    let notice = viewer.report()["notice"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    check(
        notice.contains("a.png") && viewer.texts().contains(&notice),
        || viewer.texts(),
    )?;
    let clear = image::open(&file)?.to_rgba8();
    let count = |alpha: u8| clear.pixels().filter(|p| p.0[3] == alpha).count();
    check(count(0) > 10_000 && count(255) > 10_000, || {
        format!("{} {}", count(0), count(255))
    })?;
    // What cannot be written is an error.
    let refused = viewer
        .desk()
        .save_picture(Path::new("no/such/folder/a.png"));
    let named = refused
        .as_ref()
        .is_err_and(|e| e.contains("no/such/folder"));
    check(named, || format!("{refused:?}"))
}

//! Motions that are dropped on a character, two characters side by side, clips that belong
//! together, and the camera that follows.

use std::path::{Path, PathBuf};

use common::bvh_maker::{Bvh, mixamo};
use common::gltf_maker::{GltfMaker, Shape, trs_node};
use common::tolerance;
use glam::{DMat4, DQuat, DVec2, DVec3};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sinew_io::retarget::{Request, Source, SourceRequest, Target, retarget};

use super::window::{Display, Shot, Viewer};
use super::{HATCHLING, PUPPET, check, truth};

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

/// The surfaces of the main picture are where a file's triangles are at a time.
fn shows(viewer: &mut Viewer, file: &Path, time: f64, name: &str) -> Result<Shot, Failed> {
    viewer.steps(&[&format!("time {time}"), "key g"])?;
    let with = viewer.shot(name)?;
    viewer.steps(&["key s"])?;
    let found = with.differs(&viewer.shot("live-empty")?);
    viewer.steps(&["key s", "key g"])?;
    let triangles = truth::triangles(&file.display().to_string(), time)?;
    let overlap = truth::overlap(&truth::silhouette(&triangles, &with), &found);
    check(overlap > tolerance::SILHOUETTE_OVERLAP, || {
        format!("{name}: silhouettes overlap by {overlap}")
    })?;
    Ok(with)
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

pub fn retargeted(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let walk = folder.path().join("walk.bvh");
    std::fs::write(&walk, mixamo("mixamorig:", 40, 7).text())?;
    let expected = reference(&walk, folder.path())?;

    let mut viewer = Viewer::start(display, &[PUPPET])?;
    // A large picture.
    viewer.steps(&["settle", "key Tab"])?;
    let report = viewer
        .steps_at_once(&[&format!("drop {}", walk.display()), "settle"])?
        .clone();
    let is_puppet = report["file"]
        .as_str()
        .is_some_and(|f| f.ends_with("puppet.glb"));
    check(is_puppet && report["error"].is_null(), || {
        report.to_string()
    })?;
    let clip = report["clip"].as_str().unwrap_or("").to_owned();
    check(clip.starts_with("walk.bvh"), || clip.clone())?;
    check(
        report["playing"] == true && report["time"].as_f64() < Some(10.0),
        || report.to_string(),
    )?;
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
    check(rows(&report, "guessed").is_empty(), || {
        report["match"].to_string()
    })?;
    // The puppet has no fingers, which is no failure.
    let lacks = &report["match"];
    check(
        lacks["main"] == json!([15, 15])
            && lacks["main_missing"] == json!([])
            && lacks["summary"][0] == "15 of 15 main bones matched",
        || lacks.to_string(),
    )?;
    let missing = rows(&report, "missing");
    let thumb = ("mixamorig:LeftHandThumb1".to_owned(), String::new());
    check(missing.contains(&thumb), || format!("{missing:?}"))?;
    let has = |list: &str, name: &str| {
        let list = report["match"][list].as_array();
        list.is_some_and(|l| l.iter().any(|n| n == name))
    };
    check(has("unmatched_source", "mixamorig:LeftHandThumb1"), || {
        report["match"].to_string()
    })?;
    let codes: Vec<&Value> = report["match"]["warnings"]
        .as_array()
        .map_or_else(Vec::new, |w| w.iter().map(|w| &w["code"]).collect());
    check(codes.contains(&&json!("retarget-bone-missing")), || {
        format!("{codes:?}")
    })?;
    // It is where the library says.
    let first = shows(&mut viewer, &expected, 5.0, "live-retargeted")?;
    let later = shows(&mut viewer, &expected, 30.0, "live-retargeted-later")?;
    check(later.difference(&first) > 1000, || {
        "the puppet rests".into()
    })?;

    // The character's own clip and the dropped one stay in the list; the answer names what plays.
    let report = viewer.steps(&["clip Wave"])?.clone();
    let clips = json!(["Wave", clip]);
    check(
        report["clips"] == clips && report["clip"] == "Wave" && report["match"].is_null(),
        || report.to_string(),
    )?;
    let report = viewer.steps(&["clip walk.bvh"])?.clone();
    check(
        report["clip"] == *clip && rows(&report, "named") == named && report["clips"] == clips,
        || report.to_string(),
    )?;

    // A clip alone, for this very character. It is in the list as soon as it was read.
    let alone = folder.path().join("alone.usda");
    let report = viewer.steps(&[&format!("drop {}", alone.display()), "clip Animation"])?;
    check(
        report["error"].is_null()
            && report["match"].is_object()
            && report["clip"] == "alone.usda: /Animation",
        || report.to_string(),
    )?;
    shows(&mut viewer, &expected, 30.0, "live-clip-alone")?;
    // It changes on disk: the character follows.
    let other = folder.path().join("other.bvh");
    std::fs::write(&other, mixamo("", 40, 8).text())?;
    let expected = reference(&other, folder.path())?;
    viewer.eventually("live-clip-changed", |viewer| {
        shows(viewer, &expected, 20.0, "live-clip-changed")
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

pub fn unmatched(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let odd = folder.path().join("odd.bvh");
    std::fs::write(&odd, nameless(mixamo("", 20, 3)).text())?;
    let mut viewer = Viewer::start(display, &[PUPPET])?;
    viewer.steps(&["settle"])?;
    let report = viewer
        .steps(&[&format!("drop {}", odd.display()), "settle"])?
        .clone();
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
    let shot = viewer.shot("live-unmatched")?;
    check(
        shot.report["offer"]["choices"][0] == "Play it by the best guess",
        || shot.report.to_string(),
    )?;
    // Opened in place of the puppet, it is not offered to be opened again.
    let choices = |report: &Value| report["offer"]["choices"].clone();
    viewer.steps(&[&format!("drop {} open", odd.display()), "settle"])?;
    let guess = "Play its clip on puppet.glb by the best guess";
    check(choices(&viewer.last)[0] == guess, || {
        viewer.last.to_string()
    })?;
    let beside = "Show puppet.glb beside it";
    check(choices(&viewer.last)[1] == beside, || {
        viewer.last.to_string()
    })?;
    // Nothing can be read of this one; the other offer is gone with the drop.
    let notes = folder.path().join("notes.md");
    std::fs::write(&notes, "# notes")?;
    let report = viewer.steps(&[&format!("drop {}", notes.display()), "settle"])?;
    let told = report["error"].as_str().unwrap_or("");
    check(
        told.contains("notes.md is no 3D file") && told.contains(".usda") && told.ends_with('.'),
        || told.to_owned(),
    )?;
    check(report["offer"].is_null(), || report.to_string())?;
    viewer.shot("live-no-3d-file")?;
    viewer.steps(&[&format!("drop {PUPPET} open"), "settle"])?;
    viewer.steps(&[&format!("drop {}", odd.display()), "settle"])?;
    let report = viewer.steps(&["choose 1", "settle"])?.clone();
    check(
        report["error"].is_null() && report["offer"].is_null(),
        || report.to_string(),
    )?;
    check(
        rows(&report, "guessed").len() > 10 && rows(&report, "named").is_empty(),
        || report["match"].to_string(),
    )?;
    let codes = report["match"]["warnings"].to_string();
    check(codes.contains("retarget-guess"), || codes.clone())?;
    viewer.shot("live-guessed")?;
    // A motion for nobody is opened, as ever.
    let report = viewer.steps(&[&format!("drop {} open", odd.display()), "settle"])?;
    check(report["points"] == 0 && report["match"].is_null(), || {
        report.to_string()
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

pub fn side_by_side(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[PUPPET, HATCHLING])?;
    viewer.steps(&["settle", "time 12", "key Tab"])?;
    let both = viewer.shot("beside-both")?;
    let beside = &both.report["beside"];
    check(
        beside["file"]
            .as_str()
            .is_some_and(|f| f.ends_with("hatchling.usda")),
        || both.report.to_string(),
    )?;
    let [left, top, width, height] = both.viewport();
    let right = beside["viewport"][0].as_u64().unwrap_or(0) as u32;
    check(
        right >= left + width && beside["viewport"][2] == width && beside["viewport"][3] == height,
        || format!("{left} {top} {width} {height}: {beside}"),
    )?;
    // Both show the same second: 24 codes a second, from 0 and from 1.
    check(beside["time"] == 13.0, || beside.to_string())?;
    let expected = [(PUPPET, 12.0), (HATCHLING, 13.0)];
    viewer.steps(&["key g"])?;
    let with = viewer.shot("beside-plain")?;
    viewer.steps(&["key s"])?;
    let without = viewer.shot("beside-empty")?;
    viewer.steps(&["key s", "key g"])?;
    for (side, (file, time)) in expected.into_iter().enumerate() {
        let part = |shot: &Shot| Shot {
            image: shot.image.clone(),
            report: match side {
                0 => shot.report.clone(),
                _ => shot.report["beside"].clone(),
            },
        };
        let (with, without) = (part(&with), part(&without));
        let found = with.differs(&without);
        let truth = truth::silhouette(&truth::triangles(file, time)?, &with);
        let overlap = truth::overlap(&truth, &found);
        // The name in the corner is on both.
        check(overlap > tolerance::SILHOUETTE_OVERLAP, || {
            format!("{file}: silhouettes overlap by {overlap}")
        })?;
    }
    // Both cameras turn together.
    let was = viewer.last["beside"]["clip_from_world"].clone();
    viewer.steps(&["key Left", "state"])?;
    check(viewer.last["beside"]["clip_from_world"] != was, || {
        "one camera stays".into()
    })?;

    // Its own time: the hatchling's clip is longer.
    viewer.steps(&[
        "together off",
        "key Space",
        "wait 0.5",
        "key Space",
        "state",
    ])?;
    let [a, b] = [&viewer.last["time"], &viewer.last["beside"]["time"]].map(Value::as_f64);
    let apart = b
        .zip(a)
        .is_some_and(|(b, a)| (b - a - 1.0).abs() > 1e-6 || b > 13.0);
    check(apart, || viewer.last.to_string())?;
    viewer.steps(&["alone", "state"])?;
    let alone = viewer.shot("beside-alone")?;
    check(
        alone.report["beside"].is_null() && alone.viewport()[2] > width,
        || alone.report.to_string(),
    )?;

    // A dropped character is opened, and what else it may have meant is offered.
    let report = viewer
        .steps(&[&format!("drop {HATCHLING}"), "settle"])?
        .clone();
    let choices = report["offer"]["choices"].as_array().map_or(0, Vec::len);
    let opened = report["file"]
        .as_str()
        .is_some_and(|f| f.ends_with("hatchling.usda"));
    check(opened && choices == 3, || report.to_string())?;
    viewer.shot("beside-offer")?;
    let report = viewer.steps(&["choose 3", "settle"])?.clone();
    let puppet = |v: &Value| v.as_str().is_some_and(|f| f.ends_with("puppet.glb"));
    check(puppet(&report["beside"]["file"]), || report.to_string())?;
    // Another character takes the place of both.
    let report = viewer.steps(&[&format!("drop {PUPPET}"), "settle", "choose 2", "settle"])?;
    check(
        puppet(&report["file"]) && report["beside"].is_null(),
        || report.to_string(),
    )?;
    check(!rows(report, "named").is_empty(), || report.to_string())?;
    let refused = viewer.try_step("choose 1")?;
    check(refused["failed"].is_string(), || refused.to_string())
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
fn usd(folder: &Path) -> Result<PathBuf, Failed> {
    let file = folder.join("two.usda");
    let identity = "( (1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0,0,1) )";
    std::fs::write(
        &file,
        format!(
            r#"#usda 1.0
(
    startTimeCode = 0
    endTimeCode = 24
    upAxis = "Y"
)
def SkelRoot "Root"
{{
    def Skeleton "Skel" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        uniform token[] joints = ["tip"]
        uniform matrix4d[] bindTransforms = [{identity}]
        uniform matrix4d[] restTransforms = [{identity}]
        rel skel:animationSource = </Root/Bend>
    }}
    def SkelAnimation "Bend"
    {{
        uniform token[] joints = ["tip"]
        float3[] translations = [(0, 0, 0)]
        quatf[] rotations.timeSamples = {{ 0: [(1, 0, 0, 0)], 24: [(0.8, 0, 0, 0.6)] }}
        half3[] scales = [(1, 1, 1)]
    }}
    def SkelAnimation "BendShapes"
    {{
        uniform token[] blendShapes = ["wide"]
        float[] blendShapeWeights.timeSamples = {{ 0: [0], 24: [1] }}
    }}
    def Mesh "Body" (prepend apiSchemas = ["SkelBindingAPI"])
    {{
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] primvars:skel:jointIndices = [0] (
            elementSize = 1
            interpolation = "constant"
        )
        float[] primvars:skel:jointWeights = [1] (
            elementSize = 1
            interpolation = "constant"
        )
        uniform token[] skel:blendShapes = ["wide"]
        rel skel:blendShapeTargets = </Root/Body/Wide>
        rel skel:skeleton = </Root/Skel>
        def BlendShape "Wide"
        {{
            uniform vector3f[] offsets = [(0, 0, 0), (1, 0, 0), (0, 0, 0)]
        }}
    }}
}}
"#
        ),
    )?;
    Ok(file)
}

pub fn joined(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let glb = blender(folder.path());
    let mut viewer = Viewer::start(display, &[&glb.display().to_string()])?;
    let report = viewer.steps(&["settle"])?;
    let clips = json!(["Bend + BendShapes", "Bend", "Lean", "BendShapes"]);
    check(
        report["clips"] == clips && report["clip"] == clips[0],
        || report.to_string(),
    )?;
    // Each message once, and as bad as `sinew check` says.
    let checked = sinew_check::check_file(&glb, &sinew_check::CheckOptions::default())?;
    let mut ignored = checked.of("gltf-material-ignored");
    let (Some(finding), None) = (ignored.next(), ignored.next()) else {
        return Err("one finding about the clear coat".into());
    };
    let messages = report["messages"].as_array().into_iter().flatten();
    let found: Vec<&Value> = messages.filter(|m| m["code"] == finding.code).collect();
    check(
        found.len() == 1 && found[0]["severity"] == finding.severity.name(),
        || report["messages"].to_string(),
    )?;
    let mut pictures = Vec::new();
    let alone = |clip: &str| format!("clip {clip}");
    for (clip, weight) in [
        ("Bend + BendShapes", 1.0),
        ("Bend", 0.0),
        ("BendShapes", 1.0),
    ] {
        let report = viewer.steps(&[&alone(clip), "settle", "key Space", "key End", "state"])?;
        check(report["weights"]["wide"] == weight, || {
            format!("{clip}: {report}")
        })?;
        pictures.push(viewer.shot(&format!("joined-{}", pictures.len()))?);
    }
    // Bones and shapes at once is neither of them alone.
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let changed = pictures[a].difference(&pictures[b]);
        check(changed > 1000, || format!("{a} and {b}: {changed} pixels"))?;
    }
    let refused = viewer.try_step("clip Be")?;
    check(refused["failed"].is_string(), || refused.to_string())?;

    // In a USD file too: the shapes that belong to the bound clip play with it.
    let usd = usd(folder.path())?;
    let report = viewer.steps(&[&format!("drop {} open", usd.display()), "settle"])?;
    let joined = "/Root/Bend + /Root/BendShapes";
    check(
        report["clip"] == joined && report["error"].is_null(),
        || report.to_string(),
    )?;
    let report = viewer.steps(&["time 12", "state"])?;
    check(report["weights"]["wide"] == 0.5, || report.to_string())?;
    let report = viewer.steps(&["clip /Root/Bend", "settle", "time 12", "state"])?;
    check(report["weights"]["wide"] == 0.0, || report.to_string())?;
    let refused = viewer.try_step("clip /None")?;
    check(refused["failed"].is_string(), || refused.to_string())
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

/// clip_from_world.
fn view(report: &Value) -> DMat4 {
    let column = |i: usize| report["clip_from_world"][i].as_f64().unwrap_or(f64::NAN);
    DMat4::from_cols_array(&std::array::from_fn(column))
}

pub fn follows(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    // 3 cm a frame for 300 frames: five times its height.
    let far = folder.path().join("far.bvh");
    std::fs::write(&far, mixamo("", 300, 5).text())?;
    let mut viewer = Viewer::start(display, &[PUPPET])?;
    viewer.steps(&["settle", "follow off"])?;
    let refused = viewer.try_step("follow on")?;
    check(refused["failed"].is_string(), || {
        "a clip on the spot".into()
    })?;
    let report = viewer.steps(&[&format!("drop {}", far.display()), "settle"])?;
    check(
        report["follow"]["on"] == true && report["follow"]["joint"] == "hips",
        || report.to_string(),
    )?;
    // Turned by the user, the camera goes along all the same.
    viewer.steps(&["time 0", "key Left"])?;
    let near = viewer.shot("follow-begin")?;
    for time in [100.0, 299.0] {
        viewer.steps(&[&format!("time {time}"), "wait 0.1"])?;
        let shot = viewer.shot("follow-later")?;
        let off = off_middle(&shot.report);
        check(off.is_some_and(|o| o < 0.15), || format!("{time}: {off:?}"))?;
        check(shot.report["reframed"] == 0, || shot.report.to_string())?;
        // The same distance and direction: only the place is another.
        let [a, b] = [&near.report, &shot.report].map(view);
        let turned = (0..3).map(|i| (a.col(i) - b.col(i)).abs().max_element());
        check(turned.fold(0.0, f64::max) < 1e-9, || {
            "the camera turned".into()
        })?;
        check((a.col(3) - b.col(3)).length() > 0.5, || {
            "the camera stays".into()
        })?;
    }
    // Not followed, the model leaves the picture, and is found again once it is out of it.
    viewer.steps(&["time 0", "follow off", "time 5"])?;
    let begin = viewer.shot("reframe-begin")?;
    check(begin.report["reframed"] == 0, || begin.report.to_string())?;
    viewer.steps(&["time 299", "wait 0.1", "state"])?;
    let found = viewer.shot("reframe-found")?;
    check(found.report["reframed"] == 1, || found.report.to_string())?;
    let off = off_middle(&found.report);
    check(off.is_some_and(|o| o < 0.15), || format!("{off:?}"))?;
    // The user may push it out of the picture; when the pointer lets go, it is found again.
    viewer.steps(&["drag 1500 0 right", "wait 0.1", "state"])?;
    let back = viewer.shot("reframe-dragged")?;
    check(back.report["reframed"] == 2, || back.report.to_string())?;
    let off = off_middle(&back.report);
    check(off.is_some_and(|o| o < 0.15), || format!("{off:?}"))?;
    let apart = (view(&back.report) - view(&found.report)).to_cols_array();
    check(apart.iter().all(|d| d.abs() < 1e-9), || {
        "another view".into()
    })?;
    // Half out of the picture is where the user wants it.
    viewer.steps(&["drag 350 0 right", "wait 0.1", "state"])?;
    check(viewer.last["reframed"] == 2, || viewer.last.to_string())?;
    Ok(())
}

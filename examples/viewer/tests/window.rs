//! The viewer in a display without a screen, on whatever adapter there is: what its window shows is where the f64
//! reference says, files that are broken are told of in the window, and changed ones are read again.
//!
//! Pictures are kept in target/viewer-shots.

#[path = "window/desk.rs"]
mod desk;
#[path = "window/live.rs"]
mod live;
#[path = "window/truth.rs"]
mod truth;
#[path = "window/window.rs"]
mod window;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use common::{gpu, tolerance};
use libtest_mimic::{Arguments, Failed, Trial};
use window::{Display, Shot, Viewer};

const HATCHLING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/hatchling.usda");
const PUPPET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/puppet.glb");

/// One display for all, made by the first that asks; one viewer at a time, as a person has it.
type Shared = Arc<Mutex<Option<Display>>>;
type Run = fn(&Display) -> Result<(), Failed>;

fn main() {
    let args = Arguments::from_args();
    let missing = window::missing();
    if let Some(reason) = &missing {
        eprintln!("the viewer's trials are ignored: {reason}");
    }
    let ignored = missing.is_some() || gpu::ignored();
    let shared = Shared::default();
    let trials: [(&str, Run); 16] = [
        ("hatchling_is_where_the_reference_says", hatchling),
        ("puppet_is_where_the_reference_says", puppet),
        ("a_broken_file_is_told_of_and_the_old_one_stays", broken),
        ("a_changed_file_is_read_again", reload),
        ("a_changed_sublayer_is_read_again", sublayer),
        ("keys_show_what_they_name", keys),
        ("mouse_moves_the_camera", mouse),
        ("gpu_and_cpu_agree", backends),
        ("clips_shapes_and_time", clips_and_shapes),
        ("command_line", command_line),
        ("nothing_is_drawn_at_rest", rest),
        ("a_dropped_motion_is_retargeted", live::retargeted),
        ("joints_without_a_match_are_told_of", live::unmatched),
        ("two_characters_side_by_side", live::side_by_side),
        ("bone_and_shape_clips_are_joined", live::joined),
        ("the_camera_follows_and_finds", live::follows),
    ];
    let trials = trials.into_iter().chain(desk::TRIALS);
    let trials = trials.map(|(name, run)| {
        let shared = Arc::clone(&shared);
        let trial = move || {
            let mut display = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let display = match &mut *display {
                Some(display) => display,
                none => none.insert(Display::new()?),
            };
            run(display)
        };
        Trial::test(name, trial).with_ignored_flag(ignored)
    });
    let ended = libtest_mimic::run(&args, trials.collect());
    // `exit` would leave its server running.
    drop(shared);
    ended.exit();
}

fn check(condition: bool, message: impl FnOnce() -> String) -> Result<(), Failed> {
    if condition {
        Ok(())
    } else {
        Err(message().into())
    }
}

/// A window that shows nothing new takes no time of the processor.
fn rest(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[PUPPET])?;
    viewer.steps(&["settle", "time 3", "wait 1"])?;
    let frames = |viewer: &mut Viewer| -> Result<u64, Failed> {
        let frames = viewer.steps(&["wait 0"])?["frames"].as_u64();
        Ok(frames.ok_or("no number of frames")?)
    };
    let painted = frames(&mut viewer)?;
    // A software adapter may still draw the frames that were painted, for seconds each: one that never rests has no 2 s of
    // rest in 3 minutes either.
    let pause = Duration::from_secs(2);
    let mut spent = Duration::MAX;
    for _ in 0..90 {
        let before = viewer.processor_time()?;
        std::thread::sleep(pause);
        spent = viewer.processor_time()? - before;
        if spent < pause / 10 {
            break;
        }
    }
    let painted = frames(&mut viewer)? - painted;
    // Drawing takes all of a processor.
    check(spent < pause / 10, || {
        format!("{spent:?} in {pause:?} at rest")
    })?;
    // Those that the step itself takes; one that paints on and on paints tens.
    check(painted <= 6, || format!("{painted} frames at rest"))
}

fn hatchling(display: &Display) -> Result<(), Failed> {
    silhouettes(display, HATCHLING, [1.0, 31.0])
}

fn puppet(display: &Display) -> Result<(), Failed> {
    silhouettes(display, PUPPET, [0.0, 20.0])
}

/// What the surfaces cover in the window is what the reference's triangles cover, at both times and at no other.
fn silhouettes(display: &Display, file: &str, times: [f64; 2]) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[file])?;
    let name = file.rsplit('/').next().unwrap_or(file).replace('.', "-");
    viewer.steps(&["settle"])?;
    let mut masks = Vec::new();
    let mut pictures: Vec<Shot> = Vec::new();
    for time in times {
        viewer.steps(&[&format!("time {time}")])?;
        pictures.push(viewer.shot(&format!("{name}-at-{time}"))?);
        // Without ground and shadow, with and without surfaces.
        viewer.steps(&["key g"])?;
        let with = viewer.shot(&format!("{name}-at-{time}-plain"))?;
        viewer.steps(&["key s"])?;
        let without = viewer.shot(&format!("{name}-empty"))?;
        viewer.steps(&["key s", "key g"])?;
        let expected = truth::silhouette(&truth::triangles(file, time)?, &with);
        let found = with.differs(&without);
        let [_, _, width, height] = with.viewport();
        let covered = found.iter().filter(|c| **c).count() as f64 / f64::from(width * height);
        check(covered > 0.03, || {
            format!("{covered} of the picture is covered")
        })?;
        let overlap = truth::overlap(&expected, &found);
        check(overlap > tolerance::SILHOUETTE_OVERLAP, || {
            format!("time {time}: silhouettes overlap by {overlap}")
        })?;
        check(
            with.report["time"] == time && with.report["error"].is_null(),
            || with.report.to_string(),
        )?;
        masks.push((expected, found));
    }
    // The comparison tells one time from another.
    let crossed = truth::overlap(&masks[0].0, &masks[1].1);
    check(crossed < tolerance::SILHOUETTE_OVERLAP, || {
        format!("other times overlap by {crossed}")
    })?;
    let changed = pictures[0].difference(&pictures[1]);
    check(changed > 1000, || {
        format!("{changed} pixels change with time")
    })?;
    let colors = pictures[0].colors();
    check(colors > 100, || format!("{colors} colours in the window"))?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn broken(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let bad = folder.path().join("bad.usda");
    std::fs::write(
        &bad,
        "#usda 1.0\ndef Mesh \"M\" {\n  point3f[] points = [(0, 0,\n",
    )?;
    let drop_bad = format!("drop {}", bad.display());

    // Nothing was shown before: an empty window, with the message.
    let mut viewer = Viewer::start(display, &[&bad.display().to_string()])?;
    let report = viewer.steps(&["settle"])?;
    let error = report["error"].as_str().unwrap_or("").to_owned();
    check(
        error.contains("bad.usda") && report["file"].is_null(),
        || report.to_string(),
    )?;
    let empty = viewer.shot("broken-alone")?;
    viewer.steps(&["key Escape"])?;
    let closed = viewer.shot("broken-alone-closed")?;
    check(closed.report["error"].is_null(), || {
        closed.report.to_string()
    })?;
    check(empty.difference(&closed) > 2000, || {
        "no message in the window".into()
    })?;

    // Something was: it stays, and goes on playing.
    viewer.steps(&[&format!("drop {HATCHLING}"), "settle", "time 5"])?;
    let good = viewer.shot("broken-before")?;
    check(good.report["error"].is_null(), || good.report.to_string())?;
    viewer.steps(&[&drop_bad, "settle"])?;
    let both = viewer.shot("broken-after")?;
    let report = &both.report;
    let kept = report["file"]
        .as_str()
        .is_some_and(|f| f.ends_with("hatchling.usda"));
    check(
        kept && report["error"]
            .as_str()
            .is_some_and(|e| e.contains("bad.usda")),
        || report.to_string(),
    )?;
    viewer.steps(&["key Escape", "time 9"])?;
    let later = viewer.shot("broken-later")?;
    check(later.difference(&good) > 500, || {
        "the old file does not move any more".into()
    })?;

    // Files of every kind that cannot be opened.
    for (name, bytes) in [
        ("cut.glb", &b"glTF\x02\0\0\0\xff\xff\0\0"[..]),
        ("none.bvh", b"HIERARCHY\n"),
        ("empty.usdc", b""),
        ("words.usd", b"no character"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes)?;
        let report = viewer.steps(&[&format!("drop {}", path.display()), "settle"])?;
        let told = report["error"].as_str().is_some_and(|e| e.contains(name));
        check(told, || format!("{name}: {report}"))?;
    }
    // One that is mended is shown.
    let path = folder.path().join("words.usd");
    std::fs::copy(HATCHLING, &path)?;
    viewer.until("the mended file is shown", |report| {
        let file = report["file"].as_str().unwrap_or("");
        report["error"].is_null() && file.ends_with("words.usd")
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

/// A stage of a hatchling, moved by a transform.
fn moved_hatchling(translate: &str) -> String {
    let asset = std::path::Path::new(HATCHLING);
    format!(
        "#usda 1.0\n(\n    upAxis = \"Y\"\n    startTimeCode = 1\n    endTimeCode = 20\n)\ndef Xform \"World\"\n{{\n    \
         double3 xformOp:translate = {translate}\n    uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    \
         def \"Hatchling\" (\n        references = @{}@\n    )\n    {{\n    }}\n}}\n",
        asset.display()
    )
}

fn reload(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("moved.usda");
    std::fs::write(&file, moved_hatchling("(0, 0, 0)"))?;
    let mut viewer = Viewer::start(display, &[&file.display().to_string()])?;
    viewer.steps(&["settle", "time 7", "key w"])?;
    let before = viewer.shot("reload-before")?;
    check(before.report["loads"] == 1, || before.report.to_string())?;

    // Written in place: the camera stays, so that the move is seen. The file may be read before it is whole, and then again.
    std::fs::write(&file, moved_hatchling("(0.3, 0.2, 0)"))?;
    let after = viewer.shot_until("reload-after", |shot| {
        shot.report["error"].is_null() && shot.difference(&before) > 1000
    })?;
    let (report, was) = (&after.report, &before.report);
    check(
        report["time"] == 7.0 && report["clip_from_world"] == was["clip_from_world"],
        || report.to_string(),
    )?;

    // Broken by an editor, then replaced by a whole one, as editors save.
    std::fs::write(&file, "#usda 1.0\ndef {")?;
    let report = viewer.until("the error is told", |report| report["error"].is_string())?;
    check(report["file"].is_string(), || report.to_string())?;
    let beside = folder.path().join("moved.usda.new");
    std::fs::write(&beside, moved_hatchling("(0, 0, 0)"))?;
    std::fs::rename(&beside, &file)?;
    viewer.shot_until("reload-back", |back| {
        back.report["error"].is_null() && back.difference(&before) < 50
    })?;

    // After a drop that failed, what is shown is still followed, and so is what was dropped.
    let replace = |file: &Path, text: &str| {
        std::fs::write(&beside, text)?;
        std::fs::rename(&beside, file)
    };
    let bad = folder.path().join("bad.usda");
    let drop = format!("drop {}", bad.display());
    let shows = |report: &serde_json::Value, name: &str| {
        let file = report["file"].as_str().unwrap_or_default();
        check(file.ends_with(name), || report.to_string())
    };
    replace(&bad, "#usda 1.0\ndef {")?;
    let report = viewer.steps(&[&drop, "settle"])?;
    check(report["error"].is_string(), || report.to_string())?;
    shows(report, "moved.usda")?;
    replace(&file, &moved_hatchling("(0.3, 0.2, 0)"))?;
    let report = viewer.steps(&["loads 6", "settle"])?;
    check(report["error"].is_null(), || report.to_string())?;
    shows(report, "moved.usda")?;
    viewer.steps(&[&drop, "loads 7", "settle"])?;
    replace(&bad, &moved_hatchling("(0, 0, 0)"))?;
    let report = viewer.steps(&["loads 8", "settle"])?;
    check(report["error"].is_null(), || report.to_string())?;
    shows(report, "bad.usda")?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn sublayer(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("root.usda");
    std::fs::write(&root, "#usda 1.0\n(\n    subLayers = [@./below.usda@]\n)\n")?;
    let below = folder.path().join("below.usda");
    std::fs::write(&below, moved_hatchling("(0, 0, 0)"))?;
    let mut viewer = Viewer::start(display, &[&root.display().to_string()])?;
    viewer.steps(&["settle", "key Home"])?;
    let before = viewer.shot("sublayer-before")?;
    std::fs::write(&below, moved_hatchling("(0.4, 0, 0)"))?;
    viewer.steps(&["loads 2"])?;
    viewer.shot_until("sublayer-after", |after| {
        after.report["error"].is_null() && after.difference(&before) > 1000
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

/// Each key changes the picture, and changes it back.
fn keys(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    viewer.steps(&["settle", "time 12", "joint head"])?;
    let plain = viewer.shot("keys-plain")?;
    for (key, name) in [
        ("j", "joints"),
        ("n", "names"),
        ("h", "weights"),
        ("w", "wireframe"),
        ("v", "normals"),
        ("b", "bounds"),
        ("g", "no-grid"),
        ("s", "no-surface"),
        ("?", "help"),
        ("Tab", "no-panels"),
    ] {
        let press = format!("key {key}");
        viewer.steps(&[&press])?;
        let on = viewer.shot(&format!("keys-{name}"))?;
        // The picture is larger without panels.
        let changed = if key == "Tab" {
            usize::from(on.viewport() != plain.viewport()) * 1000
        } else {
            on.difference(&plain)
        };
        check(changed > 300, || {
            format!("{name}: {changed} pixels changed")
        })?;
        viewer.steps(&[&press])?;
        let off = viewer.shot("keys-off")?;
        check(off.difference(&plain) < 50, || {
            format!("{name}: does not go away")
        })?;
    }
    let refused = viewer.try_step("key Hyper")?;
    check(refused["failed"].is_string(), || refused.to_string())?;
    // A script with a step that failed fails as a whole.
    check(viewer.end()?.code() == Some(1), || {
        "a failed step is no failure".into()
    })
}

fn mouse(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[PUPPET])?;
    viewer.steps(&["settle", "time 0"])?;
    let home = viewer.shot("mouse-home")?;
    for (step, name) in [
        ("drag 120 20", "orbit"),
        ("drag 60 -40 right", "pan"),
        ("scroll -200", "zoom"),
        ("key Left", "orbit-by-key"),
        ("key 7", "from-above"),
    ] {
        let before = viewer.last["clip_from_world"].clone();
        viewer.steps(&[step])?;
        let shot = viewer.shot(&format!("mouse-{name}"))?;
        check(shot.report["clip_from_world"] != before, || {
            format!("{step}: the camera stays")
        })?;
        check(shot.difference(&home) > 1000, || {
            format!("{step}: the picture stays")
        })?;
    }
    // A click chooses the joint below it.
    viewer.steps(&["key 1", "key f", "key j", "joint leftHand", "state"])?;
    let at = viewer.last["joint_at"].clone();
    let click = format!("click {} {}", at[0], at[1]);
    viewer.steps(&["key Escape", "state"])?;
    check(viewer.last["joint"].is_null(), || viewer.last.to_string())?;
    viewer.steps(&[&click, "state"])?;
    check(viewer.last["joint"] == "leftHand", || {
        viewer.last.to_string()
    })?;
    viewer.steps(&["key Escape", "key j"])?;
    // Panels take their clicks: the button at the right of the bar, and the timeline.
    let [width, height] = [0, 1].map(|i| viewer.last["window"][i].as_f64().unwrap_or(0.0));
    viewer.steps(&[&format!("click {} 17", width - 20.0), "state"])?;
    check(viewer.last["help"] == true, || viewer.last.to_string())?;
    viewer.steps(&["key Escape"])?;
    viewer.steps(&[&format!("click {} {}", width * 0.6, height - 24.0), "state"])?;
    let time = viewer.last["time"].as_f64();
    check(time.is_some_and(|t| t > 5.0), || viewer.last.to_string())?;

    viewer.steps(&["time 0"])?;
    // Frame all brings everything back into the picture.
    viewer.steps(&["scroll 2000", "key f", "key g"])?;
    let with = viewer.shot("mouse-framed")?;
    viewer.steps(&["key s"])?;
    let found = with.differs(&viewer.shot("mouse-framed-empty")?);
    let expected = truth::silhouette(&truth::triangles(PUPPET, 0.0)?, &with);
    let overlap = truth::overlap(&expected, &found);
    check(overlap > tolerance::SILHOUETTE_OVERLAP, || {
        format!("silhouettes overlap by {overlap}")
    })?;
    let [_, _, width, height] = with.viewport();
    let inside = |i: usize| {
        let (x, y) = (i as u32 % width, i as u32 / width);
        x > 2 && y > 2 && x < width - 3 && y < height - 3
    };
    let out = found
        .iter()
        .enumerate()
        .filter(|(i, c)| **c && !inside(*i))
        .count();
    check(out == 0, || format!("{out} pixels at the picture's edge"))?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn backends(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    viewer.steps(&["settle", "time 20"])?;
    let by_gpu = viewer.shot("backend-gpu")?;
    viewer.steps(&["key p"])?;
    let by_cpu = viewer.shot("backend-cpu")?;
    check(by_cpu.report["backend"] == "Cpu", || {
        by_cpu.report.to_string()
    })?;
    check(by_cpu.difference(&by_gpu) < 50, || {
        "the CPU's picture is another".into()
    })?;
    for time in ["time 3", "time 28"] {
        viewer.steps(&[time, "key d"])?;
        let shot = viewer.shot("backend-difference")?;
        let difference = shot.report["difference"].as_f64();
        // Of a character of about a unit's size.
        check(
            difference.is_some_and(|d| d < tolerance::MIRROR_POINTS * 4.0),
            || shot.report.to_string(),
        )?;
        viewer.steps(&["key d"])?;
    }
    viewer.steps(&["method dual"])?;
    let dual = viewer.shot("backend-dual-quaternions")?;
    check(dual.report["method"] == "dualQuaternion", || {
        dual.report.to_string()
    })?;
    viewer.steps(&["method linear"])?;
    let linear = viewer.shot("backend-linear")?;
    check(dual.difference(&linear) > 50, || {
        "both methods look the same".into()
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn clips_and_shapes(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    let report = viewer.steps(&["settle", "time 1"])?.clone();
    let shape = report["shapes"][0].as_str().ok_or("no shapes")?.to_owned();
    let before = viewer.shot("shapes-before")?;
    viewer.steps(&[&format!("shape {shape} 1.5")])?;
    let after = viewer.shot("shapes-after")?;
    check(after.difference(&before) > 20, || {
        format!("{shape} changes nothing")
    })?;

    // Time goes on by itself.
    let report = viewer.steps(&["time 1", "key Space", "wait 0.4", "state"])?;
    let time = report["time"].as_f64().unwrap_or(0.0);
    check(report["playing"] == true && time > 1.0, || {
        report.to_string()
    })?;
    let report = viewer.steps(&["key Space", "key End", "key .", "state"])?;
    check(report["time"] == report["range"][0], || report.to_string())?;
    check(viewer.try_step("time 1e9")?["failed"].is_string(), || {
        "a time beyond the end".into()
    })?;

    // A stage with two animations: either can be played.
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("two.usda");
    let asset = std::path::Path::new(HATCHLING);
    let turned = "#usda 1.0\n(\n    subLayers = [@ASSET@]\n)\ndef SkelAnimation \"Turned\"\n{\n    \
                  uniform token[] joints = [\"JOINT\"]\n    float3[] translations = [(0, 0, 0)]\n    \
                  quatf[] rotations = [(0.7071068, 0, 0.7071068, 0)]\n    half3[] scales = [(1, 1, 1)]\n}\n";
    let scene = sinew_io::open(HATCHLING)?.scene(Default::default())?;
    let root = &scene.instances[0].instance.skeleton().joints()[0];
    let text = turned.replace("ASSET", &asset.display().to_string());
    std::fs::write(&file, text.replace("JOINT", root))?;
    viewer.steps(&[&format!("drop {}", file.display()), "settle", "time 12"])?;
    check(
        viewer.last["clips"]
            .as_array()
            .is_some_and(|c| c.len() == 3 && c[0] == "as the file says"),
        || viewer.last.to_string(),
    )?;
    let bound = viewer.shot("clip-bound")?;
    viewer.steps(&["clip /Turned", "settle"])?;
    let other = viewer.shot("clip-other")?;
    check(other.report["clip"] == "/Turned", || {
        other.report.to_string()
    })?;
    check(other.difference(&bound) > 1000, || {
        "the other clip looks the same".into()
    })?;
    // The bound one by its name, and the way back. Only the name in the list differs.
    viewer.steps(&["clip /Hatchling/Rig/Dance", "settle", "time 12"])?;
    let named = viewer.shot("clip-named")?;
    viewer.steps(&["clip as the file says", "settle", "time 12"])?;
    let back = viewer.shot("clip-back")?;
    check(back.report["clip"] == "as the file says", || {
        back.report.to_string()
    })?;
    check(back.difference(&named) < 1000, || {
        "the way back leads elsewhere".into()
    })?;
    check(viewer.try_step("clip /None")?["failed"].is_string(), || {
        "a clip that is not there".into()
    })?;

    // A clip without a character shows its joints; files without times stay at rest.
    let report = viewer.steps(&["drop examples/assets/walk.bvh open", "settle", "time 3"])?;
    check(report["error"].is_null() && report["points"] == 0, || {
        report.to_string()
    })?;
    let joints = viewer.shot("clip-alone")?;
    viewer.steps(&["key j"])?;
    let none = viewer.shot("clip-alone-hidden")?;
    check(joints.difference(&none) > 300, || {
        "no joints in the picture".into()
    })
}

fn command_line(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let (a, b) = (folder.path().join("a.png"), folder.path().join("b.png"));
    let mut command = window::command(display)?;
    command
        .arg(HATCHLING)
        .args(["--size", "700x500", "--time", "1", "--time", "15"]);
    command
        .arg("--screenshot")
        .arg(&a)
        .arg("--screenshot")
        .arg(&b);
    let (code, text) = window::run(command)?;
    check(code == Some(0), || text.clone())?;
    let [a, b] = [a, b].map(|p| image::open(p).map(|i| i.to_rgba8()));
    let (a, b) = (a?, b?);
    check(a.dimensions() == (700, 500) && a != b, || {
        format!("{:?}", a.dimensions())
    })?;

    let failing = |args: &[&str], code: i32, word: &str| -> Result<(), Failed> {
        let mut command = window::command(display)?;
        command.args(args).current_dir(folder.path());
        let (found, text) = window::run(command)?;
        let panicked = text.contains("panicked");
        check(
            found == Some(code) && text.contains(word) && !panicked,
            || format!("{args:?}: {found:?}: {text}"),
        )
    };
    failing(&["no.usda", "--screenshot", "x.png"], 1, "no.usda")?;
    failing(&["--size", "5x5"], 2, "--size")?;
    failing(
        &["--screenshot", "x.png", "--time", "1", "--time", "2"],
        2,
        "--time",
    )?;
    failing(&["--script", "no-such-script"], 2, "no-such-script")?;
    failing(&["--screenshot", "no/such/folder/x.png"], 1, "step")?;

    // Without a display.
    let mut command = window::command(display)?;
    command.env_remove("DISPLAY");
    let (code, text) = window::run(command)?;
    check(
        // winit names its own source in this error.
        code == Some(1)
            && text.contains("error:")
            && !text.contains("panicked")
            && !text.contains("/registry/"),
        || text,
    )
}

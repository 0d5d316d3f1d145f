//! The viewer's window in a display without a screen, on whatever adapter there is: it opens, takes files, draws,
//! resizes and closes. What it shows is tested in `desk.rs`, without a window.
//!
//! Pictures are kept in target/viewer-shots.

#[path = "window/dialogs.rs"]
mod dialogs;
mod truth;
#[path = "window/window.rs"]
mod window;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use common::{gpu, tolerance};
use glam::DMat4;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;
use window::{Display, Viewer};

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
    let trials: [(&str, Run); 6] = [
        ("a_window_opens_draws_resizes_and_closes", opens),
        ("a_script_takes_every_action", script),
        ("frame_times_are_shown", times),
        ("command_line", command_line),
        ("nothing_is_drawn_at_rest", rest),
        ("dialogs_offer_what_can_be_read", dialogs::dialogs),
    ];
    let trials = trials.into_iter().map(|(name, run)| {
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

/// Another file is dropped into the window, which is then resized. Its surfaces are where the reference's triangles are,
/// at that time and at no other, and a saved picture has the same pixels.
fn opens(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[PUPPET])?;
    let drop = format!("drop {HATCHLING}");
    viewer.steps(&[
        "settle",
        &drop,
        "settle",
        "key Escape",
        "size 900 620",
        "time 31",
    ])?;
    let shown = viewer.shot("window")?;
    let report = &shown.report;
    let is_hatchling = report["file"]
        .as_str()
        .is_some_and(|f| f.ends_with("hatchling.usda"));
    let is_well = is_hatchling && report["time"] == 31.0 && report["error"].is_null();
    check(is_well && report["loads"] == 2, || report.to_string())?;
    check(shown.image.dimensions() == (900, 620), || {
        format!("{:?}", shown.image.dimensions())
    })?;
    let colors = shown.colors();
    check(colors > 100, || format!("{colors} colours in the window"))?;

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.png");
    viewer.steps(&[&format!("save {}", file.display())])?;
    let saved = image::open(&file)?.to_rgba8();
    let differing = truth::differs(&saved, &shown.picture());
    let differing = differing.into_iter().filter(|d| *d).count();
    let is_same = saved.dimensions() == shown.picture().dimensions() && differing < 50;
    check(is_same, || {
        format!("{differing} pixels differ from the window's")
    })?;

    // Without ground and shadow, with and without surfaces.
    viewer.steps(&["key g"])?;
    let with = viewer.shot("window-plain")?;
    viewer.steps(&["key s"])?;
    let without = viewer.shot("window-empty")?;
    let found = truth::differs(&with.picture(), &without.picture());
    let matrix = &with.report["clip_from_world"];
    let column = |i: usize| matrix[i].as_f64().unwrap_or(f64::NAN);
    let clip_from_world = DMat4::from_cols_array(&std::array::from_fn(column));
    let overlap = |time: f64| -> Result<f64, Failed> {
        let triangles = truth::triangles(HATCHLING, time)?;
        let size = with.picture().dimensions();
        let expected = truth::silhouette(&triangles, clip_from_world, [size.0, size.1]);
        Ok(truth::overlap(&expected, &found))
    };
    let [same, other] = [overlap(31.0)?, overlap(1.0)?];
    let told = same > tolerance::SILHOUETTE_OVERLAP && other < tolerance::SILHOUETTE_OVERLAP;
    check(told, || {
        format!("silhouettes overlap by {same}, those of another time by {other}")
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

/// An action, and what the answer then has where the pointer leads.
const ACTIONS: [(&str, &str, &str); 24] = [
    ("settle", "/error", "null"),
    ("time 12", "/time", "12.0"),
    ("key j", "/failed", "null"),
    ("joint leftHand", "/joint", "\"leftHand\""),
    ("press Weights", "/heat", "true"),
    ("press Play", "/playing", "true"),
    ("press Play", "/playing", "false"),
    ("method dual", "/method", "\"dualQuaternion\""),
    ("method authored", "/method", "null"),
    ("light 30 1.5 world", "/failed", "null"),
    ("background #336699", "/failed", "null"),
    ("ground shadow", "/failed", "null"),
    ("drag 90 0", "/failed", "null"),
    ("scroll -100", "/failed", "null"),
    ("follow off", "/follow/on", "false"),
    ("drop examples/assets/walk.bvh", "/failed", "null"),
    ("clip walk", "/match/main", "[15,15]"),
    ("clip Wave", "/clip", "\"Wave\""),
    ("loads 4", "/loads", "4"),
    (
        "drop examples/assets/hatchling.usda beside",
        "/failed",
        "null",
    ),
    ("settle", "/beside/together", "true"),
    ("together off", "/beside/together", "false"),
    ("alone", "/failed", "null"),
    ("wait 0.1", "/beside", "null"),
];

/// Those that cannot be taken here.
const REFUSED: [&str; 10] = [
    "key Hyper",
    "time 1e9",
    "clip None",
    "choose 1",
    "follow on",
    "together on",
    "camera /Cam",
    "shape smile 0.5",
    "press nothing",
    "save no/such/folder/a.png",
];

/// In a window with a scale.
fn script(display: &Display) -> Result<(), Failed> {
    let variables = [("WINIT_X11_SCALE_FACTOR", "1.25")];
    let mut viewer = Viewer::start_with(display, "1280x800", &variables, &[PUPPET])?;
    for (action, place, expected) in ACTIONS {
        let answer = viewer.steps(&[action])?;
        let found = answer.pointer(place).unwrap_or(&Value::Null).to_string();
        check(found == expected, || {
            format!("{action}: {found} at {place}: {answer}")
        })?;
    }
    // A click on a pixel chooses the joint that is there.
    let at = viewer.steps(&["key f", "joint leftHand", "wait 0.1"])?["joint_at"].clone();
    viewer.steps(&["key Escape", &format!("click {} {}", at[0], at[1]), "state"])?;
    check(viewer.last["joint"] == "leftHand", || {
        viewer.last.to_string()
    })?;
    for action in REFUSED {
        let answer = viewer.try_step(action)?;
        check(answer["failed"].is_string(), || {
            format!("{action}: {answer}")
        })?;
    }
    viewer.steps(&[&format!("drop {HATCHLING} open"), "settle"])?;
    let shape = viewer.last["shapes"][0]
        .as_str()
        .ok_or("no shapes")?
        .to_owned();
    viewer.steps(&[&format!("shape {shape} 0.5"), "choose 3", "settle"])?;
    check(viewer.last["beside"].is_object(), || {
        viewer.last.to_string()
    })?;
    // A script with a step that failed fails as a whole.
    let code = viewer.end()?.code();
    check(code == Some(1), || "a failed step is no failure".into())
}

/// The figures of the parts of a frame are known, and change twice a second at most.
fn times(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    let seconds = |report: &Value, name: &str| report[name].as_f64().unwrap_or(-1.0);
    viewer.steps(&["settle", "key i"])?;
    // Some seconds, until there are figures of all parts.
    viewer.eventually("the times of frames", |viewer| {
        let report = viewer.steps(&["wait 0.2", "state"])?;
        for name in ["frame_seconds", "pose_seconds", "draw_seconds"] {
            let is_known = (1e-7..10.0).contains(&seconds(report, name));
            check(is_known, || format!("{name}: {report}"))?;
        }
        // Where it is not measured, that is told.
        let timed = report["timed"][0].as_str().unwrap_or_default();
        let known = seconds(report, "skin_seconds") > 0.0;
        check(known != timed.starts_with("not measured"), || {
            report.to_string()
        })
    })?;
    let began = std::time::Instant::now();
    let mut changes = 0_u32;
    let mut last = f64::NAN;
    for _ in 0..20 {
        let now = seconds(viewer.steps(&["wait 0.05", "state"])?, "pose_seconds");
        changes += u32::from(now != last);
        last = now;
    }
    let most = began.elapsed().as_secs_f64() / 0.5 + 2.0;
    check(f64::from(changes) <= most, || {
        format!("{changes} changes in 20 looks")
    })?;

    // On the CPU, the source is another. Figures are of the last two seconds, in which a slow machine draws one frame: the
    // state is asked for after a frame with another pose.
    viewer.steps(&["time 1", "key p"])?;
    let mut time = 3;
    Ok(viewer.eventually("times on the CPU", |viewer| {
        time += 1;
        let report = viewer.steps(&[&format!("time {}", time % 20 + 2), "state"])?;
        let timed = report["timed"][0].as_str().unwrap_or_default();
        let is_known = timed.contains("on the CPU") && seconds(report, "skin_seconds") > 0.0;
        check(is_known, || report.to_string())
    })?)
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

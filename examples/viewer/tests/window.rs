//! The viewer's window in a display without a screen, on whatever adapter there is: it opens, takes files, draws,
//! resizes and closes. What it shows is tested in `desk.rs`, without a window.
//!
//! Pictures are kept in target/viewer-shots.

#[path = "window/dialogs.rs"]
mod dialogs;
#[path = "window/display.rs"]
mod display;
mod judge;
#[path = "window/steps.rs"]
mod steps;
mod truth;
#[path = "window/window.rs"]
mod window;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use common::{gpu, tolerance};
use glam::DMat4;
use libtest_mimic::{Arguments, Failed, Trial};

use display::Display;
use judge::check;
use steps::Steps;
use window::Viewer;

const HATCHLING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/hatchling.usda");
const PUPPET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/puppet.glb");

/// One display for all, made by the first that asks; one viewer at a time, as a person has it.
type Shared = Arc<Mutex<Option<Display>>>;
type Run = fn(&Display) -> Result<(), Failed>;

fn main() {
    let args = Arguments::from_args();
    let missing = display::missing();
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

/// Another file is dropped into the window, which is then resized. Its surfaces are where the reference's triangles are,
/// at that time and at no other, and a saved picture has the same pixels.
fn opens(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[], &[PUPPET])?;
    viewer.play(include_str!("window/opens.txt"))?;
    let [window, shown] = viewer.shot("window")?;
    let colors = window.pixels().map(|p| p.0.map(|c| c / 8));
    let colors = colors.collect::<std::collections::HashSet<_>>().len();
    check(window.dimensions() == (900, 620) && colors > 100, || {
        format!("{:?}, {colors} colours", window.dimensions())
    })?;

    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.png");
    viewer.play(&format!("save {}", file.display()))?;
    let saved = image::open(&file)?.to_rgba8();
    let differing = truth::differs(&saved, &shown)
        .into_iter()
        .filter(|d| *d)
        .count();
    check(
        saved.dimensions() == shown.dimensions() && differing < 50,
        || format!("{differing} pixels differ from the window's"),
    )?;

    // Without ground and shadow, with and without surfaces.
    viewer.play("key g")?;
    let [_, with] = viewer.shot("window-plain")?;
    viewer.play("key s")?;
    let [_, without] = viewer.shot("window-empty")?;
    let found = truth::differs(&with, &without);
    let matrix = &viewer.last["clip_from_world"];
    let column = |i: usize| matrix[i].as_f64().unwrap_or(f64::NAN);
    let clip_from_world = DMat4::from_cols_array(&std::array::from_fn(column));
    let overlap = |time: f64| -> Result<f64, Failed> {
        let triangles = truth::triangles(HATCHLING, time)?;
        let expected = truth::silhouette(&triangles, clip_from_world, with.dimensions().into());
        Ok(truth::overlap(&expected, &found))
    };
    let [same, other] = [overlap(31.0)?, overlap(1.0)?];
    let told = same > tolerance::SILHOUETTE_OVERLAP && other < tolerance::SILHOUETTE_OVERLAP;
    check(told, || {
        format!("silhouettes overlap by {same}, those of another time by {other}")
    })?;
    ends(viewer, 0)
}

fn ends(viewer: Viewer, code: i32) -> Result<(), Failed> {
    let found = viewer.end()?;
    Ok(check(found == Some(code), || {
        format!("the viewer ended with {found:?}")
    })?)
}

/// In a window with a scale. A script with a step that failed fails as a whole.
fn script(display: &Display) -> Result<(), Failed> {
    let variables = [("WINIT_X11_SCALE_FACTOR", "1.25")];
    let args = ["--size", "1280x800", PUPPET];
    let mut viewer = Viewer::start(display, &variables, &args)?;
    viewer.play(include_str!("window/script.txt"))?;
    // A click on a pixel chooses the joint that is there.
    let at = viewer.last["joint_at"].clone();
    let click = format!("key Escape\nclick {} {}", at[0], at[1]);
    viewer.play(&format!("{click}\nstate\n= /joint \"leftHand\""))?;
    ends(viewer, 1)
}

/// The figures of the parts of a frame are known, and change twice a second at most.
fn times(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[], &[HATCHLING])?;
    viewer.play("settle\nkey i")?;
    // Some seconds, until there are figures of all parts.
    let known = "wait 0.2\n> /frame_seconds 1e-7\n> /pose_seconds 1e-7\n> /draw_seconds 1e-7";
    viewer.until(known)?;
    // Where skinning is not measured, that is told.
    viewer.until(match viewer.last["timed"][0].as_str().unwrap_or_default() {
        told if told.starts_with("not measured") => "wait 0.2\n= /skin_seconds null",
        _ => "wait 0.2\n> /skin_seconds 1e-7\n< /skin_seconds 10",
    })?;
    let began = std::time::Instant::now();
    let mut changes = 0_u32;
    let mut last = f64::NAN;
    for _ in 0..20 {
        viewer.play("wait 0.05\nstate")?;
        let now = viewer.last["pose_seconds"].as_f64().unwrap_or(-1.0);
        changes += u32::from(now != last);
        last = now;
    }
    let most = began.elapsed().as_secs_f64() / 0.5 + 2.0;
    check(f64::from(changes) <= most, || {
        format!("{changes} changes in 20 looks")
    })?;

    // On the CPU, the source is another. Figures are of the last two seconds, in which a slow machine draws one frame: the
    // state is asked for after frames with other poses.
    viewer.play("time 1\nkey p")?;
    Ok(viewer.until("time 3\nstate\ntime 4\nstate\n~ /timed/0 on the CPU\n> /skin_seconds 0")?)
}

/// A window that shows nothing new takes no time of the processor.
fn rest(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[], &[PUPPET])?;
    viewer.play("settle\ntime 3\nwait 1\nwait 0")?;
    let frames = |viewer: &Viewer| viewer.last["frames"].as_u64().ok_or("no number of frames");
    let painted = frames(&viewer)?;
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
    viewer.play("wait 0")?;
    let painted = frames(&viewer)? - painted;
    // Drawing takes all of a processor.
    check(spent < pause / 10, || {
        format!("{spent:?} in {pause:?} at rest")
    })?;
    // Those that the step itself takes; one that paints on and on paints tens.
    Ok(check(painted <= 6, || format!("{painted} frames at rest"))?)
}

fn command_line(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let run = |args: &str, has_display: bool| {
        let mut command = window::command(display);
        command.args(args.split(' ')).current_dir(folder.path());
        if !has_display {
            command.env_remove("DISPLAY");
        }
        window::run(command)
    };
    let pictures = "--size 700x500 --time 1 --time 15 --screenshot a.png --screenshot b.png";
    let (code, text) = run(&format!("{HATCHLING} {pictures}"), true)?;
    check(code == Some(0), || text)?;
    let [a, b] = ["a.png", "b.png"].map(|p| image::open(folder.path().join(p)));
    let (a, b) = (a?.to_rgba8(), b?.to_rgba8());
    check(a.dimensions() == (700, 500) && a != b, || {
        format!("{:?}", a.dimensions())
    })?;
    std::fs::write(folder.path().join("bad.txt"), "settle\njump\n")?;
    for (args, has_display, code, word) in [
        ("no.usda --screenshot x.png", true, 1, "no.usda"),
        ("--size 5x5", true, 2, "--size"),
        ("--screenshot x.png --time 1 --time 2", true, 2, "--time"),
        ("--script no-such-script", true, 2, "no-such-script"),
        (
            "--script bad.txt",
            true,
            2,
            "bad.txt:2: 'jump' is no action",
        ),
        ("--screenshot no/such/folder/x.png", true, 1, "step"),
        // winit names its own source in this error.
        (HATCHLING, false, 1, "error:"),
    ] {
        let (found, text) = run(args, has_display)?;
        let is_clean = !text.contains("panicked") && !text.contains("/registry/");
        check(
            found == Some(code) && text.contains(word) && is_clean,
            || format!("{args:?}: {found:?}: {text}"),
        )?;
    }
    Ok(())
}

//! The window itself: its dialogs, panels, messages and sizes.

use std::collections::BTreeMap;
use std::path::Path;

use image::RgbaImage;
use libtest_mimic::Failed;
use serde_json::Value;

use crate::window::{self, Display, Shot, Viewer};
use crate::{HATCHLING, PUPPET, Run, check};

pub const TRIALS: [(&str, Run); 9] = [
    ("dialogs_offer_what_can_be_read", dialogs),
    ("the_picture_is_saved", save),
    ("light_background_and_ground", scene),
    ("panels_resize_and_joints_fill_theirs", panels),
    ("weights_start_at_the_strongest_joint", weights),
    ("errors_show_their_line", errors),
    ("frame_times_are_steady_and_shown", times),
    ("a_small_window_shows_everything", small),
    ("a_window_at_scale_2_shows_everything", scaled),
];

/// Starts the viewer with these programs instead of those of the system, and without a desktop's portal.
fn with_programs(display: &Display, folder: &Path, args: &[&str]) -> Result<Viewer, String> {
    let path = folder.display().to_string();
    let variables = [
        ("PATH", path.as_str()),
        ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus"),
    ];
    Viewer::start_with(display, "1000x660", &variables, args)
}

/// Writes a program in place of zenity, which notes its arguments and then runs the last line.
fn zenity(folder: &Path, last: &str) -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt;
    let program = folder.join("zenity");
    let noted = folder.join("noted");
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > '{}'\n{last}\n",
        noted.display()
    );
    std::fs::write(&program, text)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

fn dialogs(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let noted = || std::fs::read_to_string(folder.path().join("noted"));
    zenity(folder.path(), &format!("echo '{PUPPET}'"))?;
    let mut viewer = with_programs(display, folder.path(), &[])?;
    let empty = viewer.shot("dialog-before")?;
    check(empty.report["activity"] == "no file is open", || {
        empty.report.to_string()
    })?;
    let report = viewer.steps(&["press Open", "settle", "state"])?;
    check(
        report["file"]
            .as_str()
            .is_some_and(|f| f.ends_with("puppet.glb")),
        || report.to_string(),
    )?;
    let asked = noted()?;
    let extensions = sinew_io::readable_formats().flat_map(|f| f.extensions);
    let all: Vec<String> = extensions.map(|e| format!("*.{e}")).collect();
    check(asked.lines().any(|l| l.ends_with(&all.join(" "))), || {
        asked.clone()
    })?;

    // A dialog that is closed changes nothing.
    zenity(folder.path(), "exit 1")?;
    std::fs::remove_file(folder.path().join("noted"))?;
    let report = viewer.steps(&["key o", "settle", "state"])?;
    check(noted().is_ok_and(|n| n == asked), || {
        "no dialog was shown".into()
    })?;
    check(
        report["notice"].is_null() && report["error"].is_null() && report["loads"] == 1,
        || report.to_string(),
    )?;

    let picture = folder.path().join("saved");
    zenity(folder.path(), &format!("echo '{}'", picture.display()))?;
    let report = viewer.steps(&["key s shift", "settle", "state"])?.clone();
    check(noted()?.contains("--save"), || noted().unwrap_or_default())?;
    check(
        report["notice"]
            .as_str()
            .is_some_and(|n| n.contains("saved.png")),
        || report.to_string(),
    )?;
    let saved = image::open(picture.with_extension("png"))?;
    let size = [saved.width(), saved.height()];
    check(
        report["viewport"][2] == size[0] && report["viewport"][3] == size[1],
        || format!("{size:?}: {report}"),
    )?;

    // No program and no portal: what else can be done is told.
    std::fs::remove_file(folder.path().join("zenity"))?;
    viewer.steps(&["key Escape", "key o", "settle"])?;
    let told = viewer.shot("dialog-none")?;
    let notice = told.report["notice"].as_str().unwrap_or_default();
    check(
        notice.contains("no file dialog") && notice.contains("Drop a file"),
        || told.report.to_string(),
    )?;
    viewer.steps(&["key Escape"])?;
    check(viewer.steps(&["state"])?["notice"].is_null(), || {
        "the notice stays".into()
    })?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn save(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("a.png");
    let step = format!("save {}", file.display());
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    viewer.steps(&["settle", "time 5"])?;
    let shown = viewer.shot("save-shown")?;
    viewer.steps(&[&step])?;
    let saved = image::open(&file)?.to_rgba8();
    // The same pixels as in the middle of the window.
    let [left, top, width, height] = shown.viewport();
    check(saved.dimensions() == (width, height), || {
        format!("{:?}", saved.dimensions())
    })?;
    let differs = |x: u32, y: u32| {
        let (a, b) = (
            saved.get_pixel(x, y),
            shown.image.get_pixel(left + x, top + y),
        );
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 6)
    };
    let count = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let count = count.filter(|(x, y)| differs(*x, *y)).count();
    check(count < 50, || {
        format!("{count} pixels differ from the window's")
    })?;
    viewer.steps(&[
        "key Escape",
        "press Save without background",
        "ground off",
        &step,
    ])?;
    let clear = image::open(&file)?.to_rgba8();
    clear.save(window::shots().join("save-transparent.png"))?;
    let transparent = clear.pixels().filter(|p| p.0[3] == 0).count();
    let opaque = clear.pixels().filter(|p| p.0[3] == 255).count();
    check(transparent > 10_000 && opaque > 10_000, || {
        format!("{transparent} {opaque}")
    })?;
    // What cannot be written is an error.
    let refused = viewer.try_step("save no/such/folder/a.png")?;
    check(
        refused["failed"]
            .as_str()
            .is_some_and(|e| e.contains("no/such/folder")),
        || refused.to_string(),
    )
}

/// The mean brightness of a part of the picture, from 0 to 255.
fn brightness(shot: &Shot, part: [f32; 4]) -> f64 {
    let [left, top, width, height] = shot.viewport().map(|n| n as f32);
    let [x0, y0, x1, y1] = part;
    let pixel = |x: u32, y: u32| {
        f64::from(
            shot.image.get_pixel(x, y).0[..3]
                .iter()
                .map(|c| u32::from(*c))
                .sum::<u32>(),
        ) / 3.0
    };
    let (mut sum, mut count) = (0.0, 0.0);
    for y in (top + y0 * height) as u32..(top + y1 * height) as u32 {
        for x in (left + x0 * width) as u32..(left + x1 * width) as u32 {
            sum += pixel(x, y);
            count += 1.0;
        }
    }
    sum / count
}

const CORNER: [f32; 4] = [0.0, 0.0, 0.1, 0.1];
const LEFT: [f32; 4] = [0.3, 0.3, 0.5, 0.7];
const RIGHT: [f32; 4] = [0.5, 0.3, 0.7, 0.7];
const MIDDLE: [f32; 4] = [0.3, 0.3, 0.7, 0.7];

fn scene(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    viewer.steps(&["settle", "time 5", "key 1", "key f"])?;
    let plain = viewer.shot("scene-plain")?;
    for (press, range) in [
        ("White", 250.0..256.0),
        ("Dark", 0.0..60.0),
        ("Grey", 60.0..180.0),
    ] {
        viewer.steps(&[&format!("press {press}")])?;
        let shot = viewer.shot(&format!("scene-{press}"))?;
        let corner = brightness(&shot, CORNER);
        check(range.contains(&corner), || format!("{press}: {corner}"))?;
    }
    viewer.steps(&["background #204060"])?;
    let blue = viewer.shot("scene-colour")?;
    let [left, top, ..] = blue.viewport();
    let pixel = blue.image.get_pixel(left + 3, top + 3).0;
    check(pixel[..3] == [0x20, 0x40, 0x60], || format!("{pixel:?}"))?;
    viewer.steps(&["background grey"])?;

    // The ground: lines and shadow, shadow, nothing.
    let grid = viewer.shot("scene-grid")?;
    viewer.steps(&["press Shadow"])?;
    let shadow = viewer.shot("scene-shadow")?;
    viewer.steps(&["ground off"])?;
    let off = viewer.shot("scene-no-ground")?;
    let (lines, dark) = (grid.difference(&shadow), shadow.difference(&off));
    check(lines > 2000 && dark > 500, || {
        format!("{lines} and {dark} pixels")
    })?;
    viewer.steps(&["press Grid"])?;
    let again = viewer.shot("scene-again")?;
    check(again.difference(&plain) < 50, || {
        "the ground does not come back".into()
    })?;

    // Lights from the other side, brighter, and none.
    viewer.steps(&["light 0 1"])?;
    let key_left = viewer.shot("scene-light")?;
    viewer.steps(&["light 90 1"])?;
    let key_right = viewer.shot("scene-light-turned")?;
    let side = |shot: &Shot| brightness(shot, LEFT) - brightness(shot, RIGHT);
    check(side(&key_left) > side(&key_right) + 5.0, || {
        format!("{} {}", side(&key_left), side(&key_right))
    })?;
    viewer.steps(&["light 0 2"])?;
    let bright = brightness(&viewer.shot("scene-light-bright")?, MIDDLE);
    viewer.steps(&["light 0 0"])?;
    let none = brightness(&viewer.shot("scene-light-none")?, MIDDLE);
    let usual = brightness(&key_left, MIDDLE);
    check(bright > usual + 5.0 && none < usual - 20.0, || {
        format!("{bright} {usual} {none}")
    })?;

    // Lights of the camera show its side as bright from behind; those of the world stay in front.
    viewer.steps(&["light 0 1 camera", "drag 290 0", "drag 290 0"])?;
    let with_camera = brightness(&viewer.shot("scene-light-camera")?, MIDDLE);
    viewer.steps(&["press World"])?;
    let in_world = brightness(&viewer.shot("scene-light-world")?, MIDDLE);
    check((with_camera - in_world).abs() > 3.0, || {
        format!("{with_camera} {in_world}")
    })
}

/// A stage with a chain of so many joints.
fn chain(count: usize) -> String {
    let mut path = String::new();
    let mut joints = Vec::new();
    for i in 0..count {
        // Branches of 20, so that paths stay short.
        let name = format!("J{i}");
        path = if i % 20 == 0 {
            format!("root/{name}")
        } else {
            format!("{path}/{name}")
        };
        joints.push(format!("\"{path}\""));
    }
    let one = "( (1,0,0,0), (0,1,0,0), (0,0,1,0), (0,0.1,0,1) )";
    let matrices = vec![one; count + 1].join(",");
    format!(
        "#usda 1.0\n( upAxis = \"Y\" )\ndef SkelRoot \"R\"\n{{\ndef Skeleton \"S\"\n{{\n  \
         uniform token[] joints = [\"root\", {}]\n  uniform matrix4d[] bindTransforms = [{matrices}]\n  \
         uniform matrix4d[] restTransforms = [{matrices}]\n}}\n}}\n",
        joints.join(", ")
    )
}

fn panels(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("chain.usda");
    std::fs::write(&file, chain(3000))?;
    let mut viewer = Viewer::start(display, &[&file.display().to_string()])?;
    viewer.steps(&["settle", "wait 0.1"])?;
    let before = viewer.shot("panels-before")?;
    let places = places(&before.report)?;
    let (panel, list) = (
        place(&places, "joints panel")?,
        place(&places, "joint list")?,
    );
    // The list fills its panel to the bottom.
    check(
        list.bottom() > panel.bottom() - 20.0 && list.bottom() <= panel.bottom() + 1.0,
        || format!("{list:?} in {panel:?}"),
    )?;

    // Its edge is dragged, and the picture makes room.
    let edge = [panel.right(), panel.top() + panel.height * 0.5];
    viewer.steps(&[&format!("drag 90 0 left from {} {}", edge[0], edge[1])])?;
    let wider = viewer.shot("panels-wider")?;
    let after = place(&self::places(&wider.report)?, "joints panel")?;
    check((after.width - panel.width - 90.0).abs() < 8.0, || {
        format!("{panel:?} {after:?}")
    })?;
    let (now, was) = (wider.viewport(), before.viewport());
    check((was[2] - now[2]).abs_diff(90) < 8, || {
        format!("{was:?} {now:?}")
    })?;

    // A joint far below is scrolled into view.
    for joint in ["J2950", "J7", "J1500"] {
        viewer.steps(&[&format!("joint {joint}")])?;
        let shot = viewer.shot(&format!("panels-{joint}"))?;
        let places = self::places(&shot.report)?;
        let (row, list) = (
            place(&places, "chosen joint")?,
            place(&places, "joint list")?,
        );
        check(
            row.top() >= list.top() - 1.0 && row.bottom() <= list.bottom() + 1.0,
            || format!("{joint}: {row:?} in {list:?}"),
        )?;
    }
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn weights(display: &Display) -> Result<(), Failed> {
    // Sums of weights by another way: the file's influences, point by point.
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
    let strongest = sums
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .ok_or("no weights")?;
    let name = strongest
        .0
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();

    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    viewer.steps(&["settle", "time 5"])?;
    let plain = viewer.shot("weights-off")?;
    viewer.steps(&["press Weights"])?;
    let shot = viewer.shot("weights-on")?;
    check(
        shot.report["joint"] == name.as_str() && shot.report["heat"] == true,
        || format!("{strongest:?}: {}", shot.report),
    )?;
    check(shot.difference(&plain) > 5000, || "no colours".into())?;
    // More than the colour of no weight is seen.
    let yellow = shot
        .image
        .pixels()
        .filter(|p| p.0[0] > 150 && p.0[1] > 130 && p.0[2] < 90);
    check(yellow.count() > 300, || "nothing has much weight".into())
}

fn errors(display: &Display) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let bad = folder.path().join("bad.usda");
    let text = "#usda 1.0\ndef Mesh \"M\" {\n    int[] faceVertexCounts = [3]\n    point3f[] points = [(0, 0, zero)]\n}\n";
    std::fs::write(&bad, text)?;
    // JSON, and a motion. They are there before their folder is watched: nothing is read twice.
    let others = [
        (
            "bad.gltf",
            "{\n  \"asset\": {\"version\": \"2.0\"},\n  \"nodes\": [ {, ]\n}\n",
            "> 3 |   \"nodes\": [ {, ]",
        ),
        (
            "bad.bvh",
            "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 x 0\n}\n",
            "> 4 |   OFFSET 0 x 0",
        ),
    ];
    for (name, text, _) in others {
        std::fs::write(folder.path().join(name), text)?;
    }
    let mut viewer = Viewer::start(display, &[&bad.display().to_string()])?;
    viewer.steps(&["settle"])?;
    let shot = viewer.shot("error-lines")?;
    let lines = shot.report["error_lines"].as_str().unwrap_or_default();
    check(
        lines
            .lines()
            .any(|l| l == "> 4 |     point3f[] points = [(0, 0, zero)]"),
        || shot.report.to_string(),
    )?;
    let report = viewer.steps(&["press Copy", "state"])?;
    let copied = report["copied"].as_str().unwrap_or_default();
    let error = report["error"].as_str().unwrap_or("none");
    check(
        copied.contains(error) && copied.contains("(0, 0, zero)"),
        || report.to_string(),
    )?;
    check(!report.to_string().contains("/registry/"), || {
        report.to_string()
    })?;
    for (name, _, line) in others {
        let path = folder.path().join(name);
        viewer.steps(&[&format!("drop {}", path.display()), "settle", "wait 0.1"])?;
        let shot = viewer.shot(&format!("error-{}", name.replace('.', "-")))?;
        let lines = shot.report["error_lines"].as_str().unwrap_or_default();
        check(lines.lines().any(|l| l == line), || shot.report.to_string())?;
    }
    let report = viewer.steps(&["press Close", "state"])?;
    check(report["error"].is_null(), || report.to_string())
}

/// The figures of the parts of a frame are known, and the graph shows them.
fn shows_times(shot: &Shot) -> Result<(), Failed> {
    let report = &shot.report;
    let seconds = |name: &str| report[name].as_f64().unwrap_or(-1.0);
    for name in ["frame_seconds", "pose_seconds", "draw_seconds"] {
        let value = seconds(name);
        check((1e-7..10.0).contains(&value), || {
            format!("{name}: {report}")
        })?;
    }
    // Where it is not measured, that is told.
    let timed = report["timed"][0].as_str().unwrap_or_default();
    let known = seconds("skin_seconds") > 0.0;
    check(known != timed.starts_with("not measured"), || {
        report.to_string()
    })?;
    let parts = ["pose_seconds", "skin_seconds", "draw_seconds"].map(|n| seconds(n).max(0.0));
    let drawn = place(&places(report)?, "graph")?;
    check(drawn.width >= 200.0, || format!("{drawn:?}"))?;

    // The curve is as high as the figures say: the colours of its parts are in the graph.
    let colors = [[240, 196, 92], [255, 122, 72], [92, 158, 240]];
    let near = |p: [u8; 4], c: [u8; 3]| p[..3].iter().zip(c).all(|(a, b)| a.abs_diff(b) < 12);
    let count = |image: &RgbaImage, color: [u8; 3]| {
        let (x0, y0) = (drawn.left() as u32, drawn.top() as u32 + 62);
        let (x1, y1) = (drawn.right() as u32, drawn.bottom() as u32);
        let pixels = (y0..y1).flat_map(|y| (x0..x1).map(move |x| (x, y)));
        pixels
            .filter(|(x, y)| near(image.get_pixel(*x, *y).0, color))
            .count()
    };
    let largest = (0..3)
        .max_by(|a, b| parts[*a].total_cmp(&parts[*b]))
        .unwrap_or(2);
    let found = count(&shot.image, colors[largest]);
    check(found > 300, || {
        format!("{found} pixels of part {largest} of {parts:?}")
    })
}

fn times(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start(display, &[HATCHLING])?;
    let seconds = |report: &Value, name: &str| report[name].as_f64().unwrap_or(-1.0);
    viewer.steps(&["settle", "key i"])?;
    // Some seconds, until there are figures of all parts and enough of the graph.
    viewer.eventually("the times of frames", |viewer| {
        shows_times(&viewer.shot("times-playing")?)
    })?;
    let hidden = viewer.steps(&["key i"]).cloned()?;
    let after = viewer.shot("times-hidden")?;
    check(
        hidden["failed"].is_null() && !places(&after.report)?.contains_key("graph"),
        || "the graph stays".into(),
    )?;

    let began = std::time::Instant::now();
    let mut changes = 0_u32;
    let mut last = f64::NAN;
    for _ in 0..20 {
        let now = seconds(viewer.steps(&["wait 0.05", "state"])?, "pose_seconds");
        changes += u32::from(now != last);
        last = now;
    }
    // They change twice a second at most.
    let most = began.elapsed().as_secs_f64() / 0.5 + 2.0;
    check(f64::from(changes) <= most, || {
        format!("{changes} changes in 20 looks")
    })?;

    viewer.steps(&["press Play"])?;
    let report = viewer.steps(&["wait 0.2", "state"])?;
    check(report["activity"] == "paused", || report.to_string())?;
    // On the CPU, the source is another. Figures are of the last two seconds, in which a slow machine draws one frame: the
    // state is asked for after a frame with another pose.
    viewer.steps(&["key p"])?;
    let mut time = 3;
    Ok(viewer.eventually("times on the CPU", |viewer| {
        time += 1;
        let report = viewer.steps(&[&format!("time {}", time % 20 + 2), "state"])?;
        let timed = report["timed"][0].as_str().unwrap_or_default();
        check(
            timed.contains("on the CPU") && seconds(report, "skin_seconds") > 0.0,
            || report.to_string(),
        )
    })?)
}

/// A rectangle in pixels of the window.
#[derive(Clone, Copy, Debug)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    cut: bool,
}

impl Area {
    fn left(&self) -> f64 {
        self.x
    }
    fn top(&self) -> f64 {
        self.y
    }
    fn right(&self) -> f64 {
        self.x + self.width
    }
    fn bottom(&self) -> f64 {
        self.y + self.height
    }
    fn overlaps(&self, other: &Self) -> bool {
        let across = self.right().min(other.right()) - self.x.max(other.x);
        let down = self.bottom().min(other.bottom()) - self.y.max(other.y);
        across > 1.5 && down > 1.5
    }
}

fn places(report: &Value) -> Result<BTreeMap<String, Area>, Failed> {
    let places = report["places"].as_object().ok_or("no places")?;
    let area = |value: &Value| {
        let n = |i: usize| value["rect"][i].as_f64().unwrap_or(f64::NAN);
        Area {
            x: n(0),
            y: n(1),
            width: n(2),
            height: n(3),
            cut: value["cut"] == true,
        }
    };
    Ok(places
        .iter()
        .map(|(name, value)| (name.clone(), area(value)))
        .collect())
}

fn place(places: &BTreeMap<String, Area>, name: &str) -> Result<Area, Failed> {
    let found = places.get(name).copied();
    found.ok_or_else(|| format!("no {name} in the window: {:?}", places.keys()).into())
}

/// Panels do not overlap, nothing that has a name is cut or covered by another, and the picture has room.
fn all_fits(shot: &Shot, what: &str) -> Result<(), Failed> {
    let places = places(&shot.report)?;
    let (width, height) = shot.image.dimensions();
    let panels = [
        "bar",
        "timeline",
        "settings panel",
        "joints panel",
        "picture",
    ];
    // Over the picture or within lists that scroll.
    let within = ["message", "graph", "chosen joint", "joint list"];
    // The settings scroll: these may be out of view.
    let settings = [
        "Camera",
        "World",
        "As before",
        "Grey",
        "Dark",
        "White",
        "Grid",
        "Shadow",
        "Off",
        "Save without background",
    ];
    let scrolled = |name: &str, a: &Area| a.cut && settings.contains(&name);
    for (name, a) in &places {
        let inside = a.x >= -1.0
            && a.y >= -1.0
            && a.right() <= f64::from(width) + 1.0
            && a.bottom() <= f64::from(height) + 1.0;
        check(scrolled(name, a) || inside && !a.cut, || {
            format!("{what}: {name} is cut: {a:?}")
        })?;
        for (other, b) in
            places.range::<String, _>((std::ops::Bound::Excluded(name), std::ops::Bound::Unbounded))
        {
            let alike = panels.contains(&name.as_str()) == panels.contains(&other.as_str());
            let apart =
                alike && !within.contains(&name.as_str()) && !within.contains(&other.as_str());
            let over_picture = ["Copy", "Close"];
            let free = over_picture.contains(&name.as_str())
                || over_picture.contains(&other.as_str())
                || scrolled(name, a)
                || scrolled(other, b);
            check(!apart || free || !a.overlaps(b), || {
                format!("{what}: {name} and {other} overlap: {a:?} {b:?}")
            })?;
        }
    }
    let picture = place(&places, "picture")?;
    let share = picture.width * picture.height / f64::from(width * height);
    check(share > 0.25, || {
        format!("{what}: the picture has {share} of the window")
    })
}

/// All that a narrow window shows.
fn tour(viewer: &mut Viewer, name: &str) -> Result<(), Failed> {
    viewer.steps(&["settle", "time 7", "wait 0.1"])?;
    all_fits(&viewer.shot(&format!("{name}-plain"))?, "plain")?;
    viewer.steps(&["press Settings"])?;
    let settings = viewer.shot(&format!("{name}-settings"))?;
    all_fits(&settings, "settings")?;
    place(&places(&settings.report)?, "settings panel")?;
    viewer.steps(&["press Joints", "key h", "key i"])?;
    let joints = viewer.shot(&format!("{name}-joints"))?;
    all_fits(&joints, "joints")?;
    place(&places(&joints.report)?, "joints panel")?;
    let shown = places(&joints.report)?;
    let (row, list) = (place(&shown, "chosen joint")?, place(&shown, "joint list")?);
    check(
        row.top() >= list.top() - 1.0 && row.bottom() <= list.bottom() + 1.0,
        || format!("{row:?} in {list:?}"),
    )?;
    viewer.steps(&[
        "press Joints",
        "key h",
        "key i",
        "drop no-such-folder/hero.usda",
        "settle",
        "wait 0.1",
    ])?;
    all_fits(&viewer.shot(&format!("{name}-error"))?, "error")?;
    viewer.steps(&["press Close", "press ?"])?;
    viewer.shot(&format!("{name}-help"))?;
    let report = viewer.steps(&["key Escape", "press Play", "wait 0.3", "state"])?;
    check(report["playing"] == true && report["help"] == false, || {
        report.to_string()
    })
}

fn small(display: &Display) -> Result<(), Failed> {
    let mut viewer = Viewer::start_with(display, "400x900", &[], &[HATCHLING])?;
    tour(&mut viewer, "small")?;
    check(viewer.end()?.success(), || "the viewer failed".into())?;
    // Without a file.
    let mut viewer = Viewer::start_with(display, "400x900", &[], &[])?;
    viewer.steps(&["press Settings"])?;
    all_fits(&viewer.shot("small-empty")?, "empty")?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

fn scaled(display: &Display) -> Result<(), Failed> {
    let variables = [("WINIT_X11_SCALE_FACTOR", "2")];
    for (size, name) in [("1280x800", "scaled"), ("400x900", "scaled-small")] {
        let mut viewer = Viewer::start_with(display, size, &variables, &[HATCHLING])?;
        tour(&mut viewer, name)?;
        check(viewer.end()?.success(), || "the viewer failed".into())?;
    }
    // A large window at scale 2 has both panels.
    let mut viewer = Viewer::start_with(
        display,
        "1590x990",
        &[("WINIT_X11_SCALE_FACTOR", "1.5")],
        &[PUPPET],
    )?;
    viewer.steps(&["settle", "time 3"])?;
    let shot = viewer.shot("scaled-large")?;
    all_fits(&shot, "large")?;
    place(&places(&shot.report)?, "joints panel")?;
    check(viewer.end()?.success(), || "the viewer failed".into())
}

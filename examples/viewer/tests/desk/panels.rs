//! The panels: their edges, lists and messages, in windows of all sizes.

use egui::{PointerButton, Rect, vec2};
use libtest_mimic::Failed;
use sinew_viewer::drops::Intent;
use sinew_viewer::layout::Place;

use crate::viewer::Viewer;
use crate::{HATCHLING, PUPPET, Run, check};

pub const TRIALS: &[(&str, Run)] = &[
    ("panels_resize_and_joints_fill_theirs", panels),
    ("windows_of_all_sizes_show_everything", sizes),
];

/// A stage with a chain of so many joints.
fn chain(count: usize) -> String {
    let mut path = String::new();
    let mut joints = Vec::new();
    for i in 0..count {
        // Branches of 20, so that paths stay short.
        path = match i % 20 {
            0 => format!("root/J{i}"),
            _ => format!("{path}/J{i}"),
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

/// The row of the chosen joint is within the list.
fn row_is_in_view(viewer: &Viewer) -> Result<(), Failed> {
    let (row, list) = (viewer.place("chosen joint")?, viewer.place("joint list")?);
    let inside = row.top() >= list.top() - 1.0 && row.bottom() <= list.bottom() + 1.0;
    check(inside, || format!("{row:?} in {list:?}"))
}

fn panels() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("chain.usda");
    std::fs::write(&file, chain(3000))?;
    let mut viewer = Viewer::open(&[&file.display().to_string()])?;
    let (panel, list) = (viewer.place("joints panel")?, viewer.place("joint list")?);
    // The list fills its panel to the bottom.
    let fills = list.bottom() > panel.bottom() - 20.0 && list.bottom() <= panel.bottom() + 1.0;
    check(fills, || format!("{list:?} in {panel:?}"))?;

    // Its edge is dragged, and the picture makes room.
    let was = viewer.state().viewport;
    viewer.drag(
        panel.right_center(),
        vec2(90.0, 0.0),
        PointerButton::Primary,
    );
    let wider = viewer.place("joints panel")?;
    let grown = (wider.width() - panel.width() - 90.0).abs() < 8.0;
    check(grown, || format!("{panel:?} {wider:?}"))?;
    let now = viewer.state().viewport;
    check((was[2] - now[2]).abs_diff(90) < 8, || {
        format!("{was:?} {now:?}")
    })?;

    // A joint far below is scrolled into view.
    for joint in ["J2950", "J7", "J1500"] {
        viewer.joint(joint)?;
        row_is_in_view(&viewer)?;
    }
    Ok(())
}

const PANELS: [&str; 5] = [
    "bar",
    "timeline",
    "settings panel",
    "joints panel",
    "picture",
];
/// Over the picture or within lists that scroll.
const WITHIN: [&str; 6] = [
    "message",
    "graph",
    "chosen joint",
    "joint list",
    "Copy",
    "Close",
];
/// The settings scroll: these may be out of view.
const SETTINGS: [&str; 10] = [
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

/// Panels do not overlap, nothing that has a name is cut or covered by another, and the picture has room.
fn all_fits(viewer: &Viewer, what: &str) -> Result<(), Failed> {
    let window = Rect::from_min_size(Default::default(), viewer.size()).expand(1.0);
    let places = viewer.places();
    let scrolled = |name: &str, place: &Place| place.is_cut && SETTINGS.contains(&name);
    let in_view = || places.iter().filter(|(name, place)| !scrolled(name, place));
    for (name, place) in in_view() {
        let inside = window.contains_rect(place.rect) && !place.is_cut;
        check(inside, || format!("{what}: {name} is cut: {place:?}"))?;
    }
    let apart = || in_view().filter(|(name, _)| !WITHIN.contains(&name.as_str()));
    for (name, a) in apart() {
        let is_panel = PANELS.contains(&name.as_str());
        let alike = |other: &str| PANELS.contains(&other) == is_panel && other > name.as_str();
        for (other, b) in apart().filter(|(other, _)| alike(other)) {
            let common = a.rect.intersect(b.rect);
            let overlap = common.width() > 1.5 && common.height() > 1.5;
            check(!overlap, || {
                format!("{what}: {name} and {other} overlap: {a:?} {b:?}")
            })?;
        }
    }
    let share = viewer.place("picture")?.area() / viewer.size().x / viewer.size().y;
    check(share > 0.25, || {
        format!("{what}: the picture has {share} of the window")
    })
}

/// All that a window shows. A narrow one has a button for each panel.
fn tour(viewer: &mut Viewer, name: &str, is_narrow: bool) -> Result<(), Failed> {
    viewer.time(7.0);
    all_fits(viewer, &format!("{name}, plain"))?;
    if is_narrow {
        viewer.press("Settings")?;
        all_fits(viewer, &format!("{name}, settings"))?;
    }
    viewer.place("settings panel")?;
    if is_narrow {
        viewer.press("Joints")?;
    }
    viewer.place("joints panel")?;
    viewer.keys(&["h", "i"])?;
    all_fits(viewer, &format!("{name}, joints"))?;
    row_is_in_view(viewer)?;
    check(viewer.place("graph")?.width() >= 120.0, || {
        "a small graph".into()
    })?;
    viewer.keys(&["h", "i"])?;
    check(!viewer.places().contains_key("graph"), || {
        "the graph stays".into()
    })?;
    viewer.drop("no-such-folder/hero.usda", Intent::Auto)?;
    all_fits(viewer, &format!("{name}, error"))?;
    viewer.press("Close")?;
    viewer.press("?")?;
    check(viewer.report()["help"] == true, || "no list of keys".into())?;
    viewer.keys(&["Escape"])?;
    viewer.press("Play")?;
    let report = viewer.report();
    check(report["playing"] == true && report["help"] == false, || {
        report.to_string()
    })?;
    viewer.press("Play")?;
    check(viewer.report()["activity"] == "paused", || {
        viewer.report().to_string()
    })
}

fn sizes() -> Result<(), Failed> {
    for (size, scale, file, is_narrow) in [
        ([400.0, 900.0], 1.0, HATCHLING, true),
        ([1280.0, 800.0], 2.0, HATCHLING, true),
        ([400.0, 900.0], 2.0, HATCHLING, true),
        // A large window has both panels.
        ([1590.0, 990.0], 1.5, PUPPET, false),
    ] {
        let mut viewer = Viewer::sized(size, scale, &[file])?;
        tour(&mut viewer, &format!("{size:?} at {scale}"), is_narrow)?;
    }
    // Without a file.
    let mut viewer = Viewer::sized([400.0, 900.0], 1.0, &[])?;
    viewer.press("Settings")?;
    all_fits(&viewer, "empty")?;
    check(viewer.report()["activity"] == "no file is open", || {
        viewer.report().to_string()
    })
}

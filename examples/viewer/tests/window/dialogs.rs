//! The desktop's dialogs, by a program in place of zenity.

use std::path::Path;

use libtest_mimic::Failed;

use crate::window::{Display, Viewer};
use crate::{PUPPET, check};

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

pub fn dialogs(display: &Display) -> Result<(), Failed> {
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

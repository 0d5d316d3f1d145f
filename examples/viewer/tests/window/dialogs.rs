//! The desktop's dialogs, by a program in place of zenity.

use std::path::Path;

use libtest_mimic::Failed;

use crate::display::Display;
use crate::judge::check;
use crate::steps::Steps;
use crate::window::Viewer;
use crate::{PUPPET, ends};

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
    // These programs instead of those of the system, and no desktop's portal.
    let path = folder.path().display().to_string();
    let bus = "unix:path=/nonexistent/bus";
    let variables = [("PATH", &*path), ("DBUS_SESSION_BUS_ADDRESS", bus)];
    let mut viewer = Viewer::start(display, &variables, &["--size", "1000x660"])?;
    viewer.play("wait 0.1\n= /activity \"no file is open\"")?;
    viewer.play("press Open\nsettle\nstate\n~ /file puppet.glb")?;
    let asked = noted()?;
    let extensions = sinew_io::readable_formats().flat_map(|f| f.extensions);
    let all: Vec<String> = extensions.map(|e| format!("*.{e}")).collect();
    check(asked.lines().any(|l| l.ends_with(&all.join(" "))), || {
        asked.clone()
    })?;

    // A dialog that is closed changes nothing.
    zenity(folder.path(), "exit 1")?;
    std::fs::remove_file(folder.path().join("noted"))?;
    viewer.play("key o\nsettle\nstate\n= /notice null\n= /error null\n= /loads 1")?;
    check(noted().is_ok_and(|n| n == asked), || {
        "no dialog was shown".into()
    })?;

    let picture = folder.path().join("saved");
    zenity(folder.path(), &format!("echo '{}'", picture.display()))?;
    viewer.play("key s shift\nsettle\nstate\n~ /notice saved.png")?;
    check(noted()?.contains("--save"), || noted().unwrap_or_default())?;
    let saved = image::open(picture.with_extension("png"))?;
    let (width, height) = (saved.width(), saved.height());
    // The message about it takes room of the picture.
    let size = format!("= /viewport/2 {width}\n= /viewport/3 {height}");
    viewer.play(&format!("key Escape\nsettle\nstate\n{size}"))?;

    // No program and no portal: what else can be done is told.
    std::fs::remove_file(folder.path().join("zenity"))?;
    viewer.play("key Escape\nkey o\nsettle\n~ /notice no file dialog\n~ /notice Drop a file")?;
    viewer.shot("dialog-none")?;
    viewer.play("key Escape\nstate\n= /notice null")?;
    ends(viewer, 0)
}

//! A display without a screen, and where its pictures are kept.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where pictures are kept for people to look at.
pub fn shots() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("viewer-shots");
    std::fs::create_dir_all(&folder).expect("a target folder that can be written to");
    folder
}

/// Why there is no display for the viewer here, if there is none.
pub fn missing() -> Option<String> {
    if std::env::var("SINEW_NO_DISPLAY").is_ok_and(|v| v == "1") {
        return Some("SINEW_NO_DISPLAY=1".into());
    }
    if !cfg!(target_os = "linux") {
        return Some("Xvfb is for Linux".into());
    }
    let version = Command::new("Xvfb").arg("-help").output();
    version
        .err()
        .map(|e| format!("Xvfb cannot be run ({e}); Debian has it as xvfb"))
}

/// An X server in memory; ends with the value.
pub struct Display {
    server: Child,
    pub name: String,
}

impl Display {
    pub fn new() -> Result<Self, String> {
        let mut server = Command::new("Xvfb")
            .args("-displayfd 1 -screen 0 1600x1000x24 -nolisten tcp".split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("Xvfb: {e}"))?;
        let mut number = String::new();
        if let Some(out) = server.stdout.take() {
            BufReader::new(out)
                .read_line(&mut number)
                .map_err(|e| e.to_string())?;
        }
        let number = number.trim();
        if number.is_empty() {
            let _ = server.kill();
            return Err("Xvfb gave no display".into());
        }
        let name = format!(":{number}");
        Ok(Self { server, name })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

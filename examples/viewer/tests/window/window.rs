//! A display without a screen, and the viewer in it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use image::RgbaImage;
use serde_json::Value;

/// A step may take so long on a busy machine. The viewer gives up before, and says why.
const PATIENCE: Duration = Duration::from_secs(360);

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
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "1600x1000x24",
                "-nolisten",
                "tcp",
            ])
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

/// A viewer that takes its steps from here.
pub struct Viewer {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    /// What the last step was answered.
    pub last: Value,
}

impl Viewer {
    pub fn start(display: &Display, args: &[&str]) -> Result<Self, String> {
        Self::start_with(display, "1000x660", &[], args)
    }

    /// Like [`Viewer::start`], in a window of this size and with these variables of the environment.
    pub fn start_with(
        display: &Display,
        size: &str,
        variables: &[(&str, &str)],
        args: &[&str],
    ) -> Result<Self, String> {
        let mut child = command(display)?
            .args(["--size", size, "--script", "-"])
            .args(args)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let (sender, answers) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self {
            input: child.stdin.take(),
            child,
            answers,
            last: Value::Null,
        })
    }

    /// Takes a step and gives its answer, whether it failed or not.
    pub fn try_step(&mut self, line: &str) -> Result<&Value, String> {
        self.send(line)?;
        self.answer(line)
    }

    /// Writes one line.
    fn send(&mut self, line: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the viewer has ended")?;
        let written = input.write_all(format!("{line}\n").as_bytes());
        written.map_err(|e| format!("{line}: {e}"))
    }

    fn answer(&mut self, line: &str) -> Result<&Value, String> {
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer =
            answer.map_err(|_| format!("{line}: no answer; ended: {:?}", self.child.try_wait()))?;
        self.last = serde_json::from_str(&answer).map_err(|e| format!("{answer}: {e}"))?;
        Ok(&self.last)
    }

    /// Takes steps that have to succeed.
    pub fn steps(&mut self, lines: &[&str]) -> Result<&Value, String> {
        for line in lines {
            self.send(line)?;
            self.succeeded(line)?;
        }
        Ok(&self.last)
    }

    fn succeeded(&mut self, line: &str) -> Result<(), String> {
        let answer = self.answer(line)?;
        if answer["step"] != line || !answer["failed"].is_null() {
            return Err(format!("{line}: {answer}"));
        }
        Ok(())
    }

    /// Tries again until it succeeds; after [`PATIENCE`] the last failure counts.
    pub fn eventually<T, E: std::fmt::Debug>(
        &mut self,
        what: &str,
        mut attempt: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<T, String> {
        let began = Instant::now();
        loop {
            match attempt(self) {
                Ok(done) => return Ok(done),
                Err(e) if began.elapsed() > PATIENCE || self.has_ended() => {
                    return Err(format!("{what}: {e:?}"));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// What the viewer's threads took of all processors so far.
    pub fn processor_time(&self) -> Result<Duration, String> {
        common::processor::so_far(self.child.id()).ok_or_else(|| "no process".into())
    }

    /// A picture of the window, kept under a name.
    pub fn shot(&mut self, name: &str) -> Result<Shot, String> {
        let path = shots().join(format!("{name}.png"));
        let step = format!("shot {}", path.display());
        let report = self.steps(&[&step])?.clone();
        let image = image::open(&path).map_err(|e| e.to_string())?.to_rgba8();
        Ok(Shot { image, report })
    }

    /// Closes the script, and waits for the end.
    pub fn end(mut self) -> Result<ExitStatus, String> {
        drop(self.input.take());
        wait(&mut self.child)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // Of no use where it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The viewer's command in this display.
pub fn command(display: &Display) -> Result<Command, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_viewer"));
    command
        .current_dir(common::repository())
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET");
    Ok(command)
}

/// Runs to its end; exit code and stderr.
pub fn run(mut command: Command) -> Result<(Option<i32>, String), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let mut text = String::new();
    if let Some(mut err) = child.stderr.take() {
        err.read_to_string(&mut text).map_err(|e| e.to_string())?;
    }
    Ok((wait(&mut child)?.code(), text))
}

fn wait(child: &mut Child) -> Result<ExitStatus, String> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            return Ok(status);
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            return Err("the viewer does not end".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A picture of the window, and what it shows.
pub struct Shot {
    pub image: RgbaImage,
    pub report: Value,
}

impl Shot {
    /// Left, top, width and height of the 3D picture in the window.
    pub fn viewport(&self) -> [u32; 4] {
        std::array::from_fn(|i| self.report["viewport"][i].as_u64().unwrap_or(0) as u32)
    }

    /// The 3D picture.
    pub fn picture(&self) -> RgbaImage {
        let [left, top, width, height] = self.viewport();
        image::imageops::crop_imm(&self.image, left, top, width, height).to_image()
    }

    /// Colours in the window, in steps of 8.
    pub fn colors(&self) -> usize {
        let colors = self.image.pixels().map(|p| p.0.map(|c| c / 8));
        colors.collect::<std::collections::HashSet<_>>().len()
    }
}

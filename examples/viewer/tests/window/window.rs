//! The viewer in a display.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use image::RgbaImage;
use serde_json::Value;

use crate::display::{Display, shots};
use crate::judge::check;
use crate::steps::Steps;

/// A step may take so long on a busy machine. The viewer gives up before, and says why.
const PATIENCE: Duration = Duration::from_secs(360);

/// A viewer that takes its steps from here.
pub struct Viewer {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
    /// What the last step was answered.
    pub last: Value,
}

impl Viewer {
    /// Starts the viewer with these arguments and these variables of the environment.
    pub fn start(
        display: &Display,
        variables: &[(&str, &str)],
        args: &[&str],
    ) -> Result<Self, String> {
        let mut child = command(display)
            .args(["--script", "-"])
            .args(args)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let (sender, answers) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(out).lines().map_while(Result::ok);
                lines.try_for_each(|line| sender.send(line))
            });
        }
        Ok(Self {
            input: child.stdin.take(),
            child,
            answers,
            last: Value::Null,
        })
    }

    /// Plays a script again until it succeeds; after [`PATIENCE`] the last failure counts.
    pub fn until(&mut self, script: &str) -> Result<(), String> {
        let began = Instant::now();
        while let Err(e) = self.play(script) {
            let goes_on = began.elapsed() < PATIENCE && matches!(self.child.try_wait(), Ok(None));
            check(goes_on, || e)?;
        }
        Ok(())
    }

    /// What the viewer's threads took of all processors so far.
    pub fn processor_time(&self) -> Result<Duration, String> {
        common::processor::so_far(self.child.id()).ok_or_else(|| "no process".into())
    }

    /// A picture of the window, kept under a name, and that of its 3D picture.
    pub fn shot(&mut self, name: &str) -> Result<[RgbaImage; 2], String> {
        let path = shots().join(format!("{name}.png"));
        self.play(&format!("shot {}", path.display()))?;
        let image = image::open(&path).map_err(|e| e.to_string())?.to_rgba8();
        let edge = |i: usize| self.last["viewport"][i].as_u64().unwrap_or(0) as u32;
        let picture = image::imageops::crop_imm(&image, edge(0), edge(1), edge(2), edge(3));
        let picture = picture.to_image();
        Ok([image, picture])
    }

    /// Closes the script, and waits for the end; gives the exit code.
    pub fn end(mut self) -> Result<Option<i32>, String> {
        drop(self.input.take());
        Ok(wait(&mut self.child)?.code())
    }
}

impl Steps for Viewer {
    fn step(&mut self, line: &str) -> Result<&Value, String> {
        let input = self.input.as_mut().ok_or("the viewer has ended")?;
        input
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|e| e.to_string())?;
        let answer = self.answers.recv_timeout(PATIENCE);
        let answer =
            answer.map_err(|_| format!("no answer; ended: {:?}", self.child.try_wait()))?;
        self.last = serde_json::from_str(&answer).map_err(|e| format!("{answer}: {e}"))?;
        check(self.last["step"] == line, || answer)?;
        Ok(&self.last)
    }

    fn last(&self) -> &Value {
        &self.last
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
pub fn command(display: &Display) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew-viewer"));
    command
        .current_dir(common::repository())
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET");
    command
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

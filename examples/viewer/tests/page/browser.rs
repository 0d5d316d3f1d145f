//! Chromium in a display without a screen, told what to do by DevTools' protocol through two pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::RgbaImage;
use serde_json::{Value, json};

use crate::display::Display;
use crate::judge::check;
use crate::steps::Steps;

/// Everything is slow here: pages are drawn by a software driver.
const PATIENCE: Duration = Duration::from_secs(120);

/// The names of the browser.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Draws WebGPU by SwiftShader into a window that a software GL shows.
const FLAGS: &str = "--remote-debugging-pipe --no-sandbox --no-first-run --window-size=1000,760 --enable-unsafe-webgpu \
                     --ignore-gpu-blocklist --disable-gpu-watchdog --use-angle=gl --use-webgpu-adapter=swiftshader about:blank";

/// The command of a browser, if there is one.
pub fn found() -> Option<&'static str> {
    let is_there = |name: &&&str| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|v| v.status.success())
    };
    NAMES.iter().find(is_there).copied()
}

pub struct Page {
    browser: Child,
    pipe: ChildStdin,
    messages: Receiver<Value>,
    /// Number of the last command.
    commands: u64,
    /// Of the page.
    session: Value,
    /// What the console was told and nobody has asked for.
    console: Vec<String>,
    /// The viewer is in a frame of the page.
    pub is_framed: bool,
    /// Of the browser's settings.
    profile: tempfile::TempDir,
    last: Value,
}

impl Page {
    pub fn start(display: &Display, browser: &str) -> Result<Self, String> {
        let text = |e: std::io::Error| format!("{browser}: {e}");
        let profile = tempfile::tempdir().map_err(text)?;
        // The browser reads commands at 3, and answers at 4.
        let mut browser = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null", "sh", browser])
            .args(FLAGS.split_whitespace())
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("DISPLAY", &display.name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(text)?;
        let (sender, messages) = channel();
        let (pipe, answers) = (browser.stdin.take(), browser.stdout.take());
        let (Some(pipe), Some(answers)) = (pipe, answers) else {
            return Err("no pipes".into());
        };
        std::thread::spawn(move || {
            let all = BufReader::new(answers).split(0).map_while(Result::ok);
            let mut read = all.filter_map(|m| serde_json::from_slice(&m).ok());
            read.try_for_each(|message: Value| sender.send(message))
        });
        let mut page = Self {
            browser,
            pipe,
            messages,
            commands: 0,
            session: Value::Null,
            console: Vec::new(),
            is_framed: false,
            profile,
            last: Value::Null,
        };
        let downloads = page.downloads();
        let how = json!({"behavior": "allow", "downloadPath": downloads});
        page.ask("Browser.setDownloadBehavior", how)?;
        let targets = page.ask("Target.getTargets", json!({}))?;
        let targets = targets["targetInfos"].as_array().cloned();
        let mut targets = targets.unwrap_or_default().into_iter();
        let target = targets.find(|t| t["type"] == "page").ok_or("no page")?;
        let which = json!({"targetId": target["targetId"], "flatten": true});
        page.session = page.ask("Target.attachToTarget", which)?["sessionId"].take();
        page.ask("Runtime.enable", json!({}))?;
        Ok(page)
    }

    /// Takes a command of DevTools' protocol and gives its result.
    fn ask(&mut self, method: &str, parameters: Value) -> Result<Value, String> {
        self.commands += 1;
        let mut command = json!({"id": self.commands, "method": method, "params": parameters});
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        let sent = write!(self.pipe, "{command}\0").and_then(|()| self.pipe.flush());
        sent.map_err(|e| format!("{method}: {e}"))?;
        let began = Instant::now();
        loop {
            let mut message = self.message(began)?;
            if message["id"] == self.commands {
                let is_good = message["error"].is_null();
                check(is_good, || format!("{method}: {message}"))?;
                return Ok(message["result"].take());
            }
        }
    }

    /// Takes the next message; what the console was told is kept.
    fn message(&mut self, began: Instant) -> Result<Value, String> {
        let left = PATIENCE.saturating_sub(began.elapsed());
        let message = self.messages.recv_timeout(left);
        let message = message.map_err(|e| format!("{e}; the page told {:?}", self.console))?;
        if message["method"] == "Runtime.consoleAPICalled" {
            let text = message["params"]["args"][0]["value"].as_str();
            self.console.extend(text.map(str::to_owned));
        }
        Ok(message)
    }

    /// The value of an expression where the viewer is, which is waited for.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let framed = format!("frames[0].eval({})", json!(expression));
        let expression = if self.is_framed { &framed } else { expression };
        let how = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut result = self.ask("Runtime.evaluate", how)?;
        let failed = &result["exceptionDetails"];
        check(failed.is_null(), || failed.to_string())?;
        Ok(result["result"]["value"].take())
    }

    /// Opens an address, and waits until the viewer runs there.
    pub fn open(&mut self, address: &str) -> Result<(), String> {
        self.navigate(address)?;
        self.opened(address)
    }

    /// Goes to an address.
    pub fn navigate(&mut self, address: &str) -> Result<(), String> {
        self.console.clear();
        let to = json!({ "url": address });
        self.ask("Page.navigate", to).map(drop)
    }

    /// Waits until the viewer runs at an address, in a document that has not been left.
    pub fn opened(&mut self, address: &str) -> Result<(), String> {
        let began = Instant::now();
        let is_there = format!(
            "!globalThis.isLeft && location.href == '{address}' && import('./viewer.js').then(m => m.step('') ?? true)"
        );
        while !matches!(self.evaluate(&is_there), Ok(Value::Bool(true))) {
            let told = self.evaluate("document.getElementById('told')?.textContent");
            let goes_on = began.elapsed() < PATIENCE;
            check(goes_on, || {
                format!("{address}: {told:?} {:?}", self.console)
            })?;
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Waits until an expression has a value that is looked for.
    pub fn wait_for(
        &mut self,
        expression: &str,
        is_there: impl Fn(&Value) -> bool,
    ) -> Result<Value, String> {
        let began = Instant::now();
        loop {
            let value = self.evaluate(expression)?;
            if is_there(&value) {
                return Ok(value);
            }
            check(began.elapsed() < PATIENCE, || {
                format!("{expression}: {value}")
            })?;
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Drops files of the site into the page, all at once, while a key is held: none, or `Alt`.
    pub fn drop_files(&mut self, addresses: &[&str], key: &str) -> Result<(), String> {
        let (addresses, alt) = (json!(addresses), key == "Alt");
        let dropped = format!(
            "(async () => {{
                const dataTransfer = new DataTransfer();
                for (const address of {addresses}) {{
                    const bytes = await (await fetch(address)).arrayBuffer();
                    dataTransfer.items.add(new File([bytes], address.split('/').pop()));
                }}
                for (const kind of ['dragover', 'drop']) {{
                    const event = new DragEvent(kind, {{ bubbles: true, cancelable: true, altKey: {alt}, dataTransfer }});
                    document.getElementById('viewer').dispatchEvent(event);
                }}
            }})()"
        );
        self.evaluate(&dropped).map(drop)
    }

    /// Clicks on a part of the viewer with the mouse, and gives files to the input whose dialog it would open: a dialog
    /// that DevTools take over tells the page that nothing was chosen.
    pub fn choose(&mut self, place: &str, files: &[PathBuf]) -> Result<(), String> {
        self.evaluate(
            "HTMLInputElement.prototype.click = function () { globalThis.input = this; }",
        )?;
        let rect = &self.step("state")?["places"][place]["rect"];
        let edge = |i: usize| rect[i].as_f64().unwrap_or(f64::NAN);
        let (x, y) = (edge(0) + edge(2) * 0.5, edge(1) + edge(3) * 0.5);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.ask("Input.dispatchMouseEvent", event)?;
        }
        self.wait_for("globalThis.input !== undefined", |is_there| {
            is_there == true
        })?;
        let input = self.ask("Runtime.evaluate", json!({"expression": "input"}))?;
        let chosen = json!({"files": files, "objectId": input["result"]["objectId"]});
        self.ask("DOM.setFileInputFiles", chosen).map(drop)
    }

    /// Gives the page another size.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<(), String> {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", size)
            .map(drop)
    }

    /// The folder of what the page saves.
    fn downloads(&self) -> PathBuf {
        self.profile.path().join("saved")
    }

    /// A file that the page saves, once it is whole.
    pub fn saved(&self, name: &str) -> Result<PathBuf, String> {
        let (began, file) = (Instant::now(), self.downloads().join(name));
        // The browser writes it under another name.
        while !file.exists() {
            check(began.elapsed() < PATIENCE, || {
                let there = std::fs::read_dir(self.downloads()).into_iter().flatten();
                let there: Vec<_> = there.flatten().map(|f| f.file_name()).collect();
                format!("{name} is not saved; there are {there:?}")
            })?;
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(file)
    }

    /// The picture of the page.
    pub fn shot(&mut self) -> Result<RgbaImage, String> {
        let mut shot = self.ask("Page.captureScreenshot", json!({"format": "png"}))?;
        let bytes = STANDARD.decode(shot["data"].take().as_str().unwrap_or_default());
        let bytes = bytes.map_err(|e| e.to_string())?;
        let picture = image::load_from_memory(&bytes).map_err(|e| e.to_string())?;
        Ok(picture.to_rgba8())
    }
}

impl Steps for Page {
    fn step(&mut self, line: &str) -> Result<&Value, String> {
        let call = format!("import('./viewer.js').then(m => m.step({}))", json!(line));
        self.evaluate(&call)?;
        let began = Instant::now();
        loop {
            let told = std::mem::take(&mut self.console);
            let answers = told
                .iter()
                .filter_map(|t| serde_json::from_str::<Value>(t).ok());
            if let Some(answer) = answers.into_iter().find(|a| a["step"] == line) {
                self.last = answer;
                return Ok(&self.last);
            }
            self.message(began)
                .map_err(|e| format!("{line}: {e}; before: {told:?}"))?;
        }
    }

    fn last(&self) -> &Value {
        &self.last
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

//! The other side of the scripts, of Python and of node, that answer one line per line.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// An interpreter that runs a script, which answers one line per line.
pub struct Worker {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What it warns of.
    log: PathBuf,
    script: &'static str,
}

impl Worker {
    /// `program` is the interpreter; `script` is below the repository's folder; `folder` is where what it warns of goes.
    pub fn new(
        program: &str,
        script: &'static str,
        folder: &Path,
        thread: usize,
    ) -> Result<Self, String> {
        let stem = Path::new(script).file_stem().unwrap_or_default();
        let log = folder.join(format!("{}{thread}.log", stem.display()));
        let fail = |e: std::io::Error| format!("{program}: {e}");
        let mut process = Command::new(program)
            .arg(super::repository().join(script))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).map_err(fail)?)
            .spawn()
            .map_err(fail)?;
        let input = process.stdin.take().ok_or("no stdin")?;
        let output = BufReader::new(process.stdout.take().ok_or("no stdout")?);
        Ok(Self {
            process,
            input,
            output,
            log,
            script,
        })
    }

    /// # Errors
    /// A script that died, and what went wrong in it.
    pub fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let mut line = String::new();
        writeln!(self.input, "{request}")
            .and_then(|()| self.output.read_line(&mut line))
            .map_err(|e| format!("{}: {e}; see {}", self.script, self.log.display()))?;
        let answer: Value = serde_json::from_str(&line)
            .map_err(|_| format!("{} died; see {}", self.script, self.log.display()))?;
        match answer["error"].as_str() {
            Some(e) => Err(format!("a bug in {}: {e}", self.script)),
            None => Ok(answer),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It only reads and writes files of its own; there is nothing to wait for.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Workers of one script: as many as there are questions at the same time.
pub struct Workers {
    script: &'static str,
    idle: Mutex<Vec<Worker>>,
    started: AtomicUsize,
}

impl Workers {
    pub const fn new(script: &'static str) -> Self {
        Self {
            script,
            idle: Mutex::new(Vec::new()),
            started: AtomicUsize::new(0),
        }
    }

    /// Asks an idle worker, or a new one where all are busy. `folder` is where what it warns of goes.
    ///
    /// # Errors
    /// As [`Worker::ask`]; a folder that cannot be made.
    pub fn ask(&self, program: &str, folder: &Path, request: &Value) -> Result<Value, String> {
        let idle = self.idle.lock().map_err(|e| e.to_string())?.pop();
        let mut worker = match idle {
            Some(worker) => worker,
            None => {
                std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
                let number = self.started.fetch_add(1, Ordering::Relaxed);
                Worker::new(program, self.script, folder, number)?
            }
        };
        let answer = worker.ask(request)?;
        self.idle.lock().map_err(|e| e.to_string())?.push(worker);
        Ok(answer)
    }
}

//! The other side of the Python scripts that answer one line per line.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

/// A Python that has usd-core loaded and answers one line per line.
pub struct Worker {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// What usd-core warns of.
    log: PathBuf,
    script: &'static str,
}

impl Worker {
    /// `script` is below the repository's folder; `folder` is where what it warns of goes.
    pub fn new(
        python: &str,
        script: &'static str,
        folder: &Path,
        thread: usize,
    ) -> Result<Self, String> {
        let log = folder.join(format!("python{thread}.log"));
        let fail = |e: std::io::Error| format!("{python}: {e}");
        let mut process = Command::new(python)
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
    /// A Python that died, and what went wrong in it.
    pub fn ask(&mut self, request: &Value) -> Result<Value, String> {
        let mut line = String::new();
        writeln!(self.input, "{request}")
            .and_then(|()| self.output.read_line(&mut line))
            .map_err(|e| format!("python: {e}; see {}", self.log.display()))?;
        let answer: Value = serde_json::from_str(&line)
            .map_err(|_| format!("python died; see {}", self.log.display()))?;
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

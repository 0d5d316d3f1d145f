//! A command at work, which a test watches and stops.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::Folder;
use common::command::{stderr, stdout};
use common::processor;

/// For a machine whose processors and disk other work takes.
const PATIENCE: Duration = Duration::from_secs(600);

/// The signals that the command handles.
pub const SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// A process that was started and has not ended.
pub struct Running(Child);

/// How a process ended.
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Running {
    /// Starts the command, and waits until it catches SIGTERM; before that the signal ends a process
    /// that has written nothing.
    ///
    /// Signals do what is usual, also where the tests were started to ignore them, as `nohup` does.
    pub fn start(folder: &Folder, line: &str) -> Self {
        let mut running = Self::spawn(folder.command(line), libc::SIG_DFL);
        running.wait("to catch signals", |running| {
            running.has_in_mask("SigCgt:", libc::SIGTERM)
        });
        running
    }

    /// Starts a command to which signals do this first. It yields the processors to the tests, so
    /// that a test that waits for something sees it before the work is done, also on a busy machine.
    pub fn spawn(mut command: Command, handler: libc::sighandler_t) -> Self {
        let prepare = move || {
            for signal in SIGNALS {
                // SAFETY: this needs nothing of the process.
                unsafe { libc::signal(signal, handler) };
            }
            // SAFETY: as above. At 19 it would stand still beside other programs that keep the processors busy.
            unsafe { libc::nice(5) };
            Ok(())
        };
        // SAFETY: it only calls signal and nice, which may be called after fork.
        unsafe { command.pre_exec(prepare) };
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    /// Whether a mask of the process holds a signal.
    pub fn has_in_mask(&self, mask: &str, signal: i32) -> bool {
        let status = format!("/proc/{}/status", self.0.id());
        let text = std::fs::read_to_string(status).unwrap_or_default();
        let found = text.lines().find_map(|l| l.strip_prefix(mask));
        let found = found.and_then(|m| u64::from_str_radix(m.trim(), 16).ok());
        found.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
    }

    pub fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }

    /// Waits until something is so, while the process is at work.
    pub fn wait(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(!self.is_over(), "it ended before it came {what}");
            assert!(start.elapsed() < PATIENCE, "it never came {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits until it took so much of the processors.
    pub fn wait_until_spent(&mut self, milliseconds: u64) {
        processor::wait_until_spent(&mut self.0, Duration::from_millis(milliseconds));
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: it has not been waited for, so the number is its own.
        let sent = unsafe { libc::kill(self.0.id() as i32, signal) };
        assert_eq!(sent, 0);
    }

    /// Waits for the end, which has to come by itself.
    pub fn end(mut self) -> Ended {
        let start = Instant::now();
        while !self.is_over() {
            if start.elapsed() > PATIENCE {
                self.0.kill().unwrap();
                panic!("it goes on");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let output = self.0.wait_with_output().unwrap();
        Ended {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: stdout(&output),
            stderr: stderr(&output),
        }
    }

    /// Ends it by SIGKILL.
    pub fn kill(self) {
        self.signal(libc::SIGKILL);
        self.end();
    }
}

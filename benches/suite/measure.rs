//! Times of runs, and whole processes.

use std::process::{Command, Stdio};
use std::time::Instant;

/// Seconds of some runs, the shortest first.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Times {
    seconds: Vec<f64>,
}

impl Times {
    /// # Panics
    /// Where there are none.
    pub fn of(mut seconds: Vec<f64>) -> Self {
        assert!(!seconds.is_empty(), "no runs");
        seconds.sort_by(f64::total_cmp);
        Self { seconds }
    }

    pub fn count(&self) -> usize {
        self.seconds.len()
    }

    pub fn median(&self) -> f64 {
        self.at(0.5)
    }

    /// The first and the third quartile: half of the runs lie between them.
    pub fn quartiles(&self) -> [f64; 2] {
        [self.at(0.25), self.at(0.75)]
    }

    /// The value that this share of the runs does not exceed, between two runs in proportion.
    fn at(&self, share: f64) -> f64 {
        let place = share * (self.seconds.len() - 1) as f64;
        let (low, high) = (place.floor() as usize, place.ceil() as usize);
        self.seconds[low] + (self.seconds[high] - self.seconds[low]) * place.fract()
    }

    /// The same with the runs of another round.
    pub fn and(mut self, other: Self) -> Self {
        self.seconds.extend(other.seconds);
        Self::of(self.seconds)
    }
}

/// How often things are run.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// More where all of them take less than [`SHORT`]: other cores are asleep in the first milliseconds.
    pub most: usize,
    /// So few where they take longer than `seconds`.
    pub fewest: usize,
    pub seconds: f64,
}

/// Seconds. Written down in `usd_core.py` too.
const SHORT: f64 = 0.2;

impl Runs {
    /// Runs `f` once for warming up, and then as often as wanted; it gives its own seconds.
    pub fn collect<E>(self, mut f: impl FnMut() -> Result<f64, E>) -> Result<Times, E> {
        f()?;
        let (start, mut all) = (Instant::now(), Vec::new());
        loop {
            let spent = start.elapsed().as_secs_f64();
            let enough = all.len() >= self.most && spent >= SHORT;
            if enough || all.len() >= self.fewest && spent >= self.seconds {
                break;
            }
            all.push(f()?);
        }
        Ok(Times::of(all))
    }

    /// The same of something that is timed as a whole.
    pub fn time(self, mut f: impl FnMut()) -> Times {
        let timed = || {
            let start = Instant::now();
            f();
            Ok::<_, std::convert::Infallible>(start.elapsed().as_secs_f64())
        };
        match self.collect(timed) {
            Ok(times) => times,
            Err(never) => match never {},
        }
    }
}

/// A process from start to end.
#[derive(Clone, Copy, Debug)]
pub struct ProcessRun {
    pub seconds: f64,
    /// Largest resident set, where the system tells it.
    pub peak_bytes: Option<u64>,
}

/// First argument of the suite's own child that times a process; see [`process`].
pub const CHILD: &str = "time-process";

/// Runs a command and waits for it. Its output is dropped, but for what it has to say where it fails.
///
/// Linux counts a child's peak memory from its parent's before exec, so the one that starts it has to be small: a child of
/// this same executable does.
pub fn process(command: &[String]) -> Result<ProcessRun, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let out = Command::new(own)
        .arg(CHILD)
        .args(command)
        .output()
        .map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&out.stdout);
    let numbers: Vec<f64> = told
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    match numbers[..] {
        [seconds, peak] if out.status.success() => Ok(ProcessRun {
            seconds,
            peak_bytes: (peak > 0.0).then_some(peak as u64),
        }),
        _ => Err(format!(
            "{}: {}",
            command.join(" "),
            String::from_utf8_lossy(&out.stderr).trim()
        )),
    }
}

/// The child's half: prints seconds and peak bytes, 0 where they are not known.
pub fn time_process(command: &[String]) -> Result<(), String> {
    let (program, arguments) = command.split_first().ok_or("no command to time")?;
    let start = Instant::now();
    let child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stdin(Stdio::null())
        .spawn()
        .map_err(|e| format!("{program}: {e}"))?;
    let (succeeded, peak) = wait(child)?;
    let seconds = start.elapsed().as_secs_f64();
    if !succeeded {
        return Err(format!("{program} failed"));
    }
    println!("{seconds} {peak}");
    Ok(())
}

#[cfg(unix)]
fn wait(child: std::process::Child) -> Result<(bool, u64), String> {
    let mut status = 0;
    // SAFETY: plain numbers that the call fills.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to the variables above, and the child is not waited for elsewhere.
    let waited = unsafe { libc::wait4(child.id() as i32, &mut status, 0, &mut usage) };
    if waited < 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok((status == 0, usage.ru_maxrss as u64 * unit))
}

#[cfg(not(unix))]
fn wait(mut child: std::process::Child) -> Result<(bool, u64), String> {
    let status = child.wait().map_err(|e| e.to_string())?;
    Ok((status.success(), 0))
}

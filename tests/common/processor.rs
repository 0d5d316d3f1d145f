//! Time of a processor, which other processes on a busy machine do not add to.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

/// What work takes of one processor, its rayon threads included. Nothing where the system does not say (it says on Unix), so
/// that nothing is too long there.
pub fn spent<R: Send>(work: impl FnOnce() -> R + Send) -> (R, Duration) {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    one.expect("a thread").install(|| {
        let before = of_thread();
        let result = work();
        (result, of_thread().saturating_sub(before))
    })
}

#[cfg(unix)]
fn of_thread() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: it writes one timespec.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "a clock of the thread");
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn of_thread() -> Duration {
    Duration::ZERO
}

/// What the threads of a running process took of all processors so far, in steps of about 10 ms. `None` where the system does
/// not say (it says on Linux), or if there is no such process.
pub fn so_far(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Fields 14 and 15; the second, in parentheses, may hold spaces.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks = ticks.filter_map(|f| f.parse::<u32>().ok()).sum::<u32>();
    Some(ticks * Duration::from_secs(1) / ticks_per_second())
}

#[cfg(unix)]
fn ticks_per_second() -> u32 {
    // SAFETY: it only returns a number.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    u32::try_from(ticks).ok().filter(|t| *t > 0).unwrap_or(100)
}

#[cfg(not(unix))]
fn ticks_per_second() -> u32 {
    100
}

/// Waits until a process took so much of all processors, or has ended. Where the system does not say what it took, this waits
/// for so long.
pub fn wait_until_spent(child: &mut Child, time: Duration) {
    loop {
        match so_far(child.id()) {
            Some(spent) if spent >= time => return,
            Some(_) if matches!(child.try_wait(), Ok(None)) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Some(_) => return,
            None => return std::thread::sleep(time),
        }
    }
}

/// Runs a command to its end: what it wrote, and what it took of all processors (nothing where the system does not say).
pub fn of_command(command: &mut Command) -> std::io::Result<(Output, Duration)> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(|| err.as_mut().map(|pipe| pipe.read_to_end(&mut stderr)));
        out.as_mut().map(|pipe| pipe.read_to_end(&mut stdout))
    });
    let Ended { status, time, .. } = Ended::wait(&mut child)?;
    let output = Output {
        status,
        stdout,
        stderr,
    };
    Ok((output, time))
}

/// How a process ended, and what it took.
pub struct Ended {
    pub status: ExitStatus,
    /// Of all processors; nothing where the system does not say (it says on Unix).
    pub time: Duration,
    /// Bytes of its largest resident set; 0 where the system does not say.
    pub peak: u64,
}

impl Ended {
    /// Waits for a process.
    ///
    /// # Errors
    /// It was waited for elsewhere.
    #[cfg(unix)]
    pub fn wait(child: &mut Child) -> std::io::Result<Self> {
        use std::os::unix::process::ExitStatusExt;
        let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
        let id = child.id() as libc::pid_t;
        // SAFETY: it writes one status and one usage; the child is not waited for elsewhere.
        let usage = unsafe {
            if libc::wait4(id, &raw mut status, 0, usage.as_mut_ptr()) != id {
                return Err(std::io::Error::last_os_error());
            }
            usage.assume_init()
        };
        let of = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        Ok(Self {
            status: ExitStatus::from_raw(status),
            time: of(usage.ru_utime) + of(usage.ru_stime),
            peak: usage.ru_maxrss as u64 * unit,
        })
    }

    /// Waits for a process.
    ///
    /// # Errors
    /// It was waited for elsewhere.
    #[cfg(not(unix))]
    pub fn wait(child: &mut Child) -> std::io::Result<Self> {
        Ok(Self {
            status: child.wait()?,
            time: Duration::ZERO,
            peak: 0,
        })
    }
}

//! Time of a processor, which other processes on a busy machine do not add to.

use std::io::Read;
use std::process::{Command, ExitStatus, Output, Stdio};
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
    let (status, time) = ended(&mut child)?;
    let output = Output {
        status,
        stdout,
        stderr,
    };
    Ok((output, time))
}

#[cfg(unix)]
fn ended(child: &mut std::process::Child) -> std::io::Result<(ExitStatus, Duration)> {
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
    let time = of(usage.ru_utime) + of(usage.ru_stime);
    Ok((ExitStatus::from_raw(status), time))
}

#[cfg(not(unix))]
fn ended(child: &mut std::process::Child) -> std::io::Result<(ExitStatus, Duration)> {
    Ok((child.wait()?, Duration::ZERO))
}

//! Ctrl-C and other signals that end the process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::exit::Exit;
use crate::progress;
use crate::report::{print_line, print_unasked};

/// What goes to stdout if the command is interrupted: the object of --json. `None` without --json,
/// and once the result is printed. It is locked while one of both is printed, so that the other is not.
static JSON: Mutex<Option<String>> = Mutex::new(None);

/// Installs a handler for Ctrl-C (SIGINT), SIGTERM and SIGHUP. It removes the half-written files,
/// prints `json` to stdout and ends the process with all its threads. A second signal ends the
/// process at once. Signals that the process was started to ignore stay ignored.
pub fn handle(json: Option<String>) {
    *JSON.lock().unwrap_or_else(PoisonError::into_inner) = json;
    static ASKED: AtomicBool = AtomicBool::new(false);
    let ignored = ignored_signals();
    let handled = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            exit();
        }
        // The removal has its own thread, so that the handler is free for a second signal.
        let quit = || {
            let _held = sinew_io::discard_unfinished();
            progress::clear();
            print_line("interrupted");
            // Held until the process ends. Where the result is being printed nothing waits for its reader.
            let json = match JSON.try_lock() {
                Ok(json) => Some(json),
                Err(TryLockError::Poisoned(json)) => Some(json.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            };
            if let Some(json) = json.as_ref().and_then(|json| json.as_ref()) {
                print_unasked(json);
            }
            exit();
        };
        if std::thread::Builder::new().spawn(quit).is_err() {
            quit();
        }
    });
    match handled {
        Ok(()) => ignore(ignored),
        // The signal still ends the process, and unfinished files have temporary names.
        Err(e) => {
            log::warn!("cannot handle Ctrl-C, which may now leave temporary files behind: {e}")
        }
    }
}

/// From now on an interruption prints nothing to stdout, where the result goes. Hold the value until the result is
/// written.
pub fn result_begins() -> MutexGuard<'static, Option<String>> {
    let mut json = JSON.lock().unwrap_or_else(PoisonError::into_inner);
    *json = None;
    json
}

/// Ends the process without the exit handlers of libraries: a driver's handler would free memory
/// that its own threads still use.
fn exit() -> ! {
    #[cfg(unix)]
    // SAFETY: _exit only ends the process.
    unsafe {
        libc::_exit(Exit::Interrupted as i32)
    }
    #[cfg(not(unix))]
    std::process::exit(Exit::Interrupted as i32)
}

/// The signals that are ignored, as SIGHUP is under `nohup`, and SIGINT in a job that a script runs in
/// the background.
#[cfg(unix)]
fn ignored_signals() -> Vec<libc::c_int> {
    let is_ignored = |signal: &libc::c_int| {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: no new action is given, and the old one is read only where it was written.
        unsafe {
            libc::sigaction(*signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    };
    let handled = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
    handled.into_iter().filter(is_ignored).collect()
}

#[cfg(unix)]
fn ignore(signals: Vec<libc::c_int>) {
    for signal in signals {
        // SAFETY: ignoring a signal needs nothing of this process.
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

#[cfg(not(unix))]
fn ignored_signals() {}

#[cfg(not(unix))]
fn ignore((): ()) {}

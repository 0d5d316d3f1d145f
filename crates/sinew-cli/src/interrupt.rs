//! Ctrl-C and other signals that end the process.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;
use crate::progress;
use crate::report::print_line;

/// Installs a handler for Ctrl-C (SIGINT), SIGTERM and SIGHUP. It removes the half-written files
/// and ends the process with all its threads. A second signal ends the process at once.
pub fn handle() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let ignored = hangup_is_ignored();
    let handled = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            exit();
        }
        // The removal has its own thread, so that the handler is free for a second signal.
        let quit = || {
            let _held = sinew_io::discard_unfinished();
            progress::clear();
            print_line("interrupted");
            exit();
        };
        if std::thread::Builder::new().spawn(quit).is_err() {
            quit();
        }
    });
    match handled {
        Ok(()) if ignored => ignore_hangup(),
        Ok(()) => {}
        // The signal still ends the process, and unfinished files have temporary names.
        Err(e) => {
            log::warn!("cannot handle Ctrl-C, which may now leave temporary files behind: {e}")
        }
    }
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

/// Whether SIGHUP is ignored, as under `nohup`.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: no new action is given, and the old one is read only where it was written.
    unsafe {
        libc::sigaction(libc::SIGHUP, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

#[cfg(unix)]
fn ignore_hangup() {
    // SAFETY: ignoring a signal needs nothing of this process.
    unsafe {
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

#[cfg(not(unix))]
fn hangup_is_ignored() -> bool {
    false
}

#[cfg(not(unix))]
fn ignore_hangup() {}

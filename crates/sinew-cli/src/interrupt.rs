//! Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::progress;

/// What a shell makes of a command that Ctrl-C ended: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// Has Ctrl-C (SIGINT), SIGTERM and SIGHUP remove what is half-written and end the process, with all its threads. The
/// second one does not wait for the removal.
pub fn handle() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let ignored = hangup_is_ignored();
    let handled = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::SeqCst) {
            exit();
        }
        // On a thread of its own, so that the handler is free for the second one.
        let quit = || {
            let _held = sinew_io::discard_unfinished();
            progress::clear();
            eprintln!("interrupted");
            exit();
        };
        if std::thread::Builder::new().spawn(quit).is_err() {
            quit();
        }
    });
    match handled {
        Ok(()) if ignored => ignore_hangup(),
        Ok(()) => {}
        // It ends the process all the same, and files have other names until they are whole.
        Err(e) => log::warn!("Ctrl-C may leave temporary files: {e}"),
    }
}

/// Without what libraries registered to run at the end: a driver would take memory from under its own threads.
fn exit() -> ! {
    #[cfg(unix)]
    // SAFETY: it only ends the process.
    unsafe {
        libc::_exit(INTERRUPTED)
    }
    #[cfg(not(unix))]
    std::process::exit(INTERRUPTED)
}

/// As `nohup` leaves it.
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

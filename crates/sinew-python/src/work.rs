//! Long work away from the interpreter: on a thread with a large stack, while this thread answers
//! Ctrl-C and reports progress.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;
use crate::logging;

/// How often signals are looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Tells work to stop, from any thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether the work is to stop.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Asks it to stop.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` on a thread of its own while the interpreter is free for other threads. Messages that
/// `work` sends are given to `tell` on this thread.
///
/// If a signal's handler raises (Ctrl-C), or `tell` does, the work is asked to stop, this function
/// waits for its end, and the exception is raised whatever the work returns.
///
/// # Errors
/// Exceptions of signal handlers and of `tell`; a thread that cannot be started.
pub fn run<T: Send, M: Send>(
    py: Python<'_>,
    stop: &Stop,
    work: impl FnOnce(Sender<M>) -> T + Send,
    mut tell: impl FnMut(Python<'_>, M) -> PyResult<()>,
) -> PyResult<T> {
    logging::take_level(py)?;
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let mut raised = None;
    let done = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new();
        let thread = thread.spawn_scoped(scope, move || work(sender))?;
        loop {
            let message = py.detach(|| next(&receiver));
            let told = match message {
                Next::Message(message) => tell(py, message),
                Next::Nothing => Ok(()),
                Next::End => break,
            };
            if let Err(e) = told.and_then(|()| py.check_signals())
                && raised.is_none()
            {
                stop.ask();
                raised = Some(e);
            }
        }
        let done = py.detach(|| thread.join());
        Ok::<_, std::io::Error>(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (raised, done) {
        (Some(e), _) => Err(e),
        (None, Ok(done)) => Ok(done),
        (None, Err(e)) => Err(errors::exception(
            py,
            sinew_cli::Failure::new(format!("cannot start a thread: {e}")),
        )),
    }
}

/// Work without messages.
///
/// # Errors
/// As [`run`].
pub fn alone<T: Send>(py: Python<'_>, stop: &Stop, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let work = |sender: Sender<()>| {
        let done = work();
        drop(sender);
        done
    };
    run(py, stop, work, |_, ()| Ok(()))
}

enum Next<M> {
    Message(M),
    Nothing,
    End,
}

fn next<M: Send>(receiver: &Mutex<Receiver<M>>) -> Next<M> {
    // Only this thread takes messages; the lock is there because the closure has to be `Send`.
    let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
    match receiver.recv_timeout(PATIENCE) {
        Ok(message) => Next::Message(message),
        Err(RecvTimeoutError::Timeout) => Next::Nothing,
        Err(RecvTimeoutError::Disconnected) => Next::End,
    }
}

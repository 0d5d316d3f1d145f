//! Waits for what a callback of the device reports: by `await`, or by blocking the thread.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::task::{Context, Poll, Waker};

use super::error::{GpuError, failure, guarded};

/// A value that a callback of the device sends once. Others can look for it and await it.
#[derive(Debug)]
pub struct Message<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    /// Those who await it.
    wakers: Vec<Waker>,
}

impl<T: Clone> Message<T> {
    /// A message that has not come yet, and what sends it.
    pub fn new(unless_sent: T) -> (Arc<Self>, Sender<T>) {
        let message = Arc::new(Self(Mutex::new(State {
            value: None,
            wakers: Vec::new(),
        })));
        let sender = Sender {
            message: Arc::clone(&message),
            value: unless_sent,
        };
        (message, sender)
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, if it has come.
    pub fn get(&self) -> Option<T> {
        self.state().value.clone()
    }

    /// Waits for the value.
    pub fn wait(&self) -> impl Future<Output = T> + Send
    where
        T: Send,
    {
        poll_fn(|context| {
            let mut state = self.state();
            if let Some(value) = &state.value {
                return Poll::Ready(value.clone());
            }
            if !state.wakers.iter().any(|w| w.will_wake(context.waker())) {
                state.wakers.push(context.waker().clone());
            }
            Poll::Pending
        })
    }
}

/// Sends a [`Message`] when it is dropped, because wgpu may drop a callback without calling it.
#[derive(Debug)]
pub struct Sender<T: Clone> {
    message: Arc<Message<T>>,
    value: T,
}

impl<T: Clone> Sender<T> {
    /// Sends this value.
    pub fn send(mut self, value: T) {
        self.value = value;
    }
}

impl<T: Clone> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.message.state();
        state.value = Some(self.value.clone());
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Values that any thread sends, until the owner takes them.
pub struct Mailbox<T> {
    pub sender: mpsc::Sender<T>,
    /// A mutex because a receiver is not `Sync`; nothing else locks it.
    receiver: Mutex<mpsc::Receiver<T>>,
}

impl<T> fmt::Debug for Mailbox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sender.fmt(f)
    }
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        Self { sender, receiver }
    }
}

impl<T> Mailbox<T> {
    /// Takes the oldest value, if there is one.
    pub fn take(&mut self) -> Option<T> {
        let receiver = self.receiver.get_mut();
        let receiver = receiver.unwrap_or_else(PoisonError::into_inner);
        receiver.try_recv().ok()
    }
}

/// Polls a future once, without a way to be woken.
pub fn poll_once<T>(future: std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(out) => Some(out),
        Poll::Pending => None,
    }
}

/// Returns a future that is ready once the device has done everything that was submitted to the
/// queue before this call. On native targets somebody must poll the device meanwhile, as
/// [`wait_for`] does.
pub fn work_done(queue: &wgpu::Queue) -> impl Future<Output = ()> + Send + use<> {
    let (done, sender) = Message::new(());
    queue.on_submitted_work_done(move || sender.send(()));
    async move { done.wait().await }
}

/// Blocks until a future of this module is ready: the blocking form of everything async in
/// [`crate::gpu`]. It polls the future once, waits until the device has done all that was submitted,
/// and then waits for the future. So a future may wait for the device once.
///
/// In a browser a thread cannot block. There it calls the function that
/// `sinew::gpu::set_event_loop_turn` was given until the future is ready.
///
/// # Errors
/// [`GpuError::Lost`] if the device reports nothing for ten seconds after it has finished;
/// [`GpuError::Unsupported`] in a browser without such a function.
pub fn wait_for<T>(device: &wgpu::Device, future: impl Future<Output = T>) -> Result<T, GpuError> {
    wait_for_submission(device, None, future)
}

/// As [`wait_for`], and waits for one submission only.
pub fn wait_for_submission<T>(
    device: &wgpu::Device,
    submission_index: Option<wgpu::SubmissionIndex>,
    future: impl Future<Output = T>,
) -> Result<T, GpuError> {
    let mut future = pin!(future);
    // A future begins when it is polled first, and what it begins has to come before the wait.
    if let Some(out) = poll_once(future.as_mut()) {
        return Ok(out);
    }
    let poll = wgpu::PollType::Wait {
        submission_index,
        timeout: None,
    };
    // Natively nothing polls by itself: https://github.com/gfx-rs/wgpu/issues/1871.
    let polled = guarded(device, || device.poll(poll))?;
    polled.map_err(|error| failure(device, error.to_string()))?;
    block_on(future)
}

/// Blocks until a future is ready, without polling a device.
#[cfg(not(target_family = "wasm"))]
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T, GpuError> {
    use std::time::{Duration, Instant};

    /// How long the driver may take to call back after the device has finished. Another thread that
    /// polls the same device may have taken the callback, and call it a little later. If the device
    /// is lost, it may never call: <https://github.com/gfx-rs/wgpu/issues/9511>.
    const CALLBACK: Duration = Duration::from_secs(10);

    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let mut future = pin!(future);
    // Nearly all are ready by now, and need no waker.
    if let Some(out) = poll_once(future.as_mut()) {
        return Ok(out);
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let end = Instant::now() + CALLBACK;
    loop {
        if let Poll::Ready(out) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Ok(out);
        }
        let Some(left) = end.checked_duration_since(Instant::now()) else {
            let text = "the device has finished, and reported nothing for ten seconds";
            return Err(GpuError::Lost(text.into()));
        };
        std::thread::park_timeout(left);
    }
}

#[cfg(target_family = "wasm")]
static EVENT_LOOP_TURN: std::sync::OnceLock<fn() -> bool> = std::sync::OnceLock::new();

/// Lets the blocking calls of [`crate::gpu`] work in a browser: they call `turn` until their results
/// are there. It must return to the browser's event loop, which WebAssembly can do where the page
/// suspends it (JavaScript Promise Integration). It returns false if the code that calls it cannot be
/// suspended; then the blocking call fails. Later calls change nothing.
#[cfg(target_family = "wasm")]
pub fn set_event_loop_turn(turn: fn() -> bool) {
    let _ = EVENT_LOOP_TURN.set(turn);
}

/// Lets the event loop turn until a future is ready.
#[cfg(target_family = "wasm")]
pub fn block_on<T>(future: impl Future<Output = T>) -> Result<T, GpuError> {
    let mut future = pin!(future);
    loop {
        if let Some(out) = poll_once(future.as_mut()) {
            return Ok(out);
        }
        if !EVENT_LOOP_TURN.get().is_some_and(|turn| turn()) {
            let text = "this call waits for the GPU, and a page cannot: use the async form";
            return Err(GpuError::Unsupported(text.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_wakes_the_thread_that_waits_for_it() {
        let (message, sender) = Message::new("dropped");
        assert_eq!(message.get(), None);
        let waiting = Arc::clone(&message);
        let thread = std::thread::spawn(move || block_on(waiting.wait()));
        // Either it waits by now, or it will find the value.
        std::thread::sleep(std::time::Duration::from_millis(20));
        sender.send("sent");
        assert_eq!(thread.join().unwrap(), Ok("sent"));
        assert_eq!(block_on(message.wait()), Ok("sent"));
    }

    #[test]
    fn a_callback_that_is_dropped_sends_too() {
        let (message, sender) = Message::new("dropped");
        drop(sender);
        assert_eq!(poll_once(pin!(message.wait())), Some("dropped"));
    }
}

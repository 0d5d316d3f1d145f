//! Ctrl-C at any moment leaves every folder as it was.

#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
mod signals;

fn main() {
    // Signals are sent by the kill of Linux.
    #[cfg(target_os = "linux")]
    signals::run();
}

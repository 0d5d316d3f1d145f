//! The errors that a check meets: the comparisons note them, and the check's outcome holds the worst.

use std::cell::Cell;

/// An error beside what is allowed, both relative to the size of what was compared.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Measured {
    /// Largest difference of a component.
    pub error: f64,
    /// The largest that passes.
    pub allowed: f64,
}

impl Measured {
    /// The error as a share of what is allowed; 0 where both are.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self.error == 0.0 {
            true => 0.0,
            false => self.error / self.allowed,
        }
    }

    /// Whichever takes the larger share of what is allowed to it.
    #[must_use]
    pub fn or_worse(self, other: Self) -> Self {
        if other.share() > self.share() {
            other
        } else {
            self
        }
    }
}

thread_local! {
    /// A check runs on one thread from its start to its end.
    static WORST: Cell<Option<Measured>> = const { Cell::new(None) };
}

/// Notes an error of the check that runs on this thread.
pub(crate) fn note(error: f64, allowed: f64) {
    let found = Measured { error, allowed };
    let worst = WORST.get().map_or(found, |worst| worst.or_worse(found));
    WORST.set(Some(worst));
}

/// Runs something, and gives its worst error too, where it compared anything.
pub(crate) fn during<R>(run: impl FnOnce() -> R) -> (R, Option<Measured>) {
    WORST.set(None);
    let result = run();
    (result, WORST.take())
}

//! Memory of results, used again once they are written.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use glam::Vec3;

/// Values that wait for use; beyond these, memory is given back.
const MOST: usize = 16 << 20;

/// Arrays that are done with, by their length. Fresh memory costs more than the deformation that fills it: the
/// system clears every page and maps it at the first write.
#[derive(Default)]
pub(super) struct Buffers(Mutex<Free>);

#[derive(Default)]
struct Free {
    by_length: HashMap<usize, Vec<Vec<Vec3>>>,
    /// Values in all of them.
    sum: usize,
}

impl Buffers {
    /// An array of so many values, whatever they are.
    pub fn take(&self, length: usize) -> Vec<Vec3> {
        let mut free = self.free();
        match free.by_length.get_mut(&length).and_then(Vec::pop) {
            Some(array) => {
                free.sum -= length;
                array
            }
            None => {
                drop(free);
                vec![Vec3::ZERO; length]
            }
        }
    }

    /// Takes an array back.
    pub fn give(&self, array: Vec<Vec3>) {
        let mut free = self.free();
        if free.sum + array.len() <= MOST {
            free.sum += array.len();
            free.by_length.entry(array.len()).or_default().push(array);
        }
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        // Whole whatever panicked beside it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_taken_again() {
        let buffers = Buffers::default();
        let first = buffers.take(3);
        let place = first.as_ptr();
        buffers.give(first);
        assert_eq!(buffers.take(2).len(), 2);
        let again = buffers.take(3);
        assert_eq!(again.as_ptr(), place);
        buffers.give(vec![Vec3::ZERO; MOST]);
        buffers.give(vec![Vec3::ONE; 1]);
        assert_eq!(buffers.take(1), [Vec3::ZERO]);
    }
}

//! Divides the chunks of one mesh among threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

/// Runs `work` with each item, on several threads.
///
/// On a thread of rayon's pool the items are one parallel iterator among others. Any other thread
/// works too and does not only wait: threads of the pool may be asleep, and to wake one takes longer
/// than to skin a few thousand points.
pub(super) fn each<T: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) + Sync,
) {
    if items.len() <= 1 {
        return items.for_each(work);
    }
    if rayon::current_thread_index().is_some() {
        let items: Vec<T> = items.collect();
        return items.into_par_iter().for_each(&work);
    }
    let helpers = rayon::current_num_threads().min(items.len());
    if helpers <= 1 {
        return items.for_each(work);
    }
    let items = Mutex::new(items);
    let take = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(item) = take() {
            work(item);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..helpers {
            scope.spawn(|_| work());
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_item_is_visited_once_inside_and_outside_of_the_pool() {
        for count in [0, 1, 2, 3, 1000] {
            let visits: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let visit = |i: usize| {
                visits[i].fetch_add(1, Ordering::Relaxed);
            };
            each(0..count, visit);
            rayon::scope(|_| each(0..count, visit));
            assert!(visits.iter().all(|v| v.load(Ordering::Relaxed) == 2));
        }
    }

    #[test]
    fn a_panic_of_one_item_comes_out() {
        let run = || each(0..100, |i| assert!(i != 57, "the 57th"));
        assert!(std::panic::catch_unwind(run).is_err());
        // The pool and the next call are as before.
        let sum = AtomicUsize::new(0);
        each(0..100, |i| {
            sum.fetch_add(i, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 4950);
    }
}

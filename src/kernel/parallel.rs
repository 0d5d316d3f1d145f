//! Divides the chunks of one mesh among threads.

use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rayon::prelude::*;
use web_time::Instant;

/// What it takes to wake threads of the pool that sleep, and to wait until the last of them has seen
/// that nothing is left: 60 to 100 us where it was measured, on virtual machines.
const WAKING: Duration = Duration::from_micros(100);

/// Runs `work` with each item, on several threads if that is faster.
///
/// On a thread of rayon's pool the items are one parallel iterator among others. For other threads
/// see [`each_then`].
pub(super) fn each<T: Send>(
    items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) + Sync,
) {
    if items.len() > 1 && rayon::current_thread_index().is_some() {
        let items: Vec<T> = items.collect();
        return items.into_par_iter().for_each(&work);
    }
    each_then(items, work, |()| ());
}

/// Runs `work` with each item, on several threads if that is faster, and `done` with each result, in
/// any order, on the calling thread alone.
///
/// The calling thread works too and does not only wait. By the time of the first item it judges
/// whether the others take longer than it takes to wake threads; a few thousand points do not.
pub(super) fn each_then<T: Send, R: Send>(
    mut items: impl ExactSizeIterator<Item = T> + Send,
    work: impl Fn(T) -> R + Sync,
    mut done: impl FnMut(R),
) {
    let helpers = rayon::current_num_threads().min(items.len());
    if helpers <= 1 {
        return items.map(work).for_each(done);
    }
    let began = Instant::now();
    items.by_ref().take(1).map(&work).for_each(&mut done);
    if !is_long(began.elapsed(), items.len()) {
        return items.map(work).for_each(done);
    }
    let items = Mutex::new(items);
    let take = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (results, received) = channel();
    rayon::in_place_scope(|scope| {
        let (take, work) = (&take, &work);
        for _ in 1..helpers {
            let results = results.clone();
            scope.spawn(move |_| {
                while let Some(item) = take() {
                    // The other end outlives the scope.
                    let _ = results.send(work(item));
                }
            });
        }
        while let Some(item) = take() {
            done(work(item));
            received.try_iter().for_each(&mut done);
        }
    });
    received.try_iter().for_each(done);
}

/// Whether as many items as are left take longer than to wake threads, if one takes this time.
fn is_long(one: Duration, left: usize) -> bool {
    one.as_secs_f64() * left as f64 > WAKING.as_secs_f64()
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
            let slow = |i| {
                std::thread::sleep(Duration::from_micros(1));
                visit(i);
                i
            };
            let check = || {
                let mut results = Vec::new();
                each(0..count, visit);
                each_then(0..count, slow, |i| results.push(i));
                results.sort_unstable();
                assert_eq!(results, (0..count).collect::<Vec<_>>());
            };
            check();
            rayon::scope(|_| check());
            assert!(visits.iter().all(|v| v.load(Ordering::Relaxed) == 4));
        }
    }

    #[test]
    fn a_few_thousand_points_are_not_worth_a_thread() {
        // Chunks of 2,048 points: 10,000 points at 0.2 points a nanosecond, and 100,000.
        let chunk = Duration::from_micros(10);
        assert!(!is_long(chunk, 4) && is_long(chunk, 48));
        assert!(!is_long(Duration::MAX, 0));
    }

    #[test]
    fn long_items_are_shared() {
        let here = std::thread::current().id();
        let elsewhere = AtomicUsize::new(0);
        let note = |_| {
            let is_elsewhere = std::thread::current().id() != here;
            elsewhere.fetch_add(usize::from(is_elsewhere), Ordering::Relaxed);
        };
        if rayon::current_num_threads() == 1 {
            return;
        }
        // All but the first wait for another thread, and against hangs not for ever.
        let patience = Instant::now() + Duration::from_secs(60);
        let is_first = std::sync::atomic::AtomicBool::new(true);
        each(0..8, |item| {
            note(item);
            if is_first.swap(false, Ordering::Relaxed) {
                return std::thread::sleep(Duration::from_millis(1));
            }
            while elsewhere.load(Ordering::Relaxed) == 0 && Instant::now() < patience {
                std::thread::yield_now();
            }
        });
        assert!(elsewhere.into_inner() > 0);
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

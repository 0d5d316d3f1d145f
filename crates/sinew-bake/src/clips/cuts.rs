//! Cuts a schedule into clips, and assigns clips to shards.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::hints::Window;
use crate::schedule::{Schedule, Scheduled};
use sinew::sampled::Time;

/// The largest relative difference of two times on both sides of a jump. usd-core treats them as
/// the same time at the start of a clip, so they stay in one clip.
const NO_STEP: f64 = 1e-6;

/// A schedule cut into runs of times.
///
/// A clip has the times of its run and the first time of the next run, because values between the
/// two depend on both. If a prim is not sampled at the edges of a run, the clip has its nearest
/// samples before and after. If these cannot be baked, [`Edges`](super::edges::Edges) finds others.
pub(super) struct Cuts<'a> {
    schedule: &'a Schedule,
    /// Entries of the schedule at the default time, which come first.
    still: usize,
    /// The first entry of each run in the schedule; there is at least one run.
    starts: Vec<usize>,
    /// Each binding's entries, without those at the default time.
    entries_of: BTreeMap<usize, Vec<usize>>,
    /// Whether every run also computes prims that do not move, because other results depend on
    /// them.
    still_in_all: bool,
}

/// The contents of one clip.
pub(super) struct Cut {
    pub schedule: Schedule,
    /// First and last time code of its run; `None` if nothing moves.
    pub frames: Option<(f64, f64)>,
    /// The entries that the values at and between its times depend on.
    pub window: Window,
    /// Whether values at the default time are written.
    pub has_still: bool,
}

impl<'a> Cuts<'a> {
    pub fn new(schedule: &'a Schedule, length: usize, still_in_all: bool) -> Self {
        let timed = schedule.iter().position(|(time, _)| time.code().is_some());
        let still = timed.unwrap_or(schedule.len());
        let mut entries_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (i, (_, bindings)) in schedule.iter().enumerate().skip(still) {
            for b in bindings {
                entries_of.entry(*b).or_default().push(i);
            }
        }
        let time_of = |entry: usize| schedule[entry].0.code().unwrap_or(f64::NEG_INFINITY);
        let mut starts = vec![still];
        let mut next = still.saturating_add(length.max(1));
        while next < schedule.len() {
            if time_of(next) - time_of(next - 1) < NO_STEP * time_of(next).abs().max(1.0) {
                next += 1;
                continue;
            }
            starts.push(next);
            next = next.saturating_add(length.max(1));
        }
        Self {
            schedule,
            still,
            starts,
            entries_of,
            still_in_all,
        }
    }

    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The time code at which a clip becomes active, by its index.
    pub fn from(&self, index: usize) -> Option<f64> {
        self.schedule.get(self.starts[index])?.0.code()
    }

    /// The contents of a clip, by its index, with additional entries of the schedule and the
    /// binding of each.
    pub fn cut(&self, index: usize, more: &[(usize, usize)]) -> Cut {
        let (first, next) = self.run(index);
        let mut at: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        if index == 0 || self.still_in_all {
            at.extend((0..self.still).map(|i| (i, self.schedule[i].1.clone())));
        }
        for (b, entries) in &self.entries_of {
            for entry in &entries[held(entries, first, next)] {
                at.entry(*entry).or_default().push(*b);
            }
        }
        for (entry, b) in more {
            at.entry(*entry).or_default().push(*b);
        }
        at.values_mut()
            .for_each(|bindings| bindings.sort_unstable());
        let time_of = |entry: usize| self.schedule.get(entry).and_then(|(t, _)| t.code());
        let frames = time_of(first).zip(time_of(next.saturating_sub(1)));
        Cut {
            schedule: at
                .into_iter()
                .map(|(i, bindings)| (self.schedule[i].0, bindings))
                .collect(),
            frames,
            window: Window {
                from: time_of(first)
                    .filter(|_| index > 0)
                    .unwrap_or(f64::NEG_INFINITY),
                to: time_of(next).unwrap_or(f64::INFINITY),
            },
            has_still: index == 0,
        }
    }

    /// For each binding, its entries up to the first one in a clip, and from the last one in that
    /// clip on, by the index of the clip.
    pub fn beyond(&self, index: usize) -> impl Iterator<Item = (usize, &[usize], &[usize])> {
        let (first, next) = self.run(index);
        self.entries_of.iter().map(move |(b, entries)| {
            let held = held(entries, first, next);
            (*b, &entries[..=held.start], &entries[held.end - 1..])
        })
    }

    /// The part of the schedule with time codes, which is cut into clips.
    pub fn own(&self, clips: Range<usize>) -> &[Scheduled] {
        let from = |clip: usize| match clip {
            0 => 0,
            _ => *self.starts.get(clip).unwrap_or(&self.schedule.len()),
        };
        &self.schedule[from(clips.start)..from(clips.end)]
    }

    pub fn time(&self, entry: usize) -> Time {
        self.schedule[entry].0
    }

    /// The first entry of a clip's run, and that of the next run.
    fn run(&self, index: usize) -> (usize, usize) {
        let next = self.starts.get(index + 1);
        (
            self.starts[index],
            next.copied().unwrap_or(self.schedule.len()),
        )
    }
}

/// The entries of a binding that a clip needs: those of the run, and the nearest ones at or beyond
/// its edges.
fn held(entries: &[usize], first: usize, next: usize) -> Range<usize> {
    let from = entries.partition_point(|e| *e <= first).saturating_sub(1);
    let to = entries.partition_point(|e| *e < next) + 1;
    from..to.min(entries.len())
}

impl Cut {
    pub fn samples(&self) -> usize {
        samples(&self.schedule)
    }
}

/// Number of (prim, time) pairs of a schedule.
fn samples(schedule: &[Scheduled]) -> usize {
    schedule.iter().map(|(_, bindings)| bindings.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule of entries `TIME:BINDINGS`; `-` is the default time.
    fn schedule(text: &str) -> Schedule {
        let entry = |text: &str| {
            let (time, bindings) = text.split_once(':').unwrap();
            let time = time.parse().map_or(Time::Default, Time::At);
            let bindings = bindings.bytes().map(|b| usize::from(b - b'0'));
            (time, bindings.collect())
        };
        text.split(' ').map(entry).collect()
    }

    fn text(schedule: &Schedule) -> String {
        let entry = |(time, bindings): &Scheduled| {
            let time = time.code().map_or("-".to_owned(), |t| t.to_string());
            let bindings: String = bindings.iter().map(usize::to_string).collect();
            format!("{time}:{bindings}")
        };
        schedule.iter().map(entry).collect::<Vec<_>>().join(" ")
    }

    fn clips(cuts: &Cuts<'_>) -> Vec<String> {
        let clips = 0..cuts.count();
        clips.map(|i| text(&cuts.cut(i, &[]).schedule)).collect()
    }

    #[test]
    fn a_run_holds_the_next_ones_first_time() {
        let schedule = schedule("1:01 2:01 3:01 4:01 5:01");
        let cuts = Cuts::new(&schedule, 2, false);
        assert_eq!(clips(&cuts), ["1:01 2:01 3:01", "3:01 4:01 5:01", "5:01"]);
        let [first, second, third] = [0, 1, 2].map(|i| cuts.cut(i, &[]));
        assert_eq!(second.frames, Some((3.0, 4.0)));
        assert_eq!(third.frames, Some((5.0, 5.0)));
        assert_eq!(first.window.from, f64::NEG_INFINITY);
        assert_eq!((second.window.from, second.window.to), (3.0, 5.0));
        assert_eq!(cuts.from(2), Some(5.0));
    }

    #[test]
    fn a_prim_has_its_nearest_samples_at_the_edges() {
        // One prim at every time, one at the ends alone, one at no time code.
        let schedule = schedule("-:2 1:01 2:0 3:0 4:0 5:0 6:01");
        let cuts = Cuts::new(&schedule, 2, false);
        let [first, second, _] = &clips(&cuts)[..] else {
            panic!("three clips");
        };
        assert_eq!(first, "-:2 1:01 2:0 3:0 6:1");
        assert_eq!(second, "1:1 3:0 4:0 5:0 6:1");
        assert!(cuts.cut(0, &[]).has_still && !cuts.cut(1, &[]).has_still);
        let own = [cuts.own(0..3), cuts.own(0..1), cuts.own(1..2)];
        assert_eq!(own.map(samples), [9, 4, 2]);
        assert_eq!(samples(cuts.own(2..2)) + samples(cuts.own(0..0)), 0);
        let beyond: Vec<_> = cuts.beyond(1).collect();
        assert_eq!(beyond[0], (0, &[1, 2, 3][..], &[5, 6][..]));
        assert_eq!(beyond[1], (1, &[1][..], &[6][..]));
        let more = text(&cuts.cut(0, &[(4, 0), (6, 0)]).schedule);
        assert_eq!(more, "-:2 1:01 2:0 3:0 4:0 6:01");
        let all = Cuts::new(&schedule, 2, true);
        assert!(clips(&all)[1].starts_with("-:2 "));
    }

    #[test]
    fn no_jump_is_cut_in_two() {
        let schedule = schedule("1:0 2:0 2.999999999:0 3:0 4:0 5:0");
        let cuts = Cuts::new(&schedule, 3, false);
        let from: Vec<_> = (0..cuts.count()).map(|i| cuts.from(i)).collect();
        assert_eq!(from, [Some(1.0), Some(4.0)]);
        assert_eq!(cuts.cut(0, &[]).frames, Some((1.0, 3.0)));
    }

    #[test]
    fn what_is_still_is_one_clip() {
        let schedule = schedule("-:01");
        let cuts = Cuts::new(&schedule, 10, false);
        assert_eq!(
            (clips(&cuts), cuts.from(0)),
            (vec!["-:01".to_owned()], None)
        );
        assert_eq!(cuts.cut(0, &[]).frames, None);
        assert_eq!(samples(&schedule), 2);
    }
}

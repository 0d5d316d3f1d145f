//! Ranges of a retained copy that the GPU does not have yet.

use std::ops::Range;

/// Ranges of elements, joined where they touch.
#[derive(Debug, Default)]
pub(super) struct Changed {
    ranges: Vec<Range<u32>>,
}

impl Changed {
    /// Adds a range.
    pub fn mark(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if last.start <= range.start && range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            _ => {
                // Poses that are set time and again between frames do not make it grow for ever.
                if self.ranges.len() == self.ranges.capacity() {
                    self.join(0);
                }
                self.ranges.push(range);
            }
        }
    }

    /// Everything, of so many elements.
    pub fn mark_all(&mut self, count: usize) {
        self.ranges.clear();
        self.mark(0..count as u32);
    }

    /// Sorts the ranges and joins those with no more than `gap` elements between them.
    pub fn join(&mut self, gap: u32) {
        if !self.ranges.is_sorted_by_key(|range| range.start) {
            self.ranges.sort_unstable_by_key(|range| range.start);
        }
        self.ranges.dedup_by(|next, kept| {
            let joins = next.start <= kept.end.saturating_add(gap);
            if joins {
                kept.end = kept.end.max(next.end);
            }
            joins
        });
    }

    /// After [`Changed::join`] in order, and apart from one another.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.ranges
    }

    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut changed = Changed::default();
        for range in [4..6, 6..7, 20..22, 0..2, 5..6, 9..9, 40..41] {
            changed.mark(range);
        }
        changed.join(0);
        assert_eq!(changed.ranges(), [0..2, 4..7, 20..22, 40..41]);
        changed.join(13);
        assert_eq!(changed.ranges(), [0..22, 40..41]);
        changed.mark_all(3);
        assert_eq!(changed.ranges().first(), Some(&(0..3)));
        assert_eq!(changed.ranges().len(), 1);
        changed.clear();
        assert!(changed.ranges().is_empty());
    }

    #[test]
    fn marks_of_the_same_do_not_pile_up() {
        let mut changed = Changed::default();
        for i in 0..100_000u32 {
            let at = i * 7 % 50 * 10;
            changed.mark(at..at + 3);
        }
        assert!(changed.ranges.capacity() <= 128);
        changed.join(0);
        assert_eq!(changed.ranges().len(), 50);
    }
}

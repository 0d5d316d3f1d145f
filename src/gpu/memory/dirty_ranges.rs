//! CPU copies of buffers, with the ranges that still have to be uploaded.

use std::ops::Range;

/// A CPU copy of what a buffer holds, or will hold after the next upload.
#[derive(Debug)]
pub struct Mirrored<T> {
    values: Vec<T>,
    /// Ranges of values that changed, joined if they touch. After [`Mirrored::join`] they are in
    /// order.
    dirty: Vec<Range<u32>>,
}

impl<T> Default for Mirrored<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T> From<Vec<T>> for Mirrored<T> {
    /// The copy starts with everything marked for upload.
    fn from(values: Vec<T>) -> Self {
        let mut out = Self {
            values,
            dirty: Vec::new(),
        };
        out.mark_all();
        out
    }
}

impl<T> Mirrored<T> {
    pub fn len(&self) -> usize {
        self.values.len()
    }

    #[cfg(test)]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Marks everything, so that the next upload contains all of it.
    pub fn mark_all(&mut self) {
        self.dirty.clear();
        self.mark_from(0);
    }

    fn mark(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        match self.dirty.last_mut() {
            Some(last) if last.start <= range.start && range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            _ => {
                // Poses that are set again and again between frames must not make it grow without
                // end.
                if self.dirty.len() == self.dirty.capacity() {
                    self.join(0);
                }
                self.dirty.push(range);
            }
        }
    }

    /// Marks everything from `first` on.
    pub fn mark_from(&mut self, first: usize) {
        self.mark(first as u32..self.values.len() as u32);
    }

    /// Clears the marks, after everything was uploaded.
    pub fn set_uploaded(&mut self) {
        self.dirty.clear();
    }

    /// Grows to `count` values, without marking them.
    pub fn grow(&mut self, count: usize)
    where
        T: bytemuck::Zeroable + Clone,
    {
        if count > self.values.len() {
            self.values.resize(count, T::zeroed());
        }
    }

    /// Sorts the changed ranges and joins those with no more than `gap` bytes between them, because
    /// a copy costs more than the bytes of a small gap.
    pub fn join(&mut self, gap: u32) {
        let gap = gap / size_of::<T>() as u32;
        if !self.dirty.is_sorted_by_key(|range| range.start) {
            self.dirty.sort_unstable_by_key(|range| range.start);
        }
        self.dirty.dedup_by(|next, kept| {
            let joins = next.start <= kept.end.saturating_add(gap);
            if joins {
                kept.end = kept.end.max(next.end);
            }
            joins
        });
    }
}

impl<T: bytemuck::NoUninit> Mirrored<T> {
    /// Appends values without marking them; call [`Mirrored::mark_all`] before the next upload.
    pub fn extend_from_slice(&mut self, values: &[T]) {
        self.values.extend_from_slice(values);
    }

    /// Size of all values in bytes.
    pub fn bytes(&self) -> u64 {
        size_of_val(&self.values[..]) as u64
    }

    /// Overwrites values from `first` on, and marks them although they may be the same: the GPU has
    /// written others to the buffer.
    pub fn restore(&mut self, first: u32, values: &[T]) {
        let range = first as usize..first as usize + values.len();
        self.values[range].copy_from_slice(values);
        self.mark(first..first + values.len() as u32);
    }

    /// Overwrites values from `first` on, and marks them if any bit changes. Returns whether one
    /// does.
    pub fn write(&mut self, first: u32, parts: &[&[T]]) -> bool {
        let mut at = first as usize;
        let mut differs = false;
        for part in parts {
            let to = &mut self.values[at..at + part.len()];
            differs =
                differs || bytemuck::cast_slice::<T, u8>(to) != bytemuck::cast_slice::<T, u8>(part);
            if differs {
                to.copy_from_slice(part);
            }
            at += part.len();
        }
        if differs {
            self.mark(first..at as u32);
        }
        differs
    }

    /// The ranges that still have to be uploaded: for each the byte of the buffer where it goes,
    /// and its bytes. The copy begins at byte `first` of the buffer.
    pub fn changes(&self, first: u64) -> impl Iterator<Item = (u64, &[u8])> + Clone {
        self.dirty.iter().map(move |range| {
            let at = first + u64::from(range.start) * size_of::<T>() as u64;
            let values = &self.values[range.start as usize..range.end as usize];
            (at, bytemuck::cast_slice(values))
        })
    }
}

impl Mirrored<u32> {
    /// Overwrites words from `first` on, and marks those from the first to the last that changes.
    pub fn write_changed(&mut self, first: usize, words: &[u32]) {
        let to = &mut self.values[first..first + words.len()];
        let differs = |(a, b): (&u32, &u32)| a != b;
        let Some(begin) = to.iter().zip(words).position(differs) else {
            return;
        };
        let end = to.iter().zip(words).rposition(differs).unwrap_or(begin) + 1;
        to[begin..end].copy_from_slice(&words[begin..end]);
        self.mark((first + begin) as u32..(first + end) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_where_they_touch() {
        let mut copy = Mirrored::<u8>::default();
        for range in [4..6, 6..7, 20..22, 0..2, 5..6, 9..9, 40..41] {
            copy.mark(range);
        }
        copy.join(0);
        assert_eq!(copy.dirty, [0..2, 4..7, 20..22, 40..41]);
        copy.join(13);
        assert_eq!(copy.dirty, [0..22, 40..41]);
    }

    #[test]
    fn only_what_changes_is_uploaded_again() {
        let mut copy = Mirrored::from(vec![1u32, 2, 3, 4, 5, 6]);
        let changes = |copy: &Mirrored<u32>| {
            let all = copy.changes(100);
            all.map(|(at, bytes)| (at, bytes.len())).collect::<Vec<_>>()
        };
        assert_eq!(changes(&copy), [(100, 24)]);
        copy.set_uploaded();
        copy.write(1, &[&[2], &[3, 4]]);
        assert_eq!(changes(&copy), []);
        assert!(copy.write(1, &[&[2], &[3, 9]]));
        copy.write_changed(4, &[5, 6]);
        assert_eq!(changes(&copy), [(104, 12)]);
        copy.write_changed(3, &[9, 5, 7]);
        copy.join(0);
        assert_eq!(changes(&copy), [(104, 12), (120, 4)]);
        copy.join(4);
        assert_eq!(changes(&copy), [(104, 20)]);
        assert_eq!(copy.values(), [1, 2, 3, 9, 5, 7]);
        copy.set_uploaded();
        copy.restore(2, &[3, 9]);
        assert_eq!(changes(&copy), [(108, 8)]);
        copy.mark_from(3);
        assert_eq!(changes(&copy), [(108, 16)]);
        copy.mark_all();
        assert_eq!(changes(&copy), [(100, 24)]);
    }

    #[test]
    fn marks_of_the_same_do_not_pile_up() {
        let mut copy = Mirrored::<u8>::default();
        for i in 0..100_000u32 {
            let at = i * 7 % 50 * 10;
            copy.mark(at..at + 3);
        }
        assert!(copy.dirty.capacity() <= 128);
        copy.join(0);
        assert_eq!(copy.dirty.len(), 50);
    }
}

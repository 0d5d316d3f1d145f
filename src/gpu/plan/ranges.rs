//! Ranges of numbers, such as the blocks of a buffer, which are given out and come back; and lists of
//! values by instance.

use std::collections::BTreeMap;

/// Gives out ranges one after the other. A range that comes back is given again to who asks for
/// exactly as many: in a crowd, most have the size of another. What does not fit again is room that
/// the next plan packs.
#[derive(Debug, Default)]
pub struct Ranges {
    /// First numbers of the ranges that came back, by their length. There are few lengths.
    free: BTreeMap<u32, Vec<u32>>,
    /// How many those are, and how many others were given out.
    idle: usize,
    used: usize,
    /// One more than the last number that was ever given out.
    end: u32,
    /// Where the room ends, once it is known.
    room: Option<u32>,
}

impl Ranges {
    /// The first number of a range that nobody else has; `None` without room.
    pub fn take(&mut self, count: u32) -> Option<u32> {
        if let Some(first) = self.free.get_mut(&count).and_then(Vec::pop) {
            self.idle -= 1;
            self.used += 1;
            return Some(first);
        }
        let end = self.end.checked_add(count)?;
        if end > self.room.unwrap_or(u32::MAX) {
            return None;
        }
        self.used += 1;
        Some(std::mem::replace(&mut self.end, end))
    }

    /// Whether [`Ranges::take`] would find as many.
    pub fn has(&self, count: u32) -> bool {
        let left = self.room.unwrap_or(u32::MAX) - self.end;
        left >= count || self.free.get(&count).is_some_and(|free| !free.is_empty())
    }

    pub fn give_back(&mut self, first: u32, count: u32) {
        self.free.entry(count).or_default().push(first);
        self.idle += 1;
        self.used -= 1;
    }

    /// How many ranges came back and were not given again, and how many somebody has.
    pub fn idle_and_used(&self) -> (usize, usize) {
        (self.idle, self.used)
    }

    /// Fixes the room: what was given out, and this much more.
    pub fn settle(&mut self, spare: u32) {
        self.room = Some(self.end.saturating_add(spare));
    }

    /// What was given out, and whatever room there is behind it once that is known.
    pub fn room(&self) -> u32 {
        self.room.unwrap_or(self.end)
    }
}

/// How much room to leave behind `used` for what is added later: a `part` of as much again, so that a
/// plan pays for itself. `least` saves the smallest from planning again and again.
pub fn spare(used: u32, part: u32, least: u32) -> u32 {
    (used / part).max(least)
}

/// Whether what edits left idle is worth another plan, which packs it. A plan costs about as much as
/// an edit of each of its instances, so that the edits which left as much idle have paid for it.
pub fn is_sparse(idle: usize, used: usize) -> bool {
    idle > used.max(64)
}

/// Values of instances, by instance index. Nothing is allocated for each instance.
#[derive(Debug)]
pub struct Chains<T> {
    /// The first link of each chain, or [`END`].
    heads: Vec<u32>,
    links: Vec<(T, u32)>,
    /// The first link that is free, or [`END`].
    free: u32,
}

const END: u32 = u32::MAX;

impl<T> Default for Chains<T> {
    fn default() -> Self {
        Self {
            heads: Vec::new(),
            links: Vec::new(),
            free: END,
        }
    }
}

impl<T: Copy> Chains<T> {
    /// Adds a value of an instance.
    pub fn push(&mut self, index: u32, value: T) {
        let index = index as usize;
        if index >= self.heads.len() {
            self.heads.resize(index + 1, END);
        }
        let link = (value, self.heads[index]);
        self.heads[index] = match self.free {
            END => {
                self.links.push(link);
                self.links.len() as u32 - 1
            }
            free => {
                self.free = self.links[free as usize].1;
                self.links[free as usize] = link;
                free
            }
        };
    }

    /// Removes a value of an instance; the last one first.
    pub fn pop(&mut self, index: u32) -> Option<T> {
        let head = self.heads.get_mut(index as usize)?;
        let link = *head;
        let (value, next) = *self.links.get(link as usize)?;
        *head = next;
        self.links[link as usize].1 = self.free;
        self.free = link;
        Some(value)
    }

    /// The values of an instance.
    pub fn of(&self, index: u32) -> impl Iterator<Item = T> + '_ {
        let first = self.heads.get(index as usize).copied().unwrap_or(END);
        let link = |number: u32| self.links.get(number as usize);
        std::iter::successors(link(first), move |(_, next)| link(*next)).map(|(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_given_again_to_who_asks_for_as_many() {
        let mut ranges = Ranges::default();
        assert_eq!(
            [3, 5, 3].map(|count| ranges.take(count)),
            [Some(0), Some(3), Some(8)]
        );
        ranges.settle(4);
        assert_eq!(ranges.room(), 15);
        ranges.give_back(3, 5);
        assert_eq!(ranges.idle_and_used(), (1, 2));
        assert!(!ranges.has(6) && ranges.has(5) && ranges.has(4));
        assert_eq!(
            [6, 5, 5, 4, 1].map(|count| ranges.take(count)),
            [None, Some(3), None, Some(11), None]
        );
        ranges.give_back(0, 3);
        ranges.give_back(8, 3);
        assert_eq!(
            [3, 3, 3].map(|count| ranges.take(count)),
            [Some(8), Some(0), None]
        );
        assert_eq!(ranges.idle_and_used(), (0, 4));
    }

    #[test]
    fn chains_keep_the_values_of_each_index() {
        let mut chains = Chains::default();
        for (index, value) in [(2, 'a'), (0, 'b'), (2, 'c')] {
            chains.push(index, value);
        }
        let of = |chains: &Chains<char>, index| chains.of(index).collect::<String>();
        assert_eq!([0, 1, 2, 3].map(|i| of(&chains, i)), ["b", "", "ca", ""]);
        assert_eq!(
            [chains.pop(2), chains.pop(2), chains.pop(2)],
            [Some('c'), Some('a'), None]
        );
        chains.push(1, 'e');
        chains.push(1, 'f');
        assert_eq!([0, 1, 2].map(|i| of(&chains, i)), ["b", "fe", ""]);
        assert_eq!(chains.links.len(), 3);
    }
}

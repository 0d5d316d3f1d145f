//! The point and the sub-shape of each blend entry.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::kernel::parallel::each_then;

/// Largest number of points in a block, as a power of two. The CPU blends one block at a time. Its
/// sums are 32 KB, about the size of the first cache; with fewer points, runs would be short, and
/// the end of each run costs a wrong guess of the processor.
pub(in crate::kernel) const BLOCK_BITS: u32 = 11;

/// Largest number of points in a block.
pub(in crate::kernel) const BLOCK: usize = 1 << BLOCK_BITS;

/// The mean length of stretches above which adding them as a whole is faster than adding their
/// entries one by one. Measured with lengths from 1 to twice the mean.
const STRETCH: usize = 16;

/// The points and sub-shapes of blend entries, without their offsets.
///
/// Entries are sorted by sub-shape and then by point. Points are grouped in blocks; the entries of
/// one sub-shape in one block are a *run*. Lists for the GPU ([`BlendIndex::list`]) have another
/// order, by block and then by run: one word names an entry by its sub-shape and its number within
/// the block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlendIndex {
    point_count: usize,
    /// Number of points in a block, as a power of two.
    block_bits: u32,
    /// `None` if a word of a list cannot hold a sub-shape and an entry of a single point.
    pub(super) bits: Option<Bits>,
    /// First run of each sub-shape, and one more for the end.
    sub_shapes: Vec<u32>,
    /// By sub-shape, then by block.
    runs: Vec<Run>,
    /// The point of each entry, counted from the first point of its block.
    pub(super) places: Vec<u16>,
    stretches: Vec<Stretch>,
    /// First entry of each block, in the order by blocks, and one more for the end.
    pub(in crate::kernel) blocks: Vec<u32>,
    /// Number of entries of each sub-shape.
    pub(super) counts: Vec<u32>,
}

/// How to read the words of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bits {
    /// Number of bits of a point within its block.
    pub block: u32,
    /// Number of bits of an entry's number within its block; the sub-shape stands above them.
    pub entry: u32,
}

/// The entries of one sub-shape in one block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::kernel) struct Run {
    block: u32,
    /// Index of its first entry.
    first: u32,
    pub count: u32,
    /// Index of its first entry within the block, in the order by blocks.
    in_block: u32,
    first_stretch: u32,
    /// Number of stretches; 0 if they are too short to pay.
    stretches: u32,
}

/// Entries of a run whose points have consecutive indices, as in a patch of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stretch {
    /// The point of its first entry, counted from the first point of the block.
    pub place: u16,
    pub count: u16,
}

impl Run {
    pub fn range(&self) -> Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }

    /// Whether [`BlendIndex::stretches_of`] returns its entries.
    pub fn has_stretches(&self) -> bool {
        self.stretches > 0
    }
}

/// A run of a chosen sub-shape, with a value of the caller's.
#[derive(Clone, Copy, Debug)]
pub(in crate::kernel) struct Chosen<T> {
    pub of: T,
    pub run: Run,
}

/// The runs of some sub-shapes, sorted by block and then by sub-shape.
#[derive(Clone, Debug)]
pub(in crate::kernel) struct ByBlock<T> {
    /// First run of each block, and one more for the end.
    blocks: Vec<u32>,
    runs: Vec<Chosen<T>>,
}

impl<T> ByBlock<T> {
    pub fn of(&self, block: usize) -> &[Chosen<T>] {
        &self.runs[self.blocks[block] as usize..self.blocks[block + 1] as usize]
    }
}

impl BlendIndex {
    /// The entries of only these points, renumbered in this order, and the old index of each entry.
    pub(super) fn of_points(&self, points: &[u32]) -> (Self, Vec<u32>) {
        const ABSENT: u32 = u32::MAX;
        let mut places = vec![ABSENT; self.point_count];
        for (place, point) in points.iter().enumerate() {
            places[*point as usize] = place as u32;
        }
        let mut rows = vec![0; points.len()];
        let mut found = Vec::new();
        for sub_shape in 0..self.counts.len() as u32 {
            for run in self.runs_of(sub_shape) {
                for entry in run.range() {
                    let place = places[self.point_of(run, entry)];
                    if place != ABSENT {
                        rows[place as usize] += 1;
                        found.push((sub_shape, place, entry as u32));
                    }
                }
            }
        }
        found.par_sort_unstable();
        let mut sorter = Sorter::with_bits(self.counts.len(), &rows, self.bits);
        for (sub_shape, place, _) in &found {
            sorter.put(*place as usize, *sub_shape);
        }
        let order = found.into_iter().map(|(.., entry)| entry);
        (sorter.finish(), order.collect())
    }

    /// Number of points.
    #[must_use]
    pub fn point_count(&self) -> usize {
        self.point_count
    }

    pub(in crate::kernel) fn block_count(&self) -> usize {
        self.point_count.div_ceil(self.block_points())
    }

    /// Number of points of every block but the last, which may have fewer.
    pub(in crate::kernel) fn block_points(&self) -> usize {
        1 << self.block_bits
    }

    /// All entries in the order by blocks.
    pub(in crate::kernel) fn by_blocks(&self) -> Vec<u32> {
        let mut out = vec![0; self.places.len()];
        for run in &self.runs {
            let at = (self.blocks[run.block as usize] + run.in_block) as usize;
            for (to, entry) in out[at..].iter_mut().zip(run.range()) {
                *to = entry as u32;
            }
        }
        out
    }

    /// Number of entries of each point.
    pub(in crate::kernel) fn entries_of_points(&self) -> Vec<u32> {
        let mut counts = vec![0; self.point_count];
        for run in &self.runs {
            for entry in run.range() {
                counts[self.point_of(run, entry)] += 1;
            }
        }
        counts
    }

    /// The stretches of a run; empty if it has none.
    pub(super) fn stretches_of(&self, run: &Run) -> &[Stretch] {
        let first = run.first_stretch as usize;
        &self.stretches[first..first + run.stretches as usize]
    }

    /// Point and index of each entry of a sub-shape.
    #[cfg(any(test, feature = "check-decoding"))]
    pub(in crate::kernel) fn entries_of(
        &self,
        sub_shape: u32,
    ) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.runs_of(sub_shape)
            .iter()
            .flat_map(|run| run.range().map(|entry| (self.point_of(run, entry), entry)))
    }

    fn point_of(&self, run: &Run, entry: usize) -> usize {
        (run.block as usize) << self.block_bits | usize::from(self.places[entry])
    }

    fn runs_of(&self, sub_shape: u32) -> &[Run] {
        let sub_shape = sub_shape as usize;
        &self.runs[self.sub_shapes[sub_shape] as usize..self.sub_shapes[sub_shape + 1] as usize]
    }

    /// The runs of these sub-shapes, by a counting sort by block. The sub-shapes must ascend.
    pub(in crate::kernel) fn choose<T: Copy>(
        &self,
        sub_shapes: impl Iterator<Item = (u32, T)> + Clone,
    ) -> ByBlock<T> {
        let runs = || {
            let of = |(s, of)| self.runs_of(s).iter().map(move |run| (of, run));
            sub_shapes.clone().flat_map(of)
        };
        let mut blocks = vec![0; self.block_count() + 1];
        let mut first_run = None;
        for (of, run) in runs() {
            blocks[run.block as usize + 1] += 1;
            first_run.get_or_insert((of, run));
        }
        for block in 1..blocks.len() {
            blocks[block] += blocks[block - 1];
        }
        let count = blocks.last().map_or(0, |n| *n as usize);
        let chosen = |(of, run): (T, &Run)| Chosen { of, run: *run };
        let mut out = Vec::new();
        if let Some(any) = first_run {
            out.resize(count, chosen(any));
        }
        let mut next = blocks.clone();
        for (of, run) in runs() {
            let at = &mut next[run.block as usize];
            out[*at as usize] = chosen((of, run));
            *at += 1;
        }
        ByBlock { blocks, runs: out }
    }
}

/// Builds an index from entries that arrive in order.
pub(super) struct Sorter(BlendIndex);

impl Sorter {
    /// Starts an index. `rows` has the number of entries of each point.
    pub fn new(sub_shapes: usize, rows: &[u32]) -> Self {
        let longest = rows.iter().copied().max().unwrap_or(0);
        // Sub-shape numbers take the bits that they need; entries get the rest.
        let sub_shape_bits = u32::BITS - (sub_shapes.saturating_sub(1) as u32).leading_zeros();
        let entry = (u32::BITS - sub_shape_bits).min(31);
        let fits = |bits: &u32| u64::from(longest) << *bits <= 1 << entry;
        let block = (0..=BLOCK_BITS).rev().find(fits);
        Self::with_bits(sub_shapes, rows, block.map(|block| Bits { block, entry }))
    }

    fn with_bits(sub_shapes: usize, rows: &[u32], bits: Option<Bits>) -> Self {
        let entries: u64 = rows.iter().map(|n| u64::from(*n)).sum();
        Self(BlendIndex {
            point_count: rows.len(),
            block_bits: bits.map_or(BLOCK_BITS, |b| b.block),
            bits,
            places: Vec::with_capacity(entries as usize),
            counts: vec![0; sub_shapes],
            ..BlendIndex::default()
        })
    }

    /// Adds the next entry. Sub-shapes ascend, and points ascend within a sub-shape.
    pub fn put(&mut self, point: usize, sub_shape: u32) {
        let index = &mut self.0;
        let block = (point >> index.block_bits) as u32;
        let is_new_sub_shape = index.counts[sub_shape as usize] == 0;
        match index.runs.last_mut() {
            Some(run) if run.block == block && !is_new_sub_shape => run.count += 1,
            _ => index.runs.push(Run {
                block,
                first: index.places.len() as u32,
                count: 1,
                ..Run::default()
            }),
        }
        index.counts[sub_shape as usize] += 1;
        let place = point & (index.block_points() - 1);
        index.places.push(place as u16);
    }

    pub fn finish(self) -> BlendIndex {
        let mut index = self.0;
        let mut next = vec![0; index.block_count()];
        // First stretch and number of stretches of each block's last run.
        let mut last = vec![(0, 0); index.block_count()];
        for run in &mut index.runs {
            let next = &mut next[run.block as usize];
            run.in_block = *next;
            *next += run.count;
            let places = &index.places[run.range()];
            run.first_stretch = index.stretches.len() as u32;
            run.stretches = add_stretches(places, &mut index.stretches);
            // In-betweens mostly have the points of their shape, and then share its stretches; not if
            // a point occurs twice, since then its words are not next to each other.
            let last = &mut last[run.block as usize];
            let (before, own) = index.stretches.split_at(run.first_stretch as usize);
            let is_last = before[last.0 as usize..][..last.1 as usize] == *own;
            if is_last && places.is_sorted_by(|a, b| a < b) {
                index.stretches.truncate(run.first_stretch as usize);
                run.first_stretch = last.0;
            }
            *last = (run.first_stretch, run.stretches);
        }
        index.blocks = sums(next);
        // A sub-shape's runs end with its last entry.
        let (mut run, mut end) = (0, 0);
        index.sub_shapes.push(0);
        for count in &index.counts {
            end += count;
            while index.runs.get(run).is_some_and(|run| run.first < end) {
                run += 1;
            }
            index.sub_shapes.push(run as u32);
        }
        index
    }
}

/// Appends the stretches of a run and returns their number; none if their mean length is below
/// [`STRETCH`].
fn add_stretches(places: &[u16], out: &mut Vec<Stretch>) -> u32 {
    let follow = |a: &u16, b: &u16| u32::from(*a) + 1 == u32::from(*b);
    let stretches = || places.chunk_by(follow);
    let count = stretches().count();
    if count * STRETCH > places.len() {
        return 0;
    }
    out.extend(stretches().map(|stretch| Stretch {
        place: stretch[0],
        count: stretch.len() as u16,
    }));
    count as u32
}

/// Puts the words of `N` runs with the same stretches, of which the first are given, at the next place
/// of each point.
fn put_stretches<const N: usize>(
    stretches: &[Stretch],
    mut of_runs: [u32; N],
    next: &mut [u32; BLOCK],
    words: &mut [u32],
) {
    for stretch in stretches {
        let first = usize::from(stretch.place);
        for next in &mut next[first..first + usize::from(stretch.count)] {
            let at = *next as usize;
            words[at..at + N].copy_from_slice(&of_runs);
            *next += N as u32;
            of_runs = of_runs.map(|word| word.wrapping_add(1));
        }
    }
}

/// The start of each of several consecutive ranges, and the end of the last one.
fn sums(counts: Vec<u32>) -> Vec<u32> {
    let mut sum = 0;
    let mut out = vec![0];
    out.extend(counts.into_iter().map(|count| {
        sum += count;
        sum
    }));
    out
}

/// Lists of the entries that a kernel walks: all entries of a skin, or only those of some
/// sub-shapes.
impl BlendIndex {
    /// Whether lists can be built: whether a word can name every entry by its sub-shape and its
    /// number within a block.
    #[must_use]
    pub fn has_lists(&self) -> bool {
        self.bits.is_some()
    }

    /// Number of words of a list of these sub-shapes.
    #[must_use]
    pub fn list_words(&self, sub_shapes: &[u32]) -> usize {
        let entries = sub_shapes.iter().map(|s| self.counts[*s as usize] as usize);
        self.point_count() + 1 + entries.sum::<usize>()
    }

    /// Builds a list of the entries of some sub-shapes. Their indices must ascend. `put` is called
    /// with every part of the list and the index of its first word, in any order.
    ///
    /// A list begins with a row per point and one more for the end, counted in words from the first
    /// word of the list. A word per entry follows, sorted by point and then by sub-shape, which is
    /// the order of the sum. A list may contain sub-shapes that are not active: their weight is 0
    /// and adds nothing, so the results have the same bits.
    ///
    /// Returns how to read the words, for `blend_bits` of
    /// [`super::super::encoded_skin::SliceOffsets`].
    ///
    /// # Panics
    /// If [`BlendIndex::has_lists`] is false, or for a sub-shape that the skin does not have.
    pub fn list(&self, sub_shapes: &[u32], mut put: impl FnMut(usize, &[u32])) -> u32 {
        let bits = self.bits.expect("a skin whose words hold its entries");
        let points = self.point_count();
        put(points, &[self.list_words(sub_shapes) as u32]);
        let chosen = self.choose(sub_shapes.iter().map(|s| (*s, *s)));
        let mut at = points + 1;
        let tasks = (0..self.block_count()).map(|block| {
            let runs = chosen.of(block);
            let count: u32 = runs.iter().map(|chosen| chosen.run.count).sum();
            let first = at;
            at += count as usize;
            (block * self.block_points(), first..at, runs)
        });
        let tasks: Vec<_> = tasks.collect();
        // A block is built where it stays in the cache, and put into the list as a whole.
        let free = Mutex::new(Vec::<[Vec<u32>; 2]>::new());
        let free = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let build = |(point, range, runs): (usize, Range<usize>, &[Chosen<u32>])| {
            let [mut rows, mut words] = free().pop().unwrap_or_default();
            rows.resize(self.block_points().min(points - point), 0);
            words.resize(range.len(), 0);
            self.list_block(runs, bits.entry, range.start as u32, &mut rows, &mut words);
            (point, range, rows, words)
        };
        each_then(tasks.into_iter(), build, |(point, range, rows, words)| {
            put(point, &rows);
            put(range.start, &words);
            free().push([rows, words]);
        });
        bits.entry | bits.block << 8
    }

    /// Writes a block's rows and words. The first of its words is word `at` of the list.
    fn list_block(
        &self,
        runs: &[Chosen<u32>],
        entry_bits: u32,
        at: u32,
        rows: &mut [u32],
        words: &mut [u32],
    ) {
        // A counting sort by point. A stretch is counted where it begins and where it ends.
        let mut next = [0u32; BLOCK];
        let mut changes = [0i32; BLOCK + 1];
        for Chosen { run, .. } in runs {
            for stretch in self.stretches_of(run) {
                let first = usize::from(stretch.place);
                changes[first] += 1;
                changes[first + usize::from(stretch.count)] -= 1;
            }
            if !run.has_stretches() {
                for place in &self.places[run.range()] {
                    next[usize::from(*place) % BLOCK] += 1;
                }
            }
        }
        let (mut sum, mut open) = (0, 0);
        for ((row, next), change) in rows.iter_mut().zip(&mut next).zip(changes) {
            *row = at + sum;
            open += change;
            sum += open as u32 + std::mem::replace(next, sum);
        }
        let word = |chosen: &Chosen<u32>| chosen.of.unbounded_shl(entry_bits) | chosen.run.in_block;
        let alike = |Chosen { run: a, .. }: &Chosen<u32>, Chosen { run: b, .. }: &Chosen<u32>| {
            a.has_stretches() && (a.first_stretch, a.stretches) == (b.first_stretch, b.stretches)
        };
        for runs in runs.chunk_by(alike) {
            if !runs[0].run.has_stretches() {
                for (place, i) in self.places[runs[0].run.range()].iter().zip(0..) {
                    let next = &mut next[usize::from(*place) % BLOCK];
                    words[*next as usize] = word(&runs[0]).wrapping_add(i);
                    *next += 1;
                }
                continue;
            }
            let stretches = self.stretches_of(&runs[0].run);
            let (fours, others) = runs.as_chunks::<4>();
            for four in fours {
                put_stretches(stretches, four.each_ref().map(word), &mut next, words);
            }
            for run in others {
                put_stretches(stretches, [word(run)], &mut next, words);
            }
        }
    }
}

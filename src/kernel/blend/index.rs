//! Which point and which sub-shape each offset belongs to.

use rayon::prelude::*;

/// Points of a block, as a power of two: what the CPU blends at a time, in its first cache.
pub(in crate::kernel) const BLOCK_BITS: u32 = 10;

/// Points of a block at most.
pub(in crate::kernel) const BLOCK: usize = 1 << BLOCK_BITS;

/// Offsets in blocks of points; within a block by sub-shape, and within a sub-shape by point. So each
/// sub-shape's offsets of a block lie side by side, a *run*, and whoever wants some sub-shapes alone passes over the
/// others whole.
///
/// A list (see [`BlendIndex::list`]) names an entry by one word, sub-shape and number within the block.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct BlendIndex {
    point_count: usize,
    /// Points of a block, as a power of two.
    block_bits: u32,
    /// `None` where no word of a list would hold a sub-shape and an entry of a single point.
    bits: Option<Bits>,
    /// First run of each block, and one more for the end.
    blocks: Vec<u32>,
    /// By block, then by sub-shape; and one more, for the end.
    runs: Vec<Run>,
    /// Each entry's point, counted from its block's first.
    places: Vec<u16>,
    /// Entries of each sub-shape.
    counts: Vec<u32>,
}

/// How a list's words are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bits {
    /// Of a point within its block.
    pub block: u32,
    /// Of an entry's number within its block; the sub-shape has those above.
    pub entry: u32,
}

/// A sub-shape's entries within a block. They end where the next run begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Run {
    sub_shape: u32,
    first: u32,
}

impl BlendIndex {
    /// The entries of these points alone, which are numbered anew in this order, and the number that each entry had.
    pub fn of_points(&self, points: &[u32]) -> (Self, Vec<u32>) {
        const ABSENT: u32 = u32::MAX;
        let mut places = vec![ABSENT; self.point_count];
        for (place, point) in points.iter().enumerate() {
            places[*point as usize] = place as u32;
        }
        let mut rows = vec![0; points.len()];
        let mut found = Vec::new();
        for block in 0..self.block_count() {
            for (sub_shape, range) in self.runs_of(block) {
                for entry in range {
                    let place = places[block << self.block_bits | self.places[entry] as usize];
                    if place != ABSENT {
                        rows[place as usize] += 1;
                        found.push((place >> self.block_bits, sub_shape, place, entry as u32));
                    }
                }
            }
        }
        found.par_sort_unstable();
        let mut sorter = Sorter::with_bits(self.counts.len(), &rows, self.bits);
        for (_, sub_shape, place, _) in &found {
            sorter.put(*place as usize, *sub_shape);
        }
        let order = found.into_iter().map(|(.., entry)| entry);
        (sorter.finish(), order.collect())
    }

    pub fn point_count(&self) -> usize {
        self.point_count
    }

    /// Entries of each sub-shape.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    pub fn block_count(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// Points of a block, but for the last one.
    pub fn block_points(&self) -> usize {
        1 << self.block_bits
    }

    /// First entry of a block; of the one after the last, the end of all.
    pub fn first_of(&self, block: usize) -> usize {
        self.runs[self.blocks[block] as usize].first as usize
    }

    pub(super) fn bits(&self) -> Option<Bits> {
        self.bits
    }

    /// How many entries each point has.
    pub fn entries_of_points(&self) -> Vec<u32> {
        let mut counts = vec![0; self.point_count];
        for block in 0..self.block_count() {
            let entries = self.first_of(block)..self.first_of(block + 1);
            for place in &self.places[entries] {
                counts[block << self.block_bits | usize::from(*place)] += 1;
            }
        }
        counts
    }

    /// Points of a block's entries, counted from the block's first.
    pub fn places(&self) -> &[u16] {
        &self.places
    }

    fn range_of(&self, run: usize) -> std::ops::Range<usize> {
        self.runs[run].first as usize..self.runs[run + 1].first as usize
    }

    fn runs_of(&self, block: usize) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> + '_ {
        let runs = self.blocks[block] as usize..self.blocks[block + 1] as usize;
        runs.map(|run| (self.runs[run].sub_shape, self.range_of(run)))
    }

    /// The entries that a block has of these sub-shapes, which ascend: `f(number of the sub-shape in the
    /// list, entries)`.
    #[inline(always)]
    pub fn for_each_run<T>(
        &self,
        block: usize,
        sub_shapes: &[T],
        number: impl Fn(&T) -> u32,
        mut f: impl FnMut(&T, std::ops::Range<usize>),
    ) {
        let runs = self.blocks[block] as usize..self.blocks[block + 1] as usize;
        // Runs ascend without repeats, so a sub-shape is at most as far on as its number is.
        let (mut at, mut at_number) = (runs.start, 0);
        for sub_shape in sub_shapes {
            if at == runs.end {
                return;
            }
            let wanted = number(sub_shape);
            let furthest = (at + (wanted - at_number) as usize).min(runs.end - 1);
            at = match self.runs[furthest].sub_shape == wanted {
                true => furthest,
                false => at + self.runs[at..=furthest].partition_point(|r| r.sub_shape < wanted),
            };
            at_number = wanted;
            if at < runs.end && self.runs[at].sub_shape == wanted {
                f(sub_shape, self.range_of(at));
            }
        }
    }
}

/// Entries being put into their blocks.
pub(super) struct Sorter {
    out: BlendIndex,
    /// The next entry of each block.
    next: Vec<u32>,
    runs: Vec<Vec<Run>>,
}

impl Sorter {
    /// `rows` has each point's number of entries.
    pub fn new(sub_shapes: usize, rows: &[u32]) -> Self {
        let longest = rows.iter().copied().max().unwrap_or(0);
        // Sub-shape numbers take what they need, entries have the rest.
        let sub_shape_bits = u32::BITS - (sub_shapes.saturating_sub(1) as u32).leading_zeros();
        let entry = (u32::BITS - sub_shape_bits).min(31);
        let fits = |bits: &u32| u64::from(longest) << *bits <= 1 << entry;
        Self::with_bits(
            sub_shapes,
            rows,
            (0..=BLOCK_BITS)
                .rev()
                .find(fits)
                .map(|block| Bits { block, entry }),
        )
    }

    fn with_bits(sub_shapes: usize, rows: &[u32], bits: Option<Bits>) -> Self {
        let block_bits = bits.map_or(BLOCK_BITS, |b| b.block);
        let mut first = 0;
        let mut next = Vec::with_capacity(rows.len().div_ceil(1 << block_bits));
        for rows in rows.chunks(1 << block_bits) {
            next.push(first);
            first += rows.iter().sum::<u32>();
        }
        Self {
            runs: vec![Vec::new(); next.len()],
            out: BlendIndex {
                point_count: rows.len(),
                block_bits,
                bits,
                places: vec![0; first as usize],
                counts: vec![0; sub_shapes],
                ..BlendIndex::default()
            },
            next,
        }
    }

    pub fn entry_count(&self) -> usize {
        self.out.places.len()
    }

    /// An entry's number. A block's entries come by sub-shape, and those of a sub-shape by point.
    pub fn put(&mut self, point: usize, sub_shape: u32) -> usize {
        let block = point >> self.out.block_bits;
        let first = self.next[block];
        self.next[block] += 1;
        let runs = &mut self.runs[block];
        if runs.last().is_none_or(|run| run.sub_shape != sub_shape) {
            runs.push(Run { sub_shape, first });
        }
        self.out.places[first as usize] = (point & (self.out.block_points() - 1)) as u16;
        self.out.counts[sub_shape as usize] += 1;
        first as usize
    }

    pub fn finish(mut self) -> BlendIndex {
        self.out.blocks.push(0);
        for runs in self.runs {
            self.out.runs.extend(runs);
            self.out.blocks.push(self.out.runs.len() as u32);
        }
        self.out.runs.push(Run {
            sub_shape: u32::MAX,
            first: self.out.places.len() as u32,
        });
        self.out
    }
}

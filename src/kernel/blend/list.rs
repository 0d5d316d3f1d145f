//! Lists of the entries that a kernel walks: all of a skin's, or those of some sub-shapes alone.

use rayon::prelude::*;

use super::index::{BLOCK, BlendIndex};

impl BlendIndex {
    /// Whether a word holds a sub-shape and the number of an entry, of a block of single points at least.
    pub fn has_lists(&self) -> bool {
        self.bits().is_some()
    }

    /// Words of a list of these sub-shapes.
    pub fn list_words(&self, sub_shapes: &[u32]) -> usize {
        let entries = sub_shapes
            .iter()
            .map(|s| self.counts()[*s as usize] as usize);
        self.point_count() + 1 + entries.sum::<usize>()
    }

    /// Writes the list of these sub-shapes, which ascend: a row per point, counted in words from the list's first, and one
    /// more for the end; then a word per entry, by point and then by sub-shape, which is the order of the sum.
    /// Sub-shapes without weight add nothing, so a list of more than the active ones gives the same results to the bit.
    ///
    /// Returns how words are read, as `blend_bits` of an item has it.
    ///
    /// # Panics
    /// Without [`BlendIndex::has_lists`], or for a sub-shape beyond the skin's.
    pub fn list(&self, sub_shapes: &[u32], out: &mut Vec<u32>) -> u32 {
        let bits = self.bits().expect("a skin whose words hold its entries");
        let points = self.point_count();
        out.clear();
        out.resize(self.list_words(sub_shapes), 0);
        let (rows, mut entries) = out.split_at_mut(points + 1);
        let mut at = points as u32 + 1;
        rows[points] = at + entries.len() as u32;

        let counts: Vec<usize> = (0..self.block_count())
            .into_par_iter()
            .map(|block| {
                let mut count = 0;
                self.for_each_run(block, sub_shapes, |s| *s, |_, run| count += run.len());
                count
            })
            .collect();
        let mut tasks = Vec::with_capacity(self.block_count());
        let blocks = rows[..points].chunks_mut(self.block_points()).enumerate();
        for ((block, rows), count) in blocks.zip(counts) {
            let (words, others) = std::mem::take(&mut entries).split_at_mut(count);
            entries = others;
            tasks.push((block, at, rows, words));
            at += count as u32;
        }
        tasks.into_par_iter().for_each(|(block, at, rows, words)| {
            self.list_block(block, sub_shapes, bits.entry, at, rows, words);
        });
        bits.entry | bits.block << 8
    }

    /// A block's rows and words; the first of its words is word `at` of the list.
    fn list_block(
        &self,
        block: usize,
        sub_shapes: &[u32],
        entry_bits: u32,
        at: u32,
        rows: &mut [u32],
        words: &mut [u32],
    ) {
        // A counting sort by point.
        let mut next = [0u32; BLOCK];
        self.for_each_run(
            block,
            sub_shapes,
            |s| *s,
            |_, run| {
                for place in &self.places()[run] {
                    next[usize::from(*place) % BLOCK] += 1;
                }
            },
        );
        let mut sum = 0;
        for (row, next) in rows.iter_mut().zip(&mut next) {
            *row = at + sum;
            sum += std::mem::replace(next, sum);
        }
        let first = self.first_of(block);
        self.for_each_run(
            block,
            sub_shapes,
            |s| *s,
            |sub_shape, run| {
                let tag = sub_shape.unbounded_shl(entry_bits);
                for (entry, place) in run.clone().zip(&self.places()[run]) {
                    let next = &mut next[usize::from(*place) % BLOCK];
                    words[*next as usize] = tag | (entry - first) as u32;
                    *next += 1;
                }
            },
        );
    }
}

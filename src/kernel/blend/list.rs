//! Lists of the entries that a kernel walks: all of a skin's, or those of some sub-shapes alone.

use rayon::prelude::*;

use super::index::{BLOCK, BlendIndex, Chosen};

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
        // Every word is written: what is there from before need not be cleared.
        out.resize(self.list_words(sub_shapes), 0);
        let (rows, mut entries) = out.split_at_mut(points + 1);
        let mut at = points as u32 + 1;
        rows[points] = at + entries.len() as u32;

        let chosen = self.choose(sub_shapes.iter().map(|s| (*s, *s)));
        let mut tasks = Vec::with_capacity(self.block_count());
        let blocks = rows[..points].chunks_mut(self.block_points()).enumerate();
        for (block, rows) in blocks {
            let runs = chosen.of(block);
            let count: u32 = runs.iter().map(|run| run.count).sum();
            let (words, others) = std::mem::take(&mut entries).split_at_mut(count as usize);
            entries = others;
            tasks.push((runs, at, rows, words));
            at += count;
        }
        tasks.into_par_iter().for_each(|(runs, at, rows, words)| {
            self.list_block(runs, bits.entry, at, rows, words);
        });
        bits.entry | bits.block << 8
    }

    /// A block's rows and words; the first of its words is word `at` of the list.
    fn list_block(
        &self,
        runs: &[Chosen<u32>],
        entry_bits: u32,
        at: u32,
        rows: &mut [u32],
        words: &mut [u32],
    ) {
        // A counting sort by point. Stretches are counted where they begin and where they are over.
        let mut next = [0u32; BLOCK];
        let mut changes = [0i32; BLOCK + 1];
        for run in runs {
            for stretch in self.stretches_of(run) {
                let first = usize::from(stretch.place);
                changes[first] += 1;
                changes[first + usize::from(stretch.count)] -= 1;
            }
            if !run.has_stretches() {
                for place in &self.places()[run.range()] {
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
        let mut put = |next: &mut u32, word: u32| {
            words[*next as usize] = word;
            *next += 1;
        };
        for run in runs {
            let mut word = run.of.unbounded_shl(entry_bits) | run.in_block;
            for stretch in self.stretches_of(run) {
                let first = usize::from(stretch.place);
                for next in &mut next[first..first + usize::from(stretch.count)] {
                    put(next, word);
                    word = word.wrapping_add(1);
                }
            }
            if !run.has_stretches() {
                for place in &self.places()[run.range()] {
                    put(&mut next[usize::from(*place) % BLOCK], word);
                    word = word.wrapping_add(1);
                }
            }
        }
    }
}

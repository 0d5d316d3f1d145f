//! A block's sums on the CPU.

use glam::{Vec3, Vec4};

use super::index::{BLOCK, BlendIndex, Chosen};

/// What is added to the points, or normals, of a block.
#[derive(Clone, Copy)]
pub(super) struct Sums<'a> {
    pub index: &'a BlendIndex,
    /// Three of each entry.
    pub offsets: &'a [f32],
    /// The block's, with their weights.
    pub runs: &'a [Chosen<f32>],
}

impl Sums<'_> {
    /// Adds to `rest`. All ways round multiply, then add, in the same order: the bits are the same on every machine.
    pub fn of_block(self, rest: &[Vec3], out: &mut [Vec3]) {
        #[cfg(target_arch = "x86_64")]
        if crate::kernel::skin_avx2::is_available() {
            // SAFETY: the machine has AVX2.
            unsafe { self.of_block_wide(rest, out) };
            return;
        }
        self.of_block_here(rest, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn of_block_wide(self, rest: &[Vec3], out: &mut [Vec3]) {
        self.of_block_here(rest, out);
    }

    #[inline(always)]
    fn of_block_here(self, rest: &[Vec3], out: &mut [Vec3]) {
        let entries = |run: &Chosen<f32>| run.count;
        let all: u32 = self.runs.iter().map(entries).sum();
        let in_stretches = self.runs.iter().filter(|run| run.has_stretches());
        if in_stretches.map(entries).sum::<u32>() > all / 2 {
            out.copy_from_slice(rest);
            self.add_stretches(bytemuck::cast_slice_mut(out));
        } else {
            self.add_entries(rest, out);
        }
    }

    /// Stretch by stretch: as many floats at once as the machine has lanes for.
    #[inline(always)]
    fn add_stretches(self, sums: &mut [f32]) {
        for run in self.runs {
            let mut from = &self.offsets[run.range().start * 3..];
            let mut add = |place: u16, count: u16| {
                let (place, count) = (usize::from(place) * 3, usize::from(count) * 3);
                let (offsets, others) = from.split_at(count);
                for (sum, offset) in sums[place..place + count].iter_mut().zip(offsets) {
                    *sum += run.of * offset;
                }
                from = others;
            };
            if run.has_stretches() {
                for stretch in self.index.stretches_of(run) {
                    add(stretch.place, stretch.count);
                }
            } else {
                for place in &self.index.places()[run.range()] {
                    add(*place, 1);
                }
            }
        }
    }

    /// Entry by entry, four floats to a sum: one load and one store. The fourth goes nowhere.
    #[inline(always)]
    fn add_entries(self, rest: &[Vec3], out: &mut [Vec3]) {
        let mut sums = [Vec4::ZERO; BLOCK];
        let mut from: &[f32] = bytemuck::cast_slice(rest);
        for sum in &mut sums[..rest.len()] {
            *sum = first_three(from);
            from = &from[3..];
        }
        for run in self.runs {
            let mut from = &self.offsets[run.range().start * 3..];
            for place in &self.index.places()[run.range()] {
                sums[usize::from(*place) % BLOCK] += run.of * first_three(from);
                from = &from[3..];
            }
        }
        for (out, sum) in out.iter_mut().zip(&sums) {
            *out = sum.truncate();
        }
    }
}

/// Three floats, and what comes after them where something does.
#[inline(always)]
fn first_three(values: &[f32]) -> Vec4 {
    match values.first_chunk() {
        Some(four) => Vec4::from_array(*four),
        None => Vec3::from_slice(values).extend(0.0),
    }
}
